//! Linear forward selection: best-first search restricted to the best single features.
//!
//! ```text
//! rank all features by J({f});  queue = [{}]
//! until max_stale expansions in a row found no improvement:
//!     X <- the best of the queue;  evaluate X + f for the K best-ranked f not in X        K candidates
//!     insert each into the queue, which keeps the best max_stale subsets
//! ```
//!
//! An improvement is a cost lower by more than 0.00001. With `variant` fixed-set, the candidates are always the same K
//! features; with fixed-width their number grows with X, so that K features can always be added. The queue is ordered by
//! cost, a new subset after its ties. The first iteration evaluates the single features, then every expansion is one
//! iteration. The initial empty subset has the cost of the empty subset, and is proposed with the single features; the
//! original uses the error of the majority class instead. Subsets are evaluated by 5-fold cross-validation, repeated while
//! errors vary.
//!
//! M. Gütlein, E. Frank, M. Hall, A. Karwath, Large-scale attribute selection using wrappers, IEEE Symposium on
//! Computational Intelligence and Data Mining (2009), doi:10.1109/CIDM.2009.4938668

use crate::base::subset::Subset;
use crate::evaluate::Protocol;
use crate::problem::objective::{Cost, Objective};
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, Iteration, MOST_STEPS, Optimizer, Space, params,
};
use serde::{Deserialize, Serialize};

params! {
    /// Settings of [`Lfs`].
    pub struct LfsParams {
        candidates: usize = 50, Allowed::Whole(1, MOST_STEPS),
            "K, number of candidate features, ranked by their cost alone";
        variant: Variant = Variant::FixedSet, Allowed::OneOf(&["fixed-set", "fixed-width"]),
            "keep the same K candidates (fixed-set) or widen them as features are selected (fixed-width)";
        max_stale: usize = 5, Allowed::Whole(1, MOST_STEPS),
            "consecutive expansions without improvement that end the search; also the length of the queue";
    }
}

/// The candidate features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// The same candidates for the whole search.
    FixedSet,
    /// The same number of candidates for every expansion.
    FixedWidth,
}

/// The least decrease of the cost that counts as an improvement.
const GAIN: f64 = 1e-5;

/// A linear forward selection.
#[derive(Debug)]
pub struct Lfs {
    params: LfsParams,
    space: Space,
    /// All features, the best single feature first; empty before the first iteration.
    ranked: Vec<usize>,
    /// The number of ranked features that are candidates.
    n_candidates: usize,
    /// Subsets to expand, the best first.
    queue: Vec<(Subset, Cost)>,
    best: Cost,
    stale: usize,
}

impl Lfs {
    /// Inserts a subset after all that cost no more.
    fn enqueue(&mut self, subset: Subset, cost: Cost) {
        let position = self.queue.partition_point(|(_, queued)| *queued <= cost);
        if position < self.params.max_stale {
            self.queue.truncate(self.params.max_stale - 1);
            self.queue.insert(position.min(self.queue.len()), (subset, cost));
        }
    }

    /// Removes the best subset from the queue and returns its supersets with one candidate more.
    fn expand(&mut self) -> Vec<Subset> {
        let (subset, _) = self.queue.remove(0);
        if self.params.variant == Variant::FixedWidth {
            let required = self.params.candidates.saturating_add(subset.count());
            self.n_candidates = self.n_candidates.max(required).min(self.ranked.len());
        }
        if subset.count() == self.space.limit() {
            return Vec::new();
        }
        let candidates =
            self.ranked.iter().take(self.n_candidates).filter(|&&f| !subset.contains(f));
        candidates.map(|&feature| subset.with(feature)).collect()
    }
}

impl Algorithm for Lfs {
    type Params = LfsParams;
    type Search = Self;
    const CARD: Card = Card {
        name: "Linear forward selection",
        family: Family::Sequential,
        year: 2009,
        paper: "M. Gütlein, E. Frank, M. Hall, A. Karwath, Large-scale attribute selection using wrappers, IEEE Symposium on Computational Intelligence and Data Mining",
        doi: "10.1109/CIDM.2009.4938668",
        aliases: &[],
        summary: "best-first forward search restricted to the features that score best alone",
        evaluations: None,
        objective: Objective::Error,
    };
    const PROTOCOL: Protocol = Protocol::WRAPPER;

    fn start(params: LfsParams, space: &Space) -> Self {
        Self {
            n_candidates: params.candidates.min(space.n_features()),
            params,
            space: space.clone(),
            ranked: Vec::new(),
            queue: Vec::new(),
            best: Cost::new(f64::INFINITY),
            stale: 0,
        }
    }
}

impl Optimizer for Lfs {
    fn ask(&mut self, _: &Iteration<'_>) -> Vec<Subset> {
        let empty = Subset::empty(self.space.n_features());
        if self.ranked.is_empty() {
            let singles = (0..empty.len()).map(|feature| empty.with(feature));
            return std::iter::once(empty.clone()).chain(singles).collect();
        }
        while self.stale < self.params.max_stale && !self.queue.is_empty() {
            let next = self.expand();
            if !next.is_empty() {
                return next;
            }
            self.stale += 1;
        }
        Vec::new()
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        if self.ranked.is_empty() {
            let (empty, singles) = evaluations.split_at(1);
            self.ranked = (0..singles.len()).collect();
            // A stable sort: ties stay in the order of features.
            self.ranked.sort_by_key(|&feature| singles[feature].cost);
            for empty in empty {
                self.best = empty.cost;
                self.queue.push((empty.subset.clone(), empty.cost));
            }
            return;
        }
        let before = self.best;
        for tried in evaluations {
            if self.best.value() - tried.cost.value() > GAIN {
                self.best = tried.cost;
            }
            self.enqueue(tried.subset.clone(), tried.cost);
        }
        self.stale = if self.best < before { 0 } else { self.stale + 1 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drive, toy};

    fn search(candidates: usize, variant: Variant, n: usize) -> Lfs {
        let params = LfsParams { candidates, variant, ..LfsParams::default() };
        Lfs::start(params, &Space::new(n, n))
    }

    #[test]
    fn the_queue_keeps_the_best_five_in_order_with_new_ones_after_ties() {
        let mut search = search(9, Variant::FixedSet, 9);
        let of = |feature: usize| Subset::from_indices(9, [feature]);
        for (feature, cost) in [0.5, 0.3, 0.5, 0.4, 0.3, 0.5, 0.2].into_iter().enumerate() {
            search.enqueue(of(feature), Cost::new(cost));
        }
        let order: Vec<usize> =
            search.queue.iter().map(|(subset, _)| subset.iter().next().unwrap()).collect();
        // Features 2 and 5 were pushed out or found the queue full.
        assert_eq!(order, [6, 1, 4, 3, 0]);
    }

    #[test]
    fn best_first_search_finds_what_greedy_search_misses() {
        // Features are counted from 1: the best single one is 1, but 23 is the best pair and 123 the optimum.
        let history = drive(&mut search(3, Variant::FixedSet, 4), 99, toy);
        let best = history.iter().flatten().min_by_key(|tried| tried.cost).unwrap();
        assert_eq!(best.subset, Subset::from_indices(4, [0, 1, 2]));
        // The empty subset and four single features; then the first expansion has three candidates.
        assert_eq!((history[0].len(), history[1].len()), (5, 3));
        let allowed = Subset::from_indices(4, [0, 1, 2]);
        assert!(history[1..].iter().flatten().all(|x| x.subset.difference(&allowed).is_empty()));
    }

    #[test]
    fn five_expansions_without_improvement_end_the_search() {
        let mut search = search(50, Variant::FixedSet, 60);
        let history = drive(&mut search, 99, |x| if x.is_empty() { 1.0 } else { 0.4 });
        // The ranking, the expansion of the empty subset, which is an improvement, and five more.
        assert_eq!(history.len(), 1 + 1 + 5);
        assert_eq!(search.stale, 5);
    }

    #[test]
    fn a_fixed_width_adds_candidates_as_the_subset_grows() {
        // The cost falls with every feature, so one subset grows until no candidate is left.
        let cost = |x: &Subset| 1.0 - x.count() as f64 / 10.0;
        let set = drive(&mut search(2, Variant::FixedSet, 5), 99, cost);
        assert_eq!(set.iter().flatten().map(|x| x.subset.count()).max(), Some(2));
        let width = drive(&mut search(2, Variant::FixedWidth, 5), 99, cost);
        assert_eq!(width.iter().flatten().map(|x| x.subset.count()).max(), Some(5));
        assert!(width[1..4].iter().all(|iteration| iteration.len() == 2));
        let widest = drive(&mut search(usize::MAX, Variant::FixedWidth, 5), 99, cost);
        assert_eq!(widest[2].len(), 4);
    }
}
