//! The speculative programs of `functions/log.rs`.

use super::Speculative;
use super::interval::Plan;
use crate::arith::lane::{INFINITY, MINUS_ONE, NAN, ONE, add, ilt, is_negative, isub, mad, mul, select, splat};
use crate::functions::blocks::INVERSE_LN2;
use crate::functions::log::{MINUS_FOUR, MINUS_QUARTER, PER_STEP, SERIES_16, SERIES_32};

const PLAN_16: Plan = Plan::new(SERIES_16, -0.2501, 0.5001);
const PLAN_32: Plan = Plan::new(SERIES_32, -0.2501, 0.5001);

/// ln(1 + m). It is between 0.8 m and 1.2 m, which makes the last step the host's.
#[inline(always)]
fn series<S: Speculative>(m: S, coefficients: &[u32]) -> S {
    let plan = if coefficients.len() == SERIES_16.len() { PLAN_16 } else { PLAN_32 };
    S::from(coefficients[0]).horner_planned(m, &coefficients[1..], plan).host_fma(mul(m, m), m)
}

#[inline(always)]
pub fn natural<S: Speculative>(x: S, coefficients: &[u32], scale: Option<u32>) -> S {
    let (steps, turns) = x.split_exponent();
    let m = add(isub(x, steps).assume(-1, 1), MINUS_ONE);
    let value = turns.add_exponent(series(m, coefficients));
    let scaled = match scale {
        Some(scale) => mul(value, scale),
        None => value,
    };
    x.limit_log(scaled)
}

#[inline(always)]
pub fn binary<S: Speculative>(x: S, coefficients: &[u32]) -> S {
    let (steps, turns) = x.split_exponent();
    let m = add(isub(x, steps).assume(-1, 1), MINUS_ONE);
    x.limit_log(mad(turns, PER_STEP, mul(series(m, coefficients), INVERSE_LN2)))
}

#[inline(always)]
pub fn log1p<S: Speculative>(x: S, coefficients: &[u32]) -> S {
    let sum = add(x, ONE);
    let (steps, turns) = sum.split_exponent();
    let one_scaled = mad(splat::<S>(MINUS_QUARTER), isub(splat::<S>(MINUS_FOUR), steps), MINUS_ONE);
    let m = add(isub(x, steps), one_scaled);
    let value = turns.add_exponent(series(m, coefficients));
    select(is_negative(sum), NAN, select(ilt(sum, INFINITY), value, sum))
}
