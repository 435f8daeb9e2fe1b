//! Test cases, and the scores of their predictions.
//!
//! The scores of scikit-learn's names are the means over folds that its `cross_val_score` gives. Leave-one-out is the
//! exception: balanced accuracy, F1 and correlation say nothing about a single row, so that where every fold tests one
//! row they are those of all rows together, as are the scores of numbers. Complete cross-validation has the scores of its expected confusion matrix.

use super::{Measures, NumberScores};
use crate::base::sums::Moments;
use crate::data::dataset::Dataset;
use crate::data::folds::Folds;

/// The test cases of all splits with their true classes or numbers; scores predictions.
///
/// A case is a row tested in a split. Cases are ordered by split, then row.
#[derive(Debug, Clone)]
pub struct TestCases {
    n_classes: usize,
    rows: Vec<u32>,
    truth: Vec<u32>,
    /// The true numbers, if the target is numeric.
    numbers: Vec<f64>,
    /// The end of each split's cases.
    ends: Vec<usize>,
}

/// The probability 1, in the unit of [`Share`]: 2^-40. Up to 2^24 rows, sums of shares have 64 bits.
pub const ONE: u64 = 1 << 40;

/// The probability that a class is predicted for a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// The case.
    pub case: u32,
    /// The class.
    pub class: u32,
    /// The probability, in units of 1 / [`ONE`].
    pub weight: u64,
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
        let numbers = data.numbers().map_or_else(Vec::new, |numbers| {
            rows.iter().map(|&row| numbers[row as usize]).collect()
        });
        Self { n_classes: data.n_classes(), rows, truth, numbers, ends }
    }

    /// The row of each case.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The number of cases.
    pub fn n_cases(&self) -> usize {
        self.rows.len()
    }

    /// How many cases each split has.
    pub fn fold_sizes(&self) -> Vec<usize> {
        let starts = std::iter::once(&0).chain(&self.ends);
        self.ends.iter().zip(starts).map(|(end, start)| end - start).collect()
    }

    /// All scores of these predictions, one for each case in order; in time O(cases + folds * classes).
    pub fn score(&self, predicted: &[u32]) -> Measures {
        // No fold is empty, so that this is leave-one-out.
        let is_pooled = self.ends.len() == self.rows.len();
        let mut all = Margins::new(self.n_classes);
        let mut fold = Margins::new(self.n_classes);
        let mut means = ClassScores::default();
        let (mut errors, mut start) = (0.0, 0);
        if is_pooled {
            all.count(&self.truth, predicted);
            errors = self.truth.len() as f64 - all.hits() as f64;
        }
        for &end in if is_pooled { &[] } else { &self.ends[..] } {
            let (truth, predicted) = (&self.truth[start..end], &predicted[start..end]);
            let wrong: u32 =
                truth.iter().zip(predicted).map(|(is, said)| u32::from(is != said)).sum();
            errors += f64::from(wrong) / (end - start) as f64;
            fold.count(truth, predicted);
            means.add(fold.scores());
            all.take(&mut fold);
            start = end;
        }
        let n_folds = self.ends.len() as f64;
        let pooled = all.scores();
        let scores = if is_pooled { pooled } else { means.divided(n_folds) };
        let error = errors / n_folds;
        let n = self.truth.len() as f64;
        let pooled_error = (n - all.hits() as f64) / n;
        Measures {
            error,
            pooled_error,
            accuracy: 1.0 - error,
            balanced_accuracy: scores.balanced_accuracy,
            ovr_accuracy: 1.0 - 2.0 * pooled_error / self.n_classes as f64,
            f1_macro: scores.f1_macro,
            matthews_corrcoef: scores.matthews_corrcoef,
            pooled_balanced_accuracy: pooled.balanced_accuracy,
            separation: 0.0,
            numbers: None,
        }
    }

    /// All scores of these predicted numbers, one for each case in order.
    pub fn score_numbers(&self, predicted: &[f64]) -> Measures {
        let all = Residuals::new(&self.numbers, predicted);
        let (mut means, mut start, mut has_lone) = (NumberScores::default(), 0, false);
        for &end in &self.ends {
            let fold = Residuals::new(&self.numbers[start..end], &predicted[start..end]);
            has_lone |= end - start == 1;
            means.add(fold.scores());
            start = end;
        }
        let pooled = all.scores();
        let is_pooled = self.ends.len() == self.rows.len();
        let mut numbers = if is_pooled { pooled } else { means.divided(self.ends.len() as f64) };
        if has_lone {
            numbers.r2 = pooled.r2;
        }
        Measures {
            error: 1.0 - numbers.r2,
            pooled_error: 1.0 - pooled.r2,
            numbers: Some(numbers),
            ..Measures::WORST
        }
    }

    /// All scores of the expected confusion matrix: the shares of a case add up to [`ONE`].
    pub fn score_shares(&self, shares: &[Share]) -> Measures {
        let mut all = Margins::new(self.n_classes);
        for (number, &Share { case, class, weight }) in shares.iter().enumerate() {
            all.add(number, self.truth[case as usize], class, weight);
        }
        // Ratios of counts, whatever the unit of these: a power of two changes no bit.
        let scores = all.scores();
        let n = (self.truth.len() as u64 * ONE) as f64;
        let error = (n - all.hits() as f64) / n;
        Measures {
            error,
            pooled_error: error,
            accuracy: 1.0 - error,
            balanced_accuracy: scores.balanced_accuracy,
            ovr_accuracy: 1.0 - 2.0 * error / self.n_classes as f64,
            f1_macro: scores.f1_macro,
            matthews_corrcoef: scores.matthews_corrcoef,
            pooled_balanced_accuracy: scores.balanced_accuracy,
            separation: 0.0,
            numbers: None,
        }
    }
}

/// The residuals of some cases.
struct Residuals {
    n: f64,
    squares: f64,
    absolutes: f64,
    /// The sum of the squared deviations of the truth from its mean.
    spread: f64,
}

impl Residuals {
    fn new(truth: &[f64], predicted: &[f64]) -> Self {
        let (mut squares, mut absolutes) = (0.0, 0.0);
        for (is, said) in truth.iter().zip(predicted) {
            let residual = is - said;
            squares += residual * residual;
            absolutes += residual.abs();
        }
        Self { n: truth.len() as f64, squares, absolutes, spread: Moments::of(truth).squares }
    }

    /// As in scikit-learn, R2 of a truth that is constant is 1 where all is right, else 0.
    fn scores(&self) -> NumberScores {
        let mean = self.squares / self.n;
        NumberScores {
            r2: match (self.spread > 0.0, self.squares > 0.0) {
                (true, _) => 1.0 - self.squares / self.spread,
                (false, is_wrong) => f64::from(u8::from(!is_wrong)),
            },
            neg_mean_squared_error: -mean,
            neg_root_mean_squared_error: -mean.sqrt(),
            neg_mean_absolute_error: -self.absolutes / self.n,
        }
    }
}

impl NumberScores {
    fn add(&mut self, other: Self) {
        self.r2 += other.r2;
        self.neg_mean_squared_error += other.neg_mean_squared_error;
        self.neg_root_mean_squared_error += other.neg_root_mean_squared_error;
        self.neg_mean_absolute_error += other.neg_mean_absolute_error;
    }

    fn divided(self, n: f64) -> Self {
        Self {
            r2: self.r2 / n,
            neg_mean_squared_error: self.neg_mean_squared_error / n,
            neg_root_mean_squared_error: self.neg_root_mean_squared_error / n,
            neg_mean_absolute_error: self.neg_mean_absolute_error / n,
        }
    }
}

/// The diagonal, the row sums and the column sums of a confusion matrix. No score needs more, so memory is O(classes),
/// not O(classes^2): 400 MB for 5000 classes.
struct Margins {
    /// Of each class: cases of it that are predicted right, cases of it, predictions of it. Cases alternate between two
    /// sets of these counts: a count that was just written is slow to read again.
    counts: [Vec<[u64; 3]>; 2],
}

/// The scores that weigh classes.
#[derive(Clone, Copy, Default)]
struct ClassScores {
    balanced_accuracy: f64,
    f1_macro: f64,
    matthews_corrcoef: f64,
}

impl ClassScores {
    fn add(&mut self, other: Self) {
        self.balanced_accuracy += other.balanced_accuracy;
        self.f1_macro += other.f1_macro;
        self.matthews_corrcoef += other.matthews_corrcoef;
    }

    fn divided(self, n: f64) -> Self {
        Self {
            balanced_accuracy: self.balanced_accuracy / n,
            f1_macro: self.f1_macro / n,
            matthews_corrcoef: self.matthews_corrcoef / n,
        }
    }
}

impl Margins {
    fn new(n_classes: usize) -> Self {
        Self { counts: [vec![[0; 3]; n_classes], vec![[0; 3]; n_classes]] }
    }

    fn count(&mut self, truth: &[u32], predicted: &[u32]) {
        for (number, (&is, &said)) in truth.iter().zip(predicted).enumerate() {
            self.add(number, is, said, 1);
        }
    }

    /// Adds a prediction of this weight, the `number`-th of all.
    #[inline]
    fn add(&mut self, number: usize, is: u32, said: u32, weight: u64) {
        let counts = &mut self.counts[number % 2];
        let class = &mut counts[is as usize];
        class[0] += if is == said { weight } else { 0 };
        class[1] += weight;
        counts[said as usize][2] += weight;
    }

    /// Adds the counts of `other`, which starts anew.
    fn take(&mut self, other: &mut Self) {
        for (mine, theirs) in
            self.counts.iter_mut().flatten().zip(other.counts.iter_mut().flatten())
        {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                *mine += std::mem::take(theirs);
            }
        }
    }

    /// Hits, cases and predictions of each class.
    fn classes(&self) -> impl Iterator<Item = [u64; 3]> {
        let [a, b] = &self.counts;
        a.iter().zip(b).map(|(a, b)| std::array::from_fn(|at| a[at] + b[at]))
    }

    fn hits(&self) -> u64 {
        self.classes().map(|[hits, ..]| hits).sum()
    }

    /// Mean recall of the classes that have cases, mean F1 of those that have cases or predictions, and the correlation
    /// of classes and predictions, 0 where one of the two is constant.
    fn scores(&self) -> ClassScores {
        let (mut recall, mut tested, mut f1, mut seen) = (0.0, 0.0, 0.0, 0.0);
        let (mut n, mut right) = (0.0, 0.0);
        let (mut cross, mut said_squares, mut true_squares) = (0.0, 0.0, 0.0);
        for class in self.classes() {
            let [hits, are, said] = class.map(|count| count as f64);
            if are > 0.0 {
                recall += hits / are;
                tested += 1.0;
            }
            if are + said > 0.0 {
                f1 += 2.0 * hits / (are + said);
                seen += 1.0;
            }
            n += are;
            right += hits;
            cross += are * said;
            said_squares += said * said;
            true_squares += are * are;
        }
        let spread = ((n * n - said_squares) * (n * n - true_squares)).sqrt();
        ClassScores {
            balanced_accuracy: recall / tested,
            f1_macro: f1 / seen,
            matthews_corrcoef: if spread > 0.0 { (right * n - cross) / spread } else { 0.0 },
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
        assert_eq!(cases.fold_sizes(), [4, 3]);
        let m = cases.score(&[0, 1, 1, 2, 0, 1, 0]);
        // Sums of fractions in another order than the code's: the last bit may differ.
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-15, "{a} {b}");
        // The mean of 1/4 and 1/3.
        near(m.error, 7.0 / 24.0);
        near(m.pooled_error, 2.0 / 7.0);
        near(m.accuracy, 1.0 - m.error);
        near(m.ovr_accuracy, 1.0 - 2.0 * (2.0 / 7.0) / 3.0);
        // Means over the two folds.
        near(m.balanced_accuracy, f64::midpoint(2.5 / 3.0, 2.0 / 3.0));
        near(
            m.f1_macro,
            f64::midpoint((2.0 / 3.0 + 2.0 / 3.0 + 1.0) / 3.0, (2.0 / 3.0 + 1.0) / 3.0),
        );
        let first = (12.0 - 5.0) / ((16.0_f64 - 6.0) * (16.0 - 6.0)).sqrt();
        let second = (6.0 - 3.0) / ((9.0_f64 - 5.0) * (9.0 - 3.0)).sqrt();
        near(m.matthews_corrcoef, f64::midpoint(first, second));
        near(m.pooled_balanced_accuracy, (2.0 / 3.0 + 1.0 + 1.0 / 2.0) / 3.0);
    }

    #[test]
    fn leave_one_out_scores_all_rows_together() {
        let m = test_cases(&[0, 0, 0, 1, 1, 2, 2], 7).score(&[0, 1, 0, 1, 1, 2, 0]);
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-15, "{a} {b}");
        near(m.error, 2.0 / 7.0);
        near(m.balanced_accuracy, (2.0 / 3.0 + 1.0 + 1.0 / 2.0) / 3.0);
        near(m.f1_macro, (4.0 / 6.0 + 4.0 / 5.0 + 2.0 / 3.0) / 3.0);
        near(m.matthews_corrcoef, (35.0 - 17.0) / ((49.0_f64 - 19.0) * (49.0 - 17.0)).sqrt());
        assert_eq!(m.balanced_accuracy, m.pooled_balanced_accuracy);
    }

    #[test]
    fn a_class_that_is_neither_tested_nor_predicted_does_not_count() {
        let m = test_cases(&[0, 0, 1, 1], 2).score(&[0, 1, 0, 1]);
        let scores = (m.error, m.balanced_accuracy, m.f1_macro, m.matthews_corrcoef);
        assert_eq!(scores, (0.0, 1.0, 1.0, 1.0));
        let constant = test_cases(&[0, 0, 1, 1], 2).score(&[0; 4]);
        assert_eq!((constant.balanced_accuracy, constant.matthews_corrcoef), (0.5, 0.0));
    }

    fn numeric_cases(numbers: &[f64], k: usize) -> TestCases {
        let columns: Vec<f64> = (0..numbers.len()).map(|i| i as f64).collect();
        let codes = (0..numbers.len() as u32).map(|row| row % 2).collect();
        let data = Dataset::new(&columns, codes, 2, vec!["a".into()], Scale::None).unwrap();
        let data = data.with_numbers(numbers.to_vec()).unwrap();
        let (strata, count) = data.strata();
        let spec = FoldSpec::Kfold { k, shuffle: false, seed: 0 };
        TestCases::new(&data, &Folds::draw(&spec, &strata, count).unwrap().0)
    }

    #[test]
    fn scores_of_numbers_have_their_definitions() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-14, "{a} {b}");
        // Folds 1 2 3 and 4 8, deviations 2 and 8; residuals 0 1 -1 and 2 -2.
        let predicted = [1.0, 1.0, 4.0, 2.0, 10.0];
        let measures = numeric_cases(&[1.0, 2.0, 3.0, 4.0, 8.0], 2).score_numbers(&predicted);
        let scores = measures.numbers.unwrap();
        near(scores.r2, f64::midpoint(1.0 - 2.0 / 2.0, 1.0 - 8.0 / 8.0));
        near(scores.neg_mean_squared_error, -f64::midpoint(2.0 / 3.0, 4.0));
        near(scores.neg_root_mean_squared_error, -f64::midpoint((2.0_f64 / 3.0).sqrt(), 2.0));
        near(scores.neg_mean_absolute_error, -f64::midpoint(2.0 / 3.0, 2.0));
        // All rows: mean 3.6, deviations 29.2.
        near(measures.pooled_error, 10.0 / 29.2);
        near(measures.error, 1.0 - scores.r2);
        // Leave-one-out scores all rows together.
        let measures = numeric_cases(&[1.0, 2.0, 3.0, 4.0, 8.0], 5).score_numbers(&predicted);
        let scores = measures.numbers.unwrap();
        near(scores.r2, 1.0 - 10.0 / 29.2);
        near(scores.neg_root_mean_squared_error, -2.0_f64.sqrt());
        near(scores.neg_mean_absolute_error, -6.0 / 5.0);
        assert_eq!(measures.error, measures.pooled_error);
        // A fold of one row has no R2, folds of equal numbers have 1 or 0.
        let measures = numeric_cases(&[1.0, 2.0, 3.0, 4.0, 8.0], 4).score_numbers(&predicted);
        near(measures.numbers.unwrap().r2, 1.0 - 10.0 / 29.2);
        let measures = numeric_cases(&[1.0, 1.0, 3.0, 3.0], 2).score_numbers(&[1.0, 1.0, 3.0, 4.0]);
        near(measures.numbers.unwrap().r2, 0.5);
    }

    /// Balanced accuracy, F1 and correlation of some cases from a whole confusion matrix, as they are defined.
    fn by_matrix(truth: &[u32], predicted: &[u32]) -> [f64; 3] {
        let mut matrix = [[0u64; 3]; 3];
        for (&is, &said) in truth.iter().zip(predicted) {
            matrix[is as usize][said as usize] += 1;
        }
        let n = truth.len() as f64;
        let sum = |cells: &mut dyn Iterator<Item = u64>| cells.sum::<u64>() as f64;
        let (mut recall, mut tested, mut f1, mut seen) = (0.0, 0.0, 0.0, 0.0);
        let (mut cross, mut said_squares, mut true_squares) = (0.0, 0.0, 0.0);
        for class in 0..3 {
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
        let right = sum(&mut (0..3).map(|class| matrix[class][class]));
        let spread = ((n * n - said_squares) * (n * n - true_squares)).sqrt();
        let correlation = if spread > 0.0 { (right * n - cross) / spread } else { 0.0 };
        [recall / tested, f1 / seen, correlation]
    }

    proptest! {
        #[test]
        fn scores_are_those_of_the_whole_confusion_matrix(
            cases in proptest::collection::vec((0u32..3, 0u32..3), 6..60), k in 2usize..4,
        ) {
            let (codes, predicted): (Vec<u32>, Vec<u32>) = cases.into_iter().unzip();
            prop_assume!(codes.iter().any(|&code| code != codes[0]));
            let cases = test_cases(&codes, k);
            let m = cases.score(&predicted);
            let mut start = 0;
            let mut means = [0.0; 3];
            for size in cases.fold_sizes() {
                let rows = start..start + size;
                let fold = by_matrix(&cases.truth[rows.clone()], &predicted[rows]);
                means.iter_mut().zip(fold).for_each(|(mean, score)| *mean += score);
                start += size;
            }
            let means = means.map(|sum| sum / k as f64);
            prop_assert_eq!([m.balanced_accuracy, m.f1_macro, m.matthews_corrcoef], means);
            let pooled = by_matrix(&cases.truth, &predicted);
            prop_assert_eq!(m.pooled_balanced_accuracy, pooled[0]);
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
