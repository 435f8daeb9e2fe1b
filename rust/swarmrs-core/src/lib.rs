//! The engine of swarmrs: wrapper feature selection by metaheuristic search.
//!
//! An algorithm proposes feature subsets, an evaluator scores them, and one loop joins the two. The folders are layers:
//! each imports only those above it in this table (`tests/layers.rs` checks it).
//!
//! | folder | holds |
//! | --- | --- |
//! | [`base`] | subsets as bitsets, random streams, math, threads, cancellation, the instruction set, errors |
//! | [`simd`] | vector kernels with a scalar version of each, for distances and for words of 64 features; the only unsafe code |
//! | [`filter`] | discretization, entropy, symmetrical uncertainty, CFS, FCBF |
//! | [`data`] | the dataset, quantization of its values, cross-validation folds |
//! | [`evaluate`] | k-NN, naive Bayes, ridge classifier, all exact; scores; the evaluation cache |
//! | [`problem`] | objectives, constraints, feature groups, the search space, budgets |
//! | [`search`] | the contract of an algorithm, the engine, observers: trace, Pareto front, checkpoints |
//! | [`operators`] | pure functions that algorithms share |
//! | [`swarms`] | stateful bases that algorithms share |
//! | [`algorithms`] | the registry and one file per method |
//! | [`run`](mod@run) | a [`Spec`](run::spec::Spec) and a dataset in, a [`Selection`](run::selection::Selection) out |
//!
//! The crate knows no Python, reads no file and prints nothing.
//!
//! # Select features
//!
//! A [`Dataset`](data::dataset::Dataset) holds the table, a [`Spec`](run::Spec) the algorithm with its settings, and
//! [`Run`](run::Run) joins them. Here feature 2 decides the class and the others are noise:
//!
//! ```
//! use serde_json::json;
//! use swarmrs_core::data::dataset::{Dataset, Scale};
//! use swarmrs_core::evaluate::Resources;
//! use swarmrs_core::run::{Run, Spec};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (n_samples, n_features) = (40, 6);
//! let value = |feature: usize, row: usize| {
//!     let noise = ((row * 37 + feature * 101) * 7919 % 97) as f64 / 97.0;
//!     if feature == 2 { (row % 2) as f64 * 2.0 + noise } else { noise }
//! };
//! // All values of feature 0, then of feature 1, ...
//! let columns: Vec<f64> =
//!     (0..n_features).flat_map(|f| (0..n_samples).map(move |row| value(f, row))).collect();
//! let classes = (0..n_samples as u32).map(|row| row % 2).collect();
//! let names = (0..n_features).map(|f| format!("x{f}")).collect();
//! let data = Dataset::new(&columns, classes, 2, names, Scale::Minmax)?;
//!
//! let spec: Spec = serde_json::from_value(json!({
//!     "algorithm": "pbpso",
//!     "seed": 1,
//!     "evaluation": {
//!         "classifier": "knn",
//!         "k": 5,
//!         "weights": "uniform",
//!         "folds": {"scheme": "kfold", "k": 10, "shuffle": true, "seed": 0},
//!     },
//!     "budget": {"evaluations": 500},
//!     "memory": 1 << 26,
//! }))?;
//! let selection = Run::new(&spec, &data, Resources::with_threads(0), None)?.execute(None, &mut [])?;
//! assert_eq!(selection.selected, [2]);
//! assert_eq!(selection.scores.error, 0.0);
//! # Ok(())
//! # }
//! ```
//!
//! # Extend it
//!
//! - A cost of your own is an [`Evaluator`](evaluate::Evaluator): [`Run::over_bits`](run::Run::over_bits) searches over
//!   bit strings without a table, and [`Run::new`](run::Run::new) takes an evaluator in place of the built-in classifiers.
//! - An algorithm of your own is an [`Optimizer`](search::algorithm::Optimizer), which the
//!   [`Engine`](search::engine::Engine) runs with the same budgets, constraints, cache and observers as the built-in ones.
//! - An [`Observer`](search::observer::Observer) sees each iteration and may stop the run.
//!
//! `cargo run --example select`, `own_objective` and `own_algorithm` are complete programs. One version promises the same
//! result for the same spec and data, on any number of threads; before version 1.0 the interface may change between minor
//! versions.

#![deny(unsafe_code)]

pub mod algorithms;
pub mod base;
pub mod data;
pub mod evaluate;
pub mod filter;
pub mod operators;
pub mod problem;
pub mod run;
pub mod search;
pub mod simd;
pub mod swarms;
#[cfg(test)]
mod testing;

pub use base::error::{Error, Result};
