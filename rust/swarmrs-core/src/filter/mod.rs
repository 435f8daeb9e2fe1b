//! Filters: relevance and redundancy of features, without a classifier.
//!
//! Columns are discretized into levels ([`discretize`]); entropies come from counts of levels ([`entropy`],
//! [`partitions`], [`levels`]). The symmetrical uncertainty of two columns A, B is
//! 2 (H(A) + H(B) - H(A, B)) / (H(A) + H(B)), from 0 to 1. The symmetrical uncertainty of a column and the class is the
//! column's relevance; a column of one level has relevance 0.
//!
//! Three filters use the values instead of levels: the F statistic ([`f_scores`], and [`f_regression`] for a numeric
//! target), mRMR ([`fn@mrmr`]), and `ReliefF` ([`fn@relieff`]).

pub mod anova;
pub mod cfs;
pub mod discretize;
pub mod entropy;
pub mod fcbf;
pub mod levels;
pub mod merit;
pub mod mrmr;
pub mod partitions;
pub mod prescreen;
pub mod redundancy;
pub mod relieff;

pub use anova::{f_regression, f_scores};
pub use cfs::CfsRules;
pub use discretize::Labels;
pub use levels::Levels;
pub use merit::{Merit, Sums};
pub use mrmr::mrmr;
pub use prescreen::Prescreen;
pub use redundancy::Redundancy;
pub use relieff::relieff;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// Relevance and redundancy of the features of a space.
#[derive(Debug)]
pub struct Filter {
    levels: Arc<Levels>,
    /// The columns of each feature.
    columns: Vec<Vec<usize>>,
    relevance: Vec<f32>,
    ranking: Vec<usize>,
    cache: PairCache,
}

impl Filter {
    /// A filter whose feature i is `columns[i]`. Uncertainties of pairs are cached if all pairs fit in `memory` bytes.
    pub fn new(levels: Arc<Levels>, columns: &[usize], memory: u64) -> Self {
        Self::of_units(levels, columns.iter().map(|&column| vec![column]).collect(), memory)
    }

    /// The same for features that are units of several columns. The relevance of a unit is the maximum over its columns,
    /// the uncertainty of two units the maximum over pairs of their columns.
    pub fn of_units(levels: Arc<Levels>, columns: Vec<Vec<usize>>, memory: u64) -> Self {
        let max_relevance = |unit: &Vec<usize>| {
            unit.iter().map(|&column| levels.relevance(column)).fold(0.0, f32::max)
        };
        let relevance: Vec<f32> = columns.iter().map(max_relevance).collect();
        let mut ranking: Vec<usize> = (0..columns.len()).collect();
        ranking.sort_by(|&a, &b| relevance[b].total_cmp(&relevance[a]));
        let cache = PairCache::new(&relevance, memory);
        Self { levels, columns, relevance, ranking, cache }
    }

    /// The symmetrical uncertainty of each feature and the class.
    pub fn relevance(&self) -> &[f32] {
        &self.relevance
    }

    /// True if the relevance of a feature is above 0.
    pub fn is_relevant(&self, feature: usize) -> bool {
        self.relevance[feature] > 0.0
    }

    /// The features in descending order of relevance; ties are in ascending order of index.
    pub fn ranking(&self) -> &[usize] {
        &self.ranking
    }

    /// The redundancy of two features: their symmetrical uncertainty, but **1 if either is irrelevant**, because an
    /// irrelevant feature is redundant beside any other. Cached.
    pub fn redundancy(&self, a: usize, b: usize) -> f32 {
        match self.cache.slot(a, b) {
            Slot::Irrelevant => 1.0,
            Slot::Uncached => self.uncertainty(a, b),
            Slot::Cached(slot) => {
                // All threads store the same bits, so relaxed ordering is enough.
                let cached = f32::from_bits(slot.load(Ordering::Relaxed));
                if !cached.is_nan() {
                    return cached;
                }
                let uncertainty = self.uncertainty(a, b);
                slot.store(uncertainty.to_bits(), Ordering::Relaxed);
                uncertainty
            }
        }
    }

    /// The symmetrical uncertainty of two features, 0 if either is irrelevant; not cached.
    pub fn uncertainty(&self, a: usize, b: usize) -> f32 {
        let pairs =
            self.columns[a].iter().flat_map(|&a| self.columns[b].iter().map(move |&b| (a, b)));
        pairs.map(|(a, b)| self.levels.uncertainty(a, b)).fold(0.0, f32::max)
    }

    /// The features that correlation-based feature selection (CFS) selects, at most `limit`.
    pub fn cfs(&self, rules: CfsRules, limit: usize) -> Vec<usize> {
        let selected = cfs::select(&self.relevance, |a, b| self.uncertainty(a, b), rules, limit);
        self.or_first(selected)
    }

    /// The features that the fast correlation-based filter (FCBF) selects, at most `limit`.
    pub fn fcbf(&self, limit: usize) -> Vec<usize> {
        let relevant = self.ranking.iter().copied().filter(|&feature| self.is_relevant(feature));
        let selected =
            fcbf::select(relevant.collect(), &self.relevance, |a, b| self.uncertainty(a, b), limit);
        self.or_first(selected)
    }

    /// The selected features, or the first of the ranking if there are none because no feature is relevant.
    fn or_first(&self, selected: Vec<usize>) -> Vec<usize> {
        if selected.is_empty() { self.ranking.iter().take(1).copied().collect() } else { selected }
    }
}

/// A cache of the uncertainty of every pair of relevant features, allocated when the first pair is requested.
#[derive(Debug)]
struct PairCache {
    /// The position of each feature among the relevant ones.
    positions: Vec<Option<u32>>,
    n_pairs: usize,
    fits: bool,
    slots: OnceLock<Box<[AtomicU32]>>,
}

enum Slot<'a> {
    Irrelevant,
    Uncached,
    Cached(&'a AtomicU32),
}

impl PairCache {
    fn new(relevance: &[f32], memory: u64) -> Self {
        let mut n_relevant = 0;
        let mut position = |&relevance: &f32| {
            (relevance > 0.0).then(|| {
                n_relevant += 1;
                n_relevant - 1
            })
        };
        let positions = relevance.iter().map(&mut position).collect();
        // Pairs of a feature and itself included.
        let n_pairs = n_relevant as usize * (n_relevant as usize + 1) / 2;
        let fits = n_pairs as u64 * size_of::<AtomicU32>() as u64 <= memory;
        Self { positions, n_pairs, fits, slots: OnceLock::new() }
    }

    fn slot(&self, a: usize, b: usize) -> Slot<'_> {
        let (Some(a), Some(b)) = (self.positions[a], self.positions[b]) else {
            return Slot::Irrelevant;
        };
        if !self.fits {
            return Slot::Uncached;
        }
        let vacant = || AtomicU32::new(f32::NAN.to_bits());
        let slots = self.slots.get_or_init(|| (0..self.n_pairs).map(|_| vacant()).collect());
        let (low, high) = (a.min(b) as usize, a.max(b) as usize);
        Slot::Cached(&slots[high * (high + 1) / 2 + low])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::parallel::Pool;
    use proptest::prelude::*;

    /// Two classes; the columns are the class, noise, the negated class, and the class with some rows changed.
    fn filter(columns: &[usize], memory: u64) -> Filter {
        let codes: Vec<u32> = (0..40).map(|row| row % 2).collect();
        let mut values = Vec::new();
        values.extend(codes.iter().map(|&code| f64::from(code)));
        values.extend((0..40).map(|row| f64::from(row * 7 % 13)));
        values.extend(codes.iter().map(|&code| -f64::from(code)));
        values.extend(
            codes.iter().zip(0..).map(|(&code, row)| f64::from(code) + f64::from(row / 36)),
        );
        let levels = Levels::new(&values, &codes, 2, &Pool::new(1));
        Filter::new(Arc::new(levels), columns, memory)
    }

    #[test]
    fn ranking_is_by_descending_relevance_with_ties_in_index_order() {
        let all = filter(&[0, 1, 2, 3], 1 << 20);
        assert_eq!(all.ranking(), [0, 2, 3, 1]);
        assert_eq!((all.relevance()[0], all.relevance()[1]), (1.0, 0.0));
        assert!(all.is_relevant(3) && !all.is_relevant(1));
    }

    #[test]
    fn features_are_the_given_columns() {
        let some = filter(&[1, 3], 1 << 20);
        let all = filter(&[0, 1, 2, 3], 1 << 20);
        assert_eq!(some.relevance(), [all.relevance()[1], all.relevance()[3]]);
        assert_eq!(some.redundancy(1, 1), 1.0);
    }

    #[test]
    fn irrelevant_features_have_redundancy_1_and_uncertainty_0() {
        let all = filter(&[0, 1, 2, 3], 1 << 20);
        assert_eq!((all.redundancy(0, 1), all.uncertainty(0, 1)), (1.0, 0.0));
        assert_eq!((all.redundancy(1, 1), all.uncertainty(1, 1)), (1.0, 0.0));
        assert_eq!((all.redundancy(0, 2), all.uncertainty(0, 2)), (1.0, 1.0));
    }

    #[test]
    fn without_relevant_features_the_first_is_selected() {
        let none = filter(&[1, 1, 1], 0);
        assert_eq!(none.fcbf(3), [0]);
        assert_eq!(none.cfs(CfsRules::default(), 3), [0]);
        let strict = CfsRules { zero_as_one: false, locally_predictive: false };
        assert_eq!(none.cfs(strict, 3), [0]);
    }

    proptest! {
        #[test]
        fn cached_and_uncached_redundancy_are_equal(
            rows in proptest::collection::vec((0u32..3, proptest::collection::vec(0u8..30, 6)), 2..60),
        ) {
            let codes: Vec<u32> = rows.iter().map(|(code, _)| *code).collect();
            let values: Vec<f64> = (0..6)
                .flat_map(|f| rows.iter().map(move |(code, x)| f64::from(x[f]) + f64::from(5 * code)))
                .collect();
            let levels = Arc::new(Levels::new(&values, &codes, 3, &Pool::new(1)));
            let columns: Vec<usize> = (0..6).collect();
            let of = |memory| Filter::new(Arc::clone(&levels), &columns, memory);
            let (cached, uncached) = (of(1 << 20), of(0));
            for _ in 0..2 {
                for (a, b) in (0..6).flat_map(|a| (0..6).map(move |b| (a, b))) {
                    let found = cached.redundancy(a, b);
                    prop_assert_eq!(found.to_bits(), uncached.redundancy(a, b).to_bits());
                    let is_relevant = cached.is_relevant(a) && cached.is_relevant(b);
                    prop_assert_eq!(found, if is_relevant { cached.uncertainty(a, b) } else { 1.0 });
                }
            }
            prop_assert!(uncached.cache.slots.get().is_none_or(|slots| slots.is_empty()));
        }
    }
}
