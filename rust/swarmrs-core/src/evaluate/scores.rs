//! Test cases, and the scores of their predictions.

use super::Measures;
use crate::data::dataset::Dataset;
use crate::data::folds::Folds;

/// The test cases of all splits with their true classes; scores predictions.
///
/// A case is a row tested in a split. Cases are ordered by split, then row.
#[derive(Debug, Clone)]
pub struct TestCases {
    n_classes: usize,
    rows: Vec<u32>,
    truth: Vec<u32>,
    /// The end of each split's cases.
    ends: Vec<usize>,
    /// Cases of each class.
    support: Vec<u64>,
}

impl TestCases {
    /// The cases of `folds`.
    pub fn new(data: &Dataset, folds: &Folds) -> Self {
        let mut rows = Vec::new();
        let mut ends = Vec::new();
        for test in folds.tests() {
            rows.extend_from_slice(&test);
            ends.push(rows.len());
        }
        let truth: Vec<u32> = rows.iter().map(|&row| data.codes()[row as usize]).collect();
        let mut support = vec![0; data.n_classes()];
        for &class in &truth {
            support[class as usize] += 1;
        }
        Self { n_classes: data.n_classes(), rows, truth, ends, support }
    }

    /// The row of each case.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The number of cases.
    pub fn n_cases(&self) -> usize {
        self.rows.len()
    }

    /// All scores of these predictions, one for each case in order.
    pub fn score(&self, predicted: &[u32]) -> Measures {
        let c = self.n_classes;
        // Every score needs only the diagonal and the column sums of the confusion matrix, so memory is O(classes), not
        // O(classes^2): 400 MB for 5000 classes. Cases alternate between two sets of counts: a count that was just
        // written is slow to read again.
        let mut counts = vec![0u64; 4 * c];
        let (mut errors, mut start) = (0.0, 0);
        {
            let (hits, predictions) = counts.split_at_mut(2 * c);
            for &end in &self.ends {
                let cases = self.truth[start..end].iter().zip(&predicted[start..end]);
                let wrong: u32 = cases.clone().map(|(is, said)| u32::from(is != said)).sum();
                for (number, (&is, &said)) in cases.enumerate() {
                    let offset = number % 2 * c;
                    hits[offset + is as usize] += u64::from(is == said);
                    predictions[offset + said as usize] += 1;
                }
                errors += f64::from(wrong) / (end - start) as f64;
                start = end;
            }
        }
        let error = errors / self.ends.len() as f64;
        let n = self.truth.len() as f64;
        let hits: Vec<u64> = (0..c).map(|class| counts[class] + counts[c + class]).collect();
        let said: Vec<u64> =
            (2 * c..3 * c).map(|class| counts[class] + counts[c + class]).collect();
        let right: u64 = hits.iter().sum();
        let pooled_error = (n - right as f64) / n;

        let (mut recall, mut tested, mut f1, mut seen) = (0.0, 0.0, 0.0, 0.0);
        let (mut cross, mut said_squares, mut true_squares) = (0.0, 0.0, 0.0);
        for class in 0..c {
            let hits = hits[class] as f64;
            let (are, said) = (self.support[class] as f64, said[class] as f64);
            if are > 0.0 {
                recall += hits / are;
                tested += 1.0;
            }
            if are + said > 0.0 {
                f1 += 2.0 * hits / (are + said);
                seen += 1.0;
            }
            cross += are * said;
            said_squares += said * said;
            true_squares += are * are;
        }
        let spread = ((n * n - said_squares) * (n * n - true_squares)).sqrt();
        Measures {
            error,
            pooled_error,
            accuracy: 1.0 - error,
            balanced_accuracy: recall / tested,
            ovr_accuracy: 1.0 - 2.0 * pooled_error / c as f64,
            macro_f1: f1 / seen,
            mcc: if spread > 0.0 { (right as f64 * n - cross) / spread } else { 0.0 },
            separation: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dataset::Scale;
    use crate::data::folds::FoldSpec;
    use proptest::prelude::*;

    fn test_cases(codes: &[u32], k: usize) -> TestCases {
        let columns: Vec<f64> = (0..codes.len()).map(|i| i as f64).collect();
        let data =
            Dataset::new(&columns, codes.to_vec(), 3, vec!["a".into()], Scale::None).unwrap();
        let spec = FoldSpec::Kfold { k, shuffle: false, seed: 0 };
        TestCases::new(&data, &Folds::draw(&spec, codes, 3).unwrap().0)
    }

    #[test]
    fn scores_have_their_definitions() {
        // Two folds of four and three cases: 0 0 1 2 | 0 1 2.
        let cases = test_cases(&[0, 0, 0, 1, 1, 2, 2], 2);
        assert_eq!(cases.truth, [0, 0, 1, 2, 0, 1, 2]);
        let m = cases.score(&[0, 1, 1, 2, 0, 1, 0]);
        // Sums of fractions in another order than the code's: the last bit may differ.
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-15, "{a} {b}");
        // The mean of 1/4 and 1/3.
        near(m.error, 7.0 / 24.0);
        near(m.pooled_error, 2.0 / 7.0);
        near(m.accuracy, 1.0 - m.error);
        near(m.balanced_accuracy, (2.0 / 3.0 + 1.0 + 1.0 / 2.0) / 3.0);
        near(m.ovr_accuracy, 1.0 - 2.0 * (2.0 / 7.0) / 3.0);
        near(m.macro_f1, (4.0 / 6.0 + 4.0 / 5.0 + 2.0 / 3.0) / 3.0);
        near(m.mcc, (35.0 - 17.0) / ((49.0_f64 - 19.0) * (49.0 - 17.0)).sqrt());
    }

    #[test]
    fn a_class_that_is_neither_tested_nor_predicted_does_not_count() {
        let m = test_cases(&[0, 0, 1, 1], 2).score(&[0, 1, 0, 1]);
        assert_eq!((m.error, m.balanced_accuracy, m.macro_f1, m.mcc), (0.0, 1.0, 1.0, 1.0));
        let constant = test_cases(&[0, 0, 1, 1], 2).score(&[0; 4]);
        assert_eq!((constant.balanced_accuracy, constant.mcc), (0.5, 0.0));
    }
    /// The scores from a whole confusion matrix, as they are defined.
    fn by_matrix(cases: &TestCases, predicted: &[u32], c: usize) -> Measures {
        let mut matrix = vec![vec![0u64; c]; c];
        let (mut errors, mut start) = (0.0, 0);
        for &end in &cases.ends {
            let mut wrong = 0u32;
            for case in start..end {
                matrix[cases.truth[case] as usize][predicted[case] as usize] += 1;
                wrong += u32::from(cases.truth[case] != predicted[case]);
            }
            errors += f64::from(wrong) / (end - start) as f64;
            start = end;
        }
        let n = cases.truth.len() as f64;
        let sum = |cells: &mut dyn Iterator<Item = u64>| cells.sum::<u64>() as f64;
        let (mut recall, mut tested, mut f1, mut seen) = (0.0, 0.0, 0.0, 0.0);
        let (mut cross, mut said_squares, mut true_squares) = (0.0, 0.0, 0.0);
        for class in 0..c {
            let hits = matrix[class][class] as f64;
            let are = sum(&mut matrix[class].iter().copied());
            let said = sum(&mut matrix.iter().map(|row| row[class]));
            if are > 0.0 {
                (recall, tested) = (recall + hits / are, tested + 1.0);
            }
            if are + said > 0.0 {
                (f1, seen) = (f1 + 2.0 * hits / (are + said), seen + 1.0);
            }
            cross += are * said;
            said_squares += said * said;
            true_squares += are * are;
        }
        let right = sum(&mut (0..c).map(|class| matrix[class][class]));
        let spread = ((n * n - said_squares) * (n * n - true_squares)).sqrt();
        let (error, pooled_error) = (errors / cases.ends.len() as f64, (n - right) / n);
        Measures {
            error,
            pooled_error,
            accuracy: 1.0 - error,
            balanced_accuracy: recall / tested,
            ovr_accuracy: 1.0 - 2.0 * pooled_error / c as f64,
            macro_f1: f1 / seen,
            mcc: if spread > 0.0 { (right * n - cross) / spread } else { 0.0 },
            separation: 0.0,
        }
    }

    proptest! {
        #[test]
        fn scores_are_those_of_the_whole_confusion_matrix(
            cases in proptest::collection::vec((0u32..3, 0u32..3), 6..60), k in 2usize..4,
        ) {
            let (codes, predicted): (Vec<u32>, Vec<u32>) = cases.into_iter().unzip();
            prop_assume!(codes.iter().any(|&code| code != codes[0]));
            let cases = test_cases(&codes, k);
            let (new, old) = (cases.score(&predicted), by_matrix(&cases, &predicted, 3));
            prop_assert_eq!(new.to_array().map(f64::to_bits), old.to_array().map(f64::to_bits));
        }
    }

    #[test]
    fn many_classes_take_no_matrix() {
        let n = 1_000_000;
        let codes: Vec<u32> = (0..n).map(|row| row % 500_000).collect();
        let columns: Vec<f64> = codes.iter().map(|&code| f64::from(code)).collect();
        let data =
            Dataset::new(&columns, codes.clone(), 500_000, vec!["a".into()], Scale::None).unwrap();
        let spec = FoldSpec::Kfold { k: 2, shuffle: false, seed: 0 };
        let cases = TestCases::new(&data, &Folds::draw(&spec, &codes, 500_000).unwrap().0);
        // A matrix of 500 000 classes would take 2 TB.
        assert_eq!(cases.score(&cases.truth).error, 0.0);
    }
}
