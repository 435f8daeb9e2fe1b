//! Drives an optimizer without data, for the tests of algorithms.

use crate::evaluate::Measures;
use crate::objective::Cost;
use crate::search::{Evaluation, Optimizer, Turn};
use crate::streams::{Phase, Streams};
use crate::subset::Subset;

/// Runs at most `turns` turns on a cost function and returns what each turn asked and was told.
pub fn drive(
    optimizer: &mut dyn Optimizer,
    turns: u64,
    cost: impl Fn(&Subset) -> f64,
) -> Vec<Vec<Evaluation>> {
    let streams = Streams::new(1);
    let mut history: Vec<Vec<Evaluation>> = Vec::new();
    for number in 0..turns {
        let best = history.iter().flatten().min_by_key(|tried| tried.cost);
        let fraction = number as f64 / turns as f64;
        let turn = |phase| Turn { number, fraction, turns: Some(turns), best, streams: &streams, phase };
        let told: Vec<Evaluation> = optimizer
            .ask(&turn(Phase::Ask))
            .into_iter()
            .map(|subset| {
                let cost = cost(&subset);
                let measures = Measures { error: cost, ..Measures::WORST };
                Evaluation { subset, measures, cost: Cost::new(cost) }
            })
            .collect();
        if told.is_empty() {
            break;
        }
        optimizer.tell(&turn(Phase::Tell), &told);
        history.push(told);
    }
    history
}
