//! The run of one program: cores, kernels, the queue of those that can go on.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use tt_memory::chip::{self, ChipSpec, LogicalCore, NocCoord};
use tt_memory::{Device, Place};
use tt_tensix::fpu;

use crate::cb::Cb;
use crate::compute::Compute;
use crate::core::{Core, Shadow};
use crate::error::{Fault, What};
use crate::kernel::{Event, Kernel, State, Transfers, Wait};
use crate::order::Order;
use crate::spec::{ProgramSpec, Risc};
use crate::time::{QUANTUM, Time};

/// Semaphores lie below the memory that programs use, one to an alignment unit.
const SEMAPHORES_BELOW_BASE: u64 = 512;
/// Runtime arguments lie below them.
const ARGUMENTS_BELOW_BASE: u64 = 512 + 3 * ARGUMENT_BYTES;
/// Room for the arguments of a RISC.
const ARGUMENT_BYTES: u64 = 1536;
/// So many reads of one unchanged word in a row are a loop that waits for it.
const POLLS: u32 = 64;
/// So many reads of an unchanged flag, while nobody else can run, are a loop without an end.
const IDLE_READS: u32 = 4096;
/// Events that a run records; what comes after them is not shown. 100 MB.
pub const MOST_EVENTS: usize = 1 << 21;
/// Thread of an event that is a transfer.
pub const TRANSFER: u8 = 3;
/// No program core has this L1 bank.
const NO_CORE: u16 = u16::MAX;

/// What lies at NoC coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The L1 bank of a worker core.
    Worker(usize),
    /// A DRAM bank.
    Dram(usize),
}

/// The last change of a word that kernels may wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) time: u64,
    pub(crate) kernel: usize,
}

/// Pages that nobody had taken out of a CB when the program ended. The next program starts with empty CBs, so they are
/// lost; that is legal, and seldom meant.
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
    pub(crate) arch: fpu::Arch,
    /// Cores of the program.
    pub cores: Vec<Core>,
    core_of_bank: Vec<u16>,
    /// Kernels in the order of their cores, then RISCs.
    pub kernels: Vec<Kernel>,
    /// The kernel that runs.
    pub current: usize,
    /// Kernels that can go on, by clock, core and RISC.
    queue: BinaryHeap<Reverse<(u64, usize)>>,
    /// The running kernel lets others go first once its clock is beyond this.
    limit: u64,
    /// Figures.
    pub time: Time,
    /// What lies where on the NoC, 64 by 64.
    places: Vec<Option<Target>>,
    /// First L1 address that circular buffers may have.
    pub l1_base: u64,
    /// Whether mistakes that only cost correctness on the chip are reported.
    pub watched: bool,
    /// When words that kernels wait for were last changed, and by whom: L1 bank and address.
    pub(crate) words: BTreeMap<(usize, u32), Change>,
    finished: usize,
    /// What orders the kernels, if that is watched.
    pub(crate) order: Option<Order>,
    /// Everything that happened, if it is recorded.
    pub events: Option<Vec<Event>>,
    /// Reads of unchanged flags in a row, while no other kernel could run.
    idle: u32,
}

impl Run {
    /// Sets up everything for the first kernel, and writes semaphores and arguments to L1.
    ///
    /// # Errors
    /// Cores outside the grid and addresses outside L1, which the host layer must not let through.
    pub fn new(device: &mut Device, spec: &ProgramSpec) -> Result<Self, What> {
        let chip = device.chip();
        let l1_base = device.l1_base();
        let arch = match chip.arch {
            chip::Arch::WormholeB0 => fpu::Arch::Wormhole,
            chip::Arch::Blackhole => fpu::Arch::Blackhole,
        };
        let mut run = Self {
            chip,
            arch,
            cores: Vec::new(),
            core_of_bank: vec![NO_CORE; chip.grid.cores()],
            kernels: Vec::new(),
            current: 0,
            queue: BinaryHeap::new(),
            limit: u64::MAX,
            time: Time::new(chip),
            places: places(chip),
            l1_base,
            watched: device.is_watched(),
            words: BTreeMap::new(),
            finished: 0,
            order: None,
            events: spec.trace.then(Vec::new),
            idle: 0,
        };
        run.add_cores(spec)?;
        run.add_kernels(spec)?;
        run.write_semaphores(device, spec)?;
        run.write_arguments(device, spec)?;
        if run.watched {
            run.order = Some(Order::new(run.kernels.len(), chip.dram_banks(), chip.grid.cores()));
        }
        Ok(run)
    }

    fn add_cores(&mut self, spec: &ProgramSpec) -> Result<(), What> {
        let mut used: Vec<LogicalCore> = spec.kernels.iter().map(|kernel| kernel.core).collect();
        used.extend(spec.cbs.iter().map(|cb| cb.core));
        used.extend(spec.semaphores.iter().map(|semaphore| semaphore.core));
        used.sort_unstable_by_key(|core| (core.y, core.x));
        used.dedup();
        for logical in used {
            let outside = || What::Bug(format!("core {}-{} is outside the grid", logical.x, logical.y));
            let bank = self.chip.l1_bank(logical).ok_or_else(outside)?;
            let noc = self.chip.worker_coord(logical).ok_or_else(outside)?;
            self.core_of_bank[bank] = self.cores.len() as u16;
            let cbs = (0..self.chip.circular_buffers).map(|_| None).collect();
            let (kernels, shadow) = (Vec::new(), Shadow::default());
            self.cores.push(Core { logical, noc, bank, cbs, semaphores: 0, kernels, shadow });
        }
        for cb in &spec.cbs {
            let buffer = Cb::new(cb);
            if u64::from(cb.address) + u64::from(cb.pages) * u64::from(cb.page_bytes) > self.chip.l1_bytes {
                return Err(What::Bug(format!("CB {} ends beyond L1", cb.index)));
            }
            let core = self.core_mut(cb.core)?;
            let Some(slot) = core.cbs.get_mut(cb.index as usize) else {
                return Err(What::Bug(format!("the chip has no CB {}", cb.index)));
            };
            *slot = Some(Box::new(buffer));
        }
        for core in &mut self.cores {
            let base = core.all_cbs().map(|cb| cb.address).min().unwrap_or(0);
            let end = core.all_cbs().map(Cb::end).max().unwrap_or(0);
            core.shadow = Shadow::new(base, end);
        }
        Ok(())
    }

    fn add_kernels(&mut self, spec: &ProgramSpec) -> Result<(), What> {
        let mut order: Vec<usize> = (0..spec.kernels.len()).collect();
        order.sort_by_key(|&index| {
            let kernel = &spec.kernels[index];
            (kernel.core.y, kernel.core.x, kernel.risc)
        });
        if !order.is_sorted() {
            return Err(What::Bug("kernels are not in the order of cores and RISCs".into()));
        }
        let (skew, last) = (self.time.launch().core_skew, self.cores.len().saturating_sub(1).max(1) as u64);
        for kernel in &spec.kernels {
            let index = self.kernels.len();
            self.core_mut(kernel.core)?.kernels.push(index);
            let bank = self.chip.l1_bank(kernel.core).unwrap_or(0);
            // Cores do not start at once: the last of them `core_skew` cycles after the first.
            let start = u64::from(self.core_of_bank[bank]) * skew / last;
            self.kernels.push(Kernel {
                core: self.core_of_bank[bank] as usize,
                logical: kernel.core,
                risc: kernel.risc,
                name: kernel.name.clone(),
                noc: kernel.noc,
                state: State::Ready,
                clocks: [start; 3],
                transfers: Transfers::default(),
                compute: kernel.compute.as_ref().map(|config| Box::new(Compute::new(config))),
                stalls: BTreeMap::new(),
                polled: (u32::MAX, 0, 0),
                calls: 0,
            });
            self.queue.push(Reverse((start, index)));
        }
        Ok(())
    }

    fn write_semaphores(&mut self, device: &mut Device, spec: &ProgramSpec) -> Result<(), What> {
        for semaphore in &spec.semaphores {
            let address = self.semaphore_address(u32::from(semaphore.id));
            let core = self.core_mut(semaphore.core)?;
            core.semaphores |= 1 << semaphore.id;
            let place = Place { dram: false, bank: core.bank, address: u64::from(address) };
            device.bytes_mut(place, 4)?.copy_from_slice(&semaphore.initial.to_le_bytes());
        }
        Ok(())
    }

    fn write_arguments(&self, device: &mut Device, spec: &ProgramSpec) -> Result<(), What> {
        for kernel in &spec.kernels {
            let bytes: Vec<u8> = kernel.args.iter().flat_map(|word| word.to_le_bytes()).collect();
            if bytes.len() as u64 > ARGUMENT_BYTES {
                return Err(What::Bug(format!("{} runtime arguments", kernel.args.len())));
            }
            let address = u64::from(self.first_argument(kernel.risc));
            let bank = self.chip.l1_bank(kernel.core).unwrap_or(0);
            device.bytes_mut(Place { dram: false, bank, address }, bytes.len())?.copy_from_slice(&bytes);
        }
        Ok(())
    }

    fn core_mut(&mut self, core: LogicalCore) -> Result<&mut Core, What> {
        let slot = self.chip.l1_bank(core).map_or(NO_CORE, |bank| self.core_of_bank[bank]);
        self.cores.get_mut(slot as usize).ok_or_else(|| What::Bug(format!("no core {}-{}", core.x, core.y)))
    }

    /// The program's core with this L1 bank, if it uses it.
    #[inline]
    pub(crate) fn core_of_bank(&self, bank: usize) -> Option<usize> {
        self.core_of_bank.get(bank).filter(|&&slot| slot != NO_CORE).map(|&slot| slot as usize)
    }

    /// L1 address of a semaphore.
    pub fn semaphore_address(&self, id: u32) -> u32 {
        (self.l1_base - SEMAPHORES_BELOW_BASE) as u32 + id * 16
    }

    /// L1 address of a runtime argument of the running kernel.
    pub fn argument_address(&self, index: u32) -> u32 {
        self.first_argument(self.kernels[self.current].risc) + index * 4
    }

    /// Books a call that only takes time: a runtime argument (0), or an address (1). All threads of a compute kernel make it.
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
        call: &'static str,
        run: impl FnOnce(&mut Self) -> Result<T, What>,
    ) -> Result<T, Fault> {
        self.kernels[self.current].calls += 1;
        if self.events.is_some() {
            return self.recorded(call, run);
        }
        run(self).map_err(|what| self.fault(call, what))
    }

    /// [`Run::checked`], with a note of what the clocks did.
    fn recorded<T>(&mut self, call: &'static str, run: impl FnOnce(&mut Self) -> Result<T, What>) -> Result<T, Fault> {
        let kernel = self.current;
        let starved = |kernel: &Kernel| kernel.compute.as_ref().map_or([0; 2], |compute| compute.starved());
        let (before, waited) = (self.kernels[kernel].clocks, starved(&self.kernels[kernel]));
        let result = run(self).map_err(|what| self.fault(call, what));
        let (after, waits) = (self.kernels[kernel].clocks, starved(&self.kernels[kernel]));
        let events = self.events.get_or_insert_default();
        let mut push = |thread: usize, name, start, end| {
            if end > start && events.len() < MOST_EVENTS {
                events.push(Event { kernel, thread: thread as u8, name, start, end, bytes: 0 });
            }
        };
        for thread in 0..3 {
            let (start, end) = (before[thread], after[thread]);
            let name = ["wait for math", "wait for unpack", ""][thread];
            // A call of several steps shows its waits together, before its work.
            let busy = start + waits.get(thread).map_or(0, |now| now - waited[thread]);
            push(thread, name, start, busy);
            push(thread, call, busy, end);
        }
        result
    }

    /// Notes a transfer.
    #[inline]
    pub(crate) fn record_transfer(&mut self, name: &'static str, start: u64, end: u64, bytes: u32) {
        let kernel = self.current;
        if let Some(events) = self.events.as_mut().filter(|events| events.len() < MOST_EVENTS) {
            events.push(Event { kernel, thread: TRANSFER, name, start, end, bytes });
        }
    }

    #[cold]
    pub(crate) fn fault(&self, call: &'static str, what: What) -> Fault {
        let kernel = &self.kernels[self.current];
        Fault { core: kernel.logical, risc: kernel.risc, kernel: self.current, call, what: Box::new(what) }
    }

    /// What lies at NoC coordinates.
    ///
    /// # Errors
    /// [`What::NoSuchCoordinate`].
    #[inline]
    pub(crate) fn target(&self, x: u32, y: u32) -> Result<Target, What> {
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
            What::NoSuchCoordinate { x, y, advice }
        })
    }

    // The scheduler.

    /// Whether the running kernel is so far ahead of the others that they should go first. If so it is back in the queue.
    #[inline]
    pub(crate) fn give_way(&mut self) -> bool {
        let clock = self.kernels[self.current].clock();
        if clock <= self.limit {
            return false;
        }
        self.queue.push(Reverse((clock, self.current)));
        true
    }

    /// Stops the running kernel until somebody wakes it.
    pub(crate) fn block(&mut self, wait: Wait) {
        self.kernels[self.current].state = State::Waiting(wait);
    }

    /// What a kernel waits for, if it does.
    #[inline]
    pub(crate) fn waits(&self, kernel: usize) -> Option<Wait> {
        match self.kernels[kernel].state {
            State::Waiting(wait) => Some(wait),
            _ => None,
        }
    }

    /// Puts a waiting kernel back into the queue, at the earliest at `now`.
    pub(crate) fn wake(&mut self, kernel: usize, now: u64) {
        let state = &mut self.kernels[kernel].state;
        *state = if matches!(state, State::Waiting(Wait::Word { .. })) { State::Granted } else { State::Ready };
        let clock = self.kernels[kernel].clock().max(now);
        self.queue.push(Reverse((clock, kernel)));
        self.limit = self.limit.min(clock + QUANTUM);
    }

    /// Chooses the kernel that runs next: of those that can go on the one with the smallest clock, then core, then RISC.
    /// `None`: nobody can.
    pub fn schedule(&mut self) -> Option<usize> {
        let Reverse((_, kernel)) = self.queue.pop()?;
        self.limit = self.queue.peek().map_or(u64::MAX, |&Reverse((clock, _))| clock + QUANTUM);
        if kernel != self.current {
            self.idle = 0;
        }
        self.current = kernel;
        Some(kernel)
    }

    /// Whether every kernel has returned.
    pub fn is_finished(&self) -> bool {
        self.finished == self.kernels.len()
    }

    /// The running kernel has returned.
    ///
    /// # Errors
    /// It left transfers, pages or `Dst` behind.
    pub fn finish_kernel(&mut self) -> Result<(), Fault> {
        self.checked("kernel_main", |run| {
            if run.watched {
                run.check_leftovers()?;
            }
            let cost = run.time.launch().kernel_end;
            let kernel = &mut run.kernels[run.current];
            for clock in &mut kernel.clocks {
                *clock += cost;
            }
            kernel.state = State::Done;
            run.finished += 1;
            Ok(())
        })
    }

    fn check_leftovers(&mut self) -> Result<(), What> {
        let current = self.current;
        let (kernel, core) = self.here();
        let Transfers { reads, unacknowledged, atomics, .. } = &kernel.transfers;
        if !(reads.is_empty() && unacknowledged.is_empty() && atomics.is_empty()) {
            let (reads, writes, atomics) = (reads.len(), unacknowledged.len(), atomics.len());
            return Err(What::EndsWithTransfers { reads, writes, atomics });
        }
        if let Some(compute) = &kernel.compute {
            compute.check_released()?;
        }
        // Pages that were reserved and only used as scratch memory are legal, as long as the CB never carries data.
        for cb in core.all_cbs() {
            if cb.producer == Some(current) && cb.reserved > 0 && cb.pushed > 0 {
                return Err(What::MissingPush { cb: cb.index, pages: cb.reserved });
            }
            if cb.consumer == Some(current) && cb.waited > 0 && cb.popped > 0 {
                return Err(What::MissingPop { cb: cb.index, pages: cb.waited });
            }
        }
        Ok(())
    }

    /// A kernel read a flag from somewhere to its own L1, which holds the same already: stops it if nothing else can
    /// happen that would change it.
    pub(crate) fn polls_remote(&mut self, address: u32, same: bool) -> bool {
        if !same || !self.queue.is_empty() {
            self.idle = 0;
            return false;
        }
        self.idle += 1;
        if self.idle < IDLE_READS {
            return false;
        }
        self.block(Wait::Change { address, value: 0 });
        true
    }

    /// A kernel read a word of its own L1: stops it if it does nothing else and the word does not change.
    #[inline]
    pub(crate) fn polls(&mut self, address: u32, value: u32) -> bool {
        let kernel = &mut self.kernels[self.current];
        let (last, seen, count) = kernel.polled;
        if (last, seen) != (address, value) {
            kernel.polled = (address, value, 1);
            return false;
        }
        kernel.polled.2 = count + 1;
        if count < POLLS {
            return false;
        }
        kernel.polled.2 = 0;
        self.block(Wait::Change { address, value });
        true
    }

    /// The answer to a question that a kernel may ask in a loop: after many times no, it has to wait for the yes.
    pub(crate) fn answer(&mut self, yes: bool, wait: Wait) -> Option<bool> {
        let (Wait::Front { cb, pages } | Wait::Back { cb, pages }) = wait else { return Some(yes) };
        let kernel = &mut self.kernels[self.current];
        let question = (cb | u32::from(matches!(wait, Wait::Back { .. })) << 31, pages);
        let (last, seen, count) = kernel.polled;
        if yes || (last, seen) != question {
            kernel.polled = (question.0, question.1, 1);
            return Some(yes);
        }
        kernel.polled.2 = count + 1;
        if count < POLLS {
            return Some(false);
        }
        kernel.polled.2 = 0;
        self.block(wait);
        None
    }

    /// Bytes of a core's L1 have changed: wakes kernels there that wait for a word among them.
    pub(crate) fn l1_changed(
        &mut self,
        device: &Device,
        bank: usize,
        start: u32,
        end: u32,
        time: u64,
    ) -> Result<(), What> {
        let Some(slot) = self.core_of_bank(bank) else { return Ok(()) };
        for index in 0..self.cores[slot].kernels.len() {
            let kernel = self.cores[slot].kernels[index];
            let (address, wanted) = match self.waits(kernel) {
                Some(Wait::Word { address, value, at_least }) => (address, Some((value, at_least))),
                Some(Wait::Change { address, .. }) => (address, None),
                _ => continue,
            };
            if address < start || address >= end {
                continue;
            }
            let place = Place { dram: false, bank, address: u64::from(address) };
            let word = u32::from_le_bytes(device.bytes(place, 4)?.try_into().unwrap_or_default());
            let comes = wanted.is_none_or(|(value, at_least)| word == value || at_least && word >= value);
            if comes {
                self.wake(kernel, time);
            }
        }
        Ok(())
    }

    /// The running kernel has changed a word that somebody may wait for.
    pub(crate) fn word_changed(&mut self, bank: usize, address: u32, time: u64) {
        self.words.insert((bank, address), Change { time, kernel: self.current });
    }

    /// The kernel that changed a word of a core's L1 last, as far as anybody may wait for it.
    pub fn word_writer(&self, bank: usize, address: u32) -> Option<usize> {
        self.words.get(&(bank, address)).map(|change| change.kernel)
    }

    /// Pages that are left in CBs, by core and CB. CBs in memory of the host's do not count: their pages are its data.
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

    /// Name of a core's L1 for messages.
    pub(crate) fn l1_name(&self, bank: usize) -> String {
        self.chip
            .l1_bank_core(bank)
            .map_or_else(|| "L1".to_owned(), |core| format!("the L1 of core {}-{}", core.x, core.y))
    }

    /// Whether the kernel is a data-movement kernel.
    ///
    /// # Errors
    /// [`What::WrongRisc`] if not.
    #[inline]
    pub(crate) fn require_data_movement(&self) -> Result<(), What> {
        if self.kernels[self.current].risc == Risc::Trisc {
            let text = "a compute kernel has no NoC; move data in the reader or the writer kernel";
            return Err(What::WrongRisc(text.to_owned()));
        }
        Ok(())
    }
}

fn places(chip: &ChipSpec) -> Vec<Option<Target>> {
    let mut places = vec![None; 64 * 64];
    for (bank, coord) in chip.dram_cores.iter().enumerate() {
        places[(coord.y * 64 + coord.x) as usize] = Some(Target::Dram(bank));
    }
    for bank in 0..chip.grid.cores() {
        if let Some(coord) = chip.l1_bank_core(bank).and_then(|core| chip.worker_coord(core)) {
            places[(coord.y * 64 + coord.x) as usize] = Some(Target::Worker(bank));
        }
    }
    places
}
