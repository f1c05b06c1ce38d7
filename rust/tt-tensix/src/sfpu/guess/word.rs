//! The operations of lane programs on guesses.

use super::known::Known;
use super::step::{Operands, SMALL, is_grown, is_ordinary};
use super::whole::{residual_of_mantissa, residual_of_minus_one, residual_of_one};
use super::{
    A, BIAS, Guess, GuessMask, INFINITY, Int, Lanes, MANTISSA, SIGN, STEP, either, float, is_within, magnitude, splat,
};
use crate::sfpu::course::Course;
use crate::sfpu::lane::{self, MINUS_ONE, ONE};
use crate::sfpu::series::Growth;
use crate::sfpu::wide::VECTORS;
use crate::sfpu::word::Word;
use crate::vector::Vector;

/// Applies a step of [`Operands`] to both vectors. Its results are tame where it has no doubt. A macro, since a
/// function that is handed to another one would be compiled without the level's instructions.
macro_rules! step {
    ($x:expr, $y:expr, $z:expr, $step:ident) => {{
        let (x, y, z): (Guess, Guess, Guess) = ($x, $y, $z);
        let first = Operands { x, y, z, lane: 0 }.$step();
        let second = Operands { x, y, z, lane: 1 }.$step();
        let doubt = either(either(x.doubt, y.doubt), z.doubt);
        Guess { words: [first.0, second.0], doubt: either(doubt, [first.1, second.1]), constant: None, known: first.2 }
    }};
}

/// Beside coefficients below 2^123 no sum that is ordinary or has grown is infinite.
const LARGE: u32 = INFINITY - 5 * STEP;

/// Combines words of bits.
macro_rules! bits {
    ($a:expr, $b:expr, $operation:path) => {{
        let (a, b): (Guess, Guess) = ($a, $b);
        let words = [$operation(a.words[0], b.words[0]), $operation(a.words[1], b.words[1])];
        Guess::wild(words, either(a.doubt, b.doubt))
    }};
}

impl From<u32> for Guess {
    #[inline(always)]
    fn from(word: u32) -> Self {
        Self { words: [splat(word); VECTORS], doubt: [0; VECTORS], constant: Some(word), known: Known::of(word) }
    }
}

impl Word for Guess {
    type Mask = GuessMask;

    #[inline(always)]
    fn mad(self, b: Self, c: Self) -> Self {
        if c.constant == Some(0) {
            return self.times(b);
        }
        // Constants are second factors.
        let (x, y) = if self.constant.is_some() && b.constant.is_none() { (b, self) } else { (self, b) };
        let power = y.constant.is_some_and(|word| word & MANTISSA == 0);
        if power && (Operands { x, y, z: c, lane: 0 }).keeps_range() {
            return step!(x, y, c, of_short_product);
        }
        if power && y.constant.is_some_and(|word| word & !SIGN < BIAS + (64 << 23)) {
            return step!(x, y, c, of_large_power);
        }
        step!(x, y, c, ordinary)
    }

    /// The largest distance of a lane's sums from the middle of what is ordinary is asked for once, behind the last
    /// step.
    #[inline(always)]
    fn horner(self, x: Self, coefficients: &[u32]) -> Self {
        let (mut sum, mut worst) = (self, [splat(0); VECTORS]);
        let denormal = [x.denormal(0), x.denormal(1)];
        unrolled!(coefficients, |_step, coefficient| {
            let addend = Self::from(coefficient);
            let is_power = sum.constant.is_some_and(|word| word & MANTISSA == 0);
            if is_power || x.constant.is_some() || !(SMALL..LARGE).contains(&(coefficient & !SIGN)) {
                sum = sum.mad(x, addend);
            } else {
                let operands = Operands { x: sum, y: x, z: addend, lane: 0 };
                let (first, second) = (operands.of_polynomial(1), Operands { lane: 1, ..operands }.of_polynomial(1));
                worst = [A::max_unsigned(worst[0], first.1), A::max_unsigned(worst[1], second.1)];
                let doubt = either(either(sum.doubt, x.doubt), either(denormal, [sum.denormal(0), sum.denormal(1)]));
                sum = Self { words: [first.0, second.0], doubt, constant: None, known: first.2 };
            }
        });
        let doubt = [!is_ordinary(worst[0]), !is_ordinary(worst[1])];
        Self { doubt: either(sum.doubt, doubt), ..sum }
    }
    /// As `horner`. What has grown must be cut by its grid: the argument's part of that is asked for at the end, too.
    #[inline(always)]
    fn growing_horner(self, x: Self, coefficients: &[u32]) -> Self {
        let (mut sum, mut worst) = (self, [splat(0); VECTORS]);
        let denormal = [x.denormal(0), x.denormal(1)];
        unrolled!(coefficients, |_step, coefficient| {
            let addend = Self::from(coefficient);
            let is_short = coefficient.trailing_zeros() > 4;
            let is_constant = sum.constant.is_some() || x.constant.is_some();
            if is_constant || is_short || !(SMALL..LARGE).contains(&(coefficient & !SIGN)) {
                sum = sum.growing(x, addend);
            } else {
                let operands = Operands { x: sum, y: x, z: addend, lane: 0 };
                let (first, second) = (operands.of_polynomial(3), Operands { lane: 1, ..operands }.of_polynomial(3));
                worst = [A::max_unsigned(worst[0], first.1), A::max_unsigned(worst[1], second.1)];
                let uncut = [is_uncut(first.1, sum.words[0], 0x1ff), is_uncut(second.1, sum.words[1], 0x1ff)];
                let doubt = either(either(sum.doubt, uncut), either(denormal, [sum.denormal(0), sum.denormal(1)]));
                sum = Self { words: [first.0, second.0], doubt, constant: None, known: first.2 };
            }
        });
        let grown = [!is_grown(worst[0], 0), !is_grown(worst[1], 0)];
        let uncut = [is_uncut(worst[0], x.words[0], 0x7ff), is_uncut(worst[1], x.words[1], 0x7ff)];
        Self { doubt: either(either(sum.doubt, x.doubt), either(grown, uncut)), ..sum }
    }
    #[inline(always)]
    fn general_horner(self, x: Self, coefficients: &[u32]) -> Self {
        let mut sum = self;
        unrolled!(coefficients, |_step, coefficient| {
            sum = sum.general(x, Self::from(coefficient));
        });
        sum
    }
    #[inline(always)]
    fn ordinary_horner(self, x: Self, coefficients: &[u32]) -> Self {
        Self::ordinary_horner(self, x, coefficients)
    }
    #[inline(always)]
    fn horner_along(self, x: Self, coefficients: &[u32], course: Course) -> Self {
        Self::horner_along(self, x, coefficients, course)
    }
    #[inline(always)]
    fn horner_within(self, x: Self, coefficients: &[u32], course: Course) -> Self {
        Self::horner_within(self, x, coefficients, course)
    }
    #[inline(always)]
    fn reduced_by_ln2(self, range: [f32; 2]) -> (Self, Self) {
        Self::reduced_by_ln2(self, range)
    }
    #[inline(always)]
    fn horner_up_to(self, x: Self, coefficients: &[u32], growth: Growth) -> Self {
        Self::horner_up_to(self, x, coefficients, growth)
    }
    #[inline(always)]
    fn rounded_line(self, first: u32, second: u32) -> Self {
        Self::rounded_line(self, first, second)
    }
    #[inline(always)]
    fn on_constant_grid(self, b: Self, c: u32) -> Self {
        Self::on_constant_grid(self, b, c)
    }
    #[inline(always)]
    fn balanced(self, b: Self, c: Self, grows: bool) -> Self {
        Self::balanced(self, b, c, grows)
    }
    #[inline(always)]
    fn exponent_number(self) -> Self {
        Self::exponent_number(self)
    }
    #[inline(always)]
    fn few_turns_of_log(self, mantissa: Self) -> Self {
        Self::few_turns_of_log(self, mantissa)
    }
    /// Denormals are zeros in the unit.
    #[inline(always)]
    fn is_number_equal(self, other: Self) -> GuessMask {
        let truth = [is_same(self.words[0], other.words[0]), is_same(self.words[1], other.words[1])];
        let denormal = [self.denormal(0) | other.denormal(0), self.denormal(1) | other.denormal(1)];
        GuessMask { truth, doubt: either(either(self.doubt, other.doubt), denormal) }
    }
    #[inline(always)]
    fn nudged(self, b: Self, c: Self) -> Self {
        step!(self, b, c, nudged)
    }
    #[inline(always)]
    fn traceless_product(self, b: Self) -> Self {
        let (a, known) = (self, Known::NOTHING);
        let words = [product(a.words[0], b.words[0]), product(a.words[1], b.words[1])];
        Self { words, doubt: either(a.doubt, b.doubt), constant: None, known }
    }
    /// Turned by a bit, -0 is one, and +0 is what passes.
    #[inline(always)]
    fn zero_or_usual(self, least: i32, most: i32) -> Self {
        let limit = splat(((least + 127) as u32) << 24);
        let small = [is_small(self.words[0], limit), is_small(self.words[1], limit)];
        let known = Known::between(least, most);
        Self { doubt: either(self.doubt, small), constant: None, known, ..self }
    }
    #[inline(always)]
    fn raised(self, power: Self, _: Self) -> Self {
        self.raised_by(power)
    }
    #[inline(always)]
    fn reduced_by_one(self) -> (Self, Self) {
        Self::reduced_by_one(self)
    }
    #[inline(always)]
    fn surely_scaled(self, b: Self, c: Self) -> Self {
        Self { known: Known::TAME, ..step!(self, b, c, proven) }
    }
    #[inline(always)]
    fn residual_of_one(self, b: Self) -> Self {
        let first = residual_of_one(float(self.words[0]), float(b.words[0]));
        let second = residual_of_one(float(self.words[1]), float(b.words[1]));
        let words = [A::to_bits(first), A::to_bits(second)];
        Self { known: Known::between(-26, -4), ..Self::wild(words, either(self.doubt, b.doubt)) }
    }
    #[inline(always)]
    fn residual_of_minus_one(self, b: Self) -> Self {
        let words =
            [residual_of_minus_one(self.words[0], b.words[0]), residual_of_minus_one(self.words[1], b.words[1])];
        Self { known: Known::between(-26, -4), ..Self::wild(words, either(self.doubt, b.doubt)) }
    }
    #[inline(always)]
    fn residual_of_mantissa(self, b: Self, c: Self) -> Self {
        let (x, y, z) = (self.words, b.words, c.words);
        let words = [residual_of_mantissa(x[0], y[0], z[0]), residual_of_mantissa(x[1], y[1], z[1])];
        let doubt = either(either(self.doubt, b.doubt), c.doubt);
        Self { known: Known::between(-26, -4), ..Self::wild(words, doubt) }
    }
    #[inline(always)]
    fn surely_moved(self, k: i32) -> Self {
        let result = bits!(self, Self::from((k << 23) as u32), A::add);
        Self { known: Known { least: self.known.least + k, most: self.known.most + k, ..self.known }, ..result }
    }
    /// NaNs are left in doubt.
    #[inline(always)]
    fn absolute(self) -> Self {
        Self { doubt: either(self.doubt, self.nan()), ..self.and(Self::from(!SIGN)) }
    }
    #[inline(always)]
    fn usually_below(self, most: i32) -> Self {
        let limit = splat(((most + 127) as u32) << 23);
        let doubt =
            [!A::below_unsigned(magnitude(self.words[0]), limit), !A::below_unsigned(magnitude(self.words[1]), limit)];
        Self { doubt: either(self.doubt, doubt), constant: None, known: Known { most, ..self.known }, ..self }
    }
    #[inline(always)]
    fn number(self) -> Self {
        Self { doubt: either(self.doubt, self.nan()), ..self }
    }
    #[inline(always)]
    fn normal_or_zero(self) -> Self {
        let doubt = either(self.doubt, [self.denormal(0), self.denormal(1)]);
        Self { doubt, constant: None, known: Known::between(self.known.least.max(-126), self.known.most), ..self }
    }
    #[inline(always)]
    fn remainder(self, b: u32, c: Self) -> Self {
        let result = Self { known: Known::NOTHING, ..step!(self, Self::from(b), c, proven) };
        // 26 bits hold the product.
        let bits = splat((1 << 22_u32.saturating_sub(b.trailing_zeros())) - 1);
        let long = [A::any_bit(self.words[0], bits), A::any_bit(self.words[1], bits)];
        Self { doubt: either(result.doubt, long), ..result }
    }
    /// The difference from a constant has the sign that the comparison says, but for NaN.
    #[inline(always)]
    fn is_below(self, other: Self) -> GuessMask {
        if !other.is_number() {
            return self.minus(other).is_less(Self::from(0));
        }
        let truth = [is_below(self.words[0], other.words[0]), is_below(self.words[1], other.words[1])];
        GuessMask { truth, doubt: either(self.doubt, self.nan()) }
    }
    #[inline(always)]
    fn is_above(self, other: Self) -> GuessMask {
        if !other.is_number() {
            return Self::from(0).is_less(self.minus(other));
        }
        let truth = [is_below(other.words[0], self.words[0]), is_below(other.words[1], self.words[1])];
        GuessMask { truth, doubt: either(self.doubt, self.nan()) }
    }
    #[inline(always)]
    fn inverse_of_mantissa(self, steps: usize) -> Self {
        self.inverse(steps)
    }
    #[inline(always)]
    fn ordinary(self, b: Self, c: Self) -> Self {
        step!(self, b, c, proven)
    }
    #[inline(always)]
    fn exponent_of_log(self) -> (Self, Self) {
        Self::exponent_of_log(self)
    }
    #[inline(always)]
    fn turns_of_log(self, mantissa: Self) -> Self {
        Self::turns_of_log(self, mantissa)
    }
    #[inline(always)]
    fn limits_of_log(self, value: Self) -> Self {
        Self::limits_of_log(self, value)
    }
    #[inline(always)]
    fn surely(self, least: i32, most: i32) -> Self {
        Self { constant: None, known: Known::between(least, most), ..self }
    }
    /// The total order of two words is that of integers if one of them is not negative, and the other way round,
    /// without a sign, if one is.
    #[inline(always)]
    fn minimum(self, other: Self) -> Self {
        let Some(word) = other.constant else { return lane::minimum(self, other) };
        if word < SIGN { bits!(self, other, A::min_signed) } else { bits!(self, other, A::max_unsigned) }
    }
    #[inline(always)]
    fn maximum(self, other: Self) -> Self {
        let Some(word) = other.constant else { return lane::maximum(self, other) };
        if word < SIGN { bits!(self, other, A::max) } else { bits!(self, other, A::min_unsigned) }
    }
    #[inline(always)]
    fn integer_magnitude(self) -> Self {
        Self::wild([A::abs(self.words[0]), A::abs(self.words[1])], self.doubt)
    }
    #[inline(always)]
    fn divided(self, b: Self, _: bool) -> (Self, Self) {
        Self::quotient_and_rest(self, b)
    }
    #[inline(always)]
    fn common_divisor(self, b: Self, rounds: usize) -> Self {
        Self::common_divisor(self, b, rounds)
    }
    #[inline(always)]
    fn flushed(self) -> Self {
        if self.known.tame { self } else { lane::flushed(self) }
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        step!(Self::from(ONE), other, self, sum)
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        step!(Self::from(MINUS_ONE), other, self, difference)
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        step!(self, other, Self::from(0), product)
    }
    #[inline(always)]
    fn residual(self, b: Self, c: Self) -> Self {
        step!(self, b, c, residual)
    }
    #[inline(always)]
    fn reduce(self, b: Self, c: Self) -> Self {
        step!(self, b, c, reduce)
    }
    #[inline(always)]
    fn shrinking(self, b: Self, c: Self) -> Self {
        step!(self, b, c, shrinking)
    }
    #[inline(always)]
    fn vanishing(self, b: Self, c: Self) -> Self {
        step!(self, b, c, vanishing)
    }
    #[inline(always)]
    fn scaled(self, b: Self, c: Self) -> Self {
        step!(self, b, c, scaled)
    }
    #[inline(always)]
    fn far(self, b: Self, c: Self) -> Self {
        step!(self, b, c, far)
    }
    #[inline(always)]
    fn growing(self, b: Self, c: Self) -> Self {
        step!(self, b, c, growing)
    }
    #[inline(always)]
    fn square_and_one(self) -> Self {
        step!(self, self, Self::from(ONE), square_and_one)
    }
    #[inline(always)]
    fn general(self, b: Self, c: Self) -> Self {
        step!(self, b, c, general)
    }
    #[inline(always)]
    fn usual(self, least: i32, most: i32) -> Self {
        let doubt = self.and(Self::from(!SIGN)).usually_positive(least, most).doubt;
        Self { doubt, constant: None, known: Known::between(least, most), ..self }
    }
    #[inline(always)]
    fn usually_positive(self, least: i32, most: i32) -> Self {
        let (first, span) = (splat(((least + 127) as u32) << 23), ((most - least) as u32) << 23);
        let doubt = [!is_within(self.words[0], first, span), !is_within(self.words[1], first, span)];
        Self { doubt: either(self.doubt, doubt), constant: None, known: Known::between(least, most), ..self }
    }
    #[inline(always)]
    fn round_magnitude(self, largest: u32) -> Self {
        let [first, second] = self.words;
        Self::wild([round_magnitude(first, largest), round_magnitude(second, largest)], self.doubt)
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        let result = bits!(self, other, A::and);
        match other.constant {
            // The magnitude, or the sign alone.
            Some(0x7fff_ffff) => Self { known: self.known, ..result },
            Some(SIGN) => Self { known: Known::ZERO, ..result },
            _ => result,
        }
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        let result = bits!(self, other, A::or);
        // A sign is put on.
        if other.known.is_zero() { Self { known: Known { tame: false, ..self.known }, ..result } } else { result }
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        let result = bits!(self, other, A::xor);
        if other.known.is_zero() { Self { known: Known { tame: false, ..self.known }, ..result } } else { result }
    }
    #[inline(always)]
    fn iadd(self, other: Self) -> Self {
        bits!(self, other, A::add)
    }
    #[inline(always)]
    fn isub(self, other: Self) -> Self {
        bits!(self, other, A::sub)
    }
    #[inline(always)]
    fn imul(self, other: Self) -> Self {
        bits!(self, other, A::mul)
    }
    #[inline(always)]
    fn shl(self, count: Self) -> Self {
        bits!(self, count.and(Self::from(31)), A::shl_by)
    }
    #[inline(always)]
    fn shr(self, count: Self) -> Self {
        bits!(self, count.and(Self::from(31)), A::shr_by)
    }
    #[inline(always)]
    fn clz(self) -> Self {
        Self::wild([A::leading_zeros(self.words[0]), A::leading_zeros(self.words[1])], self.doubt)
    }
    #[inline(always)]
    fn magnitude_to_f32(self) -> Self {
        let [first, second] = self.words;
        let words = [A::to_bits(A::exact_float(first)), A::to_bits(A::exact_float(second))];
        Self { words, doubt: self.doubt, constant: None, known: Known::between(0, 32) }
    }
    #[inline(always)]
    fn is_equal(self, other: Self) -> GuessMask {
        let truth = [A::equal(self.words[0], other.words[0]), A::equal(self.words[1], other.words[1])];
        GuessMask { truth, doubt: either(self.doubt, other.doubt) }
    }
    #[inline(always)]
    fn is_less(self, other: Self) -> GuessMask {
        let truth = [A::greater(other.words[0], self.words[0]), A::greater(other.words[1], self.words[1])];
        GuessMask { truth, doubt: either(self.doubt, other.doubt) }
    }
    /// A doubt about what is left out would be lost.
    #[inline(always)]
    fn any(mask: GuessMask) -> bool {
        let all = either(mask.truth, mask.doubt);
        all[0] | all[1] != 0
    }
    #[inline(always)]
    fn select(mask: GuessMask, yes: Self, no: Self) -> Self {
        let (m, a, b) = (mask, yes, no);
        let words = [A::select(m.truth[0], a.words[0], b.words[0]), A::select(m.truth[1], a.words[1], b.words[1])];
        // A doubt about what is not taken does not count.
        let doubt = [
            m.doubt[0] | m.truth[0] & a.doubt[0] | !m.truth[0] & b.doubt[0],
            m.doubt[1] | m.truth[1] & a.doubt[1] | !m.truth[1] & b.doubt[1],
        ];
        Self { words, doubt, constant: None, known: yes.known.or(no.known) }
    }
    /// What is rare is not computed.
    #[inline(always)]
    fn usually(mask: GuessMask, yes: Self, _: Self) -> Self {
        let rare = [!mask.truth[0], !mask.truth[1]];
        Self { doubt: either(either(mask.doubt, rare), yes.doubt), constant: None, ..yes }
    }
}

#[inline(always)]
fn product(a: Int, b: Int) -> Int {
    A::to_bits(A::mul_float(float(a), float(b)))
}

#[inline(always)]
fn is_small(word: Int, limit: Int) -> Lanes {
    A::below_unsigned(A::sub(A::rotated(word), splat(1)), limit)
}

#[inline(always)]
fn is_below(a: Int, b: Int) -> Lanes {
    A::less_float(float(a), float(b))
}

#[inline(always)]
fn is_same(a: Int, b: Int) -> Lanes {
    A::at_most(float(a), float(b)) & A::at_most(float(b), float(a))
}

/// More than ordinary, though none of these bits of a factor is set.
#[inline(always)]
fn is_uncut(above_half: Int, factor: Int, bits: u32) -> Lanes {
    !is_ordinary(above_half) & !A::any_bit(factor, splat(bits))
}

/// Half is added and the rest cut off. The sum is cut, too, so that it never reaches an integer that the exact one does
/// not. Out of range, the conversion gives 2^31, which is larger than any.
#[inline(always)]
fn round_magnitude(word: Int, largest: u32) -> Int {
    let sum = A::add_cut(float(magnitude(word)), A::splat_float(0.5));
    A::min_unsigned(A::to_int_cut(sum), splat(largest))
}
