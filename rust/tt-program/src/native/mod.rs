//! Compiled kernels: images on a [`Hart`], with Python kernels' calls.
//!
//! [`Kernels`] holds what [`Run`] does not know: the core and the image of each compiled kernel. A kernel runs until it
//! has to wait, has ended, or has made a mistake. A call that cannot be completed leaves the program counter on its
//! `ecall`, which is executed again when the kernel's turn has come.

mod access;
mod calls;
mod functions;
mod lanes;
mod mirror;
mod open;
mod print;
mod registers;
mod table;
mod words;

use std::sync::Arc;

use tt_cpu::pool::stop;
use tt_memory::Device;
use tt_riscv::{Exit, Hart, Image};

use self::functions::Functions;
use self::mirror::Mirror;
use self::open::Open;
use self::print::Printer;
use self::table::{Call, Effect};
use self::words::Reply;
use crate::calls::compute::threads::MATH;
use crate::calls::memory::Use;
use crate::error::{Fault, FaultKind, SourcePlace};
use crate::name::Name;
use crate::state::{Run, ZEROS};

/// So many loads of one unchanged word in a row, and nothing else that others could see, are a loop that waits for it.
const POLLS: u32 = 8;
/// Instructions after which a kernel that makes no calls lets others go on that are behind it.
const SLICE: u64 = 1 << 14;
/// Up to so many cycles between two vector operations only move their operands.
const MOVES: u64 = 32;

/// The call with a number.
fn call_of(number: u32) -> Option<&'static Call> {
    let mut left = number as usize;
    for table in TABLES {
        match table.get(left) {
            Some(call) => return Some(call),
            None => left -= table.len(),
        }
    }
    None
}

/// Names of the calls, by number.
pub fn names() -> Vec<&'static str> {
    TABLES.iter().copied().flatten().map(|call| call.name).collect()
}

/// Tables of calls, one after the other.
const TABLES: &[&[Call]] = &[calls::CALLS, lanes::LANES];

/// Registers of the calling convention: return address, number of the call, first argument and results.
const RA: u8 = 1;
const NUMBER: u8 = 5;
const A0: u8 = 10;
const A1: u8 = 11;

/// A compiled kernel.
#[derive(Debug, Clone)]
pub struct NativeSpec {
    /// Its number in the run.
    pub kernel: usize,
    /// Its image; cores that run the same kernel share one.
    pub image: Arc<Image>,
    /// The number of the core's own runtime arguments.
    ///
    /// Those of all cores follow.
    pub own_args: u32,
    /// Instructions after which it counts as one that never ends.
    pub limit: u64,
    /// The folder of the kernel API headers.
    ///
    /// Lines there are not lines of the kernel.
    pub headers: String,
    /// The core's position, counted from the kernel's first core.
    pub relative: (u32, u32),
}

/// A compiled kernel that is being executed.
#[derive(Debug)]
struct Native {
    spec: NativeSpec,
    /// How many runtime arguments there are in all.
    args: u32,
    hart: Hart,
    /// Instructions at the end of the slice.
    slice_end: u64,
    /// The core's clock at the end of a vector operation, if that was the last call.
    lanes_at: Option<u64>,
    /// The core's clock when it was last booked.
    booked: u64,
    open: Open,
    mirror: Mirror,
    functions: Functions,
    printer: Printer,
    /// It stopped because it polls the word at this address.
    polled: Option<u32>,
}

/// The compiled kernels of a run.
#[derive(Debug, Default)]
pub struct Kernels {
    kernels: Vec<Option<Box<Native>>>,
}

/// The next kernel when no compiled one can or may continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// This kernel, which is not compiled.
    Kernel(usize),
    /// Nobody can go on.
    Nobody,
    /// Whoever started the run does not want it any more.
    Stopped,
}

/// How a kernel's turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// It waits, or has ended.
    Over,
    /// The run is not wanted any more.
    Stopped,
}

impl Kernels {
    /// Sets up the compiled kernels of a run.
    ///
    /// # Errors
    /// Kernels that do not exist, images whose variables lie elsewhere than they can.
    pub fn new(run: &mut Run, specs: Vec<NativeSpec>) -> Result<Self, FaultKind> {
        let mut kernels: Vec<Option<Box<Native>>> = run.kernels.iter().map(|_| None).collect();
        for spec in specs {
            let kernel = spec.kernel;
            let slot = kernels.get_mut(kernel).ok_or_else(|| FaultKind::Bug(format!("no kernel {kernel}")))?;
            run.kernels[kernel].compiled = true;
            *slot = Some(Box::new(Native::new(run, spec)?));
        }
        Ok(Self { kernels })
    }

    /// Returns true if a kernel is compiled.
    pub fn is_native(&self, kernel: usize) -> bool {
        self.kernels.get(kernel).is_some_and(Option::is_some)
    }

    /// Continues the scheduled compiled kernel, then following compiled ones.
    ///
    /// The one that [`Run::schedule`] chose, until one follows that is not compiled.
    ///
    /// # Errors
    /// What a kernel does wrong.
    pub fn go_on(&mut self, run: &mut Run, device: &mut Device) -> Result<Next, Fault> {
        let mut next = Some(run.current);
        while let Some(kernel) = next {
            let Some(Some(native)) = self.kernels.get_mut(kernel) else { return Ok(Next::Kernel(kernel)) };
            match native.turn(run, device) {
                Ok(Turn::Over) => next = run.schedule(),
                Ok(Turn::Stopped) => return Ok(Next::Stopped),
                Err(fault) => {
                    let place = fault.place.clone().or_else(|| native.place());
                    let called = place.as_ref().filter(|place| !place.called.is_empty());
                    let call = called.map_or(fault.call, |place| Name::Given(place.called.as_str().into()));
                    return Err(Fault { call, place, ..fault });
                }
            }
        }
        Ok(Next::Nobody)
    }

    /// The line at which a compiled kernel stands.
    pub fn place(&self, kernel: usize) -> Option<SourcePlace> {
        self.kernels.get(kernel)?.as_ref()?.place()
    }

    /// A compiled kernel's largest stack in bytes, and executed instructions.
    pub fn usage(&self, kernel: usize) -> Option<(u32, u64)> {
        let native = self.kernels.get(kernel)?.as_ref()?;
        Some((native.hart.stack_peak(), native.hart.executed()))
    }

    /// Printed kernel lines with kernel numbers, by end clock.
    pub fn take_prints(&mut self) -> Vec<(usize, String)> {
        let lines = self.kernels.iter_mut().flatten().flat_map(|native| {
            let kernel = native.spec.kernel;
            native.printer.take_lines().into_iter().map(move |line| (kernel, line))
        });
        let mut lines: Vec<_> = lines.collect();
        lines.sort_by_key(|(_, (clock, _))| *clock);
        lines.into_iter().map(|(kernel, (_, line))| (kernel, line)).collect()
    }
}

impl Native {
    fn new(run: &Run, spec: NativeSpec) -> Result<Self, FaultKind> {
        let mut hart = Hart::new(&spec.image, run.time.core());
        let kernel = &run.kernels[spec.kernel];
        let core = &run.cores[kernel.core];
        let (x, y) = (core.noc.x as u8, core.noc.y as u8);
        for (name, bytes) in [
            ("my_x", &[x, x][..]),
            ("my_y", &[y, y]),
            ("my_logical_x_", &[kernel.logical.x as u8]),
            ("my_logical_y_", &[kernel.logical.y as u8]),
            ("my_relative_x_", &[spec.relative.0 as u8]),
            ("my_relative_y_", &[spec.relative.1 as u8]),
        ] {
            let Some(address) = spec.image.symbol(name) else { continue };
            let place = hart.local_mut(address, bytes.len() as u32);
            place.ok_or_else(|| FaultKind::Bug(format!("{name} is outside of local RAM")))?.copy_from_slice(bytes);
        }
        let mirror = Mirror::new(run, spec.kernel, &spec.image, &mut hart)?;
        let open = Open::new(run.chip.l1_bytes as u32, [run.argument_words(), ZEROS]);
        let (functions, printer) = (Functions::default(), Printer::default());
        let args = kernel.args;
        Ok(Self {
            spec,
            args,
            hart,
            slice_end: 0,
            booked: 0,
            lanes_at: None,
            open,
            mirror,
            functions,
            printer,
            polled: None,
        })
    }

    /// Runs until the kernel has to wait or has ended.
    fn turn(&mut self, run: &mut Run, device: &mut Device) -> Result<Turn, Fault> {
        if let Some(address) = self.polled.take() {
            run.resume_poll(address);
        }
        while !stop::is_asked() {
            self.keep_time(run);
            let failed = |run: &Run, what| Err(run.fault("kernel_main", what));
            let goes_on = match self.run_slice(run, device)? {
                Exit::Budget if self.hart.executed() >= self.spec.limit => {
                    return failed(run, FaultKind::NeverEnds { instructions: self.spec.limit });
                }
                // A loop may wait for others in a way that is not recognised.
                Exit::Budget => !run.give_way(),
                Exit::Call => self.call(run, device)?,
                Exit::Load { address, bytes, repeats } => self.load(run, device, address, bytes, repeats)?,
                Exit::Store { address, bytes, value } => {
                    self.store(run, device, address, bytes, value).map(|()| true)?
                }
                Exit::Trap(trap) => return failed(run, FaultKind::Core(trap)),
            };
            if !goes_on {
                self.open.close();
                return Ok(Turn::Over);
            }
        }
        Ok(Turn::Stopped)
    }

    /// Runs some instructions, and books their time and what they wrote.
    fn run_slice(&mut self, run: &mut Run, device: &mut Device) -> Result<Exit, Fault> {
        let l1 = device.bytes_mut(run.own_place(0), run.chip.l1_bytes as usize);
        let Self { hart, open, spec, slice_end, .. } = self;
        let mut memory = open.memory(l1.map_err(|error| run.fault("kernel_main", error.into()))?);
        // Loads that stop the core do not begin another slice.
        if hart.executed() >= *slice_end {
            *slice_end = hart.executed() + SLICE;
        }
        let budget = spec.limit.min(*slice_end).saturating_sub(hart.executed());
        let exit = hart.run(&spec.image.code, &mut memory, budget);
        self.keep_time(run);
        run.settle(device, &mut self.open).map_err(|what| run.fault("an L1 store", what))?;
        Ok(exit)
    }

    /// Books what the core has spent, and lets it wait for what its calls have spent.
    fn keep_time(&mut self, run: &mut Run) {
        run.book_instructions(self.hart.now() - self.booked);
        self.hart.wait_until(run.kernels[run.current].clock());
        self.booked = self.hart.now();
    }

    /// Makes the call that the kernel stands on; `false` if the kernel has to wait, or has ended.
    fn call(&mut self, run: &mut Run, device: &mut Device) -> Result<bool, Fault> {
        let number = self.hart.register(NUMBER);
        let Some(call) = call_of(number) else {
            return Err(run.fault("ecall", FaultKind::Argument(format!("there is no call {number}"))));
        };
        if self.hart.take_noted() {
            self.open.close();
            self.mirror.take_back(run, &self.hart).map_err(|what| run.fault(call.name, what))?;
        }
        if call.effect == Effect::Acts {
            self.open.close();
        }
        let on_lanes = call.effect == Effect::Records;
        if run.must_catch_up() {
            run.catch_up(device)?;
            if on_lanes && !run.require_here(MATH).map_err(|what| run.fault("sfpi", what))? {
                return Ok(false);
            }
        }
        if on_lanes {
            self.forgive_moves(run);
        } else {
            run.run_lanes()?;
        }
        let reply = (call.function)(run, device, self)?;
        if run.must_catch_up() {
            self.open.close();
            run.place_calls(|| self.place());
            run.catch_up(device)?;
        }
        self.lanes_at = on_lanes.then(|| self.hart.now());
        match reply {
            Reply::Done(low, high) => {
                self.hart.set_register(A0, low);
                self.hart.set_register(A1, high);
                self.hart.finish_call();
                Ok(true)
            }
            Reply::Waits | Reply::Ended => Ok(false),
        }
    }

    /// Between two vector operations the device has no instructions of its own: what the compiler puts there moves the
    /// numbers by which the header knows vectors.
    fn forgive_moves(&mut self, run: &mut Run) {
        let between = self.lanes_at.map_or(u64::MAX, |at| self.hart.now() - at);
        if between <= MOVES {
            run.unbook_instructions(between);
        }
    }

    /// Answers a load; `false` if it is one of a loop that waits, and the kernel has to.
    fn load(&mut self, run: &mut Run, device: &Device, address: u32, bytes: u32, repeats: u32) -> Result<bool, Fault> {
        let shared = u64::from(address) < run.chip.l1_bytes;
        if shared && repeats == 0 && run.open_window(device, &mut self.open, address, Use::Read) {
            // The load is executed again; it is none of a loop.
            self.hart.forget_load();
            return Ok(true);
        }
        let loaded = if shared {
            run.load_shared(device, address, bytes)
        } else {
            run.load_register(self.hart.now(), address, bytes)
        };
        let (value, wait) = loaded.map_err(|what| run.fault("an L1 load", what))?;
        self.keep_time(run);
        match wait {
            Some(wait) if repeats + 1 >= POLLS => {
                self.polled = Some(address);
                self.hart.forget_load();
                run.block(wait);
                return Ok(false);
            }
            Some(_) => self.hart.finish_load(&self.spec.image.code, value, shared),
            None => {
                self.hart.finish_load(&self.spec.image.code, value, shared);
                self.hart.forget_load();
            }
        }
        Ok(true)
    }

    fn store(&mut self, run: &mut Run, device: &mut Device, address: u32, bytes: u32, value: u32) -> Result<(), Fault> {
        if u64::from(address) >= run.chip.l1_bytes {
            return Err(run.fault("a store", registers::refuse(address, bytes)));
        }
        if run.open_window(device, &mut self.open, address, Use::Write) {
            return Ok(());
        }
        let stored = run.store_shared(device, address, &value.to_le_bytes()[..bytes as usize]);
        stored.map_err(|what| run.fault("an L1 store", what))?;
        self.hart.finish_store(&self.spec.image.code);
        Ok(())
    }

    /// The line at which the kernel stands.
    fn place(&self) -> Option<SourcePlace> {
        let image = &self.spec.image;
        let pc = self.hart.pc();
        // In the stub of a call: the line is that of its caller.
        let address = if image.is_free(pc) { self.hart.register(RA).wrapping_sub(4) } else { pc };
        let mut lines = image.lines(address);
        let own = lines.iter().position(|line| !line.file.starts_with(&self.spec.headers)).unwrap_or(0);
        let called = own.checked_sub(1).and_then(|at| lines.get(at)).map(|line| line.function.clone());
        let called = called.filter(|name| name.trim_start_matches('_').starts_with("llk_")).unwrap_or_default();
        let found = (!lines.is_empty()).then(|| lines.swap_remove(own))?;
        Some(SourcePlace { file: found.file, line: found.line, called })
    }
}
