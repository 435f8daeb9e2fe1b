//! The binding: it converts and forwards, and decides nothing.

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
use watch::{Problem, heard};

/// A table in fixed point, ready to be measured.
#[pyclass(frozen, name = "Dataset", module = "swarmrs._swarmrs")]
struct PyDataset {
    inner: Arc<Dataset>,
}

#[pymethods]
impl PyDataset {
    /// `refill` fills missing values anew: see the core's trait of this name. Where the target is numeric, `numbers` has
    /// its values and `codes` its bins.
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
        let mut inner = heard(py, || {
            let data = Dataset::new(&columns, codes, n_classes, names, scale)?;
            match numbers {
                Some(numbers) => data.with_numbers(numbers),
                None => Ok(data),
            }
        })?;
        if let Some(call) = refill {
            let (refill, mark) = imputer::of(py, call)?;
            inner = inner.with_imputer(Arc::new(refill), &mark);
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

    /// Of each column: its symmetrical uncertainty with the class, its information about it in bits, its levels.
    fn rank<'py>(&self, py: Python<'py>, threads: usize) -> PyResult<Ranks<'py>> {
        let levels = heard(py, || Ok(self.inner.levels(&Pool::new(threads))))?;
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

    /// The F statistic of each of these features, by these rows or by all.
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
        let scores = heard(py, || {
            let pool = Pool::new(threads);
            Ok(match &rows {
                None => self.inner.f_scores(&features, &pool),
                Some(rows) => self.inner.f_scores_by(rows, &features, &pool),
            })
        })?;
        Ok(PyArray1::from_vec(py, scores))
    }

    /// These features by minimum redundancy and maximum relevance, `most` of them selected in turn: the place of each
    /// among those given, and its score.
    fn mrmr<'py>(
        &self,
        py: Python<'py>,
        features: Vec<usize>,
        most: usize,
        threads: usize,
    ) -> PyResult<Order<'py>> {
        let order = self.score(py, &features, threads, |columns, classes, pool| {
            filter::mrmr(columns, classes, most, pool)
        })?;
        let (places, scores) =
            order.into_iter().map(|(place, score)| (place as u32, score)).unzip();
        Ok((PyArray1::from_vec(py, places), PyArray1::from_vec(py, scores)))
    }

    /// The `ReliefF` weight of each of these features, with so many neighbors of each class.
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

    /// The columns that survive a prescreen, at most `limit`, in ascending order.
    fn survivors(
        &self,
        py: Python<'_>,
        rule: &str,
        limit: usize,
        threads: usize,
    ) -> PyResult<Vec<usize>> {
        heard(py, || {
            let rule = Prescreen::read(rule)?;
            let columns: Vec<usize> = (0..self.inner.n_features()).collect();
            let filter = Filter::new(self.inner.levels(&Pool::new(threads)), &columns, 0);
            Ok(rule.survivors(&filter, limit))
        })
    }

    /// The scores of predicting one class, given by its code, for every row that the folds of an evaluation test.
    fn constant(
        &self,
        py: Python<'_>,
        evaluation: &str,
        class_: u32,
    ) -> PyResult<Vec<(&'static str, f64)>> {
        let spec = self::evaluation(evaluation).map_err(|error| to_py(py, &error))?;
        let measures = heard(py, || baseline::constant(&self.inner, &spec.folds, class_))?;
        Ok(Measures::SCORES.into_iter().zip(measures.to_array()).collect())
    }

    /// The scores of predicting the mean of the training rows for every row that the folds of an evaluation test, of a
    /// numeric target.
    fn training_mean(
        &self,
        py: Python<'_>,
        evaluation: &str,
    ) -> PyResult<Vec<(&'static str, f64)>> {
        let spec = self::evaluation(evaluation).map_err(|error| to_py(py, &error))?;
        let measures = heard(py, || baseline::training_mean(&self.inner, &spec.folds))?;
        Ok(Measures::NUMBER_SCORES.into_iter().zip(measures.to_array()).collect())
    }

    /// Some columns from the most to the least important one by recursive elimination with ridge regression or
    /// classification; without `alpha` its penalty is the number of rows.
    fn ridge_rfe(
        &self,
        py: Python<'_>,
        features: Vec<usize>,
        alpha: Option<f64>,
        threads: usize,
    ) -> PyResult<Vec<usize>> {
        heard(py, || evaluate::ridge_rfe(&self.inner, &features, alpha, &Pool::new(threads)))
    }

    /// Some columns in the order of greedy forward selection by the leave-one-out error of ridge regression or
    /// classification; after `n_steps` steps the others follow in the order of the last one. Without `alpha` the penalty
    /// is the number of rows.
    fn ridge_sfs(
        &self,
        py: Python<'_>,
        features: Vec<usize>,
        n_steps: usize,
        alpha: Option<f64>,
        threads: usize,
    ) -> PyResult<Vec<usize>> {
        heard(py, || {
            evaluate::ridge_sfs(&self.inner, &features, n_steps, alpha, &Pool::new(threads))
        })
    }

    /// The columns in groups, how their number was chosen, and all settings it was done by, as JSON.
    fn group(&self, py: Python<'_>, spec: &str, threads: usize) -> PyResult<String> {
        let spec = convert::group_spec(spec).map_err(|error| to_py(py, &error))?;
        let found = heard(py, || spec.find(&self.inner, &Pool::new(threads)))?;
        Ok(serde_json::json!({ "spec": spec, "found": found }).to_string())
    }
}

impl PyDataset {
    /// What a filter makes of the columns of these features and the classes.
    fn score<T: Send>(
        &self,
        py: Python<'_>,
        features: &[usize],
        threads: usize,
        score: impl FnOnce(&[&[f64]], Labels<'_>, &Pool) -> T + Send,
    ) -> PyResult<T> {
        let data = &self.inner;
        convert::check_features(features, data.n_features()).map_err(|error| to_py(py, &error))?;
        heard(py, || {
            let columns: Vec<&[f64]> = features.iter().map(|&at| data.values(at)).collect();
            let classes = Labels { codes: data.codes(), count: data.n_classes() };
            Ok(score(&columns, classes, &Pool::new(threads)))
        })
    }
}

/// Places of features in an order, and their scores in the same order.
type Order<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>);

/// Uncertainty, information and levels, a value for each column.
type Ranks<'py> = (Bound<'py, PyArray1<f32>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<u32>>);

/// Rows, their predicted classes, and the folds that test them.
type Predictions<'py> =
    (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>);

/// Rows, their predicted numbers, and the folds that test them.
type PredictedNumbers<'py> =
    (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<u32>>);

/// Rows, classes that may be predicted for them, the folds that test them, and the probabilities of the classes.
type Distribution<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f64>>,
);

/// Measures subsets one batch at a time.
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
        let (inner, warnings) = heard(py, || evaluate::build(&data, &spec, false, resources))?;
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
        let known = |subset: &&Subset| !subset.is_empty();
        let requested: Vec<_> = subsets.iter().filter(known).cloned().collect();
        let mut measured = heard(py, || {
            self.inner.lock().unwrap_or_else(PoisonError::into_inner).evaluate(&requested)
        })?
        .into_iter();
        let scores = Measures::names(self.is_numeric).len();
        let worst =
            if self.is_numeric { [f64::NAN; Measures::FIELDS] } else { Measures::WORST.to_array() };
        let mut rows = Vec::with_capacity(subsets.len() * scores);
        for subset in &subsets {
            // The empty subset is the worst there is and is not measured; errors of numbers have no worst.
            let measures = if subset.is_empty() { None } else { measured.next() };
            rows.extend_from_slice(&measures.map_or(worst, |scores| scores.to_array())[..scores]);
        }
        PyArray1::from_vec(py, rows).reshape([subsets.len(), scores])
    }

    /// Rows tested, the classes predicted for them, and the folds that test them; sorted by row.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        mask: PyReadonlyArray1<'_, bool>,
    ) -> PyResult<Predictions<'py>> {
        let (rows, classes, folds) = self.by_row(py, &mask, |engine, it| engine.predict(it))?;
        Ok((
            PyArray1::from_vec(py, rows),
            PyArray1::from_vec(py, classes),
            PyArray1::from_vec(py, folds),
        ))
    }

    /// Rows tested, the numbers predicted for them, and the folds that test them; sorted by row.
    fn predict_numbers<'py>(
        &self,
        py: Python<'py>,
        mask: PyReadonlyArray1<'_, bool>,
    ) -> PyResult<PredictedNumbers<'py>> {
        let (rows, numbers, folds) =
            self.by_row(py, &mask, |engine, it| engine.predict_numbers(it))?;
        Ok((
            PyArray1::from_vec(py, rows),
            PyArray1::from_vec(py, numbers),
            PyArray1::from_vec(py, folds),
        ))
    }

    /// Rows tested, each class that may be predicted for them, the folds that test them and the probability of the class;
    /// sorted by row.
    fn distribution<'py>(
        &self,
        py: Python<'py>,
        mask: PyReadonlyArray1<'_, bool>,
    ) -> PyResult<Distribution<'py>> {
        let subset = convert::mask(py, &mask, self.n_features)?;
        let (mut predictions, sizes) = heard(py, || {
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

    /// Element operations done, those it would take from scratch, and those done before the first subset.
    fn work(&self) -> (u64, u64, u64) {
        let work = self.inner.lock().unwrap_or_else(PoisonError::into_inner).work();
        (work.element_ops, work.from_scratch_ops, work.setup_ops)
    }
}

impl PyEvaluator {
    /// The tested rows with what is predicted for them and the folds that test them; sorted by row.
    fn by_row<T: Send>(
        &self,
        py: Python<'_>,
        mask: &PyReadonlyArray1<'_, bool>,
        predict: impl FnOnce(&dyn Classify, &Subset) -> Vec<(u32, T)> + Send,
    ) -> PyResult<(Vec<u32>, Vec<T>, Vec<u32>)> {
        let subset = convert::mask(py, mask, self.n_features)?;
        let (cases, sizes) = heard(py, || {
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

/// Ends runs from another thread, where Python itself hears no signals.
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

    /// Ends the runs it was given to, as Ctrl-C does.
    fn request(&self) {
        self.inner.request();
    }
}

/// Runs a search and returns its selection as JSON, and all that was measured if that is wanted.
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
) -> PyResult<(String, Option<convert::Measured<'py>>)> {
    let spec = convert::spec(spec).map_err(|error| to_py(py, &error))?;
    let problem = Problem::Table { data: &dataset.inner, threads, scorer };
    let cancel = cancel.map_or_else(Arc::default, |cancel| Arc::clone(&cancel.inner));
    let (found, kept) = watch::run(py, problem, &spec, &cancel, checkpoint, callback, keep_all)?;
    let kept = kept.map(|kept| convert::measured(py, kept, dataset.inner.n_features()));
    Ok((found, kept.transpose()?))
}

/// What masks, none of them empty, cost and show by the evaluation of a spec: JSON, without a search. None if that takes
/// longer than `seconds`.
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

/// Searches strings of bits for the least cost and returns what it found as JSON.
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

/// True if a Parquet file can be read without a request for more memory than its values take.
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
