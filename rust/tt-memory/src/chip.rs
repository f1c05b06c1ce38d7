//! Chips as data.
//!
//! Everything that differs between boards and that the rest of the program must not hard-code.
//!
//! Source: the published architecture constants of Wormhole and Blackhole boards and, for coordinates, what the
//! official package reports for an n150 and a p150. The p100 and the chips of the n300 and the p300 (one of two) follow
//! the same coordinate rules with more rows or columns harvested, those of a Galaxy with none. Grids by dispatch cores are those of the official core
//! descriptors.

pub use tt_formats::Arch;

/// A Tensix core by its place in the compute grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LogicalCore {
    /// Column.
    pub x: u32,
    /// Row.
    pub y: u32,
}

/// A place on the NoC in the virtual coordinates that kernels use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NocCoord {
    /// Column.
    pub x: u32,
    /// Row.
    pub y: u32,
}

/// Columns and rows of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Columns.
    pub x: u32,
    /// Rows.
    pub y: u32,
}

impl Grid {
    /// Number of cores.
    pub const fn cores(self) -> usize {
        self.x as usize * self.y as usize
    }

    /// Returns true if a core belongs to the grid.
    pub const fn contains(self, core: LogicalCore) -> bool {
        core.x < self.x && core.y < self.y
    }
}

/// The direction in which cores of the die are disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harvesting {
    /// Whole rows (Wormhole).
    Rows(u32),
    /// Whole columns (Blackhole).
    Columns(u32),
}

/// The cores that dispatch commands to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dispatch {
    /// The last row of the grid.
    Row,
    /// The last column of the grid.
    Column,
    /// Idle Ethernet cores, none of the grid.
    Ethernet,
}

impl Dispatch {
    /// The dispatch cores of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        [("row", Self::Row), ("column", Self::Column), ("ethernet", Self::Ethernet)]
            .into_iter()
            .find_map(|(known, dispatch)| (known == name).then_some(dispatch))
    }
}

/// One kind of chip on one kind of board.
#[derive(Debug, PartialEq)]
pub struct ChipSpec {
    /// Board name: `n150`, `n300`, `galaxy`, `p100`, `p150`, `p300`.
    pub name: &'static str,
    /// Chip generation.
    pub arch: Arch,
    /// Cores that programs and buffers may use.
    pub grid: Grid,
    /// Rows or columns switched off.
    pub harvesting: Harvesting,
    /// Tiles of the NoC, columns and rows.
    pub noc_grid: Grid,
    /// DRAM banks in bank order.
    pub dram_cores: &'static [NocCoord],
    /// Bytes of a DRAM bank.
    pub dram_bank_bytes: u64,
    /// First address of a DRAM bank that buffers may have.
    pub dram_base: u64,
    /// Alignment of DRAM pages and of every allocation.
    pub dram_alignment: u64,
    /// Bytes of L1 of a core.
    pub l1_bytes: u64,
    /// First address of L1 that buffers and circular buffers may have.
    pub l1_base: u64,
    /// Alignment of L1 pages.
    pub l1_alignment: u64,
    /// The result of `get_max_worker_l1_unreserved_size`.
    pub max_worker_l1_unreserved: u64,
    /// Circular buffers of a core.
    pub circular_buffers: u32,
    /// Semaphores of a core.
    pub semaphores: u32,
    /// Clock of cores and NoC in MHz.
    pub aiclk_mhz: u32,
    /// Bytes that a NoC link moves per cycle.
    pub noc_link_bytes: u32,
    /// Largest payload of a NoC packet.
    pub noc_packet_bytes: u32,
    /// Nearest core of each DRAM bank, for NoC 0 and 1.
    pub optimal_dram_workers: Option<[&'static [LogicalCore]; 2]>,
}

impl ChipSpec {
    /// The chip of a board.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        CHIPS.iter().copied().find(|chip| chip.name == name)
    }

    /// The same chip with other dispatch cores.
    ///
    /// `None` if it has no such choice.
    pub fn dispatching(&self, dispatch: Dispatch) -> Option<&'static Self> {
        BY_DISPATCH.iter().find(|(cores, chip)| *cores == dispatch && chip.name == self.name).map(|&(_, chip)| chip)
    }

    /// NoC coordinates of a core, or `None` outside the grid.
    pub fn worker_coord(&self, core: LogicalCore) -> Option<NocCoord> {
        if !self.grid.contains(core) {
            return None;
        }
        Some(match self.arch {
            Arch::Wormhole => NocCoord { x: 18 + core.x, y: 18 + core.y },
            // Columns 8 and 9 of the die hold no Tensix cores.
            Arch::Blackhole => NocCoord { x: core.x + if core.x < 7 { 1 } else { 3 }, y: core.y + 2 },
        })
    }

    /// The core at NoC coordinates, or `None` if unusable.
    pub fn logical_core(&self, coord: NocCoord) -> Option<LogicalCore> {
        let (x, y) = match self.arch {
            Arch::Wormhole => (coord.x.checked_sub(18)?, coord.y.checked_sub(18)?),
            Arch::Blackhole if coord.x == 8 || coord.x == 9 => return None,
            Arch::Blackhole => (coord.x.checked_sub(if coord.x < 8 { 1 } else { 3 })?, coord.y.checked_sub(2)?),
        };
        Some(LogicalCore { x, y }).filter(|&core| self.grid.contains(core))
    }

    /// DRAM banks.
    pub fn dram_banks(&self) -> usize {
        self.dram_cores.len()
    }

    /// L1 bank of a core: row by row through the grid.
    ///
    /// `None` outside the grid.
    pub fn l1_bank(&self, core: LogicalCore) -> Option<usize> {
        self.grid.contains(core).then(|| core.y as usize * self.grid.x as usize + core.x as usize)
    }

    /// Core of an L1 bank, the inverse of [`ChipSpec::l1_bank`].
    pub fn l1_bank_core(&self, bank: usize) -> Option<LogicalCore> {
        let columns = self.grid.x as usize;
        let core = LogicalCore { x: (bank % columns) as u32, y: (bank / columns) as u32 };
        self.grid.contains(core).then_some(core)
    }
}

/// `sfpu_eps()` of every chip.
pub const SFPU_EPS: f64 = 1.192_089_982_282_595_9e-7;
/// `sfpu_nan()` of every chip.
pub const SFPU_NAN: f64 = 7.003_999_899_705_2e19;
/// `sfpu_inf()` of every chip.
pub const SFPU_INF: f64 = 1.701_399_969_395_074_2e38;

const fn noc(x: u32, y: u32) -> NocCoord {
    NocCoord { x, y }
}

const fn core(x: u32, y: u32) -> LogicalCore {
    LogicalCore { x, y }
}

const WORMHOLE_DRAM: &[NocCoord] = &[
    noc(0, 11),
    noc(0, 1),
    noc(0, 5),
    noc(0, 7),
    noc(5, 1),
    noc(5, 11),
    noc(5, 2),
    noc(5, 9),
    noc(5, 8),
    noc(5, 3),
    noc(5, 5),
    noc(5, 7),
];

const BLACKHOLE_DRAM: &[NocCoord] =
    &[noc(17, 14), noc(17, 15), noc(17, 18), noc(17, 21), noc(18, 14), noc(18, 17), noc(18, 20), noc(18, 23)];

/// The p100 lacks one memory controller; virtual coordinates put the missing one last.
const P100_DRAM: &[NocCoord] = BLACKHOLE_DRAM.split_at(7).0;

/// On the n150 both networks prefer the same cores.
const N150_DRAM_WORKERS: &[LogicalCore] = &[
    core(3, 7),
    core(0, 0),
    core(0, 4),
    core(2, 1),
    core(4, 0),
    core(7, 7),
    core(4, 1),
    core(4, 6),
    core(4, 5),
    core(4, 2),
    core(4, 4),
    core(6, 3),
];

const P150_DRAM_WORKERS_NOC0: &[LogicalCore] =
    &[core(0, 9), core(0, 0), core(0, 7), core(0, 3), core(7, 9), core(7, 1), core(7, 6), core(7, 4)];

const P150_DRAM_WORKERS_NOC1: &[LogicalCore] =
    &[core(0, 0), core(0, 8), core(0, 2), core(0, 5), core(7, 0), core(7, 8), core(7, 2), core(7, 5)];

const N150_CHIP: ChipSpec = ChipSpec {
    name: "n150",
    arch: Arch::Wormhole,
    grid: Grid { x: 8, y: 8 },
    harvesting: Harvesting::Rows(1),
    noc_grid: Grid { x: 10, y: 12 },
    dram_cores: WORMHOLE_DRAM,
    dram_bank_bytes: 1 << 30,
    dram_base: 1_048_640,
    dram_alignment: 32,
    l1_bytes: 1_499_136,
    l1_base: 105_824,
    l1_alignment: 16,
    max_worker_l1_unreserved: 1_463_968,
    circular_buffers: 32,
    semaphores: 16,
    aiclk_mhz: 1000,
    noc_link_bytes: 32,
    noc_packet_bytes: 8192,
    optimal_dram_workers: Some([N150_DRAM_WORKERS, N150_DRAM_WORKERS]),
};

/// One Wormhole chip on an n150: the default device.
pub static N150: ChipSpec = N150_CHIP;

const N300_CHIP: ChipSpec =
    ChipSpec { name: "n300", harvesting: Harvesting::Rows(2), optimal_dram_workers: None, ..N150_CHIP };

/// One of the two Wormhole chips of an n300.
///
/// It has all its cores: dispatch runs on Ethernet cores.
pub static N300: ChipSpec = N300_CHIP;

/// [`N300`] with its last row kept for dispatch.
pub static N300_IN_ROWS: ChipSpec = ChipSpec { grid: Grid { x: 8, y: 7 }, ..N300_CHIP };

/// [`N150`] with its last column kept for dispatch.
///
/// The cores nearest to the DRAM banks have not been recorded.
pub static N150_IN_COLUMNS: ChipSpec = ChipSpec { grid: Grid { x: 7, y: 9 }, optimal_dram_workers: None, ..N150_CHIP };

/// [`N300`] with its last column kept for dispatch.
pub static N300_IN_COLUMNS: ChipSpec = ChipSpec { grid: Grid { x: 7, y: 8 }, ..N300_CHIP };

const GALAXY_CHIP: ChipSpec = ChipSpec {
    name: "galaxy",
    grid: Grid { x: 8, y: 9 },
    harvesting: Harvesting::Rows(0),
    optimal_dram_workers: None,
    ..N150_CHIP
};

/// One of the 32 Wormhole chips of a Galaxy.
///
/// Its last row is kept for dispatch.
pub static GALAXY: ChipSpec = GALAXY_CHIP;

/// [`GALAXY`] with its last column kept for dispatch.
pub static GALAXY_IN_COLUMNS: ChipSpec = ChipSpec { grid: Grid { x: 7, y: 10 }, ..GALAXY_CHIP };

const P150_CHIP: ChipSpec = ChipSpec {
    name: "p150",
    arch: Arch::Blackhole,
    grid: Grid { x: 13, y: 10 },
    harvesting: Harvesting::Columns(0),
    noc_grid: Grid { x: 17, y: 12 },
    dram_cores: BLACKHOLE_DRAM,
    dram_bank_bytes: 4_278_190_080,
    dram_base: 1_048_704,
    dram_alignment: 64,
    l1_bytes: 1_572_864,
    l1_base: 111_744,
    l1_alignment: 16,
    max_worker_l1_unreserved: 1_531_776,
    circular_buffers: 64,
    semaphores: 16,
    aiclk_mhz: 1350,
    noc_link_bytes: 64,
    noc_packet_bytes: 16384,
    optimal_dram_workers: Some([P150_DRAM_WORKERS_NOC0, P150_DRAM_WORKERS_NOC1]),
};

/// One Blackhole chip on a p150.
pub static P150: ChipSpec = P150_CHIP;

/// [`P150`] with its last row kept for dispatch and mux cores.
///
/// The cores nearest to the DRAM banks have not been recorded.
pub static P150_IN_ROWS: ChipSpec = ChipSpec { grid: Grid { x: 14, y: 9 }, optimal_dram_workers: None, ..P150_CHIP };

const P100_CHIP: ChipSpec = ChipSpec {
    name: "p100",
    grid: Grid { x: 11, y: 10 },
    harvesting: Harvesting::Columns(2),
    dram_cores: P100_DRAM,
    optimal_dram_workers: None,
    ..P150_CHIP
};

/// One Blackhole chip on a p100.
pub static P100: ChipSpec = P100_CHIP;

/// [`P100`] with its last row kept for dispatch and mux cores.
pub static P100_IN_ROWS: ChipSpec = ChipSpec { grid: Grid { x: 12, y: 9 }, ..P100_CHIP };

const P300_CHIP: ChipSpec = ChipSpec { name: "p300", dram_cores: BLACKHOLE_DRAM, ..P100_CHIP };

/// One of the two Blackhole chips of a p300.
pub static P300: ChipSpec = P300_CHIP;

/// [`P300`] with its last row kept for dispatch and mux cores.
pub static P300_IN_ROWS: ChipSpec = ChipSpec { grid: Grid { x: 12, y: 9 }, ..P300_CHIP };

/// Every chip there is, the default one first.
pub static CHIPS: &[&ChipSpec] = &[&N150, &N300, &GALAXY, &P100, &P150, &P300];

/// The chips by their dispatch cores.
///
/// The official descriptor of Ethernet dispatch has the 8 x 8 grid for an n150 too: one row of its cores is unused.
static BY_DISPATCH: &[(Dispatch, &ChipSpec)] = &[
    (Dispatch::Row, &N150),
    (Dispatch::Column, &N150_IN_COLUMNS),
    (Dispatch::Ethernet, &N150),
    (Dispatch::Row, &N300_IN_ROWS),
    (Dispatch::Column, &N300_IN_COLUMNS),
    (Dispatch::Ethernet, &N300),
    (Dispatch::Row, &GALAXY),
    (Dispatch::Column, &GALAXY_IN_COLUMNS),
    (Dispatch::Row, &P100_IN_ROWS),
    (Dispatch::Column, &P100),
    (Dispatch::Row, &P150_IN_ROWS),
    (Dispatch::Column, &P150),
    (Dispatch::Row, &P300_IN_ROWS),
    (Dispatch::Column, &P300),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_of_cores_go_both_ways() {
        for chip in CHIPS.iter().chain(BY_DISPATCH.iter().map(|(_, chip)| chip)) {
            for bank in 0..chip.grid.cores() {
                let core = chip.l1_bank_core(bank).expect("a bank per core");
                assert_eq!(chip.l1_bank(core), Some(bank));
                let coord = chip.worker_coord(core).expect("in the grid");
                assert_eq!(chip.logical_core(coord), Some(core), "{} {coord:?}", chip.name);
            }
            assert_eq!(chip.l1_bank_core(chip.grid.cores()), None);
            assert_eq!(chip.worker_coord(LogicalCore { x: chip.grid.x, y: 0 }), None);
        }
    }

    #[test]
    fn dispatch_takes_a_row_a_column_or_no_cores_of_the_grid() {
        let grids = CHIPS.iter().map(|chip| {
            let of = |dispatch| chip.dispatching(dispatch).map(|other| (other.grid.x, other.grid.y));
            (chip.name, [Dispatch::Row, Dispatch::Column, Dispatch::Ethernet].map(of))
        });
        let expected = [
            ("n150", [Some((8, 8)), Some((7, 9)), Some((8, 8))]),
            ("n300", [Some((8, 7)), Some((7, 8)), Some((8, 8))]),
            ("galaxy", [Some((8, 9)), Some((7, 10)), None]),
            ("p100", [Some((12, 9)), Some((11, 10)), None]),
            ("p150", [Some((14, 9)), Some((13, 10)), None]),
            ("p300", [Some((12, 9)), Some((11, 10)), None]),
        ];
        assert_eq!(grids.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn published_coordinates() {
        let at = |chip: &ChipSpec, x, y| chip.worker_coord(core(x, y));
        assert_eq!((at(&N150, 0, 0), at(&N150, 7, 7)), (Some(noc(18, 18)), Some(noc(25, 25))));
        assert_eq!((at(&P150, 0, 0), at(&P150, 7, 7)), (Some(noc(1, 2)), Some(noc(10, 9))));
        assert_eq!(at(&P150, 12, 9), Some(noc(15, 11)));
        assert_eq!(P150.logical_core(noc(8, 5)), None);
        assert_eq!(P150.logical_core(noc(0, 5)), None);
    }

    #[test]
    fn sizes_are_whole_multiples_of_the_alignment() {
        for chip in CHIPS {
            for size in [chip.dram_bank_bytes, chip.dram_base, chip.l1_bytes, chip.l1_base] {
                assert_eq!(size % chip.dram_alignment, 0, "{}", chip.name);
            }
        }
        assert_eq!(N150.l1_bytes - N150.l1_base, 1_393_312);
        assert_eq!(P150.l1_bytes - P150.l1_base, 1_461_120);
        assert_eq!(N150.dram_bank_bytes - N150.dram_base, 1_072_693_184);
        assert_eq!(P150.dram_bank_bytes - P150.dram_base, 4_277_141_376);
    }
}
