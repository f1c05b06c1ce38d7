//! Calls that are repeated. What the arguments of an operator came to is kept, so that the next call with the same
//! arguments only names its buffers.
//!
//! While a call is recorded, the programs that run on the device are noted. A call of one program that reads operands of
//! the caller and writes one new buffer can be repeated; everything else that looks at the device or changes it spoils
//! the recording, because the next call might see something else there.
use std::cell::RefCell;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tt_memory::buffer::Plan;
use tt_memory::{BufferId, Device};
use tt_ops::OpError;

use crate::arguments::add_functions;
use crate::buffer::{Facts, PyBuffer as Buffer};

/// A program that only needs its buffers.
pub type Run = dyn Fn(&mut Device, &[BufferId]) -> Result<(), OpError> + Send + Sync;

/// A program that ran while a call was recorded, and on which buffers.
struct Step {
    run: Arc<Run>,
    buffers: Vec<BufferId>,
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

/// Whether a call is being recorded that may still be repeated.
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

/// Begins to record the call that this thread makes next. False if a call is being recorded already.
#[pyfunction]
fn begin_recording() -> bool {
    RECORDING.with_borrow_mut(|recording| recording.is_none() && recording.replace(Recording::Nothing).is_none())
}

/// Ends the recording. The call can be repeated if it ran one program on `operands` and on a new buffer, `result`.
#[pyfunction]
fn end_recording(
    py: Python<'_>,
    operands: Vec<PyRef<'_, Buffer>>,
    result: Option<PyRef<'_, Buffer>>,
) -> PyResult<Option<PreparedCall>> {
    let recording = RECORDING.with_borrow_mut(Option::take);
    let (Some(Recording::One(step)), Some(result)) = (recording, result) else { return Ok(None) };
    let place = |&id: &BufferId| {
        if id == result.id() {
            return Some(Place::Result);
        }
        operands.iter().position(|operand| operand.id() == id).map(Place::Operand)
    };
    let Some(places) = step.buffers.iter().map(place).collect::<Option<Vec<_>>>() else { return Ok(None) };
    if !places.contains(&Place::Result) || operands.iter().any(|operand| operand.id() == result.id()) {
        return Ok(None);
    }
    let id = result.id();
    let plan = result.device().repeatable(py, |device| device.buffer(id).map(tt_memory::buffer::Buffer::plan))?;
    Ok(Some(PreparedCall { run: step.run, places, plan, operands: operands.len() }))
}

/// Where a program's buffer comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Operand(usize),
    Result,
}

/// A call of an operator that only needs its operands.
#[pyclass(frozen, module = "ttnn._engine")]
struct PreparedCall {
    run: Arc<Run>,
    places: Vec<Place>,
    plan: Plan,
    operands: usize,
}

#[pymethods]
impl PreparedCall {
    /// The buffer of the result. None, and nothing happens, if an operand has no memory or lies on another device than
    /// the first one.
    #[pyo3(signature = (*operands))]
    fn __call__(&self, py: Python<'_>, operands: &Bound<'_, PyTuple>) -> PyResult<Option<Buffer>> {
        spoil();
        let mut given = Vec::with_capacity(self.operands);
        for operand in operands.iter_borrowed() {
            let Ok(buffer) = operand.cast::<Buffer>() else { return Ok(None) };
            given.push(buffer.get());
        }
        let usable = |buffer: &&Buffer| buffer.is_allocated() && Arc::ptr_eq(buffer.device(), given[0].device());
        if given.is_empty() || given.len() != self.operands || !given.iter().all(usable) {
            return Ok(None);
        }
        let shared = given[0].device();
        let ids: Vec<BufferId> = given.iter().map(|buffer| buffer.id()).collect();
        let facts = shared.repeatable(py, |device| {
            let result = device.allocate(self.plan.clone())?;
            let buffers: Vec<BufferId> = self
                .places
                .iter()
                .map(|place| match place {
                    Place::Operand(index) => ids[*index],
                    Place::Result => result,
                })
                .collect();
            match (self.run)(device, &buffers) {
                Ok(()) => Ok(Facts::of(device.buffer(result)?)),
                Err(error) => {
                    device.deallocate(result)?;
                    Err(error)
                }
            }
        })?;
        Ok(Some(Buffer::new(Arc::clone(shared), facts)))
    }
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PreparedCall>()?;
    add_functions!(module: begin_recording, end_recording)
}
