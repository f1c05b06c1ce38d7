//! Pooling instructions GAPOOL and GMPOOL, and tile reductions of them.
//!
//! The LLK builds the reductions. `docs/chip/numerics.md` section 8.
//!
//! The operators of ttnn 0.81.1 sum rows by [`row_sum`] instead. [`reduce_scalar`] and [`super::row_sum_scalar`] are
//! the definitions; [`Reduction`] computes a vector of results at a time.

mod across;
mod lanes;
pub mod minimum;
mod running_max;

use tt_cpu::Level;
use tt_formats::DataFormat;

use super::moves::{add_zero, move_datum};
use super::mvmul::{STEP, step};
use super::operand::{Operand, Phase, mask};
pub use lanes::Reduction;
pub use running_max::RunningMax;

use super::{Dst, DstFormat, MathConfig, Src};
use tt_tensix::regs::{FACE_DATUMS, FACE_SIDE, index};

/// The combination of datums in a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PoolOp {
    /// GAPOOL: sum of datums times scalers. An average is a sum with scaler 1/N.
    Sum,
    /// GMPOOL: the largest datum in the order of sign-magnitude words.
    Max,
}

/// The reduced dimension, in the LLK's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceDim {
    /// Each row to one datum; the results are column 0.
    Row,
    /// Each column to one datum; the results are row 0.
    Column,
    /// The tile to datum 0.
    Scalar,
}

/// Fills `dst` with its mode's most negative word.
///
/// The first tile of a maximum is compared with it.
///
/// The hardware does the same with rows that were not written since they were cleared.
pub fn clear_for_max(cfg: &MathConfig, dst: &mut Dst) {
    dst.fill(lowest(cfg));
}

fn lowest(cfg: &MathConfig) -> u32 {
    if cfg.dst.is_32_bit() { 0xffff_e000 } else { 0xffff_0000 }
}

/// Reduces one tile onto `dst`.
///
/// Zero or [`clear_for_max`] before the first tile, then what the tile before has left.
///
/// `data` lies in `SrcA`, `scaler` in `SrcB`, whose register formats may differ; of the scaler only row 0 of each face is
/// read. Of the result only column 0, row 0 or datum 0 is written; the packer's edge mask takes care of the rest.
///
/// # Panics
/// For 5-bit-exponent data: maximum, and row or scalar sums with a 32-bit `Dst`. Their bits are not known.
pub fn reduce(
    cfg: &MathConfig,
    scaler_format: DataFormat,
    (pool, dim): (PoolOp, ReduceDim),
    dst: &mut Dst,
    data: &Src,
    scaler: &Src,
) {
    reduce_at(Level::current(), cfg, scaler_format, (pool, dim), dst, data, scaler);
}

/// [`reduce`] as a CPU level does it.
///
/// The bits do not depend on the level.
///
/// # Panics
/// As [`reduce`].
pub fn reduce_at(
    level: Level,
    cfg: &MathConfig,
    scaler_format: DataFormat,
    (pool, dim): (PoolOp, ReduceDim),
    dst: &mut Dst,
    data: &Src,
    scaler: &Src,
) {
    require_known(cfg, pool, dim);
    if dim == ReduceDim::Scalar {
        // One step only is not shared by many results.
        reduce_scalar(cfg, scaler_format, pool, dim, dst, data, scaler);
    } else {
        Reduction::pool(cfg, scaler_format, (pool, dim), scaler).run(level, dst, data);
    }
}

/// Adds scaled row sums of `data` to column 0 of `dst`.
///
/// The other columns are not touched.
///
/// This is how rows are summed since ttnn 0.81: a product with a scaler tile whose row 0 became column 0 on unpack.
/// `data` lies in `SrcB`; row 0 of the faces 0 and 1 of `scaler`, in `SrcA`, holds the factors.
pub fn row_sum(cfg: &MathConfig, dst: &mut Dst, data: &Src, scaler: &Src) {
    row_sum_at(Level::current(), cfg, dst, data, scaler);
}

/// [`row_sum`] as a CPU level does it.
///
/// The bits do not depend on the level.
pub fn row_sum_at(level: Level, cfg: &MathConfig, dst: &mut Dst, data: &Src, scaler: &Src) {
    Reduction::row_sum(cfg, scaler).run(level, dst, data);
}

fn require_known(cfg: &MathConfig, pool: PoolOp, dim: ReduceDim) {
    let known = cfg.mode().e8 || pool == PoolOp::Sum && (dim == ReduceDim::Column || cfg.dst == DstFormat::Fp16);
    assert!(known, "reduction of 5-bit-exponent data that the specification does not cover: {pool:?} {dim:?}");
}

/// [`reduce`], datum by datum as the specification has it.
///
/// Every faster form returns these bits.
///
/// # Panics
/// As [`reduce`].
pub fn reduce_scalar(
    cfg: &MathConfig,
    scaler_format: DataFormat,
    pool: PoolOp,
    dim: ReduceDim,
    dst: &mut Dst,
    data: &Src,
    scaler: &Src,
) {
    require_known(cfg, pool, dim);
    let pooling = Pooling::new(cfg, pool, data, scaler, scaler_format);
    match dim {
        ReduceDim::Column => {
            for column in 0..2 * FACE_SIDE {
                let datum = &mut dst[index(0, column)];
                for face in [column / FACE_SIDE, column / FACE_SIDE + 2] {
                    *datum = pooling.pool(face, &pooling.column(face, column % FACE_SIDE), *datum);
                }
            }
        }
        ReduceDim::Row => {
            for row in 0..2 * FACE_SIDE {
                let datum = &mut dst[index(row, 0)];
                let left = row / FACE_SIDE * 2;
                for face in [left, left + 1] {
                    *datum = pooling.pool(face, &pooling.row(face, row % FACE_SIDE), *datum);
                }
                // The row of results becomes a column on a trip through SrcB, whose format cuts too.
                *datum = add_zero(cfg.mode(), move_datum(cfg, *datum) & mask(scaler_format));
            }
        }
        ReduceDim::Scalar => {
            let start = if pool == PoolOp::Max { lowest(cfg) } else { 0 };
            let sums: [Operand; STEP] = std::array::from_fn(|column| {
                let pool_face = |sum, face| pooling.pool(face, &pooling.column(face, column), sum);
                let sum = (0..4).fold(start, pool_face);
                Operand::decode(move_datum(cfg, sum) & mask(cfg.alu), cfg.mode().e8)
            });
            dst[0] = pooling.pool(3, &sums, dst[0]);
        }
    }
}

/// Decoded operands of one tile reduction.
struct Pooling<'a> {
    cfg: &'a MathConfig,
    pool: PoolOp,
    data: &'a Src,
    factors: [[Operand; STEP]; 4],
}

impl<'a> Pooling<'a> {
    fn new(cfg: &'a MathConfig, pool: PoolOp, data: &'a Src, scaler: &Src, scaler_format: DataFormat) -> Self {
        let e8 = cfg.mode().e8;
        let factors = std::array::from_fn(|face| {
            std::array::from_fn(|k| Operand::decode(scaler[face * FACE_DATUMS + k] & mask(scaler_format), e8))
        });
        Self { cfg, pool, data, factors }
    }

    fn operand(&self, face: usize, row: usize, column: usize) -> Operand {
        let word = self.data[face * FACE_DATUMS + row * FACE_SIDE + column];
        Operand::decode(word & mask(self.cfg.alu), self.cfg.mode().e8)
    }

    fn column(&self, face: usize, column: usize) -> [Operand; STEP] {
        std::array::from_fn(|k| self.operand(face, k, column))
    }

    fn row(&self, face: usize, row: usize) -> [Operand; STEP] {
        std::array::from_fn(|k| self.operand(face, row, k))
    }

    /// One pooling instruction's element: all phases before the next face, unlike a tile product.
    fn pool(&self, face: usize, data: &[Operand; STEP], datum: u32) -> u32 {
        let mode = self.cfg.mode();
        match self.pool {
            PoolOp::Sum => (0..self.cfg.fidelity.phases())
                .fold(datum, |datum, phase| step(mode, Phase::new(mode, phase), data, &self.factors[face], datum)),
            PoolOp::Max => {
                let start = if mode.dst32 { datum & 0xffff_e000 } else { datum };
                data.iter().fold(start, |largest, &x| {
                    let word = if x.exponent == 0 {
                        0
                    } else {
                        x.sign << 31 | (x.exponent as u32) << 23 | (x.significand & 1023) << 13
                    };
                    if order(word) > order(largest) { word } else { largest }
                })
            }
        }
    }
}

/// Position of a word in the total order that GMPOOL compares by: -0 below +0, NaN patterns as numbers.
fn order(word: u32) -> i32 {
    if word >> 31 == 1 { -((word & 0x7fff_ffff) as i32) - 1 } else { word as i32 }
}
