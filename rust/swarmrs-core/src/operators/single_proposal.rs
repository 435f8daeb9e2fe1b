//! The proposal of filter methods: one subset, selected without evaluations.

use crate::base::subset::Subset;
use crate::filter::Filter;
use crate::search::algorithm::{Iteration, Space};

/// In the first iteration, the subset that `select` returns for the filter and the limit of the space; later none.
///
/// Without a dataset there is no filter, and the first features up to the limit are proposed.
pub fn single_proposal(
    iteration: &Iteration<'_>,
    space: &Space,
    select: impl FnOnce(&Filter, usize) -> Vec<usize>,
) -> Vec<Subset> {
    if iteration.number > 0 {
        return Vec::new();
    }
    let limit = space.limit();
    let selected = match space.filter() {
        Some(filter) => select(filter, limit),
        None => (0..limit).collect(),
    };
    vec![Subset::from_indices(space.n_features(), selected)]
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
    fn one_subset_is_proposed_once() {
        let space = crossed(2);
        assert_eq!(requested(0, &space), [Subset::from_indices(3, [0, 1])]);
        assert!(requested(1, &space).is_empty());
    }

    #[test]
    fn without_a_dataset_the_first_features_are_proposed() {
        assert_eq!(requested(0, &Space::new(5, 3)), [Subset::from_indices(5, 0..3)]);
    }
}
