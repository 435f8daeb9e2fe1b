//! Reruns, thread counts and resumed runs give one trace.

mod support;

use support::{StopAfter, select, spec, table, timeless};
use swarmrs_core::algorithms::REGISTRY;
use swarmrs_core::data::folds::FoldSpec;
use swarmrs_core::evaluate::{Classifier, EvaluationRequest, References, Resources};
use swarmrs_core::problem::objective::Objective;
use swarmrs_core::run::{Run, Spec};
use swarmrs_core::search::algorithm::Family;
use swarmrs_core::search::replay::Replay;
use swarmrs_core::simd::Isa;

const EVALUATIONS: u64 = 240;

/// A run of each algorithm, and one by complete cross-validation.
fn specs() -> impl Iterator<Item = Spec> {
    let plain = spec("vlpso", EVALUATIONS);
    let evaluation =
        EvaluationRequest { folds: FoldSpec::Complete { test: 0.5 }, ..plain.evaluation.clone() };
    let complete = Spec { evaluation, ..plain };
    REGISTRY.iter().map(|entry| spec(entry.id, EVALUATIONS)).chain([complete])
}

#[test]
fn reruns_and_thread_counts_give_one_trace() {
    for spec in specs() {
        let run = |threads| timeless(&select(&spec, Resources::with_threads(threads), &mut []));
        let one = run(1);
        assert_eq!(run(1), one, "{}: a rerun differs", spec.algorithm);
        assert_eq!(run(4), one, "{}: four threads differ from one", spec.algorithm);
    }
}

#[test]
fn a_ridge_classifier_gives_every_algorithm_one_trace() {
    for entry in REGISTRY {
        let plain = spec(entry.id, EVALUATIONS);
        let evaluation =
            EvaluationRequest { classifier: Classifier::Ridge, ..plain.evaluation.clone() };
        // Some papers' objectives need distances.
        let spec = Spec { evaluation, objective: Some(Objective::Error), ..plain };
        let run = |resources| timeless(&select(&spec, resources, &mut []));
        let one = run(Resources::default());
        assert_eq!(run(Resources::with_threads(2)), one, "{}: two threads differ", entry.id);
        let scalar = Resources { isa: Some(Isa::Scalar), ..Resources::default() };
        assert_eq!(run(scalar), one, "{}: without vectors it differs", entry.id);
    }
}

#[test]
fn what_is_kept_between_evaluations_changes_the_work_and_nothing_else() {
    for spec in specs() {
        let run = |references| {
            let resources = Resources { references, ..Resources::default() };
            let mut value = timeless(&select(&spec, resources, &mut []));
            value.as_object_mut().unwrap().remove("work");
            value
        };
        assert_eq!(run(References::Never), run(References::Always), "{}", spec.algorithm);
    }
}

#[test]
fn seeds_matter_to_all_but_the_sequential_and_the_filters() {
    for entry in REGISTRY {
        let run = |seed| {
            let spec = Spec { seed, ..spec(entry.id, EVALUATIONS) };
            serde_json::to_value(select(&spec, Resources::default(), &mut []).trace).unwrap()
        };
        let draws = !matches!(entry.card.family, Family::Sequential | Family::Filter);
        assert_eq!(run(1) != run(2), draws, "{}", entry.id);
    }
}

#[test]
fn a_run_resumed_after_any_turn_is_the_uninterrupted_one() {
    let data = table();
    for spec in specs() {
        let record = |iterations: u64| {
            let run = Run::new(&spec, &data, Resources::default(), None).unwrap();
            let mut replay = Replay::new(data.fingerprint(), &run.settings());
            let selection =
                run.execute(None, &mut [&mut replay, &mut StopAfter(iterations)]).unwrap();
            (replay, selection)
        };
        let (whole, selection) = record(u64::MAX);
        let expected = timeless(&selection);
        // Every iteration of a short run, some of each part of a long one.
        let step = (selection.iterations / 12).max(1) as usize;
        for iterations in (1..=selection.iterations).step_by(step) {
            let (mut replay, _) = record(iterations);
            assert_eq!(replay.iterations().len() as u64, iterations, "{}", spec.algorithm);
            let bytes = replay.to_bytes();
            let run = Run::new(&spec, &data, Resources::default(), None).unwrap();
            let stored =
                Replay::from_bytes(&bytes, "x", data.fingerprint(), &run.settings()).unwrap();
            let resumed = run.execute(Some(&stored), &mut [&mut replay]).unwrap();
            assert_eq!(
                timeless(&resumed),
                expected,
                "{} after {iterations} iterations",
                spec.algorithm
            );
            assert_eq!(
                replay, whole,
                "{} after {iterations} iterations: the record goes on",
                spec.algorithm
            );
        }
    }
}

#[test]
fn an_evaluation_cache_that_drops_subsets_changes_no_search() {
    // More distinct subsets than the smallest cache holds, so that some are dropped and evaluated once more.
    let run = |memory: u64| {
        let mut spec = spec("ga", 60_000);
        spec.params = support::params(r#"{"mutation_rate": 0.5}"#);
        spec.memory = memory;
        select(&spec, Resources::default(), &mut [])
    };
    let (small, large) = (run(0), run(1 << 30));
    assert_eq!((&small.selected, small.cost), (&large.selected, large.cost));
    assert_eq!(small.trace.best_cost, large.trace.best_cost);
    assert_eq!(small.trace.n_evaluations, large.trace.n_evaluations);
    assert!(small.evaluations.unique > large.evaluations.unique);
}
