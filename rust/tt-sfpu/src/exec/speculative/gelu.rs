//! The speculative programs of `functions/gelu.rs`.

use super::Speculative;
use super::interval::Plan;
use crate::arith::lane::{HALF, MINUS_ONE, ONE, equal, greater, min, mul, select, store_f32, sub};
use crate::functions::gelu::{CUBIC, INVERSE_ROOT2, LARGEST, LOWEST, RESIDUE, ROOT_2_OVER_PI};

/// Beyond 8 the error function falls back.
#[inline(always)]
pub fn accurate_32<S: Speculative>(x: S) -> S {
    let inside = greater(x, LOWEST);
    let number = x.expect_zero_or(-60, 3);
    let error_function = min(mul(number, INVERSE_ROOT2), LARGEST).erf_f32(2);
    // One and the error function are multiples of 2^-24 if their sum is small.
    let value = mul(number, error_function.host_fma_unbounded(S::from(HALF), S::from(HALF)).assume(-26, 1));
    let value = select(equal(error_function, MINUS_ONE), mul(x, RESIDUE), value);
    store_f32(select(inside, value, sub(x, x)))
}

/// Beyond 2^20 the curve falls back.
///
/// The last product has no larger exponent than what is added to it, and the sum is at most twice that.
#[inline(always)]
pub fn tanh_form<S: Speculative>(x: S) -> S {
    const CURVE: [u32; 2] = [CUBIC, ONE];
    const PLAN: Plan = Plan::new(&CURVE, 0.0, 256.0);
    let x = x.expect_zero_or(-60, 21);
    let curve = S::from(CURVE[0]).horner_within(x.mul_unflushed(x), &CURVE[1..], PLAN).assume(0, 40);
    let argument = mul(mul(x, curve), ROOT_2_OVER_PI);
    let half = mul(x, HALF);
    half.fma_on_common_grid(argument.tanh_f32(), half, false)
}
