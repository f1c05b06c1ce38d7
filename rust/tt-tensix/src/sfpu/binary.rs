//! Arithmetic of two `Dst` tiles; [`super::quotient`] lists the division.
//!
//! Source: listings `add_binary`, `sub_binary`, `rsub_binary`, `mul_binary`, `div_binary`, `binary_max`, `binary_min`.
//!
//! In 16-bit `Dst` sums are truncated by the store; products and quotients are rounded to nearest even by the kernel.
//! Quotients in 32-bit `Dst` come from the mantissas, with one correction by the remainder.

use super::blocks::reciprocal;
use super::lane::{
    INFINITY, NAN, ONE, Word, ZERO, add, any, exp_biased, exp_unbiased, flipsign, iadd, ilt, is_zero, isub, magnitude,
    max, min, mul, round_bf16_even, select, setexp, setman, setsign, shr, splat, store_bf16, store_f32, sub, xor,
};
use super::run_binary::binary_functions;

#[inline(always)]
pub fn mul_16<V: Word>(a: V, b: V) -> V {
    select(is_zero(a) | is_zero(b), ZERO, store_bf16(round_bf16_even(mul(a, b))))
}

#[inline(always)]
pub fn div_16<V: Word>(a: V, b: V) -> V {
    let quotient = mul(a, reciprocal(b, 2));
    let by_zero = select(is_zero(a), NAN, setsign(splat::<V>(INFINITY), a));
    store_bf16(round_bf16_even(select(is_zero(b), by_zero, quotient)))
}

/// The guess of a mantissa's reciprocal is 1/10000 off at most after its step, so that the quotient is, and its product
/// with the divisor leaves less than 1/16 of the dividend's mantissa.
#[inline(always)]
pub fn div_32<V: Word>(a: V, b: V) -> V {
    let (over, under) = (setexp(a, 127).surely(0, 1), setexp(b, 127).surely(0, 1));
    let inverse = setsign(b.inverse_of_mantissa(1), under).surely(-1, 1);
    let guess = mul(over, inverse).surely(-1, 1);
    let rest = guess.residual_of_mantissa(flipsign(under), over);
    let mantissa = rest.ordinary(inverse, guess);
    // The exponent goes on in two halves, so that neither leaves the range before the product does.
    let exponent = iadd(isub(exp_biased(a), exp_unbiased(b)), exp_biased(mantissa));
    let half = shr(exponent, 1);
    let quotient = mul(setexp(mantissa, half), setexp(splat::<V>(ONE), isub(exponent, half)));
    let regular = !ilt(exp_biased(a), 1)
        & ilt(exp_biased(a), 255)
        & !ilt(exp_unbiased(b), -126_i32 as u32)
        & ilt(exp_unbiased(b), 128);
    if !any::<V>(!regular) {
        return store_f32(quotient);
    }
    let limit = mul(a, xor(setman(b, ZERO), INFINITY));
    let special = select(ilt(splat::<V>(INFINITY), magnitude(b)), b, limit);
    store_f32(select(regular, quotient, special))
}

binary_functions! {
    "add_binary", "default": |a, b| store_bf16(add(a, b)), |a, b| store_f32(add(a, b));
    "sub_binary", "default": |a, b| store_bf16(sub(a, b)), |a, b| store_f32(sub(a, b));
    "rsub_binary", "default": |a, b| store_bf16(sub(b, a)), |a, b| store_f32(sub(b, a));
    "mul_binary", "default": mul_16, |a, b| store_f32(mul(a, b));
    "binary_max", "default": |a, b| store_bf16(max(a, b)), |a, b| store_f32(max(a, b));
    "binary_min", "default": |a, b| store_bf16(min(a, b)), |a, b| store_f32(min(a, b));
}
