//! Errors of operators.

/// Errors of operators.
///
/// Shapes, dtypes and layouts are checked before the engine is entered; these are the engine's own invariants and the
/// state of memory.
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
    /// An index behind the last row of a table.
    #[error("index {index} is out of range for a table of {rows} rows")]
    Index {
        /// The index.
        index: u32,
        /// Rows of the table.
        rows: usize,
    },
    /// A vector-unit function that the engine does not have.
    #[error("SFPU: no function {name}/{variant}")]
    UnknownFunction {
        /// The function's name.
        name: String,
        /// The variant asked for.
        variant: String,
    },
    /// A vector-unit function with too few or too many parameters.
    #[error("SFPU: {name}/{variant}: {source}")]
    WrongParameters {
        /// The function's name.
        name: String,
        /// Its variant.
        variant: String,
        /// What it takes and what was given.
        source: tt_sfpu::WrongParameters,
    },
    /// Whoever called wanted it to end: see [`tt_cpu::pool::stop`]. Pages that were done are written.
    #[error("stopped")]
    Stopped,
}
