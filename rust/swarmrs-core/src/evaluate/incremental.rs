//! Incremental evaluation: the sums of a subset are built from those of the nearest cached one.
//!
//! Distances and log-likelihoods are sums over the features of a subset, and the sums are integers. So the sums of a
//! subset are those of any other one plus the features that come in minus those that go out, bit for bit. The cached
//! references are: all features (no subset costs more than its complement then), the best subset, the best of the last
//! iteration, the subsets of the last two iterations, and the best of each slot.

use super::{Evaluator, Measures, Resources, Work};
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
    pool: Arc<Pool>,
    isa: Isa,
    work: Work,
}

/// A subset this near to a kept one is not kept itself: reaching it again is as cheap as reading it.
const NEAR: usize = 4;
/// Sums up to this many bytes stay in a core's cache.
const CACHED: usize = 1 << 17;
/// From this many features on, slots keep sums that stay in the cache ...
const CACHED_FEATURES: usize = 24;
/// ... and sums that do not.
const UNCACHED_FEATURES: usize = 256;
/// One subset is split over the threads from this many element operations on.
const SPLIT_OPS: u64 = 1 << 22;

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
        let capacity = if resources.incremental { capacity } else { 0 };
        let least = if bytes <= CACHED { CACHED_FEATURES } else { UNCACHED_FEATURES };
        Self {
            keeps_slots: additive.n_features() >= least,
            cache: ReferenceCache {
                all: None,
                best: None,
                leader: None,
                recent: Vec::new(),
                oldest: 0,
                own: Vec::new(),
            },
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
        let is_worth_all = |subset: &Subset| subset.count() > d / 2;
        if self.capacity > 0 && self.cache.all.is_none() && subsets.iter().any(is_worth_all) {
            self.cache.all = Some(kept(Subset::full(d)));
            self.work.element_ops += d as u64 * self.additive.ops();
        }
        let slots = self.slots(subsets.len());
        let references: Vec<(usize, &Reference<A::Sum>)> =
            self.cache.references().map(|kept| (kept.subset.count(), kept)).collect();
        let (keeps_slots, isa) = (self.keeps_slots, self.isa);
        self.pool.map((0..subsets.len()).collect(), |slot| {
            let subset = &subsets[slot];
            let (size, words) = (subset.count(), subset.words());
            let (mut cost, mut from) = (size, None);
            for &(other, reference) in &references {
                // |size - other| <= distance: most references are ruled out by their size.
                if size.abs_diff(other) < cost
                    && let Some(distance) =
                        distance_below(isa, words, reference.subset.words(), cost)
                {
                    (cost, from) = (distance, Some(Arc::clone(reference)));
                }
            }
            // The only subset of a batch is its leader: it is cached as it is built.
            let keep = slot < slots && (keeps_slots && cost > NEAR || subsets.len() == 1);
            Route { from, cost, keep }
        })
    }

    /// The number of slots that can keep their last subset, beside the references of all, best and leader.
    fn slots(&self, batch: usize) -> usize {
        self.capacity.saturating_sub(3).min(batch)
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
        let merit = |slot: usize| -> Merit { (measures[slot].error, subsets[slot].count()) };
        let better = |a: Merit, b: Merit| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).is_lt();
        let leader = (1..subsets.len())
            .fold(0, |best, slot| if better(merit(slot), merit(best)) { slot } else { best });
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
                if !built.is_empty() {
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

impl<A: Additive> Evaluator for Incremental<A> {
    fn evaluate(&mut self, subsets: &[Subset]) -> Result<Vec<Measures>> {
        let routes = self.routes(subsets);
        let ops = self.additive.ops();
        let splits = |route: &Route<A::Sum>| {
            subsets.len() < 2 * self.pool.threads() && route.cost as u64 * ops >= SPLIT_OPS
        };
        let evaluated: Vec<Built<A::Sum>> = if routes.iter().any(splits) {
            // Few and heavy: one after the other, each over all threads.
            let one = |slot: usize| {
                cancel::check();
                self.evaluate_one(&subsets[slot], &routes[slot], Some(&self.pool))
            };
            (0..subsets.len()).map(one).collect()
        } else {
            self.pool.map((0..subsets.len()).collect(), |slot| {
                self.evaluate_one(&subsets[slot], &routes[slot], None)
            })
        };
        let (measures, built): (Vec<_>, Vec<_>) = evaluated.into_iter().unzip();
        self.update_cache(subsets, routes, &measures, built);
        Ok(measures)
    }

    fn recall(&mut self, subsets: &[Subset], measures: &[Measures]) {
        let routes = self.routes(subsets);
        self.update_cache(subsets, routes, measures, Vec::new());
    }

    fn work(&self) -> Work {
        self.work
    }
}
