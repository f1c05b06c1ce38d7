//! The run of a program, as the kernel API calls it.
//!
//! These methods are the hot path of Python kernels: positional integers only, no lock of the interpreter given up, and
//! the device's lock taken only by those that touch its memory. `False` (or `None`) means "would block": the caller
//! switches to another kernel and repeats the call later.
mod compute;
mod data;
mod fabric;
mod native;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tt_formats::DataFormat;
use tt_fpu::MathFidelity;
use tt_memory::Device;
use tt_memory::chip::LogicalCore;
use tt_program::native::Kernels;
use tt_program::spec::{CbSpec, ComputeConfig, KernelSpec, ProgramSpec, Risc, SemaphoreSpec};
use tt_program::state::Leftover;
use tt_program::state::kernel::{Event, Stall, Wait};
use tt_program::{Class, Fault, FaultKind, Run, SourcePlace};

use self::native::NativeRow;
use crate::device::PyDevice;
use crate::error::{EngineError, engine_bug, exception, panic_text};
use crate::inside::require_host;
use crate::shared::SharedDevice;

impl EngineError for Fault {
    fn into_exception(self, py: Python<'_>) -> PyErr {
        let class = match self.what.class() {
            Class::Address => "AddressError",
            Class::CircularBuffer => "CircularBufferError",
            Class::Register => "RegisterError",
            Class::Setup => "KernelSetupError",
            Class::Race => "RaceError",
            Class::Argument => "KernelArgumentError",
            Class::Endless => "KernelError",
            Class::Assertion => "KernelAssertError",
            Class::Unsupported => {
                let error = exception(py, "UnsupportedError", (self.to_string(), "unimplemented"));
                return with_place(py, error, self.place);
            }
            Class::Bug => return engine_bug(py, &self.to_string()),
        };
        let core = format!("{}-{}", self.core.x, self.core.y);
        let text = self.to_string();
        let SourcePlace { file, line, .. } = self.place.unwrap_or_default();
        exception(py, class, (text, core, self.risc.name(), "", line, self.what.cb(), file))
    }
}

/// Adds file and line to an exception whose class has no fields for them.
fn with_place(py: Python<'_>, error: PyErr, place: Option<SourcePlace>) -> PyErr {
    let Some(SourcePlace { file, line, .. }) = place else { return error };
    let value = error.value(py);
    match value.setattr("file", file).and_then(|()| value.setattr("line", line)) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// A program that is being executed.
#[pyclass(module = "ttnn._engine")]
struct ProgramRun {
    run: Run,
    natives: Kernels,
    device: Arc<SharedDevice>,
    /// The place of the chip in its mesh.
    chip: usize,
}

/// A CB: core, index, address, page bytes, pages, format code, tile height and width, borrowed memory.
type CbRow = ((u32, u32), u8, u32, u32, u32, u8, (u32, u32), bool);
/// A kernel: core, RISC (0, 1, 2), name, NoC, for compute kernels fidelity phases, wide Dst, full sync, precise
/// packing, CBs that are unpacked to Dst, and runtime arguments.
type KernelRow = ((u32, u32), u8, String, u8, Option<(u32, bool, bool, bool, bool, u64)>, Vec<u32>);

/// A kernel that waits: number, kind (0 front, 1 back, 2 word, 3 word or more, 4 any change, 5 a part of `Dst`, 6 a
/// commit, 7 a connection, 8 packets), CB, address or connection, wanted, present, capacity; file and line of a thread that waits elsewhere than its kernel.
type WaitRow = (usize, u32, u32, u32, u32, u32, String, u32);

/// Core, CB, pages, and the kernels that pushed and popped, -1 if none did.
type LeftoverRow = ((u32, u32), u32, u32, i64, i64);

/// Kernel, thread (3: a transfer), name, start, end, bytes.
type EventRow = (usize, u8, String, u64, u64, u32);

impl ProgramRun {
    /// A call that touches no memory.
    fn local<T>(&mut self, py: Python<'_>, call: impl FnOnce(&mut Run) -> Result<T, Fault>) -> PyResult<T> {
        if self.run.must_catch_up() {
            self.catch_up(py)?;
        }
        let result = finish(py, catch_unwind(AssertUnwindSafe(|| call(&mut self.run))));
        if self.run.must_catch_up() && result.is_ok() {
            self.catch_up(py)?;
        }
        result
    }

    /// Makes calls of compute kernels that were put off.
    #[cold]
    fn catch_up(&mut self, py: Python<'_>) -> PyResult<()> {
        let mut failed = None;
        self.run.place_calls(|| calling_place(py).map_err(|error| failed = Some(error)).ok());
        if let Some(error) = failed {
            return Err(error);
        }
        let mut device = self.device.lock_on(py, self.chip)?;
        finish(py, catch_unwind(AssertUnwindSafe(|| self.run.catch_up(&mut device))))
    }

    /// A call that does.
    fn memory<T>(
        &mut self,
        py: Python<'_>,
        call: impl FnOnce((&mut Run, &mut Device)) -> Result<T, Fault>,
    ) -> PyResult<T> {
        if self.run.must_catch_up() {
            self.catch_up(py)?;
        }
        let result = {
            let mut device = self.device.lock_on(py, self.chip)?;
            finish(py, catch_unwind(AssertUnwindSafe(|| call((&mut self.run, &mut device)))))
        };
        if self.run.must_catch_up() && result.is_ok() {
            self.catch_up(py)?;
        }
        result
    }
}

/// The line of a Python kernel that makes the call.
fn calling_place(py: Python<'_>) -> PyResult<SourcePlace> {
    let (file, line) = py.import("ttnn.metal.mistakes")?.call_method0("calling_line")?.extract()?;
    Ok(SourcePlace { file, line, called: String::new() })
}

/// An argument of a call. One of another kind is a mistake of the kernel, with the error class of such mistakes.
struct Checked<T>(T);

impl<'py, T: FromPyObjectOwned<'py>> FromPyObject<'_, 'py> for Checked<T> {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        given.extract::<T>().map(Self).map_err(|error| {
            let error: PyErr = error.into();
            let shown = given.repr().map_or_else(|_| String::new(), |text| text.to_string());
            let text = format!("argument {shown}: {}", error.value(given.py()));
            exception(given.py(), "KernelArgumentError", (text,))
        })
    }
}

/// What a call returns.
type Answer<T = ()> = PyResult<T>;

/// Methods of [`ProgramRun`] that are calls of the engine: `name(arguments) -> result = call of the engine`.
macro_rules! calls {
    ($($way:ident $bound:tt { $(
        $(#[$attribute:meta])*
        $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $call:expr;
    )* })*) => {
        #[pymethods]
        impl ProgramRun {
            $($(
                $(#[$attribute])*
                #[allow(clippy::too_many_arguments, reason = "the arguments of the kernel API")]
                fn $name(&mut self, py: Python<'_>, $($argument: Checked<$type>),*) -> Answer<$($result)?> {
                    $(let Checked($argument) = $argument;)*
                    self.$way(py, |$bound| $call)
                }
            )*)*
        }
    };
}
use calls;

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

fn bug(py: Python<'_>, what: &FaultKind) -> PyErr {
    engine_bug(py, &what.to_string())
}

#[pymethods]
impl ProgramRun {
    #[new]
    #[pyo3(signature = (device, cbs, semaphores, kernels, trace=false, natives=Vec::new()))]
    fn new(
        py: Python<'_>,
        device: &PyDevice,
        cbs: Vec<CbRow>,
        semaphores: Vec<((u32, u32), u8, u32)>,
        kernels: Vec<KernelRow>,
        trace: bool,
        natives: Vec<NativeRow>,
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
            let config = |(phases, dst32, full_sync, precise, approximate, unpack_to_dest)| {
                let fidelity = MathFidelity::from_phases(phases)
                    .ok_or_else(|| engine_bug(py, &format!("no fidelity has {phases} phases")))?;
                Ok::<_, PyErr>(ComputeConfig { fidelity, dst32, full_sync, precise, approximate, unpack_to_dest })
            };
            let compute = compute.map(config).transpose()?;
            spec.kernels.push(KernelSpec { core: core(place), risc, name, noc, args, compute });
        }
        require_host(py)?;
        device.shared().require_running(py)?;
        let (chip, device) = (device.chips().chips.first(), Arc::clone(device.shared()));
        let mut run = {
            let mut locked = device.lock_on(py, chip)?;
            Run::new(&mut locked, &spec).map_err(|what| bug(py, &what))?
        };
        let natives = native::set_up(py, &mut run, natives)?;
        Ok(Self { run, natives, device, chip })
    }

    // The scheduler.

    /// Chooses the kernel that runs next; -1 if none can.
    fn schedule(&mut self) -> i64 {
        self.run.schedule().map_or(-1, |kernel| kernel as i64)
    }

    #[getter]
    fn is_watched(&self) -> bool {
        self.run.watched
    }

    /// Whether the running kernel has `math_approx_mode`.
    #[getter]
    fn is_approximate(&self) -> bool {
        let compute = self.run.kernels[self.run.current].compute.as_deref();
        compute.is_some_and(|compute| compute.config().approximate)
    }

    fn is_finished(&self) -> bool {
        self.run.is_finished()
    }

    /// `false`: threads of the kernel have not ended.
    fn finish_kernel(&mut self, py: Python<'_>) -> PyResult<bool> {
        self.local(py, Run::finish_kernel)
    }

    /// Nobody can go on: lets compute kernels go on with the threads that do not wait. Returns whether one can.
    fn run_ahead(&mut self) -> bool {
        self.run.run_ahead()
    }

    /// Whether calls of a compute kernel are put off.
    fn is_ahead(&self) -> bool {
        self.run.must_catch_up()
    }

    /// Kernels that wait, and their threads.
    fn waits(&mut self, py: Python<'_>) -> PyResult<Vec<WaitRow>> {
        let device = self.device.lock_on(py, self.chip)?;
        let mut rows = Vec::new();
        for (index, wait, place) in self.run.all_waits() {
            let kernel = &self.run.kernels[index];
            let home = &self.run.cores[kernel.core];
            let buffer = |cb: u32| home.all_cbs().find(|buffer| buffer.index == cb);
            let word = |address: u32| {
                let place = tt_memory::Place { dram: false, bank: home.bank, address: address.into() };
                let bytes = device.bytes(place, 4).unwrap_or(&[0; 4]);
                u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
            };
            let (index, kind, what, wanted, present, capacity) = match wait {
                Wait::Front { cb, pages } => {
                    let (present, capacity) = buffer(cb).map_or((0, 0), |cb| (cb.available_to(index), cb.pages));
                    (index, 0, cb, pages, present, capacity)
                }
                Wait::Back { cb, pages } => {
                    let (present, capacity) = buffer(cb).map_or((0, 0), |cb| (cb.free_to(index), cb.pages));
                    (index, 1, cb, pages, present, capacity)
                }
                Wait::Word { address, value, at_least } => {
                    (index, 2 + u32::from(at_least), address, value, word(address), 0)
                }
                Wait::Change { address, value } => (index, 4, address, value, word(address), 0),
                Wait::Half => (index, 5, 0, 0, 0, 0),
                Wait::Connection { connection } => (index, 7, connection, 0, 0, 0),
                Wait::Fabric => (index, 8, 0, 0, 0, 0),
                Wait::Commit | Wait::Threads { .. } => (index, 6, 0, 0, 0, 0),
            };
            let SourcePlace { file, line, .. } = place.unwrap_or_default();
            rows.push((index, kind, what, wanted, present, capacity, file, line));
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

    /// The kernel that changed a word of the L1 of a kernel's core last, -1 if none did.
    fn word_writer(&self, kernel: usize, address: u32) -> i64 {
        let bank = self.run.cores[self.run.kernels[kernel].core].bank;
        self.run.word_writer(bank, address).map_or(-1, |kernel| kernel as i64)
    }

    /// Changes of the word at this address on other cores that nobody there has looked at: the core, and the kernel that
    /// made them.
    fn unseen_changes(&self, kernel: usize, address: u32) -> Vec<((u32, u32), usize)> {
        let bank = self.run.cores[self.run.kernels[kernel].core].bank;
        let core = |bank| self.run.core_at(bank).map_or((0, 0), |core| (core.x, core.y));
        self.run.unseen_changes(bank, address).into_iter().map(|(bank, writer)| (core(bank), writer)).collect()
    }

    /// The semaphore whose value let a kernel pass a second time although nobody had changed it; -1 if none did.
    fn unchanged_semaphore(&self, kernel: usize) -> i64 {
        self.run.kernels[kernel].unchanged.map_or(-1, i64::from)
    }

    /// Pages left in CBs.
    fn leftovers(&self) -> Vec<LeftoverRow> {
        let number = |kernel: Option<usize>| kernel.map_or(-1, |kernel| kernel as i64);
        let row = |left: &Leftover| {
            ((left.core.x, left.core.y), left.cb, left.pages, number(left.producer), number(left.consumer))
        };
        self.run.leftovers().iter().map(row).collect()
    }

    /// Clocks, stalls (thread, kind, CB or address, cycles) and calls of every kernel, bytes per network and DRAM bank.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let report = PyDict::new(py);
        let mut kernels = Vec::new();
        for kernel in &self.run.kernels {
            let mut stalls: Vec<(u8, u32, u32, u64)> = kernel
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
            let starved = kernel.compute.as_ref().map_or([0; 2], |compute| compute.starved());
            for (thread, cycles) in (0..).zip(starved).filter(|&(_, cycles)| cycles > 0) {
                stalls.push((thread, 7 + u32::from(thread), 0, cycles));
            }
            kernels.push((kernel.clocks, stalls, kernel.calls));
        }
        report.set_item("cycles", self.run.cycles())?;
        report.set_item("kernels", kernels)?;
        report.set_item("between_programs", self.run.time.launch().between_programs)?;
        report.set_item("noc_bytes", self.run.time.noc_bytes())?;
        report.set_item("bank_bytes", self.run.time.bank_bytes())?;
        Ok(report)
    }

    /// What was recorded, in the order of calls: kernel, thread (3: a transfer), name, start, end, bytes.
    fn events(&self) -> Vec<EventRow> {
        let row =
            |event: &Event| (event.kernel, event.thread, event.name.to_string(), event.start, event.end, event.bytes);
        self.run.events.iter().flatten().map(row).collect()
    }

    /// The running kernel's clock.
    fn clock(&self) -> u64 {
        self.run.kernels[self.run.current].clock()
    }
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(native::kernel_calls, module)?)?;
    module.add_function(wrap_pyfunction!(compute::sfpu_setups, module)?)?;
    module.add_class::<compute::PyVectorCall>()?;
    module.add_class::<fabric::Mail>()?;
    module.add_class::<ProgramRun>()
}
