//! The interface of observers, which are called after every iteration of a run.

use crate::base::subset::Subset;
use crate::evaluate::Measures;
use crate::search::algorithm::Evaluation;
use std::ops::ControlFlow;

/// Observes a run, iteration by iteration.
pub trait Observer {
    /// Called after an iteration; `Break` stops the run.
    fn iteration_done(&mut self, record: &IterationRecord<'_>) -> ControlFlow<()>;
}

/// The record of an iteration: its evaluations, the best so far, the counts of evaluations.
#[derive(Debug)]
pub struct IterationRecord<'a> {
    /// Counts from 0.
    pub iteration: u64,
    /// The evaluations of this iteration; subsets of the features of the table.
    pub evaluations: &'a [Evaluation],
    /// The subsets that were evaluated for the first time, once each, in order.
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
    /// True if the run was stopped within this iteration, the first one: only some of its subsets were evaluated.
    pub is_cut_short: bool,
}
