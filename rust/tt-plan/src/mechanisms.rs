//! Figures of mechanisms that many cores share.
//!
//! The tables of `tt-perf` and `tt-noc` do not have them.
//!
//! They were fitted together, on half of the device operations that were profiled on cards; `docs/time.md` says how, and
//! how far the other half is off. None belongs to an operator.

use tt_formats::Arch;

/// Round trips, rates and bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mechanisms {
    /// From the issue of a read of DRAM to its first byte.
    pub dram_read: u64,
    /// From another core's L1 read issue to its first byte.
    pub l1_read: u64,
    /// From an own L1 read issue to its first byte.
    pub local_read: u64,
    /// From the last byte of a write to DRAM to its acknowledgement.
    pub dram_write: u64,
    /// From the last byte of a write to L1 to its acknowledgement.
    pub l1_write: u64,
    /// Between two reads or writes of pages that a RISC issues.
    pub issue: u64,
    /// Between two own L1 copies, without address look-up.
    pub local_issue: u64,
    /// Bytes per cycle of a core's interface.
    pub port: f64,
    /// Bytes per cycle of a copy within own L1.
    pub loopback: f64,
    /// Bytes per cycle of a DRAM bank, paged reads by many cores.
    pub bank_read: f64,
    /// Bytes per cycle of a DRAM bank, paged writes by many cores.
    pub bank_write: f64,
    /// Bytes per cycle of a DRAM bank read by its neighbour core.
    pub bank_read_own: f64,
    /// Bytes per cycle of a DRAM bank read over NoC 1.
    pub bank_read_other: f64,
    /// Bytes per cycle of a DRAM bank written over NoC 0.
    pub bank_write_other: f64,
    /// Minimum cycles of any page read from a DRAM bank.
    pub bank_page_read: f64,
    /// The same when it is written.
    ///
    /// A bank's interface accepts one request in so many cycles (`docs/chip/noc.md` section 4).
    pub bank_page_write: f64,
    /// Share of a bank's time that reads and writes do not share.
    pub turn: f64,
    /// Bytes per cycle of an interleaved L1 bank with many cores.
    pub l1_bank: f64,
    /// From the first core's start to the last one's kernels.
    ///
    /// To their first instruction.
    pub start: u64,
    /// Sharpness of the maximum of two bounds: the exponent of their mean.
    pub queue: i32,
    /// Between the starts of two cores.
    pub skew: f64,
    /// Tile loop of the compute kernel.
    ///
    /// Instructions per tile on the packer's side beside the circular buffers.
    pub dst: u64,
    /// Around a block that the packer untilizes.
    pub block: u64,
}

impl Mechanisms {
    /// The figures of a chip generation.
    pub const fn of(arch: Arch) -> &'static Self {
        match arch {
            Arch::Wormhole => &WORMHOLE,
            Arch::Blackhole => &BLACKHOLE,
        }
    }
}

static BLACKHOLE: Mechanisms = Mechanisms {
    dram_read: 480,
    l1_read: 460,
    local_read: 240,
    dram_write: 300,
    l1_write: 60,
    issue: 43,
    local_issue: 19,
    port: 60.9,
    loopback: 57.0,
    bank_read: 37.5,
    // 500 GB/s of eight banks; tt-metal, "Saturating DRAM bandwidth" of Blackhole.
    bank_read_own: 46.3,
    bank_write: 27.5,
    bank_read_other: 23.0,
    bank_write_other: 12.8,
    bank_page_read: 29.0,
    bank_page_write: 16.4,
    turn: 0.93,
    l1_bank: 30.0,
    start: 200,
    queue: 7,
    skew: 1.3,
    dst: 4,
    block: 160,
};

static WORMHOLE: Mechanisms = Mechanisms {
    dram_read: 270,
    l1_read: 230,
    local_read: 80,
    dram_write: 1000,
    l1_write: 60,
    issue: 38,
    local_issue: 19,
    port: 28.1,
    loopback: 28.0,
    bank_read: 13.0,
    // 267 GB/s of twelve banks; tt-metal, "Saturating DRAM bandwidth".
    bank_read_own: 22.2,
    bank_write: 11.0,
    bank_read_other: 6.8,
    bank_write_other: 4.7,
    bank_page_read: 10.0,
    bank_page_write: 6.8,
    turn: 0.93,
    l1_bank: 14.0,
    start: 180,
    queue: 5,
    skew: 1.0,
    dst: 4,
    block: 160,
};
