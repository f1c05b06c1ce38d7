//! Hyperbolic tangent. Source: listings `tanh/*`.
//!
//! Domain: all words. 16-bit `Dst`: an odd polynomial of degree 6 in |x|, at most 1. 32-bit `Dst`:
//! (e^2x - 1) / (e^2x + 1) with a correction of the quotient; |x| < 2^-12 stays. Approximate: straight lines.
//!
//! `softcap` scales the polynomial: beta tanh(x / beta), rounded once. No listing has it: it is how the sources of the
//! official kernel read, which has the polynomial in both widths.

use super::blocks::MINUS_LN2;
use super::lane::{
    HALF, ONE, Word, add, exp_biased, fabs, general, iadd, ilt, isub, lut16, mad, magnitude, min, mul,
    ordinary_polynomial, polynomial, residual, round_u8, select, setexp, setsign, sm2f, splat, store_bf16, store_f32,
    store_rounded, sub,
};
use super::run::functions;
use super::series::is_ordinary;

/// 2 / ln 2
const TWO_OVER_LN2: u32 = 0x4038_aa3b;
/// Half-words of the lines of tanh(|x|).
const SLOPES: [u32; 3] = [0x389c_3bb2, 0x2e2c_3498, 0x7c00_2900];
const INTERCEPTS: [u32; 3] = [0x322c_7c00, 0x3a25_37b6, 0x3c00_3b10];
/// Exponent field of 2^-12.
const SMALL: u32 = 115;

#[inline(always)]
pub fn tanh_bf16<V: Word>(x: V) -> V {
    let distance = fabs(x);
    let slope = polynomial(distance, [0x3bc0_919e, 0xbd88_7f48, 0x3e90_5782, 0xbefa_66db]);
    let slope = general(general(slope, distance, 0x3cfd_1ca0), distance, 0x3f7f_bec0);
    setsign(min(mul(slope, distance), ONE), x)
}

#[inline(always)]
pub fn tanh_f32<V: Word>(x: V) -> V {
    const SERIES: [u32; 6] = [0x394f_0000, 0x3ab6_a000, 0x3c08_8000, 0x3d2a_aacf, 0x3e2a_aaae, HALF];
    const _: () = assert!(is_ordinary(&SERIES, -0.36, 0.36));
    let power = round_u8(mul(x, TWO_OVER_LN2));
    let double = magnitude(add(x, x));
    // What counts below is an argument from 2^-12 on, and a power up to 60. So the rest is nothing or above 2^-36,
    // e^r - 1 is between 0.8 r and 1.2 r, and no number is near the ends of the range.
    let rest = sm2f(power).remainder(MINUS_LN2, double);
    let series = ordinary_polynomial(rest, SERIES);
    let small = series.ordinary(rest.surely(-36, 0).times(rest.surely(-36, 0)), rest).surely(-37, 0);
    // Half of e^2x - 1, and half of e^2x + 1.
    let scale = setexp(splat::<V>(0), iadd(power, 126));
    let above = small.surely_scaled(scale, sub(scale.surely(-1, 62), HALF)).surely(-40, 62);
    let below = add(above, ONE).surely(-1, 63);
    // y is -1 / below, the quotient is corrected once by what it leaves. The guess is 5.1% off at most.
    let guess = isub(splat::<V>(0xfef3_0000), below).surely(-64, 2);
    let error = below.residual_of_one(guess);
    let y = guess.ordinary(error.ordinary(error, error), guess).surely(-64, 2);
    let quotient = mul(above, y);
    let ratio = mad(residual(below, quotient, above), y, quotient);
    // One, or NaN for NaN.
    let limit = add(mul(isub(double, 1), 0), ONE);
    let value = select(ilt(exp_biased(x), SMALL), x, ratio);
    setsign(select(ilt(power, 61), value, limit), x)
}

#[inline(always)]
fn softcap<V: Word>(x: V, beta: u32, inverse: u32) -> V {
    mul(tanh_bf16(mul(x, inverse)), beta)
}

#[inline(always)]
fn approximate<V: Word>(x: V) -> V {
    setsign(lut16(SLOPES, INTERCEPTS, x), x)
}

functions! {
    "tanh", "accurate": |x| store_rounded(tanh_bf16(x)), |x| store_f32(tanh_f32(x));
    "tanh", "approx_lut": |x| store_bf16(approximate(x)), |x| store_f32(approximate(x));
    "softcap", "default" [beta, inverse]: |x| store_rounded(softcap(x, beta, inverse)),
        |x| store_f32(softcap(x, beta, inverse));
}
