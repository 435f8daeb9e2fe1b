//! k nearest neighbors by float64 distance, found by way of quantized ones.
//!
//! Neighbors at equal distance: the lower row index first. Equal votes: the smallest class. Both are part of the
//! definition. Where the target is numeric, the mean of the neighbors takes the place of their vote. Distances are squared for the Euclidean metric, which compares the same.
//!
//! One direction of calls, each stage with its own type:
//!
//! ```text
//! Plan -> Distances -> Candidates -> Shortlist -> ExactDistances (cases in doubt) -> Voter, Means or CompleteVoter
//!                   -> Separations (hybrid objective only)
//! ```
//!
//! Where few features are selected of many rows, a kd-tree finds the same candidates in the place of `Distances`.

mod candidates;
mod complete;
mod distances;
mod exact;
mod separation;
mod shortlist;
mod tree;
mod vote;

use super::folded::FoldedTable;
use super::incremental::{Additive, Incremental, Step};
use super::layout::Block;
use super::scores::{ONE, Share};
use super::{
    Classify, EvaluationSpec, Measures, Metric, Prediction, Resources, TestCases, Weights, certain,
};
use crate::base::cancel;
use crate::base::parallel::Pool;
use crate::base::subset::Subset;
use crate::data::quantization::{Fidelity, Quantized, index_bits};
use crate::simd::{
    CoarseEuclidean, Euclidean, Euclidean16, Isa, Kernel, KeyFormat, Lane, Manhattan, Manhattan16,
};
use candidates::Candidates;
pub(super) use complete::CompleteVoter;
use distances::{Distances, TileSink};
use exact::ExactDistances;
use separation::{PlaceClasses, Separations};
use shortlist::Shortlist;
use std::ops::Range;
use std::sync::Arc;
use tree::{Forest, Places};
use vote::{Ballots, Decide, Means, Voter, Weighting, nearest, sort_nearest};

/// The k-NN evaluator for this table, its scale and metric; with a voter for complete cross-validation, if that is asked for.
pub(super) fn build(
    table: &FoldedTable<'_>,
    spec: &EvaluationSpec,
    complete: Option<Arc<CompleteVoter>>,
    separation: bool,
    resources: Resources,
    isa: Isa,
) -> Box<dyn Classify> {
    let d = table.data.n_features() as f64;
    let mut plan = Plan { table, spec, complete, separation, resources, isa, ops: 0 };
    match (&table.quantization.values, spec.metric) {
        (Quantized::Narrow(values), Metric::Manhattan) if d * 65535.0 <= f64::from(u32::MAX) => {
            plan.evaluator::<Manhattan16>(|at| values[at])
        }
        (Quantized::Narrow(values), Metric::Manhattan) => {
            plan.evaluator::<Manhattan>(|at| f64::from(values[at]))
        }
        (Quantized::Narrow(values), Metric::Euclidean) => {
            let value = |at| values[at];
            let coarse = match plan.bits_to_lose(value) {
                Some(2) => plan.coarse::<2>(value),
                Some(3) => plan.coarse::<3>(value),
                Some(4) => plan.coarse::<4>(value),
                _ => None,
            };
            coarse.unwrap_or_else(|| plan.evaluator::<Euclidean16>(value))
        }
        (Quantized::Wide(values), Metric::Manhattan) => {
            plan.evaluator::<Manhattan>(|at| f64::from(values[at]))
        }
        (Quantized::Wide(values), Metric::Euclidean) => {
            plan.evaluator::<Euclidean>(|at| f64::from(values[at]))
        }
    }
}

/// The choice of a kernel: what it depends on, and the work spent on it.
struct Plan<'a> {
    table: &'a FoldedTable<'a>,
    spec: &'a EvaluationSpec,
    complete: Option<Arc<CompleteVoter>>,
    separation: bool,
    resources: Resources,
    isa: Isa,
    /// Element operations spent on planning.
    ops: u64,
}

/// Element operations that may be spent on finding the greatest distance; above, a bound of it has to do.
const MOST_COMPARED: u64 = 1 << 28;
/// 32-bit lists of more neighbors cost more than they save.
const MOST_NEIGHBORS: usize = 10;
/// 32-bit keys with longer row indices have too few bits left for the distance.
const MOST_ROW_BITS: u32 = 12;
/// Subsets on which 32-bit keys are tried before they are used.
const TRIALS: usize = 4;
/// 32-bit keys do not pay where they leave one case in so many undecided.
const DOUBTFUL: usize = 10;

impl Plan<'_> {
    fn row_bits(&self) -> u32 {
        index_bits(self.table.data.n_samples())
    }

    /// The number of nearest rows to find of each case.
    fn depth(&self) -> usize {
        self.complete.as_ref().map_or(self.spec.k, |voter| voter.depth())
    }

    /// True if 32-bit keys are of use for so many rows and neighbors, and such folds.
    fn fits_short_keys(&self, is_symmetric: bool) -> bool {
        self.depth() <= MOST_NEIGHBORS && self.row_bits() <= MOST_ROW_BITS && is_symmetric
    }

    fn neighbors<K: Kernel>(&mut self, value: impl Fn(usize) -> K::Value) -> Neighbors<K> {
        let mut neighbors = Neighbors::new(self, self.isa, value);
        if K::SHORT.is_some() && self.fits_short_keys(neighbors.distances.layout().is_symmetric()) {
            self.ops += neighbors.try_short_keys();
        }
        neighbors.setup_ops = self.ops;
        neighbors
    }

    fn evaluator<K: Kernel>(&mut self, value: impl Fn(usize) -> K::Value) -> Box<dyn Classify> {
        let neighbors = self.neighbors::<K>(value);
        Box::new(Incremental::new(neighbors, self.resources.clone(), self.isa))
    }

    /// The number of low bits of the values to leave out, for squared distances of no more than 32 bits.
    fn bits_to_lose(&mut self, value: impl Fn(usize) -> u16) -> Option<u32> {
        let d = self.table.data.n_features();
        let exact = Distances::<Euclidean16>::new(self.table, self.isa, value);
        if !self.fits_short_keys(exact.layout().is_symmetric()) {
            return None;
        }
        let ops = exact.layout().pairs() * d as u64;
        let farthest = if ops <= MOST_COMPARED {
            self.ops += ops;
            exact.farthest()
        } else {
            self.ops += (exact.layout().n() * d) as u64;
            exact.farthest_at_most()
        };
        // The greatest 32-bit keys are kept free.
        let room = f64::from(u32::MAX - (1 << 20));
        let longest = |lost: u32| farthest.sqrt() / f64::from(1u32 << lost) + (d as f64).sqrt();
        // With fewer than twelve bits left, too many rows are undecided.
        (2..=4).find(|&lost| longest(lost).powi(2) < room)
    }

    /// An evaluator on distances of coarse values, which are of use only with 32-bit keys.
    fn coarse<const LOST: u32>(
        &mut self,
        value: impl Fn(usize) -> u16,
    ) -> Option<Box<dyn Classify>> {
        let neighbors = self.neighbors::<CoarseEuclidean<LOST>>(value);
        neighbors.uses_short_keys.then(|| -> Box<dyn Classify> {
            Box::new(Incremental::new(neighbors, self.resources.clone(), self.isa))
        })
    }
}

/// The subsets whose candidates a tree finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TreeUse {
    /// Those for which it takes less time than all distances.
    Cheaper,
    /// None of them.
    Never,
    /// All that have few enough features.
    #[cfg(test)]
    Always,
}

/// k nearest neighbors on one kernel: all stages, from distances to votes.
pub(super) struct Neighbors<K: Kernel> {
    distances: Distances<K>,
    exact: ExactDistances,
    voter: Voter,
    /// The target of each row of the table, if it is numeric.
    numbers: Option<Arc<[f64]>>,
    complete: Option<Arc<CompleteVoter>>,
    cases: TestCases,
    /// The number of nearest rows to find: k, or more of them for complete cross-validation.
    k: usize,
    /// The row of the table at each place of the layout, padded.
    index: Vec<u32>,
    format: KeyFormat,
    /// True if candidate lists have 32-bit keys: this changes the time, never the answer.
    uses_short_keys: bool,
    /// The fidelity of quantization, feature by feature.
    fidelity: Vec<Fidelity>,
    /// Quantization steps per unit of scaled value.
    resolution: f64,
    /// The classes that separation goes by; none where it is not requested.
    classes: Option<PlaceClasses>,
    setup_ops: u64,
    isa: Isa,
    /// The subsets whose candidates a tree finds: this changes the time, never the answer.
    tree_use: TreeUse,
}

/// The candidates of every case and, where it is requested, the separation of classes.
struct Found<'a, S> {
    candidates: Candidates<'a>,
    separations: Option<Separations<'a, S>>,
    /// The trees that found them.
    forest: Option<Box<dyn Forest>>,
}

impl<S: Lane> TileSink<S> for Found<'_, S> {
    fn insert_tile(&mut self, block: &Block, columns: Range<usize>, sums: &[S]) {
        if let Some(separations) = &mut self.separations {
            separations.insert_tile(block, &columns, sums);
        }
        self.candidates.insert_tile(block, columns, sums);
    }

    fn merge(&mut self, other: Self) {
        self.candidates.merge(&other.candidates);
        if let (Some(all), Some(some)) = (&mut self.separations, &other.separations) {
            all.merge(some);
        }
    }
}

impl<K: Kernel> Neighbors<K> {
    fn new(plan: &Plan<'_>, isa: Isa, value: impl Fn(usize) -> K::Value) -> Self {
        let &Plan { table, spec, separation, .. } = plan;
        let distances = Distances::new(table, isa, value);
        let layout = distances.layout();
        let rows = layout.rows_padded().iter();
        Self {
            exact: ExactDistances::new(table, spec.metric, isa, layout.rows()),
            voter: Voter {
                weighting: Weighting { metric: spec.metric, weights: spec.weights },
                codes: table.codes.to_vec(),
                n_classes: table.data.n_classes(),
            },
            numbers: table.data.numbers().cloned(),
            complete: plan.complete.clone(),
            cases: TestCases::new(table.data, table.drawn),
            k: plan.depth(),
            index: rows.map(|&row| table.rows[row as usize]).collect(),
            format: KeyFormat { shift: plan.row_bits() },
            uses_short_keys: false,
            fidelity: table.quantization.quantizers.iter().map(|q| q.fidelity).collect(),
            resolution: table.quantization.resolution,
            classes: separation.then(|| PlaceClasses::new(layout, &table.codes)),
            distances,
            setup_ops: 0,
            isa,
            tree_use: TreeUse::Cheaper,
        }
    }

    /// Finds out by a trial on some subsets whether 32-bit keys pay. Returns the element operations that took.
    fn try_short_keys(&mut self) -> u64 {
        (self.uses_short_keys, self.tree_use) = (true, TreeUse::Never);
        let n_features = self.distances.n_features();
        let (mut undecided, mut sizes) = (0, 0);
        for trial in 1..=TRIALS {
            // Every feature, every second, every third: features of all fidelities come together as in any search.
            let subset = Subset::from_indices(n_features, (0..n_features).step_by(trial));
            undecided += self.undecided(&subset);
            sizes += subset.count() as u64;
        }
        self.tree_use = TreeUse::Cheaper;
        // An undecided case is compared with all n rows in float64, n d operations; 32-bit keys save about as much time
        // as two of these operations take for each of the n^2 / 2 pairs.
        let n = self.distances.layout().n();
        self.uses_short_keys = undecided * DOUBTFUL <= TRIALS * self.cases.n_cases()
            && undecided * n_features <= 2 * TRIALS * n;
        sizes * self.distances.layout().pairs()
    }

    /// The number of cases that the candidate lists of a subset leave undecided.
    fn undecided(&self, subset: &Subset) -> usize {
        let shortlist = self.shortlist(subset);
        let found = self.find(Step::from_nothing(subset), shortlist, None);
        let is_open = |&case: &usize| shortlist.certain(&found.candidates.list(case)).is_none();
        (0..self.cases.n_cases()).filter(is_open).count()
    }

    fn shortlist(&self, subset: &Subset) -> Shortlist {
        let is_squared = self.voter.weighting.metric == Metric::Euclidean;
        if self.uses_tree(subset) {
            // Trees hold all bits of the values and find 64-bit keys.
            return Shortlist::new(subset, &self.fidelity, self.k, is_squared, None, None);
        }
        let row_bits = self.uses_short_keys.then_some(self.format.shift);
        Shortlist::new(subset, &self.fidelity, self.k, is_squared, K::SHORT, row_bits)
    }

    /// True if a tree finds the candidates of a subset.
    fn uses_tree(&self, subset: &Subset) -> bool {
        let size = subset.count();
        // Complete cross-validation looks at most rows, separation at all of them. Weights of 32-bit lists come from
        // float64 distances, those of exact 64-bit lists from quantized ones, which may differ in the last bit.
        let is_able = (1..=tree::MOST_FEATURES).contains(&size)
            && self.complete.is_none()
            && self.classes.is_none()
            && (self.voter.weighting.weights == Weights::Uniform || !self.uses_short_keys);
        match self.tree_use {
            TreeUse::Cheaper => {
                is_able
                    && tree::is_cheaper(self.ops(), self.cases.n_cases(), size, self.k, self.isa)
            }
            TreeUse::Never => false,
            #[cfg(test)]
            TreeUse::Always => is_able,
        }
    }

    /// The candidates of a subset, by trees.
    fn find_by_tree(
        &self,
        subset: &Subset,
        shortlist: Shortlist,
        pool: Option<&Pool>,
    ) -> Found<'_, K::Sum> {
        let layout = self.distances.layout();
        let features: Vec<usize> = subset.iter().collect();
        let places = Places { rows: layout.rows(), index: &self.index, exact: &self.exact };
        let is_squared = self.voter.weighting.metric == Metric::Euclidean;
        let forest = tree::build(&places, features.len(), is_squared, &|feature, place| {
            self.distances.value(features[feature], place)
        });
        let format = (self.format, None);
        let mut candidates =
            Candidates::new(layout, &self.index, self.isa, shortlist.levels, format);
        forest.nearest(shortlist.levels, self.format, pool, &mut |case, list| {
            candidates.set_list(case, list);
        });
        Found { candidates, separations: None, forest: Some(forest) }
    }

    fn find(
        &self,
        step: Step<'_, K::Sum>,
        shortlist: Shortlist,
        pool: Option<&Pool>,
    ) -> Found<'_, K::Sum> {
        if step.keep.is_none() && self.uses_tree(step.subset) {
            return self.find_by_tree(step.subset, shortlist, pool);
        }
        let layout = self.distances.layout();
        self.distances.scan(step, pool, || {
            let format = (self.format, shortlist.short);
            let separate = |classes| Separations::new(layout, classes, self.isa);
            Found {
                candidates: Candidates::new(
                    layout,
                    &self.index,
                    self.isa,
                    shortlist.levels,
                    format,
                ),
                separations: self.classes.as_ref().map(separate),
                forest: None,
            }
        })
    }

    /// The predicted class of every case.
    fn classify(
        &self,
        found: &Found<'_, K::Sum>,
        shortlist: Shortlist,
        subset: &Subset,
    ) -> Vec<u32> {
        let mut ballots = Ballots::new(&self.voter, self.cases.n_cases());
        self.decide(found, shortlist, subset, &mut ballots);
        ballots.classes
    }

    /// The predicted number of every case, for these targets of all rows.
    fn regress(
        &self,
        numbers: &[f64],
        found: &Found<'_, K::Sum>,
        shortlist: Shortlist,
        subset: &Subset,
    ) -> Vec<f64> {
        let mut means = Means::new(self.voter.weighting, numbers, self.cases.n_cases());
        self.decide(found, shortlist, subset, &mut means);
        means.predicted
    }

    /// Has every case predicted by its nearest neighbors: from its candidates where these are certain, else from float64
    /// distances.
    fn decide(
        &self,
        found: &Found<'_, K::Sum>,
        shortlist: Shortlist,
        subset: &Subset,
        predictor: &mut impl Decide,
    ) {
        let Found { candidates, forest, .. } = found;
        let (mut doubtful, mut pairs, mut open) = (Vec::new(), Vec::new(), Vec::new());
        let is_plain = shortlist.is_exact || self.voter.weighting.weights == Weights::Uniform;
        for case in 0..self.cases.n_cases() {
            let list = candidates.list(case);
            match shortlist.certain(&list) {
                Some(count) if count == self.k && is_plain => {
                    let neighbors = (0..count).map(|level| list.at(level));
                    predictor.decide(case, neighbors);
                }
                // Copies of rows are not in the keys, which hold rows of the table.
                Some(count) if !self.exact.has_copies() => {
                    let row = self.exact.row(case);
                    // Votes by distance need all distances.
                    let inside = if is_plain { shortlist.inside(&list) } else { 0 };
                    let others = (inside..count).map(|level| list.at(level).1 as u32);
                    pairs.extend(others.map(|other| (row, other)));
                    doubtful.push((case, inside, count));
                }
                _ => open.push(case),
            }
        }
        let features: Vec<u32> = subset.iter().map(|feature| feature as u32).collect();
        let distances = self.exact.between(&features, &pairs);
        let mut compared =
            pairs.iter().zip(&distances).map(|(&(_, row), &distance)| (distance, row));
        let mut rows = Vec::new();
        for (case, inside, count) in doubtful {
            rows.clear();
            rows.extend(compared.by_ref().take(count - inside));
            let list = candidates.list(case);
            let certain = (0..inside).map(|level| list.at(level));
            let neighbors = certain.chain(nearest(&mut rows, self.k - inside));
            predictor.decide(case, neighbors);
        }
        let Some(forest) = forest else {
            self.exact.all(&features, &open, |case, rows| {
                predictor.decide(case, nearest(rows, self.k));
            });
            return;
        };
        let mut near = Vec::new();
        for case in open {
            cancel::check();
            let (steps, _) = candidates.list(case).at(self.k - 1);
            forest.within(case, steps, &shortlist, &mut near);
            self.exact.some(&features, case, &near, &mut rows);
            predictor.decide(case, nearest(&mut rows, self.k));
        }
    }

    /// The probability of each class to be predicted for a case, sorted by case and class; of complete cross-validation.
    fn distribution(&self, subset: &Subset) -> Vec<Share> {
        let shortlist = self.shortlist(subset);
        let found = self.find(Step::from_nothing(subset), shortlist, None);
        let voter = self.complete.as_deref();
        let mut shares = voter.map_or_else(Vec::new, |voter| {
            self.shares(voter, &found.candidates, shortlist, subset)
        });
        shares.sort_unstable_by_key(|share| (share.case, share.class));
        shares
    }

    /// The probability of each class to be predicted for a case, over all splits of complete cross-validation.
    fn shares(
        &self,
        voter: &CompleteVoter,
        candidates: &Candidates<'_>,
        shortlist: Shortlist,
        subset: &Subset,
    ) -> Vec<Share> {
        let mut ballot = CompleteVoter::ballot(self.voter.n_classes);
        let mut shares = Vec::with_capacity(2 * self.cases.n_cases());
        let mut vote = |case: usize, classes: &[u32]| {
            let case = case as u32;
            voter.vote(classes, &mut ballot, |class, weight| {
                shares.push(Share { case, class, weight });
            });
        };
        let codes = &self.voter.codes;
        let (mut doubtful, mut pairs, mut open) = (Vec::new(), Vec::new(), Vec::new());
        let (mut rows, mut classes) = (Vec::new(), Vec::new());
        for case in 0..self.cases.n_cases() {
            let list = candidates.list(case);
            let Some(count) = shortlist.certain(&list) else {
                open.push(case);
                continue;
            };
            list.copy_rows(count, &mut rows);
            classes.clear();
            classes.extend(rows.iter().map(|&row| codes[row as usize]));
            if shortlist.unordered(&list, &classes, 0).is_none() {
                vote(case, &classes[..self.k]);
                continue;
            }
            if self.exact.has_copies() {
                open.push(case);
                continue;
            }
            let row = self.exact.row(case);
            let mut ordered = 0;
            while let Some(levels) = shortlist.unordered(&list, &classes, ordered) {
                ordered = levels.end;
                pairs.extend(rows[levels.clone()].iter().map(|&other| (row, other)));
                doubtful.push((case, count, levels));
            }
        }
        let features: Vec<u32> = subset.iter().map(|feature| feature as u32).collect();
        let distances = self.exact.between(&features, &pairs);
        let mut compared =
            pairs.iter().zip(&distances).map(|(&(_, row), &distance)| (distance, row));
        let mut sorted = Vec::new();
        for runs in doubtful.chunk_by(|(case, ..), (next, ..)| case == next) {
            let (case, count, _) = runs[0];
            candidates.list(case).copy_rows(count, &mut rows);
            for (.., levels) in runs {
                sorted.clear();
                sorted.extend(compared.by_ref().take(levels.len()));
                sort_nearest(&mut sorted, levels.len());
                let places = rows[levels.clone()].iter_mut().zip(&sorted);
                places.for_each(|(place, &(_, row))| *place = row);
            }
            classes.clear();
            classes.extend(rows[..self.k].iter().map(|&row| codes[row as usize]));
            vote(case, &classes);
        }
        self.exact.all(&features, &open, |case, sorted| {
            sort_nearest(sorted, self.k);
            classes.clear();
            classes.extend(sorted.iter().map(|&(_, row)| codes[row as usize]));
            vote(case, &classes);
        });
        shares
    }
}

impl<K: Kernel> Additive for Neighbors<K> {
    type Sum = K::Sum;

    fn n_features(&self) -> usize {
        self.distances.n_features()
    }

    fn n_sums(&self) -> usize {
        self.distances.layout().n_sums()
    }

    fn ops(&self) -> u64 {
        self.distances.layout().pairs()
    }

    fn setup_ops(&self) -> u64 {
        self.setup_ops
    }

    fn needs_sums(&self, subset: &Subset) -> bool {
        !self.uses_tree(subset)
    }

    fn evaluate(&self, step: Step<'_, K::Sum>, pool: Option<&Pool>) -> Measures {
        let subset = step.subset;
        let shortlist = self.shortlist(subset);
        let found = self.find(step, shortlist, pool);
        let mut measures = match (&self.complete, &self.numbers) {
            (Some(voter), _) => {
                let shares = self.shares(voter, &found.candidates, shortlist, subset);
                self.cases.score_shares(&shares)
            }
            (None, Some(numbers)) => {
                let predicted = self.regress(numbers, &found, shortlist, subset);
                self.cases.score_numbers(&predicted)
            }
            (None, None) => self.cases.score(&self.classify(&found, shortlist, subset)),
        };
        if let Some(separations) = &found.separations {
            let farthest = self.resolution as u64 * subset.count() as u64;
            measures.separation = separations.mean(self.cases.n_cases(), farthest);
        }
        measures
    }

    fn build(&self, step: Step<'_, K::Sum>) {
        self.distances.build(step);
    }
}

impl<K: Kernel> Classify for Incremental<Neighbors<K>> {
    /// Under complete cross-validation the most probable class, the smallest of equals.
    fn predict(&self, subset: &Subset) -> Vec<(u32, u32)> {
        let neighbors = self.additive();
        let rows = neighbors.cases.rows();
        if neighbors.complete.is_some() {
            let shares = neighbors.distribution(subset);
            let cases = shares.chunk_by(|a, b| a.case == b.case);
            let likeliest = cases.filter_map(|shares| {
                shares.iter().max_by_key(|share| (share.weight, u32::MAX - share.class))
            });
            return likeliest.map(|share| (rows[share.case as usize], share.class)).collect();
        }
        if neighbors.numbers.is_some() {
            return Vec::new();
        }
        let shortlist = neighbors.shortlist(subset);
        let found = neighbors.find(Step::from_nothing(subset), shortlist, None);
        let classes = neighbors.classify(&found, shortlist, subset);
        rows.iter().copied().zip(classes).collect()
    }

    fn predict_numbers(&self, subset: &Subset) -> Vec<(u32, f64)> {
        let neighbors = self.additive();
        let Some(numbers) = &neighbors.numbers else { return Vec::new() };
        let shortlist = neighbors.shortlist(subset);
        let found = neighbors.find(Step::from_nothing(subset), shortlist, None);
        let predicted = neighbors.regress(numbers, &found, shortlist, subset);
        neighbors.cases.rows().iter().copied().zip(predicted).collect()
    }

    fn distribution(&self, subset: &Subset) -> Vec<Prediction> {
        let neighbors = self.additive();
        if neighbors.complete.is_none() {
            return certain(self.predict(subset));
        }
        let rows = neighbors.cases.rows();
        let prediction = |&Share { case, class, weight }: &Share| Prediction {
            case,
            row: rows[case as usize],
            class,
            probability: weight as f64 / ONE as f64,
        };
        neighbors.distribution(subset).iter().map(prediction).collect()
    }

    fn fold_sizes(&self) -> Vec<usize> {
        self.additive().cases.fold_sizes()
    }
}

#[cfg(test)]
mod tests;
