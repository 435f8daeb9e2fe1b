//! Sequential backward floating selection: after every removal, add features as long as that improves on the best subset
//! found of the size.
//!
//! ```text
//! X <- U, evaluated;  B[k] <- the least cost found of size k
//! repeat  X <- X - argmin J(X - a);  update B
//!         while |X| < |U| - 1:  b <- argmin J(X + b);  stop if b is the feature just removed
//!                               if J(X + b) < B[|X| + 1]: X <- X + b, update B;  else stop
//! until   |X| <= max(1, d - overshoot)
//! ```
//!
//! d is `size`; X, B and the two loops are in `Floating`. Every sweep is one iteration; ties go to the lowest feature. The
//! paper continues past d without saying how far: `overshoot` is ours. Without `size` it runs down to one feature, and the
//! result is the best subset of all sizes. Every addition lowers some `B[k]`, so the search terminates, but no useful bound is
//! known: the default budget stops the worst case.
//!
//! The paper has no limit on the number of features. With a limit below |U|, the first iteration evaluates every single
//! feature, and the search starts from the best ones up to the limit; any feature may still be added later.
//!
//! P. Pudil, J. Novovicova, J. Kittler, Floating search methods in feature selection, Pattern Recognition Letters 15
//! (1994), doi:10.1016/0167-8655(94)90127-9

use crate::base::subset::Subset;
use crate::operators::parameters::{OVERSHOOT, SIZE};
use crate::operators::sweep::{self, Sweep};
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Card, Evaluation, Family, Iteration, Optimizer, Space, params,
};
use crate::swarms::floating::Floating;

params! {
    /// Settings of [`Sbfs`].
    pub struct SbfsParams {
        size: Option<usize> = None, SIZE;
        overshoot: usize = 3, OVERSHOOT;
    }
}

/// A backward floating search.
#[derive(Debug)]
pub struct Sbfs {
    space: Space,
    size: Option<usize>,
    end: usize,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    /// Evaluate single features, for a start that the limit allows.
    Rank,
    /// Evaluate the start.
    Evaluate(Subset),
    /// The floating search.
    Float(Floating),
}

impl Algorithm for Sbfs {
    type Params = SbfsParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Sequential backward floating selection",
        family: Family::Sequential,
        year: 1994,
        paper: "P. Pudil, J. Novovicova, J. Kittler, Floating search methods in feature selection, Pattern Recognition Letters 15",
        doi: "10.1016/0167-8655(94)90127-9",
        aliases: &[],
        summary: "removes a feature, then adds features back while that beats the best known subset of the size",
        evaluations: Some(1_000_000),
        objective: Objective::Error,
    };

    fn start(params: SbfsParams, space: &Space) -> Self {
        let size = params.size.map(|size| size.min(space.limit()));
        let end = size.map_or(1, |size| size.saturating_sub(params.overshoot).max(1));
        let start = sweep::full_set(space.n_features(), space.limit());
        let phase = start.map_or(Phase::Rank, Phase::Evaluate);
        Self { space: space.clone(), size, end, phase }
    }
}

impl Optimizer for Sbfs {
    fn ask(&mut self, _: &Iteration<'_>) -> Vec<Subset> {
        match &self.phase {
            Phase::Rank => Sweep::Add.of(&Subset::empty(self.space.n_features())),
            Phase::Evaluate(start) => vec![start.clone()],
            Phase::Float(search) => search.ask(),
        }
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        match &mut self.phase {
            Phase::Rank => {
                if let Some(start) = sweep::best_singles(evaluations, self.space.limit()) {
                    self.phase = Phase::Evaluate(start);
                }
            }
            Phase::Evaluate(_) => {
                if let [start] = evaluations {
                    let search = Floating::backward(start.subset.clone(), start.cost, self.end);
                    self.phase = Phase::Float(search);
                }
            }
            Phase::Float(search) => search.tell(evaluations),
        }
    }

    fn is_eligible(&self, subset: &Subset) -> bool {
        self.size.is_none_or(|size| subset.count() == size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{best_of_size, drive, rugged, toy};
    use proptest::prelude::*;

    fn path(size: usize, limit: usize) -> (String, usize) {
        let params = SbfsParams { size: Some(size), ..SbfsParams::default() };
        let mut search = Sbfs::start(params, &Space::new(4, limit));
        let (mut path, mut n_evaluations) = (Vec::new(), 0);
        while let [evaluations] = drive(&mut search, 1, toy).as_slice() {
            n_evaluations += evaluations.len();
            if let Phase::Float(search) = &search.phase {
                let features = search.chosen().iter().map(|feature| (feature + 1).to_string());
                path.push(features.collect::<String>());
            }
        }
        (path.join(" "), n_evaluations)
    }

    #[test]
    fn the_worked_example_finds_its_answer() {
        let mut search = Sbfs::start(SbfsParams { size: Some(2), overshoot: 3 }, &Space::new(4, 4));
        let history = drive(&mut search, 100, toy);
        assert_eq!(best_of_size(&history, 2).unwrap().value(), 1.0 - 0.90);
        // U; -4; -1, after which 1 is the best to add; -2, after which 2 is.
        assert_eq!(path(2, 4), ("1234 123 23 23 3 3".into(), 1 + 4 + 3 + 2 + 2 + 3));
    }

    #[test]
    fn below_a_limit_it_starts_from_the_best_single_features() {
        assert_eq!(path(2, 3), ("123 23 3 3".into(), 4 + 1 + 3 + 2 + 3));
    }

    proptest! {
        #[test]
        fn it_never_exceeds_the_limit_and_ends(n in 1usize..10, limit in 1usize..10, seed: u64) {
            let space = Space::new(n, limit);
            let mut search = Sbfs::start(SbfsParams::default(), &space);
            let history = drive(&mut search, 100_000, rugged(seed));
            prop_assert!(history.len() < 100_000);
            prop_assert!(history.iter().flatten().all(|t| (1..=space.limit()).contains(&t.subset.count())));
            prop_assert!(best_of_size(&history, 1).is_some());
        }
    }
}
