//! The training view of each split: imputed and scaled copies of rows, appended to the table.
//!
//! Where values are missing, each split imputes them from its training rows; where scaling is fitted on training rows,
//! each split scales all rows by them. Rows that a split sees differently from the others stand behind the rows of the
//! table, once for each split, and the splits name these copies instead.

use super::ScaleFit;
use crate::base::error::{Error, Result};
use crate::data::dataset::{Dataset, FoldImputer};
use crate::data::folds::{Folds, Split};
use crate::data::quantization::{Quantization, Scale, bounds, deviation};
use std::borrow::Cow;
use std::sync::Arc;

/// Rows, their values and classes, and which of them train and test.
pub struct FoldedTable<'a> {
    /// The table.
    pub data: &'a Dataset,
    /// The folds as drawn: they name rows of the table.
    pub drawn: &'a Folds,
    /// The quantized values of all rows.
    pub quantization: Cow<'a, Quantization>,
    /// The values of all rows, feature after feature.
    pub values: Arc<[f64]>,
    /// The class of each row.
    pub codes: Cow<'a, [u32]>,
    /// The folds, in these rows.
    pub folds: Cow<'a, Folds>,
    /// The row of the table that each row is.
    pub rows: Vec<u32>,
    /// So many rows, one after the other, are scaled alike: all of them, or the copies of a split.
    pub block: usize,
}

/// The size of all copies of a table, in bytes, at most. It has nothing to do with the memory for cached sums, which changes no
/// answer.
const MOST: usize = 1 << 30;

impl<'a> FoldedTable<'a> {
    /// The table as its folds see it, with a warning for the user.
    ///
    /// # Errors
    /// Errors of the imputer; [`Error::BadData`] where scaling for each fold would take too much memory.
    pub fn new(
        data: &'a Dataset,
        drawn: &'a Folds,
        scale_fit: ScaleFit,
    ) -> Result<(Self, Option<String>)> {
        let (n, d, splits) = (data.n_samples(), data.n_features(), drawn.n_splits());
        let plain = Self {
            data,
            drawn,
            quantization: Cow::Borrowed(data.quantization()),
            values: Arc::clone(data.all_values()),
            codes: Cow::Borrowed(data.codes()),
            folds: Cow::Borrowed(drawn),
            rows: (0..n as u32).collect(),
            block: n,
        };
        if scale_fit == ScaleFit::Train && data.scale() != Scale::None {
            if splits.saturating_mul(n).saturating_mul(d) > MOST / 8 {
                let what = "scaling fitted on the training rows of each fold takes too much memory: use fewer folds, or \
                            fit it on all rows";
                return Err(Error::BadData { what: what.into() });
            }
            return Ok((plain.scaled_by_training()?, None));
        }
        let Some(refill) = data.imputer() else { return Ok((plain, None)) };
        // A value of a copy, and a row that trains and is named as such, take eight bytes at the most.
        if splits.saturating_mul(refill.rows().len() * d + 2 * n) > MOST / 8 {
            let what = "missing values are filled over all rows, those of test folds too, and errors are optimistic: \
                        to fill them for each fold takes too much memory; take fewer folds";
            return Ok((plain, Some(what.to_owned())));
        }
        Ok((plain.filled(refill)?, None))
    }

    /// The same with copies of the rows that have missing values.
    fn filled(self, refill: &dyn FoldImputer) -> Result<Self> {
        let (n, d, gappy) = (self.data.n_samples(), self.data.n_features(), refill.rows());
        let m = gappy.len();
        let mut rank = vec![None; n];
        for (at, &row) in gappy.iter().enumerate() {
            rank[row as usize] = Some(at);
        }
        let (mut splits, mut copies) = (Vec::new(), Vec::new());
        for (at, split) in self.drawn.splits().into_iter().enumerate() {
            copies.push(imputed(self.data, refill, &split.train)?);
            let copy =
                |&row: &u32| rank[row as usize].map_or(row, |rank| (n + at * m + rank) as u32);
            // Cases keep the order of the rows they are; training rows are distinguished by it alone.
            let test = split.test.iter().map(copy).collect();
            let mut train: Vec<u32> = split.train.iter().map(copy).collect();
            train.sort_unstable();
            splits.push(Split { train, test });
        }
        let rows: Vec<u32> =
            self.rows.iter().chain(copies.iter().flat_map(|_| gappy)).copied().collect();
        let mut values = Vec::with_capacity(rows.len() * d);
        for feature in 0..d {
            values.extend_from_slice(self.data.values(feature));
            for copy in &copies {
                values.extend_from_slice(&copy[feature * m..][..m]);
            }
        }
        let quantization = self.quantization.of_rows(&values, rows.len());
        let block = rows.len();
        Ok(Self { block, ..self.with(quantization, values, splits, rows) })
    }

    /// The same with a copy of every row for each split, scaled by the training rows of the split.
    fn scaled_by_training(self) -> Result<Self> {
        let (n, d) = (self.data.n_samples(), self.data.n_features());
        let drawn = self.drawn.splits();
        let total = drawn.len() * n;
        let mut values = vec![0.0; total * d];
        let mut splits = Vec::with_capacity(drawn.len());
        for (at, split) in drawn.into_iter().enumerate() {
            let imputed = match self.data.imputer() {
                Some(refill) => Some((refill.rows(), imputed(self.data, refill, &split.train)?)),
                None => None,
            };
            for feature in 0..d {
                let column = &mut values[feature * total + at * n..][..n];
                column.copy_from_slice(self.data.values(feature));
                if let Some((rows, values)) = &imputed {
                    let values = &values[feature * rows.len()..][..rows.len()];
                    rows.iter().zip(values).for_each(|(&row, &x)| column[row as usize] = x);
                }
                scale_by(column, &split.train, self.data.scale());
            }
            let copy = |rows: Vec<u32>| rows.into_iter().map(|row| (at * n) as u32 + row).collect();
            splits.push(Split { train: copy(split.train), test: copy(split.test) });
        }
        let rows = (0..total).map(|row| (row % n) as u32).collect();
        let quantization = Quantization::new(&mut values, total, Scale::None);
        Ok(self.with(quantization, values, splits, rows))
    }

    fn with(
        self,
        quantization: Quantization,
        values: Vec<f64>,
        splits: Vec<Split>,
        rows: Vec<u32>,
    ) -> Self {
        let codes = rows.iter().map(|&row| self.codes[row as usize]).collect();
        Self {
            quantization: Cow::Owned(quantization),
            values: values.into(),
            codes: Cow::Owned(codes),
            folds: Cow::Owned(Folds::Splits(splits)),
            rows,
            ..self
        }
    }

    /// The number of rows, copies included.
    pub fn n(&self) -> usize {
        self.rows.len()
    }
}

/// The normalized values of the rows that miss some, imputed from the rows `train`, feature after feature.
fn imputed(data: &Dataset, refill: &dyn FoldImputer, train: &[u32]) -> Result<Vec<f64>> {
    let (m, d) = (refill.rows().len(), data.n_features());
    let mut values = refill.values(train)?;
    if values.len() != m * d || values.iter().any(|value| !value.is_finite()) {
        let what = format!("missing values of {m} rows and {d} columns are not filled");
        return Err(Error::BadData { what });
    }
    let columns = values.chunks_exact_mut(m.max(1));
    for (column, quantizer) in columns.zip(&data.quantization().quantizers) {
        for x in column {
            *x = quantizer.normalize(*x);
        }
    }
    Ok(values)
}

/// Scales a column by its training rows; one that is constant there becomes 0.
fn scale_by(column: &mut [f64], train: &[u32], scale: Scale) {
    let known: Vec<f64> = train.iter().map(|&row| column[row as usize]).collect();
    let (low, high) = bounds(&known);
    let unit = match scale {
        Scale::Standard => deviation(&known, low, high),
        _ => high - low,
    };
    let is_constant = !(unit > 0.0 && unit.is_finite());
    for x in column {
        *x = if is_constant { 0.0 } else { (*x - low) / unit };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::folds::FoldSpec;

    /// Rows with missing values, and what they are filled with.
    #[derive(Debug)]
    struct Filled {
        rows: Vec<u32>,
        values: Vec<f64>,
    }

    impl FoldImputer for Filled {
        fn rows(&self) -> &[u32] {
            &self.rows
        }

        fn values(&self, _: &[u32]) -> Result<Vec<f64>> {
            Ok(self.values.clone())
        }
    }

    fn dataset(columns: &[f64], n: usize, scale: Scale) -> Dataset {
        let names = (0..columns.len() / n).map(|feature| format!("f{feature}")).collect();
        Dataset::new(columns, (0..n as u32).map(|row| row % 2).collect(), 2, names, scale).unwrap()
    }

    #[test]
    fn copies_of_a_table_for_each_split_have_a_limit() {
        // 2^27 values are 1 GiB; 1024 folds of 1024 rows under 129 features are more.
        let columns: Vec<f64> = (0..1024 * 129).map(|value| f64::from(value % 1021)).collect();
        let data = dataset(&columns, 1024, Scale::Minmax);
        let folds = Folds::draw(&FoldSpec::Loo, data.codes(), 2).unwrap().0;
        let refused = FoldedTable::new(&data, &folds, ScaleFit::Train).err().unwrap().to_string();
        assert!(refused.contains("takes too much memory"), "{refused}");
        let plain = dataset(&columns, 1024, Scale::None);
        let seen = FoldedTable::new(&plain, &folds, ScaleFit::Train).unwrap().0;
        assert_eq!((seen.n(), seen.block), (1024, 1024));
    }

    #[test]
    fn too_many_folds_to_fill_are_said() {
        // 8192 folds name 2 * 8192 rows each: 2^27 without the one row that is filled.
        let n = 8192_u32;
        let columns: Vec<f64> = (0..4 * n).map(f64::from).collect();
        let filled = Filled { rows: vec![5], values: vec![0.0; 4] };
        let data =
            dataset(&columns, n as usize, Scale::Minmax).with_imputer(Arc::new(filled), "one");
        let folds = Folds::draw(&FoldSpec::Loo, data.codes(), 2).unwrap().0;
        let (seen, warning) = FoldedTable::new(&data, &folds, ScaleFit::All).unwrap();
        assert_eq!(seen.n(), n as usize);
        assert!(warning.unwrap().contains("takes too much memory"));
        let few = Folds::draw(&FoldSpec::Holdout { test: 0.5, seed: 1 }, data.codes(), 2).unwrap();
        let (seen, warning) = FoldedTable::new(&data, &few.0, ScaleFit::All).unwrap();
        assert_eq!((seen.n(), seen.rows[n as usize], warning), (n as usize + 1, 5, None));
    }

    #[test]
    fn filled_values_are_checked_and_normalized() {
        let huge = libm::ldexp(1.0, 500);
        let data = dataset(&[0.0, 1.0, 2.0, 0.0, huge, 2.0 * huge], 3, Scale::Minmax);
        let fill = |values: &[f64]| {
            imputed(&data, &Filled { rows: vec![1], values: values.to_vec() }, &[0, 2])
        };
        // The range of the second feature is 2^501.
        assert_eq!(fill(&[1.5, huge]).unwrap(), [1.5, 0.5]);
        for wrong in [vec![1.5], vec![1.5, 2.0, 3.0], vec![f64::NAN, 1.0], vec![1.0, f64::INFINITY]]
        {
            let refused = fill(&wrong).unwrap_err().to_string();
            assert_eq!(refused, "missing values of 1 rows and 2 columns are not filled");
        }
        let none = Filled { rows: Vec::new(), values: Vec::new() };
        assert_eq!(imputed(&data, &none, &[0, 2]).unwrap(), [0.0; 0]);
    }

    #[test]
    fn a_column_is_scaled_by_its_training_rows() {
        let scaled = |mut column: [f64; 4], train: &[u32], scale| {
            scale_by(&mut column, train, scale);
            column
        };
        let column = [1.0, 3.0, 5.0, 9.0];
        assert_eq!(scaled(column, &[0, 1, 2], Scale::Minmax), [0.0, 0.5, 1.0, 2.0]);
        let unit = deviation(&[1.0, 5.0], 1.0, 5.0);
        assert_eq!(unit, 2.0);
        assert_eq!(scaled(column, &[0, 2], Scale::Standard), [0.0, 1.0, 2.0, 4.0]);
        assert_eq!(scaled(column, &[3], Scale::Minmax), [0.0; 4]);
        assert_eq!(scaled([-f64::MAX, f64::MAX, 1.0, 2.0], &[0, 1], Scale::Minmax), [0.0; 4]);
    }
}
