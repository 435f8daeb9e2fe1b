//! A fixed amount of work for an instruction counter: `instructions KERNEL EVALUATIONS`, or no arguments for a list.
//!
//! A longer run evaluates what a shorter one does, then more: the difference of their counts is free of the set-up.

use std::hint::black_box;
use swarmrs_benches::{TEN_FOLDS, evaluator, knn, subsets, walk};
use swarmrs_core::data::folds::FoldSpec;
use swarmrs_core::evaluate::{Classifier, EvaluationSpec, Metric};

/// One evaluation to count: subsets of half the features from scratch, or a walk of two flips a step.
struct Kernel {
    name: &'static str,
    spec: EvaluationSpec,
    n_samples: usize,
    n_features: usize,
    is_walk: bool,
}

fn kernels() -> Vec<Kernel> {
    let scratch = |name, spec, n_samples, n_features| Kernel {
        name,
        spec,
        n_samples,
        n_features,
        is_walk: false,
    };
    let euclidean = |folds| knn(5, Metric::Euclidean, folds);
    let manhattan = |folds| knn(5, Metric::Manhattan, folds);
    let other = |classifier| EvaluationSpec { classifier, ..euclidean(TEN_FOLDS) };
    vec![
        scratch("euclidean_10fold_569x15", euclidean(TEN_FOLDS), 569, 30),
        scratch("euclidean_loo_569x15", euclidean(FoldSpec::Loo), 569, 30),
        scratch("euclidean_10fold_200x512", euclidean(TEN_FOLDS), 200, 1024),
        scratch("manhattan_10fold_569x15", manhattan(TEN_FOLDS), 569, 30),
        scratch("manhattan_loo_100x2000", manhattan(FoldSpec::Loo), 100, 4000),
        scratch("euclidean_10fold_5000x2", euclidean(TEN_FOLDS), 5000, 4),
        scratch("naive_bayes_10fold_569x15", other(Classifier::Nb), 569, 30),
        scratch("ridge_10fold_100x20", other(Classifier::Ridge), 100, 40),
        Kernel { is_walk: true, ..scratch("walk_10fold_476x83", euclidean(TEN_FOLDS), 476, 166) },
    ]
}

fn run(kernel: &Kernel, evaluations: usize) {
    let &Kernel { n_samples, n_features, is_walk, .. } = kernel;
    let mut evaluator = evaluator(n_samples, n_features, &kernel.spec, is_walk);
    let asked = if is_walk {
        walk(n_features, 2, evaluations)
    } else {
        subsets(n_features, n_features / 2, evaluations)
    };
    for subset in asked {
        black_box(evaluator.evaluate(&[subset]).expect("nothing interrupts"));
    }
}

fn main() {
    // `cargo bench` adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let kernels = kernels();
    let [name, evaluations] = arguments.as_slice() else {
        for kernel in &kernels {
            println!("{}", kernel.name);
        }
        return;
    };
    let kernel = kernels.iter().find(|kernel| kernel.name == *name).expect("a name of the list");
    run(kernel, evaluations.parse().expect("a number of evaluations"));
}
