//! Probability-based binary particle swarm: no velocity, a flip probability per feature.
//!
//! For each particle at x with own best p and swarm's best g, feature by feature, one draw each:
//!
//! ```text
//! flip x with probability  p0 + p1 [x != p] + p2 [x != g]      at most 1
//! ```
//!
//! p0 is `mutation_rate`, p1 is `cognitive`, p2 is `social`. The paper asks for a sum of 1 and prints 1.05; with
//! probabilities capped at 1 the printed values are kept. Its pseudo-code moves once more after the last evaluation;
//! that move is never evaluated and not made here.
//!
//! B. Xue, S. Nguyen, M. Zhang, A new binary particle swarm optimisation algorithm for feature selection,
//! EvoApplications 2014, doi:10.1007/978-3-662-45523-4_41

use crate::operators::bests::Bests;
use crate::objective::Objective;
use crate::search::{
    Algorithm, Allowed, Card, Evaluation, Family, Field, Optimizer, Params, Space, Turn,
};
use crate::subset::Subset;
use serde::{Deserialize, Serialize};

/// Settings of [`Pbpso`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PbpsoParams {
    population: usize,
    mutation_rate: f64,
    cognitive: f64,
    social: f64,
}

impl Default for PbpsoParams {
    fn default() -> Self {
        Self { population: 50, mutation_rate: 0.05, cognitive: 0.35, social: 0.65 }
    }
}

impl Params for PbpsoParams {
    const FIELDS: &'static [Field] = &[
        Field { name: "population", allowed: Allowed::AtLeast(1.0), about: "particles" },
        Field {
            name: "mutation_rate",
            allowed: Allowed::Above(0.0, 1.0),
            about: "p0, the chance that any bit flips",
        },
        Field {
            name: "cognitive",
            allowed: Allowed::Within(0.0, 1.0),
            about: "p1, added where the own best differs",
        },
        Field {
            name: "social",
            allowed: Allowed::Within(0.0, 1.0),
            about: "p2, added where the swarm's best differs",
        },
    ];
}

/// A swarm without velocities.
#[derive(Debug)]
pub struct Pbpso {
    params: PbpsoParams,
    space: Space,
    positions: Vec<Subset>,
    bests: Bests,
}

impl PbpsoParams {
    /// The chance that a bit flips.
    fn flip(&self, differs_from_own: bool, differs_from_global: bool) -> f64 {
        let pull = |weight: f64, differs: bool| if differs { weight } else { 0.0 };
        (self.mutation_rate
            + pull(self.cognitive, differs_from_own)
            + pull(self.social, differs_from_global))
        .min(1.0)
    }
}

impl Algorithm for Pbpso {
    type Params = PbpsoParams;
    const CARD: Card = Card {
        name: "Probability-based binary PSO",
        family: Family::Swarm,
        year: 2014,
        paper: "B. Xue, S. Nguyen, M. Zhang, A new binary particle swarm optimisation algorithm for feature selection, EvoApplications",
        doi: "10.1007/978-3-662-45523-4_41",
        aliases: &[],
        summary: "no velocity: each bit flips with a probability that its bests raise",
        evaluations: Some(5000),
        objective: Objective::Error,
    };

    fn start(params: PbpsoParams, space: &Space) -> Self {
        Self { params, space: space.clone(), positions: Vec::new(), bests: Bests::default() }
    }
}

impl Optimizer for Pbpso {
    fn ask(&mut self, turn: &Turn<'_>) -> Vec<Subset> {
        if turn.number == 0 {
            self.positions = (0..self.params.population)
                .map(|particle| self.space.random(&mut turn.rng(particle)))
                .collect();
            return self.positions.clone();
        }
        let global = self.bests.global();
        for (particle, x) in self.positions.iter_mut().enumerate() {
            let mut rng = turn.rng(particle);
            let own = &self.bests.own[particle].0;
            let mut moved = Subset::from_fn(self.space.n_features(), |d| {
                let is_in = x.contains(d);
                let flip = self.params.flip(is_in != own.contains(d), is_in != global.contains(d));
                is_in != rng.chance(flip)
            });
            self.space.trim(&mut moved, &mut rng);
            *x = moved;
        }
        self.positions.clone()
    }

    fn tell(&mut self, _: &Turn<'_>, told: &[Evaluation]) {
        self.bests.update(told);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flip_probabilities_are_the_printed_table() {
        let params = PbpsoParams::default();
        assert_eq!(params.flip(false, false), 0.05);
        assert_eq!(params.flip(true, false), 0.05 + 0.35);
        assert_eq!(params.flip(false, true), 0.05 + 0.65);
        assert_eq!(params.flip(true, true), 1.0);
    }
}
