//! Those who watch a run.

use crate::base::subset::Subset;
use crate::evaluate::Measures;
use crate::search::algorithm::Evaluation;
use std::ops::ControlFlow;

/// Watches a run, turn by turn.
pub trait Observer {
    /// Sees a finished turn; `Break` stops the run.
    fn turn_done(&mut self, record: &TurnRecord<'_>) -> ControlFlow<()>;
}

/// A turn, its evaluations, the best so far, what is spent.
#[derive(Debug)]
pub struct TurnRecord<'a> {
    /// Counts from 0.
    pub turn: u64,
    /// What was tried this turn; subsets of all features of the table.
    pub told: &'a [Evaluation],
    /// What had to be measured for it, in order.
    pub measured: &'a [(Subset, Measures)],
    /// The best so far.
    pub best: &'a Evaluation,
    /// Subsets asked for so far.
    pub asked: u64,
    /// Subsets measured so far.
    pub unique: u64,
    /// Seconds since the start.
    pub seconds: f64,
    /// What the algorithm noted, by name.
    pub notes: Vec<(&'static str, f64)>,
}
