//! Sequential forward floating selection: after every addition, remove features as long as that improves on the best subset
//! found of the size.
//!
//! ```text
//! X <- {};  B[k] <- the least cost found of size k
//! repeat  X <- X + argmin J(X + a);  update B
//!         while |X| > 2:  b <- argmin J(X - b);  stop if b is the feature just added
//!                         if J(X - b) < B[|X| - 1]: X <- X - b, update B;  else stop
//! until   |X| >= d + overshoot
//! ```
//!
//! d is `size`; X, B and the two loops are in `Floating`. Every sweep is one iteration; ties go to the lowest feature. The
//! paper continues past d without saying how far: `overshoot` is ours. The end is never above the limit of the space.
//! Without `size` it runs to the limit, and the result is the best subset of all sizes. Every removal lowers some `B[k]`, so
//! the search terminates, but no useful bound is known: the default budget stops the worst case.
//!
//! P. Pudil, J. Novovicova, J. Kittler, Floating search methods in feature selection, Pattern Recognition Letters 15
//! (1994), doi:10.1016/0167-8655(94)90127-9

use crate::base::subset::Subset;
use crate::operators::parameters::{OVERSHOOT, SIZE};
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Card, Evaluation, Family, Iteration, Optimizer, Space, params,
};
use crate::swarms::floating::Floating;

params! {
    /// Settings of [`Sffs`].
    pub struct SffsParams {
        size: Option<usize> = None, SIZE;
        overshoot: usize = 3, OVERSHOOT;
    }
}

/// A forward floating search.
#[derive(Debug)]
pub struct Sffs {
    size: Option<usize>,
    search: Floating,
}

impl Algorithm for Sffs {
    type Params = SffsParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Sequential forward floating selection",
        family: Family::Sequential,
        year: 1994,
        paper: "P. Pudil, J. Novovicova, J. Kittler, Floating search methods in feature selection, Pattern Recognition Letters 15",
        doi: "10.1016/0167-8655(94)90127-9",
        aliases: &[],
        summary: "adds a feature, then removes features while that beats the best known subset of the size",
        evaluations: Some(1_000_000),
        objective: Objective::Error,
    };

    fn start(params: SffsParams, space: &Space) -> Self {
        let size = params.size.map(|size| size.min(space.limit()));
        let end = size
            .map_or(space.limit(), |size| size.saturating_add(params.overshoot).min(space.limit()));
        Self { size, search: Floating::forward(space.n_features(), end) }
    }
}

impl Optimizer for Sffs {
    fn ask(&mut self, _: &Iteration<'_>) -> Vec<Subset> {
        self.search.ask()
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        self.search.tell(evaluations);
    }

    fn is_eligible(&self, subset: &Subset) -> bool {
        self.size.is_none_or(|size| subset.count() == size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::sweep::{self, Sweep};
    use crate::problem::objective::Cost;
    use crate::testing::{best_of_size, drive, rugged, toy_path};
    use proptest::prelude::*;

    #[test]
    fn the_worked_example_takes_its_path() {
        let params = SffsParams { size: Some(2), overshoot: 1 };
        let search = Sffs::start(params, &Space::new(4, 4));
        let (path, evaluations) = toy_path(search, |search| search.search.chosen());
        // +1 +3 +2 -1 +1, then a sweep whose best removal is the feature just added.
        assert_eq!((path.join(" ").as_str(), evaluations), ("1 13 123 23 123 123", 17));
    }

    /// The costs of sequential forward selection for each size, from 1 up.
    fn forward(n: usize, cost: &impl Fn(&Subset) -> f64) -> Vec<Cost> {
        let mut chosen = Subset::empty(n);
        let mut costs = Vec::new();
        for _ in 0..n {
            let tried = Sweep::Add.of(&chosen).into_iter().map(|subset| {
                let (measures, cost) = (crate::evaluate::Measures::WORST, Cost::new(cost(&subset)));
                Evaluation { subset, measures, cost }
            });
            let tried: Vec<Evaluation> = tried.collect();
            let best = sweep::best(&tried).unwrap();
            costs.push(best.cost);
            chosen = best.subset.clone();
        }
        costs
    }

    proptest! {
        #[test]
        fn it_never_exceeds_the_limit_and_ends(n in 1usize..10, limit in 1usize..10, seed: u64) {
            let space = Space::new(n, limit);
            let mut search = Sffs::start(SffsParams::default(), &space);
            let history = drive(&mut search, 100_000, rugged(seed));
            prop_assert!(history.len() < 100_000);
            prop_assert_eq!(search.search.chosen().count(), space.limit());
            prop_assert!(history.iter().flatten().all(|t| (1..=space.limit()).contains(&t.subset.count())));
        }

        /// After a removal, the search may be worse than forward selection on some functions; before the first removal it is
        /// never worse at any size.
        #[test]
        fn until_the_first_removal_it_is_never_worse_than_forward_selection(n in 2usize..10, seed: u64) {
            let forward = forward(n, &rugged(seed));
            let mut search = Sffs::start(SffsParams::default(), &Space::new(n, n));
            let (mut history, mut reached) = (Vec::new(), 0);
            loop {
                let iteration = drive(&mut search, 1, rugged(seed));
                let size = search.search.chosen().count();
                if iteration.is_empty() || size < reached {
                    break;
                }
                reached = size;
                history.extend(iteration);
            }
            let leads = (1..=reached).all(|k| best_of_size(&history, k).unwrap() <= forward[k - 1]);
            prop_assert!(leads);
        }
    }

    #[test]
    fn at_the_same_size_it_is_better_than_forward_selection_much_more_often_than_worse() {
        let n = 9;
        let (mut ahead, mut behind) = (0, 0);
        for seed in 0..300 {
            let rugged = rugged(seed);
            let cost = |subset: &Subset| 2.0 * rugged(subset) - subset.count() as f64;
            let forward = forward(n, &cost);
            for size in 1..=n {
                let params = SffsParams { size: Some(size), ..SffsParams::default() };
                let history = drive(&mut Sffs::start(params, &Space::new(n, n)), 100_000, cost);
                let best = best_of_size(&history, size).unwrap();
                ahead += u32::from(best < forward[size - 1]);
                behind += u32::from(best > forward[size - 1]);
            }
        }
        assert!(ahead > 20 * behind, "ahead {ahead}, behind {behind}");
    }
}
