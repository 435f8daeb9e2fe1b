//! Multi-objective probability-based binary particle swarm: the flips of PBPSO, for a Pareto front of cost and size.
//!
//! Two costs are minimized, f1 = J (the error, unless another objective is set) and f2 = |x| / n; with `second=sim`
//! f2 = 1 - Sim, the dissimilarity to one selected feature per group. A is an archive of non-dominated subsets.
//!
//! ```text
//! start    |x| = round(exp(U ln n)): log-uniform sizes
//! leader   g = the less crowded one of two drawn from A, for each particle
//! move     flip x with probability  p0 + p1 [x != p] + p2 [x != g]     at most 1, one draw each
//!          for unselected features p0 |x| / (n - |x|) replaces p0:     mutation keeps the expected size
//! personal best p <- the child if it dominates p, with probability 1/2 if neither dominates
//! survive  of particles and children, each subset once, the best fronts; the last one by crowding distance
//! archive  A <- the non-dominated of A and the children; above the limit the most crowded is removed,
//!          one at a time
//! ```
//!
//! p0 is `mutation_rate`, p1 `cognitive`, p2 `social`; `mutation=uniform` uses p0 for all features, which drives sizes
//! toward n / 2 if n is large. A holds at most `archive` subsets, one for equal costs. An empty child gets a random feature.
//! If the space has groups, initial features are drawn from the groups in turn. The trace records the size of A and its
//! hypervolume with the reference point (1, 1). The front that a run reports is that of error and size, whatever f2 is.
//!
//! PBPSO has p1 = 0.35 and p2 = 0.65, for a global best that seldom changes. Here every move has another leader, from an
//! often small front: with these rates a particle copies most of each leader, half of the children are duplicates, and the
//! front stalls early (`make fronts`). With 0.2 for both a particle keeps more of its position.
//!
//! The flips are those of B. Xue, S. Nguyen, M. Zhang, A new binary particle swarm optimisation
//! algorithm for feature selection, `EvoApplications` 2014, doi:10.1007/978-3-662-45523-4_41; sorting
//! and crowding those of K. Deb and others, doi:10.1109/4235.996017. Leaders, personal bests, the neutral
//! mutation and the start are ours.

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::operators::initialization::log_uniform_subset;
use crate::operators::mutation::{flipped, neutral_gain};
use crate::operators::parameters::{FLIP_COGNITIVE, POPULATION};
use crate::operators::pareto::{
    TradeOff, by_costs, crowding, dominated_area, dominates, survivors,
};
use crate::problem::groups::{SigmaLog, Sim, Similarity};
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, GroupUse, Iteration, MOST_MEMBERS, Optimizer,
    Space, params,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

params! {
    /// Settings of [`Mopbpso`].
    pub struct MopbpsoParams {
        population: usize = 50, POPULATION;
        mutation_rate: f64 = 0.05, Allowed::Above(0.0, 1.0),
            "p0, flip probability of a selected feature that agrees with both bests";
        cognitive: f64 = 0.2, FLIP_COGNITIVE;
        social: f64 = 0.2, Allowed::Within(0.0, 1.0), "p2, added to the flip probability where the leader differs";
        mutation: Mutation = Mutation::SizeNeutral, Allowed::OneOf(&["size-neutral", "uniform"]),
            "flip probability of an unselected feature: size-neutral keeps the expected size, uniform is p0";
        archive: usize = 100, Allowed::Whole(2, MOST_MEMBERS),
            "maximum number of non-dominated subsets in the archive of leaders";
        second: Second = Second::Size, Allowed::OneOf(&["size", "sim"]),
            "second objective: size, or the dissimilarity to one feature of each group (sim)";
    }
}

/// The second objective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Second {
    /// The fraction of selected features.
    Size,
    /// The dissimilarity to one selected feature per group.
    Sim,
}

/// The mutation of unselected features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mutation {
    /// At the rate that keeps the expected size.
    SizeNeutral,
    /// At the rate of selected features.
    Uniform,
}

/// The current position and the personal best of a particle.
#[derive(Debug, Clone)]
struct Particle {
    position: TradeOff,
    best: TradeOff,
}

impl Particle {
    /// The child at `position` of a particle with this personal best; if neither dominates, a fair coin decides.
    fn child(position: TradeOff, best: &TradeOff, rng: &mut Rng) -> Self {
        let coin = rng.bernoulli(0.5);
        let replaces = dominates(position.costs, best.costs)
            || (coin && !dominates(best.costs, position.costs));
        let best = if replaces { position.clone() } else { best.clone() };
        Self { position, best }
    }
}

/// Mutually non-dominated subsets with distinct costs, in the order of their costs.
#[derive(Debug)]
struct Archive {
    limit: usize,
    members: Vec<TradeOff>,
    /// The crowding distance of each member.
    crowding: Vec<f64>,
}

impl Archive {
    /// An empty archive for at most `limit` members.
    fn new(limit: usize) -> Self {
        Self { limit, members: Vec::new(), crowding: Vec::new() }
    }

    /// The members, in the order of their costs.
    fn members(&self) -> &[TradeOff] {
        &self.members
    }

    /// Inserts non-dominated subsets; of equal costs the smaller bit pattern is kept. Then the most crowded members are
    /// removed, one at a time, until the limit holds.
    fn update<'a>(&mut self, tried: impl IntoIterator<Item = &'a TradeOff>) {
        for new in tried {
            self.insert(new);
        }
        self.members.sort_by(|a, b| by_costs(&a.costs, &b.costs));
        self.update_crowding();
        while self.members.len() > self.limit {
            let least = self.crowding.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
            let Some((crowded, _)) = least else { break };
            self.members.remove(crowded);
            self.update_crowding();
        }
    }

    fn insert(&mut self, new: &TradeOff) {
        let is_dominated = self.members.iter().any(|old| {
            dominates(old.costs, new.costs) || (old.costs == new.costs && old.subset <= new.subset)
        });
        if !is_dominated {
            let is_kept =
                |old: &TradeOff| old.costs != new.costs && !dominates(new.costs, old.costs);
            self.members.retain(is_kept);
            self.members.push(new.clone());
        }
    }

    fn update_crowding(&mut self) {
        let costs: Vec<_> = self.members.iter().map(|member| member.costs).collect();
        self.crowding = crowding(&costs);
    }

    /// Binary tournament: the less crowded of two random members; ties go to the first drawn.
    ///
    /// # Panics
    /// If the archive is empty.
    fn leader(&self, rng: &mut Rng) -> &Subset {
        let (first, second) = (rng.below(self.members.len()), rng.below(self.members.len()));
        let winner = if self.crowding[second] > self.crowding[first] { second } else { first };
        &self.members[winner].subset
    }
}

/// A multi-objective swarm.
#[derive(Debug)]
pub struct Mopbpso {
    params: MopbpsoParams,
    space: Space,
    /// In order of age, the oldest first; empty before the initial swarm is evaluated.
    particles: Vec<Particle>,
    archive: Archive,
    /// For the second objective `sim`.
    similarity: Option<Similarity>,
}

impl Mopbpso {
    fn trade_off(&self, evaluation: &Evaluation) -> TradeOff {
        match &self.similarity {
            Some(similarity) => TradeOff::with(evaluation, 1.0 - similarity.of(&evaluation.subset)),
            None => TradeOff::of(evaluation),
        }
    }

    fn moved(&self, particle: &Particle, rng: &mut Rng) -> Subset {
        let MopbpsoParams { mutation_rate, cognitive, social, mutation, .. } = self.params;
        let leader = self.archive.leader(rng);
        let x = &particle.position.subset;
        let gain = match mutation {
            Mutation::SizeNeutral => neutral_gain(mutation_rate, x),
            Mutation::Uniform => mutation_rate,
        };
        let (p, g) = (&particle.best.subset, leader);
        let rates = [gain, mutation_rate].map(|p0| [p0, cognitive, social]);
        let mut child = flipped([x, p, g], rates, rng);
        self.space.trim(&mut child, rng);
        self.space.fill(&mut child, rng);
        child
    }
}

/// `count` survivors with distinct subsets; if there are not enough, duplicates are added, the oldest first. Particles are in
/// order of age, before and after.
fn survive(particles: Vec<Particle>, count: usize) -> Vec<Particle> {
    let mut seen = BTreeSet::new();
    let (distinct, duplicates): (Vec<usize>, Vec<usize>) =
        (0..particles.len()).partition(|&index| seen.insert(&particles[index].position.subset));
    let points: Vec<_> = distinct.iter().map(|&index| particles[index].position.costs).collect();
    let mut is_kept = vec![false; particles.len()];
    let kept = survivors(&points, count);
    for &index in duplicates.iter().take(count - kept.len()) {
        is_kept[index] = true;
    }
    for survivor in kept {
        is_kept[distinct[survivor.index]] = true;
    }
    let both = particles.into_iter().zip(is_kept);
    both.filter_map(|(particle, is_kept)| is_kept.then_some(particle)).collect()
}

impl Algorithm for Mopbpso {
    type Params = MopbpsoParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Multi-objective probability-based binary PSO",
        family: Family::Swarm,
        year: 2014,
        paper: "moves of B. Xue, S. Nguyen, M. Zhang, A new binary particle swarm optimisation algorithm for feature selection, EvoApplications",
        doi: "10.1007/978-3-662-45523-4_41",
        aliases: &[],
        summary: "PBPSO led by an archive of non-dominated subsets; minimizes cost and size",
        evaluations: Some(5050),
        objective: Objective::Error,
    };
    const GROUPS: GroupUse = GroupUse::Optional;
    const SEEKS_FRONT: bool = true;

    fn groups(params: &MopbpsoParams) -> GroupUse {
        match params.second {
            Second::Size => GroupUse::Optional,
            Second::Sim => GroupUse::Required,
        }
    }

    fn start(params: MopbpsoParams, space: &Space) -> Self {
        let archive = Archive::new(params.archive);
        let similarity = (params.second == Second::Sim)
            .then(|| Similarity::new(space.groups_or_single(), Sim::Plain, SigmaLog::Log10));
        Self { params, space: space.clone(), particles: Vec::new(), archive, similarity }
    }
}

impl Optimizer for Mopbpso {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        let slots: Vec<usize> = (0..self.params.population).collect();
        iteration.map(slots, |slot| {
            let mut rng = iteration.rng(slot);
            match self.particles.get(slot) {
                Some(particle) => self.moved(particle, &mut rng),
                None => log_uniform_subset(&self.space, &mut rng),
            }
        })
    }

    fn tell(&mut self, iteration: &Iteration<'_>, evaluations: &[Evaluation]) {
        let tried: Vec<TradeOff> = evaluations.iter().map(|one| self.trade_off(one)).collect();
        self.archive.update(&tried);
        if self.particles.is_empty() {
            let start = |position: TradeOff| Particle { best: position.clone(), position };
            self.particles = tried.into_iter().map(start).collect();
            return;
        }
        let mut all = std::mem::take(&mut self.particles);
        for (slot, child) in tried.into_iter().enumerate() {
            all.push(Particle::child(child, &all[slot].best, &mut iteration.rng(slot)));
        }
        self.particles = survive(all, self.params.population);
    }

    fn diagnostics(&self) -> Vec<(&'static str, f64)> {
        let members = self.archive.members();
        vec![("front_size", members.len() as f64), ("hypervolume", dominated_area(members))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{Phase, Streams};
    use crate::problem::groups::Groups;
    use crate::testing::{bits, drive, drive_with_diagnostics};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn trade_off(word: &str, cost: f64) -> TradeOff {
        let subset = bits(word);
        let share = subset.count() as f64 / subset.len() as f64;
        TradeOff { subset, costs: [cost, share] }
    }

    fn particle_at(position: TradeOff) -> Particle {
        Particle { best: position.clone(), position }
    }

    /// Every tenth feature lowers the cost: the front has one point for each number of these.
    fn tenths(subset: &Subset) -> f64 {
        let good = subset.iter().filter(|feature| feature % 10 == 0).count();
        0.9 - 0.08 * good as f64
    }

    #[test]
    fn a_personal_best_is_replaced_if_dominated_and_half_of_the_times_if_neither_dominates() {
        let best = trade_off("0110", 0.5);
        let replaced = |position: &TradeOff| {
            let child = |slot| {
                let mut rng = Streams::new(1).rng(1, Phase::Tell, slot);
                Particle::child(position.clone(), &best, &mut rng).best == *position
            };
            (0..1000).filter(|&slot| child(slot)).count()
        };
        assert_eq!(replaced(&trade_off("0100", 0.5)), 1000);
        assert_eq!(replaced(&trade_off("0111", 0.5)), 0);
        // Four standard deviations of 1000 tosses are 63.
        assert!(replaced(&trade_off("0111", 0.4)).abs_diff(500) < 63);
        assert!(replaced(&trade_off("1001", 0.5)).abs_diff(500) < 63);
    }

    #[test]
    fn the_oldest_of_equal_subsets_survives_and_duplicates_only_fill_up() {
        let [a, b] = [trade_off("0110", 0.5), trade_off("0100", 0.9)];
        let mut younger = particle_at(a.clone());
        younger.best = trade_off("1111", 0.1);
        let all = vec![
            particle_at(a.clone()),
            particle_at(b.clone()),
            younger.clone(),
            particle_at(b.clone()),
        ];
        let positions = |kept: Vec<Particle>| -> Vec<TradeOff> {
            kept.into_iter().map(|particle| particle.position).collect()
        };
        let two = survive(all.clone(), 2);
        assert_eq!(two[0].best, a, "the personal best of the older particle");
        assert_eq!(positions(two), [a.clone(), b.clone()]);
        let three = survive(all, 3);
        assert_eq!(three[2].best, younger.best);
        assert_eq!(positions(three), [a.clone(), b, a]);
    }

    #[test]
    fn the_whole_front_is_found() {
        let mut search = Mopbpso::start(MopbpsoParams::default(), &Space::new(60, 60));
        drive(&mut search, 101, tenths);
        let sizes: Vec<usize> =
            search.archive.members().iter().map(|member| member.subset.count()).collect();
        assert_eq!(sizes, [6, 5, 4, 3, 2, 1]);
        assert!(
            search
                .archive
                .members()
                .iter()
                .all(|member| { member.subset.iter().all(|feature| feature % 10 == 0) })
        );
    }

    #[test]
    fn the_second_objective_sim_selects_one_feature_per_group() {
        let params = MopbpsoParams { second: Second::Sim, ..MopbpsoParams::default() };
        assert_eq!(Mopbpso::groups(&params), GroupUse::Required);
        let groups = Groups::new((0..6).map(|g| (10 * g..10 * g + 10).collect()).collect(), 60);
        let space = Space::new(60, 60).with_groups(Arc::new(groups.unwrap()));
        let mut search = Mopbpso::start(params, &space);
        drive(&mut search, 101, tenths);
        // The best feature of each group has the least of both costs.
        let [best] = search.archive.members() else { panic!("the two costs do not conflict here") };
        assert_eq!(best.subset, Subset::from_indices(60, (0..6).map(|g| 10 * g)));
        assert_eq!(best.costs[1], 0.0);
    }

    #[test]
    fn diagnostics_have_the_archive_size_and_a_growing_hypervolume() {
        let mut search = Mopbpso::start(MopbpsoParams::default(), &Space::new(60, 60));
        let (_, diagnostics) = drive_with_diagnostics(&mut search, 30, tenths);
        assert!(
            diagnostics.iter().all(|note| note[0].0 == "front_size" && note[1].0 == "hypervolume")
        );
        assert!(diagnostics.iter().all(|note| note[0].1 < 100.0));
        assert!(diagnostics.is_sorted_by(|a, b| a[1].1 <= b[1].1));
        assert_eq!(diagnostics[29][0].1, search.archive.members().len() as f64);
    }

    #[test]
    fn neutral_mutation_keeps_small_subsets_small() {
        let mean_size = |mutation| {
            let params = MopbpsoParams { mutation, ..MopbpsoParams::default() };
            let mut search = Mopbpso::start(params, &Space::new(400, 400));
            // All subsets cost the same, so only size counts, and the leaders are single features.
            let history = drive(&mut search, 20, |_| 0.5);
            let last = history.last().unwrap();
            last.iter().map(|tried| tried.subset.count()).sum::<usize>() as f64 / last.len() as f64
        };
        // A flip rate of 1/20 adds about 20 of 400 features.
        assert!(mean_size(Mutation::SizeNeutral) < 3.0);
        assert!(mean_size(Mutation::Uniform) > 15.0);
    }

    proptest! {
        #[test]
        fn the_swarm_keeps_its_size_and_has_only_proposed_subsets(
            population in 1usize..12, n in 1usize..20, seed in 0u64..50,
        ) {
            let params = MopbpsoParams { population, ..MopbpsoParams::default() };
            let mut search = Mopbpso::start(params, &Space::new(n, n));
            let history = crate::testing::drive_seeded(seed, &mut search, 6, crate::testing::rugged(seed));
            prop_assert!(history.iter().all(|iteration| iteration.len() == population));
            prop_assert_eq!(search.particles.len(), population);
            let proposed = |subset: &Subset| history.iter().flatten().any(|t| t.subset == *subset);
            prop_assert!(search.particles.iter().all(|p| proposed(&p.position.subset) && proposed(&p.best.subset)));
        }
    }
}

#[cfg(test)]
mod archive_tests {
    use super::*;
    use crate::base::random::{Phase, Streams};
    use crate::operators::pareto::Point;
    use proptest::prelude::*;

    fn trade_off((cost, size, low): (u8, usize, usize)) -> TradeOff {
        let subset = Subset::from_indices(16, low..low + size);
        TradeOff { costs: [f64::from(cost) / 16.0, size as f64 / 16.0], subset }
    }

    fn costs(archive: &Archive) -> Vec<Point> {
        archive.members.iter().map(|member| member.costs).collect()
    }

    /// Batches on a coarse grid, so that equal costs occur.
    fn batches() -> impl Strategy<Value = Vec<Vec<TradeOff>>> {
        let one = (0u8..16, 1usize..13, 0usize..4).prop_map(trade_off);
        proptest::collection::vec(proptest::collection::vec(one, 0..12), 1..8)
    }

    #[test]
    fn of_equal_costs_the_smaller_bit_pattern_is_kept() {
        let (one, other) = (trade_off((3, 2, 0)), trade_off((3, 2, 2)));
        let smaller = if one.subset < other.subset { &one } else { &other };
        for pair in [[&one, &other], [&other, &one]] {
            let mut archive = Archive::new(9);
            archive.update(pair);
            assert_eq!(archive.members(), std::slice::from_ref(smaller));
        }
    }

    #[test]
    fn above_the_limit_the_most_crowded_is_removed_and_crowding_recomputed() {
        // Sizes 1, 2, 3, 8, 9: first 2 is removed, then 3 is less crowded than 8.
        let all = [(15, 1), (12, 2), (11, 3), (2, 8), (1, 9)];
        let all: Vec<TradeOff> =
            all.into_iter().map(|(cost, size)| trade_off((cost, size, 0))).collect();
        let mut archive = Archive::new(4);
        archive.update(&all);
        let sizes = |archive: &Archive| -> Vec<usize> {
            archive.members.iter().map(|member| member.subset.count()).collect()
        };
        assert_eq!(sizes(&archive), [9, 8, 3, 1]);
        let mut archive = Archive::new(3);
        archive.update(&all);
        assert_eq!(sizes(&archive), [9, 3, 1]);
    }

    #[test]
    fn the_leader_is_the_less_crowded_of_two() {
        let mut archive = Archive::new(9);
        let all = [(9, 1), (6, 2), (5, 3), (2, 8)].map(|(cost, size)| trade_off((cost, size, 0)));
        archive.update(&all);
        let mut led = [0.0f64; 4];
        for slot in 0..16_000 {
            let mut rng = Streams::new(1).rng(0, Phase::Ask, slot);
            let leader = archive.leader(&mut rng);
            led[archive.members.iter().position(|member| member.subset == *leader).unwrap()] += 1.0;
        }
        // Members have the sizes 8, 3, 2, 1. The ends tie, and ties go to the first drawn: 6/16 each. Size 3 has the distance
        // 4/7 + 6/7, size 2 has 4/7 + 2/7: 3/16 and 1/16. Four standard deviations are below 260.
        for (count, sixteenths) in led.into_iter().zip([6.0, 3.0, 1.0, 6.0]) {
            assert!((count - 1000.0 * sixteenths).abs() < 260.0, "{led:?}");
        }
    }

    proptest! {
        #[test]
        fn it_holds_the_non_dominated(batches in batches()) {
            let mut archive = Archive::new(usize::MAX);
            for batch in &batches {
                archive.update(batch);
            }
            let all: Vec<Point> = batches.iter().flatten().map(|one| one.costs).collect();
            let mut expected: Vec<Point> = all.iter().copied()
                .filter(|&point| !all.iter().any(|&other| dominates(other, point)))
                .collect();
            expected.sort_by(by_costs);
            expected.dedup();
            prop_assert_eq!(costs(&archive), expected);
        }

        #[test]
        fn members_never_dominate_each_other_and_the_limit_holds(
            batches in batches(), limit in 2usize..6,
        ) {
            let mut archive = Archive::new(limit);
            for batch in &batches {
                archive.update(batch);
                let held = costs(&archive);
                prop_assert!(held.len() <= limit);
                prop_assert!(held.iter().all(|&a| !held.iter().any(|&b| dominates(a, b))));
            }
        }

        #[test]
        fn below_the_limit_the_hypervolume_never_shrinks(batches in batches()) {
            let mut archive = Archive::new(100);
            let mut area = 0.0;
            for batch in &batches {
                archive.update(batch);
                let grown = dominated_area(archive.members());
                prop_assert!(grown >= area);
                area = grown;
            }
        }
    }
}
