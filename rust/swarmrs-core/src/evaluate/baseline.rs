//! The baseline that scores are read against: one class predicted for every row, or the mean of the training rows.

use crate::base::error::{Error, Result};
use crate::data::dataset::Dataset;
use crate::data::folds::{FoldSpec, Folds};
use crate::evaluate::{Measures, TestCases};

/// The scores of predicting `class` for every row that `folds` test, as a subset of features is scored; repeated
/// cross-validation is averaged over all its partitions.
///
/// # Errors
/// Folds that do not fit the table.
pub fn constant(data: &Dataset, folds: &FoldSpec, class: u32) -> Result<Measures> {
    mean_over_partitions(data, folds, |cases, _| cases.score(&vec![class; cases.n_cases()]))
}

/// The scores of predicting, for every row that `folds` test, the mean of the numbers of its training rows.
///
/// # Errors
/// Folds that do not fit the table; a target of classes.
pub fn training_mean(data: &Dataset, folds: &FoldSpec) -> Result<Measures> {
    let Some(numbers) = data.numbers() else {
        return Err(Error::BadSpec { what: "the mean of classes is no prediction".into() });
    };
    // Offsets from the first number: a target far from 0 keeps its digits.
    let origin = numbers[0];
    let sum =
        |rows: &[u32]| -> f64 { rows.iter().map(|&row| numbers[row as usize] - origin).sum() };
    let total: f64 = numbers.iter().map(|x| x - origin).sum();
    mean_over_partitions(data, folds, |cases, partition| {
        let mean = |(sum, count): (f64, usize)| origin + sum / count as f64;
        let means: Vec<f64> = match partition {
            Folds::Splits(splits) => {
                splits.iter().map(|split| mean((sum(&split.train), split.train.len()))).collect()
            }
            // Sums of the other rows, without a list of them: leave-one-out has as many as there are pairs of rows.
            Folds::Partition { .. } => {
                let rest = |test: &Vec<u32>| (total - sum(test), numbers.len() - test.len());
                partition.tests().iter().map(|test| mean(rest(test))).collect()
            }
        };
        let sizes = cases.fold_sizes().into_iter().zip(means);
        let predicted: Vec<f64> =
            sizes.flat_map(|(size, mean)| std::iter::repeat_n(mean, size)).collect();
        cases.score_numbers(&predicted)
    })
}

/// The mean of scores over all partitions that folds ask for.
fn mean_over_partitions(
    data: &Dataset,
    folds: &FoldSpec,
    score: impl Fn(&TestCases, &Folds) -> Measures,
) -> Result<Measures> {
    let (strata, n_strata) = data.strata();
    let (partitions, _) = Folds::draw_all(folds, &strata, n_strata)?;
    let mut sums = [0.0; Measures::FIELDS];
    for partition in &partitions {
        let measures = score(&TestCases::new(data, partition), partition);
        sums.iter_mut().zip(measures.to_array()).for_each(|(sum, value)| *sum += value);
    }
    Ok(Measures::from_array(sums.map(|sum| sum / partitions.len() as f64)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dataset::Scale;

    #[test]
    fn a_constant_prediction_has_the_share_of_other_classes_as_its_error() {
        let codes = [0, 1, 1, 1, 0, 1, 2, 1];
        let columns: Vec<f64> = (0..codes.len()).map(|at| at as f64).collect();
        let data =
            Dataset::new(&columns, codes.to_vec(), 3, vec!["a".into()], Scale::None).unwrap();
        // One of the two folds has two of the three classes.
        let halves = FoldSpec::Kfold { k: 2, shuffle: true, seed: 3 };
        for (folds, balanced) in [(FoldSpec::Loo, 1.0 / 3.0), (halves, 5.0 / 12.0)] {
            let measures = constant(&data, &folds, 1).unwrap();
            assert_eq!((measures.error, measures.accuracy), (3.0 / 8.0, 5.0 / 8.0));
            assert!((measures.balanced_accuracy - balanced).abs() < 1e-15);
            assert_eq!(measures.matthews_corrcoef, 0.0);
        }
        assert!(training_mean(&data, &FoldSpec::Loo).is_err());
        // Five folds five times: fold sizes differ, so that their mean is not the share of rows.
        let repeated = constant(&data, &FoldSpec::Wrap5 { seed: 1 }, 1).unwrap();
        assert!((repeated.pooled_error - 3.0 / 8.0).abs() < 1e-15);
    }

    #[test]
    fn the_training_mean_is_predicted_for_each_fold() {
        let numbers = vec![1.0, 2.0, 6.0, 3.0];
        let data =
            Dataset::new(&[0.0, 1.0, 2.0, 3.0], vec![0, 0, 1, 1], 2, vec!["a".into()], Scale::None);
        let data = data.unwrap().with_numbers(numbers).unwrap();
        // The halves 1 2 and 6 3 are predicted as 4.5 and 1.5.
        let halves = FoldSpec::Kfold { k: 2, shuffle: false, seed: 0 };
        let scores = training_mean(&data, &halves).unwrap().numbers.unwrap();
        assert_eq!(scores.neg_mean_absolute_error, -3.0);
        assert_eq!(
            scores.neg_mean_squared_error,
            -(3.5 * 3.5 + 2.5 * 2.5 + 4.5 * 4.5 + 1.5 * 1.5) / 4.0
        );
        // Without a row, the mean of the others is off by 4/3 of its deviation, whatever it is.
        let alone = training_mean(&data, &FoldSpec::Loo).unwrap();
        assert!((alone.error - 16.0 / 9.0).abs() < 1e-15);
        // One split of which the first row is left out altogether.
        let splits = FoldSpec::Splits { splits: vec![(vec![1, 2], vec![3])] };
        let scores = training_mean(&data, &splits).unwrap().numbers.unwrap();
        assert_eq!(scores.neg_mean_absolute_error, -1.0);
    }
}
