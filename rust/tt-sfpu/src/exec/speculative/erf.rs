//! The speculative programs of `functions/erf.rs`.

use super::Speculative;
use super::interval::Plan;
use crate::arith::lane::{
    MINUS_ONE, ONE, TWO, add, fabs, flipsign, is_negative, isub, less, mad, max, min, mul, select, setsign, shr, splat,
    sub,
};
use crate::functions::blocks::{ONE_AND_HALF, is_nonzero_finite};
use crate::functions::erf::{
    CENTRE, FAR, FAR_OVER, FAR_UNDER, LARGEST_COMPLEMENT, MINUS_HALF, NEAR_OVER, NEAR_UNDER, OVER, ROOT_ESTIMATE,
    SLOPE, UNDER,
};
use crate::functions::log::{SERIES_16, flushed};

/// 2.489^2. Up to there, the numerator is between 1 and 8, and the denominator between 1 and 32.
const FAST: f32 = 6.195;

#[inline(always)]
pub fn erf_f32<S: Speculative>(x: S, steps: usize) -> S {
    const PLAN_OVER: Plan = Plan::new(&OVER, 0.0, FAST);
    const PLAN_UNDER: Plan = Plan::new(&UNDER, 0.0, FAST);
    let square = x.mul_unflushed(x).expect_up_to(FAST);
    let over = S::from(OVER[0]).horner_planned(square, &OVER[1..], PLAN_OVER);
    let under = S::from(UNDER[0]).horner_planned(square, &UNDER[1..], PLAN_UNDER);
    let ratio = mul(mul(over, x.expect_zero_or(-60, 2)), under.reciprocal(steps));
    min(max(ratio, MINUS_ONE), ONE)
}

#[inline(always)]
pub fn erfc<S: Speculative>(x: S) -> S {
    const PLANS: [Plan; 4] = [
        Plan::new(&NEAR_OVER, 0.0, 2.5),
        Plan::new(&NEAR_UNDER, 0.0, 2.5),
        Plan::new(&FAR_OVER, 2.5, 5.0),
        Plan::new(&FAR_UNDER, 2.5, 5.0),
    ];
    let distance = min(fabs(x), LARGEST_COMPLEMENT);
    let far = !less(distance, FAR);
    let mut over = S::from(NEAR_OVER[0]).horner_planned(distance, &NEAR_OVER[1..], PLANS[0]);
    let mut under = S::from(NEAR_UNDER[0]).horner_planned(distance, &NEAR_UNDER[1..], PLANS[1]);
    if S::any(far) {
        over = select(far, S::from(FAR_OVER[0]).horner_planned(distance, &FAR_OVER[1..], PLANS[2]), over);
        under = select(far, S::from(FAR_UNDER[0]).horner_planned(distance, &FAR_UNDER[1..], PLANS[3]), under);
    }
    // The numerator is up to 1 and a multiple of 2^-42, the denominator from 1/365 to 9.9.
    let value = mul(over.assume(-43, 1), under.assume(-10, 4).reciprocal(1));
    select(is_negative(x), add(splat::<S>(TWO), flipsign(value)), value)
}

/// With the estimate, x y^2 is 1 within 1/12.
#[inline(always)]
fn root<S: Speculative>(x: S) -> S {
    let positive = x.expect_positive(-60, 60);
    let halved = mul(positive, MINUS_HALF);
    let mut y = isub(splat::<S>(ROOT_ESTIMATE), shr(positive, 1)).assume(-31, 31);
    for _ in 0..2 {
        y = mul(mul(y, y).host_fma(halved, splat(ONE_AND_HALF)).assume(-1, 1), y).assume(-32, 32);
    }
    select(is_nonzero_finite(x), mul(y, positive), x)
}

#[inline(always)]
pub fn erfinv<S: Speculative>(x: S) -> S {
    let logarithm = flushed(sub(splat::<S>(ONE), mul(x, x))).natural(SERIES_16, None);
    let centre = logarithm.fma(splat(MINUS_HALF), splat(CENTRE));
    let discriminant = mad(centre, centre, flipsign(mul(logarithm, SLOPE)));
    setsign(root(add(centre, root(discriminant))), x)
}
