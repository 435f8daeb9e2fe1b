//! Correlation-based feature selection: features that go with the class and not with each other, found greedily.
//!
//! ```text
//! merit(S) = sum su_c[i] / sqrt(|S| + 2 sum SU(i, j))      su_c relevance, SU shared by two features
//! S <- {};  add the f of greatest merit(S + f) as long as it rises; then those no member stands for
//! ```
//!
//! The method and its two rules are in [`filter::cfs`](crate::filter::cfs). It needs no evaluation to choose: the one
//! subset it proposes is its answer. The limit of the space ends both steps early. Where nothing is relevant it answers
//! with the first feature; where there is no table to learn from, all features are alike and it takes as many as it
//! may, the first ones. The greedy search is Weka's `GreedyStepwise`; the thesis also tries best-first search.
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

/// One choice.
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
        // The two halves of the class share nothing: together, or each other's stand-in.
        assert_eq!(found("{}", 3), [0]);
        assert_eq!(found(r#"{"zero_as_one": false}"#, 3), [0, 1]);
        assert_eq!(found(r#"{"zero_as_one": false}"#, 1), [0]);
    }
}
