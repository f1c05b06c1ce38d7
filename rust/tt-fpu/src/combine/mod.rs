//! The accumulate step that every arithmetic instruction of the FPU ends with.
//!
//! `docs/chip/numerics.md` section 5.

pub(crate) mod lanes;

use tt_formats::{Arch, Blackhole, Generation, Wormhole, by_generation};

/// The flags of the accumulate step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mode {
    /// `Dst` holds FP32; otherwise BF16 or FP16, by the operand family.
    pub dst32: bool,
    /// Operands have 8-bit exponents.
    pub e8: bool,
    /// Generation whose rules apply.
    pub arch: Arch,
}

/// Rules of the accumulate step that differ between generations.
pub(crate) trait Rules: Generation {
    /// In a 32-bit `Dst`, near-total cancellation comes out as -2^(x + 4).
    const MINUS_ONE_BUG: bool;
}

impl Rules for Wormhole {
    const MINUS_ONE_BUG: bool = true;
}

impl Rules for Blackhole {
    const MINUS_ONE_BUG: bool = false;
}

/// A signed term `significand * 2^(exponent - 150)` in FP32 bias; the significand is a multiple of 2^13 below 2^28.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub significand: i32,
    pub exponent: i32,
}

impl Term {
    pub const NONE: Self = Self { significand: 0, exponent: 0 };
}

/// Right shift of a magnitude to nearest; ties away from zero, or toward it if `toward_zero` is 1.
#[inline(always)]
fn shift_nearest(magnitude: u32, shift: i32, toward_zero: u32) -> u32 {
    match shift {
        0 => magnitude,
        1..=30 => (magnitude + (1 << (shift - 1)) - toward_zero) >> shift,
        _ => 0,
    }
}

/// Adds two terms to a `Dst` word and rounds.
#[inline(always)]
pub(crate) fn combine(mode: Mode, terms: [Term; 2], dst: u32) -> u32 {
    let dst_exponent = ((dst >> 23) & 255) as i32;
    let x = terms[0].exponent.max(terms[1].exponent).max(dst_exponent);
    if x <= 0 {
        return 0;
    }
    let align = |term: Term| {
        // Ties go toward +infinity, which for a negative magnitude is toward zero.
        let negative = u32::from(term.significand < 0);
        let mut magnitude = shift_nearest(term.significand.unsigned_abs(), x - term.exponent, negative);
        if !mode.dst32 {
            magnitude = (magnitude + (1 << 12) - negative) >> 13 << 13;
        }
        if negative == 1 { -(magnitude as i32) } else { magnitude as i32 }
    };
    let mut old = if dst_exponent == 0 { 0 } else { 1 << 23 | dst & 0x7f_ffff };
    old = shift_nearest(old, x - dst_exponent, 0);
    if !mode.dst32 {
        old = (old + (1 << 12)) >> 13 << 13;
    }
    let old = if dst >> 31 == 1 { -(old as i32) } else { old as i32 };
    let total = align(terms[0]) + align(terms[1]) + old;
    round_total(mode, total, x)
}

/// Normalises `total` on the grid of exponent `x` to a `Dst` word.
#[inline(always)]
fn round_total(mode: Mode, total: i32, x: i32) -> u32 {
    if total == 0 {
        return 0;
    }
    let sign = u32::from(total < 0);
    let magnitude = total.unsigned_abs();
    let mut excess = 8 - magnitude.leading_zeros() as i32;
    if total == -1 && by_generation!(mode.arch, G => G::MINUS_ONE_BUG) {
        excess = 4;
    }
    let drop = if mode.dst32 {
        0
    } else if mode.e8 {
        16
    } else {
        13
    };
    let mut exponent = x + excess;
    let shift = excess + drop;
    let rounded = if shift > 0 { (magnitude + (1 << (shift - 1))) >> shift } else { magnitude << -shift };
    let significand = rounded << drop;
    exponent += (significand >> 24) as i32;
    let mantissa = significand & 0x7f_ffff;
    if exponent <= 0 {
        0
    } else if mode.dst32 || mode.e8 {
        if exponent >= 255 { sign << 31 | 255 << 23 } else { sign << 31 | (exponent as u32) << 23 | mantissa }
    } else if exponent >= 32 {
        sign << 31 | 31 << 23 | 0x3ff << 13
    } else {
        sign << 31 | (exponent as u32) << 23 | mantissa
    }
}
