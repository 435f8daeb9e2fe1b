//! The door of the crate: a spec and a table in, a selection out.

pub mod selection;
pub mod spec;

use crate::algorithms::{self, Entry};
use crate::base::cancel;
use crate::base::clock::Clock;
use crate::base::error::{Error, Result};
use crate::base::parallel::Pool;
use crate::base::random::Streams;
use crate::base::subset::Subset;
use crate::data::dataset::Dataset;
use crate::evaluate::{self, ByFilter, Evaluator, Resources};
use crate::filter::{Filter, Prescreen};
use crate::problem::budget::{Budget, Stop};
use crate::problem::constraints::Frame;
use crate::problem::groups::{GroupSpec, Groups};
use crate::problem::objective::{Goal, Objective, Score};
use crate::run::selection::{MeasuredBy, Screened, Selection};
pub use crate::run::spec::Spec;
use crate::search::algorithm::{GroupUse, Space};
use crate::search::engine::Engine;
use crate::search::front::{Front, FrontPoint};
use crate::search::observer::Observer;
use crate::search::replay::Replay;
use crate::search::trace::Trace;
use std::sync::Arc;

/// The part of the memory that may hold what features tell about each other: one in so many.
const FILTER_SHARE: u64 = 4;

/// A run that is ready to start: everything is checked.
pub struct Run<'a> {
    spec: &'a Spec,
    frame: Frame,
    space: Space,
    screened: Option<Screened>,
    groups: Option<Arc<Groups>>,
    evaluator: Box<dyn Evaluator>,
    /// Measures the answer and the front, where the search is led by something else.
    judge: Option<Box<dyn Evaluator>>,
    warnings: Vec<String>,
    budget: Budget,
    goal: Goal,
    measured_by: MeasuredBy,
    pool: Arc<Pool>,
}

impl<'a> Run<'a> {
    /// Checks a spec against the data. `scorer` takes the place of our own classifiers where there is one.
    ///
    /// # Errors
    /// Whatever is wrong with the spec, before anything is computed.
    pub fn new(
        spec: &'a Spec,
        data: &Dataset,
        resources: Resources,
        scorer: Option<Box<dyn Evaluator>>,
    ) -> Result<Self> {
        let rule = spec.prescreen.as_deref().map(Prescreen::read).transpose()?;
        // Bad settings are found now, not after the tables are built.
        let (entry, mut frame, budget, own) = checked(spec, data.n_features())?;
        let evaluation = spec.evaluation.settle(&entry.protocol());
        let mut remarks = Vec::new();
        let objective = spec.objective.unwrap_or_else(|| {
            let is_possible = scorer.is_none() && evaluate::can_separate(data, &evaluation);
            if own.needs_separation() && !is_possible {
                remarks.push(format!(
                    "{} lowers the hybrid objective, which needs classifier knn, metric manhattan and scale minmax: the error is lowered instead",
                    entry.id
                ));
                return Objective::Error;
            }
            own
        });
        let pool = Arc::clone(&resources.pool);
        let groups = if needs_groups(spec, &entry, objective) {
            let source = spec.groups.clone().unwrap_or_default();
            Some(Arc::new(source.find(data, &pool)?.groups))
        } else {
            if spec.groups.is_some() {
                remarks.push(format!("{} makes no use of groups", entry.id));
            }
            None
        };
        if spec.one_per_group
            && let Some(groups) = &groups
        {
            frame = frame.one_of_each(Groups::clone(groups))?;
        }
        let filter = |frame: &Frame| {
            let units = frame.units().to_vec();
            Filter::of_units(data.levels(&pool), units, spec.memory / FILTER_SHARE)
        };
        let screened = match rule {
            Some(rule) => Some(screen(&mut frame, rule, filter, spec)?),
            None => None,
        };
        let mut space = space(&entry, &frame, groups.as_deref());
        if entry.uses_filter {
            space = space.with_filter(Arc::new(filter(&frame)));
        }
        let goal = Goal::within(objective, spec.scoring, &frame.allowed(), groups.as_deref())?;
        let separation = objective.needs_separation();
        let leader = objective.merit().map(|merit| {
            let chosen_from = frame.units().iter().flatten().copied();
            remarks.extend(merit.padding(&data.levels(&pool), chosen_from));
            Box::new(ByFilter::of_table(merit, data, &resources)) as Box<dyn Evaluator>
        });
        let (evaluator, warnings) = match scorer {
            Some(_) if separation => return Err(needs_own_knn()),
            Some(scorer) => {
                check_outside(spec.scoring)?;
                (scorer, Vec::new())
            }
            None => {
                let (own, warnings) = evaluate::build(data, &evaluation, separation, resources)?;
                (own as Box<dyn Evaluator>, warnings)
            }
        };
        let (evaluator, judge) = match leader {
            Some(leader) => (leader, Some(evaluator)),
            None => (evaluator, None),
        };
        let warnings = [data.warnings().to_vec(), warnings, remarks].concat();
        let measured_by = MeasuredBy::of(&evaluation);
        Ok(Self {
            spec,
            frame,
            space,
            screened,
            groups,
            evaluator,
            judge,
            warnings,
            budget,
            goal,
            measured_by,
            pool,
        })
    }

    /// Checks a spec for a search over bare bits, without a table: `scorer` measures every candidate, the empty one like
    /// any other if it allows that.
    ///
    /// # Errors
    /// Whatever is wrong with the spec.
    pub fn over_bits(spec: &'a Spec, n_bits: usize, scorer: Box<dyn Evaluator>) -> Result<Self> {
        let (entry, frame, budget, own) = checked(spec, n_bits)?;
        check_outside(spec.scoring)?;
        let objective = match spec.objective {
            Some(given) if given.needs_separation() => return Err(needs_own_knn()),
            Some(given) if given.merit().is_some() => return Err(needs_table()),
            Some(given) => given,
            None if own.needs_separation() => Objective::Error,
            None if own.needs_groups() && spec.groups.is_none() => Objective::Error,
            None => own,
        };
        let frame = if scorer.allows_empty() { frame.with_empty() } else { frame };
        let groups = match &spec.groups {
            Some(given) if needs_groups(spec, &entry, objective) => {
                Some(Arc::new(given.of_bits(n_bits)?))
            }
            _ => None,
        };
        Ok(Self {
            space: space(&entry, &frame, groups.as_deref()),
            goal: Goal::within(objective, spec.scoring, &frame.allowed(), groups.as_deref())?,
            groups,
            measured_by: MeasuredBy::of(&spec.evaluation.settle(&entry.protocol())),
            pool: Arc::new(Pool::new(1)),
            screened: None,
            evaluator: scorer,
            judge: None,
            warnings: Vec::new(),
            spec,
            frame,
            budget,
        })
    }

    /// The limits that are in force.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// The score whose loss the front goes by: the one asked for, else the accuracy.
    pub fn score(&self) -> Score {
        match self.judge {
            // A search led by a filter is told its cost in the place of an error.
            Some(_) => Score::Accuracy,
            None => self.spec.scoring.unwrap_or(Score::Accuracy),
        }
    }

    /// The settings a checkpoint of this run is held to.
    pub fn settings(&self) -> String {
        serde_json::to_string(self.spec).unwrap_or_default()
    }

    /// What these subsets cost and show, without a search; none of them is empty.
    ///
    /// # Errors
    /// What the evaluator reports.
    pub fn price(mut self, subsets: &[Subset]) -> Result<Vec<FrontPoint>> {
        let led = self.evaluator.measure(subsets)?;
        let shown = match &mut self.judge {
            Some(judge) => judge.measure(subsets)?,
            None => led.clone(),
        };
        let point = |at: usize| {
            let subset: &Subset = &subsets[at];
            FrontPoint::new(subset, self.goal.cost(&led[at], subset), shown[at])
        };
        Ok((0..subsets.len()).map(point).collect())
    }

    /// Runs it, after what `replay` holds of an earlier part of it.
    ///
    /// # Errors
    /// What the evaluator reports; [`Error::Interrupted`] when nothing was measured yet.
    pub fn execute(
        mut self,
        replay: Option<&Replay>,
        observers: &mut [&mut dyn Observer],
    ) -> Result<Selection> {
        let entry = algorithms::find(&self.spec.algorithm)?;
        let (optimizer, params) = entry.start(&self.spec.params, &self.space)?;
        let (mut trace, mut front) = (Trace::default(), Front::of(self.score()));
        let mut all: Vec<&mut dyn Observer> = vec![&mut trace, &mut front];
        all.extend(observers.iter_mut().map(|observer| &mut **observer as &mut dyn Observer));
        let outcome = Engine {
            optimizer,
            evaluator: &mut *self.evaluator,
            goal: self.goal.clone(),
            budget: self.budget,
            streams: Streams::new(self.spec.seed),
            frame: &self.frame,
            pool: &self.pool,
            replay,
        }
        .run(&mut all)?;
        let best = match outcome.best {
            Some(best) => best,
            None if outcome.stop == Stop::Interrupted => return Err(Error::Interrupted),
            None => {
                let id = entry.id;
                if outcome.stop == Stop::Seconds {
                    return Err(no_time(id, self.budget.seconds.unwrap_or_default()));
                }
                let why = if outcome.turns == 0 {
                    format!("the budget ends before the first turn of {id}")
                } else {
                    format!("{id} asked for nothing but the empty subset")
                };
                return Err(Error::BadSpec { what: format!("{why}: no subset was measured") });
            }
        };
        if !best.cost.value().is_finite() {
            return Err(Error::Scorer { what: "it gave no finite number for any subset".into() });
        }
        let (mut seconds, mut measures) = (outcome.seconds, best.measures);
        let mut front = front.report(self.frame.n_features());
        if let Some(judge) = &mut self.judge {
            let clock = Clock::start();
            // A few subsets are soon measured: who interrupts the search gets their scores all the same.
            measures = cancel::insist(|| front.judge(&mut **judge, &best.subset))??;
            seconds.evaluate += clock.seconds();
            seconds.total = seconds.search + seconds.evaluate;
        }
        Ok(Selection {
            algorithm: entry.id.to_owned(),
            params,
            seed: self.spec.seed,
            objective: self.goal.objective(),
            scoring: self.spec.scoring,
            measured_by: self.measured_by,
            prescreen: self.screened,
            groups: self.groups.map(Arc::unwrap_or_clone),
            selected: best.subset.iter().collect(),
            size: best.subset.count(),
            cost: best.cost,
            measures,
            evaluations: outcome.evaluations,
            turns: outcome.turns,
            seconds,
            work: self.evaluator.work(),
            stop: outcome.stop,
            budget: self.budget,
            warnings: self.warnings,
            trace,
            front,
        })
    }
}

fn no_time(id: &str, seconds: f64) -> Error {
    Error::TooLarge {
        what: format!(
            "the first iteration of {id} takes longer than the time limit of {seconds} s"
        ),
        hint:
            "raise the time limit, or search fewer rows: without one iteration there is no result"
                .into(),
    }
}

fn needs_own_knn() -> Error {
    let what = "the hybrid objective needs our own k-NN, not a scorer from outside";
    Error::BadSpec { what: what.into() }
}

fn needs_table() -> Error {
    Error::BadSpec { what: "the filter objectives need a table".into() }
}

/// Whether anything in a run asks which features belong together.
fn needs_groups(spec: &Spec, entry: &Entry, objective: Objective) -> bool {
    let is_asked = match entry.groups {
        GroupUse::Ignored => false,
        GroupUse::Welcome => spec.groups.is_some(),
        GroupUse::Needed => true,
    };
    is_asked || objective.needs_groups() || spec.one_per_group
}

/// What an algorithm sees of a frame, and of groups if it asks for them.
fn space(entry: &Entry, frame: &Frame, groups: Option<&Groups>) -> Space {
    match groups {
        Some(groups) if entry.groups != GroupUse::Ignored => {
            frame.space().with_groups(Arc::new(groups.among(&frame.free())))
        }
        _ => frame.space(),
    }
}

/// Refuses a score that a scorer from outside does not tell.
fn check_outside(scoring: Option<Score>) -> Result<()> {
    match scoring {
        None | Some(Score::Accuracy) => Ok(()),
        Some(_) => {
            let what =
                "scoring is for our own classifiers: a scorer from outside tells its error alone";
            Err(Error::BadSpec { what: what.into() })
        }
    }
}

/// The algorithm, what may be chosen, the limits in force and what the algorithm lowers by itself, where all settings
/// are good.
fn checked(spec: &Spec, n_features: usize) -> Result<(Entry, Frame, Budget, Objective)> {
    let entry = algorithms::find(&spec.algorithm)?.with(&spec.params)?;
    let own = entry.objective(&spec.params)?;
    spec.objective.unwrap_or(own).check()?;
    spec.budget.check()?;
    spec.groups.as_ref().map_or(Ok(()), GroupSpec::check)?;
    let Spec { together, include, exclude, max_features, .. } = spec;
    let frame = Frame::together(n_features, together, include, exclude, *max_features)?;
    entry.start(&spec.params, &frame.space())?;
    let mut budget = spec.budget;
    if budget.is_unbounded() {
        budget.evaluations = entry.card.evaluations;
    }
    Ok((entry, frame, budget, own))
}

/// Leaves only what survives a prescreen to choose from.
fn screen(
    frame: &mut Frame,
    rule: Prescreen,
    filter: impl Fn(&Frame) -> Filter,
    spec: &Spec,
) -> Result<Screened> {
    let candidates = frame.units().len();
    let survivors = rule.survivors(&filter(frame), candidates);
    let rule = spec.prescreen.clone().unwrap_or_default();
    if survivors.is_empty() {
        return Err(Error::NoSurvivors { rule, candidates });
    }
    frame.keep(&survivors);
    Ok(Screened { rule, candidates, survivors: survivors.len() })
}
