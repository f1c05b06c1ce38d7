//! Division of integers. Source: listings `div_int32`, `div_int32_floor/*`, `remainder_int32`, `fmod_int32`, `gcd`,
//! `lcm`.
//!
//! The quotient is estimated by floating point from its upper bits, the divisor's multiple is taken off in 11-bit
//! parts, and one more estimate and a comparison settle the rest. `remainder_int32/uint32` has no listing: it is the
//! exact remainder, and only that of a division by 0 may differ from the chip's. `gcd` is the binary algorithm, 30
//! rounds; `lcm`, meant for operands of at most 15 bits, makes 14.

use super::blocks::Blocks;
use crate::arith::lane::{
    MINUS_ONE, ONE, add, addexp, and, arecip, clz, exp_unbiased, flipsign, iabs, iadd, is_negative, is_zero, isub, mad,
    man_only, max, min, mul, mul24hi, mul24lo, or, round_u16, select, setexp, setman, shift, shl, shr, sm_to_twos,
    sm2f, splat, store_f32, sub, sub_product, twos_to_sm, ult, xor,
};
use crate::exec::binary_functions;

/// 2^31
const POW31: u32 = 0x4f00_0000;
/// 2^34: added to a quotient it leaves the quotient's multiples of 2^11 in the mantissa.
const ROUND_TO_11: u32 = 0x5080_0000;

/// A magnitude as a number; that of the smallest integer has its sign bit set.
#[inline(always)]
fn number<V: Blocks>(magnitude: V) -> V {
    let value = sm2f(magnitude);
    select(is_negative(value), POW31, value)
}

/// 1 / x for x of at least 1. Quotients square the last error, remainders do not.
#[inline(always)]
fn inverse<V: Blocks>(x: V, square_error: bool) -> V {
    let negated = setman(splat::<V>(MINUS_ONE), x);
    let line = mad(splat::<V>(0x3ef0_f0f2), negated, 0x3fb4_b4b5);
    let y = mad(mad(line, negated, ONE), line, line);
    let error = mad(y, negated, ONE);
    let error = if square_error { mad(error, error, error) } else { error };
    mul(mad(error, y, y), isub(splat::<V>(0x7f00_0000), setman(x, 0)))
}

/// Quotient and rest of |a| / |b| by two estimates.
///
/// The rest is brought into the divisor's reach.
#[inline(always)]
pub fn divide<V: Blocks>(a: V, b: V, for_quotient: bool) -> (V, V) {
    let (dividend, divisor) = (iabs(a), iabs(b));
    let inverse = inverse(number(divisor), for_quotient);
    let upper = man_only(add(mul(number(dividend), inverse), ROUND_TO_11));
    let rest = isub(dividend, shl(upper.imul(divisor), 11));
    let distance = iabs(rest);
    let remaining = if for_quotient { addexp(sm2f(shr(distance, 1)), 1) } else { number(distance) };
    let estimate = round_u16(mul(remaining, inverse));
    let back = is_negative(rest) & !is_zero(shl(upper, if for_quotient { 11 } else { 0 }));
    let correction = select(back, isub(splat::<V>(0), estimate), estimate);
    let quotient = iadd(shl(upper, 11), correction);
    let rest = isub(rest, correction.imul(divisor));
    let less_one = isub(rest, divisor);
    let (below, above) = (is_negative(rest), !is_negative(rest) & !is_negative(less_one));
    let step = select(below, u32::MAX, select(above, 1, splat::<V>(0)));
    (iadd(quotient, step), select(below, iadd(rest, divisor), select(above, less_one, rest)))
}

#[inline(always)]
fn negative_if<V: Blocks>(mask: V::Mask, x: V) -> V {
    select(mask, isub(splat::<V>(0), x), x)
}

#[inline(always)]
fn div_trunc<V: Blocks>(a: V, b: V) -> V {
    negative_if(is_negative(xor(a, b)), a.divide(b, true).0)
}

#[inline(always)]
fn div_floor<V: Blocks>(a: V, b: V) -> V {
    let (quotient, rest) = a.divide(b, true);
    let negative = is_negative(xor(a, b));
    let quotient = negative_if(negative, quotient);
    select(negative & !is_zero(rest), isub(quotient, 1), quotient)
}

#[inline(always)]
fn fmod<V: Blocks>(a: V, b: V) -> V {
    negative_if(is_negative(a), a.divide(b, false).1)
}

#[inline(always)]
fn remainder<V: Blocks>(a: V, b: V) -> V {
    let rest = fmod(a, b);
    select(!is_zero(rest) & is_negative(xor(a, b)), iadd(rest, b), rest)
}

/// a % b of words without a sign: halving brings the dividend into the reach of signed words.
#[inline(always)]
fn unsigned_remainder<V: Blocks>(a: V, b: V) -> V {
    let (_, half) = shr(a, 1).divide(b, false);
    let doubled = or(shl(half, 1), and(a, 1));
    // At most once the divisor is left to take off.
    let rest = select(is_negative(b), a, doubled);
    select(ult(rest, b), rest, isub(rest, b))
}

/// The quotient in FP32; 1 for equal operands.
#[inline(always)]
fn div_to_fp32<V: Blocks>(a: V, b: V) -> V {
    let (over, under) = as_numbers(a, b);
    let inverse = under.reciprocal(2);
    let quotient = mul(over, inverse);
    quotient_of_numbers(a, b, quotient, mad(sub(over, mul(quotient, under)), inverse, quotient))
}

#[inline(always)]
pub fn as_numbers<V: Blocks>(a: V, b: V) -> (V, V) {
    (sm2f(sm_to_twos(a)), sm2f(sm_to_twos(b)))
}

/// The refined quotient, but of zero and of equal operands.
#[inline(always)]
pub fn quotient_of_numbers<V: Blocks>(a: V, b: V, quotient: V, refined: V) -> V {
    let (a, b) = (sm_to_twos(a), sm_to_twos(b));
    let divided = select(is_zero(b), quotient, refined);
    store_f32(select(!is_zero(a) & a.is_equal(b), ONE, divided))
}

/// The same of Blackhole, which converts two's complement itself.
#[inline(always)]
fn short_div_to_fp32<V: Blocks>(a: V, b: V) -> V {
    let (a, b) = (twos_to_sm(a), twos_to_sm(b));
    let (over, under) = (sm2f(a), sm2f(b));
    let inverse = under.reciprocal(2);
    let divides = is_zero(a) | !a.is_equal(b);
    let quotient = select(divides, mul(over, inverse), splat::<V>(ONE));
    let refined = mad(sub_product(over, quotient, under), inverse, quotient);
    store_f32(select(divides & !is_zero(b), refined, quotient))
}

/// Quotient and rest of |a| / |b| on Blackhole, by products of 23 bits: multiples of 2^10, and one more estimate.
#[inline(always)]
fn short_divide<V: Blocks>(a: V, b: V) -> (V, V) {
    /// 2^33: added to a quotient it leaves the quotient's multiples of 2^10 in the mantissa.
    const ROUND_TO_10: u32 = 0x5000_0000;
    let (dividend, divisor) = (iabs(a), iabs(b));
    let under = number(divisor);
    let y = arecip(under);
    let error = mad(flipsign(y), under, ONE);
    let inverse = mad(mad(error, error, error), y, y);
    let upper = man_only(mad(number(dividend), inverse, ROUND_TO_10));
    let rest = isub(dividend, shl(mul24lo(upper, divisor), 10));
    let back = is_negative(rest) & !is_zero(shl(upper, 10));
    let remaining = addexp(sm2f(shr(iabs(rest), 1)), 1);
    let estimate = round_u16(mul(remaining, inverse));
    let carried = iadd(mul24hi(estimate, divisor), mul24lo(estimate, shr(divisor, 23)));
    let product = iadd(mul24lo(estimate, divisor), shl(carried, 23));
    let rest = isub(rest, negative_if(back, product));
    let quotient = iadd(negative_if(back, estimate), shl(upper, 10));
    let less_one = isub(rest, divisor);
    let (below, above) = (is_negative(rest), !is_negative(rest) & !is_negative(less_one));
    let step = select(below, u32::MAX, select(above, 1, splat::<V>(0)));
    (iadd(quotient, step), select(above, less_one, select(below, iadd(rest, divisor), rest)))
}

#[inline(always)]
fn short_div_trunc<V: Blocks>(a: V, b: V) -> V {
    negative_if(is_negative(xor(a, b)), short_divide(a, b).0)
}

#[inline(always)]
fn short_div_floor<V: Blocks>(a: V, b: V) -> V {
    let (quotient, rest) = short_divide(a, b);
    let negative = is_negative(xor(a, b));
    let quotient = negative_if(negative, quotient);
    select(negative & !is_zero(rest), isub(quotient, 1), quotient)
}

/// The binary algorithm.
///
/// The trailing zeros of the smaller operand are shifted out of a difference, again and again.
#[inline(always)]
pub fn gcd_rounds<V: Blocks>(a: V, b: V, rounds: usize) -> V {
    let either = or(a, b);
    let lowest_bit = and(isub(splat::<V>(0), either), either);
    let common = clz(lowest_bit);
    let swap = is_zero(b.shl(common));
    let mut smaller = iabs(select(swap, a, b));
    let mut difference = isub(splat::<V>(0), iabs(select(swap, b, a)));
    for _ in 0..rounds {
        let distance = iabs(difference);
        let lowest_bit = and(difference, distance);
        let active = !is_zero(lowest_bit);
        let aligned = shift(distance, isub(clz(lowest_bit), common));
        let (low, high) = (min(smaller, aligned), max(smaller, aligned));
        smaller = select(active, low, smaller);
        difference = select(active, isub(low, high), splat(0));
    }
    smaller
}

#[inline(always)]
fn gcd<V: Blocks>(a: V, b: V) -> V {
    a.gcd_rounds(b, 30)
}

/// |a| / gcd times |b|, the product from bytes.
#[inline(always)]
fn lcm<V: Blocks>(a: V, b: V) -> V {
    let divisor = sm2f(a.gcd_rounds(b, 14));
    let negated = setexp(or(divisor, 0x8000_0000), 126);
    let mut y = mad(splat::<V>(0x3ff0_f0f1), negated, 0x4034_b4b5);
    for _ in 0..2 {
        y = mad(mad(y, negated, ONE), y, y);
    }
    let exponent = isub(exp_unbiased(y), iadd(exp_unbiased(divisor), -126_i32 as u32));
    let inverse = setexp(y, exponent);
    let factor = round_u16(mul(sm2f(iabs(a)), inverse));
    let other = iabs(b);
    let (upper, lower) = (shr(factor, 8), and(factor, 255));
    let (other_upper, other_lower) = (shr(other, 8), and(other, 255));
    let middle = iadd(shl(of_bytes(upper, other_lower), 8), shl(of_bytes(lower, other_upper), 8));
    iadd(iadd(shl(of_bytes(upper, other_upper), 16), middle), of_bytes(lower, other_lower))
}

/// The product of two bytes. No closure: that would be compiled without the level's instructions.
#[inline(always)]
fn of_bytes<V: Blocks>(a: V, b: V) -> V {
    round_u16(mul(sm2f(a), sm2f(b)))
}

macro_rules! binary {
    ($($name:literal, $variant:literal $(for $only:ident)?: $program:expr $(, speculative = $speculative:expr)?;)+) => {
        binary_functions! {
            $($name, $variant $(for $only)?: $program, $program $(, speculative = [$speculative, $speculative])?;)+
        }
    };
}

binary! {
    "div_int32", "int32_to_fp32" for Wormhole: div_to_fp32, speculative = speculative::binary::div_to_fp32;
    "div_int32_floor", "floor" for Wormhole: div_floor;
    "div_int32_floor", "trunc" for Wormhole: div_trunc;
    "div_int32", "int32_to_fp32" for Blackhole: short_div_to_fp32;
    "div_int32_floor", "floor" for Blackhole: short_div_floor;
    "div_int32_floor", "trunc" for Blackhole: short_div_trunc;
    "fmod_int32", "int32": fmod;
    "remainder_int32", "int32": remainder;
    "remainder_int32", "uint32": unsigned_remainder;
    "gcd", "int32": gcd;
    "lcm", "int32": lcm;
}
