//! What fills missing values, seen from the engine.

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use swarmrs_core::base::cancel;
use swarmrs_core::data::dataset::Refill;
use swarmrs_core::{Error, Result};

use crate::convert::columns;

/// An object of Python with `rows`, and `values(by)` that fills them.
#[derive(Debug)]
pub struct Filler {
    call: Py<PyAny>,
    rows: Vec<u32>,
}

/// The filler of an object, and what tells it from others.
pub fn of(py: Python<'_>, call: Py<PyAny>) -> PyResult<(Filler, String)> {
    let rows: Bound<'_, PyArray1<u32>> = call.getattr(py, "rows")?.extract(py)?;
    let mark = call.getattr(py, "mark")?.extract(py)?;
    Ok((Filler { rows: rows.to_vec()?, call }, mark))
}

impl Refill for Filler {
    fn rows(&self) -> &[u32] {
        &self.rows
    }

    fn values(&self, by: &[u32]) -> Result<Vec<f64>> {
        cancel::check();
        let filled = Python::attach(|py| -> PyResult<Vec<f64>> {
            let by = PyArray1::from_slice(py, by);
            let values = self.call.call_method1(py, "values", (by,))?;
            let values: PyReadonlyArray2<'_, f64> = values.extract(py)?;
            Ok(columns(&values).into_owned())
        });
        filled.map_err(|error| Error::BadData {
            what: format!("missing values cannot be filled: {error}"),
        })
    }
}
