//! The dataset of an evaluator: values, quantized values, target, names.

use crate::base::cancel;
use crate::base::error::{Error, Result};
use crate::base::parallel::Pool;
use crate::data::quantization::{Quantization, bounds};
pub use crate::data::quantization::{Quantized, Scale};
use crate::filter::{Labels, Levels, f_regression, f_scores};
use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

/// Imputes missing values for each fold, from its training rows only.
pub trait FoldImputer: Debug + Send + Sync {
    /// The rows with missing values, ascending.
    fn rows(&self) -> &[u32];

    /// All values of these rows, column after column, with missing values imputed from the rows `train`.
    ///
    /// # Errors
    /// [`Error::BadData`] if the imputation fails.
    fn values(&self, train: &[u32]) -> Result<Vec<f64>>;
}

/// The samples, features and target of a problem, quantized.
#[derive(Debug, Clone)]
pub struct Dataset {
    n_samples: usize,
    n_features: usize,
    n_classes: usize,
    scale: Scale,
    quantization: Quantization,
    imputer: Option<Arc<dyn FoldImputer>>,
    /// The normalized values: the given ones, but a feature with an extreme range is multiplied by a power of two.
    values: Arc<[f64]>,
    levels: OnceLock<Arc<Levels>>,
    codes: Vec<u32>,
    numbers: Option<Arc<[f64]>>,
    names: Vec<String>,
    fingerprint: String,
    warnings: Vec<String>,
}

/// The largest magnitude of a numeric target, and the inverse of its smallest range. Squares of targets, and sums of
/// squares, then are far from the limits of float64.
const MAX_TARGET: f64 = 1e100;

impl Dataset {
    /// Takes `columns` (all values of feature 0, then of feature 1, ...) and the class code of each row.
    ///
    /// # Errors
    /// [`Error::BadData`] for a table without columns, with fewer than two rows or classes, with a value that is not
    /// finite, or whose parts do not fit together.
    pub fn new(
        columns: &[f64],
        codes: Vec<u32>,
        n_classes: usize,
        names: Vec<String>,
        scale: Scale,
    ) -> Result<Self> {
        let (n_samples, n_features) = (codes.len(), names.len());
        check(columns, &codes, n_classes, &names)?;
        let fingerprint = fingerprint(columns, &codes, &names, scale);
        let mut values = columns.to_vec();
        let quantization = Quantization::new(&mut values, n_samples, scale);
        let warnings = if scale == Scale::None {
            Vec::new()
        } else {
            let squeezed = quantization.squeezed.iter().map(|&feature| names[feature].as_str());
            warn_squeezed(&squeezed.collect::<Vec<_>>()).into_iter().collect()
        };
        Ok(Self {
            n_samples,
            n_features,
            n_classes,
            scale,
            quantization,
            imputer: None,
            values: values.into(),
            levels: OnceLock::new(),
            codes,
            numbers: None,
            names,
            fingerprint,
            warnings,
        })
    }

    /// The same dataset with a numeric target. The class codes are then bins of the target, which filters by entropy use;
    /// evaluators predict the numbers.
    ///
    /// # Errors
    /// [`Error::BadData`] if the number of targets is not the number of rows, if a target is not finite or too large, or if
    /// all targets are equal.
    pub fn with_numbers(mut self, numbers: Vec<f64>) -> Result<Self> {
        let bad = |what: String| Err(Error::BadData { what });
        if numbers.len() != self.n_samples {
            return bad(format!("{} numbers for {} rows", numbers.len(), self.n_samples));
        }
        if let Some(row) = numbers.iter().position(|x| x.is_nan() || x.abs() > MAX_TARGET) {
            return bad(format!(
                "the target is {} in row {row}, expected a number between -1e100 and 1e100",
                numbers[row]
            ));
        }
        let (low, high) = bounds(&numbers);
        if high - low < 1.0 / MAX_TARGET {
            return bad("the target has one value, expected 2 or more".into());
        }
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        let both = format!("{} {}", self.fingerprint, blake3::hash(&bytes).to_hex());
        self.fingerprint = short(&blake3::hash(both.as_bytes()));
        self.numbers = Some(numbers.into());
        Ok(self)
    }

    /// The same dataset, whose missing values are imputed for each fold from its training rows. `mark` identifies the
    /// missing values and the imputation in the fingerprint.
    #[must_use]
    pub fn with_imputer(mut self, imputer: Arc<dyn FoldImputer>, mark: &str) -> Self {
        let both = format!("{} {mark}", self.fingerprint);
        self.fingerprint = short(&blake3::hash(both.as_bytes()));
        self.imputer = Some(imputer);
        self
    }

    /// The number of rows.
    pub fn n_samples(&self) -> usize {
        self.n_samples
    }

    /// The number of features.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// The number of classes, or of the bins of a numeric target.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// The scaling of values.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// The quantized values.
    pub fn quantization(&self) -> &Quantization {
        &self.quantization
    }

    /// The per-fold imputer, if values were missing.
    pub fn imputer(&self) -> Option<&dyn FoldImputer> {
        self.imputer.as_deref()
    }

    /// All values, normalized, feature after feature.
    pub fn all_values(&self) -> &Arc<[f64]> {
        &self.values
    }

    /// The normalized values of a feature.
    pub fn values(&self, feature: usize) -> &[f64] {
        &self.values[feature * self.n_samples..][..self.n_samples]
    }

    /// The discretized columns, for filters; computed on first use.
    pub fn levels(&self, pool: &Pool) -> Arc<Levels> {
        let discretize = || Arc::new(Levels::new(&self.values, &self.codes, self.n_classes, pool));
        Arc::clone(self.levels.get_or_init(discretize))
    }

    /// The class code of each row, or the bin of a numeric target.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The target of each row, if it is numeric.
    pub fn numbers(&self) -> Option<&Arc<[f64]>> {
        self.numbers.as_ref()
    }

    /// The strata of stratified folds, a code for each row, and their number: the classes, or a single stratum for a
    /// numeric target.
    pub fn strata(&self) -> (Cow<'_, [u32]>, usize) {
        match self.numbers {
            None => (Cow::Borrowed(&self.codes), self.n_classes),
            Some(_) => (Cow::Owned(vec![0; self.n_samples]), 1),
        }
    }

    /// The F statistic of each of these features: by analysis of variance for classes, by linear regression for a numeric
    /// target.
    pub fn f_scores(&self, features: &[usize], pool: &Pool) -> Vec<f64> {
        let columns: Vec<&[f64]> = features.iter().map(|&feature| self.values(feature)).collect();
        self.f_scores_of(&columns, &self.codes, self.numbers.as_deref(), pool)
    }

    /// The F statistics of these features, computed from these rows only.
    pub fn f_scores_by(&self, rows: &[usize], features: &[usize], pool: &Pool) -> Vec<f64> {
        fn gather<T: Copy>(rows: &[usize], values: &[T]) -> Vec<T> {
            rows.iter().map(|&row| values[row]).collect()
        }
        let columns: Vec<Vec<f64>> =
            features.iter().map(|&feature| gather(rows, self.values(feature))).collect();
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let numbers = self.numbers.as_deref().map(|numbers| gather(rows, numbers));
        self.f_scores_of(&columns, &gather(rows, &self.codes), numbers.as_deref(), pool)
    }

    fn f_scores_of(
        &self,
        columns: &[&[f64]],
        codes: &[u32],
        numbers: Option<&[f64]>,
        pool: &Pool,
    ) -> Vec<f64> {
        match numbers {
            None => f_scores(columns, Labels { codes, count: self.n_classes }, pool),
            Some(numbers) => f_regression(columns, numbers, pool),
        }
    }

    /// The name of each column.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// A hash of all values, codes, names and the scale, in hexadecimal.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Warnings for the user about the values.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The scaled value of one cell, relative to the minimum of its feature.
    pub fn scaled(&self, feature: usize, sample: usize) -> f64 {
        self.quantization.quantizers[feature].scale(self.values(feature)[sample])
    }
}

/// The warning about features whose distances are dominated by extreme values; names the first five.
fn warn_squeezed(names: &[&str]) -> Option<String> {
    let (first, more) = (names.first()?, names.len().saturating_sub(5));
    let shown = names.iter().take(5).copied().collect::<Vec<_>>().join(", ");
    let (subject, object) = match (names.len(), more) {
        (1, _) => (format!("feature {first} has"), "it"),
        (_, 0) => (format!("features {shown} have"), "them"),
        _ => (format!("features {shown} and {more} more have"), "them"),
    };
    Some(format!(
        "{subject} extreme values: most others lie within 0.1 % of the range, so that scaling leaves {object} little \
         weight beside other features; clip the extreme values, replace values by ranks, or exclude {object}"
    ))
}

fn check(columns: &[f64], codes: &[u32], n_classes: usize, names: &[String]) -> Result<()> {
    let bad = |what: String| Err(Error::BadData { what });
    if names.is_empty() {
        return bad("the table has no feature columns".into());
    }
    if codes.len() < 2 {
        return bad(format!("the table has {} row(s), expected 2 or more", codes.len()));
    }
    if names.len().checked_mul(codes.len()) != Some(columns.len()) {
        return bad(format!(
            "{} values do not fill {} rows of {} columns",
            columns.len(),
            codes.len(),
            names.len()
        ));
    }
    if let Some(cell) = columns.iter().position(|value| !value.is_finite()) {
        let (feature, row) = (cell / codes.len(), cell % codes.len());
        return bad(format!(
            "column '{}' has a value that is not finite in row {row}",
            names[feature]
        ));
    }
    if codes.iter().any(|&code| code as usize >= n_classes) {
        return bad(format!("a class code is not below {n_classes}"));
    }
    if codes.iter().all(|&code| code == codes[0]) {
        return bad("the target has one class, expected 2 or more".into());
    }
    Ok(())
}

/// Values that are hashed in one call.
const HASHED: usize = 1 << 14;

fn fingerprint(columns: &[f64], codes: &[u32], names: &[String], scale: Scale) -> String {
    let mut hash = blake3::Hasher::new();
    hash.update(&[scale as u8]);
    hash.update(&(codes.len() as u64).to_le_bytes());
    // BLAKE3 hashes many of its 1 KiB chunks at once, if one call has so many.
    let mut bytes = Vec::with_capacity(8 * HASHED);
    for part in columns.chunks(HASHED) {
        cancel::check();
        bytes.clear();
        bytes.extend(part.iter().flat_map(|value| value.to_le_bytes()));
        hash.update(&bytes);
    }
    for code in codes {
        hash.update(&code.to_le_bytes());
    }
    for name in names {
        hash.update(&(name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
    }
    short(&hash.finalize())
}

fn short(hash: &blake3::Hash) -> String {
    hash.to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::quantization::{Fidelity, Quantizer};
    use proptest::prelude::*;

    fn of(columns: &[f64], rows: usize, scale: Scale) -> Result<Dataset> {
        let names = (0..columns.len() / rows).map(|f| format!("f{f}")).collect();
        let codes = (0..rows as u32).map(|row| row % 2).collect();
        Dataset::new(columns, codes, 2, names, scale)
    }

    fn narrow(data: &Dataset) -> &[u16] {
        match &data.quantization().values {
            Quantized::Narrow(values) => values,
            Quantized::Wide(_) => panic!("a wide table"),
        }
    }

    #[test]
    fn minmax_spreads_each_feature_over_16_bits() {
        let data = of(&[0.0, 0.2, 0.8, 1.0, -3.0, -3.0, -3.0, -3.0], 4, Scale::Minmax).unwrap();
        assert_eq!(narrow(&data), [0, 13107, 52428, 65535, 0, 0, 0, 0]);
    }

    #[test]
    fn features_on_lattices_are_exact() {
        // Multiples of 1/6, 1/7 and 1/10 of the range: 65 520 is a multiple of 6, 7 and 10.
        let columns =
            [0.0, 1.0, 4.0, 6.0, 0.0, 3.0, 5.0, 7.0, 0.1, 0.3, 0.4, 1.1].map(|x: f64| x * 3.7);
        let data = of(&columns, 4, Scale::Minmax).unwrap();
        assert_eq!(data.quantization().resolution, 65520.0);
        let is_exact = |q: &Quantizer| q.fidelity == Fidelity::Exact;
        assert!(data.quantization().quantizers.iter().all(is_exact));
    }

    #[test]
    fn a_feature_with_an_outlier_is_quantized_wide_and_named_in_a_warning() {
        let mut columns: Vec<f64> = (0..100u32).map(|x| f64::from(x * x % 101)).collect();
        columns.extend((0..100u32).map(|x| f64::from(x).sqrt()));
        assert_eq!(narrow(&of(&columns, 100, Scale::Minmax).unwrap()).len(), 200);
        columns[150] = 1e7;
        let data = of(&columns, 100, Scale::Minmax).unwrap();
        assert!(matches!(data.quantization().values, Quantized::Wide(_)));
        assert!(
            data.warnings()[0].starts_with("feature f1 has extreme values"),
            "{:?}",
            data.warnings()
        );
        columns[150] = 1e7f64.sqrt();
        assert_eq!(narrow(&of(&columns, 100, Scale::Minmax).unwrap()).len(), 200);
    }

    #[test]
    fn whole_numbers_without_a_scale_are_exact() {
        let data = of(&[5.0, 7.0, 300.0, 6.0], 2, Scale::None).unwrap();
        assert!(data.quantization().quantizers.iter().all(|q| q.fidelity == Fidelity::Exact));
        assert!(data.warnings().is_empty());
    }

    #[test]
    fn ranges_at_the_limits_of_floats_are_scaled() {
        for scale in [Scale::Minmax, Scale::Standard, Scale::None] {
            for (low, high) in
                [(-1.7e308, 1.7e308), (0.0, 5e-324), (1e308, 1.1e308), (-1e-310, 0.0)]
            {
                let data = of(&[low, high, high, low], 4, scale).unwrap();
                let scaled: Vec<f64> = (0..4).map(|row| data.scaled(0, row)).collect();
                assert!(scaled.iter().all(|x| x.is_finite()), "{scale:?} {low} {scaled:?}");
                assert!(
                    scaled[1] > scaled[0] && scaled[1] == scaled[2],
                    "{scale:?} {low} {scaled:?}"
                );
            }
        }
    }

    #[test]
    fn tables_that_cannot_be_searched_are_refused() {
        let message = |data: Result<Dataset>| data.unwrap_err().to_string();
        assert_eq!(message(of(&[], 4, Scale::Minmax)), "the table has no feature columns");
        assert_eq!(
            message(of(&[1.0], 1, Scale::Minmax)),
            "the table has 1 row(s), expected 2 or more"
        );
        assert_eq!(
            message(of(&[1.0, f64::NAN], 2, Scale::Minmax)),
            "column 'f0' has a value that is not finite in row 1"
        );
        let one_class = Dataset::new(&[1.0, 2.0], vec![0, 0], 2, vec!["a".into()], Scale::None);
        assert_eq!(message(one_class), "the target has one class, expected 2 or more");
    }

    #[test]
    fn f_statistics_by_some_rows_equal_those_of_a_table_of_these_rows() {
        let columns = [1.0, 4.0, 2.0, 8.0, 5.0, 7.0, 0.5, 3.0, 1.0, 9.0, 2.0, 6.0];
        let codes = [0, 1, 2, 0, 1, 1];
        let rows = [0, 1, 3, 4, 5];
        let part = |values: &[f64]| rows.map(|row| values[row]).to_vec();
        let names = || vec!["a".to_owned(), "b".to_owned()];
        let table = |columns: &[f64], codes: &[u32]| {
            Dataset::new(columns, codes.to_vec(), 3, names(), Scale::Minmax).unwrap()
        };
        let pool = Pool::new(1);
        let whole = table(&columns, &codes);
        let taken = table(
            &[part(&columns[..6]), part(&columns[6..])].concat(),
            &rows.map(|row| codes[row]),
        );
        assert_eq!(whole.f_scores_by(&rows, &[1, 0], &pool), taken.f_scores(&[1, 0], &pool));
        assert_ne!(whole.f_scores(&[0], &pool), taken.f_scores(&[0], &pool));

        let target = [0.1, 0.5, 0.9, 0.2, 0.3, 0.8];
        let whole = whole.with_numbers(target.to_vec()).unwrap();
        let taken = taken.with_numbers(part(&target)).unwrap();
        assert_eq!(whole.f_scores_by(&rows, &[0, 1], &pool), taken.f_scores(&[0, 1], &pool));
    }

    #[test]
    fn a_numeric_target_is_one_stratum_and_part_of_the_fingerprint() {
        let table = || of(&[5.0, 7.0, 3.0, 6.0], 4, Scale::None).unwrap();
        let numeric = |numbers: &[f64]| table().with_numbers(numbers.to_vec());
        let data = numeric(&[0.5, 1.5, 2.0, 0.0]).unwrap();
        assert_eq!(data.numbers().unwrap()[..], [0.5, 1.5, 2.0, 0.0]);
        assert_eq!(data.strata(), (vec![0; 4].into(), 1));
        assert_eq!(table().strata(), (vec![0, 1, 0, 1].into(), 2));
        let other = numeric(&[0.5, 1.5, 2.0, 0.25]).unwrap();
        assert!(data.fingerprint() != table().fingerprint());
        assert!(data.fingerprint() != other.fingerprint());
        let refused = |numbers: &[f64]| numeric(numbers).unwrap_err().to_string();
        assert_eq!(refused(&[1.0]), "1 numbers for 4 rows");
        assert_eq!(refused(&[2.0; 4]), "the target has one value, expected 2 or more");
        for wrong in [f64::NAN, f64::INFINITY, -1e101] {
            assert!(refused(&[0.0, wrong, 1.0, 2.0]).contains("in row 1, expected a number"));
        }
    }

    proptest! {
        #[test]
        fn order_within_a_feature_survives_quantization(
            column in proptest::collection::vec(-1e6f64..1e6, 2..40),
            scale in prop_oneof![Just(Scale::Minmax), Just(Scale::Standard), Just(Scale::None)],
        ) {
            let data = of(&column, column.len(), scale).unwrap();
            for i in 0..column.len() {
                for j in 0..column.len() {
                    if column[i] < column[j] {
                        let steps = |row: usize| match &data.quantization().values {
                            Quantized::Narrow(values) => i32::from(values[row]),
                            Quantized::Wide(values) => values[row],
                        };
                        prop_assert!(steps(i) <= steps(j));
                        prop_assert!(data.scaled(0, i) < data.scaled(0, j));
                    }
                }
            }
        }

        #[test]
        fn the_fingerprint_changes_with_any_value(column in proptest::collection::vec(-1e3f64..1e3, 2..20), row: prop::sample::Index) {
            let mut other = column.clone();
            *row.get_mut(&mut other) += 1.0;
            let print = |c: &[f64]| of(c, c.len(), Scale::Minmax).unwrap().fingerprint().to_owned();
            prop_assert_ne!(print(&column), print(&other));
        }
    }
}
