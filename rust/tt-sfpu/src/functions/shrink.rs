//! Clamps and piecewise linear activations. Source: listings `hardtanh`, `clamp`, `hardsigmoid`, `hardmish`,
//! `softshrink`, `hardshrink`, `threshold`, `unary_max`, `unary_min`.
//!
//! Domain: all words. Limits by total order, so that NaN is held to the limit of its sign. `hardshrink` and `threshold`
//! leave the word of `Dst` untouched where they keep it.

use crate::arith::lane::{
    HALF, Lane, ONE, ZERO, add, flipsign, greater, is_negative, mad, magnitude, max, min, mul, select, splat,
    store_bf16, store_f32, sub,
};
use crate::exec::functions;

#[inline(always)]
fn between<V: Lane>(x: V, low: u32, high: u32) -> V {
    min(max(x, low), high)
}

/// x / 6 + 1/2 held to [0, 1].
#[inline(always)]
pub fn hardsigmoid<V: Lane>(x: V) -> V {
    let line = mad(x, 0x3e2a_aaab, HALF);
    let limited = select(greater(line, ONE), ONE, line);
    select(is_negative(limited), ZERO, limited)
}

/// x times x / 2 + 1 held to [0, 1].
#[inline(always)]
fn hardmish<V: Lane>(x: V) -> V {
    mul(x, between(mad(x, HALF, ONE), ZERO, ONE))
}

#[inline(always)]
fn softshrink<V: Lane>(x: V, lambda: u32) -> V {
    sub(x, between(x, lambda ^ 0x8000_0000, lambda))
}

#[inline(always)]
fn hardshrink<V: Lane>(x: V, lambda: u32) -> V {
    let inside = !is_negative(add(splat::<V>(lambda), flipsign(magnitude(x))));
    select(inside, ZERO, x)
}

/// `x` above the limit, else the stored `value`.
#[inline(always)]
fn threshold<V: Lane>(x: V, limit: u32, value: u32, store: impl Fn(V) -> V) -> V {
    select(greater(x, limit), x, store(splat(value)))
}

functions! {
    "hardtanh", "default" [low, high]: |x| store_bf16(between(x, low, high)), |x| store_f32(between(x, low, high));
    "clamp", "default" [low, high]: |x| store_bf16(min(store_bf16(max(x, low)), high)),
        |x| store_f32(min(store_f32(max(x, low)), high));
    "hardsigmoid", "default": |x| store_bf16(hardsigmoid(x)), |x| store_f32(hardsigmoid(x));
    "hardmish", "default": |x| store_bf16(hardmish(x)), |x| store_f32(hardmish(x));
    "softshrink", "default" [lambda]: |x| store_bf16(softshrink(x, lambda)), |x| store_f32(softshrink(x, lambda));
    "hardshrink", "default" [lambda]: |x| hardshrink(x, lambda), |x| hardshrink(x, lambda);
    "threshold", "default" [limit, value]: |x| threshold(x, limit, value, store_bf16),
        |x| threshold(x, limit, value, store_f32);
    "unary_max", "default" [other]: |x| store_bf16(max(x, other)), |x| store_f32(max(x, other));
    "unary_min", "default" [other]: |x| store_bf16(min(x, other)), |x| store_f32(min(x, other));
}
