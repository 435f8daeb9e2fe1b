//! Conversions: arrays to columns and subsets, JSON to and from the types of the core.

use crate::error::to_py;
use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::borrow::Cow;
use swarmrs_core::algorithms::Entry;
use swarmrs_core::base::subset::Subset;
use swarmrs_core::data::dataset::Scale;
use swarmrs_core::evaluate::{EvaluationRequest, EvaluationSpec, Protocol};
use swarmrs_core::problem::groups::GroupSpec;
use swarmrs_core::run::Spec;
use swarmrs_core::search::evaluations::AllEvaluations;
use swarmrs_core::{Error, Result};

/// The values column after column; without a copy if the array is Fortran-contiguous.
pub fn columns<'a>(x: &'a PyReadonlyArray2<'_, f64>) -> Cow<'a, [f64]> {
    match x.as_slice() {
        Ok(values) if x.is_fortran_contiguous() => Cow::Borrowed(values),
        _ => Cow::Owned(x.as_array().t().iter().copied().collect()),
    }
}

pub fn scale(word: &str) -> Result<Scale> {
    serde_json::from_value(Value::from(word))
        .map_err(|_| Error::out_of_range("scale", word, "minmax, standard or none"))
}

pub fn evaluation(text: &str) -> Result<EvaluationSpec> {
    let requested: EvaluationRequest =
        serde_json::from_str(text).map_err(|error| bad_spec("evaluation", &error))?;
    Ok(requested.settle(&Protocol::COMMON))
}

pub fn spec(text: &str) -> Result<Spec> {
    serde_json::from_str(text).map_err(|error| bad_spec("spec", &error))
}

pub fn group_spec(text: &str) -> Result<GroupSpec> {
    serde_json::from_str(text).map_err(|error| bad_spec("groups", &error))
}

/// The error for JSON that does not match the types of the core; the Python package should have reported it by name before.
fn bad_spec(what: &str, error: &serde_json::Error) -> Error {
    let message = error.to_string();
    // Users do not see the JSON, so its line numbers are removed.
    let message = message.split(" at line ").next().unwrap_or_default();
    Error::BadSpec { what: format!("the {what} cannot be read: {message}") }
}

/// The subset of each row of a Boolean matrix.
pub fn masks(
    py: Python<'_>,
    masks: &PyReadonlyArray2<'_, bool>,
    n_features: usize,
) -> PyResult<Vec<Subset>> {
    check_width(py, masks.shape()[1], n_features)?;
    Ok(masks
        .as_array()
        .outer_iter()
        .map(|row| Subset::from_fn(n_features, |feature| row[feature]))
        .collect())
}

/// The subset of a Boolean vector.
pub fn mask(
    py: Python<'_>,
    mask: &PyReadonlyArray1<'_, bool>,
    n_features: usize,
) -> PyResult<Subset> {
    check_width(py, mask.shape()[0], n_features)?;
    let mask = mask.as_array();
    Ok(Subset::from_fn(n_features, |feature| mask[feature]))
}

/// Iteration, cost, error and bits of each evaluated subset; a byte has eight features, the first in the lowest bit.
pub type EvaluatedSubsets<'py> = (
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray2<u8>>,
);

/// The evaluated subsets of a run, as arrays.
pub fn evaluated_subsets(
    py: Python<'_>,
    evaluations: AllEvaluations,
    n_features: usize,
) -> PyResult<EvaluatedSubsets<'_>> {
    let shape = [evaluations.subsets.len(), n_features.div_ceil(64) * 8];
    let bits: Vec<u8> = evaluations.subsets.iter().flat_map(Subset::to_bytes).collect();
    Ok((
        PyArray1::from_vec(py, evaluations.iterations),
        PyArray1::from_vec(py, evaluations.costs),
        PyArray1::from_vec(py, evaluations.errors),
        PyArray1::from_vec(py, bits).reshape(shape)?,
    ))
}

/// Checks that these are features of the table.
pub fn check_features(features: &[usize], n_features: usize) -> Result<()> {
    match features.iter().find(|&&feature| feature >= n_features) {
        Some(feature) => Err(Error::BadSpec {
            what: format!("feature {feature} is not one of the {n_features} of the table"),
        }),
        None => Ok(()),
    }
}

/// Checks that these are rows of the table.
pub fn check_rows(rows: &[usize], n_samples: usize) -> Result<()> {
    match rows.iter().find(|&&row| row >= n_samples) {
        Some(row) => Err(Error::BadSpec {
            what: format!("row {row} is not one of the {n_samples} of the table"),
        }),
        None => Ok(()),
    }
}

fn check_width(py: Python<'_>, width: usize, n_features: usize) -> PyResult<()> {
    if width == n_features {
        return Ok(());
    }
    let what = format!("a mask has {width} features, the table {n_features}");
    Err(to_py(py, &Error::BadSpec { what }))
}

/// The card of an algorithm as JSON, with its hyperparameters.
pub fn card(entry: &Entry) -> Value {
    let defaults = entry.defaults();
    let params: Vec<Value> = entry
        .fields
        .iter()
        .map(|field| {
            json!({
                "name": field.name,
                "default": defaults.get(field.name),
                "range": field.allowed.to_string(),
                "about": field.about,
            })
        })
        .collect();
    let mut card = serde_json::to_value(entry.card).unwrap_or_default();
    card["id"] = entry.id.into();
    // Names of presets are listed with the aliases.
    let presets = entry.presets.iter().map(|(name, _)| *name);
    card["aliases"] = entry.card.aliases.iter().copied().chain(presets).collect();
    let Protocol { k, metric, folds } = entry.protocol();
    card["evaluated_by"] = json!({ "k": k, "metric": metric, "folds": folds });
    card["seeks_front"] = entry.seeks_front.into();
    card["params"] = params.into();
    card
}
