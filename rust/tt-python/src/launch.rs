//! Programs of operators: steps on numbered slots, and their launch.
//!
//! Slots are the operands, then what the program allocates, in its order. Programs are made by `crate::resolving`.
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use tt_memory::{BufferId, Device};
use tt_ops::OpError;

use crate::buffer::{Facts, PyBuffer as Buffer};
use crate::error::EngineError;
use crate::shared::SharedDevice;
use crate::slots::{self, Event, Lowest};

/// A step as Python sees it: function, slots, keyword arguments.
type StepFacts = (&'static str, Vec<usize>, Option<Py<PyDict>>);

/// A program of an operator on one device.
#[pyclass(frozen, module = "ttnn._engine")]
pub struct Program {
    /// The device.
    pub device: Arc<SharedDevice>,
    /// The number of slots that are operands.
    pub operands: usize,
    /// The number of slots.
    pub slots: usize,
    /// The events.
    pub events: Vec<Event>,
    /// The slots of its results.
    pub results: Vec<usize>,
    /// The lowest address in use in L1 that it is made for, if that matters.
    pub lowest: Option<Lowest>,
}

impl Program {
    /// Runs it. Returns whether there was the room in L1 that it needs.
    fn run(&self, device: &mut Device, buffers: &mut [Option<BufferId>]) -> Result<bool, OpError> {
        let mut ids = Vec::with_capacity(4);
        for event in &self.events {
            match event {
                Event::Allocate(slot, plan) => buffers[*slot] = Some(device.allocate(plan.clone())?),
                Event::Free(slot) => {
                    if let Some(id) = buffers[*slot].take() {
                        device.deallocate(id)?;
                    }
                }
                Event::Write(slot, data, row_bytes) => {
                    if let Some(id) = buffers[*slot] {
                        device.write(id, data, *row_bytes)?;
                    }
                }
                Event::Room(end) => {
                    if device.lowest_l1_address()?.is_some_and(|lowest| lowest < *end) {
                        return Ok(false);
                    }
                }
                Event::Run { run, slots, .. } => {
                    ids.clear();
                    ids.extend(slots.iter().filter_map(|&slot| buffers[slot]));
                    run(device, &ids)?;
                }
            }
        }
        Ok(true)
    }
}

/// Adds the events of a program that an operator inside of this one has; returns the slots of its results. None if
/// other buffers are in L1 than it is made for.
///
/// # Errors
/// An operand is no slot of this program, or the device cannot be used.
fn inline(py: Python<'_>, program: &Program, operands: &[&Buffer]) -> PyResult<Option<Vec<Buffer>>> {
    let number = slots::number();
    let of = |buffer: &&Buffer| buffer.slot().filter(|slot| Some(slot.program) == number);
    let Some(mut places) = operands.iter().map(of).collect::<Option<Vec<_>>>() else {
        return Err(slots::refused("a buffer that is no operand is used"));
    };
    let shared = &program.device;
    if let Some(lowest) = program.lowest {
        let now = shared.look(py)?.lowest_l1_address().map_err(|error| error.into_exception(py))?;
        if Lowest(now) != lowest {
            return Ok(None);
        }
        slots::look_at_l1(now)?;
    }
    let mut made = Vec::new();
    for event in &program.events {
        match event {
            Event::Allocate(_, plan) => {
                let sizes = shared.look(py)?.sizes(plan).map_err(|error| error.into_exception(py))?;
                let Some(slot) = slots::allocate(plan.clone()) else { return Ok(None) };
                places.push(slot);
                made.push((slot, plan, sizes));
            }
            Event::Free(slot) => slots::free(places[*slot])?,
            Event::Write(slot, data, row_bytes) => slots::write(places[*slot], data, *row_bytes)?,
            Event::Room(end) => drop(slots::require_room(*end)),
            Event::Run { function, run, slots: of, settings } => {
                let settings = settings.as_ref().map(|settings| settings.clone_ref(py));
                let of = of.iter().map(|&slot| places[slot].index).collect();
                slots::push(Event::Run { function, run: Arc::clone(run), slots: of, settings });
            }
        }
    }
    let result = |&slot: &usize| {
        let &(slot, plan, sizes) = made.iter().find(|(made, ..)| *made == places[slot])?;
        Some(Buffer::planned(Arc::clone(shared), plan, sizes, slot))
    };
    Ok(program.results.iter().map(result).collect())
}

#[pymethods]
impl Program {
    /// Runs it. Returns the buffers of its results; None without a result if an operand has no memory or is on another
    /// device, or if the buffers in L1 leave less room than it is made for.
    #[pyo3(signature = (*operands))]
    fn __call__<'py>(&self, py: Python<'py>, operands: &Bound<'py, PyTuple>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let mut given = Vec::with_capacity(self.operands);
        for operand in operands.iter_borrowed() {
            let Ok(buffer) = operand.cast::<Buffer>() else { return Ok(None) };
            given.push(buffer.get());
        }
        let shared = &self.device;
        let usable = |buffer: &&Buffer| buffer.is_allocated() && Arc::ptr_eq(buffer.device(), shared);
        if given.len() != self.operands || !shared.is_open() || !given.iter().all(usable) {
            return Ok(None);
        }
        if slots::is_active() {
            return inline(py, self, &given)?.map(|made| PyTuple::new(py, made)).transpose();
        }
        if self.events.is_empty() {
            return Ok(Some(PyTuple::empty(py)));
        }
        let mut buffers: Vec<Option<BufferId>> = given.iter().map(|buffer| Some(buffer.id())).collect();
        buffers.resize(self.slots, None);
        let facts = shared.launch(py, |device| {
            if let Some(lowest) = self.lowest
                && Lowest(device.lowest_l1_address()?) != lowest
            {
                return Ok(None);
            }
            let ran = self.run(device, &mut buffers);
            if let Ok(true) = ran {
                let of = |slot: &usize| buffers[*slot].map(|id| device.buffer(id).map(Facts::of)).transpose();
                let facts: Result<Vec<_>, _> = self.results.iter().filter_map(|slot| of(slot).transpose()).collect();
                return Ok(Some(facts?));
            }
            for id in buffers[self.operands..].iter_mut().filter_map(Option::take) {
                device.deallocate(id)?;
            }
            ran.map(|_| None)
        })?;
        let Some(facts) = facts else { return Ok(None) };
        let made = facts.into_iter().map(|facts| Buffer::new(Arc::clone(shared), facts));
        PyTuple::new(py, made).map(Some)
    }

    /// The functions that it runs, in order: name, slots, keyword arguments.
    #[getter]
    fn steps(&self, py: Python<'_>) -> Vec<StepFacts> {
        let step = |event: &Event| match event {
            Event::Run { function, slots, settings, .. } => {
                Some((*function, slots.clone(), settings.as_ref().map(|settings| settings.clone_ref(py))))
            }
            _ => None,
        };
        self.events.iter().filter_map(step).collect()
    }
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Program>()
}
