//! Sine, cosine, tangent. Source: listings `sin`, `cos`, `tan`.
//!
//! Domain: all words. The argument is reduced by multiples of pi (tangent: pi / 2) taken in four parts, good for
//! moderate arguments only; infinities give NaN. The parity of the multiple gives the sign, for the tangent the
//! reciprocal.

use super::blocks::{RECIPROCAL_SEED, negated_reciprocal_scale, parity_sign, reciprocal_mantissa};
use super::lane::{
    HALF, MINUS_ONE, ROUNDER, TWO, Word, add, is_negative, mad, mul, polynomial, select, store_f32, store_rounded, sub,
    xor,
};
use super::run::functions;
use super::series::Growth;

/// 1 / pi
const INVERSE_PI: u32 = 0x3ea2_f983;
/// 2 / pi
const TWO_OVER_PI: u32 = 0x3f22_f983;
const MINUS_ROUNDER: u32 = 0xcb40_0000;
/// -pi in four parts.
const MINUS_PI: [u32; 4] = [0xc049_0000, 0xba7d_8000, 0xb528_8000, 0xaf05_a309];
/// -pi / 2 in four parts.
const MINUS_HALF_PI: [u32; 4] = [0xbfc9_0000, 0xb9fd_8000, 0xb4a8_8000, 0xae85_a309];
/// Coefficients of (sin r - r) / r^3.
pub const SINE_16: [u32; 3] = [0xb945_8852, 0x3c08_6151, 0xbe2a_aa52];
pub const SINE_32: [u32; 4] = [0x362e_e484, 0xb94f_b878, 0x3c08_876d, 0xbe2a_aaa6];
/// Coefficients of (tan r - r) / r^3.
const TANGENT_16: [u32; 3] = [0x3da7_8fa7, 0x3e01_5cc0, 0x3eaa_ca98];
const TANGENT_32: [u32; 7] =
    [0x3b7d_4fc1, 0x3a95_a020, 0x3c23_c3e8, 0x3cb1_055e, 0x3d5d_2b8b, 0x3e08_8839, 0x3eaa_aaab];

/// x + turns * period, the period in parts.
#[inline(always)]
fn reduce<V: Word>(x: V, turns: V, period: [u32; 4]) -> V {
    let rest = mad(turns, period[1], super::lane::reduce(turns, period[0], x));
    turns.nudged(V::from(period[3]), turns.nudged(V::from(period[2]), rest))
}

/// More than the square of half of pi.
const LARGEST_SQUARE: f32 = 2.48;
/// No step grows.
const GROWTH: Growth = Growth::of(&SINE_16, LARGEST_SQUARE).or(Growth::of(&SINE_32, LARGEST_SQUARE));
/// A square of a quarter of pi.
const GROWTH_OF_TANGENT: Growth = Growth::of(&TANGENT_32, 0.625);

/// sin(rest), with the sign for odd `rounded`. It is between 0.6 and 1 times the rest, if that is half of pi at most;
/// then what products below the range are is nothing beside the rest.
#[inline(always)]
fn sine_of_rest<V: Word, const N: usize>(rest: V, rounded: V, coefficients: [u32; N]) -> V {
    let square = rest.traceless_product(rest);
    let signed = xor(rest, parity_sign(rounded));
    let series = V::from(coefficients[0]).horner_up_to(square, &coefficients[1..], GROWTH);
    series.ordinary(signed.traceless_product(square), signed)
}

#[inline(always)]
pub fn sin<V: Word, const N: usize>(x: V, coefficients: [u32; N]) -> V {
    let rounded = mad(x, INVERSE_PI, ROUNDER);
    sine_of_rest(reduce(x, sub(rounded, ROUNDER), MINUS_PI), rounded, coefficients)
}

/// As a sine, reduced by odd multiples of pi / 2.
#[inline(always)]
pub fn cos<V: Word, const N: usize>(x: V, coefficients: [u32; N]) -> V {
    let rounded = x.rounded_line(INVERSE_PI, HALF);
    // Up to 64, and from 2^-17 on, since smaller ones are near the middle of two integers: the multiple is 41 at most,
    // has the argument's sign, and its product with the first part has 24 bits, of which an argument that is cut leaves
    // at least half.
    let odd = add(rounded, MINUS_ROUNDER).surely_scaled(V::from(TWO), V::from(MINUS_ONE)).surely(0, 6);
    let rest = mad(odd, MINUS_HALF_PI[1], odd.ordinary(V::from(MINUS_HALF_PI[0]), x).surely(-40, 1));
    let rest = odd.nudged(V::from(MINUS_HALF_PI[3]), odd.nudged(V::from(MINUS_HALF_PI[2]), rest));
    sine_of_rest(rest, rounded, coefficients)
}

#[inline(always)]
fn tan_16<V: Word>(x: V) -> V {
    let rounded = mad(x, TWO_OVER_PI, ROUNDER);
    let rest = reduce(x, sub(rounded, ROUNDER), MINUS_HALF_PI);
    let square = mul(rest, rest);
    let tangent = mad(mul(polynomial(square, TANGENT_16), square), rest, rest);
    let cotangent = negated_reciprocal_scale(reciprocal_mantissa(tangent, RECIPROCAL_SEED, 1), tangent);
    store_rounded(select(is_negative(parity_sign(rounded)), cotangent, tangent))
}

#[inline(always)]
fn tan_32<V: Word>(x: V) -> V {
    // Up to 2^16 the multiples of the first part have 24 bits, and what they leave is exact: nothing, or from 2^-60 to
    // 1.
    let x = x.usually_below(16).zero_or_usual(-60, 16);
    let rounded = x.ordinary(V::from(TWO_OVER_PI), V::from(ROUNDER)).surely(22, 24);
    let turns = sub(rounded, ROUNDER);
    let first = turns.ordinary(V::from(MINUS_HALF_PI[0]), x).surely(-60, 1);
    let rest = mad(turns, MINUS_HALF_PI[1], first);
    let rest = turns.nudged(V::from(MINUS_HALF_PI[3]), turns.nudged(V::from(MINUS_HALF_PI[2]), rest));
    let square = rest.traceless_product(rest);
    let series = V::from(TANGENT_32[0]).horner_up_to(square, &TANGENT_32[1..], GROWTH_OF_TANGENT);
    // Less than 0.3: so the tangent is between the rest and 1.3 times that.
    let cubic = series.traceless_product(square);
    let tangent = cubic.ordinary(rest, rest);
    // The reciprocal is corrected by its own error and by what the sum of the tangent lost. That is taken where the
    // tangent is at least 2^-30, of which the sum's part is a multiple of 2^-24.
    let lost = cubic.surely(-60, -1).balanced(rest.surely(-30, 0), sub(rest, tangent).surely(-54, 0), false);
    let y = negated_reciprocal_scale(reciprocal_mantissa(tangent, RECIPROCAL_SEED, 1), tangent);
    let cotangent = mad(lost, y, tangent.residual_of_one(y)).ordinary(y, y);
    store_f32(select(is_negative(parity_sign(rounded)), cotangent, tangent))
}

functions! {
    "sin", "default": |x| store_rounded(sin(x, SINE_16)), |x| store_f32(sin(x, SINE_32));
    "cos", "default": |x| store_rounded(cos(x, SINE_16)), |x| store_f32(cos(x, SINE_32));
    "tan", "default": tan_16, tan_32;
}
