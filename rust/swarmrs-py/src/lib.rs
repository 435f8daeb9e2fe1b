//! The Python binding: converts arguments and results, and forwards calls to the core.

// The macros of pyo3 take arguments by value and return `Result` where a signature asks for it.
#![allow(clippy::needless_pass_by_value)]

mod checkpoint;
mod convert;
mod error;
mod imputer;
mod watch;

use convert::{evaluation, masks};
use error::to_py;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};
use swarmrs_core::algorithms::REGISTRY;
use swarmrs_core::base::cancel::Cancel;
use swarmrs_core::base::parallel::Pool;
use swarmrs_core::base::subset::Subset;
use swarmrs_core::data::dataset::Dataset;
use swarmrs_core::data::parquet;
use swarmrs_core::evaluate::baseline;
use swarmrs_core::evaluate::{self, Classify, Measures, Prediction, References, Resources};
use swarmrs_core::filter::{self, Filter, Labels, Prescreen};
use watch::{Problem, interruptible};

/// A quantized dataset.
#[pyclass(frozen, name = "Dataset", module = "swarmrs._swarmrs")]
struct PyDataset {
    inner: Arc<Dataset>,
}

#[pymethods]
impl PyDataset {
    /// `refill` imputes missing values for each fold, see `FoldImputer` of the core. For a numeric target, `numbers` has its
    /// values and `codes` its bins.
    #[new]
    #[pyo3(signature = (x, codes, n_classes, names, scale, refill=None, numbers=None))]
    #[allow(clippy::too_many_arguments, reason = "keywords on the Python side")]
    fn new(
        py: Python<'_>,
        x: PyReadonlyArray2<'_, f64>,
        codes: PyReadonlyArray1<'_, u32>,
        n_classes: usize,
        names: Vec<String>,
        scale: &str,
        refill: Option<Py<PyAny>>,
        numbers: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        let columns = convert::columns(&x);
        let codes = codes.as_array().to_vec();
        let numbers = numbers.map(|numbers| numbers.as_array().to_vec());
        let scale = convert::scale(scale).map_err(|error| to_py(py, &error))?;
        let mut inner = interruptible(py, || {
            let data = Dataset::new(&columns, codes, n_classes, names, scale)?;
            match numbers {
                Some(numbers) => data.with_numbers(numbers),
                None => Ok(data),
            }
        })?;
        if let Some(object) = refill {
            let (imputer, mark) = imputer::of(py, object)?;
            inner = inner.with_imputer(Arc::new(imputer), &mark);
        }
        Ok(Self { inner: Arc::new(inner) })
    }

    #[getter]
    fn n_samples(&self) -> usize {
        self.inner.n_samples()
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.inner.n_features()
    }

    #[getter]
    fn n_classes(&self) -> usize {
        self.inner.n_classes()
    }

    #[getter]
    fn fingerprint(&self) -> &str {
        self.inner.fingerprint()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings().to_vec()
    }

    /// For each column: symmetrical uncertainty with the class, mutual information in bits, number of levels.
    fn rank<'py>(&self, py: Python<'py>, threads: usize) -> PyResult<Ranks<'py>> {
        let levels = interruptible(py, || Ok(self.inner.levels(&Pool::new(threads))))?;
        let columns = || 0..levels.n_features();
        let uncertainty = columns().map(|column| levels.relevance(column)).collect();
        let information = columns().map(|column| levels.information(column)).collect();
        let counts = columns().map(|column| levels.count(column) as u32).collect();
        Ok((
            PyArray1::from_vec(py, uncertainty),
            PyArray1::from_vec(py, information),
            PyArray1::from_vec(py, counts),
        ))
    }

    /// The F statistic of each of these features, from these rows or from all.
    #[pyo3(signature = (features, threads, rows = None))]
    fn f_scores<'py>(
        &self,
        py: Python<'py>,
        features: Vec<usize>,
        threads: usize,
        rows: Option<Vec<usize>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        convert::check_features(&features, self.inner.n_features())
            .map_err(|error| to_py(py, &error))?;
        convert::check_rows(rows.as_deref().unwrap_or_default(), self.inner.n_samples())
            .map_err(|error| to_py(py, &error))?;
        let scores = interruptible(py, || {
            let pool = Pool::new(threads);
            Ok(match &rows {
                None => self.inner.f_scores(&features, &pool),
                Some(rows) => self.inner.f_scores_by(rows, &features, &pool),
            })
        })?;
        Ok(PyArray1::from_vec(py, scores))
    }

    /// The mRMR ranking of these features, with `most` selected ones: indices into `features`, and their scores.
    fn mrmr<'py>(
        &self,
        py: Python<'py>,
        features: Vec<usize>,
        most: usize,
        threads: usize,
    ) -> PyResult<Ranking<'py>> {
        let ranking = self.score(py, &features, threads, |columns, classes, pool| {
            filter::mrmr(columns, classes, most, pool)
        })?;
        let (indices, scores) =
            ranking.into_iter().map(|(index, score)| (index as u32, score)).unzip();
        Ok((PyArray1::from_vec(py, indices), PyArray1::from_vec(py, scores)))
    }

    /// The `ReliefF` weight of each of these features, with this number of neighbors per class.
    fn relieff<'py>(
        &self,
        py: Python<'py>,
        features: Vec<usize>,
        neighbors: usize,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let weights = self.score(py, &features, threads, |columns, classes, pool| {
            filter::relieff(columns, classes, neighbors, pool)
        })?;
        Ok(PyArray1::from_vec(py, weights))
    }

    /// The columns that a prescreen keeps, at most `limit`, in ascending order.
    fn survivors(
        &self,
        py: Python<'_>,
        rule: &str,
        limit: usize,
        threads: usize,
    ) -> PyResult<Vec<usize>> {
        interruptible(py, || {
            let rule = Prescreen::read(rule)?;
            let columns: Vec<usize> = (0..self.inner.n_features()).collect();
            let filter = Filter::new(self.inner.levels(&Pool::new(threads)), &columns, 0);
            Ok(rule.survivors(&filter, limit))
        })
    }

    /// The scores of a constant prediction of one class, given by its code, on the folds of an evaluation.
    fn constant(
        &self,
        py: Python<'_>,
        evaluation: &str,
        class_: u32,
    ) -> PyResult<Vec<(&'static str, f64)>> {
        let spec = self::evaluation(evaluation).map_err(|error| to_py(py, &error))?;
        let measures = interruptible(py, || baseline::constant(&self.inner, &spec.folds, class_))?;
        Ok(Measures::SCORES.into_iter().zip(measures.to_array()).collect())
    }

    /// The scores of predicting the mean of the training rows, on the folds of an evaluation; for a numeric target.
    fn training_mean(
        &self,
        py: Python<'_>,
        evaluation: &str,
    ) -> PyResult<Vec<(&'static str, f64)>> {
        let spec = self::evaluation(evaluation).map_err(|error| to_py(py, &error))?;
        let measures = interruptible(py, || baseline::training_mean(&self.inner, &spec.folds))?;
        Ok(Measures::NUMBER_SCORES.into_iter().zip(measures.to_array()).collect())
    }

    /// These columns from the most to the least important, by recursive feature elimination with ridge regression or
    /// classification; the default of `alpha` is the number of rows.
    fn ridge_rfe(
        &self,
        py: Python<'_>,
        features: Vec<usize>,
        alpha: Option<f64>,
        threads: usize,
    ) -> PyResult<Vec<usize>> {
        interruptible(py, || {
            evaluate::ridge_rfe(&self.inner, &features, alpha, &Pool::new(threads))
        })
    }

    /// These columns in the order of sequential forward selection by the leave-one-out error of ridge regression or
    /// classification; after `n_steps` steps the others follow in the order of the last step. The default of `alpha` is the
    /// number of rows.
    fn ridge_sfs(
        &self,
        py: Python<'_>,
        features: Vec<usize>,
        n_steps: usize,
        alpha: Option<f64>,
        threads: usize,
    ) -> PyResult<Vec<usize>> {
        interruptible(py, || {
            evaluate::ridge_sfs(&self.inner, &features, n_steps, alpha, &Pool::new(threads))
        })
    }

    /// The groups of columns, the curve their number was chosen by, and all settings, as JSON.
    fn group(&self, py: Python<'_>, spec: &str, threads: usize) -> PyResult<String> {
        let spec = convert::group_spec(spec).map_err(|error| to_py(py, &error))?;
        let found = interruptible(py, || spec.find(&self.inner, &Pool::new(threads)))?;
        Ok(serde_json::json!({ "spec": spec, "found": found }).to_string())
    }
}

impl PyDataset {
    /// Applies a filter to the columns of these features and the classes.
    fn score<T: Send>(
        &self,
        py: Python<'_>,
        features: &[usize],
        threads: usize,
        score: impl FnOnce(&[&[f64]], Labels<'_>, &Pool) -> T + Send,
    ) -> PyResult<T> {
        let data = &self.inner;
        convert::check_features(features, data.n_features()).map_err(|error| to_py(py, &error))?;
        interruptible(py, || {
            let columns: Vec<&[f64]> =
                features.iter().map(|&feature| data.values(feature)).collect();
            let classes = Labels { codes: data.codes(), count: data.n_classes() };
            Ok(score(&columns, classes, &Pool::new(threads)))
        })
    }
}

/// Indices of features in the order of a ranking, and their scores.
type Ranking<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>);

/// Symmetrical uncertainty, mutual information and number of levels of each column.
type Ranks<'py> = (Bound<'py, PyArray1<f32>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<u32>>);

/// Test rows, their predicted classes, and their folds.
type Predictions<'py> =
    (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>);

/// Test rows, their predicted numbers, and their folds.
type PredictedNumbers<'py> =
    (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<u32>>);

/// Test rows, classes that may be predicted for them, their folds, and the probabilities of the classes.
type Distribution<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f64>>,
);

/// Evaluates batches of subsets.
#[pyclass(frozen, name = "Evaluator", module = "swarmrs._swarmrs")]
struct PyEvaluator {
    inner: Mutex<Box<dyn Classify>>,
    n_features: usize,
    is_numeric: bool,
    warnings: Vec<String>,
}

#[pymethods]
impl PyEvaluator {
    #[new]
    #[pyo3(signature = (dataset, evaluation, threads, memory, incremental))]
    fn new(
        py: Python<'_>,
        dataset: &PyDataset,
        evaluation: &str,
        threads: usize,
        memory: u64,
        incremental: bool,
    ) -> PyResult<Self> {
        let spec = self::evaluation(evaluation).map_err(|error| to_py(py, &error))?;
        let references = if incremental { References::WherePaying } else { References::Never };
        let resources = Resources { memory, references, ..Resources::with_threads(threads) };
        let data = Arc::clone(&dataset.inner);
        let (inner, warnings) =
            interruptible(py, || evaluate::build(&data, &spec, false, resources))?;
        let (n_features, is_numeric) = (data.n_features(), data.numbers().is_some());
        Ok(Self { inner: Mutex::new(inner), n_features, is_numeric, warnings })
    }

    #[getter]
    fn scores(&self) -> Vec<&'static str> {
        Measures::names(self.is_numeric).to_vec()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// A row of scores for each mask.
    fn measure<'py>(
        &self,
        py: Python<'py>,
        masks: PyReadonlyArray2<'_, bool>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let subsets = self::masks(py, &masks, self.n_features)?;
        let is_evaluated = |subset: &&Subset| !subset.is_empty();
        let requested: Vec<_> = subsets.iter().filter(is_evaluated).cloned().collect();
        let mut evaluated = interruptible(py, || {
            self.inner.lock().unwrap_or_else(PoisonError::into_inner).evaluate(&requested)
        })?
        .into_iter();
        let scores = Measures::names(self.is_numeric).len();
        let worst =
            if self.is_numeric { [f64::NAN; Measures::FIELDS] } else { Measures::WORST.to_array() };
        let mut rows = Vec::with_capacity(subsets.len() * scores);
        for subset in &subsets {
            // The empty subset is not evaluated: it has the worst scores, or NaN for regression errors, which have no worst.
            let measures = if subset.is_empty() { None } else { evaluated.next() };
            rows.extend_from_slice(&measures.map_or(worst, |scores| scores.to_array())[..scores]);
        }
        PyArray1::from_vec(py, rows).reshape([subsets.len(), scores])
    }

    /// Test rows, their predicted classes, and their folds; sorted by row.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        mask: PyReadonlyArray1<'_, bool>,
    ) -> PyResult<Predictions<'py>> {
        let (rows, classes, folds) =
            self.by_row(py, &mask, |engine, subset| engine.predict(subset))?;
        Ok((
            PyArray1::from_vec(py, rows),
            PyArray1::from_vec(py, classes),
            PyArray1::from_vec(py, folds),
        ))
    }

    /// Test rows, their predicted numbers, and their folds; sorted by row.
    fn predict_numbers<'py>(
        &self,
        py: Python<'py>,
        mask: PyReadonlyArray1<'_, bool>,
    ) -> PyResult<PredictedNumbers<'py>> {
        let (rows, numbers, folds) =
            self.by_row(py, &mask, |engine, subset| engine.predict_numbers(subset))?;
        Ok((
            PyArray1::from_vec(py, rows),
            PyArray1::from_vec(py, numbers),
            PyArray1::from_vec(py, folds),
        ))
    }

    /// Test rows, each class that may be predicted for them, their folds, and the probability of the class; sorted by row.
    fn distribution<'py>(
        &self,
        py: Python<'py>,
        mask: PyReadonlyArray1<'_, bool>,
    ) -> PyResult<Distribution<'py>> {
        let subset = convert::mask(py, &mask, self.n_features)?;
        let (mut predictions, sizes) = interruptible(py, || {
            let engine = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            Ok((engine.distribution(&subset), engine.fold_sizes()))
        })?;
        let of_case = |(fold, size)| std::iter::repeat_n(fold, size);
        let folds: Vec<u32> = (0u32..).zip(sizes).flat_map(of_case).collect();
        predictions.sort_by_key(|prediction| prediction.row);
        let fold = |prediction: &Prediction| folds[prediction.case as usize];
        Ok((
            PyArray1::from_iter(py, predictions.iter().map(|prediction| prediction.row)),
            PyArray1::from_iter(py, predictions.iter().map(|prediction| prediction.class)),
            PyArray1::from_iter(py, predictions.iter().map(fold)),
            PyArray1::from_iter(py, predictions.iter().map(|prediction| prediction.probability)),
        ))
    }

    /// The numbers of element operations: in total, without incremental evaluation, and before the first subset.
    fn work(&self) -> (u64, u64, u64) {
        let work = self.inner.lock().unwrap_or_else(PoisonError::into_inner).work();
        (work.element_ops, work.from_scratch_ops, work.setup_ops)
    }
}

impl PyEvaluator {
    /// Test rows with their predictions and folds; sorted by row.
    fn by_row<T: Send>(
        &self,
        py: Python<'_>,
        mask: &PyReadonlyArray1<'_, bool>,
        predict: impl FnOnce(&dyn Classify, &Subset) -> Vec<(u32, T)> + Send,
    ) -> PyResult<(Vec<u32>, Vec<T>, Vec<u32>)> {
        let subset = convert::mask(py, mask, self.n_features)?;
        let (cases, sizes) = interruptible(py, || {
            let engine = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            Ok((predict(&**engine, &subset), engine.fold_sizes()))
        })?;
        let folds = (0u32..).zip(sizes).flat_map(|(fold, size)| std::iter::repeat_n(fold, size));
        let mut cases: Vec<((u32, T), u32)> = cases.into_iter().zip(folds).collect();
        cases.sort_by_key(|((row, _), _)| *row);
        let (predictions, folds): (Vec<_>, Vec<_>) = cases.into_iter().unzip();
        let (rows, values) = predictions.into_iter().unzip();
        Ok((rows, values, folds))
    }
}

/// Cancels runs from another thread, where Python does not receive signals.
#[pyclass(frozen, name = "Cancel", module = "swarmrs._swarmrs")]
#[derive(Default)]
struct PyCancel {
    inner: Arc<Cancel>,
}

#[pymethods]
impl PyCancel {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Cancels the runs it was passed to, as Ctrl-C does.
    fn request(&self) {
        self.inner.request();
    }
}

/// Runs a search and returns its selection as JSON, and with `keep_all` all evaluated subsets.
#[pyfunction]
#[pyo3(signature = (dataset, spec, *, threads, checkpoint=None, callback=None, scorer=None, keep_all=false, cancel=None))]
#[allow(clippy::too_many_arguments, reason = "keywords on the Python side")]
fn run<'py>(
    py: Python<'py>,
    dataset: &PyDataset,
    spec: &str,
    threads: usize,
    checkpoint: Option<std::path::PathBuf>,
    callback: Option<Py<PyAny>>,
    scorer: Option<Py<PyAny>>,
    keep_all: bool,
    cancel: Option<PyRef<'_, PyCancel>>,
) -> PyResult<(String, Option<convert::EvaluatedSubsets<'py>>)> {
    let spec = convert::spec(spec).map_err(|error| to_py(py, &error))?;
    let problem = Problem::Table { data: &dataset.inner, threads, scorer };
    let cancel = cancel.map_or_else(Arc::default, |cancel| Arc::clone(&cancel.inner));
    let (found, kept) = watch::run(py, problem, &spec, &cancel, checkpoint, callback, keep_all)?;
    let n_features = dataset.inner.n_features();
    let kept = kept.map(|kept| convert::evaluated_subsets(py, kept, n_features));
    Ok((found, kept.transpose()?))
}

/// The costs and scores of non-empty masks by the evaluation of a spec, as JSON, without a search. None if that takes longer
/// than `seconds`.
#[pyfunction]
#[pyo3(signature = (dataset, spec, masks, *, threads, scorer=None, seconds=None, cancel=None))]
#[allow(clippy::too_many_arguments, reason = "keywords on the Python side")]
fn price(
    py: Python<'_>,
    dataset: &PyDataset,
    spec: &str,
    masks: PyReadonlyArray2<'_, bool>,
    threads: usize,
    scorer: Option<Py<PyAny>>,
    seconds: Option<f64>,
    cancel: Option<PyRef<'_, PyCancel>>,
) -> PyResult<Option<String>> {
    let spec = convert::spec(spec).map_err(|error| to_py(py, &error))?;
    let subsets = self::masks(py, &masks, dataset.inner.n_features())?;
    let problem = Problem::Table { data: &dataset.inner, threads, scorer };
    let cancel = cancel.map_or_else(Arc::default, |cancel| Arc::clone(&cancel.inner));
    watch::price(py, problem, &spec, &subsets, seconds, &cancel)
}

/// Minimizes a cost function of bit strings and returns the selection as JSON.
#[pyfunction]
#[pyo3(signature = (cost, n_bits, spec, *, checkpoint=None, callback=None))]
fn minimize(
    py: Python<'_>,
    cost: Py<PyAny>,
    n_bits: usize,
    spec: &str,
    checkpoint: Option<std::path::PathBuf>,
    callback: Option<Py<PyAny>>,
) -> PyResult<String> {
    let spec = convert::spec(spec).map_err(|error| to_py(py, &error))?;
    let problem = Problem::Bits { n_bits, cost };
    Ok(watch::run(py, problem, &spec, &Arc::default(), checkpoint, callback, false)?.0)
}

/// All algorithms as JSON.
#[pyfunction]
fn algorithms() -> String {
    let cards: Vec<serde_json::Value> = REGISTRY.iter().map(convert::card).collect();
    serde_json::Value::Array(cards).to_string()
}

/// True if the counts in a Parquet file are consistent, so that reading it does not allocate more memory than its values
/// take.
#[pyfunction]
fn is_sound_parquet(py: Python<'_>, file: &[u8], limit: u64) -> bool {
    py.detach(|| parquet::has_sound_counts(file, limit))
}

#[pymodule]
fn _swarmrs(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<PyCancel>()?;
    module.add_class::<PyDataset>()?;
    module.add_class::<PyEvaluator>()?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(price, module)?)?;
    module.add_function(wrap_pyfunction!(minimize, module)?)?;
    module.add_function(wrap_pyfunction!(algorithms, module)?)?;
    module.add_function(wrap_pyfunction!(is_sound_parquet, module)?)?;
    Ok(())
}
