//! Hierarchical clustering of features: average linkage, cut at the number of clusters with the largest mean silhouette.
//!
//! ```text
//! d(A, B) = 1 - SU(A, B)        symmetrical uncertainty of quantile levels, or
//! d(A, B) = 1 - |ρ(A, B)|       Spearman's rank correlation
//! s = (b - a) / max(a, b)       silhouette: a the mean distance within the cluster, b to the nearest other cluster;
//!                               0 for a cluster of one feature
//! ```
//!
//! Ties go to the smallest number of groups. The target is not used.
//!
//! P. J. Rousseeuw, Silhouettes: a graphical aid to the interpretation and validation of cluster analysis, J. Comput.
//! Appl. Math. 20 (1987), doi:10.1016/0377-0427(87)90125-7.

use super::linkage::{DistanceMatrix, clusters};
use super::sample::Sample;
use super::{GroupCount, Grouping, Groups, MAX_GROUPS, check_number, check_sample};
use crate::base::error::{Error, Result};
use crate::base::parallel::Pool;
use crate::data::dataset::Dataset;
use crate::filter::entropy::Logs;
use crate::filter::partitions::Partitions;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Maximum number of columns: the distances of their pairs take 1.6 GB.
const MAX_COLUMNS: usize = 20_000;

/// Hierarchical clustering of features.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hclust {
    /// The number of groups; None for the largest silhouette.
    pub n_groups: Option<usize>,
    /// The maximum number of rows in the sample; default 100.
    pub rows: usize,
    /// Levels of a column, for [`Distance::Su`]; default 3.
    pub levels: usize,
    /// The distance between features.
    pub distance: Distance,
    /// The seed of the sample; default 0.
    pub seed: u64,
}

/// The distance between two features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distance {
    /// 1 less the symmetrical uncertainty of quantile levels.
    #[default]
    Su,
    /// 1 less the absolute rank correlation.
    Spearman,
}

impl Default for Hclust {
    fn default() -> Self {
        Self { n_groups: None, rows: 100, levels: 3, distance: Distance::Su, seed: 0 }
    }
}

impl Hclust {
    /// Checks the ranges of the settings.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn check(&self) -> Result<()> {
        check_sample(self.n_groups, self.rows, self.levels)
    }

    /// Finds the groups of a dataset, with the silhouettes of all numbers of groups.
    ///
    /// # Errors
    /// If all columns are constant, more than 20 000 are not constant, or fewer than the requested groups.
    pub fn find(&self, data: &Dataset, pool: &Pool) -> Result<Grouping> {
        let sample = Sample::draw(data, self.rows, self.seed)?;
        let n = sample.columns.len();
        if n > MAX_COLUMNS {
            let what = format!(
                "hclust compares all pairs of {n} columns, expected {MAX_COLUMNS} at most: use lbm"
            );
            return Err(Error::BadData { what });
        }
        if let Some(number) = self.n_groups {
            check_number(number, n)?;
        }
        match self.distance {
            Distance::Su => {
                let n_rows = sample.rows.len();
                let levels = sample.levels(self.levels, pool);
                let partitions = Partitions::new(levels, n_rows, Logs::new(n_rows), pool);
                self.cluster(&sample, pool, |a, b| 1.0 - f64::from(partitions.uncertainty(a, b)))
            }
            Distance::Spearman => {
                let ranks = sample.ranks(pool);
                let norms: Vec<f64> = ranks.iter().map(|ranks| dot(ranks, ranks).sqrt()).collect();
                self.cluster(&sample, pool, |a, b| {
                    let norm = norms[a] * norms[b];
                    let product = dot(&ranks[a], &ranks[b]).abs();
                    // A column that is constant in the sample is correlated with none.
                    if norm > 0.0 { (1.0 - product / norm).max(0.0) } else { 1.0 }
                })
            }
        }
    }

    fn cluster(
        &self,
        sample: &Sample<'_>,
        pool: &Pool,
        distance: impl Fn(usize, usize) -> f64 + Sync,
    ) -> Result<Grouping> {
        let n = sample.columns.len();
        let merges = DistanceMatrix::new(n, &distance, pool).average_linkage();
        // Silhouettes are defined for 2 to n - 1 clusters.
        let numbers = match self.n_groups {
            Some(number) => number.max(2)..=number.min(n - 1),
            None => 2..=MAX_GROUPS.min(n - 1),
        };
        let silhouettes = silhouettes(n, &merges, numbers.clone(), distance, pool);
        let mut best: Option<(usize, f64)> = None;
        for (number, &value) in numbers.clone().zip(&silhouettes) {
            if best.is_none_or(|(_, largest)| value > largest) {
                best = Some((number, value));
            }
        }
        // With one or two columns there are no silhouettes: every column is a group.
        let chosen = self.n_groups.or(best.map(|(number, _)| number)).unwrap_or(n);
        let point = |(n_groups, value)| GroupCount {
            n_groups,
            n_row_groups: None,
            value,
            is_chosen: n_groups == chosen,
        };
        let mut members = vec![Vec::new(); n];
        for (&column, cluster) in sample.columns.iter().zip(clusters(n, &merges, n - chosen)) {
            members[cluster].push(column);
        }
        Ok(Grouping {
            groups: Groups::new(members, sample.n_features())?,
            curve: numbers.zip(silhouettes).map(point).collect(),
        })
    }
}

/// The mean silhouette of all points for each number of clusters.
fn silhouettes(
    n: usize,
    merges: &[(usize, usize)],
    numbers: RangeInclusive<usize>,
    distance: impl Fn(usize, usize) -> f64 + Sync,
    pool: &Pool,
) -> Vec<f64> {
    if numbers.is_empty() {
        return Vec::new();
    }
    let (fewest, most) = (*numbers.start(), *numbers.end());
    let finest = clusters(n, merges, n - most);
    let mut representatives = finest.clone();
    representatives.sort_unstable();
    representatives.dedup();
    let index = |point: usize| representatives.partition_point(|&other| other < point);
    let cluster_of: Vec<usize> = finest.into_iter().map(index).collect();
    let mut sizes = vec![0.0; most];
    for &cluster in &cluster_of {
        sizes[cluster] += 1.0;
    }
    let later_merges: Vec<(usize, usize)> =
        merges[n - most..n - fewest].iter().map(|&(i, j)| (index(i), index(j))).collect();
    // The distance sum to a merged cluster is the sum of those to its parts, so each distance is computed once.
    let of_points = pool.map((0..n).collect(), |point| {
        let mut sums = vec![0.0; most];
        for other in (0..n).filter(|&other| other != point) {
            sums[cluster_of[other]] += distance(point, other);
        }
        let (mut own, mut sizes) = (cluster_of[point], sizes.clone());
        let mut silhouettes = vec![silhouette(own, &sums, &sizes)];
        for &(kept, merged) in &later_merges {
            sums[kept] += sums[merged];
            sizes[kept] += std::mem::take(&mut sizes[merged]);
            own = if own == merged { kept } else { own };
            silhouettes.push(silhouette(own, &sums, &sizes));
        }
        silhouettes
    });
    let mean = |step: usize| of_points.iter().map(|values| values[step]).sum::<f64>() / n as f64;
    (0..=most - fewest).rev().map(mean).collect()
}

/// The silhouette of a point, from the sum of its distances to each cluster; clusters of size 0 are ignored.
fn silhouette(own: usize, sums: &[f64], sizes: &[f64]) -> f64 {
    if sizes[own] <= 1.0 {
        return 0.0;
    }
    let within = sums[own] / (sizes[own] - 1.0);
    let others = (0..sums.len()).filter(|&cluster| cluster != own && sizes[cluster] > 0.0);
    let nearest =
        others.map(|cluster| sums[cluster] / sizes[cluster]).fold(f64::INFINITY, f64::min);
    let largest = within.max(nearest);
    if largest > 0.0 { (nearest - within) / largest } else { 0.0 }
}

/// The dot product, summed in 8 lanes: the order is the same on every machine, and vectorizes.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut lanes = [0.0; LANES];
    let (left, right) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in left.zip(right) {
        for lane in 0..LANES {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    lanes.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::super::tests::{planted, table};
    use super::*;
    use proptest::prelude::*;

    fn members(grouping: &Grouping) -> Vec<&[usize]> {
        grouping.groups.iter().collect()
    }

    #[test]
    fn planted_groups_are_found_by_either_distance() {
        let mut columns = planted(&[0, 1, 2, 0, 1, 2, 0, 1, 2], 60);
        // A negated column carries the same information.
        columns[3] = columns[3].iter().map(|x| -x).collect();
        for distance in [Distance::Su, Distance::Spearman] {
            let hclust = Hclust { distance, ..Hclust::default() };
            let found = hclust.find(&table(&columns), &Pool::new(1)).unwrap();
            assert_eq!(members(&found), [&[0, 3, 6][..], &[1, 4, 7], &[2, 5, 8]], "{distance:?}");
            assert!(found.curve.iter().map(|point| point.n_groups).eq(2..=8));
            let chosen = found.curve.iter().find(|point| point.is_chosen).unwrap();
            assert!(found.curve.iter().all(|point| point.value <= chosen.value));
        }
    }

    #[test]
    fn silhouettes_are_those_worked_by_hand() {
        // At 0, 1 and 10: with {0, 1} and {10}, s is 9/10, 8/9 and 0.
        let at = [0.0, 1.0, 10.0];
        let distance = |a: usize, b: usize| f64::abs(at[a] - at[b]);
        let merges = DistanceMatrix::new(3, distance, &Pool::new(1)).average_linkage();
        let found = silhouettes(3, &merges, 2..=2, distance, &Pool::new(1));
        assert!((found[0] - (0.9 + 8.0 / 9.0) / 3.0).abs() < 1e-15);
        // If all distances are 0, silhouettes are 0.
        assert_eq!(silhouettes(3, &[(0, 1), (0, 2)], 2..=2, |_, _| 0.0, &Pool::new(1)), [0.0]);
    }

    #[test]
    fn two_columns_are_two_groups_unless_a_number_is_given() {
        let columns = planted(&[0, 0], 30);
        let of = |n_groups| {
            let hclust = Hclust { n_groups, ..Hclust::default() };
            hclust.find(&table(&columns), &Pool::new(1)).unwrap()
        };
        assert_eq!(members(&of(None)), [[0], [1]]);
        assert_eq!(members(&of(Some(1))), [[0, 1]]);
        assert_eq!(members(&of(Some(2))), [[0], [1]]);
        assert!(of(None).curve.is_empty());
    }

    #[test]
    fn a_number_of_groups_may_be_given() {
        let columns = planted(&[0, 1, 2, 0, 1], 40);
        let of = |n_groups| Hclust { n_groups: Some(n_groups), ..Hclust::default() };
        for n_groups in 1..=5 {
            let found = of(n_groups).find(&table(&columns), &Pool::new(1)).unwrap();
            assert_eq!(found.groups.len(), n_groups);
            assert!(found.curve.iter().all(|point| point.n_groups == n_groups && point.is_chosen));
        }
        assert!(of(6).find(&table(&columns), &Pool::new(1)).is_err());
    }

    #[test]
    fn too_many_columns_are_refused() {
        let columns = vec![vec![0.0, 1.0]; MAX_COLUMNS + 1];
        let message = Hclust::default().find(&table(&columns), &Pool::new(1)).unwrap_err();
        assert_eq!(
            message.to_string(),
            "hclust compares all pairs of 20001 columns, expected 20000 at most: use lbm"
        );
    }

    proptest! {
        #[test]
        fn silhouettes_are_those_of_all_pairs_for_any_number_of_threads(
            of in (3usize..12).prop_flat_map(|n| {
                proptest::collection::vec(0.0f64..1.0, n * n).prop_map(move |cells| (n, cells))
            }),
        ) {
            let (n, cells) = of;
            let distance =
                |a: usize, b: usize| if a == b { 0.0 } else { cells[a.min(b) * n + a.max(b)] };
            let merges = DistanceMatrix::new(n, distance, &Pool::new(1)).average_linkage();
            let found = silhouettes(n, &merges, 2..=n - 1, distance, &Pool::new(1));
            prop_assert_eq!(&found, &silhouettes(n, &merges, 2..=n - 1, distance, &Pool::new(3)));
            for (number, value) in (2..n).zip(found) {
                let of = clusters(n, &merges, n - number);
                let mean = |point: usize, cluster: usize, size: usize| {
                    let others = (0..n).filter(|&other| of[other] == cluster);
                    others.map(|other| distance(point, other)).sum::<f64>() / size as f64
                };
                let naive = |point: usize| {
                    let size = |cluster: usize| of.iter().filter(|&&c| c == cluster).count();
                    if size(of[point]) == 1 {
                        return 0.0;
                    }
                    let a = mean(point, of[point], size(of[point]) - 1);
                    let others = (0..n).filter(|&c| c != of[point] && size(c) > 0);
                    let b = others.map(|c| mean(point, c, size(c))).fold(f64::INFINITY, f64::min);
                    (b - a) / a.max(b)
                };
                let expected = (0..n).map(naive).sum::<f64>() / n as f64;
                // The same sums in another order.
                prop_assert!((value - expected).abs() < 1e-12);
            }
        }

        #[test]
        fn a_dot_product_is_exact_on_whole_numbers(
            pairs in proptest::collection::vec((-500i32..500, -500i32..500), 0..70),
        ) {
            let of = |pick: fn(&(i32, i32)) -> i32| -> Vec<f64> {
                pairs.iter().map(|pair| f64::from(pick(pair))).collect()
            };
            let expected: i32 = pairs.iter().map(|(x, y)| x * y).sum();
            prop_assert_eq!(dot(&of(|pair| pair.0), &of(|pair| pair.1)), f64::from(expected));
        }
    }
}
