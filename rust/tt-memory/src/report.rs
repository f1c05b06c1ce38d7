//! Memory reports: region views, and a hash of observable state.
//!
//! Observable: by a program.
use tt_cpu::pool;

use crate::allocator::{Block, Usage};
use crate::buffer::BufferType;
use crate::device::Device;
use crate::error::MemoryError;
use crate::own_addresses::OwnRanges;

/// One region, per bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryView {
    /// Banks that work in lock step.
    pub num_banks: usize,
    /// First address of the region.
    pub base: u64,
    /// Use of each bank.
    pub usage: Usage,
    /// Blocks in the order of their addresses.
    pub blocks: Vec<Block>,
}

impl Device {
    /// Returns the use of a region.
    ///
    /// # Errors
    /// [`MemoryError::DeviceClosed`].
    pub fn memory_view(&self, buffer_type: BufferType) -> Result<MemoryView, MemoryError> {
        self.require_open()?;
        let allocator = &self.regions[buffer_type.index()].allocator;
        Ok(MemoryView {
            num_banks: self.banks(buffer_type),
            base: allocator.base(),
            usage: allocator.usage(),
            blocks: allocator.blocks().collect(),
        })
    }

    /// Lowest L1 address that a buffer occupies.
    ///
    /// Circular buffers, which grow from the bottom, must end below it.
    ///
    /// # Errors
    /// [`MemoryError::DeviceClosed`].
    pub fn lowest_l1_address(&self) -> Result<Option<u64>, MemoryError> {
        self.require_open()?;
        let shared = self.regions[BufferType::L1.index()].allocator.lowest_occupied();
        let own = self.own_ranges.as_ref().and_then(OwnRanges::lowest);
        let l1 = shared.into_iter().chain(own).min();
        Ok(l1.or_else(|| self.regions[BufferType::L1Small.index()].allocator.lowest_occupied()))
    }

    /// Bytes in use in all banks of all regions.
    pub fn allocated_bytes(&self) -> u64 {
        let regions = BufferType::ALL.into_iter();
        let bytes = |kind: BufferType| self.regions[kind.index()].allocator.usage().allocated_bytes;
        let shared: u64 = regions.map(|kind| bytes(kind) * self.banks(kind) as u64).sum();
        shared + self.own_ranges.as_ref().map_or(0, OwnRanges::bytes)
    }

    /// A number that changes with every change observable by a program.
    ///
    /// Which blocks are taken, which pages were written, and what is in them. Names of buffers do not count; equal
    /// histories give equal numbers on every host.
    ///
    /// # Errors
    /// [`MemoryError::DeviceClosed`].
    pub fn state_hash(&mut self) -> Result<u64, MemoryError> {
        self.require_open()?;
        let mut hash = Hash::new();
        for region in &self.regions {
            for block in region.allocator.blocks() {
                hash.add(block.address);
                hash.add(block.bytes);
                hash.add(u64::from(block.allocated));
            }
        }
        let ids: Vec<_> = self.buffers().map(crate::buffer::Buffer::id).collect();
        let chips = self.access_all(&[])?;
        for (access, &id) in chips.iter().flat_map(|access| ids.iter().map(move |id| (access, id))) {
            let input = access.input(id)?;
            let buffer = input.buffer();
            hash.add(buffer.page_bytes() as u64);
            for (bank, address) in buffer.own_addresses() {
                hash.add(bank as u64);
                hash.add(address);
            }
            let mut pages = vec![0u64; buffer.num_pages()];
            pool::for_each_chunk(&mut pages, 256, |chunk, hashes| {
                for (index, hash) in hashes.iter_mut().enumerate() {
                    let page = chunk * 256 + index;
                    if let (true, Ok(bytes)) = (buffer.is_written(access.chip(), page), input.page(page)) {
                        *hash = hash_bytes(bytes);
                    }
                }
            });
            for page in pages {
                hash.add(page);
            }
        }
        Ok(hash.0)
    }
}

/// A plain multiply-and-rotate hash: fixed for all time and hosts, which the standard library does not promise.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        self.0 ^= self.0 >> 32;
    }
}

fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hash = Hash::new();
    let (words, rest) = bytes.as_chunks::<8>();
    for &word in words {
        hash.add(u64::from_le_bytes(word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    hash.add(u64::from_le_bytes(last));
    hash.add(bytes.len() as u64);
    hash.0
}
