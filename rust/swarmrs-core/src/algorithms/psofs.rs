//! Standard binary particle swarm with a damped velocity: the rival of the grouped swarms.
//!
//! For each particle at x with velocity v, own best p and swarm's best g, feature by feature:
//!
//! ```text
//! v <- w v + c1 r1 (p - x) + c2 r2 (g - x)    w inertia, c1 cognitive, c2 social
//! v <- v held within +-velocity_limit
//! x <- 1 if r3 < S(v), else 0                 S(v) = 1 / (1 + e^-v)
//! ```
//!
//! r1, r2, r3 are drawn afresh for every feature, in this order. The paper leaves open how velocities
//! start and how ties end. They start anywhere within their limit, drawn after the fair bits of the
//! first position. A best stays until a lower cost replaces it: published sizes near half of all
//! features, where many subsets cost the same, speak for that. A run reports the smallest of equals
//! all the same.
//!
//! B. Xue, M. C. Lane, I. Liu, M. Zhang, Dimension reduction in classification using particle swarm
//! optimisation and statistical variable grouping information, SSCI 2016

use crate::base::subset::Subset;
use crate::operators::binary_swarm::BinarySwarm;
use crate::operators::parameters::ConstrictedParams;
use crate::operators::velocity::Pull;
use crate::problem::objective::Objective;
use crate::search::algorithm::{Algorithm, Card, Evaluation, Family, Optimizer, Space, Turn};

/// A swarm of bit strings.
#[derive(Debug)]
pub struct Psofs {
    pull: Pull,
    swarm: BinarySwarm,
}

impl Algorithm for Psofs {
    type Params = ConstrictedParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Standard binary PSO",
        family: Family::Swarm,
        year: 2016,
        paper: "B. Xue, M. C. Lane, I. Liu, M. Zhang, Dimension reduction in classification using particle swarm optimisation and statistical variable grouping information, SSCI",
        doi: "",
        aliases: &[],
        summary: "BPSO with a damped velocity, the rival of the grouped swarms",
        evaluations: Some(3030),
        objective: Objective::Error,
    };

    fn start(params: ConstrictedParams, space: &Space) -> Self {
        let swarm = BinarySwarm::new(params.population, params.velocity_limit, space);
        Self { pull: params.pull(), swarm }
    }
}

impl Optimizer for Psofs {
    fn ask(&mut self, turn: &Turn<'_>) -> Vec<Subset> {
        if turn.number == 0 {
            return self.swarm.start_moving(turn);
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
    use crate::algorithms::find;
    use crate::testing::{drive, onemax};
    use serde_json::Map;

    #[test]
    fn it_starts_from_the_fair_bits_of_all_and_in_motion() {
        let space = Space::new(20, 20);
        let mut swarm = Psofs::start(ConstrictedParams::default(), &space);
        let started = drive(&mut swarm, 1, onemax);
        let mut rival = find("bpso").unwrap().start(&Map::new(), &space).unwrap().0;
        assert_eq!(started, drive(&mut *rival, 1, onemax));
        let velocities = swarm.swarm.velocities.iter().flatten();
        let (mut least, mut most) = (0.0f64, 0.0f64);
        for &v in velocities {
            (least, most) = (least.min(v), most.max(v));
        }
        // Of 600 even draws the extremes lie in the outer hundredths but for one chance in 400.
        assert!((-6.0..-5.88).contains(&least) && (5.88..6.0).contains(&most), "{least} {most}");
    }
}
