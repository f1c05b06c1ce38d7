//! Changes of buffers, for a profiler.
use pyo3::prelude::*;
use tt_memory::journal;

/// Starts or stops recording which buffers are allocated and freed.
#[pyfunction]
fn keep_buffer_changes(on: bool) {
    journal::keep(on);
}

/// How many buffers have been allocated and freed since the journal was last taken.
#[pyfunction]
fn buffer_changes() -> usize {
    journal::length()
}

/// The buffers that were allocated and freed: number, number of the device, whether allocated, region, address, bytes in
/// the fullest bank.
#[pyfunction]
fn take_buffer_changes() -> Vec<(u64, u64, bool, u8, u64, u64)> {
    let entry = |c: journal::Change| (c.unique_id, c.device, c.allocated, c.buffer_type, c.address, c.bytes_per_bank);
    journal::take().into_iter().map(entry).collect()
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(keep_buffer_changes, module)?)?;
    module.add_function(wrap_pyfunction!(buffer_changes, module)?)?;
    module.add_function(wrap_pyfunction!(take_buffer_changes, module)?)
}
