//! The cross-entropy method, with the final probabilities of features as a ranking.
//!
//! ```text
//! p(f) <- m / M on the M features with the greatest F statistic
//! for each iteration: N subsets of features drawn by p
//!     p <- (1 - a) p + a (fraction of the elite subsets that contain f)         elite: the best fifth
//!     p <- p clipped to 0.1 m / M .. 0.95 and scaled to sum m
//! ranking: features by p
//! ```
//!
//! The result is not the best subset of the run: an average over good subsets generalizes better than a single one.
//!
//! R. Y. Rubinstein, The cross-entropy method for combinatorial and continuous optimization, Methodology and Computing in
//! Applied Probability 1 (1999), doi:10.1023/A:1010091220143

use crate::base::subset::Subset;
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, Iteration, MOST_MEMBERS, MOST_STEPS, Optimizer,
    Space, params,
};
use crate::search::ranking::{ByRanking, Ranked, SIZES};

params! {
    /// Hyperparameters of [`Cem`].
    pub struct CemParams {
        population: usize = 1500, Allowed::Whole(1, MOST_MEMBERS), "N, subsets drawn in an iteration; fewer where the budget does not allow eight iterations";
        active: usize = 1000, Allowed::Whole(1, MOST_STEPS),
            "M, features that may be drawn: those with the greatest F statistic";
        subset_size: f64 = 30.0, Allowed::Above(0.0, 1e9),
            "m, mean number of features of a subset; at most a third of the active ones";
        elite: f64 = 0.2, Allowed::Above(0.0, 1.0), "share of the subsets that the probabilities move to";
        smoothing: f64 = 0.5, Allowed::Above(0.0, 1.0), "a, how far they move";
    }
}

/// The largest probability of a feature.
const MAX_PROBABILITY: f64 = 0.95;

/// A cross-entropy search.
#[derive(Debug)]
pub struct Cem {
    params: CemParams,
    space: Space,
    active: Vec<usize>,
    /// The mean size of a subset.
    size: f64,
    /// The probability of each active feature.
    probabilities: Vec<f64>,
}

impl Cem {
    /// Clips the probabilities and scales them to the mean size; repeated, because scaling may exceed the bounds again.
    fn normalize(&mut self) {
        let least = 0.1 * self.size / self.active.len() as f64;
        for _ in 0..8 {
            let sum: f64 = self.probabilities.iter().sum();
            let factor = self.size / sum;
            for p in &mut self.probabilities {
                *p = (*p * factor).clamp(least, MAX_PROBABILITY);
            }
        }
    }
}

impl Optimizer for Cem {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        // Eight batches, half a batch to spare, and the prefixes of the ranking fit the budget.
        let batch = iteration
            .max_evaluations
            .map_or(u64::MAX, |budget| (budget.saturating_sub(SIZES.len() as u64) * 2 / 17).max(1));
        let population = self.params.population.min(usize::try_from(batch).unwrap_or(usize::MAX));
        let draw = |slot| {
            let mut rng = iteration.rng(slot);
            let mut subset = Subset::empty(self.space.n_features());
            for (&feature, &p) in self.active.iter().zip(&self.probabilities) {
                if rng.bernoulli(p) {
                    subset.insert(feature);
                }
            }
            if subset.is_empty() {
                subset.insert(self.active[rng.below(self.active.len())]);
            }
            self.space.trim(&mut subset, &mut rng);
            subset
        };
        iteration.map((0..population).collect(), draw)
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        let CemParams { elite, smoothing, .. } = self.params;
        let mut best: Vec<&Evaluation> = evaluations.iter().collect();
        // A stable sort: ties stay in the order of draws.
        best.sort_by_key(|evaluation| evaluation.cost);
        best.truncate(((elite * best.len() as f64) as usize).max(1));
        for (&feature, p) in self.active.iter().zip(&mut self.probabilities) {
            let with = best.iter().filter(|evaluation| evaluation.subset.contains(feature)).count();
            *p += smoothing * (with as f64 / best.len() as f64 - *p);
        }
        self.normalize();
    }

    fn ranking(&self) -> Vec<Ranked> {
        let of = |(&feature, &support)| Ranked { feature, support, standard_error: None };
        let mut ranking: Vec<Ranked> =
            self.active.iter().zip(&self.probabilities).map(of).collect();
        ranking.sort_by(|a, b| b.support.total_cmp(&a.support));
        ranking
    }
}

impl Algorithm for Cem {
    type Params = CemParams;
    type Search = ByRanking<Self>;
    const CARD: Card = Card {
        name: "Cross-entropy search",
        family: Family::Ranking,
        year: 1999,
        paper: "R. Y. Rubinstein, The cross-entropy method for combinatorial and continuous optimization, Methodology and Computing in Applied Probability",
        doi: "10.1023/A:1010091220143",
        aliases: &[],
        summary: "draws subsets by probabilities that move to the best of them; answers with the probabilities",
        // Eight iterations of 1500, half a batch to spare, and the prefixes of the ranking: 12 763.
        evaluations: Some(13_000),
        objective: Objective::Error,
    };
    const USES_RELEVANCE: bool = true;

    fn start(params: CemParams, space: &Space) -> ByRanking<Self> {
        let n = space.n_features();
        let active: Vec<usize> = match space.by_relevance() {
            Some(order) => order.iter().take(params.active).copied().collect(),
            None => (0..n).collect(),
        };
        let size = params.subset_size.min(active.len() as f64 / 3.0).max(1.0);
        let mut cem = Self {
            probabilities: vec![1.0; active.len()],
            params,
            space: space.clone(),
            active,
            size,
        };
        cem.normalize();
        ByRanking::new(cem, space)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::drive;

    fn cem(given: &str, n: usize) -> ByRanking<Cem> {
        let params = crate::search::algorithm::read_params(
            "cem",
            &CemParams::default(),
            &serde_json::from_str(given).unwrap(),
        );
        Cem::start(params.unwrap(), &Space::new(n, n))
    }

    #[test]
    fn probabilities_keep_their_sum_and_range() {
        let mut search = cem(r#"{"population": 40, "subset_size": 6}"#, 60);
        drive(&mut search, 12, |subset| 1.0 - f64::from(u8::from(subset.contains(7))));
        let ranking = search.ranking();
        assert_eq!(ranking[0].feature, 7);
        assert!(
            ranking[0].support > 0.9 && ranking[0].support <= MAX_PROBABILITY,
            "{:?}",
            ranking[0]
        );
        let sum: f64 = ranking.iter().map(|ranked| ranked.support).sum();
        assert!((sum - 6.0).abs() < 0.05, "{sum}");
        assert!(ranking.iter().all(|ranked| ranked.support >= 0.1 * 6.0 / 60.0));
    }

    #[test]
    fn one_iteration_moves_halfway_to_the_elite() {
        let mut search = cem(r#"{"population": 5, "subset_size": 1}"#, 3);
        // The elite is a single subset, the first with feature 2, or the first if none has it.
        let history = drive(&mut search, 2, |subset| if subset.contains(2) { 0.0 } else { 1.0 });
        let best = history[0].iter().min_by_key(|one| one.cost).unwrap().subset.clone();
        let moved = |feature| 0.5 / 3.0 + if best.contains(feature) { 0.5 } else { 0.0 };
        let sum: f64 = (0..3).map(moved).sum();
        for ranked in search.ranking() {
            assert!((ranked.support - moved(ranked.feature) / sum).abs() < 1e-12, "{ranked:?}");
        }
    }
}
