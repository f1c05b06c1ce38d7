//! Derivatives of activations. Source: listings `gelu_derivative/*`, `tanh_derivative/*`.
//!
//! Domain: all words. `gelu_derivative`: a polynomial from -3 to 3.17, 1 above, below an asymptotic form with the
//! exponential, whose approximate variant leaves out the correction by powers of 1 / x^2. `tanh_derivative`: a
//! polynomial below 3, 4 e^-2|x| up to 45, 0 above.

use super::blocks::{Blocks, INVERSE_LN2};
use super::elu::scaled_exp;
use crate::arith::lane::{
    HALF, INFINITY, MINUS_ONE, ONE, ROUNDER, ZERO, exp_biased, fabs, flipsign, greater, iadd, ilt, isub, less, mad,
    magnitude, mul, polynomial, select, setexp, splat, store_f32, store_rounded, sub,
};
use crate::exec::functions;

/// 3.17190003
pub const ABOVE: u32 = 0x404b_0069;
/// -3.0
pub const BELOW: u32 = 0xc040_0000;
/// -13.375
const LOWEST: u32 = 0xc156_0000;
/// 1 / sqrt(2 pi)
const INVERSE_ROOT_2PI: u32 = 0x3ecc_422a;
const MINUS_HALF: u32 = 0xbf00_0000;

/// Coefficients of e^r.
const BELL: [u32; 6] = [0x3c08_8889, 0x3d2a_aaab, 0x3e2a_aaab, HALF, ONE, ONE];
/// Coefficients of the derivative less 1/2, over x.
pub const GELU_SERIES: [u32; 9] = [
    0x3192_d618,
    0xb47f_2a12,
    0x36cc_6b26,
    0xb8cc_5d51,
    0x3a90_fbdc,
    0xbc1a_3e0f,
    0x3d74_cd60,
    0xbe88_28b4,
    0x3f4c_4211,
];

/// Below -3, by `steps` Newton steps of the correction's reciprocal.
///
/// None for no correction.
#[inline(always)]
pub fn gelu_tail<V: Blocks>(x: V, square: V, steps: Option<usize>) -> V {
    let argument = mul(square, MINUS_HALF);
    let rounded = mad(argument, INVERSE_LN2, ROUNDER);
    let (bell, _) = scaled_exp(argument, rounded, BELL);
    let product = mul(x, bell);
    let exponent = iadd(exp_biased(product), isub(rounded, ROUNDER));
    let slope = mul(select(ilt(exponent, 1), ZERO, setexp(product, exponent)), INVERSE_ROOT_2PI);
    let tail = match steps {
        None => slope,
        Some(steps) => {
            let inverse = square.reciprocal(steps);
            mul(slope, mad(inverse, inverse, sub(splat::<V>(ONE), inverse)))
        }
    };
    select(greater(x, LOWEST), tail, splat::<V>(ZERO))
}

#[inline(always)]
fn gelu_derivative<V: Blocks>(x: V, steps: Option<usize>) -> V {
    let square = mul(x, x);
    let middle = mad(x, polynomial(square, GELU_SERIES), HALF);
    let right = select(less(x, ABOVE), middle, splat(ONE));
    select(less(x, BELOW), gelu_tail(x, square, steps), right)
}

/// As [`gelu_derivative`], with products that make one NaN of all, which takes the polynomial.
#[inline(always)]
fn gelu_derivative_of_product<V: Blocks>(x: V, steps: Option<usize>) -> V {
    const MINUS_ABOVE: u32 = ABOVE | 0x8000_0000;
    let above = !greater(mul(x, MINUS_ONE), MINUS_ABOVE);
    let x = mul(x, ONE);
    let square = mul(x, x);
    let middle = mad(x, polynomial(square, GELU_SERIES), HALF);
    let left = select(less(x, BELOW), gelu_tail(x, square, steps), middle);
    select(above, ONE, left)
}

/// NaN squared is above infinity, and returned as it came.
#[inline(always)]
fn keep_nan<V: Blocks>(x: V, value: V) -> V {
    select(ilt(splat::<V>(INFINITY), mul(x, x)), x, value)
}

/// 1 - tanh^2 x below 3, by a polynomial.
///
/// It is one of two ninths of x^2 less one.
pub const NEAR: [u32; 11] = [
    0x3d81_cf7d,
    0xbe15_dbc3,
    0x3d75_e3c0,
    0x3d4c_fd9d,
    0x3d13_40e3,
    0xbe12_7bad,
    0x3e17_3c95,
    0xbe0f_86b5,
    0x3e10_f9f8,
    0xbdeb_d465,
    0x3d64_f473,
];
/// Two ninths of x^2 less one.
pub const CENTRED: [u32; 2] = [0x3e63_8e39, MINUS_ONE];
pub const THREE: u32 = 0x4040_0000;
const FORTY_FIVE: u32 = 0x4234_0000;
const MINUS_TWO: u32 = 0xc000_0000;
/// 2 ln 2
const LN4: u32 = 0x3fb1_7218;

/// From 3 on.
#[inline(always)]
pub fn tanh_tail<V: Blocks>(distance: V) -> V {
    let argument = mad(distance, MINUS_TWO, LN4);
    let rounded = mad(argument, INVERSE_LN2, ROUNDER);
    let (mantissa, exponent) = scaled_exp(argument, rounded, [0x3d2a_aaab, 0x3e2a_aaab, HALF, ONE, ONE]);
    let far = select(ilt(exponent, 1), ZERO, setexp(mantissa, exponent));
    select(less(distance, FORTY_FIVE), far, splat(ZERO))
}

#[inline(always)]
fn tanh_derivative<V: Blocks>(x: V) -> V {
    let distance = fabs(x);
    let near = polynomial(polynomial(mul(distance, distance), CENTRED), NEAR);
    select(less(distance, THREE), near, tanh_tail(distance))
}

/// Blackhole's form: s = 4 e^-2|x| divided by (1 + s / 4)^2, the quotient corrected once by what it leaves.
#[inline(always)]
fn by_exponential<V: Blocks>(x: V) -> V {
    const SERIES: [u32; 7] = [0x3ab4_a000, 0x3c09_2f6e, 0x3d2a_adad, 0x3e2a_aa28, 0x3eff_fffb, ONE, ONE];
    /// 1 / 16
    const SIXTEENTH: u32 = 0x3d80_0000;
    let distance = magnitude(x);
    let argument = mul(distance, MINUS_TWO);
    let (mantissa, exponent) = scaled_exp(argument, mad(argument, INVERSE_LN2, ROUNDER), SERIES);
    let exponent = iadd(exponent, 2);
    let over = select(ilt(exponent, 1), ZERO, setexp(mantissa, exponent));
    let half = mad(over, SIXTEENTH, HALF);
    let below = mad(over, half, ONE);
    let inverse = below.reciprocal_estimate(true);
    let quotient = mul(over, inverse);
    // What the sums of the divisor lost.
    let lost = mad(over, SIXTEENTH, sub(splat::<V>(HALF), half));
    let lost = mad(over, lost, mad(over, half, sub(splat::<V>(ONE), below)));
    let rest = mad(flipsign(quotient), lost, mad(flipsign(quotient), below, over));
    select(less(distance, FORTY_FIVE), mad(rest, inverse, quotient), splat::<V>(ZERO))
}

functions! {
    "gelu_derivative", "accurate" for Wormhole: |x| store_rounded(gelu_derivative(x, Some(1))),
        |x| store_f32(keep_nan(x, gelu_derivative(x, Some(2)))),
        speculative = |x| speculative::derivative::gelu_derivative_32(x, Some(2));
    "gelu_derivative", "approx" for Wormhole: |x| store_rounded(gelu_derivative(x, None)),
        |x| store_f32(keep_nan(x, gelu_derivative(x, None))),
        speculative = |x| speculative::derivative::gelu_derivative_32(x, None);
    "gelu_derivative", "accurate" for Blackhole: |x| store_rounded(gelu_derivative(x, Some(1))),
        |x| store_f32(gelu_derivative_of_product(x, Some(2)));
    "gelu_derivative", "approx" for Blackhole: |x| store_rounded(gelu_derivative(x, None)),
        |x| store_f32(gelu_derivative_of_product(x, None));
    "tanh_derivative", "accurate" for Blackhole: |x| store_rounded(by_exponential(x)), |x| store_f32(by_exponential(x));
    "tanh_derivative", "approx" for Blackhole: |x| store_rounded(by_exponential(x)), |x| store_f32(by_exponential(x));
    "tanh_derivative", "accurate" for Wormhole: |x| store_rounded(tanh_derivative(x)), |x| store_f32(tanh_derivative(x)),
        speculative = |x| store_f32(speculative::derivative::tanh_derivative(x));
    "tanh_derivative", "approx" for Wormhole: |x| store_rounded(tanh_derivative(x)), |x| store_f32(tanh_derivative(x)),
        speculative = |x| store_f32(speculative::derivative::tanh_derivative(x));
}
