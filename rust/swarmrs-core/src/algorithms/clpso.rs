//! Comprehensive learning PSO: every dimension of a particle learns from the own best of some particle.
//!
//! For each particle i at x with velocity v, feature by feature, p(j) being the own best of particle j:
//!
//! ```text
//! v <- w v + c r (p(e) - x), held within ±velocity_limit     c social, e the exemplar of i for this feature
//! x <- x + v, held within [0, 1]
//! a feature is in where x > θ                                θ threshold
//! Pc(i) = 0.05 + 0.45 (exp(10 (i - 1) / (P - 1)) - 1) / (exp(10) - 1)       i = 1..P
//! e = i with chance 1 - Pc(i), else the better best of two other particles drawn at random
//! ```
//!
//! A particle that would learn from itself alone learns one feature from another. After `refresh_gap` moves without a
//! better own best its exemplars are drawn anew. w falls from `inertia` to `inertia_end` over the iterations.
//!
//! The original evaluates a particle only while it is inside the bounds; here positions are held there. Exemplars are
//! drawn when costs are told, from slot P + i; of two equal bests the second drawn teaches. Settings are those of the
//! variable-length swarms this one is compared with.
//!
//! J. J. Liang, A. K. Qin, P. N. Suganthan, S. Baskar, Comprehensive learning particle swarm optimizer for global
//! optimization of multimodal functions, IEEE Trans. Evolutionary Computation 10 (2006), doi:10.1109/TEVC.2005.857610

use crate::base::subset::Subset;
use crate::evaluate::Protocol;
use crate::operators::exemplars::learning_chance;
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
    /// Settings of [`Clpso`].
    pub struct ClpsoParams {
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

/// A swarm whose particles learn from many.
#[derive(Debug)]
pub struct Clpso {
    inertia: Inertia,
    refresh_gap: usize,
    chances: Vec<f64>,
    swarm: Learners,
}

impl Algorithm for Clpso {
    type Params = ClpsoParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Comprehensive learning PSO",
        family: Family::Swarm,
        year: 2006,
        paper: "J. J. Liang, A. K. Qin, P. N. Suganthan, S. Baskar, Comprehensive learning particle swarm optimizer for global optimization of multimodal functions, IEEE Trans. Evolutionary Computation 10",
        doi: "10.1109/TEVC.2005.857610",
        aliases: &[],
        summary: "each feature of a particle learns from the own best of some particle, not from the swarm's",
        evaluations: None,
        objective: Objective::Hybrid { gamma: 0.8 },
    };
    const PROTOCOL: Protocol = Protocol::NEAREST;

    fn start(params: ClpsoParams, space: &Space) -> Self {
        let ClpsoParams { iterations, social, velocity_limit, threshold, .. } = params;
        let n = space.n_features();
        let population = population_by_features(params.population, n);
        let flight = Flight { social, velocity_limit, threshold };
        Self {
            inertia: Inertia { start: params.inertia, end: params.inertia_end, iterations },
            refresh_gap: params.refresh_gap,
            chances: (0..population).map(|at| learning_chance(at, population)).collect(),
            swarm: Learners::new(flight, (0..n).collect(), &vec![n; population], space),
        }
    }
}

impl Optimizer for Clpso {
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
        self.swarm.assign(turn, &self.chances, true, |particle| particle.stall >= patience);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drive, mean_ones, onemax};

    #[test]
    fn exemplars_are_drawn_anew_after_seven_moves_without_progress() {
        // The particles after each of the first twelve turns: the same run, ever longer.
        let after = |turns: u64| {
            let mut swarm = Clpso::start(ClpsoParams::default(), &Space::new(300, 300));
            drive(&mut swarm, turns, |_| 0.5);
            swarm.swarm.particles
        };
        let states: Vec<_> = (1..=12).map(after).collect();
        let mut renewed = 0;
        for (before, now) in states.iter().zip(&states[1..]).flat_map(|(a, b)| a.iter().zip(b)) {
            assert!(now.stall < 7 && !now.lessons.is_empty());
            // The seventh move without progress empties the count and brings others; no other move does.
            if before.lessons != now.lessons {
                assert!(before.stall == 6 && now.stall == 0);
                renewed += 1;
            }
        }
        assert!(renewed > 0);
    }

    #[test]
    fn later_particles_learn_more_from_others() {
        let mut swarm = Clpso::start(ClpsoParams::default(), &Space::new(1000, 1000));
        drive(&mut swarm, 1, onemax);
        let taught = |at: usize| swarm.swarm.particles[at].lessons.len() as f64 / 1000.0;
        // 1000 draws with chances 0.05 and 0.5: four standard errors are 0.028 and 0.063.
        assert!((taught(0) - 0.05).abs() < 0.028 && (taught(99) - 0.5).abs() < 0.063);
    }

    #[test]
    fn it_ends_after_its_iterations_and_beats_random_search() {
        let (own, chance) = (mean_ones("clpso", 200), mean_ones("random", 202));
        // 101 turns of 100, and 202 of 50; the mean of ten bests of so many fair draws has a standard error near 0.4.
        assert!(own - chance > 1.2, "{own} {chance}");
        let start = Space::new(50, 50);
        let mut swarm = Clpso::start(ClpsoParams::default(), &start);
        assert_eq!(drive(&mut swarm, 200, onemax).len(), 101);
    }
}
