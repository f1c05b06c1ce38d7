//! Error function, its complement and its inverse. Source: listings `erf/*`, `erfc/*`, `erfinv/*`.
//!
//! Domain: all words. `erf`: an odd rational function of x held to |x| <= 10, result held to [-1, 1]; BF16 tensors use
//! shorter polynomials. The fast form does not refine the reciprocal. `erfc`: rational in |x| up to 5, in
//! two ranges. `erfinv`: from ln(1 - x^2) and two nested square roots.

use super::blocks::{Blocks, ONE_AND_HALF, is_nonzero_finite, quick_reciprocal, quick_steps};
use super::log::{SERIES_16, flushed};
use crate::arith::lane::{
    MINUS_ONE, ONE, TWO, add, fabs, flipsign, is_negative, isub, less, mad, max, min, mul, polynomial, select, setsign,
    shr, splat, store_bf16, store_f32, sub_product,
};
use crate::exec::functions;

/// 10.0
const LARGEST: u32 = 0x4120_0000;
/// 5.0
pub const LARGEST_COMPLEMENT: u32 = 0x40a0_0000;
/// 2.5: where `erfc` changes its polynomials.
pub const FAR: u32 = 0x4020_0000;
/// -0.5
pub const MINUS_HALF: u32 = 0xbf00_0000;
/// Constants of the inverse.
pub const CENTRE: u32 = 0xc08a_957a;
pub const SLOPE: u32 = 0x40d9_afe4;
/// Constant minus half the word of x: estimate of 1 / sqrt(x).
pub const ROOT_ESTIMATE: u32 = 0x5f37_0000;

#[inline(always)]
fn quotient<V: Blocks>(x: V, over: V, under: V, steps: usize) -> V {
    let ratio = mul(mul(over, x), under.reciprocal(steps));
    min(max(ratio, MINUS_ONE), ONE)
}

/// Numerator and denominator of erf(x) / x in x^2.
pub const OVER: [u32; 8] =
    [0xaf9d_680c, 0x32eb_3b7a, 0x3794_4be8, 0x3a20_b676, 0x3bb8_4182, 0x3d7e_7fa1, 0x3e5b_edcd, 0x3f90_6eba];
pub const UNDER: [u32; 9] =
    [0xacec_f824, 0xb171_9360, 0x35b0_94db, 0x390a_3143, 0x3b00_1800, 0x3ca0_e975, 0x3e04_ba56, 0x3f06_0f6b, ONE];

/// erf(x) for |x| <= 10.
#[inline(always)]
pub fn erf_f32<V: Blocks>(x: V, steps: usize) -> V {
    let square = mul(x, x);
    quotient(x, polynomial(square, OVER), polynomial(square, UNDER), steps)
}

/// As [`erf_f32`], for BF16 tensors.
#[inline(always)]
fn erf_bf16<V: Blocks>(x: V, steps: usize) -> V {
    const OVER: [u32; 4] = [0x3a43_3f7a, 0x3d39_f5a5, 0x3e8d_5bf2, 0x3f90_655c];
    const UNDER: [u32; 5] = [0x37d0_275d, 0x3c07_bb8c, 0x3e0c_0a32, 0x3f13_0b59, ONE];
    let square = mul(x, x);
    quotient(x, polynomial(square, OVER), polynomial(square, UNDER), steps)
}

#[inline(always)]
fn bounded<V: Blocks>(x: V) -> V {
    setsign(min(fabs(x), LARGEST), x)
}

#[inline(always)]
fn fast_16<V: Blocks>(x: V) -> V {
    store_bf16(erf_bf16(bounded(x), quick_steps::<V>()))
}

#[inline(always)]
fn fast_32<V: Blocks>(x: V) -> V {
    store_f32(bounded(x).erf_f32(quick_steps::<V>()))
}

/// Numerator and denominator of erfc(x), in two ranges.
///
/// From 0 to [`FAR`], and from there to 5.
pub const NEAR_OVER: [u32; 5] = [0x3c61_3a07, 0xbe20_af97, 0x3f2e_8e14, 0xbfab_356a, 0x3f80_00c4];
pub const NEAR_UNDER: [u32; 6] = [0x3ce8_73ce, 0x3ccd_a887, 0xbb62_8c9a, 0x3edf_9353, 0xbe55_01ee, ONE];
pub const FAR_OVER: [u32; 5] = [0xb34b_86c2, 0x3575_74ee, 0xb6de_00dc, 0x37b2_78f4, 0xb7d7_3634];
pub const FAR_UNDER: [u32; 6] = [0xbcaf_1b72, 0x3e01_d040, 0xbe0e_383a, 0xbe52_a8bf, 0xbe28_8596, ONE];

#[inline(always)]
fn erfc<V: Blocks>(x: V) -> V {
    let distance = min(fabs(x), LARGEST_COMPLEMENT);
    let far = !less(distance, FAR);
    let over = select(far, polynomial(distance, FAR_OVER), polynomial(distance, NEAR_OVER));
    let under = select(far, polynomial(distance, FAR_UNDER), polynomial(distance, NEAR_UNDER));
    let value = mul(over, quick_reciprocal(under));
    select(is_negative(x), add(splat::<V>(TWO), flipsign(value)), value)
}

/// sqrt(x) by two Newton steps on the classic estimate.
#[inline(always)]
fn root<V: Blocks>(x: V) -> V {
    let halved = mul(x, MINUS_HALF);
    let mut y = isub(splat::<V>(ROOT_ESTIMATE), shr(x, 1));
    for _ in 0..2 {
        y = mul(mad(mul(y, y), halved, ONE_AND_HALF), y);
    }
    select(is_nonzero_finite(x), mul(y, x), x)
}

#[inline(always)]
fn erfinv<V: Blocks>(x: V) -> V {
    let logarithm = flushed(sub_product(splat::<V>(ONE), x, x)).natural(SERIES_16, None);
    let centre = mad(logarithm, MINUS_HALF, CENTRE);
    let discriminant = mad(centre, centre, flipsign(mul(logarithm, SLOPE)));
    setsign(root(add(centre, root(discriminant))), x)
}

functions! {
    "erf", "accurate": |x| store_bf16(erf_bf16(bounded(x), 2)), |x| store_f32(Blocks::erf_f32(bounded(x), 2));
    "erf", "fast": fast_16, fast_32;
    "erfc", "default": |x| store_bf16(erfc(x)), |x| store_f32(erfc(x)),
        speculative = |x| store_f32(speculative::erf::erfc(x));
    "erfinv", "default": |x| store_bf16(erfinv(x)), |x| store_f32(erfinv(x)),
        speculative = |x| store_f32(speculative::erf::erfinv(x));
}
