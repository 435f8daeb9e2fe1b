//! Correlation-based feature selection: features that go with the class and not with each other, found greedily.
//!
//! ```text
//! merit(S) = sum su_c[i] / sqrt(|S| + 2 sum SU(i, j))      su_c relevance, SU shared by two features
//! S <- {};  add the f of greatest merit(S + f) as long as it rises; then those no member stands for
//! ```
//!
//! The method and its two rules are in [`filter::cfs`](crate::filter::cfs). It needs no evaluation to choose: the one
//! subset it asks for is its answer. The limit of the space ends both steps early. Where nothing is relevant it answers
//! with the first feature; where there is no table to learn from, all features are alike and it takes as many as it
//! may, the first ones. The greedy search is Weka's `GreedyStepwise`; the thesis also tries best-first search.
//!
//! M. A. Hall, Correlation-based feature selection for machine learning, thesis, University of Waikato (1999)

use crate::base::subset::Subset;
use crate::filter::CfsRules;
use crate::operators::only_choice::only_choice;
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, Field, Optimizer, Params, Space, Turn,
};
use serde::{Deserialize, Serialize};

/// Settings of [`Cfs`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CfsParams {
    zero_as_one: bool,
    locally_predictive: bool,
}

impl Default for CfsParams {
    fn default() -> Self {
        let CfsRules { zero_as_one, locally_predictive } = CfsRules::default();
        Self { zero_as_one, locally_predictive }
    }
}

impl Params for CfsParams {
    const FIELDS: &'static [Field] = &[
        Field {
            name: "zero_as_one",
            allowed: Allowed::Flag,
            about: "features that share nothing count as sharing all",
        },
        Field {
            name: "locally_predictive",
            allowed: Allowed::Flag,
            about: "in the end features enter that no chosen one stands for",
        },
    ];
}

/// One choice.
#[derive(Debug)]
pub struct Cfs {
    rules: CfsRules,
    space: Space,
}

impl Algorithm for Cfs {
    type Params = CfsParams;
    const CARD: Card = Card {
        name: "Correlation-based feature selection",
        family: Family::Filter,
        year: 1999,
        paper: "M. A. Hall, Correlation-based feature selection for machine learning, University of Waikato",
        doi: "",
        aliases: &[],
        summary: "features that go with the class and not with each other; measures only its answer",
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
    fn ask(&mut self, turn: &Turn<'_>) -> Vec<Subset> {
        only_choice(turn, &self.space, |filter, limit| filter.cfs(self.rules, limit))
    }

    fn tell(&mut self, _: &Turn<'_>, _: &[Evaluation]) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{crossed, drive, onemax};

    fn found(settings: &str, limit: usize) -> Vec<usize> {
        let params =
            crate::search::algorithm::read_params("cfs", &serde_json::from_str(settings).unwrap());
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
