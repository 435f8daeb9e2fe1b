//! The entry point of the crate: a spec and a dataset in, a selection out.

pub mod selection;
pub mod spec;

use crate::algorithms::{self, Entry, Prepared};
use crate::base::cancel::{self, Ended};
use crate::base::clock::Clock;
use crate::base::error::{Error, Result};
use crate::base::isa::Isa;
use crate::base::parallel::Pool;
use crate::base::random::Streams;
use crate::base::subset::Subset;
use crate::data::dataset::Dataset;
use crate::evaluate::{self, ByFilter, Evaluator, Resources};
use crate::filter::{Filter, Prescreen};
use crate::problem::budget::{Budget, Stop};
use crate::problem::constraints::Constraints;
use crate::problem::groups::{GroupSpec, Groups};
use crate::problem::objective::{CostFunction, Objective, Score};
use crate::run::selection::{Prescreened, ResolvedEvaluation, Selection};
pub use crate::run::spec::{Answer, Spec};
use crate::search::algorithm::{Family, GroupUse, Space};
use crate::search::engine::Engine;
use crate::search::front::{Front, FrontPoint};
use crate::search::observer::Observer;
use crate::search::ranking::{ByRanking, Ranked, Vote};
use crate::search::replay::Replay;
use crate::search::trace::Trace;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The cache of redundancy gets 1/4 of the memory.
const FILTER_SHARE: u64 = 4;
/// The evaluation cache gets 1/4 of the memory; cached distances get half of it.
const CACHE_SHARE: u64 = 4;

/// A validated run, ready to start.
///
/// # Examples
/// [The crate's documentation](crate#select-features) runs a search on a table. Without a table, an [`Evaluator`] gives the
/// cost of each bit string:
///
/// ```
/// use serde_json::json;
/// use swarmrs_core::Result;
/// use swarmrs_core::base::subset::Subset;
/// use swarmrs_core::evaluate::{Evaluator, Measures};
/// use swarmrs_core::run::{Run, Spec};
///
/// /// The number of bits that differ from 0101...
/// struct Alternating;
///
/// impl Evaluator for Alternating {
///     fn evaluate(&mut self, subsets: &[Subset]) -> Result<Vec<Measures>> {
///         let cost = |bits: &Subset| {
///             (0..bits.len()).filter(|&bit| bits.contains(bit) != (bit % 2 == 1)).count() as f64
///         };
///         Ok(subsets.iter().map(|bits| Measures::from_error(cost(bits))).collect())
///     }
/// }
///
/// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
/// let spec: Spec = serde_json::from_value(json!({
///     "algorithm": "sffs",
///     "seed": 1,
///     // Not used without a table, but required.
///     "evaluation": {"classifier": "knn", "weights": "uniform", "folds": {"scheme": "loo"}},
///     "memory": 1 << 20,
/// }))?;
/// let found = Run::over_bits(&spec, 8, Box::new(Alternating))?.execute(None, &mut [])?;
/// assert_eq!(found.selected, [1, 3, 5, 7]);
/// assert_eq!(found.cost.value(), 0.0);
/// # Ok(())
/// # }
/// ```
pub struct Run<'a> {
    spec: &'a Spec,
    algorithm: Prepared,
    constraints: Constraints,
    space: Space,
    prescreened: Option<Prescreened>,
    groups: Option<Arc<Groups>>,
    evaluator: Box<dyn Evaluator>,
    /// Evaluates the result and the front if the objective of the search is a filter.
    final_evaluator: Option<Box<dyn Evaluator>>,
    warnings: Vec<String>,
    budget: Budget,
    cost_function: CostFunction,
    resolved: ResolvedEvaluation,
    pool: Arc<Pool>,
    /// The instruction set, if it is not that of the process.
    isa: Option<Isa>,
    /// Started with the set-up, which the time limit includes.
    clock: Clock,
}

impl<'a> Run<'a> {
    /// Validates a spec for a dataset. An external `scorer` replaces the native classifiers.
    ///
    /// # Errors
    /// For an invalid spec, before anything is computed; [`Error::TooLarge`] if the set-up takes longer than the time limit.
    pub fn new(
        spec: &'a Spec,
        data: &Dataset,
        resources: Resources,
        scorer: Option<Box<dyn Evaluator>>,
    ) -> Result<Self> {
        let clock = Clock::start();
        let set_up = || Self::set_up(spec, data, resources, scorer, clock);
        // Without a time limit, only the caller can cancel the set-up.
        let Some(limit) = spec.budget.seconds else { return set_up() };
        match cancel::until(spec.budget.first_deadline(clock), set_up) {
            Ok(run) => run,
            Err(Ended::Requested) => Err(Error::Interrupted),
            Err(Ended::Deadline) => Err(no_time("the set-up", &spec.algorithm, limit)),
        }
    }

    fn set_up(
        spec: &'a Spec,
        data: &Dataset,
        resources: Resources,
        scorer: Option<Box<dyn Evaluator>>,
        clock: Clock,
    ) -> Result<Self> {
        let rule = spec.prescreen.as_deref().map(Prescreen::read).transpose()?;
        // Settings are validated before anything is computed.
        let (algorithm, mut constraints, budget) = validate(spec, data.n_features())?;
        let (entry, default_objective) = (algorithm.entry, algorithm.objective);
        let evaluation = spec.evaluation.settle(&algorithm.protocol);
        let mut remarks = Vec::new();
        let objective = spec.objective.unwrap_or_else(|| {
            let is_possible = scorer.is_none() && evaluate::can_separate(data, &evaluation);
            if default_objective.needs_separation() && !is_possible {
                let needs = if data.numbers().is_some() {
                    "classes"
                } else {
                    "classifier knn, metric manhattan and scale minmax"
                };
                remarks.push(format!(
                    "{} minimizes the hybrid objective, which needs {needs}: the error is minimized instead",
                    entry.id
                ));
                return Objective::Error;
            }
            default_objective
        });
        let (pool, isa) = (Arc::clone(&resources.pool), resources.isa);
        let groups = if needs_groups(spec, &algorithm, objective) {
            let source = spec.groups.clone().unwrap_or_default();
            Some(Arc::new(source.find(data, &pool)?.groups))
        } else {
            if spec.groups.is_some() {
                remarks.push(format!("{} does not use groups", entry.id));
            }
            None
        };
        if spec.one_per_group
            && let Some(groups) = &groups
        {
            constraints = constraints.with_exclusive_groups(Groups::clone(groups))?;
        }
        let filter = |constraints: &Constraints| {
            let units = constraints.units().to_vec();
            Filter::of_units(data.levels(&pool), units, spec.memory / FILTER_SHARE)
        };
        let prescreened = match rule {
            Some(rule) => Some(apply_prescreen(&mut constraints, rule, filter, spec)?),
            None => None,
        };
        let mut space = space(&algorithm, &constraints, groups.as_deref());
        if entry.uses_filter {
            space = space.with_filter(Arc::new(filter(&constraints)));
        }
        if entry.uses_relevance {
            space = space.with_relevance(by_relevance(data, &constraints, &pool));
        }
        let cost_function = CostFunction::within(
            objective,
            spec.scoring,
            &constraints.allowed(),
            groups.as_deref(),
        )?;
        let separation = objective.needs_separation();
        let filter_evaluator = objective.merit().map(|merit| {
            let candidates = constraints.units().iter().flatten().copied();
            remarks.extend(merit.irrelevance_warning(&data.levels(&pool), candidates));
            Box::new(ByFilter::of_table(merit, data, &resources)) as Box<dyn Evaluator>
        });
        let (evaluator, warnings) = match scorer {
            Some(_) if separation => return Err(needs_native_knn()),
            Some(scorer) => {
                check_external_scoring(spec.scoring)?;
                (scorer, Vec::new())
            }
            None => {
                check_scoring(spec.scoring, data)?;
                let (native, warnings) = evaluate::build(data, &evaluation, separation, resources)?;
                (native as Box<dyn Evaluator>, warnings)
            }
        };
        let (evaluator, final_evaluator) = match filter_evaluator {
            Some(filter_evaluator) => (filter_evaluator, Some(evaluator)),
            None => (evaluator, None),
        };
        let warnings = [data.warnings().to_vec(), warnings, remarks].concat();
        let resolved = ResolvedEvaluation::of(&evaluation);
        Ok(Self {
            spec,
            algorithm,
            constraints,
            space,
            prescreened,
            groups,
            evaluator,
            final_evaluator,
            warnings,
            budget,
            cost_function,
            resolved,
            pool,
            isa,
            clock,
        })
    }

    /// Validates a spec for a search over bit strings, without a table. `scorer` evaluates every candidate, the empty one too
    /// if it allows that.
    ///
    /// # Errors
    /// For an invalid spec.
    pub fn over_bits(spec: &'a Spec, n_bits: usize, scorer: Box<dyn Evaluator>) -> Result<Self> {
        let (algorithm, constraints, budget) = validate(spec, n_bits)?;
        let default = algorithm.objective;
        check_external_scoring(spec.scoring)?;
        let objective = match spec.objective {
            Some(given) if given.needs_separation() => return Err(needs_native_knn()),
            Some(given) if given.merit().is_some() => return Err(needs_table()),
            Some(given) => given,
            None if default.needs_separation() => Objective::Error,
            None if default.needs_groups() && spec.groups.is_none() => Objective::Error,
            None => default,
        };
        let constraints =
            if scorer.allows_empty() { constraints.with_empty() } else { constraints };
        let groups = match &spec.groups {
            Some(given) if needs_groups(spec, &algorithm, objective) => {
                Some(Arc::new(given.of_bits(n_bits)?))
            }
            _ => None,
        };
        Ok(Self {
            space: space(&algorithm, &constraints, groups.as_deref()).without_data(),
            cost_function: CostFunction::within(
                objective,
                spec.scoring,
                &constraints.allowed(),
                groups.as_deref(),
            )?,
            groups,
            resolved: ResolvedEvaluation::of(&spec.evaluation.settle(&algorithm.protocol)),
            pool: Arc::new(Pool::new(1)),
            isa: None,
            clock: Clock::start(),
            prescreened: None,
            evaluator: scorer,
            final_evaluator: None,
            warnings: Vec::new(),
            spec,
            algorithm,
            constraints,
            budget,
        })
    }

    /// The budget in effect.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// The score of the Pareto front: that of the spec, else the accuracy.
    pub fn score(&self) -> Score {
        match self.final_evaluator {
            // With a filter objective, the cost is stored as the error.
            Some(_) => Score::Accuracy,
            None => self.spec.scoring.unwrap_or(Score::Accuracy),
        }
    }

    /// The settings that a checkpoint of this run must have.
    pub fn settings(&self) -> String {
        serde_json::to_string(self.spec).unwrap_or_default()
    }

    /// The costs and scores of non-empty subsets, without a search.
    ///
    /// # Errors
    /// Errors of the evaluator.
    pub fn price(mut self, subsets: &[Subset]) -> Result<Vec<FrontPoint>> {
        let measures = self.evaluator.evaluate(subsets)?;
        let scores = match &mut self.final_evaluator {
            Some(evaluator) => evaluator.evaluate(subsets)?,
            None => measures.clone(),
        };
        let results = subsets.iter().zip(measures).zip(scores);
        let point = |((subset, measures), scores)| {
            FrontPoint::new(subset, self.cost_function.cost(&measures, subset), scores)
        };
        Ok(results.map(point).collect())
    }

    /// Executes the run; `replay` has the evaluations of an earlier part of it.
    ///
    /// # Errors
    /// Errors of the evaluator; [`Error::Interrupted`] if nothing was evaluated yet.
    pub fn execute(
        mut self,
        replay: Option<&Replay>,
        observers: &mut [&mut dyn Observer],
    ) -> Result<Selection> {
        let (mut trace, mut front) = (Trace::default(), Front::of(self.score()));
        let (entry, params) = (self.algorithm.entry, self.algorithm.settings.clone());
        let mut optimizer = self.algorithm.start(&self.space)?;
        if self.spec.answer == Answer::Vote && entry.card.family != Family::Ranking {
            let vote = Vote::new(optimizer, &self.space);
            optimizer = Box::new(ByRanking::new(vote, &self.space));
        }
        let mut all: Vec<&mut dyn Observer> = vec![&mut trace, &mut front];
        all.extend(observers.iter_mut().map(|observer| &mut **observer as &mut dyn Observer));
        let outcome = Engine {
            optimizer,
            evaluator: &mut *self.evaluator,
            cost_function: self.cost_function.clone(),
            budget: self.budget,
            streams: match self.isa {
                Some(isa) => Streams::new(self.spec.seed).on(isa),
                None => Streams::new(self.spec.seed),
            },
            constraints: &self.constraints,
            pool: &self.pool,
            replay,
            memory: self.spec.memory / CACHE_SHARE,
            clock: self.clock,
        }
        .run(&mut all)?;
        let best = match outcome.best {
            Some(best) => best,
            None if outcome.stop == Stop::Interrupted => return Err(Error::Interrupted),
            None => {
                let id = entry.id;
                if outcome.stop == Stop::TimeLimit {
                    let limit = self.budget.seconds.unwrap_or_default();
                    return Err(no_time("one evaluation", id, limit));
                }
                let what = format!("{id} proposed only the empty subset: no subset was evaluated");
                return Err(Error::BadSpec { what });
            }
        };
        if !best.cost.value().is_finite() {
            return Err(Error::Scorer { what: "it gave no finite number for any subset".into() });
        }
        let (mut seconds, mut measures) = (outcome.seconds, best.measures);
        let mut front = front.report(self.constraints.n_features());
        if let Some(evaluator) = &mut self.final_evaluator {
            let clock = Clock::start();
            // Not cancellable: the front has few subsets, and an interrupted search needs their scores, too.
            measures = cancel::insist(|| front.rescore(&mut **evaluator, &best.subset))??;
            seconds.evaluate += clock.seconds();
            seconds.total = seconds.search + seconds.evaluate;
        }
        let stop = match outcome.stop {
            // The schedule of the algorithm was set to the budget of iterations, so both end in the same iteration.
            Stop::Finished
                if has_schedule(&entry) && self.budget.iterations == Some(outcome.iterations) =>
            {
                Stop::MaxIter
            }
            stop => stop,
        };
        let limits = outcome.cut_from.zip(self.budget.evaluations);
        self.warnings
            .extend(limits.map(|(requested, limit)| cut_warning(requested, limit, &params)));
        let ranking = outcome.ranking.iter().flat_map(|ranked| {
            let unit = &self.constraints.units()[ranked.feature];
            unit.iter().map(|&feature| Ranked { feature, ..*ranked })
        });
        Ok(Selection {
            ranking: ranking.collect(),
            algorithm: entry.id.to_owned(),
            params,
            seed: self.spec.seed,
            objective: self.cost_function.objective(),
            scoring: self.spec.scoring,
            evaluated_by: self.resolved,
            prescreen: self.prescreened,
            groups: self.groups.map(Arc::unwrap_or_clone),
            selected: best.subset.iter().collect(),
            size: best.subset.count(),
            cost: best.cost,
            scores: measures,
            evaluations: outcome.evaluations,
            iterations: outcome.iterations,
            seconds,
            work: self.evaluator.work(),
            stop,
            budget: self.budget,
            warnings: self.warnings,
            trace,
            front,
        })
    }
}

fn no_time(what: &str, id: &str, seconds: f64) -> Error {
    Error::TimeLimit { what: what.to_owned(), algorithm: id.to_owned(), seconds }
}

/// The warning about a budget smaller than the first batch.
fn cut_warning(requested: usize, limit: u64, params: &Map<String, Value>) -> String {
    let what = if params.contains_key("population") {
        format!("the population of {requested}")
    } else {
        format!("the {requested} subsets of the first iteration")
    };
    format!("max_evals is {limit}, less than {what}: only {limit} subsets were evaluated")
}

fn needs_native_knn() -> Error {
    let what = "the hybrid objective needs the native k-NN, not an external scorer";
    Error::BadSpec { what: what.into() }
}

fn needs_table() -> Error {
    Error::BadSpec { what: "the filter objectives need a table".into() }
}

/// True if the algorithm, the objective or a constraint uses feature groups.
fn needs_groups(spec: &Spec, algorithm: &Prepared, objective: Objective) -> bool {
    let is_used = match algorithm.groups {
        GroupUse::Ignored => false,
        GroupUse::Optional => spec.groups.is_some(),
        GroupUse::Required => true,
    };
    is_used || objective.needs_groups() || spec.one_per_group
}

/// The search space of an algorithm, with groups if it uses them.
fn space(algorithm: &Prepared, constraints: &Constraints, groups: Option<&Groups>) -> Space {
    match groups {
        Some(groups) if algorithm.groups != GroupUse::Ignored => {
            constraints.space().with_groups(Arc::new(groups.renumbered(&constraints.free())))
        }
        _ => constraints.space(),
    }
}

/// Refuses a score that an external scorer does not have.
fn check_external_scoring(scoring: Option<Score>) -> Result<()> {
    match scoring {
        None | Some(Score::Accuracy) => Ok(()),
        Some(_) => {
            let what =
                "scoring is for native classifiers only: an external scorer returns a single error";
            Err(Error::BadSpec { what: what.into() })
        }
    }
}

/// Refuses a classification score for a numeric target, and a regression score for classes.
fn check_scoring(scoring: Option<Score>, data: &Dataset) -> Result<()> {
    let is_numeric = data.numbers().is_some();
    if scoring.is_none_or(|score| score.is_numeric() == is_numeric) {
        return Ok(());
    }
    let what = if is_numeric {
        "the score is for classification, but the target is numeric"
    } else {
        "the score is for regression, but the target has classes"
    };
    Err(Error::BadSpec { what: what.into() })
}

/// Validates everything that needs no data; returns the algorithm, the constraints and the budget in effect.
fn validate(spec: &Spec, n_features: usize) -> Result<(Prepared, Constraints, Budget)> {
    let entry = algorithms::find(&spec.algorithm)?;
    let algorithm = entry.prepare(&scheduled(spec, &entry)?)?;
    spec.objective.unwrap_or(algorithm.objective).check()?;
    spec.budget.check()?;
    spec.groups.as_ref().map_or(Ok(()), GroupSpec::check)?;
    let Spec { together, include, exclude, max_features, .. } = spec;
    let constraints =
        Constraints::with_units(n_features, together, include, exclude, *max_features)?;
    algorithm.check_memory(constraints.space().n_features())?;
    let mut budget = spec.budget;
    if budget.is_unbounded() {
        budget.evaluations = algorithm.entry.card.evaluations;
    }
    Ok((algorithm, constraints, budget))
}

/// True if an algorithm has a schedule of iterations.
fn has_schedule(entry: &Entry) -> bool {
    entry.fields.iter().any(|field| field.name == "iterations")
}

/// The hyperparameters of the algorithm, with the budget of iterations as its schedule if it has one. The budget includes
/// the initial population; `iterations` of an algorithm does not.
///
/// # Errors
/// [`Error::Contradiction`] if the user gives both.
fn scheduled(spec: &Spec, entry: &Entry) -> Result<Map<String, Value>> {
    let mut params = spec.params.clone();
    if let Some(iterations) = spec.budget.iterations.filter(|_| has_schedule(entry)) {
        let moves = iterations.saturating_sub(1).max(1);
        if params.insert("iterations".to_owned(), moves.into()).is_some() {
            let what = "iterations and max_iter are both given".to_owned();
            let hint = "give one of them: max_iter counts the initial population, too".to_owned();
            return Err(Error::Contradiction { what, hint });
        }
    }
    Ok(params)
}

/// The units in descending order of F statistic, the maximum over the features of a unit.
fn by_relevance(data: &Dataset, constraints: &Constraints, pool: &Pool) -> Arc<[usize]> {
    let units = constraints.units();
    let features: Vec<usize> = units.iter().flatten().copied().collect();
    let mut scores = data.f_scores(&features, pool).into_iter();
    let relevance: Vec<f64> =
        units.iter().map(|unit| scores.by_ref().take(unit.len()).fold(0.0, f64::max)).collect();
    let mut order: Vec<usize> = (0..units.len()).collect();
    // A stable sort: ties go to the lower unit.
    order.sort_by(|&a, &b| relevance[b].total_cmp(&relevance[a]));
    order.into()
}

/// Drops units by a prescreen.
fn apply_prescreen(
    constraints: &mut Constraints,
    rule: Prescreen,
    filter: impl Fn(&Constraints) -> Filter,
    spec: &Spec,
) -> Result<Prescreened> {
    let candidates = constraints.units().len();
    let survivors = rule.survivors(&filter(constraints), candidates);
    let rule = spec.prescreen.clone().unwrap_or_default();
    if survivors.is_empty() {
        return Err(Error::NoSurvivors { rule, candidates });
    }
    constraints.keep(&survivors);
    Ok(Prescreened { rule, candidates, survivors: survivors.len() })
}
