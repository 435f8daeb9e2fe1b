//! The loop that joins an optimizer, which proposes, and an evaluator, which measures.

use crate::base::cancel::{self, Ended};
use crate::base::clock::Clock;
use crate::base::error::{Error, Result};
use crate::base::parallel::Pool;
use crate::base::random::{Phase, Streams};
use crate::base::subset::Subset;
use crate::evaluate::cache::Memo;
use crate::evaluate::{Evaluator, Measures};
use crate::problem::budget::{Budget, Spent, Stop};
use crate::problem::constraints::Frame;
use crate::problem::objective::Goal;
use crate::search::algorithm::{Evaluation, Optimizer, Turn};
use crate::search::observer::{Observer, TurnRecord};
use crate::search::replay::Replay;
use serde::Serialize;
use std::time::Duration;

/// How a run ended.
#[derive(Debug)]
pub struct Outcome {
    /// The best answer measured, or the best of all where the search never came to one; none when the run was interrupted before its first turn ended.
    pub best: Option<Evaluation>,
    /// Subsets asked for and subsets measured.
    pub evaluations: Evaluations,
    /// Turns done.
    pub turns: u64,
    /// Why it ended.
    pub stop: Stop,
    /// Where the time went.
    pub seconds: Seconds,
}

/// Subsets asked for and subsets measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Evaluations {
    /// What the budget counts.
    pub asked: u64,
    /// What was not known before.
    pub unique: u64,
}

/// Where the time of a run went; search and evaluation add up to the total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Seconds {
    /// Proposing and learning.
    pub search: f64,
    /// Measuring.
    pub evaluate: f64,
    /// Both.
    pub total: f64,
}

/// All that one run of the loop needs.
pub struct Engine<'a> {
    /// Proposes.
    pub optimizer: Box<dyn Optimizer>,
    /// Measures.
    pub evaluator: &'a mut dyn Evaluator,
    /// Turns measures into costs.
    pub goal: Goal,
    /// Ends the run.
    pub budget: Budget,
    /// Where chance comes from.
    pub streams: Streams,
    /// Which features may be chosen.
    pub frame: &'a Frame,
    /// Threads for the algorithm's own work.
    pub pool: &'a Pool,
    /// What an earlier part of the same run measured.
    pub replay: Option<&'a Replay>,
}

impl Engine<'_> {
    /// Runs to the end of the budget, of the search, or of an observer's patience.
    ///
    /// # Errors
    /// What the evaluator reports, except an interruption, which ends the run with the best so far. So does the time
    /// limit, within an iteration, too.
    #[allow(clippy::too_many_lines, reason = "one iteration, read from top to bottom")]
    pub fn run(mut self, observers: &mut [&mut dyn Observer]) -> Result<Outcome> {
        let mut spent = Spent { evaluations: 0, turns: 0, best: None, clock: Clock::start() };
        let mut best: Option<Evaluation> = None;
        let mut best_choice: Option<Evaluation> = None;
        let mut is_answered = false;
        let mut memo = Memo::default();
        let mut unique = 0;
        let mut measuring = Duration::ZERO;
        let mut turns = None;
        let stop = loop {
            let (number, fraction) = (spent.turns, self.budget.fraction(&spent));
            // An iteration that is cancelled, or overtaken by the time limit, is dropped as a whole: nothing below is
            // changed before its last subset is measured and the algorithm was told.
            let deadline = self.budget.deadline(&spent);
            let asked = cancel::until(deadline, || {
                self.optimizer.ask(&Turn {
                    number,
                    fraction,
                    turns,
                    best: best_choice.as_ref(),
                    streams: &self.streams,
                    phase: Phase::Ask,
                    pool: self.pool,
                })
            });
            let choices = match asked {
                Ok(choices) => choices,
                Err(ended) => break ended.into(),
            };
            if choices.is_empty() {
                break Stop::Finished;
            }
            if let Some(stop) = self.budget.stop(&spent, choices.len()) {
                break stop;
            }
            turns = turns.or(self.budget.turns_of(choices.len()));
            let wholes: Vec<Subset> =
                choices.iter().map(|choice| self.frame.whole(choice)).collect();
            let clock = Clock::start();
            let fresh = memo.unknown(&wholes, self.evaluator.allows_empty());
            let measured = cancel::until(deadline, || self.measure(&fresh, number as usize));
            measuring += clock.elapsed();
            let measured = match measured {
                Err(ended) => break ended.into(),
                Ok(Err(Error::Interrupted)) => break Stop::Interrupted,
                Ok(other) => other?,
            };
            let measured: Vec<(Subset, Measures)> = fresh.into_iter().zip(measured).collect();
            memo.learn(&measured);
            let told: Vec<Evaluation> =
                wholes.into_iter().map(|subset| self.evaluation(subset, &memo)).collect();
            let choices = as_chosen(choices, &told);
            // The empty subset has a cost to learn from but was not measured: it is never the result.
            let measured_ones =
                told.iter().zip(&choices).filter(|(whole, _)| memo.knows(&whole.subset));
            let mut better: Option<(&Evaluation, &Evaluation)> = None;
            let mut is_better_answered = is_answered;
            for (whole, choice) in measured_ones {
                let is_answer = self.optimizer.is_answer(&choice.subset);
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
            let learned = cancel::until(deadline, || {
                let turn = Turn {
                    number,
                    fraction,
                    turns,
                    best: better.map(|(_, choice)| choice).or(best_choice.as_ref()),
                    streams: &self.streams,
                    phase: Phase::Tell,
                    pool: self.pool,
                };
                self.optimizer.tell(&turn, &choices);
            });
            if let Err(ended) = learned {
                break ended.into();
            }
            if let Some((whole, choice)) = better {
                (best, best_choice) = (Some(whole.clone()), Some(choice.clone()));
                is_answered = is_better_answered;
            }
            spent.evaluations += told.len() as u64;
            spent.best = best.as_ref().filter(|_| is_answered).map(|best| best.cost);
            unique = memo.len();
            // As long as only empty subsets were asked for, one of them is what there is to show.
            let Some(best) = best.as_ref().or(told.first()) else { break Stop::Finished };
            let record = TurnRecord {
                turn: spent.turns,
                told: &told,
                measured: &measured,
                best,
                asked: spent.evaluations,
                unique,
                seconds: spent.clock.seconds(),
                notes: self.optimizer.notes(),
            };
            spent.turns += 1;
            // Every observer sees every turn, whoever asks to stop.
            let mut is_stopped = false;
            for observer in observers.iter_mut() {
                is_stopped |= observer.turn_done(&record).is_break();
            }
            if is_stopped {
                break Stop::Stopped;
            }
        };
        let (total, evaluate) = (spent.clock.seconds(), measuring.as_secs_f64());
        Ok(Outcome {
            best,
            evaluations: Evaluations { asked: spent.evaluations, unique },
            turns: spent.turns,
            stop,
            seconds: Seconds { search: total - evaluate, evaluate, total },
        })
    }

    /// Measures, or repeats what an earlier part of this run measured in the same turn.
    fn measure(&mut self, fresh: &[Subset], turn: usize) -> Result<Vec<Measures>> {
        if fresh.is_empty() {
            return Ok(Vec::new());
        }
        let known = self.replay.and_then(|replay| replay.turns().get(turn));
        if let Some(known) = known
            && known.len() == fresh.len()
            && known.iter().zip(fresh).all(|((was, _), is)| was == is)
        {
            let measures: Vec<Measures> = known.iter().map(|(_, measures)| *measures).collect();
            self.evaluator.recall(fresh, &measures);
            return Ok(measures);
        }
        self.evaluator.measure(fresh)
    }

    fn evaluation(&self, subset: Subset, memo: &Memo) -> Evaluation {
        let (measures, cost) = match memo.get(&subset) {
            Some(measures) => (measures, self.goal.cost(&measures, &subset)),
            None => (Measures::WORST, self.goal.worst()),
        };
        Evaluation { subset, measures, cost }
    }
}

/// What was told of whole subsets, as told of the choices that led to them.
fn as_chosen(choices: Vec<Subset>, told: &[Evaluation]) -> Vec<Evaluation> {
    let pairs = choices.into_iter().zip(told);
    pairs
        .map(|(subset, told)| Evaluation { subset, measures: told.measures, cost: told.cost })
        .collect()
}

impl From<Ended> for Stop {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Requested => Self::Interrupted,
            Ended::Deadline => Self::Seconds,
        }
    }
}
