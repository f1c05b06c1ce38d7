//! The primitives and forms on speculative lanes.

use super::fused;
use super::horner::{on_addend_grid, on_common_grid};
use super::range::{LIMIT, Range};
use super::step::{Operands, SMALL, is_ordinary};
use super::{
    A, BIAS, Bits, Float, INFINITY, Int, Lanes, MANTISSA, Outcome, SIGN, STEP, SpecLanes, SpecMask, either, float,
    is_within, magnitude, splat,
};
use crate::arith::lane::{Lane, MINUS_ONE, ONE, and, is_zero, methods, order, select};
use crate::exec::block::VECTORS;
use crate::exec::speculative::Speculative;
use crate::exec::speculative::interval::Plan;
use tt_cpu::vector::Vector;
use tt_formats::Wormhole;

/// Applies a step of [`Operands`] to both vectors. Its results are regular where it has no fallback.
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

impl From<u32> for SpecLanes {
    #[inline(always)]
    fn from(word: u32) -> Self {
        Self { words: [splat(word); VECTORS], fallback: [0; VECTORS], constant: Some(word), range: Range::of(word) }
    }
}

/// A relation of the words of two operands.
macro_rules! mask {
    ($a:ident, $b:ident, $relation:path) => {
        SpecMask {
            truth: [$relation($a.words[0], $b.words[0]), $relation($a.words[1], $b.words[1])],
            fallback: either($a.fallback, $b.fallback),
        }
    };
}

impl SpecMask {
    #[inline(always)]
    fn or_fallback(self, fallback: Bits) -> Self {
        Self { fallback: either(self.fallback, fallback), ..self }
    }
}

impl SpecLanes {
    #[inline(always)]
    fn or_fallback(self, fallback: Bits) -> Self {
        Self { fallback: either(self.fallback, fallback), ..self }
    }

    /// What is known of the lanes without fallback.
    #[inline(always)]
    fn in_range(self, range: Range) -> Self {
        Self { constant: None, range, ..self }
    }

    /// Where only a sign was put on a number, its range is the same.
    #[inline(always)]
    fn signed(self, number: Self, sign: Self) -> Self {
        if sign.range.is_zero() { Self { range: Range { regular: false, ..number.range }, ..self } } else { self }
    }

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
    type Of = Wormhole;

    methods! {
        fn plus(self, other) -> Self = step!(Self::from(ONE), other, self, sum);
        fn minus(self, other) -> Self = step!(Self::from(MINUS_ONE), other, self, difference);
        fn times(self, other) -> Self = step!(self, other, Self::from(0), product);
        fn iadd(self, other) -> Self = both!([self, other], A::add);
        fn isub(self, other) -> Self = both!([self, other], A::sub);
        fn imul(self, other) -> Self = both!([self, other], A::mul);
        fn shl(self, count) -> Self = both!([self, count], shifted_left);
        fn shr(self, count) -> Self = both!([self, count], shifted_right);
        fn clz(self) -> Self = both!([self], A::leading_zeros);
        fn integer_magnitude(self) -> Self = both!([self], A::abs);
        fn magnitude_to_f32(self) -> Self = Self { range: Range::between(0, 32), ..both!([self], A::exact_float) };
        fn reciprocal_mantissa(self) -> Self = both!([self], crate::exec::simd::reciprocal_mantissa::<A>);
        fn is_equal(self, other) -> SpecMask = mask!(self, other, A::equal);
        fn is_less(self, other) -> SpecMask = mask!(other, self, A::greater);
    }

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
        let result = both!([self, other], A::and);
        match other.constant {
            // The magnitude, or the sign alone.
            Some(0x7fff_ffff) => Self { range: self.range, ..result },
            Some(SIGN) => Self { range: Range::ZERO, ..result },
            _ => result,
        }
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        both!([self, other], A::or).signed(self, other)
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        both!([self, other], A::xor).signed(self, other)
    }
    #[inline(always)]
    fn round_magnitude(self, largest: u32) -> Self {
        both!([self], round_magnitude, largest)
    }
    /// NaNs fall back.
    #[inline(always)]
    fn absolute(self) -> Self {
        Self { fallback: either(self.fallback, self.nan()), ..self.and(Self::from(!SIGN)) }
    }
    #[inline(always)]
    fn flushed(self) -> Self {
        if self.range.regular { self } else { select(is_zero(and(self, INFINITY)), and(self, SIGN), self) }
    }
    /// The total order of two words is that of integers if one of them is not negative, and the other way round,
    /// without a sign, if one is.
    #[inline(always)]
    fn minimum(self, other: Self) -> Self {
        let Some(word) = other.constant else { return select(order(self).is_less(order(other)), self, other) };
        if word < SIGN { both!([self, other], A::min_signed) } else { both!([self, other], A::max_unsigned) }
    }
    #[inline(always)]
    fn maximum(self, other: Self) -> Self {
        let Some(word) = other.constant else { return select(order(other).is_less(order(self)), self, other) };
        if word < SIGN { both!([self, other], A::max) } else { both!([self, other], A::min_unsigned) }
    }
    #[inline(always)]
    fn is_below(self, other: Self) -> SpecMask {
        if !other.is_number() {
            return self.minus(other).is_less(Self::from(0));
        }
        mask!(self, other, is_below).or_fallback(self.nan())
    }
    #[inline(always)]
    fn is_above(self, other: Self) -> SpecMask {
        if !other.is_number() {
            return Self::from(0).is_less(self.minus(other));
        }
        mask!(other, self, is_below).or_fallback(self.nan())
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

impl Speculative for SpecLanes {
    forms! {
        fn host_fma(self, b: Self, c: Self) -> Self = step!(self, b, c, assumed);
        fn host_fma_unbounded(self, b: Self, c: Self) -> Self = step!(self, b, c, assumed).in_range(Range::REGULAR);
        fn fma_growing(self, b: Self, c: Self) -> Self = step!(self, b, c, growing);
        fn square_plus_one(self) -> Self = step!(self, self, Self::from(ONE), square_and_one);
        fn fma_small(self, b: Self, c: Self) -> Self = step!(self, b, c, small_product);
        fn fma_reduction(self, b: Self, c: Self) -> Self = step!(self, b, c, reduce);
        fn fma_residual(self, b: Self, c: Self) -> Self = step!(self, b, c, residual);
        fn fma_on_addend_grid(self, b: Self, c: u32) -> Self
            = both!([self, b], on_addend_grid, c).in_range(Range::REGULAR);
        fn fma_on_common_grid(self, b: Self, c: Self, grows: bool) -> Self
            = both!([self, b, c], on_common_grid, grows).in_range(Range::REGULAR);
        fn residual_of_one(self, b: Self) -> Self
            = both!([self, b], fused::residual_of_one).in_range(Range::between(-26, -4));
        fn mul_unflushed(self, b: Self) -> Self = both!([self, b], product);

        fn horner_planned(self, x: Self, coefficients: &[u32], plan: Plan) -> Self
            = Self::horner_planned(self, x, coefficients, plan);
        fn horner_within(self, x: Self, coefficients: &[u32], plan: Plan) -> Self
            = Self::horner_within(self, x, coefficients, plan);

        fn reduce_by_ln2(self, range: [f32; 2]) -> (Self, Self) = both_pairs!([self], fused::reduce_by_ln2, range);
        fn reduce_by_one(self) -> (Self, Self) = both_pairs!([self], fused::reduce_by_one);
        fn scale_exp(self, power: Self) -> Self = both!([self, power], fused::scale_exp).in_range(Range::REGULAR);
        fn reciprocal_of_mantissa(self, steps: usize) -> Self
            = both!([self], fused::reciprocal_of_mantissa, steps).in_range(Range::between(-2, 1));
        fn round_line(self, first: u32, second: u32) -> Self
            = both!([self], fused::round_line, first, second).in_range(Range::between(22, 24));
        fn exponent_as_number(self) -> Self = both!([self], fused::exponent_as_number).in_range(Range::between(0, 8));
        fn add_rough_exponent(self, mantissa: Self) -> Self
            = both!([self, mantissa], fused::add_rough_exponent).in_range(Range::between(-26, 4));
        fn add_exponent(self, mantissa: Self) -> Self
            = both!([self, mantissa], fused::add_exponent).in_range(Range::REGULAR);
        fn limit_log(self, value: Self) -> Self = Self::limit_log(self, value);

        fn assume(self, least: i32, most: i32) -> Self = self.in_range(Range::between(least, most));
        fn expect_number(self) -> Self = self.or_fallback(self.nan());
    }

    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        let (steps, number) = both_pairs!([self], fused::split_exponent);
        (steps, number.in_range(Range::between(23, 32)))
    }
    #[inline(always)]
    fn shift_exponent(self, k: i32) -> Self {
        let by = Self::from((k << 23) as u32);
        let range = Range { least: self.range.least + k, most: self.range.most + k, ..self.range };
        both!([self, by], A::add).in_range(range)
    }
    /// 26 bits hold the product.
    #[inline(always)]
    fn host_fma_reduction(self, b: u32, c: Self) -> Self {
        let bits = splat((1 << 22_u32.saturating_sub(b.trailing_zeros())) - 1);
        let long = [A::any_bit(self.words[0], bits), A::any_bit(self.words[1], bits)];
        step!(self, Self::from(b), c, assumed).in_range(Range::ANY).or_fallback(long)
    }
    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        let (x, y) = self.constant_second(b);
        if let Some(result) = x.short_product(y, c) { result } else { step!(x, y, c, ordinary) }
    }
    #[inline(always)]
    fn expect(self, least: i32, most: i32) -> Self {
        let fallback = self.and(Self::from(!SIGN)).expect_positive(least, most).fallback;
        Self { fallback, ..self }.in_range(Range::between(least, most))
    }
    #[inline(always)]
    fn expect_positive(self, least: i32, most: i32) -> Self {
        let (first, span) = (splat(((least + 127) as u32) << 23), ((most - least) as u32) << 23);
        let fallback = [!is_within(self.words[0], first, span), !is_within(self.words[1], first, span)];
        self.or_fallback(fallback).in_range(Range::between(least, most))
    }
    /// Rotated by a bit, -0 is one, and +0 is what passes.
    #[inline(always)]
    fn expect_zero_or(self, least: i32, most: i32) -> Self {
        let [low, high] = [splat(((least + 127) as u32) << 24), splat(((most.min(128) + 127) as u32) << 24)];
        let [a, b] = self.words;
        let outside = if (least, most) == (-126, 128) {
            [A::is_irregular_or_infinite(float(a)), A::is_irregular_or_infinite(float(b))]
        } else if most > 128 {
            [is_small(a, low), is_small(b, low)]
        } else {
            [is_outside(a, low, high), is_outside(b, low, high)]
        };
        let range = Range::between(least, if most > 128 { LIMIT } else { most });
        self.or_fallback(outside).in_range(range)
    }
    #[inline(always)]
    fn expect_up_to(self, bound: f32) -> Self {
        let limit = splat(bound.to_bits() + 1);
        let fallback =
            [!A::below_unsigned(magnitude(self.words[0]), limit), !A::below_unsigned(magnitude(self.words[1]), limit)];
        let most = (bound.to_bits() >> 23) as i32 - 126;
        self.or_fallback(fallback).in_range(Range { most, ..self.range })
    }
    /// The fallback of what is left out would be lost.
    #[inline(always)]
    fn any(mask: SpecMask) -> bool {
        let all = either(mask.truth, mask.fallback);
        all[0] | all[1] != 0
    }
}

#[inline(always)]
fn product(a: Int, b: Int) -> Float {
    A::mul_float(float(a), float(b))
}

#[inline(always)]
fn shifted_left(word: Int, count: Int) -> Int {
    A::shl_by(word, A::and(count, splat(31)))
}

#[inline(always)]
fn shifted_right(word: Int, count: Int) -> Int {
    A::shr_by(word, A::and(count, splat(31)))
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
