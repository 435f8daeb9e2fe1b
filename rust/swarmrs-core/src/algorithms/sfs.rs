//! Sequential forward selection: repeatedly add the feature that lowers the cost most.
//!
//! ```text
//! X <- {};  repeat X <- X + argmin J(X + a) over a not in X, until |X| = d        d size, X chosen
//! ```
//!
//! Every sweep is one iteration. Candidates are in ascending order, and ties go to the lowest feature. Without `size` it
//! runs to the limit of the space, and the result is the best subset of all sizes; a `size` above the limit is lowered to
//! it.
//!
//! A. W. Whitney, A direct method of nonparametric measurement selection, IEEE Trans. Computers C-20 (1971),
//! doi:10.1109/T-C.1971.223410

use crate::base::subset::Subset;
use crate::operators::parameters::SIZE;
use crate::operators::sweep::{self, Sweep};
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Card, Evaluation, Family, Iteration, Optimizer, Space, params,
};

params! {
    /// Settings of [`Sfs`].
    pub struct SfsParams {
        size: Option<usize> = None, SIZE;
    }
}

/// A sequential forward search.
#[derive(Debug)]
pub struct Sfs {
    chosen: Subset,
    size: Option<usize>,
    end: usize,
}

impl Algorithm for Sfs {
    type Params = SfsParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Sequential forward selection",
        family: Family::Sequential,
        year: 1971,
        paper: "A. W. Whitney, A direct method of nonparametric measurement selection, IEEE Trans. Computers C-20",
        doi: "10.1109/T-C.1971.223410",
        aliases: &[],
        summary: "adds the feature that lowers the cost most, step by step",
        evaluations: None,
        objective: Objective::Error,
    };

    fn start(params: SfsParams, space: &Space) -> Self {
        let size = params.size.map(|size| size.min(space.limit()));
        let end = size.unwrap_or(space.limit());
        Self { chosen: Subset::empty(space.n_features()), size, end }
    }
}

impl Optimizer for Sfs {
    fn ask(&mut self, _: &Iteration<'_>) -> Vec<Subset> {
        if self.chosen.count() == self.end { Vec::new() } else { Sweep::Add.of(&self.chosen) }
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        if let Some(best) = sweep::best(evaluations) {
            self.chosen = best.subset.clone();
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

    #[test]
    fn the_worked_example_takes_its_path() {
        let search = Sfs::start(SfsParams { size: Some(2) }, &Space::new(4, 4));
        let (path, evaluations) = toy_path(search, |search| &search.chosen);
        assert_eq!((path.join(" ").as_str(), evaluations), ("1 13", 7));
    }

    #[test]
    fn a_size_above_the_limit_is_lowered_to_it() {
        let search = Sfs::start(SfsParams { size: Some(9) }, &Space::new(4, 3));
        assert!(search.is_eligible(&Subset::from_indices(4, 0..3)));
        let (path, _) = toy_path(search, |search| &search.chosen);
        assert_eq!(path.join(" "), "1 13 123");
    }
}
