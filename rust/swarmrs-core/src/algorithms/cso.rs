//! Competitive swarm optimizer for feature selection: particles compete in pairs, and the loser learns from the winner.
//!
//! In every iteration the swarm is paired at random. The winner of a pair, the particle with the lower cost, does not move;
//! the loser at x with velocity v moves, feature by feature:
//!
//! ```text
//! v <- r1 v + r2 (xw - x) + φ r3 (xm - x)     xw the winner, xm the mean of all before any moves, φ mean_pull
//! x <- x + v, clamped to [0, 1]
//! a feature is selected if x > λ              λ threshold
//! ```
//!
//! Only losers are evaluated, so an iteration after the first takes half of the population in evaluations; in an odd
//! population one random particle does not compete. There are no personal bests. r1, r2, r3 are drawn for every feature in
//! this order from the loser's slot; pairs come from slot `population`. Ties go to the smaller subset, then to the lower
//! index. The paper's archive of known subsets is the evaluation cache of the engine. The paper does not specify the
//! initialization: here positions are uniform and velocities 0. The paper minimizes the error of leave-one-out k-NN; the
//! default here is the objective of the comparison in the paper on variable-length PSO, with its population and iterations.
//!
//! S. Gu, R. Cheng, Y. Jin, Feature selection for high-dimensional classification using a competitive swarm optimizer,
//! Soft Computing 22 (2018), doi:10.1007/s00500-016-2385-6

use crate::base::subset::Subset;
use crate::evaluate::Protocol;
use crate::operators::ordering::{CostAndSize, cost_and_size};
use crate::operators::parameters::{
    ITERATIONS, POPULATION_BY_FEATURES, THRESHOLD, population_by_features,
};
use crate::operators::threshold::select;
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, Iteration, Optimizer, Space, params,
};
use crate::simd::words::{self, Draws};

params! {
    /// Settings of [`Cso`].
    pub struct CsoParams {
        population: Option<usize> = None, POPULATION_BY_FEATURES;
        iterations: u64 = 100, ITERATIONS;
        mean_pull: f64 = 0.1, Allowed::AtLeast(0.0), "phi, the weight of the mean position of the swarm";
        threshold: f64 = 0.5, THRESHOLD;
    }
}

/// A particle: its position, velocity, and the cost and size of its position.
#[derive(Debug, Clone)]
struct Particle {
    x: Vec<f64>,
    v: Vec<f64>,
    cost_and_size: Option<CostAndSize>,
}

/// A competitive swarm.
#[derive(Debug)]
pub struct Cso {
    params: CsoParams,
    space: Space,
    particles: Vec<Particle>,
    /// The particles that move in this iteration.
    losers: Vec<usize>,
}

/// The new velocity of one dimension of a loser at `x`.
#[inline]
fn velocity(v: f64, x: f64, winner: f64, mean: f64, pull: f64, [r1, r2, r3]: [f64; 3]) -> f64 {
    r1 * v + r2 * (winner - x) + pull * r3 * (mean - x)
}

impl Cso {
    /// The winner and the loser of each pair of consecutive particles in a shuffled order.
    fn pairs(&self, order: &[usize]) -> Vec<(usize, usize)> {
        let key = |particle: usize| (self.particles[particle].cost_and_size, particle);
        order
            .chunks_exact(2)
            .map(|pair| {
                let (a, b) = (pair[0], pair[1]);
                if key(a) < key(b) { (a, b) } else { (b, a) }
            })
            .collect()
    }

    /// The mean position, summed in the order of particles.
    fn mean(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.space.n_features()];
        for particle in &self.particles {
            for (sum, x) in mean.iter_mut().zip(&particle.x) {
                *sum += x;
            }
        }
        mean.into_iter().map(|sum| sum / self.particles.len() as f64).collect()
    }
}

impl Algorithm for Cso {
    type Params = CsoParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Competitive swarm optimizer",
        family: Family::Swarm,
        year: 2018,
        paper: "S. Gu, R. Cheng, Y. Jin, Feature selection for high-dimensional classification using a competitive swarm optimizer, Soft Computing 22",
        doi: "10.1007/s00500-016-2385-6",
        aliases: &[],
        summary: "particles compete in pairs and only the losers move, toward their winners",
        evaluations: None,
        objective: Objective::Hybrid { gamma: 0.8 },
    };
    const PROTOCOL: Protocol = Protocol::NEAREST;

    fn start(params: CsoParams, space: &Space) -> Self {
        let n = space.n_features();
        let particle = Particle { x: Vec::new(), v: vec![0.0; n], cost_and_size: None };
        let particles = vec![particle; population_by_features(params.population, n)];
        Self { params, space: space.clone(), particles, losers: Vec::new() }
    }
}

impl Optimizer for Cso {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        let n = self.space.n_features();
        let CsoParams { mean_pull, threshold, .. } = self.params;
        if iteration.number == 0 {
            self.losers = (0..self.particles.len()).collect();
            let particles = self.particles.iter_mut().enumerate().collect();
            return iteration.map(particles, |(index, particle): (usize, &mut Particle)| {
                let mut rng = iteration.rng(index);
                particle.x = words::some_units(n, &mut rng);
                select(&mut particle.x, threshold, &self.space, &mut rng)
            });
        }
        if iteration.number > self.params.iterations {
            return Vec::new();
        }
        let mut order: Vec<usize> = (0..self.particles.len()).collect();
        iteration.rng(order.len()).shuffle(&mut order);
        let (pairs, mean) = (self.pairs(&order), self.mean());
        self.losers = pairs.iter().map(|(_, loser)| *loser).collect();
        // Winners and losers are disjoint, so losers can be moved out of the swarm while winners are read.
        let losers: Vec<(usize, Vec<f64>, Vec<f64>)> = pairs
            .iter()
            .map(|&(winner, loser)| {
                let Particle { x, v, .. } = &mut self.particles[loser];
                (winner, std::mem::take(x), std::mem::take(v))
            })
            .collect();
        let losers = self.losers.iter().zip(losers).collect();
        let moved = iteration.map(losers, |(&loser, (winner, mut x, mut v))| {
            let mut rng = iteration.rng(loser);
            let winner = &self.particles[winner].x;
            let mut draws = Draws::new();
            for word in words::of(n) {
                let [r1, r2, r3] = draws.of(word, &mut rng);
                let others = [&winner[word.range()], &mean[word.range()], r1, r2, r3];
                let (x, v) = (&mut x[word.range()], &mut v[word.range()]);
                words::advance(rng.isa(), x, v, others, |x, v, [xw, xm, r1, r2, r3]| {
                    let v = velocity(v, x, xw, xm, mean_pull, [r1, r2, r3]);
                    ((x + v).clamp(0.0, 1.0), v)
                });
            }
            let subset = select(&mut x, threshold, &self.space, &mut rng);
            (x, v, subset)
        });
        let mut subsets = Vec::with_capacity(moved.len());
        for (&loser, (x, v, subset)) in self.losers.iter().zip(moved) {
            (self.particles[loser].x, self.particles[loser].v) = (x, v);
            subsets.push(subset);
        }
        subsets
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        for (&loser, tried) in self.losers.iter().zip(evaluations) {
            self.particles[loser].cost_and_size = Some(cost_and_size(tried));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::objective::Cost;
    use crate::testing::{drive, least, onemax};

    #[test]
    fn the_velocity_of_a_loser_has_the_worked_value() {
        let v = velocity(0.2, 0.3, 0.8, 0.5, 0.1, [0.5, 0.4, 0.6]);
        // Decimal fractions are not exact in binary.
        assert!((v - 0.312).abs() < 1e-15 && (0.3 + v - 0.612).abs() < 1e-15);
    }

    fn with_costs(costs: &[f64]) -> Cso {
        let params = CsoParams { population: Some(costs.len()), ..CsoParams::default() };
        let mut swarm = Cso::start(params, &Space::new(4, 4));
        for (particle, &cost) in swarm.particles.iter_mut().zip(costs) {
            particle.cost_and_size = Some((Cost::new(cost), 2));
        }
        swarm
    }

    #[test]
    fn consecutive_particles_are_paired_and_an_odd_one_is_left_out() {
        let swarm = with_costs(&[0.3, 0.1, 0.2, 0.2, 0.9]);
        assert_eq!(swarm.pairs(&[0, 1, 3, 2, 4]), [(1, 0), (2, 3)]);
        assert_eq!(swarm.pairs(&[4, 3, 2, 0, 1]), [(3, 4), (2, 0)]);
    }

    #[test]
    fn winners_stay_and_half_of_the_swarm_is_evaluated() {
        let mut swarm = Cso::start(CsoParams::default(), &Space::new(60, 60));
        assert_eq!(drive(&mut swarm, 1, onemax)[0].len(), 100);
        let before = swarm.particles.clone();
        // The same run, one iteration longer.
        let mut swarm = Cso::start(CsoParams::default(), &Space::new(60, 60));
        let history = drive(&mut swarm, 2, onemax);
        assert_eq!(history[1].len(), 50);
        for (index, (after, before)) in swarm.particles.iter().zip(&before).enumerate() {
            assert_eq!(after.x != before.x, swarm.losers.contains(&index), "{index}");
        }
        assert_eq!(swarm.losers.len(), 50);
    }

    #[test]
    fn it_ends_after_its_iterations_and_solves_onemax_of_fifty() {
        let mut swarm = Cso::start(CsoParams::default(), &Space::new(50, 50));
        let history = drive(&mut swarm, 200, onemax);
        assert_eq!(history.iter().map(Vec::len).sum::<usize>(), 100 + 50 * 100);
        assert_eq!(least(&history), 0.0);
    }
}
