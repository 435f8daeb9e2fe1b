//! Entropy in bits, mutual information and symmetrical uncertainty from counts of rows.

use crate::base::math;

/// Fractional bits of the fixed-point table.
const FRACTION_BITS: i32 = 32;
/// Smaller values are rounding errors of the sums.
const NOISE: f64 = 1e-12;

/// A table of k log2 k for every count k up to the number of rows.
#[derive(Debug)]
pub struct Logs {
    float: Vec<f64>,
    /// The same in fixed point, in units of 2^-32. Sums of these do not depend on the order, so equal partitions compare
    /// equal; they fit 64 bits for up to 2^26 rows.
    fixed: Vec<i64>,
}

impl Logs {
    /// The table for counts up to `max_count`.
    pub fn new(max_count: usize) -> Self {
        let log = |count: usize| {
            let count = count as f64;
            if count > 0.0 { count * math::log2(count) } else { 0.0 }
        };
        let float: Vec<f64> = (0..=max_count).map(log).collect();
        let fixed = float.iter().map(|&log| (libm::ldexp(log, FRACTION_BITS) + 0.5).floor() as i64);
        Self { fixed: fixed.collect(), float }
    }

    /// `count` log2 `count`.
    pub fn of(&self, count: usize) -> f64 {
        self.float[count]
    }

    /// The same in fixed point.
    pub fn fixed(&self, count: usize) -> i64 {
        self.fixed[count]
    }

    /// The entropy of a partition into parts of these counts; 0 without rows.
    pub fn entropy(&self, counts: impl IntoIterator<Item = usize>) -> f64 {
        let (mut rows, mut sum) = (0, 0.0);
        for count in counts {
            rows += count;
            sum += self.of(count);
        }
        self.entropy_of_sum(rows, sum)
    }

    /// The entropy of a partition of `rows` rows, from the sum of k log2 k over its parts.
    pub fn entropy_of_sum(&self, rows: usize, sum: f64) -> f64 {
        if rows == 0 { 0.0 } else { (self.of(rows) - sum) / rows as f64 }
    }
}

/// The mutual information of two partitions, from their entropies and their joint entropy.
pub fn information(a: f64, b: f64, joint: f64) -> f64 {
    let information = a + b - joint;
    if information < NOISE { 0.0 } else { information }
}

/// The symmetrical uncertainty of two partitions, 2 (a + b - joint) / (a + b), from their entropies and their joint
/// entropy. It is rounded to 32 bits only here, so that cached and recomputed values are equal.
pub fn symmetrical_uncertainty(a: f64, b: f64, joint: f64) -> f32 {
    let sum = a + b;
    if sum <= 0.0 {
        return 0.0;
    }
    let uncertainty = 2.0 * (sum - joint) / sum;
    if uncertainty < NOISE { 0.0 } else { uncertainty.min(1.0) as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H(A), H(B), the mutual information, and SU, of a contingency table.
    fn of(table: [[usize; 2]; 2]) -> (f64, f64, f64, f32) {
        let logs = Logs::new(64);
        let a = logs.entropy(table.map(|row| row[0] + row[1]));
        let b = logs.entropy([table[0][0] + table[1][0], table[0][1] + table[1][1]]);
        let joint = logs.entropy(table.into_iter().flatten());
        (a, b, information(a, b, joint), symmetrical_uncertainty(a, b, joint))
    }

    #[test]
    fn worked_examples_have_the_expected_values() {
        let (a, b, shared, su) = of([[2, 0], [1, 1]]);
        assert!((a - 1.0).abs() < 1e-12 && (b - 0.811_278).abs() < 5e-7);
        assert!((shared - 0.311_278).abs() < 5e-7 && (su - 0.343_711).abs() < 5e-7);
        let tables = [
            ([[2, 0], [0, 2]], 1.0),
            ([[1, 1], [1, 1]], 0.0),
            ([[3, 1], [1, 3]], 0.188_722),
            ([[4, 0], [1, 3]], 0.561_590),
        ];
        for (table, expected) in tables {
            assert!((of(table).3 - expected).abs() < 5e-7, "{table:?}");
        }
    }

    #[test]
    fn independent_partitions_have_exactly_0() {
        for table in [[[2, 4], [3, 6]], [[7, 21], [1, 3]], [[5, 0], [0, 0]]] {
            let (_, _, shared, su) = of(table);
            assert_eq!((shared, su), (0.0, 0.0), "{table:?}");
        }
    }
}
