//! Loads and stores of L1 through pointers.
//!
//! The checks of each, and windows in which all would pass.

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
                window.contains(&address)
                    && (!self.watched
                        || check_window(cb, self.current, !self.keeps_headers(cb), window.start, window.end, how)
                            .is_ok())
            });
            if found.is_some() {
                return found;
            }
        }
        if inside {
            return None;
        }
        let place = self.own_place(address);
        let buffer = device.owner(place)?;
        let start = buffer.start_in(place.bank);
        Some(start as u32..(start + buffer.bytes_per_bank()) as u32)
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
            let offset = (place.address - buffer.start_in(place.bank)) as usize;
            buffer.bytes_written(device.current(), place.bank, offset, (end - start) as usize)
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

#[cfg(test)]
mod tests {
    use tt_formats::DataFormat;
    use tt_memory::buffer::BufferType;
    use tt_memory::chip::{LogicalCore, N150};
    use tt_memory::device::OpenOptions;
    use tt_riscv::Memory;

    use super::*;
    use crate::spec::{CbSpec, KernelSpec, ProgramSpec};

    /// First byte of CB 0, which has 64 pages of 256 B. It lies 96 B behind a multiple of 256.
    const START: u32 = 105_824;
    const END: u32 = START + 64 * 256;

    /// Two kernels of one core.
    fn program() -> (Device, Run) {
        let mut device = Device::open(&N150, OpenOptions::default()).expect("a device");
        let core = LogicalCore { x: 0, y: 0 };
        let cb = |index, address, page_bytes, pages| CbSpec {
            core,
            index,
            address,
            page_bytes,
            pages,
            format: DataFormat::Float16B,
            tile: (32, 32),
            borrowed: index == 1,
        };
        let kernel = |risc: Risc| KernelSpec {
            core,
            risc,
            name: risc.name().to_owned(),
            noc: 0,
            args: Vec::new(),
            compute: None,
        };
        let spec = ProgramSpec {
            cbs: vec![cb(0, START, 256, 64), cb(1, END, 64, 4)],
            kernels: vec![kernel(Risc::Brisc), kernel(Risc::Ncrisc)],
            ..ProgramSpec::default()
        };
        let run = Run::new(&mut device, &spec).expect("a run");
        (device, run)
    }

    /// First address and one past the last of what is open around an address after it was asked for.
    fn opened(device: &Device, run: &mut Run, address: u32, how: Use) -> Option<(u32, u32)> {
        let bytes = N150.l1_bytes as u32;
        let mut open = Open::new(bytes, [0..0, 0..0]);
        if !run.open_window(device, &mut open, address, how) {
            return None;
        }
        let mut l1 = vec![0; bytes as usize];
        let mut memory = open.memory(&mut l1);
        let mut is_open = |unit: u32| match how {
            Use::Read => memory.load::<1>(unit).is_some(),
            Use::Write => memory.store(unit, [0]),
        };
        let units: Vec<u32> = (0..bytes).step_by(UNIT as usize).filter(|&unit| is_open(unit)).collect();
        let (first, last) = (*units.first()?, *units.last()?);
        assert_eq!(units.len() as u32, (last - first) / UNIT + 1, "one range");
        assert!((first..last + UNIT).contains(&address));
        Some((first, last + UNIT))
    }

    fn store(device: &mut Device, run: &mut Run, kernel: usize, address: u32, bytes: usize) {
        run.current = kernel;
        run.store_bytes(device, address, &vec![1; bytes]).expect("a store");
    }

    #[test]
    fn of_plain_memory_the_block_around_an_address_is_opened() {
        let (device, mut run) = program();
        for (address, range) in [
            (START, (START, 106_496)),
            (106_495, (START, 106_496)),
            (106_496, (106_496, 110_592)),
            (END - 1, (118_784, END)),
        ] {
            assert_eq!(opened(&device, &mut run, address, Use::Write), Some(range), "{address}");
            assert_eq!(opened(&device, &mut run, address, Use::Read), None, "nothing is written there");
        }
        for address in [START - 1, START - 4096, 100, END + 256, N150.l1_bytes as u32 - 4] {
            assert_eq!(opened(&device, &mut run, address, Use::Write), None, "{address}");
        }
        // In a buffer of the host's everything counts as written.
        assert_eq!(opened(&device, &mut run, END, Use::Read), Some((END, END + 256)));
    }

    #[test]
    fn of_a_circular_buffer_only_pages_that_are_held_are_opened() {
        let (mut device, mut run) = program();
        run.current = 1;
        run.cb_reserve_back(0, 3).expect("pages");
        assert_eq!(opened(&device, &mut run, START, Use::Write), Some((START, 106_496)));
        assert_eq!(opened(&device, &mut run, START + 767, Use::Write), Some((106_496, START + 768)));
        assert_eq!(opened(&device, &mut run, START + 768, Use::Write), None);
        store(&mut device, &mut run, 1, START, 768);
        run.cb_push_back(0, 1).expect("a push");
        assert_eq!(opened(&device, &mut run, START + 255, Use::Write), None, "pushed");
        assert_eq!(opened(&device, &mut run, START + 256, Use::Write), Some((START + 256, 106_496)));
        assert_eq!(opened(&device, &mut run, START + 255, Use::Read), Some((START, 106_496)), "it made them");
        run.current = 0;
        assert_eq!(opened(&device, &mut run, START, Use::Read), None, "not waited for");
        run.cb_wait_front(0, 1).expect("a page");
        assert_eq!(opened(&device, &mut run, START, Use::Read), Some((START, START + 256)));
        assert_eq!(opened(&device, &mut run, START, Use::Write), Some((START, START + 256)), "in place");
        assert_eq!(opened(&device, &mut run, START + 768, Use::Read), None, "behind all pages that are held");
        run.cb_pop_front(0, 1).expect("a pop");
        assert_eq!(opened(&device, &mut run, START, Use::Read), None, "popped");
    }

    #[test]
    fn blocks_get_smaller_until_all_of_one_may_be_used() {
        let (mut device, mut run) = program();
        // Units, then a block of 256 B, then one of 4 KB.
        store(&mut device, &mut run, 0, 106_752, 16);
        assert_eq!(opened(&device, &mut run, 106_752, Use::Read), Some((106_752, 106_768)));
        assert_eq!(opened(&device, &mut run, 106_768, Use::Read), None);
        store(&mut device, &mut run, 0, 106_752, 256);
        assert_eq!(opened(&device, &mut run, 106_752 + 255, Use::Read), Some((106_752, 107_008)));
        store(&mut device, &mut run, 0, 106_496, 4096);
        assert_eq!(opened(&device, &mut run, 106_752, Use::Read), Some((106_496, 110_592)));
        // Half of a block is on its way somewhere.
        let target = u64::from(run.cores[0].noc.x) << 36 | u64::from(run.cores[0].noc.y) << 42 | u64::from(END);
        run.noc_async_write(&mut device, 108_544, target, 32, 0).expect("a write");
        assert_eq!(opened(&device, &mut run, 106_752, Use::Read), Some((106_496, 110_592)), "it may be read");
        assert_eq!(opened(&device, &mut run, 106_752, Use::Write), Some((106_752, 107_008)));
        assert_eq!(opened(&device, &mut run, 108_576, Use::Write), Some((108_576, 108_592)), "beside it");
        assert_eq!(opened(&device, &mut run, 108_544, Use::Write), None);
        // What the other kernel does to a block hinders this one until it knows of it.
        store(&mut device, &mut run, 1, 114_688, 64);
        run.current = 0;
        assert_eq!(opened(&device, &mut run, 114_752, Use::Write), Some((114_752, 114_768)));
        assert_eq!(opened(&device, &mut run, 114_944, Use::Write), Some((114_944, 115_200)));
        assert_eq!(opened(&device, &mut run, 114_688, Use::Write), None);
        // A word that it has made a flag does too.
        run.current = 1;
        run.store_word(&mut device, 110_592, 1).expect("a flag");
        run.current = 0;
        assert_eq!(opened(&device, &mut run, 110_592, Use::Write), None);
        assert_eq!(opened(&device, &mut run, 110_608, Use::Write), Some((110_608, 110_624)));
        assert!(run.load_word(&device, 110_592).is_ok(), "now it knows");
        assert_eq!(opened(&device, &mut run, 110_592, Use::Write), Some((110_592, 114_688)));
    }

    #[test]
    fn of_a_buffer_what_was_written_can_be_read_and_all_of_it_be_written() {
        let (mut device, mut run) = program();
        let id = device.allocate_interleaved(BufferType::L1, 4096, 1, 1).expect("a buffer");
        let start = device.buffer(id).expect("a buffer").address() as u32;
        let block = (start + 1024) & !255;
        assert!(opened(&device, &mut run, start, Use::Write).is_some_and(|(first, _)| first == start));
        assert!(opened(&device, &mut run, start + 4095, Use::Write).is_some_and(|(_, end)| end == start + 4096));
        assert_eq!(opened(&device, &mut run, block, Use::Read), None);
        store(&mut device, &mut run, 0, block, 256);
        assert_eq!(opened(&device, &mut run, block + 100, Use::Read), Some((block, block + 256)));
        assert_eq!(opened(&device, &mut run, block - 16, Use::Read), None);
        assert_eq!(opened(&device, &mut run, start + 4096, Use::Write), None);
        run.watched = false;
        assert!(opened(&device, &mut run, block - 16, Use::Read).is_some(), "whatever it holds");
    }
}
