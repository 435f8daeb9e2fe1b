//! Personal and global bests of a synchronous swarm.

use crate::base::subset::Subset;
use crate::operators::ordering::{CostAndSize, Ties, argmin, cost_and_size, cost_and_size_of};
use crate::problem::objective::Cost;
use crate::search::algorithm::Evaluation;

/// The personal bests and the particle with the global best.
///
/// A best is replaced on strict improvement only; ties go to the lowest particle index.
#[derive(Debug, Clone, Default)]
pub struct Bests {
    /// The rule for ties.
    pub ties: Ties,
    /// The personal best of each particle and its cost.
    pub own: Vec<(Subset, Cost)>,
    /// The particle whose personal best is the global best.
    pub leader: usize,
}

impl Bests {
    /// Updates all bests and returns for each particle whether its personal best improved.
    pub fn update(&mut self, evaluations: &[Evaluation]) -> Vec<bool> {
        if self.own.is_empty() {
            self.own = evaluations.iter().map(|new| (new.subset.clone(), new.cost)).collect();
            self.leader = self.first_best();
            return vec![true; evaluations.len()];
        }
        let before = self.key(self.leader);
        let ties = self.ties;
        let improved = self
            .own
            .iter_mut()
            .zip(evaluations)
            .map(|(own, new)| {
                let is_better = ties.replaces(cost_and_size(new), cost_and_size_of(&own.0, own.1));
                if is_better {
                    *own = (new.subset.clone(), new.cost);
                }
                is_better
            })
            .collect();
        // Updates are synchronous: if the global best improves, ties go to the lowest index, not to the old leader.
        let candidate = self.first_best();
        if self.key(candidate) < before {
            self.leader = candidate;
        }
        improved
    }

    fn first_best(&self) -> usize {
        argmin((0..self.own.len()).map(|particle| self.key(particle)))
    }

    fn key(&self, particle: usize) -> CostAndSize {
        let (subset, cost) = &self.own[particle];
        self.ties.key(cost_and_size_of(subset, *cost))
    }

    /// The global best.
    pub fn global(&self) -> &Subset {
        &self.own[self.leader].0
    }

    /// The cost of the global best.
    pub fn global_cost(&self) -> Cost {
        self.own[self.leader].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Measures;

    fn evaluations(costs: &[f64]) -> Vec<Evaluation> {
        costs
            .iter()
            .enumerate()
            .map(|(particle, &cost)| Evaluation {
                subset: Subset::from_indices(9, [particle]),
                measures: Measures::WORST,
                cost: Cost::new(cost),
            })
            .collect()
    }

    #[test]
    fn ties_may_go_to_the_smaller_subset() {
        let sized = |sizes: [usize; 2]| {
            let mut evaluations = evaluations(&[0.2, 0.2]);
            for (tried, size) in evaluations.iter_mut().zip(sizes) {
                tried.subset = Subset::from_indices(9, 0..size);
            }
            evaluations
        };
        let run = |ties: Ties| {
            let mut bests = Bests { ties, ..Bests::default() };
            bests.update(&sized([4, 4]));
            let improved = bests.update(&sized([5, 3]));
            (improved, bests.leader, bests.global().count())
        };
        assert_eq!(run(Ties::Shrink), (vec![false, true], 1, 3));
        assert_eq!(run(Ties::Stay), (vec![false, false], 0, 4));
    }

    #[test]
    fn bests_are_replaced_on_strict_improvement_only() {
        let mut bests = Bests::default();
        assert_eq!(bests.update(&evaluations(&[0.3, 0.2, 0.2])), [true; 3]);
        assert_eq!((bests.leader, bests.global_cost()), (1, Cost::new(0.2)));
        assert_eq!(bests.update(&evaluations(&[0.2, 0.2, 0.3])), [true, false, false]);
        assert_eq!(bests.leader, 1);
        bests.update(&evaluations(&[0.1, 0.2, 0.1]));
        assert_eq!(bests.leader, 0);
    }

    #[test]
    fn ties_for_the_global_best_go_to_the_lowest_index() {
        let mut bests = Bests::default();
        bests.update(&evaluations(&[0.4, 0.3, 0.2]));
        assert_eq!(bests.leader, 2);
        bests.update(&evaluations(&[0.5, 0.1, 0.1]));
        assert_eq!((bests.leader, bests.global_cost()), (1, Cost::new(0.1)));
        // A tie with the global best is no improvement: the leader stays.
        bests.update(&evaluations(&[0.1, 0.2, 0.2]));
        assert_eq!(bests.leader, 1);
    }
}
