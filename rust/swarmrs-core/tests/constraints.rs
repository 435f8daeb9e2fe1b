//! Whatever a run is held to, every subset that any algorithm has measured obeys it.

mod support;

use proptest::prelude::*;
use std::collections::BTreeSet;
use support::{N_FEATURES, Watch, select, spec, table};
use swarmrs_core::algorithms::REGISTRY;
use swarmrs_core::base::error::Error;
use swarmrs_core::base::subset::Subset;
use swarmrs_core::evaluate::Resources;
use swarmrs_core::problem::groups::GroupSpec;
use swarmrs_core::problem::objective::Objective;
use swarmrs_core::run::{Run, Spec};
use swarmrs_core::search::observer::IterationRecord;

/// A partition of the features into lists, of which the first few are used.
fn lists(most: usize) -> impl Strategy<Value = Vec<Vec<usize>>> {
    let labels = proptest::collection::vec(0usize..6, N_FEATURES);
    (labels, 0..=most).prop_map(|(labels, used)| {
        let of = |label| (0..N_FEATURES).filter(|&f| labels[f] == label).collect::<Vec<_>>();
        (0..used).map(of).filter(|list| list.len() > 1).collect()
    })
}

#[derive(Debug, Clone)]
struct Held {
    include: BTreeSet<usize>,
    exclude: BTreeSet<usize>,
    together: Vec<Vec<usize>>,
    groups: Option<Vec<Vec<usize>>>,
    max_features: Option<usize>,
}

fn held() -> impl Strategy<Value = Held> {
    let some = |most| proptest::collection::btree_set(0..N_FEATURES, 0..=most);
    let groups = proptest::option::of(lists(4));
    let limit = proptest::option::of(1..N_FEATURES);
    (some(2), some(4), lists(2), groups, limit).prop_map(
        |(include, exclude, together, groups, max_features)| Held {
            include,
            exclude,
            together,
            groups,
            max_features,
        },
    )
}

impl Held {
    fn spec(&self, id: &str, objective: Objective) -> Spec {
        let mut spec = spec(id, 90);
        spec.objective = Some(objective);
        spec.include = self.include.iter().copied().collect();
        spec.exclude = self.exclude.iter().copied().collect();
        spec.together.clone_from(&self.together);
        spec.max_features = self.max_features;
        spec.one_per_group = self.groups.is_some();
        spec.groups = self.groups.clone().map(|groups| GroupSpec::Given { groups });
        spec
    }

    fn is_obeyed_by(&self, subset: &Subset) -> bool {
        let count = |list: &Vec<usize>| list.iter().filter(|&&f| subset.contains(f)).count();
        self.include.iter().all(|&feature| subset.contains(feature))
            && !self.exclude.iter().any(|&feature| subset.contains(feature))
            && self.together.iter().all(|list| [0, list.len()].contains(&count(list)))
            && self.groups.iter().flatten().all(|group| count(group) <= 1)
            && self.max_features.is_none_or(|most| subset.count() <= most)
    }
}

proptest! {
    // Each case is a run of every algorithm.
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn every_measured_subset_of_every_algorithm_obeys(held in held(), by_filter: bool) {
        let data = table();
        let objective = if by_filter { Objective::FilterCfs } else { Objective::Error };
        for entry in REGISTRY {
            let spec = held.spec(entry.id, objective);
            let run = match Run::new(&spec, &data, Resources::default(), None) {
                Ok(run) => run,
                // What contradicts itself is refused for all alike.
                Err(Error::Contradiction { .. } | Error::BadSpec { .. }) => {
                    prop_assert_eq!(entry.id, REGISTRY[0].id);
                    return Err(TestCaseError::reject("it contradicts itself"));
                }
                Err(other) => panic!("{}: {other}", entry.id),
            };
            let mut watch = Watch(|record: &IterationRecord<'_>| {
                let results = record.evaluations.iter().map(|result| &result.subset).filter(|result| !result.is_empty());
                for subset in record.evaluated.iter().map(|(subset, _)| subset).chain(results) {
                    assert!(held.is_obeyed_by(subset), "{}: {subset:?}", entry.id);
                }
            });
            // A swarm may ask for only the empty subset in so short a run.
            match run.execute(None, &mut [&mut watch]) {
                Ok(found) => {
                    let chosen = Subset::from_indices(N_FEATURES, found.selected);
                    prop_assert!(held.is_obeyed_by(&chosen), "{}", entry.id);
                }
                Err(Error::BadSpec { what }) => {
                    prop_assert!(what.contains("only the empty subset"), "{}", what);
                }
                Err(other) => panic!("{}: {other}", entry.id),
            }
        }
    }
}

#[test]
fn searches_find_the_best_member_of_each_group() {
    // Of the first five features, each tells less than the one before.
    for id in ["sfs", "sffs", "sbs", "ga", "bpso", "pbpso", "upso2d", "aco"] {
        let mut spec = spec(id, 2000);
        spec.objective = Some(Objective::FilterCfs);
        spec.one_per_group = true;
        let groups = vec![vec![0, 4, 9], vec![1, 3], (5..9).chain(10..N_FEATURES).collect()];
        spec.groups = Some(GroupSpec::Given { groups });
        let found = select(&spec, Resources::default(), &mut []);
        assert!(found.selected.starts_with(&[0, 1, 2]), "{id}: {:?}", found.selected);
    }
}

#[test]
fn a_prescreen_keeps_what_goes_together_where_one_of_them_tells() {
    let mut spec = spec("random", 100);
    spec.together = vec![vec![0, 8], vec![9, 10]];
    spec.prescreen = Some("top=2".into());
    let mut seen = Subset::empty(N_FEATURES);
    let mut watch = Watch(|record: &IterationRecord<'_>| {
        for result in record.evaluations {
            seen = seen.union(&result.subset);
        }
    });
    let screened = select(&spec, Resources::default(), &mut [&mut watch]).prescreen.unwrap();
    assert!(seen.iter().eq([0, 1, 8]));
    assert_eq!((screened.candidates, screened.survivors), (14, 2));
}

#[test]
fn groups_are_found_where_one_of_each_is_wanted() {
    let mut spec = spec("bpso", 60);
    spec.one_per_group = true;
    let found = select(&spec, Resources::default(), &mut []);
    let groups = found.groups.unwrap();
    let of = |group: &[usize]| group.iter().filter(|f| found.selected.contains(f)).count();
    assert!(groups.iter().all(|group| of(group) <= 1));
}
