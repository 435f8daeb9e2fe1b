//! Gaussian grouped swarm: how many features of each group are in is drawn from a normal distribution about one.
//!
//! For each particle at x with velocity v, own best p and swarm's best g, and for each group:
//!
//! ```text
//! v <- w v + c1 r1 (p - x) + c2 r2 (g - x)    w inertia, c1 cognitive, c2 social
//! v <- v held within +-velocity_limit
//! m <- 1 + σ z to the nearest whole number, within 0 and |group|     σ = log(10 |group|), z normal
//! x <- 1 for the m members of each group with the largest v, else 0
//! ```
//!
//! r1, r2 are drawn afresh for every feature, then z for each group. Of equal velocities the lowest
//! feature goes first. A group may be passed over; where all are, the subset is empty and costs the
//! worst. The first subset follows from the first velocities, anywhere within their limit, by the
//! same rule.
//!
//! The rule is put together from what later papers by the same authors say about it: the number first,
//! by a Gaussian of mean 1 and σ = log(10 |group|), then the features of highest velocity. None names
//! the logarithm: the decimal one, the default of `sigma_log`, makes σ = 1 for a group of one and
//! comes nearer to the published sizes.
//!
//! M. C. Lane, B. Xue, I. Liu, M. Zhang, Gaussian based particle swarm optimisation and statistical
//! clustering for feature selection, `EvoCOP` 2014, doi:10.1007/978-3-662-44320-0_12

use crate::base::subset::Subset;
use crate::operators::gaussian_swarm::{GaussianParams, GaussianSwarm};
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Card, Evaluation, Family, GroupUse, Optimizer, Space, Turn,
};

/// A swarm that takes about one feature of each group.
#[derive(Debug)]
pub struct Gpso {
    swarm: GaussianSwarm,
}

impl Algorithm for Gpso {
    type Params = GaussianParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Gaussian grouped PSO",
        family: Family::Swarm,
        year: 2014,
        paper: "M. C. Lane, B. Xue, I. Liu, M. Zhang, Gaussian based particle swarm optimisation and statistical clustering for feature selection, EvoCOP",
        doi: "10.1007/978-3-662-44320-0_12",
        aliases: &[],
        summary: "takes a normal number of features from each group, one in the mean",
        evaluations: Some(3030),
        objective: Objective::Error,
    };
    const GROUPS: GroupUse = GroupUse::Needed;

    fn start(params: GaussianParams, space: &Space) -> Self {
        Self { swarm: GaussianSwarm::new(&params, space) }
    }
}

impl Optimizer for Gpso {
    fn ask(&mut self, turn: &Turn<'_>) -> Vec<Subset> {
        self.swarm.ask(turn)
    }

    fn tell(&mut self, _: &Turn<'_>, told: &[Evaluation]) {
        self.swarm.learn(told);
    }
}
