//! The result of a run.

use crate::data::folds::FoldSpec;
use crate::evaluate::{EvaluationSpec, Measures, Metric, Work};
use crate::problem::budget::{Budget, Stop};
use crate::problem::groups::Groups;
use crate::problem::objective::{Cost, Objective, Score};
use crate::search::engine::{Evaluations, Seconds};
use crate::search::front::FrontReport;
use crate::search::ranking::Ranked;
use crate::search::trace::Trace;
use serde::Serialize;
use serde_json::{Map, Value};

/// The result of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Selection {
    /// The id of the algorithm.
    pub algorithm: String,
    /// All its hyperparameters.
    pub params: Map<String, Value>,
    /// The random seed.
    pub seed: u64,
    /// The objective that was minimized.
    pub objective: Objective,
    /// The score of the objective, if it is not the default one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scoring: Option<Score>,
    /// The evaluation settings in force, those of the algorithm's paper included.
    pub evaluated_by: ResolvedEvaluation,
    /// The result of the prescreen, if any.
    pub prescreen: Option<Prescreened>,
    /// The feature groups that the run used, included and excluded features too.
    pub groups: Option<Groups>,
    /// The selected features.
    pub selected: Vec<usize>,
    /// Their number.
    pub size: usize,
    /// Their cost.
    pub cost: Cost,
    /// Their scores.
    pub scores: Measures,
    /// The number of evaluations.
    pub evaluations: Evaluations,
    /// Finished iterations.
    pub iterations: u64,
    /// The run time.
    pub seconds: Seconds,
    /// The number of element operations.
    pub work: Work,
    /// The stopping criterion that ended the run.
    pub stop: Stop,
    /// The budget in effect.
    pub budget: Budget,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// A row for each iteration.
    pub trace: Trace,
    /// The Pareto front of loss and size.
    pub front: FrontReport,
    /// The features by descending support; empty unless the search ranks features.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranking: Vec<Ranked>,
}

/// The evaluation settings that a spec may leave to the algorithm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResolvedEvaluation {
    /// The number of neighbors.
    pub k: usize,
    /// The distance between rows.
    pub metric: Metric,
    /// The cross-validation folds; None for given splits, which would be long.
    pub folds: Option<FoldSpec>,
}

impl ResolvedEvaluation {
    /// The settings of `spec`.
    pub fn of(spec: &EvaluationSpec) -> Self {
        let is_given = matches!(spec.folds, FoldSpec::Splits { .. });
        let folds = (!is_given).then(|| spec.folds.clone());
        Self { k: spec.k, metric: spec.metric, folds }
    }
}

/// The result of a prescreen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prescreened {
    /// The prescreen.
    pub rule: String,
    /// The number of candidates: features that are neither included nor excluded.
    pub candidates: usize,
    /// The number of features that were kept.
    pub survivors: usize,
}
