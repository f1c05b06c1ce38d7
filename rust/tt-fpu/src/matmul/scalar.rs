//! The definition: one element after the other.

use crate::mvmul::{STEP, step};
use crate::operand::{Operand, Phase, mask};
use crate::{Dst, MathConfig, Src, integer};
use tt_tensix::regs::{FACE_DATUMS, FACE_SIDE, TILE_DATUMS, index, position};

/// [`super::matmul_tile`], element by element as the specification has it.
///
/// Every faster form returns these bits.
pub fn matmul_tile_scalar(cfg: &MathConfig, dst: &mut Dst, in0: &Src, in1: &Src) {
    if cfg.is_integer() {
        integer::matmul_tile(cfg, dst, in0, in1);
        return;
    }
    let mode = cfg.mode();
    let rows = rows_of(in0, mode.e8);
    let columns = columns_of(in1, mask(cfg.alu), mode.e8);
    for phase in 0..cfg.fidelity.phases() {
        let phase = Phase::new(mode, phase);
        for half in 0..2 {
            for (i, datum) in dst.iter_mut().enumerate() {
                let (row, column) = position(i);
                *datum = step(mode, phase, &columns[half][column], &rows[half][row], *datum);
            }
        }
    }
}

/// [`crate::row_sum`], element by element.
pub fn row_sum_scalar(cfg: &MathConfig, dst: &mut Dst, data: &Src, scaler: &Src) {
    let mode = cfg.mode();
    let rows = rows_of(data, mode.e8);
    let factor =
        |half: usize| std::array::from_fn(|k| Operand::decode(scaler[half * FACE_DATUMS + k] & mask(cfg.alu), mode.e8));
    let factors: [[Operand; STEP]; 2] = [factor(0), factor(1)];
    for phase in 0..cfg.fidelity.phases() {
        let phase = Phase::new(mode, phase);
        for half in 0..2 {
            for row in 0..2 * FACE_SIDE {
                let datum = &mut dst[index(row, 0)];
                *datum = step(mode, phase, &factors[half], &rows[half][row], *datum);
            }
        }
    }
}

/// Operands by half of K and position in the other dimension.
type Lines = [[[Operand; STEP]; 2 * FACE_SIDE]; 2];

fn rows_of(tile: &[u32; TILE_DATUMS], e8: bool) -> Lines {
    std::array::from_fn(|half| {
        std::array::from_fn(|row| std::array::from_fn(|k| Operand::decode(tile[index(row, half * FACE_SIDE + k)], e8)))
    })
}

fn columns_of(tile: &[u32; TILE_DATUMS], mask: u32, e8: bool) -> Lines {
    std::array::from_fn(|half| {
        std::array::from_fn(|column| {
            std::array::from_fn(|k| Operand::decode(tile[index(half * FACE_SIDE + k, column)] & mask, e8))
        })
    })
}
