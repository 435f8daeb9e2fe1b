//! Random-subspace support: ranks features by the mean score of the random subsets they are in.
//!
//! ```text
//! active <- the 2000 features with the greatest F statistic
//! for (next, m, R) in (500, 30, 8000), (150, 20, 8000), (-, 15, 6000):
//!     R random subsets of m active features, in blocks of random permutations, so that each feature is in equally many
//!     support(f) = mean cost of all subsets - mean cost of the subsets with f
//!     active <- the `next` features of the greatest support
//! ranking: the active features by support, then those dropped last, ...
//! ```
//!
//! The standard error of a support is that of the mean over the subsets with f. A stage ends early if the support of every
//! feature differs from the cut by more than its standard error. With fewer features, stages that would drop nothing are
//! skipped; m is at most a third of the active features. The evaluations of each stage are a fraction of the budget.
//!
//! Random k-NN support is the idea of Li, Harner and Adjeroh, who draw subsets at random and drop features in one geometric
//! and one linear stage. New here: any classifier, balanced blocks, few stages with decreasing subset sizes, early stopping
//! by standard errors.
//!
//! S. Li, E. J. Harner, D. A. Adjeroh, Random KNN feature selection - a fast and stable alternative to Random Forests,
//! BMC Bioinformatics 12:450 (2011), doi:10.1186/1471-2105-12-450

use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, Iteration, MOST_STEPS, Optimizer, Space, params,
};
use crate::search::ranking::{ByRanking, Ranked, budget};

params! {
    /// Hyperparameters of [`Rks`].
    pub struct RksParams {
        active: usize = 2000, Allowed::Whole(1, MOST_STEPS),
            "features of the first stage: those with the greatest F statistic; later stages keep 1/4 and 3/40 of as many";
        subset_size: usize = 30, Allowed::Whole(1, MOST_STEPS),
            "m, features of a random subset in the first stage; 2/3 and 1/2 of it in the later stages";
    }
}

/// The default budget of evaluations.
const EVALUATIONS: u64 = 22_000;
/// The number of subsets in the first batch, before the budget is known.
const FIRST_BATCH: usize = 50;
/// The fraction of the budget in a later batch, and the maximum number of subsets in one.
const BATCH: (f64, usize) = (1.0 / 40.0, 500);

/// A stage: the number of active features, the size of a subset, the fraction of the budget.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stage {
    active: usize,
    size: usize,
    share: f64,
}

impl RksParams {
    /// The stages for this number of features.
    fn stages(&self, n_features: usize) -> Vec<Stage> {
        let Self { active, subset_size, .. } = *self;
        let all = [
            Stage { active, size: subset_size, share: 8.0 / 22.0 },
            Stage { active: active / 4, size: subset_size * 2 / 3, share: 8.0 / 22.0 },
            Stage { active: active * 3 / 40, size: subset_size / 2, share: 6.0 / 22.0 },
        ];
        let first = all.iter().rposition(|stage| stage.active >= n_features).unwrap_or(0);
        let of = |stage: &Stage| {
            let active = stage.active.clamp(1, n_features);
            Stage { active, size: stage.size.min(active.div_ceil(3)).max(1), ..*stage }
        };
        all[first..].iter().map(of).collect()
    }
}

/// A running mean and variance.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    count: u32,
    mean: f64,
    /// The sum of squared deviations from the mean.
    squares: f64,
}

impl Moments {
    /// Adds a value (Welford's update).
    fn add(&mut self, value: f64) {
        self.count += 1;
        let deviation = value - self.mean;
        self.mean += deviation / f64::from(self.count);
        self.squares += deviation * (value - self.mean);
    }

    /// The standard error of the mean; infinite for fewer than two values.
    fn standard_error(&self) -> f64 {
        match self.count {
            0 | 1 => f64::INFINITY,
            count => (self.squares / f64::from(count - 1) / f64::from(count)).sqrt(),
        }
    }
}

/// A ranking by random subsets in stages.
#[derive(Debug)]
pub struct Rks {
    space: Space,
    stages: Vec<Stage>,
    /// The index of the current stage.
    stage: usize,
    /// The features that subsets are drawn from.
    active: Vec<usize>,
    /// The remaining features of the current permutation.
    queue: Vec<usize>,
    /// Moments of the costs of the subsets with each feature, and of all subsets, in this stage.
    costs: Vec<Moments>,
    all: Moments,
    /// Evaluations of the run, and of this stage.
    spent: usize,
    spent_in_stage: usize,
    /// Features dropped by earlier stages, those of the last stage first.
    dropped: Vec<Ranked>,
}

impl Rks {
    /// The next block of a random permutation of the active features. A permutation that ends within a block is continued by
    /// the next one, in which the features of that block come last.
    fn draw(&mut self, rng: &mut Rng) -> Subset {
        let size = self.stages[self.stage].size;
        if self.queue.len() < size {
            let mut next = self.active.clone();
            rng.shuffle(&mut next);
            let (in_block, others): (Vec<_>, Vec<_>) =
                next.into_iter().partition(|feature| self.queue.contains(feature));
            self.queue.extend(others);
            self.queue.extend(in_block);
        }
        let block: Vec<usize> = self.queue.drain(..size).collect();
        let mut subset = Subset::from_indices(self.space.n_features(), block);
        self.space.trim(&mut subset, rng);
        subset
    }

    /// The active features by descending support; ties keep their order.
    fn by_support(&self) -> Vec<Ranked> {
        let of = |&feature: &usize| {
            let costs = &self.costs[feature];
            let support = if costs.count == 0 { 0.0 } else { self.all.mean - costs.mean };
            Ranked { feature, support, standard_error: Some(costs.standard_error()) }
        };
        let mut ranking: Vec<Ranked> = self.active.iter().map(of).collect();
        ranking.sort_by(|a, b| b.support.total_cmp(&a.support));
        ranking
    }

    /// True if no feature is within its standard error of the cut to the next stage.
    fn is_settled(&self) -> bool {
        let Some(next) = self.stages.get(self.stage + 1) else { return false };
        let ranking = self.by_support();
        let Some(pair) = ranking.get(next.active - 1..=next.active) else { return true };
        let cut = f64::midpoint(pair[0].support, pair[1].support);
        ranking.iter().all(|ranked| {
            (ranked.support - cut).abs() > ranked.standard_error.unwrap_or(f64::INFINITY)
        })
    }

    /// Drops the features below the cut and starts the next stage; false after the last one.
    fn advance(&mut self) -> bool {
        let Some(next) = self.stages.get(self.stage + 1) else { return false };
        let mut ranking = self.by_support();
        let mut dropped = ranking.split_off(next.active.min(ranking.len()));
        dropped.append(&mut self.dropped);
        self.dropped = dropped;
        self.active = ranking.iter().map(|ranked| ranked.feature).collect();
        self.queue.clear();
        self.costs.fill(Moments::default());
        self.all = Moments::default();
        self.stage += 1;
        self.spent_in_stage = 0;
        true
    }
}

impl Optimizer for Rks {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        let total = budget(self.spent, iteration.fraction).unwrap_or(EVALUATIONS as f64);
        let stage_budget = |rks: &Self| (rks.stages[rks.stage].share * total) as usize;
        if (self.spent_in_stage >= stage_budget(self)
            || self.spent_in_stage > 0 && self.is_settled())
            && !self.advance()
        {
            return Vec::new();
        }
        let batch = match self.spent {
            0 => FIRST_BATCH,
            _ => ((BATCH.0 * total) as usize)
                .clamp(1, BATCH.1)
                .min(stage_budget(self) - self.spent_in_stage)
                .max(1),
        };
        let mut rng = iteration.rng(0);
        (0..batch).map(|_| self.draw(&mut rng)).collect()
    }

    fn tell(&mut self, _: &Iteration<'_>, evaluations: &[Evaluation]) {
        for evaluation in evaluations.iter().filter(|one| one.cost.value().is_finite()) {
            let cost = evaluation.cost.value();
            self.all.add(cost);
            for feature in evaluation.subset.iter() {
                self.costs[feature].add(cost);
            }
        }
        self.spent += evaluations.len();
        self.spent_in_stage += evaluations.len();
    }

    fn ranking(&self) -> Vec<Ranked> {
        let mut ranking = self.by_support();
        ranking.extend_from_slice(&self.dropped);
        ranking
    }
}

impl Algorithm for Rks {
    type Params = RksParams;
    type Search = ByRanking<Self>;
    const CARD: Card = Card {
        name: "Random-subspace support",
        family: Family::Ranking,
        year: 2011,
        paper: "S. Li, E. J. Harner, D. A. Adjeroh, Random KNN feature selection - a fast and stable alternative to Random Forests, BMC Bioinformatics",
        doi: "10.1186/1471-2105-12-450",
        aliases: &[],
        summary: "ranks features by the mean score of the random subsets they are in, in stages",
        evaluations: Some(EVALUATIONS),
        objective: Objective::Error,
    };
    const USES_RELEVANCE: bool = true;

    fn start(params: RksParams, space: &Space) -> ByRanking<Self> {
        let n = space.n_features();
        let (stages, mut active) = match space.by_relevance() {
            Some(order) => (params.stages(n), order.to_vec()),
            // Without a ranking by F statistic all features are active.
            None => {
                (RksParams { active: params.active.max(n), ..params }.stages(n), (0..n).collect())
            }
        };
        active.truncate(stages[0].active);
        let rks = Self {
            space: space.clone(),
            stages,
            stage: 0,
            active,
            queue: Vec::new(),
            costs: vec![Moments::default(); n],
            all: Moments::default(),
            spent: 0,
            spent_in_stage: 0,
            dropped: Vec::new(),
        };
        ByRanking::new(rks, space)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::drive;

    fn sizes(n: usize) -> Vec<(usize, usize)> {
        let stages = RksParams::default().stages(n);
        stages.iter().map(|stage| (stage.active, stage.size)).collect()
    }

    #[test]
    fn small_tables_skip_the_stages_that_drop_nothing() {
        assert_eq!(sizes(20_000), [(2000, 30), (500, 20), (150, 15)]);
        assert_eq!(sizes(600), [(600, 30), (500, 20), (150, 15)]);
        assert_eq!(sizes(300), [(300, 20), (150, 15)]);
        assert_eq!(sizes(30), [(30, 10)]);
        assert_eq!(sizes(1), [(1, 1)]);
    }

    #[test]
    fn every_active_feature_is_drawn_equally_often() {
        let space = Space::new(100, 100);
        let mut search = Rks::start(RksParams::default(), &space);
        let mut history = drive(&mut search, 30, |_| 0.5);
        let prefixes = history.pop().unwrap();
        assert!(search.is_eligible(&prefixes[0].subset));
        let mut drawn = [0usize; 100];
        for subset in history.iter().flatten().map(|one| &one.subset) {
            assert_eq!(subset.count(), 15);
            subset.iter().for_each(|feature| drawn[feature] += 1);
        }
        let (least, most) = (drawn.iter().min().unwrap(), drawn.iter().max().unwrap());
        assert!(most - least <= 2, "{drawn:?}");
    }

    #[test]
    fn support_is_the_mean_gain_of_the_subsets_with_a_feature() {
        let space = Space::new(12, 12);
        let mut search = Rks::start(RksParams::default(), &space);
        let cost = |subset: &Subset| 1.0 - subset.iter().map(|f| f as f64).sum::<f64>() / 66.0;
        let mut history = drive(&mut search, 30, cost);
        let prefixes = history.pop().unwrap();
        assert!(search.is_eligible(&prefixes[0].subset));
        let learned: Vec<_> = history.iter().flatten().collect();
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        let all: Vec<f64> = learned.iter().map(|one| one.cost.value()).collect();
        for ranked in search.ranking() {
            let with = learned.iter().filter(|one| one.subset.contains(ranked.feature));
            let with: Vec<f64> = with.map(|one| one.cost.value()).collect();
            assert!((ranked.support - (mean(&all) - mean(&with))).abs() < 1e-12, "{ranked:?}");
            let squares: f64 = with.iter().map(|cost| (cost - mean(&with)).powi(2)).sum();
            let n = with.len() as f64;
            let error = (squares / (n - 1.0) / n).sqrt();
            assert!((ranked.standard_error.unwrap() - error).abs() < 1e-12, "{ranked:?}");
        }
        assert_eq!(search.ranking()[0].feature, 11);
    }

    #[test]
    fn planted_features_rank_first_and_are_the_result() {
        let space = Space::new(400, 400);
        let mut search = Rks::start(RksParams::default(), &space);
        let cost = |subset: &Subset| {
            let found = subset.iter().filter(|feature| feature % 50 == 0).count();
            1.0 - found as f64 / 8.0 + subset.count() as f64 / 1000.0
        };
        let history = drive(&mut search, 60, cost);
        let mut first: Vec<usize> = search.ranking()[..8].iter().map(|one| one.feature).collect();
        first.sort_unstable();
        assert_eq!(first, [0, 50, 100, 150, 200, 250, 300, 350]);
        let best = history.iter().flatten().filter(|one| search.is_eligible(&one.subset));
        assert_eq!(best.min_by_key(|one| one.cost).unwrap().subset.count(), 8);
    }
}
