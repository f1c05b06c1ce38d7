//! Integer products and sums: INT8 and UINT8 operands, INT32 `Dst`.
//!
//! `docs/chip/numerics.md` section 12.

use super::op::{Broadcast, EltwiseOp};
use super::{Dst, MathConfig, Src};
use tt_tensix::regs::{FACE_SIDE, index, position};

/// Magnitude and sign of an integer `Src` word.
#[inline(always)]
fn decode(word: u32) -> (i64, bool) {
    let exponent = word >> 10 & 255;
    let magnitude = if exponent == 0 { 0 } else { word & 1023 };
    (i64::from(magnitude), word >> 18 & 1 == 1)
}

#[inline(always)]
fn signed((magnitude, negative): (i64, bool)) -> i64 {
    if negative { -magnitude } else { magnitude }
}

/// The bits of both operands that a phase multiplies.
#[inline(always)]
fn phase_masks(phase: u32) -> (i64, i64) {
    (if phase & 1 == 0 { 0x0e0 } else { 0x01f }, if phase >> 1 == 0 { 0x3f0 } else { 0x00f })
}

/// Adds to a sign-magnitude `Dst` word, saturating at plus and minus 2^31 - 1. Zero is +0.
#[inline(always)]
fn accumulate(datum: u32, addend: i64) -> u32 {
    let old = signed((i64::from(datum & 0x7fff_ffff), datum >> 31 == 1));
    let total = (old + addend).clamp(-0x7fff_ffff, 0x7fff_ffff);
    u32::from(total < 0) << 31 | total.unsigned_abs() as u32
}

#[inline(always)]
fn product(a: u32, b: u32, phase: u32) -> i64 {
    let ((magnitude_a, negative_a), (magnitude_b, negative_b)) = (decode(a), decode(b));
    let (mask_a, mask_b) = phase_masks(phase);
    signed(((magnitude_a & mask_a) * (magnitude_b & mask_b), negative_a != negative_b))
}

/// Integer form of [`super::matmul_tile`].
pub(super) fn matmul_tile(cfg: &MathConfig, dst: &mut Dst, in0: &Src, in1: &Src) {
    for phase in 0..cfg.fidelity.phases() {
        for half in [0, FACE_SIDE] {
            for (i, datum) in dst.iter_mut().enumerate() {
                let (row, column) = position(i);
                let term = |k| product(in1[index(k, column)], in0[index(row, k)], phase);
                *datum = accumulate(*datum, (half..half + FACE_SIDE).map(term).sum());
            }
        }
    }
}

/// Integer form of [`super::eltwise`].
pub(super) fn eltwise(cfg: &MathConfig, op: EltwiseOp, broadcast: Broadcast, dst: &mut Dst, a: &Src, b: &Src) {
    for (i, datum) in dst.iter_mut().enumerate() {
        let (x, y) = (a[i], b[broadcast.source(i)]);
        *datum = match op {
            EltwiseOp::Add => accumulate(*datum, signed(decode(x)) + signed(decode(y))),
            EltwiseOp::Sub => accumulate(*datum, signed(decode(x)) - signed(decode(y))),
            EltwiseOp::Mul => {
                (0..cfg.fidelity.phases()).fold(*datum, |sum, phase| accumulate(sum, product(x, y, phase)))
            }
        };
    }
}

/// Integer form of [`super::copy_to_dst`].
pub(super) fn copy_to_dst(dst: &mut Dst, a: &Src) {
    for (datum, &word) in dst.iter_mut().zip(a) {
        *datum = accumulate(0, signed(decode(word)));
    }
}
