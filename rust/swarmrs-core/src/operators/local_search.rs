//! Local search around the bests of particles, guided by what features tell about the class and about each other.
//!
//! A try draws a portion of a solution's features and some of the others. A drawn feature goes out where a more relevant
//! one that was drawn and stays tells more about it than it tells about the class; a drawn one that is not in comes in
//! where it is more relevant than the drawn ones that are in, in the mean. The better of solution and try stays.
//!
//! All searches run side by side: one turn has the next try of each.

use super::bests::{Standing, standing};
use crate::base::random::Rng;
use crate::base::subset::Subset;
use crate::search::algorithm::{Evaluation, Turn};

/// How much to search, and when.
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
    /// Whether the bests found in an iteration are searched; 0 is the start.
    pub fn is_due(&self, iteration: u64) -> bool {
        iteration == 0 || iteration < self.until && iteration.is_multiple_of(self.every)
    }
}

/// What guides a search; dimensions are in descending order of relevance.
pub struct Guide<'a> {
    /// The relevance of each dimension.
    pub relevance: &'a [f32],
    /// What two dimensions tell about each other.
    pub between: &'a (dyn Fn(usize, usize) -> f32 + Sync),
    /// How many features may be in.
    pub limit: usize,
}

/// A sample without a change is drawn anew so often.
const SAMPLES: usize = 10;

/// The search around one best.
#[derive(Debug)]
pub struct Searcher {
    /// Whose best it is.
    pub particle: usize,
    /// The dimensions that are in.
    pub solution: Subset,
    /// What they are worth.
    pub standing: Standing,
    /// Whether the search found anything better than it began with.
    pub has_improved: bool,
    tries: usize,
    /// The try under way.
    next: Option<Subset>,
}

impl Searcher {
    /// A search that starts from these dimensions.
    pub fn new(particle: usize, solution: Subset, standing: Standing, effort: &Effort) -> Self {
        let tries = effort.tries;
        Self { particle, solution, standing, has_improved: false, tries, next: None }
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
        turn: &Turn<'_>,
        guide: &Guide<'_>,
        slot: impl Fn(usize) -> usize + Sync,
    ) {
        let effort = self.effort;
        turn.map(self.searchers.iter_mut().collect(), |searcher: &mut Searcher| {
            searcher.draw(&effort, guide, &mut turn.rng(slot(searcher.particle)));
        });
    }

    /// The tries of this turn, dimensions that are in; none when all searches are over.
    pub fn tries(&self) -> impl Iterator<Item = &Subset> {
        self.searchers.iter().filter_map(|searcher| searcher.next.as_ref())
    }

    /// Learns what the tries cost.
    pub fn learn(&mut self, told: &[Evaluation]) {
        let trying = self.searchers.iter_mut().filter(|searcher| searcher.next.is_some());
        for (searcher, tried) in trying.zip(told) {
            let (next, new) = (searcher.next.take(), standing(tried));
            if new < searcher.standing
                && let Some(next) = next
            {
                (searcher.solution, searcher.standing) = (next, new);
                searcher.has_improved = true;
            }
        }
    }

    /// What became of each search.
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

/// Those of the ascending `ones` of which a kept earlier one tells more than they tell about the class.
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
    use crate::base::random::{Phase, Streams};
    use crate::problem::objective::Cost;
    use proptest::prelude::*;

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
            search.learn(&[Evaluation {
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
