//! Calls that are repeated. What the arguments of an operator came to is kept, so that the next call with the same
//! arguments only names its buffers.
//!
//! A call of one program that reads operands of the caller, writes one new buffer, and looks at nothing else of the
//! device can be repeated: see `crate::recording`.
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tt_memory::BufferId;
use tt_memory::buffer::Plan;

use crate::arguments::add_functions;
use crate::buffer::{Facts, PyBuffer as Buffer};
use crate::recording::{self, Run};

/// Begins to record the call that this thread makes next. False if a call is being recorded already.
#[pyfunction]
fn begin_recording() -> bool {
    recording::begin()
}

/// Ends the recording. The call can be repeated if it ran one program on `operands` and on a new buffer, `result`.
#[pyfunction]
fn end_recording(
    py: Python<'_>,
    operands: Vec<PyRef<'_, Buffer>>,
    result: Option<PyRef<'_, Buffer>>,
) -> PyResult<Option<PreparedCall>> {
    let (Some(step), Some(result)) = (recording::end(), result) else { return Ok(None) };
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
        recording::spoil();
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
