//! Scheduling: queue of ready kernels, blocking and waking.

use std::cmp::Reverse;

use tt_memory::{Device, Place};

use crate::calls::Step;
use crate::error::FaultKind;
use crate::state::kernel::{State, Transfers, Wait};
use crate::state::time::QUANTUM;
use crate::state::{Change, Run};

/// So many reads of one unchanged word in a row are a loop that waits for it.
const POLLS: u32 = 64;
/// So many reads of an unchanged flag, while nobody else can run, are a loop without an end.
const IDLE_READS: u32 = 4096;

impl Run {
    /// Whether the running kernel is so far ahead of the others that they should go first. If so it is back in the
    /// queue.
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
        self.kernels[kernel].woken = now;
        let clock = self.kernels[kernel].clock().max(now);
        self.queue.push(Reverse((clock, kernel)));
        self.limit = self.limit.min(clock + QUANTUM);
    }

    /// Chooses the kernel that runs next.
    ///
    /// Of those that can go on the one with the smallest clock, then core, then RISC. `None`: nobody can.
    pub fn schedule(&mut self) -> Option<usize> {
        let Reverse((_, kernel)) = self.queue.pop()?;
        self.limit = self.queue.peek().map_or(u64::MAX, |&Reverse((clock, _))| clock + QUANTUM);
        if kernel != self.current {
            self.idle = 0;
        }
        self.current = kernel;
        Some(kernel)
    }

    /// Returns true if every kernel has returned.
    pub fn is_finished(&self) -> bool {
        self.finished == self.kernels.len()
    }

    /// The running kernel has returned. `false`: its threads have not.
    ///
    /// # Errors
    /// It left transfers, pages or `Dst` behind.
    pub fn finish_kernel(&mut self) -> Step {
        if self.puts_off() && !self.end_threads()? {
            return Ok(false);
        }
        self.kernels[self.current].calls += 1;
        if self.watched {
            self.check_leftovers().map_err(|what| self.fault("kernel_main", what))?;
        }
        self.noted("end of the kernel", |run| {
            let cost = run.time.launch().kernel_end;
            let kernel = &mut run.kernels[run.current];
            for clock in &mut kernel.clocks {
                *clock += cost;
            }
            kernel.state = State::Done;
            run.finished += 1;
            Ok(true)
        })
    }

    fn check_leftovers(&mut self) -> Result<(), FaultKind> {
        let current = self.current;
        let (kernel, core) = self.here();
        let Transfers { reads, unacknowledged, atomics, .. } = &kernel.transfers;
        if !(reads.is_empty() && unacknowledged.is_empty() && atomics.is_empty()) {
            let (reads, writes, atomics) = (reads.len(), unacknowledged.len(), atomics.len());
            return Err(FaultKind::EndsWithTransfers { reads, writes, atomics });
        }
        if let Some(compute) = &kernel.compute {
            compute.check_released()?;
        }
        // Pages that were reserved and only used as scratch memory are legal, as long as the CB never carries data. So
        // are those into which a kernel has written nothing: to reserve is to wait for room.
        let computes = kernel.compute.is_some();
        for cb in core.all_cbs() {
            let unused = if computes { cb.packed == 0 && !cb.packed_at_place } else { !core.wrote_reserved(cb) };
            if cb.producer == Some(current) && cb.reserved > 0 && cb.pushed > 0 && !unused {
                return Err(FaultKind::MissingPush { cb: cb.index, pages: cb.reserved });
            }
            if cb.consumer == Some(current) && cb.waited > 0 && cb.popped > 0 {
                return Err(FaultKind::MissingPop { cb: cb.index, pages: cb.waited });
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
    ) -> Result<(), FaultKind> {
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
        let kernel = (!self.guest).then_some(self.current);
        self.words.insert((bank, address), Change { time, kernel, seen: false });
    }

    /// The running kernel has looked at a word of its own L1. Returns when the word was last changed.
    pub(crate) fn word_seen(&mut self, bank: usize, address: u32) -> u64 {
        self.words.get_mut(&(bank, address)).map_or(0, |change| {
            change.seen = true;
            change.time
        })
    }

    /// Unseen changes of this word in other cores' L1.
    ///
    /// At this address; no kernel there has looked at them. L1 banks, and the kernels that made them.
    pub fn unseen_changes(&self, bank: usize, address: u32) -> Vec<(usize, usize)> {
        let there = self.words.iter().filter(|&(&(other, at), change)| other != bank && at == address && !change.seen);
        there.filter_map(|(&(other, _), change)| Some((other, change.kernel?))).collect()
    }

    /// The last kernel that changed an awaited word of L1.
    ///
    /// As far as anybody may wait for it.
    pub fn word_writer(&self, bank: usize, address: u32) -> Option<usize> {
        self.words.get(&(bank, address)).and_then(|change| change.kernel)
    }
}
