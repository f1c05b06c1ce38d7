//! Sigmoid and the functions made of it. Source: listings `sigmoid/*`, `silu/*`.
//!
//! Domain: all words. 1 / (1 + e^-x) by the exponential and the reciprocal of the width. Approximate: straight lines.

use super::blocks::{Blocks, exp_bf16};
use crate::arith::lane::{HALF, ONE, add, flipsign, lut8, mul, setsign, store_bf16, store_f32, store_rounded};
use crate::exec::functions;

/// Lines of sigmoid(|x|) - 1/2.
const LINES: [u32; 3] = [0x3dff, 0x21d8, 0xff10];

#[inline(always)]
fn sigmoid_16<V: Blocks>(x: V) -> V {
    add(exp_bf16(flipsign(x)), ONE).reciprocal(1)
}

#[inline(always)]
fn sigmoid_32<V: Blocks>(x: V) -> V {
    add(flipsign(x).exp_f32(), ONE).reciprocal(2)
}

#[inline(always)]
fn approximate<V: Blocks>(x: V) -> V {
    add(setsign(lut8(LINES, x), x), HALF)
}

functions! {
    "sigmoid", "accurate": |x| store_rounded(sigmoid_16(x)), |x| store_f32(sigmoid_32(x));
    "sigmoid", "approx": |x| store_bf16(approximate(x)), |x| store_f32(approximate(x));
    "silu", "accurate": |x| store_rounded(mul(x, sigmoid_16(x))), |x| store_f32(mul(x, sigmoid_32(x)));
}
