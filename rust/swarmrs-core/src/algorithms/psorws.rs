//! Roulette-wheel grouped swarm: of each group of features one is in, drawn by how likely velocities make it.
//!
//! For each particle at x with velocity v, own best p and swarm's best g:
//!
//! ```text
//! v <- w v + c1 r1 (p - x) + c2 r2 (g - x)    w inertia, c1 cognitive, c2 social
//! v <- v held within +-velocity_limit
//! x <- 1 for one member of each group, drawn in proportion to Sig(v), else 0
//! Sig(v) = 1 / (1 + 4 e^-2v)
//! ```
//!
//! r1, r2 are drawn afresh for every feature, then one number for each group, also for a group of one.
//! The first subset has any one member of each group; velocities start anywhere within their limit,
//! which the paper does not say.
//!
//! B. Xue, M. C. Lane, I. Liu, M. Zhang, Dimension reduction in classification using particle swarm
//! optimisation and statistical variable grouping information, SSCI 2016

use crate::base::math::exp;
use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::operators::choice::roulette;
use crate::operators::grouped_swarm::{GroupedSwarm, anyone, only};
use crate::operators::parameters::ConstrictedParams;
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Card, Evaluation, Family, GroupUse, Optimizer, Space, Turn,
};

/// A swarm that has one feature of each group.
#[derive(Debug)]
pub struct Psorws {
    swarm: GroupedSwarm,
}

impl Algorithm for Psorws {
    type Params = ConstrictedParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "PSO with roulette-wheel selection",
        family: Family::Swarm,
        year: 2016,
        paper: "B. Xue, M. C. Lane, I. Liu, M. Zhang, Dimension reduction in classification using particle swarm optimisation and statistical variable grouping information, SSCI",
        doi: "",
        aliases: &[],
        summary: "one feature of each group, drawn by a wheel of velocities",
        evaluations: Some(3030),
        objective: Objective::Error,
    };
    const GROUPS: GroupUse = GroupUse::Needed;

    fn start(params: ConstrictedParams, space: &Space) -> Self {
        Self { swarm: GroupedSwarm::new(&params, space) }
    }
}

impl Optimizer for Psorws {
    fn ask(&mut self, turn: &Turn<'_>) -> Vec<Subset> {
        if turn.number == 0 {
            return self.swarm.start(turn, anyone);
        }
        self.swarm.advance(turn, spin)
    }

    fn tell(&mut self, _: &Turn<'_>, told: &[Evaluation]) {
        self.swarm.learn(told);
    }
}

/// A member drawn in proportion to what its velocity is worth.
fn spin(velocities: &[f64], rng: &mut Rng) -> Subset {
    let weights: Vec<f64> = velocities.iter().map(|&v| steep(v)).collect();
    only(roulette(&weights, rng.unit()), weights.len())
}

/// A logistic function that tells velocities apart better than the usual one does.
fn steep(v: f64) -> f64 {
    1.0 / (1.0 + 4.0 * exp(-2.0 * v))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steep_function_has_the_worked_values() {
        for (v, expected) in [
            (-6.0, 1.536_051e-6),
            (0.0, 0.2),
            (std::f64::consts::LN_2, 0.5),
            (2.0, 0.931_738),
            (6.0, 0.999_975),
        ] {
            // Six decimals are printed, and seven digits of the least.
            assert!((steep(v) - expected).abs() < 5e-7, "Sig({v})");
        }
        assert!((steep(-6.0) / 1.536_051e-6 - 1.0).abs() < 5e-7);
    }

    #[test]
    fn a_wheel_of_three_has_the_worked_chances_and_picks() {
        let weights = [-1.0, 0.0, 2.0].map(steep);
        let total: f64 = weights.iter().sum();
        for (weight, chance) in weights.iter().zip([0.028_104, 0.171_753, 0.800_143]) {
            // Six decimals are printed.
            assert!((weight / total - chance).abs() < 5e-7, "{weight}");
        }
        assert_eq!([0.02, 0.15, 0.2].map(|u| roulette(&weights, u)), [0, 1, 2]);
    }
}
