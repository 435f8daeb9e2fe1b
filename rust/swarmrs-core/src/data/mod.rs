//! The dataset, quantization of its values, cross-validation folds, and a check of Parquet files.

pub mod dataset;
pub mod folds;
pub mod parquet;
pub mod quantization;
