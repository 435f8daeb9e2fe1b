//! All that fixes a run.

use crate::evaluate::EvaluationRequest;
use crate::problem::budget::Budget;
use crate::problem::groups::GroupSpec;
use crate::problem::objective::{Objective, Score};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// All that fixes a run, as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// An id or alias of the registry.
    pub algorithm: String,
    /// The settings that differ from the defaults.
    #[serde(default)]
    pub params: Map<String, Value>,
    /// Fixes all chance of the search.
    pub seed: u64,
    /// What one fitness value is; what it leaves open is the algorithm's own.
    pub evaluation: EvaluationRequest,
    /// What the search lowers; empty for what the algorithm's paper lowers.
    #[serde(default)]
    pub objective: Option<Objective>,
    /// The score that counts for the objective; empty for the objective's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scoring: Option<Score>,
    /// When it ends; empty for the algorithm's own.
    #[serde(default)]
    pub budget: Budget,
    /// Features that are always in.
    #[serde(default)]
    pub include: Vec<usize>,
    /// Features that never are.
    #[serde(default)]
    pub exclude: Vec<usize>,
    /// How many features may be chosen, the included ones counted.
    #[serde(default)]
    pub max_features: Option<usize>,
    /// Lists of features that go in or out together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<Vec<usize>>,
    /// Whether at most one feature of each group may be chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub one_per_group: bool,
    /// Which features belong together, for algorithms and objectives that ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<GroupSpec>,
    /// The rule by which features are dropped before the search; see [`Prescreen`](crate::filter::Prescreen).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prescreen: Option<String>,
    /// Bytes for what is kept between evaluations.
    pub memory: u64,
}
