//! The speculative programs of `functions/trigonometry.rs`.

use super::Speculative;
use super::blocks::negated_reciprocal_scale;
use super::interval::Plan;
use crate::arith::lane::{HALF, MINUS_ONE, ROUNDER, TWO, add, is_negative, mad, select, store_f32, sub, xor};
use crate::functions::blocks::parity_sign;
use crate::functions::trigonometry::{
    INVERSE_PI, MINUS_HALF_PI, MINUS_PI, MINUS_ROUNDER, SINE_16, SINE_32, TANGENT_32, TWO_OVER_PI,
};

/// More than the square of half of pi.
const LARGEST_SQUARE: f32 = 2.48;
const PLAN_16: Plan = Plan::new(SINE_16, 0.0, LARGEST_SQUARE);
const PLAN_32: Plan = Plan::new(SINE_32, 0.0, LARGEST_SQUARE);
/// Up to a square of a quarter of pi.
const PLAN_OF_TANGENT: Plan = Plan::new(&TANGENT_32, 0.0, 0.625);

/// The sine is between 0.6 and 1 times the rest, if that is half of pi at most; then what products below the range are
/// is nothing beside the rest.
#[inline(always)]
fn sine_of_rest<S: Speculative>(rest: S, rounded: S, coefficients: &[u32]) -> S {
    let square = rest.mul_unflushed(rest).expect_up_to(LARGEST_SQUARE);
    let signed = xor(rest, parity_sign(rounded));
    let plan = if coefficients.len() == SINE_16.len() { PLAN_16 } else { PLAN_32 };
    let series = S::from(coefficients[0]).horner_planned(square, &coefficients[1..], plan);
    series.host_fma(signed.mul_unflushed(square), signed)
}

/// The last two parts of a reduction.
#[inline(always)]
fn lower_parts<S: Speculative>(turns: S, period: [u32; 4], rest: S) -> S {
    turns.fma_small(S::from(period[3]), turns.fma_small(S::from(period[2]), rest))
}

#[inline(always)]
pub fn sin<S: Speculative>(x: S, coefficients: &[u32]) -> S {
    let rounded = mad(x, INVERSE_PI, ROUNDER);
    let turns = sub(rounded, ROUNDER);
    let rest = turns.fma(S::from(MINUS_PI[1]), turns.fma_reduction(S::from(MINUS_PI[0]), x));
    sine_of_rest(lower_parts(turns, MINUS_PI, rest), rounded, coefficients)
}

/// Arguments up to 64, and from 2^-17 on.
///
/// Smaller ones are near the middle of two integers: the multiple is 41 at most, has the argument's sign, and its
/// product with the first part has 24 bits, of which an argument that is cut leaves at least half.
#[inline(always)]
pub fn cos<S: Speculative>(x: S, coefficients: &[u32]) -> S {
    let rounded = x.round_line(INVERSE_PI, HALF);
    let odd = add(rounded, MINUS_ROUNDER).host_fma_unbounded(S::from(TWO), S::from(MINUS_ONE)).assume(0, 6);
    let rest = odd.host_fma_unbounded(S::from(MINUS_HALF_PI[0]), x).assume(-40, 1);
    let rest = odd.fma(S::from(MINUS_HALF_PI[1]), rest);
    sine_of_rest(lower_parts(odd, MINUS_HALF_PI, rest), rounded, coefficients)
}

#[inline(always)]
pub fn tan_32<S: Speculative>(x: S) -> S {
    // Up to 2^16 the multiples of the first part have 24 bits, and what they leave is exact: nothing, or from 2^-60 to
    // 1.
    let x = x.expect_zero_or(-60, 16);
    let rounded = x.host_fma(S::from(TWO_OVER_PI), S::from(ROUNDER)).assume(22, 24);
    let turns = sub(rounded, ROUNDER);
    let first = turns.host_fma_unbounded(S::from(MINUS_HALF_PI[0]), x).assume(-60, 1);
    let rest = lower_parts(turns, MINUS_HALF_PI, turns.fma(S::from(MINUS_HALF_PI[1]), first));
    let square = rest.mul_unflushed(rest);
    let series = S::from(TANGENT_32[0]).horner_planned(square, &TANGENT_32[1..], PLAN_OF_TANGENT);
    // Less than 0.3: so the tangent is between the rest and 1.3 times that.
    let cubic = series.mul_unflushed(square);
    let tangent = cubic.host_fma(rest, rest);
    // What the sum of the tangent lost is taken where the tangent is at least 2^-30, of which the sum's part is a
    // multiple of 2^-24.
    let lost = cubic.assume(-60, -1).fma_on_common_grid(rest.assume(-30, 0), sub(rest, tangent).assume(-54, 0), false);
    let y = negated_reciprocal_scale(tangent.reciprocal_of_mantissa(1), tangent);
    let cotangent = lost.fma(y, tangent.residual_of_one(y)).host_fma(y, y);
    store_f32(select(is_negative(parity_sign(rounded)), cotangent, tangent))
}
