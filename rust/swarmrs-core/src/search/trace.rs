//! The trace: an observer that records a row for each iteration.

use crate::search::observer::{IterationRecord, Observer};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// A row for each iteration, stored by column. It has no times, so equal runs have equal traces.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Trace {
    /// Counts from 0.
    pub iteration: Vec<u64>,
    /// Evaluations so far.
    #[serde(rename = "evaluations")]
    pub n_evaluations: Vec<u64>,
    /// Distinct subsets evaluated so far.
    #[serde(rename = "unique")]
    pub n_unique: Vec<u64>,
    /// The least cost so far.
    pub best_cost: Vec<f64>,
    /// The error of the best subset so far.
    pub best_error: Vec<f64>,
    /// The size of the best subset so far.
    pub best_size: Vec<u64>,
    /// The mean size of the subsets of this iteration.
    pub mean_size: Vec<f64>,
    /// The mean Hamming distance of consecutive subsets of this iteration.
    pub diversity: Vec<f64>,
    /// Diagnostics of the algorithm, by name.
    #[serde(flatten)]
    pub diagnostics: BTreeMap<&'static str, Vec<f64>>,
}

/// The maximum number of pairs of subsets for the diversity.
const DIVERSITY_PAIRS: usize = 64;

impl Observer for Trace {
    fn iteration_done(&mut self, record: &IterationRecord<'_>) -> ControlFlow<()> {
        let evaluations = record.evaluations;
        let sizes: usize = evaluations.iter().map(|evaluation| evaluation.subset.count()).sum();
        let distances: Vec<usize> = evaluations
            .windows(2)
            .take(DIVERSITY_PAIRS)
            .map(|pair| pair[0].subset.distance(&pair[1].subset))
            .collect();
        self.iteration.push(record.iteration);
        self.n_evaluations.push(record.n_evaluations);
        self.n_unique.push(record.n_unique);
        self.best_cost.push(record.best.cost.value());
        self.best_error.push(record.best.measures.error);
        self.best_size.push(record.best.subset.count() as u64);
        self.mean_size.push(sizes as f64 / evaluations.len() as f64);
        self.diversity.push(distances.iter().sum::<usize>() as f64 / distances.len().max(1) as f64);
        for &(name, value) in &record.diagnostics {
            self.diagnostics.entry(name).or_default().push(value);
        }
        ControlFlow::Continue(())
    }
}
