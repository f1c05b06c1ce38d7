//! Polynomials whose steps the compiler has looked at, each by the shortest form that has the unit's bits.
//!
//! The two forms on the unit's grid work alike. Added to 1.5 * 2^3 of the larger exponent's power of two, a term is
//! rounded to 64 places of the grid: its upper part. What is left of it, beside 1.5 / 2^3 of the power, is rounded down
//! and up on the grid itself, and to odd. Upper parts and those rests have exact sums, and adding these is the one
//! rounding.

use super::range::Range;
use super::{A, BIAS, Float, INFINITY, Int, Lanes, SIGN, STEP, SpecLanes, either, float, magnitude, splat};
use crate::sfpu::arith::lane::Lane;
use crate::sfpu::exec::simd::VECTORS;
use crate::sfpu::exec::speculative::interval::{Form, Plan};
use crate::vector::Vector;

/// What is range of sums of any relation, see `general`.
const LEAST: i32 = -84;
const MOST: i32 = 102;
/// From a power of two to 1.5 * 2^3 of it, in the word.
const COARSE: u32 = 3 * STEP + STEP / 2;
/// To 1.5 * (2^3 + 2^-3) of it,
const MORE: u32 = COARSE + 3 * (STEP >> 7);
/// and to 1.5 * (2^3 - 2^-3).
const LESS: u32 = COARSE - 3 * (STEP >> 7);

/// `s * x + c`, the product's exponent being at most that of the constant, whose grid it is then: nothing is cut off
/// the constant. The result is from -1.8 to 2 times the constant's power of two, with the constant's sign, or up to
/// eight times that if the constant ends with three zeros. So the constant and the upper part of the product, less 1.5
/// / 2^3 of the power with that sign, have an exact sum. The other number is the rest, rounded to odd, of the product: it is odd
/// if anything was cut off.
#[inline(always)]
pub(super) fn on_grid_of_constant(s: Float, x: Float, constant: u32) -> (Float, Int) {
    let power = constant & INFINITY;
    let is_negative = constant >= SIGN;
    let coarse = float(splat(power + COARSE));
    let both = float(splat(power + if is_negative { LESS } else { MORE }));
    let rest = A::sub_float(both, A::fma(s, x, coarse));
    let (down, up) = (A::to_bits(A::fma_down(s, x, rest)), A::to_bits(A::fma_up(s, x, rest)));
    // Of two negative numbers the smaller word is the upper one.
    let odd = if is_negative { A::round_to_odd(up, down) } else { A::round_to_odd(down, up) };
    (A::add_float(A::sub_float(float(splat(constant)), rest), float(odd)), odd)
}

/// A constant in two parts: a multiple of 64 places of the coarsest grid that a step may have, and the rest, which each
/// grid cuts as it does the whole.
#[derive(Clone, Copy)]
struct Split {
    constant: u32,
    upper: u32,
    /// Exponents of the larger term at which the rest is cut: so many, up to this one.
    cuts: u32,
    largest: i32,
}

impl Split {
    /// If few grids cut the constant, and its rest is small beside 2^-4 of the larger exponent's power.
    #[inline(always)]
    fn of(constant: u32, largest: i32) -> Option<Self> {
        let own = exponent(constant);
        let above = largest - own;
        let uncut = 3 + constant.trailing_zeros() as i32;
        let cuts = (above - uncut).max(0);
        let is_split = (0..=12).contains(&above) && cuts <= 2;
        is_split.then(|| {
            let upper = constant & !((1 << (above + 3)) - 1);
            Self { constant, upper, cuts: cuts as u32, largest }
        })
    }

    /// The rest on the grid of an exponent.
    #[inline(always)]
    fn rest_at(self, largest: i32) -> Float {
        let lost = (largest - exponent(self.constant) - 3).max(0);
        let kept = self.constant >> lost << lost;
        let sticky = if kept == self.constant { 0 } else { 1 << lost };
        float(splat((f32::from_bits(kept | sticky) - f32::from_bits(self.upper)).to_bits()))
    }

    /// The rest on the grid of each lane's larger exponent, which is given with the bias of two.
    #[inline(always)]
    fn rest(self, largest: Int) -> Float {
        let mut rest = self.rest_at(self.largest - self.cuts as i32);
        for i in (0..2).rev() {
            if i < self.cuts as i32 {
                let at = self.largest - i;
                let first = splat(((at + 254) as u32) << 23);
                let reached = !A::below_unsigned(largest, first);
                rest = float(A::select(reached, A::to_bits(self.rest_at(at)), A::to_bits(rest)));
            }
        }
        rest
    }
}

/// Of a constant.
#[inline(always)]
fn exponent(constant: u32) -> i32 {
    (constant >> 23 & 255) as i32 - 127
}

/// `s * x + c` in whatever relation the terms stand, and lanes that fall back: those whose sum has lost two bits, of which
/// the upper one leaves no trace, unless the lower one does.
#[inline(always)]
fn on_grid(s: Float, x: Float, constant: u32, plan: Plan, step: usize) -> (Float, Lanes) {
    // With the bias of two.
    let own = splat((constant & INFINITY) + BIAS);
    let largest = A::max_unsigned(A::add(power(s), power(x)), own);
    let (coarse, more) = (times(largest, COARSE), times(largest, MORE));
    let rest = A::sub_float(more, A::fma(s, x, coarse));
    let product = A::round_to_odd(A::to_bits(A::fma_down(s, x, rest)), A::to_bits(A::fma_up(s, x, rest)));

    let (result, traced) = if let Some(split) = Split::of(constant, plan.largest(step)) {
        let lower = A::add_float(float(product), split.rest(largest));
        let result = A::add_float(A::sub_float(float(splat(split.upper)), rest), lower);
        (result, A::to_bits(lower))
    } else {
        let mut addend = splat(constant);
        if plan.loses(step) {
            addend = A::keep(A::below_unsigned(largest, A::add(own, splat(27 * STEP))), addend);
        }
        let addend = float(addend);
        // The addend's rest stands beside the negative number, so that the sum of both is that of the rests.
        let beside = A::sub_float(times(largest, LESS), A::add_float(addend, coarse));
        let other = if plan.cuts(step) {
            A::round_to_odd(A::to_bits(A::add_up(addend, beside)), A::to_bits(A::add_down(addend, beside)))
        } else {
            A::to_bits(A::add_float(addend, beside))
        };
        let result = A::sub_float(A::add_float(float(product), float(other)), A::add_float(rest, beside));
        (result, A::xor(product, other))
    };
    if !plan.grows(step) {
        return (result, 0);
    }
    if !plan.grows_odd(step) {
        // Where the sum is large, the coefficient is even.
        return (result, !A::any_bit(product, splat(1)));
    }
    let untraced = !A::any_bit(traced, splat(1));
    let large =
        !A::below_unsigned(magnitude(A::to_bits(result)), A::add(largest, splat((2 * STEP).wrapping_sub(BIAS))));
    (result, large & untraced)
}

/// `s * x + z`, the addend having no place below the grid.
#[inline(always)]
fn on_grid_of_larger(s: Float, x: Float, z: Float) -> Float {
    let largest = A::max_unsigned(A::add(power(s), power(x)), A::add(power(z), splat(BIAS)));
    let coarse = times(largest, COARSE);
    let rest = A::sub_float(times(largest, MORE), A::fma(s, x, coarse));
    let product = A::round_to_odd(A::to_bits(A::fma_down(s, x, rest)), A::to_bits(A::fma_up(s, x, rest)));
    let beside = A::sub_float(times(largest, LESS), A::add_float(z, coarse));
    A::sub_float(A::add_float(float(product), A::add_float(z, beside)), A::add_float(rest, beside))
}

/// Two to a number's exponent, in place.
#[inline(always)]
fn power(number: Float) -> Int {
    A::and(A::to_bits(number), splat(INFINITY))
}

/// A power of two that has the bias twice, times a number whose word is that far from the power's.
#[inline(always)]
fn times(power: Int, step: u32) -> Float {
    float(A::add(power, splat(step.wrapping_sub(BIAS))))
}

/// A product of 48 bits that ends with 20 zeros is not cut by its grid. The words' low bits are those of the
/// significands.
#[inline(always)]
fn is_cut(s: Float, x: Float) -> Lanes {
    A::any_bit(A::mul(A::to_bits(s), A::to_bits(x)), splat(0xf_ffff))
}

impl SpecLanes {
    #[inline(always)]
    pub(super) fn planned(self, x: Self, coefficients: &[u32], plan: Plan) -> Self {
        let mut sum = [float(self.words[0]), float(self.words[1])];
        let mut fallback = either(self.fallback, x.fallback);
        unrolled!(coefficients, |i, coefficient| {
            for lane in 0..VECTORS {
                let (before, argument) = (sum[lane], float(x.words[lane]));
                match plan.form(i) {
                    Form::Plain => {
                        sum[lane] = A::fma(before, argument, float(splat(coefficient)));
                        if plan.grows(i) {
                            fallback[lane] |= !is_cut(before, argument);
                        }
                    }
                    Form::Constant => {
                        let (result, rest) = on_grid_of_constant(before, argument, coefficient);
                        sum[lane] = result;
                        if plan.grows(i) {
                            fallback[lane] |= !A::any_bit(rest, splat(1));
                        }
                    }
                    Form::PlainBelow | Form::PlainAbove => {
                        let (result, rest) = on_grid_of_constant(before, argument, coefficient);
                        let plain = A::to_bits(A::fma(before, argument, float(splat(coefficient))));
                        let (below, result) = (A::greater(splat(0), x.words[lane]), A::to_bits(result));
                        let is_plain = if plan.form(i) == Form::PlainBelow { below } else { !below };
                        sum[lane] = float(A::select(is_plain, plain, result));
                        // What the coefficient's grid cuts off, which is the finer one, that of the larger term does,
                        // too.
                        if plan.grows(i) {
                            fallback[lane] |= !A::any_bit(rest, splat(1));
                        }
                    }
                    Form::Free => {
                        let (result, lost) = on_grid(before, argument, coefficient, plan, i);
                        sum[lane] = result;
                        fallback[lane] |= lost;
                    }
                }
            }
        });
        let range = Range::between(plan.least, plan.most);
        Self { range, ..Self::wild([A::to_bits(sum[0]), A::to_bits(sum[1])], fallback) }
    }

    #[inline(always)]
    pub(super) fn balanced(self, y: Self, z: Self, grows: bool) -> Self {
        let (mut words, mut fallback) = (z.words, either(either(self.fallback, y.fallback), z.fallback));
        for lane in 0..VECTORS {
            let (a, b) = (float(self.words[lane]), float(y.words[lane]));
            words[lane] = A::to_bits(on_grid_of_larger(a, b, float(z.words[lane])));
            if grows {
                fallback[lane] |= !is_cut(a, b);
            }
        }
        Self { range: Range::TAME, ..Self::wild(words, fallback) }
    }

    #[inline(always)]
    fn general_horner(self, x: Self, coefficients: &[u32]) -> Self {
        let mut sum = self;
        unrolled!(coefficients, |_step, coefficient| {
            sum = sum.mad(x, Self::from(coefficient));
        });
        sum
    }

    /// Beyond the bounds, the steps are those of any relation.
    #[inline(always)]
    pub(super) fn horner_within(self, x: Self, coefficients: &[u32], plan: Plan) -> Self {
        assert!(plan.low == 0.0, "a range from zero up");
        let last = splat(plan.high.to_bits());
        let within = A::below_unsigned(x.words[0], last) & A::below_unsigned(x.words[1], last);
        let result = if within == Lanes::MAX {
            self.planned(x, coefficients, plan)
        } else {
            self.general_horner(x, coefficients)
        };
        // The compiler must see what is range, so that it is the same of both.
        Self { range: Range::between(plan.least.min(LEAST), MOST), ..result }
    }
}
