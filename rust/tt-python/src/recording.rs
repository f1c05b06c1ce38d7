//! Work on a device while an operator call is recorded; see `crate::prepared`.
//!
//! Programs are noted. Everything else that looks at the device or changes it spoils the recording, because the next
//! call might see something else there.
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tt_memory::{BufferId, Device, journal};
use tt_ops::OpError;

/// A program that only needs its buffers.
pub type Run = dyn Fn(&mut Device, &[BufferId]) -> Result<(), OpError> + Send + Sync;

/// A program that ran while a call was recorded, and on which buffers.
pub struct Step {
    /// The program.
    pub run: Arc<Run>,
    /// Its buffers, in its order.
    pub buffers: Vec<BufferId>,
}

/// What happened since the recording began.
enum Recording {
    Nothing,
    One(Step),
    Spoiled,
}

thread_local! {
    /// The call that this thread records, if it does.
    static RECORDING: RefCell<Option<Recording>> = const { RefCell::new(None) };
}

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

/// Returns true if a call is being recorded that may still be repeated.
pub fn is_recording() -> bool {
    RECORDING.with_borrow(|recording| matches!(recording, Some(Recording::Nothing | Recording::One(_))))
}

/// Notes a program that runs.
pub fn note(run: &Arc<Run>, buffers: &[BufferId]) {
    RECORDING.with_borrow_mut(|recording| {
        let Some(recording) = recording else { return };
        *recording = match recording {
            Recording::Nothing => Recording::One(Step { run: Arc::clone(run), buffers: buffers.to_vec() }),
            _ => Recording::Spoiled,
        };
    });
}

/// Notes that the device was looked at or changed in another way.
pub fn spoil() {
    RECORDING.with_borrow_mut(|recording| {
        if let Some(recording) = recording {
            *recording = Recording::Spoiled;
        }
    });
}

/// Begins a recording. False if a call of this thread is being recorded already.
pub fn begin() -> bool {
    RECORDING.with_borrow_mut(|recording| recording.is_none() && recording.replace(Recording::Nothing).is_none())
}

/// Ends the recording. The program that ran, if it was one and nothing spoiled the recording.
pub fn end() -> Option<Step> {
    match RECORDING.with_borrow_mut(Option::take) {
        Some(Recording::One(step)) => Some(step),
        _ => None,
    }
}
