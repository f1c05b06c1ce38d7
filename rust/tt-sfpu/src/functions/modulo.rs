//! Remainders of a division. Source: listings `fmod`, `remainder`, `fmod_binary`, `remainder_binary`.
//!
//! Domain: all words; a zero divisor gives NaN (+inf in 16-bit `Dst` of the binary forms). `fmod` has the sign of the
//! dividend, `remainder` that of the divisor. The scalar forms take the divisor and its inverse, and subtract the
//! divisor up to ten times more from what the first estimate left.

use super::blocks::Blocks;
use super::rounding::{floor, trunc};
use crate::arith::lane::{
    MINUS_ONE, NAN, ZERO, add, equal, exp_unbiased, fabs, greater, ilt, is_negative, is_zero, less, mul, select,
    setsign, splat, store_bf16, store_f32, store_rounded, sub, sub_product, xor,
};
use crate::exec::bf16::{Bf16, modulo};
use crate::exec::binary_functions;
use crate::exec::functions;

/// How often the divisor is subtracted again.
const CORRECTIONS: usize = 10;

#[inline(always)]
fn corrected<V: Blocks>(rest: V, divisor: V) -> V {
    let mut rest = select(is_zero(divisor), NAN, rest);
    for _ in 0..CORRECTIONS {
        let less_one = sub(rest, divisor);
        rest = select(rest.is_below_by(divisor, less_one), rest, less_one);
    }
    select(is_zero(sub(fabs(rest), divisor)), ZERO, rest)
}

#[inline(always)]
fn fmod<V: Blocks>(x: V, divisor: u32, inverse: u32) -> V {
    let (distance, divisor) = (fabs(x), fabs(splat::<V>(divisor)));
    let quotient = mul(distance, fabs(splat::<V>(inverse)));
    let whole = trunc(quotient);
    let above = ilt(exp_unbiased(quotient), 23) & greater(mul(whole, divisor), distance);
    let whole = select(above, add(whole, MINUS_ONE), whole);
    corrected(setsign(sub_product(distance, whole, divisor), x), divisor)
}

#[inline(always)]
fn remainder<V: Blocks>(x: V, divisor: u32, inverse: u32) -> V {
    let signed = splat::<V>(divisor);
    let (distance, divisor) = (fabs(x), fabs(signed));
    let quotient = mul(distance, fabs(splat::<V>(inverse)));
    let whole = trunc(quotient);
    let whole = select(greater(whole, quotient), add(whole, MINUS_ONE), whole);
    let rest = sub_product(distance, whole, divisor);
    let rest = select(is_negative(x) & !is_zero(rest), sub(divisor, rest), rest);
    let rest = select(is_negative(signed) & !is_zero(rest), add(rest, signed), rest);
    corrected(setsign(rest, signed), divisor)
}

#[inline(always)]
fn fmod_binary<V: Blocks>(a: V, b: V) -> V {
    let divisor = fabs(b);
    let whole = trunc(mul(a, b.reciprocal(2)));
    let rest = sub_product(a, whole, b);
    // Back into the divisor's reach, then to the dividend's sign.
    let beyond = !less(fabs(rest), divisor);
    let inner = select(less(rest, ZERO), add(rest, divisor), sub(rest, divisor));
    let rest = select(beyond, inner, rest);
    let negative = less(a, ZERO);
    let rest = select(!negative & less(rest, ZERO), add(rest, divisor), rest);
    let rest = select(negative & greater(rest, ZERO), sub(rest, divisor), rest);
    select(equal(b, ZERO), NAN, select(equal(a, b), ZERO, rest))
}

#[inline(always)]
fn remainder_binary<V: Blocks>(a: V, b: V) -> V {
    let whole = floor(mul(a, b.reciprocal(2)));
    let rest = sub_product(a, whole, b);
    let other_sign = !equal(rest, ZERO) & is_negative(xor(rest, b));
    let rest = select(other_sign, add(rest, b), rest);
    let less_one = sub(rest, b);
    let both_positive = greater(b, ZERO) & greater(a, ZERO);
    let rest = select(both_positive & !less(less_one, ZERO), less_one, rest);
    let less_one = sub(rest, b);
    let both_negative = less(b, ZERO) & less(a, ZERO);
    let rest = select(both_negative & !greater(less_one, ZERO), less_one, rest);
    select(equal(b, ZERO), NAN, rest)
}

functions! {
    "fmod", "default" [divisor, inverse]: |x| store_bf16(fmod(x, divisor, inverse)),
        |x| store_f32(fmod(x, divisor, inverse));
    "remainder", "default" [divisor, inverse]: |x| store_bf16(remainder(x, divisor, inverse)),
        |x| store_f32(remainder(x, divisor, inverse));
}

binary_functions! {
    "fmod_binary", "default": |a, b| store_rounded(fmod_binary(a, b)), |a, b| store_f32(fmod_binary(a, b)),
        bf16 = Bf16::packed(modulo::fmod::run);
    "remainder_binary", "default": |a, b| store_rounded(remainder_binary(a, b)),
        |a, b| store_f32(remainder_binary(a, b)), bf16 = Bf16::packed(modulo::remainder::run);
}
