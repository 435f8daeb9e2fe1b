//! The baseline that scores are read against: one class predicted for every row.

use crate::base::error::Result;
use crate::data::dataset::Dataset;
use crate::data::folds::{FoldSpec, Folds};
use crate::evaluate::{Measures, TestCases};

/// The scores of predicting `class` for every row that `folds` test, as a subset of features is scored; repeated
/// cross-validation is averaged over all its partitions.
///
/// # Errors
/// Folds that do not fit the table.
pub fn constant(data: &Dataset, folds: &FoldSpec, class: u32) -> Result<Measures> {
    let (partitions, _) = Folds::draw_all(folds, data.codes(), data.n_classes())?;
    let mut sums = [0.0; Measures::FIELDS];
    for partition in &partitions {
        let cases = TestCases::new(data, partition);
        let measures = cases.score(&vec![class; cases.n_cases()]);
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
        // Five folds five times: fold sizes differ, so that their mean is not the share of rows.
        let repeated = constant(&data, &FoldSpec::Wrap5 { seed: 1 }, 1).unwrap();
        assert!((repeated.pooled_error - 3.0 / 8.0).abs() < 1e-15);
    }
}
