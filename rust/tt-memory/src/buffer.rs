//! Buffers: pages, and where each of them lies in the banks.
use std::ops::Range;

use tt_cpu::bits::AtomicBits;

use crate::error::MemoryError;
use crate::own_addresses::OwnAddresses;

pub use crate::id::{BufferId, BufferType};

/// Bytes for which there is one written bit (shadow memory): the smallest unit of a NoC write that kernels use.
pub(crate) const WRITTEN_UNIT: usize = 16;

/// The distribution of pages over banks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageMap {
    /// Page i in bank i mod n.
    Interleaved,
    /// The pages form a grid that is cut into shards. Shard s is in `banks[s mod n]`.
    Sharded {
        /// Pages side by side in the whole tensor.
        page_columns: usize,
        /// Rows of pages in a shard.
        shard_rows: usize,
        /// Columns of pages in a shard.
        shard_columns: usize,
        /// Banks in the order of the shards.
        banks: Box<[usize]>,
    },
    /// Each page where a list says, for shards along more than two dimensions.
    Listed(Places),
}

/// A place for each page of a buffer, and the inverse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// (bank, slot) of each page.
    places: Box<[(usize, usize)]>,
    /// ((bank, slot), page), sorted.
    pages: Box<[((usize, usize), usize)]>,
}

impl Places {
    /// Places in the order of the pages; `None` if two pages have the same.
    pub(crate) fn new(places: Box<[(usize, usize)]>) -> Option<Self> {
        let mut pages: Box<[_]> = places.iter().enumerate().map(|(page, &place)| (place, page)).collect();
        pages.sort_unstable();
        let distinct = pages.windows(2).all(|pair| pair[0].0 != pair[1].0);
        distinct.then_some(Self { places, pages })
    }

    /// The page at a place, if any.
    pub(crate) fn page_at(&self, bank: usize, slot: usize) -> Option<usize> {
        let index = self.pages.binary_search_by_key(&(bank, slot), |&(place, _)| place).ok()?;
        Some(self.pages[index].1)
    }
}

/// Place of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLocation {
    /// Bank index.
    pub bank: usize,
    /// The index of the page in that bank.
    pub slot: usize,
    /// Address in the bank.
    pub address: u64,
}

/// Kinds of addresses of a buffer in its banks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Placement {
    /// One address, free in every bank of the device.
    #[default]
    Lockstep,
    /// One address, which other banks may have given to buffers with addresses of their own.
    LockstepInShards,
    /// An address of its own in each bank with a shard.
    EachShard,
}

/// A buffer's description, without its address.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(crate) placement: Placement,
    pub(crate) buffer_type: BufferType,
    pub(crate) page_bytes: u64,
    pub(crate) num_pages: u64,
    pub(crate) page_columns: usize,
    pub(crate) banks: usize,
    /// Pages that one bank must be able to hold.
    pub(crate) pages_per_bank: u64,
    /// Pages that the whole buffer takes, with the padding of shards.
    pub(crate) total_pages: u64,
    pub(crate) map: PageMap,
}

/// Bytes that a [`Plan`] needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// From one page of a bank to the next.
    pub aligned_page: u64,
    /// In each bank.
    pub bytes_per_bank: u64,
    /// In all banks.
    pub bytes: u64,
}

impl Plan {
    /// Returns it with another way to find addresses.
    #[must_use]
    pub fn placed(self, placement: Placement) -> Self {
        Self { placement, ..self }
    }

    /// Returns the kind of its addresses.
    pub fn placement(&self) -> Placement {
        self.placement
    }

    /// The region of the buffer.
    pub fn buffer_type(&self) -> BufferType {
        self.buffer_type
    }

    /// Bytes of a page that hold data.
    pub fn page_bytes(&self) -> usize {
        self.page_bytes as usize
    }

    /// Number of pages.
    pub fn num_pages(&self) -> usize {
        self.num_pages as usize
    }

    /// Pages side by side.
    pub fn page_columns(&self) -> usize {
        self.page_columns
    }
}

/// An allocated buffer.
#[derive(Debug)]
pub struct Buffer {
    pub(crate) id: BufferId,
    pub(crate) kind: BufferType,
    pub(crate) address: u64,
    pub(crate) page_bytes: usize,
    pub(crate) aligned_page_bytes: usize,
    pub(crate) num_pages: usize,
    pub(crate) page_columns: usize,
    pub(crate) bank_count: usize,
    pub(crate) pages_per_bank: u64,
    pub(crate) total_pages: u64,
    pub(crate) bytes_per_bank: u64,
    pub(crate) map: PageMap,
    pub(crate) placement: Placement,
    /// The address in each bank with a shard, and how many banks before it have one; `None` if it is the same in all.
    pub(crate) own: Option<OwnAddresses>,
    /// Written units, for each chip that has the memory.
    pub(crate) written: Box<[AtomicBits]>,
}

impl Buffer {
    /// Its name.
    pub fn id(&self) -> BufferId {
        self.id
    }

    /// Region it lies in.
    pub fn buffer_type(&self) -> BufferType {
        self.kind
    }

    /// Address, the same in every bank.
    ///
    /// That of the first shard if each has its own.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Returns the kind of its addresses.
    pub fn placement(&self) -> Placement {
        self.placement
    }

    /// Address in a bank; `None` where the buffer has none.
    #[inline]
    pub fn address_in(&self, bank: usize) -> Option<u64> {
        match &self.own {
            None => Some(self.address),
            Some(own) => own.get(bank).copied().flatten().map(|(_, address)| address),
        }
    }

    /// Address in a bank; without one, that of the first shard.
    pub fn start_in(&self, bank: usize) -> u64 {
        self.address_in(bank).unwrap_or(self.address)
    }

    /// Banks with a shard and the addresses there, unless the address is the same in all banks.
    pub(crate) fn own_addresses(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let own = self.own.as_deref().unwrap_or_default();
        own.iter().enumerate().filter_map(|(bank, place)| place.map(|(_, address)| (bank, address)))
    }

    /// How many banks of [`Buffer::own_addresses`] come before a bank.
    #[inline]
    pub(crate) fn own_before(&self, bank: usize) -> usize {
        self.own.as_ref().and_then(|own| own[bank]).map_or(0, |(before, _)| before)
    }

    /// Bytes of a page that hold data.
    pub fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// Distance of pages in a bank.
    pub fn aligned_page_bytes(&self) -> usize {
        self.aligned_page_bytes
    }

    /// Number of pages.
    pub fn num_pages(&self) -> usize {
        self.num_pages
    }

    /// Pages side by side.
    ///
    /// How many pages a row of the host tensor fills.
    pub fn page_columns(&self) -> usize {
        self.page_columns
    }

    /// Bytes of all pages, without alignment.
    pub fn bytes(&self) -> u64 {
        self.page_bytes as u64 * self.num_pages as u64
    }

    /// Bytes taken in each bank.
    pub fn bytes_per_bank(&self) -> u64 {
        self.bytes_per_bank
    }

    /// Returns the description for another buffer like this one.
    pub fn plan(&self) -> Plan {
        Plan {
            placement: self.placement,
            buffer_type: self.kind,
            page_bytes: self.page_bytes as u64,
            num_pages: self.num_pages as u64,
            page_columns: self.page_columns,
            banks: self.bank_count,
            pages_per_bank: self.pages_per_bank,
            total_pages: self.total_pages,
            map: self.map.clone(),
        }
    }

    /// Returns the distribution of pages over banks.
    pub fn map(&self) -> &PageMap {
        &self.map
    }

    /// Place of a page.
    ///
    /// # Errors
    /// [`MemoryError::PageOutOfRange`].
    #[inline]
    pub fn locate(&self, page: usize) -> Result<PageLocation, MemoryError> {
        if page >= self.num_pages {
            return Err(MemoryError::PageOutOfRange { buffer: self.id, page, pages: self.num_pages });
        }
        let (bank, slot) = match &self.map {
            PageMap::Interleaved => (page % self.bank_count, page / self.bank_count),
            PageMap::Sharded { page_columns, shard_rows, shard_columns, banks } => {
                let (row, column) = (page / page_columns, page % page_columns);
                let across = page_columns.div_ceil(*shard_columns);
                let shard = row / shard_rows * across + column / shard_columns;
                let inside = row % shard_rows * shard_columns + column % shard_columns;
                (banks[shard % banks.len()], shard / banks.len() * shard_rows * shard_columns + inside)
            }
            PageMap::Listed(list) => list.places[page],
        };
        let address = self.address_in(bank).unwrap_or_default();
        Ok(PageLocation { bank, slot, address: address + (slot * self.aligned_page_bytes) as u64 })
    }

    /// Marks a page as written on a chip.
    #[inline]
    pub(crate) fn mark_written(&self, chip: usize, page: usize) {
        self.mark_all_written(chip, page..page + 1);
    }

    /// Marks pages that follow each other as written on a chip.
    #[inline]
    pub(crate) fn mark_all_written(&self, chip: usize, pages: Range<usize>) {
        let bits = self.written_bits_per_page();
        self.written[chip].set(pages.start * bits..pages.end * bits);
    }

    /// Returns true if a page is fully written on a chip.
    #[inline]
    pub fn is_written(&self, chip: usize, page: usize) -> bool {
        let bits = self.written_bits_per_page();
        page < self.num_pages && self.written[chip].all_set(page * bits..(page + 1) * bits)
    }

    /// Refuses if a page was never written on a chip.
    ///
    /// # Errors
    /// [`MemoryError::NeverWritten`] with the first such page and their number.
    pub fn require_written(&self, chip: usize) -> Result<(), MemoryError> {
        if self.written[chip].is_full() {
            return Ok(());
        }
        let mut missing = (0..self.num_pages).filter(|&page| !self.is_written(chip, page));
        let first = missing.next().unwrap_or(0);
        let unwritten = 1 + missing.count();
        Err(MemoryError::NeverWritten { buffer: self.id, first, unwritten, pages: self.num_pages })
    }

    fn written_bits_per_page(&self) -> usize {
        written_bits_per_page(self.aligned_page_bytes)
    }
}

/// Marks of a page of so many aligned bytes.
pub(crate) fn written_bits_per_page(aligned_page_bytes: usize) -> usize {
    aligned_page_bytes.div_ceil(WRITTEN_UNIT)
}
