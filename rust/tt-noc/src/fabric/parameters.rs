//! Parameters of routers and links, one table per chip generation.
//!
//! Times are cycles of the chip's clock. Except for those with another source, values are fitted to two thirds of the published fabric benchmarks
//! (`tests/fabric.rs` prints them all) and rounded.

use tt_memory::chip::Arch;

use crate::parameters::Rate;

/// A kind of fabric: routers of each have another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Rows and columns of chips.
    Line,
    /// Closed chains: routers keep slots empty, and acknowledge packets before they pass them on.
    Ring,
    /// Two dimensions: routes turn and branch.
    Mesh,
    /// Neighbours only: nothing is passed on.
    Neighbours,
}

/// Differences between kinds of fabrics.
#[derive(Debug, PartialEq, Eq)]
pub struct Steps {
    /// Bytes of a packet's header.
    pub(super) header: u64,
    /// More cycles to send a worker's packet.
    pub(super) send: u64,
    /// More cycles to send one that came from another router.
    pub(super) send_on: u64,
    /// More cycles to receive one.
    pub(super) receive: u64,
    /// Fewer cycles of both.
    pub(super) less: u64,
    /// More cycles of a flush.
    pub(super) flush: u64,
    /// Cycles of a flush that waits for copies of earlier packets.
    pub(super) flush_copies: u64,
    /// Slots are free when a packet has arrived, not when it is passed on.
    pub(super) acknowledges: bool,
}

/// Routers and links of a chip generation.
#[derive(Debug, PartialEq, Eq)]
pub struct FabricParameters {
    /// A router has one RISC to send and one to receive.
    pub(super) two_riscs: bool,
    /// Slots of a channel.
    pub(super) slots: usize,
    /// A link in one direction.
    pub(super) link: Rate,
    /// Interfaces of the chip's network.
    pub(super) noc: Rate,
    /// Sends a worker's packet.
    pub(super) send: u64,
    /// Sends a packet that came from another router.
    pub(super) send_on: u64,
    /// Per 1000 bytes.
    pub(super) send_byte: u64,
    /// Bytes of a packet that the link's queue holds; the router waits for further ones.
    pub(super) buffered: u64,
    /// Per 1000 bytes of these.
    pub(super) long_byte: u64,
    /// Copies a packet to the next router.
    pub(super) forward: u64,
    /// Writes a packet to the chip.
    pub(super) write: u64,
    /// Both.
    pub(super) write_and_copy: u64,
    /// Copies it to one more router.
    pub(super) branch: u64,
    /// Per 1000 bytes of a packet received.
    pub(super) receive_byte: u64,
    /// Writes to more than one address.
    pub(super) scatter: u64,
    /// Waits until the payload is written, and increments.
    pub(super) flush: u64,
    /// Per 1000 bytes.
    pub(super) flush_byte: u64,
    /// To send, if a packet's chain of routers is closed and all of them pass packets on.
    pub(super) closed_send: u64,
    /// The same, to receive.
    pub(super) closed_receive: u64,
    /// Cycles of a step for which its packet is on the wire.
    pub(super) overlap: u64,
    /// From the end of the wire to the router's program.
    pub(super) wire: u64,
    /// From a router to the next one of the chip, besides the bytes.
    pub(super) copy: u64,
    /// From a router to memory, besides the bytes.
    pub(super) deliver: u64,
    /// From the receiver to a free slot of the sender.
    pub(super) credit: u64,
    /// From a worker's send call to the router, besides the bytes.
    ///
    /// For callers without a model of the chip's network.
    pub inject: u64,
    /// Cycles of a collective's worker for a full packet.
    ///
    /// It reads pages and sends them. From two profiled collectives on Blackhole, whose links are faster; 0 where links are slower than workers.
    pub stream: u64,
    kinds: [Steps; 4],
}

impl FabricParameters {
    /// The parameters of a chip generation.
    pub const fn of(arch: Arch) -> &'static Self {
        match arch {
            Arch::Wormhole => &WORMHOLE,
            Arch::Blackhole => &BLACKHOLE,
        }
    }

    /// What is special about a kind of fabric.
    pub(super) const fn steps(&'static self, protocol: Protocol) -> &'static Steps {
        &self.kinds[protocol as usize]
    }

    /// Cycles in which a worker writes a packet to a router.
    pub fn worker_cycles(&self, bytes: u64) -> u64 {
        self.noc.cycles(bytes)
    }
}

/// A fabric without anything special.
const PLAIN: Steps =
    Steps { header: 48, send: 0, send_on: 0, receive: 0, less: 0, flush: 0, flush_copies: 0, acknowledges: false };

/// Wormhole.
static WORMHOLE: FabricParameters = FabricParameters {
    two_riscs: false,
    slots: 24,
    link: Rate::hundredths(1187),
    noc: Rate::hundredths(2810), // `noc/parameters.rs`, a core's interface
    send: 253,
    send_on: 300,
    send_byte: 13,
    buffered: 4352,
    long_byte: 121,
    forward: 53,
    write: 80,
    write_and_copy: 82,
    branch: 59,
    receive_byte: 0,
    scatter: 62,
    flush: 277,
    flush_byte: 48,
    closed_send: 0,
    closed_receive: 0,
    overlap: 100,
    wire: 50,
    copy: 100,
    deliver: 100,
    credit: 200,
    inject: 340,
    stream: 0,
    kinds: [
        Steps { receive: 19, flush: 19, ..PLAIN },
        Steps { send: 38, send_on: 40, receive: 22, flush: 8, flush_copies: 1300, acknowledges: true, ..PLAIN },
        Steps { header: 96, send: 221, send_on: 193, receive: 4, flush: 85, ..PLAIN },
        Steps { less: 57, ..PLAIN },
    ],
};

/// Blackhole.
static BLACKHOLE: FabricParameters = FabricParameters {
    two_riscs: true,
    slots: 32,
    link: Rate::hundredths(3095),
    noc: Rate::hundredths(6090), // `noc/parameters.rs`, a core's interface
    send: 164,
    send_on: 141,
    send_byte: 0,
    buffered: 4352,
    long_byte: 0,
    forward: 138,
    write: 184,
    write_and_copy: 208,
    branch: 92,
    receive_byte: 1,
    scatter: 3,
    flush: 289,
    flush_byte: 17,
    closed_send: 88,
    closed_receive: 115,
    overlap: 165,
    wire: 50,
    copy: 135,
    deliver: 135,
    credit: 270,
    inject: 400,
    stream: 279,
    kinds: [
        PLAIN,
        Steps { send: 10, flush: 68, flush_copies: 477, acknowledges: true, ..PLAIN },
        Steps { header: 96, send: 119, receive: 20, ..PLAIN },
        Steps { less: 43, ..PLAIN },
    ],
};
