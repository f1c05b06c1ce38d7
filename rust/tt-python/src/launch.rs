//! Programs of operators: steps on numbered slots, and their launch.
//!
//! Slots are the operands, then what the program allocates, in its order. Programs are made by `crate::resolving`.
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use tt_memory::{BufferId, Device};

use crate::buffer::{Facts, PyBuffer as Buffer};
use crate::chips::Chips;
use crate::error::{EngineError, engine_bug};
use crate::ranks::StepError;
use crate::shared::Part;
use crate::slots::{Event, Lowest};

/// A step as Python sees it: function, slots, keyword arguments.
type StepFacts = (&'static str, Vec<usize>, Option<Py<PyDict>>);

/// A program of an operator on one device.
#[pyclass(frozen, module = "ttnn._engine")]
pub struct Program {
    /// The mesh; without operands it runs on all of its chips.
    pub part: Arc<Part>,
    /// The number of slots that are operands.
    pub operands: usize,
    /// The number of slots.
    pub slots: usize,
    /// The events.
    pub events: Vec<Event>,
    /// The slots of its results.
    pub results: Vec<usize>,
    /// The lowest used L1 address it is made for, if relevant.
    pub lowest: Option<Lowest>,
}

impl Program {
    /// Runs a range of its events on chips. Returns whether there was the room in L1 that they need.
    fn run(
        &self,
        events: Range<usize>,
        device: &mut Device,
        chips: Chips,
        buffers: &mut [Option<BufferId>],
    ) -> Result<bool, StepError> {
        let mut ids = Vec::with_capacity(4);
        for event in &self.events[events] {
            match event {
                Event::Allocate(slot, plan) => buffers[*slot] = Some(device.allocate(plan.clone())?),
                Event::Free(slot) => {
                    if let Some(id) = buffers[*slot].take() {
                        device.deallocate(id)?;
                    }
                }
                Event::Write(slot, data, row_bytes) => {
                    if let Some(id) = buffers[*slot] {
                        chips.each(device, |device| device.write(id, data, *row_bytes))?;
                    }
                }
                Event::Room(end) => {
                    if device.lowest_l1_address()?.is_some_and(|lowest| lowest < *end) {
                        return Ok(false);
                    }
                }
                Event::Run { function, run, slots, crossing, .. } => {
                    ids.clear();
                    ids.extend(slots.iter().filter_map(|&slot| buffers[slot]));
                    if let Some(crossing) = *crossing {
                        let step = |device: &mut Device| run(device, &ids);
                        self.part.shared.together(device, function, &ids, crossing, step)?;
                        continue;
                    }
                    chips.each(device, |device| run(device, &ids))?;
                }
            }
        }
        Ok(true)
    }

    /// Returns whether L1 holds the buffers that it is made for, and no others where it needs the room.
    fn has_room(&self, device: &Device) -> Result<bool, StepError> {
        let Some(Lowest(expected)) = self.lowest else { return Ok(true) };
        Ok(device.lowest_l1_address()? == expected)
    }

    /// Returns the operands; None if one has no memory or is on another device, or if their number is another.
    fn given<'a>(&self, operands: &'a Bound<'_, PyTuple>) -> Option<Vec<&'a Buffer>> {
        let mut given = Vec::with_capacity(self.operands);
        for operand in operands.iter_borrowed() {
            given.push(operand.cast::<Buffer>().ok()?.get());
        }
        let usable = |buffer: &&Buffer| buffer.is_allocated() && Arc::ptr_eq(buffer.part(), &self.part);
        (given.len() == self.operands && self.part.is_open() && given.iter().all(usable)).then_some(given)
    }

    /// The chips that it runs on: those of all operands, or of the device.
    fn chips_of(&self, operands: &[&Buffer]) -> Option<Chips> {
        let Some(first) = operands.first() else { return Some(self.part.chips) };
        operands.iter().try_fold(first.chips(), |chips, operand| chips.and(operand.chips()))
    }

    /// Returns the buffers of its slots before it runs: those of the operands.
    fn buffers(&self, operands: &[&Buffer]) -> Vec<Option<BufferId>> {
        let mut buffers: Vec<_> = operands.iter().map(|buffer| Some(buffer.id())).collect();
        buffers.resize(self.slots, None);
        buffers
    }
}

#[pymethods]
impl Program {
    /// Runs it. Returns the buffers of its results; None without a result if an operand has no memory or is on another
    /// device, or if the buffers in L1 leave less room than it is made for.
    #[pyo3(signature = (*operands))]
    fn __call__<'py>(&self, py: Python<'py>, operands: &Bound<'py, PyTuple>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(given) = self.given(operands) else { return Ok(None) };
        if self.events.is_empty() {
            return Ok(Some(PyTuple::empty(py)));
        }
        let shared = &self.part.shared;
        let Some(chips) = self.chips_of(&given) else { return Ok(None) };
        let mut buffers = self.buffers(&given);
        let facts = shared.launch(py, |device| {
            if !self.has_room(device)? {
                return Ok(None);
            }
            let ran = self.run(0..self.events.len(), device, chips, &mut buffers);
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
        let made = facts.into_iter().map(|facts| Buffer::new(Arc::clone(&self.part), facts, chips));
        PyTuple::new(py, made).map(Some)
    }

    /// Begins to run it event by event; None where a launch returns None.
    #[pyo3(signature = (*operands))]
    fn walk(slf: &Bound<'_, Self>, operands: &Bound<'_, PyTuple>) -> PyResult<Option<Walk>> {
        let program = slf.get();
        let Some(given) = program.given(operands) else { return Ok(None) };
        let Some(chips) = program.chips_of(&given) else { return Ok(None) };
        let has_room = program.part.shared.launch(slf.py(), |device| program.has_room(device))?;
        let (buffers, made) = (program.buffers(&given), (0..program.slots).map(|_| None).collect());
        let state = Mutex::new(State { next: 0, buffers, made });
        Ok(has_room.then(|| Walk { program: slf.clone().unbind(), chips, state }))
    }

    /// The number of its events.
    fn __len__(&self) -> usize {
        self.events.len()
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

/// A program that runs event by event, for observers of what happens inside of it.
#[pyclass(frozen, module = "ttnn._engine")]
struct Walk {
    program: Py<Program>,
    chips: Chips,
    state: Mutex<State>,
}

/// How far it has run.
struct State {
    /// The number of the next event.
    next: usize,
    /// The buffers of its slots.
    buffers: Vec<Option<BufferId>>,
    /// Their Python objects, without those of the operands.
    made: Vec<Option<Py<Buffer>>>,
}

#[pymethods]
impl Walk {
    /// Runs the events before a number. Returns False if there was not the room in L1 that they need.
    fn advance(&self, py: Python<'_>, end: usize) -> PyResult<bool> {
        let program = self.program.get();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { next, buffers, made } = &mut *state;
        let events = *next..end.clamp(*next, program.events.len());
        *next = events.end;
        let of_events = events.clone();
        let (ran, facts) = program.part.shared.launch(py, |device| {
            let ran = program.run(events, device, self.chips, buffers);
            let allocated = program.events[of_events.clone()].iter().filter_map(|event| match event {
                Event::Allocate(slot, _) => buffers[*slot].map(|id| (*slot, id)),
                _ => None,
            });
            let facts: Result<Vec<_>, StepError> =
                allocated.map(|(slot, id)| Ok((slot, Facts::of(device.buffer(id)?)))).collect();
            Ok::<_, StepError>((ran, facts?))
        })?;
        for (slot, facts) in facts {
            made[slot] = Some(Py::new(py, Buffer::new(Arc::clone(&program.part), facts, self.chips))?);
        }
        for event in &program.events[of_events] {
            if let Event::Free(slot) = event
                && buffers[*slot].is_none()
                && let Some(buffer) = &made[*slot]
            {
                buffer.get().set_freed();
            }
        }
        ran.map_err(|error| error.into_exception(py))
    }

    /// Returns the buffer of a slot that is no operand.
    fn buffer(&self, py: Python<'_>, slot: usize) -> PyResult<Py<Buffer>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let made = state.made.get(slot).and_then(Option::as_ref);
        made.map(|buffer| buffer.clone_ref(py)).ok_or_else(|| engine_bug(py, "a slot has no buffer yet"))
    }
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Program>()?;
    module.add_class::<Walk>()
}
