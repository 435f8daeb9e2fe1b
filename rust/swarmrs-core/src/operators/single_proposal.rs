//! Searches that are over when they begin: one subset, chosen without evaluating any.

use crate::base::subset::Subset;
use crate::filter::Filter;
use crate::search::algorithm::{Iteration, Space};

/// In the first iteration the subset that `choose` takes from the filter, given the limit of the space; then none.
///
/// Without a table to learn from, all features are alike: then as many as the limit allows, the first ones.
pub fn single_proposal(
    iteration: &Iteration<'_>,
    space: &Space,
    choose: impl FnOnce(&Filter, usize) -> Vec<usize>,
) -> Vec<Subset> {
    if iteration.number > 0 {
        return Vec::new();
    }
    let limit = space.limit();
    let chosen = match space.filter() {
        Some(filter) => choose(filter, limit),
        None => (0..limit).collect(),
    };
    vec![Subset::from_indices(space.n_features(), chosen)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::parallel::Pool;
    use crate::base::random::{Phase, Streams};
    use crate::testing::crossed;

    fn requested(number: u64, space: &Space) -> Vec<Subset> {
        let (streams, pool) = (Streams::new(1), Pool::new(1));
        let (fraction, iterations, best, phase) = (0.0, None, None, Phase::Ask);
        let iteration = Iteration {
            number,
            fraction,
            iterations,
            max_evaluations: None,
            best,
            streams: &streams,
            phase,
            pool: &pool,
        };
        single_proposal(&iteration, space, |filter, limit| filter.ranking()[..limit].to_vec())
    }

    #[test]
    fn one_subset_is_asked_for_and_no_more() {
        let space = crossed(2);
        assert_eq!(requested(0, &space), [Subset::from_indices(3, [0, 1])]);
        assert!(requested(1, &space).is_empty());
    }

    #[test]
    fn without_a_table_the_first_features_are_as_good_as_any() {
        assert_eq!(requested(0, &Space::new(5, 3)), [Subset::from_indices(5, 0..3)]);
    }
}
