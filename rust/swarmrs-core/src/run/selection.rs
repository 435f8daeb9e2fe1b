//! What a run found.

use crate::data::folds::FoldSpec;
use crate::evaluate::{EvaluationSpec, Measures, Metric, Work};
use crate::problem::budget::{Budget, Stop};
use crate::problem::groups::Groups;
use crate::problem::objective::{Cost, Objective, Score};
use crate::search::engine::{Evaluations, Seconds};
use crate::search::front::FrontReport;
use crate::search::trace::Trace;
use serde::Serialize;
use serde_json::{Map, Value};

/// What a run found.
#[derive(Debug, Clone, Serialize)]
pub struct Selection {
    /// The algorithm's id.
    pub algorithm: String,
    /// All its settings.
    pub params: Map<String, Value>,
    /// What fixed its chance.
    pub seed: u64,
    /// What it lowered.
    pub objective: Objective,
    /// The score that counted, where it was not the objective's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scoring: Option<Score>,
    /// How subsets were evaluated, where a paper's way had to fill in.
    pub evaluated_by: EvaluatedBy,
    /// What was dropped before the search.
    pub prescreen: Option<Screened>,
    /// The groups of features the search knew of, those that it could not choose from among them.
    pub groups: Option<Groups>,
    /// The chosen features.
    pub selected: Vec<usize>,
    /// How many they are.
    pub size: usize,
    /// The least cost found.
    pub cost: Cost,
    /// What the chosen features show.
    pub scores: Measures,
    /// How many subsets were evaluated.
    pub evaluations: Evaluations,
    /// Iterations done.
    pub iterations: u64,
    /// Where the time went.
    pub seconds: Seconds,
    /// Element operations done.
    pub work: Work,
    /// Why it ended.
    pub stop: Stop,
    /// The limits that were in force.
    pub budget: Budget,
    /// What a user should know.
    pub warnings: Vec<String>,
    /// A row for each iteration.
    pub trace: Trace,
    /// Loss against size.
    pub front: FrontReport,
}

/// What the spec may leave to the algorithm, and how it was settled.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvaluatedBy {
    /// Neighbours asked.
    pub k: usize,
    /// Their distance.
    pub metric: Metric,
    /// Which rows tested which; none for given splits, which are long and known.
    pub folds: Option<FoldSpec>,
}

impl EvaluatedBy {
    /// How `spec` was settled.
    pub fn of(spec: &EvaluationSpec) -> Self {
        let is_given = matches!(spec.folds, FoldSpec::Splits { .. });
        let folds = (!is_given).then(|| spec.folds.clone());
        Self { k: spec.k, metric: spec.metric, folds }
    }
}

/// What a prescreen left of the features that are neither forced in nor out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Screened {
    /// The rule.
    pub rule: String,
    /// How many features it was given.
    pub candidates: usize,
    /// How many it left to search.
    pub survivors: usize,
}
