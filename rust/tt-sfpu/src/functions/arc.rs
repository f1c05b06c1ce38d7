//! Inverse trigonometric functions. Source: listings `asin`, `acos`, `atan`.
//!
//! Domain: all words. |x| > 1 and NaN give NaN for `asin` and `acos` (+inf in 16-bit `Dst`). `asin` is a polynomial up
//! to about 0.6, above it pi/2 - 2 asin(sqrt((1 - |x|) / 2)); `atan` is a polynomial up to 1, above it pi/2 - atan(1 /
//! |x|).

use super::blocks::{Blocks, HALF_PI, ONE_AND_HALF, is_nonzero_finite};
use crate::arith::lane::{
    HALF, INFINITY, MINUS_ONE, NAN, ONE, TWO, add, and, exp_unbiased, fabs, greater, ieq, ilt, is_negative, is_zero,
    isub, less, mad, magnitude, man_only, mul, or, polynomial, select, setsign, shr, splat, store_f32, store_rounded,
    sub, xor,
};
use crate::exec::functions;

/// 0.625
const SPLIT_16: u32 = 0x3f20_0000;
/// 0.5625
pub const SPLIT_32: u32 = 0x3f10_0000;
/// -0.5
const MINUS_HALF: u32 = 0xbf00_0000;
/// -2.0
pub const MINUS_TWO: u32 = 0xc000_0000;

/// (1 - |x|) / 2
#[inline(always)]
pub fn half_complement<V: Blocks>(distance: V) -> V {
    mul(sub(splat::<V>(ONE), distance), HALF)
}

/// sqrt(x) by two Newton steps, products rounded on their own.
#[inline(always)]
fn root<V: Blocks>(x: V) -> V {
    let halved = mul(x, MINUS_HALF);
    let mut y = isub(splat::<V>(0x5f37_0000), shr(x, 1));
    for _ in 0..2 {
        y = mul(add(mul(mul(y, y), halved), ONE_AND_HALF), y);
    }
    select(is_nonzero_finite(x), mul(y, x), x)
}

/// asin(x) for |x| <= 1, with the sign.
#[inline(always)]
fn asin_16<V: Blocks>(x: V) -> V {
    let distance = fabs(x);
    let near = less(distance, SPLIT_16);
    let argument = select(near, distance, root(half_complement(distance)));
    let series = polynomial(mul(argument, argument), [0x3daa_49f1, 0x3d82_b032, 0x3e2b_bcc3, 0x3f7f_fe99]);
    let value = mul(argument, series);
    setsign(select(near, value, sub(splat::<V>(HALF_PI), mul(value, TWO))), x)
}

#[inline(always)]
fn acos_16<V: Blocks>(x: V) -> V {
    sub(splat::<V>(HALF_PI), asin_16(x))
}

#[inline(always)]
fn within<V: Blocks>(x: V, value: V) -> V {
    select(greater(fabs(x), ONE), NAN, value)
}

/// |x| below [`SPLIT_32`], from there on the root of (1 - |x|) / 2; and that half, which is negative where there is no
/// angle.
#[inline(always)]
fn argument_32<V: Blocks>(distance: V, far: V::Mask) -> (V, V) {
    let half = half_complement(distance);
    (select(far, half.refine_root(half.inverse_root()), distance), half)
}

/// Coefficients of (asin r - r) / r^3 in both functions.
pub const ASIN_SERIES: [u32; 5] = [0x3d4f_0000, 0x3c9b_2000, 0x3d3e_e000, 0x3d99_4d3a, 0x3e2a_abc6];
pub const ACOS_SERIES: [u32; 6] = [0x3d41_8000, 0x3be5_0000, 0x3d0a_c000, 0x3d35_6000, 0x3d99_a08f, 0x3e2a_aaa9];

#[inline(always)]
fn asin_32<V: Blocks>(x: V) -> V {
    let distance = fabs(x);
    let far = !less(distance, SPLIT_32);
    let (argument, half) = argument_32(distance, far);
    let square = mul(argument, argument);
    let value = mad(mul(polynomial(square, ASIN_SERIES), square), argument, argument);
    let value = select(far, add(splat::<V>(HALF_PI), mul(value, MINUS_TWO)), value);
    store_f32(select(is_negative(half), NAN, setsign(value, x)))
}

#[inline(always)]
fn acos_32<V: Blocks>(x: V) -> V {
    let distance = fabs(x);
    let beyond = sub(distance, SPLIT_32);
    let far = !is_negative(beyond);
    let (argument, half) = argument_32(distance, far);
    let square = mul(argument, argument);
    // Negative near zero for positive x, and far from zero for negative x; then pi/2 belongs to it.
    let argument = setsign(argument, xor(x, beyond));
    let value = mad(mul(polynomial(square, ACOS_SERIES), square), argument, argument);
    let value = select(is_negative(or(argument, beyond)), add(value, HALF_PI), value);
    let value = select(far, add(value, value), value);
    store_f32(select(is_negative(half), NAN, value))
}

#[inline(always)]
fn atan_16<V: Blocks>(x: V) -> V {
    let distance = fabs(x);
    let far = !is_negative(add(distance, MINUS_ONE));
    let argument = select(far, distance.reciprocal(2), distance);
    let series = polynomial(mul(argument, argument), [0xbd35_8ff6, 0x3e1f_501a, 0xbea6_d062, 0x3f7f_f219]);
    let value = mul(series, argument);
    let folded = setsign(select(far, sub(splat::<V>(HALF_PI), value), value), x);
    let nan = ieq(and(x, INFINITY), INFINITY) & !is_zero(man_only(x));
    store_rounded(select(nan, NAN, folded))
}

/// Coefficients of (atan r - r) / r^3.
pub const ARC_TANGENT: [u32; 8] =
    [0x3b80_e000, 0xbca5_e000, 0x3d49_8000, 0xbda4_6000, 0x3dde_a000, 0xbe12_0000, 0x3e4c_c9c2, 0xbeaa_aaa9];

#[inline(always)]
fn atan_32<V: Blocks>(x: V) -> V {
    let argument = atan_argument(x);
    let square = mul(argument, argument);
    let value = mad(polynomial(square, ARC_TANGENT), mul(square, argument), argument);
    store_f32(atan_of(x, value))
}

/// |x| below 1, else the reciprocal.
///
/// From 2^26 on that no longer counts: 0, or NaN for NaN.
#[inline(always)]
pub fn atan_argument<V: Blocks>(x: V) -> V {
    let distance = magnitude(x);
    let exponent = exp_unbiased(distance);
    let vanishing = mul(isub(distance, 1), 0);
    let inverse = select(ilt(exponent, 26), distance.reciprocal_estimate(true), vanishing);
    select(is_negative(exponent), distance, inverse)
}

/// The angle of x from that of its argument.
#[inline(always)]
pub fn atan_of<V: Blocks>(x: V, value: V) -> V {
    let near = is_negative(exp_unbiased(magnitude(x)));
    setsign(select(near, value, sub(splat::<V>(HALF_PI), value)), x)
}

functions! {
    "asin", "default": |x| store_rounded(within(x, asin_16(x))), asin_32,
        speculative = speculative::arc::asin_32;
    "acos", "default": |x| store_rounded(within(x, acos_16(x))), acos_32,
        speculative = speculative::arc::acos_32;
    "atan", "default": atan_16, atan_32, speculative = speculative::arc::atan_32;
}
