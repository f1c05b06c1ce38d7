//! The run of a program, as the kernel API calls it.
//!
//! These methods are the hot path of Python kernels: positional integers only, no lock of the interpreter given up, and the
//! device's lock taken only by those that touch its memory. `False` (or `None`) means "would block": the caller switches to
//! another kernel and repeats the call later.
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tt_formats::DataFormat;
use tt_memory::Device;
use tt_memory::chip::LogicalCore;
use tt_program::cb::Interface;
use tt_program::compute::{Math, VectorCall};
use tt_program::kernel::{Event, Stall, State, Wait};
use tt_program::noc::{Barrier, Page};
use tt_program::spec::{CbSpec, ComputeConfig, KernelSpec, ProgramSpec, Risc, SemaphoreSpec};
use tt_program::{Class, Fault, Run, What};
use tt_tensix::fpu::{Broadcast, EltwiseOp, MathFidelity, PoolOp, ReduceDim};
use tt_tensix::pack::DstFormat;

use crate::device::{PyDevice, SharedDevice};
use crate::error::{EngineError, engine_bug, exception, panic_text};

impl EngineError for Fault {
    fn into_exception(self, py: Python<'_>) -> PyErr {
        let class = match self.what.class() {
            Class::Address => "AddressError",
            Class::CircularBuffer => "CircularBufferError",
            Class::Register => "RegisterError",
            Class::Setup => "KernelSetupError",
            Class::Race => "RaceError",
            Class::Argument => "KernelArgumentError",
            Class::Unsupported => return exception(py, "UnsupportedError", (self.to_string(), "unimplemented")),
            Class::Bug => return engine_bug(py, &self.to_string()),
        };
        let core = format!("{}-{}", self.core.x, self.core.y);
        let text = self.to_string();
        exception(py, class, (text, core, self.risc.name(), "", 0, self.what.cb()))
    }
}

/// A function of the vector unit with its parameters.
#[pyclass(frozen, module = "ttnn._engine", name = "VectorCall")]
struct PyVectorCall {
    call: VectorCall,
}

#[pymethods]
impl PyVectorCall {
    /// `names`: of the tile function and its init; `function`: name and variant of the listings; `tiles`: operands; `makes`: the
    /// format code of what `Dst` holds afterwards, or -1 if it stays.
    #[new]
    fn new(
        py: Python<'_>,
        names: (String, String),
        function: (String, String),
        tiles: u32,
        parameters: Vec<u32>,
        makes: i32,
    ) -> PyResult<Self> {
        let makes = match makes {
            0 => Some(DstFormat::Fp32),
            5 => Some(DstFormat::Bf16),
            8 => Some(DstFormat::Int32),
            9 => Some(DstFormat::UInt16),
            _ => None,
        };
        let call = VectorCall::new((&names.0, &names.1), (&function.0, &function.1), tiles, &parameters, makes);
        Ok(Self { call: call.map_err(|text| exception(py, "KernelArgumentError", (text,)))? })
    }
}

/// A program that is being executed.
#[pyclass(module = "ttnn._engine")]
struct ProgramRun {
    run: Run,
    device: Arc<SharedDevice>,
}

/// A CB: core, index, address, page bytes, pages, format code, tile height and width, borrowed memory.
type CbRow = ((u32, u32), u8, u32, u32, u32, u8, (u32, u32), bool);
/// A kernel: core, RISC (0, 1, 2), name, NoC, for compute kernels fidelity phases, wide Dst, full sync, precise packing, CBs
/// that are unpacked to Dst, and runtime arguments.
type KernelRow = ((u32, u32), u8, String, u8, Option<(u32, bool, bool, bool, u64)>, Vec<u32>);

/// A kernel that waits: number, kind (0 front, 1 back, 2 word, 3 word or more, 4 any change), CB or address, wanted, present,
/// capacity.
type WaitRow = (usize, u32, u32, u32, u32, u32);

/// Kernel, thread (3: a transfer), name, start, end, bytes.
type EventRow = (usize, u8, &'static str, u64, u64, u32);

impl ProgramRun {
    /// A call that touches no memory.
    fn local<T>(&mut self, py: Python<'_>, call: impl FnOnce(&mut Run) -> Result<T, Fault>) -> PyResult<T> {
        finish(py, catch_unwind(AssertUnwindSafe(|| call(&mut self.run))))
    }

    /// A call that does.
    fn memory<T>(
        &mut self,
        py: Python<'_>,
        call: impl FnOnce(&mut Run, &mut Device) -> Result<T, Fault>,
    ) -> PyResult<T> {
        let mut device = self.device.lock().map_err(|error| error.into_exception(py))?;
        finish(py, catch_unwind(AssertUnwindSafe(|| call(&mut self.run, &mut device))))
    }
}

fn finish<T>(py: Python<'_>, result: std::thread::Result<Result<T, Fault>>) -> PyResult<T> {
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(fault)) => Err(fault.into_exception(py)),
        Err(panic) => Err(engine_bug(py, &format!("the engine panicked: {}", panic_text(&*panic)))),
    }
}

fn core((x, y): (u32, u32)) -> LogicalCore {
    LogicalCore { x, y }
}

fn bug(py: Python<'_>, what: &What) -> PyErr {
    engine_bug(py, &what.to_string())
}

fn eltwise(op: u32) -> EltwiseOp {
    [EltwiseOp::Add, EltwiseOp::Sub, EltwiseOp::Mul][op.min(2) as usize]
}

fn broadcast(kind: u32) -> Broadcast {
    [Broadcast::None, Broadcast::Column, Broadcast::Row, Broadcast::Scalar][kind.min(3) as usize]
}

fn pool(kind: u32) -> PoolOp {
    if kind == 1 { PoolOp::Max } else { PoolOp::Sum }
}

fn dim(kind: u32) -> ReduceDim {
    [ReduceDim::Row, ReduceDim::Column, ReduceDim::Scalar][kind.min(2) as usize]
}

#[pymethods]
impl ProgramRun {
    #[new]
    #[pyo3(signature = (device, cbs, semaphores, kernels, trace=false))]
    fn new(
        py: Python<'_>,
        device: &PyDevice,
        cbs: Vec<CbRow>,
        semaphores: Vec<((u32, u32), u8, u32)>,
        kernels: Vec<KernelRow>,
        trace: bool,
    ) -> PyResult<Self> {
        let mut spec = ProgramSpec { trace, ..ProgramSpec::default() };
        for (place, index, address, page_bytes, pages, format, tile, borrowed) in cbs {
            let format =
                DataFormat::from_code(format).ok_or_else(|| engine_bug(py, &format!("no format has code {format}")))?;
            spec.cbs.push(CbSpec { core: core(place), index, address, page_bytes, pages, format, tile, borrowed });
        }
        for (place, id, initial) in semaphores {
            spec.semaphores.push(SemaphoreSpec { core: core(place), id, initial });
        }
        for (place, risc, name, noc, compute, args) in kernels {
            let risc = [Risc::Brisc, Risc::Ncrisc, Risc::Trisc][risc.min(2) as usize];
            let config = |(phases, dst32, full_sync, precise, unpack_to_dest)| {
                let fidelity = MathFidelity::from_phases(phases)
                    .ok_or_else(|| engine_bug(py, &format!("no fidelity has {phases} phases")))?;
                Ok::<_, PyErr>(ComputeConfig { fidelity, dst32, full_sync, precise, unpack_to_dest })
            };
            let compute = compute.map(config).transpose()?;
            spec.kernels.push(KernelSpec { core: core(place), risc, name, noc, args, compute });
        }
        device.shared().require_running(py)?;
        let device = Arc::clone(device.shared());
        let run = {
            let mut locked = device.lock().map_err(|error| error.into_exception(py))?;
            Run::new(&mut locked, &spec).map_err(|what| bug(py, &what))?
        };
        Ok(Self { run, device })
    }

    // The scheduler.

    /// Chooses the kernel that runs next; -1 if none can.
    fn schedule(&mut self) -> i64 {
        self.run.schedule().map_or(-1, |kernel| kernel as i64)
    }

    fn is_finished(&self) -> bool {
        self.run.is_finished()
    }

    fn finish_kernel(&mut self, py: Python<'_>) -> PyResult<()> {
        self.local(py, Run::finish_kernel)
    }

    /// Kernels that wait.
    fn waits(&mut self, py: Python<'_>) -> PyResult<Vec<WaitRow>> {
        let device = self.device.lock().map_err(|error| error.into_exception(py))?;
        let mut rows = Vec::new();
        for (index, kernel) in self.run.kernels.iter().enumerate() {
            let State::Waiting(wait) = kernel.state else { continue };
            let home = &self.run.cores[kernel.core];
            let buffer = |cb: u32| home.all_cbs().find(|buffer| buffer.index == cb);
            let word = |address: u32| {
                let place = tt_memory::Place { dram: false, bank: home.bank, address: address.into() };
                let bytes = device.bytes(place, 4).unwrap_or(&[0; 4]);
                u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
            };
            rows.push(match wait {
                Wait::Front { cb, pages } => {
                    let (present, capacity) = buffer(cb).map_or((0, 0), |cb| (cb.available(), cb.pages));
                    (index, 0, cb, pages, present, capacity)
                }
                Wait::Back { cb, pages } => {
                    let (present, capacity) = buffer(cb).map_or((0, 0), |cb| (cb.free(), cb.pages));
                    (index, 1, cb, pages, present, capacity)
                }
                Wait::Word { address, value, at_least } => {
                    (index, 2 + u32::from(at_least), address, value, word(address), 0)
                }
                Wait::Change { address, value } => (index, 4, address, value, word(address), 0),
            });
        }
        Ok(rows)
    }

    /// For a CB of a kernel's core: the kernels that produce and consume it, -1 if none does yet.
    fn cb_partners(&self, kernel: usize, cb: u32) -> (i64, i64) {
        let home = &self.run.cores[self.run.kernels[kernel].core];
        let number = |kernel: Option<usize>| kernel.map_or(-1, |kernel| kernel as i64);
        home.all_cbs()
            .find(|buffer| buffer.index == cb)
            .map_or((-1, -1), |buffer| (number(buffer.producer), number(buffer.consumer)))
    }

    /// Clocks, stalls (thread, kind, CB or address, cycles) and calls of every kernel, bytes per network and DRAM bank.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let report = PyDict::new(py);
        let mut kernels = Vec::new();
        for kernel in &self.run.kernels {
            let stalls: Vec<(u8, u32, u32, u64)> = kernel
                .stalls
                .iter()
                .map(|(&(thread, why), &cycles)| {
                    let (kind, what) = match why {
                        Stall::Front(cb) => (0, cb),
                        Stall::Back(cb) => (1, cb),
                        Stall::Semaphore(address) => (2, address),
                        Stall::ReadBarrier => (3, 0),
                        Stall::WriteBarrier => (4, 0),
                        Stall::Issue => (5, 0),
                        Stall::Dst => (6, 0),
                    };
                    (thread, kind, what, cycles)
                })
                .collect();
            kernels.push((kernel.clocks, stalls, kernel.calls));
        }
        report.set_item("cycles", self.run.cycles())?;
        report.set_item("kernels", kernels)?;
        report.set_item("noc_bytes", self.run.time.noc_bytes())?;
        report.set_item("bank_bytes", self.run.time.bank_bytes())?;
        Ok(report)
    }

    /// What was recorded, in the order of calls: kernel, thread (3: a transfer), name, start, end, bytes.
    fn events(&self) -> Vec<EventRow> {
        let row = |event: &Event| (event.kernel, event.thread, event.name, event.start, event.end, event.bytes);
        self.run.events.iter().flatten().map(row).collect()
    }

    /// The running kernel's clock.
    fn clock(&self) -> u64 {
        self.run.kernels[self.run.current].clock()
    }

    // Circular buffers.

    fn cb_wait_front(&mut self, py: Python<'_>, cb: u32, pages: u32) -> PyResult<bool> {
        self.local(py, |run| run.cb_wait_front(cb, pages))
    }

    fn cb_reserve_back(&mut self, py: Python<'_>, cb: u32, pages: u32) -> PyResult<bool> {
        self.local(py, |run| run.cb_reserve_back(cb, pages))
    }

    fn cb_push_back(&mut self, py: Python<'_>, cb: u32, pages: u32) -> PyResult<()> {
        self.local(py, |run| run.cb_push_back(cb, pages))
    }

    fn cb_pop_front(&mut self, py: Python<'_>, cb: u32, pages: u32) -> PyResult<()> {
        self.local(py, |run| run.cb_pop_front(cb, pages))
    }

    fn cb_pages_available_at_front(&mut self, py: Python<'_>, cb: u32, pages: u32) -> PyResult<Option<bool>> {
        self.local(py, |run| run.cb_pages_available_at_front(cb, pages))
    }

    fn cb_pages_reservable_at_back(&mut self, py: Python<'_>, cb: u32, pages: u32) -> PyResult<Option<bool>> {
        self.local(py, |run| run.cb_pages_reservable_at_back(cb, pages))
    }

    fn get_write_ptr(&mut self, py: Python<'_>, cb: u32) -> PyResult<u32> {
        self.local(py, |run| run.get_write_ptr(cb))
    }

    fn get_read_ptr(&mut self, py: Python<'_>, cb: u32) -> PyResult<u32> {
        self.local(py, |run| run.get_read_ptr(cb))
    }

    fn cb_interface(&mut self, py: Python<'_>, cb: u32) -> PyResult<Interface> {
        self.local(py, |run| run.cb_interface(cb))
    }

    fn read_tile_value(&mut self, py: Python<'_>, cb: u32, tile: u32, word: u32) -> PyResult<u32> {
        self.memory(py, |run, device| run.read_tile_value(device, cb, tile, word))
    }

    // Transfers.

    #[pyo3(signature = (source, target, size, noc=-1))]
    fn noc_async_read(&mut self, py: Python<'_>, source: u64, target: u32, size: u32, noc: i32) -> PyResult<bool> {
        self.memory(py, |run, device| run.noc_async_read(device, source, target, size, noc))
    }

    #[pyo3(signature = (source, target, size, noc=-1))]
    fn noc_async_write(&mut self, py: Python<'_>, source: u32, target: u64, size: u32, noc: i32) -> PyResult<bool> {
        self.memory(py, |run, device| run.noc_async_write(device, source, target, size, noc))
    }

    #[allow(clippy::too_many_arguments, reason = "a page of a buffer and a place")]
    fn noc_async_read_page(
        &mut self,
        py: Python<'_>,
        dram: bool,
        base: u64,
        bytes: u32,
        page: u64,
        offset: u32,
        target: u32,
        size: u32,
        noc: i32,
    ) -> PyResult<bool> {
        let page = Page { dram, base, page, bytes, offset };
        self.memory(py, |run, device| run.noc_async_read_page(device, page, target, size, noc))
    }

    #[allow(clippy::too_many_arguments, reason = "a page of a buffer and a place")]
    fn noc_async_write_page(
        &mut self,
        py: Python<'_>,
        dram: bool,
        base: u64,
        bytes: u32,
        page: u64,
        offset: u32,
        source: u32,
        size: u32,
        noc: i32,
    ) -> PyResult<bool> {
        let page = Page { dram, base, page, bytes, offset };
        self.memory(py, |run, device| run.noc_async_write_page(device, source, page, size, noc))
    }

    fn page_address(
        &mut self,
        py: Python<'_>,
        dram: bool,
        base: u64,
        bytes: u32,
        page: u64,
        offset: u32,
    ) -> PyResult<u64> {
        let page = Page { dram, base, page, bytes, offset };
        self.memory(py, |run, device| run.page_address(device, page))
    }

    #[allow(clippy::too_many_arguments, reason = "the arguments of the kernel API")]
    fn noc_async_write_multicast(
        &mut self,
        py: Python<'_>,
        source: u32,
        target: u64,
        size: u32,
        destinations: u32,
        loopback: bool,
        linked: bool,
        noc: i32,
    ) -> PyResult<bool> {
        self.memory(py, |run, device| {
            run.noc_async_write_multicast(device, source, target, size, destinations, (loopback, linked), noc)
        })
    }

    #[pyo3(signature = (target, value, noc=-1))]
    fn noc_inline_dw_write(&mut self, py: Python<'_>, target: u64, value: u32, noc: i32) -> PyResult<bool> {
        self.memory(py, |run, device| run.noc_inline_dw_write(device, target, value, noc))
    }

    #[pyo3(signature = (target, value, noc=-1))]
    fn noc_semaphore_inc(&mut self, py: Python<'_>, target: u64, value: u32, noc: i32) -> PyResult<bool> {
        self.memory(py, |run, device| run.noc_semaphore_inc(device, target, value, noc))
    }

    /// Waits for reads (0), writes to leave (1), to be acknowledged (2), atomics (3) or everything (4); `trid` -1: of all ids.
    #[pyo3(signature = (kind, noc=-1, trid=-1))]
    fn noc_barrier(&mut self, py: Python<'_>, kind: u32, noc: i32, trid: i32) -> PyResult<()> {
        let barriers = [Barrier::Reads, Barrier::WritesFlushed, Barrier::Writes, Barrier::Atomics, Barrier::Full];
        let trid = u8::try_from(trid).ok();
        self.local(py, |run| run.noc_barrier(barriers[kind.min(4) as usize], noc, trid))
    }

    fn set_trid(&mut self, py: Python<'_>, writes: bool, trid: u32, noc: i32) -> PyResult<()> {
        self.local(py, |run| run.set_trid(writes, trid, noc))
    }

    // Words of own L1.

    fn get_semaphore(&mut self, py: Python<'_>, id: u32) -> PyResult<u32> {
        self.local(py, |run| run.get_semaphore(id))
    }

    fn noc_semaphore_wait(&mut self, py: Python<'_>, address: u32, value: u32, at_least: bool) -> PyResult<bool> {
        self.memory(py, |run, device| run.noc_semaphore_wait(device, address, value, at_least))
    }

    fn store_word(&mut self, py: Python<'_>, address: u32, value: u32) -> PyResult<()> {
        self.memory(py, |run, device| run.store_word(device, address, value))
    }

    fn load_word(&mut self, py: Python<'_>, address: u32) -> PyResult<Option<u32>> {
        self.memory(py, |run, device| run.load_word(device, address))
    }

    fn load_bytes<'py>(&mut self, py: Python<'py>, address: u32, size: u32) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let bytes = self.memory(py, |run, device| run.load_bytes(device, address, size).map(<[u8]>::to_vec))?;
        Ok(PyArray1::from_vec(py, bytes))
    }

    fn store_bytes(&mut self, py: Python<'_>, address: u32, data: PyReadonlyArray1<'_, u8>) -> PyResult<()> {
        let data = data.as_slice()?;
        self.memory(py, |run, device| run.store_bytes(device, address, data))
    }

    fn argument_address(&self, index: u32) -> u32 {
        self.run.argument_address(index)
    }

    // Setup of the compute engine.

    fn hw_startup(&mut self, py: Python<'_>, a: u32, b: u32, out: u32) -> PyResult<()> {
        self.local(py, |run| run.hw_startup(a, b, out))
    }

    /// A block of (0, 0, 0) is that of single tiles.
    fn matmul_init(
        &mut self,
        py: Python<'_>,
        in0: u32,
        in1: u32,
        transpose: bool,
        block: (u32, u32, u32),
    ) -> PyResult<()> {
        let block = (block != (0, 0, 0)).then_some(block);
        self.local(py, |run| run.init_math(Math::Matmul { transpose, block }, &[in0, in1]))
    }

    fn eltwise_init(
        &mut self,
        py: Python<'_>,
        op: u32,
        kind: u32,
        accumulate: bool,
        in0: u32,
        in1: u32,
    ) -> PyResult<()> {
        let math = Math::Eltwise { op: eltwise(op), broadcast: broadcast(kind), accumulate };
        self.local(py, |run| run.init_math(math, &[in0, in1]))
    }

    fn reuse_init(&mut self, py: Python<'_>, op: u32, to_a: bool, cb: u32) -> PyResult<()> {
        self.local(py, |run| run.init_math(Math::Reuse { op: eltwise(op), to_a }, &[cb]))
    }

    fn copy_init(&mut self, py: Python<'_>, cb: u32, transpose: bool) -> PyResult<()> {
        self.local(py, |run| run.init_math(Math::Copy { transpose }, &[cb]))
    }

    fn unary_bcast_init(&mut self, py: Python<'_>, kind: u32, cb: u32) -> PyResult<()> {
        self.local(py, |run| run.init_math(Math::Spread(broadcast(kind)), &[cb]))
    }

    fn reduce_init(&mut self, py: Python<'_>, kind: u32, along: u32, cb: u32, scaler: u32) -> PyResult<()> {
        self.local(py, |run| run.init_math(Math::Reduce { pool: pool(kind), dim: dim(along) }, &[cb, scaler]))
    }

    fn reduce_uninit(&mut self, py: Python<'_>) -> PyResult<()> {
        self.local(py, Run::reduce_uninit)
    }

    fn tilize_init(&mut self, py: Python<'_>, cb: u32, block: u32) -> PyResult<()> {
        self.local(py, |run| run.init_math(Math::Tilize { block }, &[cb]))
    }

    fn untilize_init(&mut self, py: Python<'_>, cb: u32) -> PyResult<()> {
        self.local(py, |run| run.init_math(Math::Untilize, &[cb]))
    }

    /// `full` 0: the packer packs tiles again.
    fn pack_untilize_mode(&mut self, py: Python<'_>, columns: u32, full: u32) -> PyResult<()> {
        self.local(py, |run| run.pack_untilize_mode((full > 0).then_some((columns, full))))
    }

    fn transpose_dst_init(&mut self, py: Python<'_>) -> PyResult<()> {
        self.local(py, |run| run.init_math(Math::TransposeDst, &[]))
    }

    fn vector_init(&mut self, py: Python<'_>, call: &PyVectorCall) -> PyResult<()> {
        self.local(py, |run| run.vector_init(&call.call.init))
    }

    #[pyo3(signature = (a, b, old_a=-1, old_b=-1))]
    fn reconfig_data_format(&mut self, py: Python<'_>, a: i64, b: i64, old_a: i64, old_b: i64) -> PyResult<()> {
        self.local(py, |run| run.reconfig_data_format(a, b, old_a, old_b))
    }

    #[pyo3(signature = (cb, old=-1))]
    fn pack_reconfig_data_format(&mut self, py: Python<'_>, cb: u32, old: i64) -> PyResult<()> {
        self.local(py, |run| run.pack_reconfig_data_format(cb, old))
    }

    fn pack_reconfig_l1_acc(&mut self, py: Python<'_>, accumulate: bool) -> PyResult<()> {
        self.local(py, |run| run.pack_reconfig_l1_acc(accumulate))
    }

    fn pack_relu_config(&mut self, py: Python<'_>, mode: u32, threshold: u16) -> PyResult<()> {
        self.local(py, |run| run.pack_relu_config(mode, threshold))
    }

    // Registers.

    fn tile_regs_acquire(&mut self, py: Python<'_>) -> PyResult<()> {
        self.local(py, Run::tile_regs_acquire)
    }

    fn tile_regs_commit(&mut self, py: Python<'_>) -> PyResult<()> {
        self.local(py, Run::tile_regs_commit)
    }

    fn tile_regs_wait(&mut self, py: Python<'_>) -> PyResult<()> {
        self.local(py, Run::tile_regs_wait)
    }

    fn tile_regs_release(&mut self, py: Python<'_>) -> PyResult<()> {
        self.local(py, Run::tile_regs_release)
    }

    fn acquire_dst(&mut self, py: Python<'_>) -> PyResult<()> {
        self.local(py, Run::acquire_dst)
    }

    fn release_dst(&mut self, py: Python<'_>) -> PyResult<()> {
        self.local(py, Run::release_dst)
    }

    // Tile work.

    fn matmul_tiles(&mut self, py: Python<'_>, in0: u32, in1: u32, tile0: u32, tile1: u32, dst: u32) -> PyResult<()> {
        self.memory(py, |run, device| run.matmul_tiles(device, (in0, in1), (tile0, tile1), dst))
    }

    #[allow(clippy::too_many_arguments, reason = "the arguments of the kernel API")]
    fn matmul_block(
        &mut self,
        py: Python<'_>,
        in0: u32,
        in1: u32,
        tile0: u32,
        tile1: u32,
        dst: u32,
        transpose: bool,
        ct: u32,
        rt: u32,
        kt: u32,
    ) -> PyResult<()> {
        self.memory(py, |run, device| {
            run.matmul_block(device, (in0, in1), (tile0, tile1), dst, transpose, (ct, rt, kt))
        })
    }

    #[allow(clippy::too_many_arguments, reason = "the arguments of the kernel API")]
    fn eltwise_tiles(
        &mut self,
        py: Python<'_>,
        op: u32,
        kind: u32,
        in0: u32,
        in1: u32,
        tile0: u32,
        tile1: u32,
        dst: u32,
    ) -> PyResult<()> {
        let step = (eltwise(op), broadcast(kind));
        self.memory(py, |run, device| run.eltwise_tiles(device, step, (in0, in1), (tile0, tile1), dst))
    }

    fn eltwise_reuse_dst(&mut self, py: Python<'_>, op: u32, to_a: bool, cb: u32, tile: u32, dst: u32) -> PyResult<()> {
        self.memory(py, |run, device| run.eltwise_reuse_dst(device, eltwise(op), to_a, (cb, tile), dst))
    }

    fn copy_tile(&mut self, py: Python<'_>, cb: u32, tile: u32, dst: u32) -> PyResult<()> {
        self.memory(py, |run, device| run.copy_tile(device, cb, tile, dst))
    }

    fn transpose_tile(&mut self, py: Python<'_>, cb: u32, tile: u32, dst: u32) -> PyResult<()> {
        self.memory(py, |run, device| run.transpose_tile(device, cb, tile, dst))
    }

    fn unary_bcast(&mut self, py: Python<'_>, kind: u32, cb: u32, tile: u32, dst: u32) -> PyResult<()> {
        self.memory(py, |run, device| run.unary_bcast(device, broadcast(kind), cb, tile, dst))
    }

    #[allow(clippy::too_many_arguments, reason = "the arguments of the kernel API")]
    fn reduce_tile(
        &mut self,
        py: Python<'_>,
        kind: u32,
        along: u32,
        cb: u32,
        scaler: u32,
        tile: u32,
        scaler_tile: u32,
        dst: u32,
    ) -> PyResult<()> {
        let step = (pool(kind), dim(along));
        self.memory(py, |run, device| run.reduce_tile(device, step, (cb, scaler), (tile, scaler_tile), dst))
    }

    fn transpose_dst(&mut self, py: Python<'_>, dst: u32) -> PyResult<()> {
        self.local(py, |run| run.transpose_dst(dst))
    }

    #[allow(clippy::too_many_arguments, reason = "three operands, a result and a mode")]
    fn vector(
        &mut self,
        py: Python<'_>,
        call: &PyVectorCall,
        a: u32,
        b: u32,
        c: u32,
        out: u32,
        mode: u32,
    ) -> PyResult<()> {
        self.local(py, |run| run.vector(&call.call, [a, b, c], out, mode))
    }

    fn tilize_block(
        &mut self,
        py: Python<'_>,
        input: u32,
        block: u32,
        output: u32,
        first_in: u32,
        first_out: u32,
    ) -> PyResult<()> {
        self.memory(py, |run, device| run.tilize_block(device, input, block, output, (first_in, first_out)))
    }

    fn untilize_block(&mut self, py: Python<'_>, input: u32, columns: u32, output: u32) -> PyResult<()> {
        self.memory(py, |run, device| run.untilize_block(device, input, columns, output))
    }

    fn pack_untilize_block(&mut self, py: Python<'_>, input: u32, output: u32, rows: u32, place: u32) -> PyResult<()> {
        self.memory(py, |run, device| run.pack_untilize_block(device, (input, output), rows, place))
    }

    fn pack_untilize_dest(&mut self, py: Python<'_>, output: u32, rows: u32, place: u32) -> PyResult<()> {
        self.memory(py, |run, device| run.pack_untilize_dest(device, output, rows, place))
    }

    /// `place` -1: after the tiles packed since the last push.
    fn pack_tile(&mut self, py: Python<'_>, dst: u32, cb: u32, place: i64) -> PyResult<()> {
        let place = u32::try_from(place).ok();
        self.memory(py, |run, device| run.pack_tile(device, dst, cb, place))
    }
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyVectorCall>()?;
    module.add_class::<ProgramRun>()
}
