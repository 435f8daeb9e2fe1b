//! A table as its folds see it.
//!
//! Where values are missing, each split fills them by the rows that train for it. Rows without missing values are the
//! same to all splits. The others stand behind the rows of the table, once for each split, and the splits name these
//! copies instead.

use crate::dataset::{Dataset, Grid, Refill};
use crate::error::{Error, Result};
use crate::folds::{Folds, Split};
use std::borrow::Cow;

/// Rows, their values and classes, and which of them train and test.
pub struct Seen<'a> {
    /// The table.
    pub data: &'a Dataset,
    /// The folds as drawn: they name rows of the table.
    pub drawn: &'a Folds,
    /// The values, column after column: those of the table, then the copies of each split.
    pub grid: Cow<'a, Grid>,
    /// The class of each row.
    pub codes: Cow<'a, [u32]>,
    /// The folds, in these rows.
    pub folds: Cow<'a, Folds>,
    /// Which row of the table each is.
    pub rows: Vec<u32>,
}

/// What all copies of a table may take, in bytes. It has nothing to do with the memory that sums may be kept in, which
/// changes no answer.
const MOST: usize = 1 << 30;

impl<'a> Seen<'a> {
    /// What folds see of a table, and what a user should know about it.
    ///
    /// # Errors
    /// What the table's filling reports.
    pub fn new(data: &'a Dataset, drawn: &'a Folds) -> Result<(Self, Option<String>)> {
        let n = data.n_samples();
        let plain = Self {
            data,
            drawn,
            grid: Cow::Borrowed(data.grid()),
            codes: Cow::Borrowed(data.codes()),
            folds: Cow::Borrowed(drawn),
            rows: (0..n as u32).collect(),
        };
        let Some(refill) = data.refill() else { return Ok((plain, None)) };
        let (splits, m) = (drawn.n_splits(), refill.rows().len());
        // A value of a copy, and a row that trains and is named as such, take eight bytes at the most.
        if splits.saturating_mul(m * data.n_features() + 2 * n) > MOST / 8 {
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
            let values = refill.values(&split.train)?;
            if values.len() != m * d || values.iter().any(|value| !value.is_finite()) {
                let what = format!("missing values of {m} rows and {d} columns are not filled");
                return Err(Error::BadData { what });
            }
            copies.push(values);
            let copy =
                |&row: &u32| rank[row as usize].map_or(row, |rank| (n + at * m + rank) as u32);
            // Cases keep the order of the rows they are; those that train are told apart by it alone.
            let test = split.test.iter().map(copy).collect();
            let mut train: Vec<u32> = split.train.iter().map(copy).collect();
            train.sort_unstable();
            splits.push(Split { train, test });
        }
        let rows: Vec<u32> =
            self.rows.iter().chain(copies.iter().flat_map(|_| gappy)).copied().collect();
        let codes: Vec<u32> = rows.iter().map(|&row| self.codes[row as usize]).collect();
        Ok(Self {
            grid: Cow::Owned(self.grid.extended(n, self.data.rulers(), &copies, m)),
            codes: Cow::Owned(codes),
            folds: Cow::Owned(Folds::Splits(splits)),
            rows,
            ..self
        })
    }

    /// How many rows there are, copies included.
    pub fn n(&self) -> usize {
        self.rows.len()
    }
}
