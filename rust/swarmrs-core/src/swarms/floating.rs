//! Floating search, forward or backward: after every step, steps back as long as they set a record.

use crate::base::subset::Subset;
use crate::operators::sweep::{self, Sweep};
use crate::problem::objective::Cost;
use crate::search::algorithm::Evaluation;

/// A subset that floats up and down in size; every ask is one sweep.
#[derive(Debug, Clone)]
pub struct Floating {
    chosen: Subset,
    /// The least cost found of each size.
    records: Vec<Option<Cost>>,
    /// The direction of the search.
    onward: Sweep,
    /// The present sweep; none when the search is over.
    now: Option<Sweep>,
    /// The feature of the last step onward, as long as no step back was taken since.
    fresh: Option<usize>,
    /// The size where steps back begin: above this size going forward, below it going backward.
    pivot: usize,
    /// The size that ends the search.
    end: usize,
}

impl Floating {
    /// A search from nothing to `end` features.
    pub fn forward(n_features: usize, end: usize) -> Self {
        Self::new(Subset::empty(n_features), Sweep::Add, 2, end)
    }

    /// A search from the features of `start`, which cost `cost`, down to `end` of them.
    pub fn backward(start: Subset, cost: Cost, end: usize) -> Self {
        let pivot = start.count().saturating_sub(1);
        let mut search = Self::new(start, Sweep::Remove, pivot, end);
        search.record(cost);
        search
    }

    fn new(chosen: Subset, onward: Sweep, pivot: usize, end: usize) -> Self {
        let records = vec![None; chosen.len() + 1];
        let mut search = Self { chosen, records, onward, now: None, fresh: None, pivot, end };
        search.step_onward();
        search
    }

    /// The subsets of the present sweep; none when the search is over.
    pub fn ask(&self) -> Vec<Subset> {
        self.now.map_or_else(Vec::new, |sweep| sweep.of(&self.chosen))
    }

    /// Takes the best step of the sweep, or, going back, only a step that sets a record.
    pub fn tell(&mut self, evaluations: &[Evaluation]) {
        let Some(best) = sweep::best(evaluations) else {
            return;
        };
        let is_onward = self.now == Some(self.onward);
        let (longer, shorter) = match self.now {
            Some(Sweep::Add) => (&best.subset, &self.chosen),
            _ => (&self.chosen, &best.subset),
        };
        let feature = longer.difference(shorter).iter().next();
        let is_record = self.records[best.subset.count()].is_none_or(|record| best.cost < record);
        if !is_onward && (feature == self.fresh || !is_record) {
            return self.step_onward();
        }
        self.fresh = feature.filter(|_| is_onward);
        self.chosen = best.subset.clone();
        if is_record {
            self.record(best.cost);
        }
        let size = self.chosen.count();
        let may_return = match self.onward {
            Sweep::Add => size > self.pivot,
            Sweep::Remove => size < self.pivot,
        };
        if may_return {
            self.now = Some(self.onward.opposite());
        } else {
            self.step_onward();
        }
    }

    fn step_onward(&mut self) {
        let size = self.chosen.count();
        let is_over = match self.onward {
            Sweep::Add => size >= self.end,
            Sweep::Remove => size <= self.end,
        };
        self.now = (!is_over).then_some(self.onward);
    }

    fn record(&mut self, cost: Cost) {
        let size = self.chosen.count();
        self.records[size] = Some(cost);
    }

    /// The features it holds now.
    pub fn chosen(&self) -> &Subset {
        &self.chosen
    }
}
