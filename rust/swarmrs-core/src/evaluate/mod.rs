//! Evaluation of feature subsets: k-NN, naive Bayes and ridge, with their scores and settings. k-NN and ridge predict
//! classes or, where the target is numeric, numbers.

pub mod baseline;
mod by_filter;
pub(crate) mod cache;
mod folded;
mod incremental;
mod knn;
mod layout;
mod naive_bayes;
mod repeated;
mod ridge;
mod scores;

pub(crate) use by_filter::ByFilter;
use naive_bayes::Likelihood;
pub use ridge::{ridge_rfe, ridge_sfs};
use scores::TestCases;

use crate::base::error::{Error, Result};
use crate::base::parallel::Pool;
use crate::base::subset::Subset;
use crate::data::dataset::{Dataset, Scale};
use crate::data::folds::{FoldSpec, Folds};
use crate::simd::Isa;
use folded::FoldedTable;
use knn::CompleteVoter;
use serde::{Deserialize, Serialize, Serializer};
use std::sync::{Arc, Mutex, PoisonError};

/// Evaluates subsets: k-NN, naive Bayes, ridge classification, a filter merit, an external scorer.
///
/// # Examples
/// The built-in evaluators come from [`build`]:
///
/// ```
/// use swarmrs_core::base::subset::Subset;
/// use swarmrs_core::data::dataset::{Dataset, Scale};
/// use swarmrs_core::data::folds::FoldSpec;
/// use swarmrs_core::evaluate::{
///     Classifier, Evaluator, EvaluationSpec, Metric, Resources, ScaleFit, Weights, build,
/// };
///
/// // The first feature separates the two classes, the second one does not.
/// let columns = [0.0, 0.1, 0.2, 0.8, 0.9, 1.0, 0.5, 0.1, 0.9, 0.4, 0.2, 0.8];
/// let names = vec!["good".to_owned(), "noise".to_owned()];
/// let data = Dataset::new(&columns, vec![0, 0, 0, 1, 1, 1], 2, names, Scale::Minmax)?;
/// let spec = EvaluationSpec {
///     classifier: Classifier::Knn,
///     k: 1,
///     metric: Metric::Euclidean,
///     weights: Weights::Uniform,
///     alpha: None,
///     scale_fit: ScaleFit::All,
///     folds: FoldSpec::Loo,
/// };
/// let (mut knn, _warnings) = build(&data, &spec, false, Resources::default())?;
/// let subsets = [Subset::from_indices(2, [0]), Subset::from_indices(2, [1])];
/// let scores = knn.evaluate(&subsets)?;
/// assert_eq!(scores[0].accuracy, 1.0);
/// assert!(scores[1].accuracy < 0.5);
/// # Ok::<(), swarmrs_core::Error>(())
/// ```
///
/// One of your own needs [`evaluate`](Self::evaluate) alone, as in the example of [`Run`](crate::run::Run).
pub trait Evaluator: Send {
    /// Evaluates the subsets of an iteration, in order; none of them is empty unless [`allows_empty`](Self::allows_empty).
    /// Cached sums of earlier subsets save time and never change an answer.
    ///
    /// # Errors
    /// [`Error::Scorer`] when an outside scorer fails. Cancelled work does not return; see [`cancel`](crate::base::cancel).
    fn evaluate(&mut self, subsets: &[Subset]) -> Result<Vec<Measures>>;

    /// Evaluates like [`evaluate`](Self::evaluate) and notes each subset that is done, so that these are not lost when the
    /// work is cancelled before the last. An evaluator that scores a batch as a whole notes none.
    ///
    /// # Errors
    /// Those of [`evaluate`](Self::evaluate).
    fn evaluate_noting(
        &mut self,
        subsets: &[Subset],
        _finished: &Finished,
    ) -> Result<Vec<Measures>> {
        self.evaluate(subsets)
    }

    /// True if a subset has the same scores, bit for bit, whenever it is evaluated.
    fn is_repeatable(&self) -> bool {
        true
    }

    /// True if the empty subset is evaluated like any other instead of being the worst.
    fn allows_empty(&self) -> bool {
        false
    }

    /// Takes over evaluations of an earlier part of the same run, as if it had just made them itself.
    fn recall(&mut self, _subsets: &[Subset], _measures: &[Measures]) {}

    /// The element operations done so far.
    fn work(&self) -> Work {
        Work::default()
    }
}

/// The subsets of a batch that are evaluated already, by their places in it.
#[derive(Debug, Default)]
pub struct Finished(Mutex<Vec<(usize, Measures)>>);

impl Finished {
    /// Notes a subset.
    pub fn note(&self, place: usize, measures: Measures) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((place, measures));
    }

    /// The subsets of this batch that are evaluated, in its order.
    pub fn of(self, batch: &[Subset]) -> Vec<(Subset, Measures)> {
        let mut finished = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        finished.sort_unstable_by_key(|(place, _)| *place);
        finished.into_iter().map(|(place, measures)| (batch[place].clone(), measures)).collect()
    }
}

/// Element operations: one value of one feature entering one sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Work {
    /// Those done.
    pub element_ops: u64,
    /// Those it would take to build every subset from nothing.
    pub from_scratch_ops: u64,
    /// Those done once, before any subset was evaluated.
    pub setup_ops: u64,
}

/// The cross-validated scores of a subset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measures {
    /// Mean over folds of the share misclassified; of numbers 1 - R2.
    pub error: f64,
    /// The share misclassified over all tested rows; of numbers 1 - R2 of all tested rows.
    pub pooled_error: f64,
    /// 1 - error.
    pub accuracy: f64,
    /// Mean over folds of the mean recall of the classes that the fold tests; over all rows for leave-one-out.
    pub balanced_accuracy: f64,
    /// Mean over classes of one-versus-rest accuracy, over all tested rows.
    pub ovr_accuracy: f64,
    /// Mean over folds of the mean F1 of the classes tested or predicted; over all rows for leave-one-out.
    pub f1_macro: f64,
    /// Mean over folds of the Matthews correlation coefficient, 0 where it is undefined; over all rows for leave-one-out.
    pub matthews_corrcoef: f64,
    /// The balanced accuracy over all tested rows, which the hybrid objective goes by.
    pub pooled_balanced_accuracy: f64,
    /// Mean distance to the nearest row of another class less that to the farthest of the same; 0 unless the objective needs it.
    pub separation: f64,
    /// The scores of a numeric target, which has none of those of classes.
    pub numbers: Option<NumberScores>,
}

/// The cross-validated scores of predicted numbers, by the names of scikit-learn: means over folds; over all rows for
/// leave-one-out.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct NumberScores {
    /// The coefficient of determination; that of all rows together if a fold tests a single row.
    pub r2: f64,
    /// The mean squared error, negated.
    pub neg_mean_squared_error: f64,
    /// Its root, negated.
    pub neg_root_mean_squared_error: f64,
    /// The mean absolute error, negated.
    pub neg_mean_absolute_error: f64,
}

impl Measures {
    /// The number of its fields.
    pub const FIELDS: usize = 9;
    /// The names of the scores, in the order of [`to_array`](Self::to_array); what only the hybrid objective needs comes
    /// behind them.
    pub const SCORES: [&'static str; 7] = [
        "error",
        "pooled_error",
        "accuracy",
        "balanced_accuracy",
        "ovr_accuracy",
        "f1_macro",
        "matthews_corrcoef",
    ];
    /// The names of the scores of a numeric target, in the order of [`to_array`](Self::to_array).
    pub const NUMBER_SCORES: [&'static str; 6] = [
        "error",
        "pooled_error",
        "r2",
        "neg_mean_squared_error",
        "neg_root_mean_squared_error",
        "neg_mean_absolute_error",
    ];
    /// The scores of the empty subset.
    pub const WORST: Self = Self {
        error: 1.0,
        pooled_error: 1.0,
        accuracy: 0.0,
        balanced_accuracy: 0.0,
        ovr_accuracy: 0.0,
        f1_macro: 0.0,
        matthews_corrcoef: -1.0,
        pooled_balanced_accuracy: 0.0,
        separation: -1.0,
        numbers: None,
    };

    /// The names of the scores of a target that is numeric or not.
    pub fn names(is_numeric: bool) -> &'static [&'static str] {
        if is_numeric { &Self::NUMBER_SCORES } else { &Self::SCORES }
    }

    /// Its numbers in order. In the place of the separation, which is always a number, NaN marks those of a numeric target.
    pub fn to_array(&self) -> [f64; Self::FIELDS] {
        if let Some(numbers) = self.numbers {
            return [
                self.error,
                self.pooled_error,
                numbers.r2,
                numbers.neg_mean_squared_error,
                numbers.neg_root_mean_squared_error,
                numbers.neg_mean_absolute_error,
                0.0,
                0.0,
                f64::NAN,
            ];
        }
        [
            self.error,
            self.pooled_error,
            self.accuracy,
            self.balanced_accuracy,
            self.ovr_accuracy,
            self.f1_macro,
            self.matthews_corrcoef,
            self.pooled_balanced_accuracy,
            self.separation,
        ]
    }

    /// The measures with these numbers.
    pub fn from_array(values: [f64; Self::FIELDS]) -> Self {
        let [
            error,
            pooled_error,
            accuracy,
            balanced_accuracy,
            ovr_accuracy,
            f1_macro,
            matthews_corrcoef,
            pooled_balanced_accuracy,
            separation,
        ] = values;
        if separation.is_nan() {
            let numbers = NumberScores {
                r2: values[2],
                neg_mean_squared_error: values[3],
                neg_root_mean_squared_error: values[4],
                neg_mean_absolute_error: values[5],
            };
            return Self { error, pooled_error, numbers: Some(numbers), ..Self::WORST };
        }
        Self {
            error,
            pooled_error,
            accuracy,
            balanced_accuracy,
            ovr_accuracy,
            f1_macro,
            matthews_corrcoef,
            pooled_balanced_accuracy,
            separation,
            numbers: None,
        }
    }

    /// The result of an external scorer: its error, and nothing else.
    pub fn from_error(error: f64) -> Self {
        let error = if error.is_nan() { f64::INFINITY } else { error };
        Self { error, pooled_error: error, accuracy: 1.0 - error, ..Self::WORST }
    }
}

impl Serialize for Measures {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(Self::names(self.numbers.is_some()).iter().zip(self.to_array()))
    }
}

/// The distance between rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// Sum of absolute differences.
    Manhattan,
    /// Root of the sum of squared differences; the squares compare the same.
    Euclidean,
}

/// The weight of a neighbor's vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Weights {
    /// One vote each.
    Uniform,
    /// Votes of 1 / distance; where neighbors lie at distance 0, only they vote.
    Distance,
}

/// The rows that the scaling of features is fitted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScaleFit {
    /// All rows, those of test folds too: ranges and deviations are known to the folds, labels are not.
    #[default]
    All,
    /// The training rows of each fold, as a scikit-learn pipeline does.
    Train,
}

/// The classifier that evaluates a subset; of a numeric target the regressor of the same kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Classifier {
    /// k nearest neighbors.
    Knn,
    /// Gaussian naive Bayes.
    Nb,
    /// Naive Bayes with the normal cumulative function where the density belongs: a published error, kept to repeat the
    /// numbers published with it.
    #[serde(rename = "nb-cdf")]
    NbCdf,
    /// Ridge regression, of classes on targets of +1 and -1.
    Ridge,
}

/// The settings of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationSpec {
    /// The classifier.
    pub classifier: Classifier,
    /// The number of neighbors, for k-NN.
    pub k: usize,
    /// Distance, for k-NN.
    pub metric: Metric,
    /// Votes, for k-NN.
    pub weights: Weights,
    /// The penalty, for ridge; the number of rows by default.
    #[serde(default)]
    pub alpha: Option<f64>,
    /// The rows that scaling is fitted on.
    #[serde(default)]
    pub scale_fit: ScaleFit,
    /// The cross-validation scheme.
    pub folds: FoldSpec,
}

/// The evaluation protocol of a paper: the defaults for settings that a user leaves open.
#[derive(Debug, Clone, PartialEq)]
pub struct Protocol {
    /// The number of neighbors.
    pub k: usize,
    /// Their distance.
    pub metric: Metric,
    /// The cross-validation scheme.
    pub folds: FoldSpec,
}

impl Protocol {
    /// Five neighbors, ten folds: the protocol of most papers, and the default without a paper.
    pub const COMMON: Self = Self {
        k: 5,
        metric: Metric::Euclidean,
        folds: FoldSpec::Kfold { k: 10, shuffle: true, seed: 0 },
    };
    /// One neighbor, leave-one-out, Manhattan distance, which the hybrid objective needs: high dimensions.
    pub const NEAREST: Self = Self { k: 1, metric: Metric::Manhattan, folds: FoldSpec::Loo };
    /// One neighbor, leave-one-out, Euclidean distance: CD-BPSO and the genetic algorithms it is compared with.
    pub const LEAVE_ONE_OUT: Self = Self { k: 1, metric: Metric::Euclidean, folds: FoldSpec::Loo };
    /// One neighbor, five folds repeated while errors spread: the classic greedy wrappers.
    pub const WRAPPER: Self =
        Self { k: 1, metric: Metric::Euclidean, folds: FoldSpec::Wrap5 { seed: 0 } };
}

/// The evaluation settings of a user; a [`Protocol`] fills in the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationRequest {
    /// The classifier.
    pub classifier: Classifier,
    /// The number of neighbors, for k-NN.
    #[serde(default)]
    pub k: Option<usize>,
    /// Distance, for k-NN.
    #[serde(default)]
    pub metric: Option<Metric>,
    /// Votes, for k-NN.
    pub weights: Weights,
    /// The penalty, for ridge; the number of rows by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// The rows that scaling is fitted on.
    #[serde(default, skip_serializing_if = "is_all")]
    pub scale_fit: ScaleFit,
    /// The cross-validation scheme.
    pub folds: FoldSpec,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_all(scale_fit: &ScaleFit) -> bool {
    *scale_fit == ScaleFit::All
}

impl EvaluationRequest {
    /// The complete settings.
    pub fn settle(&self, protocol: &Protocol) -> EvaluationSpec {
        EvaluationSpec {
            classifier: self.classifier,
            k: self.k.unwrap_or(protocol.k),
            metric: self.metric.unwrap_or(protocol.metric),
            weights: self.weights,
            alpha: self.alpha,
            scale_fit: self.scale_fit,
            folds: match self.folds {
                FoldSpec::Own { seed } => protocol.folds.clone().reseeded(seed),
                ref given => given.clone(),
            },
        }
    }
}

/// When the sums of a subset are built from those of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum References {
    /// Every subset is evaluated from scratch.
    Never,
    /// Where that saves more time than keeping the sums of others costs.
    WherePaying,
    /// Always, whatever it costs: for tests of the incremental path.
    Always,
}

/// Threads, memory and instructions of a run; none of them changes an answer.
#[derive(Debug, Clone)]
pub struct Resources {
    /// The thread pool, shared by everything a run does.
    pub pool: Arc<Pool>,
    /// Bytes for what is cached between evaluations; the evaluation cache of a search has a share of its own.
    pub memory: u64,
    /// When subsets are built from others.
    pub references: References,
    /// The instruction set of the kernels; without one, that of the process ([`Isa::of_process`]).
    pub isa: Option<Isa>,
}

impl Default for Resources {
    fn default() -> Self {
        Self::with_threads(1)
    }
}

impl Resources {
    /// A pool of so many threads, 0 for one on each core, and 1 GiB of memory.
    pub fn with_threads(threads: usize) -> Self {
        let pool = Arc::new(Pool::new(threads));
        Self { pool, memory: 1 << 30, references: References::WherePaying, isa: None }
    }

    fn isa(&self) -> Result<Isa> {
        self.isa.map_or_else(Isa::of_process, Ok)
    }
}

/// A built-in classifier or regressor: an evaluator with predictions behind its scores.
pub trait Classify: Evaluator {
    /// The predicted class of each tested row, as (row, class) in the order of splits, then rows; nothing of a numeric
    /// target.
    fn predict(&self, subset: &Subset) -> Vec<(u32, u32)>;

    /// The predicted number of each tested row, as (row, number) in the same order; nothing of classes.
    fn predict_numbers(&self, _subset: &Subset) -> Vec<(u32, f64)> {
        Vec::new()
    }

    /// The classes predicted for each case with their probabilities, by case: one class that is certain, except under
    /// complete cross-validation, where a case has a prediction for each of many splits.
    fn distribution(&self, subset: &Subset) -> Vec<Prediction> {
        certain(self.predict(subset))
    }

    /// How many rows each split tests, in the order of the predictions.
    fn fold_sizes(&self) -> Vec<usize>;
}

/// A class predicted for a case, a row tested in a split.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// The case, counted in the order of splits, then rows.
    pub case: u32,
    /// Its row.
    pub row: u32,
    /// The class.
    pub class: u32,
    /// The probability of the class.
    pub probability: f64,
}

/// Predictions without alternatives.
fn certain(predicted: Vec<(u32, u32)>) -> Vec<Prediction> {
    let prediction = |(case, (row, class))| Prediction { case, row, class, probability: 1.0 };
    (0..).zip(predicted).map(prediction).collect()
}

/// The evaluator that `spec` describes, with warnings for the user.
///
/// # Errors
/// Folds or a number of neighbors that do not fit the table; an unknown instruction set.
#[allow(clippy::needless_pass_by_value, reason = "its evaluator owns them")]
pub fn build(
    data: &Dataset,
    spec: &EvaluationSpec,
    separation: bool,
    resources: Resources,
) -> Result<(Box<dyn Classify>, Vec<String>)> {
    let (strata, n_strata) = data.strata();
    let (partitions, mut warnings) = Folds::draw_all(&spec.folds, &strata, n_strata)?;
    check_numeric(data, spec, separation)?;
    if separation && !can_separate(data, spec) {
        let what = "the hybrid objective needs classifier knn, metric manhattan and scale minmax fitted on all rows";
        return Err(Error::BadSpec { what: what.into() });
    }
    if spec.classifier == Classifier::NbCdf {
        let what = "nb-cdf repeats a published error and is no naive Bayes: \
                    use it only to compare with the numbers published with it";
        warnings.push(what.to_owned());
    }
    let complete = complete_voter(data, spec)?;
    let isa = resources.isa()?;
    let n_partitions = partitions.len();
    // Each partition keeps its own sums, so they share the memory.
    let memory = resources.memory / n_partitions as u64;
    let resources = Resources { memory, ..resources };
    let mut remarks = Vec::new();
    let mut evaluators = partitions.iter().map(|folds| -> Result<Box<dyn Classify>> {
        let resources = resources.clone();
        let (table, remark) = FoldedTable::new(data, folds, spec.scale_fit)?;
        remarks.extend(remark);
        let mut bayes = |likelihood, resources| {
            let (bayes, remark) =
                naive_bayes::NaiveBayes::evaluator(&table, likelihood, resources, isa);
            remarks.extend(remark);
            bayes
        };
        match spec.classifier {
            Classifier::Nb => Ok(bayes(Likelihood::Density, resources)),
            Classifier::NbCdf => Ok(bayes(Likelihood::Cumulative, resources)),
            Classifier::Ridge => {
                let ridge = ridge::Ridge::new(&table, spec.alpha, spec.scale_fit, resources, isa)?;
                Ok(Box::new(ridge))
            }
            Classifier::Knn => {
                let most = folds.least_training();
                if spec.k == 0 || spec.k > most {
                    let expected = format!("1 to {most}, the rows a test row is compared with");
                    return Err(Error::out_of_range("n_neighbors", spec.k, &expected));
                }
                let depth = complete.as_ref().map_or(spec.k, |voter| voter.depth());
                check_keys(data.n_samples(), depth, resources.pool.threads())?;
                Ok(knn::build(&table, spec, complete.clone(), separation, resources, isa))
            }
        }
    });
    let evaluator = match evaluators.next() {
        Some(only) if n_partitions == 1 => only?,
        first => Box::new(repeated::Repeated::new(
            first.into_iter().chain(evaluators).collect::<Result<_>>()?,
        )),
    };
    remarks.sort_unstable();
    remarks.dedup();
    warnings.extend(remarks);
    Ok((evaluator, warnings))
}

/// Refuses evaluations that need classes where the target is numeric.
fn check_numeric(data: &Dataset, spec: &EvaluationSpec, separation: bool) -> Result<()> {
    let what = match spec.classifier {
        _ if data.numbers().is_none() => return Ok(()),
        Classifier::Nb | Classifier::NbCdf => "naive Bayes",
        _ if separation => "the hybrid objective",
        _ if matches!(spec.folds, FoldSpec::Complete { .. }) => "complete cross-validation",
        Classifier::Knn | Classifier::Ridge => return Ok(()),
    };
    Err(Error::BadSpec { what: format!("{what} needs classes, and the target is numeric") })
}

/// The votes of complete cross-validation, if that is the scheme.
fn complete_voter(data: &Dataset, spec: &EvaluationSpec) -> Result<Option<Arc<CompleteVoter>>> {
    let Some(kept) = spec.folds.kept(data.n_samples()) else { return Ok(None) };
    let what = if spec.classifier != Classifier::Knn {
        "complete cross-validation is for k-NN"
    } else if spec.weights != Weights::Uniform {
        "complete cross-validation is for k-NN with uniform votes"
    } else if spec.scale_fit == ScaleFit::Train && data.scale() != Scale::None {
        "complete cross-validation has too many training parts to fit the scaling on each: fit it on all rows"
    } else {
        return CompleteVoter::new(data.n_samples() - 1, kept, spec.k).map(Arc::new).map(Some);
    };
    Err(Error::BadSpec { what: what.into() })
}

/// Refuses so many neighbors that the lists of the nearest would need more than 8 GiB: a key of 8 bytes for each row,
/// neighbor and thread.
fn check_keys(n_samples: usize, k: usize, threads: usize) -> Result<()> {
    let bytes = 8.0 * n_samples as f64 * k as f64 * threads as f64;
    if bytes <= 8.0 * f64::from(1 << 30) {
        return Ok(());
    }
    let gib = bytes / f64::from(1 << 30);
    Err(Error::TooLarge {
        what: format!(
            "n_neighbors is {k}: the neighbors of {n_samples} rows need about {gib:.0} GiB, expected 8 GiB at most"
        ),
        hint: "lower k, or the number of threads".into(),
    })
}

/// True if the distances between and within classes, which the hybrid objective needs, can be had.
pub fn can_separate(data: &Dataset, spec: &EvaluationSpec) -> bool {
    data.numbers().is_none()
        && spec.classifier == Classifier::Knn
        && spec.metric == Metric::Manhattan
        && data.scale() == Scale::Minmax
        && spec.scale_fit == ScaleFit::All
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_external_score_is_an_error_and_its_complement() {
        let measures = Measures::from_error(0.25);
        assert_eq!((measures.error, measures.pooled_error, measures.accuracy), (0.25, 0.25, 0.75));
        assert_eq!(Measures::from_error(f64::NAN).error, f64::INFINITY);
    }
}
