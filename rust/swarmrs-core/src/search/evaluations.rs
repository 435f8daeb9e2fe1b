//! The observer that records all evaluated subsets.

use crate::base::subset::Subset;
use crate::search::observer::{IterationRecord, Observer};
use std::ops::ControlFlow;

/// All evaluated subsets, each once, in the order of evaluation; stored by column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AllEvaluations {
    /// The iteration of the first evaluation.
    pub iterations: Vec<u64>,
    /// The features; as bits, because a run evaluates many subsets.
    pub subsets: Vec<Subset>,
    /// The cost, by the objective of the run.
    pub costs: Vec<f64>,
    /// The error.
    pub errors: Vec<f64>,
}

impl Observer for AllEvaluations {
    fn iteration_done(&mut self, record: &IterationRecord<'_>) -> ControlFlow<()> {
        // Both lists are in the order of proposal, so one pass is enough.
        let mut evaluations = record.evaluations.iter();
        for (subset, measures) in record.evaluated {
            let evaluation = evaluations
                .find(|evaluation| evaluation.subset == *subset)
                .expect("only proposed subsets are evaluated");
            self.iterations.push(record.iteration);
            self.subsets.push(subset.clone());
            self.costs.push(evaluation.cost.value());
            self.errors.push(measures.error);
        }
        ControlFlow::Continue(())
    }
}
