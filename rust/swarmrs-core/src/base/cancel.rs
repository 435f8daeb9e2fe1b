//! Cancellation of running work by a signal or a time limit.
//!
//! The caller opens a [`scope`] around a job and may [`request`](Cancel::request) its cancellation from another thread. Long
//! loops call [`check`], which costs two loads and unwinds to the scope if cancellation was requested or the deadline has
//! passed. Unwinding drops partial results, so functions between the loop and the scope need not propagate an error, and
//! caches never keep partial results. The unwinding is not a panic: no panic hook runs and nothing is printed.
//!
//! The scope is thread-local; [`Pool`](crate::base::parallel::Pool) passes it on to its threads.

use crate::base::clock::Clock;
use crate::base::error::{Error, Result};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A cancellation flag that counts its requests.
#[derive(Debug, Default)]
pub struct Cancel {
    requests: AtomicU32,
}

impl Cancel {
    /// Requests cancellation.
    pub fn request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// True if cancellation was requested.
    pub fn is_requested(&self) -> bool {
        self.requests.load(Ordering::Relaxed) > 0
    }
}

/// A point in time, as seconds after the start of a clock.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    /// The clock.
    pub clock: Clock,
    /// Seconds from the start to the deadline.
    pub seconds: f64,
}

impl Deadline {
    fn has_passed(&self) -> bool {
        self.clock.seconds() >= self.seconds
    }
}

/// The reason for a cancellation; also the payload of the unwinding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The caller requested it.
    Requested,
    /// The deadline has passed.
    Deadline,
}

/// The cancel flag and the deadline of a thread's work.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    cancel: Arc<Cancel>,
    /// The number of earlier requests, which do not cancel this work.
    ignored: u32,
    deadline: Option<Deadline>,
}

thread_local! {
    static CURRENT: RefCell<Option<Scope>> = const { RefCell::new(None) };
}

/// Runs `work`, which `cancel` can cancel.
///
/// # Errors
/// [`Error::Interrupted`] if it was cancelled.
pub fn scope<T>(cancel: &Arc<Cancel>, work: impl FnOnce() -> T) -> Result<T> {
    let scope = Scope { cancel: Arc::clone(cancel), ..Scope::default() };
    catching(scope, work).map_err(|_| Error::Interrupted)
}

/// Runs `work` within the scope of this thread until a deadline; without one, until that of the scope.
///
/// # Errors
/// The reason if it was cancelled.
pub fn until<T>(
    deadline: Option<Deadline>,
    work: impl FnOnce() -> T,
) -> std::result::Result<T, Ended> {
    let scope = current().unwrap_or_default();
    catching(Scope { deadline: deadline.or(scope.deadline), ..scope }, work)
}

/// Runs `work` without regard to earlier requests and the deadline; another request cancels it.
///
/// # Errors
/// [`Error::Interrupted`] if it was cancelled.
pub fn insist<T>(work: impl FnOnce() -> T) -> Result<T> {
    let scope = current().unwrap_or_default();
    let ignored = scope.cancel.requests.load(Ordering::Relaxed);
    catching(Scope { ignored, deadline: None, ..scope }, work).map_err(|_| Error::Interrupted)
}

/// Unwinds to the scope of this thread if its work is cancelled. Long loops call it at least about every millisecond.
#[inline]
pub fn check() {
    let ended = CURRENT.with_borrow(|scope| scope.as_ref().and_then(Scope::ended));
    if let Some(ended) = ended {
        resume_unwind(Box::new(ended));
    }
}

impl Scope {
    #[inline]
    fn ended(&self) -> Option<Ended> {
        if self.cancel.requests.load(Ordering::Relaxed) > self.ignored {
            Some(Ended::Requested)
        } else if self.deadline.is_some_and(|deadline| deadline.has_passed()) {
            Some(Ended::Deadline)
        } else {
            None
        }
    }
}

/// The scope of this thread.
pub(crate) fn current() -> Option<Scope> {
    CURRENT.with_borrow(Clone::clone)
}

/// Runs `work` with this scope as that of the thread.
pub(crate) fn within<T>(scope: Option<Scope>, work: impl FnOnce() -> T) -> T {
    /// Restores the previous scope, also if the work unwinds.
    struct Restore(Option<Scope>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _restore = Restore(CURRENT.replace(scope));
    work()
}

fn catching<T>(scope: Scope, work: impl FnOnce() -> T) -> std::result::Result<T, Ended> {
    // Unwind safe: partial results are dropped, and shared state is only changed as a whole.
    let done = catch_unwind(AssertUnwindSafe(|| {
        within(Some(scope), || {
            check();
            work()
        })
    }));
    done.map_err(|payload| match payload.downcast::<Ended>() {
        Ok(ended) => *ended,
        Err(panic) => resume_unwind(panic),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::parallel::Pool;

    #[test]
    fn a_request_ends_work_on_every_thread() {
        for threads in [1, 3] {
            let cancel = Arc::new(Cancel::default());
            let done = scope(&cancel, || {
                let pool = Pool::new(threads);
                pool.map((0..100).collect(), |number: u32| {
                    if number == 5 {
                        cancel.request();
                    }
                    check();
                    number
                })
            });
            assert_eq!(done, Err(Error::Interrupted));
            assert_eq!(scope(&Arc::default(), || 3), Ok(3));
        }
    }

    #[test]
    fn work_insisted_on_ends_at_the_second_request() {
        let cancel = Arc::new(Cancel::default());
        let inner = |requests: u32| {
            move |cancel: &Cancel| {
                (0..requests).for_each(|_| cancel.request());
                check();
                7
            }
        };
        let _ = scope(&cancel, || {
            cancel.request();
            assert_eq!(insist(|| inner(0)(&cancel)), Ok(7));
            assert_eq!(insist(|| inner(1)(&cancel)), Err(Error::Interrupted));
        });
    }

    #[test]
    fn a_deadline_is_told_from_a_request() {
        let deadline = Deadline { clock: Clock::start(), seconds: 0.0 };
        assert_eq!(until(Some(deadline), check), Err(Ended::Deadline));
        assert_eq!(until(None, check), Ok(()));
        assert_eq!(until(Some(deadline), || until(None, check)), Err(Ended::Deadline));
        let cancel = Arc::new(Cancel::default());
        let _ = scope(&cancel, || {
            cancel.request();
            assert_eq!(until(Some(deadline), check), Err(Ended::Requested));
        });
    }

    #[test]
    fn a_panic_passes_through() {
        let work = || -> Result<()> { scope(&Arc::default(), || resume_unwind(Box::new("a bug"))) };
        let panic = catch_unwind(work).expect_err("the scope ends early");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"a bug"));
    }
}
