//! The fabric of a chip: its connections, and packets that leave it.
//!
//! Kernels of one chip are one [`Run`](super::Run). A packet is made when it is sent, with a copy of its payload, and
//! waits here until whoever runs all chips delivers it to the runs of its destinations.

use std::collections::BTreeMap;
use std::sync::Arc;

use tt_memory::chip::{Arch, LogicalCore};

use super::order::Vector;
use crate::error::{FaultKind, SourcePlace};
use crate::spec::Risc;

/// Room for packet headers of a core in L1.
///
/// 64 headers of the largest size.
pub const HEADER_POOL_BYTES: u32 = 64 * 96;
/// L1 addresses for packet headers, below the runtime arguments.
pub fn header_pool(l1_base: u64) -> std::ops::Range<u32> {
    let end = (l1_base - super::ARGUMENTS_BELOW_BASE) as u32;
    end - HEADER_POOL_BYTES..end
}

/// Bytes that may wait for delivery; then senders wait.
pub(crate) const MOST_WAITING: usize = 16 << 20;

/// A chip that the mesh does not have.
pub const NO_CHIP: usize = u32::MAX as usize;

/// Bit of a connection to a mux core.
///
/// Below it are the core's coordinates and the channel.
pub const MUX: u32 = 0x4000_0000;

/// Direction and chips of a connection.
#[derive(Debug, Clone, Default)]
pub struct Line {
    /// Direction of its link.
    pub direction: u32,
    /// The chips at distance 1, 2 and so on.
    pub chips: Vec<usize>,
}

/// A chip of the fabric.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    /// Place in its mesh.
    pub chip: usize,
    /// Distance in hops.
    pub hops: u32,
    /// Direction of the first hop; none to itself.
    pub direction: Option<u32>,
}

/// The chips that a run can reach.
#[derive(Debug, Clone, Default)]
pub struct FabricSpec {
    /// Place of the chip in its mesh.
    pub chip: usize,
    /// Row and column of the chip in the system mesh.
    pub node: (usize, usize),
    /// Bytes of a packet header.
    pub header_bytes: u32,
    /// Largest payload in bytes.
    pub max_payload: u32,
    /// Connections by number.
    pub connections: BTreeMap<u32, Line>,
    /// Channels of mux cores, and the connections that they forward to.
    pub muxes: BTreeMap<u32, u32>,
    /// Chips by mesh and device.
    pub devices: BTreeMap<(u32, u32), Node>,
    /// Rows and columns of the system mesh.
    ///
    /// Its devices are numbered row by row.
    pub grid: (usize, usize),
    /// True for columns, for rows, if a link connects their ends.
    pub wraps: (bool, bool),
    /// Number of the run's first kernel among those of all chips.
    pub first: usize,
    /// Descriptions of the kernels of all chips.
    pub kernels: Arc<[String]>,
}

/// A connection that a kernel has opened.
#[derive(Debug, Clone, Default)]
pub(crate) struct Connection {
    /// The kernel.
    pub(crate) kernel: usize,
    /// Payload of the next packet.
    pub(crate) payload: Vec<u8>,
    /// L1 address of that payload.
    pub(crate) source: u32,
}

/// The fabric as a run sees it.
#[derive(Debug, Default)]
pub struct Fabric {
    pub(crate) spec: FabricSpec,
    pub(crate) open: BTreeMap<u32, Connection>,
    /// The cycle at which a link takes its next packet.
    pub(crate) free: BTreeMap<u32, u64>,
    pub(crate) packets: Vec<Packet>,
    pub(crate) waiting: usize,
    /// Kernels have numbers among those of all chips.
    pub(crate) joined: bool,
}

impl Fabric {
    /// A fabric without packets.
    pub fn new(spec: FabricSpec) -> Self {
        Self { spec, ..Self::default() }
    }

    /// The link of a connection.
    ///
    /// # Errors
    /// The host made no such connection; no mux kernel is on that core.
    pub(crate) fn link(&self, connection: u32) -> Result<u32, FaultKind> {
        let spec = &self.spec;
        if connection & MUX != 0 {
            return spec.muxes.get(&connection).copied().ok_or_else(|| {
                let [_, x, y, channel] = (connection & !MUX).to_be_bytes();
                let known = listed(spec.muxes.keys().map(|mux| {
                    let [_, x, y, channel] = (mux & !MUX).to_be_bytes();
                    format!("{channel} of {x}-{y}")
                }));
                FaultKind::Argument(format!(
                    "no mux kernel (tt_fabric_mux.cpp) has channel {channel} on the core with NoC coordinates {x}-{y}; \
                     the program has channels {known}"
                ))
            });
        }
        if !spec.connections.contains_key(&connection) {
            let known = listed(spec.connections.keys().map(ToString::to_string));
            return Err(FaultKind::Argument(format!(
                "there is no connection {connection}; the host made connections {known}"
            )));
        }
        Ok(connection)
    }
}

/// Items of an error's text.
fn listed(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() { "none".to_owned() } else { items.join(", ") }
}

/// Something that a packet does at its destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Writes bytes of the payload.
    Write {
        /// NoC address.
        address: u64,
        /// The bytes.
        bytes: std::ops::Range<usize>,
    },
    /// Writes a word.
    Set {
        /// NoC address.
        address: u64,
        /// The word.
        value: u32,
    },
    /// Adds to a word.
    Add {
        /// NoC address.
        address: u64,
        /// Summand.
        value: u32,
    },
}

/// A packet at one of its destinations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// Place of the chip.
    pub chip: usize,
    /// Cycle of the arrival.
    pub time: u64,
    /// The packet's actions there.
    pub actions: Vec<Action>,
}

/// The sender of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender {
    /// Place of its chip.
    pub chip: usize,
    /// Its core.
    pub core: LogicalCore,
    /// Its RISC.
    pub risc: Risc,
    /// Number of the kernel on its chip.
    pub kernel: usize,
    /// Number among the kernels of all chips.
    pub number: usize,
    /// The connection.
    pub connection: u32,
    /// Line of the call, for compiled kernels.
    pub place: Option<SourcePlace>,
}

/// A packet on its way.
#[derive(Debug, Clone)]
pub struct Packet {
    /// Sender.
    pub sender: Sender,
    /// Knowledge of its kernel.
    pub(crate) vector: Option<Vector>,
    /// Its payload.
    pub payload: Arc<[u8]>,
    /// L1 address of the payload on the sender's core.
    pub source: u32,
    /// Its destinations, in the order of distance.
    pub arrivals: Vec<Arrival>,
}

/// Times of links in cycles of the chip.
///
/// Measured by the vendor: one hop, and packets of 2 and 4 KiB from one sender.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkTimes {
    hop: u64,
    /// Cycles per 1024 bytes and hop.
    hop_kib: u64,
    packet: u64,
    packet_kib: u64,
}

impl LinkTimes {
    /// Those of a chip.
    pub(crate) const fn of(arch: Arch) -> Self {
        match arch {
            Arch::Wormhole => Self { hop: 800, hop_kib: 164, packet: 191, packet_kib: 40 },
            Arch::Blackhole => Self { hop: 919, hop_kib: 47, packet: 263, packet_kib: 4 },
        }
    }

    /// Cycles from the sender to a chip.
    pub(crate) const fn latency(self, hops: u64, bytes: u64) -> u64 {
        hops * (self.hop + self.hop_kib * bytes / 1024)
    }

    /// Cycles for which a packet occupies its first link.
    pub(crate) const fn occupancy(self, bytes: u64) -> u64 {
        self.packet + self.packet_kib * bytes / 1024
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_near_the_measured_ones() {
        let wormhole = LinkTimes::of(Arch::Wormhole);
        for (bytes, nanoseconds) in [(2048, 270), (4096, 349)] {
            assert!(wormhole.occupancy(bytes).abs_diff(nanoseconds) <= 3, "{bytes} B");
        }
        for (bytes, nanoseconds) in [(16, 801), (4096, 1443)] {
            assert!(wormhole.latency(1, bytes).abs_diff(nanoseconds) <= 15, "{bytes} B");
        }
        // 1.35 GHz
        let blackhole = LinkTimes::of(Arch::Blackhole);
        for (bytes, nanoseconds) in [(2048, 201), (4096, 207)] {
            assert!((blackhole.occupancy(bytes) * 100 / 135).abs_diff(nanoseconds) <= 3, "{bytes} B");
        }
        for (bytes, nanoseconds) in [(16, 681), (4096, 819)] {
            assert!((blackhole.latency(1, bytes) * 100 / 135).abs_diff(nanoseconds) <= 15, "{bytes} B");
        }
    }
}
