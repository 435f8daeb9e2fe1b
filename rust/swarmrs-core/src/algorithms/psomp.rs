//! Grouped swarms that select one feature of each group, by its velocity.
//!
//! For each particle at x with velocity v, personal best p and global best g:
//!
//! ```text
//! v <- w v + c1 r1 (p - x) + c2 r2 (g - x)    w inertia, c1 cognitive, c2 social
//! v <- v clamped to [-velocity_limit, velocity_limit]
//! x <- 1 for one member of each group, else 0
//!
//! psomp     the member with the largest v
//! psomp-t   of two random members the one with the larger v
//! psorws    a member drawn in proportion to Sig(v) = 1 / (1 + 4 e^-2v)
//! ```
//!
//! r1, r2 are drawn for every feature, then the random numbers of the selection within each group: none, two distinct
//! members, or one number, also for a group of one. Ties of velocities go to the lowest feature. The initial subset has a
//! random member of each group; initial velocities are uniform within their limit, which the papers do not specify. Features
//! of no group are never selected; without groups, all features are one group.
//!
//! The paper of `psomp` has a second, more stochastic version of its algorithm. The available part of it gives no details;
//! the tournament of `psomp-t` is the simplest rule that fits.
//!
//! `psomp`, `psomp-t`: M. C. Lane, B. Xue, I. Liu, M. Zhang, Particle swarm optimisation and statistical clustering
//! for feature selection, AI 2013, doi:10.1007/978-3-319-03680-9_23; `psorws`: B. Xue, M. C. Lane, I. Liu, M. Zhang,
//! Dimension reduction in classification using particle swarm optimisation and statistical variable grouping
//! information, SSCI 2016

use crate::base::math::exp;
use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::operators::ordering::Ties;
use crate::operators::parameters::{COGNITIVE, INERTIA, POPULATION, SOCIAL, VELOCITY_LIMIT};
use crate::operators::selection::{roulette, select_within_groups, top_k};
use crate::operators::velocity::{self, Coefficients};
use crate::problem::groups::Groups;
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Card, Evaluation, Family, GroupUse, Iteration, Optimizer, Space, params,
};
use crate::swarms::binary::BinarySwarm;
use std::sync::Arc;

params! {
    /// Hyperparameters of [`Psomp`] and its variants.
    pub struct PsompParams {
        population: usize = 30, POPULATION;
        inertia: f64 = 0.7298, INERTIA;
        cognitive: f64 = 1.49618, COGNITIVE;
        social: f64 = 1.49618, SOCIAL;
        velocity_limit: f64 = 6.0, VELOCITY_LIMIT;
    }
}

/// The selection of one member of a group from the velocities of all its members.
type Choice = fn(&[f64], &mut Rng) -> Subset;

/// A swarm that selects one feature of each group.
#[derive(Debug)]
pub struct Psomp {
    params: PsompParams,
    choice: Choice,
    groups: Arc<Groups>,
    swarm: BinarySwarm,
}

impl Psomp {
    fn new(params: PsompParams, choice: Choice, space: &Space) -> Self {
        let mut swarm = BinarySwarm::new(params.population, space);
        swarm.bests.ties = Ties::Shrink;
        Self { params, choice, groups: space.groups_or_single(), swarm }
    }
}

impl Optimizer for Psomp {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        let PsompParams { inertia, cognitive, social, velocity_limit, .. } = self.params;
        let coefficients = Coefficients { inertia, cognitive, social };
        let groups = &self.groups;
        if iteration.number == 0 {
            return self.swarm.start(iteration, |_, v, rng| {
                velocity::draw(v, velocity_limit, rng);
                select_within_groups(v, groups, uniform, rng)
            });
        }
        self.swarm.advance(iteration, |particle, rng| {
            particle.update_velocity(coefficients, velocity_limit, rng);
            select_within_groups(particle.v, groups, self.choice, rng)
        })
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        self.swarm.update(evaluations);
    }
}

/// A subset with one member of a group of `size`.
fn single(member: usize, size: usize) -> Subset {
    Subset::from_indices(size, [member])
}

/// A uniformly random member.
fn uniform(velocities: &[f64], rng: &mut Rng) -> Subset {
    single(rng.below(velocities.len()), velocities.len())
}

/// The member with the largest velocity.
fn fastest(velocities: &[f64], _: &mut Rng) -> Subset {
    top_k(velocities, 1)
}

/// The faster of two random members.
fn tournament(velocities: &[f64], rng: &mut Rng) -> Subset {
    let size = velocities.len();
    let mut competitors = rng.distinct(size.min(2), size);
    competitors.sort_unstable();
    let velocities: Vec<f64> = competitors.iter().map(|&member| velocities[member]).collect();
    Subset::from_indices(size, top_k(&velocities, 1).iter().map(|index| competitors[index]))
}

/// A member drawn by roulette wheel with the weights Sig(v).
fn roulette_wheel(velocities: &[f64], rng: &mut Rng) -> Subset {
    let weights: Vec<f64> = velocities.iter().map(|&v| sig(v)).collect();
    single(roulette(&weights, rng.unit()), weights.len())
}

/// Sig, a logistic function steeper than the usual sigmoid.
fn sig(v: f64) -> f64 {
    1.0 / (1.0 + 4.0 * exp(-2.0 * v))
}

impl Algorithm for Psomp {
    type Params = PsompParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "PSO with maximum-probability selection",
        family: Family::Swarm,
        year: 2013,
        paper: "M. C. Lane, B. Xue, I. Liu, M. Zhang, Particle swarm optimisation and statistical clustering for feature selection, AI 2013",
        doi: "10.1007/978-3-319-03680-9_23",
        aliases: &[],
        summary: "selects the feature of each group with the largest velocity",
        evaluations: Some(3030),
        objective: Objective::Error,
    };
    const GROUPS: GroupUse = GroupUse::Required;

    fn start(params: PsompParams, space: &Space) -> Self {
        Self::new(params, fastest, space)
    }
}

/// The variant that selects by tournament.
#[derive(Debug)]
pub struct PsompT;

impl Algorithm for PsompT {
    type Params = PsompParams;
    type Search = Psomp;
    const CARD: Card = Card {
        name: "PSO with tournament selection",
        family: Family::Swarm,
        year: 2013,
        paper: "M. C. Lane, B. Xue, I. Liu, M. Zhang, Particle swarm optimisation and statistical clustering for feature selection, AI 2013",
        doi: "10.1007/978-3-319-03680-9_23",
        aliases: &[],
        summary: "selects one feature of each group by a tournament of velocities",
        evaluations: Some(3030),
        objective: Objective::Error,
    };
    const GROUPS: GroupUse = GroupUse::Required;

    fn start(params: PsompParams, space: &Space) -> Psomp {
        Psomp::new(params, tournament, space)
    }
}

/// The variant that selects by roulette wheel.
#[derive(Debug)]
pub struct Psorws;

impl Algorithm for Psorws {
    type Params = PsompParams;
    type Search = Psomp;
    const CARD: Card = Card {
        name: "PSO with roulette-wheel selection",
        family: Family::Swarm,
        year: 2016,
        paper: "B. Xue, M. C. Lane, I. Liu, M. Zhang, Dimension reduction in classification using particle swarm optimisation and statistical variable grouping information, SSCI",
        doi: "",
        aliases: &[],
        summary: "selects one feature of each group by a roulette wheel of velocities",
        evaluations: Some(3030),
        objective: Objective::Error,
    };
    const GROUPS: GroupUse = GroupUse::Required;

    fn start(params: PsompParams, space: &Space) -> Psomp {
        Psomp::new(params, roulette_wheel, space)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::find;
    use crate::base::random::{Phase, Streams};
    use crate::testing::{drive, drive_seeded, least, rugged};
    use proptest::prelude::*;
    use serde_json::{Map, json};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// `group_of` has the group of each feature; 5 is no group.
        #[test]
        fn grouped_swarms_select_one_feature_per_group(
            group_of in proptest::collection::vec(0usize..6, 1..25),
            limit in 1usize..25,
            seed: u64,
        ) {
            let n = group_of.len();
            let mut members = vec![Vec::new(); 5];
            for (feature, &group) in group_of.iter().enumerate().filter(|(_, group)| **group < 5) {
                members[group].push(feature);
            }
            let groups = Arc::new(Groups::new(members, n).unwrap());
            prop_assume!(!groups.is_empty());
            let space = Space::new(n, limit).with_groups(Arc::clone(&groups));
            let few = Map::from_iter([("population".to_owned(), json!(4))]);
            for id in ["psomp", "psomp-t", "psorws", "gpso", "igpso"] {
                let mut swarm = find(id).unwrap().start(&few, &space).unwrap().0;
                let history = drive_seeded(seed, &mut *swarm, 8, rugged(seed));
                for subset in history.iter().flatten().map(|tried| &tried.subset) {
                    let counts: Vec<usize> = groups
                        .iter()
                        .map(|group| group.iter().filter(|&&f| subset.contains(f)).count())
                        .collect();
                    let size = subset.count();
                    prop_assert!(size <= limit);
                    prop_assert_eq!(counts.iter().sum::<usize>(), size, "a feature of no group is in");
                    if id.starts_with("pso") {
                        prop_assert_eq!(size, groups.len().min(space.limit()), "{}", id);
                        prop_assert!(counts.iter().all(|&count| count <= 1), "{}", id);
                    }
                }
            }
        }
    }

    #[test]
    fn without_groups_all_features_are_one_group() {
        let mut swarm = find("psorws").unwrap().start(&Map::new(), &Space::new(9, 9)).unwrap().0;
        let history = drive_seeded(1, &mut *swarm, 3, rugged(1));
        assert!(history.iter().flatten().all(|tried| tried.subset.count() == 1));
    }

    #[test]
    fn it_finds_the_planted_member_of_each_group() {
        let members = (0..5).map(|group| (4 * group..4 * group + 4).collect()).collect();
        let groups = Arc::new(Groups::new(members, 20).unwrap());
        let space = Space::new(20, 20).with_groups(groups);
        let mut swarm = Psomp::start(PsompParams::default(), &space);
        let planted = Subset::from_indices(20, [2, 4, 11, 13, 16]);
        let history = drive(&mut swarm, 101, |x| x.distance(&planted) as f64 / 10.0);
        assert_eq!(least(&history), 0.0);
    }

    #[test]
    fn tournament_wins_depend_on_the_rank_of_velocities() {
        let mut rng = Streams::new(1).rng(0, Phase::Ask, 0);
        let mut wins = [0; 4];
        for _ in 0..6000 {
            let winner = tournament(&[0.5, -2.0, 0.5, 3.0], &mut rng);
            wins[winner.iter().next().unwrap()] += 1;
        }
        // Of six pairs the fastest wins three, the lower one of the two equal ones two, the other one, the slowest none.
        // Standard deviations are at most 39.
        for (won, expected) in wins.into_iter().zip([2000i32, 0, 1000, 3000]) {
            assert!((won - expected).abs() < 160, "{wins:?}");
        }
        assert_eq!(wins[1], 0);
    }

    #[test]
    fn sig_has_the_worked_values() {
        for (v, expected) in [
            (-6.0, 1.536_051e-6),
            (0.0, 0.2),
            (std::f64::consts::LN_2, 0.5),
            (2.0, 0.931_738),
            (6.0, 0.999_975),
        ] {
            // Six decimals are printed, and seven digits of the least.
            assert!((sig(v) - expected).abs() < 5e-7, "Sig({v})");
        }
        assert!((sig(-6.0) / 1.536_051e-6 - 1.0).abs() < 5e-7);
    }

    #[test]
    fn a_roulette_wheel_of_three_has_the_worked_probabilities() {
        let weights = [-1.0, 0.0, 2.0].map(sig);
        let total: f64 = weights.iter().sum();
        for (weight, probability) in weights.iter().zip([0.028_104, 0.171_753, 0.800_143]) {
            // Six decimals are printed.
            assert!((weight / total - probability).abs() < 5e-7, "{weight}");
        }
        assert_eq!([0.02, 0.15, 0.2].map(|u| roulette(&weights, u)), [0, 1, 2]);
    }
}
