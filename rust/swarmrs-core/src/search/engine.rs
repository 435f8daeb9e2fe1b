//! The search loop: an optimizer proposes subsets, an evaluator scores them, the optimizer learns their costs.

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

/// The end of a run: its best subset, its effort, its reason.
#[derive(Debug)]
pub struct Outcome {
    /// The best answer evaluated, or the best of all where the search never came to one; none when the run was interrupted
    /// before its first iteration ended.
    pub best: Option<Evaluation>,
    /// Evaluations, and distinct subsets among them.
    pub evaluations: Evaluations,
    /// Iterations done.
    pub iterations: u64,
    /// The reason for its end.
    pub stop: Stop,
    /// The time it took.
    pub seconds: Seconds,
    /// The subsets that the first iteration proposed, where the budget allowed fewer.
    pub cut_from: Option<usize>,
    /// What the algorithm chooses from, by support; empty unless it ranks.
    pub ranking: Vec<Ranked>,
}

/// The number of evaluations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Evaluations {
    /// All, repeated subsets included: the number that a budget limits.
    pub total: u64,
    /// Distinct subsets; at most so many where they are more than the evaluation cache has room for.
    pub unique: u64,
}

/// The time of a run; search and evaluation add up to the total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Seconds {
    /// Proposing and learning.
    pub search: f64,
    /// Evaluating.
    pub evaluate: f64,
    /// Both.
    pub total: f64,
}

/// All that one run of the loop needs.
pub struct Engine<'a> {
    /// Proposes subsets.
    pub optimizer: Box<dyn Optimizer>,
    /// Scores subsets.
    pub evaluator: &'a mut dyn Evaluator,
    /// Computes costs from scores.
    pub cost_function: CostFunction,
    /// Ends the run.
    pub budget: Budget,
    /// The random streams.
    pub streams: Streams,
    /// The subsets that may be chosen.
    pub constraints: &'a Constraints,
    /// Threads for the algorithm's own work.
    pub pool: &'a Pool,
    /// The evaluations of an earlier part of the same run.
    pub replay: Option<&'a Replay>,
    /// Bytes for the evaluation cache.
    pub memory: u64,
    /// Runs since the start that a time limit counts from.
    pub clock: Clock,
}

impl Engine<'_> {
    /// Runs to the end of the budget, of the search, or of an observer's patience.
    ///
    /// # Errors
    /// What the evaluator reports, except an interruption, which ends the run with the best so far. So does the time
    /// limit. Both act within an iteration, which is dropped then; of the first one, the finished evaluations count.
    #[allow(clippy::too_many_lines, reason = "one iteration, read from top to bottom")]
    pub fn run(mut self, observers: &mut [&mut dyn Observer]) -> Result<Outcome> {
        let start = Clock::start();
        let mut spent = Spent { evaluations: 0, iterations: 0, best: None, clock: self.clock };
        let mut best: Option<Evaluation> = None;
        let mut best_choice: Option<Evaluation> = None;
        let mut is_answered = false;
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
            // An iteration that is cancelled, or overtaken by the time limit, is dropped as a whole: nothing below is
            // changed before its last subset is evaluated and the algorithm has learned its cost.
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
            // Some result is better than none: of a first batch that does not fit, its beginning is evaluated.
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
            // As long as there is no result, what an iteration has finished is better than none.
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
            let choices = as_chosen(choices, &evaluations);
            // The empty subset has a cost to learn from but was not evaluated: it is never the result.
            let answers = evaluations
                .iter()
                .zip(&choices)
                .filter(|(whole, _)| allows_empty || !whole.subset.is_empty());
            let mut better: Option<(&Evaluation, &Evaluation)> = None;
            let mut is_better_answered = is_answered;
            for (whole, choice) in answers {
                let is_answer = self.optimizer.is_eligible(&choice.subset);
                let is_better = match better.map(|(whole, _)| whole).or(best.as_ref()) {
                    Some(best) if is_answer == is_better_answered => whole.is_better_than(best),
                    Some(_) => is_answer,
                    None => true,
                };
                if is_better {
                    better = Some((whole, choice));
                    is_better_answered = is_answer;
                }
            }
            // An algorithm learns from whole batches only; after one that is cut the run is over.
            let is_whole = cut_from.is_none() && is_cut_short.is_none();
            let learn = || {
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
            if is_whole && let Err(ended) = cancel::until(deadline, learn) {
                break ended.into();
            }
            if let Some((whole, choice)) = better {
                (best, best_choice) = (Some(whole.clone()), Some(choice.clone()));
                is_answered = is_better_answered;
            }
            spent.evaluations += evaluations.len() as u64;
            spent.best = best.as_ref().filter(|_| is_answered).map(|best| best.cost);
            unique = cache.n_evaluated();
            // As long as only empty subsets were proposed, one of them is all there is to report.
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
            // Every observer sees every iteration, even if an earlier one stops the run.
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

    /// Evaluates, or repeats the evaluations of an earlier part of this run in the same iteration.
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
            && known.iter().zip(fresh).all(|((was, _), is)| was == is)
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

/// The evaluations of whole subsets as those of the choices that stand for them.
fn as_chosen(choices: Vec<Subset>, evaluations: &[Evaluation]) -> Vec<Evaluation> {
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
