//! Variable-length PSO with local search around personal bests.
//!
//! The swarm is that of `vlpso`. At the start, and in the iterations t that are multiples of `search_every` below
//! `search_until`, every personal best that has just improved is improved by local search with `tries` tries:
//!
//! ```text
//! F = max(1, floor(flip_rate |X|));  z = round(u min(F, L - |X|));  o = F - z       X the best, L its length
//! draw o features of X and z features not in X
//! remove b of the o if a more relevant kept a of the o has SU(a, b) > SU(b, class)
//! add f of the z if SU(f, class) > the mean SU of the o with the class
//! X <- the changed X if it costs less, or as much with fewer features
//! ```
//!
//! A sample without a change is redrawn, up to ten samples per try; then the try is skipped. An improved best gets the
//! coordinates 1 and 0; the particle itself does not move. All searches run in parallel, one try of each per iteration.
//!
//! The paper leaves the schedule and the sample size open, and compares with all selected features; this is the authors'
//! program, which compares within the sample. If o = 0 the mean is over X. Features above the limit are not added. Without a
//! filter there is no local search. Random numbers come from slot 2 P + i.
//!
//! B. Tran, B. Xue, M. Zhang, Variable-length particle swarm optimization for feature selection on high-dimensional
//! classification, IEEE Trans. Evolutionary Computation 23 (2019), doi:10.1109/TEVC.2018.2869405

use super::vlpso::{Vlpso, VlpsoParams};
use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::evaluate::Protocol;
use crate::operators::ordering::{CostAndSize, cost_and_size};
use crate::problem::objective::Objective;
use crate::search::algorithm::{
    Algorithm, Allowed, Card, Evaluation, Family, Iteration, MOST_STEPS, MOST_TRIES, Space, params,
};

params! {
    /// Settings of [`VlpsoLs`].
    pub struct VlpsoLsParams {
        ..swarm: VlpsoParams;
        tries: usize = 100, Allowed::Whole(1, MOST_TRIES),
            "local search steps per personal best";
        flip_rate: f64 = 0.25, Allowed::Above(0.0, 1.0),
            "fraction of the selected features that a step of local search may flip";
        search_every: u64 = 2, Allowed::Whole(1, MOST_STEPS),
            "local search runs in every such iteration, on personal bests that have just improved";
        search_until: u64 = 20, Allowed::Whole(0, MOST_STEPS),
            "first iteration without local search; it always runs on the initial swarm";
    }
}

/// VLPSO with local search around personal bests.
#[derive(Debug)]
pub struct VlpsoLs;

impl Algorithm for VlpsoLs {
    type Params = VlpsoLsParams;
    type Search = Vlpso;
    const CARD: Card = Card {
        name: "Variable-length PSO with local search",
        family: Family::Swarm,
        year: 2019,
        paper: "B. Tran, B. Xue, M. Zhang, Variable-length particle swarm optimization for feature selection on high-dimensional classification, IEEE Trans. Evolutionary Computation 23",
        doi: "10.1109/TEVC.2018.2869405",
        aliases: &["vlpsols"],
        summary: "VLPSO with a local search that drops redundant features from new bests and adds relevant ones",
        evaluations: None,
        objective: Objective::Hybrid { gamma: 0.8 },
    };
    const PROTOCOL: Protocol = Protocol::NEAREST;
    const USES_FILTER: bool = true;

    fn start(params: VlpsoLsParams, space: &Space) -> Vlpso {
        let effort = Effort {
            tries: params.tries,
            flip_rate: params.flip_rate,
            every: params.search_every,
            until: params.search_until,
        };
        Vlpso::new(params.swarm, Some(effort), space)
    }
}

/// The tries and the schedule of local search.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Tries for each best.
    pub tries: usize,
    /// The sample size of a try, as a fraction of the selected features.
    pub flip_rate: f64,
    /// Local search runs in iterations that are multiples of this ...
    pub every: u64,
    /// ... before this iteration, and always at the start.
    pub until: u64,
}

impl Effort {
    /// True if local search runs in an iteration; 0 is the start.
    pub fn is_due(&self, iteration: u64) -> bool {
        iteration == 0 || iteration < self.until && iteration.is_multiple_of(self.every)
    }
}

/// The filter values that guide local search; dimensions are in descending order of relevance.
pub struct Guide<'a> {
    /// The relevance of each dimension.
    pub relevance: &'a [f32],
    /// The redundancy of two dimensions.
    pub redundancy: &'a (dyn Fn(usize, usize) -> f32 + Sync),
    /// The maximum number of selected features.
    pub limit: usize,
}

/// The maximum number of samples of a try.
const MAX_SAMPLES: usize = 10;

/// The local search around one personal best.
#[derive(Debug)]
pub struct Searcher {
    /// The particle of the personal best.
    pub particle: usize,
    /// The selected dimensions.
    pub solution: Subset,
    /// The cost and size of the solution.
    pub cost_and_size: CostAndSize,
    /// True if the search found an improvement.
    pub has_improved: bool,
    /// The remaining tries.
    tries: usize,
    /// The current try.
    next: Option<Subset>,
}

impl Searcher {
    /// A search that starts from these dimensions.
    pub fn new(
        particle: usize,
        solution: Subset,
        cost_and_size: CostAndSize,
        effort: &Effort,
    ) -> Self {
        let tries = effort.tries;
        Self { particle, solution, cost_and_size, has_improved: false, tries, next: None }
    }

    /// Draws the next try that changes something, as long as tries remain.
    fn draw(&mut self, effort: &Effort, guide: &Guide<'_>, rng: &mut Rng) {
        self.next = None;
        while self.tries > 0 && self.next.is_none() {
            self.tries -= 1;
            self.next = propose(&self.solution, effort.flip_rate, guide, rng);
        }
    }
}

/// The local searches of an iteration of the swarm.
#[derive(Debug)]
pub struct LocalSearch {
    effort: Effort,
    searchers: Vec<Searcher>,
}

impl LocalSearch {
    /// Local search with these searchers.
    pub fn new(effort: Effort, searchers: Vec<Searcher>) -> Self {
        Self { effort, searchers }
    }

    /// Draws the next try of each search, from the stream of its particle.
    pub fn draw(
        &mut self,
        iteration: &Iteration<'_>,
        guide: &Guide<'_>,
        slot: impl Fn(usize) -> usize + Sync,
    ) {
        let effort = self.effort;
        iteration.map(self.searchers.iter_mut().collect(), |searcher: &mut Searcher| {
            searcher.draw(&effort, guide, &mut iteration.rng(slot(searcher.particle)));
        });
    }

    /// The tries of this iteration, as selected dimensions; none when all searches are finished.
    pub fn tries(&self) -> impl Iterator<Item = &Subset> {
        self.searchers.iter().filter_map(|searcher| searcher.next.as_ref())
    }

    /// Accepts the tries that improve their solutions.
    pub fn update(&mut self, evaluations: &[Evaluation]) {
        let trying = self.searchers.iter_mut().filter(|searcher| searcher.next.is_some());
        for (searcher, tried) in trying.zip(evaluations) {
            let (next, new) = (searcher.next.take(), cost_and_size(tried));
            if new < searcher.cost_and_size
                && let Some(next) = next
            {
                (searcher.solution, searcher.cost_and_size) = (next, new);
                searcher.has_improved = true;
            }
        }
    }

    /// The searches, with their results.
    pub fn into_searchers(self) -> Vec<Searcher> {
        self.searchers
    }
}

/// One try: the solution with some features added or removed; None if no sample has a change.
fn propose(solution: &Subset, rate: f64, guide: &Guide<'_>, rng: &mut Rng) -> Option<Subset> {
    let ones: Vec<usize> = solution.iter().collect();
    let zeros: Vec<usize> = solution.complement().iter().collect();
    let sample_size = ((rate * ones.len() as f64) as usize).max(1);
    let n_zeros = (rng.unit() * sample_size.min(zeros.len()) as f64 + 0.5) as usize;
    let n_ones = sample_size - n_zeros;
    (0..MAX_SAMPLES).find_map(|_| {
        let drawn = |from: &[usize], count: usize, rng: &mut Rng| -> Vec<usize> {
            let mut drawn: Vec<usize> =
                rng.distinct(count, from.len()).into_iter().map(|index| from[index]).collect();
            // In descending order of relevance.
            drawn.sort_unstable();
            drawn
        };
        let drawn_ones = drawn(&ones, n_ones, rng);
        let drawn_zeros = drawn(&zeros, n_zeros, rng);
        let removed = redundant(&drawn_ones, guide);
        let reference = if drawn_ones.is_empty() { &ones } else { &drawn_ones };
        let mut added = more_relevant(&drawn_zeros, reference, guide);
        // Above the limit, the least relevant features are not added.
        added.truncate((guide.limit + removed.len()).saturating_sub(ones.len()));
        if removed.is_empty() && added.is_empty() {
            return None;
        }
        let mut changed = solution.clone();
        for d in removed {
            changed.remove(d);
        }
        for d in added {
            changed.insert(d);
        }
        Some(changed)
    })
}

/// The members of the ascending `ones` whose redundancy with a kept earlier member exceeds their relevance.
fn redundant(ones: &[usize], guide: &Guide<'_>) -> Vec<usize> {
    let mut kept = ones.to_vec();
    let mut redundant = Vec::new();
    let mut position = 0;
    while position < kept.len() {
        let a = kept[position];
        let later = kept.split_off(position + 1);
        let (removed, others): (Vec<usize>, Vec<usize>) =
            later.into_iter().partition(|&b| (guide.redundancy)(a, b) > guide.relevance[b]);
        redundant.extend(removed);
        kept.extend(others);
        position += 1;
    }
    redundant
}

/// The members of `zeros` whose relevance exceeds the mean relevance of `reference`.
fn more_relevant(zeros: &[usize], reference: &[usize], guide: &Guide<'_>) -> Vec<usize> {
    let relevance = |d: usize| f64::from(guide.relevance[d]);
    let mean = reference.iter().map(|&d| relevance(d)).sum::<f64>() / reference.len() as f64;
    zeros.iter().copied().filter(|&d| relevance(d) > mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::parallel::Pool;
    use crate::base::random::{Phase, Streams};
    use crate::filter::{Filter, Levels};
    use crate::problem::objective::Cost;
    use crate::testing::{DiagnosticRows, drive, drive_with_diagnostics};
    use proptest::prelude::*;
    use std::sync::Arc;

    const N: usize = 48;

    /// Two classes and 48 features: every fourth is the class with errors, more of them for later features; the feature after
    /// it is a copy; the other two are noise.
    fn space() -> Space {
        let codes: Vec<u32> = (0..120).map(|row| row % 2).collect();
        let value = |feature: usize, row: usize| {
            let (kind, signal) = (feature % 4, feature / 4);
            let is_wrong = row * 7 % 120 < 3 * signal;
            match kind {
                0 | 1 => f64::from(codes[row] ^ u32::from(is_wrong)),
                _ => ((row * (2 * feature + 3)) % 31) as f64,
            }
        };
        let values: Vec<f64> = (0..N)
            .flat_map(|feature| (0..120).map(move |row| (feature, row)))
            .map(|(f, r)| value(f, r))
            .collect();
        let levels = Arc::new(Levels::new(&values, &codes, 2, &Pool::new(1)));
        let all: Vec<usize> = (0..N).collect();
        Space::new(N, N).with_filter(Arc::new(Filter::new(levels, &all, 1 << 20)))
    }

    fn few() -> VlpsoLsParams {
        let swarm = VlpsoParams { population: Some(24), ..VlpsoParams::default() };
        VlpsoLsParams { swarm, ..VlpsoLsParams::default() }
    }

    fn started(space: &Space) -> Vlpso {
        let params = VlpsoLsParams { tries: 10, ..few() };
        VlpsoLs::start(params, space)
    }

    /// Lower for every fourth feature, higher for all others.
    fn cost(x: &Subset) -> f64 {
        let good = x.iter().filter(|feature| feature % 4 == 0).count();
        0.5 - 0.03 * good as f64 + 0.01 * (x.count() - good) as f64
    }

    fn column(diagnostics: &DiagnosticRows, name: &str) -> Vec<f64> {
        let of = |row: &Vec<(&str, f64)>| row.iter().find(|(key, _)| *key == name).unwrap().1;
        diagnostics.iter().map(of).collect()
    }

    #[test]
    fn all_bests_are_searched_in_parallel_after_the_start() {
        let (history, diagnostics) = drive_with_diagnostics(&mut started(&space()), 12, cost);
        assert_eq!(column(&diagnostics, "searches")[0], 24.0);
        // A start of 24, ten rounds with a try of each, then the first move.
        assert_eq!(column(&diagnostics, "moves")[..12], [[0.0; 11].as_slice(), &[1.0]].concat());
        assert_eq!(history[0].len(), 24);
        assert!(history[1..11].iter().all(|iteration| (1..=24).contains(&iteration.len())));
        assert!(column(&diagnostics, "successes")[10] > 0.0);
        // A try changes at most a quarter of what it starts from, which is a best or an earlier try.
        for tried in &history[1] {
            let near = |start: &Evaluation| {
                tried.subset.distance(&start.subset) <= (start.subset.count() / 4).max(1)
            };
            assert!(history[0].iter().any(near));
        }
    }

    #[test]
    fn it_searches_on_schedule_and_does_all_iterations() {
        let (history, diagnostics) = drive_with_diagnostics(&mut started(&space()), 2000, cost);
        let iterations = column(&diagnostics, "moves");
        let searched = column(&diagnostics, "searches");
        for (t, n) in iterations.iter().zip(&searched) {
            assert!(*n == 0.0 || *t == 0.0 || (*t < 20.0 && t % 2.0 == 0.0), "{n} in {t}");
        }
        assert!(searched.iter().filter(|n| **n > 0.0).count() > 1);
        assert_eq!(iterations.last(), Some(&100.0));
        assert!(history.len() < 2000);
    }

    #[test]
    fn local_search_is_worth_its_evaluations() {
        let least = |iterations: Vec<Vec<Evaluation>>| {
            iterations.into_iter().flatten().map(|tried| tried.cost.value()).fold(1.0, f64::min)
        };
        let plain = few();
        let space = space();
        let with = least(drive(&mut VlpsoLs::start(plain.clone(), &space), 3, cost));
        // The first three iterations: a start and two rounds of search, against a start and two moves without a filter.
        let without = least(drive(&mut VlpsoLs::start(plain, &Space::new(N, N)), 3, cost));
        assert!(with < without, "{with} {without}");
    }

    const EFFORT: Effort = Effort { tries: 100, flip_rate: 0.25, every: 2, until: 20 };

    #[test]
    fn bests_of_the_start_and_of_even_iterations_before_twenty_are_searched() {
        let due: Vec<u64> = (0..=100).filter(|&t| EFFORT.is_due(t)).collect();
        assert_eq!(due, [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
        assert!(Effort { until: 0, ..EFFORT }.is_due(0));
    }

    /// Dimensions a, d, b, e, c by relevance, as in the worked example; a, b, c are in.
    const RELEVANCE: [f32; 5] = [0.6, 0.5, 0.5, 0.43, 0.2];

    fn between(a: usize, b: usize) -> f32 {
        match (a.min(b), a.max(b)) {
            (0, 2) => 0.4,
            (0, 4) => 0.3,
            (2, 4) => 0.1,
            _ => 0.0,
        }
    }

    fn guide(limit: usize) -> Guide<'static> {
        Guide { relevance: &RELEVANCE, redundancy: &between, limit }
    }

    #[test]
    fn added_and_removed_features_are_those_of_the_worked_example() {
        let ones = [0, 2, 4];
        assert_eq!(redundant(&ones, &guide(5)), [4]);
        assert_eq!(more_relevant(&[1, 3], &ones, &guide(5)), [1]);
    }

    #[test]
    fn removed_features_do_not_remove_others() {
        // 0 removes 1, which alone would have removed 2.
        let between = |a: usize, b: usize| if b == a + 1 { 0.9 } else { 0.0 };
        let guide = Guide { relevance: &[0.8, 0.5, 0.5, 0.5], redundancy: &between, limit: 4 };
        assert_eq!(redundant(&[0, 1, 2, 3], &guide), [1, 3]);
        assert!(redundant(&[], &guide).is_empty());
    }

    #[test]
    fn without_drawn_ones_the_reference_is_the_whole_solution() {
        // With one selected feature the sample size is 1, and the sample is a zero if u is above 1/2.
        let solution = Subset::from_indices(5, [3]);
        let mut found = Vec::new();
        for slot in 0..40 {
            let mut rng = Streams::new(1).rng(0, Phase::Tell, slot);
            found.extend(propose(&solution, 0.25, &guide(5), &mut rng));
        }
        assert!(!found.is_empty());
        // Only dimensions more relevant than dimension 3 are added, one at a time; the only selected one is never removed.
        assert!(
            found.iter().all(|next| next.count() == 2 && next.contains(3) && !next.contains(4))
        );
    }

    #[test]
    fn a_search_accepts_improvements_and_continues_from_there() {
        let start = Subset::from_indices(5, [3]);
        let searcher = Searcher::new(7, start.clone(), (Cost::new(0.5), 1), &EFFORT);
        let mut search = LocalSearch::new(EFFORT, vec![searcher]);
        let next = Subset::from_indices(5, [0, 3]);
        for (cost, improves) in [(0.5, false), (0.4, true)] {
            search.searchers[0].next = Some(next.clone());
            search.update(&[Evaluation {
                subset: next.clone(),
                measures: crate::evaluate::Measures::WORST,
                cost: Cost::new(cost),
            }]);
            assert_eq!(search.searchers[0].has_improved, improves);
            assert_eq!(search.searchers[0].solution, if improves { &next } else { &start }.clone());
            assert_eq!(search.tries().count(), 0);
        }
    }

    proptest! {
        #[test]
        fn a_try_changes_at_most_its_sample_and_keeps_the_limit(
            bits in proptest::collection::vec(any::<bool>(), 1..60), spare in 0usize..3, seed: u64,
        ) {
            let n = bits.len();
            let solution = Subset::from_fn(n, |d| bits[d] || d == n / 2);
            let size = solution.count();
            let relevance: Vec<f32> = (0..n).map(|d| 1.0 - d as f32 / n as f32).collect();
            let between = |a: usize, b: usize| if (a + b).is_multiple_of(3) { 1.0 } else { 0.0 };
            let guide = Guide { relevance: &relevance, redundancy: &between, limit: size + spare };
            let mut rng = Streams::new(seed).rng(0, Phase::Tell, 0);
            if let Some(next) = propose(&solution, 0.25, &guide, &mut rng) {
                prop_assert!(next.distance(&solution) <= (size / 4).max(1));
                prop_assert!(next.distance(&solution) > 0);
                prop_assert!(!next.is_empty() && next.count() <= size + spare);
            }
        }
    }
}
