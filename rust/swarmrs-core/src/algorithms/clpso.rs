//! Comprehensive learning PSO: every dimension of a particle learns from the personal best of some particle.
//!
//! For each particle i at x with velocity v, feature by feature, p(j) being the personal best of particle j:
//!
//! ```text
//! v <- w v + c r (p(e) - x), clamped to ±velocity_limit      c social, e the exemplar of i for this feature
//! x <- x + v, clamped to [0, 1]
//! a feature is selected if x > θ                             θ threshold
//! Pc(i) = 0.05 + 0.45 (exp(10 (k - 1) / (P - 1)) - 1) / (exp(10) - 1)       k = 1..P
//! e = i with probability 1 - Pc(i), else the one of two random other particles with the better personal best
//!
//! clpso    k = i
//! eclpso   k is the rank of i's personal best, 1 being the best: the better a particle, the less it learns from others
//! ```
//!
//! A particle that would learn from itself alone learns one random feature from another particle. After `refresh_gap` moves
//! without a better personal best, its exemplars are redrawn. w falls from `inertia` to `inertia_end` over the iterations.
//!
//! The original evaluates a particle only while it is inside the bounds; here positions are clamped. Exemplars are drawn
//! after the evaluation, from slot P + i; ties go to the second particle drawn. The settings are those of the comparison in
//! the paper on variable-length PSO.
//!
//! J. J. Liang, A. K. Qin, P. N. Suganthan, S. Baskar, Comprehensive learning particle swarm optimizer for global
//! optimization of multimodal functions, IEEE Trans. Evolutionary Computation 10 (2006), doi:10.1109/TEVC.2005.857610
//!
//! In `eclpso`, ranks and probabilities are recomputed whenever exemplars are drawn: at the start, and in an iteration in
//! which some particle has moved `refresh_gap` times without a better personal best. Only such particles draw new
//! exemplars. Ties in rank are in the order of particles. The paper also evolves exemplars; the comparison in the paper on
//! variable-length PSO, whose settings these are, uses the ranks only, and so does this file. X. Yu, Y. Liu, X. Feng,
//! G. Chen, Enhanced comprehensive learning particle swarm optimization with exemplar evolution, Simulated Evolution and
//! Learning (2017)

use crate::base::subset::Subset;
use crate::evaluate::Protocol;
use crate::operators::parameters::{
    EXEMPLAR_GAP, EXEMPLAR_PULL, INERTIA, INERTIA_END, ITERATIONS, POPULATION_BY_FEATURES,
    THRESHOLD, VELOCITY_LIMIT, linear_schedule, population_by_features,
};
use crate::operators::topology::{learning_probability, ranks};
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Card, Evaluation, Family, Iteration, Optimizer, Space, params,
};
use crate::swarms::exemplars::ExemplarSwarm;

params! {
    /// Settings of [`Clpso`] and [`Eclpso`].
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

/// A comprehensive learning swarm.
#[derive(Debug)]
pub struct Clpso {
    params: ClpsoParams,
    /// True if Pc depends on the rank of a particle instead of its index.
    by_rank: bool,
    swarm: ExemplarSwarm,
}

impl Clpso {
    fn new(params: ClpsoParams, by_rank: bool, space: &Space) -> Self {
        let n = space.n_features();
        let lengths = vec![n; population_by_features(params.population, n)];
        let bounds = (params.velocity_limit, params.threshold);
        Self {
            swarm: ExemplarSwarm::new(bounds, (0..n).collect(), &lengths, space),
            params,
            by_rank,
        }
    }

    /// Pc of each particle.
    fn learning_probabilities(&self) -> Vec<f64> {
        let best_costs = self.swarm.best_costs();
        let population = best_costs.len();
        let ranks = if self.by_rank { ranks(&best_costs) } else { (0..population).collect() };
        ranks.into_iter().map(|k| learning_probability(k, population)).collect()
    }
}

impl Optimizer for Clpso {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        let ClpsoParams { iterations, inertia, inertia_end, .. } = self.params;
        let ClpsoParams { social: c, velocity_limit: limit, .. } = self.params;
        if iteration.number == 0 {
            return self.swarm.start(iteration, |_| false);
        }
        if iteration.number > iterations {
            return Vec::new();
        }
        let w = linear_schedule(inertia, inertia_end, iteration.number, iterations);
        self.swarm.advance(iteration, |x, v, e, r| {
            let v = (w * v + c * r * (e - x)).clamp(-limit, limit);
            ((x + v).clamp(0.0, 1.0), v)
        })
    }

    fn tell(&mut self, iteration: &Iteration<'_>, evaluations: &[Evaluation]) {
        self.swarm.update(evaluations);
        let patience = if iteration.number == 0 { 0 } else { self.params.refresh_gap };
        let probabilities = self.learning_probabilities();
        self.swarm
            .draw_exemplars(iteration, &probabilities, true, |particle| particle.stall >= patience);
    }
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
        summary: "each feature of a particle learns from the personal best of some particle, not from the global best",
        evaluations: None,
        objective: Objective::Hybrid { gamma: 0.8 },
    };
    const PROTOCOL: Protocol = Protocol::NEAREST;

    fn start(params: ClpsoParams, space: &Space) -> Self {
        Self::new(params, false, space)
    }
}

/// The variant in which better particles learn less from others.
#[derive(Debug)]
pub struct Eclpso;

impl Algorithm for Eclpso {
    type Params = ClpsoParams;
    type Search = Clpso;
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

    fn start(params: ClpsoParams, space: &Space) -> Clpso {
        Clpso::new(params, true, space)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::find;
    use crate::testing::{drive, mean_ones, onemax};

    #[test]
    fn exemplars_are_redrawn_after_seven_moves_without_progress() {
        // The particles after each of the first twelve iterations, from runs of increasing length.
        let after = |iterations: u64| {
            let mut swarm = Clpso::start(ClpsoParams::default(), &Space::new(300, 300));
            drive(&mut swarm, iterations, |_| 0.5);
            swarm.swarm.particles
        };
        let states: Vec<_> = (1..=12).map(after).collect();
        let mut redrawn = 0;
        for (before, now) in states.iter().zip(&states[1..]).flat_map(|(a, b)| a.iter().zip(b)) {
            assert!(now.stall < 7 && !now.exemplars.is_empty());
            // The seventh move without progress resets the stall and redraws; no other move does.
            if before.exemplars != now.exemplars {
                assert!(before.stall == 6 && now.stall == 0);
                redrawn += 1;
            }
        }
        assert!(redrawn > 0);
    }

    #[test]
    fn later_particles_learn_more_from_others() {
        let mut swarm = Clpso::start(ClpsoParams::default(), &Space::new(1000, 1000));
        drive(&mut swarm, 1, onemax);
        let fraction =
            |particle: usize| swarm.swarm.particles[particle].exemplars.len() as f64 / 1000.0;
        // 1000 draws with probabilities 0.05 and 0.5: four standard errors are 0.028 and 0.063.
        assert!((fraction(0) - 0.05).abs() < 0.028 && (fraction(99) - 0.5).abs() < 0.063);
    }

    #[test]
    fn both_end_after_their_iterations_and_beat_random_search() {
        let random = mean_ones("random", 202);
        for id in ["clpso", "eclpso"] {
            let own = mean_ones(id, 200);
            // 101 iterations of 100, and 202 of 50; the mean of ten bests of so many fair draws has a standard error
            // near 0.4.
            assert!(own - random > 1.2, "{id} {own} {random}");
            let started = find(id).unwrap().start(&serde_json::Map::new(), &Space::new(50, 50));
            assert_eq!(drive(&mut *started.unwrap().0, 200, onemax).len(), 101);
        }
    }

    #[test]
    fn worse_particles_learn_more_from_others() {
        let mut swarm = Eclpso::start(ClpsoParams::default(), &Space::new(1000, 1000));
        drive(&mut swarm, 1, onemax);
        let ranks = ranks(&swarm.swarm.best_costs());
        let fraction = |rank: usize| {
            let particle = ranks.iter().position(|&other| other == rank).unwrap();
            swarm.swarm.particles[particle].exemplars.len() as f64 / 1000.0
        };
        // 1000 draws with probabilities 0.05 and 0.5: four standard errors are 0.028 and 0.063.
        assert!((fraction(0) - 0.05).abs() < 0.028 && (fraction(99) - 0.5).abs() < 0.063);
    }
}
