//! The latent block model: co-clustering of the rows and columns of a table of levels, with a categorical distribution of
//! levels for each block, fitted by variational expectation maximization.
//!
//! ```text
//! P(y_ij = k | row i in r, column j in c) = θ_rck                      weights π_r of row groups, κ_c of column groups
//! M        π_r = Σ_i s_ir / m,  κ_c = Σ_j z_jc / p,  each at least 1e-9
//!          N_rck = Σ_ij s_ir z_jc [y_ij = k],  θ_rck = (N_rck + a) / (N_rc. + q a),  a = 1e-3
//! rows     s_ir ∝ π_r exp Σ_ck A_ick ln θ_rck,  A_ick = Σ_j z_jc [y_ij = k]
//! columns  z_jc ∝ κ_c exp Σ_rk B_jrk ln θ_rck,  B_jrk = Σ_i s_ir [y_ij = k]
//! F = Σ N ln θ + Σ s ln π + Σ z ln κ - Σ s ln s - Σ z ln z             a lower bound of the log-likelihood
//! ```
//!
//! A sweep is M, rows, M, columns, M; the last M is the first of the next sweep. A fit ends when F changes by less than
//! 1e-6 per cell, or after 200 sweeps. The prior a keeps θ above 0; with it, M maximizes F + a Σ ln θ instead of F.
//!
//! G. Govaert, M. Nadif, Clustering with block mixture models, Pattern Recognition 36 (2003),
//! doi:10.1016/S0031-3203(02)00074-2.

use crate::base::cancel;
use crate::base::math;
use crate::base::random::Rng;

/// a, added to every count.
const PRIOR: f64 = 1e-3;
/// The least π or κ of a group.
const LEAST_SHARE: f64 = 1e-9;
const MAX_SWEEPS: usize = 200;
/// The convergence tolerance of F, per cell.
const TOLERANCE: f64 = 1e-6;
/// The initial weight of a line for its initial group; the rest is distributed over all groups.
const START: f64 = 0.9;
/// A weight below e to this power is set to 0, which saves most exponentials: e^-40 = 4e-18 is lost in rounding beside the
/// largest weight, the prior and the least share.
const NEGLIGIBLE: f64 = -40.0;

/// A table of levels, by row and by column.
#[derive(Debug)]
pub struct Cells {
    /// The number of rows.
    pub n_rows: usize,
    /// The number of columns.
    pub n_columns: usize,
    /// The number of levels of a cell.
    pub n_levels: usize,
    by_row: Vec<u8>,
    by_column: Vec<u8>,
}

impl Cells {
    /// A table from columns of equal length with levels below `n_levels`.
    pub fn new(columns: &[Vec<u32>], n_levels: usize) -> Self {
        let by_column: Vec<u8> = columns.iter().flatten().map(|&level| level as u8).collect();
        let (n_columns, n_rows) = (columns.len(), by_column.len() / columns.len());
        let row = |row: usize| columns.iter().map(move |column| column[row] as u8);
        let by_row = (0..n_rows).flat_map(row).collect();
        Self { n_rows, n_columns, n_levels, by_row, by_column }
    }
}

/// A fitted model.
#[derive(Debug, Clone)]
pub struct FittedModel {
    /// F.
    pub bound: f64,
    /// The most likely group of each column, ties to the first; a group may be empty.
    pub columns: Vec<usize>,
}

/// Fits `n_row_groups` times `n_groups` blocks from a random initialization.
pub fn fit(cells: &Cells, n_row_groups: usize, n_groups: usize, rng: &mut Rng) -> FittedModel {
    let mut model = Model::start(cells, n_row_groups, n_groups, rng);
    let tolerance = TOLERANCE * (cells.n_rows * cells.n_columns) as f64;
    let mut bound = f64::NEG_INFINITY;
    for _ in 0..MAX_SWEEPS {
        cancel::check();
        let before = bound;
        bound = model.sweep();
        if (bound - before).abs() < tolerance {
            break;
        }
    }
    FittedModel { bound, columns: model.columns.most_likely() }
}

/// The model between sweeps. In the layout of a side, blocks are ordered by level, then group of the other side, then group
/// of this side.
struct Model<'a> {
    rows: Side<'a>,
    columns: Side<'a>,
    /// N, in the layout of rows.
    counts: Vec<f64>,
    /// ln θ, in the layout of rows.
    by_row: Vec<f64>,
    /// ln θ, in the layout of columns.
    by_column: Vec<f64>,
    /// The sum of N over the levels of each block.
    totals: Vec<f64>,
}

impl<'a> Model<'a> {
    fn start(cells: &'a Cells, n_row_groups: usize, n_groups: usize, rng: &mut Rng) -> Self {
        let q = cells.n_levels;
        let columns =
            Side::start(&cells.by_column, cells.n_columns, n_groups, q * n_row_groups, rng);
        let rows = Side::start(&cells.by_row, cells.n_rows, n_row_groups, q * n_groups, rng);
        let n_blocks = n_row_groups * n_groups;
        let blocks = || vec![0.0; q * n_blocks];
        let (counts, by_row, by_column) = (blocks(), blocks(), blocks());
        let totals = vec![0.0; n_blocks];
        let mut model = Self { rows, columns, counts, by_row, by_column, totals };
        model.rows.count(&model.columns, &mut model.counts);
        model.estimate();
        model
    }

    /// Rows, M, columns, M; returns F.
    fn sweep(&mut self) -> f64 {
        self.rows.expect(&self.columns, &self.by_row, &mut self.counts);
        self.estimate();
        // `by_row` is recomputed below, so it can hold N in the layout of columns until then.
        self.columns.expect(&self.rows, &self.by_column, &mut self.by_row);
        transpose(&self.by_row, self.rows.n_groups, self.columns.n_groups, &mut self.counts);
        self.estimate();
        let of_cells: f64 = self.counts.iter().zip(&self.by_row).map(|(n, ln)| n * ln).sum();
        of_cells + self.rows.bound + self.columns.bound
    }

    /// θ from N, for both sides.
    fn estimate(&mut self) {
        let n_blocks = self.totals.len();
        let n_levels = self.counts.len() / n_blocks;
        self.totals.fill(n_levels as f64 * PRIOR);
        for counts in self.counts.chunks_exact(n_blocks) {
            for (total, count) in self.totals.iter_mut().zip(counts) {
                *total += count;
            }
        }
        for (log, (count, total)) in
            self.by_row.iter_mut().zip(self.counts.iter().zip(self.totals.iter().cycle()))
        {
            *log = math::ln((count + PRIOR) / total);
        }
        transpose(&self.by_row, self.columns.n_groups, self.rows.n_groups, &mut self.by_column);
    }
}

/// Transposes the blocks of each level from `first` x `last` to `last` x `first`.
fn transpose(blocks: &[f64], first: usize, last: usize, transposed: &mut [f64]) {
    let of_levels =
        blocks.chunks_exact(first * last).zip(transposed.chunks_exact_mut(first * last));
    for (blocks, transposed) in of_levels {
        for a in 0..first {
            for b in 0..last {
                transposed[b * first + a] = blocks[a * last + b];
            }
        }
    }
}

/// The lines (rows or columns) of one side of the table and their weights for groups.
struct Side<'a> {
    /// The levels, line after line.
    cells: &'a [u8],
    n_lines: usize,
    n_groups: usize,
    /// s or z.
    weights: Vec<f64>,
    /// ln π or ln κ.
    log_shares: Vec<f64>,
    /// -Σ s ln s or -Σ z ln z.
    entropy: f64,
    /// The terms of F of this side: `entropy` plus Σ s ln π or Σ z ln κ.
    bound: f64,
    /// A line of A or B.
    sums: Vec<f64>,
}

impl<'a> Side<'a> {
    /// One random line for each group, the others in random groups.
    fn start(
        cells: &'a [u8],
        n_lines: usize,
        n_groups: usize,
        n_sums: usize,
        rng: &mut Rng,
    ) -> Self {
        let mut lines: Vec<usize> = (0..n_lines).collect();
        rng.shuffle(&mut lines);
        let mut weights = vec![(1.0 - START) / n_groups as f64; n_lines * n_groups];
        for (position, line) in lines.into_iter().enumerate() {
            let group = if position < n_groups { position } else { rng.below(n_groups) };
            weights[line * n_groups + group] += START;
        }
        let (log_shares, sums) = (vec![0.0; n_groups], vec![0.0; n_sums]);
        let (entropy, bound) = (0.0, 0.0);
        let mut side = Self { cells, n_lines, n_groups, weights, log_shares, entropy, bound, sums };
        side.update_shares();
        side
    }

    /// N from the current weights.
    fn count(&mut self, other: &Side<'_>, counts: &mut [f64]) {
        counts.fill(0.0);
        let lines = self.cells.chunks_exact(other.n_lines);
        for (line, weights) in lines.zip(self.weights.chunks_exact(self.n_groups)) {
            other.add_up(line, &mut self.sums);
            add_outer(&self.sums, weights, counts);
        }
    }

    /// The E step: new weights from ln θ, with the N and the π or κ of these weights.
    fn expect(&mut self, other: &Side<'_>, logs: &[f64], counts: &mut [f64]) {
        counts.fill(0.0);
        self.entropy = 0.0;
        let lines = self.cells.chunks_exact(other.n_lines);
        for (line, weights) in lines.zip(self.weights.chunks_exact_mut(self.n_groups)) {
            other.add_up(line, &mut self.sums);
            weights.copy_from_slice(&self.log_shares);
            for (sum, logs) in self.sums.iter().zip(logs.chunks_exact(self.n_groups)) {
                for (weight, log) in weights.iter_mut().zip(logs) {
                    *weight += sum * log;
                }
            }
            self.entropy += normalize(weights);
            add_outer(&self.sums, weights, counts);
        }
        self.update_shares();
    }

    /// A or B of one line of the other side: the sums of this side's weights by level in that line.
    fn add_up(&self, line: &[u8], sums: &mut [f64]) {
        sums.fill(0.0);
        for (&level, weights) in line.iter().zip(self.weights.chunks_exact(self.n_groups)) {
            let sums = &mut sums[level as usize * self.n_groups..][..self.n_groups];
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum += weight;
            }
        }
    }

    /// Updates ln π or ln κ and the terms of F of this side.
    fn update_shares(&mut self) {
        self.log_shares.fill(0.0);
        for weights in self.weights.chunks_exact(self.n_groups) {
            for (share, weight) in self.log_shares.iter_mut().zip(weights) {
                *share += weight;
            }
        }
        self.bound = self.entropy;
        for share in &mut self.log_shares {
            let total = *share;
            *share = math::ln((total / self.n_lines as f64).max(LEAST_SHARE));
            self.bound += total * *share;
        }
    }

    /// The most likely group of each line, ties to the first.
    fn most_likely(&self) -> Vec<usize> {
        let first_largest = |weights: &[f64]| {
            (1..weights.len())
                .fold(0, |best, group| if weights[group] > weights[best] { group } else { best })
        };
        self.weights.chunks_exact(self.n_groups).map(first_largest).collect()
    }
}

/// Converts log weights to weights with sum 1 (softmax), and returns their entropy.
fn normalize(weights: &mut [f64]) -> f64 {
    let largest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut total, mut mean) = (0.0, 0.0);
    for weight in weights.iter_mut() {
        let log = *weight - largest;
        *weight = if log > NEGLIGIBLE { math::exp(log) } else { 0.0 };
        total += *weight;
        mean += *weight * log;
    }
    for weight in weights.iter_mut() {
        *weight /= total;
    }
    math::ln(total) - mean / total
}

/// Adds the outer product of sums and weights.
fn add_outer(sums: &[f64], weights: &[f64], counts: &mut [f64]) {
    for (sum, counts) in sums.iter().zip(counts.chunks_exact_mut(weights.len())) {
        for (count, weight) in counts.iter_mut().zip(weights) {
            *count += sum * weight;
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::base::random::{Phase, Rng, Streams};
    use proptest::prelude::*;

    fn rng(seed: u64) -> Rng {
        Streams::new(seed).rng(1, Phase::Groups, 0)
    }

    /// Rows 0 0 1 1, 0 0 1 1, 1 1 0 0, 1 1 0 0.
    pub fn four_by_four() -> Cells {
        let column = |top: u32| vec![top, top, 1 - top, 1 - top];
        Cells::new(&[column(0), column(0), column(1), column(1)], 2)
    }

    #[test]
    fn the_worked_example_ends_at_its_maximum_or_near_the_symmetric_saddle() {
        let cells = four_by_four();
        let (mut maxima, mut saddles) = (0, 0);
        for seed in 0..40 {
            let mut model = Model::start(&cells, 2, 2, &mut rng(seed));
            let bound = (0..MAX_SWEEPS).map(|_| model.sweep()).last().unwrap();
            let fit = fit(&cells, 2, 2, &mut rng(seed));
            // Six decimals are given. F changes so slowly near the saddle that a fit stops there.
            if (bound + 5.549_176).abs() < 5e-7 {
                assert!(
                    model.by_row.iter().any(|ln| (math::exp(*ln) - 0.999_750_125).abs() < 5e-10)
                );
                assert_eq!((fit.columns[0], fit.columns[2]), (fit.columns[1], fit.columns[3]));
                assert_ne!(fit.columns[0], fit.columns[2]);
                maxima += 1;
            } else {
                assert!((bound + 11.090_355).abs() < 1e-4, "{bound}");
                saddles += 1;
            }
        }
        // Near the saddle an asymmetry of rows or columns alone vanishes: about four of five starts end there.
        assert!(maxima >= 4 && saddles >= 20, "{maxima} at the maximum, {saddles} at the saddle");
    }

    #[test]
    fn a_column_with_equal_weights_is_assigned_to_the_first_group() {
        let cells = four_by_four();
        let mut columns = Model::start(&cells, 2, 2, &mut rng(0)).columns;
        columns.weights = vec![0.5, 0.5, 0.4, 0.6, 0.6, 0.4, 0.0, 1.0];
        assert_eq!(columns.most_likely(), [0, 1, 0, 1]);
    }

    /// F by its formula.
    fn naive_bound(model: &Model<'_>, cells: &Cells) -> f64 {
        let (rows, columns) = (&model.rows, &model.columns);
        let mut bound = 0.0;
        for (row, s) in rows.weights.chunks_exact(rows.n_groups).enumerate() {
            for (column, z) in columns.weights.chunks_exact(columns.n_groups).enumerate() {
                let level = cells.by_row[row * cells.n_columns + column] as usize;
                for (r, s) in s.iter().enumerate() {
                    for (c, z) in z.iter().enumerate() {
                        let block = (level * columns.n_groups + c) * rows.n_groups + r;
                        bound += s * z * model.by_row[block];
                    }
                }
            }
        }
        for side in [rows, columns] {
            for (weight, share) in side.weights.iter().zip(side.log_shares.iter().cycle()) {
                bound += if *weight > 0.0 { weight * (share - math::ln(*weight)) } else { 0.0 };
            }
        }
        bound
    }

    proptest! {
        #[test]
        fn a_sweep_never_lowers_the_bound(
            columns in (2usize..12).prop_flat_map(|rows| {
                proptest::collection::vec(proptest::collection::vec(0u32..3, rows), 2..12)
            }),
            n_row_groups in 1usize..5,
            n_groups in 1usize..5,
            seed: u64,
        ) {
            let cells = Cells::new(&columns, 3);
            let n_row_groups = n_row_groups.min(cells.n_rows);
            let n_groups = n_groups.min(cells.n_columns);
            let mut model = Model::start(&cells, n_row_groups, n_groups, &mut rng(seed));
            let mut before = f64::NEG_INFINITY;
            for _ in 0..25 {
                let bound = model.sweep();
                // Both are sums of at most a few thousand terms of size 10: rounding is far below 1e-8.
                prop_assert!((bound - naive_bound(&model, &cells)).abs() < 1e-8);
                // The steps maximize F + a Σ ln θ.
                let with_prior = bound + PRIOR * model.by_row.iter().sum::<f64>();
                prop_assert!(with_prior > before - 1e-8, "{} after {}", with_prior, before);
                before = with_prior;
            }
            for side in [&model.rows, &model.columns] {
                for weights in side.weights.chunks_exact(side.n_groups) {
                    prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                }
            }
        }
    }
}
