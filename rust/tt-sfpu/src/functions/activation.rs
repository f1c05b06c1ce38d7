//! Smooth activations: mish, softsign, tanhshrink, xielu. Source: listings of these names.
//!
//! Domain: all words. `mish` is x times ((1 + e^x)^2 - 1) / ((1 + e^x)^2 + 1) below 8, x above; its approximate form
//! uses the BF16 exponential in both widths. `tanhshrink` is a cubic times a polynomial up to 1. `xielu` takes alpha
//! for positive and for negative arguments.

use super::blocks::{Blocks, exp_bf16, quick_steps};
use super::elu::reduced_exp;
use crate::arith::lane::{
    HALF, MINUS_ONE, ONE, TWO, ZERO, add, fabs, greater, ilt, is_negative, is_positive, less, mad, magnitude, max, min,
    mul, polynomial, round_bf16, select, setsign, splat, store_bf16, store_f32, store_rounded, sub, sub_product,
};
use crate::exec::functions;

/// 8.0
pub const LINEAR: u32 = 0x4100_0000;

#[inline(always)]
fn mish<V: Blocks>(x: V, exponential: V, steps: usize) -> V {
    let over = mul(exponential, add(exponential, TWO));
    let sum = add(exponential, ONE);
    let ratio = mul(over, mad(sum, sum, ONE).reciprocal(steps));
    select(less(x, LINEAR), mul(x, ratio), x)
}

/// As [`mish`], with 1 less twice the reciprocal for positive numbers.
#[inline(always)]
fn mish_halves<V: Blocks>(x: V, exponential: V, steps: usize) -> V {
    let over = mul(exponential, add(exponential, TWO));
    let sum = add(exponential, ONE);
    let inverse = mad(sum, sum, ONE).reciprocal(steps);
    let negative = mul(x, mul(over, inverse));
    let positive = mul(x, sub_product(splat::<V>(ONE), inverse, TWO));
    select(less(x, LINEAR), select(is_negative(x), negative, positive), x)
}

#[inline(always)]
fn softsign_quick<V: Blocks>(x: V) -> V {
    softsign(x, quick_steps::<V>())
}

#[inline(always)]
fn softsign<V: Blocks>(x: V, steps: usize) -> V {
    mul(x, add(fabs(x), ONE).reciprocal(steps))
}

/// `small` is (x - tanh x) / x^3 up to 1, `tanh` the value at |x| above.
#[inline(always)]
fn cubic<V: Blocks, const N: usize>(x: V, small: [u32; N]) -> V {
    let square = mul(x, x);
    mul(mul(x, square), polynomial(square, small))
}

#[inline(always)]
fn tanhshrink_16<V: Blocks>(x: V) -> V {
    let distance = magnitude(x);
    let tanh = min(polynomial(distance, [0x3d5a_83dd, 0xbed1_3315, 0x3f87_2f47, 0x3d7d_4068]), ONE);
    let small = cubic(x, [0xbc30_56fb, 0x3d44_ebeb, 0xbe07_67b9, 0x3eaa_a637]);
    store_rounded(select(greater(distance, ONE), sub(x, setsign(tanh, x)), small))
}

#[inline(always)]
fn tanhshrink_32<V: Blocks>(x: V) -> V {
    const NINE: u32 = 0x4110_0000;
    const MINUS_TWO: u32 = 0xc000_0000;
    let distance = magnitude(x);
    let power = mul(min(distance, NINE), MINUS_TWO).exp_f32_unlimited();
    let tanh = mad(add(power, ONE).reciprocal(2), TWO, MINUS_ONE);
    let small = cubic(x, [0x39dc_9dd7, 0xbb24_8b70, 0x3c06_aa0c, 0xbcb1_70eb, 0x3d5c_eac5, 0xbe08_87ff, 0x3eaa_aaaa]);
    store_f32(select(greater(distance, ONE), setsign(sub(distance, tanh), x), small))
}

/// The part of xielu that alpha multiplies.
#[inline(always)]
fn xielu_curve<V: Blocks>(x: V) -> V {
    /// -1e-6
    const TINY: u32 = 0xb586_37bd;
    const MINUS_HALF: u32 = 0xbf00_0000;
    /// -126.5
    const LOWEST: u32 = 0xc2fd_0000;
    const NEAR: [u32; 6] = [0x3951_4899, 0x3ab7_8d51, 0x3c08_87ed, 0x3d2a_a903, 0x3e2a_aaab, 0x3f00_0001];
    let turns = max(mul(x, super::blocks::INVERSE_LN2), LOWEST);
    let (mantissa, exponent) = reduced_exp(x, turns);
    let power = select(ilt(exponent, 1), ZERO, crate::arith::lane::setexp(mantissa, exponent));
    let far = sub(add(power, MINUS_ONE), x);
    let near = mul(mul(x, x), polynomial(x, NEAR));
    let at_zero = sub(splat::<V>(0xb586_37b9), x);
    select(less(x, TINY), select(greater(x, MINUS_HALF), near, far), at_zero)
}

#[inline(always)]
fn xielu<V: Blocks>(x: V, positive: u32, negative: u32) -> V {
    let half = mul(x, HALF);
    let right = mad(mul(x, positive), x, half);
    let left = mad(xielu_curve(x), negative, half);
    select(is_positive(x), right, left)
}

functions! {
    "mish", "accurate" for Wormhole: |x| store_rounded(mish(x, round_bf16(exp_bf16(x)), 1)),
        |x| store_f32(mish(x, Blocks::exp_f32(x), 2)),
        speculative = |x| speculative::activation::mish(x, Blocks::exp_f32(x), 2);
    "mish", "approx" for Wormhole: |x| store_rounded(mish(x, round_bf16(exp_bf16(x)), 1)), |x| store_f32(mish(x, exp_bf16(x), 1)),
        speculative = |x| speculative::activation::mish(x, exp_bf16(x), 1);
    "mish", "accurate" for Blackhole: |x| store_rounded(mish_halves(x, round_bf16(exp_bf16(x)), 1)),
        |x| store_f32(mish_halves(x, Blocks::exp_f32(x), 2));
    "mish", "approx" for Blackhole: |x| store_rounded(mish_halves(x, round_bf16(exp_bf16(x)), 0)),
        |x| store_f32(mish_halves(x, exp_bf16(x), 0));
    "softsign", "default": |x| store_bf16(softsign(x, 2)), |x| store_f32(softsign(x, 2));
    "softsign", "approx": |x| store_bf16(softsign_quick(x)), |x| store_f32(softsign_quick(x));
    "tanhshrink", "default": tanhshrink_16, tanhshrink_32;
    "xielu", "default" [positive, negative]: |x| store_rounded(xielu(x, positive, negative)),
        |x| store_f32(xielu(x, positive, negative));
}
