//! Marks threads that run kernels: host functions raise there.
//!
//! A kernel runs on a core of the device. It has no host, so no device to open or close, no operator and no tensor.
use std::cell::Cell;

use pyo3::prelude::*;

use crate::error::exception;

thread_local! {
    static KERNELS: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as running kernels or not; returns the previous mark.
#[pyfunction]
pub fn set_inside_kernels(inside: bool) -> bool {
    KERNELS.replace(inside)
}

/// Refuses a function of the host inside a kernel.
///
/// # Errors
/// `KernelError`: kernels run on this thread.
#[pyfunction]
pub fn refuse_inside_kernels(py: Python<'_>, call: &str) -> PyResult<()> {
    if !KERNELS.get() {
        return Ok(());
    }
    let text = "a kernel cannot call functions of the host; call them before or after the program";
    Err(exception(py, "KernelError", (format!("{call}: {text}"),)))
}

/// [`refuse_inside_kernels`] for what the engine does with a device.
///
/// # Errors
/// As above.
pub fn require_host(py: Python<'_>) -> PyResult<()> {
    if KERNELS.get() { refuse_inside_kernels(py, "a device is used") } else { Ok(()) }
}
