//! Plus l, take away r: forward steps followed by fewer backward steps, which can undo earlier ones.
//!
//! ```text
//! l > r:  X <- {};  repeat { l times X <- X + argmin J(X + a);  r times X <- X - argmin J(X - a) }  until |X| = d
//! l < r:  X <- U;   the reverse, removals first
//! ```
//!
//! l is `plus`, r is `minus`, d is `size`, X is `chosen`, U are all features. Every sweep is one iteration; ties go to the
//! lowest feature. The last cycle has fewer steps, so that it ends at d. The paper has no limit on the number of features: a
//! cycle that would exceed it (or remove everything) stops at the limit (or at one feature) and has as many fewer steps back.
//! Without `size`, d is the limit (or 1), and the result is the best subset of all sizes. The backward search starts as
//! sequential backward selection does: it evaluates U only without `size`, and if the limit does not allow U, it starts from
//! the best single features, which the first iteration evaluates. The default of plus 2, take away 1 is ours.
//!
//! S. D. Stearns, On selecting features for pattern classifiers, 3rd Int. Joint Conf. on Pattern Recognition (1976)

use crate::base::error::{Error, Result};
use crate::base::subset::Subset;
use crate::operators::parameters::SIZE;
use crate::operators::sweep::{self, Sweep};
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, Iteration, MOST_STEPS, Optimizer, Space, params,
};
use std::collections::VecDeque;

params! {
    /// Settings of [`Pta`].
    pub struct PtaParams {
        size: Option<usize> = None, SIZE;
        plus: usize = 2, Allowed::Whole(0, MOST_STEPS), "l, features added in a cycle";
        minus: usize = 1, Allowed::Whole(0, MOST_STEPS), "r, features removed in a cycle";
    }
}

/// A plus-l-take-away-r search.
#[derive(Debug)]
pub struct Pta {
    params: PtaParams,
    space: Space,
    chosen: Subset,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    /// Evaluate single features, for a start that the limit allows.
    Rank,
    /// Evaluate the start.
    Evaluate,
    /// The remaining sweeps of a cycle.
    Cycle(VecDeque<Sweep>),
}

impl Pta {
    fn begin(&mut self, start: Subset) {
        let is_eligible = self.is_eligible(&start);
        self.chosen = start;
        self.phase = if is_eligible { Phase::Evaluate } else { Phase::Cycle(self.cycle()) };
    }

    /// The sweeps of the next cycle; none at the end.
    fn cycle(&self) -> VecDeque<Sweep> {
        let PtaParams { size: requested, plus, minus } = self.params;
        let (size, limit) = (self.chosen.count(), self.space.limit());
        if plus > minus {
            let end = requested.unwrap_or(limit);
            let next = end.min(size.saturating_add(plus - minus));
            let top = if next > size { limit.min(next.saturating_add(minus)) } else { size };
            sweeps(Sweep::Add, top - size, top - next.max(size))
        } else {
            let end = requested.unwrap_or(1);
            let next = end.max(size.saturating_sub(minus - plus));
            let bottom = if next < size { next.saturating_sub(plus).max(1) } else { size };
            sweeps(Sweep::Remove, size - bottom, next.min(size) - bottom)
        }
    }
}

/// Sweeps in one direction, followed by sweeps in the opposite direction.
fn sweeps(direction: Sweep, n_forward: usize, n_back: usize) -> VecDeque<Sweep> {
    let back = std::iter::repeat_n(direction.opposite(), n_back);
    std::iter::repeat_n(direction, n_forward).chain(back).collect()
}

impl Algorithm for Pta {
    type Params = PtaParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Plus l, take away r",
        family: Family::Sequential,
        year: 1976,
        paper: "S. D. Stearns, On selecting features for pattern classifiers, 3rd Int. Joint Conf. on Pattern Recognition",
        doi: "",
        aliases: &[],
        summary: "adds l features and removes r, in cycles",
        evaluations: None,
        objective: Objective::Error,
    };

    fn check(params: &PtaParams) -> Result<()> {
        if params.plus == params.minus {
            return Err(Error::out_of_range("minus", params.minus, "a number other than plus"));
        }
        Ok(())
    }

    fn start(mut params: PtaParams, space: &Space) -> Self {
        params.size = params.size.map(|size| size.min(space.limit()));
        let is_forward = params.plus > params.minus;
        let chosen = Subset::empty(space.n_features());
        let mut search = Self { params, space: space.clone(), chosen, phase: Phase::Rank };
        if is_forward {
            search.phase = Phase::Cycle(search.cycle());
        } else if let Some(whole) = sweep::full_set(space.n_features(), space.limit()) {
            search.begin(whole);
        }
        search
    }
}

impl Optimizer for Pta {
    fn ask(&mut self, _: &Iteration<'_>) -> Vec<Subset> {
        match &self.phase {
            Phase::Rank => Sweep::Add.of(&self.chosen),
            Phase::Evaluate => vec![self.chosen.clone()],
            Phase::Cycle(sweeps) => {
                sweeps.front().map_or_else(Vec::new, |sweep| sweep.of(&self.chosen))
            }
        }
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        match &mut self.phase {
            Phase::Rank => {
                if let Some(start) = sweep::best_singles(evaluations, self.space.limit()) {
                    self.begin(start);
                }
            }
            Phase::Evaluate => self.phase = Phase::Cycle(self.cycle()),
            Phase::Cycle(sweeps) => {
                sweeps.pop_front();
                let is_finished = sweeps.is_empty();
                if let Some(best) = sweep::best(evaluations) {
                    self.chosen = best.subset.clone();
                }
                if is_finished {
                    self.phase = Phase::Cycle(self.cycle());
                }
            }
        }
    }

    fn is_eligible(&self, subset: &Subset) -> bool {
        self.params.size.is_none_or(|size| subset.count() == size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drive, rugged, toy_path};
    use proptest::prelude::*;

    fn path(plus: usize, minus: usize, size: Option<usize>, limit: usize) -> (String, usize) {
        let search = Pta::start(PtaParams { size, plus, minus }, &Space::new(4, limit));
        let (path, evaluations) = toy_path(search, |search| &search.chosen);
        (path.join(" "), evaluations)
    }

    #[test]
    fn the_worked_example_takes_its_path() {
        assert_eq!(path(2, 1, Some(2), 4), ("1 13 1 13 123 23".into(), 17));
    }

    #[test]
    fn taking_away_more_than_adding_goes_backward() {
        // 4 - 2 + 1 = 3, then 3 - 2 + 1 = 2.
        assert_eq!(path(1, 2, Some(2), 4), ("123 23 123 23 3 23".into(), 4 + 3 + 2 + 3 + 2 + 3));
        assert_eq!(path(0, 1, Some(2), 4), ("123 23".into(), 7));
    }

    #[test]
    fn a_cycle_stops_at_the_limit_and_at_one_feature() {
        assert_eq!(path(2, 1, None, 2).0, "1 13 1 13");
        assert_eq!(path(5, 2, None, 4).0, "1 13 123 1234 123 1234");
        assert_eq!(path(1, 3, None, 4).0, "1234 123 23 3 23 3");
    }

    #[test]
    fn plus_and_minus_must_differ() {
        let params = PtaParams { size: None, plus: 2, minus: 2 };
        let message = Pta::check(&params).unwrap_err().to_string();
        assert_eq!(message, "minus is 2, expected a number other than plus");
    }

    proptest! {
        #[test]
        fn it_ends_at_its_size(
            n in 1usize..12, limit in 1usize..12, size in 1usize..12,
            (plus, minus) in (0usize..5, 0usize..5).prop_filter("equal", |(l, r)| l != r), seed: u64,
        ) {
            let space = Space::new(n, limit);
            let params = PtaParams { size: Some(size), plus, minus };
            let mut search = Pta::start(params, &space);
            let history = drive(&mut search, 1000, rugged(seed));
            prop_assert!(history.len() < 1000);
            prop_assert_eq!(search.chosen.count(), size.min(space.limit()));
            prop_assert!(history.iter().flatten().all(|tried| tried.subset.count() <= space.limit()));
            prop_assert!(history.iter().flatten().all(|tried| !tried.subset.is_empty()));
        }
    }
}
