//! The order of evaluated subsets: by cost, then by size.

use crate::base::subset::Subset;
use crate::problem::objective::Cost;
use crate::search::algorithm::Evaluation;

/// The sort key of an evaluated subset: cost, then size; smaller is better.
pub type CostAndSize = (Cost, usize);

/// The key of an evaluated subset. The empty subset counts as the largest, so it never wins a tie.
pub fn cost_and_size(evaluation: &Evaluation) -> CostAndSize {
    cost_and_size_of(&evaluation.subset, evaluation.cost)
}

/// The key of a subset with this cost.
pub fn cost_and_size_of(subset: &Subset, cost: Cost) -> CostAndSize {
    match subset.count() {
        0 => (cost, usize::MAX),
        size => (cost, size),
    }
}

/// The tie-break between a best and a new subset of equal cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ties {
    /// The best is kept.
    #[default]
    Stay,
    /// A smaller subset replaces the best.
    Shrink,
}

impl Ties {
    /// True if `new` replaces `best`.
    pub fn replaces(self, new: CostAndSize, best: CostAndSize) -> bool {
        self.key(new) < self.key(best)
    }

    /// The part of the key that is compared.
    pub fn key(self, (cost, size): CostAndSize) -> CostAndSize {
        (cost, if self == Self::Shrink { size } else { 0 })
    }
}

/// The index of the minimum, ties to the first; 0 for no values.
pub fn argmin<T: Ord>(values: impl Iterator<Item = T>) -> usize {
    values.enumerate().min_by(|a, b| a.1.cmp(&b.1)).map_or(0, |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Measures;

    #[test]
    fn the_empty_subset_loses_every_tie() {
        let mut tried = [vec![], vec![1]].map(|features| Evaluation {
            subset: Subset::from_indices(9, features),
            measures: Measures::WORST,
            cost: Cost::new(0.5),
        });
        assert!(cost_and_size(&tried[1]) < cost_and_size(&tried[0]));
        tried[0].cost = Cost::new(0.4);
        assert!(cost_and_size(&tried[0]) < cost_and_size(&tried[1]));
    }

    #[test]
    fn a_tie_goes_to_the_smaller_subset_where_asked() {
        let at = |cost, size| (Cost::new(cost), size);
        assert!(Ties::Shrink.replaces(at(0.10, 5), at(0.10, 6)));
        assert!(!Ties::Shrink.replaces(at(0.10, 6), at(0.10, 6)));
        assert!(!Ties::Shrink.replaces(at(0.11, 1), at(0.10, 6)));
        assert!(!Ties::Stay.replaces(at(0.10, 5), at(0.10, 6)));
        assert!(Ties::Stay.replaces(at(0.09, 7), at(0.10, 6)));
    }
}
