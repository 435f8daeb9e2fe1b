//! The dataset, quantization of its values, and cross-validation folds.

pub mod dataset;
pub mod folds;
pub mod quantization;
