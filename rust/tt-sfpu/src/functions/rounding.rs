//! Rounding to integers and to decimals.
//!
//! Source: listings `floor`, `ceil`, `trunc`, `frac`, `round/*`.
//!
//! Domain: all words. Fractions are cut off by a mask; infinities and NaN stay. `round` is to nearest even, of |x|.

use crate::arith::lane::{
    Lane, MINUS_ONE, ONE, add, and, exp_unbiased, ilt, is_negative, isub, magnitude, mul, select, setsign, splat,
    store_bf16, store_f32, sub,
};
use crate::exec::functions;

/// 2^23
const ROUNDER: u32 = 0x4b00_0000;
const MINUS_ROUNDER: u32 = 0xcb00_0000;
const SIGN: u32 = 0x8000_0000;

/// Toward zero.
#[inline(always)]
pub fn trunc<V: Lane>(x: V) -> V {
    let exponent = exp_unbiased(x);
    let fraction_bits = isub(splat::<V>(23), exponent);
    let mask = select(is_negative(fraction_bits), u32::MAX, splat::<V>(u32::MAX).shl(fraction_bits));
    and(x, select(is_negative(exponent), SIGN, mask))
}

#[inline(always)]
pub fn floor<V: Lane>(x: V) -> V {
    let whole = trunc(x);
    // Words of negative numbers grow away from zero.
    select(is_negative(x) & is_negative(isub(whole, x)), add(whole, MINUS_ONE), whole)
}

#[inline(always)]
fn ceil<V: Lane>(x: V) -> V {
    let whole = trunc(x);
    select(!is_negative(x) & is_negative(isub(whole, x)), add(whole, ONE), whole)
}

/// To the nearest even integer.
#[inline(always)]
pub fn round<V: Lane>(x: V) -> V {
    let rounded = add(add(magnitude(x), ROUNDER), MINUS_ROUNDER);
    setsign(select(ilt(exp_unbiased(x), 23), rounded, x), x)
}

/// To multiples of `unit`, given with its inverse.
#[inline(always)]
fn round_to<V: Lane>(x: V, inverse: u32, unit: u32) -> V {
    mul(round(mul(x, inverse)), unit)
}

functions! {
    "floor", "default": |x| store_bf16(floor(x)), |x| store_f32(floor(x));
    "ceil", "default": |x| store_bf16(ceil(x)), |x| store_f32(ceil(x));
    "trunc", "default": |x| store_bf16(trunc(x)), |x| store_f32(trunc(x));
    "frac", "default": |x| store_bf16(sub(x, trunc(x))), |x| store_f32(sub(x, trunc(x)));
    "round", "integer": |x| store_bf16(round(x)), |x| store_f32(round(x));
    "round", "decimals" [inverse, unit]: |x| store_bf16(round_to(x, inverse, unit)),
        |x| store_f32(round_to(x, inverse, unit));
}
