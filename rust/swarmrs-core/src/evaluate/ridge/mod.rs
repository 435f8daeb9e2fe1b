//! Ridge regression, and ridge classification: least squares on targets of +1 and -1; with exact cross-validation from one
//! fit.
//!
//! As scikit-learn's `RidgeClassifier`: one column of targets for two classes, one for each class where there are more;
//! weights w minimize |y - Xw - b|² + alpha |w|², and the greatest decision value Xw + b wins, the smallest class of
//! equals (a positive value of two classes is the second one). A numeric target, less its mean over all rows, is the one
//! column of targets, and Xw + b the prediction.
//!
//! The residuals of a fit to all rows are R y with
//!
//! ```text
//! R = I - 11ᵀ/n - X (XᵀX + alpha)⁻¹ Xᵀ            X centered, n rows and s columns
//! ```
//!
//! and those of a fit without the rows B, at the rows B, are `R_BB⁻¹ (R y)_B`: no fold is fitted again. With the Cholesky
//! factor U of the s x s matrix and `Q = U⁻ᵀXᵀ` that is `R = I - 11ᵀ/n - QᵀQ`, in n s² multiplications. Where s is
//! greater, the n x n matrix `K = XXᵀ` gives `R / alpha = QᵀQ - 11ᵀ/(n (alpha + c))` with `Q = U⁻ᵀ` and U the factor of
//! `K + alpha + c 11ᵀ/n`. Any c does; with the mean eigenvalue of K no digits cancel.
//!
//! Folds are fitted one by one where that is cheaper (few large folds), where they do not share their rows (scaling or
//! imputation by training rows, splits that leave rows out), and where `R_BB` is so near to singular that `R y` says
//! little.
//!
//! Nothing is kept from one subset to the next: a score is a function of the subset alone, bit for bit. Where memory allows,
//! the dot products of all pairs of features are computed once; their bits are those of the products of a subset.

mod forward;
mod leave_one_out;
mod linear;
mod rfe;

pub use forward::ridge_sfs;
pub use rfe::ridge_rfe;

use super::folded::FoldedTable;
use super::{Classify, Evaluator, Finished, Measures, Resources, ScaleFit, TestCases, Work};
use crate::base::error::{Error, Result};
use crate::base::parallel::Pool;
use crate::base::subset::Subset;
use crate::base::sums::Moments;
use crate::data::dataset::Scale;
use crate::data::folds::{Folds, Split};
use crate::simd::Isa;
use leave_one_out::LeaveOneOut;
use linear::{Rows, System, weights};
use std::sync::Arc;

/// Decision values nearer to each other than this, relative to the greatest if that is above 1, are equal: float64 sums
/// that are equal on paper differ in the last digits.
const TIED: f64 = 1e-10;
/// A pivot of `R_BB` below this share of the terms it is the difference of has lost more than 20 of 53 bits.
const CANCELLED: f64 = 1.0 / (1 << 20) as f64;

/// Multiplications that the products of all pairs of features may take: about a fifth of a second.
const MOST_PRODUCTS: u64 = 1 << 30;

/// Evaluates subsets by ridge regression or classification.
pub struct Ridge {
    n_classes: usize,
    /// The mean of a numeric target, which predictions are counted from.
    mean: Option<f64>,
    cases: TestCases,
    /// The scaled values of each feature, less their mean over all rows.
    columns: Rows,
    /// The dot product of each pair of columns, row after row; empty where it is not held.
    products: Vec<f64>,
    /// The targets, of +1 for rows of the class and -1 for others: of class 1, or of each class. A numeric target less its
    /// mean.
    targets: Rows,
    n_rows: usize,
    alpha: f64,
    splits: Splits,
    leave_one_out: Option<LeaveOneOut>,
    pool: Arc<Pool>,
    isa: Isa,
    work: Work,
}

/// The rows that are tested and those that train.
enum Splits {
    /// All rows that a split does not test train for it.
    Rest(Vec<Vec<u32>>),
    /// Any rows.
    Any(Vec<Split>),
}

/// The penalty in use: the one given, or the number of rows.
///
/// # Errors
/// [`Error::OutOfRange`] for one that is not a positive number.
fn settle_alpha(alpha: Option<f64>, n_samples: usize) -> Result<f64> {
    let alpha = alpha.unwrap_or(n_samples as f64);
    if alpha > 0.0 && alpha.is_finite() {
        return Ok(alpha);
    }
    Err(Error::out_of_range("ridge_alpha", alpha, "a number above 0"))
}

/// The targets of some rows by their classes: +1 and -1, one for two classes, else one for each.
fn targets(codes: &[u32], n_classes: usize) -> Rows {
    let classes = if n_classes == 2 { 1..2 } else { 0..n_classes as u32 };
    let mut targets = Rows::zeros(classes.len(), codes.len());
    for (class, target) in classes.zip(targets.rows_mut()) {
        for (&code, target) in codes.iter().zip(target) {
            *target = if code == class { 1.0 } else { -1.0 };
        }
    }
    targets
}

/// Some of the numbers of a target less the mean of all of them, which comes second.
fn centered_numbers(numbers: &[f64], rows: &[u32]) -> (Rows, f64) {
    let mean = Moments::of(numbers).mean;
    let mut target = Rows::zeros(1, rows.len());
    for values in target.rows_mut() {
        values.iter_mut().zip(rows).for_each(|(to, &row)| *to = numbers[row as usize] - mean);
    }
    (target, mean)
}

impl Ridge {
    /// An evaluator for this table; without `alpha` the penalty is the number of rows.
    ///
    /// # Errors
    /// A penalty that is not a positive number.
    pub fn new(
        table: &FoldedTable<'_>,
        alpha: Option<f64>,
        scale_fit: ScaleFit,
        resources: Resources,
        isa: Isa,
    ) -> Result<Self> {
        let (data, n) = (table.data, table.n());
        let mut alpha = settle_alpha(alpha, data.n_samples())?;
        if data.scale() == Scale::None || scale_fit == ScaleFit::Train {
            // Features that are not scaled share a power of two, which is 1 unless their range is extreme.
            let factor = table.quantization.quantizers[0].normalize(1.0);
            alpha = (alpha * factor * factor).clamp(f64::MIN_POSITIVE, 1e300);
        }
        let mut columns = Rows::zeros(data.n_features(), n);
        let features = table.values.chunks_exact(n).zip(&table.quantization.quantizers);
        for ((values, quantizer), column) in features.zip(columns.rows_mut()) {
            let column = &mut column[..n];
            column.iter_mut().zip(values).for_each(|(to, &x)| *to = quantizer.scale(x));
            let mean = column.iter().sum::<f64>() / n as f64;
            for x in column {
                *x -= mean;
            }
        }
        let splits = match &*table.folds {
            folds @ Folds::Partition { .. } => Splits::Rest(folds.tests()),
            // No row of a split does both, so that these are all rows.
            Folds::Splits(splits) if splits.iter().all(|s| s.train.len() + s.test.len() == n) => {
                Splits::Rest(splits.iter().map(|split| split.test.clone()).collect())
            }
            Folds::Splits(splits) => Splits::Any(splits.clone()),
        };
        let mut work = Work::default();
        let mut products = Vec::new();
        let n_features = data.n_features() as u64;
        let n_products = n as u64 * n_features * n_features;
        if matches!(splits, Splits::Rest(_))
            && n_features * n_features * 8 <= resources.memory / 2
            && n_products <= MOST_PRODUCTS
        {
            products = columns.products(isa, &resources.pool);
            work.setup_ops = n_products;
        }
        let (targets, mean) = match data.numbers() {
            None => (targets(&table.codes, data.n_classes()), None),
            Some(numbers) => {
                let (target, mean) = centered_numbers(numbers, &table.rows);
                (target, Some(mean))
            }
        };
        let leave_one_out = match &splits {
            Splits::Rest(tests) if mean.is_none() => {
                LeaveOneOut::new(&columns, &targets, &table.codes, tests, isa)
            }
            _ => None,
        };
        Ok(Self {
            n_classes: data.n_classes(),
            mean,
            cases: TestCases::new(data, table.drawn),
            columns,
            products,
            targets,
            n_rows: n,
            alpha,
            splits,
            leave_one_out,
            pool: resources.pool,
            isa,
            work,
        })
    }

    /// Counts the products of two values that enter a sum.
    fn count_work(&mut self, subsets: &[Subset]) {
        let n = self.n_rows as u64;
        for subset in subsets {
            let size = subset.count() as u64;
            let ops = n * size * (size.min(n) + 1) / 2;
            self.work.element_ops += ops;
            self.work.from_scratch_ops += ops;
        }
    }

    /// The predicted class of each case.
    fn classes(&self, subset: &Subset) -> Vec<u32> {
        let features: Vec<usize> = subset.iter().collect();
        let quickly = self.leave_one_out.as_ref().and_then(|by| by.classes(self, &features));
        quickly.unwrap_or_else(|| self.classes_by_residuals(&features))
    }

    fn classes_by_residuals(&self, features: &[usize]) -> Vec<u32> {
        let decisions = self.decisions(features);
        decisions.chunks_exact(self.targets.len()).map(|decision| self.class(decision)).collect()
    }

    /// The predicted number of each case, of a target with this mean.
    fn numbers(&self, mean: f64, subset: &Subset) -> Vec<f64> {
        let features: Vec<usize> = subset.iter().collect();
        self.decisions(&features).into_iter().map(|value| mean + value).collect()
    }

    /// The decision values of each case, one for each target.
    fn decisions(&self, features: &[usize]) -> Vec<f64> {
        let n_targets = self.targets.len();
        let mut decisions = vec![0.0; self.cases.n_cases() * n_targets];
        let mut rest = decisions.as_mut_slice();
        let mut next = |test: &[u32]| {
            let (decisions, others) =
                std::mem::take(&mut rest).split_at_mut(test.len() * n_targets);
            rest = others;
            decisions
        };
        match &self.splits {
            Splits::Any(splits) => {
                for Split { train, test } in splits {
                    self.refit(features, train, test, next(test));
                }
            }
            Splits::Rest(tests) => {
                let residuals = self
                    .shares_a_fit(features.len(), tests)
                    .then(|| ResidualMatrix::new(self, features));
                for test in tests {
                    let decisions = next(test);
                    let is_done = residuals
                        .as_ref()
                        .is_some_and(|residuals| residuals.decide(self, test, decisions));
                    if !is_done {
                        self.refit(features, &self.all_but(test), test, decisions);
                    }
                }
            }
        }
        decisions
    }

    /// The class of these decision values.
    fn class(&self, decision: &[f64]) -> u32 {
        if self.n_classes == 2 {
            return u32::from(decision[0] > TIED);
        }
        let best = decision.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = best - TIED * best.abs().max(1.0);
        decision.iter().position(|&value| value >= least).unwrap_or(0) as u32
    }

    /// True if one fit to all rows and a correction for each fold take fewer multiplications than a fit of each fold.
    fn shares_a_fit(&self, size: usize, tests: &[Vec<u32>]) -> bool {
        let (n, s) = (self.n_rows as f64, size as f64);
        let rank = s.min(n);
        let fit = n * s * rank / 2.0 + rank * rank * rank / 6.0;
        let blocks = tests.iter().map(|test| {
            let b = test.len() as f64;
            b * b * rank / 2.0 + b * b * b / 6.0
        });
        2.0 * fit + blocks.sum::<f64>() < tests.len() as f64 * fit
    }

    /// All rows but some, which ascend.
    fn all_but(&self, test: &[u32]) -> Vec<u32> {
        let mut left_out = test.iter().peekable();
        (0..self.n_rows as u32).filter(|row| left_out.next_if_eq(&row).is_none()).collect()
    }

    /// Fits the rows `train` and writes the decision values of the rows `test`, row after row.
    fn refit(&self, features: &[usize], train: &[u32], test: &[u32], decisions: &mut [f64]) {
        let n_targets = self.targets.len();
        let all: Vec<usize> = (0..n_targets).collect();
        let (x, means) = self.columns.centered(features, train);
        let (y, intercepts) = self.targets.centered(&all, train);
        let weights = weights(self.isa, &x, &y, train.len(), self.alpha, None);
        let tested = self.columns.shifted(features, test, &means);
        let mut values = Rows::zeros(n_targets, test.len());
        for ((values, weights), intercept) in values.rows_mut().zip(weights).zip(intercepts) {
            let factors: Vec<f64> = weights.iter().map(|weight| -weight).collect();
            values.fill(intercept);
            tested.subtract_from(self.isa, values, &factors);
        }
        for (at, values) in values.rows().enumerate() {
            let decisions = decisions.chunks_exact_mut(n_targets);
            decisions.zip(values).for_each(|(decision, &value)| decision[at] = value);
        }
    }
}

/// R up to a factor: `unit I + sign QᵀQ - shift 11ᵀ`.
struct ResidualMatrix {
    q: Rows,
    unit: f64,
    sign: f64,
    shift: f64,
    /// R times each target.
    residuals: Rows,
    /// The diagonal of R.
    diagonal: Vec<f64>,
    /// The greater of the terms that each value of the diagonal is the difference of.
    terms: Vec<f64>,
}

impl ResidualMatrix {
    fn new(ridge: &Ridge, features: &[usize]) -> Self {
        let (isa, n, s) = (ridge.isa, ridge.n_rows, features.len());
        let ones = n as f64;
        let (q, unit, sign, shift) = if s * s * (3 * n + s) < n * n * (3 * s + 2 * n) {
            let mut system = if ridge.products.is_empty() {
                System::of_vectors(isa, &ridge.columns.chosen(features), n)
            } else {
                System::of_table(isa, &ridge.products, ridge.columns.len(), features, n)
            };
            system.set_sides(&ridge.columns, features);
            system.eliminate_ridge(ridge.alpha, false);
            (system.into_sides(), 1.0, -1.0, 1.0 / ones)
        } else {
            let x: Vec<&[f64]> = features.iter().map(|&at| ridge.columns.row(at)).collect();
            let mut system = System::of_products(isa, &x, n, n, None);
            let mean = system.trace() / ones;
            system.map_entries(|entry| entry + mean / ones);
            system.set_identity();
            system.eliminate_ridge(ridge.alpha, true);
            (system.into_sides(), 0.0, 1.0, 1.0 / (ones * (ridge.alpha + mean)))
        };
        let mut squares = vec![0.0; n];
        for row in q.rows() {
            squares.iter_mut().zip(row).for_each(|(sum, x)| *sum += x * x);
        }
        let mut residuals = ridge.targets.clone();
        for (target, residuals) in ridge.targets.rows().zip(residuals.rows_mut()) {
            let sum: f64 = target[..n].iter().sum();
            for y in residuals.iter_mut() {
                *y = unit * *y - shift * sum;
            }
            let factors: Vec<f64> = q.times(isa, target).iter().map(|dot| -sign * dot).collect();
            q.subtract_from(isa, residuals, &factors);
        }
        Self {
            diagonal: squares.iter().map(|sum| unit + sign * sum - shift).collect(),
            terms: squares.iter().map(|sum| sum.max(unit)).collect(),
            q,
            unit,
            sign,
            shift,
            residuals,
        }
    }

    /// Writes the decision values of rows by a fit without them, row after row; false if too many digits cancel.
    fn decide(&self, ridge: &Ridge, test: &[u32], decisions: &mut [f64]) -> bool {
        let n_targets = ridge.targets.len();
        if let &[row] = test {
            let row = row as usize;
            let (diagonal, term) = (self.diagonal[row], self.terms[row]);
            for (at, decision) in decisions.iter_mut().enumerate() {
                *decision = ridge.targets.row(at)[row] - self.residuals.row(at)[row] / diagonal;
            }
            return diagonal > CANCELLED * term;
        }
        let q = self.q.transposed(test);
        let mut system = System::of_vectors(ridge.isa, &q, n_targets);
        system.map_entries(|entry| self.sign * entry - self.shift);
        for (at, &row) in test.iter().enumerate() {
            *system.entry(at, at) += self.unit;
            for (side, residuals) in system.sides(at).iter_mut().zip(self.residuals.rows()) {
                *side = residuals[row as usize];
            }
        }
        let floors: Vec<f64> =
            test.iter().map(|&row| CANCELLED * self.terms[row as usize]).collect();
        if system.eliminate(&floors, false) > 0 {
            return false;
        }
        system.substitute_back();
        for ((at, &row), decision) in
            test.iter().enumerate().zip(decisions.chunks_exact_mut(n_targets))
        {
            for ((decision, side), target) in
                decision.iter_mut().zip(system.sides(at)).zip(ridge.targets.rows())
            {
                *decision = target[row as usize] - *side;
            }
        }
        true
    }
}

impl Ridge {
    fn score(&self, subset: &Subset) -> Measures {
        match self.mean {
            None => self.cases.score(&self.classes(subset)),
            Some(mean) => self.cases.score_numbers(&self.numbers(mean, subset)),
        }
    }
}

impl Evaluator for Ridge {
    fn evaluate(&mut self, subsets: &[Subset]) -> Result<Vec<Measures>> {
        self.count_work(subsets);
        Ok(self.pool.map(subsets.iter().collect(), |subset| self.score(subset)))
    }

    fn evaluate_noting(
        &mut self,
        subsets: &[Subset],
        finished: &Finished,
    ) -> Result<Vec<Measures>> {
        self.count_work(subsets);
        Ok(self.pool.map((0..subsets.len()).collect(), |place| {
            let measures = self.score(&subsets[place]);
            finished.note(place, measures);
            measures
        }))
    }

    fn recall(&mut self, subsets: &[Subset], _: &[Measures]) {
        self.count_work(subsets);
    }

    fn work(&self) -> Work {
        self.work
    }
}

impl Classify for Ridge {
    fn predict(&self, subset: &Subset) -> Vec<(u32, u32)> {
        if self.mean.is_some() {
            return Vec::new();
        }
        self.cases.rows().iter().copied().zip(self.classes(subset)).collect()
    }

    fn predict_numbers(&self, subset: &Subset) -> Vec<(u32, f64)> {
        let predicted = self.mean.map_or_else(Vec::new, |mean| self.numbers(mean, subset));
        self.cases.rows().iter().copied().zip(predicted).collect()
    }

    fn fold_sizes(&self) -> Vec<usize> {
        self.cases.fold_sizes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dataset::Dataset;
    use crate::data::folds::FoldSpec;
    use proptest::prelude::*;

    pub(super) fn dataset(
        columns: &[f64],
        codes: &[u32],
        n_classes: usize,
        scale: Scale,
    ) -> Dataset {
        let names = (0..columns.len() / codes.len()).map(|f| format!("f{f}")).collect();
        Dataset::new(columns, codes.to_vec(), n_classes, names, scale).unwrap()
    }

    pub(super) fn ridge(data: &Dataset, alpha: f64, folds: &FoldSpec) -> Ridge {
        ridge_within(1 << 30, data, alpha, folds)
    }

    /// The same with so much memory.
    pub(super) fn ridge_within(memory: u64, data: &Dataset, alpha: f64, folds: &FoldSpec) -> Ridge {
        let folds = Folds::draw(folds, data.codes(), data.n_classes()).unwrap().0;
        let table = FoldedTable::new(data, &folds, ScaleFit::All).unwrap().0;
        let resources = Resources { memory, ..Resources::default() };
        Ridge::new(&table, Some(alpha), ScaleFit::All, resources, Isa::best()).unwrap()
    }

    /// Tables of two to four classes with columns of noise, of few values, of a constant and of copies.
    pub(super) fn tables() -> impl Strategy<Value = (Vec<f64>, Vec<u32>, usize)> {
        (4usize..30, 1usize..40, 2usize..5).prop_flat_map(|(n, d, n_classes)| {
            let codes = proptest::collection::vec(0..n_classes as u32, n).prop_map(|mut codes| {
                (codes[0], codes[1]) = (0, 1);
                codes
            });
            let column = prop_oneof![
                4 => proptest::collection::vec(-3.0..3.0, n),
                1 => proptest::collection::vec((0u8..3).prop_map(f64::from), n),
                1 => Just(vec![7.0; n]),
                1 => Just((0..n).map(|row| (row % 4) as f64).collect()),
            ];
            let columns = proptest::collection::vec(column, d).prop_map(|columns| columns.concat());
            (columns, codes, Just(n_classes))
        })
    }

    /// The decision values of a row by the normal equations of the training rows, intercept included, solved by
    /// Gaussian elimination with pivots from the whole column.
    fn naive(ridge: &Ridge, features: &[usize], train: &[u32], row: usize) -> Vec<f64> {
        let value = |at: usize, row: usize| {
            if at < features.len() { ridge.columns.row(features[at])[row] } else { 1.0 }
        };
        let (size, n_targets) = (features.len() + 1, ridge.targets.len());
        let mut equations: Vec<Vec<f64>> = (0..size)
            .map(|i| {
                let sum = |of: &dyn Fn(usize) -> f64| -> f64 {
                    train.iter().map(|&row| value(i, row as usize) * of(row as usize)).sum()
                };
                let penalty = |j| if i == j && i < features.len() { ridge.alpha } else { 0.0 };
                let products = (0..size).map(|j| sum(&|row| value(j, row)) + penalty(j));
                let sides = (0..n_targets).map(|at| sum(&|row| ridge.targets.row(at)[row]));
                products.chain(sides).collect()
            })
            .collect();
        for at in 0..size {
            let size_of = |&i: &usize| equations[i][at].abs();
            let pivot = (at..size).max_by(|i, j| size_of(i).total_cmp(&size_of(j))).unwrap();
            equations.swap(at, pivot);
            for other in (0..size).filter(|&other| other != at) {
                let factor = equations[other][at] / equations[at][at];
                let pivots = equations[at].clone();
                let terms = equations[other].iter_mut().zip(pivots).skip(at);
                terms.for_each(|(term, pivot)| *term -= factor * pivot);
            }
        }
        let weight = |i: usize, target: usize| equations[i][size + target] / equations[i][i];
        let decision = |target| (0..size).map(|i| weight(i, target) * value(i, row)).sum();
        (0..n_targets).map(decision).collect()
    }

    proptest! {
        #[test]
        fn decision_values_are_those_of_a_fit_to_the_training_rows(
            (columns, codes, n_classes) in tables(),
            scale in prop_oneof![Just(Scale::Standard), Just(Scale::Minmax), Just(Scale::None)],
            alpha in prop_oneof![Just(0.01), Just(1.0), Just(30.0)],
            fold_size in 1usize..6,
            chosen: u64,
        ) {
            let (n, data) = (codes.len(), dataset(&columns, &codes, n_classes, scale));
            let ridge = ridge(&data, alpha, &FoldSpec::Loo);
            let features: Vec<usize> =
                (0..data.n_features()).filter(|f| *f == 0 || chosen >> f & 1 == 1).collect();
            let residuals = ResidualMatrix::new(&ridge, &features);
            // Held or not, products have the same bits.
            let frugal = ridge_within(0, &data, alpha, &FoldSpec::Loo);
            prop_assert_eq!(ridge.products.len(), data.n_features() * data.n_features());
            prop_assert!(frugal.products.is_empty());
            let again = ResidualMatrix::new(&frugal, &features).residuals;
            prop_assert!(residuals.residuals.rows().eq(again.rows()));
            let rows: Vec<u32> = (0..n as u32).collect();
            let n_targets = ridge.targets.len();
            for test in rows.chunks(fold_size).filter(|test| test.len() < n) {
                let train = ridge.all_but(test);
                prop_assert_eq!(train.len() + test.len(), n);
                let mut refitted = vec![0.0; test.len() * n_targets];
                ridge.refit(&features, &train, test, &mut refitted);
                let mut corrected = vec![0.0; test.len() * n_targets];
                prop_assert!(residuals.decide(&ridge, test, &mut corrected));
                for (at, &row) in test.iter().enumerate() {
                    let expected = naive(&ridge, &features, &train, row as usize);
                    for (target, &expected) in expected.iter().enumerate() {
                        let tolerance = 1e-8 * expected.abs().max(1.0);
                        for found in [&refitted, &corrected] {
                            let found = found[at * n_targets + target];
                            prop_assert!((found - expected).abs() < tolerance, "{found} {expected}");
                        }
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn forward_selection_adds_the_feature_with_the_least_leave_one_out_residuals(
            columns in (1usize..8).prop_flat_map(|d| proptest::collection::vec(-3.0..3.0, 11 * d)),
            n_classes in 2usize..4,
            alpha in prop_oneof![Just(0.1), Just(1.0), Just(30.0)],
            n_steps in 0usize..9,
            threads in 1usize..3,
        ) {
            let codes: Vec<u32> = (0..11).map(|row| row * row % 7 % n_classes as u32).collect();
            let data = dataset(&columns, &codes, n_classes, Scale::Standard);
            let ridge = ridge(&data, alpha, &FoldSpec::Loo);
            let loss = |features: &[usize]| -> f64 {
                let residuals = (0..11).flat_map(|row| {
                    let decisions = naive(&ridge, features, &ridge.all_but(&[row]), row as usize);
                    let targets = ridge.targets.rows();
                    targets.zip(decisions).map(move |(target, value)| target[row as usize] - value)
                });
                residuals.map(|residual| residual * residual).sum()
            };
            let every: Vec<usize> = (0..data.n_features()).rev().collect();
            let order = ridge_sfs(&data, &every, n_steps, Some(alpha), &Pool::new(threads)).unwrap();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            prop_assert!(sorted.into_iter().eq(0..data.n_features()));
            let added = |n: usize, feature: usize| loss(&[&order[..n], &[feature]].concat());
            for (at, &feature) in order.iter().enumerate() {
                // Beyond the last step, features follow in the order of their losses.
                let selected = at.min(n_steps);
                let here = added(selected, feature);
                for &later in &order[at + 1..] {
                    prop_assert!(here <= added(selected, later) * (1.0 + 1e-9));
                }
            }
        }
    }

    #[test]
    fn equal_features_are_added_by_index() {
        let signal: Vec<f64> = (0..12).map(|row| f64::from(row % 2 * 9 + row * row % 5)).collect();
        let noise: Vec<f64> = (0..12).map(|row| f64::from(row * row % 7)).collect();
        let columns = [&noise[..], &signal, &noise, &signal].concat();
        let codes: Vec<u32> = (0..12).map(|row| row % 2).collect();
        let data = dataset(&columns, &codes, 2, Scale::Standard);
        let order =
            |n_steps| ridge_sfs(&data, &[3, 2, 1, 0], n_steps, None, &Pool::new(1)).unwrap();
        assert_eq!(order(0), [1, 3, 0, 2]);
        assert_eq!(order(1)[0], 1);
    }

    #[test]
    fn a_row_that_alone_has_a_value_is_fitted_without_it() {
        // The first feature is 0 but for one row: without that row it says nothing, and 1 - leverage cancels.
        let mut columns = vec![0.0; 12];
        columns[3] = 1e9;
        columns.extend((0..12).map(|row| f64::from(row * row % 7) + f64::from(row % 2)));
        let codes: Vec<u32> = (0..12).map(|row| row % 2).collect();
        let data = dataset(&columns, &codes, 2, Scale::None);
        let ridge = ridge(&data, 1.0, &FoldSpec::Loo);
        let mut decision = [0.0];
        let residuals = ResidualMatrix::new(&ridge, &[0, 1]);
        assert!(!residuals.decide(&ridge, &[3], &mut decision));
        assert!(residuals.decide(&ridge, &[2], &mut decision));
        let both = ridge.predict(&Subset::full(2));
        let second = ridge.predict(&Subset::from_indices(2, [1]));
        assert_eq!(both[3], second[3]);
    }

    #[test]
    fn large_systems_are_solved_as_small_ones() {
        let (n, d) = (150, 200);
        let columns: Vec<f64> = (0..n * d).map(|at| (at * at % 9973) as f64 / 9973.0).collect();
        let codes: Vec<u32> = (0..n as u32).map(|row| row * row % 7 % 3).collect();
        let data = dataset(&columns, &codes, 3, Scale::Standard);
        let ridge = ridge(&data, 10.0, &FoldSpec::Loo);
        // The first is solved by its features, the second by its rows.
        for features in [(0..70).collect::<Vec<_>>(), (0..d).collect()] {
            let residuals = ResidualMatrix::new(&ridge, &features);
            for test in [&[149][..], &[3, 77, 148]] {
                let mut decisions = vec![0.0; 3 * test.len()];
                assert!(residuals.decide(&ridge, test, &mut decisions));
                for (&row, found) in test.iter().zip(decisions.chunks(3)) {
                    let expected = naive(&ridge, &features, &ridge.all_but(test), row as usize);
                    for (found, expected) in found.iter().zip(expected) {
                        assert!((found - expected).abs() < 1e-8, "{found} {expected}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_fold_is_fitted_again_where_that_is_cheaper() {
        let columns: Vec<f64> = (0..900).map(|value| f64::from(value * value % 41)).collect();
        let codes: Vec<u32> = (0..300).map(|row| row % 2).collect();
        let data = dataset(&columns, &codes, 2, Scale::Standard);
        let ridge = ridge(&data, 1.0, &FoldSpec::Loo);
        let folds = |size: usize| -> Vec<Vec<u32>> {
            (0..300u32).collect::<Vec<_>>().chunks(size).map(<[u32]>::to_vec).collect()
        };
        assert!(ridge.shares_a_fit(3, &folds(1)) && ridge.shares_a_fit(50, &folds(30)));
        assert!(!ridge.shares_a_fit(3, &folds(150)) && !ridge.shares_a_fit(3, &folds(300)));
    }

    #[test]
    fn equal_decision_values_are_the_smallest_class() {
        // Two folds with as many rows of each class, and nothing to tell them apart.
        let codes: Vec<u32> = (0..12).map(|row| row / 6).collect();
        let data = dataset(&[3.0; 12], &codes, 2, Scale::Standard);
        let halves = FoldSpec::Kfold { k: 2, shuffle: false, seed: 0 };
        let thirds: Vec<u32> = (0..12).map(|row| row % 3).collect();
        let three = dataset(&[3.0; 12], &thirds, 3, Scale::Standard);
        for ridge in [ridge(&data, 12.0, &halves), ridge(&three, 12.0, &halves)] {
            for subset in [Subset::full(1), Subset::empty(1)] {
                let predicted = ridge.predict(&subset);
                assert!(predicted.iter().all(|&(_, class)| class == 0), "{predicted:?}");
            }
        }
    }

    #[test]
    fn penalties_are_positive_numbers() {
        assert_eq!(settle_alpha(None, 40), Ok(40.0));
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let message = settle_alpha(Some(wrong), 40).unwrap_err().to_string();
            assert_eq!(message, format!("ridge_alpha is {wrong}, expected a number above 0"));
        }
    }

    #[test]
    fn columns_that_depend_on_others_are_left_out_where_the_penalty_is_lost() {
        let column: Vec<f64> = (0..10).map(|row| f64::from(row * row % 11)).collect();
        let codes: Vec<u32> = column.iter().map(|&x| u32::from(x > 4.0)).collect();
        let twice = dataset(&[column.clone(), column.clone()].concat(), &codes, 2, Scale::None);
        let once = dataset(&column, &codes, 2, Scale::None);
        let folds = FoldSpec::Kfold { k: 5, shuffle: false, seed: 0 };
        let of =
            |data: &Dataset| ridge(data, 1e-30, &folds).predict(&Subset::full(data.n_features()));
        assert_eq!(of(&twice), of(&once));
    }
}
