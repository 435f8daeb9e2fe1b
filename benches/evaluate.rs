//! What one evaluation costs. Ids show rows x features measured; throughput is in element operations.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use swarmrs_benches::{TEN_FOLDS, evaluator, knn, subsets, walk};
use swarmrs_core::base::subset::Subset;
use swarmrs_core::data::folds::FoldSpec;
use swarmrs_core::evaluate::{Classifier, EvaluationSpec, Metric};

/// Times single subsets of half the features, each built from nothing.
fn from_scratch(c: &mut Criterion, name: &str, spec: &EvaluationSpec, shapes: &[(usize, usize)]) {
    let mut group = c.benchmark_group(name);
    for &(n_samples, n_features) in shapes {
        let mut evaluator = evaluator(n_samples, n_features, spec, false);
        let size = n_features / 2;
        let mut asked = subsets(n_features, size, 16).into_iter().cycle();
        let id = BenchmarkId::from_parameter(format!("{n_samples}x{size}"));
        group.throughput(Throughput::Elements(elements(spec, n_samples, size)));
        group.bench_function(id, |b| {
            b.iter(|| {
                let subset = [asked.next().expect("the cycle has no end")];
                black_box(evaluator.evaluate(&subset).expect("nothing interrupts"))
            });
        });
    }
    group.finish();
}

/// Values that enter a sum: one for each feature and pair of rows, or row and class.
fn elements(spec: &EvaluationSpec, n_samples: usize, size: usize) -> u64 {
    let sums = match spec.classifier {
        Classifier::Knn => n_samples * (n_samples - 1) / 2,
        Classifier::Nb | Classifier::NbCdf => n_samples * 2,
        Classifier::Ridge => n_samples * (size.min(n_samples) + 1) / 2,
    };
    (sums * size) as u64
}

fn scratch(c: &mut Criterion) {
    let nb = EvaluationSpec { classifier: Classifier::Nb, ..knn(1, Metric::Euclidean, TEN_FOLDS) };
    from_scratch(
        c,
        "knn_10fold",
        &knn(5, Metric::Euclidean, TEN_FOLDS),
        &[(178, 14), (569, 30), (1797, 64)],
    );
    from_scratch(
        c,
        "knn_10fold_manhattan",
        &knn(5, Metric::Manhattan, TEN_FOLDS),
        &[(569, 30), (1797, 64)],
    );
    from_scratch(
        c,
        "knn_loo",
        &knn(1, Metric::Manhattan, FoldSpec::Loo),
        &[(100, 4000), (100, 10_000)],
    );
    from_scratch(c, "nb_10fold", &nb, &[(178, 14), (569, 30), (100, 4000)]);
    let ridge = |folds| EvaluationSpec {
        classifier: Classifier::Ridge,
        ..knn(1, Metric::Euclidean, folds)
    };
    let shapes = [(60, 10), (100, 40), (170, 100), (100, 4000)];
    from_scratch(c, "ridge_loo", &ridge(FoldSpec::Loo), &shapes);
    from_scratch(c, "ridge_10fold", &ridge(TEN_FOLDS), &shapes);
}

/// Times a walk of two flips a step, as a search near its end makes it.
fn incremental(c: &mut Criterion) {
    let mut group = c.benchmark_group("knn_walk");
    for (n_samples, n_features) in [(476, 166), (100, 2000)] {
        let spec = knn(5, Metric::Euclidean, TEN_FOLDS);
        let path: Vec<Subset> = walk(n_features, 2, 512);
        let id = BenchmarkId::from_parameter(format!("{n_samples}x{n_features}"));
        let mut evaluator = evaluator(n_samples, n_features, &spec, true);
        let mut asked = path.into_iter().cycle();
        group.bench_function(id, |b| {
            b.iter(|| {
                let subset = [asked.next().expect("the cycle has no end")];
                black_box(evaluator.evaluate(&subset).expect("nothing interrupts"))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, scratch, incremental);
criterion_main!(benches);
