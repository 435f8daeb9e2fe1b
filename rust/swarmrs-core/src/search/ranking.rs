//! Searches whose result is a prefix of a ranking of features instead of the best evaluated subset.
//!
//! With few rows, the best of thousands of subsets is mostly selected by chance. A ranking averages over all of them. The
//! result is a prefix of the ranking; the last batch of the run evaluates a few prefixes to choose the number of features.

use crate::base::subset::Subset;
use crate::search::algorithm::{Evaluation, Iteration, Optimizer, Space};
use serde::Serialize;

/// The sizes of the prefixes that are evaluated.
pub const SIZES: [usize; 13] = [1, 2, 3, 5, 8, 12, 20, 30, 50, 75, 100, 150, 200];

/// A feature with its support by the evaluated subsets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ranked {
    /// The feature.
    pub feature: usize,
    /// The support; its unit depends on the search.
    pub support: f64,
    /// The standard error of the support, if any.
    pub standard_error: Option<f64>,
}

/// A search whose result is a prefix of its ranking.
#[derive(Debug)]
pub struct ByRanking<S> {
    search: S,
    space: Space,
    /// Evaluations so far, and in the last batch.
    spent: usize,
    batch: usize,
    /// The prefixes of the ranking, once they are proposed.
    prefixes: Vec<Subset>,
}

impl<S: Optimizer> ByRanking<S> {
    /// A search with a prefix of the ranking of `search` as the result.
    pub fn new(search: S, space: &Space) -> Self {
        Self { search, space: space.clone(), spent: 0, batch: 0, prefixes: Vec::new() }
    }

    /// The prefixes of the ranking, shortest first, without duplicates.
    fn ranking_prefixes(&self) -> Vec<Subset> {
        let order: Vec<usize> = self.search.ranking().iter().map(|ranked| ranked.feature).collect();
        let longest = order.len().min(self.space.limit());
        let sizes =
            SIZES.into_iter().filter(|&size| size < longest).chain([longest.min(SIZES[12])]);
        let mut prefixes: Vec<Subset> =
            sizes.map(|size| self.space.take(order[..size].iter().copied())).collect();
        prefixes.dedup();
        prefixes.retain(|prefix| !prefix.is_empty());
        prefixes
    }

    /// True if the budget allows another batch like the last one, and the prefixes after it. Half a batch is kept in reserve,
    /// because with a time limit the number of evaluations is an estimate.
    fn fits_budget(&self, fraction: f64) -> bool {
        let total = budget(self.spent, fraction).unwrap_or(f64::INFINITY);
        let next = 1.5 * self.batch as f64 + SIZES.len() as f64;
        self.spent == 0 || self.spent as f64 + next <= total
    }
}

/// The total budget of evaluations, of which `spent` are the fraction `fraction`; None without a limit.
pub fn budget(spent: usize, fraction: f64) -> Option<f64> {
    (spent > 0 && fraction > 0.0).then(|| spent as f64 / fraction)
}

impl<S: Optimizer> Optimizer for ByRanking<S> {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        if !self.prefixes.is_empty() {
            return Vec::new();
        }
        if self.fits_budget(iteration.fraction) {
            let proposed = self.search.ask(iteration);
            if !proposed.is_empty() {
                self.batch = proposed.len();
                return proposed;
            }
        }
        self.prefixes = self.ranking_prefixes();
        self.prefixes.clone()
    }

    fn tell(&mut self, iteration: &Iteration<'_>, evaluations: &[Evaluation]) {
        if self.prefixes.is_empty() {
            self.spent += evaluations.len();
            self.search.tell(iteration, evaluations);
        }
    }

    fn is_eligible(&self, subset: &Subset) -> bool {
        // Without a dataset costs are exact, so the best subset is not selected by chance.
        !self.space.has_data() || self.prefixes.contains(subset)
    }

    fn diagnostics(&self) -> Vec<(&'static str, f64)> {
        self.search.diagnostics()
    }

    fn ranking(&self) -> Vec<Ranked> {
        self.search.ranking()
    }
}

/// A search that ranks features by the votes of its best subsets.
///
/// The support of a feature is the fraction of the [`ELITE`] best distinct subsets of the run that contain it.
pub struct Vote {
    search: Box<dyn Optimizer>,
    n_features: usize,
    /// The best subsets, the best first, ties in the order of evaluation.
    elite: Vec<Evaluation>,
}

/// The number of subsets that vote.
pub const ELITE: usize = 200;

impl Vote {
    /// Ranks features by the best subsets of `search`.
    pub fn new(search: Box<dyn Optimizer>, space: &Space) -> Self {
        Self { search, n_features: space.n_features(), elite: Vec::new() }
    }
}

impl Optimizer for Vote {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        self.search.ask(iteration)
    }

    fn tell(&mut self, iteration: &Iteration<'_>, evaluations: &[Evaluation]) {
        for new in evaluations.iter().filter(|new| !new.subset.is_empty()) {
            let rank = self.elite.partition_point(|old| !new.is_better_than(old));
            let mut ties = self.elite[..rank].iter().rev().take_while(|old| old.cost == new.cost);
            if rank < ELITE && !ties.any(|old| old.subset == new.subset) {
                self.elite.truncate(ELITE - 1);
                self.elite.insert(rank, new.clone());
            }
        }
        self.search.tell(iteration, evaluations);
    }

    fn diagnostics(&self) -> Vec<(&'static str, f64)> {
        self.search.diagnostics()
    }

    fn ranking(&self) -> Vec<Ranked> {
        let mut votes = vec![0u32; self.n_features];
        for feature in self.elite.iter().flat_map(|evaluation| evaluation.subset.iter()) {
            votes[feature] += 1;
        }
        let share = |count: u32| f64::from(count) / self.elite.len() as f64;
        let mut ranking: Vec<Ranked> = (0..self.n_features)
            .filter(|&feature| votes[feature] > 0)
            .map(|feature| Ranked { feature, support: share(votes[feature]), standard_error: None })
            .collect();
        // A stable sort: ties go to the lower feature.
        ranking.sort_by(|a, b| b.support.total_cmp(&a.support));
        ranking
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::find;
    use crate::testing::{drive, onemax};

    fn voting(id: &str, n: usize, limit: usize) -> ByRanking<Vote> {
        let space = Space::new(n, limit);
        let (search, _) = find(id).unwrap().start(&serde_json::Map::new(), &space).unwrap();
        ByRanking::new(Vote::new(search, &space), &space)
    }

    #[test]
    fn the_best_distinct_subsets_vote() {
        let mut search = voting("random", 30, 30);
        let history = drive(&mut search, 40, onemax);
        let (prefixes, learned) = history.split_last().unwrap();
        let mut all: Vec<&Evaluation> = learned.iter().flatten().collect();
        all.sort_by_key(|one| (one.cost, one.subset.count()));
        let mut elite: Vec<&Subset> = Vec::new();
        for one in all {
            if !elite.contains(&&one.subset) {
                elite.push(&one.subset);
            }
        }
        elite.truncate(ELITE);
        assert_eq!(elite.len(), ELITE);
        for ranked in search.ranking() {
            let votes = elite.iter().filter(|subset| subset.contains(ranked.feature)).count();
            assert_eq!(ranked.support, votes as f64 / ELITE as f64, "{ranked:?}");
        }
        let order: Vec<usize> = search.ranking().iter().map(|ranked| ranked.feature).collect();
        for prefix in prefixes {
            assert!(order[..prefix.subset.count()].iter().all(|&f| prefix.subset.contains(f)));
            assert!(search.is_eligible(&prefix.subset));
        }
        assert!(!search.is_eligible(&learned[0][0].subset));
    }

    #[test]
    fn prefixes_keep_the_limit() {
        let mut search = voting("random", 40, 10);
        let history = drive(&mut search, 20, onemax);
        let sizes: Vec<usize> =
            history.last().unwrap().iter().map(|one| one.subset.count()).collect();
        assert_eq!(sizes, [1, 2, 3, 5, 8, 10]);
    }
}
