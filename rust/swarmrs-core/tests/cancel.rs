//! Work that is under way hears a request to end and a time limit, and leaves nothing half done.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use support::{N_FEATURES, Scorer, StopAfter, Watch, select, spec, table, timeless};
use swarmrs_core::base::cancel::{self, Cancel};
use swarmrs_core::base::clock::Clock;
use swarmrs_core::base::error::Error;
use swarmrs_core::base::parallel::Pool;
use swarmrs_core::base::subset::Subset;
use swarmrs_core::data::dataset::{Dataset, Scale};
use swarmrs_core::data::folds::FoldSpec;
use swarmrs_core::evaluate::{
    self, Classifier, EvaluationSpec, Evaluator, Finished, Measures, Metric, Resources, ScaleFit,
    Weights,
};
use swarmrs_core::filter::{CfsRules, Filter, Prescreen};
use swarmrs_core::problem::budget::{Budget, Stop};
use swarmrs_core::run::Run;
use swarmrs_core::search::observer::Observer;
use swarmrs_core::search::replay::Replay;

/// So many rows of noise.
fn long(n: usize, n_features: usize) -> Dataset {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as f64
    };
    let columns: Vec<f64> = (0..n * n_features).map(|_| next()).collect();
    let codes = (0..n as u32).map(|row| row % 2).collect();
    let names = (0..n_features).map(|feature| format!("f{feature}")).collect();
    Dataset::new(&columns, codes, 2, names, Scale::Minmax).unwrap()
}

fn knn(metric: Metric) -> EvaluationSpec {
    EvaluationSpec {
        classifier: Classifier::Knn,
        k: 5,
        metric,
        weights: Weights::Uniform,
        alpha: None,
        scale_fit: ScaleFit::All,
        folds: FoldSpec::Kfold { k: 10, shuffle: true, seed: 0 },
    }
}

/// Requests the end of a job a little after it began; tells how it ended and after how long.
fn cancelled<T: Send>(job: impl FnOnce() -> T + Send) -> (Result<T, Error>, f64) {
    let cancel = Arc::new(Cancel::default());
    std::thread::scope(|scope| {
        let other = Arc::clone(&cancel);
        scope.spawn(move || {
            std::thread::park_timeout(Duration::from_millis(100));
            other.request();
        });
        let clock = Clock::start();
        let done = cancel::scope(&cancel, job);
        (done, clock.seconds())
    })
}

#[test]
fn one_subset_of_a_long_table_is_cancelled_within_it() {
    // 2e10 distances: minutes.
    let data = long(200_000, 3);
    for threads in [1, 2] {
        for metric in [Metric::Euclidean, Metric::Manhattan] {
            let resources = Resources::with_threads(threads);
            let (mut evaluator, _) =
                evaluate::build(&data, &knn(metric), false, resources).unwrap();
            let (done, seconds) = cancelled(|| evaluator.evaluate(&[Subset::full(3)]));
            assert_eq!(done.unwrap_err(), Error::Interrupted);
            assert!(seconds < 20.0, "{seconds}");
        }
    }
}

#[test]
fn an_evaluator_gives_the_same_after_a_cancelled_call() {
    let data = long(3000, 40);
    let subsets: Vec<Subset> =
        (0..64).map(|at| Subset::from_fn(40, |feature| (feature * 7 + at) % 3 > 0)).collect();
    let build =
        || evaluate::build(&data, &knn(Metric::Euclidean), false, Resources::default()).unwrap().0;
    let expected = build().evaluate(&subsets).unwrap();
    let mut evaluator = build();
    let (done, _) = cancelled(|| (0..1000).map(|_| evaluator.evaluate(&subsets).is_ok()).count());
    assert_eq!(done, Err(Error::Interrupted));
    assert_eq!(evaluator.evaluate(&subsets).unwrap(), expected);
}

#[test]
fn filters_are_cancelled() {
    let data = long(20_000, 400);
    let (done, _) = cancelled(|| (0..1000).map(|_| long_filter(&data)).sum::<usize>());
    assert_eq!(done, Err(Error::Interrupted));
}

fn long_filter(data: &Dataset) -> usize {
    let columns: Vec<usize> = (0..data.n_features()).collect();
    let filter = Filter::new(data.levels(&Pool::new(2)), &columns, 0);
    let shared = columns.iter().filter(|&&feature| filter.uncertainty(feature, 0) > 0.0).count();
    shared
        + filter.cfs(CfsRules::default(), 400).len()
        + Prescreen::read("fcbf").unwrap().survivors(&filter, 400).len()
}

#[test]
fn an_iteration_that_is_cancelled_is_dropped_as_a_whole() {
    for id in ["bpso", "ga", "sfs", "vlpso-ls", "nsga2"] {
        // What the first iterations find, and where they end.
        let mut longer = spec(id, 2000);
        longer.budget = Budget { iterations: Some(50), ..Budget::default() };
        let mut requested = Vec::new();
        let mut watch = Watch(|record: &swarmrs_core::search::observer::IterationRecord<'_>| {
            requested.push(record.n_evaluations);
        });
        let observers: &mut [&mut dyn Observer] = &mut [&mut watch, &mut StopAfter(4)];
        let whole = select(&longer, Resources::default(), observers);
        let unique = whole.evaluations.unique as usize;
        // The end is requested in the middle of the fifth iteration.
        let cancel = Arc::new(Cancel::default());
        let (count, other) = (AtomicUsize::new(0), Arc::clone(&cancel));
        let data = table();
        let judge = evaluate::build(
            &data,
            &longer.evaluation.settle(&evaluate::Protocol::COMMON),
            false,
            Resources::default(),
        );
        let judge = std::sync::Mutex::new(judge.unwrap().0);
        let scorer = Scorer(move |subset: &Subset| {
            if count.fetch_add(1, Ordering::Relaxed) == unique {
                other.request();
            }
            cancel::check();
            judge.lock().unwrap().evaluate(std::slice::from_ref(subset)).unwrap()[0].error
        });
        let run = |spec: &_, scorer| {
            let run = Run::new(spec, &data, Resources::default(), Some(Box::new(scorer)));
            cancel::scope(&cancel, || run.unwrap().execute(None, &mut []).unwrap()).unwrap()
        };
        longer.objective = Some(swarmrs_core::problem::objective::Objective::Error);
        let found = run(&longer, scorer);
        assert_eq!(found.stop, Stop::Interrupted, "{id}");
        assert_eq!(found.iterations, 4, "{id}");
        assert_eq!(found.evaluations.total, *requested.last().unwrap(), "{id}");
        if whole.objective == longer.objective.unwrap() {
            assert_eq!(found.evaluations, whole.evaluations, "{id}");
            assert_eq!(found.selected, whole.selected, "{id}");
        }
        assert!(found.selected.iter().all(|&feature| feature < N_FEATURES));
        let _ = timeless(&found);
    }
}

#[test]
fn a_time_limit_acts_within_one_evaluation() {
    // 2e10 distances of ten features for each subset: half a minute.
    let data = long(200_000, 20);
    let mut spec = spec("bpso", 1);
    spec.budget = Budget { seconds: Some(0.2), ..Budget::default() };
    let clock = Clock::start();
    let run = Run::new(&spec, &data, Resources::default(), None);
    let error = run.and_then(|run| run.execute(None, &mut [])).unwrap_err();
    assert!(clock.seconds() < 20.0);
    let message = error.to_string();
    assert!(message.ends_with(" of bpso takes longer than the time limit of 0.2 s"), "{message}");
    assert!(error.hint().unwrap().starts_with("raise the time limit"));
}

/// Costs by the number of features; the end is requested once so many subsets are evaluated.
struct EndsAfter(usize, Arc<Cancel>);

impl Evaluator for EndsAfter {
    fn evaluate(&mut self, subsets: &[Subset]) -> swarmrs_core::Result<Vec<Measures>> {
        self.evaluate_noting(subsets, &Finished::default())
    }

    fn evaluate_noting(
        &mut self,
        subsets: &[Subset],
        finished: &Finished,
    ) -> swarmrs_core::Result<Vec<Measures>> {
        let one = |(place, subset): (usize, &Subset)| {
            if self.0 == 0 {
                self.1.request();
            }
            cancel::check();
            self.0 -= 1;
            let measures = Measures::from_error(1.0 / (1.0 + subset.count() as f64));
            finished.note(place, measures);
            measures
        };
        Ok(subsets.iter().enumerate().map(one).collect())
    }
}

#[test]
fn of_a_first_iteration_that_is_cut_short_the_finished_evaluations_count() {
    let (mut spec, data) = (spec("bpso", 2000), table());
    spec.objective = Some(swarmrs_core::problem::objective::Objective::Error);
    for n_finished in [1, 7] {
        let cancel = Arc::new(Cancel::default());
        let scorer = Box::new(EndsAfter(n_finished, Arc::clone(&cancel)));
        let mut replay = Replay::new("", "");
        let found = cancel::scope(&cancel, || {
            let run = Run::new(&spec, &data, Resources::default(), Some(scorer)).unwrap();
            run.execute(None, &mut [&mut replay as &mut dyn Observer]).unwrap()
        });
        let found = found.unwrap();
        assert_eq!(found.stop, Stop::Interrupted);
        assert_eq!(found.evaluations.unique, n_finished as u64);
        assert_eq!(found.trace.n_unique, [n_finished as u64]);
        assert_eq!(found.cost.value(), 1.0 / (1.0 + found.size as f64));
        assert!(found.front.points.iter().all(|point| point.size <= found.size));
        // A search that resumes evaluates the iteration anew.
        assert!(replay.iterations().is_empty());
    }
    let cancel = Arc::new(Cancel::default());
    let scorer = Box::new(EndsAfter(0, Arc::clone(&cancel)));
    let run = Run::new(&spec, &data, Resources::default(), Some(scorer)).unwrap();
    let done = cancel::scope(&cancel, || run.execute(None, &mut []).map(|found| found.size));
    assert_eq!(done, Ok(Err(Error::Interrupted)));
}

#[test]
fn evaluators_note_what_is_done() {
    let data = long(200, 6);
    let subsets: Vec<Subset> =
        (0..20).map(|at| Subset::from_fn(6, |feature| (feature * 7 + at) % 3 > 0)).collect();
    for classifier in [Classifier::Knn, Classifier::Nb, Classifier::Ridge] {
        for threads in [1, 2] {
            let spec = EvaluationSpec { classifier, ..knn(Metric::Euclidean) };
            let resources = Resources::with_threads(threads);
            let (mut evaluator, _) = evaluate::build(&data, &spec, false, resources).unwrap();
            let finished = Finished::default();
            let measures = evaluator.evaluate_noting(&subsets, &finished).unwrap();
            let expected: Vec<_> = subsets.iter().cloned().zip(measures).collect();
            assert_eq!(finished.of(&subsets), expected);
        }
    }
}
