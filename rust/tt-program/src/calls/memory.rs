//! Access rights to bytes: bounds, owners, written bits, pages of circular buffers.

use tt_memory::{Device, Place};
use tt_riscv::{LOCAL_BASE, LOCAL_BYTES, TEXT_BASE, TEXT_BYTES};

use crate::error::FaultKind;
use crate::spec::Risc;
use crate::state::cb::Cb;
use crate::state::time::Target;
use crate::state::{Run, ZEROS};

/// What a kernel wants to do with bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Read,
    Write,
}

impl Run {
    /// Checks an access by the running kernel and, for a write, marks the bytes as written.
    pub(crate) fn touch(
        &mut self,
        device: &Device,
        target: Target,
        address: u64,
        bytes: u64,
        how: Use,
    ) -> Result<Place, FaultKind> {
        if bytes == 0 {
            return Err(FaultKind::EmptyTransfer);
        }
        let (place, limit) = match target {
            Target::Dram(bank) => (Place { dram: true, bank, address }, self.chip.dram_bank_bytes),
            Target::Worker(bank) => (Place { dram: false, bank, address }, self.chip.l1_bytes),
        };
        if address.checked_add(bytes).is_none_or(|end| end > limit) {
            let private = [(LOCAL_BASE, LOCAL_BYTES), (TEXT_BASE, TEXT_BYTES)];
            if private.iter().any(|&(base, size)| address.wrapping_sub(base.into()) < u64::from(size)) && !place.dram {
                return Err(FaultKind::LocalMemory { address, bytes });
            }
            return Err(FaultKind::OutOfBounds { place: self.place_name(place), address, bytes, limit });
        }
        if !self.watched && (place.dram || address >= self.l1_base) {
            // A card asks nobody whose bytes they are.
            if how == Use::Write {
                mark_buffer(device, place, bytes as u32);
            }
            return Ok(place);
        }
        if !place.dram && self.touch_core(device, place, bytes as u32, how)? {
            return Ok(place);
        }
        self.touch_buffer(device, place, bytes, how)?;
        Ok(place)
    }

    /// Bytes of a core that the program uses: semaphores and circular buffers. `false` if they are neither.
    fn touch_core(&mut self, device: &Device, place: Place, bytes: u32, how: Use) -> Result<bool, FaultKind> {
        let address = place.address as u32;
        let Some(slot) = self.core_of_bank(place.bank) else { return Ok(false) };
        let end = address + bytes;
        let own = !self.guest && slot == self.kernels[self.current].core;
        if u64::from(address) < self.l1_base {
            let id = address.wrapping_sub(self.semaphore_address(0)) / 16;
            let inside = address >= self.semaphore_address(0) && id < 32 && self.cores[slot].semaphores >> id & 1 == 1;
            if inside && end <= self.semaphore_address(id) + 16 {
                return Ok(true);
            }
            if own && self.in_header_pool(address, end) {
                return Ok(true);
            }
            let arguments = own && how == Use::Read && address >= self.first_argument(Risc::Brisc);
            if arguments && end <= self.semaphore_address(0) {
                return Ok(true);
            }
            if how == Use::Read && ZEROS.start <= address && end <= ZEROS.end {
                return Ok(true);
            }
            let advice = "addresses below the first circular buffer belong to the firmware".to_owned();
            return Err(FaultKind::NoOwner {
                place: self.place_name(place),
                address: address.into(),
                bytes: bytes.into(),
                advice,
            });
        }
        let current = if self.guest { usize::MAX } else { self.current };
        let core = &self.cores[slot];
        let mut refused = None;
        let mut found = None;
        for cb in core.all_cbs().filter(|cb| cb.address <= address && address < cb.end()) {
            if end > cb.end() {
                refused = Some(FaultKind::PastBuffer {
                    place: self.place_name(place),
                    address: address.into(),
                    bytes: bytes.into(),
                    over: (end - cb.end()).into(),
                    owner: format!("CB {}", cb.index),
                });
                continue;
            }
            match check_window(cb, current, own && !self.keeps_headers(cb), address, end, how) {
                Ok(()) => {
                    found = Some(cb.borrowed);
                    break;
                }
                Err(what) => refused = Some(what),
            }
        }
        if let Some(borrowed) = found {
            if how == Use::Write {
                self.cores[slot].shadow.set(address, end);
                if borrowed {
                    mark_buffer(device, place, bytes);
                }
            } else if self.watched && own && !self.cores[slot].shadow.any(address, end) {
                let cb = self.cores[slot].cb_at(address).filter(|cb| !cb.borrowed).map(|cb| cb.index);
                if let Some(cb) = cb {
                    return Err(FaultKind::NeverWritten {
                        place: self.place_name(place),
                        address: address.into(),
                        bytes: bytes.into(),
                        owner: format!("CB {cb}"),
                    });
                }
            }
            return Ok(true);
        }
        refused.map_or(Ok(false), Err)
    }

    /// Whether a kernel keeps packet headers in pages of a CB: pages that it has pushed, and that nobody waits for.
    pub(crate) fn keeps_headers(&self, cb: &Cb) -> bool {
        self.fabric.is_some() && cb.consumer.is_none() && cb.producer == Some(self.current)
    }

    /// Whether bytes below the circular buffers are room for packet headers.
    fn in_header_pool(&self, start: u32, end: u32) -> bool {
        let pool = self.header_pool();
        self.fabric.is_some() && pool.start <= start && end <= pool.end
    }

    /// Bytes of a buffer of the host's.
    fn touch_buffer(&self, device: &Device, place: Place, bytes: u64, how: Use) -> Result<(), FaultKind> {
        let address = place.address;
        let Some(buffer) = device.owner(place) else {
            let advice = "they were never allocated, or freed before the program ran".to_owned();
            return Err(FaultKind::NoOwner { place: self.place_name(place), address, bytes, advice });
        };
        let start = buffer.start_in(place.bank);
        let end = start + buffer.bytes_per_bank();
        let owner = || format!("the buffer at {start} ({} pages of {} B)", buffer.num_pages(), buffer.page_bytes());
        if address + bytes > end {
            let over = address + bytes - end;
            return Err(FaultKind::PastBuffer { place: self.place_name(place), address, bytes, over, owner: owner() });
        }
        let offset = (address - start) as usize;
        if how == Use::Write {
            buffer.mark_bytes(device.current(), place.bank, offset, bytes as usize);
        } else if self.watched && !buffer.bytes_written(device.current(), place.bank, offset, bytes as usize) {
            return Err(FaultKind::NeverWritten { place: self.place_name(place), address, bytes, owner: owner() });
        }
        Ok(())
    }

    pub(crate) fn place_name(&self, place: Place) -> String {
        if place.dram { format!("DRAM bank {}", place.bank) } else { self.l1_name(place.bank) }
    }
}

/// Bytes of a CB may be written where its producer has reserved, and read where its consumer has waited. A CB that has
/// never carried pages is plain memory, and what other cores write is the business of the protocol between them.
pub(crate) fn check_window(
    cb: &Cb,
    kernel: usize,
    own: bool,
    address: u32,
    end: u32,
    how: Use,
) -> Result<(), FaultKind> {
    if !own || cb.borrowed {
        return Ok(());
    }
    let (back, front) = (cb.write_pointer(), cb.read_pointer());
    let reserved_end = back + cb.reserved * cb.page_bytes;
    let waited_end = front + cb.waited * cb.page_bytes;
    let in_reserved = address >= back && end <= reserved_end;
    let in_waited = address >= front && end <= waited_end;
    let (index, bytes) = (cb.index, end - address);
    match how {
        // Consumers may work in place on what they have waited for; a producer may look at what it has made.
        _ if in_reserved || in_waited => Ok(()),
        Use::Write if cb.producer == Some(kernel) || cb.pushed > 0 => {
            Err(FaultKind::WriteOutsideReserved { cb: index, address, bytes, reserved: cb.reserved, start: back })
        }
        Use::Read if cb.consumer == Some(kernel) || cb.pushed > 0 && cb.producer != Some(kernel) => {
            Err(FaultKind::ReadOutsideWaited { cb: index, address, bytes, waited: cb.waited, start: front })
        }
        _ => Ok(()),
    }
}

/// Marks bytes of a CB that lies in a buffer as written there: the next program reads them as the buffer's.
pub(crate) fn mark_buffer(device: &Device, place: Place, bytes: u32) {
    if let Some(buffer) = device.owner(place) {
        let start = buffer.start_in(place.bank);
        let end = (place.address + u64::from(bytes)).min(start + buffer.bytes_per_bank());
        let offset = (place.address - start) as usize;
        buffer.mark_bytes(device.current(), place.bank, offset, (end - place.address) as usize);
    }
}

/// Tiles of a circular buffer must lie in L1, wherever its pointers are.
pub(crate) fn require_in_l1(limit: u64, address: u32, bytes: u32) -> Result<(), FaultKind> {
    if u64::from(address) + u64::from(bytes) > limit {
        let place = "L1".to_owned();
        return Err(FaultKind::OutOfBounds { place, address: address.into(), bytes: bytes.into(), limit });
    }
    Ok(())
}
