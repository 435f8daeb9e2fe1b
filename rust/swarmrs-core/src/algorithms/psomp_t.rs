//! Grouped swarm by tournament: of two random members of each group the one with the larger velocity is in.
//!
//! For each particle at x with velocity v, own best p and swarm's best g:
//!
//! ```text
//! v <- w v + c1 r1 (p - x) + c2 r2 (g - x)    w inertia, c1 cognitive, c2 social
//! v <- v held within +-velocity_limit
//! x <- 1 for the winner of each group, else 0
//! ```
//!
//! r1, r2 are drawn afresh for every feature, then two distinct members of each group; of equal
//! velocities the lower feature wins, and the member of a group of one is in. The first subset has
//! any one member of each group; velocities start anywhere within their limit.
//!
//! The paper has a second, more stochastic version of its algorithm beside the one of `psomp`. What
//! is at hand of it says no more, and a tournament is the plainest rule that fits.
//!
//! M. C. Lane, B. Xue, I. Liu, M. Zhang, Particle swarm optimisation and statistical clustering for
//! feature selection, AI 2013, doi:10.1007/978-3-319-03680-9_23

use crate::base::random::Rng;
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
pub struct PsompT {
    swarm: GroupedSwarm,
}

impl Algorithm for PsompT {
    type Params = ConstrictedParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "PSO with tournament selection",
        family: Family::Swarm,
        year: 2013,
        paper: "M. C. Lane, B. Xue, I. Liu, M. Zhang, Particle swarm optimisation and statistical clustering for feature selection, AI 2013",
        doi: "10.1007/978-3-319-03680-9_23",
        aliases: &[],
        summary: "one feature of each group: the faster of two random members",
        evaluations: Some(3030),
        objective: Objective::Error,
    };
    const GROUPS: GroupUse = GroupUse::Needed;

    fn start(params: ConstrictedParams, space: &Space) -> Self {
        Self { swarm: GroupedSwarm::new(&params, space) }
    }
}

impl Optimizer for PsompT {
    fn ask(&mut self, turn: &Turn<'_>) -> Vec<Subset> {
        if turn.number == 0 {
            return self.swarm.start(turn, anyone);
        }
        self.swarm.advance(turn, tournament)
    }

    fn tell(&mut self, _: &Turn<'_>, told: &[Evaluation]) {
        self.swarm.learn(told);
    }
}

/// The faster of two random members.
fn tournament(velocities: &[f64], rng: &mut Rng) -> Subset {
    let size = velocities.len();
    let mut rivals = rng.distinct(size.min(2), size);
    rivals.sort_unstable();
    let entered: Vec<f64> = rivals.iter().map(|&place| velocities[place]).collect();
    Subset::from_indices(size, top_k(&entered, 1).iter().map(|at| rivals[at]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{Phase, Streams};

    #[test]
    fn the_slowest_never_wins_and_the_others_by_their_rank() {
        let mut rng = Streams::new(1).rng(0, Phase::Ask, 0);
        let mut wins = [0; 4];
        for _ in 0..6000 {
            let winner = tournament(&[0.5, -2.0, 0.5, 3.0], &mut rng);
            wins[winner.iter().next().unwrap()] += 1;
        }
        // Of six pairs the fastest is in three, the lower of the equal two wins two, the other one.
        // Standard deviations are at most 39.
        for (won, expected) in wins.into_iter().zip([2000i32, 0, 1000, 3000]) {
            assert!((won - expected).abs() < 160, "{wins:?}");
        }
        assert_eq!(wins[1], 0);
    }
}
