//! Greedy stepwise backward selection: remove features as long as the cost does not rise.
//!
//! ```text
//! X <- all features
//! repeat  a <- argmin J(X - a);  X <- X - a if J(X - a) <= J(X), else stop        X chosen
//! ```
//!
//! Unlike sequential backward selection it stops when every removal raises the cost, and ties go to the highest feature. The
//! last feature is never removed. X itself is evaluated in an iteration of its own, then every sweep is one iteration, from
//! the highest feature down: so the removed feature is the first of the ties, and the final X is the result of the run.
//! Subsets are evaluated by 5-fold cross-validation, repeated while errors vary, as in the classic wrapper evaluation.
//!
//! If a limit does not allow all features, the first iteration evaluates every single feature, and the search starts from
//! the best ones up to the limit.
//!
//! R. Caruana, D. Freitag, Greedy attribute selection, Int. Conf. on Machine Learning (1994),
//! doi:10.1016/B978-1-55860-335-6.50012-X

use crate::base::subset::Subset;
use crate::evaluate::Protocol;
use crate::operators::sweep::{self, Sweep};
use crate::problem::objective::{Cost, Objective};
use crate::search::algorithm::{
    Algorithm, Card, Evaluation, Family, Iteration, NoParams, Optimizer, Space,
};

/// A greedy stepwise backward search.
#[derive(Debug)]
pub struct Gsbs {
    limit: usize,
    chosen: Subset,
    cost: Cost,
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
    /// Every removal raises the cost.
    Done,
}

impl Algorithm for Gsbs {
    type Params = NoParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Greedy stepwise backward selection",
        family: Family::Sequential,
        year: 1994,
        paper: "R. Caruana, D. Freitag, Greedy attribute selection, Int. Conf. on Machine Learning",
        doi: "10.1016/B978-1-55860-335-6.50012-X",
        aliases: &[],
        summary: "removes features from the full set until every removal raises the cost",
        evaluations: None,
        objective: Objective::Error,
    };
    const PROTOCOL: Protocol = Protocol::WRAPPER;

    fn start(_: NoParams, space: &Space) -> Self {
        let (n, limit) = (space.n_features(), space.limit());
        let (chosen, phase) = match sweep::full_set(n, limit) {
            Some(whole) => (whole, Phase::Evaluate),
            None => (Subset::empty(n), Phase::Rank),
        };
        Self { limit, chosen, cost: Cost::new(f64::INFINITY), phase }
    }
}

impl Optimizer for Gsbs {
    fn ask(&mut self, _: &Iteration<'_>) -> Vec<Subset> {
        match self.phase {
            Phase::Rank => Sweep::Add.of(&self.chosen),
            Phase::Evaluate => vec![self.chosen.clone()],
            Phase::Remove if self.chosen.count() > 1 => {
                let mut sweep = Sweep::Remove.of(&self.chosen);
                sweep.reverse();
                sweep
            }
            Phase::Remove | Phase::Done => Vec::new(),
        }
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        match self.phase {
            Phase::Rank => {
                if let Some(start) = sweep::best_singles(evaluations, self.limit) {
                    self.chosen = start;
                }
                self.phase = Phase::Evaluate;
            }
            Phase::Evaluate => {
                self.cost = evaluations.first().map_or(self.cost, |tried| tried.cost);
                self.phase = Phase::Remove;
            }
            Phase::Remove | Phase::Done => {
                // Sweeps are from the highest feature down, so the first of the ties removes the highest feature.
                match sweep::best(evaluations).filter(|best| best.cost <= self.cost) {
                    Some(best) => (self.chosen, self.cost) = (best.subset.clone(), best.cost),
                    None => self.phase = Phase::Done,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drive, toy_path};

    #[test]
    fn the_worked_example_stops_when_every_removal_raises_the_cost() {
        let (path, evaluations) =
            toy_path(Gsbs::start(NoParams {}, &Space::new(4, 4)), |search| &search.chosen);
        // All four at 0.80, then 123 at 0.92; of its parts 23 has 0.90, so it stops.
        assert_eq!(path, ["1234", "123", "123"]);
        assert_eq!(evaluations, 1 + 4 + 3);
    }

    #[test]
    fn features_are_removed_at_equal_cost_the_highest_first() {
        let mut search = Gsbs::start(NoParams {}, &Space::new(5, 5));
        let history = drive(&mut search, 99, |_| 0.3);
        assert_eq!(search.chosen, Subset::from_indices(5, [0]));
        assert_eq!(history.len(), 1 + 4);
    }
}
