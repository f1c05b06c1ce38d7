//! Bytes at addresses, as kernels see memory.
//!
//! No pages, no claims, one bank at a time.
//!
//! Who may touch what is the caller's business; [`Device::buffer_at`] and the written bits of [`Buffer::bytes_written`] are
//! what it decides by.
use crate::buffer::{Buffer, BufferType, PageMap, WRITTEN_UNIT};
use crate::device::{Device, Memory};
use crate::error::MemoryError;

/// One byte of the device's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// In a DRAM bank; otherwise in the L1 of a core.
    pub dram: bool,
    /// The bank, or the L1 bank of the core.
    pub bank: usize,
    /// Address in the bank.
    pub address: u64,
}

impl Device {
    /// The bytes from a place on.
    ///
    /// # Errors
    /// [`MemoryError::Arena`] if they do not lie in the bank.
    #[inline]
    pub fn bytes(&self, place: Place, len: usize) -> Result<&[u8], MemoryError> {
        let memory = &self.memories[self.current];
        let arena = if place.dram { &memory.dram } else { &memory.l1 };
        Ok(arena.bytes(place.bank, place.address as usize, len)?)
    }

    /// The bytes from a place on, to be written.
    ///
    /// # Errors
    /// [`MemoryError::Arena`] if they do not lie in the bank.
    #[inline]
    pub fn bytes_mut(&mut self, place: Place, len: usize) -> Result<&mut [u8], MemoryError> {
        let memory = &mut self.memories[self.current];
        let arena = if place.dram { &mut memory.dram } else { &mut memory.l1 };
        Ok(arena.bytes_mut(place.bank, place.address as usize, len)?)
    }

    /// Copies bytes between two places, which may overlap.
    ///
    /// # Errors
    /// [`MemoryError::Arena`] if either range does not lie in its bank.
    pub fn copy_bytes(&mut self, from: Place, to: Place, len: usize) -> Result<(), MemoryError> {
        let (source, target) = (from.address as usize, to.address as usize);
        let Memory { dram, l1 } = &mut self.memories[self.current];
        match (from.dram, to.dram) {
            (true, true) => dram.copy(from.bank, source, to.bank, target, len)?,
            (false, false) => l1.copy(from.bank, source, to.bank, target, len)?,
            (true, false) => {
                l1.bytes_mut(to.bank, target, len)?.copy_from_slice(dram.bytes(from.bank, source, len)?);
            }
            (false, true) => {
                dram.bytes_mut(to.bank, target, len)?.copy_from_slice(l1.bytes(from.bank, source, len)?);
            }
        }
        Ok(())
    }

    /// The DRAM or L1 buffer, of any region, at a place.
    #[inline]
    pub fn owner(&self, place: Place) -> Option<&Buffer> {
        let (first, second) =
            if place.dram { (BufferType::Dram, BufferType::Trace) } else { (BufferType::L1, BufferType::L1Small) };
        let own = if place.dram { None } else { self.own_buffer_at(place.bank, place.address) };
        own.or_else(|| self.buffer_at(first, place.address)).or_else(|| self.buffer_at(second, place.address))
    }

    /// Marks a place's bytes as written, in all affected buffers.
    pub fn mark_range(&self, place: Place, len: usize) {
        let (start, end) = (place.address, place.address + len as u64);
        for buffer in self.buffers() {
            let in_dram = matches!(buffer.buffer_type(), BufferType::Dram | BufferType::Trace);
            let Some(first) = buffer.address_in(place.bank) else { continue };
            let last = first + buffer.bytes_per_bank();
            if in_dram == place.dram && first < end && start < last {
                let from = start.max(first);
                buffer.mark_bytes(self.current, place.bank, (from - first) as usize, (end.min(last) - from) as usize);
            }
        }
    }

    /// Returns true if unwritten bytes may not be read.
    pub fn is_watched(&self) -> bool {
        self.watched
    }

    /// First L1 address that circular buffers may have.
    pub fn l1_base(&self) -> u64 {
        self.regions[BufferType::L1.index()].allocator.base()
    }
}

impl Buffer {
    /// Returns the page of a bank at this slot.
    ///
    /// `None` in the padding of shards and in banks that hold none.
    pub fn page_at(&self, bank: usize, slot: usize) -> Option<usize> {
        let page = match &self.map {
            PageMap::Interleaved => slot * self.bank_count + bank,
            PageMap::Sharded { page_columns, shard_rows, shard_columns, banks } => {
                let place = banks.iter().position(|&owner| owner == bank)?;
                let pages = shard_rows * shard_columns;
                let (shard, inside) = (slot / pages * banks.len() + place, slot % pages);
                let across = page_columns.div_ceil(*shard_columns);
                let row = shard / across * shard_rows + inside / shard_columns;
                let column = shard % across * shard_columns + inside % shard_columns;
                if column >= *page_columns {
                    return None;
                }
                row * page_columns + column
            }
            PageMap::Listed(list) => list.page_at(bank, slot)?,
        };
        (page < self.num_pages).then_some(page)
    }

    /// Marks a bank's bytes on a chip as written.
    ///
    /// The offset is counted from the buffer's start.
    pub fn mark_bytes(&self, chip: usize, bank: usize, offset: usize, len: usize) {
        self.for_each_page(bank, offset, len, |page, from, to| {
            let first = page * self.written_bits();
            self.written[chip].set(first + from / WRITTEN_UNIT..first + to.div_ceil(WRITTEN_UNIT));
            true
        });
    }

    /// Returns true if these bytes are written since the buffer's allocation.
    ///
    /// Padding counts as written.
    pub fn bytes_written(&self, chip: usize, bank: usize, offset: usize, len: usize) -> bool {
        let mut written = true;
        self.for_each_page(bank, offset, len, |page, from, to| {
            let first = page * self.written_bits();
            written = self.written[chip].all_set(first + from / WRITTEN_UNIT..first + to.div_ceil(WRITTEN_UNIT));
            written
        });
        written
    }

    fn written_bits(&self) -> usize {
        self.aligned_page_bytes.div_ceil(WRITTEN_UNIT)
    }

    /// Calls `visit` with each page that a range touches and the part of the page, until it says stop.
    fn for_each_page(
        &self,
        bank: usize,
        offset: usize,
        len: usize,
        mut visit: impl FnMut(usize, usize, usize) -> bool,
    ) {
        if len == 0 || self.aligned_page_bytes == 0 {
            return;
        }
        let stride = self.aligned_page_bytes;
        let end = offset + len;
        for slot in offset / stride..end.div_ceil(stride) {
            let start = slot * stride;
            let Some(page) = self.page_at(bank, slot) else { continue };
            if !visit(page, offset.saturating_sub(start), (end - start).min(stride)) {
                return;
            }
        }
    }
}
