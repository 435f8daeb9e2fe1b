//! The engine of swarmrs: wrapper feature selection by metaheuristic search.
//!
//! An algorithm proposes feature subsets, an evaluator scores them, and one loop joins the two. The folders are layers:
//! each imports only those above it in this table (`tests/layers.rs` checks it).
//!
//! | folder | holds |
//! | --- | --- |
//! | [`base`] | subsets as bitsets, random streams, math, threads, cancellation, errors |
//! | [`simd`] | vector kernels with a scalar version of each; the only unsafe code |
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
