//! 2D-learning local-best swarm: particles learn size and features from their own best and their
//! neighbours' on a ring.
//!
//! A velocity v has a row for the likelihood of each cardinality and one for that of each feature.
//! For each particle at x with own best p and the best l of its neighbourhood:
//!
//! ```text
//! v <- w v + c1 r1 L(p) + c2 r2 L(l) + Δ Lself     w inertia, c1 cognitive, c2 social
//! x <- the ξ most likely features                  ξ spun on a wheel of the cardinalities' likelihoods
//! ```
//!
//! The learning sets L, the self-influence Δ and the wheel are those of
//! [`learning2d`](crate::operators::learning2d). The neighbourhood is the particle and the two
//! beside it on a ring, as Kennedy and Mendes (CEC 2002, doi:10.1109/CEC.2002.1004493) have it,
//! since the paper names none. r1, r2 are scalars, one each per particle and move, then comes the
//! draw of the wheel. An own best that has not improved for `refresh_gap` moves has the velocity
//! redrawn just before the update; improvement resets that count, as the paper's text has it and
//! its pseudo-code has not. The paper runs 2D-UPSO only; the others take its settings.
//!
//! F. Hafiz, A. Swain, N. Patel, C. Naik, A two-dimensional (2-D) learning framework for particle
//! swarm based feature selection, Pattern Recognition 76 (2018), doi:10.1016/j.patcog.2017.11.027

use crate::base::subset::Subset;
use crate::operators::learning2d::Learners;
use crate::operators::parameters::{COGNITIVE, INERTIA, POPULATION, REFRESH_GAP};
use crate::operators::topology::ring_best;
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, Optimizer, Space, Turn, params,
};

params! {
    /// Settings of [`Lpso2d`].
    pub struct Lpso2dParams {
        population: usize = 30, POPULATION;
        inertia: f64 = 0.729, INERTIA;
        cognitive: f64 = 1.49, COGNITIVE;
        social: f64 = 1.49, Allowed::AtLeast(0.0), "c2, pull of the neighbourhood's best";
        refresh_gap: usize = 3, REFRESH_GAP;
    }
}

/// A 2D-learning swarm on a ring.
#[derive(Debug)]
pub struct Lpso2d {
    params: Lpso2dParams,
    space: Space,
    learners: Learners,
}

impl Algorithm for Lpso2d {
    type Params = Lpso2dParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "2D-learning local-best PSO",
        family: Family::Swarm,
        year: 2018,
        paper: "F. Hafiz, A. Swain, N. Patel, C. Naik, A two-dimensional (2-D) learning framework for particle swarm based feature selection, Pattern Recognition 76",
        doi: "10.1016/j.patcog.2017.11.027",
        aliases: &["2d-lpso"],
        summary: "learns the size of the subset beside its features, from neighbours on a ring",
        evaluations: Some(6000),
        objective: Objective::Error,
    };

    fn start(params: Lpso2dParams, space: &Space) -> Self {
        Self { params, space: space.clone(), learners: Learners::default() }
    }
}

impl Optimizer for Lpso2d {
    fn ask(&mut self, turn: &Turn<'_>) -> Vec<Subset> {
        let Lpso2dParams { population, inertia, cognitive, social, refresh_gap } = self.params;
        if turn.number == 0 {
            return self.learners.start(population, &self.space, turn);
        }
        let Learners { swarm, bests } = &mut self.learners;
        swarm
            .iter_mut()
            .enumerate()
            .map(|(particle, learner)| {
                let mut rng = turn.rng(particle);
                learner.refresh(refresh_gap, &mut rng);
                let (r1, r2) = (rng.unit(), rng.unit());
                let own = &bests.own[particle].0;
                let local = &bests.own[ring_best(&bests.own, particle)].0;
                let pulls = [(cognitive * r1, own), (social * r2, local)];
                learner.advance(inertia, &pulls, self.space.limit(), rng.unit())
            })
            .collect()
    }

    fn tell(&mut self, _: &Turn<'_>, told: &[Evaluation]) {
        self.learners.learn(told);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drive, least};

    #[test]
    fn it_finds_a_planted_subset_of_four() {
        let mut swarm = Lpso2d::start(Lpso2dParams::default(), &Space::new(20, 20));
        let planted = Subset::from_indices(20, [2, 3, 11, 17]);
        let history = drive(&mut swarm, 200, |x| x.distance(&planted) as f64 / 20.0);
        assert_eq!(least(&history), 0.0);
    }
}
