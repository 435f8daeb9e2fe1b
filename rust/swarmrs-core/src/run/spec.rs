//! The specification of a run.

use crate::evaluate::EvaluationRequest;
use crate::problem::budget::Budget;
use crate::problem::groups::GroupSpec;
use crate::problem::objective::{Objective, Score};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The specification of a run, as JSON: the same spec and data give the same trace.
///
/// # Examples
/// Omitted settings have their defaults, and unknown ones are errors. The values are checked by
/// [`Run::new`](crate::run::Run::new).
///
/// ```
/// use swarmrs_core::run::Spec;
///
/// let text = r#"{
///     "algorithm": "vlpso",
///     "params": {"population": 30},
///     "seed": 7,
///     "evaluation": {"classifier": "nb", "weights": "uniform", "folds": {"scheme": "own", "seed": 0}},
///     "budget": {"evaluations": 2000, "seconds": 60},
///     "max_features": 20,
///     "memory": 67108864
/// }"#;
/// let spec: Spec = serde_json::from_str(text)?;
/// assert_eq!(spec.max_features, Some(20));
/// assert!(spec.objective.is_none()); // that of the algorithm's paper
/// assert_eq!(serde_json::from_str::<Spec>(&serde_json::to_string(&spec)?)?, spec);
///
/// let misspelled = text.replace("max_features", "max_featuers");
/// assert!(serde_json::from_str::<Spec>(&misspelled).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The id or alias of an algorithm.
    pub algorithm: String,
    /// The hyperparameters that differ from the defaults.
    #[serde(default)]
    pub params: Map<String, Value>,
    /// The random seed of the search.
    pub seed: u64,
    /// The evaluation of subsets; omitted settings are those of the algorithm's paper.
    pub evaluation: EvaluationRequest,
    /// The objective; None for that of the algorithm's paper.
    #[serde(default)]
    pub objective: Option<Objective>,
    /// The score of the objective; None for its default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scoring: Option<Score>,
    /// The kind of result.
    #[serde(default, skip_serializing_if = "Answer::is_best")]
    pub answer: Answer,
    /// The budget; without limits, that of the algorithm's paper.
    #[serde(default)]
    pub budget: Budget,
    /// Features that are always selected.
    #[serde(default)]
    pub include: Vec<usize>,
    /// Features that are never selected.
    #[serde(default)]
    pub exclude: Vec<usize>,
    /// The maximum number of selected features, included ones counted.
    #[serde(default)]
    pub max_features: Option<usize>,
    /// Lists of features that are selected together or not at all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<Vec<usize>>,
    /// True if at most one feature per group may be selected.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub one_per_group: bool,
    /// The feature groups, for algorithms and objectives that use them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<GroupSpec>,
    /// The prescreen, which drops features before the search; see [`Prescreen`](crate::filter::Prescreen).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prescreen: Option<String>,
    /// Bytes for caches.
    pub memory: u64,
}

/// The kind of result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// The best evaluated subset, or a prefix of the ranking of an algorithm that ranks features.
    #[default]
    Best,
    /// A prefix of the ranking of features by the votes of the best subsets.
    Vote,
}

impl Answer {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_best(&self) -> bool {
        *self == Self::Best
    }
}
