//! Ordered parallel map; the only file that names rayon.
//!
//! A pool belongs to its owner and is created on first use. Rayon's global pool is not used: a forked process would inherit
//! it without its threads, and deadlock.

use crate::base::cancel;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The maximum number of threads of a pool.
pub const MOST_THREADS: usize = 1024;

/// A thread pool.
#[derive(Debug)]
pub struct Pool {
    threads: usize,
    /// The threads other than the calling one.
    others: OnceLock<Option<rayon::ThreadPool>>,
}

impl Pool {
    /// A pool of `threads`, at most [`MOST_THREADS`]; 0 means one for each core.
    pub fn new(threads: usize) -> Self {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            some => some.min(MOST_THREADS),
        };
        Self { threads, others: OnceLock::new() }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Applies `work` to each item; results are in the order of the items. Cancellation of the work of this thread is checked
    /// between items; see [`cancel`].
    ///
    /// The calling thread works too, and every thread takes the next item when it has finished one: no thread waits for
    /// another to wake up, and at the end for one item at most.
    pub fn map<T: Send, R: Send>(&self, items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
        let work = |item: T| {
            cancel::check();
            work(item)
        };
        let alone = |items: Vec<T>| items.into_iter().map(work).collect();
        if self.threads == 1 || items.len() < 2 {
            return alone(items);
        }
        let others = self.others.get_or_init(|| {
            rayon::ThreadPoolBuilder::new().num_threads(self.threads - 1).build().ok()
        });
        // If the system cannot create threads, this thread does all the work.
        let Some(others) = others else { return alone(items) };
        let count = items.len();
        let items: Vec<Mutex<Option<(usize, T)>>> =
            items.into_iter().enumerate().map(|item| Mutex::new(Some(item))).collect();
        let results: Vec<Mutex<Option<R>>> = (0..count).map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        let take_items = || {
            while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                let item = locked(item).take();
                if let Some((at, item)) = item {
                    let result = work(item);
                    *locked(&results[at]) = Some(result);
                }
            }
        };
        let scope = cancel::current();
        others.in_place_scope(|workers| {
            for _ in 1..self.threads.min(count) {
                workers.spawn(|_| cancel::within(scope.clone(), take_items));
            }
            take_items();
        });
        // Every item has a result here, because panics and cancellations unwind.
        results.into_iter().filter_map(|place| locked(&place).take()).collect()
    }
}

/// The content of a lock. A poisoned lock is valid: it holds an item, a result, or nothing.
fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
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
