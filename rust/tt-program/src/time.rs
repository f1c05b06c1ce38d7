//! Where the run asks for time. Figures are per chip and stand in one table; nothing else in this crate knows a number of
//! cycles.

use tt_memory::chip::{ChipSpec, NocCoord};

/// Cycles of a RISC per call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RiscCosts {
    /// `cb_reserve_back`, `cb_wait_front` and the like, when nothing has to be waited for.
    pub cb: u32,
    /// Setting up a transfer.
    pub issue: u32,
    /// A barrier with nothing in flight.
    pub barrier: u32,
    /// Load or store of a word of L1.
    pub word: u32,
    /// One poll of a semaphore.
    pub semaphore: u32,
    /// A call of the compute API that pushes instructions.
    pub compute: u32,
    /// Setting up a data format.
    pub reconfigure: u32,
}

/// Times of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadTimes {
    /// The RISC may go on.
    pub issued: u64,
    /// The data lie in L1.
    pub arrived: u64,
}

/// Times of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteTimes {
    /// The RISC may go on.
    pub issued: u64,
    /// The data have left L1.
    pub departed: u64,
    /// They lie at the target.
    pub arrived: u64,
    /// The acknowledgement is back.
    pub acknowledged: u64,
}

/// The clock of a run.
#[derive(Debug)]
pub struct Time {
    chip: &'static ChipSpec,
    /// Cycles of a RISC per call.
    pub risc: RiscCosts,
    /// Bytes moved, per network.
    pub noc_bytes: [u64; 2],
    /// Bytes read and written, per DRAM bank.
    pub bank_bytes: Vec<[u64; 2]>,
}

/// How far a kernel may run ahead of the others before it lets them catch up, in cycles.
pub const QUANTUM: u64 = 500;

impl Time {
    /// Clocks at zero.
    pub fn new(chip: &'static ChipSpec) -> Self {
        Self {
            chip,
            risc: RiscCosts { cb: 12, issue: 30, barrier: 10, word: 6, semaphore: 10, compute: 10, reconfigure: 120 },
            noc_bytes: [0; 2],
            bank_bytes: vec![[0; 2]; chip.dram_banks()],
        }
    }

    fn stream(&self, bytes: u32) -> u64 {
        u64::from(bytes).div_ceil(u64::from(self.chip.noc_link_bytes)) + 1
    }

    /// A read of `bytes` by `reader` from `owner`, asked for at `at`.
    pub fn read(&mut self, noc: u8, reader: NocCoord, owner: NocCoord, bytes: u32, at: u64) -> ReadTimes {
        self.noc_bytes[noc as usize] += u64::from(bytes);
        let latency = if reader == owner { 70 } else { 270 };
        let issued = at + u64::from(self.risc.issue);
        ReadTimes { issued, arrived: issued + latency + self.stream(bytes) }
    }

    /// A write of `bytes`.
    pub fn write(&mut self, noc: u8, writer: NocCoord, target: NocCoord, bytes: u32, at: u64) -> WriteTimes {
        self.noc_bytes[noc as usize] += u64::from(bytes);
        let hops = if writer == target { 0 } else { 8 };
        let issued = at + u64::from(self.risc.issue);
        let departed = issued + self.stream(bytes);
        let arrived = departed + 40 + 10 * hops;
        WriteTimes { issued, departed, arrived, acknowledged: arrived + 10 * hops }
    }

    /// A multicast of `bytes` to `targets`, the farthest of which is as far as any.
    pub fn multicast(&mut self, noc: u8, writer: NocCoord, targets: &[NocCoord], bytes: u32, at: u64) -> WriteTimes {
        let target = targets.last().copied().unwrap_or(writer);
        self.write(noc, writer, target, bytes, at)
    }

    /// Unpacking tiles of so many bytes for the two operands (0: none).
    pub fn unpack(&self, a: u32, b: u32) -> u64 {
        u64::from(a.max(b)) / 32 + 4
    }

    /// Instructions of the matrix unit: `count` of them, `phases` times.
    pub fn math(&self, count: u32, phases: u32) -> u64 {
        u64::from(count * phases)
    }

    /// A vector function of so many instructions per step on one tile.
    pub fn vector(&self, slots: u32) -> u64 {
        u64::from(slots) * 32 + 28
    }

    /// Packing a tile of so many bytes.
    pub fn pack(&self, bytes: u32, accumulate: bool) -> u64 {
        u64::from(bytes) / 64 * if accumulate { 2 } else { 1 } + 8
    }
}
