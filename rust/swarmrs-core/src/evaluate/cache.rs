//! The evaluation cache: the scores of subsets evaluated, within a bound of memory.
//!
//! A subset is looked up by a key of 128 bits: its own bits where there are no more than that, else a hash of them. Of
//! `n` subsets two have the same hash with a probability of about `n^2 / 2^129`: 1e-25 for ten million.
//!
//! Entries live in two generations. When the young one is full, it becomes the old one, and the old one is dropped; an
//! entry that is looked up in the old one moves to the young one. So subsets that come back stay, what is dropped depends
//! on the lookups alone, and a subset that was dropped is evaluated once more, with the same result.

use super::Measures;
use crate::base::subset::Subset;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;

/// The key of a subset: two words, which take less room in an entry than one of twice the alignment.
pub(crate) type Key = [u64; 2];

/// Bytes of an entry, with the byte by which a hash table marks its place.
const ENTRY: u64 = (size_of::<(Key, [f64; Measures::FIELDS])>() + 1) as u64;
/// Places of a generation, at least: room for the subsets of most searches, whatever the memory; 3 MB in two generations.
const LEAST_PLACES: u64 = 1 << 14;

/// The key of a subset of features.
pub(crate) fn key(subset: &Subset) -> Key {
    let words = subset.words();
    match *words {
        [] => return [0, 0],
        [word] => return [word, 0],
        [low, high] => return [low, high],
        _ => {}
    }
    // Two lanes of folded multiplication with odd constants from the digits of pi.
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        (product ^ (product >> 64)) as u64
    };
    let (mut low, mut high) = (0x243f_6a88_85a3_08d3_u64, 0x1319_8a2e_0370_7345_u64);
    for &word in words {
        low = fold(low ^ word, 0xa409_3822_299f_31d1).wrapping_add(word.rotate_left(23));
        high = fold(high.wrapping_add(word), 0x082e_fa98_ec4e_6c89) ^ word.rotate_left(41);
    }
    [fold(low, 0x4528_21e6_38d0_1377), fold(high, 0xbe54_66cf_34e9_0c6d)]
}

/// The scores of subsets by their keys. Looked up, never iterated, so that the order of a hash map shows nowhere.
type Scores = FxHashMap<Key, [f64; Measures::FIELDS]>;

/// The scores of the subsets evaluated so far, or of the last ones that fit the memory.
#[derive(Debug, Default)]
pub(crate) struct EvaluationCache {
    young: Scores,
    old: Scores,
    /// Entries of a generation; only a batch that is larger exceeds it.
    capacity: usize,
    n_evaluated: u64,
}

impl EvaluationCache {
    /// A cache of so many bytes.
    pub fn within(memory: u64) -> Self {
        // A hash table has a power of two of places and fills seven in eight of them.
        let places = (memory / 2 / ENTRY).max(LEAST_PLACES);
        let places = 1u64 << places.ilog2();
        Self { capacity: (places / 8 * 7) as usize, ..Self::default() }
    }

    /// A cache that drops nothing: for scores that a second evaluation may not repeat.
    pub fn unbounded() -> Self {
        Self { capacity: usize::MAX, ..Self::default() }
    }

    /// The subsets that have to be evaluated: not cached, each once, in the order proposed; the empty one only if allowed.
    /// All others are in the cache until the next call.
    pub fn unknown(&mut self, proposed: &[(Subset, Key)], allows_empty: bool) -> Vec<Subset> {
        // Before the batch, so that all of it is in one generation and no table grows beyond its places.
        if !self.young.is_empty() && self.young.len() + proposed.len() > self.capacity {
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.clear();
        }
        let mut met = FxHashSet::default();
        let mut unknown = Vec::new();
        for (subset, key) in proposed {
            if !allows_empty && subset.is_empty() {
                continue;
            }
            if let Entry::Vacant(place) = self.young.entry(*key) {
                if let Some(scores) = self.old.remove(key) {
                    place.insert(scores);
                } else if met.insert(*key) {
                    unknown.push(subset.clone());
                }
            }
        }
        unknown
    }

    /// Adds evaluations.
    pub fn learn(&mut self, evaluated: &[(Subset, Measures)]) {
        self.n_evaluated += evaluated.len() as u64;
        let entry = |(subset, measures): &(Subset, Measures)| (key(subset), measures.to_array());
        self.young.extend(evaluated.iter().map(entry));
    }

    /// The scores of a subset of the last batch, if it was evaluated.
    pub fn get(&self, key: Key) -> Option<Measures> {
        self.young.get(&key).map(|scores| Measures::from_array(*scores))
    }

    /// The number of subsets evaluated. One that was dropped and evaluated once more counts twice.
    pub fn n_evaluated(&self) -> u64 {
        self.n_evaluated
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(features: &[usize]) -> (Subset, Key) {
        let subset = Subset::from_indices(5, features.iter().copied());
        let key = key(&subset);
        (subset, key)
    }

    /// A subset of one of `n` features with an error of its own.
    fn one(n: usize, feature: usize) -> (Subset, Measures) {
        (Subset::from_indices(n, [feature]), Measures::from_error(feature as f64))
    }

    #[test]
    fn the_key_of_many_features_is_a_fixed_hash() {
        let subset = Subset::from_indices(200, [0, 63, 64, 130, 199]);
        assert_eq!(key(&subset), [0xbc02_46e2_21e8_1738, 0x6486_6e9a_1830_9d9b]);
    }

    #[test]
    fn only_new_subsets_are_evaluated_and_each_once() {
        let mut cache = EvaluationCache::within(0);
        cache.learn(&[(of(&[1]).0, Measures::WORST)]);
        let proposed = [of(&[2]), of(&[1]), of(&[]), of(&[2]), of(&[0, 2])];
        assert_eq!(cache.unknown(&proposed, false), [of(&[2]).0, of(&[0, 2]).0]);
        assert_eq!(cache.unknown(&proposed, true), [of(&[2]).0, of(&[]).0, of(&[0, 2]).0]);
        assert_eq!(cache.n_evaluated(), 1);
    }

    #[test]
    fn scores_come_back_as_they_were() {
        let numbers = Some(super::super::NumberScores { r2: 0.25, ..Default::default() });
        let of_numbers = Measures { error: 0.75, pooled_error: 0.7, numbers, ..Measures::WORST };
        for measures in [Measures::WORST, Measures::from_error(0.125), of_numbers] {
            let mut cache = EvaluationCache::within(0);
            let (subset, key) = of(&[3]);
            cache.learn(&[(subset, measures)]);
            assert_eq!(cache.get(key), Some(measures));
        }
    }

    #[test]
    fn subsets_that_come_back_stay_and_the_others_go() {
        let n = 300;
        let keyed = |at: usize| (one(n, at).0.clone(), key(&one(n, at).0));
        let mut cache = EvaluationCache { capacity: 4, ..EvaluationCache::default() };
        for at in 0..100 {
            let asked = [keyed(at), keyed(0)];
            let unknown = cache.unknown(&asked, false);
            cache.learn(
                &unknown
                    .iter()
                    .map(|subset| {
                        (subset.clone(), Measures::from_error(subset.iter().next().unwrap() as f64))
                    })
                    .collect::<Vec<_>>(),
            );
            assert_eq!(cache.get(asked[0].1), Some(Measures::from_error(at as f64)));
            assert_eq!(cache.get(asked[1].1), Some(Measures::from_error(0.0)));
            assert!(cache.young.len() <= 4 && cache.old.len() <= 4);
        }
        assert_eq!(cache.n_evaluated(), 100);
        assert_eq!(cache.unknown(&[keyed(50), keyed(99), keyed(0)], false), [one(n, 50).0]);
    }

    #[test]
    fn the_memory_bounds_the_places() {
        let bytes = |memory| {
            let cache = EvaluationCache::within(memory);
            let mut scores = Scores::default();
            scores.reserve(cache.capacity);
            assert!(scores.capacity() < 2 * cache.capacity);
            2 * (scores.capacity() as u64 * 8 / 7) * ENTRY
        };
        assert!(bytes(0) < 3 << 20);
        for memory in [1 << 24, 100_000_000, 1 << 28, 1 << 30] {
            assert!((memory / 2..=memory).contains(&bytes(memory)), "{memory}");
        }
        assert_eq!(EvaluationCache::unbounded().capacity, usize::MAX);
    }

    proptest! {
        #[test]
        fn different_subsets_have_different_keys(
            n in prop::sample::select(vec![5usize, 64, 100, 128, 129, 200, 1000]),
            a in proptest::collection::btree_set(0usize..1000, 0..12),
            b in proptest::collection::btree_set(0usize..1000, 0..12),
        ) {
            let of = |set: &std::collections::BTreeSet<usize>| {
                Subset::from_indices(n, set.iter().map(|feature| feature % n))
            };
            let (a, b) = (of(&a), of(&b));
            prop_assert_eq!(a == b, key(&a) == key(&b));
        }
    }

    #[test]
    fn keys_of_similar_subsets_fill_both_halves() {
        // All pairs of 300 features, and the table without features: the low and the high 64 bits alone tell them apart.
        let mut keys: Vec<Key> = vec![key(&Subset::empty(300))];
        for a in 0..300 {
            keys.extend((0..=a).map(|b| key(&Subset::from_indices(300, [a, b]))));
        }
        for half in [0, 1] {
            let halves: FxHashSet<u64> = keys.iter().map(|key| key[half]).collect();
            assert_eq!(halves.len(), keys.len());
        }
    }
}
