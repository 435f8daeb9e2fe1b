//! The Pareto front of a run: the non-dominated evaluated subsets by loss and size.
//!
//! The loss is 1 less the score; for the accuracy it is the error.

use crate::base::error::Result;
use crate::base::subset::Subset;
use crate::evaluate::{Evaluator, Measures};
use crate::problem::objective::{Cost, Score};
use crate::search::algorithm::Evaluation;
use crate::search::observer::{IterationRecord, Observer};
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The Pareto front of all evaluated subsets; ties go to the first.
#[derive(Debug, Clone)]
pub struct Front {
    score: Score,
    by_size: BTreeMap<usize, Evaluation>,
}

/// The Pareto front of a run, with its knee and hypervolume.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FrontReport {
    /// The points by ascending size.
    pub points: Vec<FrontPoint>,
    /// The index of the knee; None without points.
    pub knee: Option<usize>,
    /// The hypervolume of loss and fraction of features with the reference point (1, 1).
    pub hypervolume: f64,
}

/// A non-dominated subset.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FrontPoint {
    /// The features.
    pub selected: Vec<usize>,
    /// Their number.
    pub size: usize,
    /// The cost, by the objective.
    pub cost: Cost,
    /// The scores.
    pub scores: Measures,
}

impl FrontPoint {
    /// A subset with its cost and scores.
    pub fn new(subset: &Subset, cost: Cost, scores: Measures) -> Self {
        Self { selected: subset.iter().collect(), size: subset.count(), cost, scores }
    }
}

impl FrontReport {
    /// Replaces the scores of its subsets by those of another evaluator; returns the scores of `best`, which need not be on
    /// the front.
    ///
    /// # Errors
    /// Errors of the evaluator.
    pub fn rescore(&mut self, evaluator: &mut dyn Evaluator, best: &Subset) -> Result<Measures> {
        let subset =
            |point: &FrontPoint| Subset::from_indices(best.len(), point.selected.iter().copied());
        let mut subsets: Vec<Subset> = self.points.iter().map(subset).collect();
        let index = subsets.iter().position(|subset| subset == best).unwrap_or_else(|| {
            subsets.push(best.clone());
            subsets.len() - 1
        });
        let scores = evaluator.evaluate(&subsets)?;
        for (point, &measures) in self.points.iter_mut().zip(&scores) {
            point.scores = measures;
        }
        Ok(scores[index])
    }
}

impl Front {
    /// An empty front of size and the loss of this score.
    pub fn of(score: Score) -> Self {
        Self { score, by_size: BTreeMap::new() }
    }

    /// The report for a table of `n_features`.
    pub fn report(&self, n_features: usize) -> FrontReport {
        let size_and_loss = |(&size, tried): (&usize, &Evaluation)| (size, self.loss(tried));
        let front: Vec<(usize, f64)> = self.by_size.iter().map(size_and_loss).collect();
        let costs: Vec<Point> =
            front.iter().map(|&(size, loss)| [loss, size as f64 / n_features as f64]).collect();
        let point = |tried: &Evaluation| FrontPoint::new(&tried.subset, tried.cost, tried.measures);
        FrontReport {
            points: self.by_size.values().map(point).collect(),
            knee: knee(&front),
            hypervolume: hypervolume(&costs, [1.0, 1.0]),
        }
    }

    fn loss(&self, tried: &Evaluation) -> f64 {
        self.score.loss(&tried.measures)
    }

    fn add(&mut self, tried: &Evaluation) {
        let (size, loss) = (tried.subset.count(), self.loss(tried));
        let is_dominated = self
            .by_size
            .range(..=size)
            .next_back()
            .is_some_and(|(_, smaller)| self.loss(smaller) <= loss);
        // Subsets that could not be evaluated have an infinite loss.
        if size == 0 || !loss.is_finite() || is_dominated {
            return;
        }
        let score = self.score;
        self.by_size.retain(|&other, tried| other < size || score.loss(&tried.measures) < loss);
        self.by_size.insert(size, tried.clone());
    }
}

impl Observer for Front {
    fn iteration_done(&mut self, record: &IterationRecord<'_>) -> ControlFlow<()> {
        for tried in record.evaluations {
            self.add(tried);
        }
        ControlFlow::Continue(())
    }
}

/// Two costs of a subset, both minimized.
pub type Point = [f64; 2];

/// The order by the first cost, then the second.
pub fn by_costs(a: &Point, b: &Point) -> Ordering {
    a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1]))
}

/// The hypervolume: the area that the points dominate, bounded by `reference`. Points that do not dominate the reference
/// point add nothing.
pub fn hypervolume(points: &[Point], reference: Point) -> f64 {
    let mut ordered = points.to_vec();
    ordered.sort_by(by_costs);
    let (mut area, mut top) = (0.0, reference[1]);
    for point in ordered {
        if point[0] < reference[0] && point[1] < top {
            area += (reference[0] - point[0]) * (top - point[1]);
            top = point[1];
        }
    }
    area
}

/// The knee of a front of sizes and losses: the point farthest below the line through its ends, with both axes scaled to the
/// range of the front; ties go to the smaller size. If no point is below the line, the knee is the smallest subset.
pub fn knee(front: &[(usize, f64)]) -> Option<usize> {
    let (&(min_size, max_loss), &(max_size, min_loss)) = (front.first()?, front.last()?);
    let (width, height) = ((max_size - min_size) as f64, max_loss - min_loss);
    // The ends are on the line, so only points below it replace the first.
    let (mut knee, mut farthest) = (0, 0.0);
    for (index, &(size, loss)) in front.iter().enumerate() {
        let below = 1.0 - (size - min_size) as f64 / width - (loss - min_loss) / height;
        if below > farthest {
            (knee, farthest) = (index, below);
        }
    }
    Some(knee)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn front(tried: &[(usize, u8)]) -> Front {
        let mut front = Front::of(Score::Accuracy);
        for &(size, error) in tried {
            front.add(&Evaluation {
                subset: Subset::from_indices(9, 0..size),
                measures: Measures { error: f64::from(error) / 10.0, ..Measures::WORST },
                cost: Cost::new(f64::from(error)),
            });
        }
        front
    }

    /// The distance of a point from the line through two others, by its formula, on the side of
    /// the origin.
    fn distance(point: Point, a: Point, b: Point) -> f64 {
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let cross = dx * (a[1] - point[1]) - (a[0] - point[0]) * dy;
        cross / (dx * dx + dy * dy).sqrt()
    }

    #[test]
    fn knees_have_the_expected_indices() {
        assert_eq!(knee(&[]), None);
        assert_eq!(knee(&[(3, 0.2)]), Some(0));
        assert_eq!(knee(&[(1, 0.4), (9, 0.1)]), Some(0));
        assert_eq!(knee(&[(1, 0.5), (2, 0.2), (3, 0.18), (9, 0.1)]), Some(1));
        // Halves are exact: both lie a quarter below the line, and the smaller is the knee.
        assert_eq!(knee(&[(0, 1.0), (1, 0.5), (2, 0.25), (4, 0.0)]), Some(1));
        // A concave front has no point below the line.
        assert_eq!(knee(&[(1, 0.5), (6, 0.45), (9, 0.1)]), Some(0));
    }

    #[test]
    fn a_report_has_the_worked_hypervolume() {
        // Sizes 1, 3 and 6 of 10 with errors .5, .2 and .1 are the worked front.
        let report = front(&[(6, 1), (3, 2), (1, 5), (7, 3)]).report(10);
        // Decimal fractions are not exact in binary.
        assert!((report.hypervolume - 0.70).abs() < 1e-12);
        assert!(
            (front(&[(6, 1), (3, 2), (1, 5), (2, 3)]).report(10).hypervolume - 0.72).abs() < 1e-12
        );
        assert_eq!(report.knee, Some(1));
        assert_eq!(report.points[1].selected, [0, 1, 2]);
        assert_eq!(report.points[1].cost, Cost::new(2.0));
        assert_eq!(
            Front::of(Score::Accuracy).report(10),
            FrontReport { points: vec![], knee: None, hypervolume: 0.0 }
        );
    }

    #[test]
    fn subsets_without_a_score_are_not_on_the_front() {
        let mut front = Front::of(Score::Accuracy);
        let measures = Measures::from_error(f64::NAN);
        let subset = Subset::from_indices(9, [1]);
        front.add(&Evaluation { subset, measures, cost: Cost::new(f64::NAN) });
        assert!(front.report(9).points.is_empty());
    }

    #[test]
    fn the_front_uses_the_requested_score() {
        // The subset with the least error recalls a single class.
        let tried = [(1, 0.06, 0.5), (2, 0.2, 0.65), (3, 0.3, 0.6)];
        let front = |score| {
            let mut front = Front::of(score);
            for (size, error, balanced_accuracy) in tried {
                let subset = Subset::from_indices(9, 0..size);
                let measures = Measures { error, balanced_accuracy, ..Measures::WORST };
                front.add(&Evaluation { subset, measures, cost: Cost::new(error) });
            }
            front.report(9)
        };
        let sizes =
            |report: &FrontReport| report.points.iter().map(|point| point.size).collect::<Vec<_>>();
        assert_eq!(sizes(&front(Score::Accuracy)), [1]);
        let balanced = front(Score::BalancedAccuracy);
        assert_eq!(sizes(&balanced), [1, 2]);
        assert!((balanced.hypervolume - (0.65 * 7.0 + 0.5) / 9.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn the_front_is_the_non_dominated_set(
            tried in proptest::collection::vec((1usize..9, 0u8..10), 1..40),
        ) {
            let mut expected: Vec<(usize, u8)> = tried.iter().copied().filter(|&(s, e)| {
                !tried.iter().any(|&(s2, e2)| (s2 <= s && e2 < e) || (s2 < s && e2 <= e))
            }).collect();
            expected.sort_unstable();
            expected.dedup();
            let report = front(&tried).report(9);
            let got: Vec<(usize, u8)> =
                report.points.iter().map(|p| (p.size, p.cost.value() as u8)).collect();
            prop_assert_eq!(got, expected);
        }

        #[test]
        fn no_point_lies_farther_below_the_line_than_the_knee(
            tried in proptest::collection::vec((1usize..9, 0u8..10), 2..40),
        ) {
            let report = front(&tried).report(9);
            let (first, last) = (&report.points[0], &report.points[report.points.len() - 1]);
            prop_assume!(first.size < last.size);
            let normal = |point: &FrontPoint| [
                (point.size - first.size) as f64 / (last.size - first.size) as f64,
                (point.scores.error - last.scores.error)
                    / (first.scores.error - last.scores.error),
            ];
            let distances: Vec<f64> = report
                .points
                .iter()
                .map(|point| distance(normal(point), normal(first), normal(last)))
                .collect();
            let knee = distances[report.knee.unwrap()];
            // Two formulas for one distance differ in the last bits.
            prop_assert!(knee > -1e-12);
            prop_assert!(distances.iter().all(|&other| other <= knee + 1e-12));
        }
    }
}
