//! Whole searches give the same result with vector instructions and without.

mod support;

use support::{select, spec, timeless};
use swarmrs_core::data::folds::FoldSpec;
use swarmrs_core::evaluate::{Classifier, EvaluationRequest, Metric, Resources};
use swarmrs_core::run::Spec;
use swarmrs_core::simd::Isa;

#[test]
fn searches_agree_between_instruction_sets() {
    let run = |spec: &Spec, isa: Isa| {
        timeless(&select(spec, Resources { isa: Some(isa), ..Resources::default() }, &mut []))
    };
    let evaluations = [
        (Classifier::Knn, Metric::Euclidean, FoldSpec::Kfold { k: 5, shuffle: true, seed: 3 }),
        (Classifier::Knn, Metric::Manhattan, FoldSpec::Loo),
        (Classifier::Knn, Metric::Euclidean, FoldSpec::Complete { test: 0.5 }),
        (Classifier::Knn, Metric::Manhattan, FoldSpec::Holdout { test: 0.3, seed: 3 }),
        (Classifier::Nb, Metric::Euclidean, FoldSpec::Kfold { k: 5, shuffle: true, seed: 3 }),
        (Classifier::Ridge, Metric::Euclidean, FoldSpec::Kfold { k: 5, shuffle: true, seed: 3 }),
        (Classifier::Ridge, Metric::Euclidean, FoldSpec::Loo),
    ];
    for algorithm in ["vlpso", "pbpso", "bpso", "cso", "sfs", "nsga2"] {
        for (classifier, metric, folds) in &evaluations {
            let plain = spec(algorithm, 300);
            let evaluation = EvaluationRequest {
                classifier: *classifier,
                metric: Some(*metric),
                folds: folds.clone(),
                ..plain.evaluation.clone()
            };
            let spec = Spec { evaluation, ..plain };
            let scalar = run(&spec, Isa::Scalar);
            for isa in Isa::available() {
                let other = run(&spec, isa);
                assert_eq!(
                    scalar, other,
                    "{isa:?}, {algorithm}, {classifier:?}, {metric:?}, {folds:?}"
                );
            }
        }
    }
}

#[test]
fn instruction_sets_are_named_or_refused() {
    assert_eq!(Isa::named("scalar"), Ok(Isa::Scalar));
    for isa in Isa::available() {
        assert_eq!(Isa::named(isa.name()), Ok(isa));
    }
    for name in ["avx2", "avx512", "neon"] {
        let is_available = Isa::available().iter().any(|isa| isa.name() == name);
        assert_eq!(Isa::named(name).is_ok(), is_available, "{name}");
    }
    let message = Isa::named("mmx").unwrap_err().to_string();
    assert!(message.starts_with("SWARMRS_SIMD is mmx, expected scalar"), "{message}");
}
