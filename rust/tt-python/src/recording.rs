//! Functions of the engine and buffer changes, while a profiler observes.
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tt_memory::{BufferId, journal};

/// A function of the engine that ran: its name, the ids of its buffers, its keyword arguments.
type Call = (String, Vec<u64>, Option<Py<PyDict>>);

/// Whether calls are noted for a profiler.
static OBSERVING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Keyword arguments of the function that this thread is about to run.
    static GIVEN: RefCell<Option<Py<PyDict>>> = const { RefCell::new(None) };
    /// What this thread has run since it was last asked.
    static CALLS: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
}

/// Keeps the keyword arguments of a function for a profiler.
#[inline]
pub fn given(program: Option<&Bound<'_, PyDict>>) {
    if OBSERVING.load(Ordering::Relaxed) {
        GIVEN.set(program.map(|program| program.clone().unbind()));
    }
}

/// Notes for a profiler that a function runs.
#[inline]
pub fn observed(function: &str, buffers: &[BufferId]) {
    if OBSERVING.load(Ordering::Relaxed) {
        let ids = buffers.iter().map(|id| id.unique_id()).collect();
        CALLS.with_borrow_mut(|calls| calls.push((function.to_owned(), ids, GIVEN.take())));
    }
}

/// Begins or ends to note which functions run.
#[pyfunction]
fn observe(on: bool) {
    OBSERVING.store(on, Ordering::Relaxed);
}

/// Begins or ends to note which buffers are allocated and freed.
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

/// The functions that this thread has run since it was last asked: names, ids of buffers, keyword arguments.
#[pyfunction]
fn take_calls() -> Vec<Call> {
    CALLS.take()
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(observe, module)?)?;
    module.add_function(wrap_pyfunction!(keep_buffer_changes, module)?)?;
    module.add_function(wrap_pyfunction!(buffer_changes, module)?)?;
    module.add_function(wrap_pyfunction!(take_buffer_changes, module)?)?;
    module.add_function(wrap_pyfunction!(take_calls, module)?)
}
