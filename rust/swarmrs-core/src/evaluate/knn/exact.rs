//! Float64 distances, for the rows that quantized distances cannot order.
//!
//! The distance of two rows is the sum of |a - b| / unit, or of its squares, over the features of a subset in ascending
//! order: one fixed order of additions, so that it has the same bits wherever it is computed.

use super::super::Metric;
use super::super::folded::FoldedTable;
use crate::base::cancel;
use crate::data::folds::Folds;
use crate::data::quantization::Quantizer;
use crate::simd::{Isa, add_absolute, add_squares};
use std::sync::Arc;

/// Cases whose distances to all rows are computed together ...
const CASES: usize = 8;
/// ... for so many rows at a time: with 8-byte values, 16 KiB of sums and 2 KiB of a column stay in the first-level cache.
const ROWS_OF_PART: usize = 256;

/// The values behind the quantized ones, and the training rows of each case.
pub(super) struct ExactDistances {
    metric: Metric,
    isa: Isa,
    /// Feature after feature, `n` rows each.
    values: Arc<[f64]>,
    n: usize,
    /// The factor from a difference to a scaled one; 0 for a constant feature.
    weights: Vec<f64>,
    /// The row of each case.
    cases: Vec<u32>,
    training: TrainingRows,
    /// The row of the table that each row is, where some are copies.
    rows: Option<Vec<u32>>,
}

/// The rows that cases are compared with.
pub(super) enum TrainingRows {
    /// All rows of other folds; the fold of each row.
    OtherFolds(Vec<u32>),
    /// The training rows of each split, and the split of each case.
    Splits { train: Vec<Vec<u32>>, split_of: Vec<u32> },
}

impl ExactDistances {
    /// For the cases of a layout that has these rows at its places.
    pub fn new(table: &FoldedTable<'_>, metric: Metric, isa: Isa, places: &[u32]) -> Self {
        let (cases, training) = match &*table.folds {
            Folds::Partition { fold_of, .. } => {
                (places.to_vec(), TrainingRows::OtherFolds(fold_of.clone()))
            }
            Folds::Splits(splits) => {
                let cases = splits.iter().flat_map(|split| &split.test).copied().collect();
                let split_of = (0..)
                    .zip(splits)
                    .flat_map(|(at, split)| split.test.iter().map(move |_| at))
                    .collect();
                let train = splits.iter().map(|split| split.train.clone()).collect();
                (cases, TrainingRows::Splits { train, split_of })
            }
        };
        let weights = table.quantization.quantizers.iter().map(Quantizer::weight).collect();
        let has_copies = table.n() != table.data.n_samples();
        Self {
            metric,
            isa,
            values: Arc::clone(&table.values),
            n: table.n(),
            weights,
            cases,
            training,
            rows: has_copies.then(|| table.rows.clone()),
        }
    }

    /// True if some rows are copies of rows of the table.
    pub fn has_copies(&self) -> bool {
        self.rows.is_some()
    }

    /// The rows that cases are compared with.
    pub fn training(&self) -> &TrainingRows {
        &self.training
    }

    /// The row of the table that a row is.
    pub fn table_row(&self, row: u32) -> u32 {
        self.rows.as_ref().map_or(row, |rows| rows[row as usize])
    }

    /// The row of a case.
    pub fn row(&self, case: usize) -> u32 {
        self.cases[case]
    }

    /// Distances between pairs of rows, squared for the Euclidean metric.
    pub fn between(&self, features: &[u32], pairs: &[(u32, u32)]) -> Vec<f64> {
        let mut sums = vec![0.0; pairs.len()];
        if pairs.is_empty() {
            return sums;
        }
        for &feature in features {
            cancel::check();
            let (column, weight) = self.column(feature);
            let difference =
                |&(a, b): &(u32, u32)| (column[a as usize] - column[b as usize]) * weight;
            let terms = sums.iter_mut().zip(pairs);
            match self.metric {
                Metric::Manhattan => terms.for_each(|(sum, pair)| *sum += difference(pair).abs()),
                Metric::Euclidean => terms.for_each(|(sum, pair)| {
                    let difference = difference(pair);
                    *sum += difference * difference;
                }),
            }
        }
        sums
    }

    /// Calls `take` with each case and the distances to all its training rows, each with the row of the table it is of.
    pub fn all(
        &self,
        features: &[u32],
        cases: &[usize],
        mut take: impl FnMut(usize, &mut Vec<(f64, u32)>),
    ) {
        let mut rows = Vec::new();
        match &self.training {
            TrainingRows::OtherFolds(fold_of) => {
                for cases in cases.chunks(CASES) {
                    let sums = self.to_all_rows(features, cases);
                    for (&case, sums) in cases.iter().zip(sums.chunks_exact(self.n)) {
                        let fold = fold_of[self.cases[case] as usize];
                        let others = (0..).zip(sums).zip(fold_of).filter(|&(_, &it)| it != fold);
                        rows.clear();
                        rows.extend(others.map(|((row, &distance), _)| (distance, row)));
                        take(case, &mut rows);
                    }
                }
            }
            TrainingRows::Splits { train, split_of } => {
                for &case in cases {
                    let train = &train[split_of[case] as usize];
                    self.some(features, case, train, &mut rows);
                    take(case, &mut rows);
                }
            }
        }
    }

    /// The distances from each of some cases to all rows, case after case. A part of a column serves all of them while it is
    /// in the cache: with 5000 rows and 2048 features the values of a table, 80 MB, are read once for [`CASES`] cases.
    fn to_all_rows(&self, features: &[u32], cases: &[usize]) -> Vec<f64> {
        let add = match self.metric {
            Metric::Manhattan => add_absolute,
            Metric::Euclidean => add_squares,
        };
        let value = |feature, case: usize| self.column(feature).0[self.cases[case] as usize];
        let own: Vec<f64> = features
            .iter()
            .flat_map(|&feature| cases.iter().map(move |&case| value(feature, case)))
            .collect();
        let mut sums = vec![0.0; cases.len() * self.n];
        for start in (0..self.n).step_by(ROWS_OF_PART) {
            let part = start..self.n.min(start + ROWS_OF_PART);
            for (&feature, own) in features.iter().zip(own.chunks_exact(cases.len())) {
                cancel::check();
                let (column, weight) = self.column(feature);
                for (sums, &own) in sums.chunks_exact_mut(self.n).zip(own) {
                    add(self.isa, &mut sums[part.clone()], &column[part.clone()], own, weight);
                }
            }
        }
        sums
    }

    /// The distances from a case to some rows, each with the row of the table it is of.
    pub fn some(&self, features: &[u32], case: usize, rows: &[u32], to: &mut Vec<(f64, u32)>) {
        let own = self.cases[case];
        let pairs: Vec<(u32, u32)> = rows.iter().map(|&row| (own, row)).collect();
        let found = self.between(features, &pairs).into_iter().zip(rows);
        to.clear();
        to.extend(found.map(|(distance, &row)| (distance, self.table_row(row))));
    }

    fn column(&self, feature: u32) -> (&[f64], f64) {
        let feature = feature as usize;
        (&self.values[feature * self.n..][..self.n], self.weights[feature])
    }
}
