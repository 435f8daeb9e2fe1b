//! Feature subsets as bitsets.

use serde::{Deserialize, Serialize};

const WORD: usize = u64::BITS as usize;

/// A set of features out of `len`, one bit each; bits past `len` are always zero.
///
/// The order is that of the bit strings read from feature 0, so a sorted list of subsets is reproducible anywhere.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Subset {
    len: usize,
    words: Box<[u64]>,
}

impl Subset {
    /// No feature of `len`.
    pub fn empty(len: usize) -> Self {
        Self { len, words: vec![0; len.div_ceil(WORD)].into() }
    }

    /// All `len` features.
    pub fn full(len: usize) -> Self {
        let mut all = Self { len, words: vec![u64::MAX; len.div_ceil(WORD)].into() };
        all.clear_tail();
        all
    }

    /// The features for which `is_in` holds, called once for each in ascending order.
    pub fn from_fn(len: usize, mut is_in: impl FnMut(usize) -> bool) -> Self {
        let mut subset = Self::empty(len);
        for feature in 0..len {
            subset.words[feature / WORD] |= u64::from(is_in(feature)) << (feature % WORD);
        }
        subset
    }

    /// The subset with these words; bits past `len` are cleared.
    pub fn from_words(len: usize, word: impl FnMut(usize) -> u64) -> Self {
        let mut subset = Self { len, words: (0..len.div_ceil(WORD)).map(word).collect() };
        subset.clear_tail();
        subset
    }

    /// The given features.
    ///
    /// # Panics
    /// When one of them is not below `len`.
    pub fn from_indices(len: usize, features: impl IntoIterator<Item = usize>) -> Self {
        let mut subset = Self::empty(len);
        for feature in features {
            subset.insert(feature);
        }
        subset
    }

    /// The number of features of the space.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if no feature is selected.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The number of selected features.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// True if `feature` is selected.
    ///
    /// # Panics
    /// When `feature` is not below `len`.
    pub fn contains(&self, feature: usize) -> bool {
        assert!(feature < self.len, "feature {feature} of {}", self.len);
        self.words[feature / WORD] >> (feature % WORD) & 1 == 1
    }

    /// Adds `feature`.
    ///
    /// # Panics
    /// When `feature` is not below `len`.
    pub fn insert(&mut self, feature: usize) {
        assert!(feature < self.len, "feature {feature} of {}", self.len);
        self.words[feature / WORD] |= 1 << (feature % WORD);
    }

    /// Removes `feature`.
    ///
    /// # Panics
    /// When `feature` is not below `len`.
    pub fn remove(&mut self, feature: usize) {
        assert!(feature < self.len, "feature {feature} of {}", self.len);
        self.words[feature / WORD] &= !(1 << (feature % WORD));
    }

    /// Adds or removes `feature`.
    ///
    /// # Panics
    /// When `feature` is not below `len`.
    pub fn set(&mut self, feature: usize, is_in: bool) {
        if is_in {
            self.insert(feature);
        } else {
            self.remove(feature);
        }
    }

    /// A copy with `feature` added.
    #[must_use]
    pub fn with(&self, feature: usize) -> Self {
        let mut subset = self.clone();
        subset.insert(feature);
        subset
    }

    /// A copy with `feature` removed.
    #[must_use]
    pub fn without(&self, feature: usize) -> Self {
        let mut subset = self.clone();
        subset.remove(feature);
        subset
    }

    /// The union.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    /// The intersection.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    /// The difference: features of this subset that are not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    /// The symmetric difference.
    #[must_use]
    pub fn exclusive(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a ^ b)
    }

    /// The complement.
    #[must_use]
    pub fn complement(&self) -> Self {
        let mut subset =
            Self { len: self.len, words: self.words.iter().map(|word| !word).collect() };
        subset.clear_tail();
        subset
    }

    /// The Hamming distance: the number of features in one of the two and not in the other.
    ///
    /// # Panics
    /// When the two are over different numbers of features.
    pub fn distance(&self, other: &Self) -> usize {
        assert_eq!(self.len, other.len, "subsets of different spaces");
        self.words.iter().zip(&other.words).map(|(a, b)| (a ^ b).count_ones() as usize).sum()
    }

    /// The bits, 64 features to a word, feature 0 lowest; bits past `len` are zero.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The selected features, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            std::iter::successors((word != 0).then_some(word), |rest| {
                let rest = rest & (rest - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |rest| at * WORD + rest.trailing_zeros() as usize)
        })
    }

    /// The bytes that hold this subset, for hashing and storage; 8 bytes for every 64 features.
    pub fn to_bytes(&self) -> impl Iterator<Item = u8> + '_ {
        self.words.iter().flat_map(|word| word.to_le_bytes())
    }

    /// The subset whose [`to_bytes`](Self::to_bytes) these are; none when they cannot be.
    pub fn from_bytes(len: usize, bytes: &[u8]) -> Option<Self> {
        let (words, rest) = bytes.as_chunks::<8>();
        let subset =
            Self { len, words: words.iter().map(|word| u64::from_le_bytes(*word)).collect() };
        let mut trimmed = subset.clone();
        (rest.is_empty() && subset.words.len() == len.div_ceil(WORD))
            .then(|| trimmed.clear_tail())?;
        (trimmed == subset).then_some(subset)
    }

    fn zip(&self, other: &Self, join: impl Fn(u64, u64) -> u64) -> Self {
        assert_eq!(self.len, other.len, "subsets of different spaces");
        let words = self.words.iter().zip(&other.words).map(|(&a, &b)| join(a, b)).collect();
        Self { len: self.len, words }
    }

    fn clear_tail(&mut self) {
        if !self.len.is_multiple_of(WORD)
            && let Some(last) = self.words.last_mut()
        {
            *last &= (1 << (self.len % WORD)) - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn pair() -> impl Strategy<Value = (usize, BTreeSet<usize>, BTreeSet<usize>)> {
        (1usize..200).prop_flat_map(|len| {
            let set = proptest::collection::btree_set(0..len, 0..=len);
            (Just(len), set.clone(), set)
        })
    }

    proptest! {
        #[test]
        fn set_algebra_is_that_of_sets((len, a, b) in pair()) {
            let (x, y) = (Subset::from_indices(len, a.clone()), Subset::from_indices(len, b.clone()));
            prop_assert_eq!(x.count(), a.len());
            prop_assert_eq!(x.is_empty(), a.is_empty());
            prop_assert!(x.iter().eq(a.iter().copied()));
            prop_assert!(x.union(&y).iter().eq(a.union(&b).copied()));
            prop_assert!(x.intersection(&y).iter().eq(a.intersection(&b).copied()));
            prop_assert!(x.difference(&y).iter().eq(a.difference(&b).copied()));
            prop_assert!(x.exclusive(&y).iter().eq(a.symmetric_difference(&b).copied()));
            prop_assert_eq!(Subset::from_words(len, |at| !x.words()[at]), x.complement());
            prop_assert_eq!(x.distance(&y), a.symmetric_difference(&b).count());
            prop_assert!(x.complement().iter().eq((0..len).filter(|f| !a.contains(f))));
            prop_assert_eq!(x == y, a == b);
            prop_assert_eq!(Subset::full(len).difference(&x), x.complement());
        }

        #[test]
        fn bytes_bring_a_subset_back((len, a, _) in pair()) {
            let x = Subset::from_indices(len, a);
            let bytes: Vec<u8> = x.to_bytes().collect();
            prop_assert_eq!(Subset::from_bytes(len, &bytes), Some(x));
            prop_assert_eq!(Subset::from_bytes(len + 64, &bytes), None);
        }

        #[test]
        fn inserting_and_removing_undo_each_other((len, a, b) in pair()) {
            let mut x = Subset::from_indices(len, a.clone());
            for &feature in &b {
                x.set(feature, !a.contains(&feature));
            }
            prop_assert!(x.iter().eq(a.symmetric_difference(&b).copied()));
        }
    }

    #[test]
    fn bits_past_the_end_are_refused() {
        assert_eq!(Subset::from_bytes(3, &[0b1000, 0, 0, 0, 0, 0, 0, 0]), None);
    }
}
