//! Calls on circular buffers without the watcher.
//!
//! What a card does, whatever the program forgot.

use crate::error::FaultKind;
use crate::state::Run;
use crate::state::cb::Cb;
use crate::state::kernel::{Stall, Thread, Wait};

impl Run {
    /// A circular buffer of the running kernel's core; of one that is not configured, its counters.
    pub(crate) fn ring(&mut self, cb: u32) -> Result<&mut Cb, FaultKind> {
        let (watched, count) = (self.watched, self.chip.circular_buffers);
        let slot = self.kernels[self.current].core;
        if watched || cb >= count || matches!(self.cores[slot].cbs.get(cb as usize), Some(Some(_))) {
            return self.cores[slot].cb_mut(cb);
        }
        let kernels: Vec<(usize, bool)> = self.compute_kernels(slot);
        let bare = &mut self.cores[slot].bare;
        let at = bare.iter().position(|buffer| buffer.index == cb);
        let at = at.unwrap_or_else(|| {
            let mut buffer = Cb::unconfigured(cb);
            buffer.unwatch(&kernels);
            bare.push(buffer);
            bare.len() - 1
        });
        Ok(&mut self.cores[slot].bare[at])
    }

    /// The kernels of a core, and whether each is a compute kernel.
    pub(crate) fn compute_kernels(&self, slot: usize) -> Vec<(usize, bool)> {
        self.cores[slot].kernels.iter().map(|&index| (index, self.kernels[index].compute.is_some())).collect()
    }

    pub(crate) fn unwatched_wait_front(&mut self, cb: u32, pages: u32, cost: u64) -> Result<bool, FaultKind> {
        let current = self.current;
        let buffer = self.ring(cb)?;
        if buffer.available_to(current) < pages {
            self.block(Wait::Front { cb, pages });
            return Ok(false);
        }
        let ready = buffer.came_at(pages);
        self.unwatched_go_on(Thread::Unpack, ready, Stall::Front(cb), cost);
        Ok(true)
    }

    pub(crate) fn unwatched_reserve_back(&mut self, cb: u32, pages: u32, cost: u64) -> Result<bool, FaultKind> {
        let current = self.current;
        let buffer = self.ring(cb)?;
        if buffer.free_to(current) < pages {
            self.block(Wait::Back { cb, pages });
            return Ok(false);
        }
        let free = buffer.freed_at(pages);
        self.unwatched_go_on(Thread::Pack, free, Stall::Back(cb), cost);
        Ok(true)
    }

    fn unwatched_go_on(&mut self, thread: Thread, time: u64, stall: Stall, cost: u64) {
        let kernel = &mut self.kernels[self.current];
        let thread = kernel.thread(thread);
        kernel.wait_until(thread, time, stall);
        kernel.clocks[thread as usize] += cost;
    }

    /// Publishes or frees pages. Returns the kernel's time.
    pub(crate) fn unwatched_advance(
        &mut self,
        cb: u32,
        pages: u32,
        thread: Thread,
        cost: u64,
    ) -> Result<u64, FaultKind> {
        let current = self.current;
        let kernel = &mut self.kernels[current];
        let clock = &mut kernel.clocks[kernel.thread(thread) as usize];
        *clock += cost;
        let now = *clock;
        let buffer = self.ring(cb)?;
        match thread {
            Thread::Pack => buffer.card_push(current, pages, now),
            _ => buffer.card_pop(current, pages, now),
        }
        Ok(now)
    }
}
