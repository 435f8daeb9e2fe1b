//! A steady-state genetic algorithm for subsets of a given size: each child replaces a parent or the worst chromosome.

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::operators::mutation::{mutated, neutral_gain};
use crate::problem::objective::Cost;
use crate::search::algorithm::Space;
use crate::simd::words;

/// The sizes to search for one after another, each with an equal share of the budget.
#[derive(Debug, Clone)]
pub struct Schedule {
    sizes: Vec<usize>,
    is_fixed: bool,
    stage: Option<usize>,
}

impl Schedule {
    /// The given size, or 1/5, 2/5, 3/5 and 4/5 of the features, rounded half up. Sizes above the limit are lowered to it;
    /// equal ones are searched for once.
    pub fn new(size: Option<usize>, space: &Space) -> Self {
        let sizes = match size {
            Some(size) => vec![size.min(space.limit())],
            None => fifths(space.n_features(), space.limit()),
        };
        Self { sizes, is_fixed: size.is_some(), stage: None }
    }

    /// Updates the stage from the fraction of the budget that is spent; true if a new stage begins.
    pub fn advance(&mut self, fraction: f64) -> bool {
        let stages = self.sizes.len();
        let due = ((fraction * stages as f64) as usize).min(stages - 1);
        let is_new = self.stage.is_none_or(|stage| stage < due);
        if is_new {
            self.stage = Some(due);
        }
        is_new
    }

    /// The size of the current stage.
    pub fn size(&self) -> usize {
        self.sizes[self.stage.unwrap_or(0)]
    }

    /// True if a subset of `size` features may be the result: any size, unless one was given.
    pub fn accepts(&self, size: usize) -> bool {
        !self.is_fixed || size == self.size()
    }
}

fn fifths(n: usize, limit: usize) -> Vec<usize> {
    let mut sizes: Vec<usize> =
        (1..5).map(|fifth| ((2 * fifth * n + 5) / 10).clamp(1, limit)).collect();
    sizes.dedup();
    sizes
}

/// The rates of the genetic operators.
#[derive(Debug, Clone, Copy)]
pub struct Breeding {
    /// The probability that a child has two parents.
    pub crossover_rate: f64,
    /// The probability that a selected feature of the child is dropped.
    pub mutation_rate: f64,
    /// q: each rank is selected 1 - q times as often as the rank before it.
    pub selection_pressure: f64,
}

/// Chromosomes, best first; ties are in order of age.
#[derive(Debug, Clone, Default)]
pub struct Population {
    members: Vec<(Subset, Cost)>,
}

/// The ranks of a child's parents; valid until the next insertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parents {
    first: usize,
    second: usize,
}

impl Population {
    /// The chromosomes and their costs, best first.
    pub fn members(&self) -> &[(Subset, Cost)] {
        &self.members
    }

    /// Inserts a chromosome by its cost.
    pub fn insert(&mut self, subset: Subset, cost: Cost) {
        let rank = self.members.partition_point(|(_, other)| *other <= cost);
        self.members.insert(rank, (subset, cost));
    }

    /// A child of two members. Random draws, in this order: ranks of the parents, crossover, mutation, features removed for
    /// the limit. In a population of one, the member is both parents.
    pub fn breed(&self, breeding: &Breeding, space: &Space, rng: &mut Rng) -> (Subset, Parents) {
        let q = breeding.selection_pressure;
        let first = rank(self.members.len(), q, None, rng);
        // Excluding the first parent is equivalent to redrawing until the two differ.
        let second = rank(self.members.len(), q, Some(first), rng);
        let (mother, father) = (&self.members[first].0, &self.members[second].0);
        let is_crossed = rng.bernoulli(breeding.crossover_rate);
        let child = if is_crossed { crossed(mother, father, rng) } else { mother.clone() };
        let rate = breeding.mutation_rate;
        // Features are added at the rate that keeps the expected size.
        let mut child = mutated(&child, rate, neutral_gain(rate, &child), rng);
        space.trim(&mut child, rng);
        (child, Parents { first, second })
    }

    /// Inserts a child. It replaces the nearer parent if it is better than both (the worse parent if both are equally
    /// near), the worse parent if it is no worse than that one, and otherwise the worst chromosome.
    pub fn replace(&mut self, parents: Parents, child: Subset, cost: Cost) {
        let better = parents.first.min(parents.second);
        let worse = parents.first.max(parents.second);
        let distance = |rank: usize| self.members[rank].0.distance(&child);
        let replaced = if cost < self.members[better].1 {
            if distance(better) < distance(worse) { better } else { worse }
        } else if cost <= self.members[worse].1 {
            worse
        } else {
            self.members.len() - 1
        };
        self.members.remove(replaced);
        self.insert(child, cost);
    }
}

/// An initial chromosome: each feature is selected with probability `size` / n.
pub fn random_chromosome(space: &Space, size: usize, rng: &mut Rng) -> Subset {
    let n = space.n_features();
    let mut subset = words::drawn(n, rng, |_| [(u64::MAX, size as f64 / n as f64)]);
    space.trim(&mut subset, rng);
    subset
}

/// Draws one of `n` ranks other than `excluded`, each 1 - q times as often as the rank before it.
fn rank(n: usize, q: f64, excluded: Option<usize>, rng: &mut Rng) -> usize {
    let mut weights: Vec<f64> =
        std::iter::successors(Some(1.0), |weight| Some(weight * (1.0 - q))).take(n).collect();
    if let Some(excluded) = excluded.filter(|_| n > 1) {
        weights[excluded] = 0.0;
    }
    let pointer = rng.unit() * weights.iter().sum::<f64>();
    let mut end = 0.0;
    let ends = weights.iter().map(|weight| {
        end += weight;
        end
    });
    // If rounding puts the pointer past the last end, the last rank with a positive weight is drawn.
    ends.enumerate().find(|(_, end)| pointer < *end).map_or_else(
        || weights.iter().rposition(|weight| *weight > 0.0).unwrap_or(0),
        |(rank, _)| rank,
    )
}

/// Two-point crossover: `mother` with the segment between two distinct cuts from `father`.
fn crossed(mother: &Subset, father: &Subset, rng: &mut Rng) -> Subset {
    let n = mother.len();
    let mut cuts = rng.distinct(n.saturating_sub(1).min(2), n.saturating_sub(1));
    cuts.sort_unstable();
    // Cuts are after features, but not after the last; with a single cut the segment extends to the end.
    let from = cuts.first().map_or(n, |cut| cut + 1);
    let to = cuts.get(1).map_or(n, |cut| cut + 1);
    Subset::from_fn(n, |d| {
        if (from..to).contains(&d) { father.contains(d) } else { mother.contains(d) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{Phase, Rng, Streams};
    use proptest::prelude::*;

    fn rng(seed: u64) -> Rng {
        Streams::new(seed).rng(0, Phase::Ask, 0)
    }

    #[test]
    fn sizes_are_the_tabulated_fifths() {
        for (n, sizes) in [
            (9, [2, 4, 5, 7]),
            (13, [3, 5, 8, 10]),
            (18, [4, 7, 11, 14]),
            (30, [6, 12, 18, 24]),
            (34, [7, 14, 20, 27]),
            (60, [12, 24, 36, 48]),
        ] {
            assert_eq!(fifths(n, n), sizes);
        }
        assert_eq!(fifths(30, 15), [6, 12, 15]);
        assert_eq!(fifths(1, 1), [1]);
    }

    #[test]
    fn every_size_gets_an_equal_share_of_the_budget() {
        let mut schedule = Schedule::new(None, &Space::new(30, 30));
        let begun: Vec<usize> = (0..100u32)
            .filter(|&percent| schedule.advance(f64::from(percent) / 100.0))
            .map(|percent| percent as usize)
            .collect();
        assert_eq!(begun, [0, 25, 50, 75]);
        assert_eq!(schedule.size(), 24);
        assert!(schedule.accepts(3));
        let mut one = Schedule::new(Some(40), &Space::new(30, 20));
        assert!(one.advance(0.0) && !one.advance(0.9));
        assert!(one.accepts(20) && !one.accepts(19));
    }

    #[test]
    fn the_first_rank_has_the_computed_probability() {
        let mut rng = rng(3);
        let draws = 200_000;
        let firsts = (0..draws).filter(|_| rank(20, 0.25, None, &mut rng) == 0).count();
        // P(1) = .25 / (1 - .75^20) = .250795; four standard errors of this many draws are .0039.
        assert!((firsts as f64 / f64::from(draws) - 0.250_795).abs() < 0.0039);
        let normalizer: f64 = 1.0 - 0.75f64.powi(20);
        // Six decimals are printed.
        assert!((0.25 / normalizer - 0.250_795).abs() < 5e-7);
        assert!((0..1000).all(|_| rank(3, 0.25, Some(0), &mut rng) != 0));
    }

    #[test]
    fn a_child_replaces_a_parent_or_the_worst() {
        let of = |features: &[usize]| Subset::from_indices(6, features.iter().copied());
        let mut population = Population::default();
        for (features, cost) in [(&[0, 1], 0.2), (&[2, 3], 0.4), (&[4, 5], 0.6)] {
            population.insert(of(features), Cost::new(cost));
        }
        let parents = Parents { first: 1, second: 0 };
        let after = |child: &[usize], cost: f64| {
            let mut changed = population.clone();
            changed.replace(parents, of(child), Cost::new(cost));
            changed.members.iter().map(|(subset, _)| subset.iter().collect()).collect()
        };
        let expect = |child: &[usize], cost: f64, left: [&[usize]; 3]| {
            let members: Vec<Vec<usize>> = after(child, cost);
            assert_eq!(members, left, "{cost}");
        };
        // Better than both parents: replaces the nearer one, the worse one if both are equally near.
        expect(&[0], 0.1, [&[0], &[2, 3], &[4, 5]]);
        expect(&[2], 0.1, [&[2], &[0, 1], &[4, 5]]);
        expect(&[0, 2], 0.1, [&[0, 2], &[0, 1], &[4, 5]]);
        // No worse than the worse parent: replaces it.
        expect(&[0], 0.3, [&[0, 1], &[0], &[4, 5]]);
        expect(&[0], 0.4, [&[0, 1], &[0], &[4, 5]]);
        // Worse than both: replaces the worst chromosome, even if the child is worse.
        expect(&[0], 0.9, [&[0, 1], &[2, 3], &[0]]);
    }

    proptest! {
        #[test]
        fn crossover_takes_one_segment(n in 1usize..40, seed: u64) {
            let child = crossed(&Subset::empty(n), &Subset::full(n), &mut rng(seed));
            let taken: Vec<usize> = child.iter().collect();
            prop_assert!(taken.windows(2).all(|pair| pair[1] == pair[0] + 1));
            prop_assert!(!child.contains(0), "the child starts with the first parent's part");
            prop_assert_eq!(taken.is_empty(), n == 1);
        }

        #[test]
        fn a_child_is_feasible(n in 1usize..40, limit in 1usize..40, members in 1usize..5, seed: u64) {
            let (space, mut rng) = (Space::new(n, limit), rng(seed));
            let mut population = Population::default();
            for _ in 0..members {
                population.insert(random_chromosome(&space, limit.min(n), &mut rng), Cost::new(0.5));
            }
            let breeding = Breeding { crossover_rate: 1.0, mutation_rate: 0.1, selection_pressure: 0.25 };
            let (child, _) = population.breed(&breeding, &space, &mut rng);
            prop_assert!(child.count() <= space.limit());
        }
    }

    #[test]
    fn mutation_keeps_the_expected_size() {
        let mut rng = rng(5);
        let subset = Subset::from_indices(100, 0..20);
        let total: usize = (0..5000)
            .map(|_| mutated(&subset, 0.1, neutral_gain(0.1, &subset), &mut rng).count())
            .sum();
        // The size has variance 20 * .09 + 80 * .025 * .975 = 3.75; five standard errors are .137.
        assert!((total as f64 / 5000.0 - 20.0).abs() < 0.137);
    }
}
