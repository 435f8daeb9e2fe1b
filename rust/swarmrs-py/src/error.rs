//! Core errors to Python exceptions, once.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use swarmrs_core::{Error, Result};

/// The Python exception for a core error.
pub fn to_py(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error {
        Error::Interrupted => return PyKeyboardInterrupt::new_err(()),
        Error::BadData { .. } => "DataError",
        Error::NoSurvivors { .. } => "NoFeaturesError",
        _ => "SpecError",
    };
    build(py, class, &error.to_string(), error.hint())
}

/// The Python exception for a panic: a bug, which must not pass for anything else.
pub fn from_panic(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    let said = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    let hint =
        "this is a bug in swarmrs: please report it with the command and the data".to_owned();
    build(py, "InternalError", &format!("internal error: {said}"), Some(hint))
}

fn build(py: Python<'_>, class: &str, message: &str, hint: Option<String>) -> PyErr {
    let made = py
        .import("swarmrs.exceptions")
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.call1((message, hint)));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// Does work of the core without the interpreter's lock, and turns what goes wrong into an exception.
pub fn guarded<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    match py.detach(|| catch_unwind(AssertUnwindSafe(work))) {
        Ok(done) => done.map_err(|error| to_py(py, &error)),
        Err(panic) => Err(from_panic(py, &*panic)),
    }
}
