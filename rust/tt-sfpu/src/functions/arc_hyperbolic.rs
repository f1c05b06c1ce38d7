//! Inverse hyperbolic functions. Source: listings `asinh`, `acosh`, `atanh`.
//!
//! Domain: all words. `acosh` below 1 and `atanh` beyond 1 give NaN (+inf in 16-bit `Dst`), `atanh` of +-1 gives
//! infinity. Each computes an argument, stores it, and takes ln(1 + it): in 16-bit `Dst` the argument is cut to BF16 on
//! the way. From 2^28 on the square root is left out and ln 2 added.

use super::blocks::{Blocks, LN2};
use super::log::{SERIES_16, SERIES_32};
use crate::arith::lane::{
    HALF, INFINITY, MINUS_ONE, NAN, ONE, ZERO, add, equal, fabs, greater, less, mad, mul, polynomial, select, setsign,
    splat, store_bf16, store_f32, store_rounded, sub,
};
use crate::exec::functions;

/// 2^28
const LARGE: u32 = 0x4d80_0000;
/// 0.75: below, `asinh` is a polynomial.
const SMALL: u32 = 0x3f40_0000;

/// What a width adds to the formulas.
struct Precision {
    newton_steps: usize,
    refine: bool,
}

const SHORT: Precision = Precision { newton_steps: 2, refine: false };
const LONG: Precision = Precision { newton_steps: 3, refine: true };

/// |x| - 1 for large x, else x^2 / (1 + sqrt(x^2 + 1)) + |x|.
#[inline(always)]
fn asinh_argument<V: Blocks>(x: V, precision: &Precision) -> V {
    let root = mad(x, x, ONE).newton_root(precision.newton_steps);
    let inverse = add(root, ONE).reciprocal_estimate(precision.refine);
    let sum = mad(mul(x, x), inverse, fabs(x));
    select(less(fabs(x), LARGE), sum, add(fabs(x), MINUS_ONE))
}

#[inline(always)]
fn asinh<V: Blocks>(x: V, logarithm: V) -> V {
    let series =
        polynomial(mul(x, x), [0x3b8f_5f25, 0xbc73_477b, 0x3ce4_2d42, 0xbd34_f3c5, 0x3d99_839d, 0xbe2a_aa4a, ONE]);
    let value = select(less(fabs(x), LARGE), logarithm, add(logarithm, LN2));
    setsign(select(less(fabs(x), SMALL), mul(fabs(x), series), value), x)
}

/// x - 1 + sqrt((x + 1) (x - 1)).
#[inline(always)]
fn acosh_argument<V: Blocks>(x: V, precision: &Precision) -> V {
    let less_one = add(x, MINUS_ONE);
    let root = mul(add(x, ONE), less_one).newton_root(precision.newton_steps);
    select(less(x, LARGE), add(less_one, root), less_one)
}

#[inline(always)]
fn acosh<V: Blocks>(x: V, logarithm: V) -> V {
    let value = select(less(x, LARGE), logarithm, add(logarithm, LN2));
    select(equal(x, ONE), ZERO, select(less(x, ONE), NAN, value))
}

/// 2 |x| / (1 - |x|).
#[inline(always)]
fn atanh_argument<V: Blocks>(x: V, precision: &Precision) -> V {
    let distance = select(less(fabs(x), ONE), fabs(x), splat(ZERO));
    let inverse = sub(splat::<V>(ONE), distance).reciprocal_estimate(precision.refine);
    mul(add(distance, distance), inverse)
}

#[inline(always)]
fn atanh<V: Blocks>(x: V, logarithm: V) -> V {
    let value = setsign(mul(logarithm, HALF), x);
    let edge = setsign(splat::<V>(INFINITY), x);
    select(greater(fabs(x), ONE), NAN, select(equal(fabs(x), ONE), edge, value))
}

macro_rules! through_logarithm {
    ($($name:literal: $argument:ident, $finish:ident;)+) => {
        functions! {$(
            $name, "default":
                |x| store_rounded($finish(x, Blocks::log1p(store_bf16($argument(x, &SHORT)), SERIES_16))),
                |x| store_f32($finish(x, Blocks::log1p(store_f32($argument(x, &LONG)), SERIES_32)));
        )+}
    };
}

through_logarithm! {
    "asinh": asinh_argument, asinh;
    "acosh": acosh_argument, acosh;
    "atanh": atanh_argument, atanh;
}
