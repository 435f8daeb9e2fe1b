//! Ordered parallel map; the only file that names rayon.
//!
//! A pool belongs to its owner and is made on first need, never rayon's global one: a forked process would inherit
//! that one without its threads and wait forever.

use crate::base::cancel;
use rayon::prelude::*;
use std::sync::OnceLock;

/// A pool has no more threads than this: more would only wait for each other.
pub const MOST_THREADS: usize = 1024;

/// Threads to work with.
#[derive(Debug)]
pub struct Pool {
    threads: usize,
    inner: OnceLock<Option<rayon::ThreadPool>>,
}

impl Pool {
    /// A pool of `threads`, at most [`MOST_THREADS`]; 0 means one for each core.
    pub fn new(threads: usize) -> Self {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            some => some.min(MOST_THREADS),
        };
        Self { threads, inner: OnceLock::new() }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// `work` on each item, results in the order of the items. It ends between two items, too, when the work of this
    /// thread is cancelled; see [`cancel`].
    pub fn map<T: Send, R: Send>(&self, items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
        let work = |item: T| {
            cancel::check();
            work(item)
        };
        if self.threads == 1 || items.len() < 2 {
            return items.into_iter().map(work).collect();
        }
        let pool = self
            .inner
            .get_or_init(|| rayon::ThreadPoolBuilder::new().num_threads(self.threads).build().ok());
        match pool {
            Some(pool) => {
                let scope = cancel::current();
                let work = |item: T| cancel::within(scope.clone(), || work(item));
                pool.install(|| items.into_par_iter().map(work).collect())
            }
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
