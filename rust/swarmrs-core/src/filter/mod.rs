//! Relevance and redundancy of features, without any classifier.
//!
//! Columns are cut into levels ([`discretize`]); entropies come from counts of levels ([`entropy`], [`divisions`],
//! [`levels`]). The symmetric uncertainty of two columns A, B is 2 (H(A) + H(B) - H(A, B)) / (H(A) + H(B)), from 0 to 1.
//! That of a column and the class is its relevance; a column of one level has none.
//!
//! Three measures need no levels and read the values themselves: the F statistic ([`f_scores`], and [`f_regression`] of a
//! numeric target), the greedy order of
//! relevance over redundancy ([`fn@mrmr`]), and the weights of near hits and misses ([`fn@relieff`]).

pub mod anova;
pub mod cfs;
pub mod discretize;
pub mod divisions;
pub mod entropy;
pub mod fcbf;
pub mod levels;
pub mod merit;
pub mod mrmr;
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
    /// Of these columns, feature 0 being the first; uncertainties of pairs are kept if they all fit `memory` bytes.
    pub fn new(levels: Arc<Levels>, columns: &[usize], memory: u64) -> Self {
        Self::of_units(levels, columns.iter().map(|&column| vec![column]).collect(), memory)
    }

    /// The same where a feature stands for several columns that go together. It tells what the one of them tells that tells
    /// most, about the class and about others.
    pub fn of_units(levels: Arc<Levels>, columns: Vec<Vec<usize>>, memory: u64) -> Self {
        let most = |unit: &Vec<usize>| {
            unit.iter().map(|&column| levels.relevance(column)).fold(0.0, f32::max)
        };
        let relevance: Vec<f32> = columns.iter().map(most).collect();
        let mut ranking: Vec<usize> = (0..columns.len()).collect();
        ranking.sort_by(|&a, &b| relevance[b].total_cmp(&relevance[a]));
        let cache = PairCache::new(&relevance, memory);
        Self { levels, columns, relevance, ranking, cache }
    }

    /// The symmetric uncertainty of each feature and the class.
    pub fn relevance(&self) -> &[f32] {
        &self.relevance
    }

    /// True if a feature is relevant for the class.
    pub fn is_relevant(&self, feature: usize) -> bool {
        self.relevance[feature] > 0.0
    }

    /// The features by relevance, the most relevant first, of equals the lowest.
    pub fn ranking(&self) -> &[usize] {
        &self.ranking
    }

    /// The symmetric uncertainty of two features, **1 if either is irrelevant**: beside any other, what tells nothing
    /// is redundant. Kept after the first time.
    pub fn between(&self, a: usize, b: usize) -> f32 {
        match self.cache.slot(a, b) {
            Slot::Irrelevant => 1.0,
            Slot::Uncached => self.uncertainty(a, b),
            Slot::Cached(slot) => {
                // Whoever comes first stores the same bits, so nothing needs an order.
                let known = f32::from_bits(slot.load(Ordering::Relaxed));
                if !known.is_nan() {
                    return known;
                }
                let found = self.uncertainty(a, b);
                slot.store(found.to_bits(), Ordering::Relaxed);
                found
            }
        }
    }

    /// The symmetric uncertainty of two features as it is, 0 where one is irrelevant; computed afresh.
    pub fn uncertainty(&self, a: usize, b: usize) -> f32 {
        let pairs =
            self.columns[a].iter().flat_map(|&a| self.columns[b].iter().map(move |&b| (a, b)));
        pairs.map(|(a, b)| self.levels.uncertainty(a, b)).fold(0.0, f32::max)
    }

    /// The features correlation-based selection chooses, at most `limit`.
    pub fn cfs(&self, rules: CfsRules, limit: usize) -> Vec<usize> {
        let chosen = cfs::choose(&self.relevance, |a, b| self.uncertainty(a, b), rules, limit);
        self.or_first(chosen)
    }

    /// The features the fast correlation-based filter chooses, at most `limit`.
    pub fn fcbf(&self, limit: usize) -> Vec<usize> {
        let relevant = self.ranking.iter().copied().filter(|&feature| self.is_relevant(feature));
        let chosen =
            fcbf::choose(relevant.collect(), &self.relevance, |a, b| self.uncertainty(a, b), limit);
        self.or_first(chosen)
    }

    /// The first of the ranking where nothing is chosen: then nothing is relevant, and all are alike.
    fn or_first(&self, chosen: Vec<usize>) -> Vec<usize> {
        if chosen.is_empty() { self.ranking.iter().take(1).copied().collect() } else { chosen }
    }
}

/// A place for every pair of relevant features, made when the first pair is needed.
#[derive(Debug)]
struct PairCache {
    /// The position of a feature among the relevant ones.
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
        // A pair of a feature and itself has a place too.
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
        let unknown = || AtomicU32::new(f32::NAN.to_bits());
        let slots = self.slots.get_or_init(|| (0..self.n_pairs).map(|_| unknown()).collect());
        let (low, high) = (a.min(b) as usize, a.max(b) as usize);
        Slot::Cached(&slots[high * (high + 1) / 2 + low])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::parallel::Pool;
    use proptest::prelude::*;

    /// Two classes; columns that follow them, follow them backwards, nearly follow them, and tell nothing.
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
    fn the_most_relevant_come_first_and_equals_in_their_order() {
        let all = filter(&[0, 1, 2, 3], 1 << 20);
        assert_eq!(all.ranking(), [0, 2, 3, 1]);
        assert_eq!((all.relevance()[0], all.relevance()[1]), (1.0, 0.0));
        assert!(all.is_relevant(3) && !all.is_relevant(1));
    }

    #[test]
    fn features_are_those_of_the_space() {
        let some = filter(&[1, 3], 1 << 20);
        let all = filter(&[0, 1, 2, 3], 1 << 20);
        assert_eq!(some.relevance(), [all.relevance()[1], all.relevance()[3]]);
        assert_eq!(some.between(1, 1), 1.0);
    }

    #[test]
    fn what_is_irrelevant_is_redundant_or_shares_nothing() {
        let all = filter(&[0, 1, 2, 3], 1 << 20);
        assert_eq!((all.between(0, 1), all.uncertainty(0, 1)), (1.0, 0.0));
        assert_eq!((all.between(1, 1), all.uncertainty(1, 1)), (1.0, 0.0));
        assert_eq!((all.between(0, 2), all.uncertainty(0, 2)), (1.0, 1.0));
    }

    #[test]
    fn nothing_relevant_leaves_the_first_feature() {
        let none = filter(&[1, 1, 1], 0);
        assert_eq!(none.fcbf(3), [0]);
        assert_eq!(none.cfs(CfsRules::default(), 3), [0]);
        let strict = CfsRules { zero_as_one: false, locally_predictive: false };
        assert_eq!(none.cfs(strict, 3), [0]);
    }

    proptest! {
        #[test]
        fn kept_is_recomputed(
            rows in proptest::collection::vec((0u32..3, proptest::collection::vec(0u8..30, 6)), 2..60),
        ) {
            let codes: Vec<u32> = rows.iter().map(|(code, _)| *code).collect();
            let values: Vec<f64> = (0..6)
                .flat_map(|f| rows.iter().map(move |(code, x)| f64::from(x[f]) + f64::from(5 * code)))
                .collect();
            let levels = Arc::new(Levels::new(&values, &codes, 3, &Pool::new(1)));
            let columns: Vec<usize> = (0..6).collect();
            let of = |memory| Filter::new(Arc::clone(&levels), &columns, memory);
            let (kept, unkept) = (of(1 << 20), of(0));
            for _ in 0..2 {
                for (a, b) in (0..6).flat_map(|a| (0..6).map(move |b| (a, b))) {
                    let found = kept.between(a, b);
                    prop_assert_eq!(found.to_bits(), unkept.between(a, b).to_bits());
                    let is_relevant = kept.is_relevant(a) && kept.is_relevant(b);
                    prop_assert_eq!(found, if is_relevant { kept.uncertainty(a, b) } else { 1.0 });
                }
            }
            prop_assert!(unkept.cache.slots.get().is_none_or(|slots| slots.is_empty()));
        }
    }
}
