//! Groups of features by the latent block model, with the number of groups chosen by an information criterion.
//!
//! ```text
//! AIC = -2 F + 2 (R C (q - 1) + R + C - 2)
//! ICL = -2 F + R C (q - 1) ln(m p) + (R - 1) ln m + (C - 1) ln p
//! ```
//!
//! The model with the least criterion over R = 2..6 row groups and C = 1..30 column groups is chosen. For each R, the search
//! over C stops after five values in a row without improvement. F is the largest bound of five random starts; see
//! [`block_model`](super::block_model). Columns of one group have similar levels in similar rows; negatively correlated
//! columns are not similar.
//!
//! The model is a reconstruction: B. Xue, M. C. Lane, I. Liu, M. Zhang, Dimension reduction in classification using
//! particle swarm optimisation and statistical variable grouping information, IEEE SSCI (2016), group features by the
//! mixtures of S. Pledger, R. Arnold, Comput. Stat. Data Anal. 71 (2014), doi:10.1016/j.csda.2013.05.013, but do not say by
//! which of them.

use super::block_model::{Cells, FittedModel, fit};
use super::sample::Sample;
use super::{GroupCount, Grouping, Groups, MAX_GROUPS, check_number, check_sample};
use crate::base::error::{Error, Result};
use crate::base::math;
use crate::base::parallel::Pool;
use crate::base::random::{Phase, Streams};
use crate::data::dataset::Dataset;
use serde::{Deserialize, Serialize};

/// Numbers of row groups to try.
const ROW_GROUPS: std::ops::RangeInclusive<usize> = 2..=6;
/// Consecutive numbers of column groups without improvement that end the search.
const PATIENCE: usize = 5;
const MAX_RESTARTS: usize = 1000;

/// Settings for fitting and choosing a latent block model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lbm {
    /// C; None to choose it by the criterion. The result may have fewer groups, because groups may be empty.
    pub n_groups: Option<usize>,
    /// The maximum number of rows in the sample; default 100.
    pub rows: usize,
    /// q, levels of a column; default 3.
    pub levels: usize,
    /// The criterion that is minimized.
    pub criterion: Criterion,
    /// Random starts of each fit; default 5.
    pub restarts: usize,
    /// The seed of the sample and the starts; default 0.
    pub seed: u64,
}

/// The information criterion for the numbers of groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Criterion {
    /// The Akaike information criterion; chooses many groups.
    #[default]
    Aic,
    /// The integrated completed likelihood; chooses few groups.
    Icl,
}

impl Default for Lbm {
    fn default() -> Self {
        let criterion = Criterion::Aic;
        Self { n_groups: None, rows: 100, levels: 3, criterion, restarts: 5, seed: 0 }
    }
}

impl Criterion {
    fn of(self, bound: f64, cells: &Cells, n_row_groups: usize, n_groups: usize) -> f64 {
        let blocks = (n_row_groups * n_groups * (cells.n_levels - 1)) as f64;
        let (r, c) = ((n_row_groups - 1) as f64, (n_groups - 1) as f64);
        let (m, p) = (cells.n_rows as f64, cells.n_columns as f64);
        let penalty = match self {
            Self::Aic => 2.0 * (blocks + r + c),
            Self::Icl => blocks * math::ln(m * p) + r * math::ln(m) + c * math::ln(p),
        };
        penalty - 2.0 * bound
    }
}

/// The search over numbers of column groups for one number of row groups.
struct Chain {
    n_row_groups: usize,
    curve: Vec<GroupCount>,
    /// The index of the best point of the curve so far, and its model.
    best: Option<(usize, FittedModel)>,
}

impl Lbm {
    /// Checks the ranges of the settings.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn check(&self) -> Result<()> {
        check_sample(self.n_groups, self.rows, self.levels)?;
        if !(1..=MAX_RESTARTS).contains(&self.restarts) {
            return Err(Error::out_of_range("restarts", self.restarts, "1 to 1000"));
        }
        Ok(())
    }

    /// Finds the groups of a dataset, with the criterion of all numbers of groups.
    ///
    /// # Errors
    /// If all columns are constant, or fewer are not constant than the requested groups.
    pub fn find(&self, data: &Dataset, pool: &Pool) -> Result<Grouping> {
        let sample = Sample::draw(data, self.rows, self.seed)?;
        if let Some(number) = self.n_groups {
            check_number(number, sample.columns.len())?;
        }
        let cells = Cells::new(&sample.levels(self.levels, pool), self.levels);
        let (curve, group_of) = self.choose(&cells, pool);
        let mut members = vec![Vec::new(); sample.columns.len()];
        for (&column, group) in sample.columns.iter().zip(group_of) {
            members[group].push(column);
        }
        Ok(Grouping { groups: Groups::new(members, data.n_features())?, curve })
    }

    /// The criterion of all models, and the group of each column in the best one.
    fn choose(&self, cells: &Cells, pool: &Pool) -> (Vec<GroupCount>, Vec<usize>) {
        let numbers = match self.n_groups {
            Some(number) => number..=number,
            None => 1..=MAX_GROUPS.min(cells.n_columns),
        };
        let mut chains: Vec<Chain> = ROW_GROUPS
            .filter(|&n_row_groups| n_row_groups <= cells.n_rows)
            .map(|n_row_groups| Chain { n_row_groups, curve: Vec::new(), best: None })
            .collect();
        for n_groups in numbers {
            let active: Vec<&mut Chain> =
                chains.iter_mut().filter(|chain| chain.is_active()).collect();
            let row_groups: Vec<usize> = active.iter().map(|chain| chain.n_row_groups).collect();
            let fits = self.fits(cells, &row_groups, n_groups, pool);
            for (chain, fit) in active.into_iter().zip(fits) {
                let value = self.criterion.of(fit.bound, cells, chain.n_row_groups, n_groups);
                chain.push(n_groups, value, fit);
            }
        }
        let mut curve: Vec<GroupCount> = Vec::new();
        let mut best: Option<(usize, FittedModel)> = None;
        for chain in chains {
            let least = best.as_ref().map(|(index, _)| curve[*index].value);
            if let Some((index, fit)) = chain.best
                && least.is_none_or(|least| chain.curve[index].value < least)
            {
                best = Some((curve.len() + index, fit));
            }
            curve.extend(chain.curve);
        }
        let (index, fit) = best.expect("two rows and a column have at least one fit");
        curve[index].is_chosen = true;
        (curve, fit.columns)
    }

    /// The best fit over all random starts, for each of these numbers of row groups.
    fn fits(
        &self,
        cells: &Cells,
        row_groups: &[usize],
        n_groups: usize,
        pool: &Pool,
    ) -> Vec<FittedModel> {
        let streams = Streams::new(self.seed);
        let restarts = 0..self.restarts;
        let starts = row_groups.iter().flat_map(|&r| restarts.clone().map(move |start| (r, start)));
        let fits = pool.map(starts.collect(), |(n_row_groups, restart)| {
            let stream = (n_row_groups as u64) << 32 | n_groups as u64;
            let mut rng = streams.rng(stream, Phase::Groups, restart);
            fit(cells, n_row_groups, n_groups, &mut rng)
        });
        let mut fits = fits.into_iter();
        let better = |best: FittedModel, next: FittedModel| {
            if next.bound > best.bound { next } else { best }
        };
        let best = |_: &usize| fits.by_ref().take(self.restarts).reduce(better);
        row_groups.iter().map_while(best).collect()
    }
}

impl Chain {
    /// True if the best value is among the last [`PATIENCE`] ones.
    fn is_active(&self) -> bool {
        self.best.as_ref().is_none_or(|(best, _)| self.curve.len() - 1 - best < PATIENCE)
    }

    fn push(&mut self, n_groups: usize, value: f64, fit: FittedModel) {
        if self.best.as_ref().is_none_or(|(best, _)| value < self.curve[*best].value) {
            self.best = Some((self.curve.len(), fit));
        }
        let n_row_groups = Some(self.n_row_groups);
        self.curve.push(GroupCount { n_groups, n_row_groups, value, is_chosen: false });
    }
}

#[cfg(test)]
mod tests {
    use super::super::block_model::tests::four_by_four;
    use super::super::tests::{planted, table};
    use super::*;
    use crate::base::cancel::{self, Cancel};
    use crate::base::error::Error;
    use proptest::prelude::*;
    use std::sync::Arc;

    /// AIC of the best of 20 starts on the 4 x 4 example.
    fn aic(n_row_groups: usize, n_groups: usize) -> f64 {
        let (cells, lbm) = (four_by_four(), Lbm { restarts: 20, ..Lbm::default() });
        let fits = lbm.fits(&cells, &[n_row_groups], n_groups, &Pool::new(1));
        Criterion::Aic.of(fits[0].bound, &cells, n_row_groups, n_groups)
    }

    #[test]
    fn the_worked_example_has_its_criteria() {
        // Six decimals are given. A fit reaches them at a sharp maximum; on a flat one it stops within the tolerance of
        // 1e-6 per cell, 1.6e-5.
        assert!((aic(2, 2) - 23.098_352).abs() < 1e-6, "{}", aic(2, 2));
        assert!((aic(1, 1) - 24.180_710).abs() < 1e-6, "{}", aic(1, 1));
        assert!((aic(2, 1) - 28.180_710).abs() < 1e-4, "{}", aic(2, 1));
        // The penalty is 4 ln 16 + ln 4 + ln 4 = 20 ln 2.
        let icl = Criterion::Icl.of(-5.549_176, &four_by_four(), 2, 2);
        assert!((icl - 24.961_296).abs() < 1e-6, "{icl}");
    }

    #[test]
    fn a_search_can_be_interrupted() {
        let cancel = Arc::new(Cancel::default());
        let found = cancel::scope(&cancel, || {
            cancel.request();
            Lbm::default().find(&table(&planted(&[0, 1, 0, 1], 20)), &Pool::new(2)).is_ok()
        });
        assert_eq!(found, Err(Error::Interrupted));
    }

    fn find(lbm: &Lbm, columns: &[Vec<f64>], threads: usize) -> Grouping {
        lbm.find(&table(columns), &Pool::new(threads)).unwrap()
    }

    fn members(grouping: &Grouping) -> Vec<&[usize]> {
        grouping.groups.iter().collect()
    }

    #[test]
    fn planted_groups_are_found() {
        let planted = planted(&[0, 1, 2, 0, 1, 2, 0, 1, 2], 60);
        let found = find(&Lbm::default(), &planted, 1);
        assert_eq!(members(&found), [&[0, 3, 6][..], &[1, 4, 7], &[2, 5, 8]]);
        let chosen: Vec<&GroupCount> = found.curve.iter().filter(|point| point.is_chosen).collect();
        assert_eq!(chosen.len(), 1);
        assert!(found.curve.iter().all(|point| chosen[0].value <= point.value));
        // For each number of row groups, the search stops 5 column groups after the best.
        for n_row_groups in ROW_GROUPS {
            let of = |point: &&GroupCount| point.n_row_groups == Some(n_row_groups);
            let chain: Vec<f64> = found.curve.iter().filter(of).map(|point| point.value).collect();
            let least = chain.iter().copied().fold(f64::INFINITY, f64::min);
            let best = chain.iter().position(|&value| value == least).unwrap();
            assert_eq!(chain.len(), (best + 1 + PATIENCE).min(planted.len()));
        }
    }

    #[test]
    fn constant_columns_belong_to_no_group() {
        let mut columns = planted(&[0, 1, 0, 1], 40);
        columns.insert(1, vec![7.0; 40]);
        let found = find(&Lbm::default(), &columns, 1);
        assert_eq!(members(&found), [&[0, 3][..], &[2, 4]]);
        assert_eq!(found.groups.of(1), None);
    }

    #[test]
    fn a_number_of_groups_may_be_given() {
        let columns = planted(&[0, 1, 2, 0, 1, 2], 50);
        let of = |n_groups| Lbm { n_groups: Some(n_groups), ..Lbm::default() };
        let found = find(&of(2), &columns, 1);
        assert_eq!(found.groups.len(), 2);
        assert!(found.curve.iter().all(|point| point.n_groups == 2));
        let message = of(7).find(&table(&columns), &Pool::new(1)).unwrap_err().to_string();
        assert_eq!(message, "n_groups is 7, expected 1 to 6, the columns that are not constant");
    }

    #[test]
    fn bad_settings_are_refused() {
        let message = |lbm: Lbm| lbm.check().unwrap_err().to_string();
        let rows = Lbm { rows: 1, ..Lbm::default() };
        assert_eq!(message(rows), "rows is 1, expected 2 or more");
        let levels = Lbm { levels: 1, ..Lbm::default() };
        assert_eq!(message(levels), "levels is 1, expected 2 to 64");
        let restarts = Lbm { restarts: 0, ..Lbm::default() };
        assert_eq!(message(restarts), "restarts is 0, expected 1 to 1000");
        let none = Lbm { n_groups: Some(0), ..Lbm::default() };
        assert_eq!(message(none), "n_groups is 0, expected 1 or more");
    }

    #[test]
    fn two_rows_and_one_column_are_enough() {
        let found = find(&Lbm::default(), &[vec![0.0, 1.0]], 1);
        assert_eq!(members(&found), [&[0][..]]);
    }

    proptest! {
        // A table takes a hundred fits.
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn every_column_that_varies_is_in_one_group_for_any_number_of_threads(
            columns in (2usize..14).prop_flat_map(|rows| {
                proptest::collection::vec(proptest::collection::vec(0u8..6, rows), 1..9)
            }),
            seed: u64,
        ) {
            let columns: Vec<Vec<f64>> =
                columns.iter().map(|column| column.iter().map(|&x| f64::from(x)).collect()).collect();
            let varies = |column: &Vec<f64>| column.iter().any(|x| *x != column[0]);
            prop_assume!(columns.iter().any(varies));
            let lbm = Lbm { seed, ..Lbm::default() };
            let found = find(&lbm, &columns, 1);
            for (feature, column) in columns.iter().enumerate() {
                prop_assert_eq!(found.groups.of(feature).is_some(), varies(column));
            }
            prop_assert_eq!(&found, &find(&lbm, &columns, 3));
        }
    }

    proptest! {
        // Each case takes as many starts as ten searches.
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn groups_do_not_depend_on_the_order_of_columns(order in Just((0..9).collect::<Vec<usize>>()).prop_shuffle()) {
            // In one of hundreds of orders, five random starts miss the planted groups, the global optimum; hence 50.
            let kinds = [0, 1, 2, 0, 1, 2, 0, 1, 2];
            let columns = planted(&kinds, 60);
            let moved: Vec<Vec<f64>> = order.iter().map(|&from| columns[from].clone()).collect();
            let found = find(&Lbm { restarts: 50, ..Lbm::default() }, &moved, 1);
            for (a, &from_a) in order.iter().enumerate() {
                for (b, &from_b) in order.iter().enumerate() {
                    let is_same = found.groups.of(a) == found.groups.of(b);
                    prop_assert_eq!(is_same, kinds[from_a] == kinds[from_b]);
                }
            }
        }
    }
}
