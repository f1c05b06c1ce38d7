//! Exponential cores, reciprocals and roots: the speculative programs of `functions/blocks.rs`.

use super::Speculative;
use super::interval::Plan;
use crate::arith::lane::{
    HALF, ONE, add, exp_biased, flipsign, iadd, is_zero, isub, mul, not, select, setexp, setman, setsign, shr, splat,
    sub,
};
use crate::functions::blocks::{
    EXP_TAIL, LOG_CUBIC, ONE_AND_HALF, RECIPROCAL_ESTIMATE, ROOT_CORRECTION, ROOT_ESTIMATE,
};

/// More than half of ln 2, the largest remaining argument.
pub const LARGEST_REST: f32 = 0.36;

/// The mantissa of e^x and the power of two that belongs to it. Below -88 the result is 0, and above 89 infinite.
#[inline(always)]
fn exp_parts<S: Speculative>(x: S) -> (S, S) {
    const SERIES: [u32; 7] = {
        let [a, b, c, d, e, f] = EXP_TAIL;
        [a, b, c, d, e, f, ONE]
    };
    const PLAN: Plan = Plan::new(&SERIES, -LARGEST_REST, LARGEST_REST);
    let (rest, power) = x.reduce_by_ln2([-88.0, 89.0]);
    (S::from(SERIES[0]).horner_planned(rest, &SERIES[1..], PLAN), power)
}

#[inline(always)]
pub fn exp_f32<S: Speculative>(x: S) -> S {
    let (value, power) = exp_parts(x);
    value.scale_exp(power)
}

#[inline(always)]
pub fn exp_f32_unlimited<S: Speculative>(x: S) -> S {
    let (value, power) = exp_parts(x);
    setexp(value, iadd(exp_biased(value), power))
}

/// A slope from 1.1 to 1.6.
///
/// The product's exponent is that of the constant, and the sum is less than 1.
#[inline(always)]
pub fn log_cubic<S: Speculative>(x: S) -> S {
    const SLOPE: [u32; 3] = [LOG_CUBIC[0], LOG_CUBIC[1], LOG_CUBIC[2]];
    const PLAN: Plan = Plan::new(&SLOPE, 1.0, 2.0);
    let mantissa = setexp(x, 127).expect(0, 1);
    let slope = S::from(SLOPE[0]).horner_planned(mantissa, &SLOPE[1..], PLAN);
    slope.fma_on_addend_grid(mantissa, LOG_CUBIC[3])
}

/// Exponent and inverted sign of the reciprocal of `x` put on `mantissa`.
#[inline(always)]
pub fn negated_reciprocal_scale<S: Speculative>(mantissa: S, x: S) -> S {
    mul(mantissa, mul(setman(not(x), 0).expect(-60, 60), HALF))
}

#[inline(always)]
pub fn reciprocal<S: Speculative>(x: S, steps: usize) -> S {
    setsign(negated_reciprocal_scale(x.reciprocal_of_mantissa(steps), x), x)
}

/// The estimate is 5.4% off at most.
#[inline(always)]
pub fn reciprocal_estimate<S: Speculative>(x: S, refine: bool) -> S {
    let x = x.expect(-60, 60);
    let mut y = isub(splat::<S>(RECIPROCAL_ESTIMATE), x).assume(-62, 62);
    let mut error = x.residual_of_one(y);
    if refine {
        y = y.host_fma(error, y);
        error = x.residual_of_one(y);
    }
    flipsign(y).host_fma(error.host_fma(error, error), flipsign(y))
}

/// Bounds of x y^2: 0.63 to 0.72, then 1 within 1/10000.
///
/// The first with the estimate; the correction is from 1.17 to 1.26.
#[inline(always)]
pub fn inverse_root<S: Speculative>(x: S) -> S {
    let x = x.expect_positive(-60, 60);
    let y = isub(splat::<S>(ROOT_ESTIMATE), shr(x, 1)).assume(-31, 31);
    let c = mul(flipsign(y), mul(x, y)).assume(-1, 0);
    let correction = c.host_fma(add(splat::<S>(ROOT_CORRECTION[0]), c), splat(ROOT_CORRECTION[1]));
    mul(y, correction.assume(0, 1))
}

#[inline(always)]
pub fn refine_root<S: Speculative>(x: S, y: S) -> S {
    let x = x.expect_positive(-60, 60);
    let root = mul(x, y).assume(-32, 32);
    let error = flipsign(y).residual_of_one(root);
    error.host_fma(mul(root, HALF), root)
}

#[inline(always)]
pub fn refine_inverse_root<S: Speculative>(x: S, y: S) -> S {
    let x = x.expect_positive(-60, 60);
    let y = y.assume(-32, 32);
    let error = flipsign(y).residual_of_one(mul(x, y));
    error.host_fma(y.shift_exponent(-1), y)
}

/// Bounds of x y^2: 0.63 to 0.72, then slightly above 1.
///
/// The first with the estimate, then after each step. What the root lacks is less than 1/30 of it.
#[inline(always)]
pub fn newton_root<S: Speculative>(x: S, steps: usize) -> S {
    let positive = x.expect_positive(-60, 60);
    let half = positive.shift_exponent(-1);
    let mut y = isub(splat::<S>(ROOT_ESTIMATE), shr(positive, 1)).assume(-31, 31);
    for _ in 0..steps {
        let excess = mul(mul(half, y), y).assume(-2, 0);
        y = mul(y, add(splat::<S>(ONE_AND_HALF), flipsign(excess))).assume(-32, 32);
    }
    let root = mul(positive, y).assume(-32, 32);
    let error = mul(sub(positive, mul(root, root)), HALF);
    select(is_zero(x), 0, error.host_fma(y, root))
}
