//! A kernel while its steps are taken one by one.

use tt_noc::NocParameters;
use tt_perf::Costs;

use crate::error::PlanError;
use crate::mechanisms::Mechanisms;
use crate::plan::{Place, Step, Transfer};
use crate::tiles::{TileCycles, TileOp};

/// Pages of a circular buffer by the times of their pushes and pops, or a semaphore by the times of its signals.
#[derive(Debug, Default, Clone)]
pub(crate) struct Ledger {
    /// Total after each event, and its time. Times never decrease.
    events: Vec<(u64, u64)>,
    /// Where the last search ended.
    at: usize,
}

impl Ledger {
    pub(crate) fn add(&mut self, amount: u64, time: u64) {
        let (total, last) = self.events.last().copied().unwrap_or_default();
        self.events.push((total + amount, time.max(last)));
    }

    /// When the total reached `amount`; `None` if it has not.
    fn reached(&mut self, amount: u64) -> Option<u64> {
        if amount == 0 {
            return Some(0);
        }
        while self.at < self.events.len() && self.events[self.at].0 < amount {
            self.at += 1;
        }
        self.events.get(self.at).map(|event| event.1)
    }
}

/// A circular buffer of one group.
#[derive(Debug, Default, Clone)]
pub(crate) struct Cb {
    pub(crate) pages: u64,
    pub(crate) pushed: Ledger,
    pub(crate) popped: Ledger,
}

/// Which kernel an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Reader,
    Compute,
    Writer,
}

/// Where a kernel is in its steps.
struct Frame<'a> {
    steps: &'a [Step],
    next: usize,
    left: u64,
}

/// A kernel of one group: its clocks and where it stands.
pub(crate) struct Agent<'a> {
    pub(crate) group: usize,
    pub(crate) role: Role,
    frames: Vec<Frame<'a>>,
    /// Unpack, math, pack of a compute kernel; the first one is the clock of the others.
    pub(crate) clocks: [u64; 3],
    /// Cycles in which each clock worked, or waited for its own transfers and for no other kernel.
    pub(crate) busy: [u64; 3],
    /// When the halves of Dst were free, the older one first.
    halves: [u64; 2],
    packed: bool,
    /// When math was done with the banks of `SrcA` and `SrcB`, the older one first.
    sources: [u64; 2],
    /// When the reads and writes that no barrier has waited for are done.
    pending: u64,
    /// Pages that this kernel has pushed to and popped from each circular buffer.
    pushed: Vec<u64>,
    popped: Vec<u64>,
    waited: Vec<u64>,
}

/// What agents share.
pub(crate) struct Shared<'a> {
    pub(crate) costs: &'a Costs,
    pub(crate) noc: &'a NocParameters,
    pub(crate) mechanisms: &'a Mechanisms,
    pub(crate) cbs: Vec<Vec<Cb>>,
    pub(crate) semaphores: Vec<Ledger>,
}

impl<'a> Agent<'a> {
    pub(crate) fn new(group: usize, role: Role, steps: &'a [Step], start: u64, cbs: usize, semaphores: usize) -> Self {
        Self {
            group,
            role,
            frames: vec![Frame { steps, next: 0, left: 1 }],
            clocks: [start; 3],
            busy: [0; 3],
            halves: [0; 2],
            packed: false,
            sources: [0; 2],
            pending: 0,
            pushed: vec![0; cbs],
            popped: vec![0; cbs],
            waited: vec![0; semaphores],
        }
    }

    /// When it ended, or where it stands.
    pub(crate) fn end(&self) -> u64 {
        self.clocks.into_iter().max().unwrap_or_default()
    }

    pub(crate) fn finished(&self) -> bool {
        self.frames.is_empty()
    }

    /// Takes steps until one has to wait for another kernel. Whether any was taken.
    pub(crate) fn advance(&mut self, shared: &mut Shared<'_>) -> Result<bool, PlanError> {
        let mut moved = false;
        while let Some(frame) = self.frames.last_mut() {
            let Some(step) = frame.steps.get(frame.next) else {
                frame.left -= 1;
                frame.next = 0;
                if frame.left == 0 {
                    self.frames.pop();
                }
                continue;
            };
            if let Step::Loop(count, steps) = step {
                frame.next += 1;
                if *count > 0 && !steps.is_empty() {
                    self.frames.push(Frame { steps, next: 0, left: *count });
                }
                continue;
            }
            if !self.take(step, shared)? {
                return Ok(moved);
            }
            moved = true;
            if let Some(frame) = self.frames.last_mut() {
                frame.next += 1;
            }
        }
        Ok(moved)
    }

    /// The clock that waits for pages, and the one that waits for room.
    fn threads(&self) -> (usize, usize) {
        if self.role == Role::Compute { (0, 2) } else { (0, 0) }
    }

    fn work(&mut self, thread: usize, cycles: u64) {
        self.clocks[thread] += cycles;
        self.busy[thread] += cycles;
    }

    fn take(&mut self, step: &Step, shared: &mut Shared<'_>) -> Result<bool, PlanError> {
        let (costs, mechanisms) = (shared.costs, shared.mechanisms);
        let (consumer, producer) = self.threads();
        match *step {
            Step::Loop(..) => {}
            Step::Read(transfer) => self.transfer(transfer, false, costs, mechanisms),
            Step::Write(transfer) => self.transfer(transfer, true, costs, mechanisms),
            Step::Multicast { bytes, cores } => {
                // The path to the furthest receiver, then all bytes at the rate of linked packets.
                let noc = shared.noc;
                let hops = (cores as f64).sqrt() as u64;
                self.work(0, mechanisms.issue + noc.write_start + noc.write_hop * hops);
                self.work(0, noc.multicast_linked.cycles(bytes));
            }
            Step::Barrier => {
                self.work(0, self.pending.saturating_sub(self.clocks[0]) + costs.risc.barrier);
                self.pending = 0;
            }
            Step::Loads(words) => self.work(0, words * costs.risc.l1_load),
            Step::Stores(words) => self.work(0, words * costs.risc.l1_store),
            Step::Instructions(cycles) => self.work(consumer, cycles),
            Step::Reserve(cb, pages) => {
                let buffer = &mut shared.cbs[self.group][cb];
                let needed = (self.pushed[cb] + pages).saturating_sub(buffer.pages);
                let Some(time) = buffer.popped.reached(needed) else { return Ok(false) };
                self.clocks[producer] = self.clocks[producer].max(time);
                self.work(producer, costs.risc.cb_check);
            }
            Step::Push(cb, pages) => {
                self.work(producer, costs.risc.cb_advance);
                self.pushed[cb] += pages;
                shared.cbs[self.group][cb].pushed.add(pages, self.clocks[producer]);
            }
            Step::Await(cb, pages) => {
                let Some(time) = shared.cbs[self.group][cb].pushed.reached(self.popped[cb] + pages) else {
                    return Ok(false);
                };
                self.clocks[consumer] = self.clocks[consumer].max(time);
                self.work(consumer, costs.risc.cb_check);
            }
            Step::Pop(cb, pages) => {
                self.work(consumer, costs.risc.cb_advance);
                self.popped[cb] += pages;
                shared.cbs[self.group][cb].popped.add(pages, self.clocks[consumer]);
            }
            Step::Signal(semaphore) => {
                self.work(0, costs.risc.noc_command);
                shared.semaphores[semaphore].add(1, self.clocks[0] + mechanisms.l1_write);
            }
            Step::Wait(semaphore) => {
                let Some(time) = shared.semaphores[semaphore].reached(self.waited[semaphore] + 1) else {
                    return Ok(false);
                };
                self.waited[semaphore] += 1;
                self.clocks[0] = self.clocks[0].max(time);
                self.work(0, costs.risc.semaphore_poll);
            }
            Step::Tiles(ref op, count) => {
                let mut cycles = op.cycles(costs)?;
                if matches!(op, TileOp::PackUntilize { .. }) {
                    cycles.pack += mechanisms.block;
                }
                let parts = op.parts();
                for _ in 0..count {
                    self.tile(cycles, parts, costs.compute.dst_sync);
                }
                if op.packs() {
                    // The tiles of one half of Dst.
                    self.work(2, mechanisms.dst);
                    self.halves = [self.halves[1], self.clocks[2]];
                    self.packed = true;
                }
            }
        }
        Ok(true)
    }

    /// Works on a tile, or on a block whose `parts` pass from the unpackers to the FPU one by one.
    fn tile(&mut self, cycles: TileCycles, parts: u64, sync: u64) {
        let mut unpacked = self.clocks[0];
        if cycles.unpack > 0 {
            self.clocks[0] = self.clocks[0].max(self.sources[0]);
            unpacked = self.clocks[0] + cycles.unpack / parts;
            self.work(0, cycles.unpack);
        }
        if cycles.math > 0 {
            if self.packed {
                // The math of a tile needs the half of Dst that was packed before the last one.
                self.clocks[1] = self.clocks[1].max(self.halves[0]);
                self.packed = false;
            }
            let start = self.clocks[1].max(unpacked);
            let last = self.clocks[0] + cycles.math / parts;
            self.clocks[1] = last.max(start + cycles.math) + sync;
            self.busy[1] += cycles.math + sync;
            if cycles.unpack > 0 {
                self.sources = [self.sources[1], self.clocks[1]];
            }
        }
        if cycles.pack > 0 {
            self.clocks[2] = self.clocks[2].max(self.clocks[1]);
            self.work(2, cycles.pack);
        }
    }

    /// Issues reads or writes one after the other, and waits at barriers.
    fn transfer(&mut self, transfer: Transfer, write: bool, costs: &Costs, mechanisms: &Mechanisms) {
        let Transfer { place, pages, page_bytes, per_barrier, in_step } = transfer;
        let issue = if place == Place::Local { mechanisms.local_issue } else { mechanisms.issue };
        let (latency, rate) = match (place, write) {
            (Place::Dram | Place::DramOther | Place::DramOwn, false) => (mechanisms.dram_read, mechanisms.port),
            (Place::Dram | Place::DramOther | Place::DramOwn, true) => (mechanisms.dram_write, mechanisms.port),
            (Place::L1, false) => (mechanisms.l1_read, mechanisms.port),
            (Place::L1, true) => (mechanisms.l1_write, mechanisms.port),
            (Place::Local, _) => (mechanisms.local_read, mechanisms.loopback),
        };
        let slower = if place == Place::L1 { in_step.max(100) as f64 / 100.0 } else { 1.0 };
        let stream = ((page_bytes as f64 * slower / rate).ceil() as u64).max(1);
        if per_barrier == 0 {
            // A write leaves L1 before the next one is issued; its acknowledgement comes later.
            let pace = if write { issue.max(stream) } else { issue };
            for _ in 0..pages {
                self.work(0, pace);
                let arrives = if write { self.clocks[0] } else { self.pending.max(self.clocks[0] + latency) + stream };
                self.pending = self.pending.max(if write { arrives + latency } else { arrives });
            }
            return;
        }
        let mut left = pages;
        while left > 0 {
            let batch = left.min(per_barrier.max(1));
            left -= batch;
            // Pages follow each other at the pace of the slower of issue and stream.
            let paced = issue + (batch - 1) * issue.max(stream);
            self.work(0, paced + latency + stream + costs.risc.barrier);
        }
    }
}
