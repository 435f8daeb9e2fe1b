//! Dense linear algebra of a ridge fit, in plain Rust that the compiler vectorizes: every sum has one order, whatever the
//! width of the vectors, and no product is fused with it.
//!
//! A symmetric positive definite matrix is `UᵀDU` with ones on the diagonal of the upper triangle U and a diagonal D: square
//! roots, for which each row would have to wait, are not needed.
//!
//! Matrices are row after row, a stride apart. Sizes, widths and strides are multiples of 4: rows are padded with those of
//! the identity, columns with zeros. Four rows at a time share what they load: with 2 x 4 sums of 4 numbers under way,
//! the processor does not wait for an addition.

// Functions are compiled for the instructions of their caller only within it.
#![allow(clippy::inline_always)]

/// Rows that are worked on together.
const PANEL: usize = 4;

/// Four rows and columns of U.
type Corner = [[f64; PANEL]; PANEL];

/// Rows that are done, a stride apart, and their factors, which four columns of U hold from one on, a stride apart.
type Above<'a> = ((&'a [f64], usize), (&'a [f64], usize));

/// Solves Ax = B for a symmetric positive definite matrix A, of which the entries on and right of the diagonal count, and
/// right-hand sides B behind it. Leaves x in the place of B, U and `U⁻ᵀB` over D in `upper`, of the same stride, and the inverses
/// of D in `inverses`, `A = UᵀDU`.
#[inline(always)]
pub fn solve(rows: &mut [f64], stride: usize, upper: &mut [f64], inverses: &mut [f64]) {
    let size = inverses.len();
    for (panel_at, inverses) in inverses.chunks_exact_mut(PANEL).enumerate() {
        let first = panel_at * PANEL;
        let (above, panel) = rows[..(first + PANEL) * stride].split_at_mut(first * stride);
        let (factors, upper) = upper[..(first + PANEL) * stride].split_at_mut(first * stride);
        let factors = (factors.get(first..).unwrap_or_default(), stride);
        let mut block = subtracted::<PANEL>(panel, stride, first, ((above, stride), factors));
        let mut corner = Corner::default();
        for at in 0..PANEL {
            let mut row = block[at];
            for earlier in 0..at {
                let factor = corner[earlier][at];
                row.iter_mut().zip(&block[earlier]).for_each(|(x, above)| *x -= factor * above);
            }
            inverses[at] = 1.0 / row[at];
            corner[at] = row.map(|x| x * inverses[at]);
            block[at] = row;
        }
        store(upper, stride, first, &corner);
        let above = ((&*above, stride), factors);
        let mut column = first + PANEL;
        while column + 2 * PANEL <= stride {
            let block = eliminate::<8>(panel, stride, column, above, &corner);
            store_scaled(upper, stride, column, &block, inverses);
            column += 2 * PANEL;
        }
        if column < stride {
            let block = eliminate::<PANEL>(panel, stride, column, above, &corner);
            store_scaled(upper, stride, column, &block, inverses);
        }
    }
    for column in (size..stride).step_by(PANEL) {
        substitute_back(rows, stride, upper, inverses, column);
    }
}

/// Replaces four columns of eliminated right-hand sides by those of the solution.
#[inline(always)]
fn substitute_back(
    rows: &mut [f64],
    stride: usize,
    upper: &[f64],
    inverses: &[f64],
    column: usize,
) {
    let size = inverses.len();
    for first in (0..size).step_by(PANEL).rev() {
        let mut values: Corner =
            std::array::from_fn(|at| *chunk(upper, (first + at) * stride + column));
        let panel: [&[f64]; PANEL] =
            std::array::from_fn(|at| &upper[(first + at) * stride..][..size]);
        for below in first + PANEL..size {
            let solved: &[f64; PANEL] = chunk(rows, below * stride + column);
            for (values, row) in values.iter_mut().zip(panel) {
                let factor = row[below];
                values.iter_mut().zip(solved).for_each(|(x, solved)| *x -= factor * solved);
            }
        }
        for at in (0..PANEL).rev() {
            let mut row = values[at];
            for later in at + 1..PANEL {
                let factor = panel[at][first + later];
                row.iter_mut().zip(&values[later]).for_each(|(x, solved)| *x -= factor * solved);
            }
            values[at] = row;
        }
        store(&mut rows[first * stride..], stride, column, &values);
    }
}

/// Turns right-hand sides B into `U⁻ᵀB` by the factor U that [`solve`] leaves, rows a stride apart. The diagonal of `BᵀA⁻¹B` is
/// the sum of their squares, each times the inverse of D.
#[inline(always)]
pub fn substitute(upper: (&[f64], usize), sides: &mut [f64], width: usize) {
    let ((upper, stride), size) = (upper, sides.len() / width);
    for first in (0..size).step_by(PANEL) {
        let (above, panel) = sides[..(first + PANEL) * width].split_at_mut(first * width);
        let corner: Corner = std::array::from_fn(|at| *chunk(upper, (first + at) * stride + first));
        let above = ((&*above, width), (&upper[first..first + first * stride], stride));
        let mut column = 0;
        while column + 2 * PANEL <= width {
            eliminate::<8>(panel, width, column, above, &corner);
            column += 2 * PANEL;
        }
        if column < width {
            eliminate::<PANEL>(panel, width, column, above, &corner);
        }
    }
}

/// Subtracts from `N` columns of four rows the rows above times their factors, and from each those of the four before it.
#[inline(always)]
fn eliminate<const N: usize>(
    panel: &mut [f64],
    width: usize,
    column: usize,
    above: Above<'_>,
    corner: &Corner,
) -> [[f64; N]; PANEL] {
    let mut block = subtracted::<N>(panel, width, column, above);
    for at in 1..PANEL {
        let mut row = block[at];
        for earlier in 0..at {
            let factor = corner[earlier][at];
            row.iter_mut().zip(&block[earlier]).for_each(|(x, above)| *x -= factor * above);
        }
        block[at] = row;
    }
    store(panel, width, column, &block);
    block
}

/// `N` columns of four rows less the rows above times their factors.
#[inline(always)]
fn subtracted<const N: usize>(
    panel: &[f64],
    width: usize,
    column: usize,
    ((above, stride), (factors, apart)): Above<'_>,
) -> [[f64; N]; PANEL] {
    let mut block: [[f64; N]; PANEL] = std::array::from_fn(|at| *chunk(panel, at * width + column));
    let above = above.get(column..).unwrap_or_default().chunks(stride);
    for (values, factors) in above.zip(factors.chunks(apart)) {
        let values: &[f64; N] = chunk(values, 0);
        let factors: &[f64; PANEL] = chunk(factors, 0);
        for (block, factor) in block.iter_mut().zip(factors) {
            block.iter_mut().zip(values).for_each(|(x, value)| *x -= factor * value);
        }
    }
    block
}

#[inline(always)]
fn store<const N: usize>(
    panel: &mut [f64],
    width: usize,
    column: usize,
    block: &[[f64; N]; PANEL],
) {
    for (at, values) in block.iter().enumerate() {
        panel[at * width + column..][..N].copy_from_slice(values);
    }
}

#[inline(always)]
fn store_scaled<const N: usize>(
    panel: &mut [f64],
    width: usize,
    column: usize,
    block: &[[f64; N]; PANEL],
    scales: &[f64],
) {
    for (at, (values, scale)) in block.iter().zip(scales).enumerate() {
        panel[at * width + column..][..N].copy_from_slice(&values.map(|x| x * scale));
    }
}

/// The fits of some vectors, and sums of squares: for each column, the sum over some rows of the number there times the
/// row's weight for the vector, and the sum of its squares. `weights` has those of a row `width` apart; `fits` has vector
/// after vector, as long as a row.
#[inline(always)]
pub fn fits(
    rows: (&[f64], usize),
    chosen: &[usize],
    weights: (&[f64], usize),
    fits: &mut [f64],
    squares: &mut [f64],
) {
    let stride = rows.1;
    if fits.len() == stride {
        fit_vectors::<1, 16>(rows, chosen, weights, fits, squares);
        return;
    }
    for (group, fits) in fits.chunks_exact_mut(PANEL * stride).enumerate() {
        let weights = (&weights.0[group * PANEL..], weights.1);
        fit_vectors::<PANEL, 8>(rows, chosen, weights, fits, squares);
    }
}

#[inline(always)]
fn fit_vectors<const V: usize, const N: usize>(
    rows: (&[f64], usize),
    chosen: &[usize],
    weights: (&[f64], usize),
    fits: &mut [f64],
    squares: &mut [f64],
) {
    let mut at = 0;
    while at + N <= rows.1 {
        fit_block::<V, N>(rows, chosen, weights, fits, squares, at);
        at += N;
    }
    while at < rows.1 {
        fit_block::<V, PANEL>(rows, chosen, weights, fits, squares, at);
        at += PANEL;
    }
}

#[inline(always)]
fn fit_block<const V: usize, const N: usize>(
    (rows, stride): (&[f64], usize),
    chosen: &[usize],
    (weights, width): (&[f64], usize),
    fits: &mut [f64],
    squares: &mut [f64],
    at: usize,
) {
    let (mut sums, mut norms) = ([[0.0; N]; V], [0.0; N]);
    for (place, &row) in chosen.iter().enumerate() {
        let values = chunk::<N>(rows, row * stride + at);
        for (sums, weight) in sums.iter_mut().zip(chunk::<V>(weights, place * width)) {
            for (sum, x) in sums.iter_mut().zip(values) {
                *sum += weight * x;
            }
        }
        for (norm, x) in norms.iter_mut().zip(values) {
            *norm += x * x;
        }
    }
    for (vector, sums) in sums.iter().enumerate() {
        fits[vector * stride + at..][..N].copy_from_slice(sums);
    }
    squares[at..][..N].copy_from_slice(&norms);
}

/// Some numbers from a place on.
#[inline(always)]
fn chunk<const N: usize>(values: &[f64], at: usize) -> &[f64; N] {
    values[at..].first_chunk().expect("rows are padded")
}

#[cfg(test)]
mod tests {
    use crate::simd::{Isa, fits, solve, substitute};
    use proptest::prelude::*;

    /// Rows of so many numbers, padded to multiples of 4 with zeros.
    fn padded(values: &[f64], length: usize, stride: usize) -> Vec<f64> {
        let pad = |row: &[f64]| [row, &vec![0.0; stride - length]].concat();
        values.chunks_exact(length).flat_map(pad).collect()
    }

    proptest! {
        #[test]
        fn systems_agree_between_instruction_sets_and_are_solved(
            (size, n_sides, values) in (1usize..24, 1usize..10).prop_flat_map(|(size, n_sides)| {
                let values = proptest::collection::vec(-1.0..1.0, size * (size + n_sides));
                (Just(size), Just(n_sides), values)
            }),
        ) {
            let (vectors, sides) = values.split_at(size * size);
            let row = |at: usize| &vectors[at * size..][..size];
            let entry = |i, j| -> f64 {
                let product: f64 = row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum();
                product + if i == j { 1.0 } else { 0.0 }
            };
            let (wide, n_wide) = (size.next_multiple_of(4), n_sides.next_multiple_of(4));
            let stride = wide + n_wide;
            let mut system = vec![0.0; wide * stride];
            for (at, row) in system.chunks_exact_mut(stride).enumerate() {
                row[at] = 1.0;
                if at < size {
                    (at..size).for_each(|j| row[j] = entry(at, j));
                    row[wide..][..n_sides].copy_from_slice(&sides[at * n_sides..][..n_sides]);
                }
            }
            let mut columns = padded(sides, n_sides, n_wide);
            columns.resize(wide * n_wide, 0.0);
            let run = |isa| {
                let (mut system, mut columns) = (system.clone(), columns.clone());
                let (mut upper, mut inverses) = (vec![0.0; wide * stride], vec![0.0; wide]);
                solve(isa, &mut system, stride, &mut upper, &mut inverses);
                substitute(isa, (&upper, stride), &mut columns, n_wide);
                (system, columns, inverses)
            };
            let (solved, columns, inverses) = run(Isa::Scalar);
            for isa in Isa::available() {
                prop_assert_eq!(&run(isa), &(solved.clone(), columns.clone(), inverses.clone()), "{:?}", isa);
            }
            for side in 0..n_sides {
                let solution = |i: usize| solved[i * stride + wide + side];
                for i in 0..size {
                    let product: f64 = (0..size).map(|j| entry(i, j) * solution(j)).sum();
                    prop_assert!((product - sides[i * n_sides + side]).abs() < 1e-9);
                }
                let form: f64 = (0..size).map(|i| sides[i * n_sides + side] * solution(i)).sum();
                let squares = (0..wide).map(|i| columns[i * n_wide + side].powi(2) * inverses[i]);
                prop_assert!((squares.sum::<f64>() - form).abs() < 1e-9);
            }
        }

        #[test]
        fn fits_agree_between_instruction_sets_and_with_sums(
            (length, values) in (1usize..50).prop_flat_map(|length| {
                (Just(length), proptest::collection::vec(-1.0..1.0, 6 * length))
            }),
            chosen in proptest::sample::subsequence((0..6).collect::<Vec<usize>>(), 1..6),
            weights in proptest::collection::vec(-1.0..1.0, 6 * 9),
            n_vectors in prop_oneof![Just(1usize), Just(4), Just(8)],
        ) {
            let stride = length.next_multiple_of(4);
            let rows = padded(&values, length, stride);
            let run = |isa| {
                let (mut sums, mut squares) = (vec![9.0; n_vectors * stride], vec![9.0; stride]);
                fits(isa, (&rows, stride), &chosen, (&weights, 9), &mut sums, &mut squares);
                (sums, squares)
            };
            let (sums, squares) = run(Isa::Scalar);
            for isa in Isa::available() {
                prop_assert_eq!(&run(isa), &(sums.clone(), squares.clone()), "{:?}", isa);
            }
            for at in 0..length {
                let value = |row: usize| values[row * length + at];
                let square: f64 = chosen.iter().map(|&row| value(row) * value(row)).sum();
                prop_assert!((squares[at] - square).abs() < 1e-12);
                for vector in 0..n_vectors {
                    let terms = chosen.iter().enumerate();
                    let sum: f64 =
                        terms.map(|(place, &row)| weights[place * 9 + vector] * value(row)).sum();
                    prop_assert!((sums[vector * stride + at] - sum).abs() < 1e-12);
                }
            }
        }
    }
}
