//! Pareto dominance, non-dominated sorting, crowding distance and hypervolume for two costs, both minimized.

use crate::base::subset::Subset;
use crate::search::algorithm::Evaluation;
pub use crate::search::front::{Point, by_costs, hypervolume};

/// True if `a` is no worse in both costs and better in one.
pub fn dominates(a: Point, b: Point) -> bool {
    a[0] <= b[0] && a[1] <= b[1] && a != b
}

/// Fast non-dominated sorting: the fronts, best first, each in ascending order of indices.
pub fn fronts(points: &[Point]) -> Vec<Vec<usize>> {
    let dominated_by =
        |i: usize| (0..points.len()).filter(move |&other| dominates(points[i], points[other]));
    let mut n_dominators = vec![0usize; points.len()];
    for dominated in (0..points.len()).flat_map(dominated_by) {
        n_dominators[dominated] += 1;
    }
    let mut fronts = Vec::new();
    let mut front: Vec<usize> = (0..points.len()).filter(|&i| n_dominators[i] == 0).collect();
    while !front.is_empty() {
        let mut next = Vec::new();
        for dominated in front.iter().flat_map(|&i| dominated_by(i)) {
            n_dominators[dominated] -= 1;
            if n_dominators[dominated] == 0 {
                next.push(dominated);
            }
        }
        next.sort_unstable();
        fronts.push(std::mem::replace(&mut front, next));
    }
    fronts
}

/// Crowding distance: the sum over costs of the distance between the neighbors of a point, relative to the range of the
/// front; infinite at the ends.
pub fn crowding(front: &[Point]) -> Vec<f64> {
    let mut distances = vec![0.0; front.len()];
    for cost in 0..2 {
        let mut order: Vec<usize> = (0..front.len()).collect();
        order.sort_by(|&a, &b| front[a][cost].total_cmp(&front[b][cost]));
        let (Some(&first), Some(&last)) = (order.first(), order.last()) else { break };
        let range = front[last][cost] - front[first][cost];
        for window in order.windows(3) {
            let (before, point, after) = (window[0], window[1], window[2]);
            let gap = front[after][cost] - front[before][cost];
            // A cost with range 0 or with an infinite value adds nothing.
            distances[point] += if range > 0.0 && range.is_finite() { gap / range } else { 0.0 };
        }
        distances[first] = f64::INFINITY;
        distances[last] = f64::INFINITY;
    }
    distances
}

/// A point that survives, with its rank and crowding distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Survivor {
    /// The index of the point.
    pub index: usize,
    /// The number of its front, from 0.
    pub rank: usize,
    /// Its crowding distance in this front.
    pub crowding: f64,
}

impl Survivor {
    /// The crowded comparison: true if it is on a better front, or on the same front with a larger crowding distance.
    pub fn beats(&self, other: &Self) -> bool {
        self.rank < other.rank || (self.rank == other.rank && self.crowding > other.crowding)
    }
}

/// `count` of the points, front by front. From the front that does not fit, the points with the largest crowding distances
/// survive, ties by costs, then by index. Survivors are in ascending order of index.
pub fn survivors(points: &[Point], count: usize) -> Vec<Survivor> {
    let mut kept: Vec<Survivor> = Vec::with_capacity(count);
    for (rank, front) in fronts(points).into_iter().enumerate() {
        let distances = crowding(&front.iter().map(|&i| points[i]).collect::<Vec<_>>());
        let mut front: Vec<Survivor> = front
            .into_iter()
            .zip(distances)
            .map(|(index, crowding)| Survivor { index, rank, crowding })
            .collect();
        front.sort_by(|a, b| {
            b.crowding
                .total_cmp(&a.crowding)
                .then(by_costs(&points[a.index], &points[b.index]))
                .then(a.index.cmp(&b.index))
        });
        front.truncate(count - kept.len());
        kept.extend(front);
        if kept.len() == count {
            break;
        }
    }
    kept.sort_unstable_by_key(|survivor| survivor.index);
    kept
}

/// A subset and its two costs.
#[derive(Debug, Clone, PartialEq)]
pub struct TradeOff {
    /// The subset.
    pub subset: Subset,
    /// Its cost, and a second cost: usually the fraction of selected features.
    pub costs: Point,
}

impl TradeOff {
    /// The trade-off of cost and fraction of selected features.
    pub fn of(evaluation: &Evaluation) -> Self {
        Self::with(evaluation, evaluation.subset.count() as f64 / evaluation.subset.len() as f64)
    }

    /// The trade-off of the cost and a second cost.
    pub fn with(evaluation: &Evaluation, second: f64) -> Self {
        Self { subset: evaluation.subset.clone(), costs: [evaluation.cost.value(), second] }
    }
}

/// Hypervolume of the trade-offs with the reference point (1, 1).
pub fn dominated_area<'a>(all: impl IntoIterator<Item = &'a TradeOff>) -> f64 {
    let points: Vec<Point> = all.into_iter().map(|one| one.costs).collect();
    hypervolume(&points, [1.0, 1.0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const THREE: [Point; 3] = [[0.1, 0.6], [0.2, 0.3], [0.5, 0.1]];
    const FOUR: [Point; 4] = [[0.1, 0.6], [0.2, 0.3], [0.3, 0.2], [0.5, 0.1]];

    /// Decimal fractions are not exact in binary.
    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }

    /// Points on a coarse grid, so that equal costs and equal points occur.
    fn points() -> impl Strategy<Value = Vec<Point>> {
        let point = (0u8..8, 0u8..8).prop_map(|(a, b)| [f64::from(a) / 8.0, f64::from(b) / 8.0]);
        proptest::collection::vec(point, 0..30)
    }

    #[test]
    fn hypervolume_and_crowding_have_the_worked_values() {
        assert_close(hypervolume(&THREE, [1.0, 1.0]), 0.70);
        assert_close(hypervolume(&FOUR, [1.0, 1.0]), 0.72);
        let distances = crowding(&FOUR);
        assert_close(distances[1], 1.30);
        assert_close(distances[2], 1.15);
        assert_eq!((distances[0], distances[3]), (f64::INFINITY, f64::INFINITY));
    }

    #[test]
    fn points_outside_the_reference_add_nothing() {
        let mut more = THREE.to_vec();
        more.extend([[1.0, 0.0], [0.0, 1.0], [1.2, 0.05], [0.05, f64::INFINITY]]);
        assert_close(hypervolume(&more, [1.0, 1.0]), 0.70);
        assert_eq!(hypervolume(&[], [1.0, 1.0]), 0.0);
    }

    #[test]
    fn infinite_costs_do_not_make_crowding_nan() {
        let distances = crowding(&[[0.1, 0.6], [0.2, 0.3], [f64::INFINITY, 0.1]]);
        assert_close(distances[1], 1.0);
        assert!(crowding(&[[0.5, 0.5]; 3]).iter().all(|distance| !distance.is_nan()));
    }

    #[test]
    fn the_last_front_is_cut_by_crowding_then_costs_then_index() {
        let indices = |points: &[Point], count| -> Vec<usize> {
            survivors(points, count).iter().map(|survivor| survivor.index).collect()
        };
        assert_eq!(indices(&FOUR, 3), [0, 1, 3]);
        assert_eq!(indices(&FOUR, 1), [0]);
        assert_eq!(indices(&[[0.9, 0.9], [0.5, 0.5], [0.2, 0.8]], 2), [1, 2]);
        assert_eq!(indices(&[[0.5, 0.5]; 4], 3), [0, 1, 3]);
    }

    proptest! {
        #[test]
        fn fronts_match_repeated_removal_of_the_non_dominated_points(points in points()) {
            let mut remaining: Vec<usize> = (0..points.len()).collect();
            let mut expected = Vec::new();
            while !remaining.is_empty() {
                let (front, dominated): (Vec<usize>, Vec<usize>) = remaining.iter().partition(|&&i| {
                    !remaining.iter().any(|&other| dominates(points[other], points[i]))
                });
                expected.push(front);
                remaining = dominated;
            }
            prop_assert_eq!(fronts(&points), expected);
        }

        #[test]
        fn hypervolume_matches_a_count_of_dominated_cells(points in points()) {
            let corner = |cell: u8| f64::from(cell) / 8.0;
            let cells = (0u8..64).filter(|cell| {
                let low = [corner(cell % 8), corner(cell / 8)];
                points.iter().any(|point| point[0] <= low[0] && point[1] <= low[1])
            });
            // Eighths are exact.
            prop_assert_eq!(hypervolume(&points, [1.0, 1.0]), cells.count() as f64 / 64.0);
        }

        #[test]
        fn no_dropped_point_beats_a_survivor(points in points(), count in 0usize..30) {
            let all = survivors(&points, points.len());
            let kept = survivors(&points, count);
            prop_assert_eq!(all.len(), points.len());
            prop_assert_eq!(kept.len(), count.min(points.len()));
            prop_assert!(kept.is_sorted_by_key(|survivor| survivor.index));
            for survivor in &kept {
                prop_assert_eq!(survivor, &all[survivor.index]);
                for other in all.iter().filter(|other| !kept.contains(other)) {
                    prop_assert!(!other.beats(survivor));
                }
            }
        }
    }
}
