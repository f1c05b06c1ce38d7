//! The primitives and forms on speculative lanes.

use super::fused::{residual_of_mantissa, residual_of_minus_one, residual_of_one};
use super::range::{LIMIT, Range};
use super::step::{Operands, SMALL, is_ordinary};
use super::{
    A, BIAS, INFINITY, Int, Lanes, MANTISSA, SIGN, STEP, SpecLanes, SpecMask, either, float, is_within, magnitude,
    splat,
};
use crate::sfpu::arith::lane::{Lane, MINUS_ONE, ONE, and, is_zero, order, select};
use crate::sfpu::exec::simd::VECTORS;
use crate::sfpu::exec::speculative::Speculative;
use crate::sfpu::exec::speculative::interval::Plan;
use crate::sfpu::exec::speculative::series::Growth;
use crate::vector::Vector;

/// Applies a step of [`Operands`] to both vectors. Its results are tame where it has no fallback. A macro, since a
/// function that is handed to another one would be compiled without the level's instructions.
macro_rules! step {
    ($x:expr, $y:expr, $z:expr, $step:ident) => {{
        let (x, y, z): (SpecLanes, SpecLanes, SpecLanes) = ($x, $y, $z);
        let first = Operands { x, y, z, lane: 0 }.$step();
        let second = Operands { x, y, z, lane: 1 }.$step();
        let fallback = either(either(x.fallback, y.fallback), z.fallback);
        SpecLanes {
            words: [first.0, second.0],
            fallback: either(fallback, [first.1, second.1]),
            constant: None,
            range: first.2,
        }
    }};
}

/// 2^20: constants from here on are added to round.
const ROUNDING: u32 = (127 + 20) << 23;

/// Beside coefficients below 2^123 no sum that is ordinary or has grown is infinite.
const LARGE: u32 = INFINITY - 5 * STEP;

/// Combines words of bits.
macro_rules! bits {
    ($a:expr, $b:expr, $operation:path) => {{
        let (a, b): (SpecLanes, SpecLanes) = ($a, $b);
        let words = [$operation(a.words[0], b.words[0]), $operation(a.words[1], b.words[1])];
        SpecLanes::wild(words, either(a.fallback, b.fallback))
    }};
}

impl From<u32> for SpecLanes {
    #[inline(always)]
    fn from(word: u32) -> Self {
        Self { words: [splat(word); VECTORS], fallback: [0; VECTORS], constant: Some(word), range: Range::of(word) }
    }
}

impl SpecLanes {
    /// Factors in the order in which a constant is the second.
    #[inline(always)]
    fn constant_second(self, b: Self) -> (Self, Self) {
        if self.constant.is_some() && b.constant.is_none() { (b, self) } else { (self, b) }
    }

    /// The multiply-add with a power of two that the program's text names.
    #[inline(always)]
    fn short_product(self, y: Self, c: Self) -> Option<Self> {
        let word = y.constant.filter(|word| word & MANTISSA == 0)?;
        if (Operands { x: self, y, z: c, lane: 0 }).keeps_range() {
            return Some(step!(self, y, c, of_short_product));
        }
        // No closure: that would be compiled without the level's instructions.
        if word & !SIGN < BIAS + (64 << 23) { Some(step!(self, y, c, of_large_power)) } else { None }
    }
}

impl Lane for SpecLanes {
    type Mask = SpecMask;

    /// An addend that is no constant may stand in any relation to the product; a large constant, which rounds, outweighs
    /// it.
    #[inline(always)]
    fn mad(self, b: Self, c: Self) -> Self {
        match c.constant {
            Some(0) => self.times(b),
            Some(word) if word & !SIGN >= ROUNDING => self.fma(b, c),
            _ => {
                let (x, y) = self.constant_second(b);
                if let Some(result) = x.short_product(y, c) { result } else { step!(x, y, c, general) }
            }
        }
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
                sum = sum.fma(x, addend);
            } else {
                let operands = Operands { x: sum, y: x, z: addend, lane: 0 };
                let (first, second) = (operands.of_polynomial(1), Operands { lane: 1, ..operands }.of_polynomial(1));
                worst = [A::max_unsigned(worst[0], first.1), A::max_unsigned(worst[1], second.1)];
                let fallback =
                    either(either(sum.fallback, x.fallback), either(denormal, [sum.denormal(0), sum.denormal(1)]));
                sum = Self { words: [first.0, second.0], fallback, constant: None, range: first.2 };
            }
        });
        let fallback = [!is_ordinary(worst[0]), !is_ordinary(worst[1])];
        Self { fallback: either(sum.fallback, fallback), ..sum }
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        let result = bits!(self, other, A::and);
        match other.constant {
            // The magnitude, or the sign alone.
            Some(0x7fff_ffff) => Self { range: self.range, ..result },
            Some(SIGN) => Self { range: Range::ZERO, ..result },
            _ => result,
        }
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        let result = bits!(self, other, A::or);
        // A sign is put on.
        if other.range.is_zero() { Self { range: Range { tame: false, ..self.range }, ..result } } else { result }
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        let result = bits!(self, other, A::xor);
        if other.range.is_zero() { Self { range: Range { tame: false, ..self.range }, ..result } } else { result }
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
        Self::wild([A::leading_zeros(self.words[0]), A::leading_zeros(self.words[1])], self.fallback)
    }
    #[inline(always)]
    fn magnitude_to_f32(self) -> Self {
        let [first, second] = self.words;
        let words = [A::to_bits(A::exact_float(first)), A::to_bits(A::exact_float(second))];
        Self { words, fallback: self.fallback, constant: None, range: Range::between(0, 32) }
    }
    #[inline(always)]
    fn round_magnitude(self, largest: u32) -> Self {
        let [first, second] = self.words;
        Self::wild([round_magnitude(first, largest), round_magnitude(second, largest)], self.fallback)
    }
    /// NaNs fall back.
    #[inline(always)]
    fn absolute(self) -> Self {
        Self { fallback: either(self.fallback, self.nan()), ..self.and(Self::from(!SIGN)) }
    }
    #[inline(always)]
    fn integer_magnitude(self) -> Self {
        Self::wild([A::abs(self.words[0]), A::abs(self.words[1])], self.fallback)
    }
    #[inline(always)]
    fn flushed(self) -> Self {
        if self.range.tame { self } else { select(is_zero(and(self, INFINITY)), and(self, SIGN), self) }
    }
    /// The total order of two words is that of integers if one of them is not negative, and the other way round,
    /// without a sign, if one is.
    #[inline(always)]
    fn minimum(self, other: Self) -> Self {
        let Some(word) = other.constant else { return select(order(self).is_less(order(other)), self, other) };
        if word < SIGN { bits!(self, other, A::min_signed) } else { bits!(self, other, A::max_unsigned) }
    }
    #[inline(always)]
    fn maximum(self, other: Self) -> Self {
        let Some(word) = other.constant else { return select(order(other).is_less(order(self)), self, other) };
        if word < SIGN { bits!(self, other, A::max) } else { bits!(self, other, A::min_unsigned) }
    }
    #[inline(always)]
    fn is_equal(self, other: Self) -> SpecMask {
        let truth = [A::equal(self.words[0], other.words[0]), A::equal(self.words[1], other.words[1])];
        SpecMask { truth, fallback: either(self.fallback, other.fallback) }
    }
    #[inline(always)]
    fn is_less(self, other: Self) -> SpecMask {
        let truth = [A::greater(other.words[0], self.words[0]), A::greater(other.words[1], self.words[1])];
        SpecMask { truth, fallback: either(self.fallback, other.fallback) }
    }
    /// The difference from a constant has the sign that the comparison says, but for NaN.
    #[inline(always)]
    fn is_below(self, other: Self) -> SpecMask {
        if !other.is_number() {
            return self.minus(other).is_less(Self::from(0));
        }
        let truth = [is_below(self.words[0], other.words[0]), is_below(self.words[1], other.words[1])];
        SpecMask { truth, fallback: either(self.fallback, self.nan()) }
    }
    #[inline(always)]
    fn is_above(self, other: Self) -> SpecMask {
        if !other.is_number() {
            return Self::from(0).is_less(self.minus(other));
        }
        let truth = [is_below(other.words[0], self.words[0]), is_below(other.words[1], self.words[1])];
        SpecMask { truth, fallback: either(self.fallback, self.nan()) }
    }
    #[inline(always)]
    fn select(mask: SpecMask, yes: Self, no: Self) -> Self {
        let (m, a, b) = (mask, yes, no);
        let words = [A::select(m.truth[0], a.words[0], b.words[0]), A::select(m.truth[1], a.words[1], b.words[1])];
        // A fallback of what is not taken does not count.
        let fallback = [
            m.fallback[0] | m.truth[0] & a.fallback[0] | !m.truth[0] & b.fallback[0],
            m.fallback[1] | m.truth[1] & a.fallback[1] | !m.truth[1] & b.fallback[1],
        ];
        Self { words, fallback, constant: None, range: yes.range.or(no.range) }
    }
}

/// Forms that have a method of the lanes.
macro_rules! forms {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty = $method:ident;)+) => {$(
        #[inline(always)]
        fn $name(self $(, $argument: $type)*) -> $result {
            Self::$method(self $(, $argument)*)
        }
    )+};
}

impl Speculative for SpecLanes {
    forms! {
        fn host_horner(x: Self, coefficients: &[u32]) -> Self = ordinary_horner;
        fn horner_planned(x: Self, coefficients: &[u32], plan: Plan) -> Self = planned;
        fn horner_within(x: Self, coefficients: &[u32], plan: Plan) -> Self = horner_within;
        fn reduce_by_ln2(range: [f32; 2]) -> (Self, Self) = reduced_by_ln2;
        fn horner_growing(x: Self, coefficients: &[u32], growth: Growth) -> Self = horner_up_to;
        fn round_line(first: u32, second: u32) -> Self = rounded_line;
        fn fma_on_addend_grid(b: Self, c: u32) -> Self = on_constant_grid;
        fn fma_on_common_grid(b: Self, c: Self, grows: bool) -> Self = balanced;
        fn exponent_as_number() -> Self = exponent_number;
        fn add_rough_exponent(mantissa: Self) -> Self = few_turns_of_log;
        fn scale_exp(power: Self) -> Self = raised_by;
        fn reduce_by_one() -> (Self, Self) = reduced_by_one;
        fn reciprocal_of_mantissa(steps: usize) -> Self = inverse;
        fn split_exponent() -> (Self, Self) = exponent_of_log;
        fn add_exponent(mantissa: Self) -> Self = turns_of_log;
        fn limit_log(value: Self) -> Self = limits_of_log;
    }

    #[inline(always)]
    fn fma_growing(self, b: Self, c: Self) -> Self {
        step!(self, b, c, growing)
    }
    #[inline(always)]
    fn square_plus_one(self) -> Self {
        step!(self, self, Self::from(ONE), square_and_one)
    }
    #[inline(always)]
    fn fma_small(self, b: Self, c: Self) -> Self {
        step!(self, b, c, nudged)
    }
    #[inline(always)]
    fn mul_unflushed(self, b: Self) -> Self {
        let (a, range) = (self, Range::NOTHING);
        let words = [product(a.words[0], b.words[0]), product(a.words[1], b.words[1])];
        Self { words, fallback: either(a.fallback, b.fallback), constant: None, range }
    }
    /// Rotated by a bit, -0 is one, and +0 is what passes.
    #[inline(always)]
    fn expect_zero_or(self, least: i32, most: i32) -> Self {
        let [low, high] = [splat(((least + 127) as u32) << 24), splat(((most.min(128) + 127) as u32) << 24)];
        let outside = if (least, most) == (-126, 128) {
            [A::is_wild_or_infinite(float(self.words[0])), A::is_wild_or_infinite(float(self.words[1]))]
        } else if most > 128 {
            [is_small(self.words[0], low), is_small(self.words[1], low)]
        } else {
            [is_outside(self.words[0], low, high), is_outside(self.words[1], low, high)]
        };
        let range = Range::between(least, if most > 128 { LIMIT } else { most });
        Self { fallback: either(self.fallback, outside), constant: None, range, ..self }
    }
    #[inline(always)]
    fn host_fma_unbounded(self, b: Self, c: Self) -> Self {
        Self { range: Range::TAME, ..step!(self, b, c, proven) }
    }
    #[inline(always)]
    fn residual_of_one(self, b: Self) -> Self {
        let first = residual_of_one(float(self.words[0]), float(b.words[0]));
        let second = residual_of_one(float(self.words[1]), float(b.words[1]));
        let words = [A::to_bits(first), A::to_bits(second)];
        Self { range: Range::between(-26, -4), ..Self::wild(words, either(self.fallback, b.fallback)) }
    }
    #[inline(always)]
    fn residual_of_minus_one(self, b: Self) -> Self {
        let words =
            [residual_of_minus_one(self.words[0], b.words[0]), residual_of_minus_one(self.words[1], b.words[1])];
        Self { range: Range::between(-26, 1), ..Self::wild(words, either(self.fallback, b.fallback)) }
    }
    #[inline(always)]
    fn residual_of_mantissa(self, b: Self, c: Self) -> Self {
        let (x, y, z) = (self.words, b.words, c.words);
        let words = [residual_of_mantissa(x[0], y[0], z[0]), residual_of_mantissa(x[1], y[1], z[1])];
        let fallback = either(either(self.fallback, b.fallback), c.fallback);
        Self { range: Range::between(-26, -4), ..Self::wild(words, fallback) }
    }
    #[inline(always)]
    fn shift_exponent(self, k: i32) -> Self {
        let result = bits!(self, Self::from((k << 23) as u32), A::add);
        Self { range: Range { least: self.range.least + k, most: self.range.most + k, ..self.range }, ..result }
    }
    #[inline(always)]
    fn expect_below(self, most: i32) -> Self {
        let limit = splat(((most + 127) as u32) << 23);
        let fallback =
            [!A::below_unsigned(magnitude(self.words[0]), limit), !A::below_unsigned(magnitude(self.words[1]), limit)];
        Self { fallback: either(self.fallback, fallback), constant: None, range: Range { most, ..self.range }, ..self }
    }
    #[inline(always)]
    fn expect_number(self) -> Self {
        Self { fallback: either(self.fallback, self.nan()), ..self }
    }
    #[inline(always)]
    fn host_fma_reduction(self, b: u32, c: Self) -> Self {
        let result = Self { range: Range::NOTHING, ..step!(self, Self::from(b), c, proven) };
        // 26 bits hold the product.
        let bits = splat((1 << 22_u32.saturating_sub(b.trailing_zeros())) - 1);
        let long = [A::any_bit(self.words[0], bits), A::any_bit(self.words[1], bits)];
        Self { fallback: either(result.fallback, long), ..result }
    }
    #[inline(always)]
    fn host_fma(self, b: Self, c: Self) -> Self {
        step!(self, b, c, proven)
    }
    #[inline(always)]
    fn assume(self, least: i32, most: i32) -> Self {
        Self { constant: None, range: Range::between(least, most), ..self }
    }
    #[inline(always)]
    fn fma_residual(self, b: Self, c: Self) -> Self {
        step!(self, b, c, residual)
    }
    #[inline(always)]
    fn fma_reduction(self, b: Self, c: Self) -> Self {
        step!(self, b, c, reduce)
    }
    #[inline(always)]
    fn expect(self, least: i32, most: i32) -> Self {
        let fallback = self.and(Self::from(!SIGN)).expect_positive(least, most).fallback;
        Self { fallback, constant: None, range: Range::between(least, most), ..self }
    }
    #[inline(always)]
    fn expect_positive(self, least: i32, most: i32) -> Self {
        let (first, span) = (splat(((least + 127) as u32) << 23), ((most - least) as u32) << 23);
        let fallback = [!is_within(self.words[0], first, span), !is_within(self.words[1], first, span)];
        Self { fallback: either(self.fallback, fallback), constant: None, range: Range::between(least, most), ..self }
    }
    /// The fallback of what is left out would be lost.
    #[inline(always)]
    fn any(mask: SpecMask) -> bool {
        let all = either(mask.truth, mask.fallback);
        all[0] | all[1] != 0
    }
    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        let (x, y) = self.constant_second(b);
        if let Some(result) = x.short_product(y, c) { result } else { step!(x, y, c, ordinary) }
    }
}

#[inline(always)]
fn product(a: Int, b: Int) -> Int {
    A::to_bits(A::mul_float(float(a), float(b)))
}

#[inline(always)]
fn is_outside(word: Int, low: Int, high: Int) -> Lanes {
    is_small(word, low) | !A::below_unsigned(A::rotated(word), high)
}

#[inline(always)]
fn is_small(word: Int, low: Int) -> Lanes {
    A::below_unsigned(A::sub(A::rotated(word), splat(1)), low)
}

#[inline(always)]
fn is_below(a: Int, b: Int) -> Lanes {
    A::less_float(float(a), float(b))
}

/// Half is added and the rest cut off. The sum is cut, too, so that it never reaches an integer that the exact one does
/// not. Out of range, the conversion gives 2^31, which is larger than any.
#[inline(always)]
fn round_magnitude(word: Int, largest: u32) -> Int {
    let sum = A::add_cut(float(magnitude(word)), A::splat_float(0.5));
    A::min_unsigned(A::to_int_cut(sum), splat(largest))
}
