//! The binary swarm: bit strings with one velocity per feature, shared by binary PSO and its variants.

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::operators::velocity::Coefficients;
use crate::problem::objective::Cost;
use crate::search::algorithm::{Evaluation, Iteration, Space};
use crate::simd::words::{self, Draws};
use crate::swarms::bests::Bests;

/// Positions, velocities, bests, and the stall of the global best.
#[derive(Debug)]
pub struct BinarySwarm {
    /// The search space.
    pub space: Space,
    /// The position of each particle.
    pub positions: Vec<Subset>,
    /// The velocity of each particle.
    pub velocities: Vec<Vec<f64>>,
    /// The cost of each particle's current position.
    pub costs: Vec<Cost>,
    /// Personal and global bests.
    pub bests: Bests,
    /// Iterations since the global best last improved.
    pub stall: usize,
}

/// A particle about to move.
#[derive(Debug)]
pub struct BinaryParticle<'a> {
    /// Its index in the swarm.
    pub index: usize,
    /// Its position.
    pub x: &'a Subset,
    /// Its velocity.
    pub v: &'a mut [f64],
    /// Its personal best.
    pub p: &'a Subset,
    /// The global best.
    pub g: &'a Subset,
}

impl BinaryParticle<'_> {
    /// Updates the velocity, clamped to `limit`; r1, r2 are drawn for each feature, in this order.
    pub fn update_velocity(&mut self, coefficients: Coefficients, limit: f64, rng: &mut Rng) {
        let mut draws = Draws::new();
        for word in words::of(self.v.len()) {
            let [r1, r2] = draws.of(word, rng);
            let words = self.words(word.at);
            words::update(rng.isa(), &mut self.v[word.range()], words, |d, v, bits| {
                coefficients.toward_bits(v, bits, r1[d], r2[d]).clamp(-limit, limit)
            });
        }
    }

    /// The 64-bit word with this index of position, personal best and global best.
    pub fn words(&self, index: usize) -> [u64; 3] {
        [self.x, self.p, self.g].map(|subset| subset.words()[index])
    }
}

impl BinarySwarm {
    /// A swarm before its first iteration, with velocities of 0.
    pub fn new(population: usize, space: &Space) -> Self {
        Self {
            space: space.clone(),
            positions: vec![Subset::empty(space.n_features()); population],
            velocities: vec![vec![0.0; space.n_features()]; population],
            costs: Vec::new(),
            bests: Bests::default(),
            stall: 0,
        }
    }

    /// The number of particles.
    pub fn population(&self) -> usize {
        self.velocities.len()
    }

    /// Draws the initial swarm: `draw` returns the position of a particle and may set its velocity.
    pub fn start(
        &mut self,
        iteration: &Iteration<'_>,
        draw: impl Fn(&Space, &mut [f64], &mut Rng) -> Subset,
    ) -> Vec<Subset> {
        for (particle, v) in self.velocities.iter_mut().enumerate() {
            let mut rng = iteration.rng(particle);
            let mut x = draw(&self.space, v, &mut rng);
            self.space.trim(&mut x, &mut rng);
            self.positions[particle] = x;
        }
        self.positions.clone()
    }

    /// Moves every particle to the position that `rule` returns, made feasible. Each particle has its own random stream.
    pub fn advance(
        &mut self,
        iteration: &Iteration<'_>,
        rule: impl Fn(&mut BinaryParticle<'_>, &mut Rng) -> Subset + Sync,
    ) -> Vec<Subset> {
        let Self { space, positions, velocities, bests, .. } = self;
        let g = bests.global();
        let particles = positions.iter_mut().zip(velocities).zip(&bests.own).enumerate().collect();
        iteration.map(particles, |(index, ((x, v), (p, _)))| {
            let mut rng = iteration.rng(index);
            let mut moved = rule(&mut BinaryParticle { index, x, v, p, g }, &mut rng);
            space.trim(&mut moved, &mut rng);
            x.clone_from(&moved);
            moved
        })
    }

    /// Updates costs, bests and stall.
    pub fn update(&mut self, evaluations: &[Evaluation]) {
        let before = (!self.bests.own.is_empty()).then(|| self.bests.global_cost());
        self.costs = evaluations.iter().map(|new| new.cost).collect();
        self.bests.update(evaluations);
        let is_better = before.is_none_or(|before| self.bests.global_cost() < before);
        self.stall = if is_better { 0 } else { self.stall + 1 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Measures;

    #[test]
    fn the_stall_counts_iterations_without_improvement() {
        let mut swarm = BinarySwarm::new(2, &Space::new(3, 3));
        let stalls = [[0.3, 0.4], [0.3, 0.5], [0.4, 0.3], [0.3, 0.3], [0.3, 0.2]].map(|costs| {
            let evaluations = costs.map(|cost| Evaluation {
                subset: Subset::full(3),
                measures: Measures::WORST,
                cost: Cost::new(cost),
            });
            swarm.update(&evaluations);
            swarm.stall
        });
        assert_eq!(stalls, [0, 1, 2, 3, 0]);
    }
}
