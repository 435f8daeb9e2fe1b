//! Dense linear algebra in float64: rows padded to vectors, Cholesky elimination, ridge weights.
//!
//! Every sum has one order, which depends on the lengths alone, and no product is fused with a sum: a result has the
//! same bits on every machine.

use crate::base::parallel::Pool;
use crate::simd::{Isa, dot_rows, subtract_rows};

/// Rows are padded with zeros to a multiple of this.
const LANES: usize = 4;
/// Features that enter a kernel matrix together: 64 of 100 rows are 50 KiB, which a core's cache holds.
const TOGETHER: usize = 64;
/// A pivot below this share of its diagonal is rounding: the row depends on those before it.
const DEPENDENT: f64 = 1e-14;

/// Rows of one length, padded with zeros.
#[derive(Debug, Clone)]
pub struct Rows {
    values: Vec<f64>,
    stride: usize,
}

impl Rows {
    /// So many rows of zeros.
    pub fn zeros(n_rows: usize, length: usize) -> Self {
        let stride = padded(length);
        Self { values: vec![0.0; n_rows * stride], stride }
    }

    /// Some of the rows, each at some places less its mean over those places. The means come second.
    pub fn centered(&self, rows: &[usize], places: &[u32]) -> (Self, Vec<f64>) {
        let mut new = Self::zeros(rows.len(), places.len());
        let mut means = Vec::with_capacity(rows.len());
        for (&row, target) in rows.iter().zip(new.rows_mut()) {
            gather(self.row(row), places, target);
            let target = &mut target[..places.len()];
            let mean = target.iter().sum::<f64>() / target.len() as f64;
            for x in target {
                *x -= mean;
            }
            means.push(mean);
        }
        (new, means)
    }

    /// Some of the rows, each at some places less a shift.
    pub fn shifted(&self, rows: &[usize], places: &[u32], shifts: &[f64]) -> Self {
        let mut new = Self::zeros(rows.len(), places.len());
        for ((&row, &shift), target) in rows.iter().zip(shifts).zip(new.rows_mut()) {
            gather(self.row(row), places, target);
            target[..places.len()].iter_mut().for_each(|x| *x -= shift);
        }
        new
    }

    /// Some of the rows.
    pub fn chosen(&self, rows: &[usize]) -> Self {
        let mut values = Vec::with_capacity(rows.len() * self.stride);
        for &row in rows {
            values.extend_from_slice(self.row(row));
        }
        Self { values, stride: self.stride }
    }

    /// Some columns of the rows, as rows.
    pub fn transposed(&self, columns: &[u32]) -> Self {
        let mut new = Self::zeros(columns.len(), self.len());
        for (&column, target) in columns.iter().zip(new.rows_mut()) {
            target.iter_mut().zip(self.rows()).for_each(|(to, row)| *to = row[column as usize]);
        }
        new
    }

    /// The length of a row with its padding.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// All values, row after row with padding.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.values.len() / self.stride
    }

    /// A row with its padding.
    pub fn row(&self, at: usize) -> &[f64] {
        &self.values[at * self.stride..][..self.stride]
    }

    /// All rows with their padding.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.stride)
    }

    /// All rows with their padding.
    pub fn rows_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        self.values.chunks_exact_mut(self.stride)
    }

    /// The dot product of each pair of rows.
    pub fn products(&self, isa: Isa, pool: &Pool) -> Vec<f64> {
        let all: Vec<Vec<f64>> =
            pool.map((0..self.len()).collect(), |at| self.times(isa, self.row(at)));
        all.concat()
    }

    /// The dot product of a vector with each row.
    pub fn times(&self, isa: Isa, vector: &[f64]) -> Vec<f64> {
        let mut dots = vec![0.0; self.len()];
        dot_rows(isa, vector, &self.values, self.stride, &mut dots);
        dots
    }

    /// Subtracts each row, times its factor, from a vector.
    pub fn subtract_from(&self, isa: Isa, target: &mut [f64], factors: &[f64]) {
        subtract_rows(isa, target, &self.values, self.stride, factors);
    }
}

/// A length rounded up to a multiple of [`LANES`].
pub fn padded(length: usize) -> usize {
    length.next_multiple_of(LANES)
}

fn gather(from: &[f64], places: &[u32], to: &mut [f64]) {
    places.iter().zip(to).for_each(|(&place, to)| *to = from[place as usize]);
}

/// A symmetric positive definite matrix with right-hand sides: each row holds the matrix from the diagonal on, then the
/// right-hand sides. Left of the diagonal stands nothing of use.
#[derive(Debug)]
pub struct System {
    isa: Isa,
    size: usize,
    /// Where the right-hand sides begin.
    width: usize,
    rows: Rows,
}

impl System {
    /// A system of zeros with so many right-hand sides.
    pub fn zeros(isa: Isa, size: usize, n_sides: usize) -> Self {
        let width = padded(size);
        Self { isa, size, width, rows: Rows::zeros(size, width + padded(n_sides)) }
    }

    /// The dot products of all pairs of vectors, with so many right-hand sides.
    pub fn of_vectors(isa: Isa, vectors: &Rows, n_sides: usize) -> Self {
        let mut system = Self::zeros(isa, vectors.len(), n_sides);
        for (at, row) in system.rows.rows_mut().enumerate() {
            let rest = &vectors.values[at * vectors.stride..];
            dot_rows(isa, vectors.row(at), rest, vectors.stride, &mut row[at..vectors.len()]);
        }
        system
    }

    /// The entries of a table of so many columns at some of its rows and the same columns, with so many right-hand sides.
    pub fn of_table(
        isa: Isa,
        table: &[f64],
        n_columns: usize,
        chosen: &[usize],
        n_sides: usize,
    ) -> Self {
        let mut system = Self::zeros(isa, chosen.len(), n_sides);
        for (at, row) in system.rows.rows_mut().enumerate() {
            let from = &table[chosen[at] * n_columns..][..n_columns];
            row[at..].iter_mut().zip(&chosen[at..]).for_each(|(to, &column)| *to = from[column]);
        }
        system
    }

    /// The sum over vectors of all products of two of their values, with so many right-hand sides.
    pub fn of_products(
        isa: Isa,
        vectors: &[&[f64]],
        size: usize,
        n_sides: usize,
        pool: Option<&Pool>,
    ) -> Self {
        let mut system = Self::zeros(isa, size, n_sides);
        let width = system.width;
        // Each value is a sum over vectors in order, whatever the parts.
        let part = |rows: std::ops::Range<usize>| {
            let mut part = Rows::zeros(rows.len(), width);
            let mut packed = Rows::zeros(TOGETHER, width);
            let mut factors = [0.0; TOGETHER];
            for some in vectors.chunks(TOGETHER) {
                for (vector, target) in some.iter().zip(packed.rows_mut()) {
                    target.copy_from_slice(vector);
                }
                for (row, target) in rows.clone().zip(part.rows_mut()) {
                    for (factor, vector) in factors.iter_mut().zip(some) {
                        *factor = -vector[row];
                    }
                    let start = row / LANES * LANES;
                    let (target, values) = (&mut target[start..], &packed.values[start..]);
                    subtract_rows(isa, target, values, packed.stride, &factors[..some.len()]);
                }
            }
            part
        };
        let parts = match pool {
            None => vec![part(0..size)],
            Some(pool) => {
                // Early rows are longer: several parts for each thread even that out.
                let step = size.div_ceil(4 * pool.threads()).max(1);
                let starts: Vec<usize> = (0..size).step_by(step).collect();
                pool.map(starts, |start| part(start..(start + step).min(size)))
            }
        };
        for (from, to) in parts.iter().flat_map(Rows::rows).zip(system.rows.rows_mut()) {
            to[..width].copy_from_slice(from);
        }
        system
    }

    /// Replaces every entry of the matrix.
    pub fn map_entries(&mut self, change: impl Fn(f64) -> f64) {
        let size = self.size;
        self.rows.rows_mut().for_each(|row| row[..size].iter_mut().for_each(|x| *x = change(*x)));
    }

    /// The sum of the diagonal.
    pub fn trace(&mut self) -> f64 {
        (0..self.size).map(|at| *self.entry(at, at)).sum()
    }

    /// An entry of the matrix, on or right of the diagonal.
    pub fn entry(&mut self, row: usize, column: usize) -> &mut f64 {
        &mut self.rows.values[row * self.rows.stride + column]
    }

    /// The right-hand sides of a row.
    pub fn sides(&mut self, row: usize) -> &mut [f64] {
        &mut self.rows.values[row * self.rows.stride..][self.width..self.rows.stride]
    }

    /// Sets the right-hand sides of each row to some of these, one for each.
    pub fn set_sides(&mut self, sides: &Rows, chosen: &[usize]) {
        let width = self.width;
        let rows = self.rows.rows_mut().zip(chosen);
        rows.for_each(|(row, &at)| row[width..].copy_from_slice(sides.row(at)));
    }

    /// Sets the right-hand sides to the identity.
    pub fn set_identity(&mut self) {
        (0..self.size).for_each(|at| self.sides(at)[at] = 1.0);
    }

    /// Eliminates the matrix plus `alpha` on its diagonal; see [`eliminate`](Self::eliminate).
    pub fn eliminate_ridge(&mut self, alpha: f64, is_triangular: bool) {
        (0..self.size).for_each(|at| *self.entry(at, at) += alpha);
        let floors: Vec<f64> = (0..self.size).map(|at| DEPENDENT * *self.entry(at, at)).collect();
        self.eliminate(&floors, is_triangular);
    }

    /// Turns the matrix A into its Cholesky factor U, `A = UᵀU`, and right-hand sides B into `U⁻ᵀB`. A row whose pivot is
    /// not above its floor becomes zeros, as if its variable were left out. Returns the number of these.
    ///
    /// `is_triangular` says that right-hand side j is zero above row j, and saves the time for it.
    pub fn eliminate(&mut self, floors: &[f64], is_triangular: bool) -> usize {
        let (isa, stride, width) = (self.isa, self.rows.stride, self.width);
        let mut factors = Vec::with_capacity(self.size);
        let mut dropped = 0;
        for (at, &floor) in floors.iter().enumerate() {
            let (above, rest) = self.rows.values.split_at_mut(at * stride);
            let row = &mut rest[..stride];
            factors.clear();
            factors.extend(above.chunks_exact(stride).map(|row| row[at]));
            let start = at / LANES * LANES;
            if is_triangular {
                subtract_rows(isa, &mut row[start..width], &above[start..], stride, &factors);
                for (run, factors) in factors.chunks(TOGETHER).enumerate() {
                    let first = run * TOGETHER;
                    let end = width + padded(first + factors.len());
                    let above = &above[first * stride + width..];
                    subtract_rows(isa, &mut row[width..end], above, stride, factors);
                }
            } else {
                subtract_rows(isa, &mut row[start..], &above[start..], stride, &factors);
            }
            let pivot = row[at];
            if pivot > floor {
                let scale = 1.0 / pivot.sqrt();
                row[start..].iter_mut().for_each(|x| *x *= scale);
            } else {
                row.fill(0.0);
                dropped += 1;
            }
        }
        dropped
    }

    /// Turns right-hand sides `U⁻ᵀB` of an eliminated system into the solution `A⁻¹B`.
    pub fn substitute_back(&mut self) {
        let (isa, stride, width) = (self.isa, self.rows.stride, self.width);
        for at in (0..self.size).rev() {
            let (head, below) = self.rows.values.split_at_mut((at + 1) * stride);
            let (matrix, sides) = head[at * stride..].split_at_mut(width);
            let pivot = matrix[at];
            if pivot > 0.0 {
                let factors = &matrix[at + 1..self.size];
                subtract_rows(isa, sides, below.get(width..).unwrap_or_default(), stride, factors);
                for x in sides {
                    *x /= pivot;
                }
            }
        }
    }

    /// The right-hand sides, without the matrix.
    pub fn into_sides(self) -> Rows {
        let stride = self.rows.stride - self.width;
        let sides = self.rows.rows().flat_map(|row| &row[self.width..]).copied();
        Rows { values: sides.collect(), stride }
    }
}

/// The ridge weights of each target: `(XXᵀ + alpha)⁻¹ X y` for features X of `n_samples` centered values and centered
/// targets y. With fewer samples than features the same is `X (XᵀX + alpha)⁻¹ y`, which is cheaper, but adds up features of
/// all magnitudes: one whose squares are below 2⁻⁵³ of another's is lost.
pub fn weights(
    isa: Isa,
    features: &Rows,
    targets: &Rows,
    n_samples: usize,
    alpha: f64,
    pool: Option<&Pool>,
) -> Vec<Vec<f64>> {
    let n_targets = targets.len();
    let is_primal = features.len() <= n_samples;
    let mut system = if is_primal {
        System::of_vectors(isa, features, n_targets)
    } else {
        let vectors: Vec<&[f64]> = features.rows().collect();
        System::of_products(isa, &vectors, n_samples, n_targets, pool)
    };
    for (side, target) in targets.rows().enumerate() {
        let values = if is_primal { features.times(isa, target) } else { target.to_vec() };
        (0..system.size).for_each(|at| system.sides(at)[side] = values[at]);
    }
    system.eliminate_ridge(alpha, false);
    system.substitute_back();
    let solution = |side| {
        let mut values: Vec<f64> = system.rows.rows().map(|row| row[system.width + side]).collect();
        if is_primal {
            return values;
        }
        values.resize(system.width, 0.0);
        features.times(isa, &values)
    };
    (0..n_targets).map(solution).collect()
}
