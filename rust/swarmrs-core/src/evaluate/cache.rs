//! The evaluation cache: the scores of every subset evaluated.

use super::Measures;
use crate::base::subset::Subset;
use rustc_hash::{FxHashMap, FxHashSet};

/// The scores of every subset evaluated so far. Looked up, never iterated, so that the order of a hash map shows nowhere.
#[derive(Debug, Default)]
pub(crate) struct EvaluationCache {
    known: FxHashMap<Subset, Measures>,
}

impl EvaluationCache {
    /// The subsets that have to be evaluated: not cached, each once, in the order proposed; the empty one only if allowed.
    pub fn unknown(&self, proposed: &[Subset], allows_empty: bool) -> Vec<Subset> {
        let mut met = FxHashSet::default();
        proposed
            .iter()
            .filter(|subset| {
                (allows_empty || !subset.is_empty())
                    && !self.known.contains_key(*subset)
                    && met.insert(*subset)
            })
            .cloned()
            .collect()
    }

    /// Adds evaluations.
    pub fn learn(&mut self, evaluated: &[(Subset, Measures)]) {
        self.known.extend(evaluated.iter().cloned());
    }

    /// The scores of a subset, if it was evaluated.
    pub fn get(&self, subset: &Subset) -> Option<Measures> {
        self.known.get(subset).copied()
    }

    /// True if a subset was evaluated.
    pub fn knows(&self, subset: &Subset) -> bool {
        self.known.contains_key(subset)
    }

    /// The number of subsets evaluated.
    pub fn len(&self) -> u64 {
        self.known.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_subsets_are_evaluated_and_each_once() {
        let of = |features: &[usize]| Subset::from_indices(5, features.iter().copied());
        let mut cache = EvaluationCache::default();
        cache.learn(&[(of(&[1]), Measures::WORST)]);
        let proposed = [of(&[2]), of(&[1]), of(&[]), of(&[2]), of(&[0, 2])];
        assert_eq!(cache.unknown(&proposed, false), [of(&[2]), of(&[0, 2])]);
        assert_eq!(cache.unknown(&proposed, true), [of(&[2]), of(&[]), of(&[0, 2])]);
        assert_eq!(cache.len(), 1);
    }
}
