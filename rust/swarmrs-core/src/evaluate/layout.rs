//! The layout of distances: the pairs of rows that are compared, in blocks.
//!
//! Rows are held sorted by fold, so that all a row is compared with lies behind its own fold: each pair is computed
//! once and serves both its rows. Given splits need not be a partition; there, each test row is compared with all rows
//! and those that do not train for it are blocked.

use crate::data::folds::{Folds, Split};
use crate::simd::{LANES, NO_KEY, ROWS};
use std::ops::Range;

/// Rows that are compared with the same run of columns.
#[derive(Debug, Clone)]
pub struct Block {
    /// The places of the rows in the columns of values.
    pub rows: [u32; ROWS],
    /// The caller's index of each row.
    pub index: [u32; ROWS],
    /// The first column each row is compared with.
    pub first: [usize; ROWS],
    /// The columns whose distances are held.
    pub columns: Range<usize>,
    /// The offset of the block's distances.
    pub offset: usize,
    /// The block's group of keys.
    pub group: usize,
    /// Offset of the block's mask in [`Layout::masks`], for given splits.
    mask: usize,
}

impl Block {
    /// The number of distances of each row.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// The number of distances of the block.
    pub fn len(&self) -> usize {
        ROWS * self.columns.len()
    }
}

/// The pairs of rows of a table that some folds compare.
#[derive(Debug, Clone)]
pub struct Layout {
    n: usize,
    /// The caller's row at each place, padded.
    rows: Vec<u32>,
    blocks: Vec<Block>,
    /// For each run of columns that rows of a split are compared with, the mask of those that do not train; empty for a
    /// partition.
    masks: Vec<f64>,
    /// The group and the lane of each case.
    places: Vec<(u32, u32)>,
    n_groups: usize,
    pairs: u64,
}

impl Layout {
    /// The layout for `n` rows in these folds.
    pub fn new(folds: &Folds, n: usize) -> Self {
        match folds {
            Folds::Partition { fold_of, .. } => Self::partition(fold_of),
            Folds::Splits(splits) => Self::splits(splits, n),
        }
    }

    fn partition(fold_of: &[u32]) -> Self {
        let n = fold_of.len();
        let stride = n.next_multiple_of(LANES);
        let mut rows: Vec<u32> = (0..n as u32).collect();
        rows.sort_by_key(|&row| fold_of[row as usize]);
        // Behind the last row of its fold; padding is compared with nothing.
        let mut first = vec![stride; stride];
        let mut end = n;
        for at in (0..n).rev() {
            if at + 1 < n && fold_of[rows[at] as usize] != fold_of[rows[at + 1] as usize] {
                end = at + 1;
            }
            first[at] = end;
        }
        rows.resize(stride, 0);
        let mut blocks = Vec::new();
        let mut offset = 0;
        for group in 0..n.div_ceil(ROWS) {
            let at: [usize; ROWS] = std::array::from_fn(|lane| group * ROWS + lane);
            if first[at[0]] >= n {
                break;
            }
            let block = Block {
                rows: at.map(|at| at as u32),
                index: at.map(|at| rows[at]),
                first: at.map(|at| first[at]),
                columns: first[at[0]] / LANES * LANES..stride,
                offset,
                group,
                mask: 0,
            };
            offset += block.len();
            blocks.push(block);
        }
        let places = (0..n as u32).map(|at| (at / ROWS as u32, at % ROWS as u32)).collect();
        let pairs = first[..n].iter().map(|&first| (n - first) as u64).sum();
        let n_groups = stride / ROWS;
        Self { n, rows, blocks, masks: Vec::new(), places, n_groups, pairs }
    }

    fn splits(splits: &[Split], n: usize) -> Self {
        let stride = n.next_multiple_of(LANES);
        let mut rows: Vec<u32> = (0..n as u32).collect();
        rows.resize(stride, 0);
        let (mut blocks, mut masks, mut places) = (Vec::new(), Vec::new(), Vec::new());
        let (mut pairs, mut offset, mut n_groups) = (0, 0, 0);
        for Split { train, test } in splits {
            let runs: Vec<(Range<usize>, usize)> = compared(train)
                .into_iter()
                .map(|columns| {
                    let mask = masks.len();
                    masks.resize(mask + columns.len(), NO_KEY);
                    let first = train.partition_point(|&row| (row as usize) < columns.start);
                    let rows = train[first..].iter().map(|&row| row as usize);
                    for row in rows.take_while(|row| columns.contains(row)) {
                        masks[mask + row - columns.start] = 0.0;
                    }
                    (columns, mask)
                })
                .collect();
            pairs += train.len() as u64 * test.len() as u64;
            for some in test.chunks(ROWS) {
                let row = |lane: usize| some.get(lane).copied();
                for (columns, mask) in &runs {
                    let block = Block {
                        rows: std::array::from_fn(|lane| row(lane).unwrap_or(0)),
                        index: std::array::from_fn(|lane| row(lane).unwrap_or(0)),
                        first: std::array::from_fn(|lane| row(lane).map_or(stride, |_| 0)),
                        columns: columns.clone(),
                        offset,
                        group: n_groups,
                        mask: *mask,
                    };
                    offset += block.len();
                    blocks.push(block);
                }
                places.extend((0..some.len() as u32).map(|lane| (n_groups as u32, lane)));
                n_groups += 1;
            }
        }
        Self { n, rows, blocks, masks, places, n_groups, pairs }
    }

    /// The number of rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The rows with padding.
    pub fn stride(&self) -> usize {
        self.rows.len()
    }

    /// The caller's row at each place, padding left out.
    pub fn rows(&self) -> &[u32] {
        &self.rows[..self.n]
    }

    /// The caller's row at each place; padding has some row's.
    pub fn rows_padded(&self) -> &[u32] {
        &self.rows
    }

    /// All blocks, in ascending order of their distances' offsets.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The number of distances.
    pub fn n_sums(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.offset + block.len())
    }

    /// The number of pairs of rows that are compared.
    pub fn pairs(&self) -> u64 {
        self.pairs
    }

    /// The number of groups of keys.
    pub fn n_groups(&self) -> usize {
        self.n_groups
    }

    /// The group and the lane of a case.
    pub fn place(&self, case: usize) -> (usize, usize) {
        let (group, lane) = self.places[case];
        (group as usize, lane as usize)
    }

    /// Additive mask of a block's columns: [`NO_KEY`] for those it is not compared with, else 0; none for a partition, where
    /// its first columns tell.
    pub fn mask(&self, block: &Block) -> Option<&[f64]> {
        self.masks.get(block.mask..block.mask + block.width()).filter(|_| !self.is_symmetric())
    }

    /// True if each pair serves both its rows.
    pub fn is_symmetric(&self) -> bool {
        self.masks.is_empty()
    }

    /// The blocks in `count` runs of about equal work.
    pub fn parts(&self, count: usize) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let mut start = 0;
        for part in 1..=count {
            let target = self.n_sums() * part / count;
            let end = self.blocks.partition_point(|block| block.offset + block.len() <= target);
            if end > start {
                parts.push(start..end);
                start = end;
            }
        }
        parts
    }
}

/// Columns that nobody is compared with are passed over where so many stand together.
const WORTH: usize = 64;

/// The runs of columns in which some of the rows stand, whole lanes at a time; rows ascend.
fn compared(rows: &[u32]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for &row in rows {
        let start = row as usize / LANES * LANES;
        match runs.last_mut() {
            Some(run) if start < run.end + WORTH => run.end = start + LANES,
            _ => runs.push(start..start + LANES),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::folds::FoldSpec;
    use proptest::prelude::*;

    fn check(codes: &[u32], spec: &FoldSpec) {
        let folds = Folds::draw(spec, codes, 3).unwrap().0;
        let layout = Layout::new(&folds, codes.len());
        let mut got = Vec::new();
        for block in layout.blocks() {
            for lane in 0..ROWS {
                let columns =
                    block.first[lane].max(block.columns.start)..block.columns.end.min(layout.n());
                for column in columns {
                    let is_compared =
                        |blocked: &[f64]| blocked[column - block.columns.start] == 0.0;
                    if layout.mask(block).is_none_or(is_compared) {
                        let pair = (block.index[lane], layout.rows()[column]);
                        got.push(pair);
                        if layout.is_symmetric() {
                            got.push((pair.1, pair.0));
                        }
                    }
                }
            }
        }
        let mut expected = Vec::new();
        for split in folds.splits() {
            for &test in &split.test {
                expected.extend(split.train.iter().map(|&train| (test, train)));
            }
        }
        got.sort_unstable();
        expected.sort_unstable();
        assert_eq!(got, expected);
        let sides = if layout.is_symmetric() { 2 } else { 1 };
        assert_eq!(layout.pairs() * sides, expected.len() as u64);
        for count in 1..5 {
            let blocks: Vec<usize> = layout.parts(count).into_iter().flatten().collect();
            assert!(blocks.into_iter().eq(0..layout.blocks().len()));
        }
    }

    proptest! {
        #[test]
        fn every_pair_is_compared_once(codes in proptest::collection::vec(0u32..3, 4..70), k in 2usize..5, seed: u64) {
            check(&codes, &FoldSpec::Loo);
            check(&codes, &FoldSpec::Kfold { k: k.min(codes.len()), shuffle: true, seed });
            let half = codes.len() as u32 / 2;
            let (a, b): (Vec<u32>, Vec<u32>) = ((0..half).collect(), (half..codes.len() as u32).collect());
            // The second twice, so that it is no partition.
            let splits = vec![(a.clone(), b.clone()), (b.clone(), a.clone()), (b, a)];
            check(&codes, &FoldSpec::Splits { splits });
        }

        #[test]
        fn stretches_without_training_rows_are_passed_over(
            starts in proptest::collection::btree_set(0u32..40, 1..4), long in 1u32..9, test in 0u32..900,
        ) {
            let codes = vec![0; 1000];
            let train: Vec<u32> =
                starts.iter().flat_map(|start| start * 25..start * 25 + long).filter(|&row| row != test).collect();
            prop_assume!(!train.is_empty());
            let splits = FoldSpec::Splits { splits: vec![(train.clone(), vec![test])] };
            check(&codes, &splits);
            let layout = Layout::new(&Folds::draw(&splits, &codes, 3).unwrap().0, 1000);
            let held: usize = layout.blocks().iter().map(Block::width).sum();
            prop_assert!(held <= starts.len() * (WORTH + 2 * LANES + 8));
        }
    }
}
