//! 2D-learning comprehensive swarm: a particle learns size and features from an exemplar composed of many personal bests.
//!
//! A velocity v has a row for the likelihood of each cardinality and a row for the likelihood of each feature. For particle
//! i at x with exemplar e:
//!
//! ```text
//! v    <- w v + c r L(e) + Δ Lself                w inertia, c social
//! x    <- the ξ most likely features              ξ drawn by roulette wheel from the likelihoods of cardinalities
//! e(d)  = the bit d of the personal best of donor a(d)
//! a(d)  = with probability Pc the better of two random other particles, else i itself
//! Pc    = 0.05 + 0.45 (exp(10 (i - 1) / (ps - 1)) - 1) / (exp(10) - 1)     i = 1 .. ps
//! ```
//!
//! The learning sets L, the self-influence Δ and the roulette wheel are those of
//! [`learning2d`](crate::swarms::learning2d). Donors are drawn before the first move and again when the personal best has
//! not improved for `exemplar_gap` moves, as in CLPSO; if no other particle is a donor, one random particle becomes the
//! donor of one random feature. Donors' personal bests are those at the time of the move. Draws of a particle: donors if due
//! (feature by feature Pc, then two indices), velocity if due for `refresh_gap`, r, the roulette wheel. r is a scalar as in
//! the other 2D swarms, while CLPSO draws one per dimension. The paper gives no settings; they are those of 2D-UPSO, and the
//! gap of CLPSO.
//!
//! F. Hafiz, A. Swain, N. Patel, C. Naik, A two-dimensional (2-D) learning framework for particle
//! swarm based feature selection, Pattern Recognition 76 (2018), doi:10.1016/j.patcog.2017.11.027;
//! exemplars: J. J. Liang, A. K. Qin, P. N. Suganthan, S. Baskar, IEEE Trans. Evolutionary
//! Computation 10 (2006), doi:10.1109/TEVC.2005.857610

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::operators::parameters::{EXEMPLAR_PULL, INERTIA, REFRESH_GAP};
use crate::operators::topology::learning_probability;
use crate::problem::objective::{Cost, Objective};
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, Iteration, MOST_MEMBERS, MOST_STEPS, Optimizer,
    Space, params,
};
use crate::swarms::learning2d::{Particle2d, Swarm2d};

params! {
    /// Settings of [`Clpso2d`].
    pub struct Clpso2dParams {
        population: usize = 30, Allowed::Whole(3, MOST_MEMBERS), "number of particles";
        inertia: f64 = 0.729, INERTIA;
        social: f64 = 1.49, EXEMPLAR_PULL;
        refresh_gap: usize = 3, REFRESH_GAP;
        exemplar_gap: usize = 7, Allowed::Whole(1, MOST_STEPS),
            "refresh gap m, iterations without a better personal best before donors are redrawn";
    }
}

/// A 2D-learning swarm with comprehensive learning.
#[derive(Debug)]
pub struct Clpso2d {
    params: Clpso2dParams,
    space: Space,
    swarm: Swarm2d,
    exemplars: Vec<Exemplar>,
}

/// The donor of each feature, and the number of moves since the personal best last improved.
#[derive(Debug, Clone, Default)]
struct Exemplar {
    donors: Vec<usize>,
    stall: usize,
}

/// Draws a donor for each feature.
fn draw_donors(particle: usize, n: usize, own: &[(Subset, Cost)], rng: &mut Rng) -> Vec<usize> {
    let population = own.len();
    // Maps an index drawn from all but one particle to a particle other than `excluded`.
    let other = |drawn: usize, excluded: usize| drawn + usize::from(drawn >= excluded);
    let rate = learning_probability(particle, population);
    let mut donors: Vec<usize> = (0..n)
        .map(|_| {
            if !rng.bernoulli(rate) {
                return particle;
            }
            let first = rng.below(population - 1);
            let second = other(rng.below(population - 2), first);
            let (first, second) = (other(first, particle), other(second, particle));
            if own[second].1 < own[first].1 { second } else { first }
        })
        .collect();
    if donors.iter().all(|&donor| donor == particle) {
        let feature = rng.below(n);
        donors[feature] = other(rng.below(population - 1), particle);
    }
    donors
}

impl Algorithm for Clpso2d {
    type Params = Clpso2dParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "2D-learning comprehensive PSO",
        family: Family::Swarm,
        year: 2018,
        paper: "F. Hafiz, A. Swain, N. Patel, C. Naik, A two-dimensional (2-D) learning framework for particle swarm based feature selection, Pattern Recognition 76",
        doi: "10.1016/j.patcog.2017.11.027",
        aliases: &["2d-clpso"],
        summary: "learns the subset size beside the features, from an exemplar put together of many personal bests",
        evaluations: Some(6000),
        objective: Objective::Error,
    };

    fn start(params: Clpso2dParams, space: &Space) -> Self {
        let exemplars = vec![Exemplar::default(); params.population];
        Self { params, space: space.clone(), swarm: Swarm2d::default(), exemplars }
    }
}

impl Optimizer for Clpso2d {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        let Clpso2dParams { population, inertia, social, refresh_gap, exemplar_gap } = self.params;
        if iteration.number == 0 {
            return self.swarm.start(population, &self.space, iteration);
        }
        let (n, limit) = (self.space.n_features(), self.space.limit());
        let Swarm2d { particles, bests } = &mut self.swarm;
        let particles = particles.iter_mut().zip(&mut self.exemplars).enumerate().collect();
        iteration.map(
            particles,
            |(particle, (learner, lesson)): (usize, (&mut Particle2d, &mut Exemplar))| {
                let mut rng = iteration.rng(particle);
                if lesson.donors.is_empty() || lesson.stall >= exemplar_gap {
                    let donors = draw_donors(particle, n, &bests.own, &mut rng);
                    *lesson = Exemplar { donors, stall: 0 };
                }
                learner.refresh(refresh_gap, &mut rng);
                let exemplar = Subset::from_fn(n, |d| bests.own[lesson.donors[d]].0.contains(d));
                let (v, x) = (&mut learner.velocity, &mut learner.x);
                v.scale(inertia);
                v.learn(social * rng.unit(), &exemplar, x);
                v.reinforce(learner.influence, x);
                *x = v.choose(limit, rng.unit());
                x.clone()
            },
        )
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        let improved = self.swarm.update(evaluations);
        for (lesson, is_better) in self.exemplars.iter_mut().zip(improved) {
            lesson.stall = if is_better { 0 } else { lesson.stall + 1 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{Phase, Streams};
    use crate::testing::{drive, least};

    #[test]
    fn learning_rates_have_the_worked_values() {
        for (i, expected) in
            [(1, 0.05), (2, 0.050_008), (15, 0.052_532), (29, 0.368_748), (30, 0.5)]
        {
            // Six decimals are printed.
            assert!((learning_probability(i - 1, 30) - expected).abs() < 5e-7, "Pc of {i}");
        }
    }

    #[test]
    fn at_least_one_donor_is_another_particle() {
        let own: Vec<(Subset, Cost)> =
            (0..5).map(|i| (Subset::empty(9), Cost::new(f64::from(i)))).collect();
        let mut worst = 0;
        for seed in 0..200 {
            let mut rng = Streams::new(seed).rng(1, Phase::Ask, 0);
            let donors = draw_donors(4, 9, &own, &mut rng);
            assert_eq!(donors.len(), 9);
            assert!(donors.iter().any(|&donor| donor != 4));
            // The worst of the four others loses against any other.
            worst += donors.iter().filter(|&&donor| donor == 3).count();
            let mut rng = Streams::new(seed).rng(1, Phase::Ask, 1);
            assert!(draw_donors(0, 9, &own, &mut rng).iter().any(|&donor| donor != 0));
        }
        // It is a donor only if the draws gave no other donor: 200 times 1 in 512, times 1 in 4.
        assert!(worst <= 2, "{worst}");
    }

    #[test]
    fn it_finds_a_planted_subset_of_four() {
        let mut swarm = Clpso2d::start(Clpso2dParams::default(), &Space::new(20, 20));
        let planted = Subset::from_indices(20, [2, 3, 11, 17]);
        let history = drive(&mut swarm, 200, |x| x.distance(&planted) as f64 / 20.0);
        assert!(least(&history) <= 0.1, "{}", least(&history));
    }
}
