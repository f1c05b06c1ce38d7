//! The speculative programs of `functions/gamma.rs`.

use super::Speculative;
use super::interval::Plan;
use crate::arith::lane::{
    HALF, ONE, TWO, ZERO, add, equal, flipsign, greater, less, mul, polynomial, select, splat, store_f32, sub,
};
use crate::functions::gamma::{
    FAR, HALF_LN_2PI, HIGH_OVER, HIGH_UNDER, LOW_OVER, LOW_UNDER, MIDDLE, MINUS_360TH, TWELFTH, digamma,
};

/// Up to here few steps need the unit's grid.
const NEAR: f32 = 10.0;

#[inline(always)]
pub fn digamma_32<S: Speculative>(x: S) -> S {
    const PLAN_OVER: Plan = Plan::new(&LOW_OVER, 0.0, NEAR);
    const PLAN_UNDER: Plan = Plan::new(&LOW_UNDER, 0.0, NEAR);
    let high = !less(x, MIDDLE);
    let mut over = S::from(LOW_OVER[0]).horner_within(x, &LOW_OVER[1..], PLAN_OVER);
    let mut under = S::from(LOW_UNDER[0]).horner_within(x, &LOW_UNDER[1..], PLAN_UNDER);
    if S::any(high) {
        over = select(high, polynomial(x, HIGH_OVER), over);
        under = select(high, polynomial(x, HIGH_UNDER), under);
    }
    let near = mul(over, under.reciprocal(2));
    store_f32(if S::any(greater(x, FAR)) { digamma(x, near) } else { near })
}

/// The expected range is up to 2^16.
///
/// There, the product of the main part has an exponent of at most three above that of z, and the sum is less than 3.4
/// times the larger power of two. The series is between 0.072 and 0.084. The main part is a multiple of 2^-24 if it is
/// less than 1/4, where the product that is added may be the larger one, of at most 0.17.
#[inline(always)]
pub fn lgamma_stirling<S: Speculative>(x: S) -> S {
    let z = select(less(x, HALF), sub(splat::<S>(ONE), x), x).expect_positive(-1, 16);
    let inverse = z.reciprocal(2).assume(-17, 2);
    let series = mul(inverse, inverse).host_fma(splat(MINUS_360TH), splat(TWELFTH)).assume(-4, -3);
    let logarithm = z.exponent_number().add_rough_exponent(z.log_cubic());
    let main = add(sub(z, HALF).fma_on_common_grid(logarithm, flipsign(z), false), HALF_LN_2PI);
    select(equal(x, ONE) | equal(x, TWO), ZERO, inverse.fma_on_common_grid(series, main, true))
}
