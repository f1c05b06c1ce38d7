//! The run of one program as plain data.
//!
//! Cores, kernels, the queue of those that can go on.
//!
//! What changes it stands above: setup, scheduler, and the calls of kernels.

pub mod cb;
pub mod compute;
pub mod core;
pub mod fabric;
pub mod kernel;
pub(crate) mod order;
pub mod time;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use tt_memory::Place;
use tt_memory::chip::{ChipSpec, LogicalCore, NocCoord};

use self::cb::Cb;
use self::core::Core;
use self::fabric::Fabric;
use self::kernel::{Event, Kernel, TRANSFER};
use self::order::Order;
use self::time::{Target, Time};
use crate::error::{Fault, FaultKind};
use crate::name::Name;
use crate::spec::Risc;

/// Semaphores lie below the memory that programs use, one to an alignment unit.
const SEMAPHORES_BELOW_BASE: u64 = 512;
/// Runtime arguments lie below them.
const ARGUMENTS_BELOW_BASE: u64 = 512 + 3 * ARGUMENT_BYTES;
/// Room for the arguments of a RISC.
pub(crate) const ARGUMENT_BYTES: u64 = 1536;
/// Events that a run records; what comes after them is not shown.
///
/// 100 MB.
pub const MOST_EVENTS: usize = 1 << 21;
/// Zeros that kernels read to fill memory with; the firmware keeps them.
pub(crate) const ZEROS: std::ops::Range<u32> = 13_344..13_856;
/// What the timeline calls the work of a compiled kernel between two calls.
const INSTRUCTIONS: &str = "instructions";
/// No program core has this L1 bank.
pub(crate) const NO_CORE: u16 = u16::MAX;

/// The last change of a word that kernels may wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) time: u64,
    /// Its kernel, of this chip.
    pub(crate) kernel: Option<usize>,
    /// A kernel of that core has looked at the word since.
    pub(crate) seen: bool,
}

/// Pages left in a CB at a program's end.
///
/// The next program starts with empty CBs, so they are lost; that is legal, and seldom meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leftover {
    /// Core.
    pub core: LogicalCore,
    /// The CB.
    pub cb: u32,
    /// Pages in it.
    pub pages: u32,
    /// Kernel that pushed them.
    pub producer: Option<usize>,
    /// Kernel that popped others, if one did.
    pub consumer: Option<usize>,
}

/// A program that is being executed.
#[derive(Debug)]
pub struct Run {
    pub(crate) chip: &'static ChipSpec,
    /// Cores of the program.
    pub cores: Vec<Core>,
    pub(crate) core_of_bank: Vec<u16>,
    /// Kernels in the order of their cores, then RISCs.
    pub kernels: Vec<Kernel>,
    /// The kernel that runs.
    pub current: usize,
    /// Kernels that can go on, by clock, core and RISC.
    pub(crate) queue: BinaryHeap<Reverse<(u64, usize)>>,
    /// The running kernel lets others go first once its clock is beyond this.
    pub(crate) limit: u64,
    /// Networks and costs.
    pub time: Time,
    /// What lies where on the NoC, 64 by 64.
    pub(crate) places: Vec<Option<Target>>,
    /// First L1 address that circular buffers may have.
    pub l1_base: u64,
    /// True if errors that only affect correctness on the chip are reported.
    pub watched: bool,
    /// When words that kernels wait for were last changed, and by whom: L1 bank and address.
    pub(crate) words: BTreeMap<(usize, u32), Change>,
    pub(crate) finished: usize,
    /// What orders the kernels, if that is watched.
    pub(crate) order: Option<Order>,
    /// Everything that happened, if it is recorded.
    pub events: Option<Vec<Event>>,
    /// How the kernel named its call, if the engine names it otherwise.
    pub(crate) called: Option<&'static str>,
    /// Reads of unchanged flags in a row, while no other kernel could run.
    pub(crate) idle: u32,
    /// Compute kernels that have put calls off.
    pub(crate) behind: u32,
    /// Calls that were put off are being made.
    pub(crate) catching_up: bool,
    /// Other chips, if the program reaches them.
    pub(crate) fabric: Option<Box<Fabric>>,
    /// What happens is the work of a packet.
    pub(crate) guest: bool,
}

impl Run {
    /// The program's core with this L1 bank, if it uses it.
    #[inline]
    pub(crate) fn core_of_bank(&self, bank: usize) -> Option<usize> {
        self.core_of_bank.get(bank).filter(|&&slot| slot != NO_CORE).map(|&slot| slot as usize)
    }

    /// The core with this L1 bank.
    pub fn core_at(&self, bank: usize) -> Option<LogicalCore> {
        self.chip.l1_bank_core(bank)
    }

    /// L1 address of a semaphore.
    pub fn semaphore_address(&self, id: u32) -> u32 {
        (self.l1_base - SEMAPHORES_BELOW_BASE) as u32 + id * 16
    }

    /// L1 address of a runtime argument of the running kernel.
    pub fn argument_address(&self, index: u32) -> u32 {
        self.first_argument(self.kernels[self.current].risc).wrapping_add(index.wrapping_mul(4))
    }

    /// Books a call that only takes time.
    ///
    /// A runtime argument (0), or an address (1). All threads of a compute kernel make it.
    ///
    /// # Errors
    /// None.
    pub fn spend(&mut self, what: u32) -> Result<(), Fault> {
        self.checked(["get_arg_val", "get_noc_addr"][what.min(1) as usize], |run| {
            let risc = run.time.risc();
            let cost = [risc.argument, risc.noc_address][what.min(1) as usize];
            run.book(cost);
            Ok(())
        })
    }

    /// Lets all threads of the running kernel work for so long.
    #[inline]
    pub(crate) fn book(&mut self, cost: u64) {
        let kernel = &mut self.kernels[self.current];
        let threads = if kernel.compute.is_some() { 3 } else { 1 };
        for clock in &mut kernel.clocks[..threads] {
            *clock += cost;
        }
    }

    /// Books cycles that a compiled kernel worked between two calls.
    pub(crate) fn book_instructions(&mut self, cost: u64) {
        if cost == 0 || self.events.is_none() {
            return self.book(cost);
        }
        let booked = self.recorded(&INSTRUCTIONS.into(), |run| {
            run.book(cost);
            Ok(())
        });
        debug_assert!(booked.is_ok(), "booking time cannot fail");
    }

    /// Takes back the instructions of a compute kernel that were booked last, and what was noted of them.
    pub(crate) fn unbook_instructions(&mut self, cost: u64) {
        let current = self.current;
        let clocks = &mut self.kernels[current].clocks;
        for clock in clocks.iter_mut() {
            *clock = clock.saturating_sub(cost);
        }
        let taken_back = |event: &mut Event| {
            let start = clocks.get(event.thread as usize).copied().unwrap_or(u64::MAX);
            event.kernel == current && event.name == INSTRUCTIONS && event.start >= start
        };
        if let Some(events) = &mut self.events {
            while events.pop_if(taken_back).is_some() {}
        }
    }

    /// L1 addresses for packet headers, below the runtime arguments.
    pub fn header_pool(&self) -> std::ops::Range<u32> {
        fabric::header_pool(self.l1_base)
    }

    /// L1 address of the runtime arguments of a RISC.
    pub(crate) fn first_argument(&self, risc: Risc) -> u32 {
        (self.l1_base - ARGUMENTS_BELOW_BASE + risc as u64 * ARGUMENT_BYTES) as u32
    }

    /// The running kernel and its core.
    #[inline]
    pub(crate) fn here(&mut self) -> (&mut Kernel, &mut Core) {
        let kernel = &mut self.kernels[self.current];
        let core = &mut self.cores[kernel.core];
        (kernel, core)
    }

    /// The running kernel, its core, and what orders kernels.
    #[inline]
    pub(crate) fn here_ordered(&mut self) -> (&mut Kernel, &mut Core, Option<&mut Order>) {
        let kernel = &mut self.kernels[self.current];
        let core = &mut self.cores[kernel.core];
        (kernel, core, self.order.as_mut())
    }

    /// A place in the L1 of the running kernel's core.
    #[inline]
    pub(crate) fn own_place(&self, address: u32) -> Place {
        let bank = self.cores[self.kernels[self.current].core].bank;
        Place { dram: false, bank, address: u64::from(address) }
    }

    /// Runs a call of the current kernel and says who made it if it fails.
    #[inline]
    pub(crate) fn checked<T>(
        &mut self,
        call: impl Into<Name>,
        run: impl FnOnce(&mut Self) -> Result<T, FaultKind>,
    ) -> Result<T, Fault> {
        self.kernels[self.current].calls += 1;
        self.noted(call, run)
    }

    /// What a call does before its own work: noted like a call, and not counted.
    pub(crate) fn noted<T>(
        &mut self,
        call: impl Into<Name>,
        run: impl FnOnce(&mut Self) -> Result<T, FaultKind>,
    ) -> Result<T, Fault> {
        let call = self.called.take().map_or_else(|| call.into(), Name::Fixed);
        if self.events.is_some() {
            return self.recorded(&call, run);
        }
        run(self).map_err(|what| self.fault(call, what))
    }

    /// Makes a call that kernels know by another name: errors and the timeline show this one.
    ///
    /// # Errors
    /// Those of the call.
    #[inline]
    pub(crate) fn named<T>(
        &mut self,
        name: &'static str,
        call: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.called = Some(name);
        call(self)
    }

    /// [`Run::checked`], with a note of what the clocks did.
    fn recorded<T>(&mut self, call: &Name, run: impl FnOnce(&mut Self) -> Result<T, FaultKind>) -> Result<T, Fault> {
        let kernel = self.current;
        let starved = |kernel: &Kernel| kernel.compute.as_ref().map_or([0; 2], |compute| compute.starved());
        let (before, waited) = (self.kernels[kernel].clocks, starved(&self.kernels[kernel]));
        let result = run(self).map_err(|what| self.fault(call.clone(), what));
        let (after, waits) = (self.kernels[kernel].clocks, starved(&self.kernels[kernel]));
        let events = self.events.get_or_insert_default();
        let mut push = |thread: usize, name: Name, start, end| {
            if end > start && events.len() < MOST_EVENTS {
                events.push(Event { kernel, thread: thread as u8, name, start, end, bytes: 0 });
            }
        };
        // Kernels of data movement have one clock of their own, the first.
        let threads = if self.kernels[kernel].compute.is_some() { 3 } else { 1 };
        for thread in 0..threads {
            let (start, end) = (before[thread], after[thread]);
            let name = ["wait for math", "wait for unpack", ""][thread];
            // A call of several steps shows its waits together, before its work.
            let busy = start + waits.get(thread).map_or(0, |now| now - waited[thread]);
            push(thread, name.into(), start, busy);
            push(thread, call.clone(), busy, end);
        }
        result
    }

    /// Notes a transfer.
    #[inline]
    pub(crate) fn record_transfer(&mut self, name: &'static str, start: u64, end: u64, bytes: u32) {
        let kernel = self.current;
        if let Some(events) = self.events.as_mut().filter(|events| events.len() < MOST_EVENTS) {
            events.push(Event { kernel, thread: TRANSFER, name: name.into(), start, end, bytes });
        }
    }

    #[cold]
    pub(crate) fn fault(&self, call: impl Into<Name>, what: FaultKind) -> Fault {
        let kernel = &self.kernels[self.current];
        let call = call.into();
        Fault { core: kernel.logical, risc: kernel.risc, kernel: self.current, call, what: Box::new(what), place: None }
    }

    /// What lies at NoC coordinates.
    ///
    /// # Errors
    /// [`FaultKind::NoSuchCoordinate`].
    #[inline]
    pub(crate) fn target(&self, x: u32, y: u32) -> Result<Target, FaultKind> {
        let found = if x < 64 && y < 64 { self.places[(y * 64 + x) as usize] } else { None };
        found.ok_or_else(|| {
            let first = self.chip.worker_coord(LogicalCore { x: 0, y: 0 });
            let advice = match (self.chip.grid.contains(LogicalCore { x, y }), first) {
                (true, Some(NocCoord { x: x0, y: y0 })) => format!(
                    "{x}-{y} looks like a logical core: convert it with device.worker_core_from_logical_core \
                     (core 0-0 is at {x0}-{y0})"
                ),
                _ => {
                    "take coordinates from device.worker_core_from_logical_core or get_noc_addr_from_bank_id".to_owned()
                }
            };
            FaultKind::NoSuchCoordinate { x, y, advice }
        })
    }

    /// Pages that are left in CBs, by core and CB.
    ///
    /// CBs in memory of the host's do not count: their pages are its data.
    pub fn leftovers(&self) -> Vec<Leftover> {
        let of_core = |core: &Core| {
            let full = core.all_cbs().filter(|cb| cb.available() > 0 && !cb.borrowed);
            let row = |cb: &Cb| Leftover {
                core: core.logical,
                cb: cb.index,
                pages: cb.available(),
                producer: cb.producer,
                consumer: cb.consumer,
            };
            full.map(row).collect::<Vec<_>>()
        };
        self.cores.iter().flat_map(of_core).collect()
    }

    /// Cycles until the last kernel ended.
    pub fn cycles(&self) -> u64 {
        self.kernels.iter().map(Kernel::end).max().unwrap_or(0)
    }

    /// Name of a kernel for messages, by its number among those of all chips.
    pub(crate) fn kernel_name(&self, number: usize) -> String {
        let first = self.fabric.as_ref().map_or(0, |fabric| fabric.spec.first);
        let own = number.checked_sub(first).and_then(|index| self.kernels.get(index));
        let other = || self.fabric.as_ref().and_then(|fabric| fabric.spec.kernels.get(number)).cloned();
        own.map(|kernel| format!("{} on core {}-{}", kernel.describe(), kernel.logical.x, kernel.logical.y))
            .or_else(other)
            .unwrap_or_default()
    }

    /// Name of a core's L1 for messages.
    pub(crate) fn l1_name(&self, bank: usize) -> String {
        let where_ = if self.guest { " of the receiving chip" } else { "" };
        self.chip
            .l1_bank_core(bank)
            .map_or_else(|| "L1".to_owned(), |core| format!("the L1 of core {}-{}{where_}", core.x, core.y))
    }

    /// Whether the kernel is a data-movement kernel.
    ///
    /// # Errors
    /// [`FaultKind::WrongRisc`] if not.
    #[inline]
    pub(crate) fn require_data_movement(&self) -> Result<(), FaultKind> {
        if self.kernels[self.current].risc == Risc::Trisc {
            let text = "a compute kernel has no NoC; move data in the reader or the writer kernel";
            return Err(FaultKind::WrongRisc(text.to_owned()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tt_memory::Device;
    use tt_memory::chip::N150;
    use tt_memory::device::OpenOptions;

    use super::*;
    use crate::spec::{KernelSpec, ProgramSpec};

    #[test]
    fn instructions_that_are_taken_back_were_booked_last_and_by_this_kernel() {
        let mut device = Device::open(&N150, OpenOptions::default()).expect("a device");
        let core = LogicalCore { x: 0, y: 0 };
        let kernel = |risc| KernelSpec { core, risc, name: String::new(), noc: 0, args: Vec::new(), compute: None };
        let kernels = vec![kernel(Risc::Brisc), kernel(Risc::Ncrisc)];
        let spec = ProgramSpec { kernels, trace: true, ..ProgramSpec::default() };
        let mut run = Run::new(&mut device, &spec).expect("a run");
        run.spend(0).expect("a call");
        let call = run.kernels[0].clock();
        for cost in [0, 5, 6, 7] {
            run.book_instructions(cost);
        }
        let shown = |run: &Run| {
            let events = run.events.as_deref().unwrap_or_default();
            events
                .iter()
                .map(|event| (event.kernel, event.name.to_string(), event.end - event.start))
                .collect::<Vec<_>>()
        };
        let row = |kernel, name: &str, cycles| (kernel, name.to_owned(), cycles);
        let all = [row(0, "get_arg_val", call), row(0, "instructions", 5), row(0, "instructions", 6)];
        run.unbook_instructions(7);
        assert_eq!((run.kernels[0].clock(), shown(&run)), (call + 11, all.to_vec()));
        // What another kernel did, or a call, ends what can be taken back.
        run.current = 1;
        run.book_instructions(100);
        run.current = 0;
        run.unbook_instructions(6);
        assert_eq!(run.kernels[0].clock(), call + 5);
        assert_eq!(shown(&run), [&all[..], &[row(1, "instructions", 100)]].concat());
        run.events.as_mut().and_then(Vec::pop);
        run.unbook_instructions(5 + call);
        assert_eq!((run.kernels[0].clock(), shown(&run)), (0, all[..1].to_vec()), "the call stays");
    }
}
