//! Floating search, forward or backward: after every step, steps in the opposite direction as long as they improve on the
//! best subset of their size.

use crate::base::subset::Subset;
use crate::operators::sweep::{self, Sweep};
use crate::problem::objective::Cost;
use crate::search::algorithm::Evaluation;

/// The state of a floating search; every ask is one sweep.
#[derive(Debug, Clone)]
pub struct Floating {
    chosen: Subset,
    /// The least cost found for each size.
    best_costs: Vec<Option<Cost>>,
    /// The direction of the search.
    direction: Sweep,
    /// The current sweep; None when the search is finished.
    sweep: Option<Sweep>,
    /// The feature of the last step in the direction of the search, unless a backward step followed.
    last_feature: Option<usize>,
    /// Backward steps are allowed above this size in a forward search, below it in a backward search.
    backtrack_size: usize,
    /// The size that ends the search.
    end: usize,
}

impl Floating {
    /// A search from the empty set to `end` features.
    pub fn forward(n_features: usize, end: usize) -> Self {
        Self::new(Subset::empty(n_features), Sweep::Add, 2, end)
    }

    /// A search from `start`, which costs `cost`, down to `end` features.
    pub fn backward(start: Subset, cost: Cost, end: usize) -> Self {
        let backtrack_size = start.count().saturating_sub(1);
        let mut search = Self::new(start, Sweep::Remove, backtrack_size, end);
        search.store_best(cost);
        search
    }

    fn new(chosen: Subset, direction: Sweep, backtrack_size: usize, end: usize) -> Self {
        let best_costs = vec![None; chosen.len() + 1];
        let (sweep, last_feature) = (None, None);
        let mut search =
            Self { chosen, best_costs, direction, sweep, last_feature, backtrack_size, end };
        search.advance();
        search
    }

    /// The candidates of the current sweep; none when the search is finished.
    pub fn ask(&self) -> Vec<Subset> {
        self.sweep.map_or_else(Vec::new, |sweep| sweep.of(&self.chosen))
    }

    /// Takes the best step of the sweep; a backward step only if it improves on the best subset of its size.
    pub fn tell(&mut self, evaluations: &[Evaluation]) {
        let Some(best) = sweep::best(evaluations) else {
            return;
        };
        let is_forward = self.sweep == Some(self.direction);
        let (larger, smaller) = match self.sweep {
            Some(Sweep::Add) => (&best.subset, &self.chosen),
            _ => (&self.chosen, &best.subset),
        };
        let feature = larger.difference(smaller).iter().next();
        let is_improvement =
            self.best_costs[best.subset.count()].is_none_or(|least| best.cost < least);
        if !is_forward && (feature == self.last_feature || !is_improvement) {
            return self.advance();
        }
        self.last_feature = feature.filter(|_| is_forward);
        self.chosen = best.subset.clone();
        if is_improvement {
            self.store_best(best.cost);
        }
        let size = self.chosen.count();
        let may_backtrack = match self.direction {
            Sweep::Add => size > self.backtrack_size,
            Sweep::Remove => size < self.backtrack_size,
        };
        if may_backtrack {
            self.sweep = Some(self.direction.opposite());
        } else {
            self.advance();
        }
    }

    /// Continues in the direction of the search, or finishes it.
    fn advance(&mut self) {
        let size = self.chosen.count();
        let is_finished = match self.direction {
            Sweep::Add => size >= self.end,
            Sweep::Remove => size <= self.end,
        };
        self.sweep = (!is_finished).then_some(self.direction);
    }

    fn store_best(&mut self, cost: Cost) {
        let size = self.chosen.count();
        self.best_costs[size] = Some(cost);
    }

    /// The current subset.
    pub fn chosen(&self) -> &Subset {
        &self.chosen
    }
}
