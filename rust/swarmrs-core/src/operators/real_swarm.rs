//! The swarm of real vectors whose subset is what lies above a threshold.

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::operators::bests::{Standing, Ties, first_least, standing};
use crate::operators::velocity::Pull;
use crate::search::algorithm::{Evaluation, Space, Turn};

/// Positions in [0, 1], velocities and bests.
#[derive(Debug)]
pub struct RealSwarm {
    space: Space,
    threshold: f64,
    ties: Ties,
    /// Infinite where velocities have none; they start at rest then, else anywhere within.
    velocity_limit: f64,
    positions: Vec<Vec<f64>>,
    velocities: Vec<Vec<f64>>,
    bests: Vec<(Vec<f64>, Standing)>,
    leader: usize,
}

impl RealSwarm {
    /// A swarm at rest, before its first turn; its velocities have no limit.
    pub fn new(population: usize, threshold: f64, ties: Ties, space: &Space) -> Self {
        Self {
            space: space.clone(),
            threshold,
            ties,
            velocity_limit: f64::INFINITY,
            positions: Vec::new(),
            velocities: vec![vec![0.0; space.n_features()]; population],
            bests: Vec::new(),
            leader: 0,
        }
    }

    /// The same swarm with velocities that stay within a limit and start anywhere within.
    #[must_use]
    pub fn limited(self, velocity_limit: f64) -> Self {
        Self { velocity_limit, ..self }
    }

    /// Draws the first positions, particle by particle, then their velocities.
    pub fn start(
        &mut self,
        turn: &Turn<'_>,
        draw: impl Fn(usize, &mut Rng) -> Vec<f64> + Sync,
    ) -> Vec<Subset> {
        let limit = self.velocity_limit;
        let particles = self.velocities.iter_mut().enumerate().collect();
        let started = turn.map(particles, |(particle, v): (usize, &mut Vec<f64>)| {
            let mut rng = turn.rng(particle);
            let mut y = draw(particle, &mut rng);
            if limit.is_finite() {
                v.fill_with(|| limit * (2.0 * rng.unit() - 1.0));
            }
            let subset = settle(&mut y, self.threshold, &self.space, &mut rng);
            (y, subset)
        });
        let (positions, subsets) = started.into_iter().unzip();
        self.positions = positions;
        subsets
    }

    /// Moves every particle; r1, r2 are drawn for every feature in this order.
    pub fn advance(&mut self, turn: &Turn<'_>, pull: Pull) -> Vec<Subset> {
        let global = &self.bests[self.leader].0;
        let limit = self.velocity_limit;
        let particles = self.positions.iter_mut().zip(&mut self.velocities).zip(&self.bests);
        turn.map(particles.enumerate().collect(), |(particle, ((y, v), (own, _)))| {
            let mut rng = turn.rng(particle);
            for d in 0..y.len() {
                let (r1, r2) = (rng.unit(), rng.unit());
                v[d] = pull.velocity(v[d], y[d], own[d], global[d], r1, r2).clamp(-limit, limit);
                y[d] = (y[d] + v[d]).clamp(0.0, 1.0);
            }
            settle(y, self.threshold, &self.space, &mut rng)
        })
    }

    /// Learns what the positions cost; the lead moves as a best does, to the lowest of equals.
    pub fn learn(&mut self, told: &[Evaluation]) {
        let ranks = told.iter().map(standing);
        let before = self.bests.get(self.leader).map(|best| best.1);
        if self.bests.is_empty() {
            self.bests = self.positions.iter().cloned().zip(ranks).collect();
        } else {
            for ((best, y), rank) in self.bests.iter_mut().zip(&self.positions).zip(ranks) {
                if self.ties.replaces(rank, best.1) {
                    *best = (y.clone(), rank);
                }
            }
        }
        let candidate = first_least(self.bests.iter().map(|best| self.ties.key(best.1)));
        if before.is_none_or(|before| self.ties.replaces(self.bests[candidate].1, before)) {
            self.leader = candidate;
        }
    }
}

/// The features above the threshold; those trimmed away are set back to it, so that position and
/// subset agree.
pub fn settle(y: &mut [f64], threshold: f64, space: &Space, rng: &mut Rng) -> Subset {
    settle_as(y, threshold, space, |feature| feature, rng)
}

/// The same where dimension `d` stands for the feature `of(d)`.
pub fn settle_as(
    y: &mut [f64],
    threshold: f64,
    space: &Space,
    of: impl Fn(usize) -> usize,
    rng: &mut Rng,
) -> Subset {
    let above = Subset::from_fn(y.len(), |d| y[d] > threshold);
    let mut kept = above.clone();
    space.trim_as(&mut kept, of, rng);
    for d in above.difference(&kept).iter() {
        y[d] = threshold;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{Phase, Streams};
    use crate::evaluate::Measures;
    use crate::problem::objective::Cost;
    use proptest::prelude::*;

    #[test]
    fn of_equals_the_lowest_index_leads_even_where_the_leader_improves_too() {
        let leaders = |ties: Ties| {
            let mut swarm = RealSwarm::new(3, 0.6, ties, &Space::new(4, 4));
            swarm.positions = vec![vec![0.0; 4]; 3];
            [
                [(0.4, 1), (0.3, 1), (0.2, 1)],
                [(0.5, 1), (0.1, 3), (0.1, 3)],
                [(0.1, 2), (0.2, 1), (0.1, 2)],
            ]
            .map(|told| {
                let told = told.map(|(cost, size)| Evaluation {
                    subset: Subset::from_indices(4, 0..size),
                    measures: Measures::WORST,
                    cost: Cost::new(cost),
                });
                swarm.learn(&told);
                swarm.leader
            })
        };
        assert_eq!(leaders(Ties::Stay), [2, 1, 1]);
        assert_eq!(leaders(Ties::Shrink), [2, 1, 0]);
    }

    #[test]
    fn a_position_at_the_threshold_is_out() {
        let mut rng = Streams::new(1).rng(0, Phase::Ask, 0);
        let subset = settle(&mut [0.5729, 1.0, 0.6], 0.6, &Space::new(3, 3), &mut rng);
        assert_eq!(subset, Subset::from_indices(3, [1]));
    }

    proptest! {
        #[test]
        fn position_and_subset_agree_under_a_limit(
            mut y in proptest::collection::vec(0.0f64..=1.0, 1..30),
            limit in 1usize..30,
            seed: u64,
        ) {
            let mut rng = Streams::new(seed).rng(0, Phase::Ask, 0);
            let space = Space::new(y.len(), limit);
            let subset = settle(&mut y, 0.6, &space, &mut rng);
            prop_assert!(subset.count() <= limit);
            prop_assert!((0..y.len()).all(|d| subset.contains(d) == (y[d] > 0.6)));
        }
    }
}
