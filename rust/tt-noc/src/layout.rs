//! Layout of the die: physical coordinates of Tensix cores and DRAM tiles.
//!
//! `tt-memory` describes a chip as kernels see it (logical cores, virtual coordinates). The networks do not know those:
//! a route goes over physical nodes, including rows that are switched off. Source: `docs/chip/noc.md` section 1.

use tt_memory::chip::{Arch, ChipSpec, Grid, LogicalCore, NocCoord};

/// A network node by physical coordinates, those of NoC 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node {
    /// Column.
    pub x: u32,
    /// Row.
    pub y: u32,
}

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// A core that programs may use.
    Tensix,
    /// A DRAM tile, with the bank whose data it carries.
    Dram {
        /// Bank number.
        bank: usize,
    },
    /// Everything else: Ethernet, host, ARC, cores that are switched off or kept for dispatch.
    Other,
}

/// Columns that hold Tensix cores. Source: `docs/chip/noc.md` section 1; for Blackhole also the virtual coordinates of
/// `tt_memory::chip`, which are the physical ones of a die without harvesting.
const WORMHOLE_COLUMNS: &[u32] = &[1, 2, 3, 4, 6, 7, 8, 9];
const BLACKHOLE_COLUMNS: &[u32] = &[1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16];
/// Rows that hold Tensix cores.
const WORMHOLE_ROWS: &[u32] = &[1, 2, 3, 4, 5, 7, 8, 9, 10, 11];
const BLACKHOLE_ROWS: &[u32] = &[2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

/// DRAM tiles, three per memory controller. Source: `docs/chip/noc.md` section 1.
const WORMHOLE_CONTROLLERS: &[[Node; 3]] = &[
    [node(0, 0), node(0, 1), node(0, 11)],
    [node(0, 5), node(0, 6), node(0, 7)],
    [node(5, 0), node(5, 1), node(5, 11)],
    [node(5, 2), node(5, 9), node(5, 10)],
    [node(5, 3), node(5, 4), node(5, 8)],
    [node(5, 5), node(5, 6), node(5, 7)],
];
const BLACKHOLE_CONTROLLERS: &[[Node; 3]] = &[
    [node(0, 0), node(0, 1), node(0, 11)],
    [node(0, 2), node(0, 10), node(0, 3)],
    [node(0, 9), node(0, 4), node(0, 8)],
    [node(0, 5), node(0, 7), node(0, 6)],
    [node(9, 0), node(9, 1), node(9, 11)],
    [node(9, 2), node(9, 10), node(9, 3)],
    [node(9, 9), node(9, 4), node(9, 8)],
    [node(9, 5), node(9, 7), node(9, 6)],
];

/// Virtual coordinates of Blackhole's DRAM tiles begin here: a column per side of the die, three rows per controller.
const BLACKHOLE_VIRTUAL_DRAM: NocCoord = NocCoord { x: 17, y: 12 };

const fn node(x: u32, y: u32) -> Node {
    Node { x, y }
}

/// Rows or columns of the die that a board does not use, of those that hold Tensix cores.
///
/// Which ones they are differs from card to card. n150: the cores that the official package names as nearest to the
/// DRAM banks (`ChipSpec::optimal_dram_workers`) fit a die without row 7. n300, p100 and p300: no recording, so
/// the choice is ours.
fn harvested(chip: &ChipSpec) -> &'static [u32] {
    match chip.name {
        "n150" => &[7],
        "n300" => &[7, 11],
        "p100" | "p300" => &[15, 16],
        _ => &[],
    }
}

/// The die of one chip.
#[derive(Debug)]
pub struct Layout {
    chip: &'static ChipSpec,
    columns: Vec<u32>,
    rows: Vec<u32>,
    controllers: &'static [[Node; 3]],
    kinds: Vec<NodeKind>,
}

impl Layout {
    /// The die of a chip.
    ///
    /// # Panics
    /// If the description of the chip contradicts itself: a bank or core without a place on the die.
    pub fn new(chip: &'static ChipSpec) -> Self {
        let off = harvested(chip);
        let without = |all: &[u32]| all.iter().copied().filter(|line| !off.contains(line)).collect();
        let (columns, rows, controllers) = match chip.arch {
            Arch::Wormhole => (WORMHOLE_COLUMNS.to_vec(), without(WORMHOLE_ROWS), WORMHOLE_CONTROLLERS),
            Arch::Blackhole => (without(BLACKHOLE_COLUMNS), BLACKHOLE_ROWS.to_vec(), BLACKHOLE_CONTROLLERS),
        };
        let mut layout = Self { chip, columns, rows, controllers, kinds: Vec::new() };
        let mut kinds = vec![NodeKind::Other; chip.noc_grid.cores()];
        for bank in (0..chip.dram_banks()).rev() {
            let own = layout.bank(bank).expect("a bank of this chip");
            // The third tile of a controller carries the data of its first bank.
            let shared = controllers.iter().find(|nodes| nodes.contains(&own)).into_iter().flatten();
            for at in shared.copied() {
                if layout.owner_of(at).is_none_or(|owner| owner == bank) {
                    kinds[layout.index(at)] = NodeKind::Dram { bank };
                }
            }
        }
        for bank in 0..chip.grid.cores() {
            let core = chip.l1_bank_core(bank).expect("a bank of this grid");
            kinds[layout.index(layout.worker(core).expect("a core of this grid"))] = NodeKind::Tensix;
        }
        layout.kinds = kinds;
        layout
    }

    /// The chip this is the die of.
    pub fn chip(&self) -> &'static ChipSpec {
        self.chip
    }

    /// Columns and rows of the networks.
    pub fn noc_grid(&self) -> Grid {
        self.chip.noc_grid
    }

    /// Physical place of a core, or `None` outside the grid.
    pub fn worker(&self, core: LogicalCore) -> Option<Node> {
        let inside = self.chip.grid.contains(core);
        inside.then(|| node(self.columns[core.x as usize], self.rows[core.y as usize]))
    }

    /// The DRAM tile of a bank, or `None` without such a bank.
    pub fn bank(&self, bank: usize) -> Option<Node> {
        self.locate(*self.chip.dram_cores.get(bank)?)
    }

    /// Physical place of kernel coordinates, or `None` if nothing answers there.
    ///
    /// Wormhole's physical coordinates never look like virtual ones and are taken as they are.
    pub fn locate(&self, coord: NocCoord) -> Option<Node> {
        if let Some(core) = self.chip.logical_core(coord) {
            return self.worker(core);
        }
        match self.chip.arch {
            Arch::Wormhole => Some(node(coord.x, coord.y)).filter(|&at| self.contains(at)),
            Arch::Blackhole => {
                let side = coord.x.checked_sub(BLACKHOLE_VIRTUAL_DRAM.x).filter(|&side| side < 2)?;
                let row = coord.y.checked_sub(BLACKHOLE_VIRTUAL_DRAM.y).filter(|&row| row < 12)?;
                Some(self.controllers[(side * 4 + row / 3) as usize][(row % 3) as usize])
            }
        }
    }

    /// Returns the kind of a node.
    ///
    /// # Panics
    /// If the node lies outside the die.
    pub fn kind(&self, at: Node) -> NodeKind {
        self.kinds[self.index(at)]
    }

    /// Returns true if a node belongs to the die.
    pub fn contains(&self, at: Node) -> bool {
        at.x < self.noc_grid().x && at.y < self.noc_grid().y
    }

    /// Number of a node, row by row.
    pub(crate) fn index(&self, at: Node) -> usize {
        assert!(self.contains(at), "{at:?} is not on the die of {}", self.chip.name);
        (at.y * self.noc_grid().x + at.x) as usize
    }

    /// The bank that is reached through exactly this node.
    fn owner_of(&self, at: Node) -> Option<usize> {
        (0..self.chip.dram_banks()).find(|&bank| self.bank(bank) == Some(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tt_memory::chip::{CHIPS, N150, P150};

    #[test]
    fn virtual_and_logical_coordinates_name_the_same_node() {
        for chip in CHIPS {
            let layout = Layout::new(chip);
            for bank in 0..chip.grid.cores() {
                let core = chip.l1_bank_core(bank).expect("in the grid");
                let at = layout.worker(core).expect("in the grid");
                assert_eq!(layout.locate(chip.worker_coord(core).expect("in the grid")), Some(at));
                assert_eq!(layout.kind(at), NodeKind::Tensix);
            }
        }
    }

    #[test]
    fn every_bank_has_a_node_of_its_own() {
        for chip in CHIPS {
            let layout = Layout::new(chip);
            for bank in 0..chip.dram_banks() {
                assert_eq!(layout.kind(layout.bank(bank).expect("a bank")), NodeKind::Dram { bank }, "{}", chip.name);
            }
            assert_eq!(layout.bank(chip.dram_banks()), None);
        }
    }

    #[test]
    fn published_places() {
        let (n150, p150) = (Layout::new(&N150), Layout::new(&P150));
        // Row 6 is Ethernet, row 7 is switched off.
        assert_eq!(n150.worker(LogicalCore { x: 4, y: 5 }), Some(node(6, 8)));
        assert_eq!(n150.locate(NocCoord { x: 0, y: 11 }), Some(node(0, 11)));
        assert_eq!(n150.kind(node(0, 6)), n150.kind(node(0, 5)));
        assert_eq!(n150.kind(node(1, 6)), NodeKind::Other);
        assert_eq!(n150.kind(node(1, 7)), NodeKind::Other);
        assert_eq!(n150.locate(NocCoord { x: 26, y: 18 }), None);
        assert_eq!((p150.bank(0), p150.bank(4)), (Some(node(0, 11)), Some(node(9, 11))));
        assert_eq!((p150.bank(1), p150.bank(7)), (Some(node(0, 2)), Some(node(9, 6))));
        assert_eq!(p150.locate(NocCoord { x: 8, y: 3 }), None);
    }

    #[test]
    fn recorded_readers_are_next_to_their_banks() {
        // What the choice of the n150's missing row rests on: where row and column of the bank hold usable cores,
        // the recorded core sits right beside the bank.
        let layout = Layout::new(&N150);
        let workers = N150.optimal_dram_workers.expect("recorded")[0];
        let beside = (0..12).filter(|&bank| {
            let (from, to) = (layout.bank(bank).expect("a bank"), layout.worker(workers[bank]).expect("a core"));
            from.y == to.y && from.x + 1 == to.x
        });
        assert_eq!(beside.collect::<Vec<_>>(), [1, 2, 4, 6, 7, 8, 9, 10]);
    }
}
