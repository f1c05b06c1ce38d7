//! Pages of buffers: where they lie on the NoC.

use tt_memory::buffer::{Buffer, PageMap};
use tt_memory::chip::NocCoord;
use tt_memory::{Device, Place};

use super::{ADDRESS_BITS, COORD_BITS};
use crate::error::{Fault, FaultKind};
use crate::state::Run;
use crate::state::time::Target;

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

impl Run {
    /// The buffer of a page, after checking that it has this page.
    fn buffer_of(device: &Device, page: Page) -> Result<&Buffer, FaultKind> {
        let memory = if page.dram { "DRAM" } else { "L1" };
        let place = Place { dram: page.dram, bank: 0, address: page.base };
        let Some(buffer) = device.owner(place).filter(|buffer| buffer.address() == page.base) else {
            let advice =
                "pass the address of an allocated buffer (buffer.address()), and the right DRAM flag".to_owned();
            return Err(FaultKind::NoBufferAt { base: page.base, memory, advice });
        };
        let pages = buffer.num_pages() as u64;
        if page.page >= pages {
            return Err(FaultKind::PageOutOfRange { page: page.page, base: page.base, pages });
        }
        if page.bytes as usize != buffer.page_bytes() && page.bytes as usize != buffer.aligned_page_bytes() {
            let (base, actual) = (page.base, buffer.page_bytes() as u64);
            return Err(FaultKind::PageSizeDiffers { given: page.bytes.into(), base, actual });
        }
        Ok(buffer)
    }

    /// Bank and address of a page. Compiled kernels do address arithmetic of their own: what they give need not be the
    /// beginning of a buffer, nor the size of its pages.
    pub(super) fn locate_page(&self, device: &Device, page: Page) -> Result<(Target, u64), FaultKind> {
        let found = match Self::buffer_of(device, page) {
            Err(FaultKind::NoBufferAt { .. } | FaultKind::PageSizeDiffers { .. })
                if self.kernels[self.current].compiled || !self.watched =>
            {
                return Ok(self.interleaved(page));
            }
            Err(FaultKind::PageOutOfRange { .. }) if !self.watched => return Ok(self.interleaved(page)),
            buffer => buffer?.locate(page.page as usize)?,
        };
        let target = if page.dram { Target::Dram(found.bank) } else { Target::Worker(found.bank) };
        Ok((target, found.address + u64::from(page.offset)))
    }

    /// Where a page lies that is interleaved over all banks from an address on.
    fn interleaved(&self, page: Page) -> (Target, u64) {
        let (banks, alignment) = if page.dram {
            (self.chip.dram_banks(), self.chip.dram_alignment)
        } else {
            (self.chip.grid.cores(), self.chip.l1_alignment)
        };
        let (bank, slot) = ((page.page % banks as u64) as usize, page.page / banks as u64);
        let bytes = u64::from(page.bytes).next_multiple_of(alignment);
        // Addresses beyond all memory are found where they are used.
        let address = slot.saturating_mul(bytes).saturating_add(page.base).saturating_add(page.offset.into());
        (if page.dram { Target::Dram(bank) } else { Target::Worker(bank) }, address)
    }

    fn noc_address(&self, device: &Device, page: Page) -> Result<u64, FaultKind> {
        let (target, address) = self.locate_page(device, page)?;
        let NocCoord { x, y } = self.coord(target);
        Ok(u64::from(y) << (ADDRESS_BITS + COORD_BITS) | u64::from(x) << ADDRESS_BITS | address)
    }

    /// NoC address of a page.
    ///
    /// # Errors
    /// No such buffer or page.
    pub fn page_address(&mut self, device: &Device, page: Page) -> Result<u64, Fault> {
        self.checked("get_noc_addr", |run| {
            run.book(run.time.risc().noc_address);
            run.noc_address(device, page)
        })
    }

    /// NoC address of a place in the first page of a shard.
    ///
    /// Of an interleaved buffer every page is a shard.
    ///
    /// # Errors
    /// No such buffer or shard.
    pub fn shard_address(&mut self, device: &Device, first: Page, shard: u64) -> Result<u64, Fault> {
        self.checked("get_shard_noc_addr", |run| {
            run.book(run.time.risc().noc_address);
            let buffer = Self::buffer_of(device, Page { page: 0, ..first })?;
            let page = match buffer.map() {
                PageMap::Interleaved => shard,
                PageMap::Sharded { page_columns, shard_rows, shard_columns, .. } => {
                    let across = page_columns.div_ceil(*shard_columns) as u64;
                    let (row, column) = (shard / across * *shard_rows as u64, shard % across * *shard_columns as u64);
                    row * *page_columns as u64 + column
                }
                PageMap::Listed(_) => return Err(without_shard_numbers()),
            };
            run.noc_address(device, Page { page, ..first })
        })
    }

    /// Returns a buffer's division.
    ///
    /// Pages, pages per row, rows and columns of pages in a shard, banks. An interleaved buffer is cut into its pages.
    ///
    /// # Errors
    /// No such buffer.
    pub fn buffer_cut(&mut self, device: &Device, first: Page) -> Result<[u64; 5], Fault> {
        self.checked("TensorAccessor", |run| {
            let buffer = Self::buffer_of(device, Page { page: 0, ..first })?;
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
}

fn without_shard_numbers() -> FaultKind {
    FaultKind::Unsupported(
        "shards along more than two dimensions have no number here; address the pages of the tensor instead".into(),
    )
}
