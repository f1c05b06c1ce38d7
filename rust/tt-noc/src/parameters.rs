//! Parameters of a network and its DRAM, one table per chip generation.
//!
//! Sizes that programs see (link width, packet size, grid) are in `tt_memory::chip`. The marks in square brackets are
//! those of `docs/chip/noc.md`: [isa] ISA documentation, [npe] constants of tt-npe, [rep] vendor reports, [iss] issue
//! tracker, [own] measured for this project.

use tt_memory::chip::Arch;

/// Bytes per cycle, in hundredths: times are equal on all machines.
///
/// They are whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(u32);

impl Rate {
    /// From hundredths of a byte per cycle.
    pub const fn hundredths(value: u32) -> Self {
        Self(value)
    }

    /// Rounded cycles of `bytes`, at least one.
    #[inline]
    pub const fn cycles(self, bytes: u64) -> u64 {
        let cycles = (bytes * 100 + self.0 as u64 / 2) / self.0 as u64;
        if cycles == 0 { 1 } else { cycles }
    }

    /// Returns it as a float, for reports.
    pub fn bytes_per_cycle(self) -> f64 {
        f64::from(self.0) / 100.0
    }
}

/// Latencies and rates of the networks and of DRAM.
///
/// All times are cycles of the chip's clock.
#[derive(Debug, PartialEq, Eq)]
pub struct NocParameters {
    /// Flits of a packet before its payload.
    pub header_flits: u64,
    /// Cycles for which a link is idle after a packet.
    pub link_idle: u64,
    /// From a read's issue to its first data.
    ///
    /// Both ways together, without routers and DRAM.
    pub read_start: u64,
    /// One router of a read's request or response.
    pub read_hop: u64,
    /// From a write's issue to its first data at the router.
    ///
    /// It is the first one.
    pub write_start: u64,
    /// One router of a write.
    pub write_hop: u64,
    /// From an interface to its router, or back.
    pub interface: u64,
    /// Between a core's L1 and the network, out.
    pub tensix_out: Rate,
    /// Between a core's L1 and the network, in.
    pub tensix_in: Rate,
    /// A DRAM node, out.
    pub dram_out: Rate,
    /// A DRAM node, in.
    pub dram_in: Rate,
    /// The rate of a bank.
    pub bank: Rate,
    /// A bank begins at most one request in so many cycles.
    pub bank_request: u64,
    /// From a DRAM node's request to first data, beyond L1's time.
    pub dram_access: u64,
    /// Multicast whose path is reserved anew for each packet.
    pub multicast: Rate,
    /// Linked multicast: the path stays reserved.
    pub multicast_linked: Rate,
    /// Cycles of an atomic or narrow store in its L1 bank.
    pub l1_modify: u64,
    /// The router's buffer after each of its incoming links.
    pub buffers: Buffers,
}

/// The buffer after a link.
///
/// Bytes of each virtual channel and bytes that all of them share.
#[derive(Debug, PartialEq, Eq)]
pub struct Buffers {
    /// Channels that unicast requests use on one side of the dateline.
    ///
    /// Two classes, two buddies.
    pub channels: u64,
    /// Bytes that each channel has of its own.
    pub own: u64,
    /// Bytes of the pool.
    pub pool: u64,
    /// Bytes of the pool that one channel can have.
    pub share: u64,
    /// Cycles from a flit's departure to its credit.
    ///
    /// Through the next router and back.
    pub round_trip: u64,
}

impl Buffers {
    /// Returns the rate of a link when its pool is full.
    ///
    /// Each channel its own bytes per round trip.
    pub const fn starved(&self) -> Rate {
        Rate::hundredths((self.channels * self.own * 100 / self.round_trip) as u32)
    }
}

/// Requests that an interface holds at a time.
///
/// A core that issues more waits. `docs/chip/noc.md` section 5 point 4 [isa].
pub const REQUEST_SLOTS: usize = 4;

impl NocParameters {
    /// The parameters of a chip generation.
    pub const fn of(arch: Arch) -> &'static Self {
        match arch {
            Arch::Wormhole => &WORMHOLE,
            Arch::Blackhole => &BLACKHOLE,
        }
    }
}

/// Wormhole.
pub static WORMHOLE: NocParameters = NocParameters {
    header_flits: 1,                          // section 2 [isa]
    link_idle: 5,                             // fit on the recorded traces; 2 KiB packets at 30 B per cycle are 4 [npe]
    read_start: 70,                           // section 3: read from the same node [npe]
    read_hop: 9,                              // section 3 [isa]; the read table gives 154, 170, 270 for 12, 10, 22 hops
    write_start: 40,                          // section 3 [npe]
    write_hop: 10,                            // section 3 [npe]
    interface: 5,                             // section 3 [isa]
    tensix_out: Rate::hundredths(2810),       // section 4 [npe]
    tensix_in: Rate::hundredths(2810),        // section 4 [npe]
    dram_out: Rate::hundredths(2320),         // section 4 [npe]
    dram_in: Rate::hundredths(2400),          // section 4 [npe]
    bank: Rate::hundredths(2220),             // section 4: one bank, one adjacent reader [isa]
    bank_request: 7,                          // section 4: 6.8 [iss]
    dram_access: 200,                         // section 3: 570 for 2 KiB from idle DRAM (k076 names Wormhole) [iss]
    multicast: Rate::hundredths(1400),        // section 4 [rep]
    multicast_linked: Rate::hundredths(2200), // section 4 [rep]
    l1_modify: 5,                             // docs/chip/performance.md section 2.5 [isa]
    // Section 2 [isa]; the round trip is two hops of section 3 [isa].
    buffers: Buffers { channels: 4, own: 32, pool: 1536, share: 480, round_trip: 2 * 9 },
};

/// Blackhole.
pub static BLACKHOLE: NocParameters = NocParameters {
    header_flits: 1,                          // section 2 [isa]
    link_idle: 2,                             // section 4: 2 KiB packets move at 57.7 B per cycle [npe]
    read_start: 65,                           // section 3 [npe]
    read_hop: 9,                              // section 3: 177, 217, 329 for 12, 17, 29 hops [npe]
    write_start: 40,                          // section 3 [npe]
    write_hop: 11,                            // section 3 [npe]
    interface: 5,                             // section 3 [isa]
    tensix_out: Rate::hundredths(6090),       // section 4 [npe]
    tensix_in: Rate::hundredths(6090),        // section 4 [npe]
    dram_out: Rate::hundredths(4630),         // section 4: one bank, one adjacent reader [rep]; [npe] says 40
    dram_in: Rate::hundredths(4000),          // section 4 [npe]
    bank: Rate::hundredths(4630),             // section 4: one bank, one adjacent reader [rep]
    bank_request: 16,                         // section 4: 16.4 [iss]
    dram_access: 196, // section 3: 570 for 2 KiB from idle DRAM [iss], less read and 45 cycles of data
    multicast: Rate::hundredths(2400), // section 4 [rep]
    multicast_linked: Rate::hundredths(3900), // section 4 [rep]
    l1_modify: 5,     // as Wormhole
    // *Estimate*: the flits of Wormhole, twice as wide; the vendor documents no buffers of Blackhole.
    buffers: Buffers { channels: 4, own: 64, pool: 3072, share: 960, round_trip: 2 * 9 },
};
