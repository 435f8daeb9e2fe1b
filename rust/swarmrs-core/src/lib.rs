//! The engine of swarmrs: wrapper feature selection by swarms, exact, incremental and fast.
//!
//! An algorithm proposes subsets of features, an evaluator measures them, one loop joins the two.
//!
//! | module | holds |
//! | --- | --- |
//! | [`run`](mod@run) | the door: a [`Spec`](spec::Spec) and a table in, a [`Selection`](selection::Selection) out |
//! | [`engine`] | the loop |
//! | [`frame`], [`fit`] | what may be chosen, and which choices fit |
//! | [`search`], [`space`] | what an algorithm is, sees and is told |
//! | [`algorithms`] | the registry, one file for each algorithm |
//! | [`operators`] | what algorithms share |
//! | [`evaluate`] | k-NN and naive Bayes on exact sums |
//! | [`baseline`] | the scores of predicting one class for every row |
//! | [`groups`] | features that tell alike |
//! | [`filter`] | what columns tell about the class and about each other, without a classifier |
//! | [`dataset`], [`quantization`], [`folds`], [`objective`], [`budget`] | the table, its values as steps, who tests whom, what is lowered, when it ends |
//! | [`observe`], [`trace`], [`front`], [`kept`], [`replay`] | who watches: records, the front, all that was measured, what a resumed run is answered from |
//! | [`subset`], [`streams`], [`math`], [`parallel`], [`cancel`] | bits, chance, functions, threads, how work under way is ended |
//!
//! The crate knows no Python, reads no file and prints nothing.

#![deny(unsafe_code)]

pub mod algorithms;
pub mod baseline;
pub mod budget;
pub mod cancel;
pub mod dataset;
pub mod engine;
pub mod error;
pub mod evaluate;
pub mod filter;
pub mod fit;
pub mod folds;
pub mod frame;
pub mod front;
pub mod groups;
pub mod kept;
pub mod math;
pub mod objective;
pub mod observe;
pub mod operators;
pub mod parallel;
pub mod quantization;
pub mod replay;
pub mod run;
pub mod search;
pub mod selection;
pub mod space;
pub mod spec;
pub mod streams;
pub mod subset;
#[cfg(test)]
mod testing;
pub mod trace;

pub use error::{Error, Result};
