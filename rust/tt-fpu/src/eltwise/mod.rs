//! ELWADD, ELWSUB, ELWMUL on a tile. `docs/chip/numerics.md` section 7.
//!
//! [`eltwise_scalar`] is the definition; [`lanes`] computes a vector of datums at a time, [`bf16_lanes`] the same of datums
//! that have 16 bits everywhere, [`running`] sums of many tiles, and [`exact`] what the host's
//! FP32 arithmetic gives the same bits for.

pub mod bf16_lanes;
pub mod exact;
pub(super) mod lanes;
pub mod running;

use tt_cpu::Level;

use super::combine::{Mode, Term, combine};
use super::op::{Broadcast, EltwiseOp};
use super::operand::{Operand, Phase, mask};
use super::{Dst, MathConfig, Src, integer};
use tt_cpu::vector::has_registers;

/// Applies `op` to `a` in `SrcA` and `b` in `SrcB`.
///
/// Without `accumulate` the old contents of `dst` count as zero.
pub fn eltwise(
    cfg: &MathConfig,
    op: EltwiseOp,
    broadcast: Broadcast,
    accumulate: bool,
    dst: &mut Dst,
    a: &Src,
    b: &Src,
) {
    eltwise_at(Level::current(), cfg, (op, broadcast), accumulate, dst, a, b);
}

/// [`eltwise`] as a CPU level does it.
///
/// The bits do not depend on the level.
pub fn eltwise_at(
    level: Level,
    cfg: &MathConfig,
    (op, broadcast): (EltwiseOp, Broadcast),
    accumulate: bool,
    dst: &mut Dst,
    a: &Src,
    b: &Src,
) {
    if cfg.is_integer() || !has_registers(level) {
        eltwise_scalar(cfg, op, broadcast, accumulate, dst, a, b);
        return;
    }
    let mut spread;
    let b = if broadcast == Broadcast::None {
        b
    } else {
        spread = *b;
        broadcast.spread(&mut spread);
        &spread
    };
    let exact = |dst: &mut Dst| {
        exact::eltwise(level, cfg, op, exact::Results::Words(dst), exact::Datums::Words(a), exact::Second::Words(b))
    };
    if accumulate || !exact(dst) {
        lanes::eltwise(level, cfg, op, accumulate, dst, a, b);
    }
}

/// [`eltwise`], datum by datum as the specification has it.
///
/// Every faster form returns these bits.
pub fn eltwise_scalar(
    cfg: &MathConfig,
    op: EltwiseOp,
    broadcast: Broadcast,
    accumulate: bool,
    dst: &mut Dst,
    a: &Src,
    b: &Src,
) {
    if !accumulate {
        dst.fill(0);
    }
    if cfg.is_integer() {
        integer::eltwise(cfg, op, broadcast, dst, a, b);
        return;
    }
    let mode = cfg.mode();
    let mask = mask(cfg.alu);
    if op == EltwiseOp::Mul {
        for phase in 0..cfg.fidelity.phases() {
            let phase = Phase::new(mode, phase);
            for (i, datum) in dst.iter_mut().enumerate() {
                let x = Operand::decode(a[i] & mask, mode.e8);
                let y = Operand::decode(b[broadcast.source(i)], mode.e8);
                *datum = multiply(mode, phase, x, y, *datum);
            }
        }
        return;
    }
    for (i, datum) in dst.iter_mut().enumerate() {
        let x = Operand::decode(a[i] & mask, mode.e8);
        let mut y = Operand::decode(b[broadcast.source(i)], mode.e8);
        y.sign ^= u32::from(op == EltwiseOp::Sub);
        *datum = add(mode, x, y, *datum);
    }
}

/// ELWMUL of one datum of `SrcA` and one of `SrcB` onto zero.
///
/// What [`eltwise_scalar`] leaves in `Dst`.
///
/// # Panics
/// If the operands are integers.
pub fn multiply_datum(cfg: &MathConfig, a: u32, b: u32) -> u32 {
    assert!(!cfg.is_integer(), "integers in {cfg:?}");
    let mode = cfg.mode();
    let (x, y) = (Operand::decode(a & mask(cfg.alu), mode.e8), Operand::decode(b, mode.e8));
    (0..cfg.fidelity.phases()).fold(0, |dst, phase| multiply(mode, Phase::new(mode, phase), x, y, dst))
}

/// One phase of ELWMUL. Unlike in MVMUL, a product below the smallest exponent is dropped here.
#[inline(always)]
fn multiply(mode: Mode, phase: Phase, a: Operand, b: Operand, dst: u32) -> u32 {
    let exponent = a.exponent + b.exponent + phase.adjust;
    let term = if a.exponent == 0 || b.exponent == 0 || exponent <= 0 {
        Term { significand: 0, exponent: phase.zero_exponent() }
    } else {
        let product = ((phase.part_a(a.significand) * phase.part_b(b.significand)) << 13) as i32;
        Term { significand: if a.sign == b.sign { product } else { -product }, exponent }
    };
    combine(mode, [term, Term::NONE], dst)
}

/// ELWADD: the smaller operand is rounded to the 11-bit grid of the larger, then the sum goes to `Dst`.
#[inline(always)]
pub(crate) fn add(mode: Mode, a: Operand, b: Operand, dst: u32) -> u32 {
    let order = |x: Operand| if x.exponent == 0 { 0 } else { x.exponent << 10 | (x.significand & 1023) as i32 };
    let (large, small) = if order(a) < order(b) { (b, a) } else { (a, b) };
    let magnitude = |x: Operand| if x.exponent == 0 { 0 } else { x.significand };
    let shift = large.exponent - small.exponent;
    let aligned = match shift {
        0 => magnitude(small),
        1..12 => (magnitude(small) + (1 << (shift - 1))) >> shift,
        _ => 0,
    };
    let sum = if large.sign == small.sign { magnitude(large) + aligned } else { magnitude(large) - aligned };
    let sum = (sum << 13) as i32;
    let exponent = match (mode.e8 || !mode.dst32, large.exponent) {
        (true, exponent) => exponent,
        (false, 0) => 97,
        (false, exponent) => exponent + 112,
    };
    let significand = if large.sign == 1 { -sum } else { sum };
    combine(mode, [Term { significand, exponent }, Term::NONE], dst)
}
