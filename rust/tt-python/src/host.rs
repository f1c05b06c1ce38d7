//! Conversions of host tensors: numpy arrays in, raw tensor buffers out, and back.
use pyo3::prelude::*;

/// Adds this file's names to the module.
pub fn register(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
