//! A table in levels: a set of rows for each level of each column, and what columns tell about the class.

use super::discretize::{self, Classes};
use super::entropy::{Logs, information, symmetric_uncertainty};
use crate::parallel::Pool;

const WORD: usize = u64::BITS as usize;

/// Every column of a table, discretized.
#[derive(Debug)]
pub struct Levels {
    words: usize,
    n_samples: usize,
    logs: Logs,
    columns: Vec<Column>,
}

/// One column. A column of one level tells nothing and keeps no rows.
#[derive(Debug)]
struct Column {
    /// The rows of each level, one bit each, level after level.
    bits: Box<[u64]>,
    /// How many rows each level has.
    counts: Box<[u32]>,
    entropy: f64,
    information: f64,
    relevance: f32,
}

impl Levels {
    /// Discretizes `values`, column after column, by the class code of each row.
    pub fn new(values: &[f64], codes: &[u32], n_classes: usize, pool: &Pool) -> Self {
        let n_samples = codes.len();
        let logs = Logs::new(n_samples);
        let classes = Classes { codes, count: n_classes };
        let mut counts = vec![0; n_classes];
        for &code in codes {
            counts[code as usize] += 1;
        }
        let of_class = logs.entropy(counts);
        let columns = values.chunks_exact(n_samples).collect();
        let columns = pool.map(columns, |column| Column::new(column, classes, of_class, &logs));
        Self { words: n_samples.div_ceil(WORD), n_samples, logs, columns }
    }

    /// How many columns there are.
    pub fn n_features(&self) -> usize {
        self.columns.len()
    }

    /// How many levels a column has; one is as good as none.
    pub fn count(&self, feature: usize) -> usize {
        self.columns[feature].counts.len()
    }

    /// The symmetric uncertainty of a column and the class.
    pub fn relevance(&self, feature: usize) -> f32 {
        self.columns[feature].relevance
    }

    /// The information a column has about the class, in bits.
    pub fn information(&self, feature: usize) -> f64 {
        self.columns[feature].information
    }

    /// The symmetric uncertainty of two columns, computed afresh; 0 where one has a single level.
    pub fn uncertainty(&self, a: usize, b: usize) -> f32 {
        // One order for both ways round: sums of floats have one.
        let (a, b) = (&self.columns[a.min(b)], &self.columns[a.max(b)]);
        if a.bits.is_empty() || b.bits.is_empty() {
            return 0.0;
        }
        let mut sum = 0.0;
        let last = b.bits.len() - self.words;
        for (rows, &count) in a.bits.chunks_exact(self.words).zip(&a.counts) {
            // What is in no other level of `b` is in its last.
            let mut rest = count;
            for others in b.bits[..last].chunks_exact(self.words) {
                let both: u32 = rows.iter().zip(others).map(|(x, y)| (x & y).count_ones()).sum();
                rest -= both;
                sum += self.logs.of(both as usize);
            }
            sum += self.logs.of(rest as usize);
        }
        let joint = self.logs.entropy_of_sum(self.n_samples, sum);
        symmetric_uncertainty(a.entropy, b.entropy, joint)
    }
}

impl Column {
    fn new(column: &[f64], classes: Classes<'_>, of_class: f64, logs: &Logs) -> Self {
        let levels = discretize::levels(column, classes, logs);
        let n_levels = 1 + levels.iter().max().map_or(0, |&level| level as usize);
        if n_levels == 1 {
            let counts = [column.len() as u32].into();
            return Self {
                bits: [].into(),
                counts,
                entropy: 0.0,
                information: 0.0,
                relevance: 0.0,
            };
        }
        let words = column.len().div_ceil(WORD);
        let mut bits = vec![0; n_levels * words];
        let mut counts = vec![0; n_levels];
        let mut joint = vec![0; n_levels * classes.count];
        for (row, (&level, &code)) in levels.iter().zip(classes.codes).enumerate() {
            let level = level as usize;
            bits[level * words + row / WORD] |= 1 << (row % WORD);
            counts[level] += 1;
            joint[level * classes.count + code as usize] += 1;
        }
        let entropy = logs.entropy(counts.iter().map(|&count: &u32| count as usize));
        let joint = logs.entropy(joint);
        Self {
            bits: bits.into(),
            counts: counts.into(),
            entropy,
            information: information(entropy, of_class, joint),
            relevance: symmetric_uncertainty(entropy, of_class, joint),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A table whose columns lean on the class, the first ones most.
    fn table(rows: &[(u32, Vec<u8>)]) -> (Vec<f64>, Vec<u32>) {
        let codes: Vec<u32> = rows.iter().map(|(code, _)| *code).collect();
        let columns = (0..rows[0].1.len()).flat_map(|feature| {
            rows.iter().map(move |(code, noise)| {
                f64::from(noise[feature] % (2 + 4 * feature as u8)) + f64::from(3 * code)
            })
        });
        (columns.collect(), codes)
    }

    proptest! {
        #[test]
        fn uncertainty_is_that_of_the_counted_levels(
            rows in proptest::collection::vec((0u32..3, proptest::collection::vec(0u8..40, 5)), 2..150),
        ) {
            let (values, codes) = table(&rows);
            let levels = Levels::new(&values, &codes, 3, &Pool::new(1));
            let logs = Logs::new(codes.len());
            let classes = Classes { codes: &codes, count: 3 };
            let of = |feature: usize| {
                let column = &values[feature * codes.len()..][..codes.len()];
                discretize::levels(column, classes, &logs)
            };
            // Counts of equal entries, whatever the order of levels.
            let entropy = |keys: Vec<u64>| {
                let mut sorted = keys;
                sorted.sort_unstable();
                let n = sorted.len() as f64;
                sorted.chunk_by(|a, b| a == b).map(|chunk| {
                    let share = chunk.len() as f64 / n;
                    -share * crate::math::log2(share)
                }).sum::<f64>()
            };
            let naive = |a: &[u32], b: &[u32]| {
                let single = |x: &[u32]| entropy(x.iter().map(|&x| u64::from(x)).collect());
                let joint = entropy(a.iter().zip(b).map(|(&a, &b)| u64::from(a) << 32 | u64::from(b)).collect());
                let most = single(a) + single(b);
                if most == 0.0 { 0.0 } else { 2.0 * (most - joint) / most }
            };
            for a in 0..5 {
                prop_assert!((f64::from(levels.relevance(a)) - naive(&of(a), &codes)).abs() < 1e-6);
                prop_assert_eq!(levels.relevance(a) > 0.0, levels.count(a) > 1);
                prop_assert_eq!(levels.count(a), 1 + *of(a).iter().max().unwrap() as usize);
                for b in 0..5 {
                    let found = levels.uncertainty(a, b);
                    prop_assert_eq!(found.to_bits(), levels.uncertainty(b, a).to_bits());
                    prop_assert!((0.0..=1.0).contains(&found));
                    prop_assert!((f64::from(found) - naive(&of(a), &of(b))).abs() < 1e-6);
                }
            }
        }

        #[test]
        fn threads_change_nothing(
            rows in proptest::collection::vec((0u32..3, proptest::collection::vec(0u8..40, 5)), 2..60),
        ) {
            let (values, codes) = table(&rows);
            let of = |threads| format!("{:?}", Levels::new(&values, &codes, 3, &Pool::new(threads)));
            prop_assert_eq!(of(1), of(2));
        }
    }
}
