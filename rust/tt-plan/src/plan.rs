//! Work of the cores of a device operation.

use tt_formats::Arch;

use crate::tiles::TileOp;

/// The location of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Interleaved over the DRAM banks, on the network that suits it: NoC 0 for reads, NoC 1 for writes.
    Dram,
    /// The same on the other network.
    DramOther,
    /// In the DRAM bank beside the core, which no other core reads.
    DramOwn,
    /// Interleaved over the L1 of all cores, or in the L1 of another core.
    L1,
    /// In the L1 of the core itself, and copied over its network interface.
    Local,
}

/// Pages that a data movement kernel reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// The location.
    pub place: Place,
    /// The number of pages.
    pub pages: u64,
    /// Size of one.
    pub page_bytes: u64,
    /// Pages between two barriers; 0 if a later [`Step::Barrier`] waits for them.
    pub per_barrier: u64,
    /// Hundredths of page time on DRAM banks or links without conflicts.
    ///
    /// More than 100 if cores begin at the same bank, or send around the same ring.
    pub in_step: u64,
}

/// One step of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Steps that are repeated.
    Loop(u64, Vec<Step>),
    /// Reads pages.
    Read(Transfer),
    /// Writes pages.
    Write(Transfer),
    /// Waits for reads and writes that have none of their own.
    Barrier,
    /// Sends bytes to so many cores.
    Multicast {
        /// Bytes.
        bytes: u64,
        /// Receivers.
        cores: u64,
    },
    /// Stores so many words to L1.
    Stores(u64),
    /// Loads so many words from L1.
    Loads(u64),
    /// Other instructions of the RISC, in cycles.
    Instructions(u64),
    /// Waits for room in a circular buffer.
    Reserve(usize, u64),
    /// Pages of a circular buffer are there.
    Push(usize, u64),
    /// Waits for pages of a circular buffer.
    Await(usize, u64),
    /// Pages of a circular buffer are no longer needed.
    Pop(usize, u64),
    /// Adds one to a semaphore, which cores of any group wait for.
    Signal(usize),
    /// Waits until a semaphore has been raised once more.
    Wait(usize),
    /// Tiles that the compute kernel works on.
    Tiles(TileOp, u64),
}

/// Cores with equal work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreGroup {
    /// The number of cores.
    pub cores: u64,
    /// Data movement kernel that brings the operands.
    pub reader: Vec<Step>,
    /// Compute kernel; empty without one.
    pub compute: Vec<Step>,
    /// Data movement kernel that takes the results away.
    pub writer: Vec<Step>,
}

/// The plan of a device operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The generation of the chip.
    pub arch: Arch,
    /// DRAM banks of the card.
    pub banks: u64,
    /// Cores of the card whose L1 holds interleaved pages.
    pub l1_banks: u64,
    /// Pages that each circular buffer holds.
    pub cbs: Vec<u64>,
    /// The cores.
    pub groups: Vec<CoreGroup>,
}
