//! Partitions of the rows by the levels of columns, and the symmetrical uncertainty of two partitions.

use super::entropy::{Logs, symmetrical_uncertainty};
use crate::base::parallel::Pool;

const WORD: usize = u64::BITS as usize;

/// The partition of the rows of a table by each of its columns.
#[derive(Debug)]
pub struct Partitions {
    words: usize,
    n_samples: usize,
    logs: Logs,
    columns: Vec<Partition>,
}

/// The partition by one column, as a bitmap of rows for each level; a column of one level needs no bitmap.
#[derive(Debug)]
struct Partition {
    /// The rows of each level, one bit each, level after level.
    bits: Box<[u64]>,
    /// The number of rows of each level.
    counts: Box<[u32]>,
    entropy: f64,
}

impl Partitions {
    /// Partitions from the level of each row in each column, counted from 0; a level may be empty.
    pub fn new(columns: Vec<Vec<u32>>, n_samples: usize, logs: Logs, pool: &Pool) -> Self {
        let columns = pool.map(columns, |levels| Partition::new(&levels, &logs));
        Self { words: n_samples.div_ceil(WORD), n_samples, logs, columns }
    }

    /// The number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The number of levels of a column.
    pub fn count(&self, column: usize) -> usize {
        self.columns[column].counts.len()
    }

    /// The symmetrical uncertainty of two columns; 0 if either has a single level.
    pub fn uncertainty(&self, a: usize, b: usize) -> f32 {
        // Float sums depend on the order: one order makes the result symmetric.
        let (a, b) = (&self.columns[a.min(b)], &self.columns[a.max(b)]);
        if a.bits.is_empty() || b.bits.is_empty() {
            return 0.0;
        }
        let mut sum = 0.0;
        let last = b.bits.len() - self.words;
        for (rows, &count) in a.bits.chunks_exact(self.words).zip(&a.counts) {
            // Rows in no other level of `b` are in its last one.
            let mut in_last = count;
            for others in b.bits[..last].chunks_exact(self.words) {
                let both: u32 = rows.iter().zip(others).map(|(x, y)| (x & y).count_ones()).sum();
                in_last -= both;
                sum += self.logs.of(both as usize);
            }
            sum += self.logs.of(in_last as usize);
        }
        let joint = self.logs.entropy_of_sum(self.n_samples, sum);
        symmetrical_uncertainty(a.entropy, b.entropy, joint)
    }
}

impl Partition {
    fn new(levels: &[u32], logs: &Logs) -> Self {
        let n_levels = 1 + levels.iter().max().map_or(0, |&level| level as usize);
        if n_levels == 1 {
            return Self { bits: [].into(), counts: [levels.len() as u32].into(), entropy: 0.0 };
        }
        let words = levels.len().div_ceil(WORD);
        let mut bits = vec![0; n_levels * words];
        let mut counts = vec![0; n_levels];
        for (row, &level) in levels.iter().enumerate() {
            let level = level as usize;
            bits[level * words + row / WORD] |= 1 << (row % WORD);
            counts[level] += 1;
        }
        let entropy = logs.entropy(counts.iter().map(|&count: &u32| count as usize));
        Self { bits: bits.into(), counts: counts.into(), entropy }
    }
}
