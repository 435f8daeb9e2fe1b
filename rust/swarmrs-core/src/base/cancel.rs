//! Cancellation: how a signal or a time limit ends work that is under way.
//!
//! The caller opens a [`scope`] around one job and may [`request`](Cancel::request) its end from another thread. Long
//! loops call [`check`], which costs two loads and unwinds to the scope when the end was requested or the deadline has
//! passed. Unwinding drops whatever was half built, so no function between the loop and the scope has to pass an error
//! on, and a cache never keeps a partial result. The unwinding is no panic: no hook runs and nothing is printed.
//!
//! The scope belongs to the thread; [`Pool`](crate::base::parallel::Pool) hands it on to its own threads.

use crate::base::clock::Clock;
use crate::base::error::{Error, Result};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Counts how often the end of a job was requested.
#[derive(Debug, Default)]
pub struct Cancel {
    requests: AtomicU32,
}

impl Cancel {
    /// Requests the end of the job.
    pub fn request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// True if its end was requested.
    pub fn is_requested(&self) -> bool {
        self.requests.load(Ordering::Relaxed) > 0
    }
}

/// A point in time: so many seconds after a clock was started.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    /// Runs since the start.
    pub clock: Clock,
    /// Seconds from the start to the deadline.
    pub seconds: f64,
}

impl Deadline {
    fn has_passed(&self) -> bool {
        self.clock.seconds() >= self.seconds
    }
}

/// Why work ended early; also the payload of the unwinding.
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
    /// Requests that do not count: the work was begun in spite of them.
    ignored: u32,
    deadline: Option<Deadline>,
}

thread_local! {
    static CURRENT: RefCell<Option<Scope>> = const { RefCell::new(None) };
}

/// Does `work`, which ends early once `cancel` is requested.
///
/// # Errors
/// [`Error::Interrupted`] where it did.
pub fn scope<T>(cancel: &Arc<Cancel>, work: impl FnOnce() -> T) -> Result<T> {
    let scope = Scope { cancel: Arc::clone(cancel), ..Scope::default() };
    catching(scope, work).map_err(|_| Error::Interrupted)
}

/// Does `work` within the scope of this thread, and only until a deadline; without one, until that of the scope.
///
/// # Errors
/// Why it ended early.
pub fn until<T>(
    deadline: Option<Deadline>,
    work: impl FnOnce() -> T,
) -> std::result::Result<T, Ended> {
    let scope = current().unwrap_or_default();
    catching(Scope { deadline: deadline.or(scope.deadline), ..scope }, work)
}

/// Does `work` in spite of the requests so far; another one ends it.
///
/// # Errors
/// [`Error::Interrupted`] where it did.
pub fn insist<T>(work: impl FnOnce() -> T) -> Result<T> {
    let scope = current().unwrap_or_default();
    let ignored = scope.cancel.requests.load(Ordering::Relaxed);
    catching(Scope { ignored, deadline: None, ..scope }, work).map_err(|_| Error::Interrupted)
}

/// Unwinds to the scope of this thread if its work is to end. Long loops call it about every millisecond or more often.
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

/// Does `work` with this scope as that of the thread.
pub(crate) fn within<T>(scope: Option<Scope>, work: impl FnOnce() -> T) -> T {
    /// Puts the scope back that was there before, also when the work unwinds.
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
    // What the work had half built is dropped on the way; what it shares is only changed as a whole.
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
