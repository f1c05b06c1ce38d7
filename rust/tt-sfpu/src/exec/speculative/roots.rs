//! The speculative program of `cbrt` in `functions/roots.rs`.

use super::Speculative;
use super::interval::Plan;
use crate::arith::lane::{ONE, fabs, flipsign, mul, setsign, shl, sm2f, splat, store_f32};
use crate::functions::roots::{ESTIMATE, MINUS_THIRD, SERIES};

/// Bounds of x y^3: 0.64 to 0.77, then 1 within 1/10000.
///
/// The first with the estimate, then with the first correction.
#[inline(always)]
pub fn cbrt_32<S: Speculative>(x: S) -> S {
    const PLAN: Plan = Plan::new(&SERIES, 0.0, 0.8);
    let distance = fabs(x).expect_zero_or(-126, 128);
    // From 0.8 to 1 times what it is for zero. All roots are between 2^-44 and 2^44, and no product is tiny.
    let y = shl(sm2f(distance).host_fma(splat(MINUS_THIRD), splat(ESTIMATE)), 8).assume(-44, 44);
    let cube = distance.mul_unflushed(y).mul_unflushed(mul(y, y));
    let y = mul(y, S::from(SERIES[0]).horner_planned(cube, &SERIES[1..], PLAN)).assume(-44, 44);
    let root = distance.mul_unflushed(mul(y, y)).assume(-44, 44);
    // -1/3 of the error of x y^3.
    let error = flipsign(flipsign(root).residual_of_one(y));
    let correction = error.host_fma(splat(MINUS_THIRD + (8 << 23)), splat(ONE)).assume(-1, 1);
    store_f32(mul(setsign(root, x), mul(correction, correction)))
}
