//! Comparisons of two `Dst` tiles, answered by 1.0 or 0.
//!
//! Source: listings `*_binary` of comparisons, `isclose`, `nextafter`.
//!
//! Domain: all words. Comparisons go by the order of words once zeros and NaN are set apart; NaN is unlike everything.
//! `isclose` takes the relative and the absolute tolerance. `nextafter` steps in units of the width's last place, its
//! form `bf16` in those of BF16 in both widths.

use super::compare::truth;
use crate::arith::lane::{
    INFINITY, Lane, NAN, ONE, ZERO, and, fabs, flipsign, greater, iadd, ieq, ilt, is_negative, is_positive, is_zero,
    mad, magnitude, or, order, select, splat, store_bf16, store_f32, sub,
};
use crate::exec::bf16::{Bf16, arithmetic, relations};
use crate::exec::short_binary_functions;

// The kernels add the magnitudes and look at the sum. It is 0 if both are zeros, which denormals are to the SFPU,
// and above infinity if one is NaN.

#[inline(always)]
pub fn are_zeros<V: Lane>(a: V, b: V) -> V::Mask {
    is_zero(and(or(a, b), INFINITY))
}

#[inline(always)]
pub fn is_unordered<V: Lane>(a: V, b: V) -> V::Mask {
    ilt(splat::<V>(INFINITY), magnitude(a)) | ilt(splat::<V>(INFINITY), magnitude(b))
}

#[inline(always)]
fn below<V: Lane>(a: V, b: V) -> V::Mask {
    !are_zeros(a, b) & order(a).is_less(order(b))
}

#[inline(always)]
pub fn is_number_equal<V: Lane>(a: V, b: V) -> V::Mask {
    are_zeros(a, b) | (!is_unordered(a, b) & a.is_equal(b))
}

#[inline(always)]
pub fn eq<V: Lane>(a: V, b: V) -> V {
    truth::<V>(is_number_equal(a, b))
}

#[inline(always)]
fn ne<V: Lane>(a: V, b: V) -> V {
    select(is_zero(eq(a, b)), ONE, splat::<V>(ZERO))
}

#[inline(always)]
fn lt<V: Lane>(a: V, b: V) -> V {
    truth::<V>(!is_unordered(a, b) & below(a, b))
}

#[inline(always)]
fn le<V: Lane>(a: V, b: V) -> V {
    truth::<V>(!is_unordered(a, b) & !below(b, a))
}

#[inline(always)]
fn isclose<V: Lane>(a: V, b: V, relative: u32, absolute: u32) -> V {
    let tolerance = mad(fabs(b), relative, absolute);
    let close = !greater(fabs(sub(a, b)), tolerance);
    let infinite = !ilt(magnitude(a), INFINITY) | !ilt(magnitude(b), INFINITY);
    let same = ieq(magnitude(a), INFINITY) & a.is_equal(b);
    truth::<V>((infinite & same) | (!infinite & close))
}

/// As [`isclose`], two NaN being close: the kernel's other build.
#[inline(always)]
fn isclose_or_nan<V: Lane>(a: V, b: V, relative: u32, absolute: u32) -> V {
    let both_nan = ilt(splat::<V>(INFINITY), magnitude(a)) & ilt(splat::<V>(INFINITY), magnitude(b));
    select(both_nan, ONE, isclose(a, b, relative, absolute))
}

#[inline(always)]
fn nextafter<V: Lane>(a: V, b: V, step: u32) -> V {
    let difference = sub(a, b);
    let (up, down) = (is_negative(difference), is_positive(difference));
    let away = (up & !is_negative(a)) | (down & !is_positive(a));
    let back = (up & is_negative(a)) | (down & is_positive(a));
    let stepped = iadd(a, select(away, step, select(back, step.wrapping_neg(), splat::<V>(ZERO))));
    let from_zero = select(is_positive(b), step, select(is_negative(b), flipsign(splat::<V>(step)), stepped));
    let from_zero = select(is_zero(magnitude(b)), b, from_zero);
    let result = select(is_zero(magnitude(a)), from_zero, stepped);
    let nan = ilt(splat::<V>(INFINITY), magnitude(a)) | ilt(splat::<V>(INFINITY), magnitude(b));
    select(nan, NAN, result)
}

short_binary_functions! {
    "eq_binary", "default": eq, eq, bf16 on both = Bf16::packed(relations::eq::run);
    "ne_binary", "default": ne, ne, bf16 on both = Bf16::packed(relations::ne::run);
    "lt_binary", "default": lt, lt, bf16 on both = Bf16::packed(relations::lt::run);
    "gt_binary", "default": |a, b| lt(b, a), |a, b| lt(b, a), bf16 on both = Bf16::packed(relations::gt::run);
    "le_binary", "default": le, le, bf16 on both = Bf16::packed(relations::le::run);
    "ge_binary", "default": |a, b| le(b, a), |a, b| le(b, a), bf16 on both = Bf16::packed(relations::ge::run);
    "isclose", "default" [relative, absolute]: |a, b| isclose(a, b, relative, absolute),
        |a, b| isclose(a, b, relative, absolute), bf16 on both = Bf16::packed(arithmetic::isclose::run);
    "isclose", "equal_nan" [relative, absolute]: |a, b| isclose_or_nan(a, b, relative, absolute),
        |a, b| isclose_or_nan(a, b, relative, absolute), bf16 on both = Bf16::packed(arithmetic::isclose::run);
    "nextafter", "default": |a, b| store_bf16(nextafter(a, b, 0x1_0000)), |a, b| store_f32(nextafter(a, b, 1));
    "nextafter", "bf16": |a, b| store_bf16(nextafter(a, b, 0x1_0000)), |a, b| store_f32(nextafter(a, b, 0x1_0000));
}
