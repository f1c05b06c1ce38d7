//! The program that a thread makes.
//!
//! Slots in place of buffers, and the events on them.
//!
//! A slot is a buffer without memory. While a thread resolves a call, functions of the engine note their steps instead of
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

pyo3::create_exception!(
    ttnn._engine,
    Unresolved,
    PyBaseException,
    "A call cannot become a program: it depends on more than specifications and options."
);

/// A step of a program, on the buffers of its slots.
pub type Run = dyn Fn(&mut Device, &[BufferId]) -> Result<(), OpError> + Send + Sync;

/// An event of a program, in order.
pub enum Event {
    /// Allocates a slot.
    Allocate(usize, Plan),
    /// Frees one.
    Free(usize),
    /// Writes rows of so many bytes into one.
    Write(usize, Box<[u8]>, usize),
    /// Requires that no buffer lies below an address in L1.
    Room(u64),
    /// Runs a function of the engine.
    Run {
        /// Its name.
        function: &'static str,
        /// The function.
        run: Arc<Run>,
        /// The slots of its buffers.
        slots: Vec<usize>,
        /// Its keyword arguments.
        settings: Option<Py<PyDict>>,
        /// Of a step of all chips together: how many of its first buffers are read on other chips.
        crossing: Option<usize>,
    },
}

/// The lowest address in use in L1; `None` if nothing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lowest(pub Option<u64>);

/// A slot: the program that is being made, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The number of the program.
    pub program: u64,
    /// The number of the slot; operands come first.
    pub index: usize,
}

/// A program that is being made.
pub struct Builder {
    number: u64,
    /// Number of slots that are operands.
    pub operands: usize,
    /// Number of slots.
    pub slots: usize,
    /// Its events so far.
    pub events: Vec<Event>,
    /// Whether an L1 buffer was allocated: the room that is left is not known from then on.
    in_l1: bool,
    /// The lowest used L1 address, where the operator asked.
    pub lowest: Option<Lowest>,
    /// Reason of a refusal.
    pub refused: Option<String>,
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

/// Refuses to make a program; the call runs as it is.
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
        Some(Slot { program: builder.number, index })
    })
}

/// Notes that a slot is free.
///
/// # Errors
/// It is an operand: its memory is not the program's to free.
pub fn free(slot: Slot) -> PyResult<()> {
    if dropped(slot) { Ok(()) } else { Err(refused("an operand is deallocated")) }
}

/// Notes that Python has dropped a slot.
///
/// Returns false if it is an operand, which stays.
pub fn dropped(slot: Slot) -> bool {
    BUILDER.with_borrow_mut(|builder| match builder {
        Some(builder) if builder.number == slot.program => {
            let own = slot.index >= builder.operands;
            if own {
                builder.events.push(Event::Free(slot.index));
            }
            own
        }
        _ => true,
    })
}

/// Notes that the host writes pages.
///
/// # Errors
/// The slot is that of another program.
pub fn write(slot: Slot, data: &[u8], row_bytes: usize) -> PyResult<()> {
    if number() != Some(slot.program) {
        return Err(refused("a tensor of another program is used"));
    }
    push(Event::Write(slot.index, data.into(), row_bytes));
    Ok(())
}

/// Notes a step.
///
/// # Errors
/// A buffer is no slot of this program.
pub fn step(function: &'static str, buffers: &[Option<Slot>], run: Arc<Run>, crossing: Option<usize>) -> PyResult<()> {
    let noted = BUILDER.with_borrow_mut(|builder| {
        let builder = builder.as_mut()?;
        let settings = builder.given.take();
        let of = |slot: &Option<Slot>| slot.filter(|slot| slot.program == builder.number).map(|slot| slot.index);
        let slots = buffers.iter().map(of).collect::<Option<Vec<_>>>()?;
        builder.events.push(Event::Run { function, run, slots, settings, crossing });
        Some(())
    });
    noted.ok_or_else(|| refused("a buffer that is no operand is used"))
}

/// Notes that the operator reads the lowest used L1 address.
///
/// # Errors
/// It has allocated in L1 before, so that the address will be another one.
pub fn look_at_l1(lowest: Option<u64>) -> PyResult<()> {
    let known = BUILDER.with_borrow_mut(|builder| match builder {
        Some(builder) if builder.in_l1 => false,
        Some(builder) => {
            builder.lowest = Some(Lowest(lowest));
            true
        }
        None => true,
    });
    if known { Ok(()) } else { Err(refused("the room in L1 depends on a temporary tensor")) }
}

/// Notes that no buffer may lie below an address in L1.
///
/// Returns whether this thread resolves.
pub fn require_room(end: u64) -> bool {
    push(Event::Room(end));
    is_active()
}

/// Adds an event.
pub fn push(event: Event) {
    BUILDER.with_borrow_mut(|builder| {
        if let Some(builder) = builder {
            builder.events.push(event);
        }
    });
}

/// Begins a program with so many operands; returns their slots.
///
/// This thread must not resolve yet.
pub fn begin(operands: usize) -> (u64, impl Iterator<Item = Slot>) {
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    BUILDER.set(Some(Builder {
        number,
        operands,
        slots: operands,
        events: Vec::new(),
        in_l1: false,
        lowest: None,
        refused: None,
        given: None,
    }));
    (number, (0..operands).map(move |index| Slot { program: number, index }))
}

/// The number of the program that this thread makes.
pub fn number() -> Option<u64> {
    BUILDER.with_borrow(|builder| builder.as_ref().map(|builder| builder.number))
}

/// The number of events so far of a numbered program.
///
/// It is 0 if this thread does not make the program.
pub fn events_of(number: u64) -> usize {
    BUILDER.with_borrow(|builder| match builder {
        Some(builder) if builder.number == number => builder.events.len(),
        _ => 0,
    })
}

/// Ends the program of a number, if this thread makes it.
pub fn end(number: u64) -> Option<Builder> {
    BUILDER.with_borrow_mut(|builder| builder.take_if(|builder| builder.number == number))
}
