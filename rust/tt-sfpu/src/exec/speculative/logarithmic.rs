//! The speculative programs of `functions/logarithmic.rs`.

use super::Speculative;
use super::interval::Plan;
use crate::arith::lane::{mul, round_bf16, setsign, store_bf16, store_f32};
use crate::functions::logarithmic::{ANGLE_16, ANGLE_32, of_octant, ratio, unless_nan};

/// A little more than the square of the largest ratio.
const LARGEST_SQUARE: f32 = 1.01;

/// At most a third of the ratio is taken off it.
#[inline(always)]
fn angle<S: Speculative>(y: S, x: S, steps: usize, series: &[u32], plan: Plan) -> S {
    let ratio = ratio(y, x, steps).expect_zero_or(-60, 1);
    let square = mul(ratio, ratio);
    let value = S::from(series[0]).horner_within(square, &series[1..], plan);
    of_octant(y, x, mul(value, square).fma(ratio, ratio))
}

#[inline(always)]
pub fn atan2_16<S: Speculative>(y: S, x: S) -> S {
    const PLAN: Plan = Plan::new(&ANGLE_16, 0.0, LARGEST_SQUARE);
    store_bf16(unless_nan(y, x, setsign(round_bf16(angle(y, x, 1, &ANGLE_16, PLAN)), y)))
}

#[inline(always)]
pub fn atan2_32<S: Speculative>(y: S, x: S) -> S {
    const PLAN: Plan = Plan::new(&ANGLE_32, 0.0, LARGEST_SQUARE);
    store_f32(unless_nan(y, x, setsign(angle(y, x, 2, &ANGLE_32, PLAN), y)))
}
