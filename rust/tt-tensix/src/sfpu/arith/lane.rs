//! What a lane register is to a program: the primitives of the unit, and its notation in the listings. `sfpu.md`
//! sections 2 and 3. Words are FP32 bits unless said otherwise.
//!
//! The definition is the implementation for `u32`. An executor with several lanes at a time has its own.

use std::ops::{BitAnd, BitOr, Not};

use super::fma::wormhole;

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

/// The primitives of the SFPU on one lane register: one 32-bit word, or a vector of them.
pub trait Lane: Copy + From<u32> {
    /// One truth value per lane.
    type Mask: Copy + BitAnd<Output = Self::Mask> + BitOr<Output = Self::Mask> + Not<Output = Self::Mask>;

    /// `self * b + c` as the SFPU of Wormhole rounds it.
    #[must_use]
    fn mad(self, b: Self, c: Self) -> Self;
    /// `self + other`: once `self`, a whole product, and `other`.
    #[must_use]
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self::from(ONE).mad(self, other)
    }
    /// `self - other`: minus once `other`, and `self`.
    #[must_use]
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Self::from(MINUS_ONE).mad(other, self)
    }
    /// `self * other`, and zero.
    #[must_use]
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self.mad(other, Self::from(0))
    }
    /// Horner's rule, one [`Self::mad`] for each coefficient, from the highest power that is left.
    #[must_use]
    #[inline(always)]
    fn horner(self, x: Self, coefficients: &[u32]) -> Self {
        let mut sum = self;
        for &coefficient in coefficients {
            sum = sum.mad(x, Self::from(coefficient));
        }
        sum
    }
    /// Bits set in both.
    #[must_use]
    fn and(self, other: Self) -> Self;
    /// Bits set in one of them.
    #[must_use]
    fn or(self, other: Self) -> Self;
    /// Bits set in exactly one.
    #[must_use]
    fn xor(self, other: Self) -> Self;
    /// Sum modulo 2^32.
    #[must_use]
    fn iadd(self, other: Self) -> Self;
    /// Difference modulo 2^32.
    #[must_use]
    fn isub(self, other: Self) -> Self;
    /// Product modulo 2^32. The kernels form it from 11-bit parts, which is exact.
    #[must_use]
    fn imul(self, other: Self) -> Self;
    /// Left shift by the count modulo 32.
    #[must_use]
    fn shl(self, count: Self) -> Self;
    /// Logical right shift by the count modulo 32.
    #[must_use]
    fn shr(self, count: Self) -> Self;
    /// Leading zeros, 32 for zero.
    #[must_use]
    fn clz(self) -> Self;
    /// A magnitude below 2^31 as FP32, to nearest even.
    #[must_use]
    fn magnitude_to_f32(self) -> Self;
    /// Nearest integer to the magnitude of an FP32 number, ties away, at most `largest`, below 2^16; infinities and NaN
    /// give the largest.
    #[must_use]
    #[inline(always)]
    fn round_magnitude(self, largest: u32) -> Self {
        let exponent = exp_biased(self);
        let count = Self::from(150).isub(exponent);
        let half = Self::from(1).shl(isub(count, 1));
        let rounded = iadd(man_with_one(self), half).shr(count);
        let limited = select(ilt(exponent, 143) & ilt(rounded, largest), rounded, Self::from(largest));
        select(ilt(exponent, 126), 0, limited)
    }
    /// Absolute value; negative NaNs are left alone.
    #[must_use]
    #[inline(always)]
    fn absolute(self) -> Self {
        select(ult(Self::from(SIGN | INFINITY), self), self, magnitude(self))
    }
    /// Two's complement absolute value.
    #[must_use]
    #[inline(always)]
    fn integer_magnitude(self) -> Self {
        select(is_negative(self), Self::from(0).isub(self), self)
    }
    /// Denormals replaced by a zero of the same sign.
    #[must_use]
    #[inline(always)]
    fn flushed(self) -> Self {
        select(is_zero(and(self, INFINITY)), and(self, SIGN), self)
    }
    /// The smaller word in total order.
    #[must_use]
    #[inline(always)]
    fn minimum(self, other: Self) -> Self {
        select(order(self).is_less(order(other)), self, other)
    }
    /// The larger word in total order.
    #[must_use]
    #[inline(always)]
    fn maximum(self, other: Self) -> Self {
        select(order(other).is_less(order(self)), self, other)
    }
    /// Equality of the words.
    fn is_equal(self, other: Self) -> Self::Mask;
    /// Order of two's complement words.
    fn is_less(self, other: Self) -> Self::Mask;
    /// `a < b` as kernels compare: the sign of the difference.
    #[inline(always)]
    fn is_below(self, other: Self) -> Self::Mask {
        is_negative(self.minus(other))
    }
    /// `a > b`: the difference is positive.
    #[inline(always)]
    fn is_above(self, other: Self) -> Self::Mask {
        is_positive(self.minus(other))
    }
    /// `yes` where the mask is true, else `no`.
    #[must_use]
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
}

#[cfg(feature = "count")]
thread_local! {
    static COUNT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// How many multiply-adds, sums and products among them, the thread computes by the definition while `work` runs.
#[cfg(feature = "count")]
pub fn multiply_adds(work: impl FnOnce()) -> usize {
    let before = COUNT.get();
    work();
    COUNT.get() - before
}

/// The multiply-add is long: one copy serves all programs.
#[inline(never)]
fn multiply_add(a: u32, b: u32, c: u32) -> u32 {
    #[cfg(feature = "count")]
    COUNT.set(COUNT.get() + 1);
    wormhole(a, b, c)
}

impl Lane for u32 {
    type Mask = bool;

    #[inline(always)]
    fn mad(self, b: u32, c: u32) -> u32 {
        multiply_add(self, b, c)
    }
    #[inline(always)]
    fn and(self, other: u32) -> u32 {
        self & other
    }
    #[inline(always)]
    fn or(self, other: u32) -> u32 {
        self | other
    }
    #[inline(always)]
    fn xor(self, other: u32) -> u32 {
        self ^ other
    }
    #[inline(always)]
    fn iadd(self, other: u32) -> u32 {
        self.wrapping_add(other)
    }
    #[inline(always)]
    fn isub(self, other: u32) -> u32 {
        self.wrapping_sub(other)
    }
    #[inline(always)]
    fn imul(self, other: u32) -> u32 {
        self.wrapping_mul(other)
    }
    #[inline(always)]
    fn shl(self, count: u32) -> u32 {
        self << (count & 31)
    }
    #[inline(always)]
    fn shr(self, count: u32) -> u32 {
        self >> (count & 31)
    }
    #[inline(always)]
    fn clz(self) -> u32 {
        self.leading_zeros()
    }
    #[inline(always)]
    fn magnitude_to_f32(self) -> u32 {
        (self as f32).to_bits()
    }
    #[inline(always)]
    fn is_equal(self, other: u32) -> bool {
        self == other
    }
    #[inline(always)]
    fn is_less(self, other: u32) -> bool {
        (self as i32) < other as i32
    }
    #[inline(always)]
    fn select(mask: bool, yes: u32, no: u32) -> u32 {
        if mask { yes } else { no }
    }
}

/// The same word in every lane.
#[inline(always)]
pub fn splat<V: Lane>(word: u32) -> V {
    V::from(word)
}

/// `a * b + c`, one rounding.
#[inline(always)]
pub fn mad<V: Lane>(a: V, b: impl Into<V>, c: impl Into<V>) -> V {
    a.mad(b.into(), c.into())
}

/// `a * b`.
#[inline(always)]
pub fn mul<V: Lane>(a: V, b: impl Into<V>) -> V {
    a.times(b.into())
}

/// `a + b`. Of two NaNs the first one's sign wins, as for an infinity against a NaN.
#[inline(always)]
pub fn add<V: Lane>(a: V, b: impl Into<V>) -> V {
    a.plus(b.into())
}

/// `a - b`, which is `b * -1 + a`.
#[inline(always)]
pub fn sub<V: Lane>(a: V, b: impl Into<V>) -> V {
    a.minus(b.into())
}

/// Horner's rule: coefficients from the highest power down, one multiply-add each.
#[inline(always)]
pub fn polynomial<V: Lane, const N: usize>(x: V, coefficients: [u32; N]) -> V {
    V::from(coefficients[0]).horner(x, &coefficients[1..])
}

/// [`polynomial`] from a sum that is already there.
#[inline(always)]
pub fn polynomial_from<V: Lane, const N: usize>(sum: V, x: V, coefficients: [u32; N]) -> V {
    sum.horner(x, &coefficients)
}

/// Bits set in both.
#[inline(always)]
pub fn and<V: Lane>(a: V, b: impl Into<V>) -> V {
    a.and(b.into())
}

/// Bits set in one of them.
#[inline(always)]
pub fn or<V: Lane>(a: V, b: impl Into<V>) -> V {
    a.or(b.into())
}

/// Bits set in exactly one.
#[inline(always)]
pub fn xor<V: Lane>(a: V, b: impl Into<V>) -> V {
    a.xor(b.into())
}

/// All bits inverted.
#[inline(always)]
pub fn not<V: Lane>(a: V) -> V {
    a.xor(V::from(u32::MAX))
}

/// Integer sum.
#[inline(always)]
pub fn iadd<V: Lane>(a: V, b: impl Into<V>) -> V {
    a.iadd(b.into())
}

/// Integer difference.
#[inline(always)]
pub fn isub<V: Lane>(a: V, b: impl Into<V>) -> V {
    a.isub(b.into())
}

/// Left shift by a constant.
#[inline(always)]
pub fn shl<V: Lane>(a: V, count: u32) -> V {
    a.shl(V::from(count))
}

/// Logical right shift by a constant.
#[inline(always)]
pub fn shr<V: Lane>(a: V, count: u32) -> V {
    a.shr(V::from(count))
}

/// Shift by a two's complement count: left if positive, otherwise logically to the right.
#[inline(always)]
pub fn shift<V: Lane>(a: V, count: V) -> V {
    V::select(is_negative(count), a.shr(V::from(0).isub(count)), a.shl(count))
}

/// `yes` where the mask is true, else `no`.
#[inline(always)]
pub fn select<V: Lane>(mask: V::Mask, yes: impl Into<V>, no: V) -> V {
    V::select(mask, yes.into(), no)
}

/// Sign bit set (so also for -0).
#[inline(always)]
pub fn is_negative<V: Lane>(a: V) -> V::Mask {
    a.is_less(V::from(0))
}

/// All bits clear (so not for -0).
#[inline(always)]
pub fn is_zero<V: Lane>(a: V) -> V::Mask {
    a.is_equal(V::from(0))
}

/// Sign bit clear and some other bit set.
#[inline(always)]
pub fn is_positive<V: Lane>(a: V) -> V::Mask {
    V::from(0).is_less(a)
}

/// Exponent field below 255.
#[inline(always)]
pub fn is_finite<V: Lane>(a: V) -> V::Mask {
    !and(a, INFINITY).is_equal(V::from(INFINITY))
}

/// Equality of the words.
#[inline(always)]
pub fn ieq<V: Lane>(a: V, b: impl Into<V>) -> V::Mask {
    a.is_equal(b.into())
}

/// Two's complement `a < b`.
#[inline(always)]
pub fn ilt<V: Lane>(a: V, b: impl Into<V>) -> V::Mask {
    a.is_less(b.into())
}

/// Unsigned `a < b`.
#[inline(always)]
pub fn ult<V: Lane>(a: V, b: impl Into<V>) -> V::Mask {
    xor(a, SIGN).is_less(xor(b.into(), SIGN))
}

/// `a < b` as kernels compare: the sign of the difference.
#[inline(always)]
pub fn less<V: Lane>(a: V, b: impl Into<V>) -> V::Mask {
    a.is_below(b.into())
}

/// `a > b`: the difference is positive.
#[inline(always)]
pub fn greater<V: Lane>(a: V, b: impl Into<V>) -> V::Mask {
    a.is_above(b.into())
}

/// `a == b`: the difference is +0.
#[inline(always)]
pub fn equal<V: Lane>(a: V, b: impl Into<V>) -> V::Mask {
    is_zero(sub(a, b))
}

/// Sign bit inverted.
#[inline(always)]
pub fn flipsign<V: Lane>(a: V) -> V {
    xor(a, SIGN)
}

/// Bits below 2^23.
#[inline(always)]
pub fn man_only<V: Lane>(a: V) -> V {
    and(a, MANTISSA)
}

/// Mantissa with the hidden bit, also for zeros and denormals.
#[inline(always)]
pub fn man_with_one<V: Lane>(a: V) -> V {
    or(man_only(a), HIDDEN)
}

/// Exponent field.
#[inline(always)]
pub fn exp_biased<V: Lane>(a: V) -> V {
    and(shr(a, 23), 255)
}

/// Exponent field minus 127, as a two's complement word.
#[inline(always)]
pub fn exp_unbiased<V: Lane>(a: V) -> V {
    isub(exp_biased(a), 127)
}

/// Exponent field replaced by the low eight bits of `exponent`.
#[inline(always)]
pub fn setexp<V: Lane>(a: V, exponent: impl Into<V>) -> V {
    copyexp(a, shl(exponent.into(), 23))
}

/// Exponent field taken from `b`.
#[inline(always)]
pub fn copyexp<V: Lane>(a: V, b: V) -> V {
    or(and(a, !INFINITY), and(b, INFINITY))
}

/// Mantissa taken from `b`.
#[inline(always)]
pub fn setman<V: Lane>(a: V, b: impl Into<V>) -> V {
    or(and(a, !MANTISSA), man_only(b.into()))
}

/// Sign taken from `b`.
#[inline(always)]
pub fn setsign<V: Lane>(a: V, b: impl Into<V>) -> V {
    or(and(a, !SIGN), and(b.into(), SIGN))
}

/// `k` added to the exponent field modulo 256; a field of 255 stays, a field of 0 is not special.
#[inline(always)]
pub fn addexp<V: Lane>(a: V, k: i32) -> V {
    select(is_finite(a), copyexp(a, iadd(a, (k << 23) as u32)), a)
}

/// Sign bit cleared.
#[inline(always)]
pub fn magnitude<V: Lane>(a: V) -> V {
    and(a, !SIGN)
}

/// Two's complement absolute value.
#[inline(always)]
pub fn iabs<V: Lane>(a: V) -> V {
    a.integer_magnitude()
}

/// Absolute value; negative NaNs are left alone.
#[inline(always)]
pub fn fabs<V: Lane>(a: V) -> V {
    a.absolute()
}

/// Leading zeros, 32 for zero.
#[inline(always)]
pub fn clz<V: Lane>(a: V) -> V {
    a.clz()
}

/// Position of a word in the total order of [`min`] and [`max`].
#[inline(always)]
pub fn order<V: Lane>(word: V) -> V {
    select(is_negative(word), xor(word, !SIGN), word)
}

/// The smaller word in total order.
#[inline(always)]
pub fn min<V: Lane>(a: V, b: impl Into<V>) -> V {
    a.minimum(b.into())
}

/// The larger word in total order.
#[inline(always)]
pub fn max<V: Lane>(a: V, b: impl Into<V>) -> V {
    a.maximum(b.into())
}

/// Sign-magnitude integer to FP32, to nearest even, the sign kept also for zero.
#[inline(always)]
pub fn sm2f<V: Lane>(a: V) -> V {
    setsign(magnitude(a).magnitude_to_f32(), a)
}

/// Two's complement of a sign-magnitude word.
#[inline(always)]
pub fn sm_to_twos<V: Lane>(a: V) -> V {
    select(is_negative(a), V::from(0).isub(magnitude(a)), a)
}

/// Sign and magnitude of a two's complement word; `0x8000_0000` stays.
#[inline(always)]
pub fn twos_to_sm<V: Lane>(a: V) -> V {
    select(is_negative(a), or(V::from(0).isub(a), SIGN), a)
}

/// BF16 kept as FP32, ties away: exponent 0 becomes +0, NaN becomes infinity.
#[inline(always)]
pub fn round_bf16<V: Lane>(a: V) -> V {
    let rounded = and(iadd(a, 0x8000), 0xffff_0000);
    let special = select(is_finite(a), 0, and(a, SIGN | INFINITY));
    let exponent = and(a, INFINITY);
    select(is_zero(exponent) | ieq(exponent, INFINITY), special, rounded)
}

/// Round to BF16, ties to even, on the bare word; NaN payloads may wrap.
#[inline(always)]
pub fn round_bf16_even<V: Lane>(a: V) -> V {
    and(iadd(iadd(a, 0x7fff), and(shr(a, 16), 1)), 0xffff_0000)
}

#[inline(always)]
fn round_signed<V: Lane>(a: V, largest: u32) -> V {
    let rounded = a.round_magnitude(largest);
    select(is_zero(rounded), 0, setsign(rounded, a))
}

/// Nearest sign-magnitude integer of at most 15 bits.
#[inline(always)]
pub fn round_sm16<V: Lane>(a: V) -> V {
    round_signed(a, 32767)
}

/// Nearest sign-magnitude integer of at most 7 bits.
#[inline(always)]
pub fn round_sm8<V: Lane>(a: V) -> V {
    round_signed(a, 127)
}

/// Nearest integer to the magnitude, at most 65535.
#[inline(always)]
pub fn round_u16<V: Lane>(a: V) -> V {
    a.round_magnitude(65535)
}

/// Nearest integer to the magnitude, at most 255.
#[inline(always)]
pub fn round_u8<V: Lane>(a: V) -> V {
    a.round_magnitude(255)
}

/// FP32 with denormals replaced by a zero of the same sign.
#[inline(always)]
pub fn flush<V: Lane>(a: V) -> V {
    a.flushed()
}

/// The word that a store leaves in a 16-bit `Dst`, at the bit positions of FP32.
#[inline(always)]
pub fn store_bf16<V: Lane>(a: V) -> V {
    and(flush(a), 0xffff_0000)
}

/// The word that a store leaves in a 32-bit `Dst`.
#[inline(always)]
pub fn store_f32<V: Lane>(a: V) -> V {
    flush(a)
}

/// As [`store_bf16`], rounded first.
#[inline(always)]
pub fn store_rounded<V: Lane>(a: V) -> V {
    store_bf16(round_bf16(a))
}

/// Three straight lines of |v| below 1, below 2 and above; slope and intercept are bytes 1 and 0 of each word.
#[inline(always)]
pub fn lut8<V: Lane>(lines: [u32; 3], v: V) -> V {
    let distance = magnitude(v);
    let (near, middle) = (ilt(distance, ONE), ilt(distance, TWO));
    let mut line = [V::from(0); 2];
    for (i, coefficient) in line.iter_mut().enumerate() {
        let [low, medium, high] = [0, 1, 2].map(|range| lut8_coefficient(lines[range] >> (8 - 8 * i) & 255));
        *coefficient = select(near, low, select(middle, medium, V::from(high)));
    }
    mad(line[0], distance, line[1])
}

const fn lut8_coefficient(byte: u32) -> u32 {
    if byte == 255 { 0 } else { byte >> 7 << 31 | (127 - (byte >> 4 & 7)) << 23 | (byte & 15) << 19 }
}

/// Six straight lines of |v|, ending at .5, 1, 1.5, 2, 3 and infinity; halves of `slopes` and `intercepts`, low one
/// first.
#[inline(always)]
pub fn lut16<V: Lane>(slopes: [u32; 3], intercepts: [u32; 3], v: V) -> V {
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
    mad(line[0], distance, line[1])
}

const fn lut16_coefficient(half: u32) -> u32 {
    let exponent = half >> 10 & 31;
    let exponent = if exponent == 31 { 0 } else { exponent + 112 };
    half >> 15 << 31 | exponent << 23 | (half & 1023) << 13
}
