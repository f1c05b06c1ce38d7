//! Gaussian error linear unit, x * Phi(x). Source: listings `gelu/*`.
//!
//! Domain: all words. 16-bit `Dst`: 0 below -5.54, a tail with the exponential up to -3.125, an odd polynomial up to
//! 2.78125, x above. 32-bit `Dst`: x/2 * (1 + erf(x / sqrt 2)). The tanh form is its usual approximation; its fast
//! version goes through a sigmoid. `approx_lut`: straight lines.

use super::blocks::{BIAS, Blocks, EXP21_CONSTANT, exp2_fixed, exp21};
use crate::arith::lane::{
    HALF, MINUS_ONE, ONE, TWO, add, arecip, equal, greater, less, lut16, mad, max, min, mul, polynomial, select, splat,
    store_bf16, store_f32, store_rounded, sub, sub_product,
};
use crate::exec::functions;

/// -5.54259443: below, the result is 0.
pub const LOWEST: u32 = 0xc0b1_5cef;
/// -3.125: up to here the tail.
const TAIL_END: u32 = 0xc048_0000;
/// 2.78125: from here on x.
const LINEAR: u32 = 0x4032_0000;
/// -1 / (2 ln 2)
const MINUS_HALF_OVER_LN2: u32 = 0xbf38_aa3b;
/// 0.375
const OFFSET: u32 = 0x3ec0_0000;
/// 1 / sqrt 2
pub const INVERSE_ROOT2: u32 = 0x3f35_04f3;
/// 10.0
pub const LARGEST: u32 = 0x4120_0000;
/// 2^-25: what is left of 1 + erf where it vanishes.
pub const RESIDUE: u32 = 0x3300_0000;
/// 0.0447149985
pub const CUBIC: u32 = 0x3d37_2713;
/// sqrt(2 / pi)
pub const ROOT_2_OVER_PI: u32 = 0x3f4c_422a;
/// 254.0
const LARGEST_POWER: u32 = 0x437e_0000;
/// Half-words of the lines of gelu(|x|) - |x| / 2.
const SLOPES: [u32; 3] = [0x37e7_322b, 0x38e1_38f3, 0x3800_3852];
const INTERCEPTS: [u32; 3] = [0xb122_86d8, 0xb437_b479, 0x7c00_afa4];

#[inline(always)]
fn accurate_16<V: Blocks>(x: V) -> V {
    let square = mul(x, x);
    let phi =
        polynomial(square, [0x33ab_6a49, 0xb67f_907a, 0x38ab_9292, 0xba8c_7afe, 0x3c20_1ac3, 0xbd87_e84c, 0x3ecc_422a]);
    let middle = mul(x, mad(x, phi, HALF));
    let bell = exp21(mad(square, MINUS_HALF_OVER_LN2, BIAS), EXP21_CONSTANT);
    let shape = polynomial(x, [0x3a47_1981, 0x3c62_4345, 0x3dc3_6818, 0x3e9b_7e8e]);
    // Added and taken away again, the offset rounds.
    let tail = mul(x, sub(mad(bell, shape, OFFSET), OFFSET));
    let right = select(less(x, LINEAR), middle, x);
    let inside = select(less(x, TAIL_END), tail, right);
    store_rounded(select(!greater(x, LOWEST), 0, inside))
}

#[inline(always)]
fn accurate_32<V: Blocks>(x: V) -> V {
    let inside = greater(x, LOWEST);
    let error_function = min(mul(x, INVERSE_ROOT2), LARGEST).erf_f32(2);
    let value = mul(x, mad(error_function, HALF, HALF));
    let value = select(equal(error_function, MINUS_ONE), mul(x, RESIDUE), value);
    // x - x is 0, or NaN for an infinity.
    store_f32(select(inside, value, sub(x, x)))
}

#[inline(always)]
fn tanh_form<V: Blocks>(x: V) -> V {
    let curve = mad(mul(x, x), CUBIC, ONE);
    let argument = mul(mul(x, curve), ROOT_2_OVER_PI);
    let half = mul(x, HALF);
    mad(half, argument.tanh_f32(), half)
}

#[inline(always)]
fn tanh_fast<V: Blocks>(x: V) -> V {
    let cubic = mul(x, mad(mul(x, x), CUBIC, ONE));
    // -2 sqrt(2 / pi) / ln 2
    let z = min(max(mad(cubic, 0xc013_5761, BIAS), 0), LARGEST_POWER);
    let power = exp2_fixed(z, [0x0e5d_c00a, 0x1ad5_0a70, 0x2777_3c72, 0x33b1_68bc, 0x3f80_0015]);
    mul(x, add(power, ONE).reciprocal(2))
}

/// As [`tanh_fast`], with a polynomial in place of the product, shorter constants and a reciprocal of its own.
#[inline(always)]
fn tanh_short<V: Blocks>(x: V) -> V {
    let line = mad(mul(x, x), 0xbdd2_d3e8, splat::<V>(0xc013_5761));
    let z = min(max(mad(x, line, BIAS), 0), LARGEST_POWER);
    let below = add(exp2_fixed(z, [0x0e5c_0000, 0x1ad6_0000, 0x2777_0000, 0x33b1_6e17, ONE]), ONE);
    let mut y = arecip(below);
    for _ in 0..2 {
        y = mul(y, sub_product(splat::<V>(TWO), below, y));
    }
    mul(x, y)
}

#[inline(always)]
fn approximate<V: Blocks>(x: V) -> V {
    mad(x, HALF, lut16(SLOPES, INTERCEPTS, x))
}

functions! {
    "gelu", "accurate": accurate_16, accurate_32, speculative = speculative::gelu::accurate_32;
    "gelu", "tanh": |x| store_rounded(tanh_form(x)), |x| store_f32(tanh_form(x)),
        speculative = |x| store_f32(speculative::gelu::tanh_form(x));
    "gelu", "tanh_fast" for Wormhole: |x| store_rounded(tanh_fast(x)), |x| store_f32(tanh_fast(x));
    "gelu", "tanh_fast" for Blackhole: |x| store_rounded(tanh_short(x)), |x| store_f32(tanh_short(x));
    "gelu", "approx_lut": |x| store_bf16(approximate(x)), |x| store_f32(approximate(x));
}
