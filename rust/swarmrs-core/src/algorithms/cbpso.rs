//! Catfish binary particle swarm: when the swarm stalls, its worst particles are reset to all or no features.
//!
//! Particles move as in binary PSO. If the global best has not improved for `refresh_gap` iterations, the
//! C = max(1, floor(`catfish_rate` · population)) particles with the worst current costs do not move; each becomes
//!
//! ```text
//! x <- 1 1 1 ... 1 if r > 0.5, else 0 0 0 ... 0;   v <- 0
//! ```
//!
//! Ties for the worst go to the higher index. The paper initializes catfish at extreme points; for bits these are all and
//! none. Their personal bests are kept, the stall counter is reset, and they are evaluated in the same iteration, without
//! extra evaluations. r is drawn from slot `population`, for the worst particle first.
//!
//! L.-Y. Chuang, S.-W. Tsai, C.-H. Yang, Improved binary particle swarm optimization using catfish
//! effect for feature selection, Expert Systems with Applications 38 (2011),
//! doi:10.1016/j.eswa.2011.04.057

use super::bpso;
use crate::base::subset::Subset;
use crate::operators::parameters::{COGNITIVE, INERTIA, POPULATION, SOCIAL, VELOCITY_LIMIT};
use crate::operators::velocity::Coefficients;
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, Iteration, MOST_STEPS, Optimizer, Space, params,
};
use crate::swarms::binary::BinarySwarm;
use std::cmp::Reverse;

params! {
    /// Settings of [`Cbpso`].
    pub struct CbpsoParams {
        population: usize = 30, POPULATION;
        inertia: f64 = 1.0, INERTIA;
        cognitive: f64 = 2.0, COGNITIVE;
        social: f64 = 2.0, SOCIAL;
        velocity_limit: f64 = 6.0, VELOCITY_LIMIT;
        catfish_rate: f64 = 0.1, Allowed::Above(0.0, 1.0),
            "fraction of the particles that become catfish; at least one does";
        refresh_gap: usize = 3, Allowed::Whole(1, MOST_STEPS),
            "iterations without a better global best before catfish are introduced";
    }
}

/// A binary swarm with catfish.
#[derive(Debug)]
pub struct Cbpso {
    coefficients: Coefficients,
    velocity_limit: f64,
    n_catfish: usize,
    refresh_gap: usize,
    swarm: BinarySwarm,
}

impl Cbpso {
    /// The particles to replace this iteration, the worst first.
    fn catfish(&mut self) -> Vec<usize> {
        if self.swarm.stall < self.refresh_gap {
            return Vec::new();
        }
        self.swarm.stall = 0;
        let mut order: Vec<usize> = (0..self.swarm.population()).collect();
        order.sort_unstable_by_key(|&particle| Reverse((self.swarm.costs[particle], particle)));
        order.truncate(self.n_catfish);
        order
    }
}

impl Algorithm for Cbpso {
    type Params = CbpsoParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Catfish binary PSO",
        family: Family::Swarm,
        year: 2011,
        paper: "L.-Y. Chuang, S.-W. Tsai, C.-H. Yang, Improved binary particle swarm optimization using catfish effect for feature selection, Expert Systems with Applications 38",
        doi: "10.1016/j.eswa.2011.04.057",
        aliases: &["catfishbpso"],
        summary: "BPSO that moves its worst particles to all or no features when the swarm stalls",
        evaluations: Some(6000),
        objective: Objective::Error,
    };

    fn start(params: CbpsoParams, space: &Space) -> Self {
        let CbpsoParams { population, inertia, cognitive, social, .. } = params;
        Self {
            coefficients: Coefficients { inertia, cognitive, social },
            n_catfish: ((params.catfish_rate * population as f64) as usize).max(1),
            refresh_gap: params.refresh_gap,
            velocity_limit: params.velocity_limit,
            swarm: BinarySwarm::new(population, space),
        }
    }
}

impl Optimizer for Cbpso {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        if iteration.number == 0 {
            return self.swarm.start(iteration, |space, _, rng| space.random(rng));
        }
        let mut corners: Vec<Option<Subset>> = vec![None; self.swarm.population()];
        let mut rng = iteration.rng(corners.len());
        for particle in self.catfish() {
            let n = self.swarm.space.n_features();
            let mut corner = if rng.unit() > 0.5 { Subset::full(n) } else { Subset::empty(n) };
            self.swarm.space.trim(&mut corner, &mut rng);
            corners[particle] = Some(corner);
        }
        let Self { coefficients, velocity_limit, .. } = *self;
        self.swarm.advance(iteration, |particle, rng| match &corners[particle.index] {
            Some(corner) => {
                particle.v.fill(0.0);
                corner.clone()
            }
            None => bpso::next_position(particle, coefficients, velocity_limit, rng),
        })
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        self.swarm.update(evaluations);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Measures;
    use crate::problem::objective::Cost;
    use crate::testing::{drive, least, onemax};

    fn is_corner(tried: &Evaluation) -> bool {
        tried.subset.is_empty() || tried.subset.count() == tried.subset.len()
    }

    #[test]
    fn the_worst_three_of_thirty_become_corners_after_three_iterations_without_progress() {
        let mut swarm = Cbpso::start(CbpsoParams::default(), &Space::new(40, 40));
        // All cost the same, so the swarm never improves and the last are the worst.
        let history = drive(&mut swarm, 8, |_| 0.3);
        for (number, iteration) in history.iter().enumerate() {
            let corners: Vec<usize> =
                (0..30).filter(|&particle| is_corner(&iteration[particle])).collect();
            // Iterations 1, 2 and 3 are without progress; iteration 4 has the first catfish.
            let expected: &[usize] = if [4, 7].contains(&number) { &[27, 28, 29] } else { &[] };
            assert_eq!(corners, expected, "iteration {number}");
        }
    }

    #[test]
    fn catfish_are_the_particles_with_the_worst_current_costs() {
        let mut swarm = Cbpso::start(CbpsoParams::default(), &Space::new(40, 40));
        drive(&mut swarm, 2, onemax);
        let mut costs = vec![0.2; 30];
        (costs[4], costs[17], costs[9]) = (0.9, 0.8, 0.9);
        let evaluations: Vec<Evaluation> = swarm
            .swarm
            .positions
            .iter()
            .zip(costs)
            .map(|(x, cost)| Evaluation {
                subset: x.clone(),
                measures: Measures::WORST,
                cost: Cost::new(cost),
            })
            .collect();
        swarm.swarm.update(&evaluations);
        swarm.swarm.stall = 3;
        assert_eq!(swarm.catfish(), [9, 4, 17]);
        assert_eq!(swarm.swarm.stall, 0);
        assert!(swarm.catfish().is_empty());
    }

    #[test]
    fn it_solves_onemax_of_fifty() {
        let mut swarm = Cbpso::start(CbpsoParams::default(), &Space::new(50, 50));
        assert_eq!(least(&drive(&mut swarm, 200, onemax)), 0.0);
    }
}
