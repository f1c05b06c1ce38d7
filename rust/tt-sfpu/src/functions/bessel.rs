//! Modified Bessel functions. Source: listings `i0`, `i1`.
//!
//! Domain: all words. `i0`: one polynomial of degree 11 in x^2, cut by the store. `i1`: rational up to 10, above it
//! e^|x| / sqrt |x| times a polynomial in 1 / |x|; |x| is held to 88.5.

use super::blocks::{BIAS, Blocks, EXP21_CONSTANT, INVERSE_LN2, exp21, quick_steps};
use crate::arith::lane::{
    ONE, fabs, greater, mad, min, mul, polynomial, select, setsign, store_bf16, store_f32, store_rounded,
};
use crate::exec::functions;

/// 88.5
const LARGEST: u32 = 0x42b1_0000;
/// 10.0
const FAR: u32 = 0x4120_0000;

/// Coefficients of i0 in x^2; the last is 1.
pub const I0_SERIES: [u32; 11] = [
    0x1b35_56c0,
    0x1faa_f31d,
    0x2405_bd28,
    0x2829_27bb,
    0x2c28_e28e,
    0x3001_77ae,
    0x3391_9972,
    0x36e3_8e39,
    0x39e3_8e39,
    0x3c80_0000,
    0x3e80_0000,
];

#[inline(always)]
fn i0<V: Blocks>(x: V) -> V {
    let square = mul(x, x);
    mad(polynomial(square, I0_SERIES), square, ONE)
}

/// `exponential` is e^x for positive x, `steps` those of the quotient's reciprocal.
#[inline(always)]
fn i1<V: Blocks, const N: usize, const M: usize>(
    x: V,
    exponential: impl Fn(V) -> V,
    over: [u32; N],
    under: [u32; M],
    steps: usize,
) -> V {
    const SERIES: [u32; 6] = [0xbeab_5b13, 0xbca1_c73c, 0xbd32_e421, 0xbd3f_1723, 0xbe19_320b, 0x3ecc_422a];
    let x = setsign(min(fabs(x), LARGEST), x);
    let distance = fabs(x);
    let root = distance.refine_inverse_root(distance.inverse_root());
    let far = setsign(mul(mul(exponential(distance), root), polynomial(mul(root, root), SERIES)), x);
    let square = mul(x, x);
    let near = mul(mul(polynomial(square, over), x), polynomial(square, under).reciprocal(steps));
    select(greater(distance, FAR), far, near)
}

#[inline(always)]
fn i1_16<V: Blocks>(x: V, steps: usize) -> V {
    let exponential = |x| exp21(mad(x, INVERSE_LN2, BIAS), EXP21_CONSTANT);
    let over = [0x37a9_a5a2, 0x3ad3_5edb, 0x3d5f_3f29, 0x3eff_f67b];
    let under = [0xb486_a060, 0x38d8_b66b, 0xbc85_0f2f, ONE];
    store_rounded(i1(x, exponential, over, under, steps))
}

#[inline(always)]
fn i1_32<V: Blocks>(x: V, steps: usize) -> V {
    let over = [0x2bad_0434, 0x3056_3b59, 0x3460_97d9, 0x37ee_36e0, 0x3afc_470a, 0x3d68_bb73, 0x3f00_0000];
    let under = [0x215b_4ca0, 0xa5b0_9a10, 0xaaaf_be20, 0x2fd1_9bc2, 0xb454_4c12, 0x3880_7d15, 0xbc3a_2468, ONE];
    store_f32(i1(x, Blocks::exp_f32_unlimited, over, under, steps))
}

#[inline(always)]
fn quick_16<V: Blocks>(x: V) -> V {
    i1_16(x, quick_steps::<V>())
}

#[inline(always)]
fn quick_32<V: Blocks>(x: V) -> V {
    i1_32(x, quick_steps::<V>())
}

functions! {
    "i0", "default": |x| store_bf16(i0(x)), |x| store_f32(i0(x)),
        speculative = |x| store_f32(speculative::bessel::i0(x));
    "i1", "default": |x| i1_16(x, 2), |x| i1_32(x, 2);
    "i1", "approx": quick_16, quick_32;
}
