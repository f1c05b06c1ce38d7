//! Tile products in the order of the LLK's `matmul_tiles`.
//!
//! Phases outermost, then the two halves of K. `docs/chip/numerics.md` section 6 (tile matmul order), 8.1 (row sums).
//!
//! [`scalar`] is the definition. Operators prepare each operand tile once ([`PreparedA`], [`PreparedB`]) and call
//! [`accumulate`] for every product. It computes a few vectors of columns in two or four rows at a time, with `Dst`
//! in registers across the phases of a tile:
//! - [`plain`] for operands with 8-bit exponents that cannot leave the range of FP32 anywhere: all real data;
//! - [`general`] for everything else.

mod accumulator;
pub(super) mod chain;
mod directed;
mod general;
mod integers;
mod job;
mod plain;
mod prepared;
mod row_pair;
pub mod scalar;
mod side;

use tt_cpu::Level;

use super::{Dst, MathConfig, Src, integer};
use tt_tensix::regs::{TILE_DATUMS, index};

pub use accumulator::Accumulator;
pub use prepared::{PreparedA, PreparedB};
pub use scalar::{matmul_tile_scalar, row_sum_scalar};

/// Rows that the general path computes side by side.
const ROWS: usize = 4;
/// Groups of eight products in a tile's K.
const GROUPS: usize = 4;

/// Rows of a tile up to the last that has one of some bits set.
#[inline(always)]
fn used_rows(tile: &[u32; TILE_DATUMS], bits: u32) -> usize {
    let any = |row: usize, column: usize| tile[index(row, column)..][..16].iter().fold(0, |any, &word| any | word);
    (0..32).rev().find(|&row| (any(row, 0) | any(row, 16)) & bits != 0).map_or(0, |row| row + 1)
}

/// `dst += in0 @ in1` for one 32x32x32 tile product.
///
/// `in0`, the left operand, lies in `SrcB`; `in1` in `SrcA`.
pub fn matmul_tile(cfg: &MathConfig, dst: &mut Dst, in0: &Src, in1: &Src) {
    let (mut a, mut b) = (PreparedA::new(), PreparedB::new());
    a.prepare(cfg, in1);
    b.prepare(cfg, in0);
    let mut sums = Accumulator::new();
    sums.dst().copy_from_slice(dst);
    accumulate(cfg, &mut sums, &mut a, &mut b);
    dst.copy_from_slice(sums.dst());
}

/// [`matmul_tile`] on prepared operands.
///
/// Both must have been prepared under the configuration given here.
pub fn accumulate(cfg: &MathConfig, dst: &mut Accumulator, a: &mut PreparedA, b: &mut PreparedB) {
    accumulate_at(Level::current(), cfg, dst, a, b);
}

/// [`accumulate`] as a CPU level does it.
///
/// The bits do not depend on the level.
pub fn accumulate_at(level: Level, cfg: &MathConfig, dst: &mut Accumulator, a: &mut PreparedA, b: &mut PreparedB) {
    let level = level.available();
    if cfg.is_integer() {
        integer::matmul_tile(cfg, dst.dst(), b.words(), a.words());
    } else if level != Level::Scalar && plain::fits(cfg, dst, a, b) {
        plain::accumulate(level, cfg, dst, a, b);
    } else {
        general::accumulate(level, cfg, dst.dst(), a, b);
    }
}
