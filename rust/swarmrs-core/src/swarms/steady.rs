//! Steady-state breeding for a wanted size: one child a time, which takes the place of a parent or of the worst.

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::operators::mutation::{mutated, neutral_gain};
use crate::problem::objective::Cost;
use crate::search::algorithm::Space;
use crate::simd::words;

/// The sizes to search for one after the other, each for an equal share of the budget.
#[derive(Debug, Clone)]
pub struct Schedule {
    sizes: Vec<usize>,
    is_fixed: bool,
    at: Option<usize>,
}

impl Schedule {
    /// This size alone, lowered to the limit, or without one a fifth, two, three and four fifths of the features:
    /// halves are rounded up, sizes above the limit are lowered to it and equal ones are searched for once.
    pub fn new(size: Option<usize>, space: &Space) -> Self {
        let sizes = match size {
            Some(size) => vec![size.min(space.limit())],
            None => fifths(space.n_features(), space.limit()),
        };
        Self { sizes, is_fixed: size.is_some(), at: None }
    }

    /// Moves on with the budget; true when the search for a size begins.
    pub fn advance(&mut self, fraction: f64) -> bool {
        let stages = self.sizes.len();
        let due = ((fraction * stages as f64) as usize).min(stages - 1);
        let is_new = self.at.is_none_or(|at| at < due);
        if is_new {
            self.at = Some(due);
        }
        is_new
    }

    /// The size searched for now.
    pub fn size(&self) -> usize {
        self.sizes[self.at.unwrap_or(0)]
    }

    /// True if a subset of `size` features may be the answer: the best of all sizes is, unless one size was set.
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

/// The rates at which children are made.
#[derive(Debug, Clone, Copy)]
pub struct Breeding {
    /// The probability that a child has two parents.
    pub crossover_rate: f64,
    /// The probability that a feature of the child is lost.
    pub mutation_rate: f64,
    /// q: a rank is chosen 1 - q times as often as the rank before it.
    pub selection_pressure: f64,
}

/// Chromosomes, best first; of equals the older one first.
#[derive(Debug, Clone, Default)]
pub struct Population {
    members: Vec<(Subset, Cost)>,
}

/// The ranks of a child's parents; they hold until the next chromosome enters.
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

    /// Lets a chromosome in.
    pub fn insert(&mut self, subset: Subset, cost: Cost) {
        let rank = self.members.partition_point(|(_, other)| *other <= cost);
        self.members.insert(rank, (subset, cost));
    }

    /// A child of two members: their ranks, the crossover, the mutations and what exceeds the limit are drawn, in this
    /// order. A population of one is both parents.
    pub fn breed(&self, breeding: &Breeding, space: &Space, rng: &mut Rng) -> (Subset, Parents) {
        let q = breeding.selection_pressure;
        let first = rank(self.members.len(), q, None, rng);
        // A wheel without the first parent is what redrawing until the two differ comes to.
        let second = rank(self.members.len(), q, Some(first), rng);
        let (mother, father) = (&self.members[first].0, &self.members[second].0);
        let is_crossed = rng.bernoulli(breeding.crossover_rate);
        let child = if is_crossed { crossed(mother, father, rng) } else { mother.clone() };
        let rate = breeding.mutation_rate;
        // Others are gained at the rate that keeps the expected size.
        let mut child = mutated(&child, rate, neutral_gain(rate, &child), rng);
        space.trim(&mut child, rng);
        (child, Parents { first, second })
    }

    /// Lets a child in: for the parent nearer to it if it is better than both (the worse parent if both are as near),
    /// for the worse parent if it is no worse than that one, for the worst of all otherwise.
    pub fn replace(&mut self, parents: Parents, child: Subset, cost: Cost) {
        let better = parents.first.min(parents.second);
        let worse = parents.first.max(parents.second);
        let distance = |rank: usize| self.members[rank].0.distance(&child);
        let out = if cost < self.members[better].1 {
            if distance(better) < distance(worse) { better } else { worse }
        } else if cost <= self.members[worse].1 {
            worse
        } else {
            self.members.len() - 1
        };
        self.members.remove(out);
        self.insert(child, cost);
    }
}

/// A first chromosome: each feature with a probability of `size` out of all of them.
pub fn scattered(space: &Space, size: usize, rng: &mut Rng) -> Subset {
    let n = space.n_features();
    let mut subset = words::drawn(n, rng, |_| [(u64::MAX, size as f64 / n as f64)]);
    space.trim(&mut subset, rng);
    subset
}

/// Draws one of `n` ranks other than `barred`, each 1 - q times as often as the rank before it.
fn rank(n: usize, q: f64, barred: Option<usize>, rng: &mut Rng) -> usize {
    let mut weights: Vec<f64> =
        std::iter::successors(Some(1.0), |weight| Some(weight * (1.0 - q))).take(n).collect();
    if let Some(barred) = barred.filter(|_| n > 1) {
        weights[barred] = 0.0;
    }
    let ball = rng.unit() * weights.iter().sum::<f64>();
    let mut end = 0.0;
    let ends = weights.iter().map(|weight| {
        end += weight;
        end
    });
    // Rounding may leave the ball past the last end: it then falls into the last slot that is open.
    ends.enumerate()
        .find(|(_, end)| ball < *end)
        .map_or_else(|| weights.iter().rposition(|weight| *weight > 0.0).unwrap_or(0), |(at, _)| at)
}

/// Two-point crossover: `mother` with the stretch between two distinct cuts from `father`.
fn crossed(mother: &Subset, father: &Subset, rng: &mut Rng) -> Subset {
    let n = mother.len();
    let mut cuts = rng.distinct(n.saturating_sub(1).min(2), n.saturating_sub(1));
    cuts.sort_unstable();
    // Cuts lie behind features, never behind the last; a single one reaches to the end.
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
    fn every_size_gets_its_share() {
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
    fn the_first_rank_is_drawn_as_often_as_computed() {
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
    fn a_child_replaces_who_it_should() {
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
        // Better than both: the nearer parent goes, of equally near ones the worse.
        expect(&[0], 0.1, [&[0], &[2, 3], &[4, 5]]);
        expect(&[2], 0.1, [&[2], &[0, 1], &[4, 5]]);
        expect(&[0, 2], 0.1, [&[0, 2], &[0, 1], &[4, 5]]);
        // Between the parents, the worse included: it goes, however near.
        expect(&[0], 0.3, [&[0, 1], &[0], &[4, 5]]);
        expect(&[0], 0.4, [&[0, 1], &[0], &[4, 5]]);
        // Worse than both: the worst of all goes, even for something worse.
        expect(&[0], 0.9, [&[0, 1], &[2, 3], &[0]]);
    }

    proptest! {
        #[test]
        fn crossover_takes_one_stretch(n in 1usize..40, seed: u64) {
            let child = crossed(&Subset::empty(n), &Subset::full(n), &mut rng(seed));
            let taken: Vec<usize> = child.iter().collect();
            prop_assert!(taken.windows(2).all(|pair| pair[1] == pair[0] + 1));
            prop_assert!(!child.contains(0), "the child starts with the first parent's part");
            prop_assert_eq!(taken.is_empty(), n == 1);
        }

        #[test]
        fn a_child_fits_the_space(n in 1usize..40, limit in 1usize..40, members in 1usize..5, seed: u64) {
            let (space, mut rng) = (Space::new(n, limit), rng(seed));
            let mut population = Population::default();
            for _ in 0..members {
                population.insert(scattered(&space, limit.min(n), &mut rng), Cost::new(0.5));
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
