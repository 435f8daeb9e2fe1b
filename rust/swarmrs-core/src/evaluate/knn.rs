//! k nearest neighbours on exact distances.
//!
//! Neighbours at equal distance: the lower row index first. Equal votes: the smallest class. Both are part of the
//! definition. Distances are squared for the Euclidean metric, which compares the same.

use super::kernels::{
    Apart, Change, Columns, Euclidean, Euclidean16, From, Isa, Kernel, KeyFormat, Lane, Manhattan,
    Manhattan16, NO_KEY, ROWS, Scan, Tile, insert, select,
};
use super::layout::{Block, Layout};
use super::seeds::Seeds;
use super::sums::{Additive, Incremental, Step};
use super::{Classify, EvaluationSpec, Measures, Metric, Resources, Tally, Weights};
use crate::dataset::{Dataset, Grid, exact_sum_limit, index_bits};
use crate::error::{Error, Result};
use crate::folds::Folds;
use crate::parallel::Pool;
use crate::subset::Subset;
use std::ops::Range;

/// The k-NN evaluator for this table, its scale and metric.
///
/// # Errors
/// [`Error::BadData`] for a table so large that its distances would not be exact.
pub fn build(
    data: &Dataset,
    folds: &Folds,
    spec: &EvaluationSpec,
    separation: bool,
    resources: Resources,
) -> Result<Box<dyn Classify>> {
    let d = data.n_features() as f64;
    Ok(match (data.grid(), spec.metric) {
        (Grid::Narrow(values), Metric::Manhattan) if d * 65535.0 <= f64::from(u32::MAX) => {
            boxed::<Manhattan16>(data, folds, spec, separation, resources, |at| values[at])
        }
        (Grid::Narrow(values), Metric::Manhattan) => {
            boxed::<Manhattan>(data, folds, spec, separation, resources, |at| f64::from(values[at]))
        }
        (Grid::Narrow(_), Metric::Euclidean)
            if d * 65535.0 * 65535.0 >= exact_sum_limit(data.n_samples()) =>
        {
            let what = "the table is too large for exact squared distances";
            return Err(Error::BadData { what: what.into() });
        }
        (Grid::Narrow(values), Metric::Euclidean) => {
            boxed::<Euclidean16>(data, folds, spec, separation, resources, |at| values[at])
        }
        (Grid::Wide(values), Metric::Manhattan) => {
            boxed::<Manhattan>(data, folds, spec, separation, resources, |at| f64::from(values[at]))
        }
        (Grid::Wide(values), Metric::Euclidean) => {
            boxed::<Euclidean>(data, folds, spec, separation, resources, |at| f64::from(values[at]))
        }
    })
}

fn boxed<K: Kernel>(
    data: &Dataset,
    folds: &Folds,
    spec: &EvaluationSpec,
    separation: bool,
    resources: Resources,
    value: impl Fn(usize) -> K::Value,
) -> Box<dyn Classify> {
    let neighbours = Neighbours::<K>::new(data, folds, spec, separation, Isa::detect(), value);
    Box::new(Incremental::new(neighbours, resources))
}

mod judge;

/// The least keys of every group, and how far each place lies from classes.
type Found<S> = (Vec<f64>, Vec<Apart<S>>);

/// Distances between rows, and the classes they vote for.
pub struct Neighbours<K: Kernel> {
    values: Vec<K::Value>,
    layout: Layout,
    tally: Tally,
    n_features: usize,
    k: usize,
    metric: Metric,
    weights: Weights,
    /// The class of each original row.
    codes: Vec<u32>,
    n_classes: usize,
    format: KeyFormat,
    separation: bool,
    seeds: Option<Seeds>,
    isa: Isa,
}

/// Values that stay in a core's first cache while blocks of rows pass over them, in bytes.
const CACHE: usize = 24 << 10;
/// More values than this would have to come from beyond the second cache, in bytes.
const DEEP: usize = 256 << 10;
/// The widest run of columns taken at a time.
const WIDEST: usize = 2048;
/// Sums that may be held whole for the sake of going through the features in groups, in bytes.
const WHOLE: usize = 4 << 20;

impl<K: Kernel> Neighbours<K> {
    fn new(
        data: &Dataset,
        folds: &Folds,
        spec: &EvaluationSpec,
        separation: bool,
        isa: Isa,
        value: impl Fn(usize) -> K::Value,
    ) -> Self {
        let layout = Layout::new(folds, data.n_samples());
        let n = data.n_samples();
        let mut values = vec![K::Value::default(); data.n_features() * layout.stride()];
        for (feature, column) in values.chunks_exact_mut(layout.stride()).enumerate() {
            for (place, &row) in column.iter_mut().zip(layout.rows()) {
                *place = value(feature * n + row as usize);
            }
        }
        let mut neighbours = Self {
            values,
            tally: Tally::new(data, folds),
            n_features: data.n_features(),
            k: spec.k,
            metric: spec.metric,
            weights: spec.weights,
            codes: data.codes().to_vec(),
            n_classes: data.n_classes(),
            format: KeyFormat { shift: index_bits(n) },
            layout,
            separation: false,
            seeds: None,
            isa,
        };
        neighbours.seeds = neighbours.seeds(data, Seeds::count(spec.k).min(folds.least_training()));
        neighbours.separation = separation;
        neighbours
    }

    /// The nearest `count` rows of each place under all features, as bounds for the subsets to come.
    fn seeds(&mut self, data: &Dataset, count: usize) -> Option<Seeds> {
        let places = self.layout.n_groups() * ROWS;
        if !Seeds::fit(self.n_features, places, count) {
            return None;
        }
        let k = std::mem::replace(&mut self.k, count);
        let all = Subset::full(self.n_features);
        let add: Vec<u32> = (0..self.n_features as u32).collect();
        let step = Step { from: None, add, remove: Vec::new(), subset: &all, keep: None };
        let keys = self.nearest(step, None).0;
        self.k = k;
        let mut own = vec![0; places];
        let mut near = vec![vec![0; places]; count];
        for (case, &row) in self.tally.rows().iter().enumerate() {
            let (group, lane) = self.layout.place(case);
            own[group * ROWS + lane] = row;
            for (seed, near) in near.iter_mut().enumerate() {
                let key = keys[(group * count + seed) * ROWS + lane];
                near[group * ROWS + lane] = self.format.parts(key).1;
            }
        }
        Some(Seeds::new((self.n_features, places, count), |feature, place, seed| {
            let value = |row: usize| data.steps(feature, row);
            let difference = (value(own[place] as usize) - value(near[seed][place])).abs();
            match self.metric {
                Metric::Manhattan => difference,
                Metric::Euclidean => difference * difference,
            }
        }))
    }

    /// Keys that the nearest will take the place of: all greater than the k-th nearest's.
    fn unknown(&self, subset: &Subset) -> Vec<f64> {
        let Some(seeds) = &self.seeds else {
            return vec![NO_KEY; self.layout.n_groups() * self.k * ROWS];
        };
        let bounds = seeds.bounds(self.isa, subset, self.k);
        let mut keys = Vec::with_capacity(bounds.len() * self.k);
        for group in bounds.as_chunks::<ROWS>().0 {
            // One step more than the bound, with no row behind it: above every key within the bound.
            let above = group.map(|bound| self.format.base(bound as u64 + 1));
            for _ in 0..self.k {
                keys.extend_from_slice(&above);
            }
        }
        keys
    }

    fn columns(&self) -> Columns<'_, K::Value> {
        Columns { values: &self.values, stride: self.layout.stride() }
    }

    /// The nearest rows of every case, and with `separation` how far classes lie apart.
    fn nearest(&self, step: Step<'_, K::Sum>, pool: Option<&Pool>) -> Found<K::Sum> {
        let blocks = self.layout.blocks();
        let parts = self.layout.parts(pool.map_or(1, Pool::threads));
        let Step { from, add, remove, keep, subset } = step;
        let unknown = self.unknown(subset);
        let change = Change { add: &add, remove: &remove };
        let mut rest = keep;
        let mut jobs = Vec::new();
        for part in parts {
            let sums = part.clone().map(|at| blocks[at].len()).sum();
            let kept = rest.take().map(|all| {
                let (head, tail) = all.split_at_mut(sums);
                rest = Some(tail);
                head
            });
            jobs.push((part, kept));
        }
        let work = |(part, keep): (Range<usize>, Option<&mut [K::Sum]>)| {
            self.scan_part(&blocks[part], change, from, keep, unknown.clone())
        };
        let mut done = match pool {
            Some(pool) => pool.map(jobs, work),
            None => jobs.into_iter().map(work).collect(),
        }
        .into_iter();
        let mut found = done.next().unwrap_or_default();
        // Keys are totally ordered: in whatever order parts meet, the least k are the least k.
        for (keys, apart) in done {
            let width = self.k * ROWS;
            for (all, some) in found.0.chunks_exact_mut(width).zip(keys.chunks_exact(width)) {
                for (at, &key) in some.iter().enumerate() {
                    insert(all, at % ROWS, key);
                }
            }
            found.1.iter_mut().zip(apart).for_each(|(all, some)| all.join(some));
        }
        found
    }

    /// Goes through some blocks of rows: builds their sums and puts them among the nearest.
    fn scan_part(
        &self,
        blocks: &[Block],
        change: Change<'_>,
        from: Option<&[K::Sum]>,
        keep: Option<&mut [K::Sum]>,
        mut keys: Vec<f64>,
    ) -> Found<K::Sum> {
        let places = if self.separation { self.layout.n_groups() * ROWS } else { 0 };
        let mut apart = vec![Apart::default(); places];
        let offset = blocks.first().map_or(0, |block| block.offset);
        let from = from.map(|from| &from[offset..]);
        let total: usize = blocks.iter().map(Block::len).sum();
        let column_bytes = (change.add.len() + change.remove.len()) * size_of::<K::Value>();
        let is_deep =
            column_bytes * self.layout.stride() > DEEP && total * size_of::<K::Sum>() <= WHOLE;
        let mut own = Vec::new();
        let whole = match keep {
            Some(keep) => Some(keep),
            None if is_deep => {
                own.resize(total, K::Sum::default());
                Some(own.as_mut_slice())
            }
            None => None,
        };
        if let Some(sums) = whole {
            self.fill(blocks, offset, change, from, sums);
            let mut bases = vec![0.0; blocks.iter().map(Block::len).max().unwrap_or(0)];
            for block in blocks {
                let sums = &sums[block.offset - offset..][..block.len()];
                let bases = &mut bases[..block.len()];
                K::Sum::keys(self.isa, sums, self.format, bases);
                let columns = block.columns.clone();
                self.separate(block, &columns, (sums, block.width()), &mut apart);
                self.select(block, columns, (bases, block.width()), &mut keys);
            }
        } else {
            let width = (CACHE / column_bytes.max(1)).clamp(64, WIDEST) / 64 * 64;
            let mut sums = vec![K::Sum::default(); ROWS * width];
            let mut bases = vec![0.0; ROWS * width];
            let packed = K::pack(self.isa, self.columns(), change);
            for start in (0..self.layout.stride()).step_by(width) {
                for block in blocks {
                    let columns =
                        block.columns.start.max(start)..block.columns.end.min(start + width);
                    if columns.is_empty() {
                        continue;
                    }
                    let tile = Tile { rows: block.rows, columns: columns.clone() };
                    let from = from.map_or(From::Zero, |from| {
                        let at = block.offset - offset + columns.start - block.columns.start;
                        From::Strips(&from[at..], block.width())
                    });
                    let run = columns.len();
                    let (sums, bases) = (&mut sums[..ROWS * run], &mut bases[..ROWS * run]);
                    if self.separation {
                        K::accumulate(self.isa, &packed, &tile, from, (sums, run));
                        self.separate(block, &columns, (sums, run), &mut apart);
                        K::Sum::keys(self.isa, sums, self.format, bases);
                    } else {
                        let to = (self.format, &mut *bases, run);
                        K::accumulate_keys(self.isa, &packed, &tile, from, sums, to);
                    }
                    self.select(block, columns, (bases, run), &mut keys);
                }
            }
        }
        (keys, apart)
    }

    /// Builds whole strips of sums, features in groups that stay in the cache.
    fn fill(
        &self,
        blocks: &[Block],
        offset: usize,
        change: Change<'_>,
        from: Option<&[K::Sum]>,
        sums: &mut [K::Sum],
    ) {
        let group = (CACHE / (self.layout.stride() * size_of::<K::Value>())).max(16);
        let adds = change.add.chunks(group).map(|add| Change { add, remove: &[] });
        let removes = change.remove.chunks(group).map(|remove| Change { add: &[], remove });
        let changes: Vec<Change<'_>> = adds.chain(removes).collect();
        // Even a change of nothing copies the sums it starts from.
        let changes = if changes.is_empty() { vec![change] } else { changes };
        for (turn, change) in changes.into_iter().enumerate() {
            let packed = K::pack(self.isa, self.columns(), change);
            for block in blocks {
                let at = block.offset - offset;
                let tile = Tile { rows: block.rows, columns: block.columns.clone() };
                let from = match from {
                    _ if turn > 0 => From::Place,
                    Some(from) => From::Strips(&from[at..], block.width()),
                    None => From::Zero,
                };
                let to = (&mut sums[at..at + block.len()], block.width());
                K::accumulate(self.isa, &packed, &tile, from, to);
            }
        }
    }

    /// Puts a block's base keys among the nearest.
    fn select(
        &self,
        block: &Block,
        columns: Range<usize>,
        bases: (&[f64], usize),
        keys: &mut [f64],
    ) {
        let scan = Scan {
            format: self.format,
            k: self.k,
            columns,
            end: self.layout.n(),
            first: block.first,
            blocked: self.layout.blocked(block),
            index: self.layout.rows_padded(),
            rows: block.index,
            group: block.group,
            is_symmetric: self.layout.is_symmetric(),
        };
        select(self.isa, bases, &scan, keys);
    }
}

impl<K: Kernel> Additive for Neighbours<K> {
    type Sum = K::Sum;

    fn n_features(&self) -> usize {
        self.n_features
    }

    fn n_sums(&self) -> usize {
        self.layout.n_sums()
    }

    fn ops(&self) -> u64 {
        self.layout.pairs()
    }

    fn measure(&self, step: Step<'_, K::Sum>, pool: Option<&Pool>) -> Measures {
        let size = step.subset.count();
        let (keys, apart) = self.nearest(step, pool);
        let mut measures = self.tally.measures(&self.votes(&keys));
        if self.separation {
            measures.separation = self.separation(&apart, size);
        }
        measures
    }

    fn build(&self, step: Step<'_, K::Sum>) {
        let change = Change { add: &step.add, remove: &step.remove };
        if let Some(keep) = step.keep {
            self.fill(self.layout.blocks(), 0, change, step.from, keep);
        }
    }
}

impl<K: Kernel> Classify for Incremental<Neighbours<K>> {
    fn predict(&self, subset: &Subset) -> Vec<(u32, u32)> {
        let neighbours = self.additive();
        let add: Vec<u32> = subset.iter().map(|feature| feature as u32).collect();
        let step = Step { from: None, remove: Vec::new(), subset, add, keep: None };
        let votes = neighbours.votes(&neighbours.nearest(step, None).0);
        neighbours.tally.rows().iter().copied().zip(votes).collect()
    }
}
