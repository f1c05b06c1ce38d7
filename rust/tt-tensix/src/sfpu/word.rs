//! What a lane register is to a lane program: one 32-bit word, or a vector of them with the same bits in each lane.
//!
//! The definition is the implementation for `u32`; vectors of the CPU levels only do several lanes at a time.

use std::ops::{BitAnd, BitOr, Not};

use super::course::Course;
use super::fma::wormhole;
use super::lane::{MINUS_ONE, ONE};
use super::series::Growth;

/// The operations that every other one is made of.
pub trait Word: Copy + From<u32> {
    /// One truth value per lane.
    type Mask: Copy + BitAnd<Output = Self::Mask> + BitOr<Output = Self::Mask> + Not<Output = Self::Mask>;

    /// `self * b + c` as the vector unit of Wormhole rounds it.
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
    /// [`Self::horner`], one [`Self::growing`] for each coefficient.
    #[must_use]
    #[inline(always)]
    fn growing_horner(self, x: Self, coefficients: &[u32]) -> Self {
        let mut sum = self;
        for &coefficient in coefficients {
            sum = sum.growing(x, Self::from(coefficient));
        }
        sum
    }
    /// [`Self::horner`], one [`Self::general`] for each coefficient.
    #[must_use]
    #[inline(always)]
    fn general_horner(self, x: Self, coefficients: &[u32]) -> Self {
        let mut sum = self;
        for &coefficient in coefficients {
            sum = sum.general(x, Self::from(coefficient));
        }
        sum
    }
    /// [`Self::horner`] for a polynomial and arguments that [`super::series::is_ordinary`] says yes of.
    #[must_use]
    #[inline(always)]
    fn ordinary_horner(self, x: Self, coefficients: &[u32]) -> Self {
        self.horner(x, coefficients)
    }
    /// [`Self::horner`] for a polynomial of a known course. The arguments that count are within its bounds: the
    /// program's text says so.
    #[must_use]
    #[inline(always)]
    fn horner_along(self, x: Self, coefficients: &[u32], _course: Course) -> Self {
        self.horner(x, coefficients)
    }
    /// [`Self::horner`] for a polynomial of a known course, whose arguments are usually within its bounds, from zero
    /// up.
    #[must_use]
    #[inline(always)]
    fn horner_within(self, x: Self, coefficients: &[u32], _course: Course) -> Self {
        self.horner(x, coefficients)
    }
    /// The number less the nearest multiple of ln 2, and what multiple that is. It is for exponentials: beyond the
    /// range, that of its ends will do, and -0 and denormals may be zeros.
    #[must_use]
    #[inline(always)]
    fn reduced_by_ln2(self, _range: [f32; 2]) -> (Self, Self) {
        super::blocks::nearest_turns_of_ln2(self)
    }
    /// `result`, which is a significand from 1/2 to 2 times two to a power from -127 to 128; 0 if its exponent field
    /// would be below 1, infinity if it would be above 254.
    #[must_use]
    #[inline(always)]
    fn raised(self, _power: Self, result: Self) -> Self {
        result
    }
    /// The nearest integer, and the number less it, for exponentials as [`Self::reduced_by_ln2`], beyond -127 and 128.
    #[must_use]
    #[inline(always)]
    fn reduced_by_one(self) -> (Self, Self) {
        super::blocks::nearest_integer(self)
    }
    /// The reciprocal of the mantissa by Newton steps from the seed of the FP32 kernels.
    #[must_use]
    #[inline(always)]
    fn inverse_of_mantissa(self, steps: usize) -> Self {
        super::blocks::refined_reciprocal(self, super::blocks::RECIPROCAL_SEED, steps)
    }
    /// [`Self::mad`] where the product is proven to have an exponent of at most that of `c`, and the sum to have the
    /// sign of `c`, to be at least half of its power of two, and less than four times that.
    #[must_use]
    #[inline(always)]
    fn ordinary(self, b: Self, c: Self) -> Self {
        self.mad(b, c)
    }
    /// [`Self::horner`] for a polynomial of a known growth, with arguments from zero to its bound in most lanes.
    #[must_use]
    #[inline(always)]
    fn horner_up_to(self, x: Self, coefficients: &[u32], _growth: Growth) -> Self {
        self.horner(x, coefficients)
    }
    /// `self * b`, of which it makes no difference whether a result below 2^-100 is a zero.
    #[must_use]
    #[inline(always)]
    fn traceless_product(self, b: Self) -> Self {
        self.times(b)
    }
    /// The word itself; it is +0 or at least two to the power of `least` in magnitude in most lanes, and below two to
    /// that of `most` in all that count: the program's text says so.
    #[must_use]
    #[inline(always)]
    fn zero_or_usual(self, _least: i32, _most: i32) -> Self {
        self
    }
    /// `x * first + second` rounded to an integer, which is left in the low bits of the word, for numbers up to 64.
    #[must_use]
    #[inline(always)]
    fn rounded_line(self, first: u32, second: u32) -> Self {
        self.general(Self::from(first), Self::from(second)).plus(Self::from(super::lane::ROUNDER))
    }
    /// [`Self::mad`] where the product is proven to have an exponent of at most that of a constant, and the sum to be
    /// less than 1.8 times its power of two, or seven times that if the constant ends with three zeros.
    #[must_use]
    #[inline(always)]
    fn on_constant_grid(self, b: Self, c: u32) -> Self {
        self.mad(b, Self::from(c))
    }
    /// [`Self::mad`] where the terms may nearly cancel, of numbers far from the ends of the range. `c` is proven to
    /// have no place below the product's grid, 2^-26 of its exponent, and the sum to be less than four times the larger
    /// term's power of two, or, if `grows`, `c` to be even on that grid where it is more.
    #[must_use]
    #[inline(always)]
    fn balanced(self, b: Self, c: Self, _grows: bool) -> Self {
        self.mad(b, c)
    }
    /// The exponent as a number: 3.0 for 8.0 up to 16.0.
    #[must_use]
    #[inline(always)]
    fn exponent_number(self) -> Self {
        super::blocks::exponent_number(self)
    }
    /// So many times [`super::blocks::ROUGH_LN2`], and the logarithm of the mantissa, for numbers from 1/2 to 2^16.
    #[must_use]
    #[inline(always)]
    fn few_turns_of_log(self, mantissa: Self) -> Self {
        self.general(Self::from(super::blocks::ROUGH_LN2), mantissa)
    }
    /// Equality of numbers: zeros are equal, NaNs are not.
    #[inline(always)]
    fn is_number_equal(self, other: Self) -> Self::Mask {
        super::relations::is_number_equal(self, other)
    }
    /// [`Self::mad`] where the product is small beside `c`, or nothing.
    #[must_use]
    #[inline(always)]
    fn nudged(self, b: Self, c: Self) -> Self {
        self.mad(b, c)
    }
    /// [`Self::mad`] where `b` is proven to be a power of two, and neither terms nor sum to be small or out of range.
    #[must_use]
    #[inline(always)]
    fn surely_scaled(self, b: Self, c: Self) -> Self {
        self.mad(b, c)
    }
    /// `self * b + 1` where the product is proven to be -1 within 1/16, of numbers that are far from the ends of the
    /// range.
    #[must_use]
    #[inline(always)]
    fn residual_of_one(self, b: Self) -> Self {
        self.mad(b, Self::from(ONE))
    }
    /// `self * b - 1` where the product is proven to be 1 within 1/16, of numbers that are far from the ends of the
    /// range.
    #[must_use]
    #[inline(always)]
    fn residual_of_minus_one(self, b: Self) -> Self {
        self.mad(b, Self::from(MINUS_ONE))
    }
    /// [`Self::mad`] where `c` is proven to be from 1 to 2, of any sign, the product to have no larger exponent, and
    /// the sum to be less than 1/16.
    #[must_use]
    #[inline(always)]
    fn residual_of_mantissa(self, b: Self, c: Self) -> Self {
        self.mad(b, c)
    }
    /// `k` added to the exponent field of a number that is proven to be neither zero nor near the ends of the range.
    #[must_use]
    #[inline(always)]
    fn surely_moved(self, k: i32) -> Self {
        super::lane::addexp(self, k)
    }
    /// Two's complement absolute value.
    #[must_use]
    #[inline(always)]
    fn integer_magnitude(self) -> Self {
        Self::select(self.is_less(Self::from(0)), Self::from(0).isub(self), self)
    }
    /// Absolute value; negative NaNs are left alone.
    #[must_use]
    #[inline(always)]
    fn absolute(self) -> Self {
        super::lane::absolute(self)
    }
    /// The word itself, whose magnitude as a number is below two to the power of `most` in most lanes.
    #[must_use]
    #[inline(always)]
    fn usually_below(self, _most: i32) -> Self {
        self
    }
    /// The word itself, which is no NaN in most lanes.
    #[must_use]
    #[inline(always)]
    fn number(self) -> Self {
        self
    }
    /// The word of an absolute value itself, which is no denormal in most lanes.
    #[must_use]
    #[inline(always)]
    fn normal_or_zero(self) -> Self {
        self
    }
    /// [`Self::mad`] for an integer below 2^8 and a constant of which it takes so much away that at most two thirds of
    /// the constant are left, in most lanes.
    #[must_use]
    #[inline(always)]
    fn remainder(self, b: u32, c: Self) -> Self {
        self.mad(Self::from(b), c)
    }
    /// `a < b` as kernels compare: the sign of the difference.
    #[inline(always)]
    fn is_below(self, other: Self) -> Self::Mask {
        super::lane::is_negative(self.minus(other))
    }
    /// `a > b`: the difference is positive.
    #[inline(always)]
    fn is_above(self, other: Self) -> Self::Mask {
        super::lane::is_positive(self.minus(other))
    }
    /// For a logarithm: how often a word is to be halved to lie in [0.75, 1.5), in place, and as a number times 2^23.
    #[must_use]
    #[inline(always)]
    fn exponent_of_log(self) -> (Self, Self) {
        super::log::exponent(self)
    }
    /// So many times ln 2, and the logarithm of the mantissa, from -0.29 to 0.41.
    #[must_use]
    #[inline(always)]
    fn turns_of_log(self, mantissa: Self) -> Self {
        self.far(Self::from(super::log::LN2_PER_STEP), mantissa)
    }
    /// The logarithm's value, or what it is where there is none.
    #[must_use]
    #[inline(always)]
    fn limits_of_log(self, value: Self) -> Self {
        super::log::special(self, value)
    }
    /// The smaller word in total order.
    #[must_use]
    #[inline(always)]
    fn minimum(self, other: Self) -> Self {
        super::lane::minimum(self, other)
    }
    /// The larger word in total order.
    #[must_use]
    #[inline(always)]
    fn maximum(self, other: Self) -> Self {
        super::lane::maximum(self, other)
    }
    /// |a| / |b| of integers, and what it leaves, as the kernels of quotients or of remainders find them.
    #[must_use]
    #[inline(always)]
    fn divided(self, b: Self, for_quotient: bool) -> (Self, Self) {
        super::division::divide(self, b, for_quotient).settled()
    }
    /// What so many rounds of the kernels' algorithm make of the greatest common divisor.
    #[must_use]
    #[inline(always)]
    fn common_divisor(self, b: Self, rounds: usize) -> Self {
        super::division::gcd_rounds(self, b, rounds)
    }
    /// Denormals replaced by a zero of the same sign.
    #[must_use]
    #[inline(always)]
    fn flushed(self) -> Self {
        super::lane::flushed(self)
    }
    /// [`Self::mad`] where the terms nearly cancel, as in what a quotient leaves. This and the following say what is
    /// usual at a place in a program, so that an implementation may be prepared for it; the result is that of `mad` in
    /// any case.
    #[must_use]
    #[inline(always)]
    fn residual(self, b: Self, c: Self) -> Self {
        self.mad(b, c)
    }
    /// [`Self::mad`] where the product of a small integer and a short constant takes most of `c` away.
    #[must_use]
    #[inline(always)]
    fn reduce(self, b: Self, c: Self) -> Self {
        self.mad(b, c)
    }
    /// [`Self::mad`] where up to three quarters of `c` are taken away.
    #[must_use]
    #[inline(always)]
    fn shrinking(self, b: Self, c: Self) -> Self {
        self.mad(b, c)
    }
    /// [`Self::mad`] where up to all of the constant `c` is taken away.
    #[must_use]
    #[inline(always)]
    fn vanishing(self, b: Self, c: Self) -> Self {
        self.mad(b, c)
    }
    /// [`Self::mad`] where `b` is a power of two.
    #[must_use]
    #[inline(always)]
    fn scaled(self, b: Self, c: Self) -> Self {
        self.mad(b, c)
    }
    /// [`Self::mad`] where the product may be many times `c`.
    #[must_use]
    #[inline(always)]
    fn far(self, b: Self, c: Self) -> Self {
        self.mad(b, c)
    }
    /// [`Self::mad`] where the product may be several times `c` and has its sign.
    #[must_use]
    #[inline(always)]
    fn growing(self, b: Self, c: Self) -> Self {
        self.mad(b, c)
    }
    /// The number's square and 1.
    #[must_use]
    #[inline(always)]
    fn square_and_one(self) -> Self {
        self.growing(self, Self::from(ONE))
    }
    /// [`Self::mad`] where the terms may stand in any relation.
    #[must_use]
    #[inline(always)]
    fn general(self, b: Self, c: Self) -> Self {
        self.mad(b, c)
    }
    /// The word itself; its magnitude as a number is at least two to the power of `least` and below two to that of
    /// `most` in most lanes that count.
    #[must_use]
    #[inline(always)]
    fn usual(self, _least: i32, _most: i32) -> Self {
        self
    }
    /// As [`Self::usual`], of positive numbers.
    #[must_use]
    #[inline(always)]
    fn usually_positive(self, _least: i32, _most: i32) -> Self {
        self
    }
    /// As [`Self::usual`], in every lane: the program's text says so.
    #[must_use]
    #[inline(always)]
    fn surely(self, _least: i32, _most: i32) -> Self {
        self
    }
    /// Nearest integer to the magnitude of an FP32 number, ties away, at most `largest`, below 2^16; infinities and NaN
    /// give the largest.
    #[must_use]
    #[inline(always)]
    fn round_magnitude(self, largest: u32) -> Self {
        super::lane::round_magnitude(self, largest)
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
    /// Equality of the words.
    fn is_equal(self, other: Self) -> Self::Mask;
    /// Order of two's complement words.
    fn is_less(self, other: Self) -> Self::Mask;
    /// Whether a lane's truth value may be true. The unit computes what no lane takes, too; an implementation with
    /// several lanes may leave it out. One lane by itself is the definition, which leaves out nothing.
    fn any(mask: Self::Mask) -> bool;
    /// `yes` where the mask is true, else `no`.
    #[must_use]
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// [`Self::select`] where the mask is true in most lanes.
    #[must_use]
    #[inline(always)]
    fn usually(mask: Self::Mask, yes: Self, no: Self) -> Self {
        Self::select(mask, yes, no)
    }
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

impl Word for u32 {
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
    fn any(_: bool) -> bool {
        true
    }
    #[inline(always)]
    fn select(mask: bool, yes: u32, no: u32) -> u32 {
        if mask { yes } else { no }
    }
}
