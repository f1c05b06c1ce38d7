//! The free list of one region of the banks.
//!
//! Banks work in lock step, so one list of blocks describes all of them: an allocation takes the same address
//! everywhere. First fit, in DRAM from the bottom, in L1 from the top; neighbouring free blocks are joined at once, so
//! that a freed hole can be reused whole. Blocks keep a number for as long as they live, which is what the block table
//! of the public memory view shows.
use std::collections::BTreeMap;
use std::ops::Range;

/// From which end of the region memory is handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Lowest fitting address (DRAM).
    FromBottom,
    /// Highest fitting address (L1).
    FromTop,
}

/// A run of bytes, free or allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Number of the block.
    pub id: usize,
    /// First address.
    pub address: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// Block before it.
    pub previous: Option<usize>,
    /// Block after it.
    pub next: Option<usize>,
    /// In use?
    pub allocated: bool,
}

/// Use of a region, per bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of the region.
    pub total_bytes: u64,
    /// Bytes in use.
    pub allocated_bytes: u64,
    /// Bytes not in use.
    pub free_bytes: u64,
    /// Longest run of free bytes.
    pub largest_free_bytes: u64,
}

/// One region of all banks and its blocks.
#[derive(Debug)]
pub struct Allocator {
    base: u64,
    bytes: u64,
    direction: Direction,
    /// Addresses below it are not handed out.
    floor: u64,
    allocated_bytes: u64,
    /// Blocks by number; `None` is a number to be used again.
    blocks: Vec<Option<Block>>,
    unused: Vec<usize>,
    /// Numbers of all blocks, and of the free ones, by address.
    by_address: BTreeMap<u64, usize>,
    free: BTreeMap<u64, usize>,
}

impl Allocator {
    /// An empty region of `bytes` from `base` on.
    pub fn new(base: u64, bytes: u64, direction: Direction) -> Self {
        let mut region = Self {
            base,
            bytes,
            direction,
            floor: base,
            allocated_bytes: 0,
            blocks: Vec::new(),
            unused: Vec::new(),
            by_address: BTreeMap::new(),
            free: BTreeMap::new(),
        };
        if bytes > 0 {
            region.insert(Block { id: 0, address: base, bytes, previous: None, next: None, allocated: false });
        }
        region
    }

    /// First address of the region.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// End address of the region.
    pub fn end(&self) -> u64 {
        self.base + self.bytes
    }

    /// Sets the first address that may be handed out.
    ///
    /// Of a region that is filled from the top. `false` if a block in use begins below it.
    pub fn set_floor(&mut self, floor: u64) -> bool {
        debug_assert_eq!(self.direction, Direction::FromTop, "a floor under what grows upwards");
        let free = self.lowest_occupied().is_none_or(|lowest| lowest >= floor);
        if free {
            self.floor = floor.max(self.base);
        }
        free
    }

    /// Bytes of a free block that may be handed out.
    fn usable(&self, id: usize) -> u64 {
        let block = self.block(id);
        (block.address + block.bytes).saturating_sub(block.address.max(self.floor))
    }

    /// Allocates `bytes` (more than 0) and returns their address.
    ///
    /// `None` if no free block is large enough.
    pub fn allocate(&mut self, bytes: u64) -> Option<u64> {
        debug_assert!(bytes > 0, "empty buffers have no block");
        let fits = |id: &&usize| self.usable(**id) >= bytes;
        let id = *match self.direction {
            Direction::FromBottom => self.free.values().find(fits),
            Direction::FromTop => self.free.values().rev().find(fits),
        }?;
        let whole = self.block(id);
        self.free.remove(&whole.address);
        let rest = whole.bytes - bytes;
        if rest > 0 {
            self.split(whole, bytes, rest);
        }
        self.allocated_bytes += bytes;
        let block = self.block_mut(id);
        block.allocated = true;
        Some(block.address)
    }

    /// Allocates `bytes` (more than 0) outside of some ranges.
    ///
    /// They get the highest address that fits, of a region that is filled from the top. `None` if nothing is large
    /// enough.
    pub fn allocate_beside(&mut self, bytes: u64, taken: &[Range<u64>]) -> Option<u64> {
        debug_assert_eq!(self.direction, Direction::FromTop, "ranges beside what grows upwards");
        let address = fit(&self.gaps(taken), bytes)?;
        let mut whole = self.block_at(address)?;
        self.free.remove(&whole.address);
        let above = whole.address + whole.bytes - (address + bytes);
        if above > 0 {
            // The upper part keeps the number and stays free.
            let below = whole.bytes - above;
            self.split(whole, above, below);
            self.free.insert(address + bytes, whole.id);
            whole = self.block_at(address)?;
            self.free.remove(&whole.address);
        }
        if whole.bytes > bytes {
            self.split(whole, bytes, whole.bytes - bytes);
        }
        self.allocated_bytes += bytes;
        self.block_mut(whole.id).allocated = true;
        Some(address)
    }

    /// Returns the free ranges without others, by address.
    pub fn gaps(&self, taken: &[Range<u64>]) -> Vec<Range<u64>> {
        let mut taken = taken.to_vec();
        taken.sort_unstable_by_key(|range| range.start);
        let mut gaps = Vec::new();
        for &id in self.free.values() {
            let block = self.block(id);
            let (mut start, end) = (block.address.max(self.floor), block.address + block.bytes);
            for other in taken.iter().filter(|other| other.start < end) {
                if other.start > start {
                    gaps.push(start..other.start);
                }
                start = start.max(other.end);
            }
            if start < end {
                gaps.push(start..end);
            }
        }
        gaps
    }

    /// Frees the block at `address`. `false` if no allocated block starts there.
    pub fn release(&mut self, address: u64) -> bool {
        let Some(&id) = self.by_address.get(&address) else { return false };
        let block = self.block(id);
        if !block.allocated {
            return false;
        }
        self.allocated_bytes -= block.bytes;
        self.block_mut(id).allocated = false;
        let joins = |neighbour: Option<usize>| neighbour.filter(|&other| !self.block(other).allocated);
        let (before, after) = (joins(block.previous), joins(block.next));
        let mut kept = id;
        if let Some(next) = after {
            self.join(id, next);
        }
        if let Some(previous) = before {
            self.join(previous, id);
            kept = previous;
        }
        let address = self.block(kept).address;
        self.free.insert(address, kept);
        true
    }

    /// The block that covers an address.
    pub fn block_at(&self, address: u64) -> Option<Block> {
        let (_, &id) = self.by_address.range(..=address).next_back()?;
        Some(self.block(id)).filter(|block| address - block.address < block.bytes)
    }

    /// All blocks in the order of their addresses.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = Block> + '_ {
        self.by_address.values().map(|&id| self.block(id))
    }

    /// Returns the use of the region.
    pub fn usage(&self) -> Usage {
        Usage {
            total_bytes: self.bytes,
            allocated_bytes: self.allocated_bytes,
            free_bytes: self.bytes - self.allocated_bytes,
            largest_free_bytes: self.free.values().map(|&id| self.usable(id)).max().unwrap_or(0),
        }
    }

    /// Lowest address in use.
    pub fn lowest_occupied(&self) -> Option<u64> {
        self.blocks().find(|block| block.allocated).map(|block| block.address)
    }

    /// Cuts a free block so that it keeps `bytes` at the end that the direction prefers; the rest is a new free block.
    fn split(&mut self, whole: Block, bytes: u64, rest: u64) {
        let id = whole.id;
        let (kept, rest_address) = match self.direction {
            Direction::FromBottom => (whole.address, whole.address + bytes),
            Direction::FromTop => (whole.address + rest, whole.address),
        };
        self.by_address.remove(&whole.address);
        self.by_address.insert(kept, id);
        let links = match self.direction {
            Direction::FromBottom => (Some(id), whole.next),
            Direction::FromTop => (whole.previous, Some(id)),
        };
        let (previous, next) = links;
        let new = self.insert(Block { id: 0, address: rest_address, bytes: rest, previous, next, allocated: false });
        let block = self.block_mut(id);
        (block.address, block.bytes) = (kept, bytes);
        if let Some(previous) = previous {
            self.block_mut(previous).next = Some(new);
        }
        if let Some(next) = next {
            self.block_mut(next).previous = Some(new);
        }
    }

    /// Appends block `second` to its neighbour `first`; the number of `second` becomes unused.
    fn join(&mut self, first: usize, second: usize) {
        let gone = self.block(second);
        self.by_address.remove(&gone.address);
        self.free.remove(&gone.address);
        self.blocks[second] = None;
        self.unused.push(second);
        let block = self.block_mut(first);
        block.bytes += gone.bytes;
        block.next = gone.next;
        if let Some(next) = gone.next {
            self.block_mut(next).previous = Some(first);
        }
    }

    /// Stores a free block under a new number.
    fn insert(&mut self, block: Block) -> usize {
        let id = self.unused.pop().unwrap_or_else(|| {
            self.blocks.push(None);
            self.blocks.len() - 1
        });
        self.blocks[id] = Some(Block { id, ..block });
        self.by_address.insert(block.address, id);
        self.free.insert(block.address, id);
        id
    }

    fn block(&self, id: usize) -> Block {
        self.blocks[id].expect("numbers in the maps and links belong to living blocks")
    }

    fn block_mut(&mut self, id: usize) -> &mut Block {
        self.blocks[id].as_mut().expect("numbers in the maps and links belong to living blocks")
    }
}

/// The highest address of `bytes` in one of some ranges, which are in the order of their addresses.
pub(crate) fn fit(gaps: &[Range<u64>], bytes: u64) -> Option<u64> {
    gaps.iter().rev().find(|gap| gap.end - gap.start >= bytes).map(|gap| gap.end - bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every invariant of the lists, after whatever was done.
    fn check(region: &Allocator) {
        let blocks: Vec<Block> = region.blocks().collect();
        let (mut address, mut allocated) = (region.base(), 0);
        for (index, block) in blocks.iter().enumerate() {
            assert_eq!(block.address, address, "no gaps and no overlaps");
            assert_eq!(block.previous, index.checked_sub(1).map(|i| blocks[i].id));
            assert_eq!(block.next, blocks.get(index + 1).map(|next| next.id));
            assert!(block.bytes > 0);
            if index > 0 {
                assert!(block.allocated || blocks[index - 1].allocated, "free neighbours are joined");
            }
            assert_eq!(region.free.contains_key(&block.address), !block.allocated);
            address += block.bytes;
            allocated += if block.allocated { block.bytes } else { 0 };
        }
        assert_eq!(address, region.end());
        assert_eq!(region.usage().allocated_bytes, allocated);
        assert_eq!(region.by_address.len(), blocks.len());
    }

    #[test]
    fn dram_grows_up_and_reuses_the_first_hole_that_fits() {
        let mut region = Allocator::new(64, 1024, Direction::FromBottom);
        let first: Vec<_> = (0..4).map(|_| region.allocate(64)).collect();
        assert_eq!(first, [Some(64), Some(128), Some(192), Some(256)]);
        assert!(region.release(128) && region.release(256));
        assert_eq!(region.allocate(32), Some(128));
        assert_eq!(region.allocate(64), Some(256));
        assert_eq!(region.allocate(32), Some(160));
        check(&region);
    }

    #[test]
    fn l1_grows_down_and_reuses_the_highest_hole_that_fits() {
        let mut region = Allocator::new(64, 1024, Direction::FromTop);
        let first: Vec<_> = (0..3).map(|_| region.allocate(64)).collect();
        assert_eq!(first, [Some(1024), Some(960), Some(896)]);
        assert_eq!(region.lowest_occupied(), Some(896));
        assert!(region.release(1024));
        assert_eq!(region.allocate(32), Some(1056));
        assert_eq!(region.allocate(64), Some(832));
        check(&region);
    }

    #[test]
    fn nothing_is_handed_out_below_the_floor() {
        let mut region = Allocator::new(64, 1024, Direction::FromTop);
        assert!(region.set_floor(64 + 512));
        assert_eq!(region.usage().largest_free_bytes, 512);
        assert_eq!((region.allocate(513), region.allocate(512), region.allocate(1)), (None, Some(576), None));
        assert!(!region.set_floor(600) && region.set_floor(0));
        assert_eq!(region.allocate(512), Some(64));
    }

    #[test]
    fn blocks_are_allocated_beside_ranges() {
        let mut region = Allocator::new(64, 1024, Direction::FromTop);
        assert_eq!(region.allocate(32), Some(1056));
        let taken = [960..992, 1024..1040, 980..1000];
        assert_eq!(region.gaps(&taken), [64..960, 1000..1024, 1040..1056]);
        // In a hole, below everything, above everything.
        assert_eq!(region.allocate_beside(24, &taken), Some(1000));
        check(&region);
        assert_eq!(region.allocate_beside(64, &taken), Some(896));
        check(&region);
        assert_eq!(region.allocate_beside(16, &taken), Some(1040));
        check(&region);
        assert_eq!((region.gaps(&taken).len(), region.gaps(&taken).first()), (1, Some(&(64..896))));
        assert!(region.set_floor(800));
        assert_eq!((region.allocate_beside(97, &taken), region.allocate_beside(96, &taken)), (None, Some(800)));
        check(&region);
        for address in [1000, 896, 1040, 800, 1056] {
            assert!(region.release(address));
            check(&region);
        }
        assert_eq!(region.gaps(&[]).len(), 1);
    }

    #[test]
    fn fragmentation_shows_in_the_usage() {
        let mut region = Allocator::new(0, 256, Direction::FromBottom);
        let addresses: Vec<u64> = (0..8).filter_map(|_| region.allocate(32)).collect();
        for &address in addresses.iter().step_by(2) {
            assert!(region.release(address));
        }
        let usage = region.usage();
        assert_eq!((usage.free_bytes, usage.largest_free_bytes, usage.allocated_bytes), (128, 32, 128));
        assert_eq!(region.allocate(64), None);
        assert!(region.release(32));
        assert_eq!(region.usage().largest_free_bytes, 96);
        check(&region);
    }

    #[test]
    fn only_allocated_blocks_can_be_released() {
        let mut region = Allocator::new(0, 256, Direction::FromBottom);
        assert_eq!(region.allocate(64), Some(0));
        assert!(!region.release(32) && !region.release(64) && !region.release(4096));
        assert!(region.release(0));
        assert!(!region.release(0));
        assert_eq!(region.block_at(255).map(|block| (block.address, block.bytes)), Some((0, 256)));
        assert_eq!(region.block_at(256), None);
    }

    #[test]
    fn an_empty_region_has_nothing_to_give() {
        let mut region = Allocator::new(4096, 0, Direction::FromTop);
        assert_eq!((region.allocate(16), region.usage().total_bytes, region.blocks().count()), (None, 0, 0));
    }

    #[test]
    fn ten_thousand_random_steps_keep_the_lists_in_order() {
        for direction in [Direction::FromBottom, Direction::FromTop] {
            let mut region = Allocator::new(1024, 1 << 16, direction);
            let (mut state, mut live) = (1u64, Vec::new());
            for step in 0..10_000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let random = (state >> 33) as usize;
                if random % 5 < 3 {
                    live.extend(region.allocate(32 * (1 + random as u64 % 40)));
                } else if !live.is_empty() {
                    assert!(region.release(live.swap_remove(random % live.len())));
                }
                if step % 16 == 0 {
                    check(&region);
                }
            }
            assert!(live.into_iter().all(|address| region.release(address)));
            check(&region);
            assert_eq!(region.blocks().count(), 1);
        }
    }
}
