//! Hyperbolic sine and cosine. Source: listings `sinh`, `cosh`.
//!
//! Domain: all words. Half of e^|x| (less 1 for the sine) by reduction with ln 2, then the part of e^-|x| by a
//! reciprocal where it still counts. Infinities and NaN stay.

use super::blocks::{Blocks, EXP_TAIL, INVERSE_LN2, MINUS_LN2, reduce_by_ln2};
use crate::arith::lane::{
    HALF, INFINITY, ONE, add, exp_unbiased, iadd, ilt, mad, magnitude, mul, polynomial, round_u8, select, setsign, shl,
    sm2f, store_f32, store_rounded, sub,
};
use crate::exec::functions;

/// 0.25
pub const QUARTER: u32 = 0x3e80_0000;
/// 0.125
const EIGHTH: u32 = 0x3e00_0000;
/// 4.0
pub const FOUR: u32 = 0x4080_0000;

/// sinh from `small` = e^r - 1, where |x| = power * ln 2 + r.
#[inline(always)]
fn sinh<V: Blocks>(x: V, power: V, small: V, refine: bool) -> V {
    let scale = iadd(shl(power, 23), QUARTER);
    let above = mad(small, scale, sub(scale, QUARTER));
    let quarter = select(ilt(power, 130), above, mul(magnitude(x), INFINITY));
    let exponent = exp_unbiased(quarter);
    let half = select(ilt(exponent, -27_i32 as u32), x, add(quarter, quarter));
    let rest = mad(half, mad(quarter, FOUR, ONE).reciprocal_estimate(refine), half);
    let counts = !ilt(exponent, -27_i32 as u32) & ilt(exponent, 23);
    setsign(select(counts, rest, half), x)
}

#[inline(always)]
fn sinh_16<V: Blocks>(x: V) -> V {
    let power = round_u8(mul(x, INVERSE_LN2));
    let rest = mad(sm2f(power), MINUS_LN2, magnitude(x));
    let series = polynomial(rest, [0x3c09_0000, 0x3d2b_2000, 0x3e2a_a000, HALF]);
    store_rounded(sinh(x, power, mad(series, mul(rest, rest), rest), false))
}

/// Coefficients of (e^r - 1 - r) / r^2.
pub const EXPM1_SERIES: [u32; 6] = [0x394f_0000, 0x3ab6_98f2, 0x3c08_88fb, 0x3d2a_aacf, 0x3e2a_aaae, 0x3eff_ffff];

#[inline(always)]
fn sinh_32<V: Blocks>(x: V) -> V {
    let power = round_u8(mul(x, INVERSE_LN2));
    let rest = reduce_by_ln2(magnitude(x), sm2f(power));
    let series = polynomial(rest, EXPM1_SERIES);
    store_f32(sinh(x, power, mad(series, mul(rest, rest), rest), true))
}

/// cosh from `mantissa` = e^r.
#[inline(always)]
pub fn cosh<V: Blocks>(distance: V, power: V, mantissa: V, refine: bool) -> V {
    let exponent = iadd(power, 125);
    let quarter = select(ilt(exponent, 255), mul(mantissa, shl(exponent, 23)), mul(distance, INFINITY));
    let half = add(quarter, quarter);
    let rest = add(half, mul(quarter.reciprocal_estimate(refine), EIGHTH));
    select(ilt(exp_unbiased(quarter), 24), rest, half)
}

#[inline(always)]
fn cosh_16<V: Blocks>(x: V) -> V {
    let distance = magnitude(x);
    let power = round_u8(mul(distance, INVERSE_LN2));
    let rest = mad(sm2f(power), MINUS_LN2, distance);
    let mantissa = polynomial(rest, [0x3d1f_3dad, 0x3e2c_3607, 0x3f00_07ff, 0x3f7f_fd9b, ONE]);
    store_rounded(cosh(distance, power, mantissa, false))
}

#[inline(always)]
fn cosh_32<V: Blocks>(x: V) -> V {
    let distance = magnitude(x);
    let power = round_u8(mul(distance, INVERSE_LN2));
    let rest = reduce_by_ln2(distance, sm2f(power));
    store_f32(cosh(distance, power, mad(polynomial(rest, EXP_TAIL), rest, ONE), true))
}

functions! {
    "sinh", "default": sinh_16, sinh_32, speculative = speculative::hyperbolic::sinh_32;
    "cosh", "default": cosh_16, cosh_32, speculative = speculative::hyperbolic::cosh_32;
}
