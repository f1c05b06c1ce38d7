//! Buffers: pages on a device that a Python object holds.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tt_formats::Arch;
use tt_memory::buffer::{Buffer, BufferId, BufferType, Placement, Plan, Sizes};
use tt_memory::error::MemoryError;

use crate::chips::Chips;
use crate::error::{engine_bug, exception};
use crate::ranks::{StepError, facts};
use crate::shared::{Part, SharedDevice};
use crate::slots::{self, Slot};

/// The constant properties of a buffer.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    id: BufferId,
    buffer_type: BufferType,
    address: u64,
    page_bytes: usize,
    aligned_page_bytes: usize,
    num_pages: usize,
    page_columns: usize,
    size: u64,
    bytes_per_bank: u64,
    placement: Placement,
}

impl Facts {
    /// Those of this buffer.
    pub fn of(buffer: &Buffer) -> Self {
        Self {
            id: buffer.id(),
            buffer_type: buffer.buffer_type(),
            address: buffer.address(),
            page_bytes: buffer.page_bytes(),
            aligned_page_bytes: buffer.aligned_page_bytes(),
            num_pages: buffer.num_pages(),
            page_columns: buffer.page_columns(),
            size: buffer.bytes(),
            bytes_per_bank: buffer.bytes_per_bank(),
            placement: buffer.placement(),
        }
    }

    /// Those of a slot, which has no address.
    fn planned(plan: &Plan, sizes: Sizes) -> Self {
        Self {
            id: BufferId::unallocated(),
            buffer_type: plan.buffer_type(),
            address: 0,
            page_bytes: plan.page_bytes(),
            aligned_page_bytes: sizes.aligned_page as usize,
            num_pages: plan.num_pages(),
            page_columns: plan.page_columns(),
            size: plan.page_bytes() as u64 * plan.num_pages() as u64,
            bytes_per_bank: sizes.bytes_per_bank,
            placement: plan.placement(),
        }
    }

    /// Returns them as Python objects.
    ///
    /// # Errors
    /// Python has no memory left.
    pub fn to_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("unique_id", self.id.unique_id())?;
        dict.set_item("buffer_type", self.buffer_type as u8)?;
        dict.set_item("address", self.address)?;
        dict.set_item("page_bytes", self.page_bytes)?;
        dict.set_item("aligned_page_bytes", self.aligned_page_bytes)?;
        dict.set_item("num_pages", self.num_pages)?;
        dict.set_item("page_columns", self.page_columns)?;
        dict.set_item("size", self.size)?;
        dict.set_item("bytes_per_bank", self.bytes_per_bank)?;
        Ok(dict)
    }
}

/// Pages on a device, freed with the object; or a slot.
///
/// The slot is one of a program that is being made.
#[pyclass(frozen, module = "ttnn._engine", name = "Buffer")]
#[derive(Debug)]
pub struct PyBuffer {
    part: Arc<Part>,
    facts: Facts,
    /// The chips that have its contents.
    chips: Chips,
    freed: AtomicBool,
    /// The buffer whose memory this is a part of; it goes with that one.
    memory: Option<Py<PyBuffer>>,
    slot: Option<Slot>,
}

impl PyBuffer {
    /// A buffer that has just been allocated.
    pub fn new(part: Arc<Part>, facts: Facts, chips: Chips) -> Self {
        Self { part, facts, chips, freed: AtomicBool::new(false), memory: None, slot: None }
    }

    /// A slot for what a plan describes.
    pub fn planned(part: Arc<Part>, plan: &Plan, sizes: Sizes, slot: Slot) -> Self {
        let (facts, chips) = (Facts::planned(plan, sizes), part.chips);
        Self { part, facts, chips, freed: AtomicBool::new(false), memory: None, slot: Some(slot) }
    }

    /// The slot that stands for this buffer as an operand.
    pub fn as_slot(&self, slot: Slot) -> Self {
        let facts = Facts { id: BufferId::unallocated(), address: 0, ..self.facts };
        Self {
            part: Arc::clone(&self.part),
            facts,
            chips: self.chips,
            freed: AtomicBool::new(self.is_freed()),
            memory: None,
            slot: Some(slot),
        }
    }

    /// Returns the slot, if it is one.
    pub fn slot(&self) -> Option<Slot> {
        self.slot
    }

    /// The device it lies on.
    ///
    /// Two buffers share a device if their `Arc`s are the same.
    pub fn device(&self) -> &Arc<SharedDevice> {
        &self.part.shared
    }

    /// The chips that it was allocated on, with their state.
    pub fn part(&self) -> &Arc<Part> {
        &self.part
    }

    /// The chips that have its contents.
    pub fn chips(&self) -> Chips {
        self.chips
    }

    /// Generation of the chip.
    pub fn arch(&self) -> Arch {
        self.part.shared.arch()
    }

    /// Notes that its memory was freed.
    pub fn set_freed(&self) {
        self.whole().freed.store(true, Ordering::Release);
    }

    /// Returns true if its memory was freed.
    fn is_freed(&self) -> bool {
        self.whole().freed.load(Ordering::Acquire)
    }

    /// The buffer that has its memory: itself, unless it is the memory of another one on some chips.
    fn whole(&self) -> &Self {
        self.memory.as_ref().map_or(self, |memory| memory.get())
    }

    /// Its name there.
    pub fn id(&self) -> BufferId {
        self.facts.id
    }
}

/// Facts that Python sees as they are.
macro_rules! getters {
    ($($name:ident: $type:ty = |$facts:ident| $value:expr;)*) => {
        #[pymethods]
        impl PyBuffer {
            $(
                #[getter]
                fn $name(&self) -> $type {
                    let $facts = &self.facts;
                    $value
                }
            )*
        }
    };
}

getters! {
    page_bytes: usize = |facts| facts.page_bytes;
    aligned_page_bytes: usize = |facts| facts.aligned_page_bytes;
    num_pages: usize = |facts| facts.num_pages;
    page_columns: usize = |facts| facts.page_columns;
    buffer_type: u8 = |facts| facts.buffer_type as u8;
    size: u64 = |facts| facts.size;
    bytes_per_bank: u64 = |facts| facts.bytes_per_bank;
    unique_id: u64 = |facts| facts.id.unique_id();
    has_own_addresses: bool = |facts| facts.placement == Placement::EachShard;
}

#[pymethods]
impl PyBuffer {
    #[getter]
    fn address(&self) -> PyResult<u64> {
        if self.slot.is_some() { Err(slots::refused("an address is read")) } else { Ok(self.facts.address) }
    }

    /// The address on a core; None if the buffer has none there.
    fn address_on(&self, py: Python<'_>, x: usize, y: usize) -> PyResult<Option<u64>> {
        if self.slot.is_some() {
            return Err(slots::refused("an address is read"));
        }
        self.part.shared.inspect(py, |device| {
            let grid = device.chip().grid;
            let bank = (x < grid.x as usize && y < grid.y as usize).then(|| y * grid.x as usize + x);
            let buffer = device.buffer(self.facts.id)?;
            Ok::<_, MemoryError>(bank.and_then(|bank| buffer.address_in(bank)))
        })
    }

    /// The number of the slot, None for a buffer with memory.
    #[getter(slot)]
    fn slot_number(&self) -> Option<usize> {
        self.slot.map(|slot| slot.index)
    }

    #[getter]
    pub fn is_allocated(&self) -> bool {
        !self.is_freed() && self.part.is_open()
    }

    fn deallocate(&self, py: Python<'_>) -> PyResult<()> {
        if let Some(slot) = self.slot {
            slots::free(slot)?;
            self.set_freed();
            return Ok(());
        }
        self.part.shared.inspect(py, |device| device.deallocate(self.facts.id))?;
        self.set_freed();
        Ok(())
    }

    /// The places of the chips that have its contents.
    #[getter]
    fn places(&self) -> Vec<usize> {
        self.chips.places().collect()
    }

    /// Whether all chips of its mesh have its contents.
    #[getter]
    fn is_on_all_chips(&self) -> bool {
        self.chips == self.part.chips
    }

    /// Returns the same memory on some of its chips.
    fn on(slf: &Bound<'_, Self>, places: Vec<usize>) -> PyResult<Self> {
        let buffer = slf.get();
        let chips = chips_at(slf.py(), &places, buffer.chips)?;
        let memory = buffer.memory.as_ref().map_or_else(|| slf.clone().unbind(), |memory| memory.clone_ref(slf.py()));
        let (part, freed) = (Arc::clone(&buffer.part), AtomicBool::new(false));
        Ok(Self { part, facts: buffer.facts, chips, freed, memory: Some(memory), slot: buffer.slot })
    }

    /// Writes rows of the tensor to the chip at a place; to all of its chips by default.
    #[allow(clippy::needless_pass_by_value, reason = "Python arguments are passed so")]
    #[pyo3(signature = (data, row_bytes, place=None))]
    fn write(
        &self,
        py: Python<'_>,
        data: PyReadonlyArray1<'_, u8>,
        row_bytes: usize,
        place: Option<usize>,
    ) -> PyResult<()> {
        let data = data.as_slice()?;
        if let Some(slot) = self.slot {
            if place.is_some() || self.memory.is_some() {
                return Err(slots::refused("pages of some chips are written"));
            }
            return slots::write(slot, data, row_bytes);
        }
        let chips = self.chips_or(py, place)?;
        self.part.shared.run(py, |device| chips.each(device, |device| device.write(self.facts.id, data, row_bytes)))
    }

    /// Rows of the tensor on the chip at a place; on its first chip by default. Pages that were never written are an
    /// error only if `require_written` says so.
    #[pyo3(signature = (row_bytes, rows, require_written=false, place=None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        row_bytes: usize,
        rows: usize,
        require_written: bool,
        place: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<u8>>> {
        if self.slot.is_some() {
            return Err(slots::refused("elements are read"));
        }
        // More than the buffer holds is refused before the host is asked for memory.
        let bytes = row_bytes.saturating_mul(rows);
        if bytes as u64 > self.facts.size {
            return Err(engine_bug(py, &format!("read of {bytes} B from a buffer of {} B", self.facts.size)));
        }
        let chip = self.chips_or(py, place)?.first();
        let numpy = py.import("numpy")?;
        let array = numpy.call_method1("empty", (bytes, numpy.getattr("uint8")?))?.cast_into::<PyArray1<u8>>()?;
        {
            let mut target = array.readwrite();
            let target = target.as_slice_mut()?;
            let links = self.part.shared.links.as_ref();
            self.part.shared.run(py, |device| {
                device.select(chip)?;
                let number = facts(device, &[self.facts.id])?;
                let mut read = |target: &mut [u8]| match device.read(self.facts.id, target, row_bytes) {
                    Err(MemoryError::NeverWritten { .. }) if !require_written => Ok(()),
                    other => Ok::<_, StepError>(other?),
                };
                match links {
                    None => read(target),
                    Some(links) => links.read("a tensor is read", chip, number, target, read),
                }
            })?;
        }
        Ok(array)
    }

    fn __repr__(&self) -> String {
        let Facts { buffer_type, address, num_pages, page_bytes, .. } = self.facts;
        format!("Buffer({} 0x{address:x}, {num_pages} pages of {page_bytes} B)", buffer_type.name())
    }
}

impl PyBuffer {
    /// The chip at a place, if one is given, otherwise all of its chips.
    fn chips_or(&self, py: Python<'_>, place: Option<usize>) -> PyResult<Chips> {
        place.map_or(Ok(self.chips), |place| chips_at(py, &[place], self.chips))
    }
}

/// The chips at places.
///
/// # Errors
/// `DeviceError`: no place, or one without a chip of the set.
pub fn chips_at(py: Python<'_>, places: &[usize], of: Chips) -> PyResult<Chips> {
    Chips::at(places).filter(|chips| chips.are_in(of)).ok_or_else(|| {
        let there: Vec<_> = of.places().collect();
        exception(py, "DeviceError", (format!("no chips at places {places:?}; there are chips at {there:?}"),))
    })
}

impl Drop for PyBuffer {
    fn drop(&mut self) {
        if self.memory.is_some() || *self.freed.get_mut() {
            return;
        }
        match self.slot {
            Some(slot) => drop(slots::dropped(slot)),
            None if self.part.shared.is_open() => self.part.shared.forget(self.facts.id),
            None => {}
        }
    }
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyBuffer>()
}
