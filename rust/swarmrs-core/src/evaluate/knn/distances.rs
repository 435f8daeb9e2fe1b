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
/// Values that stay in its second-level cache (256 KiB or more), in bytes.
const SECOND_CACHE: usize = 192 << 10;
/// Columns of a tile, at least: the kernels sum over so many at once.
const NARROWEST: usize = 64;
/// Columns of a tile, at most.
const WIDEST: usize = 2048;
/// Sums that may be held at once, so that whole rows enter the candidate lists instead of narrow tiles, in bytes.
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

    /// The quantized value of a feature at a place of the layout.
    pub fn value(&self, feature: usize, place: usize) -> f64 {
        self.values[feature * self.layout.stride() + place].into()
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
        let width = tile_width::<K>(change);
        // Lists of tiles are merged with those of their rows once for each tile: 20 % of the work at 64 columns.
        let is_narrow = width == NARROWEST && total * size_of::<K::Sum>() <= WHOLE;
        let mut own = Vec::new();
        let whole = match keep {
            Some(keep) => Some(keep),
            None if is_narrow => {
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
        let packed = K::pack(self.isa, self.columns(), change);
        let mut sums = vec![K::Sum::default(); ROWS * width];
        for start in (0..self.layout.stride()).step_by(width) {
            for block in blocks {
                let Some(columns) = within(block, start..start + width) else { continue };
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

    /// Builds the sums of consecutive blocks, tile by tile: the values of a tile's columns stay in the cache while all blocks
    /// pass. Features come in groups, so that those of the narrowest tile fit the second-level cache. A group costs one
    /// more pass over all sums; with 20 features to a group instead of 1536, 569 x 2048 takes 2.5 times as long.
    fn fill(
        &self,
        blocks: &[Block],
        change: Change<'_>,
        from: Option<&[K::Sum]>,
        sums: &mut [K::Sum],
    ) {
        let offset = blocks.first().map_or(0, |block| block.offset);
        let group = SECOND_CACHE / (NARROWEST * size_of::<K::Value>());
        let (mut add, mut remove) = (change.add, change.remove);
        let mut is_first = true;
        // An empty change still copies the sums it starts from.
        while is_first || !add.is_empty() || !remove.is_empty() {
            let (first_add, more_add) = add.split_at(add.len().min(group));
            let room = group - first_add.len();
            let (first_remove, more_remove) = remove.split_at(remove.len().min(room));
            let change = Change { add: first_add, remove: first_remove };
            (add, remove) = (more_add, more_remove);
            let packed = K::pack(self.isa, self.columns(), change);
            let width = tile_width::<K>(change);
            for start in (0..self.layout.stride()).step_by(width) {
                for block in blocks {
                    let Some(columns) = within(block, start..start + width) else { continue };
                    let at = block.offset - offset + columns.start - block.columns.start;
                    let end = block.offset - offset + block.len();
                    let init = match from {
                        _ if !is_first => Init::InPlace,
                        Some(from) => Init::CopyFrom { sums: &from[at..], stride: block.width() },
                        None => Init::Zero,
                    };
                    let tile = Tile { rows: block.rows, columns };
                    let to = (&mut sums[at..end], block.width());
                    K::accumulate(self.isa, &packed, &tile, init, to);
                }
            }
            is_first = false;
        }
    }
}

/// Columns of a tile whose values, of the features of a change, stay in the cache.
fn tile_width<K: Kernel>(change: Change<'_>) -> usize {
    let column_bytes = (change.add.len() + change.remove.len()) * size_of::<K::Value>();
    (CACHE / column_bytes.max(1)).clamp(NARROWEST, WIDEST) / NARROWEST * NARROWEST
}

/// The columns of a block that a tile has.
fn within(block: &Block, tile: Range<usize>) -> Option<Range<usize>> {
    let columns = block.columns.start.max(tile.start)..block.columns.end.min(tile.end);
    (!columns.is_empty()).then_some(columns)
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

    /// An upper bound of [`Self::farthest`] from the rows' distances to their centroid: no two rows are further apart than
    /// the two greatest of these together. As much as twice too great, but n d operations instead of n^2 d / 2.
    pub fn farthest_at_most(&self) -> f64 {
        let n = self.layout.n();
        let mut squares = vec![0.0; n];
        for column in self.values.chunks_exact(self.layout.stride()) {
            cancel::check();
            let column = &column[..n];
            let sum: u64 = column.iter().map(|&value| u64::from(value)).sum();
            let center = sum as f64 / n as f64;
            for (square, &value) in squares.iter_mut().zip(column) {
                *square += (f64::from(value) - center).powi(2);
            }
        }
        let (mut first, mut second) = (0.0f64, 0.0f64);
        for square in squares {
            second = second.max(square.min(first));
            first = first.max(square);
        }
        // The rounding errors of d sums are far below 1e-6.
        (first.sqrt() + second.sqrt()).powi(2) * (1.0 + 1e-6)
    }
}
