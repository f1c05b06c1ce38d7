//! Polynomials with shortest exact steps, chosen by the compiler.
//!
//! Each step has the shortest form that has the unit's bits.
//!
//! The two forms on the unit's grid work alike. Added to 1.5 * 2^3 of the larger exponent's power of two, a term is
//! rounded to 64 places of the grid: its upper part. What is left of it, beside 1.5 / 2^3 of the power, is rounded down
//! and up on the grid itself, and to odd. Upper parts and those rests have exact sums, and adding these is the one
//! rounding.

use super::range::Range;
use super::{A, BIAS, Float, INFINITY, Int, Lanes, SIGN, STEP, SpecLanes, either, float, magnitude, splat};
use crate::arith::lane::Lane;
use crate::exec::block::VECTORS;
use crate::exec::speculative::interval::{Form, Plan, Step};
use tt_cpu::vector::Vector;

/// The range of sums of any relation, see `general`.
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
fn on_grid_of_constant(s: Float, x: Float, constant: u32) -> (Float, Int) {
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

/// `s * x + addend` in whatever relation the terms stand, and lanes that fall back: those whose sum has lost two bits, of
/// which the upper one leaves no trace, unless the lower one does.
#[inline(always)]
fn on_grid(s: Float, x: Float, mut addend: Float, step: Step) -> (Float, Lanes) {
    // With the bias of two.
    let own = A::add(power(addend), splat(BIAS));
    let largest = A::max_unsigned(A::add(power(s), power(x)), own);
    let (coarse, more) = (times(largest, COARSE), times(largest, MORE));
    let rest = A::sub_float(more, A::fma(s, x, coarse));
    let product = A::round_to_odd(A::to_bits(A::fma_down(s, x, rest)), A::to_bits(A::fma_up(s, x, rest)));

    if step.loses {
        addend = float(A::keep(A::below_unsigned(largest, A::add(own, splat(27 * STEP))), A::to_bits(addend)));
    }
    // The addend's rest stands beside the negative number, so that the sum of both is that of the rests.
    let beside = A::sub_float(times(largest, LESS), A::add_float(addend, coarse));
    let other = if step.cuts {
        A::round_to_odd(A::to_bits(A::add_up(addend, beside)), A::to_bits(A::add_down(addend, beside)))
    } else {
        A::to_bits(A::add_float(addend, beside))
    };
    let result = A::sub_float(A::add_float(float(product), float(other)), A::add_float(rest, beside));
    if !step.grows {
        return (result, 0);
    }
    if !step.grows_odd {
        // Where the sum is large, the coefficient is even.
        return (result, !A::any_bit(product, splat(1)));
    }
    let untraced = !A::any_bit(A::xor(product, other), splat(1));
    let large =
        !A::below_unsigned(magnitude(A::to_bits(result)), A::add(largest, splat((2 * STEP).wrapping_sub(BIAS))));
    (result, large & untraced)
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

/// A step of a plan, and lanes that fall back.
#[inline(always)]
fn planned(s: Float, x: Float, coefficient: u32, step: Step, form: Form) -> (Float, Lanes) {
    match form {
        Form::Plain => {
            let fallback = if step.grows { !is_cut(s, x) } else { 0 };
            (A::fma(s, x, float(splat(coefficient))), fallback)
        }
        Form::Constant | Form::OneSided { .. } => {
            let (mut result, rest) = on_grid_of_constant(s, x, coefficient);
            if let Form::OneSided { plain_below } = form {
                let plain = A::to_bits(A::fma(s, x, float(splat(coefficient))));
                let below = A::greater(splat(0), A::to_bits(x));
                result = float(A::select(if plain_below { below } else { !below }, plain, A::to_bits(result)));
            }
            // What the coefficient's grid cuts off, which is the finer one, that of a larger term does, too.
            (result, if step.grows { !A::any_bit(rest, splat(1)) } else { 0 })
        }
        Form::Free => on_grid(s, x, float(splat(coefficient)), step),
    }
}

/// `s * x + z`, the addend having no place below the grid.
#[inline(always)]
pub fn on_common_grid(s: Int, x: Int, z: Int, grows: bool) -> (Float, Lanes) {
    let (s, x) = (float(s), float(x));
    let (result, _) = on_grid(s, x, float(z), Step::NOWHERE);
    (result, if grows { !is_cut(s, x) } else { 0 })
}

#[inline(always)]
pub fn on_addend_grid(s: Int, x: Int, constant: u32) -> Float {
    on_grid_of_constant(float(s), float(x), constant).0
}

impl SpecLanes {
    #[inline(always)]
    pub fn horner_planned(self, x: Self, coefficients: &[u32], plan: Plan) -> Self {
        let mut sum = [float(self.words[0]), float(self.words[1])];
        let mut fallback = either(self.fallback, x.fallback);
        unrolled!(coefficients, |i, coefficient| {
            for lane in 0..VECTORS {
                let (result, lost) = planned(sum[lane], float(x.words[lane]), coefficient, plan.step(i), plan.form(i));
                sum[lane] = result;
                fallback[lane] |= lost;
            }
        });
        let range = Range::between(plan.least, plan.most);
        Self { range, ..Self::with_fallback([A::to_bits(sum[0]), A::to_bits(sum[1])], fallback) }
    }

    /// Beyond the bounds, the steps are those of any relation.
    #[inline(always)]
    pub fn horner_within(self, x: Self, coefficients: &[u32], plan: Plan) -> Self {
        assert!(plan.low == 0.0, "a range from zero up");
        let last = splat(plan.high.to_bits());
        let within = A::below_unsigned(x.words[0], last) & A::below_unsigned(x.words[1], last);
        let result = if within == Lanes::MAX {
            self.horner_planned(x, coefficients, plan)
        } else {
            let mut sum = self;
            unrolled!(coefficients, |_step, coefficient| {
                sum = sum.mad(x, Self::from(coefficient));
            });
            sum
        };
        // The compiler must see the range, so it is the same for both.
        Self { range: Range::between(plan.least.min(LEAST), MOST), ..result }
    }
}
