//! Transfers of data-movement kernels: reads, writes, multicast, inline words, atomics, barriers.

use tt_memory::buffer::PageMap;
use tt_memory::chip::NocCoord;
use tt_memory::{Device, Place};
use tt_noc::Transfer;

use crate::Step;
use crate::error::{Fault, What};
use crate::kernel::{InFlight, Stall, Thread};
use crate::memory::Use;
use crate::run::{Run, Target};
use crate::time::{Naming, Time};

/// Bits of the local address in a NoC address; x and y of the target follow with [`COORD_BITS`] each.
pub const ADDRESS_BITS: u32 = 36;
/// Bits of a coordinate.
pub const COORD_BITS: u32 = 6;

/// Up to so many bytes a transfer may be a flag that somebody polls.
const FLAG_BYTES: u32 = 16;
const COORD_MASK: u64 = (1 << COORD_BITS) - 1;

/// A NoC address taken apart: x, y, local address.
#[inline]
pub fn split(address: u64) -> (u32, u32, u64) {
    let x = address >> ADDRESS_BITS & COORD_MASK;
    let y = address >> (ADDRESS_BITS + COORD_BITS) & COORD_MASK;
    (x as u32, y as u32, address & ((1 << ADDRESS_BITS) - 1))
}

/// A multicast address taken apart: start x, y, end x, y, local address.
#[inline]
pub fn split_multicast(address: u64) -> ((u32, u32), (u32, u32), u64) {
    let (x1, y1, local) = split(address);
    let x0 = address >> (ADDRESS_BITS + 2 * COORD_BITS) & COORD_MASK;
    let y0 = address >> (ADDRESS_BITS + 3 * COORD_BITS) & COORD_MASK;
    ((x0 as u32, y0 as u32), (x1, y1), local)
}

/// A page of an interleaved buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// In DRAM; otherwise interleaved over the L1 of all cores.
    pub dram: bool,
    /// Address of the buffer in each bank.
    pub base: u64,
    /// Page number.
    pub page: u64,
    /// Bytes of a page.
    pub bytes: u32,
    /// First byte inside the page.
    pub offset: u32,
}

/// What waits for which transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Barrier {
    /// Reads have arrived.
    Reads,
    /// Writes have left.
    WritesFlushed,
    /// Writes are acknowledged.
    Writes,
    /// Atomics are done.
    Atomics,
    /// All of it.
    Full,
}

impl Barrier {
    const fn call(self) -> &'static str {
        match self {
            Self::Reads => "noc_async_read_barrier",
            Self::WritesFlushed => "noc_async_writes_flushed",
            Self::Writes => "noc_async_write_barrier",
            Self::Atomics => "noc_async_atomic_barrier",
            Self::Full => "noc_async_full_barrier",
        }
    }
}

impl Run {
    /// Network that a call uses.
    #[inline]
    fn network(&self, noc: i32) -> Result<u8, What> {
        match noc {
            -1 => Ok(self.kernels[self.current].noc),
            0 | 1 => Ok(noc as u8),
            _ => Err(What::Argument(format!("noc must be 0 or 1, got {noc}"))),
        }
    }

    fn coord(&self, target: Target) -> NocCoord {
        match target {
            Target::Dram(bank) => self.chip.dram_cores[bank],
            Target::Worker(bank) => {
                let core = self.chip.l1_bank_core(bank);
                core.and_then(|core| self.chip.worker_coord(core)).unwrap_or(NocCoord { x: 0, y: 0 })
            }
        }
    }

    /// The running kernel prepares a command. Returns when it gives it to the interface.
    fn give_command(&mut self, naming: Naming) -> u64 {
        let cost = self.time.command(naming);
        let clock = &mut self.kernels[self.current].clocks[0];
        *clock += cost;
        *clock
    }

    fn own_bank(&self) -> usize {
        self.cores[self.kernels[self.current].core].bank
    }

    /// Bank and address of a page, after checking that the buffer has it.
    fn locate_page(device: &Device, page: Page) -> Result<(Target, u64), What> {
        let memory = if page.dram { "DRAM" } else { "L1" };
        let place = Place { dram: page.dram, bank: 0, address: page.base };
        let Some(buffer) = device.owner(place).filter(|buffer| buffer.address() == page.base) else {
            let advice =
                "pass the address of an allocated buffer (buffer.address()), and the right DRAM flag".to_owned();
            return Err(What::NoBufferAt { base: page.base, memory, advice });
        };
        let pages = buffer.num_pages() as u64;
        if page.page >= pages {
            return Err(What::PageOutOfRange { page: page.page, base: page.base, pages });
        }
        if page.bytes as usize != buffer.page_bytes() && page.bytes as usize != buffer.aligned_page_bytes() {
            let (base, actual) = (page.base, buffer.page_bytes() as u64);
            return Err(What::PageSizeDiffers { given: page.bytes.into(), base, actual });
        }
        let found = buffer.locate(page.page as usize)?;
        let target = if page.dram { Target::Dram(found.bank) } else { Target::Worker(found.bank) };
        Ok((target, found.address + u64::from(page.offset)))
    }

    /// NoC address of a page.
    ///
    /// # Errors
    /// No such buffer or page.
    pub fn page_address(&mut self, device: &Device, page: Page) -> Result<u64, Fault> {
        self.checked("get_noc_addr", |run| {
            run.book(run.time.risc().noc_address);
            let (target, address) = Self::locate_page(device, page)?;
            let NocCoord { x, y } = run.coord(target);
            Ok(u64::from(y) << (ADDRESS_BITS + COORD_BITS) | u64::from(x) << ADDRESS_BITS | address)
        })
    }

    /// NoC address of a place in the first page of a shard. Of an interleaved buffer every page is a shard.
    ///
    /// # Errors
    /// No such buffer or shard.
    pub fn shard_address(&mut self, device: &Device, first: Page, shard: u64) -> Result<u64, Fault> {
        self.checked("get_shard_noc_addr", |run| {
            run.book(run.time.risc().noc_address);
            Self::locate_page(device, Page { page: 0, ..first })?;
            let place = Place { dram: first.dram, bank: 0, address: first.base };
            let buffer = device.owner(place).ok_or_else(|| What::Bug("the buffer has no owner".into()))?;
            let page = match buffer.map() {
                PageMap::Interleaved => shard,
                PageMap::Sharded { page_columns, shard_rows, shard_columns, .. } => {
                    let across = page_columns.div_ceil(*shard_columns) as u64;
                    let (row, column) = (shard / across * *shard_rows as u64, shard % across * *shard_columns as u64);
                    row * *page_columns as u64 + column
                }
                PageMap::Listed(_) => return Err(without_shard_numbers()),
            };
            let (target, address) = Self::locate_page(device, Page { page, ..first })?;
            let NocCoord { x, y } = run.coord(target);
            Ok(u64::from(y) << (ADDRESS_BITS + COORD_BITS) | u64::from(x) << ADDRESS_BITS | address)
        })
    }

    /// How a buffer is cut: pages, pages side by side, rows and columns of pages in a shard, banks. An interleaved buffer is cut
    /// into its pages.
    ///
    /// # Errors
    /// No such buffer.
    pub fn buffer_cut(&mut self, device: &Device, first: Page) -> Result<[u64; 5], Fault> {
        self.checked("TensorAccessor", |run| {
            Self::locate_page(device, Page { page: 0, ..first })?;
            let place = Place { dram: first.dram, bank: 0, address: first.base };
            let buffer = device.owner(place).ok_or_else(|| What::Bug("the buffer has no owner".into()))?;
            let pages = buffer.num_pages() as u64;
            Ok(match buffer.map() {
                PageMap::Interleaved => {
                    let banks = if first.dram { run.chip.dram_banks() } else { run.chip.grid.cores() };
                    [pages, pages, 1, 1, banks as u64]
                }
                PageMap::Sharded { page_columns, shard_rows, shard_columns, banks } => {
                    [pages, *page_columns as u64, *shard_rows as u64, *shard_columns as u64, banks.len() as u64]
                }
                PageMap::Listed(_) => return Err(without_shard_numbers()),
            })
        })
    }

    fn check_alignment(&self, target: Target, remote: u64, local: u32, read: bool) -> Result<(), What> {
        let alignment = match target {
            Target::Dram(_) if read => self.chip.dram_alignment,
            _ => self.chip.l1_alignment,
        };
        if remote % alignment != u64::from(local) % alignment {
            let (source_address, target_address) = if read { (remote, local.into()) } else { (local.into(), remote) };
            return Err(What::Unlike { source_address, target_address, alignment });
        }
        Ok(())
    }

    /// Starts a read of `bytes` into own L1.
    ///
    /// # Errors
    /// Addresses, alignment, unwritten bytes, pages that are not reserved.
    pub fn noc_async_read(&mut self, device: &mut Device, source: u64, target: u32, bytes: u32, noc: i32) -> Step {
        self.checked("noc_async_read", |run| {
            run.require_data_movement()?;
            if run.give_way() {
                return Ok(false);
            }
            let (x, y, address) = split(source);
            let owner = run.target(x, y)?;
            run.read(device, (owner, address), target, bytes, Naming::Address, noc)
        })
    }

    /// Starts a read of a page, or of the part of it from its offset on, into own L1.
    ///
    /// # Errors
    /// As [`Run::noc_async_read`]; no such page.
    pub fn noc_async_read_page(&mut self, device: &mut Device, page: Page, target: u32, bytes: u32, noc: i32) -> Step {
        self.checked("noc_async_read_page", |run| {
            run.require_data_movement()?;
            if run.give_way() {
                return Ok(false);
            }
            let (owner, address) = Self::locate_page(device, page)?;
            run.read(device, (owner, address), target, bytes, Naming::Page, noc)
        })
    }

    fn read(
        &mut self,
        device: &mut Device,
        (owner, address): (Target, u64),
        target: u32,
        bytes: u32,
        naming: Naming,
        noc: i32,
    ) -> Result<bool, What> {
        let noc = self.network(noc)?;
        let bank = self.own_bank();
        if self.watched {
            self.check_alignment(owner, address, target, true)?;
        }
        let from = self.touch(device, owner, address, bytes.into(), Use::Read)?;
        let to = self.touch(device, Target::Worker(bank), target.into(), bytes.into(), Use::Write)?;
        self.check_not_sending(target, bytes)?;
        self.order_read(from, bytes)?;
        self.order_write(to, bytes)?;
        self.kernels[self.current].polled = (u32::MAX, 0, 0);
        if bytes <= FLAG_BYTES {
            let same = device.bytes(from, bytes as usize)? == device.bytes(to, bytes as usize)?;
            if self.polls_remote(target, same) {
                return Ok(false);
            }
        } else {
            self.polls_remote(target, false);
        }
        device.copy_bytes(from, to, bytes as usize)?;
        let at = self.give_command(naming);
        let times = self.time.read(noc, bank, owner, bytes, at);
        let kernel = &mut self.kernels[self.current];
        kernel.wait_until(Thread::Unpack, times.issued, Stall::Issue);
        let trid = kernel.transfers.read_trid[noc as usize];
        let (moved, done) = (times.arrived, times.arrived);
        kernel.transfers.reads.push(InFlight { start: target, end: target + bytes, noc, trid, moved, done });
        self.record_transfer("read", at, done, bytes);
        Ok(true)
    }

    /// Starts a write of `bytes` of own L1.
    ///
    /// # Errors
    /// Addresses, alignment, unwritten bytes, pages that were not waited for, data of a read still in flight.
    pub fn noc_async_write(&mut self, device: &mut Device, source: u32, target: u64, bytes: u32, noc: i32) -> Step {
        self.checked("noc_async_write", |run| {
            run.require_data_movement()?;
            if run.give_way() {
                return Ok(false);
            }
            let (x, y, address) = split(target);
            let owner = run.target(x, y)?;
            run.write(device, source, (owner, address), bytes, Naming::Address, noc)
        })
    }

    /// Starts a write of a page, or of the part of it from its offset on.
    ///
    /// # Errors
    /// As [`Run::noc_async_write`]; no such page.
    pub fn noc_async_write_page(&mut self, device: &mut Device, source: u32, page: Page, bytes: u32, noc: i32) -> Step {
        self.checked("noc_async_write_page", |run| {
            run.require_data_movement()?;
            if run.give_way() {
                return Ok(false);
            }
            let (owner, address) = Self::locate_page(device, page)?;
            run.write(device, source, (owner, address), bytes, Naming::Page, noc)
        })
    }

    fn write(
        &mut self,
        device: &mut Device,
        source: u32,
        (owner, address): (Target, u64),
        bytes: u32,
        naming: Naming,
        noc: i32,
    ) -> Result<bool, What> {
        let noc = self.network(noc)?;
        let bank = self.own_bank();
        if self.watched {
            self.check_alignment(owner, address, source, false)?;
        }
        self.check_arrived(source, bytes)?;
        let from = self.touch(device, Target::Worker(bank), source.into(), bytes.into(), Use::Read)?;
        let to = self.touch(device, owner, address, bytes.into(), Use::Write)?;
        self.order_read(from, bytes)?;
        self.order_send(to, bytes, noc, self.write_trid(noc))?;
        device.copy_bytes(from, to, bytes as usize)?;
        let at = self.give_command(naming);
        let times = self.time.write(noc, bank, owner, bytes, at);
        self.book_write(noc, source, bytes, times);
        self.record_transfer("write", at, times.acknowledged, bytes);
        if let Target::Worker(other) = owner {
            self.l1_changed(device, other, address as u32, address as u32 + bytes, times.arrived)?;
            self.written_at(other, address as u32, bytes, times.arrived);
        }
        Ok(true)
    }

    /// Transaction id that writes of the running kernel get on a network.
    fn write_trid(&self, noc: u8) -> u8 {
        self.kernels[self.current].transfers.write_trid[noc as usize]
    }

    fn book_write(&mut self, noc: u8, source: u32, bytes: u32, times: Transfer) {
        let kernel = &mut self.kernels[self.current];
        kernel.wait_until(Thread::Unpack, times.issued, Stall::Issue);
        let trid = kernel.transfers.write_trid[noc as usize];
        let (moved, done) = (times.sent, times.acknowledged);
        kernel.transfers.unflushed.push(InFlight { start: source, end: source + bytes, noc, trid, moved, done });
        kernel.transfers.unacknowledged.push((noc, trid, done));
    }

    /// Notes when bytes that may be a flag were written.
    fn written_at(&mut self, bank: usize, address: u32, bytes: u32, time: u64) {
        if bytes <= FLAG_BYTES {
            self.word_changed(bank, address, time);
        }
    }

    /// The worker cores of a rectangle, and whether the sender is one of them.
    fn rectangle(&self, start: (u32, u32), end: (u32, u32)) -> Result<Vec<usize>, What> {
        // NoC 1 goes the other way round; programs give it start and end exchanged.
        let (x0, x1) = (start.0.min(end.0), start.0.max(end.0));
        let (y0, y1) = (start.1.min(end.1), start.1.max(end.1));
        let mut banks = Vec::new();
        for y in y0..=y1 {
            for x in x0..=x1 {
                match self.target(x, y) {
                    Ok(Target::Worker(bank)) => banks.push(bank),
                    // Columns without worker cores inside a rectangle are passed over by the network.
                    _ if self.chip.arch == tt_memory::chip::Arch::Blackhole && (x == 8 || x == 9) => {}
                    _ => return Err(What::NoRectangle { x0, y0, x1, y1 }),
                }
            }
        }
        Ok(banks)
    }

    /// Starts a write of the same bytes to a rectangle of cores; `loopback` includes the sender.
    ///
    /// # Errors
    /// As [`Run::noc_async_write`]; a rectangle with other cores than said.
    #[allow(clippy::too_many_arguments, reason = "the arguments of the kernel API")]
    pub fn noc_async_write_multicast(
        &mut self,
        device: &mut Device,
        source: u32,
        target: u64,
        bytes: u32,
        destinations: u32,
        (loopback, linked): (bool, bool),
        noc: i32,
    ) -> Step {
        self.checked("noc_async_write_multicast", |run| {
            run.require_data_movement()?;
            if run.give_way() {
                return Ok(false);
            }
            let noc = run.network(noc)?;
            let (start, end, address) = split_multicast(target);
            let bank = run.own_bank();
            let mut banks = run.rectangle(start, end)?;
            if !loopback {
                banks.retain(|&other| other != bank);
            }
            if banks.len() as u32 != destinations {
                return Err(What::WrongDestinations { cores: banks.len() as u32, given: destinations });
            }
            if run.watched {
                run.check_alignment(Target::Worker(bank), address, source, false)?;
            }
            run.check_arrived(source, bytes)?;
            let from = run.touch(device, Target::Worker(bank), source.into(), bytes.into(), Use::Read)?;
            run.order_read(from, bytes)?;
            for &other in &banks {
                let to = run.touch(device, Target::Worker(other), address, bytes.into(), Use::Write)?;
                if from != to {
                    run.order_send(to, bytes, noc, run.write_trid(noc))?;
                    device.copy_bytes(from, to, bytes as usize)?;
                }
            }
            let at = run.give_command(Naming::Address);
            let times = run.time.multicast(noc, bank, &banks, bytes, linked, at);
            run.book_write(noc, source, bytes, times);
            run.record_transfer("multicast", at, times.acknowledged, bytes);
            for &other in &banks {
                run.l1_changed(device, other, address as u32, address as u32 + bytes, times.arrived)?;
                run.written_at(other, address as u32, bytes, times.arrived);
            }
            Ok(true)
        })
    }

    /// Writes one word somewhere else; of its bytes those whose bit in `enabled` is set.
    ///
    /// # Errors
    /// Addresses, a mask without bytes or with more than four.
    pub fn noc_inline_dw_write(
        &mut self,
        device: &mut Device,
        target: u64,
        value: u32,
        enabled: u32,
        noc: i32,
    ) -> Step {
        self.checked("noc_inline_dw_write", |run| {
            run.require_data_movement()?;
            if run.give_way() {
                return Ok(false);
            }
            if enabled == 0 || enabled > 0xf {
                return Err(What::Argument(format!("byte enables {enabled:#x}; a word has bytes 0x1 to 0xf")));
            }
            let noc = run.network(noc)?;
            let (owner, address, times) = run.word_transfer(target, noc, Time::inline_write)?;
            let to = run.touch(device, owner, address, 4, Use::Write)?;
            if !to.dram {
                run.order_replace(to)?;
            }
            let bytes = device.bytes_mut(to, 4)?;
            for (byte, (old, new)) in bytes.iter_mut().zip(value.to_le_bytes()).enumerate() {
                if enabled >> byte & 1 == 1 {
                    *old = new;
                }
            }
            let kernel = &mut run.kernels[run.current];
            let trid = kernel.transfers.write_trid[noc as usize];
            kernel.transfers.unacknowledged.push((noc, trid, times.acknowledged));
            run.word_arrives(device, owner, address, noc, times.arrived)?;
            Ok(true)
        })
    }

    /// Adds to a word of another core (or the own one).
    ///
    /// # Errors
    /// Addresses; DRAM has no atomics.
    pub fn noc_semaphore_inc(&mut self, device: &mut Device, target: u64, value: u32, noc: i32) -> Step {
        self.checked("noc_semaphore_inc", |run| {
            run.require_data_movement()?;
            if run.give_way() {
                return Ok(false);
            }
            let noc = run.network(noc)?;
            let (owner, address, times) = run.word_transfer(target, noc, Time::atomic)?;
            if let Target::Dram(bank) = owner {
                let text = format!("DRAM bank {bank} has no atomics; semaphores lie in L1");
                return Err(What::Argument(text));
            }
            let to = run.touch(device, owner, address, 4, Use::Write)?;
            let word = device.bytes_mut(to, 4)?;
            let old = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            word.copy_from_slice(&old.wrapping_add(value).to_le_bytes());
            run.kernels[run.current].transfers.atomics.push((noc, times.acknowledged));
            run.word_arrives(device, owner, address, noc, times.arrived)?;
            Ok(true)
        })
    }

    fn word_transfer(
        &mut self,
        target: u64,
        noc: u8,
        transfer: impl FnOnce(&mut Time, u8, usize, Target, u64) -> Transfer,
    ) -> Result<(Target, u64, Transfer), What> {
        let (x, y, address) = split(target);
        let owner = self.target(x, y)?;
        if !address.is_multiple_of(4) {
            return Err(What::Misaligned { what: "the address of a word", value: address, alignment: 4 });
        }
        let at = self.give_command(Naming::Address);
        let bank = self.own_bank();
        let times = transfer(&mut self.time, noc, bank, owner, at);
        self.kernels[self.current].wait_until(Thread::Unpack, times.issued, Stall::Issue);
        Ok((owner, address, times))
    }

    fn word_arrives(&mut self, device: &Device, owner: Target, address: u64, noc: u8, time: u64) -> Result<(), What> {
        if let Target::Worker(bank) = owner {
            self.order_signal(bank, address as u32, noc);
            self.word_changed(bank, address as u32, time);
            self.l1_changed(device, bank, address as u32, address as u32 + 4, time)?;
        }
        Ok(())
    }

    /// Waits for transfers: those of one network, and with `trid` those with this transaction id.
    ///
    /// # Errors
    /// A compute kernel; no such network.
    pub fn noc_barrier(&mut self, barrier: Barrier, noc: i32, trid: Option<u8>) -> Result<(), Fault> {
        self.checked(barrier.call(), |run| {
            run.require_data_movement()?;
            let noc = run.network(noc)?;
            let (cost, release) = (run.time.risc().semaphore_poll, run.time.risc().barrier);
            let kernel = &mut run.kernels[run.current];
            kernel.clocks[0] += cost;
            let mine = |network: u8, id: u8| network == noc && trid.is_none_or(|trid| trid == id);
            let (mut until, mut settled) = (0, false);
            if matches!(barrier, Barrier::Reads | Barrier::Full) {
                kernel.transfers.reads.retain(|read| {
                    let waited = mine(read.noc, read.trid);
                    until = until.max(if waited { read.done + release } else { 0 });
                    !waited
                });
                kernel.wait_until(Thread::Unpack, until, Stall::ReadBarrier);
            }
            if matches!(barrier, Barrier::WritesFlushed | Barrier::Writes | Barrier::Full) {
                kernel.transfers.unflushed.retain(|write| {
                    let waited = mine(write.noc, write.trid);
                    until = until.max(if waited { write.moved } else { 0 });
                    !waited
                });
            }
            if matches!(barrier, Barrier::Writes | Barrier::Full) {
                settled = true;
                kernel.transfers.unacknowledged.retain(|&(network, id, done)| {
                    let waited = mine(network, id);
                    until = until.max(if waited { done + release } else { 0 });
                    !waited
                });
            }
            if matches!(barrier, Barrier::Atomics | Barrier::Full) {
                kernel.transfers.atomics.retain(|&(network, done)| {
                    until = until.max(if network == noc { done + release } else { 0 });
                    network != noc
                });
            }
            kernel.wait_until(Thread::Unpack, until, Stall::WriteBarrier);
            if settled {
                run.order_arrived(noc, trid);
            }
            Ok(())
        })
    }

    /// Forgets the transfers of a network whose ids are in `ids`: no barrier waits for them any more.
    ///
    /// # Errors
    /// A compute kernel; no such network.
    pub fn reset_trids(&mut self, ids: u32, noc: i32) -> Result<(), Fault> {
        self.checked("reset_noc_trid_barrier_counter", |run| {
            run.require_data_movement()?;
            let noc = run.network(noc)?;
            let cost = run.time.command(Naming::Address);
            let kernel = &mut run.kernels[run.current];
            kernel.clocks[0] += cost;
            let stays = |network: u8, id: u8| network != noc || ids >> id & 1 == 0;
            kernel.transfers.reads.retain(|read| stays(read.noc, read.trid));
            kernel.transfers.unflushed.retain(|write| stays(write.noc, write.trid));
            kernel.transfers.unacknowledged.retain(|&(network, id, _)| stays(network, id));
            Ok(())
        })
    }

    /// Gives reads or writes of a network a transaction id from now on.
    ///
    /// # Errors
    /// A compute kernel; no such network or id.
    pub fn set_trid(&mut self, writes: bool, trid: u32, noc: i32) -> Result<(), Fault> {
        self.checked(if writes { "noc_async_write_set_trid" } else { "noc_async_read_set_trid" }, |run| {
            run.require_data_movement()?;
            let noc = run.network(noc)? as usize;
            run.book(run.time.risc().l1_store);
            if trid > 15 {
                return Err(What::Argument(format!("transaction id {trid}; ids are 0 to 15")));
            }
            let transfers = &mut run.kernels[run.current].transfers;
            let ids = if writes { &mut transfers.write_trid } else { &mut transfers.read_trid };
            ids[noc] = trid as u8;
            Ok(())
        })
    }

    /// Own bytes that are read must not belong to a read in flight.
    pub(crate) fn check_arrived(&self, start: u32, bytes: u32) -> Result<(), What> {
        let reads = &self.kernels[self.current].transfers.reads;
        match reads.iter().find(|read| read.touches(start, start.saturating_add(bytes))) {
            Some(read) => Err(What::UseBeforeReadBarrier { address: read.start, bytes: read.end - read.start }),
            None => Ok(()),
        }
    }

    /// Own bytes that are written must not be on their way out.
    pub(crate) fn check_not_sending(&self, start: u32, bytes: u32) -> Result<(), What> {
        let writes = &self.kernels[self.current].transfers.unflushed;
        match writes.iter().find(|write| write.touches(start, start.saturating_add(bytes))) {
            Some(write) => Err(What::OverwrittenWhileSent { address: write.start, bytes: write.end - write.start }),
            None => Ok(()),
        }
    }
}

fn without_shard_numbers() -> What {
    What::Unsupported(
        "shards along more than two dimensions have no number here; address the pages of the tensor instead".into(),
    )
}
