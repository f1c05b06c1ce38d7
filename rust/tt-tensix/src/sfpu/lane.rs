//! Lane primitives in the notation of the listings. `sfpu.md` section 3. Words are FP32 bits unless said otherwise.

use super::course::Course;

pub use super::word::Word;

/// +0
pub const ZERO: u32 = 0;
/// 0.5
pub const HALF: u32 = 0x3f00_0000;
/// 1.0
pub const ONE: u32 = 0x3f80_0000;
/// 2.0
pub const TWO: u32 = 0x4000_0000;
/// -1.0
pub const MINUS_ONE: u32 = 0xbf80_0000;
/// Positive infinity.
pub const INFINITY: u32 = 0x7f80_0000;
/// The quiet NaN that kernels write.
pub const NAN: u32 = 0x7fc0_0000;
/// 2^23 * 1.5: adding it rounds to an integer, which is left in the low bits.
pub const ROUNDER: u32 = 0x4b40_0000;

const SIGN: u32 = 0x8000_0000;
const MANTISSA: u32 = 0x7f_ffff;
const HIDDEN: u32 = 0x80_0000;

/// The same word in every lane.
#[inline(always)]
pub fn splat<V: Word>(word: u32) -> V {
    V::from(word)
}

/// `a * b + c`, one rounding.
#[inline(always)]
pub fn mad<V: Word>(a: V, b: impl Into<V>, c: impl Into<V>) -> V {
    a.mad(b.into(), c.into())
}

/// [`mad`] where the terms nearly cancel.
#[inline(always)]
pub fn residual<V: Word>(a: V, b: impl Into<V>, c: impl Into<V>) -> V {
    a.residual(b.into(), c.into())
}

/// [`mad`] where a small integer times a short constant takes most of `c` away.
#[inline(always)]
pub fn reduce<V: Word>(a: V, b: impl Into<V>, c: impl Into<V>) -> V {
    a.reduce(b.into(), c.into())
}

/// [`mad`] where up to three quarters of `c` are taken away.
#[inline(always)]
pub fn shrinking<V: Word>(a: V, b: impl Into<V>, c: impl Into<V>) -> V {
    a.shrinking(b.into(), c.into())
}

/// [`mad`] where up to all of the constant `c` is taken away.
#[inline(always)]
pub fn vanishing<V: Word>(a: V, b: impl Into<V>, c: impl Into<V>) -> V {
    a.vanishing(b.into(), c.into())
}

/// [`mad`] where `b` is a power of two.
#[inline(always)]
pub fn scaled<V: Word>(a: V, b: impl Into<V>, c: impl Into<V>) -> V {
    a.scaled(b.into(), c.into())
}

/// [`mad`] where the product may be many times `c`.
#[inline(always)]
pub fn far<V: Word>(a: V, b: impl Into<V>, c: impl Into<V>) -> V {
    a.far(b.into(), c.into())
}

/// [`mad`] where the product may be several times `c` and has its sign.
#[inline(always)]
pub fn growing<V: Word>(a: V, b: impl Into<V>, c: impl Into<V>) -> V {
    a.growing(b.into(), c.into())
}

/// [`mad`] where the terms may stand in any relation.
#[inline(always)]
pub fn general<V: Word>(a: V, b: impl Into<V>, c: impl Into<V>) -> V {
    a.general(b.into(), c.into())
}

/// `a * b`.
#[inline(always)]
pub fn mul<V: Word>(a: V, b: impl Into<V>) -> V {
    a.times(b.into())
}

/// `a + b`. Of two NaNs the first one's sign wins, as for an infinity against a NaN.
#[inline(always)]
pub fn add<V: Word>(a: V, b: impl Into<V>) -> V {
    a.plus(b.into())
}

/// `a - b`, which is `b * -1 + a`.
#[inline(always)]
pub fn sub<V: Word>(a: V, b: impl Into<V>) -> V {
    a.minus(b.into())
}

/// Horner's rule: coefficients from the highest power down, one multiply-add each.
#[inline(always)]
pub fn polynomial<V: Word, const N: usize>(x: V, coefficients: [u32; N]) -> V {
    V::from(coefficients[0]).horner(x, &coefficients[1..])
}

/// [`polynomial`] from a sum that is already there.
#[inline(always)]
pub fn polynomial_from<V: Word, const N: usize>(sum: V, x: V, coefficients: [u32; N]) -> V {
    sum.horner(x, &coefficients)
}

/// [`polynomial`] of which is proven that all steps are ordinary for what `x` can be: see
/// [`super::series::is_ordinary`].
#[inline(always)]
pub fn ordinary_polynomial<V: Word, const N: usize>(x: V, coefficients: [u32; N]) -> V {
    V::from(coefficients[0]).ordinary_horner(x, &coefficients[1..])
}

/// [`polynomial`] of a known course, for arguments within its bounds in all lanes that count.
#[inline(always)]
pub fn polynomial_along<V: Word, const N: usize>(x: V, coefficients: [u32; N], course: Course) -> V {
    V::from(coefficients[0]).horner_along(x, &coefficients[1..], course)
}

/// [`polynomial`] of a known course, for arguments that are usually within its bounds, from zero up.
#[inline(always)]
pub fn polynomial_within<V: Word, const N: usize>(x: V, coefficients: [u32; N], course: Course) -> V {
    V::from(coefficients[0]).horner_within(x, &coefficients[1..], course)
}

/// [`polynomial`] whose terms may stand in any relation.
#[inline(always)]
pub fn general_polynomial<V: Word, const N: usize>(x: V, coefficients: [u32; N]) -> V {
    V::from(coefficients[0]).general_horner(x, &coefficients[1..])
}

/// [`polynomial`] whose terms have one sign, of arguments that may exceed 1.
#[inline(always)]
pub fn growing_polynomial<V: Word, const N: usize>(x: V, coefficients: [u32; N]) -> V {
    V::from(coefficients[0]).growing_horner(x, &coefficients[1..])
}

/// Bits set in both.
#[inline(always)]
pub fn and<V: Word>(a: V, b: impl Into<V>) -> V {
    a.and(b.into())
}

/// Bits set in one of them.
#[inline(always)]
pub fn or<V: Word>(a: V, b: impl Into<V>) -> V {
    a.or(b.into())
}

/// Bits set in exactly one.
#[inline(always)]
pub fn xor<V: Word>(a: V, b: impl Into<V>) -> V {
    a.xor(b.into())
}

/// All bits inverted.
#[inline(always)]
pub fn not<V: Word>(a: V) -> V {
    a.xor(V::from(u32::MAX))
}

/// Integer sum.
#[inline(always)]
pub fn iadd<V: Word>(a: V, b: impl Into<V>) -> V {
    a.iadd(b.into())
}

/// Integer difference.
#[inline(always)]
pub fn isub<V: Word>(a: V, b: impl Into<V>) -> V {
    a.isub(b.into())
}

/// Left shift by a constant.
#[inline(always)]
pub fn shl<V: Word>(a: V, count: u32) -> V {
    a.shl(V::from(count))
}

/// Logical right shift by a constant.
#[inline(always)]
pub fn shr<V: Word>(a: V, count: u32) -> V {
    a.shr(V::from(count))
}

/// Shift by a two's complement count: left if positive, otherwise logically to the right.
#[inline(always)]
pub fn shift<V: Word>(a: V, count: V) -> V {
    V::select(is_negative(count), a.shr(V::from(0).isub(count)), a.shl(count))
}

/// `yes` where the mask is true, else `no`.
#[inline(always)]
pub fn select<V: Word>(mask: V::Mask, yes: impl Into<V>, no: V) -> V {
    V::select(mask, yes.into(), no)
}

/// [`select`] where the mask is true in most lanes.
#[inline(always)]
pub fn usually<V: Word>(mask: V::Mask, yes: impl Into<V>, no: V) -> V {
    V::usually(mask, yes.into(), no)
}

/// Whether what is only taken where the mask is true must be computed.
#[inline(always)]
pub fn any<V: Word>(mask: V::Mask) -> bool {
    V::any(mask)
}

/// Sign bit set (so also for -0).
#[inline(always)]
pub fn is_negative<V: Word>(a: V) -> V::Mask {
    a.is_less(V::from(0))
}

/// All bits clear (so not for -0).
#[inline(always)]
pub fn is_zero<V: Word>(a: V) -> V::Mask {
    a.is_equal(V::from(0))
}

/// Sign bit clear and some other bit set.
#[inline(always)]
pub fn is_positive<V: Word>(a: V) -> V::Mask {
    V::from(0).is_less(a)
}

/// Exponent field below 255.
#[inline(always)]
pub fn is_finite<V: Word>(a: V) -> V::Mask {
    !and(a, INFINITY).is_equal(V::from(INFINITY))
}

/// Equality of the words.
#[inline(always)]
pub fn ieq<V: Word>(a: V, b: impl Into<V>) -> V::Mask {
    a.is_equal(b.into())
}

/// Two's complement `a < b`.
#[inline(always)]
pub fn ilt<V: Word>(a: V, b: impl Into<V>) -> V::Mask {
    a.is_less(b.into())
}

/// Unsigned `a < b`.
#[inline(always)]
pub fn ult<V: Word>(a: V, b: impl Into<V>) -> V::Mask {
    xor(a, SIGN).is_less(xor(b.into(), SIGN))
}

/// `a < b` as kernels compare: the sign of the difference.
#[inline(always)]
pub fn less<V: Word>(a: V, b: impl Into<V>) -> V::Mask {
    a.is_below(b.into())
}

/// `a > b`: the difference is positive.
#[inline(always)]
pub fn greater<V: Word>(a: V, b: impl Into<V>) -> V::Mask {
    a.is_above(b.into())
}

/// `a == b`: the difference is +0.
#[inline(always)]
pub fn equal<V: Word>(a: V, b: impl Into<V>) -> V::Mask {
    is_zero(sub(a, b))
}

/// Sign bit inverted.
#[inline(always)]
pub fn flipsign<V: Word>(a: V) -> V {
    xor(a, SIGN)
}

/// Bits below 2^23.
#[inline(always)]
pub fn man_only<V: Word>(a: V) -> V {
    and(a, MANTISSA)
}

/// Mantissa with the hidden bit, also for zeros and denormals.
#[inline(always)]
pub fn man_with_one<V: Word>(a: V) -> V {
    or(man_only(a), HIDDEN)
}

/// Exponent field.
#[inline(always)]
pub fn exp_biased<V: Word>(a: V) -> V {
    and(shr(a, 23), 255)
}

/// Exponent field minus 127, as a two's complement word.
#[inline(always)]
pub fn exp_unbiased<V: Word>(a: V) -> V {
    isub(exp_biased(a), 127)
}

/// Exponent field replaced by the low eight bits of `exponent`.
#[inline(always)]
pub fn setexp<V: Word>(a: V, exponent: impl Into<V>) -> V {
    copyexp(a, shl(exponent.into(), 23))
}

/// Exponent field taken from `b`.
#[inline(always)]
pub fn copyexp<V: Word>(a: V, b: V) -> V {
    or(and(a, !INFINITY), and(b, INFINITY))
}

/// Mantissa taken from `b`.
#[inline(always)]
pub fn setman<V: Word>(a: V, b: impl Into<V>) -> V {
    or(and(a, !MANTISSA), man_only(b.into()))
}

/// Sign taken from `b`.
#[inline(always)]
pub fn setsign<V: Word>(a: V, b: impl Into<V>) -> V {
    or(and(a, !SIGN), and(b.into(), SIGN))
}

/// `k` added to the exponent field modulo 256; a field of 255 stays, a field of 0 is not special.
#[inline(always)]
pub fn addexp<V: Word>(a: V, k: i32) -> V {
    select(is_finite(a), copyexp(a, iadd(a, (k << 23) as u32)), a)
}

/// Sign bit cleared.
#[inline(always)]
pub fn magnitude<V: Word>(a: V) -> V {
    and(a, !SIGN)
}

/// Two's complement absolute value.
#[inline(always)]
pub fn iabs<V: Word>(a: V) -> V {
    a.integer_magnitude()
}

/// Absolute value; negative NaNs are left alone.
#[inline(always)]
pub fn fabs<V: Word>(a: V) -> V {
    a.absolute()
}

#[inline(always)]
pub(super) fn absolute<V: Word>(a: V) -> V {
    select(ult(V::from(SIGN | INFINITY), a), a, magnitude(a))
}

/// Leading zeros, 32 for zero.
#[inline(always)]
pub fn clz<V: Word>(a: V) -> V {
    a.clz()
}

/// Position of a word in the total order of [`min`] and [`max`].
#[inline(always)]
pub fn order<V: Word>(word: V) -> V {
    select(is_negative(word), xor(word, !SIGN), word)
}

/// The smaller word in total order.
#[inline(always)]
pub fn min<V: Word>(a: V, b: impl Into<V>) -> V {
    a.minimum(b.into())
}

#[inline(always)]
pub(super) fn minimum<V: Word>(a: V, b: V) -> V {
    select(order(a).is_less(order(b)), a, b)
}

/// The larger word in total order.
#[inline(always)]
pub fn max<V: Word>(a: V, b: impl Into<V>) -> V {
    a.maximum(b.into())
}

#[inline(always)]
pub(super) fn maximum<V: Word>(a: V, b: V) -> V {
    select(order(b).is_less(order(a)), a, b)
}

/// Sign-magnitude integer to FP32, to nearest even, the sign kept also for zero.
#[inline(always)]
pub fn sm2f<V: Word>(a: V) -> V {
    setsign(magnitude(a).magnitude_to_f32(), a)
}

/// Two's complement of a sign-magnitude word.
#[inline(always)]
pub fn sm_to_twos<V: Word>(a: V) -> V {
    select(is_negative(a), V::from(0).isub(magnitude(a)), a)
}

/// Sign and magnitude of a two's complement word; `0x8000_0000` stays.
#[inline(always)]
pub fn twos_to_sm<V: Word>(a: V) -> V {
    select(is_negative(a), or(V::from(0).isub(a), SIGN), a)
}

/// BF16 kept as FP32, ties away: exponent 0 becomes +0, NaN becomes infinity.
#[inline(always)]
pub fn round_bf16<V: Word>(a: V) -> V {
    let rounded = and(iadd(a, 0x8000), 0xffff_0000);
    let special = select(is_finite(a), 0, and(a, SIGN | INFINITY));
    let exponent = and(a, INFINITY);
    select(is_zero(exponent) | ieq(exponent, INFINITY), special, rounded)
}

/// Round to BF16, ties to even, on the bare word; NaN payloads may wrap.
#[inline(always)]
pub fn round_bf16_even<V: Word>(a: V) -> V {
    and(iadd(iadd(a, 0x7fff), and(shr(a, 16), 1)), 0xffff_0000)
}

/// Nearest integer to the magnitude, ties away, at most `largest`; infinities and NaN give the largest.
#[inline(always)]
pub(super) fn round_magnitude<V: Word>(a: V, largest: u32) -> V {
    let exponent = exp_biased(a);
    let count = V::from(150).isub(exponent);
    let half = V::from(1).shl(isub(count, 1));
    let rounded = iadd(man_with_one(a), half).shr(count);
    let limited = select(ilt(exponent, 143) & ilt(rounded, largest), rounded, V::from(largest));
    select(ilt(exponent, 126), 0, limited)
}

#[inline(always)]
fn round_signed<V: Word>(a: V, largest: u32) -> V {
    let rounded = a.round_magnitude(largest);
    select(is_zero(rounded), 0, setsign(rounded, a))
}

/// Nearest sign-magnitude integer of at most 15 bits.
#[inline(always)]
pub fn round_sm16<V: Word>(a: V) -> V {
    round_signed(a, 32767)
}

/// Nearest sign-magnitude integer of at most 7 bits.
#[inline(always)]
pub fn round_sm8<V: Word>(a: V) -> V {
    round_signed(a, 127)
}

/// Nearest integer to the magnitude, at most 65535.
#[inline(always)]
pub fn round_u16<V: Word>(a: V) -> V {
    a.round_magnitude(65535)
}

/// Nearest integer to the magnitude, at most 255.
#[inline(always)]
pub fn round_u8<V: Word>(a: V) -> V {
    a.round_magnitude(255)
}

/// FP32 with denormals replaced by a zero of the same sign.
#[inline(always)]
pub fn flush<V: Word>(a: V) -> V {
    a.flushed()
}

#[inline(always)]
pub(super) fn flushed<V: Word>(a: V) -> V {
    select(is_zero(and(a, INFINITY)), and(a, SIGN), a)
}

/// The word that a store leaves in a 16-bit `Dst`, at the bit positions of FP32.
#[inline(always)]
pub fn store_bf16<V: Word>(a: V) -> V {
    and(flush(a), 0xffff_0000)
}

/// The word that a store leaves in a 32-bit `Dst`.
#[inline(always)]
pub fn store_f32<V: Word>(a: V) -> V {
    flush(a)
}

/// As [`store_bf16`], rounded first.
#[inline(always)]
pub fn store_rounded<V: Word>(a: V) -> V {
    store_bf16(round_bf16(a))
}

/// Three straight lines of |v| below 1, below 2 and above; slope and intercept are bytes 1 and 0 of each word.
#[inline(always)]
pub fn lut8<V: Word>(lines: [u32; 3], v: V) -> V {
    let distance = magnitude(v);
    let (near, middle) = (ilt(distance, ONE), ilt(distance, TWO));
    let mut line = [V::from(0); 2];
    for (i, coefficient) in line.iter_mut().enumerate() {
        let [low, medium, high] = [0, 1, 2].map(|range| lut8_coefficient(lines[range] >> (8 - 8 * i) & 255));
        *coefficient = select(near, low, select(middle, medium, V::from(high)));
    }
    general(line[0], distance, line[1])
}

const fn lut8_coefficient(byte: u32) -> u32 {
    if byte == 255 { 0 } else { byte >> 7 << 31 | (127 - (byte >> 4 & 7)) << 23 | (byte & 15) << 19 }
}

/// Six straight lines of |v|, ending at .5, 1, 1.5, 2, 3 and infinity; halves of `slopes` and `intercepts`, low one
/// first.
#[inline(always)]
pub fn lut16<V: Word>(slopes: [u32; 3], intercepts: [u32; 3], v: V) -> V {
    const ENDS: [u32; 5] = [HALF, ONE, 0x3fc0_0000, TWO, 0x4040_0000];
    let distance = magnitude(v);
    let mut line = [V::from(0); 2];
    for (coefficient, halves) in line.iter_mut().zip([slopes, intercepts]) {
        let half = [0, 1, 2, 3, 4, 5].map(|i| lut16_coefficient(halves[i / 2] >> (16 * (i % 2)) & 0xffff));
        *coefficient = V::from(half[5]);
        for i in (0..5).rev() {
            *coefficient = select(ilt(distance, ENDS[i]), half[i], *coefficient);
        }
    }
    general(line[0], distance, line[1])
}

const fn lut16_coefficient(half: u32) -> u32 {
    let exponent = half >> 10 & 31;
    let exponent = if exponent == 31 { 0 } else { exponent + 112 };
    half >> 15 << 31 | exponent << 23 | (half & 1023) << 13
}
