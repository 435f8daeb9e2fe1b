//! The observer that keeps a row for each turn.

use crate::search::observer::{Observer, TurnRecord};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// A row for each turn, column by column. It holds no times, so the same run gives the same bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Trace {
    /// Counts from 0.
    pub iteration: Vec<u64>,
    /// Evaluations so far.
    pub evaluations: Vec<u64>,
    /// Those of a subset that was not evaluated before.
    pub unique: Vec<u64>,
    /// The least cost so far.
    pub best_cost: Vec<f64>,
    /// The error that goes with it.
    pub best_error: Vec<f64>,
    /// The size that goes with it.
    pub best_size: Vec<u64>,
    /// The mean size of the subsets of this turn.
    pub mean_size: Vec<f64>,
    /// How many features two neighbouring subsets of this turn differ in, on average.
    pub diversity: Vec<f64>,
    /// What the algorithm noted, by name.
    #[serde(flatten)]
    pub notes: BTreeMap<&'static str, Vec<f64>>,
}

/// Diversity looks at this many pairs at the most.
const DIVERSITY_PAIRS: usize = 64;

impl Observer for Trace {
    fn turn_done(&mut self, record: &TurnRecord<'_>) -> ControlFlow<()> {
        let sizes: usize = record.told.iter().map(|told| told.subset.count()).sum();
        let distances: Vec<usize> = record
            .told
            .windows(2)
            .take(DIVERSITY_PAIRS)
            .map(|pair| pair[0].subset.distance(&pair[1].subset))
            .collect();
        self.iteration.push(record.turn);
        self.evaluations.push(record.asked);
        self.unique.push(record.unique);
        self.best_cost.push(record.best.cost.value());
        self.best_error.push(record.best.measures.error);
        self.best_size.push(record.best.subset.count() as u64);
        self.mean_size.push(sizes as f64 / record.told.len() as f64);
        self.diversity.push(distances.iter().sum::<usize>() as f64 / distances.len().max(1) as f64);
        for &(name, value) in &record.notes {
            self.notes.entry(name).or_default().push(value);
        }
        ControlFlow::Continue(())
    }
}
