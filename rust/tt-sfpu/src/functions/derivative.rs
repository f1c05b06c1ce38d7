//! Derivatives of activations. Source: listings `gelu_derivative/*`, `tanh_derivative/*`.
//!
//! Domain: all words. `gelu_derivative`: a polynomial from -3 to 3.17, 1 above, below an asymptotic form with the
//! exponential, whose approximate variant leaves out the correction by powers of 1 / x^2. `tanh_derivative`: a
//! polynomial below 3, 4 e^-2|x| up to 45, 0 above.

use super::blocks::{Blocks, INVERSE_LN2};
use super::elu::scaled_exp;
use crate::arith::lane::{
    HALF, INFINITY, MINUS_ONE, ONE, ROUNDER, ZERO, exp_biased, fabs, greater, iadd, ilt, isub, less, mad, mul,
    polynomial, select, setexp, splat, store_f32, store_rounded, sub,
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

functions! {
    "gelu_derivative", "accurate" for Wormhole: |x| store_rounded(gelu_derivative(x, Some(1))),
        |x| store_f32(keep_nan(x, gelu_derivative(x, Some(2)))),
        speculative = |x| speculative::derivative::gelu_derivative_32(x, Some(2));
    "gelu_derivative", "approx" for Wormhole: |x| store_rounded(gelu_derivative(x, None)),
        |x| store_f32(keep_nan(x, gelu_derivative(x, None))),
        speculative = |x| speculative::derivative::gelu_derivative_32(x, None);
    "tanh_derivative", "accurate" for Wormhole: |x| store_rounded(tanh_derivative(x)), |x| store_f32(tanh_derivative(x)),
        speculative = |x| store_f32(speculative::derivative::tanh_derivative(x));
    "tanh_derivative", "approx" for Wormhole: |x| store_rounded(tanh_derivative(x)), |x| store_f32(tanh_derivative(x)),
        speculative = |x| store_f32(speculative::derivative::tanh_derivative(x));
}
