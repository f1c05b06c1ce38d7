//! Division of integers. Source: listings `div_int32`, `div_int32_floor/*`, `remainder_int32`, `fmod_int32`, `gcd`,
//! `lcm`.
//!
//! The quotient is estimated by floating point from its upper bits, the divisor's multiple is taken off in 11-bit
//! parts, and one more estimate and a comparison settle the rest. `remainder_int32/uint32` has no listing: it is the
//! exact remainder, and only that of a division by 0 may differ from the chip's. `gcd` is the binary algorithm, 30
//! rounds; `lcm`, meant for operands of at most 15 bits, makes 14.

use super::blocks::reciprocal;
use super::lane::{
    MINUS_ONE, ONE, Word, addexp, and, any, clz, exp_unbiased, iabs, iadd, is_negative, is_zero, isub, mad, man_only,
    max, min, mul, or, round_u16, select, setexp, setman, shift, shl, shr, shrinking, sm_to_twos, sm2f, splat,
    store_f32, sub, ult, xor,
};
use super::run_binary::binary_functions;

/// 2^31
const POW31: u32 = 0x4f00_0000;
/// 2^34: added to a quotient it leaves the quotient's multiples of 2^11 in the mantissa.
const ROUND_TO_11: u32 = 0x5080_0000;

/// A magnitude as a number; that of the smallest integer has its sign bit set.
#[inline(always)]
fn number<V: Word>(magnitude: V) -> V {
    let value = sm2f(magnitude);
    select(is_negative(value), POW31, value)
}

/// 1 / x for x of at least 1. Quotients square the last error, remainders do not.
///
/// The line is 1/17 off at most, at both ends and between, and falls from 0.94 to 0.47. A step squares what is off.
#[inline(always)]
fn inverse<V: Word>(x: V, square_error: bool) -> V {
    let negated = setman(splat::<V>(MINUS_ONE), x).surely(0, 1);
    let line = shrinking(splat::<V>(0x3ef0_f0f2), negated, 0x3fb4_b4b5).surely(-2, 0);
    let y = line.residual_of_one(negated).ordinary(line, line).surely(-2, 1);
    let error = y.residual_of_one(negated);
    let error = if square_error { error.ordinary(error, error) } else { error };
    mul(error.ordinary(y, y), isub(splat::<V>(0x7f00_0000), setman(x, 0)))
}

/// What the two estimates leave of |a| / |b|.
pub struct Division<V> {
    /// Within one of the quotient.
    quotient: V,
    /// |a| less the quotient times |b|; may be negative, or |b| and more.
    rest: V,
    divisor: V,
}

/// Of a divisor other than 0 and integers above the smallest one, what is settled then is the exact quotient and rest.
/// With the inverse 2^-16 off at most, the first estimate is half of 2^11 off, and 2^-16 of the quotient: it leaves
/// less than 2^16 divisors. The second is off by a half, by 2^-16 of that, and, as quotients leave out the last bit, by
/// up to one for a divisor of 1. So the rest is more than minus one divisor and less than two.
#[inline(always)]
pub fn divide<V: Word>(a: V, b: V, for_quotient: bool) -> Division<V> {
    let (dividend, divisor) = (iabs(a), iabs(b));
    let inverse = inverse(number(divisor), for_quotient);
    let upper = man_only(super::lane::add(mul(number(dividend), inverse), ROUND_TO_11));
    let rest = isub(dividend, shl(upper.imul(divisor), 11));
    let distance = iabs(rest);
    let remaining = if for_quotient { addexp(sm2f(shr(distance, 1)), 1) } else { number(distance) };
    let estimate = round_u16(mul(remaining, inverse));
    let back = is_negative(rest) & !is_zero(shl(upper, if for_quotient { 11 } else { 0 }));
    let correction = select(back, isub(splat::<V>(0), estimate), estimate);
    Division { quotient: iadd(shl(upper, 11), correction), rest: isub(rest, correction.imul(divisor)), divisor }
}

impl<V: Word> Division<V> {
    /// The quotient, and the rest brought into the divisor's reach.
    #[inline(always)]
    pub fn settled(self) -> (V, V) {
        let Self { quotient, rest, divisor } = self;
        let less_one = isub(rest, divisor);
        let (below, above) = (is_negative(rest), !is_negative(rest) & !is_negative(less_one));
        let step = select(below, u32::MAX, select(above, 1, splat::<V>(0)));
        let settled = select(below, iadd(rest, divisor), select(above, less_one, rest));
        (iadd(quotient, step), settled)
    }
}

#[inline(always)]
fn negative_if<V: Word>(mask: V::Mask, x: V) -> V {
    select(mask, isub(splat::<V>(0), x), x)
}

#[inline(always)]
fn div_trunc<V: Word>(a: V, b: V) -> V {
    negative_if(is_negative(xor(a, b)), a.divided(b, true).0)
}

#[inline(always)]
fn div_floor<V: Word>(a: V, b: V) -> V {
    let (quotient, rest) = a.divided(b, true);
    let negative = is_negative(xor(a, b));
    let quotient = negative_if(negative, quotient);
    select(negative & !is_zero(rest), isub(quotient, 1), quotient)
}

#[inline(always)]
fn fmod<V: Word>(a: V, b: V) -> V {
    negative_if(is_negative(a), a.divided(b, false).1)
}

#[inline(always)]
fn remainder<V: Word>(a: V, b: V) -> V {
    let rest = fmod(a, b);
    select(!is_zero(rest) & is_negative(xor(a, b)), iadd(rest, b), rest)
}

/// a % b of words without a sign: halving brings the dividend into the reach of signed words.
#[inline(always)]
fn unsigned_remainder<V: Word>(a: V, b: V) -> V {
    let (_, half) = shr(a, 1).divided(b, false);
    let doubled = or(shl(half, 1), and(a, 1));
    // At most once the divisor is left to take off.
    let rest = select(is_negative(b), a, doubled);
    select(ult(rest, b), rest, isub(rest, b))
}

/// The quotient in FP32; 1 for equal operands.
#[inline(always)]
fn div_to_fp32<V: Word>(a: V, b: V) -> V {
    let (a, b) = (sm_to_twos(a), sm_to_twos(b));
    let (over, under) = (sm2f(a), sm2f(b));
    let inverse = reciprocal(under, 2);
    let quotient = mul(over, inverse);
    let refined = mad(sub(over, mul(quotient, under)), inverse, quotient);
    let divided = select(is_zero(b), quotient, refined);
    store_f32(select(!is_zero(a) & a.is_equal(b), ONE, divided))
}

/// The binary algorithm: the trailing zeros of the smaller operand are shifted out of a difference, again and again.
#[inline(always)]
pub fn gcd_rounds<V: Word>(a: V, b: V, rounds: usize) -> V {
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
        if !any::<V>(active) {
            break;
        }
        let aligned = shift(distance, isub(clz(lowest_bit), common));
        let (low, high) = (min(smaller, aligned), max(smaller, aligned));
        smaller = select(active, low, smaller);
        difference = select(active, isub(low, high), splat(0));
    }
    smaller
}

#[inline(always)]
fn gcd<V: Word>(a: V, b: V) -> V {
    a.common_divisor(b, 30)
}

/// |a| / gcd times |b|, the product from bytes.
#[inline(always)]
fn lcm<V: Word>(a: V, b: V) -> V {
    let divisor = sm2f(a.common_divisor(b, 14));
    let negated = setexp(or(divisor, 0x8000_0000), 126).surely(-1, 0);
    // The same line from a half to one.
    let mut y = shrinking(splat::<V>(0x3ff0_f0f1), negated, 0x4034_b4b5).surely(-1, 1);
    for _ in 0..2 {
        y = y.residual_of_one(negated).ordinary(y, y).surely(-1, 2);
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
fn of_bytes<V: Word>(a: V, b: V) -> V {
    round_u16(mul(sm2f(a), sm2f(b)))
}

macro_rules! binary {
    ($($name:literal, $variant:literal: $program:expr;)+) => {
        binary_functions! {$($name, $variant: $program, $program;)+}
    };
}

binary! {
    "div_int32", "int32_to_fp32": div_to_fp32;
    "div_int32_floor", "floor": div_floor;
    "div_int32_floor", "trunc": div_trunc;
    "fmod_int32", "int32": fmod;
    "remainder_int32", "int32": remainder;
    "remainder_int32", "uint32": unsigned_remainder;
    "gcd", "int32": gcd;
    "lcm", "int32": lcm;
}
