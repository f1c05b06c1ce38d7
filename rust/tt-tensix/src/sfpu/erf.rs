//! Error function, its complement and its inverse. Source: listings `erf/*`, `erfc/*`, `erfinv/*`.
//!
//! Domain: all words. `erf`: an odd rational function of x held to |x| <= 10, result held to [-1, 1]; BF16 tensors use
//! shorter polynomials. The fast form takes one Newton step less in the reciprocal. `erfc`: rational in |x| up to 5, in
//! two ranges. `erfinv`: from ln(1 - x^2) and two nested square roots.

use super::blocks::{ONE_AND_HALF, is_nonzero_finite, reciprocal};
use super::course::Course;
use super::lane::{
    MINUS_ONE, ONE, TWO, Word, add, any, fabs, flipsign, general, growing_polynomial, is_negative, isub, less, mad,
    max, min, mul, polynomial_along, select, setsign, shr, splat, store_bf16, store_f32, sub,
};
use super::log::{SERIES_16, flushed, natural};
use super::run::functions;
use super::series::Growth;

/// 10.0
const LARGEST: u32 = 0x4120_0000;
/// 5.0
const LARGEST_COMPLEMENT: u32 = 0x40a0_0000;
/// 2.5: where `erfc` changes its polynomials.
const FAR: u32 = 0x4020_0000;
/// -0.5
const MINUS_HALF: u32 = 0xbf00_0000;

#[inline(always)]
fn quotient<V: Word>(x: V, over: V, under: V, steps: usize) -> V {
    let ratio = mul(mul(over, x), reciprocal(under, steps));
    min(max(ratio, MINUS_ONE), ONE)
}

/// erf(x) for |x| <= 10.
#[inline(always)]
pub fn erf_f32<V: Word>(x: V, steps: usize) -> V {
    const OVER: [u32; 8] =
        [0xaf9d_680c, 0x32eb_3b7a, 0x3794_4be8, 0x3a20_b676, 0x3bb8_4182, 0x3d7e_7fa1, 0x3e5b_edcd, 0x3f90_6eba];
    const UNDER: [u32; 9] =
        [0xacec_f824, 0xb171_9360, 0x35b0_94db, 0x390a_3143, 0x3b00_1800, 0x3ca0_e975, 0x3e04_ba56, 0x3f06_0f6b, ONE];
    // 2.489^2. Up to there, the numerator is between 1 and 8, and the denominator between 1 and 32.
    const FAST: f32 = 6.195;
    const GROWTH_OVER: Growth = Growth::of(&OVER, FAST);
    const GROWTH_UNDER: Growth = Growth::of(&UNDER, FAST);
    let square = x.traceless_product(x);
    let over = V::from(OVER[0]).horner_up_to(square, &OVER[1..], GROWTH_OVER).surely(0, 3);
    let under = V::from(UNDER[0]).horner_up_to(square, &UNDER[1..], GROWTH_UNDER).surely(0, 5);
    quotient(x.zero_or_usual(-60, 2), over, under, steps)
}

/// As [`erf_f32`], for BF16 tensors.
#[inline(always)]
fn erf_bf16<V: Word>(x: V, steps: usize) -> V {
    const OVER: [u32; 4] = [0x3a43_3f7a, 0x3d39_f5a5, 0x3e8d_5bf2, 0x3f90_655c];
    const UNDER: [u32; 5] = [0x37d0_275d, 0x3c07_bb8c, 0x3e0c_0a32, 0x3f13_0b59, ONE];
    let square = mul(x, x);
    quotient(x, growing_polynomial(square, OVER), growing_polynomial(square, UNDER), steps)
}

#[inline(always)]
fn bounded<V: Word>(x: V) -> V {
    setsign(min(fabs(x), LARGEST), x)
}

/// Numerator and denominator of erfc(x) for x from 0 to [`FAR`].
#[inline(always)]
fn near_complement<V: Word>(x: V) -> (V, V) {
    const OVER: [u32; 5] = [0x3c61_3a07, 0xbe20_af97, 0x3f2e_8e14, 0xbfab_356a, 0x3f80_00c4];
    const UNDER: [u32; 6] = [0x3ce8_73ce, 0x3ccd_a887, 0xbb62_8c9a, 0x3edf_9353, 0xbe55_01ee, ONE];
    const COURSE_OVER: Course = Course::of(&OVER, 0.0, 2.5);
    const COURSE_UNDER: Course = Course::of(&UNDER, 0.0, 2.5);
    (polynomial_along(x, OVER, COURSE_OVER), polynomial_along(x, UNDER, COURSE_UNDER))
}

/// The same from there to 5.
#[inline(always)]
fn far_complement<V: Word>(x: V) -> (V, V) {
    const OVER: [u32; 5] = [0xb34b_86c2, 0x3575_74ee, 0xb6de_00dc, 0x37b2_78f4, 0xb7d7_3634];
    const UNDER: [u32; 6] = [0xbcaf_1b72, 0x3e01_d040, 0xbe0e_383a, 0xbe52_a8bf, 0xbe28_8596, ONE];
    const COURSE_OVER: Course = Course::of(&OVER, 2.5, 5.0);
    const COURSE_UNDER: Course = Course::of(&UNDER, 2.5, 5.0);
    (polynomial_along(x, OVER, COURSE_OVER), polynomial_along(x, UNDER, COURSE_UNDER))
}

#[inline(always)]
fn erfc<V: Word>(x: V) -> V {
    let distance = min(fabs(x), LARGEST_COMPLEMENT);
    let far = !less(distance, FAR);
    let (mut over, mut under) = near_complement(distance);
    if any::<V>(far) {
        let (far_over, far_under) = far_complement(distance);
        (over, under) = (select(far, far_over, over), select(far, far_under, under));
    }
    // The numerator is up to 1 and a multiple of 2^-42, the denominator from 1/365 to 9.9.
    let value = mul(over.surely(-43, 1), reciprocal(under.surely(-10, 4), 1));
    select(is_negative(x), add(splat::<V>(TWO), flipsign(value)), value)
}

/// sqrt(x) by two Newton steps on the classic guess, with which x y^2 is 1 within 1/12.
#[inline(always)]
fn root<V: Word>(x: V) -> V {
    let usual = x.usually_positive(-60, 60);
    let halved = mul(usual, MINUS_HALF);
    let mut y = isub(splat::<V>(0x5f37_0000), shr(usual, 1)).surely(-31, 31);
    for _ in 0..2 {
        y = mul(mul(y, y).ordinary(halved, splat(ONE_AND_HALF)).surely(-1, 1), y).surely(-32, 32);
    }
    select(is_nonzero_finite(x), mul(y, usual), x)
}

#[inline(always)]
fn erfinv<V: Word>(x: V) -> V {
    let logarithm = natural(flushed(sub(splat::<V>(ONE), mul(x, x))), SERIES_16, None);
    let centre = mad(logarithm, MINUS_HALF, 0xc08a_957a);
    let discriminant = general(centre, centre, flipsign(mul(logarithm, 0x40d9_afe4)));
    setsign(root(add(centre, root(discriminant))), x)
}

functions! {
    "erf", "accurate": |x| store_bf16(erf_bf16(bounded(x), 2)), |x| store_f32(erf_f32(bounded(x), 2));
    "erf", "fast": |x| store_bf16(erf_bf16(bounded(x), 1)), |x| store_f32(erf_f32(bounded(x), 1));
    "erfc", "default": |x| store_bf16(erfc(x)), |x| store_f32(erfc(x));
    "erfinv", "default": |x| store_bf16(erfinv(x)), |x| store_f32(erfinv(x));
}
