//! Improved Gaussian grouped swarm: moves as `gpso` does, and a subset costs less the nearer it comes to one feature of each
//! group.
//!
//! For each particle at x with velocity v, own best p and swarm's best g, and for each group:
//!
//! ```text
//! v <- w v + c1 r1 (p - x) + c2 r2 (g - x)    w inertia, c1 cognitive, c2 social
//! v <- v held within +-velocity_limit
//! m <- 1 + σ z to the nearest whole number, within 0 and |group|     σ = log(10 |group|), z normal
//! x <- 1 for the m members of each group with the largest v, else 0
//! J  = 1 - α accuracy - (1 - α) Sim            α = 0.98, the gaussian objective
//! Sim = exp(-1/2 Σ ((count - 1) / σ)²)         over groups, count the members that are in
//! ```
//!
//! The objective has its σ by the same `sigma_log` as the moves. The paper divides Sim by the
//! normalizer of a Gaussian density, which contradicts its own range, 1 at the target: it is left
//! out unless asked for, see [`Sim`](crate::problem::groups::Sim).
//!
//! B. Xue, M. C. Lane, I. Liu, M. Zhang, Dimension reduction in classification using particle swarm
//! optimisation and statistical variable grouping information, SSCI 2016

use crate::base::subset::Subset;
use crate::operators::gaussian_swarm::{GaussianParams, GaussianSwarm};
use crate::problem::groups::SigmaLog;
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Card, Evaluation, Family, GroupUse, Optimizer, Space, Turn,
};

/// A swarm that takes about one feature of each group.
#[derive(Debug)]
pub struct Igpso {
    swarm: GaussianSwarm,
}

impl Algorithm for Igpso {
    type Params = GaussianParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Improved Gaussian grouped PSO",
        family: Family::Swarm,
        year: 2016,
        paper: "B. Xue, M. C. Lane, I. Liu, M. Zhang, Dimension reduction in classification using particle swarm optimisation and statistical variable grouping information, SSCI",
        doi: "",
        aliases: &[],
        summary: "gpso that lowers the error and keeps near one feature of each group",
        evaluations: Some(3030),
        objective: Objective::gaussian(SigmaLog::Log10),
    };
    const GROUPS: GroupUse = GroupUse::Needed;

    fn objective(params: &GaussianParams) -> Objective {
        Objective::gaussian(params.sigma_log)
    }

    fn start(params: GaussianParams, space: &Space) -> Self {
        Self { swarm: GaussianSwarm::new(&params, space) }
    }
}

impl Optimizer for Igpso {
    fn ask(&mut self, turn: &Turn<'_>) -> Vec<Subset> {
        self.swarm.ask(turn)
    }

    fn tell(&mut self, _: &Turn<'_>, told: &[Evaluation]) {
        self.swarm.learn(told);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::find;
    use serde_json::{Map, json};

    #[test]
    fn moves_and_objective_have_one_logarithm() {
        let igpso = find("igpso").unwrap();
        let own = |given: &Map<_, _>| igpso.prepare(given).unwrap().objective;
        assert_eq!(own(&Map::new()), Igpso::CARD.objective);
        let natural = Map::from_iter([("sigma_log".to_owned(), json!("ln"))]);
        assert_eq!(own(&natural), Objective::gaussian(SigmaLog::Ln));
    }
}
