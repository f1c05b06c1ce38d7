//! Tile products in the order of the LLK's `matmul_tiles`: phases outermost, then the two halves of K.
//! `numerics.md` section 6 (tile matmul order), `op-programs.md` 0.1 (row sums).
//!
//! [`scalar`] is the definition. Operators prepare each operand tile once ([`PreparedA`], [`PreparedB`]) and call
//! [`accumulate`] for every product; it computes all columns of a row side by side.

mod blocked;
mod prepared;
pub mod scalar;

use tt_cpu::Level;

use super::{Dst, MathConfig, Src, integer};

pub use prepared::{PreparedA, PreparedB};
pub use scalar::{matmul_tile_scalar, row_sum_scalar};

/// `dst += in0 @ in1` for one 32x32x32 tile product. `in0`, the left operand, lies in `SrcB`; `in1` in `SrcA`.
pub fn matmul_tile(cfg: &MathConfig, dst: &mut Dst, in0: &Src, in1: &Src) {
    let (mut a, mut b) = (PreparedA::new(), PreparedB::new());
    a.prepare(cfg, in1);
    b.prepare(cfg, in0);
    accumulate(cfg, dst, &a, &b);
}

/// [`matmul_tile`] on prepared operands. Both must have been prepared under the configuration given here.
pub fn accumulate(cfg: &MathConfig, dst: &mut Dst, a: &PreparedA, b: &PreparedB) {
    accumulate_at(Level::current(), cfg, dst, a, b);
}

/// [`accumulate`] as a CPU level does it. The bits do not depend on the level.
pub fn accumulate_at(level: Level, cfg: &MathConfig, dst: &mut Dst, a: &PreparedA, b: &PreparedB) {
    if cfg.is_integer() {
        integer::matmul_tile(cfg, dst, b.words(), a.words());
    } else {
        blocked::accumulate(level.available(), cfg, dst, a, b);
    }
}
