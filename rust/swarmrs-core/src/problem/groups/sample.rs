//! The sample for grouping: the columns that are not constant, in a few random rows.

use crate::base::error::{Error, Result};
use crate::base::parallel::Pool;
use crate::base::random::{Phase, Streams};
use crate::data::dataset::Dataset;

/// A sample of a dataset.
#[derive(Debug)]
pub struct Sample<'a> {
    data: &'a Dataset,
    /// The columns that are not constant, in order.
    pub columns: Vec<usize>,
    /// The rows drawn, in order.
    pub rows: Vec<usize>,
}

impl<'a> Sample<'a> {
    /// Draws at most `n_rows` rows.
    ///
    /// # Errors
    /// [`Error::BadData`] if all columns are constant.
    pub fn draw(data: &'a Dataset, n_rows: usize, seed: u64) -> Result<Self> {
        let is_constant = |values: &[f64]| values.iter().all(|value| *value == values[0]);
        let columns: Vec<usize> =
            (0..data.n_features()).filter(|&column| !is_constant(data.values(column))).collect();
        if columns.is_empty() {
            let what = "every column is constant: there is nothing to group".into();
            return Err(Error::BadData { what });
        }
        let n = data.n_samples();
        // Stream 0; fits of block models use the streams from 1 up.
        let mut rng = Streams::new(seed).rng(0, Phase::Groups, 0);
        let mut rows = rng.distinct(n_rows.min(n), n);
        rows.sort_unstable();
        Ok(Self { data, columns, rows })
    }

    /// The number of features of the dataset, constant ones included.
    pub fn n_features(&self) -> usize {
        self.data.n_features()
    }

    /// The quantile level of each row in each column; the quantiles are those of all rows of the dataset.
    pub fn levels(&self, n_levels: usize, pool: &Pool) -> Vec<Vec<u32>> {
        pool.map(self.columns.clone(), |column| {
            let values = self.data.values(column);
            let cuts = quantiles(values, n_levels);
            let level = |row: &usize| cuts.iter().filter(|&&cut| cut < values[*row]).count() as u32;
            self.rows.iter().map(level).collect()
        })
    }

    /// The centered rank of each row in each column, doubled to make it an integer; equal values share their mean rank.
    pub fn ranks(&self, pool: &Pool) -> Vec<Vec<f64>> {
        pool.map(self.columns.clone(), |column| {
            let values = self.data.values(column);
            let mut order: Vec<usize> = (0..self.rows.len()).collect();
            let value = |&position: &usize| values[self.rows[position]];
            order.sort_by(|a, b| value(a).total_cmp(&value(b)));
            let mut ranks = vec![0.0; order.len()];
            let mut below = 0;
            // -0 and 0 are equal, and adjacent in the total order of floats.
            for equal in order.chunk_by(|a, b| value(a) == value(b)) {
                let doubled = (2 * below + equal.len()) as f64 - order.len() as f64;
                for &position in equal {
                    ranks[position] = doubled;
                }
                below += equal.len();
            }
            ranks
        })
    }
}

/// The quantiles that cut a column into q = `n_levels`: the sorted values at the ranks ceil(N k / q), counted from 1, for k
/// from 1 to q - 1.
fn quantiles(values: &[f64], n_levels: usize) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    (1..n_levels).map(|k| sorted[(values.len() * k).div_ceil(n_levels) - 1]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::table as of_vectors;
    use super::*;

    fn table(columns: &[&[f64]]) -> Dataset {
        of_vectors(&columns.iter().map(|column| column.to_vec()).collect::<Vec<_>>())
    }

    #[test]
    fn cuts_are_quantiles() {
        // N = 7, q = 3: ranks ceil(7/3) = 3 and ceil(14/3) = 5.
        let column = [70.0, 10.0, 60.0, 20.0, 50.0, 30.0, 40.0];
        assert_eq!(quantiles(&column, 3), [30.0, 50.0]);
        assert_eq!(quantiles(&column, 2), [40.0]);
        let data = table(&[&column]);
        let sample = Sample::draw(&data, 100, 0).unwrap();
        assert_eq!(sample.levels(3, &Pool::new(1)), [[2, 0, 2, 0, 1, 0, 1]]);
    }

    #[test]
    fn many_equal_values_leave_levels_empty() {
        let data = table(&[&[0.0, 0.0, 0.0, 0.0, 0.0, 1.0], &[5.0, 5.0, 5.0, 5.0, 5.0, 1.0]]);
        let sample = Sample::draw(&data, 6, 0).unwrap();
        let expected = [[0, 0, 0, 0, 0, 2], [0, 0, 0, 0, 0, 0]];
        assert_eq!(sample.levels(3, &Pool::new(1)), expected);
    }

    #[test]
    fn constant_columns_are_dropped() {
        let data = table(&[&[1.0, 1.0, 1.0], &[1.0, 2.0, 1.0], &[-0.0, 0.0, 0.0]]);
        assert_eq!(Sample::draw(&data, 2, 0).unwrap().columns, [1]);
        let bare = table(&[&[1.0, 1.0]]);
        let message = Sample::draw(&bare, 2, 0).unwrap_err().to_string();
        assert_eq!(message, "every column is constant: there is nothing to group");
    }

    #[test]
    fn rows_depend_on_the_seed_but_quantiles_use_all_rows() {
        let column: Vec<f64> = (0..90).map(f64::from).collect();
        let data = table(&[&column]);
        let drawn = |seed| Sample::draw(&data, 10, seed).unwrap();
        assert_eq!(drawn(1).rows, drawn(1).rows);
        assert_ne!(drawn(1).rows, drawn(2).rows);
        let sample = drawn(1);
        let expected: Vec<u32> = sample.rows.iter().map(|&row| row as u32 / 30).collect();
        assert_eq!(sample.levels(3, &Pool::new(1)), [expected]);
    }

    #[test]
    fn equal_values_share_a_rank() {
        let data = table(&[&[3.0, 1.0, 1.0, 9.0], &[0.0, -0.0, 1.0, 0.0]]);
        let ranks = Sample::draw(&data, 4, 0).unwrap().ranks(&Pool::new(1));
        // Ranks 3, 1.5, 1.5, 4 with mean 2.5; ranks 2, 2, 4, 2.
        assert_eq!(ranks, [[1.0, -2.0, -2.0, 3.0], [-1.0, -1.0, 3.0, -1.0]]);
    }
}
