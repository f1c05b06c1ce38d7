//! Arithmetic of two `Dst` tiles.
//!
//! Source: listings `add_binary`, `sub_binary`, `rsub_binary`, `mul_binary`, `div_binary`, `binary_max`, `binary_min`.
//!
//! In 16-bit `Dst` sums are truncated by the store, or with `nearest_even` rounded by the kernel before; products and quotients are rounded to nearest even by the kernel.
//! Quotients in 32-bit `Dst` come from the mantissas, with one correction by the remainder.

use super::blocks::{Blocks, RECIPROCAL_SEED, is_blackhole, newton_step, reciprocal_mantissa};
use crate::arith::lane::{
    INFINITY, NAN, ONE, ZERO, add, arecip, exp_biased, exp_unbiased, flipsign, gtmask, iadd, ilt, is_zero, isub, mad,
    magnitude, max, min, mul, not, round_bf16_even, select, setexp, setman, setsign, shr, splat, store_bf16, store_f32,
    sub, xor,
};
use crate::exec::bf16::{Bf16, arithmetic, quotient, relations};
use crate::exec::binary_functions;
use crate::exec::quotient::divide_tile;

#[inline(always)]
pub fn mul_16<V: Blocks>(a: V, b: V) -> V {
    select(is_zero(a) | is_zero(b), ZERO, store_bf16(round_bf16_even(mul(a, b))))
}

#[inline(always)]
pub fn div_16<V: Blocks>(a: V, b: V) -> V {
    let quotient = mul(a, b.reciprocal(2));
    let by_zero = select(is_zero(a), NAN, setsign(splat::<V>(INFINITY), a));
    store_bf16(round_bf16_even(select(is_zero(b), by_zero, quotient)))
}

#[inline(always)]
pub fn div_f32<V: Blocks>(a: V, b: V) -> V {
    let (over, under) = (setexp(a, 127), setexp(b, 127));
    let inverse = if is_blackhole::<V>() {
        newton_step(under, arecip(under)).0
    } else {
        setsign(reciprocal_mantissa(b, RECIPROCAL_SEED, 1), under)
    };
    let estimate = mul(over, inverse);
    let rest = mad(estimate, flipsign(under), over);
    scale_quotient(a, b, mad(rest, inverse, estimate))
}

/// The quotient's mantissa with the exponents of the operands, or what it is where these are no ordinary numbers.
#[inline(always)]
fn scale_quotient<V: Blocks>(a: V, b: V, mantissa: V) -> V {
    store_f32(select(is_regular(a, b), regular_quotient(a, b, mantissa), special_quotient(a, b)))
}

/// The exponent in two halves, against intermediate overflow.
///
/// Neither leaves the range before the product does.
#[inline(always)]
pub fn regular_quotient<V: Blocks>(a: V, b: V, mantissa: V) -> V {
    let exponent = iadd(isub(exp_biased(a), exp_unbiased(b)), exp_biased(mantissa));
    let half = shr(exponent, 1);
    mul(setexp(mantissa, half), setexp(splat::<V>(ONE), isub(exponent, half)))
}

#[inline(always)]
pub fn is_regular<V: Blocks>(a: V, b: V) -> V::Mask {
    !ilt(exp_biased(a), 1)
        & ilt(exp_biased(a), 255)
        & !ilt(exp_unbiased(b), -126_i32 as u32)
        & ilt(exp_unbiased(b), 128)
}

#[inline(always)]
pub fn special_quotient<V: Blocks>(a: V, b: V) -> V {
    if is_blackhole::<V>() {
        return mad(flipsign(a), setman(not(b), ZERO), gtmask(magnitude(b), INFINITY));
    }
    let limit = mul(a, xor(setman(b, ZERO), INFINITY));
    select(ilt(splat::<V>(INFINITY), magnitude(b)), b, limit)
}

binary_functions! {
    "add_binary", "default": |a, b| store_bf16(add(a, b)), |a, b| store_f32(add(a, b)),
        bf16 on both = Bf16::packed(arithmetic::sum::run);
    "sub_binary", "default": |a, b| store_bf16(sub(a, b)), |a, b| store_f32(sub(a, b)),
        bf16 on both = Bf16::packed(arithmetic::difference::run);
    "rsub_binary", "default": |a, b| store_bf16(sub(b, a)), |a, b| store_f32(sub(b, a)),
        bf16 on both = Bf16::packed(arithmetic::reversed_difference::run);
    "add_binary", "nearest_even": |a, b| store_bf16(round_bf16_even(add(a, b))), |a, b| store_f32(add(a, b));
    "sub_binary", "nearest_even": |a, b| store_bf16(round_bf16_even(sub(a, b))), |a, b| store_f32(sub(a, b));
    "rsub_binary", "nearest_even": |a, b| store_bf16(round_bf16_even(sub(b, a))), |a, b| store_f32(sub(b, a));
    "mul_binary", "default": mul_16, |a, b| store_f32(mul(a, b)), bf16 on both = Bf16::packed(arithmetic::product::run);
    "div_binary", "default": div_16, Blocks::div_f32, tiles = divide_tile,
        bf16 on both = Bf16::unpacked(quotient::quotient::run);
    "binary_max", "default": |a, b| store_bf16(max(a, b)), |a, b| store_f32(max(a, b)),
        bf16 on both = Bf16::packed(relations::larger::run);
    "binary_min", "default": |a, b| store_bf16(min(a, b)), |a, b| store_f32(min(a, b)),
        bf16 on both = Bf16::packed(relations::smaller::run);
}
