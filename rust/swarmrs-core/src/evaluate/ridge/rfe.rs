//! Recursive feature elimination by the weights of ridge regression or classification.

use super::linear::{Rows, weights};
use super::{centered_numbers, settle_alpha, targets};
use crate::base::cancel;
use crate::base::error::Result;
use crate::base::parallel::Pool;
use crate::data::dataset::Dataset;
use crate::data::quantization::{bounds, deviation};
use crate::simd::Isa;

/// A table for rankings by ridge.
pub(super) struct Standardized {
    /// The values of each feature in standard deviations, not centered.
    pub columns: Rows,
    /// The centered targets.
    pub targets: Rows,
    /// The rows, which are all rows.
    pub rows: Vec<u32>,
    /// The penalty in use.
    pub alpha: f64,
}

/// Divides features by their population standard deviation, and centers targets.
///
/// # Errors
/// A penalty that is not a positive number.
pub(super) fn standardized(data: &Dataset, alpha: Option<f64>) -> Result<Standardized> {
    let n = data.n_samples();
    let alpha = settle_alpha(alpha, n)?;
    let rows: Vec<u32> = (0..n as u32).collect();
    let mut columns = Rows::zeros(data.n_features(), n);
    for (feature, column) in columns.rows_mut().enumerate() {
        let values = data.values(feature);
        let (low, high) = bounds(values);
        if low < high {
            let unit = deviation(values, low, high);
            column.iter_mut().zip(values).for_each(|(to, x)| *to = (x - low) / unit);
        }
    }
    let targets = match data.numbers() {
        None => targets(data.codes(), data.n_classes()),
        Some(numbers) => centered_numbers(numbers, &rows).0,
    };
    let all: Vec<usize> = (0..targets.len()).collect();
    let (targets, _) = targets.centered(&all, &rows);
    Ok(Standardized { columns, targets, rows, alpha })
}

/// Some features from the most to the least important one; no others are considered.
///
/// A ridge classifier, or a ridge regression of a numeric target, is fitted to all rows, features divided by their
/// population standard deviation. The fifth of the features (at least one) with the smallest sums of squared weights
/// over classes is eliminated, and the rest is fitted again, until one is left. A feature that is eliminated later comes first; of equal ones the lower index. Without
/// `alpha` the penalty is the number of rows.
///
/// For n rows a round takes at most n² / 2 multiplications for each feature that is left.
///
/// # Errors
/// A penalty that is not a positive number; an unknown instruction set.
pub fn ridge_rfe(
    data: &Dataset,
    features: &[usize],
    alpha: Option<f64>,
    pool: &Pool,
) -> Result<Vec<usize>> {
    let isa = Isa::of_process()?;
    let n = data.n_samples();
    let Standardized { columns, targets: y, rows, alpha } = standardized(data, alpha)?;
    let mut left = features.to_vec();
    left.sort_unstable();
    let (mut x, _) = columns.centered(&left, &rows);
    let mut eliminated = Vec::with_capacity(left.len());
    while left.len() > 1 {
        cancel::check();
        let mut weights = weights(isa, &x, &y, n, alpha, Some(pool));
        if left.len() <= n {
            // At the minimum w = X (y - Xᵀw) / alpha. Rounding tells the weights of equal columns apart, this does not.
            for (weights, target) in weights.iter_mut().zip(y.rows()) {
                let mut residuals = target.to_vec();
                x.subtract_from(isa, &mut residuals, weights);
                *weights = x.times(isa, &residuals).into_iter().map(|dot| dot / alpha).collect();
            }
        }
        let square = |at: usize| weights.iter().map(|weights| weights[at] * weights[at]).sum();
        let mut ranked: Vec<(f64, usize)> = (0..left.len()).map(|at| (square(at), at)).collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let (last, rest) = ranked.split_at((left.len() / 5).max(1));
        eliminated.extend(last.iter().map(|&(_, at)| left[at]));
        let mut places: Vec<usize> = rest.iter().map(|&(_, at)| at).collect();
        places.sort_unstable();
        left = places.iter().map(|&at| left[at]).collect();
        x = x.chosen(&places);
    }
    eliminated.extend(left);
    eliminated.reverse();
    Ok(eliminated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dataset::Scale;

    fn dataset(columns: &[f64], codes: Vec<u32>) -> Dataset {
        let names = (0..columns.len() / codes.len()).map(|f| format!("f{f}")).collect();
        Dataset::new(columns, codes, 3, names, Scale::Minmax).unwrap()
    }

    #[test]
    fn targets_are_centered_and_features_are_in_standard_deviations() {
        let data = dataset(&[1.0, 1.0, 5.0, 5.0, 1.0, 5.0], vec![0, 1, 2, 0, 0, 0]);
        let Standardized { columns, targets, rows, alpha } = standardized(&data, None).unwrap();
        assert_eq!((columns.row(0), alpha), (&[0.0, 0.0, 2.0, 2.0, 0.0, 2.0, 0.0, 0.0][..], 6.0));
        assert_eq!(rows, [0, 1, 2, 3, 4, 5]);
        let centered = |class: u32, share: f64| -> Vec<f64> {
            let is_class = |&code: &u32| f64::from(u8::from(code == class));
            data.codes().iter().map(|code| 2.0 * (is_class(code) - share)).collect()
        };
        let shares = [4.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0];
        assert_eq!(targets.len(), 3);
        for ((class, share), target) in (0..).zip(shares).zip(targets.rows()) {
            for (found, expected) in target.iter().zip(centered(class, share)) {
                assert!((found - expected).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn informative_features_come_first_and_equal_ones_by_index() {
        let codes: Vec<u32> = (0..30).map(|row| row % 3).collect();
        let noise = |factor: u32| move |row: u32| f64::from(row * row * factor % 43);
        let signal = |row: u32| f64::from(row % 3 * 40) + f64::from(row * row % 7);
        let mut columns: Vec<f64> = Vec::new();
        for feature in 0..40 {
            match feature {
                // The same noise three times, and nothing at all.
                3..=5 => columns.extend((0..30).map(noise(2))),
                9 => columns.extend([2.0; 30]),
                30 => columns.extend((0..30).map(signal)),
                _ => columns.extend((0..30).map(noise(feature + 3))),
            }
        }
        let data = dataset(&columns, codes.clone());
        let every: Vec<usize> = (0..40).collect();
        let order = ridge_rfe(&data, &every, None, &Pool::new(1)).unwrap();
        assert_eq!(order, ridge_rfe(&data, &every, None, &Pool::new(3)).unwrap());
        assert_eq!((order[0], order[39]), (30, 9));
        let place = |feature| order.iter().position(|&f| f == feature).unwrap();
        assert!(place(3) < place(4) && place(4) < place(5));
        let mut all = order;
        all.sort_unstable();
        assert_eq!(all, every);

        // Features that are left out have no influence.
        let half: Vec<f64> = columns.chunks(30).step_by(2).flatten().copied().collect();
        let alone = ridge_rfe(&dataset(&half, codes), &every[..20], None, &Pool::new(1)).unwrap();
        let even: Vec<usize> = (0..40).step_by(2).collect();
        let order = ridge_rfe(&data, &even, None, &Pool::new(1)).unwrap();
        assert!(order.into_iter().eq(alone.into_iter().map(|feature| 2 * feature)));
    }
}
