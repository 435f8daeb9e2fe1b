//! 2D-learning unified swarm: particles learn size and features from the global and the local best.
//!
//! A velocity v has a row for the likelihood of each cardinality and a row for the likelihood of each feature. For each
//! particle at x with personal best p, global best g and local best l:
//!
//! ```text
//! vg = w v + c1 r1 L(p) + c2 r2 L(g) + Δ Lself     w inertia, c1 cognitive, c2 social
//! vl = w v + c1 r3 L(p) + c2 r4 L(l) + Δ Lself
//! v <- u vg + (1 - u) vl                           u from unification_start to unification_end
//! x <- the ξ most likely features                  ξ drawn by roulette wheel from the likelihoods of cardinalities
//! ```
//!
//! The learning sets L, the self-influence Δ and the roulette wheel are those of
//! [`learning2d`](crate::swarms::learning2d). The code adds the terms of vg and vl with their weights, which gives the same
//! v. u changes linearly from the first move to the last one that fits the budget; if the budget does not limit their
//! number, with the fraction of the budget that is spent. The neighborhood is the particle and its two neighbors on a ring.
//! r1 to r4 are scalars, drawn per particle and move in this order, followed by the draw of the roulette wheel; r3, r4 are
//! separate draws as in UPSO, while the paper's formulas repeat r1, r2. If the personal best has not improved for
//! `refresh_gap` moves, the velocity is redrawn before the update; the counter of these moves is reset on improvement, as in
//! the paper's text but not in its pseudo-code. The inertia is the constant of the paper's table, because its formula is
//! misprinted; ξ may be all features.
//!
//! F. Hafiz, A. Swain, N. Patel, C. Naik, A two-dimensional (2-D) learning framework for particle
//! swarm based feature selection, Pattern Recognition 76 (2018), doi:10.1016/j.patcog.2017.11.027

use crate::base::subset::Subset;
use crate::operators::parameters::{COGNITIVE, INERTIA, POPULATION, REFRESH_GAP};
use crate::operators::topology::ring_best;
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, Iteration, Optimizer, Space, params,
};
use crate::swarms::learning2d::{Likelihoods, Particle2d, Swarm2d};

params! {
    /// Settings of [`Upso2d`].
    pub struct Upso2dParams {
        population: usize = 30, POPULATION;
        inertia: f64 = 0.729, INERTIA;
        cognitive: f64 = 1.49, COGNITIVE;
        social: f64 = 1.49, Allowed::AtLeast(0.0),
            "social coefficient c2, the weight of the global and the local best";
        unification_start: f64 = 0.2, Allowed::Within(0.0, 1.0),
            "unification factor u of the first move, the share of the global best";
        unification_end: f64 = 0.4, Allowed::Within(0.0, 1.0), "unification factor u of the last move";
        refresh_gap: usize = 3, REFRESH_GAP;
    }
}

/// A 2D-learning swarm with global and local bests.
#[derive(Debug)]
pub struct Upso2d {
    params: Upso2dParams,
    space: Space,
    swarm: Swarm2d,
}

impl Upso2dParams {
    /// u in this iteration.
    fn unification(&self, iteration: &Iteration<'_>) -> f64 {
        let last = iteration.iterations.map(|iterations| iterations.saturating_sub(1));
        let progress = match last {
            Some(last) if last <= 1 => 0.0,
            Some(last) => iteration.number.saturating_sub(1) as f64 / (last - 1) as f64,
            None => iteration.fraction,
        };
        let (start, end) = (self.unification_start, self.unification_end);
        start + (end - start) * progress.min(1.0)
    }

    /// v <- u vg + (1 - u) vl, for a particle at `x` with self-influence Δ and its personal, global and local bests.
    fn learn(
        &self,
        (v, x, influence): (&mut Likelihoods, &Subset, f64),
        [p, g, l]: [&Subset; 3],
        u: f64,
        [r1, r2, r3, r4]: [f64; 4],
    ) {
        let (w, c1, c2) = (self.inertia, self.cognitive, self.social);
        v.scale(w);
        v.learn(c1 * (u * r1 + (1.0 - u) * r3), p, x);
        v.learn(c2 * u * r2, g, x);
        v.learn(c2 * (1.0 - u) * r4, l, x);
        v.reinforce(influence, x);
    }
}

impl Algorithm for Upso2d {
    type Params = Upso2dParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "2D-learning unified PSO",
        family: Family::Swarm,
        year: 2018,
        paper: "F. Hafiz, A. Swain, N. Patel, C. Naik, A two-dimensional (2-D) learning framework for particle swarm based feature selection, Pattern Recognition 76",
        doi: "10.1016/j.patcog.2017.11.027",
        aliases: &["2d-upso"],
        summary: "learns the subset size beside the features, from the global best and neighbors on a ring",
        evaluations: Some(6000),
        objective: Objective::Error,
    };

    fn start(params: Upso2dParams, space: &Space) -> Self {
        Self { params, space: space.clone(), swarm: Swarm2d::default() }
    }
}

impl Optimizer for Upso2d {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        let params = &self.params;
        if iteration.number == 0 {
            return self.swarm.start(params.population, &self.space, iteration);
        }
        let u = params.unification(iteration);
        let Swarm2d { particles, bests } = &mut self.swarm;
        let (space, particles) = (&self.space, particles.iter_mut().enumerate().collect());
        iteration.map(particles, |(particle, learner): (usize, &mut Particle2d)| {
            let mut rng = iteration.rng(particle);
            learner.refresh(params.refresh_gap, &mut rng);
            let draws = std::array::from_fn(|_| rng.unit());
            let own = &bests.own;
            let exemplars = [&own[particle].0, bests.global(), &own[ring_best(own, particle)].0];
            let (v, x) = (&mut learner.velocity, &mut learner.x);
            params.learn((v, x, learner.influence), exemplars, u, draws);
            *x = v.choose(space.limit(), rng.unit());
            x.clone()
        })
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        self.swarm.update(evaluations);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::parallel::Pool;
    use crate::base::random::{Phase, Streams};
    use crate::testing::{bits, drive, least};

    /// The velocity of the worked example after a move with unification `u`.
    fn moved(u: f64) -> Likelihoods {
        let mut v = Likelihoods {
            sizes: vec![0.2, 0.4, 0.6, 0.8, 1.0],
            features: vec![0.1, 0.3, 0.5, 0.7, 0.9],
        };
        let (p, g, l) = (bits("01001"), bits("11010"), bits("00110"));
        let at = (&mut v, &bits("10101"), 0.2);
        Upso2dParams::default().learn(at, [&p, &g, &l], u, [0.5, 0.8, 0.3, 0.6]);
        v
    }

    fn assert_near(found: &Likelihoods, sizes: [f64; 5], features: [f64; 5]) {
        let pairs = found.sizes.iter().zip(sizes).chain(found.features.iter().zip(features));
        // Four decimals are worked out.
        assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 5e-5), "{found:?}");
    }

    #[test]
    fn a_move_has_the_worked_values() {
        assert_near(
            &moved(1.0),
            [0.1458, 1.0366, 1.8294, 0.5832, 0.7290],
            [0.2729, 2.1557, 0.5645, 1.7023, 0.8561],
        );
        assert_near(
            &moved(0.0),
            [0.1458, 1.6326, 0.6374, 0.5832, 0.7290],
            [0.2729, 0.6657, 0.5645, 1.4043, 0.8561],
        );
        let v = moved(0.2);
        assert_near(
            &v,
            [0.1458, 1.5134, 0.8758, 0.5832, 0.7290],
            [0.2729, 0.9637, 0.5645, 1.4639, 0.8561],
        );
        // The cumulative sums of the roulette wheel; a pointer in the middle of each interval.
        let ends = [0.0, 0.1458, 1.6592, 2.5350, 3.1182, 3.8472];
        let sizes: Vec<usize> = ends
            .windows(2)
            .map(|slot| v.choose(5, f64::midpoint(slot[0], slot[1]) / 3.8472).count())
            .collect();
        assert_eq!(sizes, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn unification_changes_linearly_from_the_first_move_to_the_last() {
        let params = Upso2dParams::default();
        let (streams, pool) = (Streams::new(1), Pool::new(1));
        let u = |number, iterations, fraction| {
            let phase = Phase::Ask;
            params.unification(&Iteration {
                number,
                fraction,
                iterations,
                max_evaluations: None,
                best: None,
                streams: &streams,
                phase,
                pool: &pool,
            })
        };
        // Decimal fractions are not exact in binary.
        for (number, expected) in [(1, 0.2), (100, 0.3), (199, 0.4)] {
            assert!((u(number, Some(200), 0.5) - expected).abs() < 1e-15);
        }
        assert_eq!(u(1, Some(2), 0.5), 0.2);
        assert!((u(7, None, 0.5) - 0.3).abs() < 1e-15);
    }

    #[test]
    fn it_finds_a_planted_subset_of_four() {
        let mut swarm = Upso2d::start(Upso2dParams::default(), &Space::new(20, 20));
        let planted = Subset::from_indices(20, [2, 3, 11, 17]);
        let history = drive(&mut swarm, 200, |x| x.distance(&planted) as f64 / 20.0);
        assert_eq!(least(&history), 0.0);
    }
}
