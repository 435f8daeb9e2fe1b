//! k nearest neighbors by float64 distance, found by way of quantized ones.
//!
//! Neighbors at equal distance: the lower row index first. Equal votes: the smallest class. Both are part of the
//! definition. Distances are squared for the Euclidean metric, which compares the same.

use super::incremental::{Additive, Incremental, Step};
use super::layout::{Block, Layout};
use super::seen::Seen;
use super::{Classify, EvaluationSpec, Measures, Metric, Resources, Tally, Weights};
use crate::base::cancel;
use crate::base::parallel::Pool;
use crate::base::subset::Subset;
use crate::data::quantization::{Fidelity, Quantized, index_bits};
use crate::simd::{
    Apart, Change, CoarseEuclidean, Columns, Euclidean, Euclidean16, From, Isa, Kernel, KeyFormat,
    Manhattan, Manhattan16, ROWS, Tile,
};
use exact::Exact;
use net::Net;
use screen::Screen;
use std::ops::Range;

/// The k-NN evaluator for this table, its scale and metric.
pub fn build(
    seen: &Seen<'_>,
    spec: &EvaluationSpec,
    separation: bool,
    resources: Resources,
    isa: Isa,
) -> Box<dyn Classify> {
    let d = seen.data.n_features() as f64;
    let mut plan = Plan { seen, spec, separation, resources, isa, ops: 0 };
    match (&seen.quantization.values, spec.metric) {
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

/// What an evaluator is made of.
struct Plan<'a> {
    seen: &'a Seen<'a>,
    spec: &'a EvaluationSpec,
    separation: bool,
    resources: Resources,
    isa: Isa,
    /// Element operations spent on planning.
    ops: u64,
}

impl Plan<'_> {
    fn neighbours<K: Kernel>(&mut self, value: impl Fn(usize) -> K::Value) -> Neighbours<K> {
        let mut neighbours = Neighbours::new(self, self.isa, value);
        self.ops += neighbours.try_short_keys();
        neighbours.setup_ops = self.ops;
        neighbours
    }

    fn evaluator<K: Kernel>(&mut self, value: impl Fn(usize) -> K::Value) -> Box<dyn Classify> {
        Box::new(Incremental::new(self.neighbours::<K>(value), self.resources.clone(), self.isa))
    }

    /// How many low bits of the values to leave out, for squared distances of no more than 32 bits.
    fn bits_to_lose(&mut self, value: impl Fn(usize) -> u16) -> Option<u32> {
        let d = self.seen.data.n_features();
        let exact = Neighbours::<Euclidean16>::new(self, self.isa, value);
        if !exact.fits_short_keys() {
            return None;
        }
        // No subset's distance exceeds that of all features.
        let ops = exact.layout.pairs() * d as u64;
        let farthest = if ops <= MOST_COMPARED {
            self.ops += ops;
            exact.farthest()
        } else {
            d as f64 * 65535.0 * 65535.0
        };
        // The greatest short keys are kept free.
        let room = f64::from(u32::MAX - (1 << 20));
        let longest = |lost: u32| farthest.sqrt() / f64::from(1u32 << lost) + (d as f64).sqrt();
        // Two bits are needed for a factor and a sign; with fewer than twelve left, too many rows are undecided.
        (2..=4).find(|&lost| longest(lost).powi(2) < room)
    }

    /// On distances of coarse values, which are of use only if neighbours are screened.
    fn coarse<const LOST: u32>(
        &mut self,
        value: impl Fn(usize) -> u16,
    ) -> Option<Box<dyn Classify>> {
        let neighbours = self.neighbours::<CoarseEuclidean<LOST>>(value);
        neighbours.uses_short_keys.then(|| -> Box<dyn Classify> {
            Box::new(Incremental::new(neighbours, self.resources.clone(), self.isa))
        })
    }
}

mod exact;
mod judge;
mod net;
mod screen;

/// The candidates of every case, and how far each row lies from classes.
type Found<S> = (Net, Vec<Apart<S>>);

/// Distances between rows, and the classes they vote for.
pub struct Neighbours<K: Kernel> {
    values: Vec<K::Value>,
    layout: Layout,
    tally: Tally,
    n_features: usize,
    k: usize,
    metric: Metric,
    weights: Weights,
    /// The class of each row, copies behind those of the table.
    codes: Vec<u32>,
    /// The row of the table at each place, padded.
    index: Vec<u32>,
    n_classes: usize,
    format: KeyFormat,
    separation: bool,
    /// Whether candidate lists have 32-bit keys; a matter of time, not of the answer.
    uses_short_keys: bool,
    /// What quantization keeps of each feature.
    fidelity: Vec<Fidelity>,
    /// Quantization steps per unit of scaled value.
    resolution: f64,
    exact: Exact,
    /// Element operations spent on finding that out.
    setup_ops: u64,
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

/// The element operations that finding the farthest rows may take.
const MOST_COMPARED: u64 = 1 << 28;

impl Neighbours<Euclidean16> {
    /// The greatest squared distance that two rows have under all features.
    fn farthest(&self) -> f64 {
        let add: Vec<u32> = (0..self.n_features as u32).collect();
        let packed = Euclidean16::pack(self.isa, self.columns(), Change { add: &add, remove: &[] });
        let mut sums = vec![0.0; ROWS * self.layout.stride()];
        let mut farthest = 0.0f64;
        for block in self.layout.blocks() {
            let tile = Tile { rows: block.rows, columns: block.columns.clone() };
            let sums = &mut sums[..block.len()];
            Euclidean16::accumulate(self.isa, &packed, &tile, From::Zero, (sums, block.width()));
            for (strip, &first) in sums.chunks_exact(block.width()).zip(&block.first) {
                let run = first.max(block.columns.start)..self.layout.n().max(first);
                let at = run.start - block.columns.start..run.end - block.columns.start;
                farthest = strip[at].iter().copied().fold(farthest, f64::max);
            }
        }
        farthest
    }
}

impl<K: Kernel> Neighbours<K> {
    fn new(plan: &Plan<'_>, isa: Isa, value: impl Fn(usize) -> K::Value) -> Self {
        let &Plan { seen, spec, separation, .. } = plan;
        let (data, n) = (seen.data, seen.n());
        let quantizers = &seen.quantization.quantizers;
        let layout = Layout::new(&seen.folds, n);
        let mut values = vec![K::Value::default(); data.n_features() * layout.stride()];
        for (feature, column) in values.chunks_exact_mut(layout.stride()).enumerate() {
            cancel::check();
            for (place, &row) in column.iter_mut().zip(layout.rows()) {
                *place = value(feature * n + row as usize);
            }
        }
        Self {
            values,
            tally: Tally::new(data, seen.drawn),
            n_features: data.n_features(),
            k: spec.k,
            metric: spec.metric,
            weights: spec.weights,
            codes: seen.codes.to_vec(),
            index: layout.rows_padded().iter().map(|&row| seen.rows[row as usize]).collect(),
            n_classes: data.n_classes(),
            format: KeyFormat { shift: index_bits(data.n_samples()) },
            separation,
            uses_short_keys: false,
            fidelity: quantizers.iter().map(|quantizer| quantizer.fidelity).collect(),
            resolution: seen.quantization.resolution,
            exact: Exact::new(seen, spec.metric, isa, layout.rows()),
            layout,
            setup_ops: 0,
            isa,
        }
    }

    fn columns(&self) -> Columns<'_, K::Value> {
        Columns { values: &self.values, stride: self.layout.stride() }
    }

    /// The candidates of every case, and with `separation` how far classes lie apart.
    fn nearest(
        &self,
        step: Step<'_, K::Sum>,
        screen: Screen,
        pool: Option<&Pool>,
    ) -> Found<K::Sum> {
        let blocks = self.layout.blocks();
        let parts = self.layout.parts(pool.map_or(1, Pool::threads));
        let Step { from, add, remove, keep, .. } = step;
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
            self.scan_part(&blocks[part], change, from, keep, self.net(screen))
        };
        let done = match pool {
            Some(pool) => pool.map(jobs, work),
            None => jobs.into_iter().map(work).collect(),
        };
        let join = |mut all: Found<K::Sum>, some: Found<K::Sum>| {
            all.0.join(&some.0);
            all.1.iter_mut().zip(some.1).for_each(|(all, some)| all.join(some));
            all
        };
        done.into_iter().reduce(join).unwrap_or_else(|| (self.net(screen), Vec::new()))
    }

    /// Goes through some blocks of rows: builds their sums and puts them among the nearest.
    fn scan_part(
        &self,
        blocks: &[Block],
        change: Change<'_>,
        from: Option<&[K::Sum]>,
        keep: Option<&mut [K::Sum]>,
        mut net: Net,
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
            for block in blocks {
                let sums = &sums[block.offset - offset..][..block.len()];
                let columns = block.columns.clone();
                self.separate(block, &columns, (sums, block.width()), &mut apart);
                self.catch(block, columns, sums, &mut net);
            }
            return (net, apart);
        }
        let width = (CACHE / column_bytes.max(1)).clamp(64, WIDEST) / 64 * 64;
        let packed = K::pack(self.isa, self.columns(), change);
        let mut sums = vec![K::Sum::default(); ROWS * width];
        for start in (0..self.layout.stride()).step_by(width) {
            for block in blocks {
                let columns = block.columns.start.max(start)..block.columns.end.min(start + width);
                if columns.is_empty() {
                    continue;
                }
                let tile = Tile { rows: block.rows, columns: columns.clone() };
                let from = from.map_or(From::Zero, |from| {
                    let at = block.offset - offset + columns.start - block.columns.start;
                    From::Strips(&from[at..], block.width())
                });
                let run = columns.len();
                let sums = &mut sums[..ROWS * run];
                K::accumulate(self.isa, &packed, &tile, from, (sums, run));
                self.separate(block, &columns, (sums, run), &mut apart);
                self.catch(block, columns, sums, &mut net);
            }
        }
        (net, apart)
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

    fn setup_ops(&self) -> u64 {
        self.setup_ops
    }

    fn measure(&self, step: Step<'_, K::Sum>, pool: Option<&Pool>) -> Measures {
        let size = step.subset.count();
        let (subset, screen) = (step.subset, self.screen(step.subset));
        let (net, apart) = self.nearest(step, screen, pool);
        let mut measures = self.tally.measures(&self.classes(&net, subset));
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
        let screen = neighbours.screen(subset);
        let votes = neighbours.classes(&neighbours.nearest(step, screen, None).0, subset);
        neighbours.tally.rows().iter().copied().zip(votes).collect()
    }
}

#[cfg(test)]
mod tests;
