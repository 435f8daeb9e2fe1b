//! The per-fold imputer of the engine, implemented in Python.

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use swarmrs_core::base::cancel;
use swarmrs_core::data::dataset::FoldImputer;
use swarmrs_core::{Error, Result};

use crate::convert::columns;

/// A Python object with the attribute `rows` and the method `values(train)`.
#[derive(Debug)]
pub struct PyImputer {
    object: Py<PyAny>,
    rows: Vec<u32>,
}

/// The imputer of a Python object, and the mark that identifies it in the fingerprint of a dataset.
pub fn of(py: Python<'_>, object: Py<PyAny>) -> PyResult<(PyImputer, String)> {
    let rows: Bound<'_, PyArray1<u32>> = object.getattr(py, "rows")?.extract(py)?;
    let mark = object.getattr(py, "mark")?.extract(py)?;
    Ok((PyImputer { rows: rows.to_vec()?, object }, mark))
}

impl FoldImputer for PyImputer {
    fn rows(&self) -> &[u32] {
        &self.rows
    }

    fn values(&self, train: &[u32]) -> Result<Vec<f64>> {
        cancel::check();
        let imputed = Python::attach(|py| -> PyResult<Vec<f64>> {
            let train = PyArray1::from_slice(py, train);
            let values = self.object.call_method1(py, "values", (train,))?;
            let values: PyReadonlyArray2<'_, f64> = values.extract(py)?;
            Ok(columns(&values).into_owned())
        });
        imputed.map_err(|error| Error::BadData {
            what: format!("missing values cannot be imputed: {error}"),
        })
    }
}
