//! Incremental evaluation: the sums of a subset are built from those of the nearest cached one.
//!
//! Distances and log-likelihoods are sums over the features of a subset, and the sums are integers. So the sums of a
//! subset are those of any other one plus the features that come in minus those that go out, bit for bit. The cached
//! references are: all features (no subset costs more than its complement then), the best subset, the best of the last
//! iteration, the subsets of the last two iterations, and the best of each slot.
//!
//! References cost time: every subset is compared with each of them, and their sums are written to memory. Where they save
//! less than that, as with random subsets of many features, they are given up for some batches ([`Payoff`]).

use super::{Evaluator, Finished, Measures, References, Resources, Work};
use crate::base::cancel;
use crate::base::error::Result;
use crate::base::parallel::Pool;
use crate::base::subset::Subset;
use crate::simd::{Isa, distance_below};
use std::sync::{Arc, OnceLock};

/// A model whose state is a sum over features.
pub trait Additive: Send + Sync {
    /// One of its sums: an integer, so that adding and removing are exact.
    type Sum: Copy + Default + Send + Sync + PartialEq + std::fmt::Debug;
    /// The number of features.
    fn n_features(&self) -> usize;
    /// The number of sums of a subset.
    fn n_sums(&self) -> usize;
    /// Element operations of one feature.
    fn ops(&self) -> u64;
    /// Element operations that it took to get ready.
    fn setup_ops(&self) -> u64 {
        0
    }
    /// True if a subset is evaluated by its sums. Where it is not, its sums are only built for the sake of others.
    fn needs_sums(&self, _subset: &Subset) -> bool {
        true
    }
    /// Builds the sums of `step`, keeps them if it says so, and scores the subset; in parallel where there is a pool.
    fn evaluate(&self, step: Step<'_, Self::Sum>, pool: Option<&Pool>) -> Measures;
    /// Builds the sums of `step` where it keeps them, and nothing more.
    fn build(&self, step: Step<'_, Self::Sum>);
}

/// The way to the sums of a subset.
#[derive(Debug)]
pub struct Step<'a, S> {
    /// The sums to start from; zeros without them.
    pub from: Option<&'a [S]>,
    /// Features that come in.
    pub add: Vec<u32>,
    /// Features that go out.
    pub remove: Vec<u32>,
    /// The subset that is reached.
    pub subset: &'a Subset,
    /// The place to keep the sums; all of it is written.
    pub keep: Option<&'a mut [S]>,
}

impl<'a, S> Step<'a, S> {
    /// All features of a subset come in, and nothing is kept.
    pub fn from_nothing(subset: &'a Subset) -> Self {
        Self { from: None, add: indices(subset), remove: Vec::new(), subset, keep: None }
    }
}

/// The sums of a subset, if they are at hand; a resumed run knows the subset only and builds them when it must.
#[derive(Debug)]
struct CachedSums<S> {
    subset: Subset,
    sums: OnceLock<Vec<S>>,
}

type Reference<S> = Arc<CachedSums<S>>;
/// Error, then size: near enough to any objective to tell which subsets others will resemble.
type Merit = (f64, usize);

/// The cached references.
#[derive(Debug)]
struct ReferenceCache<S> {
    all: Option<Reference<S>>,
    best: Option<(Merit, Reference<S>)>,
    leader: Option<Reference<S>>,
    /// The subsets of the last two iterations; the oldest make room.
    recent: Vec<Option<Reference<S>>>,
    /// The oldest of them.
    oldest: usize,
    own: Vec<Option<(Merit, Reference<S>)>>,
}

/// Evaluates the subsets of an additive model, each from the nearest cached reference.
#[derive(Debug)]
pub struct Incremental<A: Additive> {
    additive: A,
    cache: ReferenceCache<A::Sum>,
    /// References that fit the memory.
    capacity: usize,
    /// True if slots keep their sums: when building from them saves more than moving them through memory costs.
    keeps_slots: bool,
    moving: MovingCost,
    /// The trial of the references, unless they are used whatever they cost.
    payoff: Option<Payoff>,
    pool: Arc<Pool>,
    isa: Isa,
    work: Work,
}

/// A subset this near to a kept one is not kept itself: reaching it again is as cheap as reading it.
const NEAR: usize = 4;
/// Sums up to this many bytes stay in a core's first or second cache.
const CACHED: usize = 1 << 17;
/// Sums up to this many bytes stay in the cache that cores share.
const SHARED: usize = 1 << 21;
/// From this many features on, slots keep sums that stay in the cache ...
const CACHED_FEATURES: usize = 24;
/// ... and sums that do not.
const UNCACHED_FEATURES: usize = 256;
/// Tables need so many features for each one that starting from a reference costs: with fewer, references save little.
const FEATURES_PER_START: usize = 8;
/// One subset is split over the threads from this many element operations on.
const SPLIT_OPS: u64 = 1 << 22;

/// Element operations in the time of comparing one word of two subsets: 0.5 ns against 0.04 ns (bench `references.py`).
const COMPARE_OPS: u64 = 12;

/// The costs of moving sums, in features that could be added in the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MovingCost {
    /// Reading the sums of a reference.
    start: usize,
    /// Allocating, writing and freeing sums that are kept.
    keep: u64,
}

impl MovingCost {
    /// A feature takes about 0.04 ns a sum (25 G element operations/s), reading a sum 0.1 ns from a near cache and 0.8 ns
    /// from memory.
    fn of(bytes: usize) -> Self {
        if bytes <= CACHED {
            Self { start: 2, keep: 24 }
        } else if bytes <= SHARED {
            Self { start: 6, keep: 32 }
        } else {
            Self { start: 20, keep: 64 }
        }
    }
}

/// Subsets after which a trial of the references ends that has saved less than a quarter of its cost.
const HOPELESS_TRIAL: usize = 32;
/// Batches of a trial of the references, and subsets, at least ...
const TRIAL: (u32, usize) = (4, 64);
/// ... or so many subsets in any number of batches.
const LARGE_TRIAL: usize = 512;
/// Batches without references after a failed trial; twice as many after each further one, up to the second number.
const PAUSE: (u32, u32) = (16, 1024);

/// Compares what references save with what they cost, in element operations: a function of the subsets alone, so that a
/// run takes the same steps on every machine.
#[derive(Debug, Default)]
struct Payoff {
    saved: u64,
    spent: u64,
    /// Batches and subsets of this trial, after its first batch, which has no references yet.
    batches: u32,
    subsets: usize,
    is_trial_begun: bool,
    /// Batches that are left of a pause, and the length of the last pause.
    wait: u32,
    pause: u32,
}

impl Payoff {
    /// Counts a batch; true if references have not paid and are to be given up.
    fn count(&mut self, n_subsets: usize, saved: u64, spent: u64) -> bool {
        if !self.is_trial_begun {
            self.is_trial_begun = true;
            return false;
        }
        (self.saved, self.spent) = (self.saved + saved, self.spent + spent);
        (self.batches, self.subsets) = (self.batches + 1, self.subsets + n_subsets);
        let is_hopeless = self.subsets >= HOPELESS_TRIAL && 4 * self.saved < self.spent;
        let is_enough = self.batches >= TRIAL.0 && self.subsets >= TRIAL.1;
        if !is_hopeless && !is_enough && self.subsets < LARGE_TRIAL {
            return false;
        }
        let fails = self.saved < self.spent;
        let pause = if fails { (2 * self.pause).clamp(PAUSE.0, PAUSE.1) } else { 0 };
        *self = Self { wait: pause, pause, is_trial_begun: !fails, ..Self::default() };
        fails
    }
}

/// The scores of a subset, and its sums where they are to be cached.
type Built<S> = (Measures, Option<Vec<S>>);

/// The cheapest way to a subset: `cost` features from a reference, or from nothing.
struct Route<S> {
    from: Option<Reference<S>>,
    cost: usize,
    keep: bool,
}

impl<A: Additive> Incremental<A> {
    /// An evaluator within these resources.
    pub fn new(additive: A, resources: Resources, isa: Isa) -> Self {
        let bytes = additive.n_sums() * size_of::<A::Sum>();
        // Half of the memory is for kept sums; the rest is for tables, the memo and the sums under way.
        let capacity = (resources.memory / 2 / bytes.max(1) as u64).min(1 << 20) as usize;
        let moving = match resources.references {
            References::Always => MovingCost { start: 0, keep: 0 },
            _ => MovingCost::of(bytes),
        };
        let is_wide = additive.n_features() >= FEATURES_PER_START * moving.start;
        let is_used = resources.references != References::Never && is_wide;
        let capacity = if is_used { capacity } else { 0 };
        let is_judged = resources.references == References::WherePaying;
        let least = if bytes <= CACHED { CACHED_FEATURES } else { UNCACHED_FEATURES };
        Self {
            keeps_slots: additive.n_features() >= least,
            moving,
            payoff: is_judged.then(Payoff::default),
            cache: ReferenceCache::default(),
            pool: resources.pool,
            isa,
            work: Work { setup_ops: additive.setup_ops(), ..Work::default() },
            additive,
            capacity,
        }
    }

    /// The model.
    pub fn additive(&self) -> &A {
        &self.additive
    }

    fn routes(&mut self, subsets: &[Subset]) -> Vec<Route<A::Sum>> {
        let d = self.additive.n_features();
        let is_worth_all =
            |subset: &Subset| subset.count() > d / 2 && self.additive.needs_sums(subset);
        if self.capacity > 0 && self.cache.all.is_none() && subsets.iter().any(is_worth_all) {
            self.cache.all = Some(kept(Subset::full(d)));
            self.work.element_ops += d as u64 * self.additive.ops();
        }
        let slots = self.slots(subsets.len());
        let references: Vec<(usize, &Reference<A::Sum>)> =
            self.cache.references().map(|kept| (kept.subset.count(), kept)).collect();
        let (keeps_slots, isa, additive) = (self.keeps_slots, self.isa, &self.additive);
        let start = self.moving.start;
        self.pool.map((0..subsets.len()).collect(), |slot| {
            let subset = &subsets[slot];
            let (size, words) = (subset.count(), subset.words());
            if !additive.needs_sums(subset) {
                return Route { from: None, cost: size, keep: false };
            }
            // A reference has to save more than reading its sums costs.
            let (mut nearest, mut from) = (size.saturating_sub(start), None);
            for &(other, reference) in &references {
                // |size - other| <= distance: most references are ruled out by their size.
                if size.abs_diff(other) < nearest
                    && let Some(distance) =
                        distance_below(isa, words, reference.subset.words(), nearest)
                {
                    (nearest, from) = (distance, Some(Arc::clone(reference)));
                }
            }
            let cost = if from.is_some() { nearest } else { size };
            // The only subset of a batch is its leader: it is cached as it is built.
            let keep = slot < slots && (keeps_slots && cost > NEAR || subsets.len() == 1);
            Route { from, cost, keep }
        })
    }

    /// The number of slots that can keep their last subset, beside the references of all, best and leader.
    fn slots(&self, batch: usize) -> usize {
        if self.is_paused() { 0 } else { self.capacity.saturating_sub(3).min(batch) }
    }

    /// True in batches without references.
    fn is_paused(&self) -> bool {
        self.payoff.as_ref().is_some_and(|payoff| payoff.wait > 0)
    }

    /// Element operations that references have saved in a batch, and the cost of comparing and keeping them.
    fn saved_and_spent(
        &self,
        subsets: &[Subset],
        routes: &[Route<A::Sum>],
        leader: usize,
    ) -> (u64, u64) {
        let (ops, n_sums) = (self.additive.ops(), self.additive.n_sums() as u64);
        // All features are one reference, which stays.
        let is_full = |from: &Reference<A::Sum>| from.subset.count() == self.additive.n_features();
        let (mut saved, mut kept) = (0, 0);
        for (slot, (subset, route)) in subsets.iter().zip(routes).enumerate() {
            if route.from.as_ref().is_some_and(|from| !is_full(from)) {
                saved += (subset.count() - route.cost - self.moving.start) as u64 * ops;
            }
            kept += u64::from(route.keep || slot == leader);
        }
        let n_words: usize = subsets.iter().map(|subset| subset.words().len()).sum();
        let compared = self.cache.references().count() as u64 * n_words as u64;
        (saved, compared * COMPARE_OPS + kept * self.moving.keep * n_sums)
    }

    /// Updates the references after a batch.
    fn update_cache(
        &mut self,
        subsets: &[Subset],
        routes: Vec<Route<A::Sum>>,
        measures: &[Measures],
        mut built: Vec<Option<Vec<A::Sum>>>,
    ) {
        let ops = self.additive.ops();
        for (subset, route) in subsets.iter().zip(&routes) {
            self.work.element_ops += route.cost as u64 * ops;
            self.work.from_scratch_ops += subset.count() as u64 * ops;
        }
        if self.capacity == 0 {
            return;
        }
        if let Some(payoff) = self.payoff.as_mut().filter(|payoff| payoff.wait > 0) {
            payoff.wait -= 1;
            return;
        }
        let merit = |slot: usize| -> Merit { (measures[slot].error, subsets[slot].count()) };
        let better = |a: Merit, b: Merit| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).is_lt();
        let leader = (1..subsets.len())
            .fold(0, |best, slot| if better(merit(slot), merit(best)) { slot } else { best });
        let (saved, spent) = self.saved_and_spent(subsets, &routes, leader);
        let slots = self.slots(subsets.len());
        let recent = self.cache.recent.len().max(2 * slots).min(self.capacity.saturating_sub(3));
        let bests = self.capacity.saturating_sub(3 + recent).min(slots);
        self.cache.recent.resize(recent, None);
        self.cache.own.resize(bests, None);
        let mut leading = None;
        for (slot, route) in routes.into_iter().enumerate() {
            let reference = if route.keep {
                let reference = kept(subsets[slot].clone());
                if let Some(sums) = built.get_mut(slot).and_then(Option::take) {
                    reference.sums.set(sums).expect("it is new and empty");
                }
                Some(reference)
            } else if slot == leader {
                self.work.element_ops += route.cost as u64 * ops;
                let reference = kept(subsets[slot].clone());
                // Sums that nobody needs yet are built when another subset starts from them.
                if !built.is_empty() && self.additive.needs_sums(&subsets[slot]) {
                    let sums = self.build(&subsets[slot], route.from.as_ref());
                    reference.sums.set(sums).expect("it is new and empty");
                }
                Some(reference)
            } else {
                // So near to this one that it serves in its place.
                route.from.filter(|_| route.cost <= NEAR)
            };
            if slot == leader {
                leading.clone_from(&reference);
            }
            if self.keeps_slots && slot < slots {
                if slot < bests
                    && let Some(reference) = &reference
                    && self.cache.own[slot]
                        .as_ref()
                        .is_none_or(|(old, _)| better(merit(slot), *old))
                {
                    self.cache.own[slot] = Some((merit(slot), Arc::clone(reference)));
                }
                let ReferenceCache { recent, oldest, .. } = &mut self.cache;
                recent[*oldest] = reference;
                *oldest = (*oldest + 1) % recent.len();
            }
        }
        if self.capacity > 2 {
            if let Some(leading) = &leading
                && self.cache.best.as_ref().is_none_or(|(old, _)| better(merit(leader), *old))
            {
                self.cache.best = Some((merit(leader), Arc::clone(leading)));
            }
            self.cache.leader = leading;
        }
        let payoff = self.payoff.as_mut();
        if payoff.is_some_and(|payoff| payoff.count(subsets.len(), saved, spent)) {
            self.cache = ReferenceCache { all: self.cache.all.take(), ..ReferenceCache::default() };
        }
    }

    /// The sums of a kept subset, built now if a resumed run knows the subset only.
    fn sums<'k>(&self, kept: &'k CachedSums<A::Sum>) -> &'k [A::Sum] {
        kept.sums.get_or_init(|| self.build(&kept.subset, None))
    }

    fn build(&self, subset: &Subset, from: Option<&Reference<A::Sum>>) -> Vec<A::Sum> {
        let mut sums = vec![A::Sum::default(); self.additive.n_sums()];
        self.additive.build(self.step(subset, from, Some(&mut sums)));
        sums
    }

    fn step<'a>(
        &self,
        subset: &'a Subset,
        from: Option<&'a Reference<A::Sum>>,
        keep: Option<&'a mut [A::Sum]>,
    ) -> Step<'a, A::Sum> {
        let (add, remove) = match from {
            Some(from) => {
                let (new, old) = (subset.difference(&from.subset), from.subset.difference(subset));
                (indices(&new), indices(&old))
            }
            None => (indices(subset), Vec::new()),
        };
        let from = from.map(|from| self.sums(from));
        Step { from, add, remove, subset, keep }
    }

    fn evaluate_one(
        &self,
        subset: &Subset,
        route: &Route<A::Sum>,
        pool: Option<&Pool>,
    ) -> Built<A::Sum> {
        let mut built = route.keep.then(|| vec![A::Sum::default(); self.additive.n_sums()]);
        let step = self.step(subset, route.from.as_ref(), built.as_deref_mut());
        (self.additive.evaluate(step, pool), built)
    }
}

fn kept<S>(subset: Subset) -> Reference<S> {
    Arc::new(CachedSums { subset, sums: OnceLock::new() })
}

fn indices(subset: &Subset) -> Vec<u32> {
    subset.iter().map(|feature| feature as u32).collect()
}

impl<S> Default for ReferenceCache<S> {
    fn default() -> Self {
        let (recent, own) = (Vec::new(), Vec::new());
        Self { all: None, best: None, leader: None, recent, oldest: 0, own }
    }
}

impl<S> ReferenceCache<S> {
    fn references(&self) -> impl Iterator<Item = &Reference<S>> {
        let best = self.best.iter().map(|(_, best)| best);
        let own = self.own.iter().flatten().map(|(_, own)| own);
        self.all
            .iter()
            .chain(best)
            .chain(&self.leader)
            .chain(self.recent.iter().flatten())
            .chain(own)
    }
}

impl<A: Additive> Incremental<A> {
    fn evaluate_all(&mut self, subsets: &[Subset], finished: Option<&Finished>) -> Vec<Measures> {
        let routes = self.routes(subsets);
        let ops = self.additive.ops();
        let splits = |route: &Route<A::Sum>| {
            subsets.len() < 2 * self.pool.threads() && route.cost as u64 * ops >= SPLIT_OPS
        };
        let evaluate = |slot: usize, pool: Option<&Pool>| {
            let built = self.evaluate_one(&subsets[slot], &routes[slot], pool);
            if let Some(finished) = finished {
                finished.note(slot, built.0);
            }
            built
        };
        let evaluated: Vec<Built<A::Sum>> = if routes.iter().any(splits) {
            // Few and heavy: one after the other, each over all threads.
            let one = |slot: usize| {
                cancel::check();
                evaluate(slot, Some(&self.pool))
            };
            (0..subsets.len()).map(one).collect()
        } else {
            self.pool.map((0..subsets.len()).collect(), |slot| evaluate(slot, None))
        };
        let (measures, built): (Vec<_>, Vec<_>) = evaluated.into_iter().unzip();
        self.update_cache(subsets, routes, &measures, built);
        measures
    }
}

impl<A: Additive> Evaluator for Incremental<A> {
    fn evaluate(&mut self, subsets: &[Subset]) -> Result<Vec<Measures>> {
        Ok(self.evaluate_all(subsets, None))
    }

    fn evaluate_noting(
        &mut self,
        subsets: &[Subset],
        finished: &Finished,
    ) -> Result<Vec<Measures>> {
        Ok(self.evaluate_all(subsets, Some(finished)))
    }

    fn recall(&mut self, subsets: &[Subset], measures: &[Measures]) {
        let routes = self.routes(subsets);
        self.update_cache(subsets, routes, measures, Vec::new());
    }

    fn work(&self) -> Work {
        self.work
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// How one subset was reached.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Reached {
        from_zero: bool,
        changes: usize,
        is_kept: bool,
        is_split: bool,
    }

    /// Sums of feature numbers, and a record of how each of them was built.
    struct Recorded {
        n_features: usize,
        n_sums: usize,
        ops: u64,
        error: fn(&Subset) -> f64,
        measured: Mutex<Vec<Reached>>,
        built: Mutex<Vec<Subset>>,
    }

    impl Recorded {
        fn new(n_features: usize, n_sums: usize, ops: u64) -> Self {
            Self {
                n_features,
                n_sums,
                ops,
                error: |_| 0.5,
                measured: Mutex::new(Vec::new()),
                built: Mutex::new(Vec::new()),
            }
        }

        /// Builds the sums of a step and checks them against those of its subset.
        fn reach(&self, step: Step<'_, i64>) {
            let term = |feature: u32| i64::from(feature * feature + 1);
            let expected: i64 = step.subset.iter().map(|feature| term(feature as u32)).sum();
            let mut sums = step.from.map_or_else(|| vec![0; self.n_sums], <[i64]>::to_vec);
            assert_eq!(sums.len(), self.n_sums);
            for sum in &mut sums {
                *sum += step.add.iter().copied().map(term).sum::<i64>();
                *sum -= step.remove.iter().copied().map(term).sum::<i64>();
            }
            assert!(sums.iter().all(|&sum| sum == expected));
            if let Some(keep) = step.keep {
                keep.copy_from_slice(&sums);
            }
        }
    }

    impl Additive for Recorded {
        type Sum = i64;

        fn n_features(&self) -> usize {
            self.n_features
        }

        fn n_sums(&self) -> usize {
            self.n_sums
        }

        fn ops(&self) -> u64 {
            self.ops
        }

        fn evaluate(&self, step: Step<'_, i64>, pool: Option<&Pool>) -> Measures {
            self.measured.lock().unwrap().push(Reached {
                from_zero: step.from.is_none(),
                changes: step.add.len() + step.remove.len(),
                is_kept: step.keep.is_some(),
                is_split: pool.is_some(),
            });
            let error = (self.error)(step.subset);
            self.reach(step);
            Measures { error, ..Measures::WORST }
        }

        fn build(&self, step: Step<'_, i64>) {
            self.built.lock().unwrap().push(step.subset.clone());
            self.reach(step);
        }
    }

    /// An evaluator with room for `capacity` sums, where moving them costs nothing.
    fn evaluator(recorded: Recorded, capacity: usize) -> Incremental<Recorded> {
        let evaluator = Incremental::new(recorded, Resources::default(), Isa::Scalar);
        Incremental { capacity, moving: MovingCost { start: 0, keep: 0 }, ..evaluator }
    }

    /// The first `size` of `n_features` features from `first` on.
    fn run(n_features: usize, first: usize, size: usize) -> Subset {
        Subset::from_indices(n_features, first..first + size)
    }

    /// Measures subsets and returns how they were reached.
    fn reached(evaluator: &mut Incremental<Recorded>, subsets: &[Subset]) -> Vec<Reached> {
        evaluator.evaluate(subsets).unwrap();
        std::mem::take(&mut *evaluator.additive.measured.lock().unwrap())
    }

    fn subset_of(reference: Option<&Reference<i64>>) -> Option<&Subset> {
        reference.map(|reference| &reference.subset)
    }

    #[test]
    fn half_of_the_memory_is_for_sums() {
        let capacity = |n_sums, memory, references| {
            let resources = Resources { memory, references, ..Resources::default() };
            Incremental::new(Recorded::new(16, n_sums, 1), resources, Isa::Scalar).capacity
        };
        assert_eq!(capacity(16, 1279, References::WherePaying), 4);
        assert_eq!(capacity(16, 1280, References::Always), 5);
        assert_eq!(capacity(16, 1280, References::Never), 0);
        assert_eq!(capacity(1, 1 << 30, References::Always), 1 << 20);
        assert_eq!(capacity(0, 20, References::Always), 10);
    }

    #[test]
    fn tables_of_few_features_have_no_references() {
        let has_some = |n_features, bytes: usize| {
            let recorded = Recorded::new(n_features, bytes / size_of::<i64>(), 1);
            Incremental::new(recorded, Resources::default(), Isa::Scalar).capacity > 0
        };
        assert!(!has_some(15, CACHED) && has_some(16, CACHED));
        assert!(!has_some(47, CACHED + 8) && has_some(48, SHARED));
        assert!(!has_some(159, SHARED + 8) && has_some(160, SHARED + 8));
    }

    #[test]
    fn a_reference_has_to_save_more_than_reading_it_costs() {
        let d = 40;
        let mut evaluator = evaluator(Recorded::new(d, 1, 1), 100);
        evaluator.moving.start = 6;
        assert_eq!(reached(&mut evaluator, &[run(d, 0, 10)])[0].changes, 10);
        // Three features from a reference and the cost of six are more than seven, and less than thirteen.
        assert_eq!(reached(&mut evaluator, &[run(d, 3, 7)])[0].changes, 7);
        assert_eq!(reached(&mut evaluator, &[run(d, 0, 13)])[0].changes, 3);
        assert_eq!(reached(&mut evaluator, &[run(d, 20, 6)])[0].changes, 6);
    }

    #[test]
    fn slots_keep_sums_where_features_are_many_enough() {
        let keeps = |n_features, bytes: usize| {
            let recorded = Recorded::new(n_features, bytes / size_of::<i64>(), 1);
            Incremental::new(recorded, Resources::default(), Isa::Scalar).keeps_slots
        };
        assert!(!keeps(23, CACHED));
        assert!(keeps(24, CACHED));
        assert!(!keeps(255, CACHED + 8));
        assert!(keeps(256, CACHED + 8));
    }

    #[test]
    fn three_sums_have_places_of_their_own_and_the_rest_is_for_slots() {
        let slots =
            |capacity, requested| evaluator(Recorded::new(4, 1, 1), capacity).slots(requested);
        assert_eq!([slots(2, 9), slots(3, 9), slots(4, 9)], [0, 0, 1]);
        assert_eq!([slots(13, 9), slots(13, 10), slots(13, 11)], [9, 10, 10]);
    }

    #[test]
    fn all_features_are_kept_once_a_subset_has_more_than_half_of_them() {
        let mut half = evaluator(Recorded::new(6, 1, 10), 3);
        reached(&mut half, &[run(6, 0, 3), run(6, 3, 3)]);
        assert!(half.cache.all.is_none());
        // One of two is enough; all features cost 6, the complement of five 1.
        let mut most = evaluator(Recorded::new(6, 1, 10), 1);
        let steps = reached(&mut most, &[run(6, 0, 1), run(6, 0, 5)]);
        assert_eq!(steps.iter().map(|step| step.changes).collect::<Vec<_>>(), [1, 1]);
        assert_eq!(steps.iter().map(|step| step.from_zero).collect::<Vec<_>>(), [true, false]);
        assert_eq!(subset_of(most.cache.all.as_ref()), Some(&Subset::full(6)));
        let more = most.work().element_ops;
        assert_eq!(reached(&mut most, &[run(6, 1, 5)])[0].changes, 1);
        // The second batch does not build all features again.
        assert!(most.work().element_ops - more < 60);
        assert_eq!(most.work().from_scratch_ops, 10 * (1 + 5 + 5));
        // Without room for any sum, each subset costs its size.
        let mut none = evaluator(Recorded::new(6, 1, 10), 0);
        let steps = reached(&mut none, &[run(6, 0, 5)]);
        let plain = Reached { from_zero: true, changes: 5, is_kept: false, is_split: false };
        assert_eq!(steps, [plain]);
        assert_eq!((none.work().element_ops, none.work().from_scratch_ops), (50, 50));
    }

    #[test]
    fn slots_keep_what_is_far_from_every_reference() {
        let d = 40;
        let is_kept = |evaluator: &mut Incremental<Recorded>, subsets: &[Subset]| -> Vec<bool> {
            reached(evaluator, subsets).iter().map(|step| step.is_kept).collect()
        };
        // Room for the slot of one subset only.
        let mut narrow = evaluator(Recorded::new(d, 1, 1), 4);
        assert_eq!(is_kept(&mut narrow, &[run(d, 0, 10), run(d, 20, 10)]), [true, false]);
        let mut wide = evaluator(Recorded::new(d, 1, 1), 100);
        assert_eq!(is_kept(&mut wide, &[run(d, 0, 10), run(d, 20, 10)]), [true, true]);
        // Four and five features from the first.
        assert_eq!(is_kept(&mut wide, &[run(d, 0, 14), run(d, 0, 5)]), [false, true]);
        // One subset alone is the leader of its batch.
        assert_eq!(is_kept(&mut wide, &[run(d, 0, 11)]), [true]);
        let mut small = evaluator(Recorded::new(10, 1, 1), 100);
        assert_eq!(is_kept(&mut small, &[run(10, 0, 5), run(10, 5, 5)]), [false, false]);
        assert_eq!(is_kept(&mut small, &[run(10, 2, 1)]), [true]);
        let mut none = evaluator(Recorded::new(d, 1, 1), 0);
        assert_eq!(is_kept(&mut none, &[run(d, 0, 10)]), [false]);
    }

    #[test]
    fn the_shelf_has_room_for_two_turns_and_the_best_of_each_slot() {
        let d = 40;
        let batch = [run(d, 0, 10), run(d, 10, 10), run(d, 20, 10)];
        let rooms = |capacity| {
            let mut evaluator = evaluator(Recorded::new(d, 1, 1), capacity);
            evaluator.evaluate(&batch).unwrap();
            (evaluator.cache.recent.len(), evaluator.cache.own.len())
        };
        assert_eq!(rooms(100), (6, 3));
        assert_eq!(rooms(11), (6, 2));
        assert_eq!(rooms(8), (5, 0));
        // A smaller batch gives no room back.
        let mut evaluator = evaluator(Recorded::new(d, 1, 1), 100);
        evaluator.evaluate(&batch).unwrap();
        assert_eq!(evaluator.cache.oldest, 3);
        evaluator.evaluate(&batch[..1]).unwrap();
        assert_eq!((evaluator.cache.recent.len(), evaluator.cache.oldest), (6, 4));
        evaluator.evaluate(&batch).unwrap();
        assert_eq!(evaluator.cache.oldest, 1);
    }

    #[test]
    fn the_oldest_of_two_turns_makes_room() {
        let d = 40;
        let batch = [run(d, 0, 10), run(d, 10, 10), run(d, 20, 10)];
        let mut evaluator = evaluator(Recorded::new(d, 1, 1), 100);
        evaluator.evaluate(&batch).unwrap();
        let recent = |evaluator: &Incremental<Recorded>| -> Vec<Option<Subset>> {
            let subset = |kept: &Option<Reference<i64>>| subset_of(kept.as_ref()).cloned();
            evaluator.cache.recent.iter().map(subset).collect()
        };
        let [a, b, c] = batch.clone().map(Some);
        assert_eq!(recent(&evaluator), [a, b.clone(), c.clone(), None, None, None]);
        // Four from the second subset: it stands for the new one. The leader is kept itself.
        evaluator.additive.error = |subset| if subset.contains(39) { 0.1 } else { 0.5 };
        let next = [run(d, 10, 6), run(d, 24, 16), run(d, 20, 9)];
        evaluator.evaluate(&next).unwrap();
        let leader = Some(next[1].clone());
        assert_eq!(recent(&evaluator)[3..], [b, leader, c]);
    }

    #[test]
    fn room_for_one_slot_holds_the_first_one() {
        let d = 40;
        let mut evaluator = evaluator(Recorded::new(d, 1, 1), 4);
        evaluator.additive.error = |subset| if subset.contains(39) { 0.1 } else { 0.5 };
        evaluator.evaluate(&[run(d, 0, 10), run(d, 30, 10)]).unwrap();
        assert_eq!(evaluator.cache.recent.len(), 1);
        assert_eq!(subset_of(evaluator.cache.recent[0].as_ref()), Some(&run(d, 0, 10)));
        assert_eq!(subset_of(evaluator.cache.leader.as_ref()), Some(&run(d, 30, 10)));
    }

    #[test]
    fn a_slot_keeps_its_best_subset() {
        let d = 40;
        let mut evaluator = evaluator(Recorded::new(d, 1, 1), 100);
        evaluator.additive.error = |subset| if subset.contains(0) { 0.1 } else { 0.5 };
        let best = run(d, 0, 10);
        evaluator.evaluate(&[run(d, 20, 10)]).unwrap();
        for subset in [best.clone(), run(d, 30, 10)] {
            evaluator.evaluate(&[subset]).unwrap();
            let (merit, own) = evaluator.cache.own[0].as_ref().unwrap();
            assert_eq!((*merit, &own.subset), ((0.1, 10), &best));
            let (merit, found) = evaluator.cache.best.as_ref().unwrap();
            assert_eq!((*merit, &found.subset), ((0.1, 10), &best));
        }
        // Of equal errors the smaller subset is better.
        evaluator.evaluate(&[run(d, 0, 9)]).unwrap();
        assert_eq!(evaluator.cache.best.as_ref().unwrap().0, (0.1, 9));
    }

    #[test]
    fn the_leader_of_a_turn_is_kept_and_its_second_build_counted() {
        // Too few features for slots: only all, best and leader.
        let d = 10;
        let error: fn(&Subset) -> f64 = |subset| if subset.contains(9) { 0.1 } else { 0.5 };
        let batch = [run(d, 0, 4), run(d, 7, 3), run(d, 1, 4)];
        let mut evaluator_of_three = evaluator(Recorded::new(d, 1, 10), 3);
        evaluator_of_three.additive.error = error;
        evaluator_of_three.evaluate(&batch).unwrap();
        let leader = evaluator_of_three.cache.leader.clone().unwrap();
        assert_eq!(leader.subset, batch[1]);
        assert!(leader.sums.get().is_some());
        assert_eq!(*evaluator_of_three.additive.built.lock().unwrap(), [batch[1].clone()]);
        assert_eq!(evaluator_of_three.work().element_ops, 10 * (4 + 3 + 4) + 10 * 3);
        assert!(evaluator_of_three.cache.recent.iter().all(Option::is_none));
        // A first subset that leads, and one that is alone.
        evaluator_of_three.evaluate(&[run(d, 6, 4), run(d, 0, 5)]).unwrap();
        assert_eq!(evaluator_of_three.cache.leader.as_ref().unwrap().subset, run(d, 6, 4));
        // Room for two is too little for best and leader.
        let mut evaluator_of_two = evaluator(Recorded::new(d, 1, 10), 2);
        evaluator_of_two.evaluate(&batch).unwrap();
        assert!(evaluator_of_two.cache.leader.is_none() && evaluator_of_two.cache.best.is_none());
        // A slot that is not kept holds nothing, whatever the room.
        let mut evaluator_of_many = evaluator(Recorded::new(d, 1, 10), 100);
        evaluator_of_many.evaluate(&batch).unwrap();
        assert!(evaluator_of_many.cache.recent.iter().all(Option::is_none));
    }

    #[test]
    fn a_recalled_turn_builds_no_sums_until_they_are_needed() {
        let d = 10;
        let batch = [run(d, 0, 4), run(d, 4, 4)];
        let measures = [Measures { error: 0.5, ..Measures::WORST }; 2];
        let mut evaluator = evaluator(Recorded::new(d, 1, 10), 3);
        evaluator.recall(&batch, &measures);
        assert!(evaluator.additive.built.lock().unwrap().is_empty());
        assert!(evaluator.cache.leader.as_ref().unwrap().sums.get().is_none());
        assert_eq!(reached(&mut evaluator, &[run(d, 0, 5)])[0].changes, 1);
        assert_eq!(evaluator.additive.built.lock().unwrap()[0], batch[0]);
    }

    #[test]
    fn few_heavy_subsets_are_split_over_the_threads() {
        let d = 8;
        let is_split = |threads, sizes: &[usize]| {
            let recorded = Recorded::new(d, 1, SPLIT_OPS / 4);
            let resources = Resources { memory: 0, ..Resources::with_threads(threads) };
            let mut evaluator = Incremental::new(recorded, resources, Isa::Scalar);
            let subsets: Vec<Subset> = sizes.iter().map(|&size| run(d, 0, size)).collect();
            let steps = reached(&mut evaluator, &subsets);
            assert_eq!(steps.len(), sizes.len());
            let n_split = steps.iter().filter(|step| step.is_split).count();
            assert!(n_split == 0 || n_split == sizes.len());
            n_split > 0
        };
        assert!(is_split(2, &[4, 4, 4]));
        assert!(is_split(2, &[1, 4, 1]));
        assert!(!is_split(2, &[3, 3, 3]));
        assert!(!is_split(2, &[4, 4, 4, 4]));
        assert!(!is_split(2, &[1, 1, 1, 1]));
        assert!(is_split(1, &[4]));
        assert!(!is_split(1, &[4, 4]));
    }

    #[test]
    fn a_trial_is_judged_after_enough_subsets_and_pauses_grow() {
        let mut payoff = Payoff::default();
        // The first batch of a trial has no references yet: it does not count.
        assert!(!payoff.count(1000, 0, 9));
        assert!((0..3).all(|_| !payoff.count(16, 5, 6)));
        assert!(payoff.count(16, 5, 6));
        assert_eq!(payoff.wait, 16);
        payoff.wait = 0;
        // Large batches need fewer of them.
        assert!(!payoff.count(600, 0, 9) && payoff.count(512, 8, 9));
        assert_eq!(payoff.wait, 32);
        payoff.wait = 0;
        // References that pay stay, are judged on, and shorten the next pause.
        assert!(!payoff.count(600, 0, 9) && !payoff.count(600, 9, 9) && payoff.count(600, 8, 9));
        assert_eq!(payoff.wait, 16);
        // Few subsets in many batches.
        let mut single = Payoff { is_trial_begun: true, ..Payoff::default() };
        assert!((0..63).all(|_| !single.count(1, 1, 2)) && single.count(1, 1, 2));
        // A trial that saves next to nothing ends early.
        let mut hopeless = Payoff { is_trial_begun: true, ..Payoff::default() };
        assert!((0..31).all(|_| !hopeless.count(1, 0, 1)) && hopeless.count(1, 0, 1));
        for _ in 0..20 {
            single = Payoff { is_trial_begun: true, pause: single.pause, ..Payoff::default() };
            assert!(single.count(512, 0, 1));
        }
        assert_eq!(single.wait, 1024);
    }

    #[test]
    fn references_are_given_up_where_subsets_have_little_in_common() {
        let d = 23 * 64 * 30;
        let batch = |at: usize| -> Vec<Subset> {
            (0..64).map(|slot| run(d, (at * 64 + slot) * 30, 30)).collect()
        };
        let mut evaluator = evaluator(Recorded::new(d, 1, 1), 1000);
        for at in 0..2 {
            assert!(reached(&mut evaluator, &batch(at)).iter().any(|step| step.is_kept));
        }
        assert!(evaluator.cache.references().next().is_none());
        for at in 2..18 {
            let steps = reached(&mut evaluator, &batch(at));
            assert!(steps.iter().all(|step| step.from_zero && !step.is_kept));
        }
        // The next trial.
        assert!(reached(&mut evaluator, &batch(22)).iter().any(|step| step.is_kept));
    }

    #[test]
    fn references_stay_where_subsets_resemble_each_other() {
        let d = 4000;
        let mut evaluator = evaluator(Recorded::new(d, 10, 4000), 1000);
        for at in 0..40 {
            let subsets: Vec<Subset> = (0..20).map(|slot| run(d, at + slot, 900)).collect();
            let steps = reached(&mut evaluator, &subsets);
            assert!(at == 0 || steps.iter().all(|step| step.changes <= 2 * NEAR));
        }
        assert!(!evaluator.is_paused());
    }
}
