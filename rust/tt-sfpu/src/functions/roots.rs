//! Square root, 1 / sqrt(x) and cube root. Source: listings `sqrt/*`, `rsqrt/*`, `cbrt`.
//!
//! Domain: all words. `sqrt`: +-0 stay, +inf stays. `rsqrt`: +-0 give +-infinity, +inf gives +0. For both, negative
//! arguments give NaN (+inf in 16-bit `Dst`, where rounding makes it so); the fast forms omit that, and `sqrt` also the
//! special case of zero. The approximate forms, of kernels with `math_approx_mode`, have other constants and one step
//! (`ckernel_sfpu_sqrt.h`). `cbrt`: the inverse cube root is estimated from the word as a number, divided by three in
//! arithmetic on the bit pattern, then refined by a polynomial of x y^3; 32-bit `Dst` adds a step of the same kind at
//! the end. `rsqrt/compat` is the inverse of a square root, each by Newton's method, as older kernels have it (tt-llk
//! `ckernel_sfpu_rsqrt_compat.h`); it has no special cases.

use super::blocks::Blocks;
use crate::arith::lane::{
    INFINITY, Lane, MINUS_ONE, NAN, ONE, TWO, ZERO, exp_unbiased, fabs, flipsign, iadd, ieq, ilt, is_negative, is_zero,
    isub, mad, mul, polynomial, round_bf16_even, select, setexp, setsign, shl, shr, sm2f, splat, store_bf16, store_f32,
    store_rounded,
};
use crate::exec::functions;

#[inline(always)]
fn sqrt_fast<V: Blocks>(x: V) -> V {
    let y = x.inverse_root();
    select(ilt(x, INFINITY), x.refine_root(y), y)
}

/// The root with zeros kept and without those of negative numbers.
#[inline(always)]
fn guarded_root<V: Lane>(x: V, root: V) -> V {
    select(is_zero(shl(x, 1)), x, select(is_negative(x), NAN, root))
}

#[inline(always)]
fn rsqrt_fast<V: Blocks>(x: V) -> V {
    // Infinity minus the word is right for both zeros and for infinity.
    let limit = isub(splat::<V>(INFINITY), x);
    select(is_zero(limit) | is_zero(shl(x, 1)), limit, x.refine_inverse_root(x.inverse_root()))
}

/// The inverse root without those of negative numbers.
#[inline(always)]
fn guarded_inverse_root<V: Lane>(x: V, inverse: V) -> V {
    select(is_negative(x) & !is_zero(shl(x, 1)), NAN, inverse)
}

/// The estimate y of 1 / sqrt(x), x y, and the factor of one step of Newton's method whose constants are fitted.
#[inline(always)]
fn approximate<V: Lane>(x: V) -> (V, V, V) {
    let y = isub(splat::<V>(APPROX_ESTIMATE), shr(x, 1));
    let root = mul(x, y);
    (y, root, mad(flipsign(y), root, APPROX_STEP))
}

#[inline(always)]
fn sqrt_approx_fast<V: Lane>(x: V) -> V {
    let (_, root, step) = approximate(x);
    select(ieq(x, INFINITY), root, mul(root, step))
}

#[inline(always)]
fn rsqrt_approx_fast<V: Lane>(x: V) -> V {
    let (y, _, step) = approximate(x);
    let limit = isub(splat::<V>(INFINITY), x);
    select(is_zero(limit) | is_zero(shl(x, 1)), limit, mul(y, step))
}

/// What the word of 1 / sqrt(x) has at zero, and 1.890990: the constants of the approximate form.
const APPROX_ESTIMATE: u32 = 0x5f0b_3892;
const APPROX_STEP: u32 = 0x3ff2_0bf7;

/// sqrt(x) as older kernels have it: two steps of Newton's method for the inverse root, or half the exponent.
#[inline(always)]
fn sqrt_compat<V: Lane>(x: V, approximate: bool) -> V {
    if approximate {
        return shr(iadd(x, ONE), 1);
    }
    let half = mul(x, MINUS_HALF);
    let mut inverse = isub(splat::<V>(COMPAT_ESTIMATE), shr(x, 1));
    for _ in 0..2 {
        inverse = mul(mad(mul(inverse, inverse), half, THREE_HALVES), inverse);
    }
    select(is_zero(shl(x, 1)), x, mul(inverse, x))
}

/// 1 / x as older kernels have it: Newton's method on the mantissa, and the exponent as an integer.
#[inline(always)]
fn recip_compat<V: Lane>(x: V, steps: usize) -> V {
    let mantissa = setexp(setsign(x, SIGN), 126);
    let mut result = mul(mad(mantissa, INVERSE_LN_2, TWO), INVERSE_LN_2);
    for _ in 0..steps {
        result = mul(result, mad(mantissa, result, TWO));
    }
    let exponent = iadd(isub(exp_unbiased(result), exp_unbiased(x)), 126);
    let result = setexp(select(is_negative(exponent), ZERO, result), select(is_negative(exponent), ZERO, exponent));
    select(is_negative(x) & !is_zero(shl(x, 1)), flipsign(result), result)
}

/// 1 / sqrt(x) of older kernels, whose root goes through `Dst` by `store`.
#[inline(always)]
fn rsqrt_compat<V: Lane>(x: V, approximate: bool, store: impl Fn(V) -> V) -> V {
    recip_compat(store(sqrt_compat(x, approximate)), if approximate { 1 } else { 2 })
}

const MINUS_HALF: u32 = 0xbf00_0000;
const THREE_HALVES: u32 = 0x3fc0_0000;
const COMPAT_ESTIMATE: u32 = 0x5f37_0000;
/// 1 / ln(2), the first estimate of an inverse.
const INVERSE_LN_2: u32 = 0x3fb8_aa3b;
const SIGN: u32 = 0x8000_0000;

/// -1 / 768: a third, and eight bits to the right.
pub const MINUS_THIRD: u32 = 0xbaaa_aaab;
/// The word of 1 / cbrt(x) at zero, eight bits to the right.
pub const ESTIMATE: u32 = 0x4b54_8c2c;
pub const SERIES: [u32; 3] = [0x3f02_66d9, 0xbfa0_1f36, 0x3fe0_4c03];

#[inline(always)]
fn estimate<V: Lane>(distance: V) -> V {
    shl(mad(sm2f(distance), MINUS_THIRD, ESTIMATE), 8)
}

#[inline(always)]
fn cbrt_16<V: Lane>(x: V) -> V {
    let distance = fabs(x);
    let y = estimate(distance);
    let root = mul(distance, mul(y, y));
    let correction = polynomial(mul(root, y), SERIES);
    store_rounded(mul(setsign(root, x), mul(correction, correction)))
}

#[inline(always)]
fn cbrt_32<V: Lane>(x: V) -> V {
    let distance = fabs(x);
    let y = estimate(distance);
    let cube = mul(mul(distance, y), mul(y, y));
    let y = mul(y, polynomial(cube, SERIES));
    let root = mul(distance, mul(y, y));
    // -1/3 of the error of x y^3.
    let correction = mad(mad(root, y, MINUS_ONE), MINUS_THIRD + (8 << 23), ONE);
    store_f32(mul(setsign(root, x), mul(correction, correction)))
}

functions! {
    "sqrt", "accurate": |x| store_rounded(guarded_root(x, sqrt_fast(x))),
        |x| store_f32(guarded_root(x, sqrt_fast(x)));
    "sqrt", "fast": |x| store_rounded(sqrt_fast(x)), |x| store_f32(sqrt_fast(x));
    "sqrt", "approx": |x| store_rounded(guarded_root(x, sqrt_approx_fast(x))),
        |x| store_f32(guarded_root(x, sqrt_approx_fast(x)));
    "sqrt", "approx_fast": |x| store_rounded(sqrt_approx_fast(x)), |x| store_f32(sqrt_approx_fast(x));
    "rsqrt", "default": |x| store_rounded(guarded_inverse_root(x, rsqrt_fast(x))),
        |x| store_f32(guarded_inverse_root(x, rsqrt_fast(x)));
    "rsqrt", "fast": |x| store_rounded(rsqrt_fast(x)), |x| store_f32(rsqrt_fast(x));
    "rsqrt", "approx": |x| store_rounded(guarded_inverse_root(x, rsqrt_approx_fast(x))),
        |x| store_f32(guarded_inverse_root(x, rsqrt_approx_fast(x)));
    "rsqrt", "approx_fast": |x| store_rounded(rsqrt_approx_fast(x)), |x| store_f32(rsqrt_approx_fast(x));
    "rsqrt", "compat": |x| store_bf16(round_bf16_even(rsqrt_compat(x, false, store_bf16))),
        |x| store_f32(rsqrt_compat(x, false, store_f32));
    "rsqrt", "compat_approx": |x| store_bf16(rsqrt_compat(x, true, store_bf16)),
        |x| store_f32(rsqrt_compat(x, true, store_f32));
    "cbrt", "default": cbrt_16, cbrt_32, speculative = speculative::roots::cbrt_32;
}
