//! The loop over items that may fail.

use std::sync::atomic::{AtomicBool, Ordering};

use tt_cpu::pool::stop;

use crate::OpError;

/// The first error of a parallel loop; the others are dropped.
#[derive(Default)]
pub struct FirstError {
    error: std::sync::Mutex<Option<OpError>>,
    stopped: AtomicBool,
}

impl FirstError {
    /// An item of the loop, unless it was stopped.
    pub fn run(&self, item: impl FnOnce() -> Result<(), OpError>) {
        if !self.stopped.load(Ordering::Relaxed) {
            if stop::is_asked() {
                self.stopped.store(true, Ordering::Relaxed);
                return self.record(Err(OpError::Stopped));
            }
            self.record(item());
        }
    }

    fn record(&self, result: Result<(), OpError>) {
        if let Err(error) = result {
            self.error.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(error);
        }
    }

    /// The first error that was met.
    pub fn finish(self) -> Result<(), OpError> {
        self.error.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

/// Runs `step` for every item on the worker pool.
///
/// Each worker has its own scratch; the first error is returned.
pub fn for_each_page<S: Send>(
    items: usize,
    scratch: impl Fn() -> S + Sync + Send,
    step: impl Fn(&mut S, usize) -> Result<(), OpError> + Sync + Send,
) -> Result<(), OpError> {
    let first = FirstError::default();
    tt_cpu::pool::for_each_init(items, scratch, |scratch, item| first.run(|| step(scratch, item)));
    first.finish()
}
