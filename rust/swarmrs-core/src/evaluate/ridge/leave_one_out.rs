//! Classes by leave-one-out from bounds of the leverages.
//!
//! With the leverage `t = 1/n + xᵀA⁻¹x` of a row x, `A = XᵀX + alpha`, its fitted value f and its target y, the decision
//! value without the row is
//!
//! ```text
//! y - (y - f) / (1 - t) = (f - t y) / (1 - t)
//! ```
//!
//! so that the class depends on the sign or the order of `f - t y`. Fitted values take n s multiplications for s features
//! and a target, all leverages n s² / 2. But `A - xxᵀ - alpha` has no negative eigenvalue, hence
//!
//! ```text
//! 1/n <= t <= 1/n + |x|² / (|x|² + alpha)
//! ```
//!
//! which decides most rows. Leverages are computed for the others alone.
//!
//! Values nearer to a tie than [`GUARD`] are left to the residual matrix, as are penalties so small that rounding errors
//! come near it. So the classes are those of the residual matrix.

use super::Ridge;
use super::linear::{Rows, padded};
use crate::simd::{Isa, dot_rows, fits, solve, substitute};

/// Decision values (times `1 - t`) nearer to each other than this are left alone. Fitted values are below √n, their rounding
/// errors about s √n 2⁻⁵³ times the condition number: 2⁻³⁶ for 100 features and rows and the default penalty, for which
/// the condition number is s + 1 at most.
const GUARD: f64 = 1.0 / (1 << 20) as f64;
/// The greatest condition number.
const CONDITION: f64 = (1 << 16) as f64;

/// The constants of leave-one-out classification.
pub(super) struct LeaveOneOut {
    /// The row that each case leaves out.
    rows: Vec<u32>,
    /// The class of each row.
    codes: Vec<u32>,
    /// The dot products of a feature with all targets, feature after feature.
    correlations: Rows,
    /// The mean of each target.
    means: Vec<f64>,
}

/// The decision values of a row, times `1 - t`, without their last term.
#[derive(Clone, Copy)]
enum Fitted {
    /// Of the greater of two classes, which the row is of or not.
    Two { value: f64, is_of_it: bool },
    /// Of the row's own class less the greatest of another class; this class, and what it is ahead of the next one.
    More { own: u32, ahead: f64, other: u32, lead: f64 },
}

impl Fitted {
    /// The predicted class for a leverage within these bounds; none where it may be either.
    fn class(self, low: f64, high: f64) -> Option<u32> {
        match self {
            Self::Two { value, is_of_it } => {
                let (least, most) = if is_of_it {
                    (value - high, value - low)
                } else {
                    (value + low, value + high)
                };
                if least > GUARD { Some(1) } else { (most < -GUARD).then_some(0) }
            }
            Self::More { own, ahead, other, lead } => {
                if ahead - 2.0 * high > GUARD {
                    Some(own)
                } else {
                    (ahead - 2.0 * low < -GUARD && lead > GUARD).then_some(other)
                }
            }
        }
    }
}

impl LeaveOneOut {
    /// For these columns and targets, of rows of these classes, if each split tests one row.
    pub fn new(
        columns: &Rows,
        targets: &Rows,
        codes: &[u32],
        tests: &[Vec<u32>],
        isa: Isa,
    ) -> Option<Self> {
        let rows = tests.iter().map(|test| if let &[row] = &test[..] { Some(row) } else { None });
        let rows = rows.collect::<Option<_>>()?;
        let mut correlations = Rows::zeros(columns.len(), targets.len());
        for (column, dots) in columns.rows().zip(correlations.rows_mut()) {
            dots[..targets.len()].copy_from_slice(&targets.times(isa, column));
        }
        let n = codes.len() as f64;
        let means = targets.rows().map(|target| target.iter().sum::<f64>() / n).collect();
        Some(Self { rows, codes: codes.to_vec(), correlations, means })
    }

    /// The predicted class of each case; none where rounding might matter.
    pub fn classes(&self, ridge: &Ridge, features: &[usize]) -> Option<Vec<u32>> {
        let (size, stride) = (features.len(), ridge.columns.stride());
        if size == 0 || size > ridge.n_rows {
            return None;
        }
        let (padded_size, n_sides) = (padded(size), self.correlations.stride());
        let width = padded_size + n_sides;
        let mut system = self.system(ridge, features, width)?;
        let mut upper = vec![0.0; padded_size * width];
        let mut inverses = vec![0.0; padded_size];
        solve(ridge.isa, &mut system, width, &mut upper, &mut inverses);

        let n_fits = if ridge.targets.len() == 1 { 1 } else { n_sides };
        let mut fitted = vec![0.0; (n_fits + 1) * stride];
        let (values, squares) = fitted.split_at_mut(n_fits * stride);
        let weights = (&system[padded_size..], width);
        fits(ridge.isa, (ridge.columns.values(), stride), features, weights, values, squares);

        let least = 1.0 / ridge.n_rows as f64;
        let mut classes = vec![0; ridge.n_rows];
        let mut open = Vec::new();
        for (row, (class, &square)) in classes.iter_mut().zip(&*squares).enumerate() {
            let fitted = self.fitted(values, stride, row);
            let most = least + square / (square + ridge.alpha);
            match fitted.class(least, most) {
                Some(decided) => *class = decided,
                None => open.push((row, fitted)),
            }
        }
        if !open.is_empty() {
            let n_open = padded(open.len());
            let mut sides = vec![0.0; padded_size * n_open];
            for (side, &feature) in sides.chunks_exact_mut(n_open).zip(features) {
                let column = ridge.columns.row(feature);
                side.iter_mut().zip(&open).for_each(|(to, &(row, _))| *to = column[row]);
            }
            substitute(ridge.isa, (&upper, width), &mut sides, n_open);
            let mut leverages = vec![least; n_open];
            for (side, inverse) in sides.chunks_exact(n_open).zip(&inverses) {
                leverages.iter_mut().zip(side).for_each(|(sum, x)| *sum += x * x * inverse);
            }
            for (&(row, fitted), leverage) in open.iter().zip(leverages) {
                classes[row] = fitted.class(leverage, leverage)?;
            }
        }
        Some(self.rows.iter().map(|&row| classes[row as usize]).collect())
    }

    /// The rows of `XᵀX + alpha` on and right of the diagonal and the products with the targets; none if its condition number may
    /// be too great.
    fn system(&self, ridge: &Ridge, features: &[usize], width: usize) -> Option<Vec<f64>> {
        let size = features.len();
        let padded_size = padded(size);
        let mut system = vec![0.0; padded_size * width];
        if ridge.products.is_empty() {
            let chosen = ridge.columns.chosen(features);
            let stride = chosen.stride();
            for (at, row) in system.chunks_exact_mut(width).take(size).enumerate() {
                let rest = &chosen.values()[at * stride..];
                dot_rows(ridge.isa, chosen.row(at), rest, stride, &mut row[at..size]);
            }
        } else {
            let n_columns = ridge.columns.len();
            for (at, row) in system.chunks_exact_mut(width).take(size).enumerate() {
                let from = &ridge.products[features[at] * n_columns..][..n_columns];
                let entries = row[at..size].iter_mut().zip(&features[at..]);
                entries.for_each(|(to, &column)| *to = from[column]);
            }
        }
        let mut trace = 0.0;
        for (at, row) in system.chunks_exact_mut(width).enumerate() {
            if at < size {
                trace += row[at];
                row[at] += ridge.alpha;
                row[padded_size..].copy_from_slice(self.correlations.row(features[at]));
            } else {
                row[at] = 1.0;
            }
        }
        (trace + ridge.alpha <= CONDITION * ridge.alpha).then_some(system)
    }

    /// The fitted values of a row, for all vectors of values a stride apart.
    fn fitted(&self, values: &[f64], stride: usize, row: usize) -> Fitted {
        let own = self.codes[row];
        if let [mean] = self.means[..] {
            return Fitted::Two { value: mean + values[row], is_of_it: own == 1 };
        }
        let (mut best, mut second, mut other, mut of_own) =
            (f64::NEG_INFINITY, f64::NEG_INFINITY, 0, 0.0);
        for (class, mean) in self.means.iter().enumerate() {
            let value = mean + values[class * stride + row];
            if class == own as usize {
                of_own = value;
            } else if value > best {
                (second, best, other) = (best, value, class as u32);
            } else {
                second = second.max(value);
            }
        }
        Fitted::More { own, ahead: of_own - best, other, lead: best - second }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{dataset, ridge, ridge_within, tables};
    use super::*;
    use crate::data::dataset::Scale;
    use crate::data::folds::FoldSpec;
    use proptest::prelude::*;

    fn leave_one_out(ridge: &Ridge) -> &LeaveOneOut {
        ridge.leave_one_out.as_ref().expect("each split tests one row")
    }

    proptest! {
        #[test]
        fn classes_are_those_of_the_residual_matrix(
            (columns, codes, n_classes) in tables(),
            scale in prop_oneof![Just(Scale::Standard), Just(Scale::Minmax), Just(Scale::None)],
            alpha in prop_oneof![Just(1e-5), Just(0.1), Just(1.0), Just(30.0)],
            chosen: u64,
        ) {
            let data = dataset(&columns, &codes, n_classes, scale);
            let ridge = ridge(&data, alpha, &FoldSpec::Loo);
            let frugal = ridge_within(0, &data, alpha, &FoldSpec::Loo);
            let features: Vec<usize> =
                (0..data.n_features()).filter(|f| *f == 0 || chosen >> f & 1 == 1).collect();
            let classes = leave_one_out(&ridge).classes(&ridge, &features);
            prop_assert_eq!(&classes, &leave_one_out(&frugal).classes(&frugal, &features));
            if let Some(classes) = classes {
                prop_assert_eq!(classes, ridge.classes_by_residuals(&features));
            }
        }
    }

    #[test]
    fn most_subsets_need_no_residual_matrix() {
        let (n, d) = (60, 90);
        let columns: Vec<f64> = (0..n * d).map(|at| (at * at % 9973) as f64 / 9973.0).collect();
        for n_classes in [2, 3, 6] {
            let codes: Vec<u32> = (0..n as u32).map(|row| row * row % 37 % n_classes).collect();
            let data = dataset(&columns, &codes, n_classes as usize, Scale::Standard);
            let ridge = ridge(&data, 60.0, &FoldSpec::Loo);
            for size in 1..=d {
                let features: Vec<usize> = (0..size).map(|at| at * d / size).collect();
                let classes = leave_one_out(&ridge).classes(&ridge, &features);
                assert_eq!(classes.is_some(), size <= n, "{size} features");
                if let Some(classes) = classes {
                    assert_eq!(classes, ridge.classes_by_residuals(&features), "{size} features");
                }
            }
        }
    }

    #[test]
    fn ties_and_small_penalties_are_left_to_the_residual_matrix() {
        // Rows in pairs of equal values and different classes, and nothing else: all decision values are equal.
        let codes: Vec<u32> = (0..12).map(|row| row % 2).collect();
        let column: Vec<f64> = (0..12).map(|row| f64::from(row / 2 % 3)).collect();
        let data = dataset(&column, &codes, 2, Scale::Standard);
        let tied = ridge(&data, 1e9, &FoldSpec::Loo);
        let value = |low, high| Fitted::Two { value: 0.0, is_of_it: true }.class(low, high);
        assert_eq!([value(0.0, 0.0), value(0.1, 0.2), value(0.0, 1e-9)], [None, Some(0), None]);
        assert_eq!(
            leave_one_out(&tied).classes(&tied, &[0]).map(|classes| classes.len()),
            Some(12),
            "a row that is left out tips the balance"
        );
        let small = ridge(&data, 1e-4, &FoldSpec::Loo);
        assert_eq!(leave_one_out(&small).classes(&small, &[0]), None);
        assert_eq!(leave_one_out(&tied).classes(&tied, &[]), None);
        let pairs = ridge(&data, 1.0, &FoldSpec::Kfold { k: 6, shuffle: false, seed: 0 });
        assert!(pairs.leave_one_out.is_none());
    }

    #[test]
    fn bounds_decide_only_what_they_hold() {
        let two = |value, is_of_it| Fitted::Two { value, is_of_it }.class(0.1, 0.3);
        assert_eq!([0.05, 0.2, 0.4].map(|value| two(value, true)), [Some(0), None, Some(1)]);
        assert_eq!([-0.05, -0.2, -0.4].map(|value| two(value, false)), [Some(1), None, Some(0)]);
        let more = |ahead, lead| Fitted::More { own: 4, ahead, other: 7, lead }.class(0.1, 0.3);
        assert_eq!([0.1, 0.4, 0.7].map(|ahead| more(ahead, 0.2)), [Some(7), None, Some(4)]);
        assert_eq!([0.1, 0.4, 0.7].map(|ahead| more(ahead, 0.0)), [None, None, Some(4)]);
    }
}
