//! The continuous swarm: positions in the unit cube; features with coordinates above a threshold are selected.

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::operators::ordering::{CostAndSize, Ties, argmin, cost_and_size};
use crate::operators::threshold::select;
use crate::search::algorithm::{Evaluation, Iteration, Space};
use crate::simd::words::{self, Draws};

/// Positions in [0, 1], velocities and bests.
#[derive(Debug)]
pub struct RealSwarm {
    space: Space,
    threshold: f64,
    ties: Ties,
    positions: Vec<Vec<f64>>,
    velocities: Vec<Vec<f64>>,
    bests: Vec<(Vec<f64>, CostAndSize)>,
    leader: usize,
}

/// A particle about to move.
#[derive(Debug)]
pub struct RealParticle<'a> {
    /// Its position.
    pub x: &'a mut [f64],
    /// Its velocity.
    pub v: &'a mut [f64],
    /// Its personal best.
    pub p: &'a [f64],
    /// The global best.
    pub g: &'a [f64],
}

impl RealParticle<'_> {
    /// Moves the particle within [0, 1]: `rule` gets v, x, p, g, r1, r2 of a coordinate and returns the new velocity. r1, r2
    /// are drawn for each coordinate, in this order.
    pub fn step(&mut self, rule: impl Fn(f64, f64, f64, f64, f64, f64) -> f64, rng: &mut Rng) {
        let mut draws = Draws::new();
        for word in words::of(self.x.len()) {
            let [r1, r2] = draws.of(word, rng);
            let (x, v) = (&mut self.x[word.range()], &mut self.v[word.range()]);
            let others = [&self.p[word.range()], &self.g[word.range()], r1, r2];
            words::advance(rng.isa(), x, v, others, |x, v, [p, g, r1, r2]| {
                let v = rule(v, x, p, g, r1, r2);
                ((x + v).clamp(0.0, 1.0), v)
            });
        }
    }
}

impl RealSwarm {
    /// A swarm before its first iteration, with velocities of 0.
    pub fn new(population: usize, threshold: f64, ties: Ties, space: &Space) -> Self {
        Self {
            space: space.clone(),
            threshold,
            ties,
            positions: Vec::new(),
            velocities: vec![vec![0.0; space.n_features()]; population],
            bests: Vec::new(),
            leader: 0,
        }
    }

    /// Draws the initial swarm: `draw` gets the index of a particle, returns its position and may set its velocity.
    pub fn start(
        &mut self,
        iteration: &Iteration<'_>,
        draw: impl Fn(usize, &mut [f64], &mut Rng) -> Vec<f64> + Sync,
    ) -> Vec<Subset> {
        let particles = self.velocities.iter_mut().enumerate().collect();
        let started = iteration.map(particles, |(particle, v): (usize, &mut Vec<f64>)| {
            let mut rng = iteration.rng(particle);
            let mut x = draw(particle, v, &mut rng);
            let subset = select(&mut x, self.threshold, &self.space, &mut rng);
            (x, subset)
        });
        let (positions, subsets) = started.into_iter().unzip();
        self.positions = positions;
        subsets
    }

    /// Moves every particle by `rule`, each with its own random stream, and selects by the threshold.
    pub fn advance(
        &mut self,
        iteration: &Iteration<'_>,
        rule: impl Fn(&mut RealParticle<'_>, &mut Rng) + Sync,
    ) -> Vec<Subset> {
        let g = &self.bests[self.leader].0;
        let particles = self.positions.iter_mut().zip(&mut self.velocities).zip(&self.bests);
        iteration.map(particles.enumerate().collect(), |(particle, ((x, v), (p, _)))| {
            let mut rng = iteration.rng(particle);
            rule(&mut RealParticle { x, v, p, g }, &mut rng);
            select(x, self.threshold, &self.space, &mut rng)
        })
    }

    /// Updates personal and global bests. The leader changes on strict improvement only; ties go to the lowest index.
    pub fn update(&mut self, evaluations: &[Evaluation]) {
        let keys = evaluations.iter().map(cost_and_size);
        let before = self.bests.get(self.leader).map(|best| best.1);
        if self.bests.is_empty() {
            self.bests = self.positions.iter().cloned().zip(keys).collect();
        } else {
            for ((best, x), key) in self.bests.iter_mut().zip(&self.positions).zip(keys) {
                if self.ties.replaces(key, best.1) {
                    *best = (x.clone(), key);
                }
            }
        }
        let candidate = argmin(self.bests.iter().map(|best| self.ties.key(best.1)));
        if before.is_none_or(|before| self.ties.replaces(self.bests[candidate].1, before)) {
            self.leader = candidate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Measures;
    use crate::problem::objective::Cost;

    #[test]
    fn ties_for_the_global_best_go_to_the_lowest_index() {
        let leaders = |ties: Ties| {
            let mut swarm = RealSwarm::new(3, 0.6, ties, &Space::new(4, 4));
            swarm.positions = vec![vec![0.0; 4]; 3];
            [
                [(0.4, 1), (0.3, 1), (0.2, 1)],
                [(0.5, 1), (0.1, 3), (0.1, 3)],
                [(0.1, 2), (0.2, 1), (0.1, 2)],
            ]
            .map(|evaluations| {
                let evaluations = evaluations.map(|(cost, size)| Evaluation {
                    subset: Subset::from_indices(4, 0..size),
                    measures: Measures::WORST,
                    cost: Cost::new(cost),
                });
                swarm.update(&evaluations);
                swarm.leader
            })
        };
        assert_eq!(leaders(Ties::Stay), [2, 1, 1]);
        assert_eq!(leaders(Ties::Shrink), [2, 1, 0]);
    }
}
