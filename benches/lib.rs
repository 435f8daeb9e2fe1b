//! Made data and evaluators for the benches, from fixed seeds.

use swarmrs_core::base::random::{Phase, Streams};
use swarmrs_core::base::subset::Subset;
use swarmrs_core::data::dataset::{Dataset, Scale};
use swarmrs_core::data::folds::FoldSpec;
use swarmrs_core::evaluate::{
    Classifier, Classify, EvaluationSpec, Metric, References, Resources, ScaleFit, Weights, build,
};

const SEED: u64 = 2026;

/// Ten shuffled folds.
pub const TEN_FOLDS: FoldSpec = FoldSpec::Kfold { k: 10, shuffle: true, seed: 0 };

/// k-NN with uniform weights.
pub fn knn(k: usize, metric: Metric, folds: FoldSpec) -> EvaluationSpec {
    EvaluationSpec {
        classifier: Classifier::Knn,
        k,
        metric,
        weights: Weights::Uniform,
        alpha: None,
        scale_fit: ScaleFit::All,
        folds,
    }
}

/// An evaluator of a made table on one thread, with references always or never.
///
/// # Panics
/// If the settings do not fit the table.
pub fn evaluator(
    n_samples: usize,
    n_features: usize,
    spec: &EvaluationSpec,
    incremental: bool,
) -> Box<dyn Classify> {
    let references = if incremental { References::Always } else { References::Never };
    let resources = Resources { references, ..Resources::default() };
    let data = table(n_samples, n_features);
    build(&data, spec, false, resources).expect("the settings fit the made data").0
}

/// Two classes, each a cloud around a center of its own in every third feature, noise in the rest.
///
/// # Panics
/// With fewer than two rows or no feature.
pub fn table(n_samples: usize, n_features: usize) -> Dataset {
    let codes: Vec<u32> = (0..n_samples as u32).map(|row| row % 2).collect();
    let mut columns = Vec::with_capacity(n_samples * n_features);
    for feature in 0..n_features {
        let mut rng = Streams::new(SEED).rng(0, Phase::Ask, feature);
        let shift = if feature % 3 == 0 { 0.5 } else { 0.0 };
        columns.extend(codes.iter().map(|&code| rng.unit() + shift * f64::from(code)));
    }
    let names = (0..n_features).map(|feature| format!("x{feature}")).collect();
    Dataset::new(&columns, codes, 2, names, Scale::Minmax).expect("made data is sound")
}

/// `count` random subsets, each of `size` of the features.
pub fn subsets(n_features: usize, size: usize, count: usize) -> Vec<Subset> {
    let streams = Streams::new(SEED);
    let draw = |slot| streams.rng(1, Phase::Ask, slot).distinct(size, n_features);
    (0..count).map(|slot| Subset::from_indices(n_features, draw(slot))).collect()
}

/// A walk of `count` subsets from a random one of half the features, `flips` flips apart.
pub fn walk(n_features: usize, flips: usize, count: usize) -> Vec<Subset> {
    let streams = Streams::new(SEED);
    let mut at = subsets(n_features, n_features / 2, 1).remove(0);
    let mut path = vec![at.clone()];
    for slot in 1..count {
        for feature in streams.rng(2, Phase::Ask, slot).distinct(flips, n_features) {
            at.set(feature, !at.contains(feature));
        }
        path.push(at.clone());
    }
    path
}
