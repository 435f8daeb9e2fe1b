//! The observer that keeps every subset measured.

use crate::base::subset::Subset;
use crate::search::observer::{Observer, TurnRecord};
use std::ops::ControlFlow;

/// Every subset measured, once, in the order of measuring; column by column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Kept {
    /// The turn that measured it.
    pub turns: Vec<u64>,
    /// Which features; as bits, because a run measures many.
    pub subsets: Vec<Subset>,
    /// What the objective made of it.
    pub costs: Vec<f64>,
    /// Its error.
    pub errors: Vec<f64>,
}

impl Observer for Kept {
    fn turn_done(&mut self, record: &TurnRecord<'_>) -> ControlFlow<()> {
        // Both are in the order asked, so one walk meets the cost of each.
        let mut told = record.told.iter();
        for (subset, measures) in record.measured {
            let asked = told
                .find(|told| told.subset == *subset)
                .expect("only what was asked for is measured");
            self.turns.push(record.turn);
            self.subsets.push(subset.clone());
            self.costs.push(asked.cost.value());
            self.errors.push(measures.error);
        }
        ControlFlow::Continue(())
    }
}
