//! Operators as the device programs execute them.
//!
//! Each module is one family: it takes the blocking and the formats that the program states, reads pages of the input
//! buffers, runs the tile steps of `tt-tensix` in the program's order and claims pages of the output buffer. Work is
//! split over output pages, never inside a sum, so the number of threads cannot change a bit.

pub mod argmax;
pub mod binary;
mod chain;
pub mod embedding_backward;
pub mod fill;
pub mod matmul;
pub mod matmul_fast;
pub mod movement;
mod port;
pub mod reduce;
pub mod softmax;
pub mod ternary;
pub mod unary;

use std::sync::atomic::{AtomicBool, Ordering};

use tt_cpu::pool::stop;

pub use chain::{Chain, ChainStep};

/// What an operator can refuse. Shapes, dtypes and layouts are checked before the engine is entered; these are the
/// engine's own invariants and the state of memory.
#[derive(Debug, thiserror::Error)]
pub enum OpError {
    /// A buffer is gone, on another device, or too small.
    #[error(transparent)]
    Memory(#[from] tt_memory::MemoryError),
    /// The caller described buffers that do not fit the request.
    #[error("{operator}: {what}")]
    Invariant {
        /// The operator's name.
        operator: &'static str,
        /// What does not fit.
        what: String,
    },
    /// A vector-unit function that the engine does not have.
    #[error("vector unit: no function {name}/{variant}")]
    UnknownFunction {
        /// The function's name.
        name: String,
        /// The variant asked for.
        variant: String,
    },
    /// A vector-unit function with too few or too many parameters.
    #[error("vector unit: {name}/{variant}: {source}")]
    WrongParameters {
        /// The function's name.
        name: String,
        /// Its variant.
        variant: String,
        /// What it takes and what was given.
        source: tt_tensix::sfpu::WrongParameters,
    },
    /// Whoever called wanted it to end: see [`tt_cpu::pool::stop`]. Pages that were done are written.
    #[error("stopped")]
    Stopped,
}

/// The first error of a parallel loop; the others are dropped.
#[derive(Default)]
struct FirstError {
    error: std::sync::Mutex<Option<OpError>>,
    stopped: AtomicBool,
}

impl FirstError {
    /// An item of the loop, unless it was stopped.
    fn run(&self, item: impl FnOnce() -> Result<(), OpError>) {
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

    fn finish(self) -> Result<(), OpError> {
        self.error.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

/// Runs `step` for every item on the worker pool, each worker with its own scratch, and returns the first error.
fn for_each_page<S: Send>(
    items: usize,
    scratch: impl Fn() -> S + Sync + Send,
    step: impl Fn(&mut S, usize) -> Result<(), OpError> + Sync + Send,
) -> Result<(), OpError> {
    let first = FirstError::default();
    tt_cpu::pool::for_each_init(items, scratch, |scratch, item| first.run(|| step(scratch, item)));
    first.finish()
}
