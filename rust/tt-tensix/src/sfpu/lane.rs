//! Lane primitives in the notation of the listings. `sfpu.md` section 3. Words are FP32 bits unless said otherwise.

use super::convert::{Round, round};
pub use super::convert::{cast_to_fp32 as sm2f, flush, round_bf16};
use super::fma::wormhole;

/// 0.5
pub const HALF: u32 = 0x3f00_0000;
/// 1.0
pub const ONE: u32 = 0x3f80_0000;
/// -1.0
pub const MINUS_ONE: u32 = 0xbf80_0000;
/// Positive infinity.
pub const INFINITY: u32 = 0x7f80_0000;
/// The quiet NaN that kernels write.
pub const NAN: u32 = 0x7fc0_0000;

/// `a * b + c`, one rounding.
#[inline(always)]
pub fn mad(a: u32, b: u32, c: u32) -> u32 {
    wormhole(a, b, c)
}

/// `a * b`.
#[inline(always)]
pub fn mul(a: u32, b: u32) -> u32 {
    wormhole(a, b, 0)
}

/// `a + b`.
#[inline(always)]
pub fn add(a: u32, b: u32) -> u32 {
    wormhole(ONE, a, b)
}

/// `a - b`, which is `b * -1 + a`.
#[inline(always)]
pub fn sub(a: u32, b: u32) -> u32 {
    wormhole(b, MINUS_ONE, a)
}

/// Horner's rule: coefficients from the highest power down, one multiply-add each.
#[inline(always)]
pub fn polynomial<const N: usize>(x: u32, coefficients: [u32; N]) -> u32 {
    let mut sum = coefficients[0];
    for &coefficient in &coefficients[1..] {
        sum = mad(sum, x, coefficient);
    }
    sum
}

/// Sign bit inverted.
#[inline(always)]
pub fn flipsign(a: u32) -> u32 {
    a ^ 0x8000_0000
}

/// Bits below 2^23.
#[inline(always)]
pub fn man_only(a: u32) -> u32 {
    a & 0x7f_ffff
}

/// Mantissa with the hidden bit, also for zeros and denormals.
#[inline(always)]
pub fn man_with_one(a: u32) -> u32 {
    a & 0x7f_ffff | 1 << 23
}

/// Exponent field.
#[inline(always)]
pub fn exp_biased(a: u32) -> u32 {
    a >> 23 & 255
}

/// Exponent field minus 127, as a two's complement word.
#[inline(always)]
pub fn exp_unbiased(a: u32) -> u32 {
    exp_biased(a).wrapping_sub(127)
}

/// Exponent field replaced by the low eight bits of `exponent`.
#[inline(always)]
pub fn setexp(a: u32, exponent: u32) -> u32 {
    a & !INFINITY | (exponent & 255) << 23
}

/// Exponent field taken from `b`.
#[inline(always)]
pub fn copyexp(a: u32, b: u32) -> u32 {
    a & !INFINITY | b & INFINITY
}

/// Mantissa taken from `b`.
#[inline(always)]
pub fn setman(a: u32, b: u32) -> u32 {
    a & !0x7f_ffff | b & 0x7f_ffff
}

/// Sign taken from `b`.
#[inline(always)]
pub fn setsign(a: u32, b: u32) -> u32 {
    a & 0x7fff_ffff | b & 0x8000_0000
}

/// `k` added to the exponent field modulo 256; a field of 255 stays, a field of 0 is not special.
#[inline(always)]
pub fn addexp(a: u32, k: u32) -> u32 {
    if exp_biased(a) == 255 { a } else { setexp(a, exp_biased(a).wrapping_add(k)) }
}

/// Shift by a two's complement count: left if positive, otherwise logically to the right.
#[inline(always)]
pub fn shift(a: u32, count: u32) -> u32 {
    if (count as i32) < 0 { a >> (count.wrapping_neg() & 31) } else { a << (count & 31) }
}

/// Two's complement absolute value.
#[inline(always)]
pub fn iabs(a: u32) -> u32 {
    (a as i32).wrapping_abs() as u32
}

/// Absolute value; negative NaNs are left alone.
#[inline(always)]
pub fn fabs(a: u32) -> u32 {
    if a > 0xff80_0000 { a } else { a & 0x7fff_ffff }
}

/// Position of a word in the total order of [`min`] and [`max`].
#[inline(always)]
pub fn order(word: u32) -> i32 {
    word as i32 ^ ((word as i32 >> 31) as u32 >> 1) as i32
}

/// The smaller word in total order.
#[inline(always)]
pub fn min(a: u32, b: u32) -> u32 {
    if order(a) < order(b) { a } else { b }
}

/// The larger word in total order.
#[inline(always)]
pub fn max(a: u32, b: u32) -> u32 {
    if order(a) > order(b) { a } else { b }
}

/// Nearest sign-magnitude integer of at most 15 bits.
#[inline(always)]
pub fn round_sm16(a: u32) -> u32 {
    round(Round::Int16, a)
}

/// Nearest integer to the magnitude, at most 65535.
#[inline(always)]
pub fn round_u16(a: u32) -> u32 {
    round(Round::UInt16, a)
}

/// Nearest integer to the magnitude, at most 255.
#[inline(always)]
pub fn round_u8(a: u32) -> u32 {
    round(Round::UInt8, a)
}

/// Sign bit set (so also for -0).
#[inline(always)]
pub fn is_negative(a: u32) -> bool {
    a >> 31 == 1
}

/// Round to BF16, ties to even, on the bare word; NaN payloads may wrap.
#[inline(always)]
pub fn round_bf16_even(a: u32) -> u32 {
    a.wrapping_add(0x7fff).wrapping_add(a >> 16 & 1) & 0xffff_0000
}

/// The word that a store leaves in a 16-bit `Dst`, at the bit positions of FP32.
#[inline(always)]
pub fn store_bf16(a: u32) -> u32 {
    flush(a) & 0xffff_0000
}

/// The word that a store leaves in a 32-bit `Dst`.
#[inline(always)]
pub fn store_f32(a: u32) -> u32 {
    flush(a)
}
