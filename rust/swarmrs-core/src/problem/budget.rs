//! The budget of a run and the stopping criteria.

use crate::base::cancel::Deadline;
use crate::base::clock::Clock;
use crate::base::error::{Error, Result};
use crate::problem::objective::Cost;
use serde::{Deserialize, Serialize};

/// Minimum time limit, in seconds, for set-up and the first iteration.
const FIRST_ITERATION: f64 = 1.0;

/// The limits of a run; the first one reached stops it, at the end of an iteration. An iteration that the time limit
/// interrupts is dropped, except that the finished evaluations of the first iteration count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Evaluations, repeated subsets included.
    pub evaluations: Option<u64>,
    /// Iterations, the first of which evaluates the initial population.
    pub iterations: Option<u64>,
    /// Time limit in seconds; a run that it stops is not reproducible.
    pub seconds: Option<f64>,
    /// Target cost: a run that reaches it stops.
    pub cost: Option<f64>,
}

/// The stopping criterion that ended a run, by the name of its setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The next iteration would exceed the budget of evaluations.
    MaxEvals,
    /// All iterations are done.
    MaxIter,
    /// The time limit is reached.
    TimeLimit,
    /// The target cost is reached.
    TargetCost,
    /// The algorithm is finished.
    Finished,
    /// The user interrupted it.
    Interrupted,
    /// An observer requested the stop.
    Callback,
}

impl Budget {
    /// True if neither evaluations, iterations nor time are limited; a target cost may never be reached.
    pub fn is_unbounded(&self) -> bool {
        self.evaluations.is_none() && self.iterations.is_none() && self.seconds.is_none()
    }

    /// Checks that the limits are positive.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn check(&self) -> Result<()> {
        for (name, value) in [("evaluations", self.evaluations), ("iterations", self.iterations)] {
            if value == Some(0) {
                return Err(Error::out_of_range(name, 0, "1 or more"));
            }
        }
        match self.seconds {
            Some(seconds) if !(seconds > 0.0 && seconds.is_finite()) => {
                Err(Error::out_of_range("seconds", seconds, "above 0"))
            }
            _ => Ok(()),
        }
    }

    /// The reason to stop a run that has spent this much and would evaluate `next` subsets in the next iteration; None to
    /// continue. The first iteration is stopped by its [`deadline`](Self::deadline) instead of the time limit.
    pub fn stop(&self, spent: &Spent, next: usize) -> Option<Stop> {
        let is_over = |limit: Option<u64>, count: u64| limit.is_some_and(|limit| count > limit);
        if self.cost.is_some_and(|cost| spent.best.is_some_and(|best| best <= Cost::new(cost))) {
            Some(Stop::TargetCost)
        } else if is_over(self.iterations, spent.iterations + 1) {
            Some(Stop::MaxIter)
        } else if is_over(self.evaluations, spent.evaluations + next as u64) {
            Some(Stop::MaxEvals)
        } else if spent.iterations > 0
            && self.seconds.is_some_and(|limit| spent.clock.seconds() >= limit)
        {
            Some(Stop::TimeLimit)
        } else {
            None
        }
    }

    /// The number of subsets of the first iteration to evaluate if its `next` subsets exceed the budget.
    pub fn cut(&self, spent: &Spent, next: usize) -> Option<usize> {
        let limit = usize::try_from(self.evaluations?).ok()?;
        (spent.iterations == 0 && limit < next).then_some(limit)
    }

    /// The deadline of the next iteration.
    pub fn deadline(&self, spent: &Spent) -> Option<Deadline> {
        if spent.iterations == 0 {
            return self.first_deadline(spent.clock);
        }
        self.seconds.map(|seconds| Deadline { clock: spent.clock, seconds })
    }

    /// The deadline of set-up and the first iteration, at least a second: without an evaluation there is no result.
    pub fn first_deadline(&self, clock: Clock) -> Option<Deadline> {
        self.seconds.map(|limit| Deadline { clock, seconds: limit.max(FIRST_ITERATION) })
    }

    /// The fraction of the budget that is spent, from 0 to 1; of several limits, the largest fraction.
    pub fn fraction(&self, spent: &Spent) -> f64 {
        let fraction = |limit: Option<f64>, done: f64| limit.map_or(0.0, |limit| done / limit);
        fraction(self.evaluations.map(|n| n as f64), spent.evaluations as f64)
            .max(fraction(self.iterations.map(|n| n as f64), spent.iterations as f64))
            .max(fraction(self.seconds, spent.clock.seconds()))
            .min(1.0)
    }

    /// The number of iterations of `batch` subsets that fit the budget; None if neither evaluations nor iterations are
    /// limited.
    pub fn iterations_of(&self, batch: usize) -> Option<u64> {
        let by_evaluations = self.evaluations.map(|n| n / batch.max(1) as u64);
        match (by_evaluations, self.iterations) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}

/// What a run has spent of its budget so far.
#[derive(Debug, Clone)]
pub struct Spent {
    /// Evaluations, repeated subsets included.
    pub evaluations: u64,
    /// Finished iterations.
    pub iterations: u64,
    /// The least cost so far.
    pub best: Option<Cost>,
    /// Started with the run.
    pub clock: Clock,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(evaluations: u64, iterations: u64, best: f64) -> Spent {
        Spent { evaluations, iterations, best: Some(Cost::new(best)), clock: Clock::start() }
    }

    #[test]
    fn later_iterations_are_not_cut() {
        let budget = Budget { evaluations: Some(100), ..Budget::default() };
        assert_eq!(budget.stop(&spent(60, 2, 1.0), 40), None);
        assert_eq!(budget.stop(&spent(60, 2, 1.0), 41), Some(Stop::MaxEvals));
    }

    #[test]
    fn the_first_iteration_is_cut_to_the_budget() {
        let budget = Budget { evaluations: Some(10), ..Budget::default() };
        assert_eq!(budget.cut(&spent(0, 0, 1.0), 30), Some(10));
        assert_eq!(budget.cut(&spent(0, 0, 1.0), 10), None);
        assert_eq!(budget.cut(&spent(9, 1, 1.0), 30), None);
    }

    #[test]
    fn iterations_and_target_cost_stop_a_run() {
        let budget = Budget { iterations: Some(3), cost: Some(0.1), ..Budget::default() };
        assert_eq!(budget.stop(&spent(0, 2, 0.2), 1), None);
        assert_eq!(budget.stop(&spent(0, 3, 0.2), 1), Some(Stop::MaxIter));
        assert_eq!(budget.stop(&spent(0, 0, 0.1), 1), Some(Stop::TargetCost));
    }

    #[test]
    fn the_budgets_of_the_papers_hold_their_iterations() {
        let iterations =
            |n, batch| Budget { evaluations: Some(n), ..Budget::default() }.iterations_of(batch);
        assert_eq!(iterations(6000, 30), Some(200));
        assert_eq!(iterations(5000, 50), Some(100));
        assert_eq!(iterations(6000, 80), Some(75));
    }

    #[test]
    fn limits_that_are_not_positive_are_refused() {
        let none = Budget { evaluations: Some(0), ..Budget::default() };
        assert_eq!(none.check().unwrap_err().to_string(), "evaluations is 0, expected 1 or more");
        let none = Budget { seconds: Some(f64::NAN), ..Budget::default() };
        assert!(none.check().is_err());
    }
}
