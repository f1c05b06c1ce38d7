//! The speculative programs of `functions/hyperbolic.rs`.

use super::Speculative;
use super::blocks::LARGEST_REST;
use super::interval::Plan;
use crate::arith::lane::{
    INFINITY, ONE, add, exp_unbiased, iadd, ilt, mad, magnitude, mul, round_u8, select, setsign, shl, sm2f, store_f32,
    sub,
};
use crate::functions::blocks::{EXP_TAIL, INVERSE_LN2, LN2_PARTS};
use crate::functions::hyperbolic::{EXPM1_SERIES, FOUR, QUARTER, cosh};

/// From 130 powers on, which 95 has, the result is infinite.
///
/// The rest of the reduction is 0 or above 2^-50; e^r - 1 is between 0.8 r and 1.2 r.
#[inline(always)]
pub fn sinh_32<S: Speculative>(x: S) -> S {
    const PLAN: Plan = Plan::new(&EXPM1_SERIES, -LARGEST_REST, LARGEST_REST);
    let (rest, power) = magnitude(x).expect_zero_or(-50, 128).reduce_by_ln2([0.0, 95.0]);
    let rest = rest.assume(-50, 0);
    let series = S::from(EXPM1_SERIES[0]).horner_planned(rest, &EXPM1_SERIES[1..], PLAN);
    let small = series.host_fma(mul(rest, rest), rest);
    let scale = iadd(shl(power, 23), QUARTER);
    let above = small.host_fma_unbounded(scale, sub(scale.assume(-2, 128), QUARTER));
    let quarter = select(ilt(power, 130), above, mul(magnitude(x), INFINITY));
    let exponent = exp_unbiased(quarter);
    let half = select(ilt(exponent, -27_i32 as u32), x, add(quarter, quarter));
    // The reciprocal is between 0 and 1: the sum has the exponent of the half, or the next one.
    let rest = half.host_fma(mad(quarter, FOUR, ONE).reciprocal_estimate(true), half);
    let counts = !ilt(exponent, -27_i32 as u32) & ilt(exponent, 23);
    store_f32(setsign(select(counts, rest, half), x))
}

/// Steps of reduction and exponential, to a last sum 0.7 to 1.42.
#[inline(always)]
pub fn cosh_32<S: Speculative>(x: S) -> S {
    let distance = magnitude(x);
    let power = round_u8(mul(distance, INVERSE_LN2));
    let turns = sm2f(power);
    let rest = turns.fma(S::from(LN2_PARTS[1]), turns.fma_reduction(S::from(LN2_PARTS[0]), distance));
    let tail = S::from(EXP_TAIL[0]).horner(rest, &EXP_TAIL[1..]);
    store_f32(cosh(distance, power, tail.fma(rest, S::from(ONE)), true))
}
