//! Loads and stores of L1 through pointers: the checks of each, and windows in which all would pass.

use std::ops::Range;

use tt_memory::{Device, Place};

use super::open::{Open, UNIT};
use crate::calls::memory::{Use, check_window};
use crate::calls::order::FLAG_BYTES;
use crate::error::FaultKind;
use crate::spec::Risc;
use crate::state::Run;
use crate::state::kernel::{Stall, State, Thread, Wait};
use crate::state::time::Target;

/// Windows are checked and opened in blocks of these sizes, so that a single access does not pay for a large buffer, and
/// those to one half of a block do not pay for the other.
const BLOCKS: [u32; 3] = [4096, 256, UNIT];

impl Run {
    /// Addresses of all runtime arguments of a core.
    pub(super) fn argument_words(&self) -> Range<u32> {
        self.first_argument(Risc::Brisc)..self.semaphore_address(0)
    }

    /// Lets all threads of the running kernel wait for a word of L1.
    fn wait_for_word(&mut self, address: u32, time: u64) {
        let kernel = &mut self.kernels[self.current];
        let threads = if kernel.compute.is_some() { 3 } else { 1 };
        for thread in [Thread::Unpack, Thread::Math, Thread::Pack].into_iter().take(threads) {
            kernel.wait_until(thread, time, Stall::Semaphore(address));
        }
    }

    /// The running kernel polled a word, and was woken.
    pub(super) fn resume_poll(&mut self, address: u32) {
        let woken = self.kernels[self.current].woken;
        self.wait_for_word(address, woken);
        self.kernels[self.current].state = State::Ready;
    }

    /// Bytes of own L1 as a flag, and what a loop that waits for another value waits for.
    pub(super) fn load_shared(
        &mut self,
        device: &Device,
        address: u32,
        bytes: u32,
    ) -> Result<(u32, Option<Wait>), FaultKind> {
        self.check_arrived(address, bytes)?;
        let bank = self.own_place(0).bank;
        self.touch(device, Target::Worker(bank), address.into(), bytes.into(), Use::Read)?;
        let word = address & !3;
        self.order_load(self.own_place(word))?;
        let changed = self.word_seen(bank, word);
        self.wait_for_word(word, changed);
        let whole = u32::from_le_bytes(device.bytes(self.own_place(word), 4)?.try_into().unwrap_or_default());
        let value = whole >> (8 * (address & 3));
        Ok((value, Some(Wait::Change { address: word, value: whole })))
    }

    /// Stores bytes to own L1 as a flag.
    pub(super) fn store_shared(&mut self, device: &mut Device, address: u32, bytes: &[u8]) -> Result<(), FaultKind> {
        let place = self.own_place(address & !3);
        self.touch(device, Target::Worker(place.bank), address.into(), bytes.len() as u64, Use::Write)?;
        self.check_not_sending(address, bytes.len() as u32)?;
        self.order_write(place, 4)?;
        device.bytes_mut(self.own_place(address), bytes.len())?.copy_from_slice(bytes);
        let (word, now) = (address & !3, self.kernels[self.current].clock());
        self.word_changed(place.bank, word, now);
        self.l1_changed(device, place.bank, word, word + 4, now)
    }

    /// Opens the block around an address, or a part of it, as far as the running kernel may use all of it like this.
    /// `false` if not: then the access is one of a kind, or wrong.
    pub(super) fn open_window(&mut self, device: &Device, open: &mut Open, address: u32, how: Use) -> bool {
        let Some(window) = self.window(device, address, how) else { return false };
        BLOCKS.iter().any(|&bytes| {
            let block = address & !(bytes - 1);
            let start = window.start.max(block).next_multiple_of(UNIT);
            let end = window.end.min(block + bytes) & !(UNIT - 1);
            start < end && self.all_may(device, start, end, how) && open.open(start, end, how == Use::Write, address)
        })
    }

    /// Addresses around one in which what holds for it holds for all: pages that are held, or a buffer.
    fn window(&self, device: &Device, address: u32, how: Use) -> Option<Range<u32>> {
        let core = &self.cores[self.kernels[self.current].core];
        if u64::from(address) < self.l1_base {
            return None;
        }
        let mut inside = false;
        for cb in core.all_cbs().filter(|cb| cb.address <= address && address < cb.end()) {
            inside = true;
            let (back, front) = (cb.write_pointer(), cb.read_pointer());
            let reserved = back..(back + cb.reserved * cb.page_bytes).min(cb.end());
            let waited = front..(front + cb.waited * cb.page_bytes).min(cb.end());
            let found = [reserved, waited, cb.address..cb.end()].into_iter().find(|window| {
                window.contains(&address) && check_window(cb, self.current, true, window.start, window.end, how).is_ok()
            });
            if found.is_some() {
                return found;
            }
        }
        if inside {
            return None;
        }
        let buffer = device.owner(self.own_place(address))?;
        let end = buffer.address() + buffer.bytes_per_bank();
        Some(buffer.address() as u32..end as u32)
    }

    /// Whether the running kernel may read all of a range of own L1, or write to it, and nothing in it is a flag that
    /// somebody else has changed.
    fn all_may(&self, device: &Device, start: u32, end: u32, how: Use) -> bool {
        let place = self.own_place(start);
        let clear = match how {
            Use::Read => self.check_arrived(start, end - start),
            Use::Write => self.check_not_sending(start, end - start),
        };
        let known = self.order.as_ref().is_none_or(|order| {
            order.conflict(self.current, place, end.into(), how == Use::Write).is_none()
                && order.unseen_among(self.current, place.bank, start, end).is_none()
        });
        clear.is_ok() && known && (how == Use::Write || !self.watched || self.all_written(device, start, end))
    }

    fn all_written(&self, device: &Device, start: u32, end: u32) -> bool {
        let core = &self.cores[self.kernels[self.current].core];
        if let Some(cb) = core.cb_at(start) {
            return cb.borrowed || core.shadow.all(start, end);
        }
        let place: Place = self.own_place(start);
        device.owner(place).is_some_and(|buffer| {
            let offset = (place.address - buffer.address()) as usize;
            buffer.bytes_written(place.bank, offset, (end - start) as usize)
        })
    }

    /// Notes what was loaded from windows and stored to them.
    pub(super) fn settle(&mut self, device: &Device, open: &mut Open) -> Result<(), FaultKind> {
        while let Some((start, end)) = open.take_loaded() {
            let place = self.own_place(start);
            if let Some(order) = &mut self.order {
                order.record_read(self.current, place, end.into());
            }
        }
        while let Some((start, end)) = open.take_stored() {
            let place = self.own_place(start);
            self.touch(device, Target::Worker(place.bank), start.into(), (end - start).into(), Use::Write)?;
            let now = self.kernels[self.current].clock();
            if end - start <= FLAG_BYTES {
                // So few bytes may be a flag, as in all other calls.
                for word in (start..end).step_by(4) {
                    self.order_write(self.own_place(word), 4)?;
                    self.word_changed(place.bank, word, now);
                }
            } else if let Some(order) = &mut self.order {
                order.record_write(self.current, place, end.into(), None);
            }
            self.l1_changed(device, place.bank, start, end, now)?;
        }
        Ok(())
    }
}
