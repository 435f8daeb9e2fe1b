//! Variable-length PSO with local search on the personal bests of particles.
//!
//! The swarm is that of `vlpso`. Whenever particles have improved their personal bests, at the start and in the
//! iterations t that are multiples of `search_every` below `search_until`, each such best is searched for `tries`
//! tries:
//!
//! ```text
//! F = max(1, floor(flip_rate |X|));  z = round(u min(F, L - |X|));  o = F - z       X the best, L its length
//! draw o features of X and z features not in X
//! b of the o goes out where some kept a of the o that is more relevant has SU(a, b) > SU(b, class)
//! f of the z comes in where SU(f, class) > the mean SU of the o with the class
//! X <- the changed X where it costs less, or as much with fewer features
//! ```
//!
//! A sample that changes nothing is drawn again, ten times at the most; then the try is skipped. A best that was
//! improved gets the coordinates 1 and 0; the particle itself does not move. All searches run side by side, one try
//! of each an iteration.
//!
//! The paper leaves the schedule and the size of the portion open and compares with all selected features; this is
//! the authors' program, which compares inside the drawn portion. Where o = 0 the mean is over X. What would exceed a
//! limit on features does not come in. Where nothing is known of the features there is no local search. Random
//! numbers come from slot 2 P + i.
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

/// VLPSO whose personal bests are searched.
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

/// The amount and the schedule of local search.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Tries for each best.
    pub tries: usize,
    /// The share of a solution's features that a try looks at.
    pub flip_rate: f64,
    /// Bests are searched in iterations that are multiples of this ...
    pub every: u64,
    /// ... before this one, and at the start in any case.
    pub until: u64,
}

impl Effort {
    /// True if the bests found in an iteration are searched; 0 is the start.
    pub fn is_due(&self, iteration: u64) -> bool {
        iteration == 0 || iteration < self.until && iteration.is_multiple_of(self.every)
    }
}

/// The filter values that guide a search; dimensions are in descending order of relevance.
pub struct Guide<'a> {
    /// The relevance of each dimension.
    pub relevance: &'a [f32],
    /// The symmetrical uncertainty of two dimensions.
    pub between: &'a (dyn Fn(usize, usize) -> f32 + Sync),
    /// The maximum number of selected features.
    pub limit: usize,
}

/// A sample without a change is drawn anew so often.
const SAMPLES: usize = 10;

/// The search around one best.
#[derive(Debug)]
pub struct Searcher {
    /// The particle whose best it is.
    pub particle: usize,
    /// The dimensions that are in.
    pub solution: Subset,
    /// Their cost_and_size.
    pub cost_and_size: CostAndSize,
    /// True once the search found anything better than it began with.
    pub has_improved: bool,
    tries: usize,
    /// The try under way.
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

    /// Draws until there is something to try, or no try is left.
    fn draw(&mut self, effort: &Effort, guide: &Guide<'_>, rng: &mut Rng) {
        self.next = None;
        while self.tries > 0 && self.next.is_none() {
            self.tries -= 1;
            self.next = attempt(&self.solution, effort.flip_rate, guide, rng);
        }
    }
}

/// All searches under way.
#[derive(Debug)]
pub struct LocalSearch {
    effort: Effort,
    searchers: Vec<Searcher>,
}

impl LocalSearch {
    /// These searches.
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

    /// The tries of this iteration, dimensions that are in; none when all searches are over.
    pub fn tries(&self) -> impl Iterator<Item = &Subset> {
        self.searchers.iter().filter_map(|searcher| searcher.next.as_ref())
    }

    /// Learns what the tries cost.
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

/// One try: the solution with some features flipped, or nothing where no sample has a change.
fn attempt(solution: &Subset, rate: f64, guide: &Guide<'_>, rng: &mut Rng) -> Option<Subset> {
    let ones: Vec<usize> = solution.iter().collect();
    let zeros: Vec<usize> = solution.complement().iter().collect();
    let portion = ((rate * ones.len() as f64) as usize).max(1);
    let n_zeros = (rng.unit() * portion.min(zeros.len()) as f64 + 0.5) as usize;
    let n_ones = portion - n_zeros;
    (0..SAMPLES).find_map(|_| {
        let drawn = |from: &[usize], count: usize, rng: &mut Rng| -> Vec<usize> {
            let mut drawn: Vec<usize> =
                rng.distinct(count, from.len()).into_iter().map(|at| from[at]).collect();
            // The most relevant first.
            drawn.sort_unstable();
            drawn
        };
        let drawn_ones = drawn(&ones, n_ones, rng);
        let drawn_zeros = drawn(&zeros, n_zeros, rng);
        let out = redundant(&drawn_ones, guide);
        let yardstick = if drawn_ones.is_empty() { &ones } else { &drawn_ones };
        let mut into = more_relevant(&drawn_zeros, yardstick, guide);
        // What exceeds the limit stays out, the least relevant first.
        into.truncate((guide.limit + out.len()).saturating_sub(ones.len()));
        if out.is_empty() && into.is_empty() {
            return None;
        }
        let mut changed = solution.clone();
        for d in out {
            changed.remove(d);
        }
        for d in into {
            changed.insert(d);
        }
        Some(changed)
    })
}

/// Those of the ascending `ones` that share more with a kept earlier one than with the class.
fn redundant(ones: &[usize], guide: &Guide<'_>) -> Vec<usize> {
    let mut rest = ones.to_vec();
    let mut out = Vec::new();
    let mut at = 0;
    while at < rest.len() {
        let a = rest[at];
        let later = rest.split_off(at + 1);
        let (gone, kept): (Vec<usize>, Vec<usize>) =
            later.into_iter().partition(|&b| (guide.between)(a, b) > guide.relevance[b]);
        out.extend(gone);
        rest.extend(kept);
        at += 1;
    }
    out
}

/// Those of `zeros` that are more relevant than the `yardstick` in the mean.
fn more_relevant(zeros: &[usize], yardstick: &[usize], guide: &Guide<'_>) -> Vec<usize> {
    let relevance = |d: usize| f64::from(guide.relevance[d]);
    let mean = yardstick.iter().map(|&d| relevance(d)).sum::<f64>() / yardstick.len() as f64;
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

    /// Two classes and 48 features: every fourth follows the class but for some rows, fewer the earlier it stands;
    /// the one after it is its copy; the other two are noise.
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
    fn bests_are_searched_side_by_side_after_the_start() {
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
        Guide { relevance: &RELEVANCE, between: &between, limit }
    }

    #[test]
    fn marks_are_those_of_the_worked_example() {
        let ones = [0, 2, 4];
        assert_eq!(redundant(&ones, &guide(5)), [4]);
        assert_eq!(more_relevant(&[1, 3], &ones, &guide(5)), [1]);
    }

    #[test]
    fn what_went_out_removes_nothing() {
        // 0 removes 1, which alone would have removed 2.
        let between = |a: usize, b: usize| if b == a + 1 { 0.9 } else { 0.0 };
        let guide = Guide { relevance: &[0.8, 0.5, 0.5, 0.5], between: &between, limit: 4 };
        assert_eq!(redundant(&[0, 1, 2, 3], &guide), [1, 3]);
        assert!(redundant(&[], &guide).is_empty());
    }

    #[test]
    fn without_drawn_ones_the_whole_solution_is_the_yardstick() {
        // One feature in: a portion of 1, which is the zero where the draw is above a half.
        let solution = Subset::from_indices(5, [3]);
        let mut found = Vec::new();
        for slot in 0..40 {
            let mut rng = Streams::new(1).rng(0, Phase::Tell, slot);
            found.extend(attempt(&solution, 0.25, &guide(5), &mut rng));
        }
        assert!(!found.is_empty());
        // Only what is more relevant than dimension 3 comes in, one at a time; the only one never goes out.
        assert!(
            found.iter().all(|next| next.count() == 2 && next.contains(3) && !next.contains(4))
        );
    }

    #[test]
    fn a_search_accepts_what_is_better_and_goes_on_from_there() {
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
        fn a_try_keeps_to_its_portion_and_to_the_limit(
            bits in proptest::collection::vec(any::<bool>(), 1..60), spare in 0usize..3, seed: u64,
        ) {
            let n = bits.len();
            let solution = Subset::from_fn(n, |d| bits[d] || d == n / 2);
            let size = solution.count();
            let relevance: Vec<f32> = (0..n).map(|d| 1.0 - d as f32 / n as f32).collect();
            let between = |a: usize, b: usize| if (a + b).is_multiple_of(3) { 1.0 } else { 0.0 };
            let guide = Guide { relevance: &relevance, between: &between, limit: size + spare };
            let mut rng = Streams::new(seed).rng(0, Phase::Tell, 0);
            if let Some(next) = attempt(&solution, 0.25, &guide, &mut rng) {
                prop_assert!(next.distance(&solution) <= (size / 4).max(1));
                prop_assert!(next.distance(&solution) > 0);
                prop_assert!(!next.is_empty() && next.count() <= size + spare);
            }
        }
    }
}
