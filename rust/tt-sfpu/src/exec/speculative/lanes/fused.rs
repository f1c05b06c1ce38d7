//! Pieces of programs that are proven as a whole.
//!
//! Their steps are the host's without a condition for each of them.

use super::{A, Float, INFINITY, Int, Lanes, MANTISSA, SIGN, STEP, SpecLanes, float, is_within, magnitude, splat};
use crate::arith::lane::{HALF, MINUS_ONE, NAN, ROUNDER};
use crate::exec::block::VECTORS;
use crate::functions::blocks::{INVERSE_LN2, LN2_PARTS, RECIPROCAL_SEED, ROUGH_LN2};
use crate::functions::log::{LN2_PER_STEP, SPLIT};
use tt_cpu::vector::Vector;

/// Below, 2^x is zero, and above infinite.
const EXP2_RANGE: [f32; 2] = [-127.0, 128.0];
/// 2^-20: below, a logarithm may leave no trace beside others.
const TRACE: u32 = (127 - 20) << 23;

#[inline(always)]
fn number(word: u32) -> Float {
    float(splat(word))
}

/// The clamped argument reduced by multiples of ln 2.
///
/// The rest after the nearest multiple, how often it is taken, and lanes in fallback.
///
/// At most 140 times: the multiple of the first part has 8 + 15 bits, and at most 0.347 is left of an argument that is
/// not smaller than 0.34 if anything is taken. So the signs differ, both terms are on the unit's grid, and their sum is
/// exact. The second part is less than 2^-12; if the exponent stays what it was, the sum is an ordinary one. An
/// argument that is a denormal or -0 stays what it is, where the unit has +0: beside 1 it leaves no trace.
#[inline(always)]
pub fn reduce_by_ln2(x: Int, range: [f32; 2]) -> (Int, Int, Lanes) {
    assert!(range[0] >= -97.0 && range[1] <= 97.0, "a multiple of at most 140");
    let clamped = clamped(x, range);
    let power = nearest_integer(A::mul_float(clamped, number(INVERSE_LN2)));
    let multiple = A::exact_float(power);
    let upper = A::fma(multiple, number(LN2_PARTS[0]), clamped);
    let rest = A::fma(multiple, number(LN2_PARTS[1]), upper);
    let crossed = A::any_bit(A::xor(A::to_bits(rest), A::to_bits(upper)), splat(SIGN | INFINITY));
    (A::to_bits(rest), power, crossed | A::is_nan(clamped))
}

/// Tests of words by exponent below 1, or from 255.
///
/// An exponent below 1 is a word below 2^23, and one from 255 on a word that is not below infinity.
#[inline(always)]
pub fn scale_exp(value: Int, power: Int) -> Int {
    let word = A::min_signed(A::add(value, A::shl::<23>(power)), splat(INFINITY));
    A::keep(A::greater(word, splat(STEP - 1)), word)
}

/// Number beside which those below 1/16 are on its grid.
///
/// It is the grid of 1, which is 2^-26.
pub const BESIDE: f32 = 0.1875;

/// Rounds to odd on the grid, and subtracts [`BESIDE`] again.
#[inline(always)]
pub fn without_beside(down: Float, up: Float) -> Float {
    let odd = A::round_to_odd(A::to_bits(down), A::to_bits(up));
    A::sub_float(float(odd), A::splat_float(BESIDE))
}

/// x * y + 1 where less than 1/16 is left.
///
/// The sum, rounded to odd on the grid, is what comes of rounding it down and up beside a number that moves the grid to
/// its last bit.
#[inline(always)]
pub fn residual_of_one(x: Int, y: Int) -> Float {
    let (x, y, beside) = (float(x), float(y), A::splat_float(1.0 + BESIDE));
    without_beside(A::fma_down(x, y, beside), A::fma_up(x, y, beside))
}

/// The clamped argument's fraction, nearest integer, and fallback lanes.
///
/// The fraction is exact.
#[inline(always)]
pub fn reduce_by_one(x: Int) -> (Int, Int, Lanes) {
    let clamped = clamped(x, EXP2_RANGE);
    let power = nearest_integer(clamped);
    (A::to_bits(A::sub_float(clamped, A::exact_float(power))), power, A::is_nan(clamped))
}

/// Of the two operands of the instructions, NaN must be the second.
#[inline(always)]
fn clamped(x: Int, [low, high]: [f32; 2]) -> Float {
    A::min_float(A::splat_float(high), A::max_float(A::splat_float(low), float(x)))
}

/// Ties away from zero: half is added with the number's sign and the rest cut off. The sum is cut, too, so that it
/// never reaches an integer that the exact one does not.
#[inline(always)]
fn nearest_integer(x: Float) -> Int {
    let half = A::or(A::and(A::to_bits(x), splat(SIGN)), splat(HALF));
    A::to_int_cut(A::add_cut(x, float(half)))
}

/// 1 / m for a negated mantissa m from one to two.
///
/// The seed is 1% off at most, at both ends and between. Its first step is an ordinary one, of a result from 0.8 to
/// 1.14. Its second step leaves between a quarter and half of the constant's power of two: there the grid has one bit
/// more than the result, and everything between two results is rounded to odd, to the middle, a tie, of which the even one
/// comes. What is left of one by an estimate that is so close is less than 1/16. The correction is an ordinary step
/// again.
#[inline(always)]
pub fn inverse(n: Float, steps: usize) -> Float {
    let [square, linear, constant] = RECIPROCAL_SEED;
    let (line, constant) = (A::fma(number(square), n, number(linear)), number(constant));
    let down = A::to_bits(A::fma_down(line, n, constant));
    let up = A::to_bits(A::fma_up(line, n, constant));
    let mut y = float(A::select(A::any_bit(down, splat(1)), up, down));
    for _ in 0..steps {
        y = A::fma(y, residual_of_one(A::to_bits(n), A::to_bits(y)), y);
    }
    y
}

/// [`inverse`] of the mantissa of a word.
#[inline(always)]
pub fn reciprocal_of_mantissa(word: Int, steps: usize) -> Float {
    inverse(float(A::or(A::and(word, splat(MANTISSA)), splat(MINUS_ONE))), steps)
}

/// The sign of two's complement is that of the number.
#[inline(always)]
pub fn split_exponent(word: Int) -> (Int, Int, Lanes) {
    let steps = A::and(A::sub(word, splat(SPLIT)), splat(!MANTISSA));
    (steps, A::to_bits(A::exact_float(steps)), 0)
}

/// x * first + second, rounded to an integer, and fallback lanes.
///
/// The integer is left in the low bits.
///
/// For numbers up to 64 and a factor below 1/2 the unit's sum is less than 2^-18 from the host's: both round the same
/// exact one of less than 2^5, the unit after cutting the product by a grid of 2^-22. The integers are the same if the
/// sum is not so close to the middle of two.
#[inline(always)]
pub fn round_line(x: Int, first: u32, second: u32) -> (Int, Lanes) {
    let line = A::fma(float(x), number(first), number(second));
    let rounded = A::add_float(line, number(ROUNDER));
    let rest = A::sub_float(line, A::sub_float(rounded, number(ROUNDER)));
    let near = A::at_most(float(magnitude(A::to_bits(rest))), A::splat_float(0.5 - 1.0 / 131_072.0));
    (A::to_bits(rounded), !(near & A::at_most(float(magnitude(x)), A::splat_float(64.0))))
}

/// `multiple` ln 2 and a logarithm from -0.29 to 0.41.
///
/// Without multiple, that is what is left. Otherwise the product's exponent is the larger one. Ln 2 has 21 bits, so that
/// up to 63 multiple make at most 27, which are even on the grid. The sum is at least 0.28 and less than 4 times the
/// product's power of two: at most one bit is lost to either side. A logarithm that the grid cuts to nothing leaves no
/// trace, and would decide a tie in the host: but up to 7 multiple have 24 bits, hence no tie, and for 63 multiple the grid
/// is 2^-21.
#[inline(always)]
pub fn add_exponent(multiple: Int, mantissa: Int) -> (Float, Lanes) {
    let result = A::fma(float(multiple), number(LN2_PER_STEP), float(mantissa));
    let times = float(magnitude(multiple));
    let few = A::at_most(times, A::splat_float(7.0 * STEP as f32));
    let many = A::at_most(times, A::splat_float(63.0 * STEP as f32));
    let nothing = A::below_unsigned(A::sub(magnitude(mantissa), splat(1)), splat(TRACE));
    (result, !(few | many & !nothing))
}

/// `multiple` of ln 2 plus a logarithm.
///
/// A little less than ln 2, which has 23 bits, and a logarithm from 0 to 0.7, a multiple of 2^-26: for -1 to 15
/// multiple.
///
/// The product is even on its grid, and exact. Of -1 turn, a logarithm that takes half of it away is on the grid, too,
/// and the sum is exact; otherwise nothing is lost to the left or right. A logarithm that the grid cuts to nothing
/// would decide a tie in the host.
#[inline(always)]
pub fn add_rough_exponent(multiple: Int, mantissa: Int) -> (Float, Lanes) {
    let result = A::fma(float(multiple), number(ROUGH_LN2), float(mantissa));
    (result, A::below_unsigned(A::sub(mantissa, splat(1)), splat(TRACE)))
}

#[inline(always)]
pub fn exponent_as_number(word: Int) -> Float {
    let exponent = A::and(A::shr::<23>(word), splat(255));
    A::exact_float(A::sub(exponent, splat(127)))
}

impl SpecLanes {
    /// Logarithm of every number: minus infinity of zero, NaN of negatives.
    ///
    /// Denormals, infinity and NaN fall back.
    #[inline(always)]
    pub fn limit_log(self, value: Self) -> Self {
        let (mut words, mut fallback) = (value.words, value.fallback);
        for lane in 0..VECTORS {
            let word = self.words[lane];
            let (zero, negative) = (A::equal(word, splat(0)), A::greater(splat(0), word));
            let usual = is_within(word, splat(STEP), INFINITY - STEP);
            words[lane] = A::select(zero, splat(SIGN | INFINITY), words[lane]);
            words[lane] = A::select(negative, splat(NAN), words[lane]);
            fallback[lane] = self.fallback[lane] | (fallback[lane] | !usual) & !(zero | negative);
        }
        Self::with_fallback(words, fallback)
    }
}
