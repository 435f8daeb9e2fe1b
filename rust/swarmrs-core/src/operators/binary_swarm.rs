//! The swarm of bit strings that binary PSO and its kin move.

use crate::base::math::sigmoid;
use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::operators::bests::Bests;
use crate::operators::velocity::Pull;
use crate::problem::objective::Cost;
use crate::search::algorithm::{Evaluation, Space, Turn};

/// Positions, velocities and bests of a binary swarm, and for how long it has not got better.
#[derive(Debug)]
pub struct BinarySwarm {
    space: Space,
    velocity_limit: f64,
    /// Where each particle is.
    pub positions: Vec<Subset>,
    /// The log-odds of each feature, for each particle.
    pub velocities: Vec<Vec<f64>>,
    /// What each particle's present position costs.
    pub costs: Vec<Cost>,
    /// The best positions so far.
    pub bests: Bests,
    /// Turns in a row that did not improve the best of all.
    pub stall: usize,
}

/// What draws a particle at `x`, and how fast it may get.
struct Flight<'a> {
    x: &'a Subset,
    own: &'a Subset,
    global: &'a Subset,
    pull: Pull,
    limit: f64,
}

impl Flight<'_> {
    fn accelerate(&self, v: &mut f64, d: usize, rng: &mut Rng) -> f64 {
        let bit = |subset: &Subset| f64::from(u8::from(subset.contains(d)));
        let (x, own, global) = (bit(self.x), bit(self.own), bit(self.global));
        let (r1, r2) = (rng.unit(), rng.unit());
        *v = self.pull.velocity(*v, x, own, global, r1, r2).clamp(-self.limit, self.limit);
        *v
    }

    fn moved(&self, v: &mut [f64], rng: &mut Rng) -> Subset {
        Subset::from_fn(v.len(), |d| {
            let v = self.accelerate(&mut v[d], d, rng);
            rng.chance(sigmoid(v))
        })
    }
}

impl BinarySwarm {
    /// A swarm at rest, before its first turn.
    pub fn new(population: usize, velocity_limit: f64, space: &Space) -> Self {
        Self {
            space: space.clone(),
            velocity_limit,
            positions: vec![Subset::empty(space.n_features()); population],
            velocities: vec![vec![0.0; space.n_features()]; population],
            costs: Vec::new(),
            bests: Bests::default(),
            stall: 0,
        }
    }

    /// How many particles there are.
    pub fn population(&self) -> usize {
        self.velocities.len()
    }

    /// Draws the first positions.
    pub fn start(&mut self, turn: &Turn<'_>) -> Vec<Subset> {
        for particle in 0..self.population() {
            self.positions[particle] = self.space.random(&mut turn.rng(particle));
        }
        self.positions.clone()
    }

    /// Draws the first positions, and after each its velocity.
    pub fn start_moving(&mut self, turn: &Turn<'_>) -> Vec<Subset> {
        for particle in 0..self.population() {
            let mut rng = turn.rng(particle);
            self.positions[particle] = self.space.random(&mut rng);
            self.push_off(particle, &mut rng);
        }
        self.positions.clone()
    }

    /// Gives a particle any velocity within the limit, feature by feature.
    pub fn push_off(&mut self, particle: usize, rng: &mut Rng) {
        self.velocities[particle].fill_with(|| self.velocity_limit * (2.0 * rng.unit() - 1.0));
    }

    /// Moves every particle, each by its own stream of chance.
    pub fn advance(&mut self, turn: &Turn<'_>, pull: Pull) -> Vec<Subset> {
        let Self { space, velocity_limit, positions, velocities, bests, .. } = self;
        let (limit, global) = (*velocity_limit, bests.global());
        let particles = positions.iter_mut().zip(velocities).zip(&bests.own).enumerate().collect();
        turn.map(particles, |(particle, ((x, v), (own, _)))| {
            let rng = &mut turn.rng(particle);
            let mut moved = Flight { x, own, global, pull, limit }.moved(v, rng);
            space.trim(&mut moved, rng);
            x.clone_from(&moved);
            moved
        })
    }

    /// Moves one particle; r1, r2, r3 are drawn for every feature in this order.
    pub fn advance_one(&mut self, particle: usize, pull: Pull, rng: &mut Rng) {
        let (flight, v) = self.flight(particle, pull);
        let moved = flight.moved(v, rng);
        self.place(particle, moved, rng);
    }

    /// Changes one particle's velocity in feature `d`, draws r1 and r2 for it, and returns it.
    pub fn accelerate(&mut self, particle: usize, d: usize, pull: Pull, rng: &mut Rng) -> f64 {
        let (flight, v) = self.flight(particle, pull);
        flight.accelerate(&mut v[d], d, rng)
    }

    fn flight(&mut self, particle: usize, pull: Pull) -> (Flight<'_>, &mut [f64]) {
        let (x, own) = (&self.positions[particle], &self.bests.own[particle].0);
        let (global, limit) = (self.bests.global(), self.velocity_limit);
        (Flight { x, own, global, pull, limit }, &mut self.velocities[particle])
    }

    /// Puts one particle somewhere else, cut down to the limit of the space; its velocity and best
    /// stay.
    pub fn place(&mut self, particle: usize, mut position: Subset, rng: &mut Rng) {
        self.space.trim(&mut position, rng);
        self.positions[particle] = position;
    }

    /// Learns what the positions cost.
    pub fn learn(&mut self, told: &[Evaluation]) {
        let before = (!self.bests.own.is_empty()).then(|| self.bests.global_cost());
        self.costs = told.iter().map(|new| new.cost).collect();
        self.bests.update(told);
        let is_better = before.is_none_or(|before| self.bests.global_cost() < before);
        self.stall = if is_better { 0 } else { self.stall + 1 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Measures;

    #[test]
    fn a_stall_counts_turns_without_a_better_best() {
        let mut swarm = BinarySwarm::new(2, 6.0, &Space::new(3, 3));
        let stalls = [[0.3, 0.4], [0.3, 0.5], [0.4, 0.3], [0.3, 0.3], [0.3, 0.2]].map(|costs| {
            let told = costs.map(|cost| Evaluation {
                subset: Subset::full(3),
                measures: Measures::WORST,
                cost: Cost::new(cost),
            });
            swarm.learn(&told);
            swarm.stall
        });
        assert_eq!(stalls, [0, 1, 2, 3, 0]);
    }
}
