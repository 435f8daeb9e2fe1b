//! Binary particle swarm: a velocity per feature is the log-odds that the feature is in.
//!
//! For each particle at x with velocity v, own best p and swarm's best g, feature by feature:
//!
//! ```text
//! v <- w v + c1 r1 (p - x) + c2 r2 (g - x)    w inertia, c1 cognitive, c2 social; clamped to +-velocity_limit
//! x <- 1 if r3 < S(v), else 0                 S(v) = 1 / (1 + e^-v)
//! ```
//!
//! r1, r2, r3 are drawn afresh for every feature, in this order. Velocities start at 0; bests move on strict
//! improvement, all at once after the whole swarm is evaluated. The defaults are those of the comparison in the
//! 2D-learning paper, whose budget is 30 particles for 200 generations.
//!
//! J. Kennedy, R. C. Eberhart, A discrete binary version of the particle swarm algorithm, SMC 1997,
//! doi:10.1109/ICSMC.1997.637339

use crate::math::sigmoid;
use crate::operators::bests::Bests;
use crate::operators::velocity::Pull;
use crate::objective::Objective;
use crate::search::{
    Algorithm, Allowed, Card, Evaluation, Family, Field, Optimizer, Params, Space, Turn,
};
use crate::subset::Subset;
use serde::{Deserialize, Serialize};

/// Settings of [`Bpso`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BpsoParams {
    population: usize,
    inertia: f64,
    cognitive: f64,
    social: f64,
    velocity_limit: f64,
}

impl Default for BpsoParams {
    fn default() -> Self {
        Self { population: 30, inertia: 1.0, cognitive: 2.0, social: 2.0, velocity_limit: 6.0 }
    }
}

impl Params for BpsoParams {
    const FIELDS: &'static [Field] = &[
        Field { name: "population", allowed: Allowed::AtLeast(1.0), about: "particles" },
        Field { name: "inertia", allowed: Allowed::AtLeast(0.0), about: "w, the velocity kept" },
        Field { name: "cognitive", allowed: Allowed::AtLeast(0.0), about: "c1, pull of the own best" },
        Field { name: "social", allowed: Allowed::AtLeast(0.0), about: "c2, pull of the swarm's best" },
        Field {
            name: "velocity_limit",
            allowed: Allowed::Above(0.0, f64::INFINITY),
            about: "velocities stay within plus and minus this",
        },
    ];
}

/// A swarm of bit strings.
#[derive(Debug)]
pub struct Bpso {
    params: BpsoParams,
    space: Space,
    positions: Vec<Subset>,
    velocities: Vec<Vec<f64>>,
    bests: Bests,
}

impl Algorithm for Bpso {
    type Params = BpsoParams;
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
        let velocities = vec![vec![0.0; space.n_features()]; params.population];
        let (space, bests) = (space.clone(), Bests::default());
        Self { params, space, positions: Vec::new(), velocities, bests }
    }
}

impl Optimizer for Bpso {
    fn ask(&mut self, turn: &Turn<'_>) -> Vec<Subset> {
        if turn.number == 0 {
            self.positions = (0..self.params.population)
                .map(|particle| self.space.random(&mut turn.rng(particle)))
                .collect();
            return self.positions.clone();
        }
        let BpsoParams { inertia, cognitive, social, velocity_limit, .. } = self.params;
        let pull = Pull { inertia, cognitive, social };
        let global = self.bests.global();
        for (particle, (x, v)) in self.positions.iter_mut().zip(&mut self.velocities).enumerate() {
            let mut rng = turn.rng(particle);
            let own = &self.bests.own[particle].0;
            let bit = |subset: &Subset, d| f64::from(u8::from(subset.contains(d)));
            let mut moved = Subset::from_fn(self.space.n_features(), |d| {
                let (r1, r2) = (rng.unit(), rng.unit());
                v[d] = pull
                    .velocity(v[d], bit(x, d), bit(own, d), bit(global, d), r1, r2)
                    .clamp(-velocity_limit, velocity_limit);
                rng.chance(sigmoid(v[d]))
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
    use crate::testing::drive;

    #[test]
    fn velocities_stay_within_their_limit() {
        let mut swarm = Bpso::start(BpsoParams::default(), &Space::new(20, 20));
        drive(&mut swarm, 30, |subset| 20.0 - subset.count() as f64);
        let velocities = swarm.velocities.iter().flatten();
        assert!(velocities.clone().all(|v| v.abs() <= 6.0));
        assert!(velocities.clone().any(|v| v.abs() == 6.0), "saturation is normal without decay");
    }
}
