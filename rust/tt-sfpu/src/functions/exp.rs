//! Exponentials: e^x, 2^x, e^x - 1. Source: listings `exp/*`, `exp2/*`, `expm1/*`.
//!
//! Domain: all words. Accurate: 21 bits in 16-bit `Dst`, FP32 otherwise; results above the range are infinity, below it
//! +0, NaN stays NaN in 32-bit `Dst`. Approximate: the exponent field and the mantissa come from one fixed-point
//! product, about 3 % off; `clampneg` holds the argument at -88.5 or above, `noclamp` lets it run into negative words.
//!
//! Attention scales the argument on the way: `approx_scaled` is `approx_noclamp` with the scale in its slope. Its
//! corrections of rows have a product in front: `column` is accurate to the width of `Dst`, `column_polynomial` reduces
//! by ln 2 and takes two powers in 16-bit `Dst`, four in 32-bit; below 2^-126 it is zero. `merge` is the 16-bit `column` in
//! a register.

use super::blocks::{
    BIAS, Blocks, EXP21_CONSTANT, INVERSE_LN2, MAX_EXPONENT, MINUS_LN2, exp_bf16, exp21, reduce_by_ln2,
};
use crate::arith::lane::{
    HALF, INFINITY, MINUS_ONE, ONE, ROUNDER, TWO, add, and, copyexp, exp_biased, fabs, gtmask, iadd, ilt, is_negative,
    is_zero, mad, max, min, mul, polynomial, polynomial_from, round_bf16, round_sm8, round_sm16, round_u8, round_u16,
    select, setexp, setsign, shl, sm_to_twos, sm2f, splat, store_bf16, store_f32, store_rounded, sub,
};
use crate::exec::functions;

/// Lowest coefficient of the mantissa polynomial in the exponential tile kernel.
const CONSTANT: u32 = 0x3f80_4000;
/// 256 / ln 2, slope of the fast form.
pub const SLOPE: u32 = 0x43b8_aa3b;
/// Offset of the fast form.
pub const OFFSET: u32 = 0x46fd_e9a3;
/// -88.5
pub const LOWEST: u32 = 0xc2b1_0000;
/// -2.0
const MINUS_TWO: u32 = 0xc000_0000;
/// -0.5
const MINUS_HALF: u32 = 0xbf00_0000;

#[inline(always)]
fn accurate_16<V: Blocks>(x: V) -> V {
    let z = min(max(mad(x, INVERSE_LN2, BIAS), 0), MAX_EXPONENT);
    store_rounded(exp21(z, CONSTANT))
}

#[inline(always)]
fn accurate_noclampneg_16<V: Blocks>(x: V) -> V {
    let z = min(mad(x, INVERSE_LN2, BIAS), MAX_EXPONENT);
    store_rounded(exp21(z, CONSTANT))
}

/// The exponent of negative numbers is masked out.
#[inline(always)]
fn masked_noclampneg_16<V: Blocks>(x: V) -> V {
    let z = min(mad(x, INVERSE_LN2, BIAS), MAX_EXPONENT);
    let mantissa = exp21(z, CONSTANT);
    let exponent = copyexp(splat::<V>(0), mantissa);
    store_rounded(copyexp(mantissa, and(gtmask(z, 0), exponent)))
}

#[inline(always)]
fn accurate_32<V: Blocks>(x: V) -> V {
    store_f32(x.exp_f32())
}

#[inline(always)]
fn clampneg<V: Blocks>(x: V) -> V {
    of_fixed(mad(max(x, LOWEST), SLOPE, OFFSET))
}

/// The number whose upper word is an integer.
#[inline(always)]
pub fn of_fixed<V: Blocks>(upper: V) -> V {
    shl(round_u16(upper), 15)
}

#[inline(always)]
fn noclamp<V: Blocks>(x: V, slope: u32) -> V {
    let fixed = round_sm16(mad(x, slope, OFFSET));
    setsign(shl(fixed, 15), fixed)
}

/// Polynomials of e^r.
const COLUMN_16: [u32; 3] = [0x3f01_9bce, 0x3f81_ee64, 0x3f7f_f617];
const COLUMN_32: [u32; 5] = [0x3d2b_dda9, 0x3e2b_f3a2, 0x3eff_fddc, 0x3f7f_fd87, 0x3f80_0001];
/// 127.0
const EXPONENT_BIAS: u32 = 0x42fe_0000;

#[inline(always)]
fn column_polynomial<V: Blocks, const N: usize>(x: V, scale: u32, coefficients: [u32; N]) -> V {
    let x = mul(x, scale);
    let turns = sm2f(round_sm8(mul(x, INVERSE_LN2)));
    let mantissa = polynomial(mad(turns, MINUS_LN2, x), coefficients);
    let exponent = add(turns, EXPONENT_BIAS);
    select(is_zero(exponent), 0, mul(mantissa, shl(round_u8(exponent), 23)))
}

#[inline(always)]
fn exp2_16<V: Blocks>(x: V) -> V {
    let z = min(max(add(x, BIAS), 0), MAX_EXPONENT);
    store_rounded(exp21(z, EXP21_CONSTANT))
}

/// Polynomial of 2^r: the first coefficients, and the last.
pub const EXP2_TAIL: [u32; 4] = [0x3920_e000, 0x3aaf_a000, 0x3c1d_a000, 0x3d63_57ec];
pub const EXP2_LAST: [u32; 3] = [0x3e75_fdd0, 0x3f31_7217, ONE];

#[inline(always)]
fn exp2_32<V: Blocks>(x: V) -> V {
    let power = round_sm16(x);
    let rest = sub(x, sm2f(power));
    let tail = polynomial(rest, EXP2_TAIL);
    let value = polynomial_from(tail, rest, EXP2_LAST);
    // Negative NaNs, whose sign `fabs` keeps, leave the exponent as it is and take the branch of infinities.
    let ordered = !is_negative(fabs(x));
    let exponent = iadd(exp_biased(value), sm_to_twos(power));
    let scaled = select(ilt(exponent, 1), 0, setexp(value, exponent));
    store_f32(select(ordered & ilt(exponent, 255), scaled, mul(tail, INFINITY)))
}

/// Applies the limits to half of e^x - 1 and doubles it.
///
/// Without a power of two, `half` is the whole.
#[inline(always)]
pub fn limit_expm1<V: Blocks>(half: V, turns: V, beyond: V) -> V {
    let whole = is_zero(turns);
    let large = !ilt(round_sm8(fabs(beyond)), 127);
    let limit = select(is_negative(beyond), MINUS_HALF, mul(beyond, INFINITY));
    select(whole, half, mul(select(large, limit, half), TWO))
}

#[inline(always)]
fn expm1_16<V: Blocks>(x: V) -> V {
    let rounded = mad(x, INVERSE_LN2, ROUNDER);
    let turns = sub(rounded, ROUNDER);
    let rest = mad(turns, MINUS_LN2, x);
    let series = polynomial(rest, [0x3c09_0000, 0x3d2b_2000, 0x3e2a_a000, HALF]);
    let small = mad(series, mul(rest, rest), rest);
    let scale = iadd(shl(rounded, 23), HALF);
    let half = select(is_zero(turns), small, mad(scale, small, sub(scale, HALF)));
    store_rounded(limit_expm1(half, turns, add(turns, MINUS_TWO)))
}

/// Polynomial of (e^r - 1 - r) / r^2.
pub const EXPM1_SERIES: [u32; 6] = [0x394f_0000, 0x3ab6_98f2, 0x3c08_88fb, 0x3d2a_aacf, 0x3e2a_aaae, HALF - 1];

/// As in 16-bit `Dst`, with ln 2 in two parts, a longer polynomial, and a sum ordered so that nothing is lost around 0.
#[inline(always)]
fn expm1_32<V: Blocks>(x: V) -> V {
    let rounded = mad(x, INVERSE_LN2, ROUNDER);
    let turns = sub(rounded, ROUNDER);
    let single = add(turns, MINUS_ONE);
    let rest = reduce_by_ln2(x, turns);
    let series = polynomial(rest, EXPM1_SERIES);
    // For a single power of two the 1/2 goes in before the scaling.
    let linear = select(is_zero(single), add(rest, HALF), rest);
    let small = mad(series, mul(rest, rest), linear);
    let scale = iadd(shl(rounded, 23), HALF);
    let offset = sub(scale, HALF);
    let residue = sub(sub(scale, offset), HALF);
    let sum = add(mad(small, scale, residue), offset);
    let half = select(is_zero(turns) | is_zero(single), small, sum);
    store_f32(limit_expm1(half, turns, add(single, MINUS_ONE)))
}

functions! {
    "exp", "accurate": accurate_16, accurate_32;
    "exp", "accurate_noclampneg" for Wormhole: accurate_noclampneg_16, accurate_32;
    "exp", "accurate_noclampneg" for Blackhole: masked_noclampneg_16, accurate_32;
    "exp", "approx_clampneg": |x| store_bf16(clampneg(x)), |x| store_f32(clampneg(x)),
        speculative = speculative::exp::clampneg_32;
    "exp", "approx_noclamp": |x| store_bf16(noclamp(x, SLOPE)), |x| store_f32(noclamp(x, SLOPE));
    "exp", "approx_scaled" [slope]: |x| store_bf16(noclamp(x, slope)), |x| store_f32(noclamp(x, slope));
    "exp", "column" [scale]: |x| store_rounded(exp_bf16(mul(x, scale))), |x| store_f32(Blocks::exp_f32(mul(x, scale)));
    "exp", "column_polynomial" [scale]: |x| store_rounded(column_polynomial(x, scale, COLUMN_16)),
        |x| store_f32(column_polynomial(x, scale, COLUMN_32));
    "exp", "merge" [scale]: |x| store_rounded(exp_bf16(mul(x, scale))),
        |x| store_f32(round_bf16(exp_bf16(mul(x, scale))));
    "exp2", "default": exp2_16, exp2_32, speculative = speculative::exp::exp2_32;
    "expm1", "accurate": expm1_16, expm1_32, speculative = speculative::exp::expm1_32;
    "expm1", "approx": expm1_16, expm1_32, speculative = speculative::exp::expm1_32;
}
