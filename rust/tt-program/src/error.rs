//! Errors of kernels, as values.
//!
//! The text is rendered once, where the error leaves the engine.

use tt_formats::DataFormat;
use tt_memory::MemoryError;
use tt_memory::chip::LogicalCore;

use crate::name::Name;
use crate::spec::Risc;

/// Families of mistakes; each is an exception class of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Addresses, coordinates, alignment, unwritten or freed memory.
    Address,
    /// A limit of instructions that is exceeded.
    Endless,
    /// An assertion of the kernel's own.
    Assertion,
    /// The protocol of circular buffers.
    CircularBuffer,
    /// The protocol of the `Dst` registers.
    Register,
    /// Initialisation calls and data formats.
    Setup,
    /// Data used before the transfer that brings it has been waited for.
    Race,
    /// Arguments of kernels and of calls.
    Argument,
    /// What the hardware does and this engine does not.
    Unsupported,
    /// An invariant of the engine.
    Bug,
}

/// A mistake: who made it, in which call, and what it was.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// Core of the kernel.
    pub core: LogicalCore,
    /// The RISC it runs on.
    pub risc: Risc,
    /// Number of the kernel in the run.
    pub kernel: usize,
    /// The call, by its classic name.
    pub call: Name,
    /// The fault.
    pub what: Box<FaultKind>,
    /// The source location, for kernels that are compiled.
    ///
    /// Python knows the lines of its own.
    pub place: Option<SourcePlace>,
}

/// A line of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourcePlace {
    /// Path of the file, as the compiler was given it.
    pub file: String,
    /// Line, from 1 on; 0 if unknown.
    pub line: u32,
    /// The called name, if it is below the compute API; otherwise empty.
    pub called: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: {}", self.call, self.what)
    }
}

impl std::error::Error for Fault {}

/// Kinds of faults under the class of each.
macro_rules! fault_kinds {
    ($($class:ident: $(
        #[error($($text:tt)*)]
        $kind:ident $({ $($field:ident: $type:ty),* $(,)? })? $(($content:ty))?,
    )+)+) => {
        /// The fault. Fields are the values of its text.
        #[derive(Debug, Clone, PartialEq, thiserror::Error)]
        #[allow(missing_docs, reason = "each field is named in the text of its variant")]
        pub enum FaultKind {
            $($(#[error($($text)*)] $kind $({ $($field: $type),* })? $(($content))?,)+)+
        }

        impl FaultKind {
            /// The family it belongs to.
            pub fn class(&self) -> Class {
                match self {
                    $($(Self::$kind { .. })|+ => Class::$class,)+
                }
            }
        }
    };
}

fault_kinds! {
    CircularBuffer:
    #[error("CB {cb} is not configured on this core; configured here: {configured}")]
    NoCb { cb: u32, configured: String },
    #[error("CB {cb} has {capacity} pages, fewer than {wanted}; make the CB larger or request fewer pages")]
    TooManyPages { cb: u32, wanted: u32, capacity: u32 },
    #[error("CB {cb}: {pages} pages are pushed, {reserved} are reserved; call cb_reserve_back({cb}, {pages}) first")]
    PushWithoutReserve { cb: u32, pages: u32, reserved: u32 },
    #[error("CB {cb}: {pages} pages are popped, {waited} were waited for; call cb_wait_front({cb}, {pages}) first")]
    PopWithoutWait { cb: u32, pages: u32, waited: u32 },
    #[error(
        "CB {cb}: {pages} pages from page {page} on go past the end of its {capacity}; the pointer wraps only where a push \
         or pop ends exactly there, so counts must divide the CB"
    )]
    PastEnd { cb: u32, page: u32, pages: u32, capacity: u32 },
    #[error("CB {cb} has two producers: {first} already reserves or pushes pages; a CB has one producer")]
    TwoProducers { cb: u32, first: String },
    #[error("CB {cb} has two consumers: {first} already pops pages; a CB has one consumer")]
    TwoConsumers { cb: u32, first: String },
    #[error(
        "CB {cb}: tile {tile} ends {end_bytes} B after the front, {waited} pages of {page_bytes} B were waited for; wait \
         for more pages{counts}"
    )]
    TileNotWaitedFor { cb: u32, tile: u32, end_bytes: u32, waited: u32, page_bytes: u32, counts: &'static str },
    #[error(
        "CB {cb}: tile {tile} was packed over since the last push, and the unpacker does not wait for the packer; pop the \
         page and push it again first"
    )]
    PackedOver { cb: u32, tile: u32 },
    #[error(
        "CB {cb}: tile {tile} ends {end_bytes} B after the back, {reserved} pages of {page_bytes} B are reserved; call \
         cb_reserve_back for more pages{counts}"
    )]
    TileNotReserved { cb: u32, tile: u32, end_bytes: u32, reserved: u32, page_bytes: u32, counts: &'static str },
    #[error("CB {cb}: the page of the front tile {tile} was pushed, but no byte of it was ever written")]
    UnwrittenPage { cb: u32, tile: u32 },
    #[error(
        "CB {cb}: the packer adds to the tile at L1 address {address}, which no kernel has written; pack the first tile \
         with pack_reconfig_l1_acc(0)"
    )]
    AddsToNothing { cb: u32, address: u32 },
    #[error("CB {cb} has {format:?} tiles of {tile_bytes} B, but pages of {page_bytes} B")]
    PageNoTile { cb: u32, format: DataFormat, tile_bytes: u32, page_bytes: u32 },
    #[error(
        "{bytes} B at L1 address {address} are in CB {cb}, outside the {reserved} pages reserved there (from {start}); \
         reserve pages before writing them"
    )]
    WriteOutsideReserved { cb: u32, address: u32, bytes: u32, reserved: u32, start: u32 },
    #[error(
        "{bytes} B at L1 address {address} are in CB {cb}, outside the {waited} pages waited for there (from {start}); \
         wait for pages before reading them"
    )]
    ReadOutsideWaited { cb: u32, address: u32, bytes: u32, waited: u32, start: u32 },
    #[error("the kernel ends with {pages} pages of CB {cb} reserved and not pushed; cb_push_back is missing")]
    MissingPush { cb: u32, pages: u32 },
    #[error("the kernel ends with {pages} pages of CB {cb} waited for and not popped; cb_pop_front is missing")]
    MissingPop { cb: u32, pages: u32 },

    Address:
    #[error("there is no core and no DRAM bank at NoC coordinates {x}-{y}; {advice}")]
    NoSuchCoordinate { x: u32, y: u32, advice: String },
    #[error("the rectangle {x0}-{y0} to {x1}-{y1} has non-worker cores; multicast reaches worker cores only")]
    NoRectangle { x0: u32, y0: u32, x1: u32, y1: u32 },
    #[error(
        "the multicast rectangle from {}-{} to {}-{} wraps around the edge of the chip: NoC {noc} starts at the corner with \
         the {} coordinates; swap start and end",
        .start.0, .start.1, .end.0, .end.1, if *.noc == 0 { "smaller" } else { "larger" }
    )]
    CornersExchanged { noc: u8, start: (u32, u32), end: (u32, u32) },
    #[error("the rectangle has {cores} receivers, but num_dests is {given}")]
    WrongDestinations { cores: u32, given: u32 },
    #[error("{bytes} B at address {address} of {place} are outside its {limit} B")]
    OutOfBounds { place: String, address: u64, bytes: u64, limit: u64 },
    #[error("{bytes} B at address {address} of {place} belong to no buffer; {advice}")]
    NoOwner { place: String, address: u64, bytes: u64, advice: String },
    #[error("{bytes} B at address {address} of {place} go {over} B past the end of {owner}")]
    PastBuffer { place: String, address: u64, bytes: u64, over: u64, owner: String },
    #[error("address {address} of {place} is read, but these {bytes} B of {owner} were never written")]
    NeverWritten { place: String, address: u64, bytes: u64, owner: String },
    #[error("{what} {value} is not a multiple of {alignment}")]
    Misaligned { what: &'static str, value: u64, alignment: u64 },
    #[error(
        "source {source_address} and destination {target_address} of a transfer must be equal modulo {alignment}"
    )]
    Unlike { source_address: u64, target_address: u64, alignment: u64 },
    #[error("a transfer has at least 1 B, got 0 B")]
    EmptyTransfer,
    #[error("{bytes} B at {address:#x} are a local variable or constant of the kernel; the NoC reaches L1 and DRAM only")]
    LocalMemory { address: u64, bytes: u64 },
    #[error("{bytes} B at {address:#x}, where this core has no memory")]
    NoMemory { address: u32, bytes: u32 },
    #[error("{0}")]
    Core(tt_riscv::Trap),
    #[error("page {page} is outside the buffer at {base}, which has {pages} pages")]
    PageOutOfRange { page: u64, base: u64, pages: u64 },
    #[error("no buffer starts at address {base} of {memory}; {advice}")]
    NoBufferAt { base: u64, memory: &'static str, advice: String },
    #[error("pages of {given} B are requested, but the buffer at {base} has pages of {actual} B")]
    PageSizeDiffers { given: u64, base: u64, actual: u64 },
    #[error("semaphore {id} does not exist on this core; the program creates {created}")]
    NoSemaphore { id: u32, created: String },

    Race:
    #[error(
        "CB {cb}: a read of {bytes} B to L1 address {address} has not been waited for; \
         noc_async_read_barrier() is missing"
    )]
    PushBeforeReadBarrier { cb: u32, address: u32, bytes: u32 },
    #[error(
        "a read of {bytes} B to L1 address {address} has not been waited for; noc_async_read_barrier() is missing"
    )]
    UseBeforeReadBarrier { address: u32, bytes: u32 },
    #[error(
        "CB {cb}: {bytes} B at L1 address {address} are still being sent; noc_async_writes_flushed() or \
         noc_async_write_barrier() is missing"
    )]
    PopBeforeWriteBarrier { cb: u32, address: u32, bytes: u32 },
    #[error(
        "{bytes} B at L1 address {address} are overwritten while they are still being sent; noc_async_writes_flushed() or \
         noc_async_write_barrier() is missing"
    )]
    OverwrittenWhileSent { address: u32, bytes: u32 },
    #[error("the kernel ends with {reads} reads, {writes} writes and {atomics} atomics that no barrier has waited for")]
    EndsWithTransfers { reads: usize, writes: usize, atomics: usize },
    #[error(
        "the {bytes} B at address {address} of {place} were written by {writer}, and nothing orders the two accesses"
    )]
    Unordered { place: String, address: u64, bytes: u64, writer: String },
    #[error(
        "the {bytes} B at address {address} of {place} are still in flight from {writer}, which signalled before its \
         write was complete; noc_async_write_barrier() is missing there"
    )]
    StillOnItsWay { place: String, address: u64, bytes: u64, writer: String },
    #[error(
        "the {bytes} B at address {address} of {place} are overwritten, and nothing ensures that {reader} has read \
         them before"
    )]
    OverwrittenWhileRead { place: String, address: u64, bytes: u64, reader: String },
    #[error(
        "the word at address {address} of {place} is overwritten, including a change by {writer} that this kernel has \
         not seen; wait for that change first"
    )]
    LostChange { place: String, address: u64, writer: String },

    Register:
    #[error("Dst is used without tile_regs_acquire()")]
    NotAcquired,
    #[error(
        "Dst[{index}] has values written after the last commit, and this step adds to them; copy to an acquired part \
         of Dst"
    )]
    AddsToStray { index: u32 },
    #[error("Dst is acquired already; tile_regs_commit() is missing")]
    AcquiredTwice,
    #[error("both halves of Dst wait to be packed; tile_regs_release() is missing")]
    NoFreeHalf,
    #[error("tile_regs_commit() without tile_regs_acquire()")]
    CommitWithoutAcquire,
    #[error("nothing was committed; tile_regs_commit() is missing, and the packer would wait for ever")]
    NothingCommitted,
    #[error("pack without tile_regs_wait()")]
    PackWithoutWait,
    #[error("tile_regs_release() without tile_regs_wait()")]
    ReleaseWithoutWait,
    #[error("Dst[{index}] does not exist: Dst holds {capacity} tiles here ({why})")]
    DstIndex { index: u32, capacity: u32, why: &'static str },
    #[error("Dst[{index}] is read, but nothing has been written there since tile_regs_acquire()")]
    DstUnwritten { index: u32 },
    #[error("the kernel ends with Dst {state}")]
    DstNotReleased { state: &'static str },

    Setup:
    #[error("{missing} is missing: {state}")]
    MissingInit { missing: String, state: String },
    #[error(
        "{register} is set up for {configured:?} (CB {configured_cb}), but CB {cb} has {format:?}; call {advice} first"
    )]
    WrongFormat {
        register: &'static str,
        configured: DataFormat,
        configured_cb: u32,
        cb: u32,
        format: DataFormat,
        advice: &'static str,
    },
    #[error("{0}")]
    NoConversion(String),
    #[error("Dst[{index}] has the format {held:?}, but this step writes {made:?}")]
    MixedFormats { index: u32, held: tt_tensix::pack::DstFormat, made: tt_tensix::pack::DstFormat },
    #[error("{format:?} operands need fp32_dest_acc_en=True")]
    NeedsWideDst { format: DataFormat },
    #[error("{what} must be {expected}, but the init call set {said}")]
    DiffersFromInit { what: &'static str, expected: String, said: String },

    Argument:
    #[error("{0}")]
    Argument(String),
    #[error("{0}")]
    WrongRisc(String),

    Endless:
    #[error("more than {instructions} instructions, an endless loop? TTNN_KERNEL_LIMIT sets this limit, 0 for none")]
    NeverEnds { instructions: u64 },

    Assertion:
    #[error("assertion failed: {0}")]
    Assertion(String),

    Unsupported:
    #[error("{0}")]
    Unsupported(String),

    Bug:
    #[error("{0}")]
    Bug(String),
}

impl FaultKind {
    /// The circular buffer it is about, if it is about one.
    pub fn cb(&self) -> Option<u32> {
        match *self {
            Self::NoCb { cb, .. }
            | Self::TooManyPages { cb, .. }
            | Self::PushWithoutReserve { cb, .. }
            | Self::PopWithoutWait { cb, .. }
            | Self::PastEnd { cb, .. }
            | Self::TwoProducers { cb, .. }
            | Self::TwoConsumers { cb, .. }
            | Self::TileNotWaitedFor { cb, .. }
            | Self::PackedOver { cb, .. }
            | Self::TileNotReserved { cb, .. }
            | Self::UnwrittenPage { cb, .. }
            | Self::AddsToNothing { cb, .. }
            | Self::PageNoTile { cb, .. }
            | Self::WriteOutsideReserved { cb, .. }
            | Self::ReadOutsideWaited { cb, .. }
            | Self::MissingPush { cb, .. }
            | Self::MissingPop { cb, .. }
            | Self::PushBeforeReadBarrier { cb, .. }
            | Self::PopBeforeWriteBarrier { cb, .. }
            | Self::WrongFormat { cb, .. } => Some(cb),
            _ => None,
        }
    }
}

impl From<MemoryError> for FaultKind {
    fn from(error: MemoryError) -> Self {
        Self::Bug(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_with_a_circular_buffer_name_it() {
        assert_eq!(FaultKind::MissingPush { cb: 7, pages: 1 }.cb(), Some(7));
        assert_eq!(FaultKind::PopBeforeWriteBarrier { cb: 9, address: 0, bytes: 4 }.cb(), Some(9));
        assert_eq!(FaultKind::NotAcquired.cb(), None);
        let bug = FaultKind::from(MemoryError::EmptyShard { cores: 1, shard_pages: 0 });
        assert_eq!((bug.class(), bug.to_string().is_empty()), (Class::Bug, false));
    }
}
