//! Sequential backward selection: repeatedly remove the feature whose removal costs least.
//!
//! ```text
//! X <- U;  repeat X <- X - argmin J(X - a) over a in X, until |X| = d        d size, X chosen, U all features
//! ```
//!
//! Every sweep is one iteration. Candidates are in ascending order, and ties go to the lowest feature. Without `size` it
//! runs down to one feature, and the result is the best subset of all sizes; only then is U itself evaluated, in an
//! iteration of its own.
//!
//! The paper has no limit on the number of features. With a limit below |U|, the first iteration evaluates every single
//! feature, and the search starts from the best ones up to the limit.
//!
//! T. Marill, D. M. Green, On the effectiveness of receptors in recognition systems, IEEE Trans. Information Theory 9
//! (1963), doi:10.1109/TIT.1963.1057810

use crate::base::subset::Subset;
use crate::operators::parameters::SIZE;
use crate::operators::sweep::{self, Sweep};
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Card, Evaluation, Family, Iteration, Optimizer, Space, params,
};

params! {
    /// Settings of [`Sbs`].
    pub struct SbsParams {
        size: Option<usize> = None, SIZE;
    }
}

/// A sequential backward search.
#[derive(Debug)]
pub struct Sbs {
    space: Space,
    size: Option<usize>,
    chosen: Subset,
    phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// Evaluate single features, for a start that the limit allows.
    Rank,
    /// Evaluate the start.
    Evaluate,
    /// Evaluate removals.
    Remove,
}

impl Sbs {
    fn end(&self) -> usize {
        self.size.unwrap_or(1)
    }

    fn begin(&mut self, start: Subset) {
        // If a smaller size is requested, the start cannot be the result, so it is not evaluated.
        let is_eligible = self.is_eligible(&start);
        self.phase = if is_eligible { Phase::Evaluate } else { Phase::Remove };
        self.chosen = start;
    }
}

impl Algorithm for Sbs {
    type Params = SbsParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Sequential backward selection",
        family: Family::Sequential,
        year: 1963,
        paper: "T. Marill, D. M. Green, On the effectiveness of receptors in recognition systems, IEEE Trans. Information Theory 9",
        doi: "10.1109/TIT.1963.1057810",
        aliases: &[],
        summary: "starts with all features and removes the one whose loss costs least, step by step",
        evaluations: None,
        objective: Objective::Error,
    };

    fn start(params: SbsParams, space: &Space) -> Self {
        let size = params.size.map(|size| size.min(space.limit()));
        let chosen = Subset::empty(space.n_features());
        let mut search = Self { space: space.clone(), size, chosen, phase: Phase::Rank };
        if let Some(whole) = sweep::full_set(space.n_features(), space.limit()) {
            search.begin(whole);
        }
        search
    }
}

impl Optimizer for Sbs {
    fn ask(&mut self, _: &Iteration<'_>) -> Vec<Subset> {
        match self.phase {
            Phase::Rank => Sweep::Add.of(&self.chosen),
            Phase::Evaluate => vec![self.chosen.clone()],
            Phase::Remove if self.chosen.count() > self.end() => Sweep::Remove.of(&self.chosen),
            Phase::Remove => Vec::new(),
        }
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        match self.phase {
            Phase::Rank => {
                if let Some(start) = sweep::best_singles(evaluations, self.space.limit()) {
                    self.begin(start);
                }
            }
            Phase::Evaluate => self.phase = Phase::Remove,
            Phase::Remove => {
                if let Some(best) = sweep::best(evaluations) {
                    self.chosen = best.subset.clone();
                }
            }
        }
    }

    fn is_eligible(&self, subset: &Subset) -> bool {
        self.size.is_none_or(|size| subset.count() == size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::toy_path;

    fn path(size: Option<usize>, limit: usize) -> (String, usize) {
        let search = Sbs::start(SbsParams { size }, &Space::new(4, limit));
        let (path, evaluations) = toy_path(search, |search| &search.chosen);
        (path.join(" "), evaluations)
    }

    #[test]
    fn the_worked_example_takes_its_path() {
        assert_eq!(path(Some(2), 4), ("123 23".into(), 7));
    }

    #[test]
    fn without_a_size_the_full_set_is_evaluated_too() {
        // 1 for the start, then 4 + 3 + 2.
        assert_eq!(path(None, 4), ("1234 123 23 3".into(), 10));
        assert_eq!(path(Some(4), 4), ("1234".into(), 1));
    }

    #[test]
    fn below_a_limit_it_starts_from_the_best_single_features() {
        // 4 singles, of which 1, 2 and 3 are best, then 3 removals.
        assert_eq!(path(Some(2), 3), ("123 23".into(), 7));
        assert_eq!(path(Some(4), 3), ("123 123".into(), 5));
    }
}
