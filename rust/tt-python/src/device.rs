//! Devices: the memory of a chip, and what stops its use.
use std::fs::File;
use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tt_memory::Place;
use tt_memory::buffer::{BufferType, Placement, Plan};
use tt_memory::chip::LogicalCore;
use tt_memory::device::{Device, OpenOptions, Ranks};
use tt_memory::error::MemoryError;

use crate::buffer::{Facts, PyBuffer, chips_at};
use crate::chip::chip_by_dispatch;
use crate::chips::{Chips, MAX_CHIPS};
use crate::error::{EngineError, enter_engine, exception};
use crate::inside::require_host;
use crate::ranks::Links;
use crate::shared::{Part, SharedDevice};
use crate::slots;

/// What is wrong with bytes that the host names by their address.
#[derive(Debug)]
enum RawError {
    /// They are not in the bank.
    Outside(String),
    Memory(MemoryError),
    /// Other processes disagree, or died.
    Raised(PyErr),
}

impl From<PyErr> for RawError {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

impl EngineError for RawError {
    fn into_exception(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Outside(text) => exception(py, "DeviceError", (text,)),
            Self::Memory(error) => error.into_exception(py),
            Self::Raised(error) => error,
        }
    }
}

fn raw_place(device: &Device, dram: bool, bank: usize, address: u64, size: usize) -> Result<Place, RawError> {
    let chip = device.chip();
    let limit = if dram { chip.dram_bank_bytes } else { chip.l1_bytes };
    if address.checked_add(size as u64).is_none_or(|end| end > limit) {
        let what = if dram { "a DRAM bank" } else { "the L1 of a core" };
        return Err(RawError::Outside(format!("{size} B at address {address} are outside {what} of {limit} B")));
    }
    Ok(Place { dram, bank, address })
}

/// What makes a mesh that several processes share.
///
/// This process, the process of each chip, names of files with the memory of the chips, and what connects the processes.
type RanksRow = (usize, Vec<usize>, Option<Vec<String>>, Py<PyAny>);

/// Memory of a mesh, or of a part of it.
#[pyclass(frozen, module = "ttnn._engine", name = "Device")]
#[derive(Debug)]
pub struct PyDevice {
    part: Arc<Part>,
}

#[pymethods]
impl PyDevice {
    #[new]
    #[pyo3(signature = (chip, l1_small_size=0, trace_region_size=0, worker_l1_size=0, dispatch=None, chips=1, ranks=None, own_addresses=false))]
    #[allow(clippy::too_many_arguments, reason = "what makes a device")]
    fn new(
        py: Python<'_>,
        chip: &str,
        l1_small_size: u64,
        trace_region_size: u64,
        worker_l1_size: u64,
        dispatch: Option<&str>,
        chips: usize,
        ranks: Option<RanksRow>,
        own_addresses: bool,
    ) -> PyResult<Self> {
        require_host(py)?;
        let chip = chip_by_dispatch(py, chip, dispatch)?;
        let options = OpenOptions {
            l1_small_bytes: l1_small_size,
            trace_region_bytes: trace_region_size,
            worker_l1_bytes: worker_l1_size,
            own_addresses,
        };
        if chips > MAX_CHIPS {
            let text = format!("a mesh has at most {MAX_CHIPS} chips, got {chips}");
            return Err(exception(py, "DeviceError", (text,)));
        }
        let (ranks, links) = match ranks {
            None => (Ranks { own: vec![true; chips], files: None }, None),
            Some((rank, owners, names, object)) => {
                let own = owners.iter().map(|&owner| owner == rank).collect();
                let open = |name: &String| File::options().read(true).write(true).open(name);
                let files = names.map(|names| names.iter().map(open).collect::<Result<_, _>>()).transpose()?;
                let links = Links::new(object, rank, owners, files.is_none());
                (Ranks { own, files }, Some(links))
            }
        };
        let device = enter_engine(py, || Device::open_over_ranks(chip, options, &ranks))?;
        Ok(Self { part: Part::new(Arc::new(SharedDevice::new(device, links)), Chips::first_of(chips)) })
    }

    /// Returns a device of some chips, with the same allocator and memory.
    fn part(&self, py: Python<'_>, places: Vec<usize>) -> PyResult<Self> {
        Ok(Self { part: Part::new(Arc::clone(self.shared()), chips_at(py, &places, self.part.chips)?) })
    }

    /// The places of its chips.
    #[getter]
    fn places(&self) -> Vec<usize> {
        self.part.chips.places().collect()
    }

    /// Closes a part of a device, whose buffers become invalid; returns whether it was open.
    fn close_part(&self) -> bool {
        let open = self.part.is_open();
        self.part.close();
        open
    }

    /// Gives all memory back; every buffer becomes invalid. Works after an engine bug too.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        require_host(py)?;
        enter_engine(py, || self.part.shared.close())
    }

    #[getter]
    fn is_open(&self) -> bool {
        self.part.is_open()
    }

    #[pyo3(signature = (buffer_type, page_bytes, num_pages, page_columns=1))]
    fn allocate_interleaved(
        &self,
        py: Python<'_>,
        buffer_type: u8,
        page_bytes: u64,
        num_pages: u64,
        page_columns: usize,
    ) -> PyResult<PyBuffer> {
        let kind = region(py, buffer_type)?;
        self.allocate(py, |device| Ok(device.plan_interleaved(kind, page_bytes, num_pages, page_columns)))
    }

    #[allow(clippy::too_many_arguments, reason = "what makes a buffer of shards")]
    #[pyo3(signature = (buffer_type, page_bytes, tensor_pages, shard_pages, cores, placement=0))]
    fn allocate_sharded(
        &self,
        py: Python<'_>,
        buffer_type: u8,
        page_bytes: u64,
        tensor_pages: (u64, u64),
        shard_pages: (u64, u64),
        cores: Vec<(u32, u32)>,
        placement: u8,
    ) -> PyResult<PyBuffer> {
        let kind = region(py, buffer_type)?;
        let cores: Vec<LogicalCore> = cores.into_iter().map(|(x, y)| LogicalCore { x, y }).collect();
        let placement = match placement {
            0 => Placement::Lockstep,
            1 => Placement::LockstepInShards,
            _ => Placement::EachShard,
        };
        self.allocate(py, |device| {
            let plan = device.plan_sharded(kind, page_bytes, tensor_pages, shard_pages, &cores)?;
            Ok(plan.placed(placement))
        })
    }

    #[allow(clippy::too_many_arguments, reason = "what makes a buffer of listed places")]
    fn allocate_listed(
        &self,
        py: Python<'_>,
        buffer_type: u8,
        page_bytes: u64,
        page_columns: usize,
        cores: Vec<(u32, u32)>,
        slots: u64,
        places: Vec<(u32, u32)>,
    ) -> PyResult<PyBuffer> {
        let kind = region(py, buffer_type)?;
        let cores: Vec<LogicalCore> = cores.into_iter().map(|(x, y)| LogicalCore { x, y }).collect();
        self.allocate(py, |device| device.plan_listed(kind, page_bytes, page_columns, &cores, slots, &places))
    }

    /// First L1 address of the room for packet headers of a core.
    fn packet_header_pool(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(tt_program::fabric::header_pool(self.part.shared.look(py)?.l1_base()).start)
    }

    fn memory_view<'py>(&self, py: Python<'py>, buffer_type: u8) -> PyResult<Bound<'py, PyDict>> {
        let kind = region(py, buffer_type)?;
        let view = self.part.shared.inspect(py, |device| device.memory_view(kind))?;
        let dict = PyDict::new(py);
        dict.set_item("num_banks", view.num_banks)?;
        dict.set_item("base_address", view.base)?;
        dict.set_item("total_bytes_per_bank", view.usage.total_bytes)?;
        dict.set_item("total_bytes_allocated_per_bank", view.usage.allocated_bytes)?;
        dict.set_item("total_bytes_free_per_bank", view.usage.free_bytes)?;
        dict.set_item("largest_contiguous_bytes_free_per_bank", view.usage.largest_free_bytes)?;
        let name = |id: Option<usize>| id.map_or_else(|| "-1".to_owned(), |id| id.to_string());
        let blocks = view.blocks.iter().map(|block| {
            let row = PyDict::new(py);
            row.set_item("blockID", block.id.to_string())?;
            row.set_item("address", block.address.to_string())?;
            row.set_item("size", block.bytes.to_string())?;
            row.set_item("prevID", name(block.previous))?;
            row.set_item("nextID", name(block.next))?;
            row.set_item("allocated", if block.allocated { "yes" } else { "no" })?;
            Ok(row)
        });
        dict.set_item("block_table", PyList::new(py, blocks.collect::<PyResult<Vec<_>>>()?)?)?;
        Ok(dict)
    }

    fn block_table<'py>(&self, py: Python<'py>, buffer_type: u8) -> PyResult<Bound<'py, PyAny>> {
        self.memory_view(py, buffer_type)?.as_any().get_item("block_table")
    }

    /// Refuses work from now on: a program failed, and what it left behind is not to be trusted, or work could not be
    /// done now. The first reason stays.
    #[pyo3(signature = (sentence, error="DeviceError"))]
    fn stop(&self, sentence: String, error: &str) {
        self.part.shared.failure().get_or_insert((sentence, error.to_owned()));
    }

    /// Takes a stop back. Memory stays as it is.
    fn reset(&self) {
        *self.part.shared.failure() = None;
    }

    /// Why the device is stopped, if it is.
    #[getter]
    fn failure(&self) -> Option<String> {
        self.part.shared.failure().as_ref().map(|(sentence, _)| sentence.clone())
    }

    /// Bytes of a DRAM bank, or of the L1 of a core, whatever lies there; of its first chip.
    fn read_bytes<'py>(
        &self,
        py: Python<'py>,
        dram: bool,
        bank: usize,
        address: u64,
        size: usize,
    ) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let (first, links) = (self.part.chips.first(), self.part.shared.links.as_ref());
        let bytes = self.part.shared.run(py, |device| {
            device.select(first).map_err(RawError::Memory)?;
            let place = raw_place(device, dram, bank, address, size)?;
            let read = |target: &mut [u8]| {
                target.copy_from_slice(device.bytes(place, target.len()).map_err(RawError::Memory)?);
                Ok::<_, RawError>(())
            };
            let mut bytes = vec![0; size];
            match links {
                None => read(&mut bytes)?,
                Some(links) => links.read("read_bytes", first, address, &mut bytes, read)?,
            }
            Ok::<_, RawError>(bytes)
        })?;
        Ok(PyArray1::from_vec(py, bytes))
    }

    /// Stores bytes in a DRAM bank, or in the L1 of a core, whatever lies there; of its first chip.
    fn write_bytes(
        &self,
        py: Python<'_>,
        dram: bool,
        bank: usize,
        address: u64,
        data: PyReadonlyArray1<'_, u8>,
    ) -> PyResult<()> {
        let data = data.as_slice()?;
        self.part.shared.run(py, |device| {
            device.select(self.part.chips.first()).map_err(RawError::Memory)?;
            let place = raw_place(device, dram, bank, address, data.len())?;
            if !device.owns(device.current()) {
                return Ok(());
            }
            device.bytes_mut(place, data.len()).map_err(RawError::Memory)?.copy_from_slice(data);
            device.mark_range(place, data.len());
            Ok::<_, RawError>(())
        })
    }

    /// The first address that buffers of a kind can have.
    fn base_address(&self, py: Python<'_>, buffer_type: u8) -> PyResult<u64> {
        let kind = region(py, buffer_type)?;
        let view = self.part.shared.look(py)?.memory_view(kind);
        view.map(|view| view.base).map_err(|error| error.into_exception(py))
    }

    fn lowest_l1_address(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        if slots::is_active() {
            let lowest = self.part.shared.look(py)?.lowest_l1_address().map_err(|error| error.into_exception(py))?;
            slots::look_at_l1(lowest)?;
            return Ok(lowest);
        }
        self.part.shared.inspect(py, |device| device.lowest_l1_address())
    }

    /// Whether no buffer lies below an address in L1; a program that is being made requires it.
    fn has_l1_room(&self, py: Python<'_>, end: u64) -> PyResult<bool> {
        if slots::require_room(end) {
            return Ok(true);
        }
        let lowest = self.part.shared.inspect(py, |device| device.lowest_l1_address())?;
        Ok(lowest.is_none_or(|lowest| lowest >= end))
    }

    /// Keeps buffers out of so many bytes at the begin of each L1; `false` if one is there.
    fn set_l1_floor(&self, py: Python<'_>, bytes: u64) -> PyResult<bool> {
        self.part.shared.run(py, |device| device.set_l1_floor(bytes))
    }

    /// Bytes in use in all banks together.
    fn allocated_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.part.shared.inspect(py, |device| Ok::<_, MemoryError>(device.allocated_bytes()))
    }

    /// Whether operators warn of pages that nobody has written, and kernels refuse to read them.
    fn set_watched(&self, py: Python<'_>, watched: bool) -> PyResult<()> {
        self.part.shared.run(py, |device| {
            device.set_watched(watched);
            Ok::<_, MemoryError>(())
        })
    }

    /// Makes the k-th allocation from now on fail; None takes the order back.
    #[pyo3(signature = (k))]
    fn fail_allocation(&self, py: Python<'_>, k: Option<u64>) -> PyResult<()> {
        self.part.shared.run(py, |device| {
            device.fail_allocation(k);
            Ok::<_, MemoryError>(())
        })
    }

    fn state_hash(&self, py: Python<'_>) -> PyResult<u64> {
        self.part.shared.inspect(py, Device::state_hash)
    }

    /// A number that no other device of the process has had.
    #[getter]
    fn number(&self, py: Python<'_>) -> PyResult<u64> {
        self.part.shared.inspect(py, |device| Ok::<_, MemoryError>(device.device_id()))
    }

    /// All living buffers as dicts, in the order of region and address.
    fn buffers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let facts = self
            .part
            .shared
            .inspect(py, |device| Ok::<_, MemoryError>(device.buffers().map(Facts::of).collect::<Vec<_>>()))?;
        let dicts = facts.iter().map(|facts| facts.to_dict(py)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, dicts)
    }
}

impl PyDevice {
    /// Returns the state that it shares with its buffers.
    pub fn shared(&self) -> &Arc<SharedDevice> {
        &self.part.shared
    }

    /// Its chips, with their state.
    pub fn chips(&self) -> &Arc<Part> {
        &self.part
    }

    fn allocate(
        &self,
        py: Python<'_>,
        plan: impl FnOnce(&Device) -> Result<Plan, MemoryError> + Send,
    ) -> PyResult<PyBuffer> {
        if slots::is_active() {
            let device = self.part.shared.look(py)?;
            let planned = plan(&device).and_then(|plan| device.sizes(&plan).map(|sizes| (plan, sizes)));
            let (plan, sizes) = planned.map_err(|error| error.into_exception(py))?;
            if let Some(slot) = slots::allocate(plan.clone()) {
                return Ok(PyBuffer::planned(Arc::clone(&self.part), &plan, sizes, slot));
            }
            return Err(slots::refused("a tensor is allocated"));
        }
        let facts = self.part.shared.launch(py, |device| {
            let id = device.allocate(plan(device)?)?;
            Ok::<_, MemoryError>(Facts::of(device.buffer(id)?))
        })?;
        Ok(PyBuffer::new(Arc::clone(&self.part), facts, self.part.chips))
    }
}

fn region(py: Python<'_>, code: u8) -> PyResult<BufferType> {
    BufferType::from_code(code)
        .ok_or_else(|| exception(py, "MemoryConfigError", (format!("{code} is not the number of a buffer type"),)))
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyDevice>()
}
