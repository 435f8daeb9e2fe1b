//! Ordered parallel map; the only file that names rayon.
//!
//! A pool belongs to its owner and is made on first need, never rayon's global one: a forked process would inherit
//! that one without its threads and wait forever.

use crate::error::{Error, Result};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Threads to work with.
#[derive(Debug)]
pub struct Pool {
    threads: usize,
    inner: OnceLock<Option<rayon::ThreadPool>>,
    cancel: Arc<AtomicBool>,
}

impl Pool {
    /// A pool of `threads`; 0 means one for each core.
    pub fn new(threads: usize) -> Self {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            some => some,
        };
        Self { threads, inner: OnceLock::new(), cancel: Arc::default() }
    }

    /// The same pool, whose work is in vain once the flag is raised.
    #[must_use]
    pub fn heeding(self, cancel: Arc<AtomicBool>) -> Self {
        Self { cancel, ..self }
    }

    /// Whether its work is in vain: long jobs look at it now and then.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if so.
    pub fn check(&self) -> Result<()> {
        if self.cancel.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// `work` on each item, results in the order of the items.
    pub fn map<T: Send, R: Send>(&self, items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
        if self.threads == 1 || items.len() < 2 {
            return items.into_iter().map(work).collect();
        }
        let pool = self
            .inner
            .get_or_init(|| rayon::ThreadPoolBuilder::new().num_threads(self.threads).build().ok());
        match pool {
            Some(pool) => pool.install(|| items.into_par_iter().map(&work).collect()),
            // The system gives no more threads: the same answers, later.
            None => items.into_iter().map(work).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_asked() {
        for threads in [1, 2, 8] {
            let squares = Pool::new(threads).map((0..1000).collect(), |i: u64| i * i);
            assert!(squares.into_iter().eq((0..1000).map(|i| i * i)));
        }
    }
}
