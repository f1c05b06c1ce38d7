//! Digamma and the main stage of the logarithm of the gamma function.
//!
//! Source: listings `digamma`, `lgamma_stirling`.
//!
//! Domain: all words. `digamma`: rational functions by range, above 102 the asymptotic series with a rough logarithm.
//! `lgamma_stirling`: Stirling's formula at x, or at 1 - x below 1/2; 0 at 1 and 2.

use super::blocks::{Blocks, ROUGH_LN2, rough_log};
use crate::arith::lane::{
    HALF, INFINITY, ONE, TWO, ZERO, add, equal, flipsign, greater, is_finite, is_zero, less, mad, man_only, mul,
    polynomial, select, splat, store_bf16, store_f32, store_rounded, sub, sub_product,
};
use crate::exec::functions;

/// 102.0
pub const FAR: u32 = 0x42cc_0000;
/// 51.005
pub const MIDDLE: u32 = 0x424c_051f;
/// 1 / 12
pub const TWELFTH: u32 = 0x3daa_aaab;
/// -1 / 360
pub const MINUS_360TH: u32 = 0xbb36_0b60;
/// ln(2 pi) / 2
pub const HALF_LN_2PI: u32 = 0x3f6b_3f8e;

/// `near` up to [`FAR`], ln x - 1/(2x) - (1/12 - 1/(120 x^2)) / x^2 above.
#[inline(always)]
pub fn digamma<V: Blocks>(x: V, near: V) -> V {
    let inverse = x.reciprocal(2);
    let square = mul(inverse, inverse);
    let bernoulli = mul(square, sub_product(splat::<V>(TWELFTH), square, 0x3c08_8888));
    let series = sub(sub(rough_log(x), mul(inverse, HALF)), bernoulli);
    let infinite = !is_finite(x) & is_zero(man_only(x));
    select(greater(x, FAR), select(infinite, INFINITY, series), near)
}

#[inline(always)]
fn digamma_16<V: Blocks>(x: V) -> V {
    let over =
        polynomial(x, [0x3db2_7c7f, 0x4378_7890, 0x4698_51bc, 0x4850_f823, 0x4852_487b, 0xc913_2f68, 0xc8a4_e0fd]);
    let under = polynomial(x, [0x4225_67d3, 0x45a0_252f, 0x47c2_dfdc, 0x48c7_ab56, 0x48a4_d830, ONE]);
    store_bf16(digamma(x, mul(over, under.reciprocal(2))))
}

/// Numerator and denominator up to [`MIDDLE`].
pub const LOW_OVER: [u32; 11] = [
    0x2c6c_a5b0,
    0x32c8_90e5,
    0x36d8_78dc,
    0x39ed_8068,
    0x3c36_d5cb,
    0x3ddc_5f42,
    0x3ecb_315e,
    0x3eb5_5778,
    0xbf34_28b2,
    0xbf9f_7a1c,
    0xbeda_17ce,
];
pub const LOW_UNDER: [u32; 10] = [
    0x3167_cf5e,
    0x35a9_3fad,
    0x38f0_65bc,
    0x3b73_417c,
    0x3d4c_bdc0,
    0x3e9a_04da,
    0x3f53_ce10,
    ONE,
    0x3eda_185a,
    0xb388_ee08,
];
/// The same up to [`FAR`].
pub const HIGH_OVER: [u32; 11] = [
    0x292d_8643,
    0x311d_cd63,
    0x36a5_408b,
    0x3b3a_bf34,
    0x3f1d_360b,
    0x425b_189d,
    0x44fb_47ae,
    0x46cc_ec92,
    0x4757_9519,
    0xc888_4dc6,
    0x4807_50d8,
];
pub const HIGH_UNDER: [u32; 10] = [
    0x2f8e_8671,
    0x3539_dd95,
    0x39f8_fc12,
    0x3df7_066a,
    0x414e_4018,
    0x4414_75a4,
    0x462c_1768,
    0x4778_bd3b,
    ONE,
    0xc823_52c0,
];
#[inline(always)]
fn digamma_32<V: Blocks>(x: V) -> V {
    let high = !less(x, MIDDLE);
    let over = select(high, polynomial(x, HIGH_OVER), polynomial(x, LOW_OVER));
    let under = select(high, polynomial(x, HIGH_UNDER), polynomial(x, LOW_UNDER));
    store_f32(digamma(x, mul(over, under.reciprocal(2))))
}

#[inline(always)]
pub fn lgamma_stirling<V: Blocks>(x: V) -> V {
    let z = select(less(x, HALF), sub(splat::<V>(ONE), x), x);
    let inverse = z.reciprocal(2);
    let series = mad(mul(inverse, inverse), MINUS_360TH, TWELFTH);
    let logarithm = mad(z.exponent_number(), ROUGH_LN2, z.log_cubic());
    let main = add(mad(sub(z, HALF), logarithm, flipsign(z)), HALF_LN_2PI);
    select(equal(x, ONE) | equal(x, TWO), ZERO, mad(inverse, series, main))
}

functions! {
    "digamma", "default": digamma_16, digamma_32, speculative = speculative::gamma::digamma_32;
    "lgamma_stirling", "default": |x| store_rounded(Blocks::lgamma_stirling(x)), |x| store_f32(Blocks::lgamma_stirling(x));
}
