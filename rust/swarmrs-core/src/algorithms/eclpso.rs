//! Enhanced comprehensive learning PSO: as comprehensive learning PSO, but the better a particle is, the less it learns
//! from others.
//!
//! ```text
//! v <- w v + c r (p(e) - x), held within ±velocity_limit     c social, e the exemplar for this feature
//! x <- x + v, held within [0, 1]
//! a feature is in where x > θ                                θ threshold
//! Pc(i) = 0.05 + 0.45 (exp(10 (k - 1) / (P - 1)) - 1) / (exp(10) - 1)       k the rank of i's best, 1 being the best
//! e = i with chance 1 - Pc(i), else the better best of two other particles drawn at random
//! ```
//!
//! Ranks, and with them all chances, are taken anew whenever exemplars are drawn: at the start, and in a turn in which some
//! particle has moved `refresh_gap` times without a better own best. Only such particles draw new exemplars. Equal bests
//! rank in the order of particles. All else is as in `clpso`. The paper also evolves its exemplars; the comparison of the
//! variable-length swarms, whose settings these are, takes from it the ranks alone, and so does this file.
//!
//! X. Yu, Y. Liu, X. Feng, G. Chen, Enhanced comprehensive learning particle swarm optimization with exemplar evolution,
//! Simulated Evolution and Learning (2017)

use crate::base::subset::Subset;
use crate::evaluate::Protocol;
use crate::operators::exemplars::{learning_chance, places};
use crate::operators::learners::{Flight, Learners};
use crate::operators::parameters::{
    EXEMPLAR_GAP, EXEMPLAR_PULL, INERTIA, INERTIA_END, ITERATIONS, Inertia, POPULATION_BY_FEATURES,
    THRESHOLD, VELOCITY_LIMIT, population_by_features,
};
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Card, Evaluation, Family, Optimizer, Space, Turn, params,
};

params! {
    /// Settings of [`Eclpso`].
    pub struct EclpsoParams {
        population: Option<usize> = None, POPULATION_BY_FEATURES;
        iterations: u64 = 100, ITERATIONS;
        inertia: f64 = 0.9, INERTIA;
        inertia_end: f64 = 0.4, INERTIA_END;
        social: f64 = 1.494_45, EXEMPLAR_PULL;
        velocity_limit: f64 = 0.6, VELOCITY_LIMIT;
        threshold: f64 = 0.6, THRESHOLD;
        refresh_gap: usize = 7, EXEMPLAR_GAP;
    }
}

/// A swarm whose particles learn from many, the worse ones more.
#[derive(Debug)]
pub struct Eclpso {
    inertia: Inertia,
    refresh_gap: usize,
    swarm: Learners,
}

impl Algorithm for Eclpso {
    type Params = EclpsoParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Enhanced comprehensive learning PSO",
        family: Family::Swarm,
        year: 2017,
        paper: "X. Yu, Y. Liu, X. Feng, G. Chen, Enhanced comprehensive learning particle swarm optimization with exemplar evolution, Simulated Evolution and Learning",
        doi: "",
        aliases: &[],
        summary: "comprehensive learning in which the better particles learn less from others",
        evaluations: None,
        objective: Objective::Hybrid { gamma: 0.8 },
    };
    const PROTOCOL: Protocol = Protocol::NEAREST;

    fn start(params: EclpsoParams, space: &Space) -> Self {
        let EclpsoParams { iterations, social, velocity_limit, threshold, .. } = params;
        let n = space.n_features();
        let population = population_by_features(params.population, n);
        let flight = Flight { social, velocity_limit, threshold };
        Self {
            inertia: Inertia { start: params.inertia, end: params.inertia_end, iterations },
            refresh_gap: params.refresh_gap,
            swarm: Learners::new(flight, (0..n).collect(), &vec![n; population], space),
        }
    }
}

impl Optimizer for Eclpso {
    fn ask(&mut self, turn: &Turn<'_>) -> Vec<Subset> {
        match turn.number {
            0 => self.swarm.start(turn, |_| false),
            number if number > self.inertia.iterations => Vec::new(),
            number => self.swarm.advance(turn, self.inertia.at(number)),
        }
    }

    fn tell(&mut self, turn: &Turn<'_>, told: &[Evaluation]) {
        self.swarm.learn(told);
        let patience = if turn.number == 0 { 0 } else { self.refresh_gap };
        let ranks = places(&self.swarm.standings());
        let chances: Vec<f64> =
            ranks.iter().map(|&rank| learning_chance(rank, ranks.len())).collect();
        self.swarm.assign(turn, &chances, true, |particle| particle.stall >= patience);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drive, mean_ones, onemax};

    #[test]
    fn worse_particles_learn_more_from_others() {
        let mut swarm = Eclpso::start(EclpsoParams::default(), &Space::new(1000, 1000));
        drive(&mut swarm, 1, onemax);
        let ranks = places(&swarm.swarm.standings());
        let taught = |rank: usize| {
            let at = ranks.iter().position(|&other| other == rank).unwrap();
            swarm.swarm.particles[at].lessons.len() as f64 / 1000.0
        };
        // 1000 draws with chances 0.05 and 0.5: four standard errors are 0.028 and 0.063.
        assert!((taught(0) - 0.05).abs() < 0.028 && (taught(99) - 0.5).abs() < 0.063);
    }

    #[test]
    fn it_ends_after_its_iterations_and_beats_random_search() {
        let (own, chance) = (mean_ones("eclpso", 200), mean_ones("random", 202));
        // 101 turns of 100, and 202 of 50; the mean of ten bests of so many fair draws has a standard error near 0.4.
        assert!(own - chance > 1.2, "{own} {chance}");
        let start = Space::new(50, 50);
        let mut swarm = Eclpso::start(EclpsoParams::default(), &start);
        assert_eq!(drive(&mut swarm, 200, onemax).len(), 101);
    }
}
