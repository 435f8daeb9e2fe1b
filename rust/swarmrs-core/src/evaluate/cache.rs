//! What was measured, by its bits.

use super::Measures;
use crate::base::subset::Subset;
use rustc_hash::{FxHashMap, FxHashSet};

/// Every subset measured so far; asking again is free. Looked up, never iterated.
#[derive(Debug, Default)]
pub struct Memo {
    known: FxHashMap<Subset, Measures>,
}

impl Memo {
    /// The subsets that have to be measured: not known, each once, in the order asked; the empty one only if allowed.
    pub fn unknown(&self, asked: &[Subset], allows_empty: bool) -> Vec<Subset> {
        let mut seen = FxHashSet::default();
        asked
            .iter()
            .filter(|subset| {
                (allows_empty || !subset.is_empty())
                    && !self.known.contains_key(*subset)
                    && seen.insert(*subset)
            })
            .cloned()
            .collect()
    }

    /// Remembers what was measured.
    pub fn learn(&mut self, measured: &[(Subset, Measures)]) {
        self.known.extend(measured.iter().cloned());
    }

    /// What a subset showed, if it was measured.
    pub fn get(&self, subset: &Subset) -> Option<Measures> {
        self.known.get(subset).copied()
    }

    /// Whether a subset was measured.
    pub fn knows(&self, subset: &Subset) -> bool {
        self.known.contains_key(subset)
    }

    /// How many subsets were measured.
    pub fn len(&self) -> u64 {
        self.known.len() as u64
    }

    /// Whether nothing was measured yet.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_subsets_are_measured_and_each_once() {
        let of = |features: &[usize]| Subset::from_indices(5, features.iter().copied());
        let mut memo = Memo::default();
        memo.learn(&[(of(&[1]), Measures::WORST)]);
        let asked = [of(&[2]), of(&[1]), of(&[]), of(&[2]), of(&[0, 2])];
        assert_eq!(memo.unknown(&asked, false), [of(&[2]), of(&[0, 2])]);
        assert_eq!(memo.unknown(&asked, true), [of(&[2]), of(&[]), of(&[0, 2])]);
        assert_eq!(memo.len(), 1);
    }
}
