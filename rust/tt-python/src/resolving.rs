//! Resolving: the Python of an operator runs on slots, and what it asks of the engine becomes a [`Program`].
//!
//! A slot is a buffer without memory. While a thread resolves, functions of the engine note their steps instead of
//! running them, allocations make slots, and slots that Python drops are noted as free. What a program cannot
//! contain, because it depends on elements or on the state of the device, refuses: the call then runs as it is.
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tt_memory::buffer::Plan;
use tt_memory::{BufferId, Device};
use tt_ops::OpError;

use crate::arguments::add_functions;
use crate::buffer::PyBuffer as Buffer;
use crate::device::PyDevice;
use crate::error::EngineError;
use crate::launch::{Event, Program};
use crate::shared::SharedDevice;

pyo3::create_exception!(
    ttnn._engine,
    Unresolved,
    PyBaseException,
    "A call cannot become a program: it depends on more than specifications and options."
);

/// A step of a program, on the buffers of its slots.
pub type Run = dyn Fn(&mut Device, &[BufferId]) -> Result<(), OpError> + Send + Sync;

/// A slot: the program that is being made, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    builder: u64,
    /// Operands come first.
    pub index: usize,
}

/// A program that is being made.
struct Builder {
    number: u64,
    device: Arc<SharedDevice>,
    operands: usize,
    slots: usize,
    events: Vec<Event>,
    /// Whether an L1 buffer was allocated: the room that is left is not known from then on.
    in_l1: bool,
    /// The lowest address in use in L1, where the operator has asked for it.
    lowest: Option<Option<u64>>,
    refused: Option<String>,
    given: Option<Py<PyDict>>,
}

thread_local! {
    static BUILDER: RefCell<Option<Builder>> = const { RefCell::new(None) };
}

static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// Returns true if this thread resolves a call.
#[inline]
pub fn is_active() -> bool {
    BUILDER.with_borrow(Option::is_some)
}

/// Refuses to make a program, and lets the call run as it is.
pub fn refused(why: &str) -> PyErr {
    BUILDER.with_borrow_mut(|builder| {
        if let Some(builder) = builder {
            builder.refused.get_or_insert_with(|| why.to_owned());
        }
    });
    Unresolved::new_err(why.to_owned())
}

/// Refuses while this thread resolves.
///
/// # Errors
/// [`Unresolved`].
#[inline]
pub fn refuse(why: &str) -> PyResult<()> {
    if is_active() { Err(refused(why)) } else { Ok(()) }
}

/// Keeps the keyword arguments of the step that comes next.
pub fn given(settings: Option<&Bound<'_, PyDict>>) {
    if is_active() {
        let settings = settings.map(|settings| settings.clone().unbind());
        let before = BUILDER
            .with_borrow_mut(|builder| builder.as_mut().map(|builder| std::mem::replace(&mut builder.given, settings)));
        // Dropped here: what goes away with it may be a slot.
        drop(before);
    }
}

/// Notes an allocation; returns its slot.
pub fn allocate(plan: Plan) -> Option<Slot> {
    BUILDER.with_borrow_mut(|builder| {
        let builder = builder.as_mut()?;
        let index = builder.slots;
        builder.slots += 1;
        builder.in_l1 |= !plan.buffer_type().in_dram();
        builder.events.push(Event::Allocate(index, plan));
        Some(Slot { builder: builder.number, index })
    })
}

/// Notes that a slot is free.
///
/// # Errors
/// It is an operand: its memory is not the program's to free.
pub fn free(slot: Slot) -> PyResult<()> {
    let operand = BUILDER.with_borrow_mut(|builder| match builder {
        Some(builder) if builder.number == slot.builder && slot.index >= builder.operands => {
            builder.events.push(Event::Free(slot.index));
            false
        }
        Some(builder) => builder.number == slot.builder,
        None => false,
    });
    if operand { Err(refused("an operand is deallocated")) } else { Ok(()) }
}

/// Notes that Python has dropped a slot.
pub fn dropped(slot: Slot) {
    BUILDER.with_borrow_mut(|builder| {
        if let Some(builder) = builder
            && builder.number == slot.builder
            && slot.index >= builder.operands
        {
            builder.events.push(Event::Free(slot.index));
        }
    });
}

/// Notes that the host writes pages.
///
/// # Errors
/// The slot is that of another program.
pub fn write(slot: Slot, data: &[u8], row_bytes: usize) -> PyResult<()> {
    note(slot, |index| Event::Write(index, data.into(), row_bytes))
}

fn note(slot: Slot, event: impl FnOnce(usize) -> Event) -> PyResult<()> {
    let noted = BUILDER.with_borrow_mut(|builder| match builder {
        Some(builder) if builder.number == slot.builder => {
            builder.events.push(event(slot.index));
            true
        }
        _ => false,
    });
    if noted { Ok(()) } else { Err(refused("a tensor of another program is used")) }
}

/// Notes a step.
///
/// # Errors
/// A buffer is no slot of this program.
pub fn step(function: &'static str, buffers: &[&Buffer], run: Arc<Run>) -> PyResult<()> {
    let noted = BUILDER.with_borrow_mut(|builder| {
        let builder = builder.as_mut()?;
        let settings = builder.given.take();
        let of = |buffer: &&Buffer| buffer.slot().filter(|slot| slot.builder == builder.number).map(|slot| slot.index);
        let slots = buffers.iter().map(of).collect::<Option<Vec<_>>>()?;
        builder.events.push(Event::Run { function, run, slots, settings });
        Some(())
    });
    noted.ok_or_else(|| refused("a buffer that is no operand is used"))
}

/// Notes that the operator looks at the lowest address in use in L1.
///
/// # Errors
/// It has allocated in L1 before, so that the address will be another one.
pub fn look_at_l1(lowest: Option<u64>) -> PyResult<()> {
    let known = BUILDER.with_borrow_mut(|builder| match builder {
        Some(builder) if builder.in_l1 => false,
        Some(builder) => {
            builder.lowest = Some(lowest);
            true
        }
        None => true,
    });
    if known { Ok(()) } else { Err(refused("the room in L1 depends on a temporary tensor")) }
}

/// Adds the events of a program that an operator inside of this one has; returns the slots of its results. None if
/// other buffers are in L1 than it is made for.
///
/// # Errors
/// An operand is no slot of this program, or the device cannot be used.
pub fn inline(py: Python<'_>, program: &Program, operands: &[&Buffer]) -> PyResult<Option<Vec<Buffer>>> {
    let number = BUILDER.with_borrow(|builder| builder.as_ref().map(|builder| builder.number));
    let of = |buffer: &&Buffer| buffer.slot().filter(|slot| Some(slot.builder) == number);
    let Some(mut slots) = operands.iter().map(of).collect::<Option<Vec<_>>>() else {
        return Err(refused("a buffer that is no operand is used"));
    };
    let shared = &program.device;
    if let Some(lowest) = program.lowest {
        let now = shared.look(py)?.lowest_l1_address().map_err(|error| error.into_exception(py))?;
        if now != lowest {
            return Ok(None);
        }
        look_at_l1(lowest)?;
    }
    let mut made = Vec::new();
    for event in &program.events {
        match event {
            Event::Allocate(_, plan) => {
                let sizes = shared.look(py)?.sizes(plan).map_err(|error| error.into_exception(py))?;
                let Some(slot) = allocate(plan.clone()) else { return Ok(None) };
                slots.push(slot);
                made.push((slot, plan, sizes));
            }
            Event::Free(slot) => free(slots[*slot])?,
            Event::Write(slot, data, row_bytes) => write(slots[*slot], data, *row_bytes)?,
            Event::Room(end) => drop(require_room(*end)),
            Event::Run { function, run, slots: of, settings } => {
                let settings = settings.as_ref().map(|settings| settings.clone_ref(py));
                let of = of.iter().map(|&slot| slots[slot].index).collect();
                push(Event::Run { function, run: Arc::clone(run), slots: of, settings });
            }
        }
    }
    let result = |&slot: &usize| {
        let &(slot, plan, sizes) = made.iter().find(|(made, ..)| *made == slots[slot])?;
        Some(Buffer::planned(Arc::clone(shared), plan, sizes, slot))
    };
    Ok(program.results.iter().map(result).collect())
}

fn push(event: Event) {
    BUILDER.with_borrow_mut(|builder| {
        if let Some(builder) = builder {
            builder.events.push(event);
        }
    });
}

/// Notes that no buffer may lie below an address in L1. Returns whether this thread resolves.
pub fn require_room(end: u64) -> bool {
    BUILDER.with_borrow_mut(|builder| builder.as_mut().map(|builder| builder.events.push(Event::Room(end))).is_some())
}

/// A program that is being made: the slots of its operands. It is abandoned when this object goes away before its end.
#[pyclass(frozen, module = "ttnn._engine")]
struct Resolving {
    number: u64,
    #[pyo3(get)]
    slots: Vec<Py<Buffer>>,
}

impl Drop for Resolving {
    fn drop(&mut self) {
        let abandoned = BUILDER.with_borrow_mut(|builder| builder.take_if(|builder| builder.number == self.number));
        drop(abandoned);
    }
}

/// Begins a program on operands. None if this thread resolves already.
#[pyfunction]
fn begin_program(
    py: Python<'_>,
    device: PyRef<'_, PyDevice>,
    operands: Vec<PyRef<'_, Buffer>>,
) -> PyResult<Option<Resolving>> {
    if is_active() {
        return Ok(None);
    }
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    let slot =
        |(index, operand): (usize, &PyRef<'_, Buffer>)| Py::new(py, operand.as_slot(Slot { builder: number, index }));
    let slots = operands.iter().enumerate().map(slot).collect::<PyResult<_>>()?;
    BUILDER.set(Some(Builder {
        number,
        device: Arc::clone(device.shared()),
        operands: operands.len(),
        slots: operands.len(),
        events: Vec::new(),
        in_l1: false,
        lowest: None,
        refused: None,
        given: None,
    }));
    Ok(Some(Resolving { number, slots }))
}

/// What became of a program: it was made, or why not.
#[derive(IntoPyObject)]
enum Ended {
    Program(Program),
    Refused(String),
}

/// Ends the program. `results` are slots that it allocates and leaves.
#[pyfunction]
fn end_program(results: Vec<PyRef<'_, Buffer>>) -> Ended {
    let Some(builder) = BUILDER.with_borrow_mut(Option::take) else {
        return Ended::Refused("no program was begun".to_owned());
    };
    let Builder { number, device, operands, slots, events, lowest, refused, .. } = builder;
    if let Some(why) = refused {
        return Ended::Refused(why);
    }
    let of = |buffer: &PyRef<'_, Buffer>| buffer.slot().filter(|slot| slot.builder == number).map(|slot| slot.index);
    let Some(results) = results.iter().map(of).collect::<Option<Vec<_>>>() else {
        return Ended::Refused("a result is a buffer that is no operand".to_owned());
    };
    let freed = |slot: &usize| events.iter().any(|event| matches!(event, Event::Free(index) if index == slot));
    if (operands..slots).any(|slot| results.contains(&slot) == freed(&slot)) {
        return Ended::Refused("a temporary tensor outlives the call, or a result is deallocated".to_owned());
    }
    Ended::Program(Program { device, operands, slots, events, results, lowest })
}

/// Ends the program without making it; returns what refused, if something did.
#[pyfunction]
fn abandon_program() -> Option<String> {
    BUILDER.with_borrow_mut(Option::take).and_then(|builder| builder.refused)
}

/// Refuses to make a program of the call that this thread resolves, if it does.
#[pyfunction]
fn refuse_program(why: &str) -> PyResult<()> {
    refuse(why)
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Unresolved", module.py().get_type::<Unresolved>())?;
    add_functions!(module: begin_program, end_program, abandon_program, refuse_program)
}
