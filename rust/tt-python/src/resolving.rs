//! Resolving: an operator's Python runs on slots.
//!
//! Its requests to the engine become a [`Program`].
use std::sync::Arc;

use pyo3::prelude::*;

use crate::arguments::add_functions;
use crate::buffer::PyBuffer as Buffer;
use crate::device::PyDevice;
use crate::error::engine_bug;
use crate::launch::Program;
use crate::shared::Part;
use crate::slots::{self, Builder, Event, Unresolved};

/// A program that is being made: the slots of its operands. It is abandoned when this object goes away before its end.
#[pyclass(frozen, module = "ttnn._engine")]
struct Resolving {
    number: u64,
    part: Arc<Part>,
    #[pyo3(get)]
    slots: Vec<Py<Buffer>>,
}

impl Drop for Resolving {
    fn drop(&mut self) {
        drop(slots::end(self.number));
    }
}

/// Begins a program on operands. This thread must not resolve already.
#[pyfunction]
fn begin_program(py: Python<'_>, device: PyRef<'_, PyDevice>, operands: Vec<PyRef<'_, Buffer>>) -> PyResult<Resolving> {
    if slots::is_active() {
        return Err(engine_bug(py, "a program is made inside of another one"));
    }
    let (number, places) = slots::begin(operands.len());
    let mut resolving = Resolving { number, part: Arc::clone(device.chips()), slots: Vec::new() };
    for (operand, slot) in operands.iter().zip(places) {
        resolving.slots.push(Py::new(py, operand.as_slot(slot))?);
    }
    Ok(resolving)
}

/// What became of a program: it was made, or why not.
#[derive(IntoPyObject)]
enum Ended {
    Program(Program),
    Refused(String),
}

#[pymethods]
impl Resolving {
    /// The number of its events so far.
    #[getter]
    fn position(&self) -> usize {
        slots::events_of(self.number)
    }

    /// Ends the program. `results` are slots that it allocates and leaves.
    fn end(&self, results: Vec<PyRef<'_, Buffer>>) -> Ended {
        let Some(Builder { operands, slots, events, lowest, refused, .. }) = slots::end(self.number) else {
            return Ended::Refused("the program was abandoned".to_owned());
        };
        if let Some(why) = refused {
            return Ended::Refused(why);
        }
        let of = |buffer: &PyRef<'_, Buffer>| buffer.slot().filter(|slot| slot.program == self.number);
        let Some(results) = results.iter().map(|buffer| of(buffer).map(|slot| slot.index)).collect::<Option<Vec<_>>>()
        else {
            return Ended::Refused("a result is a buffer that is no operand".to_owned());
        };
        let freed = |slot: &usize| events.iter().any(|event| matches!(event, Event::Free(index) if index == slot));
        if (operands..slots).any(|slot| results.contains(&slot) == freed(&slot)) {
            return Ended::Refused("a temporary tensor outlives the call, or a result is deallocated".to_owned());
        }
        Ended::Program(Program { part: Arc::clone(&self.part), operands, slots, events, results, lowest })
    }

    /// Ends the program without making it; returns the reason if something refused.
    fn abandon(&self) -> Option<String> {
        slots::end(self.number).and_then(|builder| builder.refused)
    }
}

/// Refuses to make a program of the call that this thread resolves, if it does.
#[pyfunction]
fn refuse_program(why: &str) -> PyResult<()> {
    slots::refuse(why)
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Unresolved", module.py().get_type::<Unresolved>())?;
    module.add_class::<Resolving>()?;
    add_functions!(module: begin_program, refuse_program)
}
