//! Calls of kernels on circular buffers.

use tt_memory::Device;

use crate::calls::Step;
use crate::calls::compute::threads::{PACK, UNPACK};
use crate::calls::memory::require_in_l1;
use crate::error::{Fault, FaultKind};
use crate::state::Run;
use crate::state::cb::Cb;
use crate::state::kernel::{InFlight, Stall, Thread, Wait};

/// Address, page bytes, pages, format code, tile bytes, tile height, tile width.
pub type Interface = (u32, u32, u32, u8, u32, u32, u32);

impl Run {
    /// A call that names no pages takes its time and does nothing: kernels make it where no padding is to be skipped.
    fn no_pages(&mut self, cb: u32, thread: Thread, cost: u64) -> Result<(), FaultKind> {
        let (kernel, core) = self.here();
        core.cb_mut(cb)?;
        kernel.clocks[kernel.thread(thread) as usize] += cost;
        Ok(())
    }

    /// Notes pages whose push or pop is put off, or made after all.
    fn count_later(&mut self, cb: u32, count: impl FnOnce(&mut Cb)) {
        if let Ok(buffer) = self.here().1.cb_mut(cb) {
            count(buffer);
        }
    }

    /// Waits until `pages` pages are at the front.
    ///
    /// # Errors
    /// Unknown CB, impossible count.
    pub fn cb_wait_front(&mut self, cb: u32, pages: u32) -> Step {
        if self.is_behind(UNPACK) || !self.catching_up && self.may_run_ahead() {
            self.put_off(UNPACK, move |run, _| run.cb_wait_front(cb, pages))?;
            return Ok(true);
        }
        self.checked("cb_wait_front", |run| {
            let cost = run.time.risc().cb_check;
            if !run.watched {
                return run.unwatched_wait_front(cb, pages, cost);
            }
            if pages == 0 {
                return run.no_pages(cb, Thread::Unpack, cost).map(|()| true);
            }
            let current = run.current;
            let (kernel, core, order) = run.here_ordered();
            let buffer = core.cb_mut(cb)?;
            buffer.check_count(pages)?;
            if buffer.available() < pages {
                run.block(Wait::Front { cb, pages });
                return Ok(false);
            }
            let other_producer = buffer.producer.is_some_and(|producer| producer != current);
            buffer.waited = buffer.waited.max(pages);
            let last = (buffer.read_page + pages - 1) % buffer.pages;
            let thread = kernel.thread(Thread::Unpack);
            let ready = buffer.pushed_at[last as usize];
            kernel.wait_until(thread, ready, Stall::Front(cb));
            if let (Some(order), true) = (order, other_producer) {
                order.acquire(current, &buffer.pushed_by);
            }
            kernel.clocks[thread as usize] += cost;
            Ok(true)
        })
    }

    /// Waits until `pages` pages are free at the back.
    ///
    /// # Errors
    /// Unknown CB, impossible count, a second producer.
    pub fn cb_reserve_back(&mut self, cb: u32, pages: u32) -> Step {
        if self.is_behind(PACK) || !self.catching_up && self.may_run_ahead() {
            self.put_off(PACK, move |run, _| run.cb_reserve_back(cb, pages))?;
            return Ok(true);
        }
        self.checked("cb_reserve_back", |run| {
            let cost = run.time.risc().cb_check;
            if !run.watched {
                return run.unwatched_reserve_back(cb, pages, cost);
            }
            if pages == 0 {
                return run.no_pages(cb, Thread::Pack, cost).map(|()| true);
            }
            let current = run.current;
            run.require_producer(cb)?;
            let (kernel, core, order) = run.here_ordered();
            let buffer = core.cb_mut(cb)?;
            buffer.check_count(pages)?;
            if buffer.free() < pages {
                run.block(Wait::Back { cb, pages });
                return Ok(false);
            }
            buffer.producer = Some(current);
            buffer.reserved = buffer.reserved.max(pages);
            let last = (buffer.write_page + pages - 1) % buffer.pages;
            let thread = kernel.thread(Thread::Pack);
            kernel.wait_until(thread, buffer.freed_at[last as usize], Stall::Back(cb));
            if let (Some(order), Some(_)) = (order, buffer.consumer.filter(|&other| other != current)) {
                order.acquire(current, &buffer.popped_by);
            }
            kernel.clocks[thread as usize] += cost;
            Ok(true)
        })
    }

    /// Publishes reserved pages.
    ///
    /// # Errors
    /// More pages than are reserved; data of a read that was not waited for.
    pub fn cb_push_back(&mut self, cb: u32, pages: u32) -> Result<(), Fault> {
        if self.is_behind(PACK) {
            self.count_later(cb, |buffer| buffer.pushed_later += pages);
            return self.put_off(PACK, move |run, _| {
                run.count_later(cb, |buffer| buffer.pushed_later -= pages);
                run.cb_push_back(cb, pages).map(|()| true)
            });
        }
        self.checked("cb_push_back", |run| {
            let cost = run.time.risc().cb_advance;
            if !run.watched {
                let now = run.unwatched_advance(cb, pages, Thread::Pack, cost)?;
                run.wake_cb(cb, now);
                return Ok(());
            }
            if pages == 0 {
                return run.no_pages(cb, Thread::Pack, cost);
            }
            let current = run.current;
            run.require_producer(cb)?;
            let watched = run.watched;
            let (kernel, core, order) = run.here_ordered();
            let buffer = core.cb_mut(cb)?;
            buffer.check_count(pages)?;
            if pages > buffer.reserved {
                return Err(FaultKind::PushWithoutReserve { cb, pages, reserved: buffer.reserved });
            }
            buffer.check_end(buffer.write_page, pages)?;
            let (start, end) = (buffer.write_pointer(), buffer.write_pointer() + pages * buffer.page_bytes);
            let unfinished = kernel.transfers.reads.iter().find(|read| watched && read.touches(start, end));
            if let Some(read) = unfinished {
                return Err(FaultKind::PushBeforeReadBarrier { cb, address: read.start, bytes: read.end - read.start });
            }
            let thread = kernel.thread(Thread::Pack) as usize;
            kernel.clocks[thread] += cost;
            let now = kernel.clocks[thread];
            for page in buffer.write_page..buffer.write_page + pages {
                buffer.pushed_at[page as usize] = now;
            }
            buffer.write_page = (buffer.write_page + pages) % buffer.pages;
            buffer.pushed += u64::from(pages);
            buffer.reserved -= pages;
            buffer.packed = 0;
            buffer.packed_at_place = false;
            buffer.packed_over.fill(false);
            buffer.producer = Some(current);
            if let Some(compute) = kernel.compute.as_deref_mut().filter(|compute| compute.packing) {
                compute.pushed |= 1 << (cb % 64);
            }
            if let Some(order) = order {
                order.release(current, &mut buffer.pushed_by);
            }
            run.wake_cb(cb, now);
            Ok(())
        })
    }

    /// Frees pages of the front.
    ///
    /// # Errors
    /// More pages than were waited for; bytes that are still being sent; a second consumer.
    pub fn cb_pop_front(&mut self, cb: u32, pages: u32) -> Result<(), Fault> {
        if self.is_behind(UNPACK) {
            self.count_later(cb, |buffer| buffer.popped_later += pages);
            return self.put_off(UNPACK, move |run, _| {
                run.count_later(cb, |buffer| buffer.popped_later -= pages);
                run.cb_pop_front(cb, pages).map(|()| true)
            });
        }
        self.checked("cb_pop_front", |run| {
            let cost = run.time.risc().cb_advance;
            if !run.watched {
                let now = run.unwatched_advance(cb, pages, Thread::Unpack, cost)?;
                run.wake_cb(cb, now);
                return Ok(());
            }
            if pages == 0 {
                return run.no_pages(cb, Thread::Unpack, cost);
            }
            let current = run.current;
            let first = run.here().1.cb_mut(cb)?.consumer.filter(|&first| first != current);
            if let Some(first) = first {
                return Err(FaultKind::TwoConsumers { cb, first: run.kernels[first].describe() });
            }
            let buffer = run.here().1.cb_mut(cb)?;
            buffer.check_count(pages)?;
            if pages > buffer.waited {
                return Err(FaultKind::PopWithoutWait { cb, pages, waited: buffer.waited });
            }
            buffer.check_end(buffer.read_page, pages)?;
            let (start, end) = (buffer.read_pointer(), buffer.read_pointer() + pages * buffer.page_bytes);
            if let Some(&InFlight { start: address, end, .. }) = run.still_sending(start, end) {
                return Err(FaultKind::PopBeforeWriteBarrier { cb, address, bytes: end - address });
            }
            let (kernel, core, order) = run.here_ordered();
            let buffer = core.cb_mut(cb)?;
            let thread = kernel.thread(Thread::Unpack) as usize;
            kernel.clocks[thread] += cost;
            let now = kernel.clocks[thread];
            for page in buffer.read_page..buffer.read_page + pages {
                buffer.freed_at[page as usize] = now;
            }
            // What was written stays for the CBs that share the memory, and pages that were packed over are pushed again.
            let page_bytes = buffer.page_bytes;
            let emptied = (buffer.read_page..buffer.read_page + pages).zip((start..end).step_by(page_bytes as usize));
            let emptied: Vec<u32> = emptied
                .filter(|&(page, _)| !buffer.shared && !buffer.packed_over[page as usize])
                .map(|(_, first)| first)
                .collect();
            for first in emptied {
                core.shadow.clear(first, first + page_bytes);
            }
            let buffer = core.cb_mut(cb)?;
            buffer.read_page = (buffer.read_page + pages) % buffer.pages;
            buffer.popped += u64::from(pages);
            buffer.waited -= pages;
            buffer.consumer = Some(current);
            if let Some(order) = order {
                order.release(current, &mut buffer.popped_by);
            }
            run.wake_cb(cb, now);
            Ok(())
        })
    }

    /// Returns true if `pages` pages are at the front, now.
    ///
    /// `None`: the kernel polls, and has to wait for them.
    ///
    /// # Errors
    /// Unknown CB.
    pub fn cb_pages_available_at_front(&mut self, cb: u32, pages: u32) -> Result<Option<bool>, Fault> {
        self.checked("cb_pages_available_at_front", |run| {
            if !run.require_here(UNPACK)? {
                return Ok(None);
            }
            let cost = run.time.risc().cb_check;
            let kernel = run.here().0;
            let thread = kernel.thread(Thread::Unpack) as usize;
            kernel.clocks[thread] += cost;
            let current = run.current;
            let yes = run.ring(cb)?.available_to(current) >= pages;
            Ok(run.answer(yes, Wait::Front { cb, pages }))
        })
    }

    /// Returns true if `pages` pages are free at the back, now.
    ///
    /// `None`: as above.
    ///
    /// # Errors
    /// Unknown CB.
    pub fn cb_pages_reservable_at_back(&mut self, cb: u32, pages: u32) -> Result<Option<bool>, Fault> {
        self.checked("cb_pages_reservable_at_back", |run| {
            if !run.require_here(PACK)? {
                return Ok(None);
            }
            let cost = run.time.risc().cb_check;
            let kernel = run.here().0;
            let thread = kernel.thread(Thread::Pack) as usize;
            kernel.clocks[thread] += cost;
            let current = run.current;
            let yes = run.ring(cb)?.free_to(current) >= pages;
            Ok(run.answer(yes, Wait::Back { cb, pages }))
        })
    }

    /// L1 address of the back page for this kernel.
    ///
    /// Only the producer's pointer moves.
    ///
    /// # Errors
    /// Unknown CB.
    pub fn get_write_ptr(&mut self, cb: u32) -> Result<u32, Fault> {
        self.checked("get_write_ptr", |run| {
            run.book(run.time.risc().l1_load);
            let current = run.current;
            Ok(run.here().1.cb_mut(cb)?.write_pointer_of(current))
        })
    }

    /// L1 address of the front page for this kernel.
    ///
    /// Only the consumer's pointer moves.
    ///
    /// # Errors
    /// Unknown CB.
    pub fn get_read_ptr(&mut self, cb: u32) -> Result<u32, Fault> {
        self.checked("get_read_ptr", |run| {
            run.book(run.time.risc().l1_load);
            let current = run.current;
            Ok(run.here().1.cb_mut(cb)?.read_pointer_of(current))
        })
    }

    /// Returns the host's configuration.
    ///
    /// # Errors
    /// Unknown CB.
    pub fn cb_interface(&mut self, cb: u32) -> Result<Interface, Fault> {
        self.checked("get_local_cb_interface", |run| {
            run.book(run.time.risc().l1_load);
            let buffer = run.here().1.cb_mut(cb)?;
            let Cb { address, page_bytes, pages, format, tile_bytes, tile, .. } = *buffer;
            Ok((address, page_bytes, pages, format.code(), tile_bytes, tile.0, tile.1))
        })
    }

    fn require_producer(&mut self, cb: u32) -> Result<(), FaultKind> {
        let current = self.current;
        let first = self.here().1.cb_mut(cb)?.producer.filter(|&first| first != current);
        first.map_or(Ok(()), |first| Err(FaultKind::TwoProducers { cb, first: self.kernels[first].describe() }))
    }

    /// Lets kernels of this core go on that waited for pages of a CB.
    fn wake_cb(&mut self, cb: u32, now: u64) {
        let slot = self.kernels[self.current].core;
        for index in 0..self.cores[slot].kernels.len() {
            let kernel = self.cores[slot].kernels[index];
            let Some(wait) = self.waits(kernel) else { continue };
            let Ok(buffer) = self.ring(cb) else { continue };
            let (available, free) = (buffer.available_to(kernel), buffer.free_to(kernel));
            let comes = |wait| match wait {
                Wait::Front { cb: other, pages } => other == cb && available >= pages,
                Wait::Back { cb: other, pages } => other == cb && free >= pages,
                _ => false,
            };
            let mut later = self.kernels[kernel].compute.iter().flat_map(|compute| &compute.later);
            if comes(wait) || later.any(|call| call.wait.is_some_and(comes)) {
                self.wake(kernel, now);
            }
        }
    }

    /// Bytes of a front tile, checked.
    ///
    /// # Errors
    /// As [`Cb::front_tile`]; nobody wrote into the page.
    pub(crate) fn front_address(&mut self, cb: u32, tile: u32) -> Result<u32, FaultKind> {
        let (watched, current) = (self.watched, self.current);
        let core = self.here().1;
        let buffer = core.cb_mut(cb)?;
        let address = buffer.front_tile(current, tile)?;
        if watched && buffer.packed_over[((buffer.read_page + tile) % buffer.pages) as usize] {
            return Err(FaultKind::PackedOver { cb, tile });
        }
        self.require_written(cb, tile, address)?;
        Ok(address)
    }

    /// A tile at this address of a CB lies in L1, somebody wrote into it, and no race is in the way.
    pub(crate) fn require_written(&mut self, cb: u32, tile: u32, address: u32) -> Result<(), FaultKind> {
        let watched = self.watched;
        let core = self.here().1;
        let buffer = core.cb_mut(cb)?;
        let (bytes, borrowed) = (buffer.tile_bytes, buffer.borrowed);
        if watched && !borrowed && !core.shadow.any(address, address + bytes) {
            return Err(FaultKind::UnwrittenPage { cb, tile });
        }
        require_in_l1(self.chip.l1_bytes, address, bytes)?;
        self.order_read(self.own_place(address), bytes)
    }

    /// A word of a CB's front tile, as from `read_tile_value`.
    ///
    /// `None`: the unpacker is late.
    ///
    /// # Errors
    /// As [`Run::front_address`].
    pub fn read_tile_value(&mut self, device: &Device, cb: u32, tile: u32, word: u32) -> Result<Option<u32>, Fault> {
        self.checked("read_tile_value", |run| {
            if !run.require_here(UNPACK)? {
                return Ok(None);
            }
            run.book(run.time.risc().l1_load);
            let address = run.front_address(cb, tile)?;
            let words = run.here().1.cb_mut(cb)?.tile_bytes / 4;
            if word >= words {
                return Err(FaultKind::Argument(format!("word {word} of a tile of CB {cb}, which has {words} words")));
            }
            let place = run.own_place(address + word * 4);
            let bytes: [u8; 4] = device.bytes(place, 4)?.try_into().unwrap_or_default();
            Ok(Some(u32::from_le_bytes(bytes)))
        })
    }
}
