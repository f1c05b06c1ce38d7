//! The speculative programs of `functions/arc.rs`.

use super::Speculative;
use super::interval::Plan;
use crate::arith::lane::{NAN, add, fabs, is_negative, less, mul, or, select, setsign, splat, store_f32, sub, xor};
use crate::functions::arc::{
    ACOS_SERIES, ARC_TANGENT, ASIN_SERIES, MINUS_TWO, SPLIT_32, atan_argument, atan_of, half_complement,
};
use crate::functions::blocks::HALF_PI;

/// More than the square of [`SPLIT_32`].
const LARGEST_SQUARE: f32 = 0.317;

/// An argument that is not zero is far from the end of the range in most lanes. Its root is less than [`SPLIT_32`].
#[inline(always)]
fn argument_32<S: Speculative>(distance: S, far: S::Mask) -> (S, S) {
    let distance = distance.expect_zero_or(-60, 129);
    let half = half_complement(distance);
    if !S::any(far) {
        return (distance, half);
    }
    (select(far, half.refine_root(half.inverse_root()), distance), half)
}

/// At most 1/14 of the argument is added to it.
#[inline(always)]
fn cubic<S: Speculative>(series: S, square: S, argument: S) -> S {
    series.mul_unflushed(square).host_fma(argument, argument)
}

#[inline(always)]
pub fn asin_32<S: Speculative>(x: S) -> S {
    const PLAN: Plan = Plan::new(&ASIN_SERIES, 0.0, LARGEST_SQUARE);
    let distance = fabs(x);
    let far = !less(distance, SPLIT_32);
    let (argument, half) = argument_32(distance, far);
    let square = argument.mul_unflushed(argument);
    let series = S::from(ASIN_SERIES[0]).horner_planned(square, &ASIN_SERIES[1..], PLAN);
    let mut value = cubic(series, square, argument);
    if S::any(far) {
        value = select(far, add(splat::<S>(HALF_PI), mul(value, MINUS_TWO)), value);
    }
    store_f32(select(is_negative(half), NAN, setsign(value, x)))
}

#[inline(always)]
pub fn acos_32<S: Speculative>(x: S) -> S {
    const PLAN: Plan = Plan::new(&ACOS_SERIES, 0.0, LARGEST_SQUARE);
    let distance = fabs(x);
    let beyond = sub(distance, SPLIT_32);
    let far = !is_negative(beyond);
    let (argument, half) = argument_32(distance, far);
    let square = argument.mul_unflushed(argument);
    let series = S::from(ACOS_SERIES[0]).horner_planned(square, &ACOS_SERIES[1..], PLAN);
    let argument = setsign(argument, xor(x, beyond));
    let value = cubic(series, square, argument);
    let value = select(is_negative(or(argument, beyond)), add(value, HALF_PI), value);
    let value = select(far, add(value, value), value);
    store_f32(select(is_negative(half), NAN, value))
}

#[inline(always)]
pub fn atan_32<S: Speculative>(x: S) -> S {
    let argument = atan_argument(x);
    let square = mul(argument, argument);
    let series = S::from(ARC_TANGENT[0]).horner(square, &ARC_TANGENT[1..]);
    store_f32(atan_of(x, series.fma(mul(square, argument), argument)))
}
