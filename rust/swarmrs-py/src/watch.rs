//! Runs called from Python: callbacks, external scorers, signals.

use crate::checkpoint::Checkpoint;
use crate::error::{from_panic, to_py};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;
use swarmrs_core::base::cancel::{self, Cancel, Deadline, Ended};
use swarmrs_core::base::clock::Clock;
use swarmrs_core::base::subset::Subset;
use swarmrs_core::data::dataset::Dataset;
use swarmrs_core::evaluate::{Evaluator, Measures, Resources};
use swarmrs_core::problem::budget::Stop;
use swarmrs_core::problem::objective::Score;
use swarmrs_core::run::{Run, Spec};
use swarmrs_core::search::evaluations::AllEvaluations;
use swarmrs_core::search::observer::{IterationRecord, Observer};
use swarmrs_core::{Error, Result};

/// The interval between checks for signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// The exception that Python code raised while the engine ran; the engine only knows that it must stop.
type Raised = Arc<Mutex<Option<PyErr>>>;

/// The problem of a search.
pub enum Problem<'a> {
    /// The features of a dataset, evaluated by native classifiers or by a Python scorer.
    Table { data: &'a Dataset, threads: usize, scorer: Option<Py<PyAny>> },
    /// Bit strings with a Python cost function.
    Bits { n_bits: usize, cost: Py<PyAny> },
}

impl Problem<'_> {
    /// The fingerprint in checkpoints.
    fn fingerprint(&self) -> String {
        match self {
            Self::Table { data, .. } => data.fingerprint().to_owned(),
            Self::Bits { n_bits, .. } => format!("{n_bits} bits"),
        }
    }

    fn prepare<'a>(self, spec: &'a Spec, raised: &Raised) -> Result<Run<'a>> {
        let boxed = |call, allows_empty| {
            let raised = Arc::clone(raised);
            Box::new(Scorer { call, allows_empty, raised }) as Box<dyn Evaluator>
        };
        match self {
            Self::Table { data, threads, scorer } => {
                let memory = spec.memory;
                let resources = Resources { memory, ..Resources::with_threads(threads) };
                Run::new(spec, data, resources, scorer.map(|call| boxed(call, false)))
            }
            Self::Bits { n_bits, cost } => Run::over_bits(spec, n_bits, boxed(cost, true)),
        }
    }
}

/// Runs a search; with `keep_all` also returns all evaluated subsets.
pub fn run(
    py: Python<'_>,
    problem: Problem<'_>,
    spec: &Spec,
    cancel: &Arc<Cancel>,
    checkpoint: Option<PathBuf>,
    callback: Option<Py<PyAny>>,
    keep_all: bool,
) -> PyResult<(String, Option<AllEvaluations>)> {
    let limit = spec.budget.evaluations;
    let (selection, kept) = watched(py, cancel, |raised| {
        let fingerprint = problem.fingerprint();
        let run = problem.prepare(spec, raised)?;
        let limit = limit.or(run.budget().evaluations);
        let score = run.score();
        let mut callback =
            callback.map(|call| Callback { call, limit, score, raised: Arc::clone(raised) });
        let mut stored = match &checkpoint {
            Some(path) => Some(Checkpoint::open(path, &fingerprint, &run.settings())?),
            None => None,
        };
        let mut kept = keep_all.then(AllEvaluations::default);
        let replay = stored.as_ref().map(|stored| stored.replay().clone());
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        observers.extend(callback.as_mut().map(|callback| callback as &mut dyn Observer));
        observers.extend(stored.as_mut().map(|stored| stored as &mut dyn Observer));
        observers.extend(kept.as_mut().map(|kept| kept as &mut dyn Observer));
        let mut selection = run.execute(replay.as_ref(), &mut observers)?;
        // Also if the run was finished already, because the signal is consumed here.
        if cancel.is_requested() {
            selection.stop = Stop::Interrupted;
        }
        selection.warnings.extend(stored.and_then(Checkpoint::close));
        Ok((selection, kept))
    })?;
    let found = serde_json::to_string(&selection).map_err(|error| unwritten(py, &error))?;
    Ok((found, kept))
}

/// The costs and scores of subsets as JSON, without a search; None if that takes longer than `seconds`.
pub fn price(
    py: Python<'_>,
    problem: Problem<'_>,
    spec: &Spec,
    subsets: &[Subset],
    seconds: Option<f64>,
    cancel: &Arc<Cancel>,
) -> PyResult<Option<String>> {
    let priced = watched(py, cancel, |raised| {
        let deadline = seconds.map(|seconds| Deadline { clock: Clock::start(), seconds });
        let priced = cancel::until(deadline, || problem.prepare(spec, raised)?.price(subsets));
        match priced {
            _ if cancel.is_requested() => Err(Error::Interrupted),
            Ok(priced) => priced.map(Some),
            Err(Ended::Requested) => Err(Error::Interrupted),
            Err(Ended::Deadline) => Ok(None),
        }
    })?;
    let written = priced.map(|priced| serde_json::to_string(&priced)).transpose();
    written.map_err(|error| unwritten(py, &error))
}

fn unwritten(py: Python<'_>, error: &serde_json::Error) -> PyErr {
    to_py(py, &Error::BadSpec { what: format!("the result cannot be written: {error}") })
}

/// Runs `job` on another thread while this one checks for signals; raises the exception of Python code in `job`, if any.
fn watched<T: Send>(
    py: Python<'_>,
    cancel: &Arc<Cancel>,
    job: impl FnOnce(&Raised) -> Result<T> + Send,
) -> PyResult<T> {
    let raised = Raised::default();
    let done = supervised(py, cancel, || job(&raised));
    if let Some(error) = raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(error);
    }
    let (done, signal) = done?;
    done.map_err(|error| match signal {
        Some(signal) if error == Error::Interrupted => signal,
        _ => to_py(py, &error),
    })
}

/// Runs `job` of the core, which calls no Python code, and cancels it on a signal.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    job: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    let (done, signal) = supervised(py, &Arc::default(), job)?;
    // Also if the job was finished already, because the signal is consumed here.
    match signal {
        Some(signal) => Err(signal),
        None => done.map_err(|error| to_py(py, &error)),
    }
}

/// Runs `job` on another thread, without the GIL, and cancels it on a signal. Returns its result, and the exception of the
/// last signal.
fn supervised<T: Send>(
    py: Python<'_>,
    cancel: &Arc<Cancel>,
    job: impl FnOnce() -> Result<T> + Send,
) -> PyResult<(Result<T>, Option<PyErr>)> {
    py.detach(|| {
        let mut signal = None;
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            scope.spawn(move || {
                // The receiver outlives the thread, so sending does not fail; a panic is sent as a result.
                let job = || -> Result<T> { cancel::scope(cancel, job)? };
                let _ = sender.send(catch_unwind(AssertUnwindSafe(job)));
            });
            loop {
                match receiver.recv_timeout(SIGNAL_INTERVAL) {
                    Ok(Ok(done)) => return Ok((done, signal)),
                    Ok(Err(panic)) => return Err(Python::attach(|py| from_panic(py, &*panic))),
                    Err(_) => {
                        if let Some(exception) = check_signals() {
                            cancel.request();
                            signal = Some(exception);
                        }
                    }
                }
            }
        })
    })
}

#[allow(clippy::redundant_closure_for_method_calls, reason = "the method is not general enough")]
fn check_signals() -> Option<PyErr> {
    Python::attach(|py| py.check_signals()).err()
}

/// An observer that calls a Python function after each iteration; a true return value stops the run.
struct Callback {
    call: Py<PyAny>,
    limit: Option<u64>,
    score: Score,
    raised: Raised,
}

impl Observer for Callback {
    fn iteration_done(&mut self, record: &IterationRecord<'_>) -> ControlFlow<()> {
        let results = Python::attach(|py| {
            let iteration = PyDict::new(py);
            iteration.set_item("iteration", record.iteration)?;
            iteration.set_item("evaluations", record.n_evaluations)?;
            iteration.set_item("unique", record.n_unique)?;
            iteration.set_item("limit", self.limit)?;
            iteration.set_item("best_cost", record.best.cost.value())?;
            iteration.set_item("best_error", record.best.measures.error)?;
            iteration.set_item("best_loss", self.score.loss(&record.best.measures))?;
            iteration.set_item("best_size", record.best.subset.count())?;
            iteration.set_item("seconds", record.seconds)?;
            self.call.call1(py, (iteration,))?.is_truthy(py)
        });
        match results {
            Ok(false) => ControlFlow::Continue(()),
            Ok(true) => ControlFlow::Break(()),
            Err(error) => {
                self.raised.lock().unwrap_or_else(PoisonError::into_inner).replace(error);
                ControlFlow::Break(())
            }
        }
    }
}

/// An evaluator that calls a Python function with batches of subsets.
struct Scorer {
    call: Py<PyAny>,
    allows_empty: bool,
    raised: Raised,
}

impl Evaluator for Scorer {
    /// Python functions may be nondeterministic, and slow.
    fn is_repeatable(&self) -> bool {
        false
    }

    fn allows_empty(&self) -> bool {
        self.allows_empty
    }

    fn evaluate(&mut self, subsets: &[Subset]) -> Result<Vec<Measures>> {
        cancel::check();
        let errors = Python::attach(|py| {
            let bits: Vec<bool> = subsets
                .iter()
                .flat_map(|subset| (0..subset.len()).map(|feature| subset.contains(feature)))
                .collect();
            let masks = PyArray1::from_vec(py, bits).reshape([subsets.len(), subsets[0].len()])?;
            self.call.call1(py, (masks,))?.extract::<Vec<f64>>(py)
        });
        match errors {
            Ok(errors) if errors.len() == subsets.len() => {
                Ok(errors.into_iter().map(Measures::from_error).collect())
            }
            Ok(errors) => {
                let what = format!("it gave {} numbers for {} masks", errors.len(), subsets.len());
                Err(Error::Scorer { what })
            }
            Err(error) => {
                self.raised.lock().unwrap_or_else(PoisonError::into_inner).replace(error);
                Err(Error::Interrupted)
            }
        }
    }
}
