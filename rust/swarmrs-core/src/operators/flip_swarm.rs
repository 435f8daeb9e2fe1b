//! The swarm without velocities that PBPSO moves: bits flip with a probability that the bests
//! raise.

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::operators::bests::Bests;
use crate::search::algorithm::{Evaluation, Space, Turn};

/// What the probability that a bit flips is made of.
#[derive(Debug, Clone, Copy)]
pub struct FlipRates {
    /// p0, always there.
    pub mutation: f64,
    /// p1, where the bit differs from the own best.
    pub cognitive: f64,
    /// p2, where it differs from the swarm's best.
    pub social: f64,
}

impl FlipRates {
    /// The chance that a bit flips, at most 1.
    pub fn chance(self, differs_from_own: bool, differs_from_global: bool) -> f64 {
        let pull = |rate: f64, differs: bool| if differs { rate } else { 0.0 };
        (self.mutation
            + pull(self.cognitive, differs_from_own)
            + pull(self.social, differs_from_global))
        .min(1.0)
    }
}

/// `x` after one draw for each feature: it flips with the chance that p0 and disagreement with the
/// own best and the leader make. p0 is `mutation` where the feature is in and `gain` where it is
/// not.
pub fn flipped(
    x: &Subset,
    own: &Subset,
    leader: &Subset,
    rates: FlipRates,
    gain: f64,
    rng: &mut Rng,
) -> Subset {
    let gaining = FlipRates { mutation: gain, ..rates };
    Subset::from_fn(x.len(), |d| {
        let is_in = x.contains(d);
        let rates = if is_in { rates } else { gaining };
        is_in != rng.chance(rates.chance(is_in != own.contains(d), is_in != leader.contains(d)))
    })
}

/// Positions and bests.
#[derive(Debug)]
pub struct FlipSwarm {
    space: Space,
    population: usize,
    positions: Vec<Subset>,
    bests: Bests,
}

impl FlipSwarm {
    /// A swarm before its first turn.
    pub fn new(population: usize, space: &Space) -> Self {
        let (space, bests) = (space.clone(), Bests::default());
        Self { space, population, positions: Vec::new(), bests }
    }

    /// Draws the first positions.
    pub fn start(&mut self, turn: &Turn<'_>) -> Vec<Subset> {
        self.positions = (0..self.population)
            .map(|particle| self.space.random(&mut turn.rng(particle)))
            .collect();
        self.positions.clone()
    }

    /// Moves every particle by one draw for each feature.
    pub fn advance(&mut self, turn: &Turn<'_>, rates: FlipRates) -> Vec<Subset> {
        let global = self.bests.global();
        let particles = self.positions.iter().zip(&self.bests.own).enumerate().collect();
        self.positions = turn.map(particles, |(particle, (x, (own, _)))| {
            let mut rng = turn.rng(particle);
            let mut moved = flipped(x, own, global, rates, rates.mutation, &mut rng);
            self.space.trim(&mut moved, &mut rng);
            moved
        });
        self.positions.clone()
    }

    /// Learns what the positions cost.
    pub fn learn(&mut self, told: &[Evaluation]) {
        self.bests.update(told);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flip_probabilities_are_the_printed_table() {
        let rates = FlipRates { mutation: 0.05, cognitive: 0.35, social: 0.65 };
        assert_eq!(rates.chance(false, false), 0.05);
        assert_eq!(rates.chance(true, false), 0.05 + 0.35);
        assert_eq!(rates.chance(false, true), 0.05 + 0.65);
        assert_eq!(rates.chance(true, true), 1.0);
    }
}
