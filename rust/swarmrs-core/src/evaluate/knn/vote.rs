//! Votes and means of the k nearest neighbors, and ties of float64 distances.

use super::super::{Metric, Weights};

/// Float64 distances that agree to within this share of the k-th smallest are tied: twelve digits, where the rounding
/// errors of a sum of thousands of terms stay below the thirteenth. The same holds of votes by distance.
const TIE: f64 = 1.0 / (1u64 << 40) as f64;

/// The weight of a neighbor by its distance, squared for the Euclidean metric.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weighting {
    pub metric: Metric,
    pub weights: Weights,
}

impl Weighting {
    /// The weight of each of some neighbors as a function of the distance; where some lie at distance 0, only they have
    /// one.
    #[inline]
    fn of(self, neighbors: impl Iterator<Item = (f64, usize)>) -> impl Fn(f64) -> f64 {
        let is_by_distance = self.weights == Weights::Distance;
        let is_on_top = is_by_distance && { neighbors }.any(|(distance, _)| distance == 0.0);
        move |distance: f64| match (self.weights, self.metric) {
            (Weights::Uniform, _) => 1.0,
            (Weights::Distance, _) if is_on_top => f64::from(u8::from(distance == 0.0)),
            (Weights::Distance, Metric::Manhattan) => 1.0 / distance,
            (Weights::Distance, Metric::Euclidean) => 1.0 / distance.sqrt(),
        }
    }
}

/// Predicts a case by its k nearest neighbors.
pub(super) trait Decide {
    /// Takes the neighbors of a case, rows with their distances, in no particular order.
    fn decide(&mut self, case: usize, neighbors: impl Iterator<Item = (f64, usize)> + Clone);
}

/// The class of each case, by vote.
pub(super) struct Ballots<'a> {
    voter: &'a Voter,
    votes: Vec<f64>,
    pub classes: Vec<u32>,
}

impl<'a> Ballots<'a> {
    /// Votes about so many cases.
    pub fn new(voter: &'a Voter, n_cases: usize) -> Self {
        Self { voter, votes: voter.no_votes(), classes: vec![0; n_cases] }
    }
}

impl Decide for Ballots<'_> {
    #[inline]
    fn decide(&mut self, case: usize, neighbors: impl Iterator<Item = (f64, usize)> + Clone) {
        self.classes[case] = self.voter.vote(neighbors, &mut self.votes);
    }
}

/// The number of each case: the weighted mean of its neighbors, added up in the order of rows.
pub(super) struct Means<'a> {
    weighting: Weighting,
    numbers: &'a [f64],
    /// The row of each neighbor with its weight.
    near: Vec<(usize, f64)>,
    pub predicted: Vec<f64>,
}

impl<'a> Means<'a> {
    /// Means of these numbers, one for each row, for so many cases.
    pub fn new(weighting: Weighting, numbers: &'a [f64], n_cases: usize) -> Self {
        Self { weighting, numbers, near: Vec::new(), predicted: vec![0.0; n_cases] }
    }
}

impl Decide for Means<'_> {
    fn decide(&mut self, case: usize, neighbors: impl Iterator<Item = (f64, usize)> + Clone) {
        let weight = self.weighting.of(neighbors.clone());
        self.near.clear();
        self.near.extend(neighbors.map(|(distance, row)| (row, weight(distance))));
        self.near.sort_unstable_by_key(|&(row, _)| row);
        // From the first of them: neighbors with equal numbers have exactly that mean.
        let origin = self.numbers[self.near[0].0];
        let (mut sum, mut total) = (0.0, 0.0);
        for &(row, weight) in &self.near {
            sum += weight * (self.numbers[row] - origin);
            total += weight;
        }
        self.predicted[case] = origin + sum / total;
    }
}

/// The classes of all rows, and the weight of a vote.
pub(super) struct Voter {
    pub weighting: Weighting,
    /// The class of each row of the table; imputed copies of rows follow.
    pub codes: Vec<u32>,
    pub n_classes: usize,
}

impl Voter {
    /// Votes of no neighbors, one number for each class.
    pub fn no_votes(&self) -> Vec<f64> {
        vec![0.0; self.n_classes]
    }

    /// The class with the most votes of some rows, each with its distance (squared for the Euclidean metric); the smallest
    /// class of equals. `votes` is all zeros before and after.
    #[inline]
    pub fn vote(
        &self,
        neighbors: impl Iterator<Item = (f64, usize)> + Clone,
        votes: &mut [f64],
    ) -> u32 {
        let (mut class, mut most) = (u32::MAX, 0.0);
        let is_by_distance = self.weighting.weights == Weights::Distance;
        let weight = self.weighting.of(neighbors.clone());
        for (distance, row) in neighbors.clone() {
            let code = self.codes[row];
            let count = &mut votes[code as usize];
            *count += weight(distance);
            // Counts only grow: the last class to reach the top wins, or a smaller one that draws level with it.
            if *count > most || (*count == most && code < class) {
                (class, most) = (code, *count);
            }
        }
        if is_by_distance {
            // Equal votes differ in the last digits: a smaller class with as many up to rounding wins.
            let ties = neighbors.clone().map(|(_, row)| self.codes[row]);
            class = ties
                .filter(|&code| votes[code as usize] >= most * (1.0 - TIE))
                .min()
                .unwrap_or(class);
        }
        for (_, row) in neighbors {
            votes[self.codes[row] as usize] = 0.0;
        }
        class
    }
}

/// The `k` nearest of some rows by float64 distance, in no particular order. Of the rows tied with the k-th, those of the
/// lowest index are taken.
pub(super) fn nearest(
    candidates: &mut [(f64, u32)],
    k: usize,
) -> impl Iterator<Item = (f64, usize)> + Clone + '_ {
    let (_, &mut (kth, _), _) =
        candidates.select_nth_unstable_by(k - 1, |a, b| a.0.total_cmp(&b.0));
    // Rows before the tie come first, then those of the tie by their index, then the others.
    let rank = |&(distance, row): &(f64, u32)| {
        let off = distance - kth;
        let is_tied = off.abs() <= kth * TIE;
        let place = if is_tied {
            1
        } else if off < 0.0 {
            0
        } else {
            2
        };
        (place, row)
    };
    candidates.select_nth_unstable_by_key(k - 1, rank);
    candidates[..k].iter().map(|&(distance, row)| (distance, row as usize))
}

/// Sorts rows by float64 distance and keeps the `depth` nearest. Rows tied with the nearest that is left come next, by their
/// index.
pub(super) fn sort_nearest(rows: &mut Vec<(f64, u32)>, depth: usize) {
    // Each of `depth` parts has a row that is no farther than this, so that the nearest are not, nor those tied with them.
    let part = rows.len() / depth;
    if part > 1 {
        let least =
            |rows: &[(f64, u32)]| rows.iter().map(|row| row.0).fold(f64::INFINITY, f64::min);
        let limit = rows.chunks_exact(part).map(least).fold(0.0, f64::max);
        rows.retain(|&(distance, _)| distance - limit <= limit * TIE);
    }
    rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut rest = &mut rows[..];
    while let Some(&(nearest, _)) = rest.first() {
        let tied = rest.partition_point(|&(distance, _)| distance - nearest <= nearest * TIE);
        let (tie, others) = rest.split_at_mut(tied);
        tie.sort_unstable_by_key(|&(_, row)| row);
        rest = others;
    }
    rows.truncate(depth);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(distances: &[f64], k: usize) -> Vec<usize> {
        let mut candidates: Vec<(f64, u32)> = distances.iter().copied().zip(0..).collect();
        candidates.reverse();
        let mut rows: Vec<usize> = nearest(&mut candidates, k).map(|(_, row)| row).collect();
        rows.sort_unstable();
        rows
    }

    #[test]
    fn of_rows_tied_with_the_kth_the_lowest_are_taken() {
        assert_eq!(rows(&[4.0, 1.0, 2.0, 2.0, 2.0], 3), [1, 2, 3]);
        assert_eq!(rows(&[0.0, 0.0, 0.0, 1.0], 2), [0, 1]);
        assert_eq!(rows(&[2.0, 1.0, 3.0], 1), [1]);
        // Equal to within twelve digits is tied; a millionth apart is not.
        assert_eq!(rows(&[1.0 + 1e-14, 1.0, 5.0], 1), [0]);
        assert_eq!(rows(&[1.0 + 1e-6, 1.0, 5.0], 1), [1]);
    }

    #[test]
    fn a_vote_leaves_no_votes_behind() {
        let voter = Voter {
            weighting: Weighting { metric: Metric::Manhattan, weights: Weights::Uniform },
            codes: vec![2, 0, 1, 1],
            n_classes: 3,
        };
        let mut votes = voter.no_votes();
        let neighbors = |rows: [usize; 3]| rows.into_iter().map(|row| (1.0, row));
        assert_eq!(voter.vote(neighbors([0, 2, 3]), &mut votes), 1);
        // One vote each: the smallest class, whatever the order of the rows.
        assert_eq!(voter.vote(neighbors([0, 2, 1]), &mut votes), 0);
        assert_eq!(voter.vote(neighbors([1, 0, 2]), &mut votes), 0);
        assert_eq!(votes, [0.0; 3]);
    }

    #[test]
    fn means_are_weighted_and_have_one_order() {
        let numbers = [10.0, 4.0, 1.0, 0.1, 0.1, 0.1];
        let mean = |weights, metric, neighbors: &[(f64, usize)]| {
            let mut means = Means::new(Weighting { metric, weights }, &numbers, 2);
            means.decide(1, neighbors.iter().copied());
            means.predicted[1]
        };
        let near = [(1.0, 2), (4.0, 0), (2.0, 1)];
        assert_eq!(mean(Weights::Uniform, Metric::Manhattan, &near), 5.0);
        // 1 + 10 / 4 + 4 / 2 over 1 + 1 / 4 + 1 / 2.
        let expected = 5.5 / 1.75;
        assert!((mean(Weights::Distance, Metric::Manhattan, &near) - expected).abs() < 1e-14);
        let squares = near.map(|(distance, row)| (distance * distance, row));
        assert!((mean(Weights::Distance, Metric::Euclidean, &squares) - expected).abs() < 1e-14);
        let mut reversed = near;
        reversed.reverse();
        let bits = |neighbors: &[(f64, usize)]| {
            mean(Weights::Distance, Metric::Euclidean, neighbors).to_bits()
        };
        assert_eq!(bits(&near), bits(&reversed));
        // Only rows at distance 0, and exactly the number that all have.
        assert_eq!(mean(Weights::Distance, Metric::Manhattan, &[(0.0, 1), (1e-9, 0)]), 4.0);
        assert_eq!(
            mean(Weights::Distance, Metric::Manhattan, &[(0.3, 3), (0.7, 5), (0.9, 4)]),
            0.1
        );
    }

    #[test]
    fn votes_by_distance_count_the_reciprocal_distance_or_only_rows_at_distance_zero() {
        let voter = |metric| Voter {
            weighting: Weighting { metric, weights: Weights::Distance },
            codes: vec![0, 1, 1],
            n_classes: 2,
        };
        let class = |metric, distances: [f64; 3]| {
            let voter = voter(metric);
            voter.vote(distances.into_iter().zip(0..), &mut voter.no_votes())
        };
        // 1 / 1 against 2 / 3, and against 2 / sqrt(3).
        assert_eq!(class(Metric::Manhattan, [1.0, 3.0, 3.0]), 0);
        assert_eq!(class(Metric::Euclidean, [1.0, 3.0, 3.0]), 1);
        // Equal votes up to rounding: the smallest class.
        assert_eq!(class(Metric::Manhattan, [0.5 * (1.0 + 1e-14), 1.0, 1.0]), 0);
        assert_eq!(class(Metric::Manhattan, [0.5 * (1.0 + 1e-6), 1.0, 1.0]), 1);
        assert_eq!(class(Metric::Manhattan, [0.0, 1e-9, 1e-9]), 0);
        assert_eq!(class(Metric::Euclidean, [0.0, 0.0, 0.0]), 1);
    }
}
