//! Exponentials: e^x, 2^x, e^x - 1. Source: listings `exp/*`, `exp2/*`, `expm1/*`.
//!
//! Domain: all words. Accurate: 21 bits in 16-bit `Dst`, FP32 otherwise; results above the range are infinity, below it
//! +0, NaN stays NaN in 32-bit `Dst`. Approximate: the exponent field and the mantissa come from one fixed-point
//! product, about 3 % off; `clampneg` holds the argument at -88.5 or above, `noclamp` lets it run into negative words.

use super::blocks::{BIAS, EXP21_CONSTANT, INVERSE_LN2, LN2_PARTS, MAX_EXPONENT, MINUS_LN2, exp_f32, exp21};
use super::lane::{
    HALF, INFINITY, MINUS_ONE, ONE, ROUNDER, TWO, Word, add, exp_biased, fabs, iadd, ilt, is_negative, is_zero, mad,
    max, min, mul, ordinary_polynomial, polynomial, round_sm8, round_sm16, round_u16, select, setexp, setsign, shl,
    splat, store_bf16, store_f32, store_rounded, sub,
};
use super::run::functions;
use super::series::is_ordinary;

/// Lowest coefficient of the mantissa polynomial in the exponential tile kernel.
const CONSTANT: u32 = 0x3f80_4000;
/// 256 / ln 2, slope of the fast form.
const SLOPE: u32 = 0x43b8_aa3b;
/// Offset of the fast form.
const OFFSET: u32 = 0x46fd_e9a3;
/// -88.5
const LOWEST: u32 = 0xc2b1_0000;
/// -2.0
const MINUS_TWO: u32 = 0xc000_0000;
/// -0.5
const MINUS_HALF: u32 = 0xbf00_0000;

#[inline(always)]
fn accurate_16<V: Word>(x: V) -> V {
    let z = min(max(mad(x, INVERSE_LN2, BIAS), 0), MAX_EXPONENT);
    store_rounded(exp21(z, CONSTANT))
}

#[inline(always)]
fn accurate_noclampneg_16<V: Word>(x: V) -> V {
    let z = min(mad(x, INVERSE_LN2, BIAS), MAX_EXPONENT);
    store_rounded(exp21(z, CONSTANT))
}

#[inline(always)]
fn accurate_32<V: Word>(x: V) -> V {
    store_f32(exp_f32(x))
}

#[inline(always)]
fn clampneg<V: Word>(x: V) -> V {
    shl(round_u16(mad(max(x, LOWEST), SLOPE, OFFSET)), 15)
}

#[inline(always)]
fn noclamp<V: Word>(x: V) -> V {
    let fixed = round_sm16(mad(x, SLOPE, OFFSET));
    setsign(shl(fixed, 15), fixed)
}

#[inline(always)]
fn exp2_16<V: Word>(x: V) -> V {
    let z = min(max(add(x, BIAS), 0), MAX_EXPONENT);
    store_rounded(exp21(z, EXP21_CONSTANT))
}

#[inline(always)]
fn exp2_32<V: Word>(x: V) -> V {
    const SERIES: [u32; 7] = [0x3920_e000, 0x3aaf_a000, 0x3c1d_a000, 0x3d63_57ec, 0x3e75_fdd0, 0x3f31_7217, ONE];
    const _: () = assert!(is_ordinary(&SERIES, -0.501, 0.501));
    let (rest, power) = x.reduced_by_one();
    let [highest @ .., square, linear, one] = SERIES;
    let tail: V = ordinary_polynomial(rest, highest);
    let value = tail.ordinary_horner(rest, &[square, linear, one]);
    // Negative NaNs, whose sign `fabs` keeps, leave the exponent as it is and take the branch of infinities.
    let ordered = !is_negative(fabs(x));
    let exponent = iadd(exp_biased(value), power);
    let scaled = select(ilt(exponent, 1), 0, setexp(value, exponent));
    store_f32(value.raised(power, select(ordered & ilt(exponent, 255), scaled, mul(tail, INFINITY))))
}

/// Puts the limits on half of e^x - 1 and doubles it; where no power of two was taken out, `half` is the whole.
#[inline(always)]
fn limit_expm1<V: Word>(half: V, turns: V, beyond: V) -> V {
    let whole = is_zero(turns);
    let large = !ilt(round_sm8(fabs(beyond)), 127);
    let limit = select(is_negative(beyond), MINUS_HALF, mul(beyond, INFINITY));
    select(whole, half, mul(select(large, limit, half), TWO))
}

#[inline(always)]
fn expm1_16<V: Word>(x: V) -> V {
    let rounded = mad(x, INVERSE_LN2, ROUNDER);
    let turns = sub(rounded, ROUNDER);
    let rest = mad(turns, MINUS_LN2, x);
    let series = polynomial(rest, [0x3c09_0000, 0x3d2b_2000, 0x3e2a_a000, HALF]);
    let small = mad(series, mul(rest, rest), rest);
    let scale = iadd(shl(rounded, 23), HALF);
    let half = select(is_zero(turns), small, mad(scale, small, sub(scale, HALF)));
    store_rounded(limit_expm1(half, turns, add(turns, MINUS_TWO)))
}

/// As in 16-bit `Dst`, with ln 2 in two parts, a longer polynomial, and a sum ordered so that nothing is lost around 0.
///
/// What counts are up to 128 powers of two; of more, only that they are more. Then the multiple of the first part of ln
/// 2 has 23 bits, its sum with the argument is exact, and at most 0.36 is left; e^r - 1 is between 0.8 r and 1.2 r. A
/// product that is small beside what is added to it leaves no trace.
#[inline(always)]
fn expm1_32<V: Word>(x: V) -> V {
    const SERIES: [u32; 6] = [0x394f_0000, 0x3ab6_98f2, 0x3c08_88fb, 0x3d2a_aacf, 0x3e2a_aaae, HALF - 1];
    const _: () = assert!(is_ordinary(&SERIES, -0.36, 0.36));
    let rounded = x.number().ordinary(splat(INVERSE_LN2), splat(ROUNDER)).surely(22, 24);
    let turns = sub(rounded, ROUNDER);
    let single = add(turns, MINUS_ONE);
    let rest = turns.nudged(splat(LN2_PARTS[1]), turns.remainder(LN2_PARTS[0], x));
    let series = ordinary_polynomial(rest, SERIES);
    // For a single power of two the 1/2 goes in before the scaling.
    let linear = select(is_zero(single), add(rest, HALF), rest);
    let small = series.ordinary(rest.traceless_product(rest), linear);
    let scale = iadd(shl(rounded, 23), HALF).surely(-126, 127);
    let offset = sub(scale, HALF).surely(-3, 127);
    let residue = sub(sub(scale, offset), HALF);
    let sum = add(small.surely_scaled(scale, residue).surely(-90, 127), offset);
    let half = select(is_zero(turns) | is_zero(single), small, sum);
    store_f32(limit_expm1(half, turns, add(single, MINUS_ONE)))
}

functions! {
    "exp", "accurate": accurate_16, accurate_32;
    "exp", "accurate_noclampneg": accurate_noclampneg_16, accurate_32;
    "exp", "approx_clampneg": |x| store_bf16(clampneg(x)), |x| store_f32(clampneg(x));
    "exp", "approx_noclamp": |x| store_bf16(noclamp(x)), |x| store_f32(noclamp(x));
    "exp2", "default": exp2_16, exp2_32;
    "expm1", "accurate": expm1_16, expm1_32;
    "expm1", "approx": expm1_16, expm1_32;
}
