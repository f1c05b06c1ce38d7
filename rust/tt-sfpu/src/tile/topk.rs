//! The sorting network of topk.
//!
//! 64 values of each column (two tiles, one above the other) with their indices (the two tiles behind them), in bitonic
//! steps.
//!
//! Everything is a sequence of loads, conditional swaps of lane registers and their transposition, so also the order of
//! equal values is what those instructions make of it. Sources: tt-llk `ckernel_sfpu_topk.h` for Wormhole; ISA
//! documentation, `SFPSWAP`.

use super::{Access, Done, Registers, Rules, Tile, TileFunction};
use crate::exec::DstWidth;
use tt_tensix::regs::{FACE_DATUMS, FACE_SIDE};

const SORTS: &[Access] = &[Access::Changes, Access::Changes, Access::Changes, Access::Changes];

pub(super) const FUNCTIONS: &[TileFunction] = &[
    // Direction, last phase, first phase, last step, first step.
    TileFunction::new("topk_local_sort", SORTS, 5, local_sort),
    // Round, k, whether the smallest are wanted.
    TileFunction::new("topk_merge", SORTS, 3, merge),
    // Direction, round, k, logarithm of k, whether the second half is left out.
    TileFunction::new("topk_rebuild", SORTS, 5, rebuild),
];

/// Rows of `Dst` of a tile, a face after the other, and between values and indices.
const TILE_ROWS: u32 = 64;
const INDICES: u32 = 2 * TILE_ROWS;
/// How far a store that ends a group moves the row counter.
const GROUP_ROWS: u32 = 32;

/// Which lanes of the first register get the larger value: all, or those of some of the four lane rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Larger {
    All,
    Rows01,
    Rows02,
}

/// The SFPU while it sorts.
struct Network<'a> {
    tiles: &'a mut [Tile],
    rules: Rules,
    lanes: [[u32; 32]; 8],
    /// First row of the columns that are being sorted, the row counter and its saved value.
    base: u32,
    row: u32,
    saved: u32,
    /// Comparisons are inverted.
    inverted: bool,
}

/// Whether a word is the smaller one in the order of sign and magnitude.
fn is_smaller(c: u32, d: u32) -> bool {
    let order = |word: u32| (word ^ (((word as i32 >> 30) as u32) >> 1)) as i32;
    order(c) < order(d)
}

impl<'a> Network<'a> {
    fn new(tiles: &'a mut [Tile], rules: Rules) -> Self {
        Self { tiles, rules, lanes: [[0; 32]; 8], base: 0, row: 0, saved: 0, inverted: false }
    }

    /// Runs a program for the even and odd columns of the left and of the right faces.
    fn each_column(&mut self, mut program: impl FnMut(&mut Self)) {
        for base in [0, 2, 16, 18] {
            self.base = base;
            self.restart();
            program(self);
        }
    }

    fn restart(&mut self) {
        (self.row, self.saved) = (0, 0);
    }

    fn forward(&mut self, rows: u32) {
        self.row += rows;
    }

    /// Moves the saved counter, and the counter to it.
    fn forward_saved(&mut self, rows: u32) {
        self.saved += rows;
        self.row = self.saved;
    }

    /// Tile and place of a lane of an access.
    fn place(&self, offset: u32, lane: usize) -> (usize, usize) {
        let row = self.base + self.row + offset;
        let (first, column) = (row & !3, row >> 1 & 1);
        let row = first as usize + lane / 8;
        let column = 2 * (lane % 8) + column as usize;
        (
            row / TILE_ROWS as usize,
            row % TILE_ROWS as usize / FACE_SIDE * FACE_DATUMS + row % FACE_SIDE * FACE_SIDE + column,
        )
    }

    /// Loads values to a register and their indices to its companion.
    fn load(&mut self, register: usize, offset: u32) {
        for lane in 0..32 {
            let (tile, at) = self.place(offset, lane);
            self.lanes[register][lane] = self.tiles[tile][at];
            let (tile, at) = self.place(offset + INDICES, lane);
            let index = self.tiles[tile][at];
            let narrow = self.rules.width == DstWidth::Bits16;
            self.lanes[register + 4][lane] = if narrow { index & 0xffff } else { index };
        }
    }

    fn store(&mut self, register: usize, offset: u32) {
        for lane in 0..32 {
            let (tile, at) = self.place(offset, lane);
            self.tiles[tile][at] = self.rules.store(self.lanes[register][lane]);
            let (tile, at) = self.place(offset + INDICES, lane);
            self.tiles[tile][at] = self.lanes[register + 4][lane];
        }
    }

    fn load16(&mut self, near: u32, far: u32) {
        for (register, offset) in [0, near, far, far + near].into_iter().enumerate() {
            self.load(register, offset);
        }
    }

    fn store16(&mut self, near: u32, far: u32) {
        for (register, offset) in [0, near, far, far + near].into_iter().enumerate() {
            self.store(register, offset);
        }
    }

    /// Loads, sorts and stores a group of 16 datums that lie together, and goes on to the next.
    fn group(&mut self, program: impl FnOnce(&mut Self)) {
        self.load16(4, 8);
        program(self);
        self.store16(4, 8);
        self.forward(GROUP_ROWS);
    }

    /// Places of values that lie in two pieces far from each other.
    fn far(offset: u32) -> u32 {
        (offset & 15) + (offset >> 4) * 32
    }

    fn load8(&mut self, offset: u32, distance: u32) {
        self.load(0, Self::far(offset));
        self.load(1, Self::far(offset) + distance);
    }

    fn store8(&mut self, offset: u32, distance: u32) {
        self.store(0, Self::far(offset));
        self.store(1, Self::far(offset) + distance);
    }

    /// Exchanges lane rows and registers, values and indices alike.
    fn turn(&mut self) {
        let before = self.lanes;
        for (register, lanes) in self.lanes.iter_mut().enumerate() {
            for (lane, word) in lanes.iter_mut().enumerate() {
                *word = before[register / 4 * 4 + lane / 8][register % 4 * 8 + lane % 8];
            }
        }
    }

    /// The conditional swap: `first` gets the larger value in the lanes that `larger` names, the smaller one elsewhere.
    fn swap(&mut self, first: usize, second: usize, larger: Larger) {
        for lane in 0..32 {
            let (c, d) = (self.lanes[first][lane], self.lanes[second][lane]);
            let first_is_larger = match larger {
                Larger::All => true,
                Larger::Rows01 => lane < 16,
                Larger::Rows02 => lane / 8 % 2 == 0,
            };
            if (is_smaller(c, d) == first_is_larger) != self.inverted {
                self.exchange(first, second, lane);
            }
        }
    }

    fn exchange(&mut self, first: usize, second: usize, lane: usize) {
        for companion in [0, 4] {
            let word = self.lanes[first + companion][lane];
            self.lanes[first + companion][lane] = self.lanes[second + companion][lane];
            self.lanes[second + companion][lane] = word;
        }
    }

    fn phase0(&mut self) {
        self.turn();
        self.swap(0, 1, Larger::All);
        self.swap(3, 2, Larger::All);
        self.turn();
    }

    fn phase1(&mut self) {
        self.turn();
        self.steps_2_and_1(Larger::Rows02);
        self.turn();
    }

    fn phase2(&mut self) {
        self.swap(0, 1, Larger::All);
        self.swap(2, 3, Larger::All);
        for lane in 0..32 {
            self.exchange(2, 3, lane);
        }
        self.turn();
        self.steps_2_and_1(Larger::Rows01);
        self.turn();
    }

    fn steps_2_and_1(&mut self, larger: Larger) {
        self.swap(0, 2, larger);
        self.swap(1, 3, larger);
        self.swap(0, 1, larger);
        self.swap(2, 3, larger);
    }

    fn phase3(&mut self, smallest_first: bool) {
        self.inverted = smallest_first;
        for _ in 0..2 {
            self.swap(0, 2, Larger::All);
            self.swap(1, 3, Larger::All);
            self.swap(0, 1, Larger::All);
            self.swap(2, 3, Larger::All);
            self.turn();
        }
        self.inverted = false;
    }

    /// A step between datums that are `distance` rows apart.
    fn far_step(&mut self, step: u32, smallest_first: bool, length: u32) {
        self.restart();
        let mut smallest_first = smallest_first;
        let distance = if step == 5 { 16 } else { 32 };
        let (mut compared, mut offset) = (0, 0);
        while compared < 64 {
            for inner in 0..distance / 8 {
                self.load16(4, 2 * distance);
                let (upper, lower) = if smallest_first { (2, 0) } else { (0, 2) };
                self.swap(upper, lower, Larger::All);
                self.swap(upper + 1, lower + 1, Larger::All);
                self.store16(4, 2 * distance);
                offset += 8;
                if inner == distance / 8 - 1 {
                    offset = 2 * distance;
                    self.forward_saved(4 * distance);
                } else if offset == 16 {
                    self.forward_saved(32);
                } else {
                    self.forward(8);
                }
                compared += 16;
            }
            smallest_first ^= compared == length;
        }
    }

    /// The last four steps of a phase, on all 64 datums.
    fn near_steps(&mut self, smallest_first: bool, length: u32) {
        self.restart();
        let mut smallest_first = smallest_first;
        for group in 1..=4 {
            self.group(|network| network.phase3(smallest_first));
            smallest_first ^= group * 16 == length;
        }
    }

    /// All steps of a phase beyond the fourth, from `first` down to above `last`.
    fn late_phase(&mut self, phase: u32, smallest_first: bool, (first, last): (u32, u32)) {
        let length = 1 << (phase + 1);
        for step in (last + 1..=first).rev() {
            self.far_step(step, smallest_first, length);
        }
        self.near_steps(smallest_first, length);
    }
}

fn local_sort(_: &mut Registers, tiles: &mut [Tile], p: &[u32], rules: Rules) -> Done {
    let [direction, last, first, last_step, first_step] = [p[0], p[1], p[2], p[3], p[4]];
    Network::new(tiles, rules).each_column(|network| {
        let mut smallest_first = direction != 0;
        for phase in first..=last {
            network.restart();
            match phase {
                0 => (0..4).for_each(|_| network.group(Network::phase0)),
                1 => (0..4).for_each(|_| network.group(Network::phase1)),
                2 => (0..4).for_each(|_| network.group(Network::phase2)),
                3 => {
                    for _ in 0..4 {
                        network.group(|network| network.phase3(smallest_first));
                        smallest_first = !smallest_first;
                    }
                }
                _ => {
                    let steps = if first == last { (first_step, last_step) } else { (phase + 1, 4) };
                    network.late_phase(phase, direction != 0, steps);
                    smallest_first = direction != 0;
                }
            }
        }
    });
    Ok(())
}

fn merge(_: &mut Registers, tiles: &mut [Tile], p: &[u32], rules: Rules) -> Done {
    let [round, k, smallest] = [p[0], p[1].min(32), p[2]];
    Network::new(tiles, rules).each_column(|network| {
        let total = (64 >> round).max(2 * k);
        let distance = (k << round).min(32);
        let apart = if distance < 16 { distance } else { 2 * distance };
        let (mut compared, mut offset, mut saved) = (0, 0, 0);
        while compared < total {
            for inner in 0..k / 4 {
                network.load8(offset, apart);
                let (first, second) = if smallest == 0 { (0, 1) } else { (1, 0) };
                network.swap(first, second, Larger::All);
                network.store8(offset, apart);
                compared += 8;
                if inner == k / 4 - 1 {
                    saved += 2 * distance;
                    offset = saved;
                } else {
                    offset += 4;
                }
            }
        }
    });
    Ok(())
}

fn rebuild(_: &mut Registers, tiles: &mut [Tile], p: &[u32], rules: Rules) -> Done {
    let [direction, round, k, log, skip_second] = [p[0], p[1], p[2], p[3], p[4]];
    Network::new(tiles, rules).each_column(|network| {
        let total = (64 >> (round + 1)).max(2 * k) >> (skip_second & 1);
        let distance = (k << (round + 1)).min(32);
        let apart = Network::far(distance);
        let mut smallest_first = direction != 0;
        let groups = total.div_ceil(16);
        match log - 1 {
            0 => {}
            1 if round >= 2 => {
                for _ in 0..groups {
                    network.load8(0, apart);
                    network.phase1();
                    network.store8(0, apart);
                    network.forward(64);
                }
            }
            phase @ 1..=3 => {
                for _ in 0..groups {
                    let (near, far) = match phase {
                        1 => (apart, if apart < 16 { 4 * apart } else { 2 * apart }),
                        2 => (4, apart),
                        _ => (4, 8),
                    };
                    network.load16(near, far);
                    match phase {
                        1 => network.phase1(),
                        2 => network.phase2(),
                        _ => network.phase3(smallest_first),
                    }
                    network.store16(near, far);
                    // The last store moves the counter by a group, the kernel by as much again.
                    network.forward(2 * GROUP_ROWS);
                    smallest_first ^= phase == 3;
                }
            }
            phase => network.late_phase(phase, smallest_first, (phase + 1, 4)),
        }
    });
    Ok(())
}
