//! Tile functions that only kernels call.
//!
//! Those that move datums between lanes, that keep lane registers from one tile to the next, or that work on narrow
//! integers.
//!
//! They are written for single words; nothing here is as hot as the functions of [`super::FUNCTIONS`].
//! Source: the public kernels of tt-llk for Wormhole; those for Blackhole have the same steps. Primitives as in
//! `docs/chip/sfpu.md`.

#![allow(clippy::unnecessary_wraps, reason = "every program has the type of those that may refuse")]

mod integer;
mod quantize;
mod rows;
mod scan;
mod topk;

use super::arith::{fma::fma, lane};
use super::exec::DstWidth;
use tt_formats::Arch;
use tt_tensix::regs::{FACE_SIDE, TILE_DATUMS};

/// A tile of `Dst`.
pub type Tile = [u32; TILE_DATUMS];
/// Rows and columns of a tile.
const SIDE: usize = 2 * FACE_SIDE;
/// What a program answers; an error names the call that had to come before.
type Done = Result<(), &'static str>;
/// One word for each column.
type Row = [u32; SIDE];

/// The content of lane registers between calls.
#[derive(Clone, Debug, Default)]
pub enum Registers {
    /// Nothing that a later call may read.
    #[default]
    Free,
    /// The last row of a running sum.
    Carry(Row),
    /// The zero point of a quantisation.
    ZeroPoint(u32),
    /// The weights of old and new values of a moving average, and its last row.
    Average {
        /// Of the previous output and of the input.
        weights: [u32; 2],
        /// The previous output.
        previous: Row,
    },
    /// Mean and sum of squared distances of what was seen so far.
    Moments {
        /// Mean of each column.
        mean: Row,
        /// Sum of squared distances from it.
        squares: Row,
    },
}

/// The access of a function to a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Loads from it.
    Reads,
    /// Loads from it and stores to it.
    Changes,
    /// Stores to it; what it does not store stays if the tile holds something, and is zero otherwise.
    Makes,
}

/// The rules by which a program rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Width of `Dst`.
    pub width: DstWidth,
    /// Generation of the unit.
    pub arch: Arch,
}

impl Rules {
    /// `a * b + c`.
    fn mad(self, a: u32, b: u32, c: u32) -> u32 {
        fma(a, b, c, self.arch)
    }

    /// The default store.
    fn store(self, word: u32) -> u32 {
        match self.width {
            DstWidth::Bits16 => lane::store_bf16(word),
            DstWidth::Bits32 => lane::store_f32(word),
        }
    }
}

/// A program on tiles. `Err` names the call that must come before.
type Program = fn(&mut Registers, &mut [Tile], &[u32], Rules) -> Done;

/// A function on tiles of `Dst`.
#[derive(Clone, Copy)]
pub struct TileFunction {
    /// Its name.
    pub name: &'static str,
    /// The accesses to its tiles, in the order of the call's indices.
    pub tiles: &'static [Access],
    /// Fewest and most parameters.
    pub parameters: (usize, usize),
    program: Program,
}

impl std::fmt::Debug for TileFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl TileFunction {
    const fn new(name: &'static str, tiles: &'static [Access], parameters: usize, program: Program) -> Self {
        Self { name, tiles, parameters: (parameters, parameters), program }
    }

    /// Runs it on copies of its tiles, which it changes.
    ///
    /// # Errors
    /// The name of a call that must come before this one.
    pub fn run(&self, registers: &mut Registers, tiles: &mut [Tile], parameters: &[u32], rules: Rules) -> Done {
        debug_assert_eq!(tiles.len(), self.tiles.len());
        (self.program)(registers, tiles, parameters, rules)
    }
}

/// Every tile function.
pub fn all() -> impl Iterator<Item = TileFunction> {
    [scan::FUNCTIONS, quantize::FUNCTIONS, rows::FUNCTIONS, integer::FUNCTIONS, topk::FUNCTIONS]
        .into_iter()
        .flatten()
        .copied()
}

/// The function of this name.
pub fn lookup(name: &str) -> Option<TileFunction> {
    all().find(|function| function.name == name)
}
