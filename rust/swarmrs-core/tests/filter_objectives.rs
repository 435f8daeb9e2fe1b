//! A search may be led by a filter: no classifier measures anything but its answer.

mod support;

use support::{N_FEATURES, StopAfter, Watch, select, spec, table, timeless};
use swarmrs_core::algorithms::REGISTRY;
use swarmrs_core::base::parallel::Pool;
use swarmrs_core::base::subset::Subset;
use swarmrs_core::evaluate::{self, Evaluator, Measures, Resources};
use swarmrs_core::filter::merit::{Sums, fixed_point};
use swarmrs_core::problem::objective::Objective;
use swarmrs_core::run::{Run, Spec};
use swarmrs_core::search::observer::IterationRecord;
use swarmrs_core::search::replay::Replay;

const OBJECTIVES: [Objective; 2] = [Objective::FilterCfs, Objective::FilterMrmr];

fn led(id: &str, objective: Objective) -> Spec {
    Spec { objective: Some(objective), ..spec(id, 240) }
}

/// The cost of a subset of the made table, pair by pair.
fn naive(objective: Objective, subset: &Subset) -> f64 {
    let levels = table().levels(&Pool::new(1));
    let relevance = |feature| u64::from(fixed_point(levels.relevance(feature)));
    let mut redundancy = 0;
    for a in subset.iter() {
        let others = subset.iter().filter(|&b| b < a);
        redundancy += others.map(|b| u64::from(fixed_point(levels.uncertainty(a, b)))).sum::<u64>();
    }
    let relevances = subset.iter().map(relevance).sum();
    let sums = Sums { relevance: relevances, redundancy, size: subset.count() };
    objective.merit().unwrap().cost(sums, (0..N_FEATURES).map(relevance).sum())
}

#[test]
fn every_algorithm_is_led_by_the_filter_and_judged_by_the_classifier() {
    let data = table();
    for entry in REGISTRY {
        for objective in OBJECTIVES {
            let spec = led(entry.id, objective);
            let mut watch = Watch(|record: &IterationRecord<'_>| {
                for (subset, measures) in record.evaluated.iter().take(3) {
                    assert_eq!(measures.error, naive(objective, subset), "{}", entry.id);
                }
            });
            let found = select(&spec, Resources::default(), &mut [&mut watch]);
            let chosen = Subset::from_indices(N_FEATURES, found.selected.iter().copied());
            assert_eq!(found.cost.value(), naive(objective, &chosen), "{}", entry.id);
            let how = spec.evaluation.settle(&entry.protocol());
            let (mut judge, _) = evaluate::build(&data, &how, false, Resources::default()).unwrap();
            assert_eq!([found.scores], judge.evaluate(&[chosen]).unwrap()[..], "{}", entry.id);
        }
    }
}

#[test]
fn threads_and_memory_change_nothing() {
    for entry in REGISTRY {
        for objective in OBJECTIVES {
            let run = |threads, memory| {
                let resources = Resources { memory, ..Resources::with_threads(threads) };
                timeless(&select(&led(entry.id, objective), resources, &mut []))
            };
            let one = run(1, 1 << 26);
            assert_eq!(run(3, 1 << 26), one, "{}", entry.id);
            assert_eq!(run(2, 0), one, "{}", entry.id);
        }
    }
}

#[test]
fn a_resumed_run_is_the_uninterrupted_one() {
    let data = table();
    for entry in REGISTRY {
        let spec = led(entry.id, Objective::FilterMrmr);
        let start = || Run::new(&spec, &data, Resources::default(), None).unwrap();
        let expected = timeless(&start().execute(None, &mut []).unwrap());
        let mut replay = Replay::new(data.fingerprint(), &start().settings());
        start().execute(None, &mut [&mut replay, &mut StopAfter(2)]).unwrap();
        let stored = replay.clone();
        let resumed = start().execute(Some(&stored), &mut [&mut replay]).unwrap();
        assert_eq!(timeless(&resumed), expected, "{}", entry.id);
    }
}

/// Counts its calls.
struct Counting(std::sync::Arc<std::sync::atomic::AtomicUsize>);

impl Evaluator for Counting {
    fn evaluate(&mut self, subsets: &[Subset]) -> swarmrs_core::Result<Vec<Measures>> {
        self.0.fetch_add(subsets.len(), std::sync::atomic::Ordering::Relaxed);
        Ok(vec![Measures::from_error(0.25); subsets.len()])
    }
}

#[test]
fn a_scorer_from_outside_measures_the_answer_alone() {
    let requested = std::sync::Arc::default();
    let scorer = Box::new(Counting(std::sync::Arc::clone(&requested)));
    let spec = led("bpso", Objective::FilterCfs);
    let run = Run::new(&spec, &table(), Resources::default(), Some(scorer)).unwrap();
    let found = run.execute(None, &mut []).unwrap();
    assert_eq!(
        (found.scores.error, requested.load(std::sync::atomic::Ordering::Relaxed)),
        (0.25, 1)
    );
}

#[test]
fn constraints_and_a_prescreen_hold() {
    for objective in OBJECTIVES {
        let mut spec = led("pbpso", objective);
        (spec.include, spec.exclude, spec.max_features) = (vec![7], vec![0], Some(3));
        spec.prescreen = Some("su>0".into());
        let found = select(&spec, Resources::default(), &mut []);
        assert!(found.selected.contains(&7) && !found.selected.contains(&0) && found.size <= 3);
        assert!(found.selected.iter().all(|&feature| feature == 7 || feature < 5 || feature == 15));
    }
}

#[test]
fn bare_bits_have_nothing_to_filter() {
    let spec = led("bpso", Objective::FilterCfs);
    let scorer = Box::new(Counting(std::sync::Arc::default()));
    let error = Run::over_bits(&spec, 4, scorer).err().unwrap().to_string();
    assert_eq!(error, "the filter objectives need a table");
}
