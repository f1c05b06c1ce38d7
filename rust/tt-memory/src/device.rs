//! A device: its banks, their division into buffers, and changes.
use std::collections::BTreeMap;
use std::fs::File;

use tt_cpu::arena::Arena;
use tt_cpu::bits::AtomicBits;

use crate::allocator::{Allocator, Direction};
use crate::buffer::{Buffer, BufferId, BufferType, PageMap, Placement, Places, Plan, Sizes, written_bits_per_page};
use crate::chip::{ChipSpec, Grid, LogicalCore};
use crate::error::{MemoryError, Notice};
use crate::id::next_id;
use crate::journal;
use crate::own_addresses::{OwnAddresses, OwnRanges};

/// Division of L1 and DRAM. Zeros are the defaults of the chip.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Bytes at the top of each L1 for `BufferType::L1Small`.
    pub l1_small_bytes: u64,
    /// Bytes at the top of each DRAM bank for `BufferType::Trace`.
    pub trace_region_bytes: u64,
    /// Bytes of each L1 for buffers and circular buffers together.
    ///
    /// 0: all that the firmware leaves.
    pub worker_l1_bytes: u64,
    /// True if L1 buffers may have an address per bank.
    pub own_addresses: bool,
}

/// A region of the banks and the buffers in it.
#[derive(Debug)]
pub(crate) struct Region {
    pub(crate) allocator: Allocator,
    /// Slot of the buffer at an address.
    pub(crate) owners: BTreeMap<u64, u32>,
}

/// The allocation that is to fail.
#[derive(Debug, Clone, Copy)]
struct Fault {
    number: u64,
    seen: u64,
}

/// The banks of one chip.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) dram: Arena,
    pub(crate) l1: Arena,
}

impl Memory {
    /// Reserves the banks of a chip.
    fn reserve(chip: &ChipSpec) -> Result<Self, MemoryError> {
        Ok(Self {
            dram: Arena::reserve(chip.dram_banks(), chip.dram_bank_bytes as usize)?,
            l1: Arena::reserve(chip.grid.cores(), chip.l1_bytes as usize)?,
        })
    }

    /// Maps the banks of a chip from a file that other processes have, too.
    fn map(chip: &ChipSpec, file: &File) -> Result<Self, MemoryError> {
        let dram_bytes = Arena::file_bytes(chip.dram_banks(), chip.dram_bank_bytes as usize)?;
        Ok(Self {
            dram: Arena::map(file, 0, chip.dram_banks(), chip.dram_bank_bytes as usize)?,
            l1: Arena::map(file, dram_bytes, chip.grid.cores(), chip.l1_bytes as usize)?,
        })
    }
}

/// A process's part in a device that several processes share.
#[derive(Debug)]
pub struct Ranks {
    /// True for the chips that this process computes for.
    pub own: Vec<bool>,
    /// A file for the memory of each chip, which all processes have.
    ///
    /// None if each has a copy of its own of the others' chips.
    pub files: Option<Vec<File>>,
}

/// An open device: one chip or several equal ones.
///
/// The chips of a mesh have one allocator: a buffer has the same address on all of them, and contents on each. Operators
/// read and write the memory of the current chip.
#[derive(Debug)]
pub struct Device {
    chip: &'static ChipSpec,
    id: u64,
    open: bool,
    pub(crate) watched: bool,
    pub(crate) unwritten: Notice,
    told: bool,
    pub(crate) memories: Vec<Memory>,
    /// Whether this process computes for a chip.
    pub(crate) own: Vec<bool>,
    /// The chip whose memory operators read and write.
    pub(crate) current: usize,
    pub(crate) regions: [Region; 4],
    pub(crate) buffers: Vec<Option<Buffer>>,
    unused_slots: Vec<u32>,
    /// Of buffers in L1 with an address of their own in each bank; `None` if there may be none.
    pub(crate) own_ranges: Option<OwnRanges>,
    fault: Option<Fault>,
}

/// From this size per bank on, a buffer gets large pages of the host.
const BULK_BYTES: u64 = 1 << 20;

/// From this size per bank on, DRAM of a mesh goes back to the host when its buffer is freed.
const RETURNED_BYTES: u64 = 1 << 17;

impl Device {
    /// Opens a device with empty memory.
    ///
    /// No host memory is taken before it is used.
    ///
    /// # Errors
    /// [`MemoryError::Region`] if the regions do not fit, [`MemoryError::Arena`] if the host gives no address space.
    pub fn open(chip: &'static ChipSpec, options: OpenOptions) -> Result<Self, MemoryError> {
        Self::open_chips(chip, 1, options)
    }

    /// Opens a device of several equal chips with empty memory.
    ///
    /// # Errors
    /// As [`Device::open`]; [`MemoryError::Chip`] without a chip.
    pub fn open_chips(chip: &'static ChipSpec, chips: usize, options: OpenOptions) -> Result<Self, MemoryError> {
        Self::open_over_ranks(chip, options, &Ranks { own: vec![true; chips], files: None })
    }

    /// Opens a device of equal chips that several processes share.
    ///
    /// # Errors
    /// As [`Device::open_chips`]; a file is too short, or there is not one for each chip.
    pub fn open_over_ranks(chip: &'static ChipSpec, options: OpenOptions, ranks: &Ranks) -> Result<Self, MemoryError> {
        let regions = divide(chip, options)?;
        let chips = ranks.own.len();
        let memories: Vec<_> = match &ranks.files {
            None => (0..chips).map(|_| Memory::reserve(chip)).collect::<Result<_, _>>()?,
            Some(files) => files.iter().map(|file| Memory::map(chip, file)).collect::<Result<_, _>>()?,
        };
        if chips == 0 || memories.len() != chips {
            return Err(MemoryError::Chip { chip: memories.len(), chips });
        }
        Ok(Self {
            chip,
            id: next_id(),
            open: true,
            watched: true,
            unwritten: Notice::new(),
            told: false,
            memories,
            own: ranks.own.clone(),
            current: 0,
            regions: regions.map(|allocator| Region { allocator, owners: BTreeMap::new() }),
            buffers: Vec::new(),
            unused_slots: Vec::new(),
            own_ranges: options.own_addresses.then(|| OwnRanges::new(chip.grid.cores())),
            fault: None,
        })
    }

    /// Releases all memory to the host. Every buffer becomes invalid.
    ///
    /// # Errors
    /// [`MemoryError::DeviceClosed`] if it was closed before.
    pub fn close(&mut self) -> Result<(), MemoryError> {
        self.require_open()?;
        let nothing = || Arena::reserve(0, 0);
        for memory in &mut self.memories {
            *memory = Memory { dram: nothing()?, l1: nothing()? };
        }
        self.open = false;
        for buffer in self.buffers.iter().flatten() {
            journal::note(buffer, self.id, false);
        }
        self.buffers = Vec::new();
        self.unused_slots = Vec::new();
        self.own_ranges = None;
        for region in &mut self.regions {
            region.allocator = Allocator::new(region.allocator.base(), 0, Direction::FromBottom);
            region.owners.clear();
        }
        Ok(())
    }

    /// Returns true if it has not been closed.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// The number of chips.
    pub fn chips(&self) -> usize {
        self.memories.len()
    }

    /// Returns true if this process computes for a chip.
    #[inline]
    pub fn owns(&self, chip: usize) -> bool {
        self.own.get(chip).copied().unwrap_or(false)
    }

    /// Bytes of the file for the memory of a chip.
    ///
    /// # Errors
    /// [`MemoryError::Arena`] if the host has no such numbers.
    pub fn file_bytes(chip: &ChipSpec) -> Result<u64, MemoryError> {
        let dram = Arena::file_bytes(chip.dram_banks(), chip.dram_bank_bytes as usize)?;
        Ok(dram + Arena::file_bytes(chip.grid.cores(), chip.l1_bytes as usize)?)
    }

    /// The current chip: its place in the mesh.
    pub fn current(&self) -> usize {
        self.current
    }

    /// Makes the first chip the current one.
    #[inline]
    pub fn select_first(&mut self) {
        self.current = 0;
    }

    /// Makes a chip the current one.
    ///
    /// # Errors
    /// [`MemoryError::Chip`] if there is no such chip.
    #[inline]
    pub fn select(&mut self, chip: usize) -> Result<(), MemoryError> {
        if chip >= self.memories.len() {
            return Err(MemoryError::Chip { chip, chips: self.memories.len() });
        }
        self.current = chip;
        Ok(())
    }

    /// Forbids kernels to read unwritten bytes, and records first reads.
    ///
    /// One of each operator; enabled from the start.
    pub fn set_watched(&mut self, watched: bool) {
        self.watched = watched;
    }

    /// Keeps buffers out of the first `bytes` of buffer L1.
    ///
    /// `false` if one is there already.
    ///
    /// # Errors
    /// [`MemoryError::DeviceClosed`].
    pub fn set_l1_floor(&mut self, bytes: u64) -> Result<bool, MemoryError> {
        self.require_open()?;
        let allocator = &mut self.regions[BufferType::L1.index()].allocator;
        let floor = allocator.base().saturating_add(bytes);
        if self.own_ranges.as_ref().and_then(OwnRanges::lowest).is_some_and(|lowest| lowest < floor) {
            return Ok(false);
        }
        Ok(allocator.set_floor(floor))
    }

    /// An operator's first read of unwritten pages, returned once.
    ///
    /// The chip goes on with what lies there.
    pub fn take_unwritten_read(&mut self) -> Option<MemoryError> {
        if self.told {
            return None;
        }
        let unwritten = self.unwritten.get().cloned();
        self.told = unwritten.is_some();
        unwritten
    }

    /// The chip.
    pub fn chip(&self) -> &'static ChipSpec {
        self.chip
    }

    /// Allocates interleaved pages, page i in bank i mod n.
    ///
    /// `page_columns` of them make a host row.
    ///
    /// # Errors
    /// Out of memory, empty pages, closed device.
    pub fn allocate_interleaved(
        &mut self,
        buffer_type: BufferType,
        page_bytes: u64,
        num_pages: u64,
        page_columns: usize,
    ) -> Result<BufferId, MemoryError> {
        self.allocate(self.plan_interleaved(buffer_type, page_bytes, num_pages, page_columns))
    }

    /// Returns the plan of [`Device::allocate_interleaved`].
    pub fn plan_interleaved(
        &self,
        buffer_type: BufferType,
        page_bytes: u64,
        num_pages: u64,
        page_columns: usize,
    ) -> Plan {
        let banks = self.banks(buffer_type);
        Plan {
            placement: Placement::Lockstep,
            buffer_type,
            page_bytes,
            num_pages,
            page_columns: page_columns.max(1),
            banks,
            pages_per_bank: num_pages.div_ceil(banks as u64),
            total_pages: num_pages,
            map: PageMap::Interleaved,
        }
    }

    /// Allocates a grid of pages, rows by columns, cut into shards.
    ///
    /// Shard s lies on core s of `cores`. In DRAM a core is (bank, 0).
    ///
    /// # Errors
    /// Out of memory, cores that do not exist or appear twice, empty shards, closed device.
    pub fn allocate_sharded(
        &mut self,
        buffer_type: BufferType,
        page_bytes: u64,
        tensor_pages: (u64, u64),
        shard_pages: (u64, u64),
        cores: &[LogicalCore],
    ) -> Result<BufferId, MemoryError> {
        self.allocate(self.plan_sharded(buffer_type, page_bytes, tensor_pages, shard_pages, cores)?)
    }

    /// Returns the plan of [`Device::allocate_sharded`].
    ///
    /// # Errors
    /// Cores that do not exist or appear twice, empty shards.
    pub fn plan_sharded(
        &self,
        buffer_type: BufferType,
        page_bytes: u64,
        tensor_pages: (u64, u64),
        shard_pages: (u64, u64),
        cores: &[LogicalCore],
    ) -> Result<Plan, MemoryError> {
        let too_large = MemoryError::TooLarge { pages: u64::MAX, page_bytes };
        let num_pages = tensor_pages.0.checked_mul(tensor_pages.1).ok_or(too_large.clone())?;
        let pages_of_shard = shard_pages.0.checked_mul(shard_pages.1).ok_or(too_large.clone())?;
        if cores.is_empty() || pages_of_shard == 0 {
            return Err(MemoryError::EmptyShard { cores: cores.len(), shard_pages: pages_of_shard });
        }
        let banks = self.shard_banks(buffer_type, cores)?;
        let shards = tensor_pages.0.div_ceil(shard_pages.0) * tensor_pages.1.div_ceil(shard_pages.1);
        let pages_per_bank =
            shards.div_ceil(banks.len() as u64).max(1).checked_mul(pages_of_shard).ok_or(too_large.clone())?;
        Ok(Plan {
            placement: Placement::Lockstep,
            buffer_type,
            page_bytes,
            num_pages,
            page_columns: tensor_pages.1.max(1) as usize,
            banks: banks.len(),
            pages_per_bank: if num_pages == 0 { 0 } else { pages_per_bank },
            total_pages: pages_per_bank.checked_mul(banks.len() as u64).ok_or(too_large)?,
            map: PageMap::Sharded {
                page_columns: tensor_pages.1.max(1) as usize,
                shard_rows: shard_pages.0 as usize,
                shard_columns: shard_pages.1 as usize,
                banks,
            },
        })
    }

    /// Allocates pages of which each has its own place.
    ///
    /// Core `cores[i]`, slot j of the `slots` that every core gives. In DRAM a core is (bank, 0). `page_columns` pages
    /// make a host row.
    ///
    /// # Errors
    /// Out of memory, cores that do not exist or appear twice, places that do not exist or appear twice, closed device.
    pub fn allocate_listed(
        &mut self,
        buffer_type: BufferType,
        page_bytes: u64,
        page_columns: usize,
        cores: &[LogicalCore],
        slots: u64,
        places: &[(u32, u32)],
    ) -> Result<BufferId, MemoryError> {
        self.allocate(self.plan_listed(buffer_type, page_bytes, page_columns, cores, slots, places)?)
    }

    /// Returns the plan of [`Device::allocate_listed`].
    ///
    /// # Errors
    /// Cores that do not exist or appear twice, places that do not exist or appear twice.
    pub fn plan_listed(
        &self,
        buffer_type: BufferType,
        page_bytes: u64,
        page_columns: usize,
        cores: &[LogicalCore],
        slots: u64,
        places: &[(u32, u32)],
    ) -> Result<Plan, MemoryError> {
        let wrong = MemoryError::Places { pages: places.len(), cores: cores.len(), slots };
        let banks = self.shard_banks(buffer_type, cores)?;
        let place = |&(core, slot): &(u32, u32)| {
            let bank = banks.get(core as usize).filter(|_| u64::from(slot) < slots);
            bank.map(|&bank| (bank, slot as usize)).ok_or_else(|| wrong.clone())
        };
        let list = Places::new(places.iter().map(place).collect::<Result<_, _>>()?).ok_or_else(|| wrong.clone())?;
        let too_large = MemoryError::TooLarge { pages: slots, page_bytes };
        Ok(Plan {
            placement: Placement::Lockstep,
            buffer_type,
            page_bytes,
            num_pages: places.len() as u64,
            page_columns: page_columns.max(1),
            banks: banks.len(),
            pages_per_bank: if places.is_empty() { 0 } else { slots },
            total_pages: slots.checked_mul(banks.len() as u64).ok_or(too_large)?,
            map: PageMap::Listed(list),
        })
    }

    /// Frees a buffer.
    ///
    /// Its bytes stay as they are until somebody else gets them, as on the chip. The DRAM of large buffers of a mesh is
    /// given back to the host, with the free bytes around it; see [`Arena::discard`](tt_cpu::arena::Arena::discard) for
    /// the bytes that are zero then.
    ///
    /// # Errors
    /// [`MemoryError::DoubleFree`], [`MemoryError::OtherDevice`], [`MemoryError::DeviceClosed`].
    pub fn deallocate(&mut self, id: BufferId) -> Result<(), MemoryError> {
        let buffer = match self.buffer(id) {
            Err(MemoryError::Deallocated { buffer }) => return Err(MemoryError::DoubleFree { buffer }),
            other => other?,
        };
        let (address, bytes, kind) = (buffer.address, buffer.bytes_per_bank, buffer.kind);
        journal::note(buffer, self.id, false);
        if buffer.placement == Placement::EachShard {
            let places: Vec<_> = buffer.own_addresses().collect();
            if let Some(own) = &mut self.own_ranges {
                own.release(id.slot, &places);
            }
            self.buffers[id.slot as usize] = None;
            self.unused_slots.push(id.slot);
            return Ok(());
        }
        self.buffers[id.slot as usize] = None;
        self.unused_slots.push(id.slot);
        if bytes > 0 {
            let region = &mut self.regions[kind.index()];
            region.owners.remove(&address);
            let released = region.allocator.release(address);
            debug_assert!(released, "a living buffer owns its block");
            if kind.in_dram() && bytes >= RETURNED_BYTES && self.memories.len() > 1 {
                // All of the free block: the host's large pages begin before a buffer and end after it, and those that
                // are given back in part are lost for the next buffer.
                let free =
                    region.allocator.block_at(address).map_or((address, bytes), |free| (free.address, free.bytes));
                for (memory, _) in self.memories.iter_mut().zip(&self.own).filter(|(_, own)| **own) {
                    memory.dram.discard(free.0 as usize, free.1 as usize);
                }
            }
        }
        Ok(())
    }

    /// Number of parts of a large DRAM buffer for [`Device::touch`].
    ///
    /// A small buffer has none.
    ///
    /// # Errors
    /// As [`Device::buffer`].
    pub fn parts_to_touch(&self, id: BufferId) -> Result<usize, MemoryError> {
        let buffer = self.buffer(id)?;
        let large = buffer.kind.in_dram() && buffer.bytes_per_bank >= BULK_BYTES && self.memories.len() > 1;
        Ok(if large { self.memories.len() * self.chip.dram_banks() } else { 0 })
    }

    /// Makes a part of a buffer resident before it is written.
    ///
    /// # Errors
    /// As [`Device::buffer`].
    pub fn touch(&self, id: BufferId, part: usize) -> Result<(), MemoryError> {
        let buffer = self.buffer(id)?;
        let (chip, bank) = (part / self.chip.dram_banks(), part % self.chip.dram_banks());
        if let Some(memory) = self.memories.get(chip).filter(|_| self.owns(chip)) {
            memory.dram.touch(bank, buffer.address as usize, buffer.bytes_per_bank as usize);
        }
        Ok(())
    }

    /// A buffer by its name.
    ///
    /// # Errors
    /// [`MemoryError::Deallocated`], [`MemoryError::OtherDevice`], [`MemoryError::DeviceClosed`].
    #[inline]
    pub fn buffer(&self, id: BufferId) -> Result<&Buffer, MemoryError> {
        if id.device != self.id {
            return Err(MemoryError::OtherDevice { buffer: id });
        }
        self.require_open()?;
        find(&self.buffers, id)
    }

    /// All living buffers, in the order of region and address.
    pub fn buffers(&self) -> impl Iterator<Item = &Buffer> {
        let slots = self.regions.iter().flat_map(|region| region.owners.values());
        let slots = slots.chain(self.own_ranges.iter().flat_map(OwnRanges::slots));
        slots.filter_map(|&slot| self.buffers[slot as usize].as_ref())
    }

    /// The buffer that owns an address of a region, if any does.
    pub fn buffer_at(&self, buffer_type: BufferType, address: u64) -> Option<&Buffer> {
        let region = &self.regions[buffer_type.index()];
        let (_, &slot) = region.owners.range(..=address).next_back()?;
        self.buffers[slot as usize].as_ref().filter(|buffer| address - buffer.address < buffer.bytes_per_bank)
    }

    /// The buffer that owns an address of an L1 bank by itself.
    pub(crate) fn own_buffer_at(&self, bank: usize, address: u64) -> Option<&Buffer> {
        let slot = self.own_ranges.as_ref()?.owner(bank, address)?;
        self.buffers[slot as usize].as_ref()
    }

    /// Makes the `number`-th allocation from now on fail (1: the next one).
    ///
    /// `None` takes the order back.
    pub fn fail_allocation(&mut self, number: Option<u64>) {
        self.fault = number.map(|number| Fault { number, seen: 0 });
    }

    /// Banks over which a region is interleaved.
    pub fn banks(&self, buffer_type: BufferType) -> usize {
        if buffer_type.in_dram() { self.chip.dram_banks() } else { self.chip.grid.cores() }
    }

    /// A number that no other device of the process has had.
    pub fn device_id(&self) -> u64 {
        self.id
    }

    pub(crate) fn require_open(&self) -> Result<(), MemoryError> {
        if self.open { Ok(()) } else { Err(MemoryError::DeviceClosed) }
    }

    fn shard_banks(&self, buffer_type: BufferType, cores: &[LogicalCore]) -> Result<Box<[usize]>, MemoryError> {
        let dram = buffer_type.in_dram();
        let grid = if dram { Grid { x: self.chip.dram_banks() as u32, y: 1 } } else { self.chip.grid };
        let mut seen = vec![false; grid.cores()];
        let bank = |&core: &LogicalCore| {
            if !grid.contains(core) {
                return Err(MemoryError::CoreOutsideGrid { core, grid });
            }
            let bank = core.y as usize * grid.x as usize + core.x as usize;
            if std::mem::replace(&mut seen[bank], true) {
                return Err(MemoryError::CoreTwice { core });
            }
            Ok(bank)
        };
        cores.iter().map(bank).collect()
    }

    /// Returns the memory that a plan needs.
    ///
    /// # Errors
    /// Empty pages, or more bytes than there are numbers for.
    pub fn sizes(&self, plan: &Plan) -> Result<Sizes, MemoryError> {
        let &Plan { buffer_type, page_bytes, num_pages, pages_per_bank, total_pages, .. } = plan;
        if page_bytes == 0 && num_pages > 0 {
            return Err(MemoryError::EmptyPage { pages: num_pages });
        }
        let too_large = MemoryError::TooLarge { pages: num_pages, page_bytes };
        let page_alignment = if buffer_type.in_dram() { self.chip.dram_alignment } else { self.chip.l1_alignment };
        let aligned_page = page_bytes.max(1).checked_next_multiple_of(page_alignment).ok_or(too_large.clone())?;
        // Also in L1 the space in a bank is a multiple of the DRAM alignment, so that any two buffers can exchange
        // data.
        let bytes_per_bank = pages_per_bank
            .checked_mul(aligned_page)
            .and_then(|bytes| bytes.checked_next_multiple_of(self.chip.dram_alignment))
            .ok_or(too_large.clone())?;
        let bytes = total_pages.checked_mul(aligned_page).ok_or(too_large)?;
        Ok(Sizes { aligned_page, bytes_per_bank, bytes })
    }

    /// Allocates a buffer, for example one like another: see [`Buffer::plan`].
    ///
    /// # Errors
    /// Out of memory, empty pages, closed device.
    pub fn allocate(&mut self, plan: Plan) -> Result<BufferId, MemoryError> {
        self.require_open()?;
        let sizes = self.sizes(&plan)?;
        let placed = self.place(&plan, sizes)?;
        let Plan {
            placement,
            buffer_type,
            page_bytes,
            num_pages,
            page_columns,
            banks,
            pages_per_bank,
            total_pages,
            map,
        } = plan;
        let Sizes { aligned_page, bytes_per_bank, .. } = sizes;
        let slot = self.unused_slots.pop().unwrap_or_else(|| {
            self.buffers.push(None);
            (self.buffers.len() - 1) as u32
        });
        let Placed { address, own } = placed;
        if bytes_per_bank > 0 && placement != Placement::EachShard {
            self.regions[buffer_type.index()].owners.insert(address, slot);
        }
        if buffer_type.in_dram() && bytes_per_bank >= BULK_BYTES {
            for (memory, _) in self.memories.iter().zip(&self.own).filter(|(_, own)| **own) {
                memory.dram.expect_bulk_use(address as usize, bytes_per_bank as usize);
            }
        }
        let id = BufferId { device: self.id, slot, unique_id: next_id() };
        let (num_pages, aligned_page_bytes) = (num_pages as usize, aligned_page as usize);
        let bits = num_pages * written_bits_per_page(aligned_page_bytes);
        let buffer = Buffer {
            id,
            kind: buffer_type,
            address,
            page_bytes: page_bytes as usize,
            aligned_page_bytes,
            num_pages,
            page_columns,
            bank_count: banks,
            pages_per_bank,
            total_pages,
            bytes_per_bank,
            map,
            placement,
            own,
            // What other processes have written is theirs to know.
            written: self
                .own
                .iter()
                .map(|&own| if own { AtomicBits::new(bits) } else { AtomicBits::all(bits) })
                .collect(),
        };
        journal::note(&buffer, self.id, true);
        self.buffers[slot as usize] = Some(buffer);
        Ok(id)
    }

    /// Takes the addresses of a plan, of which [`Device::allocate`] makes a buffer at once.
    fn place(&mut self, plan: &Plan, sizes: Sizes) -> Result<Placed, MemoryError> {
        let &Plan { buffer_type, placement, banks, .. } = plan;
        let Sizes { bytes_per_bank, bytes, .. } = sizes;
        if placement == Placement::EachShard && (buffer_type != BufferType::L1 || self.own_ranges.is_none()) {
            return Err(MemoryError::OwnAddresses { buffer_type });
        }
        self.inject_fault(buffer_type, bytes)?;
        if bytes_per_bank == 0 {
            return Ok(Placed { address: 0, own: None });
        }
        let allocator = &mut self.regions[buffer_type.index()].allocator;
        let own = self.own_ranges.as_mut().filter(|_| buffer_type == BufferType::L1);
        let shards = match &plan.map {
            PageMap::Sharded { banks, .. } => &banks[..],
            _ => &[],
        };
        let placed = match (own, placement) {
            (None, _) => allocator.allocate(bytes_per_bank).map(Placed::everywhere),
            (Some(own), Placement::EachShard) => {
                let slot = self.unused_slots.last().copied().unwrap_or(self.buffers.len() as u32);
                match own.allocate(allocator, shards, bytes_per_bank, slot) {
                    Ok(places) => Some(Placed::each(&places, self.chip.grid.cores())),
                    Err((bank, largest_free_bytes)) => {
                        let usage = allocator.usage();
                        let allocated_bytes =
                            usage.allocated_bytes + own.of(bank).map(|range| range.end - range.start).sum::<u64>();
                        return Err(MemoryError::OutOfMemory {
                            buffer_type,
                            bytes,
                            banks,
                            bytes_per_bank,
                            bank_bytes: usage.total_bytes,
                            allocated_bytes,
                            free_bytes: usage.total_bytes.saturating_sub(allocated_bytes),
                            largest_free_bytes,
                        });
                    }
                }
            }
            (Some(own), Placement::LockstepInShards) if !shards.is_empty() => {
                let taken: Vec<_> = shards.iter().flat_map(|&bank| own.of(bank)).collect();
                allocator.allocate_beside(bytes_per_bank, &taken).map(|address| {
                    let places: Vec<_> = shards.iter().map(|&bank| (bank, address)).collect();
                    Placed::each(&places, self.chip.grid.cores())
                })
            }
            (Some(own), _) => allocator.allocate_beside(bytes_per_bank, &own.all()).map(Placed::everywhere),
        };
        placed.ok_or_else(|| {
            let usage = self.regions[buffer_type.index()].allocator.usage();
            MemoryError::OutOfMemory {
                buffer_type,
                bytes,
                banks,
                bytes_per_bank,
                bank_bytes: usage.total_bytes,
                allocated_bytes: usage.allocated_bytes,
                free_bytes: usage.free_bytes,
                largest_free_bytes: usage.largest_free_bytes,
            }
        })
    }

    fn inject_fault(&mut self, buffer_type: BufferType, bytes: u64) -> Result<(), MemoryError> {
        let Some(fault) = &mut self.fault else { return Ok(()) };
        fault.seen += 1;
        let number = fault.seen;
        if number < fault.number {
            return Ok(());
        }
        self.fault = None;
        Err(MemoryError::InjectedFailure { buffer_type, bytes, number })
    }
}

/// The addresses of a new buffer.
#[derive(Debug)]
struct Placed {
    address: u64,
    own: Option<OwnAddresses>,
}

impl Placed {
    /// One address in all banks.
    fn everywhere(address: u64) -> Self {
        Self { address, own: None }
    }

    /// An address in each of some of all banks, that of the first shard first.
    fn each(places: &[(usize, u64)], banks: usize) -> Self {
        let mut own = vec![None; banks];
        for &(bank, address) in places {
            own[bank] = Some((0, address));
        }
        for (before, place) in own.iter_mut().flatten().enumerate() {
            place.0 = before;
        }
        Self { address: places.first().map_or(0, |&(_, address)| address), own: Some(own.into()) }
    }
}

/// The buffer of a name, if it still lives.
pub(crate) fn find(buffers: &[Option<Buffer>], id: BufferId) -> Result<&Buffer, MemoryError> {
    let buffer = buffers.get(id.slot as usize).and_then(Option::as_ref).filter(|buffer| buffer.id == id);
    buffer.ok_or(MemoryError::Deallocated { buffer: id })
}

/// The four regions, in the order of [`BufferType::index`]: `L1_SMALL` and `TRACE` are cut off at the top.
fn divide(chip: &ChipSpec, options: OpenOptions) -> Result<[Allocator; 4], MemoryError> {
    let aligned = |what, bytes: u64, limit_bytes| {
        let rounded = bytes.checked_next_multiple_of(chip.dram_alignment);
        rounded.filter(|&rounded| rounded <= limit_bytes).ok_or(MemoryError::Region { what, bytes, limit_bytes })
    };
    let usable_l1 = chip.l1_bytes - chip.l1_base;
    let worker_l1 = match options.worker_l1_bytes {
        0 => usable_l1,
        // Between the firmware's own memory and the default base lies the room for kernel code and arguments; a program
        // may ask for less of it.
        bytes => aligned("worker_l1_size", bytes, chip.max_worker_l1_unreserved)?,
    };
    let l1_small = aligned("l1_small_size", options.l1_small_bytes, worker_l1)?;
    let usable_dram = chip.dram_bank_bytes - chip.dram_base;
    let trace = aligned("trace_region_size", options.trace_region_bytes, usable_dram)?;

    let l1_base = chip.l1_bytes - worker_l1;
    let (small_base, trace_base) = (chip.l1_bytes - l1_small, chip.dram_bank_bytes - trace);
    Ok([
        Allocator::new(chip.dram_base, trace_base - chip.dram_base, Direction::FromBottom),
        Allocator::new(l1_base, small_base - l1_base, Direction::FromTop),
        Allocator::new(small_base, l1_small, Direction::FromTop),
        Allocator::new(trace_base, trace, Direction::FromBottom),
    ])
}
