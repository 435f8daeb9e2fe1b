//! Binary particle swarm: a velocity per feature is the log-odds that the feature is in.
//!
//! For each particle at x with velocity v, own best p and swarm's best g, feature by feature:
//!
//! ```text
//! v <- w v + c1 r1 (p - x) + c2 r2 (g - x)    w inertia, c1 cognitive, c2 social
//! v <- v held within +-velocity_limit
//! x <- 1 if r3 < S(v), else 0                 S(v) = 1 / (1 + e^-v)
//! ```
//!
//! r1, r2, r3 are drawn afresh for every feature, in this order. Velocities start at 0; bests move
//! on strict improvement, all at once after the whole swarm is evaluated. The defaults are those of
//! the comparison in the 2D-learning paper, whose budget is 30 particles for 200 generations.
//!
//! J. Kennedy, R. C. Eberhart, A discrete binary version of the particle swarm algorithm, SMC 1997,
//! doi:10.1109/ICSMC.1997.637339

use crate::base::subset::Subset;
use crate::operators::binary_swarm::BinarySwarm;
use crate::operators::parameters::{COGNITIVE, INERTIA, POPULATION, SOCIAL, VELOCITY_LIMIT};
use crate::operators::velocity::Pull;
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Card, Evaluation, Family, Optimizer, Space, Turn, params,
};

params! {
    /// Settings of [`Bpso`].
    pub struct BpsoParams {
        population: usize = 30, POPULATION;
        inertia: f64 = 1.0, INERTIA;
        cognitive: f64 = 2.0, COGNITIVE;
        social: f64 = 2.0, SOCIAL;
        velocity_limit: f64 = 6.0, VELOCITY_LIMIT;
    }
}

/// A swarm of bit strings.
#[derive(Debug)]
pub struct Bpso {
    pull: Pull,
    swarm: BinarySwarm,
}

impl Algorithm for Bpso {
    type Params = BpsoParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Binary PSO",
        family: Family::Swarm,
        year: 1997,
        paper: "J. Kennedy, R. C. Eberhart, A discrete binary version of the particle swarm algorithm, SMC",
        doi: "10.1109/ICSMC.1997.637339",
        aliases: &[],
        summary: "a velocity per feature is the log-odds that it is in",
        evaluations: Some(6000),
        objective: Objective::Error,
    };

    fn start(params: BpsoParams, space: &Space) -> Self {
        let BpsoParams { population, inertia, cognitive, social, velocity_limit } = params;
        let swarm = BinarySwarm::new(population, velocity_limit, space);
        Self { pull: Pull { inertia, cognitive, social }, swarm }
    }
}

impl Optimizer for Bpso {
    fn ask(&mut self, turn: &Turn<'_>) -> Vec<Subset> {
        if turn.number == 0 {
            return self.swarm.start(turn);
        }
        self.swarm.advance(turn, self.pull)
    }

    fn tell(&mut self, _: &Turn<'_>, told: &[Evaluation]) {
        self.swarm.learn(told);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drive, least, onemax};

    #[test]
    fn velocities_stay_within_their_limit() {
        let mut swarm = Bpso::start(BpsoParams::default(), &Space::new(20, 20));
        drive(&mut swarm, 30, onemax);
        let velocities = swarm.swarm.velocities.iter().flatten();
        assert!(velocities.clone().all(|v| v.abs() <= 6.0));
        assert!(velocities.clone().any(|v| v.abs() == 6.0), "saturation is normal without decay");
    }

    #[test]
    fn it_solves_onemax_of_fifty() {
        let mut swarm = Bpso::start(BpsoParams::default(), &Space::new(50, 50));
        assert_eq!(least(&drive(&mut swarm, 200, onemax)), 0.0);
    }
}
