//! e^x. Source: listings `exp/*`.
//!
//! Domain: all words. Accurate: 21 bits in 16-bit `Dst`, FP32 otherwise; results above the range are infinity,
//! below it +0, NaN stays NaN in 32-bit `Dst`. Approximate: the exponent field and the mantissa come from one fixed-point
//! product, about 3 % off; `clampneg` holds the argument at -88.5 or above, `noclamp` lets it run into negative words.

use super::blocks::{BIAS, INVERSE_LN2, MAX_EXPONENT, exp_f32, exp21};
use super::lane::{mad, max, min, round_bf16, round_sm16, round_u16, setsign, store_bf16, store_f32};
use super::run::{Function, functions};

/// Lowest coefficient of the mantissa polynomial in the exponential tile kernel.
const CONSTANT: u32 = 0x3f80_4000;
/// 256 / ln 2, slope of the fast form.
const SLOPE: u32 = 0x43b8_aa3b;
/// Offset of the fast form.
const OFFSET: u32 = 0x46fd_e9a3;
/// -88.5
const LOWEST: u32 = 0xc2b1_0000;

#[inline(always)]
fn accurate_16(x: u32) -> u32 {
    let z = min(max(0, mad(x, INVERSE_LN2, BIAS)), MAX_EXPONENT);
    store_bf16(round_bf16(exp21(z, CONSTANT)))
}

#[inline(always)]
fn accurate_noclampneg_16(x: u32) -> u32 {
    let z = min(mad(x, INVERSE_LN2, BIAS), MAX_EXPONENT);
    store_bf16(round_bf16(exp21(z, CONSTANT)))
}

#[inline(always)]
fn accurate_32(x: u32) -> u32 {
    store_f32(exp_f32(x))
}

#[inline(always)]
fn clampneg(x: u32) -> u32 {
    round_u16(mad(SLOPE, max(x, LOWEST), OFFSET)) << 15
}

#[inline(always)]
fn noclamp(x: u32) -> u32 {
    let fixed = round_sm16(mad(SLOPE, x, OFFSET));
    setsign(fixed << 15, fixed)
}

functions! {
    "exp", "accurate": accurate_16, accurate_32;
    "exp", "accurate_noclampneg": accurate_noclampneg_16, accurate_32;
    "exp", "approx_clampneg": |x| store_bf16(clampneg(x)), |x| store_f32(clampneg(x));
    "exp", "approx_noclamp": |x| store_bf16(noclamp(x)), |x| store_f32(noclamp(x));
}
