//! Particle swarm optimization for feature selection: positions in the unit cube, linearly decreasing inertia, bounded
//! velocities.
//!
//! For each particle at x with velocity v, personal best p and global best g, feature by feature:
//!
//! ```text
//! v <- w v + c1 r1 (p - x) + c2 r2 (g - x), clamped to ±velocity_limit    c1 cognitive, c2 social
//! x <- x + v, clamped to [0, 1]                                          v is not changed by clamping
//! a feature is selected if x > θ                                          θ threshold
//! w = inertia - (inertia - inertia_end) (t - 1) / T at move t             T iterations
//! ```
//!
//! This is the fixed-length baseline of the paper on variable-length PSO, with its settings: a population of n / 20, 100
//! iterations, a global best. r1, r2 are drawn for every feature, in this order; the initialization draws all of x, then all
//! of v. Of equal costs the smaller subset is the better best. Where the papers are silent: velocities are limited to ±0.6
//! and initially uniform, as in the authors' program. The coordinate of a feature removed for the size limit is set to θ.
//!
//! J. Kennedy, R. Eberhart, Particle swarm optimization, Int. Conf. on Neural Networks (1995),
//! doi:10.1109/ICNN.1995.488968; the inertia is that of Y. Shi, R. Eberhart, A modified particle swarm optimizer, Int.
//! Conf. on Evolutionary Computation (1998), doi:10.1109/ICEC.1998.699146

use crate::base::subset::Subset;
use crate::evaluate::Protocol;
use crate::operators::ordering::Ties;
use crate::operators::parameters::{
    COGNITIVE, INERTIA, INERTIA_END, ITERATIONS, POPULATION_BY_FEATURES, SOCIAL, THRESHOLD,
    VELOCITY_LIMIT, linear_schedule, population_by_features,
};
use crate::operators::velocity::{self, Coefficients};
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Card, Evaluation, Family, Iteration, Optimizer, Space, params,
};
use crate::simd::words;
use crate::swarms::real::RealSwarm;

params! {
    /// Settings of [`Pso`].
    pub struct PsoParams {
        population: Option<usize> = None, POPULATION_BY_FEATURES;
        iterations: u64 = 100, ITERATIONS;
        inertia: f64 = 0.9, INERTIA;
        inertia_end: f64 = 0.4, INERTIA_END;
        cognitive: f64 = 1.494_45, COGNITIVE;
        social: f64 = 1.494_45, SOCIAL;
        velocity_limit: f64 = 0.6, VELOCITY_LIMIT;
        threshold: f64 = 0.6, THRESHOLD;
    }
}

/// A continuous swarm with decreasing inertia.
#[derive(Debug)]
pub struct Pso {
    n_features: usize,
    params: PsoParams,
    swarm: RealSwarm,
}

impl Algorithm for Pso {
    type Params = PsoParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Continuous PSO with falling inertia",
        family: Family::Swarm,
        year: 1995,
        paper: "J. Kennedy, R. Eberhart, Particle swarm optimization, Int. Conf. on Neural Networks",
        doi: "10.1109/ICNN.1995.488968",
        aliases: &[],
        summary: "continuous PSO with linearly falling inertia, set up for many features",
        evaluations: None,
        objective: Objective::Hybrid { gamma: 0.8 },
    };
    const PROTOCOL: Protocol = Protocol::NEAREST;

    fn start(params: PsoParams, space: &Space) -> Self {
        let n = space.n_features();
        let population = population_by_features(params.population, n);
        let swarm = RealSwarm::new(population, params.threshold, Ties::Shrink, space);
        Self { n_features: n, params, swarm }
    }
}

impl Optimizer for Pso {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        let PsoParams { iterations, inertia, inertia_end, .. } = self.params;
        let PsoParams { cognitive, social, velocity_limit: limit, .. } = self.params;
        if iteration.number == 0 {
            let n = self.n_features;
            return self.swarm.start(iteration, |_, v, rng| {
                let x = words::some_units(n, rng);
                velocity::draw(v, limit, rng);
                x
            });
        }
        if iteration.number > iterations {
            return Vec::new();
        }
        let w = linear_schedule(inertia, inertia_end, iteration.number, iterations);
        let coefficients = Coefficients { inertia: w, cognitive, social };
        self.swarm.advance(iteration, |particle, rng| {
            particle.step(
                |v, x, p, g, r1, r2| coefficients.velocity(v, x, p, g, r1, r2).clamp(-limit, limit),
                rng,
            );
        })
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        self.swarm.update(evaluations);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drive, least, onemax};

    #[test]
    fn a_move_has_the_worked_values() {
        let PsoParams { cognitive, social, .. } = PsoParams::default();
        let v = Coefficients { inertia: 0.9, cognitive, social }
            .velocity(0.1, 0.55, 0.7, 0.4, 0.5, 0.2);
        // The worked values are exact; sums of products are rounded.
        assert!((v - 0.157_250_25).abs() < 1e-15, "{v}");
        assert!((0.55 + v - 0.707_250_25).abs() < 1e-15 && 0.55 + v > 0.6);
    }

    #[test]
    fn it_evaluates_the_population_101_times() {
        let mut swarm = Pso::start(PsoParams::default(), &Space::new(2308, 2308));
        let history = drive(&mut swarm, 200, onemax);
        assert_eq!(history.len(), 101);
        assert!(history.iter().all(|iteration| iteration.len() == 115));
        // Two features in five: 115 * 2308 draws with standard error 252.
        let first: usize = history[0].iter().map(|tried| tried.subset.count()).sum();
        assert!((first as f64 - 0.4 * 115.0 * 2308.0).abs() < 1008.0, "{first}");
    }

    #[test]
    fn it_approaches_a_planted_subset_of_four() {
        let mut swarm = Pso::start(PsoParams::default(), &Space::new(20, 20));
        let planted = Subset::from_indices(20, [2, 3, 11, 17]);
        let history = drive(&mut swarm, 101, |x| x.distance(&planted) as f64 / 20.0);
        assert!(least(&history) <= 0.05, "{}", least(&history));
    }
}
