//! Errors of the engine as Python exceptions.
//!
//! The classes are declared once, in `ttnn/exceptions.py`, and looked up here by name.
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;
use tt_cpu::arena::ArenaError;
use tt_cpu::pool::stop;
use tt_memory::error::MemoryError;

use crate::interrupt;

/// An error of the engine that knows its Python class.
pub trait EngineError: Send {
    /// The exception to raise.
    fn into_exception(self, py: Python<'_>) -> PyErr;
}

/// An instance of a class of `ttnn.exceptions`.
pub fn exception<'py>(py: Python<'py>, class: &str, arguments: impl PyCallArgs<'py>) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let class = py.import("ttnn.base.exceptions")?.getattr(class)?;
        Ok(PyErr::from_value(class.call1(arguments)?))
    };
    make().unwrap_or_else(|error| error)
}

/// `EngineBugError`: one of our invariants broke.
pub fn engine_bug(py: Python<'_>, what: &str) -> PyErr {
    let text =
        format!("{what}. This is a bug of the engine (version {}), please report it.", env!("CARGO_PKG_VERSION"));
    exception(py, "EngineBugError", (text,))
}

/// Runs engine code without the interpreter lock.
///
/// Its errors become exceptions of their class, a panic `EngineBugError`.
pub fn enter_engine<T: Send, E: EngineError>(py: Python<'_>, run: impl FnOnce() -> Result<T, E> + Send) -> PyResult<T> {
    match py.detach(|| stop::asking(interrupt::ask, || catch_unwind(AssertUnwindSafe(run)))) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.into_exception(py)),
        Err(panic) => Err(engine_bug(py, &format!("the engine panicked: {}", panic_text(&*panic)))),
    }
}

/// Returns the message of a panic.
pub fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a text")
}

/// Warns of an operator that read pages nobody has written.
///
/// # Errors
/// What the filter of warnings makes of it.
pub fn warn_unwritten(py: Python<'_>, unwritten: &MemoryError) -> PyResult<()> {
    let text = format!("an operator read unwritten memory: {unwritten}. {ADVICE}. This device warns once.");
    let arguments = (text, py.get_type::<PyRuntimeWarning>());
    py.import("warnings")?.call_method1("warn", arguments).map(drop)
}

const ADVICE: &str = "Write the tensor before an operator reads it (ttnn.empty does not), or open the device with \
                      TTNN_WATCHER=off";

impl EngineError for MemoryError {
    fn into_exception(self, py: Python<'_>) -> PyErr {
        let text = self.to_string();
        match self {
            Self::OutOfMemory { buffer_type, bytes_per_bank, largest_free_bytes, .. } => {
                exception(py, "OutOfMemoryError", (text, buffer_type.name(), bytes_per_bank, largest_free_bytes))
            }
            Self::InjectedFailure { buffer_type, bytes, .. } => {
                exception(py, "OutOfMemoryError", (text, buffer_type.name(), bytes, 0))
            }
            Self::TooLarge { .. } => exception(py, "OutOfMemoryError", (text,)),
            Self::EmptyPage { .. }
            | Self::CoreOutsideGrid { .. }
            | Self::CoreTwice { .. }
            | Self::Places { .. }
            | Self::OwnAddresses { .. }
            | Self::EmptyShard { .. } => exception(py, "MemoryConfigError", (text,)),
            Self::Deallocated { .. } | Self::DoubleFree { .. } => exception(py, "StorageError", (text,)),
            Self::Region { .. }
            | Self::Chip { .. }
            | Self::OtherDevice { .. }
            | Self::DeviceClosed
            | Self::Arena(ArenaError::Reserve { .. }) => exception(py, "DeviceError", (text,)),
            Self::NeverWritten { .. } => exception(py, "AddressError", (format!("{text}. {ADVICE}."),)),
            Self::PageOutOfRange { .. }
            | Self::Role { .. }
            | Self::ClaimedTwice { .. }
            | Self::TransferShape { .. }
            | Self::Arena(_) => engine_bug(py, &text),
        }
    }
}

/// A device whose memory was being changed when the engine panicked.
#[derive(Debug)]
pub struct Poisoned;

impl EngineError for Poisoned {
    fn into_exception(self, py: Python<'_>) -> PyErr {
        let text = "the device stopped after a bug of the engine (EngineBugError); close it and open it again";
        exception(py, "DeviceError", (text,))
    }
}

impl EngineError for PyErr {
    fn into_exception(self, _: Python<'_>) -> PyErr {
        self
    }
}

/// Either of two errors, for fallible calls that lock a device.
#[derive(Debug)]
pub enum Either<A, B> {
    /// The first.
    First(A),
    /// The second.
    Second(B),
}

impl<A: EngineError, B: EngineError> EngineError for Either<A, B> {
    fn into_exception(self, py: Python<'_>) -> PyErr {
        match self {
            Self::First(error) => error.into_exception(py),
            Self::Second(error) => error.into_exception(py),
        }
    }
}
