//! The observers that keep records: a row for each turn, and the front of error against size.

use crate::observe::{Observer, TurnRecord};
use crate::search::Evaluation;
use crate::subset::Subset;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// A row for each turn, column by column. It holds no times, so the same run gives the same bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Trace {
    /// Counts from 0.
    pub turn: Vec<u64>,
    /// Subsets asked for so far.
    pub asked: Vec<u64>,
    /// Subsets measured so far.
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
        self.turn.push(record.turn);
        self.asked.push(record.asked);
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

/// The subsets that no other tried one beats in both error and size; the first tried of equals.
#[derive(Debug, Clone, Default)]
pub struct Front {
    by_size: BTreeMap<usize, (f64, Subset)>,
}

impl Front {
    /// Its points, from the smallest subset to the least error.
    pub fn points(&self) -> impl Iterator<Item = (usize, f64, &Subset)> {
        self.by_size.iter().map(|(&size, (error, subset))| (size, *error, subset))
    }

    fn add(&mut self, tried: &Evaluation) {
        let (size, error) = (tried.subset.count(), tried.measures.error);
        let is_beaten =
            self.by_size.range(..=size).next_back().is_some_and(|(_, (least, _))| *least <= error);
        if size == 0 || is_beaten {
            return;
        }
        self.by_size.retain(|&other, (its, _)| other < size || *its < error);
        self.by_size.insert(size, (error, tried.subset.clone()));
    }
}

impl Observer for Front {
    fn turn_done(&mut self, record: &TurnRecord<'_>) -> ControlFlow<()> {
        for tried in record.told {
            self.add(tried);
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Measures;
    use crate::objective::Cost;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_front_is_what_nothing_dominates(
            tried in proptest::collection::vec((1usize..9, 0u8..10), 1..40),
        ) {
            let mut front = Front::default();
            for &(size, error) in &tried {
                front.add(&Evaluation {
                    subset: Subset::from_indices(9, 0..size),
                    measures: Measures { error: f64::from(error), ..Measures::WORST },
                    cost: Cost::new(0.0),
                });
            }
            let mut expected: Vec<(usize, u8)> = tried.iter().copied().filter(|&(s, e)| {
                !tried.iter().any(|&(s2, e2)| (s2 <= s && e2 < e) || (s2 < s && e2 <= e))
            }).collect();
            expected.sort_unstable();
            expected.dedup();
            let got: Vec<(usize, u8)> = front.points().map(|(s, e, _)| (s, e as u8)).collect();
            prop_assert_eq!(got, expected);
        }
    }
}
