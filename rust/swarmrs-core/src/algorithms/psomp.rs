//! Maximum-probability grouped swarm: of each group of features the one with the largest velocity is in.
//!
//! For each particle at x with velocity v, own best p and swarm's best g:
//!
//! ```text
//! v <- w v + c1 r1 (p - x) + c2 r2 (g - x)    w inertia, c1 cognitive, c2 social
//! v <- v held within +-velocity_limit
//! x <- 1 for the member of each group with the largest v, else 0
//! ```
//!
//! r1, r2 are drawn afresh for every feature. Of equal velocities the lowest feature goes first. The
//! first subset has any one member of each group; velocities start anywhere within their limit.
//!
//! M. C. Lane, B. Xue, I. Liu, M. Zhang, Particle swarm optimisation and statistical clustering for
//! feature selection, AI 2013, doi:10.1007/978-3-319-03680-9_23

use crate::base::subset::Subset;
use crate::operators::choice::top_k;
use crate::operators::grouped_swarm::{GroupedSwarm, anyone};
use crate::operators::parameters::ConstrictedParams;
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Card, Evaluation, Family, GroupUse, Optimizer, Space, Turn,
};

/// A swarm that has one feature of each group.
#[derive(Debug)]
pub struct Psomp {
    swarm: GroupedSwarm,
}

impl Algorithm for Psomp {
    type Params = ConstrictedParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "PSO with maximum-probability selection",
        family: Family::Swarm,
        year: 2013,
        paper: "M. C. Lane, B. Xue, I. Liu, M. Zhang, Particle swarm optimisation and statistical clustering for feature selection, AI 2013",
        doi: "10.1007/978-3-319-03680-9_23",
        aliases: &[],
        summary: "one feature of each group: the one with the largest velocity",
        evaluations: Some(3030),
        objective: Objective::Error,
    };
    const GROUPS: GroupUse = GroupUse::Needed;

    fn start(params: ConstrictedParams, space: &Space) -> Self {
        Self { swarm: GroupedSwarm::new(&params, space) }
    }
}

impl Optimizer for Psomp {
    fn ask(&mut self, turn: &Turn<'_>) -> Vec<Subset> {
        if turn.number == 0 {
            return self.swarm.start(turn, anyone);
        }
        self.swarm.advance(turn, |velocities, _| top_k(velocities, 1))
    }

    fn tell(&mut self, _: &Turn<'_>, told: &[Evaluation]) {
        self.swarm.learn(told);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::groups::Groups;
    use crate::testing::{drive, least};
    use std::sync::Arc;

    #[test]
    fn it_finds_the_planted_member_of_each_group() {
        let members = (0..5).map(|group| (4 * group..4 * group + 4).collect()).collect();
        let groups = Arc::new(Groups::new(members, 20).unwrap());
        let space = Space::new(20, 20).with_groups(groups);
        let mut swarm = Psomp::start(ConstrictedParams::default(), &space);
        let planted = Subset::from_indices(20, [2, 4, 11, 13, 16]);
        let history = drive(&mut swarm, 101, |x| x.distance(&planted) as f64 / 10.0);
        assert_eq!(least(&history), 0.0);
    }
}
