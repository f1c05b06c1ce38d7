//! Sine, cosine, tangent. Source: listings `sin`, `cos`, `tan`.
//!
//! Domain: all words. The argument is reduced by multiples of pi (tangent: pi / 2) taken in four parts, good for
//! moderate arguments only; infinities give NaN. The parity of the multiple gives the sign, for the tangent the
//! reciprocal.

use super::blocks::{
    Blocks, RECIPROCAL_SEED, is_blackhole, negated_reciprocal_scale, parity_sign, reciprocal_mantissa,
};
use crate::arith::lane::{
    HALF, MINUS_ONE, ONE, ROUNDER, TWO, add, arecip, flipsign, is_negative, mad, mul, polynomial, select, store_f32,
    store_rounded, sub, xor,
};
use crate::exec::functions;

/// 1 / pi
pub const INVERSE_PI: u32 = 0x3ea2_f983;
/// 2 / pi
pub const TWO_OVER_PI: u32 = 0x3f22_f983;
pub const MINUS_ROUNDER: u32 = 0xcb40_0000;
/// -pi in four parts.
pub const MINUS_PI: [u32; 4] = [0xc049_0000, 0xba7d_8000, 0xb528_8000, 0xaf05_a309];
/// -pi / 2 in four parts.
pub const MINUS_HALF_PI: [u32; 4] = [0xbfc9_0000, 0xb9fd_8000, 0xb4a8_8000, 0xae85_a309];
/// Coefficients of (sin r - r) / r^3.
pub const SINE_16: &[u32] = &[0xb945_8852, 0x3c08_6151, 0xbe2a_aa52];
pub const SINE_32: &[u32] = &[0x362e_e484, 0xb94f_b878, 0x3c08_876d, 0xbe2a_aaa6];
/// Coefficients of (tan r - r) / r^3.
const TANGENT_16: [u32; 3] = [0x3da7_8fa7, 0x3e01_5cc0, 0x3eaa_ca98];
pub const TANGENT_32: [u32; 7] =
    [0x3b7d_4fc1, 0x3a95_a020, 0x3c23_c3e8, 0x3cb1_055e, 0x3d5d_2b8b, 0x3e08_8839, 0x3eaa_aaab];

/// x + turns * period, the period in parts.
#[inline(always)]
fn reduce<V: Blocks>(x: V, turns: V, period: [u32; 4]) -> V {
    let rest = mad(turns, period[1], mad(turns, period[0], x));
    mad(turns, period[3], mad(turns, period[2], rest))
}

/// sin(rest), with the sign for odd `rounded`.
#[inline(always)]
fn sine_of_rest<V: Blocks>(rest: V, rounded: V, coefficients: &[u32]) -> V {
    let square = mul(rest, rest);
    let signed = xor(rest, parity_sign(rounded));
    let series = V::from(coefficients[0]).horner(square, &coefficients[1..]);
    mad(series, mul(signed, square), signed)
}

#[inline(always)]
pub fn sin<V: Blocks>(x: V, coefficients: &[u32]) -> V {
    let rounded = mad(x, INVERSE_PI, ROUNDER);
    sine_of_rest(reduce(x, sub(rounded, ROUNDER), MINUS_PI), rounded, coefficients)
}

/// Cosine, computed like the sine, reduced by odd multiples of pi / 2.
#[inline(always)]
pub fn cos<V: Blocks>(x: V, coefficients: &[u32]) -> V {
    let rounded = add(mad(x, INVERSE_PI, HALF), ROUNDER);
    let odd = mad(add(rounded, MINUS_ROUNDER), TWO, MINUS_ONE);
    sine_of_rest(reduce(x, odd, MINUS_HALF_PI), rounded, coefficients)
}

/// -1 / x by one step.
#[inline(always)]
fn negated_reciprocal<V: Blocks>(x: V) -> V {
    if is_blackhole::<V>() {
        let y = arecip(x);
        return mad(flipsign(y), mad(flipsign(x), y, ONE), flipsign(y));
    }
    negated_reciprocal_scale(reciprocal_mantissa(x, RECIPROCAL_SEED, 1), x)
}

#[inline(always)]
fn tan_16<V: Blocks>(x: V) -> V {
    let rounded = mad(x, TWO_OVER_PI, ROUNDER);
    let rest = reduce(x, sub(rounded, ROUNDER), MINUS_HALF_PI);
    let square = mul(rest, rest);
    let tangent = mad(mul(polynomial(square, TANGENT_16), square), rest, rest);
    let cotangent = negated_reciprocal(tangent);
    store_rounded(select(is_negative(parity_sign(rounded)), cotangent, tangent))
}

#[inline(always)]
fn tan_32<V: Blocks>(x: V) -> V {
    let rounded = mad(x, TWO_OVER_PI, ROUNDER);
    let rest = reduce(x, sub(rounded, ROUNDER), MINUS_HALF_PI);
    let square = mul(rest, rest);
    let cubic = mul(polynomial(square, TANGENT_32), square);
    let tangent = mad(cubic, rest, rest);
    // The reciprocal is corrected by its own error and by what the sum of the tangent lost.
    let lost = mad(cubic, rest, sub(rest, tangent));
    let y = negated_reciprocal(tangent);
    let cotangent = mad(mad(lost, y, mad(tangent, y, ONE)), y, y);
    store_f32(select(is_negative(parity_sign(rounded)), cotangent, tangent))
}

functions! {
    "sin", "default": |x| store_rounded(Blocks::sin(x, SINE_16)), |x| store_f32(Blocks::sin(x, SINE_32));
    "cos", "default": |x| store_rounded(Blocks::cos(x, SINE_16)), |x| store_f32(Blocks::cos(x, SINE_32));
    "tan", "default": tan_16, tan_32, speculative = speculative::trigonometry::tan_32;
}
