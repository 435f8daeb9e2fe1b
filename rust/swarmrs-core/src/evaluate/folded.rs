//! The training view of each split: imputed and scaled copies of rows, appended to the table.
//!
//! Where values are missing, each split imputes them from its training rows; where scaling is fitted on training rows,
//! each split scales all rows by them. Rows that a split sees differently from the others stand behind the rows of the
//! table, once for each split, and the splits name these copies instead.

use super::ScaleFit;
use crate::base::error::{Error, Result};
use crate::data::dataset::{Dataset, Refill};
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
        let Some(refill) = data.refill() else { return Ok((plain, None)) };
        // A value of a copy, and a row that trains and is named as such, take eight bytes at the most.
        if splits.saturating_mul(refill.rows().len() * d + 2 * n) > MOST / 8 {
            let what = "missing values are filled over all rows, those of test folds too, and errors are optimistic: \
                        to fill them for each fold takes too much memory; take fewer folds";
            return Ok((plain, Some(what.to_owned())));
        }
        Ok((plain.filled(refill)?, None))
    }

    /// The same with copies of the rows that have missing values.
    fn filled(self, refill: &dyn Refill) -> Result<Self> {
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
            let imputed = match self.data.refill() {
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
fn imputed(data: &Dataset, refill: &dyn Refill, train: &[u32]) -> Result<Vec<f64>> {
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
