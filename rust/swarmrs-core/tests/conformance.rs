//! Every registered algorithm keeps the contract of `Optimizer` and `Params`.

mod support;

use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};
use support::{N_FEATURES, Watch, beats, search, select, spec, started, table};
use swarmrs_core::algorithms::{Entry, REGISTRY};
use swarmrs_core::base::error::{Error, Result};
use swarmrs_core::base::subset::Subset;
use swarmrs_core::evaluate::{Evaluator, Measures, Resources};
use swarmrs_core::problem::budget::{Budget, Stop};
use swarmrs_core::problem::groups::GroupSpec;
use swarmrs_core::problem::objective::{Objective, Score};
use swarmrs_core::run::{Run, Spec};
use swarmrs_core::search::algorithm::{
    Allowed, Evaluation, Family, GroupUse, Iteration, Optimizer, Space,
};

#[test]
fn defaults_are_accepted_and_survive_json() {
    let space = Space::new(7, 7);
    for entry in REGISTRY {
        let (_, settings) = entry.start(&Map::new(), &space).unwrap();
        assert_eq!(settings, entry.defaults(), "{}", entry.id);
        let text = serde_json::to_string(&settings).unwrap();
        let (_, again) = entry.start(&serde_json::from_str(&text).unwrap(), &space).unwrap();
        assert_eq!(again, settings, "{}", entry.id);
    }
}

/// Values a setting must refuse.
fn bad_values(allowed: Allowed, default: &Value) -> Vec<Value> {
    let mut bad = match allowed {
        Allowed::AtLeast(least) => vec![json!(least - 1.0), json!("many")],
        Allowed::Whole(least, most) | Allowed::WholeOrNull(least, most) => {
            let below = if least == 0 { json!(-1) } else { json!(least - 1) };
            let above =
                [json!(most + 1), json!(1_000_000_000_000_u64), json!(u64::MAX), json!(1e300)];
            [vec![below, json!(least as f64 + 0.5), json!("many")], above.to_vec()].concat()
        }
        Allowed::Within(least, most) => vec![json!(least - 1.0), json!(most + 1.0), json!("many")],
        Allowed::Above(bound, most) if most.is_finite() => vec![json!(bound), json!(most + 1.0)],
        Allowed::Above(bound, _) => vec![json!(bound), json!(true)],
        Allowed::OneOf(_) => vec![json!("no such word"), json!(1)],
        Allowed::Flag => vec![json!(1), json!("yes")],
    };
    if !default.is_null() && !matches!(allowed, Allowed::WholeOrNull(..)) {
        bad.push(Value::Null);
    }
    bad
}

#[test]
fn bad_values_are_refused_by_name() {
    for entry in REGISTRY {
        for field in entry.fields {
            for value in bad_values(field.allowed, &entry.defaults()[field.name]) {
                let given = Map::from_iter([(field.name.to_owned(), value.clone())]);
                match entry.start(&given, &Space::new(7, 7)).err() {
                    Some(Error::OutOfRange { name, .. }) if name == field.name => {}
                    other => panic!("{} {} = {value}: {other:?}", entry.id, field.name),
                }
            }
        }
    }
}

/// The farthest values a setting accepts.
fn extreme_values(allowed: Allowed) -> Vec<Value> {
    match allowed {
        Allowed::AtLeast(least) => vec![json!(least), json!(1e12), json!(f64::MAX)],
        Allowed::Whole(least, most) | Allowed::WholeOrNull(least, most) => {
            vec![json!(least), json!(most)]
        }
        Allowed::Within(least, most) => vec![json!(least), json!(most)],
        Allowed::Above(bound, most) => {
            vec![
                json!(bound.max(f64::MIN_POSITIVE)),
                json!(bound + 1e-300),
                json!(most.min(f64::MAX)),
            ]
        }
        Allowed::OneOf(words) => words.iter().map(|word| json!(word)).collect(),
        Allowed::Flag => vec![json!(true), json!(false)],
    }
}

#[test]
fn every_whole_number_has_an_upper_bound() {
    for entry in REGISTRY {
        for (name, value) in entry.defaults() {
            let field = entry.fields.iter().find(|field| field.name == name).unwrap();
            if value.is_u64() {
                let is_bounded =
                    matches!(field.allowed, Allowed::Whole(..) | Allowed::WholeOrNull(..));
                assert!(is_bounded, "{} {name}: {:?}", entry.id, field.allowed);
            }
        }
    }
}

#[test]
fn extreme_values_end_in_an_error_or_a_result() {
    for entry in REGISTRY {
        for field in entry.fields {
            let bad = bad_values(field.allowed, &entry.defaults()[field.name]);
            for value in extreme_values(field.allowed).into_iter().chain(bad) {
                let mut spec = spec(entry.id, 60);
                spec.params.insert(field.name.to_owned(), value.clone());
                let run = Run::new(&spec, &table(), Resources::default(), None);
                match run.and_then(|run| run.execute(None, &mut [])) {
                    Ok(found) => assert!(found.cost.value().is_finite()),
                    Err(error) => assert!(
                        matches!(error, Error::OutOfRange { .. } | Error::BadSpec { .. }),
                        "{} {} = {value}: {error:?}",
                        entry.id,
                        field.name
                    ),
                }
            }
        }
    }
}

#[test]
fn a_population_that_needs_too_much_memory_is_refused_before_it_is_made() {
    for entry in REGISTRY.iter().filter(|entry| entry.defaults().contains_key("population")) {
        let given = Map::from_iter([("population".to_owned(), json!(100_000))]);
        let error = entry.start(&given, &Space::new(1_000_000, 5)).err();
        assert!(matches!(error, Some(Error::TooLarge { .. })), "{}: {error:?}", entry.id);
        assert!(entry.start(&Map::new(), &Space::new(20_000, 5)).is_ok(), "{}", entry.id);
    }
}

#[test]
fn unknown_names_are_refused_with_the_known_ones() {
    for entry in REGISTRY {
        let given = Map::from_iter([("popluation".to_owned(), json!(3))]);
        match entry.start(&given, &Space::new(7, 7)).err() {
            Some(Error::UnknownParameter { algorithm, name, known }) => {
                assert_eq!((algorithm.as_str(), name.as_str()), (entry.id, "popluation"));
                assert!(known.iter().eq(entry.fields.iter().map(|field| field.name)));
            }
            other => panic!("{}: {other:?}", entry.id),
        }
    }
}

/// Passes everything on and records proposals and results.
struct Spy {
    inner: Box<dyn Optimizer>,
    requested: Arc<Mutex<Vec<Vec<Subset>>>>,
    results: Arc<Mutex<Vec<usize>>>,
}

impl Optimizer for Spy {
    fn ask(&mut self, iteration: &Iteration<'_>) -> Vec<Subset> {
        let requested = self.inner.ask(iteration);
        self.requested.lock().unwrap().push(requested.clone());
        requested
    }

    fn tell(&mut self, iteration: &Iteration<'_>, results: &[Evaluation]) {
        let requested = self.requested.lock().unwrap();
        let last = requested.last().unwrap();
        assert!(
            results.iter().map(|tried| &tried.subset).eq(last),
            "results in the order requested"
        );
        self.results.lock().unwrap().push(results.len());
        self.inner.tell(iteration, results);
    }

    fn is_eligible(&self, subset: &Subset) -> bool {
        self.inner.is_eligible(subset)
    }
}

/// A cost with a few good features and many ties.
fn score(subset: &Subset) -> f64 {
    let good = subset.iter().filter(|feature| feature % 3 == 0).count() as f64;
    (1.0 + subset.count() as f64) / (2.0 + subset.count() as f64 + 4.0 * good)
}

#[test]
fn every_subset_fits_the_space_and_no_turn_is_cut() {
    for entry in REGISTRY {
        for (n, limit) in
            [(1, 1), (2, 1), (2, 2), (3, 2), (5, 5), (20, 1), (20, 7), (20, 20), (70, 3), (70, 70)]
        {
            for budget in [200, 333] {
                let (requested, results) = (Arc::default(), Arc::default());
                let inner = started(entry, (n, limit), "{}");
                let spy =
                    Spy { inner, requested: Arc::clone(&requested), results: Arc::clone(&results) };
                let outcome = search(Box::new(spy), (n, limit), budget, 3, score);
                let what = format!("{} on {limit} of {n}, {budget} evaluations", entry.id);
                let (requested, results) = (requested.lock().unwrap(), results.lock().unwrap());
                for subset in requested.iter().flatten() {
                    assert_eq!(subset.len(), n, "{what}");
                    assert!(subset.count() <= limit, "{what}");
                }
                let spent = results.iter().sum::<usize>() as u64;
                assert_eq!(outcome.evaluations.total, spent, "{what}");
                assert!(spent <= budget, "{what}");
                let last = requested.last().map_or(0, Vec::len) as u64;
                match outcome.stop {
                    Stop::MaxEvals => assert!(spent + last > budget, "{what}"),
                    Stop::Finished => assert_eq!(last, 0, "{what}"),
                    other => panic!("{what}: {other:?}"),
                }
                assert!(outcome.best.is_some(), "{what}");
            }
        }
    }
}

#[test]
fn what_is_forced_in_or_out_stays_so() {
    for entry in REGISTRY {
        let mut spec = spec(entry.id, 200);
        (spec.include, spec.exclude, spec.max_features) = (vec![5, 9], vec![0, 3], Some(6));
        let mut watch = Watch(|record: &swarmrs_core::search::observer::IterationRecord<'_>| {
            for tried in record.evaluations {
                let subset = &tried.subset;
                assert_eq!(subset.len(), N_FEATURES, "{}", entry.id);
                assert!(subset.contains(5) && subset.contains(9), "{}", entry.id);
                assert!(!subset.contains(0) && !subset.contains(3), "{}", entry.id);
                assert!(subset.count() <= 6, "{}", entry.id);
            }
        });
        let selection = select(&spec, Resources::default(), &mut [&mut watch]);
        assert!(selection.size <= 6 && selection.selected.contains(&9), "{}", entry.id);
    }
}

/// A run in which features 0, 3, 12 and those above belong to no group.
fn grouped(id: &str) -> Spec {
    let groups = vec![vec![9, 1], vec![2, 5, 4, 11], vec![6], vec![7, 8, 10]];
    Spec { groups: Some(GroupSpec::Given { groups }), ..spec(id, 300) }
}

#[test]
fn a_search_by_groups_never_chooses_a_feature_of_none() {
    for entry in REGISTRY.iter().filter(|entry| entry.groups == GroupUse::Required) {
        let spec = Spec { include: vec![12], exclude: vec![6], ..grouped(entry.id) };
        let mut watch = Watch(|record: &swarmrs_core::search::observer::IterationRecord<'_>| {
            for tried in record.evaluations {
                let others =
                    [0, 3, 6, 13, 14, 15].into_iter().filter(|&f| tried.subset.contains(f));
                assert_eq!(others.count(), 0, "{}", entry.id);
                assert!(tried.subset.contains(12), "{}", entry.id);
            }
        });
        select(&spec, Resources::default(), &mut [&mut watch]);
    }
}

#[test]
fn the_gaussian_objective_prefers_one_of_each_group_whatever_the_search() {
    let sizes = |objective: &str| {
        let objective = Some(serde_json::from_str(objective).unwrap());
        // Feature 6 is out: only three groups are left to be near to.
        let spec = Spec { objective, exclude: vec![6], ..grouped("bpso") };
        let found = select(&spec, Resources::default(), &mut []);
        let of = |group: &[usize]| group.iter().filter(|f| found.selected.contains(f)).count();
        [of(&[1, 9]), of(&[2, 4, 5, 11]), of(&[7, 8, 10])]
    };
    assert_eq!(sizes(r#"{"kind": "gaussian", "alpha": 0.0}"#), [1, 1, 1]);
    assert_ne!(sizes(r#"{"kind": "gaussian", "alpha": 1.0}"#), [1, 1, 1]);
}

#[test]
fn scores_that_an_outside_scorer_does_not_tell_are_refused() {
    let mut spec = spec("bpso", 60);
    spec.scoring = Some(Score::F1Macro);
    let data = support::table();
    let message = |run: Result<Run<'_>>| run.err().unwrap().to_string();
    let expected =
        "scoring is for native classifiers only: an external scorer returns a single error";
    let outside = Run::new(&spec, &data, Resources::default(), Some(Box::new(Bits)));
    assert_eq!(message(outside), expected);
    assert_eq!(message(Run::over_bits(&spec, 4, Box::new(Bits))), expected);
    let found = select(&spec, Resources::default(), &mut []);
    assert_eq!(found.cost.value(), 1.0 - found.scores.f1_macro);
}

#[test]
fn a_budget_below_the_first_batch_evaluates_what_it_allows() {
    for entry in REGISTRY {
        let mut whole = Vec::new();
        let mut watch = Watch(|record: &swarmrs_core::search::observer::IterationRecord<'_>| {
            if record.iteration == 0 {
                whole = record.evaluations.to_vec();
            }
        });
        select(&spec(entry.id, 300), Resources::default(), &mut [&mut watch]);
        // Filters evaluate one subset, which every budget allows.
        for limit in [1, whole.len() / 2, whole.len() - 1] {
            // The population of a cross-entropy search fits the budget.
            if limit == 0 || limit >= whole.len() || entry.id == "cem" {
                continue;
            }
            let what = format!("{} with {limit} of {}", entry.id, whole.len());
            let spec = spec(entry.id, limit as u64);
            let run = Run::new(&spec, &support::table(), Resources::default(), None).unwrap();
            let mut results = Vec::new();
            let mut watch =
                Watch(|record: &swarmrs_core::search::observer::IterationRecord<'_>| {
                    results.extend(record.evaluations.to_vec());
                });
            let found = match run.execute(None, &mut [&mut watch]) {
                Ok(found) => found,
                // The empty subset costs an evaluation and is no result.
                Err(_) if whole[..limit].iter().all(|tried| tried.subset.is_empty()) => continue,
                Err(error) => panic!("{what}: {error}"),
            };
            assert_eq!(results, whole[..limit], "{what}");
            assert_eq!((found.iterations, found.stop), (1, Stop::MaxEvals), "{what}");
            assert_eq!(found.evaluations.total, limit as u64, "{what}");
            let warning = found.warnings.last().unwrap();
            assert!(
                warning.starts_with(&format!("max_evals is {limit}, less than the ")),
                "{what}"
            );
            assert!(warning.ends_with(&format!(": only {limit} subsets were evaluated")), "{what}");
            let again = select(&spec, Resources::with_threads(4), &mut []);
            assert_eq!(support::timeless(&again), support::timeless(&found), "{what}");
        }
    }
    let found = select(&spec("bpso", 10), Resources::default(), &mut []);
    let expected =
        "max_evals is 10, less than the population of 30: only 10 subsets were evaluated";
    assert_eq!(found.warnings.last().map(String::as_str), Some(expected));
}

#[test]
fn a_budget_of_iterations_is_the_schedule_of_an_algorithm() {
    let mut ids = Vec::new();
    for entry in REGISTRY {
        let has_schedule = entry.defaults().contains_key("iterations");
        let mut spec = spec(entry.id, 1);
        for iterations in [1, 2, 8] {
            spec.budget = Budget { iterations: Some(iterations), ..Budget::default() };
            let found = select(&spec, Resources::default(), &mut []);
            assert!(found.iterations <= iterations, "{}", entry.id);
            if !has_schedule {
                assert_eq!(found.params.get("iterations"), None, "{}", entry.id);
                continue;
            }
            assert_eq!((found.iterations, found.stop), (iterations, Stop::MaxIter), "{}", entry.id);
            let moves = json!(iterations.saturating_sub(1).max(1));
            assert_eq!(found.params["iterations"], moves, "{}", entry.id);
            // The same moves as with the parameter of the algorithm and no such budget.
            let mut own = spec.clone();
            own.budget = Budget::default();
            own.params.insert("iterations".into(), moves);
            let own =
                select(&own, Resources::default(), &mut [&mut support::StopAfter(iterations)]);
            assert_eq!(found.trace, own.trace, "{}", entry.id);
        }
        if has_schedule {
            ids.push(entry.id);
            spec.params.insert("iterations".into(), json!(8));
            let refused = Run::new(&spec, &table(), Resources::default(), None).err().unwrap();
            assert_eq!(refused.to_string(), "iterations and max_iter are both given");
        }
    }
    assert_eq!(ids, ["clpso", "cso", "eclpso", "pso", "vlpso", "vlpso-ls"]);
}

#[test]
fn the_answer_is_the_best_subset_measured() {
    for entry in REGISTRY {
        let mut best: Option<Evaluation> = None;
        let mut watch = Watch(|record: &swarmrs_core::search::observer::IterationRecord<'_>| {
            for tried in record.evaluations {
                if best.as_ref().is_none_or(|best| beats(tried, best)) {
                    best = Some(tried.clone());
                }
            }
        });
        let selection = select(&spec(entry.id, 300), Resources::default(), &mut [&mut watch]);
        let best = best.unwrap();
        if entry.card.family == Family::Ranking {
            // The answer is the beginning of a ranking.
            let first = selection.ranking[..selection.size].iter().map(|ranked| ranked.feature);
            assert!(first.into_iter().all(|it| selection.selected.contains(&it)), "{}", entry.id);
            continue;
        }
        assert!(best.subset.iter().eq(selection.selected.iter().copied()), "{}", entry.id);
        assert_eq!(selection.cost, best.cost, "{}", entry.id);
        assert_eq!(selection.trace.best_cost.last(), Some(&best.cost.value()), "{}", entry.id);
        assert!(selection.trace.best_cost.is_sorted_by(|a, b| a >= b), "{}", entry.id);
        assert!(selection.evaluations.total <= 300, "{}", entry.id);
    }
}

#[test]
fn the_front_of_a_run_is_mutually_non_dominated_and_holds_its_answer() {
    for entry in REGISTRY {
        // The answer is the least cost, and only where that is the error must it lie on a front of error and size.
        let spec = Spec { objective: Some(Objective::Error), ..spec(entry.id, 300) };
        let mut tried: Vec<(f64, usize)> = Vec::new();
        let mut watch = Watch(|record: &swarmrs_core::search::observer::IterationRecord<'_>| {
            tried.extend(record.evaluations.iter().map(|t| (t.measures.error, t.subset.count())));
        });
        let found = select(&spec, Resources::default(), &mut [&mut watch]);
        let points = &found.front.points;
        assert!(points.is_sorted_by(|a, b| a.size < b.size), "{}", entry.id);
        let is_falling = points.is_sorted_by(|a, b| a.scores.error > b.scores.error);
        assert!(is_falling, "{}", entry.id);
        for point in points {
            let (least, most) = (point.scores.error, point.size);
            let beats = |&(error, size): &(f64, usize)| {
                size > 0 && error <= least && size <= most && (error, size) != (least, most)
            };
            assert!(!tried.iter().any(beats), "{}", entry.id);
            assert!(tried.contains(&(point.scores.error, point.size)), "{}", entry.id);
        }
        if entry.card.family == Family::Ranking {
            continue;
        }
        let last = points.last().unwrap();
        assert_eq!(last.selected, found.selected, "{}", entry.id);
        assert_eq!((last.cost, last.scores), (found.cost, found.scores), "{}", entry.id);
    }
}

#[test]
fn a_search_for_a_size_answers_with_that_size() {
    let with_size =
        REGISTRY.iter().filter(|entry| entry.fields.iter().any(|field| field.name == "size"));
    for entry in with_size {
        for (size, limit) in [(1, 20), (6, 20), (6, 6), (19, 20), (9, 4)] {
            let optimizer = started(entry, (20, limit), &json!({ "size": size }).to_string());
            let outcome = search(optimizer, (20, limit), 3000, 1, score);
            let found = outcome.best.unwrap().subset.count();
            assert_eq!(found, size.min(limit), "{} for {size} of {limit}", entry.id);
        }
    }
}

/// Costs of bare bits: 5 less than nothing for none, and one more for each.
struct Bits;

impl Evaluator for Bits {
    fn evaluate(&mut self, subsets: &[Subset]) -> Result<Vec<Measures>> {
        let cost = |subset: &Subset| subset.count() as f64 - 5.0;
        Ok(subsets.iter().map(|subset| Measures::from_error(cost(subset))).collect())
    }

    fn allows_empty(&self) -> bool {
        true
    }
}

#[test]
fn over_bare_bits_the_empty_candidate_is_measured_like_any_other() {
    for entry in REGISTRY {
        let spec = Spec { objective: Some(Objective::Error), ..spec(entry.id, 600) };
        let mut seen = Vec::new();
        let mut watch = Watch(|record: &swarmrs_core::search::observer::IterationRecord<'_>| {
            seen.extend(
                record
                    .evaluations
                    .iter()
                    .map(|result| (result.subset.count(), result.cost.value())),
            );
        });
        let run = Run::over_bits(&spec, 4, Box::new(Bits)).unwrap();
        let found = run.execute(None, &mut [&mut watch]).unwrap();
        assert!(seen.iter().all(|&(size, cost)| cost == size as f64 - 5.0), "{}", entry.id);
        let least = seen.iter().map(|seen| seen.0).min();
        assert_eq!(Some(found.size), least, "{}", entry.id);
        // A filter has nothing to go by here.
        assert!(found.size <= 1 || entry.card.family == Family::Filter, "{}", entry.id);
    }
}

#[test]
fn over_bare_bits_the_error_takes_the_place_of_an_objective_that_needs_a_table() {
    let needs_table = |entry: &&Entry| {
        let own = entry.card.objective;
        own.needs_separation() || own.needs_groups()
    };
    for entry in REGISTRY.iter().filter(needs_table) {
        let mut spec = spec(entry.id, 600);
        let run = Run::over_bits(&spec, 4, Box::new(Bits)).unwrap();
        let found = run.execute(None, &mut []).unwrap();
        assert_eq!(found.objective, Objective::Error, "{}", entry.id);
        assert_eq!(found.cost.value(), found.size as f64 - 5.0, "{}", entry.id);
        spec.objective = Some(entry.card.objective);
        assert!(Run::over_bits(&spec, 4, Box::new(Bits)).is_err(), "{}", entry.id);
    }
}

#[test]
fn a_swarm_that_starts_with_nothing_goes_on() {
    // Two particles and one feature: for most seeds of most swarms the first subsets are all empty.
    for id in ["pso", "clpso", "eclpso", "vlpso", "vlpso-ls", "cso"] {
        let entry = swarmrs_core::algorithms::find(id).unwrap();
        for seed in 0..12 {
            let start = started(&entry, (1, 1), r#"{"population": 2}"#);
            let found = search(start, (1, 1), 10_000, seed, |_| 0.3);
            assert_eq!((found.iterations, found.stop), (101, Stop::Finished), "{id} {seed}");
        }
    }
    let mut spec = spec("pso", 600);
    (spec.prescreen, spec.seed) = (Some("top=1".into()), 0);
    spec.params = support::params(r#"{"population": 1, "inertia": 0, "threshold": 0.99}"#);
    let run = Run::new(&spec, &support::table(), Resources::default(), None).unwrap();
    let error = run.execute(None, &mut []).unwrap_err().to_string();
    assert_eq!(error, "pso proposed only the empty subset: no subset was evaluated");
}

#[test]
fn backward_selection_reports_the_subset_it_ends_with() {
    // All cost the same: the highest features go first, and the lowest stays.
    let entry = swarmrs_core::algorithms::find("gsbs").unwrap();
    let found = search(started(&entry, (5, 5), "{}"), (5, 5), 1000, 1, |_| 0.3);
    assert_eq!(found.best.unwrap().subset, Subset::from_indices(5, [0]));
}
