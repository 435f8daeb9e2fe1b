//! Minimum redundancy, maximum relevance (mRMR): greedy ranking by F statistic over mean correlation (FCQ).
//!
//! ```text
//! s(i) = F(i) / mean of max(|r(i, j)|, 0.001) over the selected features j;  F(i) if none is selected
//! select the feature with the highest s, ties to the lowest index; repeat
//! ```
//!
//! r is Pearson's correlation. If the mean is 1, s = 0: the feature duplicates the selected ones. This rule and the floor
//! of 0.001 are those of the package mrmr-selection; the ranking is the same unless rounding changes its F statistic.
//!
//! C. Ding, H. Peng, Minimum redundancy feature selection from microarray gene expression data, J. Bioinform. Comput.
//! Biol. 3(2) (2005), doi:10.1142/S0219720005001004; Z. Zhao, R. Anand, M. Wang, Maximum relevance and minimum
//! redundancy feature selection methods for a marketing machine learning platform, DSAA (2019),
//! doi:10.1109/DSAA.2019.00059, for FCQ.

use super::anova::{columns_per_item, f_scores};
use super::discretize::Labels;
use crate::base::parallel::Pool;
use crate::base::sums::{Moments, dot};
use std::cmp::Ordering;

/// The least value of a correlation in the mean.
const FLOOR: f64 = 0.001;
/// Correlations closer to 1 than this count as 1: the difference is rounding.
const ROUNDING: f64 = 1e-12;

/// A feature that can still be selected.
#[derive(Debug)]
struct Candidate {
    feature: usize,
    relevance: f64,
    /// The sum of the correlations with the selected features.
    redundancy: f64,
    /// The column, centered and scaled to norm 1: dot products are correlations.
    unit: Vec<f64>,
}

impl Candidate {
    fn new(feature: usize, relevance: f64, column: &[f64]) -> Self {
        let Moments { mean, rest, squares } = Moments::of(column);
        let norm = squares.sqrt();
        let unit = column.iter().map(|x| ((x - mean) - rest) / norm).collect();
        Self { feature, relevance, redundancy: 0.0, unit }
    }

    /// s of the formula, with `n_selected` features selected.
    fn score(&self, n_selected: usize) -> f64 {
        match self.redundancy / n_selected as f64 {
            _ if n_selected == 0 => self.relevance,
            1.0 => 0.0,
            mean => self.relevance / mean,
        }
    }

    fn add_redundancy(&mut self, selected: &Self) {
        let correlation = dot(&self.unit, &selected.unit).abs();
        self.redundancy += if correlation > 1.0 - ROUNDING { 1.0 } else { correlation.max(FLOOR) };
    }
}

/// The ranking of all columns with their scores: first `n_ranked` columns in the order of their selection, then the others
/// by descending F statistic, ties in index order.
///
/// The score of a selected column is s at its selection, of the others s after the last selection. Columns with an F
/// statistic of 0 are never selected and score 0. An infinite F statistic gives an infinite score. Columns must be as
/// [`f_scores`] requires; the time is proportional to `n_ranked` times the size of the table.
pub fn mrmr(
    columns: &[&[f64]],
    classes: Labels<'_>,
    n_ranked: usize,
    pool: &Pool,
) -> Vec<(usize, f64)> {
    let relevance = f_scores(columns, classes, pool);
    let (relevant, irrelevant): (Vec<usize>, Vec<usize>) =
        (0..columns.len()).partition(|&feature| relevance[feature] > 0.0);
    let mut candidates =
        pool.map(relevant, |feature| Candidate::new(feature, relevance[feature], columns[feature]));
    let per_item = columns_per_item(classes.codes.len());
    let mut ranking = Vec::with_capacity(columns.len());
    while ranking.len() < n_ranked {
        let n_selected = ranking.len();
        let compare = |a: &Candidate, b: &Candidate| {
            let scores = a.score(n_selected).total_cmp(&b.score(n_selected));
            scores.then(b.feature.cmp(&a.feature))
        };
        let best = (0..candidates.len()).max_by(|&a, &b| compare(&candidates[a], &candidates[b]));
        let Some(best) = best else { break };
        let selected = candidates.swap_remove(best);
        ranking.push((selected.feature, selected.score(n_selected)));
        pool.map(candidates.chunks_mut(per_item).collect(), |chunk: &mut [Candidate]| {
            for candidate in chunk {
                candidate.add_redundancy(&selected);
            }
        });
    }
    let n_selected = ranking.len();
    candidates.sort_by(by_relevance);
    ranking.extend(candidates.iter().map(|other| (other.feature, other.score(n_selected))));
    ranking.extend(irrelevant.into_iter().map(|feature| (feature, 0.0)));
    ranking
}

fn by_relevance(a: &Candidate, b: &Candidate) -> Ordering {
    b.relevance.total_cmp(&a.relevance).then(a.feature.cmp(&b.feature))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(columns: &[Vec<f64>], codes: &[u32], most: usize, threads: usize) -> Vec<(usize, f64)> {
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        mrmr(&columns, Labels { codes, count: 3 }, most, &Pool::new(threads))
    }

    fn features(order: &[(usize, f64)]) -> Vec<usize> {
        order.iter().map(|(feature, _)| *feature).collect()
    }

    #[test]
    fn duplicates_rank_behind_other_features() {
        let codes = [0, 0, 0, 0, 1, 1, 1, 1];
        let best = vec![1.0, 2.0, 1.5, 2.5, 4.0, 5.0, 4.5, 5.5];
        let reversed: Vec<f64> = best.iter().map(|x| -2.0 * x).collect();
        let weak = vec![1.0, 5.0, 2.0, 6.0, 3.0, 7.0, 4.0, 8.0];
        let columns = [vec![7.0; 8], best, reversed, weak];
        let order = of(&columns, &codes, 4, 1);
        assert_eq!(features(&order), [1, 3, 2, 0]);
        assert_eq!(order[3].1, 0.0);
        // A duplicate of the only selected feature scores 0.
        let order = of(&columns[..3], &codes, 2, 1);
        assert_eq!((features(&order), order[1].1), (vec![1, 2, 0], 0.0));
    }

    #[test]
    fn an_infinite_relevance_is_selected_first_and_its_duplicate_last() {
        let codes = [0, 0, 1, 1, 2, 2];
        let perfect: Vec<f64> = codes.iter().map(|&code| f64::from(code * code)).collect();
        let noisy = vec![1.0, 2.0, 3.0, 2.0, 5.0, 4.0];
        let order = of(&[noisy, perfect.clone(), perfect], &codes, 3, 1);
        assert_eq!(features(&order), [1, 0, 2]);
        assert_eq!((order[0].1, order[2].1), (f64::INFINITY, f64::INFINITY));
    }

    /// The definition, with plain sums.
    fn naive(columns: &[Vec<f64>], relevance: &[f64], most: usize) -> Vec<usize> {
        let correlation = |a: &[f64], b: &[f64]| {
            let centered = |x: &[f64]| {
                let mean = x.iter().sum::<f64>() / x.len() as f64;
                x.iter().map(|x| x - mean).collect::<Vec<_>>()
            };
            let (a, b) = (centered(a), centered(b));
            let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
        };
        let mut chosen: Vec<usize> = Vec::new();
        for _ in 0..most {
            let score = |feature: usize| {
                let all = chosen
                    .iter()
                    .map(|&other| correlation(&columns[feature], &columns[other]).abs().max(0.001));
                let mean = all.sum::<f64>() / chosen.len() as f64;
                if chosen.is_empty() { relevance[feature] } else { relevance[feature] / mean }
            };
            let remaining = (0..columns.len()).filter(|feature| !chosen.contains(feature));
            let best = remaining.max_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap();
            chosen.push(best);
        }
        chosen
    }

    proptest! {
        #[test]
        fn the_ranking_matches_the_definition(
            rows in proptest::collection::vec((0u32..3, proptest::collection::vec(-1e3f64..1e3, 7)), 8..30),
            most in 0usize..8,
        ) {
            let codes: Vec<u32> = rows.iter().map(|(code, _)| *code).collect();
            prop_assume!(codes.iter().any(|&code| code != codes[0]));
            let columns: Vec<Vec<f64>> = (0..7)
                .map(|f| rows.iter().map(|(code, x)| x[f] + f64::from(code * 100 * f as u32)).collect())
                .collect();
            let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
            let relevance =
                f_scores(&slices, Labels { codes: &codes, count: 3 }, &Pool::new(1));
            let found = of(&columns, &codes, most, 1);
            prop_assert_eq!(&features(&found)[..most.min(7)], naive(&columns, &relevance, most.min(7)));
            let rest = found[most.min(7)..].iter().map(|&(feature, _)| relevance[feature]);
            prop_assert!(rest.is_sorted_by(|a, b| a >= b));
            let mut all = features(&found);
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..7));
            prop_assert_eq!(found, of(&columns, &codes, most, 3));
        }
    }
}
