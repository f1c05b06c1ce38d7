//! Lane registers in programs.
//!
//! The primitives of the unit, and its notation in the listings. `docs/chip/sfpu.md` sections 2 and 3. Words are FP32
//! bits unless said otherwise.
//!
//! The definition is the implementation for `u32`. An executor with several lanes at a time has its own.

use std::marker::PhantomData;
use std::ops::{BitAnd, BitOr, Not};

use tt_formats::Wormhole;

use super::generation::VectorUnit;

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
/// 2^23 * 1.5, whose sum rounds to an integer.
///
/// It is left in the low bits.
pub const ROUNDER: u32 = 0x4b40_0000;

/// The approximate reciprocal's table, by 7 mantissa bits.
///
/// It is the reciprocal of the middle of the numbers that have these bits, rounded to 8 bits, less the first of them.
pub const RECIPROCALS: [u32; 128] = {
    let mut table = [0; 128];
    let mut index = 0;
    while index < 128 {
        // Of (257 + 2 i) / 256. No quotient is halfway between two integers.
        let middle = 257 + 2 * index as u32;
        table[index] = (2 * 65536 + middle) / (2 * middle) - 128;
        index += 1;
    }
    table
};

const SIGN: u32 = 0x8000_0000;
const MANTISSA: u32 = 0x7f_ffff;
const HIDDEN: u32 = 0x80_0000;

/// The primitives of the SFPU on one lane register.
///
/// One 32-bit word, or a vector of them.
#[allow(clippy::return_self_not_must_use, reason = "a listing has no statements whose value is left out")]
pub trait Lane: Copy + From<u32> {
    /// One truth value per lane.
    type Mask: Copy + BitAnd<Output = Self::Mask> + BitOr<Output = Self::Mask> + Not<Output = Self::Mask>;
    /// Generation whose rules the primitives have.
    type Of: VectorUnit;

    /// `self * b + c` as the generation's SFPU rounds it.
    fn mad(self, b: Self, c: Self) -> Self;
    /// `self + other`: once `self`, a whole product, and `other`.
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self::from(ONE).mad(self, other)
    }
    /// `self - other`: minus once `other`, and `self`.
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Self::from(MINUS_ONE).mad(other, self)
    }
    /// `self - a * b`: the product is rounded first, or the sign of a factor turned.
    #[inline(always)]
    fn minus_product(self, a: Self, b: Self) -> Self {
        if Self::Of::NEGATES_FACTORS { flipsign(a).mad(b, self) } else { self.minus(a.times(b)) }
    }
    /// `self + -(a * b)`: as [`Self::minus_product`], of kernels that turn the sign of the product.
    #[inline(always)]
    fn plus_negated_product(self, a: Self, b: Self) -> Self {
        if Self::Of::NEGATES_FACTORS { flipsign(a).mad(b, self) } else { self.plus(flipsign(a.times(b))) }
    }
    /// `self * other`, and zero.
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self.mad(other, Self::from(0))
    }
    /// Horner's rule, one [`Self::mad`] for each coefficient, from the highest power that is left.
    #[inline(always)]
    fn horner(self, x: Self, coefficients: &[u32]) -> Self {
        let mut sum = self;
        for &coefficient in coefficients {
            sum = sum.mad(x, Self::from(coefficient));
        }
        sum
    }
    /// Bits set in both.
    fn and(self, other: Self) -> Self;
    /// Bits set in one of them.
    fn or(self, other: Self) -> Self;
    /// Bits set in exactly one.
    fn xor(self, other: Self) -> Self;
    /// Sum modulo 2^32.
    fn iadd(self, other: Self) -> Self;
    /// Difference modulo 2^32.
    fn isub(self, other: Self) -> Self;
    /// Product modulo 2^32. The kernels form it from 11-bit parts, which is exact.
    fn imul(self, other: Self) -> Self;
    /// Left shift by the count modulo 32.
    fn shl(self, count: Self) -> Self;
    /// Logical right shift by the count modulo 32.
    fn shr(self, count: Self) -> Self;
    /// Leading zeros, 32 for zero.
    fn clz(self) -> Self;
    /// A magnitude below 2^31 as FP32, to nearest even.
    fn magnitude_to_f32(self) -> Self;
    /// The mantissa of the approximate reciprocal, in place: 7 bits, from the upper 7 of the number's mantissa.
    fn reciprocal_mantissa(self) -> Self;
    /// Nearest integer to the magnitude of an FP32 number, ties away, at most `largest`, below 2^16; infinities and NaN
    /// give the largest.
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
    #[inline(always)]
    fn absolute(self) -> Self {
        select(ult(Self::from(SIGN | INFINITY), self), self, magnitude(self))
    }
    /// Two's complement absolute value.
    #[inline(always)]
    fn integer_magnitude(self) -> Self {
        select(is_negative(self), Self::from(0).isub(self), self)
    }
    /// Denormals replaced by a zero of the same sign.
    #[inline(always)]
    fn flushed(self) -> Self {
        select(is_zero(and(self, INFINITY)), and(self, SIGN), self)
    }
    /// The smaller word in total order.
    #[inline(always)]
    fn minimum(self, other: Self) -> Self {
        select(order(self).is_less(order(other)), self, other)
    }
    /// The larger word in total order.
    #[inline(always)]
    fn maximum(self, other: Self) -> Self {
        select(order(other).is_less(order(self)), self, other)
    }
    /// Equality of the words.
    fn is_equal(self, other: Self) -> Self::Mask;
    /// Order of two's complement words.
    fn is_less(self, other: Self) -> Self::Mask;
    /// `a < b` as kernels compare: the sign of the difference, or the order of words.
    #[inline(always)]
    fn is_below(self, other: Self) -> Self::Mask {
        if Self::Of::COMPARES_WORDS { total_less(self, other) } else { is_negative(self.minus(other)) }
    }
    /// `a > b`: the difference is positive, or the order of words.
    #[inline(always)]
    fn is_above(self, other: Self) -> Self::Mask {
        if Self::Of::COMPARES_WORDS { total_less(other, self) } else { is_positive(self.minus(other)) }
    }
    /// `a < b` with the difference at hand.
    #[inline(always)]
    fn is_below_by(self, other: Self, difference: Self) -> Self::Mask {
        if Self::Of::COMPARES_WORDS { total_less(self, other) } else { is_negative(difference) }
    }
    /// `yes` where the mask is true, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
}

#[cfg(feature = "count")]
thread_local! {
    static COUNT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Returns the number of operations in `work` by definition.
///
/// Multiply-adds, sums and products that the thread computes.
#[cfg(feature = "count")]
pub fn multiply_adds(work: impl FnOnce()) -> usize {
    let before = COUNT.get();
    work();
    COUNT.get() - before
}

/// The multiply-add is long: one copy serves all programs of a generation.
#[inline(never)]
fn multiply_add<G: VectorUnit>(a: u32, b: u32, c: u32) -> u32 {
    #[cfg(feature = "count")]
    COUNT.set(COUNT.get() + 1);
    G::multiply_add(a, b, c)
}

/// Methods of one expression, of lanes.
macro_rules! methods {
    ($(fn $name:ident($self:ident $(, $other:ident)*) -> $result:ty = $body:expr;)+) => {$(
        #[inline(always)]
        fn $name($self $(, $other: Self)*) -> $result {
            $body
        }
    )+};
}
pub(crate) use methods;

/// A lane register with the multiply-add of a generation.
///
/// `u32` itself is one of Wormhole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<G> {
    /// Its bits.
    pub bits: u32,
    generation: PhantomData<G>,
}

impl<G> From<u32> for Word<G> {
    #[inline(always)]
    fn from(bits: u32) -> Self {
        Self { bits, generation: PhantomData }
    }
}

impl Lane for u32 {
    type Mask = bool;
    type Of = Wormhole;

    methods! {
        fn mad(self, b, c) -> u32 = multiply_add::<Wormhole>(self, b, c);
        fn and(self, other) -> u32 = self & other;
        fn or(self, other) -> u32 = self | other;
        fn xor(self, other) -> u32 = self ^ other;
        fn iadd(self, other) -> u32 = self.wrapping_add(other);
        fn isub(self, other) -> u32 = self.wrapping_sub(other);
        fn imul(self, other) -> u32 = self.wrapping_mul(other);
        fn shl(self, count) -> u32 = self << (count & 31);
        fn shr(self, count) -> u32 = self >> (count & 31);
        fn clz(self) -> u32 = self.leading_zeros();
        fn magnitude_to_f32(self) -> u32 = (self as f32).to_bits();
        fn reciprocal_mantissa(self) -> u32 = RECIPROCALS[(self >> 16 & 127) as usize] << 16;
        fn is_equal(self, other) -> bool = self == other;
        fn is_less(self, other) -> bool = (self as i32) < other as i32;
    }
    #[inline(always)]
    fn select(mask: bool, yes: u32, no: u32) -> u32 {
        if mask { yes } else { no }
    }
}

impl<G: VectorUnit> Lane for Word<G> {
    type Mask = bool;
    type Of = G;

    methods! {
        fn mad(self, b, c) -> Self = Self::from(multiply_add::<G>(self.bits, b.bits, c.bits));
        fn and(self, other) -> Self = Self::from(self.bits & other.bits);
        fn or(self, other) -> Self = Self::from(self.bits | other.bits);
        fn xor(self, other) -> Self = Self::from(self.bits ^ other.bits);
        fn iadd(self, other) -> Self = Self::from(self.bits.wrapping_add(other.bits));
        fn isub(self, other) -> Self = Self::from(self.bits.wrapping_sub(other.bits));
        fn imul(self, other) -> Self = Self::from(self.bits.wrapping_mul(other.bits));
        fn shl(self, count) -> Self = Self::from(self.bits << (count.bits & 31));
        fn shr(self, count) -> Self = Self::from(self.bits >> (count.bits & 31));
        fn clz(self) -> Self = Self::from(self.bits.leading_zeros());
        fn magnitude_to_f32(self) -> Self = Self::from((self.bits as f32).to_bits());
        fn reciprocal_mantissa(self) -> Self = Self::from(self.bits.reciprocal_mantissa());
        fn is_equal(self, other) -> bool = self.bits == other.bits;
        fn is_less(self, other) -> bool = (self.bits as i32) < other.bits as i32;
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
}

/// The same word in every lane.
#[inline(always)]
pub fn splat<V: Lane>(word: u32) -> V {
    V::from(word)
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

/// `yes` where the mask is true, else `no`.
#[inline(always)]
pub fn select<V: Lane>(mask: V::Mask, yes: impl Into<V>, no: V) -> V {
    V::select(mask, yes.into(), no)
}

/// BF16 kept as FP32, ties away.
///
/// Exponent 0 becomes +0, NaN becomes infinity.
#[inline(always)]
pub fn round_bf16<V: Lane>(a: V) -> V {
    let rounded = and(iadd(a, 0x8000), 0xffff_0000);
    let special = select(is_finite(a), 0, and(a, SIGN | INFINITY));
    let exponent = and(a, INFINITY);
    select(is_zero(exponent) | ieq(exponent, INFINITY), special, rounded)
}

#[inline(always)]
fn round_signed<V: Lane>(a: V, largest: u32) -> V {
    let rounded = a.round_magnitude(largest);
    select(is_zero(rounded), 0, setsign(rounded, a))
}

/// Functions of lanes, all of which but the first may be constants, and of what stands behind a semicolon.
macro_rules! notation {
    ($($(#[$doc:meta])* fn $name:ident($a:ident $(, $b:ident)* $(; $c:ident: $type:ty)?) -> $result:ty
        = $body:expr;)+) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name<V: Lane>($a: V $(, $b: impl Into<V>)* $(, $c: $type)?) -> $result {
            $(let $b: V = $b.into();)*
            $body
        }
    )+};
}

notation! {
    /// `a * b + c`, one rounding.
    fn mad(a, b, c) -> V = a.mad(b, c);
    /// `a * b`.
    fn mul(a, b) -> V = a.times(b);
    /// `a + b`. Of two NaNs the first one's sign wins, as for an infinity against a NaN.
    fn add(a, b) -> V = a.plus(b);
    /// `a - b`, which is `b * -1 + a`.
    fn sub(a, b) -> V = a.minus(b);
    /// Bits set in both.
    fn and(a, b) -> V = a.and(b);
    /// Bits set in one of them.
    fn or(a, b) -> V = a.or(b);
    /// Bits set in exactly one.
    fn xor(a, b) -> V = a.xor(b);
    /// All bits inverted.
    fn not(a) -> V = a.xor(V::from(u32::MAX));
    /// Integer sum.
    fn iadd(a, b) -> V = a.iadd(b);
    /// Integer difference.
    fn isub(a, b) -> V = a.isub(b);
    /// Left shift by a constant.
    fn shl(a; count: u32) -> V = a.shl(V::from(count));
    /// Logical right shift by a constant.
    fn shr(a; count: u32) -> V = a.shr(V::from(count));
    /// Shift by a two's complement count: left if positive, otherwise logically to the right.
    fn shift(a, count) -> V = V::select(is_negative(count), a.shr(V::from(0).isub(count)), a.shl(count));
    /// As [`shift`], with the sign repeated by shifts to the right.
    fn ashift(a, count) -> V = {
        let right = V::from(0).isub(count);
        let filled = or(a.shr(right), xor(V::from(u32::MAX).shr(right), u32::MAX));
        V::select(is_negative(count), V::select(is_negative(a), filled, a.shr(right)), a.shl(count))
    };
    /// Sign bit set (so also for -0).
    fn is_negative(a) -> V::Mask = a.is_less(V::from(0));
    /// All bits clear (so not for -0).
    fn is_zero(a) -> V::Mask = a.is_equal(V::from(0));
    /// Sign bit clear and some other bit set.
    fn is_positive(a) -> V::Mask = V::from(0).is_less(a);
    /// Exponent field below 255.
    fn is_finite(a) -> V::Mask = !and(a, INFINITY).is_equal(V::from(INFINITY));
    /// Equality of the words.
    fn ieq(a, b) -> V::Mask = a.is_equal(b);
    /// Two's complement `a < b`.
    fn ilt(a, b) -> V::Mask = a.is_less(b);
    /// Unsigned `a < b`.
    fn ult(a, b) -> V::Mask = xor(a, SIGN).is_less(xor(b, SIGN));
    /// `a < b` by the total order of [`min`] and [`max`].
    fn total_less(a, b) -> V::Mask = order(a).is_less(order(b));
    /// All bits set where `a` is above `b` in total order.
    fn gtmask(a, b) -> V = V::select(total_less(b, a), V::from(u32::MAX), V::from(0));
    /// `a < b` as kernels compare: the sign of the difference, or total order.
    fn less(a, b) -> V::Mask = a.is_below(b);
    /// `a > b`: the difference is positive, or total order.
    fn greater(a, b) -> V::Mask = a.is_above(b);
    /// `a == b`: the difference is +0, or the words are equal.
    fn equal(a, b) -> V::Mask = if V::Of::EQUATES_WORDS { a.is_equal(b) } else { is_zero(sub(a, b)) };
    /// `c - a * b`.
    fn sub_product(c, a, b) -> V = c.minus_product(a, b);
    /// `c + -(a * b)`.
    fn add_negated_product(c, a, b) -> V = c.plus_negated_product(a, b);
    /// Sign bit inverted.
    fn flipsign(a) -> V = xor(a, SIGN);
    /// Bits below 2^23.
    fn man_only(a) -> V = and(a, MANTISSA);
    /// Mantissa with the hidden bit, also for zeros and denormals.
    fn man_with_one(a) -> V = or(man_only(a), HIDDEN);
    /// Exponent field.
    fn exp_biased(a) -> V = and(shr(a, 23), 255);
    /// Exponent field minus 127, as a two's complement word.
    fn exp_unbiased(a) -> V = isub(exp_biased(a), 127);
    /// Exponent field replaced by the low eight bits of `exponent`.
    fn setexp(a, exponent) -> V = copyexp(a, shl(exponent, 23));
    /// Exponent field taken from `b`.
    fn copyexp(a, b) -> V = or(and(a, !INFINITY), and(b, INFINITY));
    /// Mantissa taken from `b`.
    fn setman(a, b) -> V = or(and(a, !MANTISSA), man_only(b));
    /// Sign taken from `b`.
    fn setsign(a, b) -> V = or(and(a, !SIGN), and(b, SIGN));
    /// `k` added to the exponent field modulo 256; a field of 255 stays, a field of 0 is not special.
    fn addexp(a; k: i32) -> V = select(is_finite(a), copyexp(a, iadd(a, (k << 23) as u32)), a);
    /// Sign bit cleared.
    fn magnitude(a) -> V = and(a, !SIGN);
    /// Two's complement absolute value.
    fn iabs(a) -> V = a.integer_magnitude();
    /// Absolute value; negative NaNs are left alone.
    fn fabs(a) -> V = a.absolute();
    /// Leading zeros, 32 for zero.
    fn clz(a) -> V = a.clz();
    /// Position of a word in the total order of [`min`] and [`max`].
    fn order(word) -> V = select(is_negative(word), xor(word, !SIGN), word);
    /// The smaller word in total order.
    fn min(a, b) -> V = a.minimum(b);
    /// The larger word in total order.
    fn max(a, b) -> V = a.maximum(b);
    /// The approximate reciprocal: 7 bits; infinity of zeros and denormals, zero from 2^126 on, also of NaN.
    fn arecip(a) -> V = {
        let exponent = V::from(253 << 23).isub(and(a, INFINITY));
        let inverse = or(exponent, a.reciprocal_mantissa());
        let large = !magnitude(a).is_less(V::from(253 << 23));
        let inverse = V::select(large, V::from(0), inverse);
        setsign(V::select(magnitude(a).is_less(V::from(HIDDEN)), V::from(INFINITY), inverse), a)
    };
    /// The lower 23 bits of the product of numbers of 23 bits.
    fn mul24lo(a, b) -> V = man_only(man_only(a).imul(man_only(b)));
    /// The upper 23 bits of it.
    fn mul24hi(a, b) -> V = {
        let (a, b) = (man_only(a), man_only(b));
        let (upper, lower) = (shr(a, 12), and(a, 0xfff));
        let (other_upper, other_lower) = (shr(b, 12), and(b, 0xfff));
        let middle = iadd(upper.imul(other_lower), lower.imul(other_upper));
        let carried = shr(iadd(middle, shr(lower.imul(other_lower), 12)), 11);
        iadd(shl(upper.imul(other_upper), 1), carried)
    };
    /// Sign-magnitude integer to FP32, to nearest even, the sign kept also for zero.
    fn sm2f(a) -> V = setsign(magnitude(a).magnitude_to_f32(), a);
    /// An integer as the default load leaves it: from sign and magnitude, or as it is.
    fn loaded_integer(a) -> V = if V::Of::LOADS_RAW_INTEGERS { a } else { sm_to_twos(a) };
    /// Two's complement of a sign-magnitude word.
    fn sm_to_twos(a) -> V = select(is_negative(a), V::from(0).isub(magnitude(a)), a);
    /// Sign and magnitude of a two's complement word; `0x8000_0000` stays.
    fn twos_to_sm(a) -> V = select(is_negative(a), or(V::from(0).isub(a), SIGN), a);
    /// Round to BF16, ties to even, on the bare word; NaN payloads may wrap.
    fn round_bf16_even(a) -> V = and(iadd(iadd(a, 0x7fff), and(shr(a, 16), 1)), 0xffff_0000);
    /// Nearest sign-magnitude integer of at most 15 bits.
    fn round_sm16(a) -> V = round_signed(a, 32767);
    /// Nearest sign-magnitude integer of at most 7 bits.
    fn round_sm8(a) -> V = round_signed(a, 127);
    /// Nearest integer to the magnitude, at most 65535.
    fn round_u16(a) -> V = a.round_magnitude(65535);
    /// Nearest integer to the magnitude, at most 255.
    fn round_u8(a) -> V = a.round_magnitude(255);
    /// FP32 with denormals replaced by a zero of the same sign.
    fn flush(a) -> V = a.flushed();
    /// The word that a store leaves in a 16-bit `Dst`, at the bit positions of FP32.
    fn store_bf16(a) -> V = and(flush(a), 0xffff_0000);
    /// The word that a store leaves in a 32-bit `Dst`.
    fn store_f32(a) -> V = flush(a);
    /// As [`store_bf16`], rounded first.
    fn store_rounded(a) -> V = store_bf16(round_bf16(a));
}

/// Three straight lines of |v| below 1, below 2 and above.
///
/// Slope and intercept are bytes 1 and 0 of each word.
#[inline(always)]
pub fn lut8<V: Lane>(lines: [u32; 3], v: V) -> V {
    let distance = magnitude(v);
    let (near, middle) = (ilt(distance, ONE), ilt(distance, TWO));
    let mut line = [V::from(0); 2];
    for (i, coefficient) in line.iter_mut().enumerate() {
        // Not an array that is mapped, which the compiler may leave as calls for every vector.
        let of = |line: u32| lut8_coefficient(line >> (8 - 8 * i) & 255);
        *coefficient = select(near, of(lines[0]), select(middle, of(lines[1]), V::from(of(lines[2]))));
    }
    mad(line[0], distance, line[1])
}

const fn lut8_coefficient(byte: u32) -> u32 {
    if byte == 255 { 0 } else { byte >> 7 << 31 | (127 - (byte >> 4 & 7)) << 23 | (byte & 15) << 19 }
}

/// Six straight lines of |v|, ending at 0.5 to infinity.
///
/// They end at .5, 1, 1.5, 2, 3 and infinity; halves of `slopes` and `intercepts`, low one first.
#[inline(always)]
pub fn lut16<V: Lane>(slopes: [u32; 3], intercepts: [u32; 3], v: V) -> V {
    const ENDS: [u32; 5] = [HALF, ONE, 0x3fc0_0000, TWO, 0x4040_0000];
    let distance = magnitude(v);
    let mut line = [V::from(0); 2];
    for (coefficient, halves) in line.iter_mut().zip([slopes, intercepts]) {
        let half = |i: usize| lut16_coefficient(halves[i / 2] >> (16 * (i % 2)) & 0xffff);
        *coefficient = V::from(half(5));
        for i in (0..5).rev() {
            *coefficient = select(ilt(distance, ENDS[i]), half(i), *coefficient);
        }
    }
    mad(line[0], distance, line[1])
}

const fn lut16_coefficient(half: u32) -> u32 {
    let exponent = half >> 10 & 31;
    let exponent = if exponent == 31 { 0 } else { exponent + 112 };
    half >> 15 << 31 | exponent << 23 | (half & 1023) << 13
}
