//! Entropies in bits from whole counts, and what two of them share.

use crate::base::math;

/// A unit of the table in fixed point, as a power of two.
const UNIT: i32 = 32;
/// Smaller values are rounding errors of the sums, not information.
const NOISE: f64 = 1e-12;

/// k log2 k of every count up to the number of rows.
#[derive(Debug)]
pub struct Logs {
    exact: Vec<f64>,
    /// The same in steps of 2^-32. Their sums have no order, so that equal divisions compare equal; they fit up to
    /// 2^26 rows.
    fixed: Vec<i64>,
}

impl Logs {
    /// For counts up to `most`.
    pub fn new(most: usize) -> Self {
        let log = |count: usize| {
            let count = count as f64;
            if count > 0.0 { count * math::log2(count) } else { 0.0 }
        };
        let exact: Vec<f64> = (0..=most).map(log).collect();
        let fixed = exact.iter().map(|&log| (libm::ldexp(log, UNIT) + 0.5).floor() as i64);
        Self { fixed: fixed.collect(), exact }
    }

    /// `count` log2 `count`.
    pub fn of(&self, count: usize) -> f64 {
        self.exact[count]
    }

    /// The same in fixed point.
    pub fn fixed(&self, count: usize) -> i64 {
        self.fixed[count]
    }

    /// The entropy of rows that are divided into parts of these counts; 0 where there are none.
    pub fn entropy(&self, counts: impl IntoIterator<Item = usize>) -> f64 {
        let (mut rows, mut sum) = (0, 0.0);
        for count in counts {
            rows += count;
            sum += self.of(count);
        }
        self.entropy_of_sum(rows, sum)
    }

    /// The entropy of `rows` whose parts have k log2 k that add up to `sum`.
    pub fn entropy_of_sum(&self, rows: usize, sum: f64) -> f64 {
        if rows == 0 { 0.0 } else { (self.of(rows) - sum) / rows as f64 }
    }
}

/// The information that two divisions share, from their entropies and that of both at once.
pub fn information(a: f64, b: f64, joint: f64) -> f64 {
    let shared = a + b - joint;
    if shared < NOISE { 0.0 } else { shared }
}

/// The symmetric uncertainty of two divisions: what they share, as a share of their mean entropy. It is rounded here
/// and nowhere else, so that a kept value is a recomputed one.
pub fn symmetric_uncertainty(a: f64, b: f64, joint: f64) -> f32 {
    let most = a + b;
    if most <= 0.0 {
        return 0.0;
    }
    let share = 2.0 * (most - joint) / most;
    if share < NOISE { 0.0 } else { share.min(1.0) as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H(A), H(B), what they share, and SU, of a table of counts.
    fn of(table: [[usize; 2]; 2]) -> (f64, f64, f64, f32) {
        let logs = Logs::new(64);
        let a = logs.entropy(table.map(|row| row[0] + row[1]));
        let b = logs.entropy([table[0][0] + table[1][0], table[0][1] + table[1][1]]);
        let joint = logs.entropy(table.into_iter().flatten());
        (a, b, information(a, b, joint), symmetric_uncertainty(a, b, joint))
    }

    #[test]
    fn worked_examples_have_their_numbers() {
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
    fn independence_is_zero_and_not_noise() {
        for table in [[[2, 4], [3, 6]], [[7, 21], [1, 3]], [[5, 0], [0, 0]]] {
            let (_, _, shared, su) = of(table);
            assert_eq!((shared, su), (0.0, 0.0), "{table:?}");
        }
    }
}
