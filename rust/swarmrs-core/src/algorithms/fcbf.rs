//! Fast correlation-based filter: every predominant feature eliminates the features redundant to it.
//!
//! ```text
//! by su_c descending: select p, the first remaining; remove every later q with SU(p, q) >= su_c[q]; repeat
//! ```
//!
//! `su_c` is the relevance of a feature, SU the symmetrical uncertainty. The method is in
//! [`filter::fcbf`](crate::filter::fcbf). It selects without evaluations; the single subset it proposes is the result. The
//! paper's threshold of relevance is 0. The most relevant features up to the limit of the space are kept. If no feature is
//! relevant it selects the first feature; without a dataset it selects the first features up to the limit.
//!
//! L. Yu, H. Liu, Feature selection for high-dimensional data: a fast correlation-based filter solution, ICML (2003)

use crate::base::subset::Subset;
use crate::filter::Filter;
use crate::operators::single_proposal::single_proposal;
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Card, Evaluation, Family, Iteration, NoParams, Optimizer, Space,
};

/// A search with one proposal.
#[derive(Debug)]
pub struct Fcbf {
    space: Space,
}

impl Algorithm for Fcbf {
    type Params = NoParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Fast correlation-based filter",
        family: Family::Filter,
        year: 2003,
        paper: "L. Yu, H. Liu, Feature selection for high-dimensional data: a fast correlation-based filter solution, ICML",
        doi: "",
        aliases: &[],
        summary: "filter: relevant features that are not redundant to a more relevant one; evaluates only its answer",
        evaluations: None,
        objective: Objective::Error,
    };
    const USES_FILTER: bool = true;

    fn start(_: NoParams, space: &Space) -> Self {
        Self { space: space.clone() }
    }
}

impl Optimizer for Fcbf {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        single_proposal(iteration, &self.space, Filter::fcbf)
    }

    fn tell(&mut self, _: &Iteration<'_>, _: &[Evaluation]) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{crossed, drive, onemax};

    #[test]
    fn a_duplicate_is_removed_and_the_limit_holds() {
        for (limit, expected) in [(3, &[0, 1][..]), (1, &[0])] {
            let mut search = Fcbf::start(NoParams {}, &crossed(limit));
            let history = drive(&mut search, 9, onemax);
            assert_eq!((history.len(), history[0].len()), (1, 1));
            assert!(history[0][0].subset.iter().eq(expected.iter().copied()));
        }
    }
}
