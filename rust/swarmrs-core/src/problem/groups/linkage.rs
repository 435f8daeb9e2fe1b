//! Average linkage (UPGMA): the two nearest clusters are merged until one is left.
//!
//! ```text
//! d(k, i ∪ j) = (n_i d(k, i) + n_j d(k, j)) / (n_i + n_j)          Lance and Williams
//! ```
//!
//! A cluster is represented by its lowest member; ties go to the lowest pair (i, j). The nearest later neighbor of every
//! cluster is cached, so most merges take time linear in the number of clusters.

use crate::base::cancel;
use crate::base::parallel::Pool;

/// A condensed distance matrix: the distances of the pairs (0, 1), (0, 2), ..., (1, 2), ...
#[derive(Debug, Clone)]
pub struct DistanceMatrix {
    n: usize,
    distances: Vec<f64>,
}

impl DistanceMatrix {
    /// The distances of `n` points.
    pub fn new(n: usize, distance: impl Fn(usize, usize) -> f64 + Sync, pool: &Pool) -> Self {
        let mut distances = vec![0.0; n * n.saturating_sub(1) / 2];
        let mut unsplit = distances.as_mut_slice();
        let mut rows = Vec::with_capacity(n);
        for point in 0..n {
            let (row, later_rows) = unsplit.split_at_mut(n - 1 - point);
            rows.push((point, row));
            unsplit = later_rows;
        }
        pool.map(rows, |(point, row)| {
            for (other, entry) in (point + 1..).zip(row) {
                *entry = distance(point, other);
            }
        });
        Self { n, distances }
    }

    fn start(&self, point: usize) -> usize {
        point * (2 * self.n - point - 1) / 2
    }

    fn of(&mut self, a: usize, b: usize) -> &mut f64 {
        let (low, high) = (a.min(b), a.max(b));
        let index = self.start(low) + high - low - 1;
        &mut self.distances[index]
    }

    /// The nearest neighbor of a point among the later points, ties to the first.
    fn nearest_later(&self, point: usize) -> (f64, usize) {
        let row = &self.distances[self.start(point)..][..self.n - 1 - point];
        let mut best = (f64::INFINITY, self.n);
        for (&distance, other) in row.iter().zip(point + 1..) {
            if distance < best.0 {
                best = (distance, other);
            }
        }
        best
    }

    /// All merges in their order, as pairs (i, j): cluster j is merged into cluster i, i < j.
    pub fn average_linkage(mut self) -> Vec<(usize, usize)> {
        let mut sizes = vec![1.0; self.n];
        let mut is_active = vec![true; self.n];
        let mut nearest: Vec<(f64, usize)> =
            (0..self.n).map(|point| self.nearest_later(point)).collect();
        let mut merges = Vec::with_capacity(self.n.saturating_sub(1));
        for _ in 1..self.n {
            cancel::check();
            let mut i = 0;
            for point in 1..self.n {
                if nearest[point].0 < nearest[i].0 {
                    i = point;
                }
            }
            let j = nearest[i].1;
            merges.push((i, j));
            let size = sizes[i] + sizes[j];
            *self.of(i, j) = f64::INFINITY;
            is_active[j] = false;
            nearest[j].0 = f64::INFINITY;
            for k in (0..self.n).filter(|&k| k != i && is_active[k]) {
                let sum = sizes[i] * *self.of(k, i) + sizes[j] * *self.of(k, j);
                *self.of(k, i) = sum / size;
                *self.of(k, j) = f64::INFINITY;
            }
            sizes[i] = size;
            for k in (0..j).filter(|&k| is_active[k]) {
                if k == i || nearest[k].1 == i || nearest[k].1 == j {
                    nearest[k] = self.nearest_later(k);
                } else if k < i {
                    let merged = (*self.of(k, i), i);
                    // By rounding alone, the union can be nearer than both of its parts were.
                    if merged < nearest[k] {
                        nearest[k] = merged;
                    }
                }
            }
        }
        merges
    }
}

/// The cluster of each of `n` points after the first `n_merges`, as its lowest member.
pub fn clusters(n: usize, merges: &[(usize, usize)], n_merges: usize) -> Vec<usize> {
    let mut cluster_of: Vec<usize> = (0..n).collect();
    for &(i, j) in &merges[..n_merges] {
        cluster_of[j] = i;
    }
    // i < j, so the cluster of i is final when j is visited.
    for point in 0..n {
        cluster_of[point] = cluster_of[cluster_of[point]];
    }
    cluster_of
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn distances(n: usize, distance: impl Fn(usize, usize) -> f64 + Sync) -> DistanceMatrix {
        DistanceMatrix::new(n, distance, &Pool::new(1))
    }

    /// The definition: all pairs of clusters in every step, with the mean distance over all pairs of points.
    fn naive(n: usize, distance: &dyn Fn(usize, usize) -> f64) -> Vec<(usize, usize)> {
        let mut clusters: Vec<Vec<usize>> = (0..n).map(|point| vec![point]).collect();
        let mut merges = Vec::new();
        while clusters.len() > 1 {
            let mut best = (f64::INFINITY, 0, 0);
            for a in 0..clusters.len() {
                for b in a + 1..clusters.len() {
                    let pairs =
                        clusters[a].iter().flat_map(|&x| clusters[b].iter().map(move |&y| (x, y)));
                    let sum: f64 = pairs.map(|(x, y)| distance(x.min(y), x.max(y))).sum();
                    let mean = sum / (clusters[a].len() * clusters[b].len()) as f64;
                    if mean < best.0 {
                        best = (mean, a, b);
                    }
                }
            }
            let joins = clusters.remove(best.2);
            merges.push((clusters[best.1][0], joins[0]));
            clusters[best.1].extend(joins);
            clusters[best.1].sort_unstable();
        }
        merges
    }

    #[test]
    fn points_on_a_line_are_linked_by_hand() {
        // 0 and 1, then 10 and 12, then 5 with {0, 1} (mean 4.5, to {10, 12} 6), then both: 33/6.
        let at = [0.0, 1.0, 5.0, 10.0, 12.0];
        let of = distances(5, |a, b| f64::abs(at[a] - at[b]));
        let merges = of.average_linkage();
        assert_eq!(merges, [(0, 1), (3, 4), (0, 2), (0, 3)]);
        assert_eq!(clusters(5, &merges, 2), [0, 0, 2, 3, 3]);
        assert_eq!(clusters(5, &merges, 4), [0; 5]);
    }

    #[test]
    fn ties_go_to_the_lowest_pair() {
        assert_eq!(distances(4, |_, _| 1.0).average_linkage(), [(0, 1), (0, 2), (0, 3)]);
        let of = distances(4, |a, b| if (a, b) == (0, 1) { 2.0 } else { 1.0 });
        // {0, 2} and 3 are as near as 1 and 3.
        assert_eq!(of.average_linkage(), [(0, 2), (0, 3), (0, 1)]);
    }

    #[test]
    fn a_single_point_has_no_merge() {
        assert_eq!(distances(1, |_, _| 1.0).average_linkage(), []);
    }

    proptest! {
        #[test]
        fn linkage_is_that_of_all_pairs(
            of in (1usize..14).prop_flat_map(|n| {
                proptest::collection::vec(0.0f64..1.0, n * n).prop_map(move |cells| (n, cells))
            }),
        ) {
            // Continuous random distances have no ties, whose order could depend on rounding.
            let (n, cells) = of;
            let distance = |a: usize, b: usize| cells[a * n + b];
            let expected = naive(n, &distance);
            prop_assert_eq!(&distances(n, distance).average_linkage(), &expected);
            let threads = DistanceMatrix::new(n, distance, &Pool::new(3));
            prop_assert_eq!(&threads.average_linkage(), &expected);
        }
    }
}
