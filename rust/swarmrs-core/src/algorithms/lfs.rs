//! Linear forward selection: best-first search that tries only the features that do best alone.
//!
//! ```text
//! rank all features by J({f});  queue = [{}]
//! while fewer than max_stale pops in a row found nothing better:
//!     X <- the best of the queue;  try X + f for the K best-ranked f not in X        K candidates
//!     each is put into the queue, which holds the best max_stale sets
//! ```
//!
//! Something is better where it costs less by more than 0.00001. With `variant` fixed-set, K features stand for
//! choice from first to last; with fixed-width the choice widens with X, so that K can always be added. The queue is
//! in order of cost, a new set after its equals. Ranking is the first iteration, then every pop is one; the nothing
//! that the search starts from costs what the empty subset costs, and is evaluated beside the single features. The
//! original compares with the error of always saying the most frequent class instead. Subsets are evaluated by five
//! folds, repeated while errors spread.
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
    /// The same ones throughout.
    FixedSet,
    /// As many at every step.
    FixedWidth,
}

/// The least decrease of the cost that counts as an improvement.
const GAIN: f64 = 1e-5;

/// A best-first search over few features.
#[derive(Debug)]
pub struct Lfs {
    params: LfsParams,
    space: Space,
    /// All features, the best alone first; empty before the first iteration.
    ranked: Vec<usize>,
    /// The number of them that are candidates.
    width: usize,
    /// Sets that wait, the best first.
    queue: Vec<(Subset, Cost)>,
    best: Cost,
    stale: usize,
}

impl Lfs {
    /// Puts a set behind all that cost no more.
    fn enqueue(&mut self, subset: Subset, cost: Cost) {
        let at = self.queue.partition_point(|(_, waiting)| *waiting <= cost);
        if at < self.params.max_stale {
            self.queue.truncate(self.params.max_stale - 1);
            self.queue.insert(at.min(self.queue.len()), (subset, cost));
        }
    }

    /// The subsets that the next one in the queue leads to.
    fn expand(&mut self) -> Vec<Subset> {
        let (set, _) = self.queue.remove(0);
        if self.params.variant == Variant::FixedWidth {
            let wide = self.params.candidates.saturating_add(set.count());
            self.width = self.width.max(wide).min(self.ranked.len());
        }
        if set.count() == self.space.limit() {
            return Vec::new();
        }
        let candidates = self.ranked.iter().take(self.width).filter(|&&f| !set.contains(f));
        candidates.map(|&feature| set.with(feature)).collect()
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
            width: params.candidates.min(space.n_features()),
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
            let (nothing, singles) = evaluations.split_at(1);
            self.ranked = (0..singles.len()).collect();
            // Stable, so equals stay in the order of features.
            self.ranked.sort_by_key(|&feature| singles[feature].cost);
            for nothing in nothing {
                self.best = nothing.cost;
                self.queue.push((nothing.subset.clone(), nothing.cost));
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
    fn the_queue_keeps_the_best_five_and_puts_new_ones_after_their_equals() {
        let mut search = search(9, Variant::FixedSet, 9);
        let of = |feature: usize| Subset::from_indices(9, [feature]);
        for (feature, cost) in [0.5, 0.3, 0.5, 0.4, 0.3, 0.5, 0.2].into_iter().enumerate() {
            search.enqueue(of(feature), Cost::new(cost));
        }
        let order: Vec<usize> =
            search.queue.iter().map(|(subset, _)| subset.iter().next().unwrap()).collect();
        // 2 and 5 came when five waited or were pushed out: 6 1 4 3 0.
        assert_eq!(order, [6, 1, 4, 3, 0]);
    }

    #[test]
    fn best_first_search_finds_what_greedy_search_misses() {
        // Features from 1: alone 1 is the best, but 2 and 3 are better together and 123 the best.
        let history = drive(&mut search(3, Variant::FixedSet, 4), 99, toy);
        let best = history.iter().flatten().min_by_key(|tried| tried.cost).unwrap();
        assert_eq!(best.subset, Subset::from_indices(4, [0, 1, 2]));
        // Nothing and four single features, then the first pop tries three of them again.
        assert_eq!((history[0].len(), history[1].len()), (5, 3));
        let allowed = Subset::from_indices(4, [0, 1, 2]);
        assert!(history[1..].iter().flatten().all(|x| x.subset.difference(&allowed).is_empty()));
    }

    #[test]
    fn five_pops_without_a_better_subset_end_it() {
        let mut search = search(50, Variant::FixedSet, 60);
        let history = drive(&mut search, 99, |x| if x.is_empty() { 1.0 } else { 0.4 });
        // The ranking, the pop of nothing which is better, and five more.
        assert_eq!(history.len(), 1 + 1 + 5);
        assert_eq!(search.stale, 5);
    }

    #[test]
    fn a_fixed_width_lets_more_features_in_as_the_set_grows() {
        // Cost falls with every feature, so that one set grows to the end.
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
