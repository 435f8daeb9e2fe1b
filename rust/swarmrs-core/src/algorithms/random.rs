//! Random search: the baseline of all methods.
//!
//! Every iteration draws `population` subsets; each feature is selected with probability 1/2.

use crate::base::subset::Subset;
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, Iteration, MOST_MEMBERS, Optimizer, Space, params,
};

params! {
    /// Settings of [`Random`].
    pub struct RandomParams {
        population: usize = 50, Allowed::Whole(1, MOST_MEMBERS), "subsets drawn in an iteration";
    }
}

/// A random search.
#[derive(Debug)]
pub struct Random {
    params: RandomParams,
    space: Space,
}

impl Algorithm for Random {
    type Params = RandomParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Random search",
        family: Family::Baseline,
        year: 1958,
        paper: "S. H. Brooks, A discussion of random methods for seeking maxima, Operations Research 6",
        doi: "10.1287/opre.6.2.244",
        aliases: &[],
        summary: "independent fair bits without learning: the baseline",
        evaluations: Some(6000),
        objective: Objective::Error,
    };

    fn start(params: RandomParams, space: &Space) -> Self {
        Self { params, space: space.clone() }
    }
}

impl Optimizer for Random {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        (0..self.params.population)
            .map(|slot| self.space.random(&mut iteration.rng(slot)))
            .collect()
    }

    fn tell(&mut self, _: &Iteration<'_>, _: &[Evaluation]) {}
}
