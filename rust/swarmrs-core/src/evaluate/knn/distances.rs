//! Quantized distances between all pairs of rows that are compared: exact integer sums over the features of a subset.

use super::super::folded::FoldedTable;
use super::super::incremental::Step;
use super::super::layout::{Block, Layout};
use crate::base::cancel;
use crate::base::parallel::Pool;
use crate::simd::{Change, Columns, Euclidean16, Init, Isa, Kernel, ROWS, Tile};
use std::ops::Range;

/// The quantized values of all rows, and the blocks in which their distances are built.
pub(super) struct Distances<K: Kernel> {
    /// Feature after feature, rows in the order of the layout.
    values: Vec<K::Value>,
    layout: Layout,
    n_features: usize,
    isa: Isa,
}

/// Receiver of distances, a tile at a time. Threads fill one sink each.
pub(super) trait TileSink<S>: Send {
    /// Takes the distances from the rows of a block to `columns`, one row after the other, `columns.len()` apart.
    fn insert_tile(&mut self, block: &Block, columns: Range<usize>, sums: &[S]);
    /// Adds what another thread received.
    fn merge(&mut self, other: Self);
}

/// Values that stay in a core's first-level cache (32 KiB or more) while blocks of rows pass over them, in bytes.
const CACHE: usize = 24 << 10;
/// Values beyond this come from beyond the second-level cache, in bytes.
const DEEP: usize = 256 << 10;
/// Columns of a tile, at most.
const WIDEST: usize = 2048;
/// Sums that may be held at once in order to pass over the features in groups, in bytes.
const WHOLE: usize = 4 << 20;

impl<K: Kernel> Distances<K> {
    pub fn new(table: &FoldedTable<'_>, isa: Isa, value: impl Fn(usize) -> K::Value) -> Self {
        let (n, n_features) = (table.n(), table.data.n_features());
        let layout = Layout::new(&table.folds, n);
        let mut values = vec![K::Value::default(); n_features * layout.stride()];
        for (feature, column) in values.chunks_exact_mut(layout.stride()).enumerate() {
            cancel::check();
            for (place, &row) in column.iter_mut().zip(layout.rows()) {
                *place = value(feature * n + row as usize);
            }
        }
        Self { values, layout, n_features, isa }
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub fn n_features(&self) -> usize {
        self.n_features
    }

    fn columns(&self) -> Columns<'_, K::Value> {
        Columns { values: &self.values, stride: self.layout.stride() }
    }

    /// Builds the distances of a step and hands them to a sink, in parallel where there is a pool.
    pub fn scan<T: TileSink<K::Sum>>(
        &self,
        step: Step<'_, K::Sum>,
        pool: Option<&Pool>,
        sink: impl Fn() -> T + Sync,
    ) -> T {
        let blocks = self.layout.blocks();
        let Step { from, add, remove, keep, .. } = step;
        let change = Change { add: &add, remove: &remove };
        let mut rest = keep;
        let mut parts = Vec::new();
        for part in self.layout.parts(pool.map_or(1, Pool::threads)) {
            let n_sums = part.clone().map(|at| blocks[at].len()).sum();
            let kept = rest.take().map(|all| {
                let (head, tail) = all.split_at_mut(n_sums);
                rest = Some(tail);
                head
            });
            parts.push((part, kept));
        }
        let work = |(part, keep): (Range<usize>, Option<&mut [K::Sum]>)| {
            let mut sink = sink();
            self.scan_part(&blocks[part], change, from, keep, &mut sink);
            sink
        };
        let filled = match pool {
            Some(pool) => pool.map(parts, work),
            None => parts.into_iter().map(work).collect(),
        };
        let merge = |mut all: T, some: T| {
            all.merge(some);
            all
        };
        filled.into_iter().reduce(merge).unwrap_or_else(sink)
    }

    fn scan_part(
        &self,
        blocks: &[Block],
        change: Change<'_>,
        from: Option<&[K::Sum]>,
        keep: Option<&mut [K::Sum]>,
        sink: &mut impl TileSink<K::Sum>,
    ) {
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
            self.fill(blocks, change, from, sums);
            for block in blocks {
                let sums = &sums[block.offset - offset..][..block.len()];
                sink.insert_tile(block, block.columns.clone(), sums);
            }
            return;
        }
        // Columns outermost: the values of a tile's columns are read once from memory and stay in the cache for all blocks.
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
                let init = from.map_or(Init::Zero, |from| {
                    let at = block.offset - offset + columns.start - block.columns.start;
                    Init::CopyFrom { sums: &from[at..], stride: block.width() }
                });
                let run = columns.len();
                let sums = &mut sums[..ROWS * run];
                K::accumulate(self.isa, &packed, &tile, init, (sums, run));
                sink.insert_tile(block, columns, sums);
            }
        }
    }

    /// Builds all distances of a step where it keeps them, and nothing more.
    pub fn build(&self, step: Step<'_, K::Sum>) {
        let change = Change { add: &step.add, remove: &step.remove };
        if let Some(keep) = step.keep {
            self.fill(self.layout.blocks(), change, step.from, keep);
        }
    }

    /// Builds the sums of consecutive blocks. Features come in groups that stay in the cache while all blocks pass.
    fn fill(
        &self,
        blocks: &[Block],
        change: Change<'_>,
        from: Option<&[K::Sum]>,
        sums: &mut [K::Sum],
    ) {
        let offset = blocks.first().map_or(0, |block| block.offset);
        let group = (CACHE / (self.layout.stride() * size_of::<K::Value>())).max(16);
        let adds = change.add.chunks(group).map(|add| Change { add, remove: &[] });
        let removes = change.remove.chunks(group).map(|remove| Change { add: &[], remove });
        let changes: Vec<Change<'_>> = adds.chain(removes).collect();
        // An empty change still copies the sums it starts from.
        let changes = if changes.is_empty() { vec![change] } else { changes };
        for (at, change) in changes.into_iter().enumerate() {
            let is_first = at == 0;
            let packed = K::pack(self.isa, self.columns(), change);
            for block in blocks {
                let at = block.offset - offset;
                let tile = Tile { rows: block.rows, columns: block.columns.clone() };
                let init = match from {
                    _ if !is_first => Init::InPlace,
                    Some(from) => Init::CopyFrom { sums: &from[at..], stride: block.width() },
                    None => Init::Zero,
                };
                let to = (&mut sums[at..at + block.len()], block.width());
                K::accumulate(self.isa, &packed, &tile, init, to);
            }
        }
    }
}

impl Distances<Euclidean16> {
    /// The greatest squared distance between two rows under all features, which no subset exceeds.
    pub fn farthest(&self) -> f64 {
        let add: Vec<u32> = (0..self.n_features as u32).collect();
        let packed = Euclidean16::pack(self.isa, self.columns(), Change { add: &add, remove: &[] });
        let mut sums = vec![0.0; ROWS * self.layout.stride()];
        let mut farthest = 0.0f64;
        for block in self.layout.blocks() {
            let tile = Tile { rows: block.rows, columns: block.columns.clone() };
            let sums = &mut sums[..block.len()];
            Euclidean16::accumulate(self.isa, &packed, &tile, Init::Zero, (sums, block.width()));
            for (strip, &first) in sums.chunks_exact(block.width()).zip(&block.first) {
                let run = first.max(block.columns.start)..self.layout.n().max(first);
                let at = run.start - block.columns.start..run.end - block.columns.start;
                farthest = strip[at].iter().copied().fold(farthest, f64::max);
            }
        }
        farthest
    }
}
