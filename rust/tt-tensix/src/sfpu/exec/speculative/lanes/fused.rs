//! Pieces of programs that are proven as a whole: their steps are the host's without a condition for each of them.

use super::horner::on_grid_of_constant;
use super::range::Range;
use super::{
    A, Float, INFINITY, Int, Lanes, MANTISSA, SIGN, STEP, SpecLanes, either, float, is_within, magnitude, splat,
};
use crate::sfpu::arith::lane::{HALF, MINUS_ONE, NAN, ROUNDER};
use crate::sfpu::exec::simd::VECTORS;
use crate::sfpu::exec::speculative::series::Growth;
use crate::sfpu::functions::blocks::{INVERSE_LN2, LN2_PARTS, RECIPROCAL_SEED, ROUGH_LN2};
use crate::sfpu::functions::log::{LN2_PER_STEP, SPLIT};
use crate::vector::Vector;

/// Below, 2^x is zero, and above infinite.
const EXP2_RANGE: [f32; 2] = [-127.0, 128.0];
/// 2^-20: below, a logarithm may leave no trace beside others.
const TRACE: u32 = (127 - 20) << 23;

#[inline(always)]
fn number(word: u32) -> Float {
    float(splat(word))
}

/// The argument, held to the range, less the nearest multiple of ln 2: the rest, how often it is taken, and lanes in
/// fallback.
///
/// At most 140 times: the multiple of the first part has 8 + 15 bits, and at most 0.347 is left of an argument that is
/// not smaller than 0.34 if anything is taken. So the signs differ, both terms are on the unit's grid, and their sum is
/// exact. The second part is less than 2^-12; if the exponent stays what it was, the sum is an ordinary one. An
/// argument that is a denormal or -0 stays what it is, where the unit has +0: beside 1 it leaves no trace.
#[inline(always)]
fn turns_of_ln2(x: Int, range: [f32; 2]) -> (Int, Int, Lanes) {
    assert!(range[0] >= -97.0 && range[1] <= 97.0, "a multiple of at most 140");
    let held = held(x, range);
    let power = nearest_integer(A::mul_float(held, number(INVERSE_LN2)));
    let turns = A::exact_float(power);
    let upper = A::fma(turns, number(LN2_PARTS[0]), held);
    let rest = A::fma(turns, number(LN2_PARTS[1]), upper);
    let crossed = A::any_bit(A::xor(A::to_bits(rest), A::to_bits(upper)), splat(SIGN | INFINITY));
    (A::to_bits(rest), power, crossed | A::is_nan(held))
}

/// An exponent below 1 is a word below 2^23, and one from 255 on a word that is not below infinity.
#[inline(always)]
fn raised(value: Int, power: Int) -> Int {
    let word = A::min_signed(A::add(value, A::shl::<23>(power)), splat(INFINITY));
    A::keep(A::greater(word, splat(STEP - 1)), word)
}

/// Beside it a number below 1/16 is on the grid of 1, which is 2^-26.
pub(in crate::sfpu::exec) const BESIDE: f32 = 0.1875;

/// What lies between two numbers on the grid becomes the odd one; [`BESIDE`] is taken off again.
#[inline(always)]
pub(in crate::sfpu::exec) fn without_beside(down: Float, up: Float) -> Float {
    let odd = A::round_to_odd(A::to_bits(down), A::to_bits(up));
    A::sub_float(float(odd), A::splat_float(BESIDE))
}

/// x * y + 1 where less than 1/16 is left: the sum, rounded to odd on the grid, is what comes of rounding it down and up beside
/// a number that moves the grid to its last bit.
#[inline(always)]
pub(super) fn residual_of_one(x: Float, y: Float) -> Float {
    let beside = A::splat_float(1.0 + BESIDE);
    without_beside(A::fma_down(x, y, beside), A::fma_up(x, y, beside))
}

/// x * y - 1, the same with the signs turned. Of two negative numbers the smaller word is the upper one.
#[inline(always)]
pub(super) fn residual_of_minus_one(x: Int, y: Int) -> Int {
    let beside = A::splat_float(-1.1875);
    let (down, up) = (A::fma_down(float(x), float(y), beside), A::fma_up(float(x), float(y), beside));
    let odd = A::round_to_odd(A::to_bits(up), A::to_bits(down));
    A::to_bits(A::add_float(float(odd), A::splat_float(0.1875)))
}

/// The same beside a number of either sign from 1 to 2, which is what is left of it less an exact 0.1875.
#[inline(always)]
pub(super) fn residual_of_mantissa(x: Int, y: Int, z: Int) -> Int {
    let beside = float(A::or(A::and(z, splat(SIGN)), splat(0.1875_f32.to_bits())));
    let rest = A::sub_float(float(z), beside);
    let down = A::to_bits(A::fma_down(float(x), float(y), rest));
    let up = A::to_bits(A::fma_up(float(x), float(y), rest));
    let odd = A::select(A::any_bit(down, splat(1)), down, up);
    A::to_bits(A::add_float(float(odd), beside))
}

/// The argument, held to the range, less the nearest integer, which is exact, that integer, and lanes that fall back.
#[inline(always)]
fn reduced_by_one(x: Int) -> (Int, Int, Lanes) {
    let held = held(x, EXP2_RANGE);
    let power = nearest_integer(held);
    (A::to_bits(A::sub_float(held, A::exact_float(power))), power, A::is_nan(held))
}

/// Of the two operands of the instructions, NaN must be the second.
#[inline(always)]
fn held(x: Int, [low, high]: [f32; 2]) -> Float {
    A::min_float(A::splat_float(high), A::max_float(A::splat_float(low), float(x)))
}

/// Ties away from zero: half is added with the number's sign and the rest cut off. The sum is cut, too, so that it
/// never reaches an integer that the exact one does not.
#[inline(always)]
fn nearest_integer(x: Float) -> Int {
    let half = A::or(A::and(A::to_bits(x), splat(SIGN)), splat(HALF));
    A::to_int_cut(A::add_cut(x, float(half)))
}

/// 1 / m for a mantissa m from one to two that is given negated.
///
/// The seed is 1% off at most, at both ends and between. Its first step is an ordinary one, of a result from 0.8 to
/// 1.14. Its second step leaves between a quarter and half of the constant's power of two: there the grid has one bit
/// more than the result, and everything between two results is rounded to odd, to the middle, a tie, of which the even one
/// comes. What is left of one by an estimate that is so close is less than 1/16. The correction is an ordinary step
/// again.
#[inline(always)]
pub(in crate::sfpu::exec) fn inverse(n: Float, steps: usize) -> Float {
    let [square, linear, constant] = RECIPROCAL_SEED;
    let (line, constant) = (A::fma(number(square), n, number(linear)), number(constant));
    let down = A::to_bits(A::fma_down(line, n, constant));
    let up = A::to_bits(A::fma_up(line, n, constant));
    let mut y = float(A::select(A::any_bit(down, splat(1)), up, down));
    for _ in 0..steps {
        y = A::fma(y, residual_of_one(n, y), y);
    }
    y
}

#[inline(always)]
fn negated_mantissa(word: Int) -> Float {
    float(A::or(A::and(word, splat(MANTISSA)), splat(MINUS_ONE)))
}

#[inline(always)]
fn exponent_of_log(word: Int) -> Int {
    A::and(A::sub(word, splat(SPLIT)), splat(!MANTISSA))
}

/// x * first + second, rounded to an integer that is left in the low bits, and lanes that fall back.
///
/// For numbers up to 64 and a factor below 1/2 the unit's sum is less than 2^-18 from the host's: both round the same
/// exact one of less than 2^5, the unit after cutting the product by a grid of 2^-22. The integers are the same if the
/// sum is not so close to the middle of two.
#[inline(always)]
fn rounded_line(x: Int, first: u32, second: u32) -> (Int, Lanes) {
    let line = A::fma(float(x), number(first), number(second));
    let rounded = A::add_float(line, number(ROUNDER));
    let rest = A::sub_float(line, A::sub_float(rounded, number(ROUNDER)));
    let near = A::at_most(float(magnitude(A::to_bits(rest))), A::splat_float(0.5 - 1.0 / 131_072.0));
    (A::to_bits(rounded), !(near & A::at_most(float(magnitude(x)), A::splat_float(64.0))))
}

/// `turns` ln 2 and a logarithm from -0.29 to 0.41.
///
/// Without turns, that is what is left. Otherwise the product's exponent is the larger one. Ln 2 has 21 bits, so that
/// up to 63 turns make at most 27, which are even on the grid. The sum is at least 0.28 and less than 4 times the
/// product's power of two: at most one bit is lost to either side. A logarithm that the grid cuts to nothing leaves no
/// trace, and would decide a tie in the host: but up to 7 turns have 24 bits, hence no tie, and for 63 turns the grid
/// is 2^-21.
#[inline(always)]
fn turns_of_log(turns: Int, mantissa: Int) -> (Int, Lanes) {
    let result = A::fma(float(turns), number(LN2_PER_STEP), float(mantissa));
    let times = float(magnitude(turns));
    let few = A::at_most(times, A::splat_float(7.0 * STEP as f32));
    let many = A::at_most(times, A::splat_float(63.0 * STEP as f32));
    let nothing = A::below_unsigned(A::sub(magnitude(mantissa), splat(1)), splat(TRACE));
    (A::to_bits(result), !(few | many & !nothing))
}

/// `turns` times a little less than ln 2, which has 23 bits, and a logarithm from 0 to 0.7, a multiple of 2^-26: for -1
/// to 15 turns.
///
/// The product is even on its grid, and exact. Of -1 turn, a logarithm that takes half of it away is on the grid, too,
/// and the sum is exact; otherwise nothing is lost to the left or right. A logarithm that the grid cuts to nothing
/// would decide a tie in the host.
#[inline(always)]
fn few_turns_of_log(turns: Int, mantissa: Int) -> (Int, Lanes) {
    let result = A::fma(float(turns), number(ROUGH_LN2), float(mantissa));
    (A::to_bits(result), A::below_unsigned(A::sub(mantissa, splat(1)), splat(TRACE)))
}

#[inline(always)]
fn exponent_number(word: Int) -> Int {
    let exponent = A::and(A::shr::<23>(word), splat(255));
    A::to_bits(A::exact_float(A::sub(exponent, splat(127))))
}

impl SpecLanes {
    #[inline(always)]
    pub(super) fn few_turns_of_log(self, mantissa: Self) -> Self {
        let first = few_turns_of_log(self.words[0], mantissa.words[0]);
        let second = few_turns_of_log(self.words[1], mantissa.words[1]);
        let fallback = either(either(self.fallback, mantissa.fallback), [first.1, second.1]);
        Self { range: Range::between(-26, 4), ..Self::wild([first.0, second.0], fallback) }
    }

    #[inline(always)]
    pub(super) fn exponent_number(self) -> Self {
        let words = [exponent_number(self.words[0]), exponent_number(self.words[1])];
        Self { range: Range::between(0, 8), ..Self::wild(words, self.fallback) }
    }

    /// The sign of two's complement is that of the number.
    #[inline(always)]
    pub(super) fn exponent_of_log(self) -> (Self, Self) {
        let steps = [exponent_of_log(self.words[0]), exponent_of_log(self.words[1])];
        let turns = [A::to_bits(A::exact_float(steps[0])), A::to_bits(A::exact_float(steps[1]))];
        (Self::wild(steps, self.fallback), Self { range: Range::between(23, 32), ..Self::wild(turns, self.fallback) })
    }

    #[inline(always)]
    pub(super) fn turns_of_log(self, mantissa: Self) -> Self {
        let first = turns_of_log(self.words[0], mantissa.words[0]);
        let second = turns_of_log(self.words[1], mantissa.words[1]);
        let fallback = either(either(self.fallback, mantissa.fallback), [first.1, second.1]);
        Self { range: Range::TAME, ..Self::wild([first.0, second.0], fallback) }
    }

    /// Of zero it is minus infinity, of what is negative NaN; of denormals, infinity and NaN it falls back.
    #[inline(always)]
    pub(super) fn limits_of_log(self, value: Self) -> Self {
        let (mut words, mut fallback) = (value.words, value.fallback);
        for lane in 0..VECTORS {
            let word = self.words[lane];
            let (zero, negative) = (A::equal(word, splat(0)), A::greater(splat(0), word));
            let usual = is_within(word, splat(STEP), INFINITY - STEP);
            words[lane] = A::select(zero, splat(SIGN | INFINITY), words[lane]);
            words[lane] = A::select(negative, splat(NAN), words[lane]);
            fallback[lane] = self.fallback[lane] | (fallback[lane] | !usual) & !(zero | negative);
        }
        Self::wild(words, fallback)
    }

    #[inline(always)]
    pub(super) fn reduced_by_ln2(self, range: [f32; 2]) -> (Self, Self) {
        let first = turns_of_ln2(self.words[0], range);
        let second = turns_of_ln2(self.words[1], range);
        let fallback = either(self.fallback, [first.2, second.2]);
        (Self::wild([first.0, second.0], fallback), Self::wild([first.1, second.1], fallback))
    }

    #[inline(always)]
    pub(super) fn reduced_by_one(self) -> (Self, Self) {
        let first = reduced_by_one(self.words[0]);
        let second = reduced_by_one(self.words[1]);
        let fallback = either(self.fallback, [first.2, second.2]);
        (Self::wild([first.0, second.0], fallback), Self::wild([first.1, second.1], fallback))
    }

    /// For a significand from 1/2 to 2.
    #[inline(always)]
    pub(super) fn raised_by(self, power: Self) -> Self {
        let words = [raised(self.words[0], power.words[0]), raised(self.words[1], power.words[1])];
        Self { range: Range::TAME, ..Self::wild(words, either(self.fallback, power.fallback)) }
    }

    /// The reciprocal of the mantissa.
    #[inline(always)]
    pub(super) fn inverse(self, steps: usize) -> Self {
        let (first, second) =
            (inverse(negated_mantissa(self.words[0]), steps), inverse(negated_mantissa(self.words[1]), steps));
        let words = [A::to_bits(first), A::to_bits(second)];
        Self { range: Range::between(-2, 1), ..Self::wild(words, self.fallback) }
    }

    #[inline(always)]
    pub(super) fn rounded_line(self, first: u32, second: u32) -> Self {
        let [a, b] = [rounded_line(self.words[0], first, second), rounded_line(self.words[1], first, second)];
        Self { range: Range::between(22, 24), ..Self::wild([a.0, b.0], either(self.fallback, [a.1, b.1])) }
    }

    #[inline(always)]
    pub(super) fn on_constant_grid(self, y: Self, c: u32) -> Self {
        let [x, y_words] = [self.words, y.words];
        let (first, _) = on_grid_of_constant(float(x[0]), float(y_words[0]), c);
        let (second, _) = on_grid_of_constant(float(x[1]), float(y_words[1]), c);
        let words = [A::to_bits(first), A::to_bits(second)];
        Self { range: Range::TAME, ..Self::wild(words, either(self.fallback, y.fallback)) }
    }

    /// Horner's rule for a polynomial of a range growth.
    ///
    /// A step is right if it is ordinary, or if the unit's grid cuts the product, so that what it loses of the sum
    /// leaves a trace: the addend is even on the grid. Words that end with fewer than 9 and 11 zeros have such a
    /// product.
    #[inline(always)]
    pub(super) fn horner_up_to(self, x: Self, coefficients: &[u32], growth: Growth) -> Self {
        let mut sum = self.words;
        let mut fallback = either(self.fallback, x.fallback);
        for lane in 0..VECTORS {
            let argument = x.words[lane];
            let mut grown = 0;
            unrolled!(coefficients, |i, coefficient| {
                let before = sum[lane];
                sum[lane] = A::to_bits(A::fma(float(before), float(argument), number(coefficient)));
                if growth.grown >> (i + 1) & 1 == 1 {
                    let large = !A::below_unsigned(sum[lane], splat((coefficient & !MANTISSA) + STEP + STEP / 2));
                    fallback[lane] |= large & !A::any_bit(before, splat(0x1ff));
                    grown |= large;
                }
            });
            fallback[lane] |= grown & !A::any_bit(argument, splat(0x7ff));
            fallback[lane] |= !A::below_unsigned(argument, splat(growth.largest.to_bits() + 1));
        }
        Self { range: Range::TAME, ..Self::wild(sum, fallback) }
    }

    /// Horner's rule for a polynomial all of whose steps are ordinary.
    #[inline(always)]
    pub(super) fn ordinary_horner(self, x: Self, coefficients: &[u32]) -> Self {
        let (mut first, mut second) = (float(self.words[0]), float(self.words[1]));
        unrolled!(coefficients, |_step, coefficient| {
            first = A::fma(first, float(x.words[0]), number(coefficient));
            second = A::fma(second, float(x.words[1]), number(coefficient));
        });
        let words = [A::to_bits(first), A::to_bits(second)];
        Self { range: Range::TAME, ..Self::wild(words, either(self.fallback, x.fallback)) }
    }
}
