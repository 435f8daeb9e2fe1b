//! All that a run measured can be kept, is its answer's reason, and costs the same without a search.

mod support;

use std::collections::BTreeSet;
use support::{select, spec, table};
use swarmrs_core::algorithms::REGISTRY;
use swarmrs_core::evaluate::Resources;
use swarmrs_core::run::Run;
use swarmrs_core::search::algorithm::Family;
use swarmrs_core::search::evaluations::AllEvaluations;

#[test]
fn every_subset_measured_is_kept_once_and_the_answer_is_the_best_of_them() {
    for entry in REGISTRY {
        let mut kept = AllEvaluations::default();
        let found = select(&spec(entry.id, 300), Resources::default(), &mut [&mut kept]);
        let AllEvaluations { iterations, subsets, costs, errors } = &kept;
        assert_eq!(subsets.len() as u64, found.evaluations.unique, "{}", entry.id);
        assert!([iterations.len(), costs.len(), errors.len()].iter().all(|&n| n == subsets.len()));
        assert!(iterations.is_sorted(), "{}", entry.id);
        let distinct: BTreeSet<Vec<usize>> =
            subsets.iter().map(|subset| subset.iter().collect()).collect();
        assert_eq!(distinct.len(), subsets.len(), "{}", entry.id);
        if entry.card.family == Family::Ranking {
            continue;
        }
        let best = (0..subsets.len())
            .min_by(|&a, &b| {
                costs[a].total_cmp(&costs[b]).then(subsets[a].count().cmp(&subsets[b].count()))
            })
            .unwrap();
        assert_eq!(subsets[best].iter().collect::<Vec<_>>(), found.selected, "{}", entry.id);
        assert_eq!(costs[best].to_bits(), found.cost.value().to_bits(), "{}", entry.id);
        assert_eq!(errors[best].to_bits(), found.scores.error.to_bits(), "{}", entry.id);
    }
}

#[test]
fn a_price_is_what_a_search_paid() {
    let data = table();
    let objectives = [
        r#"{"kind":"error"}"#,
        r#"{"kind":"weighted","alpha":0.8}"#,
        r#"{"kind":"hybrid","gamma":0.8}"#,
        r#"{"kind":"filter-cfs"}"#,
    ];
    for objective in objectives {
        let mut kept = AllEvaluations::default();
        let mut spec = spec("bpso", 90);
        spec.objective = Some(serde_json::from_str(objective).unwrap());
        let found = select(&spec, Resources::default(), &mut [&mut kept]);
        let run = Run::new(&spec, &data, Resources::default(), None).unwrap();
        let priced = run.price(&kept.subsets).unwrap();
        for (point, (subset, cost)) in priced.iter().zip(kept.subsets.iter().zip(&kept.costs)) {
            assert_eq!(point.cost.value().to_bits(), cost.to_bits(), "{objective}");
            assert_eq!(point.selected, subset.iter().collect::<Vec<_>>());
            assert_eq!(point.size, subset.count());
        }
        // The scores are the classifier's also where something else led the search.
        let answer = priced.iter().find(|point| point.selected == found.selected).unwrap();
        assert_eq!(answer.scores, found.scores, "{objective}");
    }
}
