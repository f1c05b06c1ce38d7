//! Hyperbolic tangent. Source: listings `tanh/*`.
//!
//! Domain: all words. 16-bit `Dst`: an odd polynomial of degree 6 in |x|, at most 1. 32-bit `Dst`:
//! (e^2x - 1) / (e^2x + 1) with a correction of the quotient; |x| < 2^-12 stays. Approximate: straight lines.
//!
//! `softcap` scales the polynomial: beta tanh(x / beta), rounded once, in both widths. Only Blackhole has it.

use super::blocks::{Blocks, MINUS_LN2, is_blackhole, refined_reciprocal};
use crate::arith::lane::{
    HALF, ONE, add, arecip, exp_biased, fabs, flipsign, iadd, ilt, isub, lut16, mad, magnitude, min, mul, polynomial,
    round_u8, select, setexp, setsign, sm2f, splat, store_bf16, store_f32, store_rounded, sub,
};
use crate::exec::functions;

/// 2 / ln 2
pub const TWO_OVER_LN2: u32 = 0x4038_aa3b;
/// Half-words of the lines of tanh(|x|).
const SLOPES: [u32; 3] = [0x389c_3bb2, 0x2e2c_3498, 0x7c00_2900];
const INTERCEPTS: [u32; 3] = [0x322c_7c00, 0x3a25_37b6, 0x3c00_3b10];
/// Exponent field of 2^-12.
pub const SMALL: u32 = 115;
/// Coefficients of (e^r - 1 - r) / r^2.
pub const EXPM1_SERIES: [u32; 6] = [0x394f_0000, 0x3ab6_a000, 0x3c08_8000, 0x3d2a_aacf, 0x3e2a_aaae, HALF];
/// Constant minus the word of x: estimate of -1 / x.
pub const RECIPROCAL_ESTIMATE: u32 = 0xfef3_0000;

#[inline(always)]
pub fn tanh_bf16<V: Blocks>(x: V) -> V {
    let distance = fabs(x);
    let slope = polynomial(distance, [0x3bc0_919e, 0xbd88_7f48, 0x3e90_5782, 0xbefa_66db]);
    let slope = mad(mad(slope, distance, 0x3cfd_1ca0), distance, 0x3f7f_bec0);
    setsign(min(mul(slope, distance), ONE), x)
}

#[inline(always)]
pub fn tanh_f32<V: Blocks>(x: V) -> V {
    let power = round_u8(mul(x, TWO_OVER_LN2));
    let double = magnitude(add(x, x));
    let rest = mad(sm2f(power), MINUS_LN2, double);
    let series = polynomial(rest, EXPM1_SERIES);
    let small = mad(series, mul(rest, rest), rest);
    // Half of e^2x - 1, and half of e^2x + 1.
    let scale = setexp(splat::<V>(0), iadd(power, 126));
    let above = mad(small, scale, sub(scale, HALF));
    let ratio = quotient(above, add(above, ONE));
    // One, or NaN for NaN.
    let limit = add(mul(isub(double, 1), 0), ONE);
    let value = select(ilt(exp_biased(x), SMALL), x, ratio);
    setsign(select(ilt(power, 61), value, limit), x)
}

/// The quotient of numbers of the same sign, whose own sign may be wrong: corrected once by what it leaves.
#[inline(always)]
fn quotient<V: Blocks>(above: V, below: V) -> V {
    if is_blackhole::<V>() {
        let y = refined_reciprocal(below, arecip(below));
        let quotient = mul(above, y);
        return mad(mad(flipsign(below), quotient, above), y, quotient);
    }
    // y is -1 / below.
    let estimate = isub(splat::<V>(RECIPROCAL_ESTIMATE), below);
    let error = mad(below, estimate, ONE);
    let y = mad(estimate, mad(error, error, error), estimate);
    let quotient = mul(above, y);
    mad(mad(below, quotient, above), y, quotient)
}

#[inline(always)]
fn softcap<V: Blocks>(x: V, beta: u32, inverse: u32) -> V {
    mul(tanh_bf16(mul(x, inverse)), beta)
}

#[inline(always)]
fn approximate<V: Blocks>(x: V) -> V {
    setsign(lut16(SLOPES, INTERCEPTS, x), x)
}

functions! {
    "tanh", "accurate": |x| store_rounded(tanh_bf16(x)), |x| store_f32(Blocks::tanh_f32(x));
    "tanh", "approx_lut": |x| store_bf16(approximate(x)), |x| store_f32(approximate(x));
    "softcap", "default" for Blackhole [beta, inverse]: |x| store_rounded(softcap(x, beta, inverse)),
        |x| store_f32(softcap(x, beta, inverse));
}
