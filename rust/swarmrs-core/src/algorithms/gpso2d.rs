//! 2D-learning swarms with the global or the local best: particles also learn the number of features to select.
//!
//! A velocity v has a row for the likelihood of each cardinality and a row for the likelihood of each feature. For each
//! particle at x with personal best p and social best b:
//!
//! ```text
//! v <- w v + c1 r1 L(p) + c2 r2 L(b) + Δ Lself     w inertia, c1 cognitive, c2 social
//! x <- the ξ most likely features                  ξ drawn by roulette wheel from the likelihoods of cardinalities
//!
//! gpso2d   b is the global best
//! lpso2d   b is the best of the particle and its two neighbors on a ring
//! ```
//!
//! The learning sets L, the self-influence Δ and the roulette wheel are those of
//! [`learning2d`](crate::swarms::learning2d). The paper specifies no neighborhood; the ring is that of Kennedy and Mendes
//! (CEC 2002, doi:10.1109/CEC.2002.1004493). r1, r2 are scalars, drawn per particle and move, followed by the draw of the
//! roulette wheel. If the personal best has not improved for `refresh_gap` moves, the velocity is redrawn before the update.
//! The counter of these moves is reset on improvement, as in the paper's text; its pseudo-code never resets it. The inertia
//! is the constant of the paper's table, because its formula is misprinted; ξ may be all features. The paper has experiments
//! with 2D-UPSO only; the other variants have its settings.
//!
//! F. Hafiz, A. Swain, N. Patel, C. Naik, A two-dimensional (2-D) learning framework for particle swarm based feature
//! selection, Pattern Recognition 76 (2018), doi:10.1016/j.patcog.2017.11.027

use crate::base::subset::Subset;
use crate::operators::parameters::{COGNITIVE, INERTIA, POPULATION, REFRESH_GAP};
use crate::operators::topology::ring_best;
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, Iteration, Optimizer, Space, params,
};
use crate::swarms::learning2d::{Particle2d, Swarm2d};

params! {
    /// Settings of [`Gpso2d`].
    pub struct Gpso2dParams {
        population: usize = 30, POPULATION;
        inertia: f64 = 0.729, INERTIA;
        cognitive: f64 = 1.49, COGNITIVE;
        social: f64 = 1.49, Allowed::AtLeast(0.0),
            "social coefficient c2, the weight of the global best (gpso2d) or the local best (lpso2d)";
        refresh_gap: usize = 3, REFRESH_GAP;
    }
}

/// The social best of a particle.
#[derive(Debug, Clone, Copy)]
enum Leader {
    Global,
    Ring,
}

/// A 2D-learning swarm with one social best per particle.
#[derive(Debug)]
pub struct Gpso2d {
    params: Gpso2dParams,
    leader: Leader,
    space: Space,
    swarm: Swarm2d,
}

impl Gpso2d {
    fn new(params: Gpso2dParams, leader: Leader, space: &Space) -> Self {
        Self { params, leader, space: space.clone(), swarm: Swarm2d::default() }
    }
}

impl Optimizer for Gpso2d {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        let Gpso2dParams { population, inertia, cognitive, social, refresh_gap } = self.params;
        if iteration.number == 0 {
            return self.swarm.start(population, &self.space, iteration);
        }
        let Swarm2d { particles, bests } = &mut self.swarm;
        let (space, leading) = (&self.space, self.leader);
        let particles = particles.iter_mut().enumerate().collect();
        iteration.map(particles, |(particle, learner): (usize, &mut Particle2d)| {
            let mut rng = iteration.rng(particle);
            learner.refresh(refresh_gap, &mut rng);
            let (r1, r2) = (rng.unit(), rng.unit());
            let leader = match leading {
                Leader::Global => bests.global(),
                Leader::Ring => &bests.own[ring_best(&bests.own, particle)].0,
            };
            let (v, x) = (&mut learner.velocity, &mut learner.x);
            v.scale(inertia);
            v.learn(cognitive * r1, &bests.own[particle].0, x);
            v.learn(social * r2, leader, x);
            v.reinforce(learner.influence, x);
            *x = v.choose(space.limit(), rng.unit());
            x.clone()
        })
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        self.swarm.update(evaluations);
    }
}

impl Algorithm for Gpso2d {
    type Params = Gpso2dParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "2D-learning global-best PSO",
        family: Family::Swarm,
        year: 2018,
        paper: "F. Hafiz, A. Swain, N. Patel, C. Naik, A two-dimensional (2-D) learning framework for particle swarm based feature selection, Pattern Recognition 76",
        doi: "10.1016/j.patcog.2017.11.027",
        aliases: &["2d-gpso"],
        summary: "learns the subset size beside the features, from the global best",
        evaluations: Some(6000),
        objective: Objective::Error,
    };

    fn start(params: Gpso2dParams, space: &Space) -> Self {
        Self::new(params, Leader::Global, space)
    }
}

/// The variant with the local best on a ring.
#[derive(Debug)]
pub struct Lpso2d;

impl Algorithm for Lpso2d {
    type Params = Gpso2dParams;
    type Search = Gpso2d;
    const CARD: Card = Card {
        name: "2D-learning local-best PSO",
        family: Family::Swarm,
        year: 2018,
        paper: "F. Hafiz, A. Swain, N. Patel, C. Naik, A two-dimensional (2-D) learning framework for particle swarm based feature selection, Pattern Recognition 76",
        doi: "10.1016/j.patcog.2017.11.027",
        aliases: &["2d-lpso"],
        summary: "learns the subset size beside the features, from neighbors on a ring",
        evaluations: Some(6000),
        objective: Objective::Error,
    };

    fn start(params: Gpso2dParams, space: &Space) -> Gpso2d {
        Gpso2d::new(params, Leader::Ring, space)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drive, least, onemax};

    #[test]
    fn both_find_a_planted_subset_of_four() {
        let space = Space::new(20, 20);
        for start in [Gpso2d::start, Lpso2d::start] {
            let mut swarm = start(Gpso2dParams::default(), &space);
            let planted = Subset::from_indices(20, [2, 3, 11, 17]);
            let history = drive(&mut swarm, 200, |x| x.distance(&planted) as f64 / 20.0);
            assert_eq!(least(&history), 0.0);
        }
    }

    #[test]
    fn positions_are_never_empty_and_velocities_are_bounded() {
        let mut swarm = Gpso2d::start(Gpso2dParams::default(), &Space::new(15, 15));
        let history = drive(&mut swarm, 60, onemax);
        assert!(history.iter().flatten().all(|tried| !tried.subset.is_empty()));
        let velocities = swarm.swarm.particles.iter().map(|learner| &learner.velocity);
        // -1 / (1 - w) and (c1 + c2 + 1) / (1 - w), to the three decimals the bounds are printed
        // with.
        let mut all = velocities.flat_map(|v| v.sizes.iter().chain(&v.features));
        assert!(all.all(|v| (-3.690..14.686).contains(v)));
    }
}
