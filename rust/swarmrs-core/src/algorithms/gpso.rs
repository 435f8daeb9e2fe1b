//! Gaussian grouped PSO: the number of selected features of each group is drawn from a normal distribution with mean 1.
//!
//! For each particle at x with velocity v, personal best p and global best g, and for each group:
//!
//! ```text
//! v <- w v + c1 r1 (p - x) + c2 r2 (g - x)    w inertia, c1 cognitive, c2 social
//! v <- v clamped to [-velocity_limit, velocity_limit]
//! m <- 1 + σ z rounded to nearest, clamped to [0, |group|]           σ = log(10 |group|), z standard normal
//! x <- 1 for the m members of each group with the largest v, else 0
//! ```
//!
//! r1, r2 are drawn for every feature, then z for each group. Ties of velocities go to the lowest feature. A group may have
//! no selected feature; if all have none, the subset is empty and has the worst cost. Initial velocities are uniform within
//! their limit; the initial subset follows from them by the same rule.
//!
//! The rule is reconstructed from later papers by the same authors: first the number, normally distributed with mean 1 and
//! σ = log(10 |group|), then the features of highest velocity. None of them gives the base of the logarithm: base 10, the
//! default of `sigma_log`, makes σ = 1 for a group of one feature, and comes closer to the published sizes.
//!
//! M. C. Lane, B. Xue, I. Liu, M. Zhang, Gaussian based particle swarm optimisation and statistical clustering for
//! feature selection, `EvoCOP` 2014, doi:10.1007/978-3-662-44320-0_12
//!
//! The variant `igpso` has the same moves, and an objective that favors one selected feature per group:
//!
//! ```text
//! J  = 1 - α accuracy - (1 - α) Sim            α = 0.98, the gaussian objective
//! Sim = exp(-1/2 Σ ((count - 1) / σ)²)         over groups, count the members that are selected
//! ```
//!
//! The σ of the objective has the same `sigma_log` as the moves. The paper divides Sim by the normalizing constant of a
//! Gaussian density, which contradicts its statement that Sim is 1 at the target: it is omitted unless requested, see
//! [`Sim`](crate::problem::groups::Sim). B. Xue, M. C. Lane, I. Liu, M. Zhang, Dimension reduction in classification
//! using particle swarm optimisation and statistical variable grouping information, SSCI 2016

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::operators::ordering::Ties;
use crate::operators::parameters::{COGNITIVE, INERTIA, POPULATION, SOCIAL, VELOCITY_LIMIT};
use crate::operators::selection::{select_within_groups, top_k};
use crate::operators::velocity::{self, Coefficients};
use crate::problem::groups::{Groups, SigmaLog};
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, GroupUse, Iteration, Optimizer, Space, params,
};
use crate::swarms::binary::BinarySwarm;
use std::sync::Arc;

params! {
    /// Hyperparameters of [`Gpso`] and [`Igpso`].
    pub struct GpsoParams {
        population: usize = 30, POPULATION;
        inertia: f64 = 0.7298, INERTIA;
        cognitive: f64 = 1.49618, COGNITIVE;
        social: f64 = 1.49618, SOCIAL;
        velocity_limit: f64 = 6.0, VELOCITY_LIMIT;
        sigma_log: SigmaLog = SigmaLog::default(), Allowed::OneOf(&["log10", "ln"]),
            "logarithm in sigma = log(10 |group|), the spread of the number selected per group";
    }
}

/// A swarm that selects about one feature of each group.
#[derive(Debug)]
pub struct Gpso {
    params: GpsoParams,
    groups: Arc<Groups>,
    swarm: BinarySwarm,
}

impl Optimizer for Gpso {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        let GpsoParams { inertia, cognitive, social, velocity_limit, sigma_log, .. } = self.params;
        let coefficients = Coefficients { inertia, cognitive, social };
        let groups = &self.groups;
        let choice = |velocities: &[f64], rng: &mut Rng| {
            let size = velocities.len();
            top_k(velocities, n_selected(size, sigma_log.deviation(size), rng.normal()))
        };
        if iteration.number == 0 {
            return self.swarm.start(iteration, |_, v, rng| {
                velocity::draw(v, velocity_limit, rng);
                select_within_groups(v, groups, choice, rng)
            });
        }
        self.swarm.advance(iteration, |particle, rng| {
            particle.update_velocity(coefficients, velocity_limit, rng);
            select_within_groups(particle.v, groups, choice, rng)
        })
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        self.swarm.update(evaluations);
    }
}

/// The number m of selected features of a group of `size`, for a standard normal draw `z`.
fn n_selected(size: usize, sigma: f64, z: f64) -> usize {
    (1.0 + sigma * z + 0.5).floor().clamp(0.0, size as f64) as usize
}

impl Algorithm for Gpso {
    type Params = GpsoParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Gaussian grouped PSO",
        family: Family::Swarm,
        year: 2014,
        paper: "M. C. Lane, B. Xue, I. Liu, M. Zhang, Gaussian based particle swarm optimisation and statistical clustering for feature selection, EvoCOP",
        doi: "10.1007/978-3-662-44320-0_12",
        aliases: &[],
        summary: "selects a normally distributed number of features of each group, about one",
        evaluations: Some(3030),
        objective: Objective::Error,
    };
    const GROUPS: GroupUse = GroupUse::Required;

    fn start(params: GpsoParams, space: &Space) -> Self {
        let mut swarm = BinarySwarm::new(params.population, space);
        swarm.bests.ties = Ties::Shrink;
        Self { params, groups: space.groups_or_single(), swarm }
    }
}

/// The variant whose objective also rewards one feature of each group.
#[derive(Debug)]
pub struct Igpso;

impl Algorithm for Igpso {
    type Params = GpsoParams;
    type Search = Gpso;
    const CARD: Card = Card {
        name: "Improved Gaussian grouped PSO",
        family: Family::Swarm,
        year: 2016,
        paper: "B. Xue, M. C. Lane, I. Liu, M. Zhang, Dimension reduction in classification using particle swarm optimisation and statistical variable grouping information, SSCI",
        doi: "",
        aliases: &[],
        summary: "GPSO whose objective also rewards subsets near one feature per group",
        evaluations: Some(3030),
        objective: Objective::gaussian(SigmaLog::Log10),
    };
    const GROUPS: GroupUse = GroupUse::Required;

    fn objective(params: &GpsoParams) -> Objective {
        Objective::gaussian(params.sigma_log)
    }

    fn start(params: GpsoParams, space: &Space) -> Gpso {
        Gpso::start(params, space)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::find;
    use crate::base::math::normal_cdf;
    use serde_json::{Map, json};

    #[test]
    fn normal_draws_have_the_worked_numbers() {
        let of_five = |z| n_selected(5, SigmaLog::Log10.deviation(5), z);
        assert_eq!([of_five(0.5), of_five(-0.9), of_five(3.0)], [2, 0, 5]);
    }

    #[test]
    fn numbers_have_the_worked_probabilities() {
        for (size, probabilities) in [
            (1, vec![0.3085, 0.6915]),
            (2, vec![0.3504, 0.2993, 0.3504]),
            (5, vec![0.3843, 0.2315, 0.1956, 0.1181, 0.0509, 0.0197]),
        ] {
            let sigma = SigmaLog::Log10.deviation(size);
            let mut below = 0.0;
            for (m, probability) in probabilities.iter().enumerate() {
                // m features are selected up to the draw at which 1 + σ z reaches m + 1/2.
                let edge = (m as f64 - 0.5) / sigma;
                // 1e-9 is far above the rounding of the edge.
                assert_eq!(n_selected(size, sigma, edge - 1e-9), m);
                let up_to = if m == size { 1.0 } else { normal_cdf(edge) };
                // Four decimals are printed.
                assert!((up_to - below - probability).abs() < 5e-5, "{m} of {size}");
                assert_eq!(n_selected(size, sigma, edge + 1e-9), size.min(m + 1));
                below = up_to;
            }
        }
    }

    #[test]
    fn moves_and_objective_have_the_same_logarithm() {
        let igpso = find("igpso").unwrap();
        let own = |given: &Map<_, _>| igpso.prepare(given).unwrap().objective;
        assert_eq!(own(&Map::new()), Igpso::CARD.objective);
        let natural = Map::from_iter([("sigma_log".to_owned(), json!("ln"))]);
        assert_eq!(own(&natural), Objective::gaussian(SigmaLog::Ln));
    }
}
