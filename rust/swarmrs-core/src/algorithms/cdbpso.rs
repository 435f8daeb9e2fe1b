//! Complementary-distribution binary particle swarm: when the swarm stalls, half of the particles are inverted.
//!
//! Particles move as in binary PSO. If the global best has not improved for `refresh_gap` iterations,
//! floor(`complement_rate` · population) random particles do not move but are replaced by their complement:
//!
//! ```text
//! x <- 1 - x for every feature
//! ```
//!
//! The paper's equation 5 is missing in print; its text says that every dimension is inverted. The paper does not say what
//! else happens: here inverted particles keep velocity and personal best, and the stall counter is reset. Complements are
//! evaluated in the same iteration, without extra evaluations. The inverted particles are drawn from slot `population`. A
//! `complement_rate` of 0 is the BPSO that the paper compares with. The default evaluation is that of the paper, 1-NN with
//! leave-one-out, but ties between equally near rows go to the lowest row instead of a random one.
//!
//! L.-Y. Chuang and others, complementary distribution binary particle swarm optimization,
//! Intelligent Data Analysis 16 (2012), doi:10.3233/IDA-2012-0518

use super::bpso;
use crate::base::subset::Subset;
use crate::evaluate::Protocol;
use crate::operators::parameters::{COGNITIVE, INERTIA, POPULATION, SOCIAL, VELOCITY_LIMIT};
use crate::operators::velocity::Coefficients;
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, Iteration, MOST_STEPS, Optimizer, Space, params,
};
use crate::swarms::binary::BinarySwarm;

params! {
    /// Settings of [`Cdbpso`].
    pub struct CdbpsoParams {
        population: usize = 20, POPULATION;
        inertia: f64 = 1.0, INERTIA;
        cognitive: f64 = 2.0, COGNITIVE;
        social: f64 = 2.0, SOCIAL;
        velocity_limit: f64 = 6.0, VELOCITY_LIMIT;
        complement_rate: f64 = 0.5, Allowed::Within(0.0, 1.0),
            "fraction of the particles that are inverted";
        refresh_gap: usize = 3, Allowed::Whole(1, MOST_STEPS),
            "iterations without a better global best before particles are inverted";
    }
}

/// A binary swarm with complements.
#[derive(Debug)]
pub struct Cdbpso {
    coefficients: Coefficients,
    velocity_limit: f64,
    n_inverted: usize,
    refresh_gap: usize,
    swarm: BinarySwarm,
}

impl Algorithm for Cdbpso {
    type Params = CdbpsoParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Complementary-distribution binary PSO",
        family: Family::Swarm,
        year: 2012,
        paper: "L.-Y. Chuang and others, complementary distribution binary particle swarm optimization, Intelligent Data Analysis 16",
        doi: "10.3233/IDA-2012-0518",
        aliases: &["cd-bpso"],
        summary: "BPSO that inverts half of its particles when the swarm stalls",
        evaluations: Some(2000),
        objective: Objective::Error,
    };
    const PROTOCOL: Protocol = Protocol::LEAVE_ONE_OUT;

    fn start(params: CdbpsoParams, space: &Space) -> Self {
        let CdbpsoParams { population, inertia, cognitive, social, .. } = params;
        Self {
            coefficients: Coefficients { inertia, cognitive, social },
            n_inverted: (params.complement_rate * population as f64) as usize,
            refresh_gap: params.refresh_gap,
            velocity_limit: params.velocity_limit,
            swarm: BinarySwarm::new(population, space),
        }
    }
}

impl Optimizer for Cdbpso {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        if iteration.number == 0 {
            return self.swarm.start(iteration, |space, _, rng| space.random(rng));
        }
        let population = self.swarm.population();
        let mut inverted = Vec::new();
        if self.swarm.stall >= self.refresh_gap {
            self.swarm.stall = 0;
            inverted = iteration.rng(population).distinct(self.n_inverted, population);
        }
        let Self { coefficients, velocity_limit, .. } = *self;
        self.swarm.advance(iteration, |particle, rng| {
            if inverted.contains(&particle.index) {
                return particle.x.complement();
            }
            bpso::next_position(particle, coefficients, velocity_limit, rng)
        })
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        self.swarm.update(evaluations);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bits, drive, least, onemax};
    use proptest::prelude::*;

    #[test]
    fn exactly_half_is_inverted_after_three_iterations_without_progress() {
        let mut swarm = Cdbpso::start(CdbpsoParams::default(), &Space::new(60, 60));
        let history = drive(&mut swarm, 9, |_| 0.5);
        for (number, iterations) in history.windows(2).enumerate() {
            let inverted = iterations[0].iter().zip(&iterations[1]);
            let count = inverted.filter(|(old, new)| new.subset == old.subset.complement()).count();
            // Sixty features do not all flip at random.
            assert_eq!(count, if [4, 7].contains(&(number + 1)) { 10 } else { 0 }, "{number}");
        }
    }

    #[test]
    fn the_complement_has_the_worked_bits() {
        assert_eq!(bits("10110").complement(), bits("01001"));
        assert!(Subset::full(5).complement().is_empty());
    }

    #[test]
    fn it_solves_onemax_of_fifty() {
        let mut swarm = Cdbpso::start(CdbpsoParams::default(), &Space::new(50, 50));
        assert_eq!(least(&drive(&mut swarm, 200, onemax)), 0.0);
    }

    proptest! {
        #[test]
        fn a_complement_undoes_itself(bits in proptest::collection::vec(any::<bool>(), 1..200)) {
            let x = Subset::from_fn(bits.len(), |d| bits[d]);
            prop_assert_eq!(x.complement().complement(), x.clone());
            prop_assert_eq!(x.count() + x.complement().count(), bits.len());
        }
    }
}
