//! Correlation-based feature selection: greedy selection of features correlated with the class but not with each other.
//!
//! ```text
//! merit(S) = sum su_c[i] / sqrt(|S| + 2 sum SU(i, j))      su_c relevance, SU symmetrical uncertainty
//! S <- {};  add the f of greatest merit(S + f) as long as the merit rises; then add locally predictive features
//! ```
//!
//! The method and its options are in [`filter::cfs`](crate::filter::cfs). It selects without evaluations; the single subset
//! it proposes is the result. Both steps stop at the limit of the space. If no feature is relevant it selects the first
//! feature; without a dataset it selects the first features up to the limit. The greedy search is Weka's `GreedyStepwise`;
//! the thesis also uses best-first search.
//!
//! M. A. Hall, Correlation-based feature selection for machine learning, thesis, University of Waikato (1999)

use crate::base::subset::Subset;
use crate::filter::CfsRules;
use crate::operators::single_proposal::single_proposal;
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, Iteration, Optimizer, Space, params,
};

params! {
    /// Settings of [`Cfs`].
    pub struct CfsParams {
        zero_as_one: bool = CfsRules::default().zero_as_one, Allowed::Flag,
            "treat a correlation of 0 between two features as 1, as Weka does";
        locally_predictive: bool = CfsRules::default().locally_predictive, Allowed::Flag,
            "finally add features that correlate more with the class than with any selected feature";
    }
}

/// A search with one proposal.
#[derive(Debug)]
pub struct Cfs {
    rules: CfsRules,
    space: Space,
}

impl Algorithm for Cfs {
    type Params = CfsParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Correlation-based feature selection",
        family: Family::Filter,
        year: 1999,
        paper: "M. A. Hall, Correlation-based feature selection for machine learning, University of Waikato",
        doi: "",
        aliases: &[],
        summary: "greedy filter: features that correlate with the class and not with each other; evaluates only its answer",
        evaluations: None,
        objective: Objective::Error,
    };
    const USES_FILTER: bool = true;

    fn start(params: CfsParams, space: &Space) -> Self {
        let CfsParams { zero_as_one, locally_predictive } = params;
        Self { rules: CfsRules { zero_as_one, locally_predictive }, space: space.clone() }
    }
}

impl Optimizer for Cfs {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        single_proposal(iteration, &self.space, |filter, limit| filter.cfs(self.rules, limit))
    }

    fn tell(&mut self, _: &Iteration<'_>, _: &[Evaluation]) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::algorithm::read_params;
    use crate::testing::{crossed, drive, onemax};

    fn found(settings: &str, limit: usize) -> Vec<usize> {
        let params =
            read_params("cfs", &CfsParams::default(), &serde_json::from_str(settings).unwrap());
        let history = drive(&mut Cfs::start(params.unwrap(), &crossed(limit)), 9, onemax);
        assert_eq!((history.len(), history[0].len()), (1, 1));
        history[0][0].subset.iter().collect()
    }

    #[test]
    fn settings_and_limit_reach_the_rules() {
        // Features 0 and 1 are independent: redundant with zero_as_one, else both are selected.
        assert_eq!(found("{}", 3), [0]);
        assert_eq!(found(r#"{"zero_as_one": false}"#, 3), [0, 1]);
        assert_eq!(found(r#"{"zero_as_one": false}"#, 1), [0]);
    }
}
