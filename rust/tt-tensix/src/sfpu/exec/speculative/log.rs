//! The speculative programs of `functions/log.rs`.

use super::Speculative;
use super::series::is_ordinary;
use crate::sfpu::arith::lane::{INFINITY, MINUS_ONE, NAN, ONE, add, ilt, is_negative, isub, mad, mul, select, splat};
use crate::sfpu::functions::blocks::INVERSE_LN2;
use crate::sfpu::functions::log::{MINUS_FOUR, MINUS_QUARTER, PER_STEP, SERIES_16, SERIES_32};

/// What `m` is at least and at most.
const RANGE: [f32; 2] = [-0.2501, 0.5001];
const _: () = assert!(is_ordinary(SERIES_16, RANGE[0], RANGE[1]) && is_ordinary(SERIES_32, RANGE[0], RANGE[1]));

/// ln(1 + m). It is between 0.8 m and 1.2 m, which makes the last step the host's.
#[inline(always)]
fn series<S: Speculative>(m: S, coefficients: &[u32]) -> S {
    S::from(coefficients[0]).host_horner(m, &coefficients[1..]).host_fma(mul(m, m), m)
}

#[inline(always)]
pub(super) fn natural<S: Speculative>(x: S, coefficients: &[u32], scale: Option<u32>) -> S {
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
pub(super) fn binary<S: Speculative>(x: S, coefficients: &[u32]) -> S {
    let (steps, turns) = x.split_exponent();
    let m = add(isub(x, steps).assume(-1, 1), MINUS_ONE);
    x.limit_log(mad(turns, PER_STEP, mul(series(m, coefficients), INVERSE_LN2)))
}

#[inline(always)]
pub(super) fn log1p<S: Speculative>(x: S, coefficients: &[u32]) -> S {
    let sum = add(x, ONE);
    let (steps, turns) = sum.split_exponent();
    let one_scaled = mad(splat::<S>(MINUS_QUARTER), isub(splat::<S>(MINUS_FOUR), steps), MINUS_ONE);
    let m = add(isub(x, steps), one_scaled);
    let value = turns.add_exponent(series(m, coefficients));
    select(is_negative(sum), NAN, select(ilt(sum, INFINITY), value, sum))
}
