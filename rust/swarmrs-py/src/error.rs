//! Conversion of core errors and panics to Python exceptions.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::any::Any;
use swarmrs_core::Error;

/// The Python exception for a core error.
pub fn to_py(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error {
        Error::Interrupted => return PyKeyboardInterrupt::new_err(()),
        Error::BadData { .. } => "DataError",
        Error::NoSurvivors { .. } => "NoFeaturesError",
        Error::TimeLimit { .. } => "TimeLimitError",
        _ => "SpecError",
    };
    build(py, class, &error.to_string(), error.hint())
}

/// The Python exception for a panic, which is a bug.
pub fn from_panic(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    let hint =
        "this is a bug in swarmrs: please report it with the command and the data".to_owned();
    build(py, "InternalError", &format!("internal error: {message}"), Some(hint))
}

fn build(py: Python<'_>, class: &str, message: &str, hint: Option<String>) -> PyErr {
    let exception = py
        .import("swarmrs.exceptions")
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.call1((message, hint)));
    match exception {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}
