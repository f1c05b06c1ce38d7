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
}

/// The first error of a parallel loop; the others are dropped.
#[derive(Default)]
struct FirstError(std::sync::Mutex<Option<OpError>>);

impl FirstError {
    fn record(&self, result: Result<(), OpError>) {
        if let Err(error) = result {
            self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(error);
        }
    }

    fn finish(self) -> Result<(), OpError> {
        self.0.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

/// Runs `step` for every item on the worker pool, each worker with its own scratch, and returns the first error.
fn for_each_page<S: Send>(
    items: usize,
    scratch: impl Fn() -> S + Sync + Send,
    step: impl Fn(&mut S, usize) -> Result<(), OpError> + Sync + Send,
) -> Result<(), OpError> {
    let first = FirstError::default();
    tt_cpu::pool::for_each_init(items, scratch, |scratch, item| first.record(step(scratch, item)));
    first.finish()
}
