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
    /// The algorithm's id.
    pub algorithm: String,
    /// All its settings.
    pub params: Map<String, Value>,
    /// The random seed.
    pub seed: u64,
    /// The objective that was lowered.
    pub objective: Objective,
    /// The score that counted, where it was not the objective's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scoring: Option<Score>,
    /// The evaluation settings in force, those of the algorithm's paper included.
    pub evaluated_by: ResolvedEvaluation,
    /// The prescreen, where there was one.
    pub prescreen: Option<Prescreened>,
    /// The groups of features the search knew of, those that it could not choose from among them.
    pub groups: Option<Groups>,
    /// The chosen features.
    pub selected: Vec<usize>,
    /// Their number.
    pub size: usize,
    /// The least cost found.
    pub cost: Cost,
    /// The scores of the chosen features.
    pub scores: Measures,
    /// The number of evaluations.
    pub evaluations: Evaluations,
    /// Iterations done.
    pub iterations: u64,
    /// The time it took.
    pub seconds: Seconds,
    /// Element operations done.
    pub work: Work,
    /// The reason for its end.
    pub stop: Stop,
    /// The limits that were in force.
    pub budget: Budget,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// A row for each iteration.
    pub trace: Trace,
    /// The Pareto front of loss and size.
    pub front: FrontReport,
    /// The features by their support, the best first; empty unless the search ranks them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranking: Vec<Ranked>,
}

/// The evaluation settings that a spec may leave to the algorithm, resolved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResolvedEvaluation {
    /// Neighbors that vote.
    pub k: usize,
    /// The distance between rows.
    pub metric: Metric,
    /// The cross-validation folds; none for given splits, which are long and known.
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

/// The outcome of a prescreen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prescreened {
    /// The rule.
    pub rule: String,
    /// Features it was given: those neither forced in nor out.
    pub candidates: usize,
    /// Features it left to search.
    pub survivors: usize,
}
