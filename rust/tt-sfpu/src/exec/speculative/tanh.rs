//! The speculative program of `functions/tanh.rs`.

use super::Speculative;
use super::blocks::LARGEST_REST;
use super::interval::Plan;
use crate::arith::lane::{
    HALF, ONE, add, exp_biased, iadd, ilt, isub, magnitude, mul, round_u8, select, setexp, setsign, sm2f, splat, sub,
};
use crate::functions::blocks::MINUS_LN2;
use crate::functions::tanh::{EXPM1_SERIES, RECIPROCAL_ESTIMATE, SMALL, TWO_OVER_LN2};

/// Hyperbolic tangent, for arguments from 2^-12 and powers to 60.
///
/// So the rest is nothing or above 2^-36, e^r - 1 is between 0.8 r and 1.2 r, and no number is near the ends of the
/// range.
#[inline(always)]
pub fn tanh_f32<S: Speculative>(x: S) -> S {
    const PLAN: Plan = Plan::new(&EXPM1_SERIES, -LARGEST_REST, LARGEST_REST);
    let power = round_u8(mul(x, TWO_OVER_LN2));
    let double = magnitude(add(x, x));
    let rest = sm2f(power).host_fma_reduction(MINUS_LN2, double);
    let series = S::from(EXPM1_SERIES[0]).horner_planned(rest, &EXPM1_SERIES[1..], PLAN);
    let rest_in_range = rest.assume(-36, 0);
    let small = series.host_fma(rest_in_range.times(rest_in_range), rest).assume(-37, 0);
    // Half of e^2x - 1, and half of e^2x + 1.
    let scale = setexp(splat::<S>(0), iadd(power, 126));
    let above = small.host_fma_unbounded(scale, sub(scale.assume(-1, 62), HALF)).assume(-40, 62);
    let below = add(above, ONE).assume(-1, 63);
    // The estimate is 5.1% off at most.
    let estimate = isub(splat::<S>(RECIPROCAL_ESTIMATE), below).assume(-64, 2);
    let error = below.residual_of_one(estimate);
    let y = estimate.host_fma(error.host_fma(error, error), estimate).assume(-64, 2);
    let quotient = mul(above, y);
    let ratio = below.fma_residual(quotient, above).fma(y, quotient);
    let limit = add(mul(isub(double, 1), 0), ONE);
    let value = select(ilt(exp_biased(x), SMALL), x, ratio);
    setsign(select(ilt(power, 61), value, limit), x)
}
