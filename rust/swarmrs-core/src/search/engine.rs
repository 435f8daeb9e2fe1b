//! The search loop: an optimizer proposes subsets, an evaluator scores them, the optimizer receives their costs.

use crate::base::cancel::{self, Ended};
use crate::base::clock::Clock;
use crate::base::error::{Error, Result};
use crate::base::parallel::Pool;
use crate::base::random::{Phase, Streams};
use crate::base::subset::Subset;
use crate::evaluate::cache::{self, EvaluationCache, Key};
use crate::evaluate::{Evaluator, Finished, Measures};
use crate::problem::budget::{Budget, Spent, Stop};
use crate::problem::constraints::Constraints;
use crate::problem::objective::CostFunction;
use crate::search::algorithm::{Evaluation, Iteration, Optimizer};
use crate::search::observer::{IterationRecord, Observer};
use crate::search::ranking::Ranked;
use crate::search::replay::Replay;
use serde::Serialize;
use std::time::Duration;

/// The outcome of a run.
#[derive(Debug)]
pub struct Outcome {
    /// The best eligible subset, or the best of all if none is eligible; None if the run was interrupted before the first
    /// evaluation.
    pub best: Option<Evaluation>,
    /// Evaluations, and distinct subsets among them.
    pub evaluations: Evaluations,
    /// Finished iterations.
    pub iterations: u64,
    /// The stopping criterion that ended the run.
    pub stop: Stop,
    /// The run time.
    pub seconds: Seconds,
    /// The number of proposals of the first iteration, if the budget allowed fewer.
    pub cut_from: Option<usize>,
    /// The ranking of features; empty unless the algorithm ranks features.
    pub ranking: Vec<Ranked>,
}

/// The number of evaluations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Evaluations {
    /// All evaluations, repeated subsets included; limited by the budget.
    pub total: u64,
    /// Distinct subsets; an upper bound if they do not fit the evaluation cache.
    pub unique: u64,
}

/// The run time in seconds; search and evaluation add up to the total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Seconds {
    /// Time in the algorithm.
    pub search: f64,
    /// Time in the evaluator.
    pub evaluate: f64,
    /// The total.
    pub total: f64,
}

/// The inputs of a run.
pub struct Engine<'a> {
    /// Proposes subsets.
    pub optimizer: Box<dyn Optimizer>,
    /// Scores subsets.
    pub evaluator: &'a mut dyn Evaluator,
    /// Computes costs from scores.
    pub cost_function: CostFunction,
    /// Limits the run.
    pub budget: Budget,
    /// The random streams.
    pub streams: Streams,
    /// Decodes proposals to feasible subsets.
    pub constraints: &'a Constraints,
    /// The threads of the algorithm.
    pub pool: &'a Pool,
    /// The evaluations of an earlier part of the same run, to resume it.
    pub replay: Option<&'a Replay>,
    /// Bytes for the evaluation cache.
    pub memory: u64,
    /// The clock of the time limit.
    pub clock: Clock,
}

impl Engine<'_> {
    /// Runs until the budget is spent, the algorithm is finished, or an observer stops the run.
    ///
    /// # Errors
    /// Errors of the evaluator, except interruptions. An interruption or the time limit ends the run with the best subset so
    /// far. The iteration in which it occurs is dropped, except that the finished evaluations of the first iteration count.
    #[allow(clippy::too_many_lines, reason = "one iteration, read from top to bottom")]
    pub fn run(mut self, observers: &mut [&mut dyn Observer]) -> Result<Outcome> {
        let start = Clock::start();
        let mut spent = Spent { evaluations: 0, iterations: 0, best: None, clock: self.clock };
        let mut best: Option<Evaluation> = None;
        let mut best_choice: Option<Evaluation> = None;
        // True if `best` is eligible.
        let mut is_best_eligible = false;
        let mut cache = if self.evaluator.is_repeatable() {
            EvaluationCache::within(self.memory)
        } else {
            EvaluationCache::unbounded()
        };
        let mut unique = 0;
        let mut evaluating = Duration::ZERO;
        let mut iterations = None;
        let mut cut_from = None;
        let stop = loop {
            let (number, fraction) = (spent.iterations, self.budget.fraction(&spent));
            // An iteration that is cancelled, or exceeds the time limit, is dropped as a whole: the state below changes only
            // after all its subsets are evaluated and the algorithm has received their costs.
            let deadline = self.budget.deadline(&spent);
            let proposed = cancel::until(deadline, || {
                self.optimizer.ask(&Iteration {
                    number,
                    fraction,
                    iterations,
                    max_evaluations: self.budget.evaluations,
                    best: best_choice.as_ref(),
                    streams: &self.streams,
                    phase: Phase::Ask,
                    pool: self.pool,
                })
            });
            let mut choices = match proposed {
                Ok(choices) => choices,
                Err(ended) => break ended.into(),
            };
            if choices.is_empty() {
                break Stop::Finished;
            }
            // A first batch that exceeds the budget is cut, so that there is a result.
            if let Some(limit) = self.budget.cut(&spent, choices.len()) {
                cut_from = Some(choices.len());
                choices.truncate(limit);
            }
            if let Some(stop) = self.budget.stop(&spent, choices.len()) {
                break stop;
            }
            iterations = iterations.or(self.budget.iterations_of(choices.len()));
            let mut wholes: Vec<(Subset, Key)> =
                choices.iter().map(|choice| keyed(self.constraints.decode(choice))).collect();
            let clock = Clock::start();
            let allows_empty = self.evaluator.allows_empty();
            let fresh = cache.unknown(&wholes, allows_empty);
            // Without a result so far, the finished evaluations of an interrupted iteration are kept.
            let finished = best.is_none().then(Finished::default);
            let evaluated = cancel::until(deadline, || {
                self.evaluate(&fresh, number as usize, finished.as_ref())
            });
            evaluating += clock.elapsed();
            let mut is_cut_short = None;
            let evaluated: Vec<(Subset, Measures)> = match evaluated {
                Err(ended) => {
                    is_cut_short = Some(ended.into());
                    finished.map(|finished| finished.of(&fresh)).unwrap_or_default()
                }
                Ok(Err(Error::Interrupted)) => break Stop::Interrupted,
                Ok(measures) => fresh.into_iter().zip(measures?).collect(),
            };
            if let Some(stop) = is_cut_short
                && evaluated.is_empty()
            {
                break stop;
            }
            cache.learn(&evaluated);
            if is_cut_short.is_some() {
                let is_known = |(_, key): &(Subset, Key)| cache.get(*key).is_some();
                let mut known = wholes.iter().map(is_known);
                choices.retain(|_| known.next().unwrap_or(false));
                wholes.retain(is_known);
            }
            let evaluations: Vec<Evaluation> = wholes
                .into_iter()
                .map(|(subset, key)| self.evaluation(subset, cache.get(key)))
                .collect();
            let choices = with_proposals(choices, &evaluations);
            // The empty subset has a cost, but was not evaluated, so it is never the result.
            let candidates = evaluations
                .iter()
                .zip(&choices)
                .filter(|(whole, _)| allows_empty || !whole.subset.is_empty());
            let mut better: Option<(&Evaluation, &Evaluation)> = None;
            let mut is_better_eligible = is_best_eligible;
            for (whole, choice) in candidates {
                let is_eligible = self.optimizer.is_eligible(&choice.subset);
                let is_better = match better.map(|(whole, _)| whole).or(best.as_ref()) {
                    Some(best) if is_eligible == is_better_eligible => whole.is_better_than(best),
                    Some(_) => is_eligible,
                    None => true,
                };
                if is_better {
                    better = Some((whole, choice));
                    is_better_eligible = is_eligible;
                }
            }
            // An algorithm receives complete batches only; the run ends after a batch that was cut.
            let is_whole = cut_from.is_none() && is_cut_short.is_none();
            let tell = || {
                let iteration = Iteration {
                    number,
                    fraction,
                    iterations,
                    max_evaluations: self.budget.evaluations,
                    best: better.map(|(_, choice)| choice).or(best_choice.as_ref()),
                    streams: &self.streams,
                    phase: Phase::Tell,
                    pool: self.pool,
                };
                self.optimizer.tell(&iteration, &choices);
            };
            if is_whole && let Err(ended) = cancel::until(deadline, tell) {
                break ended.into();
            }
            if let Some((whole, choice)) = better {
                (best, best_choice) = (Some(whole.clone()), Some(choice.clone()));
                is_best_eligible = is_better_eligible;
            }
            spent.evaluations += evaluations.len() as u64;
            spent.best = best.as_ref().filter(|_| is_best_eligible).map(|best| best.cost);
            unique = cache.n_evaluated();
            // If only empty subsets were proposed so far, one of them is recorded as the best.
            let Some(best) = best.as_ref().or(evaluations.first()) else { break Stop::Finished };
            let record = IterationRecord {
                iteration: spent.iterations,
                evaluations: &evaluations,
                evaluated: &evaluated,
                best,
                n_evaluations: spent.evaluations,
                n_unique: unique,
                seconds: start.seconds(),
                diagnostics: if is_whole { self.optimizer.diagnostics() } else { Vec::new() },
                is_cut_short: is_cut_short.is_some(),
            };
            spent.iterations += 1;
            // All observers are called, even if one of them stops the run.
            let mut is_stopped = false;
            for observer in observers.iter_mut() {
                is_stopped |= observer.iteration_done(&record).is_break();
            }
            if let Some(stop) = is_cut_short {
                break stop;
            }
            if is_stopped {
                break Stop::Callback;
            }
            if cut_from.is_some() {
                break Stop::MaxEvals;
            }
        };
        let (total, evaluate) = (start.seconds(), evaluating.as_secs_f64());
        Ok(Outcome {
            best,
            evaluations: Evaluations { total: spent.evaluations, unique },
            iterations: spent.iterations,
            stop,
            seconds: Seconds { search: total - evaluate, evaluate, total },
            cut_from,
            ranking: self.optimizer.ranking(),
        })
    }

    /// Evaluates new subsets, or takes their scores from the replay if it has the same subsets in this iteration.
    fn evaluate(
        &mut self,
        fresh: &[Subset],
        iteration: usize,
        finished: Option<&Finished>,
    ) -> Result<Vec<Measures>> {
        if fresh.is_empty() {
            return Ok(Vec::new());
        }
        let known = self.replay.and_then(|replay| replay.iterations().get(iteration));
        if let Some(known) = known
            && known.len() == fresh.len()
            && known.iter().zip(fresh).all(|((recorded, _), subset)| recorded == subset)
        {
            let measures: Vec<Measures> = known.iter().map(|(_, measures)| *measures).collect();
            self.evaluator.recall(fresh, &measures);
            return Ok(measures);
        }
        match finished {
            Some(finished) => self.evaluator.evaluate_noting(fresh, finished),
            None => self.evaluator.evaluate(fresh),
        }
    }

    fn evaluation(&self, subset: Subset, measures: Option<Measures>) -> Evaluation {
        let (measures, cost) = match measures {
            Some(measures) => (measures, self.cost_function.cost(&measures, &subset)),
            None => (Measures::WORST, self.cost_function.worst()),
        };
        Evaluation { subset, measures, cost }
    }
}

/// A subset with the key of the evaluation cache.
fn keyed(subset: Subset) -> (Subset, Key) {
    let key = cache::key(&subset);
    (subset, key)
}

/// The evaluations with the proposals of the algorithm in place of the decoded subsets.
fn with_proposals(choices: Vec<Subset>, evaluations: &[Evaluation]) -> Vec<Evaluation> {
    let pairs = choices.into_iter().zip(evaluations);
    pairs
        .map(|(subset, &Evaluation { measures, cost, .. })| Evaluation { subset, measures, cost })
        .collect()
}

impl From<Ended> for Stop {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Requested => Self::Interrupted,
            Ended::Deadline => Self::TimeLimit,
        }
    }
}
