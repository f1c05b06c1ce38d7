//! Errors of device memory, with the figures of their messages.
use std::sync::OnceLock;

use tt_cpu::arena::ArenaError;

use crate::chip::{Grid, LogicalCore};
use crate::id::{BufferId, BufferType};

/// Errors of device memory.
///
/// The device is unchanged and usable after each of them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// No free block is large enough.
    #[error(
        "Out of Memory: Not enough space to allocate {bytes} B {} buffer across {banks} banks, where each bank needs to \
         store {bytes_per_bank} B, but bank size is {bank_bytes} B (allocated: {allocated_bytes} B, free: {free_bytes} B, \
         largest free block: {largest_free_bytes} B).",
        buffer_type.name()
    )]
    OutOfMemory {
        /// Region that was full.
        buffer_type: BufferType,
        /// Aligned size of the whole buffer.
        bytes: u64,
        /// Banks that the buffer was to be spread over.
        banks: usize,
        /// Bytes wanted in each bank.
        bytes_per_bank: u64,
        /// Bytes that the region has in each bank.
        bank_bytes: u64,
        /// Bytes in use in each bank.
        allocated_bytes: u64,
        /// Bytes not in use in each bank.
        free_bytes: u64,
        /// Longest free run in each bank.
        largest_free_bytes: u64,
    },
    /// A buffer with an address of its own in each bank, of a region or a device without such buffers.
    #[error(
        "{} buffer: addresses of each core are for buffers in L1, on a device that was opened with \
         TT_METAL_ALLOCATOR_MODE_HYBRID=1 (Per-core allocation requires AllocatorMode::HYBRID when opening the device)",
        buffer_type.name()
    )]
    OwnAddresses {
        /// Region that was asked for.
        buffer_type: BufferType,
    },
    /// The allocation that `fail_allocation` chose.
    #[error(
        "Out of Memory: allocation of {bytes} B {} buffer was made to fail (fail_allocation, number {number} since then).",
        buffer_type.name()
    )]
    InjectedFailure {
        /// Region asked.
        buffer_type: BufferType,
        /// Aligned size of the whole buffer.
        bytes: u64,
        /// Which allocation it was, counted from 1.
        number: u64,
    },
    /// A size that no arithmetic on the device can hold.
    #[error("a buffer of {pages} pages of {page_bytes} B is larger than any address")]
    TooLarge {
        /// Pages asked for.
        pages: u64,
        /// Bytes of each.
        page_bytes: u64,
    },
    /// Pages of no bytes.
    #[error("a buffer of {pages} pages needs pages of at least 1 B")]
    EmptyPage {
        /// Pages asked for.
        pages: u64,
    },
    /// L1 or DRAM cannot be divided as asked.
    #[error("{what} of {bytes} B does not fit: at most {limit_bytes} B are available")]
    Region {
        /// Argument of `open_device`.
        what: &'static str,
        /// Its value.
        bytes: u64,
        /// Largest possible value.
        limit_bytes: u64,
    },
    /// A shard on a core that the chip does not have, or a DRAM bank likewise.
    #[error("core {}-{} is outside the grid of {}x{}", core.x, core.y, grid.x, grid.y)]
    CoreOutsideGrid {
        /// The core.
        core: LogicalCore,
        /// What there is.
        grid: Grid,
    },
    /// A chip that the mesh does not have, or a mesh without chips.
    #[error("chip {chip} does not exist: the mesh has {chips}")]
    Chip {
        /// Place of the chip.
        chip: usize,
        /// Chips of the mesh.
        chips: usize,
    },
    /// The same core twice in the list of shards.
    #[error("core {}-{} appears twice in the list of shard cores", core.x, core.y)]
    CoreTwice {
        /// The core.
        core: LogicalCore,
    },
    /// A sharded buffer without cores, or with empty shards or tensor.
    #[error("a sharded buffer needs cores and shards of at least one page, got {cores} cores and {shard_pages} pages")]
    EmptyShard {
        /// Cores given.
        cores: usize,
        /// Pages of a shard.
        shard_pages: u64,
    },
    /// Two pages of a buffer in the same place, or one outside of the space of its core.
    #[error("the {pages} pages of a buffer need {pages} places on {cores} cores with {slots} places each")]
    Places {
        /// Pages.
        pages: usize,
        /// Cores.
        cores: usize,
        /// Places of a core.
        slots: u64,
    },
    /// A buffer that was deallocated is used.
    #[error("buffer {} was deallocated and cannot be used any more", buffer.unique_id())]
    Deallocated {
        /// Which one.
        buffer: BufferId,
    },
    /// A buffer is deallocated again.
    #[error("buffer {} was already deallocated", buffer.unique_id())]
    DoubleFree {
        /// Which one.
        buffer: BufferId,
    },
    /// A buffer of another device.
    #[error("buffer {} belongs to another device", buffer.unique_id())]
    OtherDevice {
        /// Which one.
        buffer: BufferId,
    },
    /// The device was closed.
    #[error("the device is closed")]
    DeviceClosed,
    /// A page that the buffer does not have.
    #[error("page {page} is outside buffer {} of {pages} pages", buffer.unique_id())]
    PageOutOfRange {
        /// Which buffer.
        buffer: BufferId,
        /// Page asked for.
        page: usize,
        /// Pages it has.
        pages: usize,
    },
    /// Bytes that nobody has written since the buffer was allocated were read.
    #[error("{unwritten} of {pages} pages of buffer {} were never written, the first is page {first}", buffer.unique_id())]
    NeverWritten {
        /// Which buffer.
        buffer: BufferId,
        /// First such page.
        first: usize,
        /// How many.
        unwritten: usize,
        /// Pages of the buffer.
        pages: usize,
    },
    /// An output of the running operation is read without a claim, or something else is claimed.
    #[error("buffer {} is {} of the running operation", buffer.unique_id(), if *output { "an output" } else { "not an output" })]
    Role {
        /// Which buffer.
        buffer: BufferId,
        /// Whether it is an output.
        output: bool,
    },
    /// An output page was claimed by two workers.
    #[error("page {page} of buffer {} was claimed twice", buffer.unique_id())]
    ClaimedTwice {
        /// Which buffer.
        buffer: BufferId,
        /// Which page.
        page: usize,
    },
    /// Host rows do not match the pages.
    #[error(
        "{bytes} B in rows of {row_bytes} B do not fill buffer {}: it has {pages} pages of {page_bytes} B, {page_columns} per row",
        buffer.unique_id()
    )]
    TransferShape {
        /// Which buffer.
        buffer: BufferId,
        /// Bytes on the host.
        bytes: usize,
        /// Bytes of a host row.
        row_bytes: usize,
        /// Pages of the buffer.
        pages: usize,
        /// Bytes of a page.
        page_bytes: usize,
        /// Pages side by side.
        page_columns: usize,
    },
    /// The arena refused: reservation failed, or our own arithmetic is wrong.
    #[error(transparent)]
    Arena(#[from] ArenaError),
}

/// Takes the first read of pages that nobody has written.
pub(crate) type Notice = OnceLock<MemoryError>;
