//! Subsets evaluated without a classifier, by the relevance and redundancy of their features.
//!
//! The redundancy Q of a subset is a sum over all its pairs. A few subsets are kept as references, each with its Q and, for
//! every feature f, the sum w(f) of what f shares with its members. Where a subset differs from a reference by
//! the features D, with sign + for those that come in and - for those that go out,
//!
//! ```text
//! Q' = Q + sum over f in D of sign(f) w(f) + sum over pairs f, g in D of sign(f) sign(g) SU(f, g)
//! ```
//!
//! so that it costs |D|^2 / 2 additions instead of |S|^2 / 2; from nothing is the case of the empty reference. All are whole
//! numbers, so every way there gives the same bits. The subsets of an iteration are evaluated together, row by row of the table of
//! uncertainties, since it is the reading of rows that takes time.

use super::{Evaluator, Measures, Resources, Work};
use crate::base::cancel;
use crate::base::error::Result;
use crate::base::parallel::Pool;
use crate::base::subset::Subset;
use crate::data::dataset::Dataset;
use crate::filter::{Merit, Redundancy, Sums};
use std::sync::Arc;

/// Evaluates subsets by a [`Merit`]; the error it reports is the cost.
#[derive(Debug)]
pub struct ByFilter {
    merit: Merit,
    table: Redundancy,
    /// The relevance of all features.
    all: u64,
    references: References,
    pool: Arc<Pool>,
    work: Work,
}

/// Subsets from which others are reached.
#[derive(Debug)]
struct References {
    empty: Reference,
    /// All features, once a subset has more than half of them.
    full: Option<Reference>,
    /// The best of the last iteration, which the next one will resemble.
    leader: Reference,
    /// The best so far, with its cost and size.
    best: Option<(f64, usize, Reference)>,
}

/// A subset of the relevant features, its redundancy, and what each feature shares with all its members.
#[derive(Debug, Clone)]
struct Reference {
    places: Subset,
    redundancy: u64,
    shared: Vec<u64>,
}

/// The part of the memory that may hold what features share: one in so many.
const SHARE: u64 = 2;
/// Rows of a block.
const BLOCK: usize = 16;

/// The way from a reference to a subset.
struct Route<'a> {
    from: &'a Reference,
    add: Vec<u32>,
    remove: Vec<u32>,
}

impl ByFilter {
    /// An evaluator on `table` within these resources.
    pub fn new(merit: Merit, table: Redundancy, resources: &Resources) -> Self {
        let empty = Reference::empty(table.n_relevant());
        Self {
            all: table.relevance().iter().map(|&relevance| u64::from(relevance)).sum(),
            references: References { leader: empty.clone(), empty, full: None, best: None },
            pool: Arc::clone(&resources.pool),
            work: Work::default(),
            merit,
            table,
        }
    }

    /// An evaluator of the features of a table within these resources.
    pub fn of_table(merit: Merit, data: &Dataset, resources: &Resources) -> Self {
        let levels = data.levels(&resources.pool);
        let relevance: Vec<f32> = (0..levels.n_features()).map(|at| levels.relevance(at)).collect();
        let between = move |a, b| levels.uncertainty(a, b);
        let table = Redundancy::new(&relevance, Box::new(between), resources.memory / SHARE);
        Self::new(merit, table, resources)
    }

    /// The redundancies of the subsets that routes lead to.
    fn redundancies(&self, routes: &[Route<'_>]) -> Vec<u64> {
        let mut needed = Subset::empty(self.table.n_relevant());
        for &place in routes.iter().flat_map(|route| route.add.iter().chain(&route.remove)) {
            needed.insert(place as usize);
        }
        self.table.prepare(&needed, &self.pool);
        // Each thread reads every row once. Neighboring subsets are often alike, so they are dealt out.
        let parts = self.pool.threads().min(routes.len());
        let deal = |part: usize| routes.iter().skip(part).step_by(parts).collect();
        let dealt: Vec<Vec<&Route<'_>>> = (0..parts).map(deal).collect();
        let done = self.pool.map(dealt, |routes| self.walk(&routes));
        (0..routes.len()).map(|at| done[at % parts][at / parts]).collect()
    }

    /// Goes several routes at once, a block of rows at a time: both the rows and what a route has met stay in the cache.
    fn walk(&self, routes: &[&Route<'_>]) -> Vec<u64> {
        let mut walks: Vec<Walk<'_>> = routes.iter().map(|route| Walk::new(route)).collect();
        let n = self.table.n_relevant() as u32;
        for start in (0..n).step_by(BLOCK) {
            cancel::check();
            let mut rows = [const { None }; BLOCK];
            for walk in &mut walks {
                while let Some(place) = walk.next(start + BLOCK as u32) {
                    let row = rows[(place - start) as usize]
                        .get_or_insert_with(|| self.table.row(place as usize));
                    walk.step(place, row);
                }
            }
        }
        // A sum of uncertainties: what was subtracted is part of it.
        walks.into_iter().map(|walk| walk.redundancy.cast_unsigned()).collect()
    }

    fn measures(&self, subset: &Subset, places: &Subset, redundancy: u64) -> Measures {
        let relevance = self.table.relevance();
        let relevance = places.iter().map(|place| u64::from(relevance[place])).sum();
        let sums = Sums { relevance, redundancy, size: subset.count() };
        Measures::from_error(self.merit.cost(sums, self.all))
    }

    /// Makes the reference of all features where one of these subsets is nearer to it than to none.
    fn meet(&mut self, places: &[Subset]) {
        let n = self.table.n_relevant();
        if self.references.full.is_none() && places.iter().any(|places| 2 * places.count() > n) {
            let full = self.references.empty.clone();
            self.references.full = Some(self.moved(full, &Subset::full(n)));
        }
    }

    /// Keeps the best of an iteration as a reference: the subsets of the next one are likely to be near it.
    fn learn(&mut self, subsets: &[Subset], places: &[Subset], measures: &[Measures]) {
        let standing = |at: usize| (measures[at].error, subsets[at].count());
        let better =
            |a: (f64, usize), b: (f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).is_lt();
        let first = |best, at| if better(standing(at), standing(best)) { at } else { best };
        let Some(leader) = (0..subsets.len()).reduce(first) else { return };
        let nearest = self.references.nearest(&places[leader]).clone();
        self.references.leader = self.moved(nearest, &places[leader]);
        let (cost, size) = standing(leader);
        let is_best = |(old, its, _): &(f64, usize, Reference)| better((cost, size), (*old, *its));
        if self.references.best.as_ref().is_none_or(is_best) {
            self.references.best = Some((cost, size, self.references.leader.clone()));
        }
    }

    /// A reference, moved to another subset.
    fn moved(&mut self, mut reference: Reference, to: &Subset) -> Reference {
        let (add, remove) = (to.difference(&reference.places), reference.places.difference(to));
        self.table.prepare(&add.union(&remove), &self.pool);
        for place in add.iter() {
            reference.redundancy += reference.shared[place];
            reference.share(&self.table.row(place), |shared, with| shared + with);
        }
        for place in remove.iter() {
            reference.redundancy -= reference.shared[place];
            reference.share(&self.table.row(place), |shared, with| shared - with);
        }
        let steps = add.count() + remove.count();
        self.work.element_ops += steps as u64 * self.table.n_relevant() as u64;
        reference.places = to.clone();
        reference
    }

    fn count(&mut self, places: &[Subset]) {
        let pairs = |n: usize| (n * (n + 1) / 2) as u64;
        for places in places {
            let distance = self.references.nearest(places).places.distance(places);
            self.work.element_ops += pairs(distance);
            self.work.from_scratch_ops += pairs(places.count());
        }
    }
}

impl Reference {
    fn empty(n_relevant: usize) -> Self {
        Self { places: Subset::empty(n_relevant), redundancy: 0, shared: vec![0; n_relevant] }
    }

    /// Lets every feature share with one more member, or with one less, whose row this is.
    fn share(&mut self, row: &[u32], change: impl Fn(u64, u64) -> u64) {
        for (shared, &with) in self.shared.iter_mut().zip(row) {
            *shared = change(*shared, u64::from(with));
        }
    }

    /// The way to a subset.
    fn route(&self, to: &Subset) -> Route<'_> {
        let indices = |subset: Subset| subset.iter().map(|place| place as u32).collect();
        let (add, remove) = (to.difference(&self.places), self.places.difference(to));
        Route { from: self, add: indices(add), remove: indices(remove) }
    }
}

impl References {
    fn nearest(&self, places: &Subset) -> &Reference {
        let best = self.best.iter().map(|(_, _, best)| best);
        let others = self.full.iter().chain(best).chain([&self.leader]);
        others.fold(&self.empty, |nearest, other| {
            let is_nearer = other.places.distance(places) < nearest.places.distance(places);
            if is_nearer { other } else { nearest }
        })
    }
}

/// A route under way: those of its features that were met.
struct Walk<'a> {
    route: &'a Route<'a>,
    added: usize,
    removed: usize,
    redundancy: i64,
}

impl<'a> Walk<'a> {
    fn new(route: &'a Route<'a>) -> Self {
        Self { route, added: 0, removed: 0, redundancy: route.from.redundancy.cast_signed() }
    }

    /// The next place whose feature comes in or goes out, if it lies before `end`.
    fn next(&self, end: u32) -> Option<u32> {
        let (add, remove) = (&self.route.add[self.added..], &self.route.remove[self.removed..]);
        let next = add.first().into_iter().chain(remove.first()).min();
        next.copied().filter(|&place| place < end)
    }

    /// Puts in or takes out the feature at `place`, which is next, and whose row this is.
    fn step(&mut self, place: u32, row: &[u32]) {
        let Route { from, add, remove } = self.route;
        let sum =
            |places: &[u32]| places.iter().map(|&met| i64::from(row[met as usize])).sum::<i64>();
        let shared = from.shared[place as usize].cast_signed() + sum(&add[..self.added])
            - sum(&remove[..self.removed]);
        if add.get(self.added) == Some(&place) {
            self.redundancy += shared;
            self.added += 1;
        } else {
            self.redundancy -= shared;
            self.removed += 1;
        }
    }
}

impl Evaluator for ByFilter {
    fn evaluate(&mut self, subsets: &[Subset]) -> Result<Vec<Measures>> {
        let places: Vec<Subset> = subsets.iter().map(|subset| self.table.places(subset)).collect();
        self.meet(&places);
        let routes: Vec<Route<'_>> =
            places.iter().map(|to| self.references.nearest(to).route(to)).collect();
        let redundancies = self.redundancies(&routes);
        let measures: Vec<Measures> = (0..subsets.len())
            .map(|at| self.measures(&subsets[at], &places[at], redundancies[at]))
            .collect();
        self.count(&places);
        self.learn(subsets, &places, &measures);
        Ok(measures)
    }

    fn recall(&mut self, subsets: &[Subset], measures: &[Measures]) {
        let places: Vec<Subset> = subsets.iter().map(|subset| self.table.places(subset)).collect();
        self.meet(&places);
        self.count(&places);
        self.learn(subsets, &places, measures);
    }

    fn work(&self) -> Work {
        self.work
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::cancel::Cancel;
    use crate::base::error::Error;
    use crate::filter::merit::fixed_point;
    use proptest::prelude::*;

    const N: usize = 70;

    /// Made-up redundancies; one feature in four is irrelevant.
    fn shared(seed: u64) -> (Vec<f32>, impl Fn(usize, usize) -> f32 + Clone) {
        let mixed = move |a: usize, b: usize| {
            let mixed = (seed ^ (a * N + b) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            (mixed >> 40) as f32 / (1u64 << 24) as f32
        };
        let relevance: Vec<f32> =
            (0..N).map(|f| if f % 4 == 3 { 0.0 } else { mixed(f, f).max(0.01) }).collect();
        let known = relevance.clone();
        let between = move |a: usize, b: usize| {
            let is_relevant = known[a] > 0.0 && known[b] > 0.0;
            if is_relevant { mixed(a.min(b), a.max(b)) } else { 0.0 }
        };
        (relevance, between)
    }

    fn evaluator(merit: Merit, seed: u64, memory: u64, threads: usize) -> ByFilter {
        let (relevance, between) = shared(seed);
        let table = Redundancy::new(&relevance, Box::new(between), memory);
        ByFilter::new(merit, table, &Resources::with_threads(threads))
    }

    /// The cost by adding up all pairs.
    fn naive(merit: Merit, seed: u64, subset: &Subset) -> f64 {
        let (relevance, between) = shared(seed);
        let of = |feature: usize| u64::from(fixed_point(relevance[feature]));
        let members: Vec<usize> = subset.iter().collect();
        let mut sums = Sums { relevance: 0, redundancy: 0, size: members.len() };
        for (at, &a) in members.iter().enumerate() {
            sums.relevance += of(a);
            sums.redundancy +=
                members[..at].iter().map(|&b| u64::from(fixed_point(between(a, b)))).sum::<u64>();
        }
        merit.cost(sums, (0..N).map(of).sum())
    }

    proptest! {
        #[test]
        fn any_walk_gives_what_adding_up_all_pairs_gives(
            seed: u64,
            is_cfs: bool,
            rows in 0u64..80,
            threads in 1usize..4,
            start in proptest::collection::btree_set(0..N, 1..N),
            batches in proptest::collection::vec(
                proptest::collection::vec(proptest::collection::btree_set(0..N, 0..12), 1..6), 1..6),
        ) {
            let merit = if is_cfs { Merit::Cfs } else { Merit::Mrmr };
            let of = |memory, threads| evaluator(merit, seed, memory, threads);
            // Room for some of the rows, for none, for all.
            let (mut few, mut all) = (of(rows * 4 * N as u64, threads), of(1 << 20, 1));
            let mut recalling = of(1 << 20, 1);
            let mut held = Subset::from_indices(N, start);
            for flips in batches {
                let subsets: Vec<Subset> = flips
                    .into_iter()
                    .map(|flips| {
                        for feature in flips {
                            held.set(feature, !held.contains(feature));
                        }
                        if held.is_empty() { held.with(0) } else { held.clone() }
                    })
                    .collect();
                let scores = few.evaluate(&subsets).unwrap();
                for (found, subset) in scores.iter().zip(&subsets) {
                    prop_assert_eq!(found.error.to_bits(), naive(merit, seed, subset).to_bits());
                }
                prop_assert_eq!(&all.evaluate(&subsets).unwrap(), &scores);
                recalling.recall(&subsets, &scores);
                prop_assert_eq!(recalling.work(), all.work());
                prop_assert_eq!(few.work(), all.work());
            }
        }
    }

    #[test]
    fn a_step_from_the_last_best_costs_little() {
        let mut evaluator = evaluator(Merit::Cfs, 1, 1 << 20, 1);
        let half = Subset::from_fn(N, |feature| feature % 2 == 0);
        evaluator.evaluate(std::slice::from_ref(&half)).unwrap();
        let before = evaluator.work();
        let near: Vec<Subset> = (1..N).step_by(4).map(|feature| half.with(feature)).collect();
        evaluator.evaluate(&near).unwrap();
        // One addition for each, and a row for the new leader.
        let relevant = evaluator.table.n_relevant() as u64;
        assert_eq!(evaluator.work().element_ops - before.element_ops, near.len() as u64 + relevant);
    }

    #[test]
    fn it_stops_when_told() {
        let mut evaluator = evaluator(Merit::Mrmr, 1, 1 << 20, 1);
        let cancel = Arc::new(Cancel::default());
        let measured = cancel::scope(&cancel, || {
            cancel.request();
            evaluator.evaluate(&[Subset::full(N)]).is_ok()
        });
        assert_eq!(measured, Err(Error::Interrupted));
        // It is as good as new for the next call.
        assert!(evaluator.evaluate(&[Subset::full(N)]).is_ok());
    }
}
