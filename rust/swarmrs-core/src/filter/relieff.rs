//! `ReliefF`: weights of features that differ between neighbors of different classes and agree between neighbors of one.
//!
//! ```text
//! diff(A, R, S) = |A(R) - A(S)| / (max A - min A)             0 for a constant feature
//! d(R, S)       = Σ_A diff(A, R, S)
//! W(A)          = 1/n Σ_R [ Σ_{C ≠ class(R)} P(C) / (1 - P(class(R))) · mean over M in misses(R, C) of diff(A, R, M)
//!                           - mean over H in hits(R) of diff(A, R, H) ]
//! ```
//!
//! hits(R) are the k nearest neighbors of R by d in its own class, without R itself; misses(R, C) those in class C. Ties
//! go to the lower row. R runs over all n rows instead of a random sample. A class with fewer than k rows gives all its
//! rows; without any the mean is 0.
//!
//! I. Kononenko, Estimating attributes: analysis and extensions of RELIEF, ECML (1994), doi:10.1007/3-540-57868-4_57;
//! M. Robnik-Šikonja, I. Kononenko, Theoretical and empirical analysis of `ReliefF` and `RReliefF`, Machine Learning 53
//! (2003), doi:10.1023/A:1025667309714.

use super::anova::{ClassRows, columns_per_item};
use super::discretize::Labels;
use crate::base::cancel;
use crate::base::parallel::Pool;
use std::ops::Range;

/// Rows of a block: SIMD lanes of the distance sums.
const LANES: usize = 8;
/// Rows whose distances to a block are summed together: 2 x 8 sums of 64 bits fill half of sixteen 128-bit registers.
const ROWS: usize = 2;

/// The weight W of each column with `k` neighbors of each class, from -1 to 1; a feature with a positive weight is relevant.
///
/// Columns must have a range of 0 or from 2^-400 to 2^400, as in a [`Dataset`](crate::data::dataset::Dataset). The time is
/// quadratic in the number of rows.
pub fn relieff(columns: &[&[f64]], classes: Labels<'_>, k: usize, pool: &Pool) -> Vec<f64> {
    let n = classes.codes.len();
    let items = columns.chunks(columns_per_item(n)).collect();
    let scaled = pool.map(items, |columns: &[&[f64]]| {
        columns.iter().map(|column| scaled(column)).collect::<Vec<_>>()
    });
    let scaled: Vec<Vec<f64>> = scaled.into_iter().flatten().collect();
    let classes = Classes::new(classes, k);
    let blocks = Blocks::new(&scaled, n);
    let neighbors = pool.map((0..n.div_ceil(LANES)).collect(), |block| {
        let rows = block * LANES..n.min((block + 1) * LANES);
        classes.neighbors(&blocks, rows)
    });
    let neighbors: Vec<Vec<u32>> = neighbors.into_iter().flatten().collect();
    pool.map(scaled, |column| classes.weight(&column, &neighbors))
}

/// Min-max scaling to 0..1; a constant column becomes 0.
fn scaled(column: &[f64]) -> Vec<f64> {
    let low = column.iter().copied().fold(f64::INFINITY, f64::min);
    let high = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = if low < high { high - low } else { 1.0 };
    column.iter().map(|x| (x - low) / range).collect()
}

/// The scaled table in blocks of [`LANES`] rows, each stored feature by feature.
struct Blocks {
    values: Vec<[f64; LANES]>,
    n_features: usize,
}

impl Blocks {
    fn new(columns: &[Vec<f64>], n: usize) -> Self {
        let n_features = columns.len();
        let mut values = vec![[0.0; LANES]; n.div_ceil(LANES) * n_features];
        for (feature, column) in columns.iter().enumerate() {
            cancel::check();
            for (block, rows) in column.chunks(LANES).enumerate() {
                values[block * n_features + feature][..rows.len()].copy_from_slice(rows);
            }
        }
        Self { values, n_features }
    }

    fn block(&self, block: usize) -> &[[f64; LANES]] {
        &self.values[block * self.n_features..][..self.n_features]
    }

    /// The distances of [`ROWS`] rows of the block `from`, starting at row `first` of the block, to all rows of the block
    /// `to`. Features are summed in order.
    fn distances(&self, from: usize, first: usize, to: usize) -> [[f64; LANES]; ROWS] {
        let mut sums = [[0.0; LANES]; ROWS];
        for (from, to) in self.block(from).iter().zip(self.block(to)) {
            for (sums, x) in sums.iter_mut().zip(&from[first..first + ROWS]) {
                for (sum, y) in sums.iter_mut().zip(to) {
                    *sum += (x - y).abs();
                }
            }
        }
        sums
    }
}

/// The rows of each class, and the number of neighbors per class.
struct Classes {
    rows: Vec<Vec<u32>>,
    /// The class of each row; classes without rows are not counted.
    class_of: Vec<usize>,
    k: usize,
}

impl Classes {
    fn new(classes: Labels<'_>, k: usize) -> Self {
        let rows: Vec<Vec<u32>> = ClassRows::new(classes).iter().map(<[u32]>::to_vec).collect();
        let mut class_of = vec![0; classes.codes.len()];
        for (class, rows) in rows.iter().enumerate() {
            for &row in rows {
                class_of[row as usize] = class;
            }
        }
        // No class has more rows than the table.
        Self { rows, k: k.min(class_of.len()), class_of }
    }

    /// The nearest neighbors of each row of a block, class by class, ascending within a class.
    fn neighbors(&self, blocks: &Blocks, rows: Range<usize>) -> Vec<Vec<u32>> {
        let (block, n) = (rows.start / LANES, self.class_of.len());
        let mut found = Vec::with_capacity(LANES);
        let mut distances = [const { Vec::new() }; ROWS];
        for first in (0..rows.len()).step_by(ROWS) {
            for distances in &mut distances {
                distances.clear();
            }
            for to in 0..n.div_ceil(LANES) {
                cancel::check();
                let sums = blocks.distances(block, first, to);
                for (all, sums) in distances.iter_mut().zip(sums) {
                    all.extend(sums);
                }
            }
            for (row, distances) in (rows.start + first..rows.end).zip(&distances) {
                found.push(self.nearest(row, distances));
            }
        }
        found
    }

    fn nearest(&self, row: usize, distances: &[f64]) -> Vec<u32> {
        let mut nearest = Vec::with_capacity(self.rows.len() * self.k);
        let mut others: Vec<(f64, u32)> = Vec::new();
        for rows in &self.rows {
            others.clear();
            let of_class = rows.iter().filter(|&&other| other as usize != row);
            others.extend(of_class.map(|&other| (distances[other as usize], other)));
            if others.len() > self.k && self.k > 0 {
                others.select_nth_unstable_by(self.k - 1, |a, b| {
                    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
                });
            }
            others.truncate(self.k);
            let start = nearest.len();
            nearest.extend(others.iter().map(|(_, other)| other));
            nearest[start..].sort_unstable();
        }
        nearest
    }

    /// The weight W of a scaled column, from the neighbors of each row.
    fn weight(&self, column: &[f64], neighbors: &[Vec<u32>]) -> f64 {
        let n = column.len() as f64;
        let mut sum = 0.0;
        for ((x, &own), mut neighbors) in
            column.iter().zip(&self.class_of).zip(neighbors.iter().map(Vec::as_slice))
        {
            let n_others = n - self.rows[own].len() as f64;
            for (class, rows) in self.rows.iter().enumerate() {
                let is_own = class == own;
                let count = (rows.len() - usize::from(is_own)).min(self.k);
                let (of_class, of_later_classes) = neighbors.split_at(count);
                neighbors = of_later_classes;
                if count == 0 {
                    continue;
                }
                let differences: f64 =
                    of_class.iter().map(|&other| (x - column[other as usize]).abs()).sum();
                let factor = if is_own { -1.0 } else { rows.len() as f64 / n_others };
                sum += factor * differences / count as f64;
            }
        }
        sum / n
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(columns: &[Vec<f64>], codes: &[u32], k: usize, threads: usize) -> Vec<f64> {
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        relieff(&columns, Labels { codes, count: 4 }, k, &Pool::new(threads))
    }

    #[test]
    fn a_worked_example_has_its_value() {
        // k = 1. Rows 0 .1 | .8 1; hits differ by .1, .1, .2, .2; nearest misses of rows 0 and 1 are row 2 (.8, .7),
        // those of rows 2 and 3 are row 1 (.7, .9): (.8 + .7 + .7 + .9 - .6) / 4.
        let found = of(&[vec![0.0, 0.1, 0.8, 1.0], vec![3.0; 4]], &[0, 0, 1, 1], 1, 1);
        assert!((found[0] - 2.5 / 4.0).abs() < 1e-15, "{found:?}");
        assert_eq!(found[1], 0.0);
    }

    #[test]
    fn a_class_of_one_row_has_no_hits() {
        let found = of(&[vec![0.0, 0.25, 1.0]], &[0, 0, 1], 5, 1);
        // Misses 1, .75 and (1 + .75) / 2; hits .25 and .25.
        assert_eq!(found, [(1.0 + 0.75 + 0.875 - 0.5) / 3.0]);
    }

    /// The definition.
    fn naive(columns: &[Vec<f64>], codes: &[u32], k: usize) -> Vec<f64> {
        let n = codes.len();
        let diff = |column: &[f64], a: usize, b: usize| {
            let low = column.iter().copied().fold(f64::INFINITY, f64::min);
            let high = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if low == high { 0.0 } else { (column[a] - column[b]).abs() / (high - low) }
        };
        let share =
            |class: u32| codes.iter().filter(|&&code| code == class).count() as f64 / n as f64;
        let mut weights = vec![0.0; columns.len()];
        for row in 0..n {
            for class in 0..4 {
                let mut nearest: Vec<(f64, usize)> = (0..n)
                    .filter(|&other| other != row && codes[other] == class)
                    .map(|other| (columns.iter().map(|x| diff(x, row, other)).sum(), other))
                    .collect();
                nearest.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                nearest.truncate(k);
                let factor = if class == codes[row] {
                    -1.0
                } else {
                    share(class) / (1.0 - share(codes[row]))
                };
                for (weight, column) in weights.iter_mut().zip(columns) {
                    let sum: f64 = nearest.iter().map(|&(_, other)| diff(column, row, other)).sum();
                    *weight += factor * sum / nearest.len().max(1) as f64 / n as f64;
                }
            }
        }
        weights
    }

    proptest! {
        #[test]
        fn weights_match_the_definition(
            rows in proptest::collection::vec((0u32..4, proptest::collection::vec(0i32..1000, 5)), 2..40),
            k in 1usize..12,
        ) {
            let codes: Vec<u32> = rows.iter().map(|(code, _)| *code).collect();
            prop_assume!(codes.iter().any(|&code| code != codes[0]));
            // A range of 1024 makes scaled values and all sums exact, so ties do not depend on the order of summation.
            let columns: Vec<Vec<f64>> = (0..5).map(|f| {
                let mut column: Vec<f64> = rows.iter().map(|(_, x)| f64::from(x[f])).collect();
                (column[0], column[1]) = (0.0, 1024.0);
                column
            }).collect();
            let found = of(&columns, &codes, k, 1);
            for (found, expected) in found.iter().zip(naive(&columns, &codes, k)) {
                prop_assert!((found - expected).abs() < 1e-12, "{found} {expected}");
            }
            prop_assert_eq!(found, of(&columns, &codes, k, 3));
        }
    }
}
