//! Exponential linear units. Source: listings `elu`, `celu`, `selu`, `softplus`.
//!
//! Domain: all words; the exponential's argument is held to -87 or above. BF16 tensors use a shorter polynomial.
//! `celu` takes alpha and its inverse; `softplus` beta, its inverse and the threshold above which it is the identity.

use super::blocks::INVERSE_LN2;
use crate::arith::lane::{
    HALF, Lane, MINUS_ONE, ONE, ROUNDER, ZERO, add, exp_biased, greater, iadd, ilt, is_negative, isub, mad, magnitude,
    max, mul, polynomial, polynomial_from, round_bf16, select, setexp, splat, store_bf16, store_f32, store_rounded,
    sub,
};
use crate::exec::functions;

/// -87.0
const LOWEST: u32 = 0xc2ae_0000;
/// 5.0: from here on softplus is an exponential, or nothing.
const FAR: u32 = 0x40a0_0000;
/// Coefficients of (e^r - 1) / r.
const SERIES_16: [u32; 5] = [0x3c09_37d9, 0x3d2b_85d1, 0x3e2a_aa0e, 0x3eff_ff2d, ONE];
const SERIES_32: [u32; 6] = [0x3ab6_d3ae, 0x3c09_1ec3, 0x3d2a_aa38, 0x3e2a_aa3e, HALF, ONE];

/// Coefficients of e^r.
const EXP_SERIES: [u32; 8] = [0x3950_0d01, 0x3ab6_0b61, 0x3c08_8889, 0x3d2a_aaab, 0x3e2a_aaab, HALF, ONE, ONE];

/// A number rounded to an integer, left in the low bits of a word, and x less that many times ln 2.
#[inline(always)]
fn reduce<V: Lane>(x: V, rounded: V) -> V {
    let turns = sub(rounded, ROUNDER);
    mad(turns, 0xb805_fdf4, mad(turns, 0xbf31_7000, x))
}

/// e^x, `turns` being x / ln 2.
///
/// Mantissa, and the exponent field that belongs to it, which may be out of range.
#[inline(always)]
pub fn reduced_exp<V: Lane>(x: V, turns: V) -> (V, V) {
    scaled_exp(x, add(turns, ROUNDER), EXP_SERIES)
}

/// Same as [`reduced_exp`], with another polynomial and rounded quotient.
#[inline(always)]
pub fn scaled_exp<V: Lane, const N: usize>(x: V, rounded: V, series: [u32; N]) -> (V, V) {
    let mantissa = polynomial(reduce(x, rounded), series);
    let exponent = iadd(exp_biased(mantissa), isub(rounded, ROUNDER));
    (mantissa, exponent)
}

/// e^x - 1 for negative x.
#[inline(always)]
fn expm1<V: Lane, const N: usize>(x: V, series: [u32; N]) -> V {
    let x = max(x, LOWEST);
    let rounded = mad(x, INVERSE_LN2, ROUNDER);
    let rest = reduce(x, rounded);
    // The low byte of the sum is the rounded power plus the bias.
    let scale = setexp(splat::<V>(ONE), iadd(rounded, 0xb4c0_007f));
    mad(mul(rest, polynomial(rest, series)), scale, add(scale, MINUS_ONE))
}

/// x, or for negative x `slope` times e^(inner x) - 1.
#[inline(always)]
fn unit<V: Lane, const N: usize>(x: V, positive: V, inner: V, slope: u32, series: [u32; N]) -> V {
    select(is_negative(x), mul(expm1(inner, series), slope), positive)
}

#[inline(always)]
fn softplus_16<V: Lane>(x: V, beta: u32, inverse: u32, threshold: u32) -> V {
    const SERIES: [u32; 7] =
        [0xb803_2ba1, 0x3a03_7916, 0xbaf4_28f0, 0xbc55_0067, 0x3e12_37cb, 0xbf02_6312, 0x3f31_b9b4];
    let scaled = scale(x, beta);
    let distance = magnitude(scaled);
    let tail = select(greater(distance, FAR), ZERO, polynomial(distance, SERIES));
    let value = store_bf16(round_bf16(scale(add(max(scaled, ZERO), tail), inverse)));
    select(greater(scaled, threshold), x, value)
}

/// x times a factor; a factor of 1 is no multiplication.
#[inline(always)]
fn scale<V: Lane>(x: V, factor: u32) -> V {
    if factor == ONE { x } else { mul(x, factor) }
}

#[inline(always)]
fn softplus_32<V: Lane>(x: V, beta: u32, inverse: u32, threshold: u32) -> V {
    const SERIES: [u32; 9] = [
        0xb501_8234,
        0x37b2_8ead,
        0xb9b4_2331,
        0x3b32_d951,
        0xbc2c_7f34,
        0x3bb9_f886,
        0x3df9_9391,
        0xbeff_9f54,
        0x3f31_6f5e,
    ];
    let scaled = scale(x, beta);
    let distance = magnitude(scaled);
    // ln(1 + e) by three terms.
    let power = small_exp(crate::arith::lane::or(distance, 0x8000_0000));
    let far = mul(power, mad(power, mad(power, 0x3eaa_aaab, 0xbf00_0000), ONE));
    let [c8, c7, c6, c5, c4, c3, lower @ ..] = SERIES;
    let upper = mad(polynomial(distance, [c8, c7, c6, c5, c4]), distance, c3);
    let tail = select(greater(distance, FAR), far, polynomial_from(upper, distance, lower));
    let value = store_f32(scale(add(max(scaled, ZERO), tail), inverse));
    select(greater(scaled, threshold), x, value)
}

/// e^x for x below -5; 0 where the exponent runs out.
#[inline(always)]
fn small_exp<V: Lane>(x: V) -> V {
    let (mantissa, exponent) = scaled_exp(x, mad(x, INVERSE_LN2, ROUNDER), EXP_SERIES);
    select(ilt(exponent, 1), ZERO, setexp(mantissa, exponent))
}

functions! {
    "elu", "default" [alpha]: |x| store_rounded(unit(x, x, x, alpha, SERIES_16)),
        |x| store_f32(unit(x, x, x, alpha, SERIES_32));
    "celu", "default" [alpha, inverse]: |x| store_rounded(unit(x, x, scale(x, inverse), alpha, SERIES_16)),
        |x| store_f32(unit(x, x, scale(x, inverse), alpha, SERIES_32));
    "selu", "default" [scale, slope]: |x| store_rounded(unit(x, mul(x, scale), x, slope, SERIES_16)),
        |x| store_f32(unit(x, mul(x, scale), x, slope, SERIES_32));
    "softplus", "default" [beta, inverse, threshold]: |x| softplus_16(x, beta, inverse, threshold),
        |x| softplus_32(x, beta, inverse, threshold);
}
