//! The latent block model: rows and columns of a table of levels in groups, a distribution of levels for each block.
//!
//! ```text
//! P(y_ij = k | row i in r, column j in c) = θ_rck                      weights π_r of row groups, κ_c of column groups
//! M        π_r = Σ_i s_ir / m,  κ_c = Σ_j z_jc / p,  each 1e-9 at least
//!          N_rck = Σ_ij s_ir z_jc [y_ij = k],  θ_rck = (N_rck + a) / (N_rc. + q a),  a = 1e-3
//! rows     s_ir ∝ π_r exp Σ_ck A_ick ln θ_rck,  A_ick = Σ_j z_jc [y_ij = k]
//! columns  z_jc ∝ κ_c exp Σ_rk B_jrk ln θ_rck,  B_jrk = Σ_i s_ir [y_ij = k]
//! F = Σ N ln θ + Σ s ln π + Σ z ln κ - Σ s ln s - Σ z ln z             a lower bound of the likelihood's logarithm
//! ```
//!
//! A sweep is M, rows, M, columns, M. The M that ends one begins the next. A fit ends when F moves by less than 1e-6 for
//! each cell, or after 200 sweeps. The a, which keeps θ off 0, makes M the best step for F + a Σ ln θ, not for F.
//!
//! G. Govaert, M. Nadif, Clustering with block mixture models, Pattern Recognition 36 (2003),
//! doi:10.1016/S0031-3203(02)00074-2.

use crate::base::cancel;
use crate::base::math;
use crate::base::random::Rng;

/// a, added to every count.
const PRIOR: f64 = 1e-3;
/// The least weight of a group.
const LEAST_SHARE: f64 = 1e-9;
const MOST_SWEEPS: usize = 200;
/// Less movement of the bound, for each cell, ends a fit.
const STILL: f64 = 1e-6;
/// The weight a line gives to the group it starts in; the rest is spread over all.
const START: f64 = 0.9;
/// A weight of less than e to this power is none, which spares most powers: beside the weights, the prior and the least
/// share that it would be added to, rounding hides it.
const NEGLIGIBLE: f64 = -40.0;

/// A table of levels, both ways round.
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
    /// Of columns of equal length with levels below `n_levels`.
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
    /// The likeliest group of each column, of equals the first; some groups may have none.
    pub columns: Vec<usize>,
}

/// Fits `n_row_groups` times `n_groups` blocks, from a start that `rng` draws.
pub fn fit(cells: &Cells, n_row_groups: usize, n_groups: usize, rng: &mut Rng) -> FittedModel {
    let mut model = Model::start(cells, n_row_groups, n_groups, rng);
    let still = STILL * (cells.n_rows * cells.n_columns) as f64;
    let mut bound = f64::NEG_INFINITY;
    for _ in 0..MOST_SWEEPS {
        cancel::check();
        let before = bound;
        bound = model.sweep();
        if (bound - before).abs() < still {
            break;
        }
    }
    FittedModel { bound, columns: model.columns.likeliest() }
}

/// The model between sweeps. Blocks of one side are stored by level, then group of the other side, then own group.
struct Model<'a> {
    rows: Side<'a>,
    columns: Side<'a>,
    /// N, as rows have it.
    counts: Vec<f64>,
    /// ln θ, as rows have it.
    by_row: Vec<f64>,
    /// ln θ, as columns have it.
    by_column: Vec<f64>,
    /// N of each block, all levels together.
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
        // The row statistics are computed anew below: its place is free for N as columns have it.
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

/// Blocks as the other side has them: in each level `first` x `last` becomes `last` x `first`.
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

/// The lines of one side of the table, rows or columns, and the groups they are in.
struct Side<'a> {
    /// The levels, line after line.
    cells: &'a [u8],
    n_lines: usize,
    n_groups: usize,
    /// s or z: how much each line belongs to each group.
    weights: Vec<f64>,
    /// ln π or ln κ.
    shares: Vec<f64>,
    /// -Σ s ln s or -Σ z ln z.
    entropy: f64,
    /// The same and Σ s ln π or Σ z ln κ.
    bound: f64,
    /// A line of A or B.
    sums: Vec<f64>,
}

impl<'a> Side<'a> {
    /// One random line for each group, the others anywhere.
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
        for (place, line) in lines.into_iter().enumerate() {
            let group = if place < n_groups { place } else { rng.below(n_groups) };
            weights[line * n_groups + group] += START;
        }
        let (shares, sums) = (vec![0.0; n_groups], vec![0.0; n_sums]);
        let (entropy, bound) = (0.0, 0.0);
        let mut side = Self { cells, n_lines, n_groups, weights, shares, entropy, bound, sums };
        side.share();
        side
    }

    /// N of the weights as they are.
    fn count(&mut self, other: &Side<'_>, counts: &mut [f64]) {
        counts.fill(0.0);
        let lines = self.cells.chunks_exact(other.n_lines);
        for (line, weights) in lines.zip(self.weights.chunks_exact(self.n_groups)) {
            other.add_up(line, &mut self.sums);
            add_outer(&self.sums, weights, counts);
        }
    }

    /// New weights by ln θ, and the N and π or κ that go with them.
    fn expect(&mut self, other: &Side<'_>, logs: &[f64], counts: &mut [f64]) {
        counts.fill(0.0);
        self.entropy = 0.0;
        let lines = self.cells.chunks_exact(other.n_lines);
        for (line, weights) in lines.zip(self.weights.chunks_exact_mut(self.n_groups)) {
            other.add_up(line, &mut self.sums);
            weights.copy_from_slice(&self.shares);
            for (sum, logs) in self.sums.iter().zip(logs.chunks_exact(self.n_groups)) {
                for (weight, log) in weights.iter_mut().zip(logs) {
                    *weight += sum * log;
                }
            }
            self.entropy += normalize(weights);
            add_outer(&self.sums, weights, counts);
        }
        self.share();
    }

    /// A or B of one line of the other side: the weights of this side's lines, by the level they have there.
    fn add_up(&self, line: &[u8], sums: &mut [f64]) {
        sums.fill(0.0);
        for (&level, weights) in line.iter().zip(self.weights.chunks_exact(self.n_groups)) {
            let sums = &mut sums[level as usize * self.n_groups..][..self.n_groups];
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum += weight;
            }
        }
    }

    /// π or κ, and what this side adds to F beside the cells.
    fn share(&mut self) {
        self.shares.fill(0.0);
        for weights in self.weights.chunks_exact(self.n_groups) {
            for (share, weight) in self.shares.iter_mut().zip(weights) {
                *share += weight;
            }
        }
        self.bound = self.entropy;
        for share in &mut self.shares {
            let total = *share;
            *share = math::ln((total / self.n_lines as f64).max(LEAST_SHARE));
            self.bound += total * *share;
        }
    }

    /// The group each line belongs to most, of equals the first.
    fn likeliest(&self) -> Vec<usize> {
        let first_largest = |weights: &[f64]| {
            (1..weights.len())
                .fold(0, |best, at| if weights[at] > weights[best] { at } else { best })
        };
        self.weights.chunks_exact(self.n_groups).map(first_largest).collect()
    }
}

/// Converts logarithms to weights that add up to 1, and returns their entropy.
fn normalize(weights: &mut [f64]) -> f64 {
    let most = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut total, mut mean) = (0.0, 0.0);
    for weight in weights.iter_mut() {
        let log = *weight - most;
        *weight = if log > NEGLIGIBLE { math::exp(log) } else { 0.0 };
        total += *weight;
        mean += *weight * log;
    }
    for weight in weights.iter_mut() {
        *weight /= total;
    }
    math::ln(total) - mean / total
}

/// Adds each sum times all weights.
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
    fn the_worked_example_ends_at_its_top_or_in_the_symmetric_saddle() {
        let cells = four_by_four();
        let (mut tops, mut saddles) = (0, 0);
        for seed in 0..40 {
            let mut model = Model::start(&cells, 2, 2, &mut rng(seed));
            let bound = (0..MOST_SWEEPS).map(|_| model.sweep()).last().unwrap();
            let fit = fit(&cells, 2, 2, &mut rng(seed));
            // Six decimals are given; the saddle is left so slowly that a fit stops beside it.
            if (bound + 5.549_176).abs() < 5e-7 {
                assert!(
                    model.by_row.iter().any(|ln| (math::exp(*ln) - 0.999_750_125).abs() < 5e-10)
                );
                assert_eq!((fit.columns[0], fit.columns[2]), (fit.columns[1], fit.columns[3]));
                assert_ne!(fit.columns[0], fit.columns[2]);
                tops += 1;
            } else {
                assert!((bound + 11.090_355).abs() < 1e-4, "{bound}");
                saddles += 1;
            }
        }
        // Near the saddle a lean of rows or columns alone dies out: some four of five starts end there.
        assert!(tops >= 4 && saddles >= 20, "{tops} at the top, {saddles} in the saddle");
    }

    #[test]
    fn a_column_equally_near_to_two_groups_goes_to_the_first() {
        let cells = four_by_four();
        let mut columns = Model::start(&cells, 2, 2, &mut rng(0)).columns;
        columns.weights = vec![0.5, 0.5, 0.4, 0.6, 0.6, 0.4, 0.0, 1.0];
        assert_eq!(columns.likeliest(), [0, 1, 0, 1]);
    }

    /// F by its formula, cell after cell.
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
            for (weight, share) in side.weights.iter().zip(side.shares.iter().cycle()) {
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
                // What the steps raise is the bound with the prior in it.
                let now = bound + PRIOR * model.by_row.iter().sum::<f64>();
                prop_assert!(now > before - 1e-8, "{} after {}", now, before);
                before = now;
            }
            for side in [&model.rows, &model.columns] {
                for weights in side.weights.chunks_exact(side.n_groups) {
                    prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                }
            }
        }
    }
}
