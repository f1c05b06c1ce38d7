//! Transfers of data-movement kernels: reads, writes and multicast.
//!
//! In the modules below pages, words and barriers.

mod barriers;
mod pages;
mod words;

use tt_memory::Device;
use tt_memory::chip::NocCoord;
use tt_noc::Transfer;

use crate::calls::Step;
use crate::calls::memory::Use;
use crate::error::FaultKind;
use crate::state::Run;
use crate::state::kernel::{InFlight, Receivers, Sending, Stall, Thread};
use crate::state::time::Naming;
use crate::state::time::Target;

pub use barriers::Barrier;
pub use pages::Page;

/// Bits of the local address in a NoC address.
///
/// X and y of the target follow with [`COORD_BITS`] each.
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

/// A multicast address taken apart.
///
/// Start x, y, end x, y, local address.
#[inline]
pub fn split_multicast(address: u64) -> ((u32, u32), (u32, u32), u64) {
    let (x1, y1, local) = split(address);
    let x0 = address >> (ADDRESS_BITS + 2 * COORD_BITS) & COORD_MASK;
    let y0 = address >> (ADDRESS_BITS + 3 * COORD_BITS) & COORD_MASK;
    ((x0 as u32, y0 as u32), (x1, y1), local)
}

impl Run {
    /// Runs a call that starts a transfer, as soon as this kernel has its turn.
    #[inline]
    fn in_turn(&mut self, call: &'static str, run: impl FnOnce(&mut Self) -> Result<bool, FaultKind>) -> Step {
        self.checked(call, |this| {
            this.require_data_movement()?;
            if this.give_way() {
                return Ok(false);
            }
            run(this)
        })
    }

    /// Network that a call uses.
    #[inline]
    fn network(&self, noc: i32) -> Result<u8, FaultKind> {
        match noc {
            -1 => Ok(self.kernels[self.current].noc),
            0 | 1 => Ok(noc as u8),
            _ => Err(FaultKind::Argument(format!("noc must be 0 or 1, got {noc}"))),
        }
    }

    /// Bank and local address of a NoC address.
    #[inline]
    fn locate(&self, address: u64) -> Result<(Target, u64), FaultKind> {
        let (x, y, local) = split(address);
        Ok((self.target(x, y)?, local))
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

    fn check_alignment(&self, target: Target, remote: u64, local: u32, read: bool) -> Result<(), FaultKind> {
        let alignment = match target {
            Target::Dram(_) if read => self.chip.dram_alignment,
            _ => self.chip.l1_alignment,
        };
        if remote % alignment != u64::from(local) % alignment {
            let (source_address, target_address) = if read { (remote, local.into()) } else { (local.into(), remote) };
            return Err(FaultKind::Unlike { source_address, target_address, alignment });
        }
        Ok(())
    }

    /// Starts a read of `bytes` into own L1.
    ///
    /// # Errors
    /// Addresses, alignment, unwritten bytes, pages that are not reserved.
    pub fn noc_async_read(&mut self, device: &mut Device, source: u64, target: u32, bytes: u32, noc: i32) -> Step {
        self.in_turn("noc_async_read", |run| {
            let place = run.locate(source)?;
            run.read(device, place, target, bytes, Naming::Address, noc)
        })
    }

    /// Starts a read of a page part into own L1.
    ///
    /// From its offset on, or of the whole page.
    ///
    /// # Errors
    /// As [`Run::noc_async_read`]; no such page.
    pub fn noc_async_read_page(&mut self, device: &mut Device, page: Page, target: u32, bytes: u32, noc: i32) -> Step {
        self.in_turn("noc_async_read_page", |run| {
            run.read(device, run.locate_page(device, page)?, target, bytes, Naming::Page, noc)
        })
    }

    /// The same for a page that is a tile.
    ///
    /// # Errors
    /// As [`Run::noc_async_read_page`].
    pub fn noc_async_read_tile(&mut self, device: &mut Device, page: Page, target: u32, bytes: u32, noc: i32) -> Step {
        self.named("noc_async_read_tile", |run| run.noc_async_read_page(device, page, target, bytes, noc))
    }

    fn read(
        &mut self,
        device: &mut Device,
        (owner, address): (Target, u64),
        target: u32,
        bytes: u32,
        naming: Naming,
        noc: i32,
    ) -> Result<bool, FaultKind> {
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
        self.in_turn("noc_async_write", |run| {
            let place = run.locate(target)?;
            run.write(device, source, place, bytes, Naming::Address, noc)
        })
    }

    /// Starts a write of a page part.
    ///
    /// From its offset on, or of the whole page.
    ///
    /// # Errors
    /// As [`Run::noc_async_write`]; no such page.
    pub fn noc_async_write_page(&mut self, device: &mut Device, source: u32, page: Page, bytes: u32, noc: i32) -> Step {
        self.in_turn("noc_async_write_page", |run| {
            run.write(device, source, run.locate_page(device, page)?, bytes, Naming::Page, noc)
        })
    }

    /// The same for a page that is a tile.
    ///
    /// # Errors
    /// As [`Run::noc_async_write_page`].
    pub fn noc_async_write_tile(&mut self, device: &mut Device, source: u32, page: Page, bytes: u32, noc: i32) -> Step {
        self.named("noc_async_write_tile", |run| run.noc_async_write_page(device, source, page, bytes, noc))
    }

    fn write(
        &mut self,
        device: &mut Device,
        source: u32,
        (owner, address): (Target, u64),
        bytes: u32,
        naming: Naming,
        noc: i32,
    ) -> Result<bool, FaultKind> {
        let noc = self.network(noc)?;
        let bank = self.own_bank();
        if self.watched {
            self.check_alignment(owner, address, source, false)?;
        }
        self.check_arrived(source, bytes)?;
        let from = self.touch(device, Target::Worker(bank), source.into(), bytes.into(), Use::Read)?;
        let to = self.touch(device, owner, address, bytes.into(), Use::Write)?;
        self.order_read(from, bytes)?;
        let flag = self.order_send(to, bytes, noc, self.write_trid(noc))?;
        device.copy_bytes(from, to, bytes as usize)?;
        let at = self.give_command(naming);
        let times = self.time.write(noc, bank, owner, bytes, at);
        let receivers = match owner {
            Target::Dram(_) => Receivers::Dram,
            Target::Worker(other) => Receivers::Core(other),
        };
        self.book_write(noc, (source, bytes), times, receivers, flag);
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

    fn book_write(&mut self, noc: u8, (source, bytes): (u32, u32), times: Transfer, to: Receivers, flag: Option<u32>) {
        let trid = self.write_trid(noc);
        self.forget_sent();
        let kernel = &mut self.kernels[self.current];
        kernel.wait_until(Thread::Unpack, times.issued, Stall::Issue);
        let (moved, done) = (times.sent, times.acknowledged);
        let source = InFlight { start: source, end: source + bytes, noc, trid, moved, done };
        kernel.transfers.unflushed.push(Sending { source, to, flag });
        kernel.transfers.unacknowledged.push((noc, trid, done));
    }

    /// Notes when bytes that may be a flag were written.
    fn written_at(&mut self, bank: usize, address: u32, bytes: u32, time: u64) {
        if bytes <= FLAG_BYTES {
            self.word_changed(bank, address, time);
        }
    }

    /// The worker cores of a rectangle, and whether the sender is one of them.
    fn rectangle(&self, noc: u8, start: (u32, u32), end: (u32, u32)) -> Result<Vec<usize>, FaultKind> {
        // NoC 1 runs towards smaller coordinates. From the wrong corner a multicast goes round the edge of the chip.
        let ((x0, y0), (x1, y1)) = if noc == 0 { (start, end) } else { (end, start) };
        if x0 > x1 || y0 > y1 {
            return Err(FaultKind::CornersExchanged { noc, start, end });
        }
        let mut banks = Vec::new();
        for y in y0..=y1 {
            for x in x0..=x1 {
                match self.target(x, y) {
                    Ok(Target::Worker(bank)) => banks.push(bank),
                    // Columns without worker cores inside a rectangle are passed over by the network.
                    _ if self.chip.arch == tt_memory::chip::Arch::Blackhole && (x == 8 || x == 9) => {}
                    _ => return Err(FaultKind::NoRectangle { x0, y0, x1, y1 }),
                }
            }
        }
        Ok(banks)
    }

    /// Starts a write of the same bytes to a rectangle of cores.
    ///
    /// `loopback` includes the sender.
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
        let call = ["noc_async_write_multicast", "noc_async_write_multicast_loopback_src"][usize::from(loopback)];
        self.in_turn(call, |run| {
            let noc = run.network(noc)?;
            let (start, end, address) = split_multicast(target);
            let bank = run.own_bank();
            let mut banks = run.rectangle(noc, start, end)?;
            if !loopback {
                banks.retain(|&other| other != bank);
            }
            if banks.len() as u32 != destinations {
                return Err(FaultKind::WrongDestinations { cores: banks.len() as u32, given: destinations });
            }
            if run.watched {
                run.check_alignment(Target::Worker(bank), address, source, false)?;
            }
            run.check_arrived(source, bytes)?;
            let from = run.touch(device, Target::Worker(bank), source.into(), bytes.into(), Use::Read)?;
            run.order_read(from, bytes)?;
            let mut flag = None;
            for &other in &banks {
                let to = run.touch(device, Target::Worker(other), address, bytes.into(), Use::Write)?;
                if from != to {
                    let sent = run.order_send(to, bytes, noc, run.write_trid(noc))?;
                    flag = flag.or(sent);
                    device.copy_bytes(from, to, bytes as usize)?;
                }
            }
            let at = run.give_command(Naming::Address);
            let times = run.time.multicast(noc, bank, &banks, bytes, linked, at);
            run.record_transfer("multicast", at, times.acknowledged, bytes);
            for &other in &banks {
                run.l1_changed(device, other, address as u32, address as u32 + bytes, times.arrived)?;
                run.written_at(other, address as u32, bytes, times.arrived);
            }
            run.book_write(noc, (source, bytes), times, Receivers::Cores(banks), flag);
            Ok(true)
        })
    }
}
