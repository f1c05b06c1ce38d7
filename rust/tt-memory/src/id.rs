//! Identity of a buffer, and its region.

use std::sync::atomic::{AtomicU64, Ordering};

/// Region of device memory.
///
/// The numbers are those of the public `BufferType` enum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum BufferType {
    /// DRAM banks.
    Dram = 0,
    /// L1 of the worker cores.
    L1 = 1,
    /// The part of L1 set aside by `l1_small_size`.
    L1Small = 3,
    /// The part of DRAM set aside by `trace_region_size`.
    Trace = 4,
}

impl BufferType {
    /// All regions.
    pub const ALL: [Self; 4] = [Self::Dram, Self::L1, Self::L1Small, Self::Trace];

    /// The region with a public number.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|&kind| kind as u8 == code)
    }

    /// Public name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dram => "DRAM",
            Self::L1 => "L1",
            Self::L1Small => "L1_SMALL",
            Self::Trace => "TRACE",
        }
    }

    /// Returns true if the bytes are in DRAM banks, otherwise L1.
    pub const fn in_dram(self) -> bool {
        matches!(self, Self::Dram | Self::Trace)
    }

    /// Place in tables with one entry per region.
    pub(crate) const fn index(self) -> usize {
        match self {
            Self::Dram => 0,
            Self::L1 => 1,
            Self::L1Small => 2,
            Self::Trace => 3,
        }
    }
}

/// Numbers of devices and buffers. They name things in messages and appear in no result.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

pub(crate) fn next_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

/// Names a buffer of one device.
///
/// Stays invalid after the buffer is deallocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BufferId {
    pub(crate) device: u64,
    pub(crate) slot: u32,
    pub(crate) unique_id: u64,
}

impl BufferId {
    /// The name of a buffer that no device has.
    pub fn unallocated() -> Self {
        Self { device: u64::MAX, slot: u32::MAX, unique_id: next_id() }
    }

    /// A number that no other buffer of the process has had.
    pub fn unique_id(self) -> u64 {
        self.unique_id
    }
}
