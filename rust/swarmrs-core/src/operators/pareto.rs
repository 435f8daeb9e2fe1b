//! Two costs at once: dominance, fronts, crowding and hypervolume of points that are better the
//! lower they lie.

use crate::base::subset::Subset;
use crate::search::algorithm::Evaluation;
pub use crate::search::front::{Point, by_costs, hypervolume};

/// True if `a` is no worse in both costs and better in one.
pub fn dominates(a: Point, b: Point) -> bool {
    a[0] <= b[0] && a[1] <= b[1] && a != b
}

/// Fast non-dominated sorting: the points that nothing dominates, then those that only these do,
/// and so on; each front in ascending order of indices.
pub fn fronts(points: &[Point]) -> Vec<Vec<usize>> {
    let worse_than =
        |at: usize| (0..points.len()).filter(move |&other| dominates(points[at], points[other]));
    let mut n_dominators = vec![0usize; points.len()];
    for worse in (0..points.len()).flat_map(worse_than) {
        n_dominators[worse] += 1;
    }
    let mut fronts = Vec::new();
    let mut front: Vec<usize> = (0..points.len()).filter(|&at| n_dominators[at] == 0).collect();
    while !front.is_empty() {
        let mut next = Vec::new();
        for worse in front.iter().flat_map(|&at| worse_than(at)) {
            n_dominators[worse] -= 1;
            if n_dominators[worse] == 0 {
                next.push(worse);
            }
        }
        next.sort_unstable();
        fronts.push(std::mem::replace(&mut front, next));
    }
    fronts
}

/// Crowding distance: how far the neighbors of each point of a front are apart, cost by cost, as a share of the
/// front's range; infinite at its ends.
pub fn crowding(front: &[Point]) -> Vec<f64> {
    let mut distances = vec![0.0; front.len()];
    for cost in 0..2 {
        let mut order: Vec<usize> = (0..front.len()).collect();
        order.sort_by(|&a, &b| front[a][cost].total_cmp(&front[b][cost]));
        let (Some(&first), Some(&last)) = (order.first(), order.last()) else { break };
        let range = front[last][cost] - front[first][cost];
        for at in order.windows(3) {
            let gap = front[at[2]][cost] - front[at[0]][cost];
            // Equal costs say nothing, and neither does one without end.
            distances[at[1]] += if range > 0.0 && range.is_finite() { gap / range } else { 0.0 };
        }
        distances[first] = f64::INFINITY;
        distances[last] = f64::INFINITY;
    }
    distances
}

/// A point that is kept, and how it stands among those it was chosen from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Survivor {
    /// The index of the point.
    pub index: usize,
    /// The number of its front, from 0.
    pub rank: usize,
    /// Its crowding distance there.
    pub crowding: f64,
}

impl Survivor {
    /// True if it lies on a better front, or on the same one with more room around it.
    pub fn beats(&self, other: &Self) -> bool {
        self.rank < other.rank || (self.rank == other.rank && self.crowding > other.crowding)
    }
}

/// `count` of the points, whole fronts first; of the front that does not fit as a whole those with
/// the most room around them, equals by their costs, then the older. Older points stand first, in
/// what is given and in what is returned.
pub fn survivors(points: &[Point], count: usize) -> Vec<Survivor> {
    let mut kept: Vec<Survivor> = Vec::with_capacity(count);
    for (rank, front) in fronts(points).into_iter().enumerate() {
        let distances = crowding(&front.iter().map(|&at| points[at]).collect::<Vec<_>>());
        let mut standing: Vec<Survivor> = front
            .into_iter()
            .zip(distances)
            .map(|(index, crowding)| Survivor { index, rank, crowding })
            .collect();
        standing.sort_by(|a, b| {
            b.crowding
                .total_cmp(&a.crowding)
                .then(by_costs(&points[a.index], &points[b.index]))
                .then(a.index.cmp(&b.index))
        });
        standing.truncate(count - kept.len());
        kept.extend(standing);
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
    /// Its cost, and a second one: mostly the share of features it has.
    pub costs: Point,
}

impl TradeOff {
    /// The trade-off of cost and relative size.
    pub fn of(evaluation: &Evaluation) -> Self {
        Self::with(evaluation, evaluation.subset.count() as f64 / evaluation.subset.len() as f64)
    }

    /// The trade-off of the cost and a second one.
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
        let room = crowding(&FOUR);
        assert_close(room[1], 1.30);
        assert_close(room[2], 1.15);
        assert_eq!((room[0], room[3]), (f64::INFINITY, f64::INFINITY));
    }

    #[test]
    fn points_outside_the_reference_add_nothing() {
        let mut more = THREE.to_vec();
        more.extend([[1.0, 0.0], [0.0, 1.0], [1.2, 0.05], [0.05, f64::INFINITY]]);
        assert_close(hypervolume(&more, [1.0, 1.0]), 0.70);
        assert_eq!(hypervolume(&[], [1.0, 1.0]), 0.0);
    }

    #[test]
    fn a_cost_without_end_leaves_crowding_a_number() {
        let room = crowding(&[[0.1, 0.6], [0.2, 0.3], [f64::INFINITY, 0.1]]);
        assert_close(room[1], 1.0);
        assert!(crowding(&[[0.5, 0.5]; 3]).iter().all(|distance| !distance.is_nan()));
    }

    #[test]
    fn the_last_front_is_cut_by_room_then_costs_then_age() {
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
        fn fronts_are_those_of_peeling_one_after_the_other(points in points()) {
            let mut left: Vec<usize> = (0..points.len()).collect();
            let mut expected = Vec::new();
            while !left.is_empty() {
                let (front, rest): (Vec<usize>, Vec<usize>) = left.iter().partition(|&&at| {
                    !left.iter().any(|&other| dominates(points[other], points[at]))
                });
                expected.push(front);
                left = rest;
            }
            prop_assert_eq!(fronts(&points), expected);
        }

        #[test]
        fn hypervolume_counts_the_cells_that_are_dominated(points in points()) {
            let corner = |cell: u8| f64::from(cell) / 8.0;
            let cells = (0u8..64).filter(|cell| {
                let low = [corner(cell % 8), corner(cell / 8)];
                points.iter().any(|point| point[0] <= low[0] && point[1] <= low[1])
            });
            // Eighths are exact.
            prop_assert_eq!(hypervolume(&points, [1.0, 1.0]), cells.count() as f64 / 64.0);
        }

        #[test]
        fn no_point_left_out_beats_one_that_is_kept(points in points(), count in 0usize..30) {
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
