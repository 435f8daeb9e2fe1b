//! The contract of an observer, which sees every finished iteration of a run.

use crate::base::subset::Subset;
use crate::evaluate::Measures;
use crate::search::algorithm::Evaluation;
use std::ops::ControlFlow;

/// Observes a run, iteration by iteration.
pub trait Observer {
    /// Sees a finished iteration; `Break` stops the run.
    fn iteration_done(&mut self, record: &IterationRecord<'_>) -> ControlFlow<()>;
}

/// An iteration: its evaluations, the best so far, the effort spent.
#[derive(Debug)]
pub struct IterationRecord<'a> {
    /// Counts from 0.
    pub iteration: u64,
    /// The evaluations of this iteration; subsets of all features of the table.
    pub evaluations: &'a [Evaluation],
    /// Those of them that no earlier iteration had, once each, in order.
    pub evaluated: &'a [(Subset, Measures)],
    /// The best so far.
    pub best: &'a Evaluation,
    /// Evaluations so far.
    pub n_evaluations: u64,
    /// Distinct subsets evaluated so far.
    pub n_unique: u64,
    /// Seconds since the start.
    pub seconds: f64,
    /// Diagnostics of the algorithm, by name.
    pub diagnostics: Vec<(&'static str, f64)>,
    /// True if the run was ended within this iteration, its first: only some of its subsets were evaluated.
    pub is_cut_short: bool,
}
