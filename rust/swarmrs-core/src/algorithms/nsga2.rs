//! NSGA-II: a genetic algorithm with non-dominated sorting and crowding distance.
//!
//! Two costs are minimized, f1 = J (the error, unless another objective is set) and f2 = |x| / n.
//!
//! ```text
//! start    |x| = round(exp(U ln n)): log-uniform sizes
//! parents  binary tournament: the better front, or on the same front the larger crowding distance
//! children one-point crossover with pc; flip every bit with pm
//! survive  the best fronts of parents and children; the last one by crowding distance
//! ```
//!
//! pc is `crossover_rate`, pm `mutation_rate` (1/n if null); `crossover=uniform` swaps every bit with probability 1/2.
//! Crossover, pc, pm and the tournament are the paper's for binary strings. The initialization, the population size and the
//! random feature of an empty child are those of `mopbpso`, so that the two can be compared; the paper has 100 random
//! strings. Duplicates are allowed, as in the paper. The trace records the size of the first front and its hypervolume with
//! the reference point (1, 1).
//!
//! K. Deb, A. Pratap, S. Agarwal, T. Meyarivan, A fast and elitist multiobjective genetic algorithm:
//! NSGA-II, IEEE Trans. Evolutionary Computation 6 (2002), doi:10.1109/4235.996017

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::operators::crossover::{one_point, uniform};
use crate::operators::initialization::log_uniform_subset;
use crate::operators::mutation::mutated;
use crate::operators::parameters::CHROMOSOMES;
use crate::operators::pareto::{Point, Survivor, TradeOff, by_costs, dominated_area, survivors};
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, GroupUse, Iteration, Optimizer, Space, params,
};
use serde::{Deserialize, Serialize};

params! {
    /// Settings of [`Nsga2`].
    pub struct Nsga2Params {
        population: usize = 50, CHROMOSOMES;
        crossover_rate: f64 = 0.9, Allowed::Within(0.0, 1.0), "crossover probability pc of two parents";
        mutation_rate: Option<f64> = None, Allowed::Within(0.0, 1.0),
            "mutation probability pm of a bit; null for 1 / n_features";
        crossover: Crossover = Crossover::OnePoint, Allowed::OneOf(&["one-point", "uniform"]),
            "crossover operator: one-point, or uniform with probability 1/2 per bit";
    }
}

/// The crossover operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Crossover {
    /// Parents swap the features after a random point.
    OnePoint,
    /// Parents swap every bit with probability 1/2.
    Uniform,
}

/// The state of NSGA-II.
#[derive(Debug)]
pub struct Nsga2 {
    params: Nsga2Params,
    space: Space,
    /// In order of age, the oldest first; empty before the initial population is evaluated.
    members: Vec<TradeOff>,
    /// Rank and crowding distance of each member at the last survival selection.
    ranked: Vec<Survivor>,
}

impl Nsga2 {
    /// Binary tournament; ties go to the first drawn.
    fn parent(&self, rng: &mut Rng) -> Subset {
        let (first, second) = (rng.below(self.members.len()), rng.below(self.members.len()));
        let winner = if self.ranked[second].beats(&self.ranked[first]) { second } else { first };
        self.members[winner].subset.clone()
    }

    fn pair(&self, rng: &mut Rng) -> [Subset; 2] {
        let (mut a, mut b) = (self.parent(rng), self.parent(rng));
        if rng.bernoulli(self.params.crossover_rate) {
            match self.params.crossover {
                Crossover::OnePoint => one_point(&mut a, &mut b, rng),
                Crossover::Uniform => uniform(&mut a, &mut b, rng),
            }
        }
        let n = self.space.n_features();
        let rate = self.params.mutation_rate.unwrap_or(1.0 / n as f64);
        [a, b].map(|child| {
            let mut mutant = mutated(&child, rate, rate, rng);
            self.space.trim(&mut mutant, rng);
            self.space.fill(&mut mutant, rng);
            mutant
        })
    }

    /// The first front, one subset for equal costs.
    fn front(&self) -> Vec<&TradeOff> {
        let both = self.members.iter().zip(&self.ranked);
        let mut front: Vec<&TradeOff> =
            both.filter(|(_, survivor)| survivor.rank == 0).map(|(member, _)| member).collect();
        front.sort_by(|a, b| by_costs(&a.costs, &b.costs));
        front.dedup_by_key(|member| member.costs);
        front
    }
}

impl Algorithm for Nsga2 {
    type Params = Nsga2Params;
    type Search = Self;
    const CARD: Card = Card {
        name: "Non-dominated sorting genetic algorithm II",
        family: Family::Genetic,
        year: 2002,
        paper: "K. Deb, A. Pratap, S. Agarwal, T. Meyarivan, A fast and elitist multiobjective genetic algorithm: NSGA-II, IEEE Trans. Evolutionary Computation 6",
        doi: "10.1109/4235.996017",
        aliases: &["nsga-ii"],
        summary: "non-dominated sorting and crowding distance; minimizes cost and size",
        evaluations: Some(5050),
        objective: Objective::Error,
    };
    const GROUPS: GroupUse = GroupUse::Optional;
    const SEEKS_FRONT: bool = true;

    fn start(params: Nsga2Params, space: &Space) -> Self {
        Self { params, space: space.clone(), members: Vec::new(), ranked: Vec::new() }
    }
}

impl Optimizer for Nsga2 {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        let count = self.params.population;
        if self.members.is_empty() {
            return (0..count)
                .map(|slot| log_uniform_subset(&self.space, &mut iteration.rng(slot)))
                .collect();
        }
        let pairs: Vec<usize> = (0..count.div_ceil(2)).collect();
        let children = iteration.map(pairs, |pair| self.pair(&mut iteration.rng(pair)));
        children.into_iter().flatten().take(count).collect()
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        let mut all = std::mem::take(&mut self.members);
        all.extend(evaluations.iter().map(TradeOff::of));
        let points: Vec<Point> = all.iter().map(|member| member.costs).collect();
        self.ranked = survivors(&points, self.params.population);
        self.members = self.ranked.iter().map(|kept| all[kept.index].clone()).collect();
    }

    fn diagnostics(&self) -> Vec<(&'static str, f64)> {
        let front = self.front();
        vec![("front_size", front.len() as f64), ("hypervolume", dominated_area(front))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drive, drive_seeded, drive_with_diagnostics, rugged};
    use proptest::prelude::*;

    /// Every tenth feature lowers the cost: the front has one point for each number of these, up to 6.
    fn tenths(subset: &Subset) -> f64 {
        let good = subset.iter().filter(|feature| feature % 10 == 0).count();
        0.9 - 0.08 * good as f64
    }

    #[test]
    fn the_whole_front_is_found() {
        let mut search = Nsga2::start(Nsga2Params::default(), &Space::new(60, 60));
        drive(&mut search, 101, tenths);
        let sizes: Vec<usize> = search.front().iter().map(|member| member.subset.count()).collect();
        assert_eq!(sizes, [6, 5, 4, 3, 2, 1]);
    }

    #[test]
    fn parents_are_selected_by_rank_and_then_by_crowding_distance() {
        let mut search = Nsga2::start(Nsga2Params::default(), &Space::new(8, 8));
        // Costs fall with size up to 4 features: 1, 2, 3 and 4 are the front, 5 is dominated.
        let costs = [0.9, 0.6, 0.5, 0.1, 0.2];
        let evaluations: Vec<Evaluation> = (0..5)
            .map(|at| Evaluation {
                subset: Subset::from_indices(8, 0..=at),
                measures: crate::evaluate::Measures::WORST,
                cost: crate::problem::objective::Cost::new(costs[at]),
            })
            .collect();
        let streams = crate::base::random::Streams::new(1);
        let pool = crate::base::parallel::Pool::new(1);
        let iteration = Iteration {
            number: 0,
            fraction: 0.0,
            iterations: None,
            max_evaluations: None,
            best: None,
            streams: &streams,
            phase: crate::base::random::Phase::Tell,
            pool: &pool,
        };
        search.tell(&iteration, &evaluations);
        let mut drawn = [0.0f64; 5];
        for slot in 0..25_000 {
            drawn[search.parent(&mut iteration.rng(slot)).count() - 1] += 1.0;
        }
        // The ends tie: 8 of 25 pairs each. Size 3 has the distance 5/8 + 2/3, size 2 has 4/8 + 2/3: 5 and 3 pairs. Size 5 wins
        // only against itself. Four standard deviations are below 300.
        for (count, pairs) in drawn.into_iter().zip([8.0, 3.0, 5.0, 8.0, 1.0]) {
            assert!((count - 1000.0 * pairs).abs() < 300.0, "{drawn:?}");
        }
    }

    #[test]
    fn diagnostics_have_the_size_and_a_growing_hypervolume_of_the_first_front() {
        let mut search = Nsga2::start(Nsga2Params::default(), &Space::new(60, 60));
        let (_, diagnostics) = drive_with_diagnostics(&mut search, 30, tenths);
        assert!(
            diagnostics.iter().all(|note| note[0].0 == "front_size" && note[1].0 == "hypervolume")
        );
        // The front of six fits the population of fifty, so no point is ever lost.
        assert!(diagnostics.is_sorted_by(|a, b| a[1].1 <= b[1].1));
    }

    proptest! {
        #[test]
        fn the_population_keeps_its_size_and_no_dropped_child_dominates_a_member(
            population in 2usize..12, n in 1usize..20, seed in 0u64..50, is_uniform: bool,
        ) {
            let crossover = if is_uniform { Crossover::Uniform } else { Crossover::OnePoint };
            let params = Nsga2Params { population, crossover, ..Nsga2Params::default() };
            let mut search = Nsga2::start(params, &Space::new(n, n));
            let history = drive_seeded(seed, &mut search, 6, rugged(seed));
            prop_assert!(history.iter().all(|iteration| iteration.len() == population));
            prop_assert_eq!(search.members.len(), population);
            for child in history.last().unwrap().iter().map(TradeOff::of) {
                let dominates = |member: &TradeOff| crate::operators::pareto::dominates(child.costs, member.costs);
                prop_assert!(search.members.contains(&child) || !search.members.iter().any(dominates));
            }
        }
    }
}
