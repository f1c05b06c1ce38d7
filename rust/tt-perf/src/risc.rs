//! The processors of a core, and the start of programs.

/// Busy cycles of a kernel API call, without waiting.
#[derive(Debug)]
pub struct RiscCosts {
    /// A 32-bit load from L1.
    pub l1_load: u64,
    /// A 32-bit store to L1.
    pub l1_store: u64,
    /// `cb_reserve_back`, `cb_wait_front` when the pages are there.
    pub cb_check: u64,
    /// `cb_push_back`, `cb_pop_front`.
    pub cb_advance: u64,
    /// `get_arg_val`: an address and a load.
    pub argument: u64,
    /// `get_noc_addr` of coordinates or of a page, and other address arithmetic.
    pub noc_address: u64,
    /// A NoC command with raw addresses or stored state.
    ///
    /// Read, write, multicast, atomic, inline write.
    pub noc_command: u64,
    /// `noc_async_read_tile` and its like: address generation and command.
    pub noc_page_command: u64,
    /// From the last byte or acknowledgement to the barrier's end.
    pub barrier: u64,
    /// From a semaphore's new value in L1 to the wait's end.
    pub semaphore_poll: u64,
}

/// Start and end of programs and kernels.
#[derive(Debug)]
pub struct LaunchCosts {
    /// From a program's end to the next one's start, same queue.
    pub between_programs: u64,
    /// From the first to the last core's start.
    pub core_skew: u64,
    /// From a kernel's last command to its end.
    pub kernel_end: u64,
}

pub(super) const WORMHOLE: RiscCosts = RiscCosts {
    l1_load: 2,           // section 2.5: 4 loads per 7 cycles [isa]
    l1_store: 5,          // section 2.5 [isa]
    cb_check: 10, // estimate from section 2: per-tile bookkeeping takes 10 to 40 cycles, two or four of these calls
    cb_advance: 10, // likewise
    argument: 4,  // estimate: address, load, use; section 2.5
    noc_address: 10, // estimate: a dozen instructions of one cycle each
    noc_command: 23, // docs/chip/noc.md section 4: 128 B packets move at 5.5 B per cycle [npe]
    noc_page_command: 60, // s0459, s0474: four 2 KiB reads at 11.5 (DRAM), 14 (L1) B per cycle; recorded kernels need 124 [own]
    barrier: 40,          // docs/chip/noc.md section 5: the fluid simulation's release after the last byte [own]
    semaphore_poll: 10,   // estimate: a loop of load, compare and branch
};

pub(super) const BLACKHOLE: RiscCosts = RiscCosts {
    l1_load: 1,  // op_profiles.csv: 480 words of a row that is broadcast take 1,440 cycles, loop included [own]
    l1_store: 1, // likewise; a tile filled with a scalar of 512 words takes about 1,500 [own]
    noc_command: 21, // docs/chip/noc.md section 4: 128 B packets move at 6.0 B per cycle [npe]
    ..WORMHOLE   // nothing else has been published for Blackhole
};

pub(super) const LAUNCH: LaunchCosts = LaunchCosts {
    between_programs: 700, // section 2.6: 600 to 770 ns with captured traces [rep]
    core_skew: 100,        // section 2.6: 0.1 to 2.2 us; the lower end is that of traced runs [rep]
    kernel_end: 20,        // docs/chip/noc.md section 3 [npe]
};
