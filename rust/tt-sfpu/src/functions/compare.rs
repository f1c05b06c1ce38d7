//! Tests whose answer is 1.0 or 0.
//!
//! Source: listings `is*`, `*z`, `unary_*`, `heaviside`, `logical_not`.
//!
//! Domain: all words. Comparisons with zero take both zeros as zero and are false for NaN; comparisons with a scalar
//! look at the sign of the difference, so that NaN counts as an infinity of its sign and equal infinities differ.

use crate::arith::lane::{
    HALF, INFINITY, Lane, ONE, ZERO, add, equal, fabs, greater, ilt, is_finite, is_negative, is_zero, less, magnitude,
    man_only, select, setsign, splat, store_bf16, store_f32,
};
use crate::exec::bf16::{Bf16Step, ZeroTest};
use crate::exec::functions;

/// 1.0 where true.
#[inline(always)]
pub fn truth<V: Lane>(mask: V::Mask) -> V {
    select(mask, ONE, splat(ZERO))
}

#[inline(always)]
fn is_infinite<V: Lane>(x: V) -> V::Mask {
    !is_finite(x) & is_zero(man_only(x))
}

#[inline(always)]
fn is_nan<V: Lane>(x: V) -> V::Mask {
    ilt(splat::<V>(INFINITY), magnitude(x))
}

/// Not a zero of either sign; denormals are not zero here.
#[inline(always)]
fn is_nonzero<V: Lane>(x: V) -> V::Mask {
    !is_zero(magnitude(x))
}

#[inline(always)]
fn gtz<V: Lane>(x: V) -> V::Mask {
    !is_negative(x) & is_nonzero(x) & !is_nan(x)
}

#[inline(always)]
fn ltz<V: Lane>(x: V) -> V::Mask {
    is_negative(x) & is_nonzero(x) & !is_nan(x)
}

#[inline(always)]
fn heaviside<V: Lane>(x: V, at_zero: u32) -> V {
    let step = add(setsign(splat::<V>(HALF), x), HALF);
    select(is_zero(fabs(x)), at_zero, step)
}

macro_rules! tests {
    ($($name:literal $([$other:ident])?: $test:expr $(, zero_test($($answer:literal),+))?;)+) => {
        functions! {
            $($name, "default" $([$other])?: |x| truth($test(x $(, $other)?)), |x| truth($test(x $(, $other)?))
                $(, bf16 = |_| Some(Bf16Step::Test(ZeroTest::new($($answer),+))))?;)+
            "heaviside", "default" [at_zero]: |x| store_bf16(heaviside(x, at_zero)), |x| store_f32(heaviside(x, at_zero));
        }
    };
}

#[inline(always)]
fn isposinf<V: Lane>(x: V) -> V::Mask {
    !is_negative(x) & is_infinite(x)
}

#[inline(always)]
fn isneginf<V: Lane>(x: V) -> V::Mask {
    is_negative(x) & is_infinite(x)
}

#[inline(always)]
fn gez<V: Lane>(x: V) -> V::Mask {
    !(is_negative(x) & is_nonzero(x)) & !is_nan(x)
}

#[inline(always)]
fn lez<V: Lane>(x: V) -> V::Mask {
    !(!is_negative(x) & is_nonzero(x)) & !is_nan(x)
}

#[inline(always)]
fn eqz<V: Lane>(x: V) -> V::Mask {
    !is_nonzero(x)
}

#[inline(always)]
fn ne<V: Lane>(x: V, other: u32) -> V::Mask {
    !equal(x, other)
}

#[inline(always)]
fn ge<V: Lane>(x: V, other: u32) -> V::Mask {
    !less(x, other)
}

#[inline(always)]
fn le<V: Lane>(x: V, other: u32) -> V::Mask {
    !greater(x, other)
}

// The answers for negative numbers, zero, positive ones and NaN.
tests! {
    "isinf": is_infinite;
    "isposinf": isposinf;
    "isneginf": isneginf;
    "isnan": is_nan;
    "isfinite": is_finite;
    "gtz": gtz, zero_test(false, false, true, false);
    "gez": gez, zero_test(false, true, true, false);
    "ltz": ltz, zero_test(true, false, false, false);
    "lez": lez, zero_test(true, true, false, false);
    "eqz": eqz, zero_test(false, true, false, false);
    "nez": is_nonzero, zero_test(true, false, true, true);
    "unary_eq" [other]: equal;
    "unary_ne" [other]: ne;
    "unary_gt" [other]: greater;
    "unary_ge" [other]: ge;
    "unary_lt" [other]: less;
    "unary_le" [other]: le;
    "logical_not": is_zero;
}
