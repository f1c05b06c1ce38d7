//! The speculative programs of `functions/derivative.rs`.

use super::Speculative;
use super::interval::Plan;
use crate::arith::lane::{HALF, INFINITY, ONE, ilt, less, select, splat, store_f32};
use crate::functions::derivative::{ABOVE, BELOW, CENTRED, GELU_SERIES, NEAR, THREE, gelu_tail, tanh_tail};

#[inline(always)]
pub fn gelu_derivative_32<S: Speculative>(x: S, steps: Option<usize>) -> S {
    // Up to 3.172^2.
    const PLAN: Plan = Plan::new(&GELU_SERIES, 0.0, 10.062);
    let square = x.mul_unflushed(x);
    // From -0.7 to 0.7, and the sum from -0.2 to 1.2.
    let series = S::from(GELU_SERIES[0]).horner_planned(square, &GELU_SERIES[1..], PLAN);
    let middle = x.fma_on_addend_grid(series, HALF);
    let beyond = less(x, BELOW);
    let mut value = select(less(x, ABOVE), middle, splat(ONE));
    if S::any(beyond) {
        value = select(beyond, gelu_tail(x, square, steps), value);
    }
    store_f32(select(ilt(splat::<S>(INFINITY), square), x, value))
}

/// Derivative of tanh.
///
/// For the number before 3, two ninths of the square less one are 0.9999997.
#[inline(always)]
pub fn tanh_derivative<S: Speculative>(x: S) -> S {
    const OF_SQUARE: Plan = Plan::new(&CENTRED, 0.0, 9.001);
    const PLAN: Plan = Plan::new(&NEAR, -1.0, 0.999_999_94);
    let distance = crate::arith::lane::fabs(x);
    let square = distance.mul_unflushed(distance);
    let centred = S::from(CENTRED[0]).horner_planned(square, &CENTRED[1..], OF_SQUARE);
    let near = S::from(NEAR[0]).horner_planned(centred, &NEAR[1..], PLAN);
    let beyond = !less(distance, THREE);
    if S::any(beyond) { select(beyond, tanh_tail(distance), near) } else { near }
}
