//! Personal and global bests of a synchronous swarm.

use crate::objective::Cost;
use crate::search::Evaluation;
use crate::subset::Subset;

/// What two subsets are compared by: cost, then size, less being better.
pub type Standing = (Cost, usize);

/// Where a tried subset stands. The empty one counts as the largest: it never beats another of its cost.
pub fn standing(tried: &Evaluation) -> Standing {
    match tried.subset.count() {
        0 => (tried.cost, usize::MAX),
        size => (tried.cost, size),
    }
}

/// The best position of each particle and the index of the best of these.
///
/// A best is replaced on strict improvement only; among equals the lowest particle index leads.
#[derive(Debug, Clone, Default)]
pub struct Bests {
    /// Each particle's best position and its cost.
    pub own: Vec<(Subset, Cost)>,
    /// The particle whose best is the best of all.
    pub leader: usize,
}

impl Bests {
    /// Learns a whole generation and tells for each particle whether it improved.
    pub fn update(&mut self, told: &[Evaluation]) -> Vec<bool> {
        if self.own.is_empty() {
            self.own = told.iter().map(|new| (new.subset.clone(), new.cost)).collect();
            self.leader = first_least(self.own.iter().map(|own| own.1));
            return vec![true; told.len()];
        }
        let before = self.global_cost();
        let improved = self
            .own
            .iter_mut()
            .zip(told)
            .map(|(own, new)| {
                let is_better = new.cost < own.1;
                if is_better {
                    *own = (new.subset.clone(), new.cost);
                }
                is_better
            })
            .collect();
        // All improved at once, so a leader that improved too has no claim on those as good as it.
        let candidate = first_least(self.own.iter().map(|own| own.1));
        if self.own[candidate].1 < before {
            self.leader = candidate;
        }
        improved
    }

    /// The best position of all.
    pub fn global(&self) -> &Subset {
        &self.own[self.leader].0
    }

    /// The cost of the best position of all.
    pub fn global_cost(&self) -> Cost {
        self.own[self.leader].1
    }
}

/// Where the least of `values` is; the first of equals. 0 where there are none.
pub fn first_least<T: Ord>(values: impl Iterator<Item = T>) -> usize {
    values.enumerate().min_by(|a, b| a.1.cmp(&b.1)).map_or(0, |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Measures;

    fn told(costs: &[f64]) -> Vec<Evaluation> {
        costs
            .iter()
            .enumerate()
            .map(|(at, &cost)| Evaluation {
                subset: Subset::from_indices(9, [at]),
                measures: Measures::WORST,
                cost: Cost::new(cost),
            })
            .collect()
    }

    #[test]
    fn the_empty_subset_loses_every_tie() {
        let mut tried = told(&[0.5, 0.5]);
        tried[0].subset = Subset::empty(9);
        assert!(standing(&tried[1]) < standing(&tried[0]));
        tried[0].cost = Cost::new(0.4);
        assert!(standing(&tried[0]) < standing(&tried[1]));
    }

    #[test]
    fn bests_move_on_strict_improvement_only() {
        let mut bests = Bests::default();
        assert_eq!(bests.update(&told(&[0.3, 0.2, 0.2])), [true; 3]);
        assert_eq!((bests.leader, bests.global_cost()), (1, Cost::new(0.2)));
        assert_eq!(bests.update(&told(&[0.2, 0.2, 0.3])), [true, false, false]);
        assert_eq!(bests.leader, 1);
        bests.update(&told(&[0.1, 0.2, 0.1]));
        assert_eq!(bests.leader, 0);
    }

    #[test]
    fn a_leader_that_improves_yields_to_a_lower_index_that_is_as_good() {
        let mut bests = Bests::default();
        bests.update(&told(&[0.4, 0.3, 0.2]));
        assert_eq!(bests.leader, 2);
        bests.update(&told(&[0.5, 0.1, 0.1]));
        assert_eq!((bests.leader, bests.global_cost()), (1, Cost::new(0.1)));
        // Equal to the best so far is no improvement: the lead stays.
        bests.update(&told(&[0.1, 0.2, 0.2]));
        assert_eq!(bests.leader, 1);
    }
}
