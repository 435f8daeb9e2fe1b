//! F statistics: one-way analysis of variance (ANOVA), and linear regression on one feature.
//!
//! ANOVA compares the variance between classes with the variance within them:
//!
//! ```text
//! F = (Σ_c n_c (m_c - m)² / (k - 1)) / (Σ_c Σ_{x in c} (x - m_c)² / (N - k))
//! ```
//!
//! N rows of k classes; `n_c` rows of class c with mean `m_c`; m the mean of all rows. It is the score of scikit-learn's
//! `f_classif`, without the difference of two sums of squares, which loses all digits for values far from 0.
//!
//! For a numeric target, `F = (N - 2) r² / (1 - r²)` with the correlation r of the feature and the target, the score of
//! scikit-learn's `f_regression`.

use super::discretize::Labels;
use crate::base::parallel::Pool;
use crate::base::sums::{Moments, dot};

/// Approximate number of values in one work item of the thread pool: about 0.1 ms, longer than a thread takes to start.
const ITEM_VALUES: usize = 1 << 15;

/// The F statistic of each column, for columns with a range from 2^-400 to 2^400 or of 0, as a
/// [`Dataset`](crate::data::dataset::Dataset) has them.
///
/// 0 for a constant column, infinite for one that is constant within each class and not constant. If no class has two
/// rows, there is no variance to compare with and all scores are 0.
pub fn f_scores(columns: &[&[f64]], classes: Labels<'_>, pool: &Pool) -> Vec<f64> {
    let classes = ClassRows::new(classes);
    let items = columns.chunks(columns_per_item(classes.rows.len())).collect();
    let scores = pool.map(items, |columns: &[&[f64]]| {
        let mut values = Vec::with_capacity(classes.rows.len());
        columns.iter().map(|column| f_score(column, &classes, &mut values)).collect::<Vec<f64>>()
    });
    scores.concat()
}

/// The F statistic of the linear regression of a numeric target on each column, for columns and a target with a range from
/// 2^-400 to 2^400; a column may have a range of 0.
///
/// 0 for a constant column, infinite for a linear function of the target. Any two rows lie on a line, so with two rows all
/// scores are 0.
pub fn f_regression(columns: &[&[f64]], target: &[f64], pool: &Pool) -> Vec<f64> {
    let n = target.len();
    let target = unit_deviations(target);
    let items = columns.chunks(columns_per_item(n)).collect();
    let score = |column: &&[f64]| {
        let deviations = unit_deviations(column);
        let r = dot(&deviations, &target);
        // 1 - r² as the residual sum of squares, which avoids cancellation for r near 1.
        let residual: f64 = deviations.iter().zip(&target).map(|(x, y)| (y - r * x).powi(2)).sum();
        if n <= 2 || r == 0.0 {
            return 0.0;
        }
        let residual = if residual < COLLINEAR { 0.0 } else { residual };
        r * r / residual * (n as f64 - 2.0)
    };
    let scores =
        pool.map(items, |columns: &[&[f64]]| columns.iter().map(score).collect::<Vec<_>>());
    scores.concat()
}

/// A residual sum of squares of unit deviations below this is rounding.
const COLLINEAR: f64 = 1e-28;

/// The deviations from the mean, scaled to a Euclidean norm of 1; zeros if all values are equal.
fn unit_deviations(values: &[f64]) -> Vec<f64> {
    let moments = Moments::of(values);
    let norm = moments.squares.sqrt();
    if norm == 0.0 {
        return vec![0.0; values.len()];
    }
    values.iter().map(|x| ((x - moments.mean) - moments.rest) / norm).collect()
}

/// The number of columns of `n` rows in one work item.
pub(super) fn columns_per_item(n: usize) -> usize {
    (ITEM_VALUES / n.max(1)).max(1)
}

fn f_score(column: &[f64], classes: &ClassRows, values: &mut Vec<f64>) -> f64 {
    let mut within = 0.0;
    // Row count and mean of each class; means are relative to the mean of the first class.
    let mut means: Vec<(f64, f64)> = Vec::with_capacity(classes.ends.len());
    let mut origin = 0.0;
    for rows in classes.iter() {
        values.clear();
        values.extend(rows.iter().map(|&row| column[row as usize]));
        let moments = Moments::of(values);
        within += moments.squares;
        if means.is_empty() {
            origin = moments.mean;
        }
        means.push((rows.len() as f64, (moments.mean - origin) + moments.rest));
    }
    let (n, k) = (column.len() as f64, means.len() as f64);
    let mean = means.iter().map(|(rows, mean)| rows * mean).sum::<f64>() / n;
    let between: f64 = means.iter().map(|(rows, m)| rows * (m - mean) * (m - mean)).sum();
    if between == 0.0 || n <= k {
        return 0.0;
    }
    // Infinite if the variance within all classes is 0.
    (between / (k - 1.0)) / (within / (n - k))
}

/// The rows grouped by class; classes without rows are skipped.
#[derive(Debug)]
pub(super) struct ClassRows {
    rows: Vec<u32>,
    /// The end of each class in `rows`.
    ends: Vec<usize>,
}

impl ClassRows {
    pub(super) fn new(classes: Labels<'_>) -> Self {
        let mut rows: Vec<u32> = (0..classes.codes.len() as u32).collect();
        let code = |row: u32| classes.codes[row as usize];
        rows.sort_by_key(|&row| code(row));
        let mut ends: Vec<usize> =
            (1..rows.len()).filter(|&i| code(rows[i - 1]) != code(rows[i])).collect();
        ends.push(rows.len());
        Self { rows, ends }
    }

    /// The rows of each class, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.rows[start..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(column: &[f64], codes: &[u32]) -> f64 {
        f_scores(&[column], Labels { codes, count: 3 }, &Pool::new(1))[0]
    }

    #[test]
    fn a_worked_example_has_its_value() {
        // Means 2, 3 and 7, of all 4: between 3 (4 + 1 + 9) / 2 = 21, within (2 + 2 + 2) / 6 = 1.
        let codes = [0, 0, 0, 1, 1, 1, 2, 2, 2];
        assert_eq!(of(&[1.0, 2.0, 3.0, 2.0, 3.0, 4.0, 6.0, 7.0, 8.0], &codes), 21.0);
    }

    #[test]
    fn columns_without_variance_have_the_documented_scores() {
        let codes = [0, 1, 0, 2, 1];
        assert_eq!(of(&[0.1; 5], &codes), 0.0);
        assert_eq!(of(&[0.1, 0.2, 0.1, 0.7, 0.2], &codes), f64::INFINITY);
        assert_eq!(of(&[0.1, 0.2, 0.3], &[0, 1, 2]), 0.0);
        // Equal means: no score, whatever the variance.
        assert_eq!(of(&[1.0, 1.0, 3.0, 3.0], &[0, 1, 0, 1]), 0.0);
    }

    #[test]
    fn a_regression_has_its_worked_value() {
        // Deviations -2 -1 0 1 2 and -1 -2 1 0 2: r² = (2 + 2 + 0 + 0 + 4)² / (10 * 10) = 0.64.
        let regress =
            |column: &[f64], target: &[f64]| f_regression(&[column], target, &Pool::new(1))[0];
        let (column, target) = ([1.0, 2.0, 3.0, 4.0, 5.0], [9.0, 8.0, 11.0, 10.0, 12.0]);
        assert!((regress(&column, &target) - 0.64 / 0.36 * 3.0).abs() < 1e-13);
        // An offset of a billion costs no digit.
        let far = column.map(|x| x + 1e9);
        assert!((regress(&far, &target) - 0.64 / 0.36 * 3.0).abs() < 1e-13);
        assert_eq!(regress(&[0.1; 5], &target), 0.0);
        assert_eq!(regress(&target.map(|y| 3.0 - 0.7 * y), &target), f64::INFINITY);
        assert_eq!(regress(&[1.0, 2.0], &[5.0, 7.0]), 0.0);
    }

    /// F from whole numbers, without rounding before the last division.
    fn exact(column: &[i64], codes: &[u32]) -> f64 {
        let n = column.len() as i128;
        let sums = [0u32, 1, 2].map(|class| {
            let rows = column.iter().zip(codes).filter(|(_, code)| **code == class);
            rows.fold((0i128, 0i128, 0i128), |(rows, sum, squares), (&x, _)| {
                let x = i128::from(x);
                (rows + 1, sum + x, squares + x * x)
            })
        });
        let present: Vec<_> = sums.into_iter().filter(|(rows, _, _)| *rows > 0).collect();
        // All over one denominator.
        let common: i128 = present.iter().map(|(rows, _, _)| rows).product();
        let total: i128 = present.iter().map(|(_, sum, _)| sum).sum();
        let means: i128 = present.iter().map(|(rows, sum, _)| sum * sum * (common / rows)).sum();
        let squares: i128 = present.iter().map(|(_, _, squares)| squares).sum();
        let between = means * n - total * total * common;
        let within = squares * common - means;
        let k = present.len() as f64;
        (between as f64 / n as f64 / (k - 1.0)) / (within as f64 / (n as f64 - k))
    }

    proptest! {
        #[test]
        fn scores_match_exact_arithmetic(
            rows in proptest::collection::vec((0u32..3, -50i64..50), 5..60),
            offset in prop_oneof![Just(0i64), Just(1_000_000_007)],
        ) {
            let codes: Vec<u32> = rows.iter().map(|row| row.0).collect();
            let column: Vec<i64> = rows.iter().map(|row| offset + row.1).collect();
            let expected = exact(&rows.iter().map(|row| row.1).collect::<Vec<_>>(), &codes);
            prop_assume!(expected.is_finite());
            let found = of(&column.iter().map(|&x| x as f64).collect::<Vec<_>>(), &codes);
            prop_assert!((found - expected).abs() <= 1e-12 * expected + 1e-24, "{found} {expected}");
        }

        #[test]
        fn scores_do_not_depend_on_the_number_of_threads(
            rows in proptest::collection::vec((0u32..3, proptest::collection::vec(-1e3f64..1e3, 9)), 4..30),
        ) {
            let codes: Vec<u32> = rows.iter().map(|(code, _)| *code).collect();
            let columns: Vec<Vec<f64>> =
                (0..9).map(|f| rows.iter().map(|(_, x)| x[f]).collect()).collect();
            let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
            let of = |threads| {
                f_scores(&columns, Labels { codes: &codes, count: 3 }, &Pool::new(threads))
            };
            prop_assert_eq!(of(1), of(3));
        }
    }
}
