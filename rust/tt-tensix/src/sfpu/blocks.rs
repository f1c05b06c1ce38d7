//! Pieces that several functions share: exponential cores, reciprocal, square root. `sfpu.md` section 4.

use super::convert::sign_magnitude_to_twos_complement;
use super::lane::{
    HALF, INFINITY, MINUS_ONE, ONE, add, addexp, copyexp, exp_biased, exp_unbiased, flipsign, mad, man_only,
    man_with_one, mul, polynomial, round_sm16, setexp, setman, setsign, shift, sm2f,
};

/// 1 / ln 2
pub const INVERSE_LN2: u32 = 0x3fb8_aa3b;
/// 127.0
pub const BIAS: u32 = 0x42fe_0000;
/// 255.0
pub const MAX_EXPONENT: u32 = 0x437f_0000;

/// 2^(z - 127) for a clamped `z`, good for BF16. `constant` is the polynomial's lowest coefficient.
#[inline(always)]
pub fn exp21(z: u32, constant: u32) -> u32 {
    let fixed = shift(man_with_one(z), exp_unbiased(z));
    let fraction = sm2f(man_only(fixed));
    copyexp(polynomial(fraction, [0x27ac_a418, 0x33a8_5ada, constant]), fixed)
}

/// e^x in FP32: reduction by a two-part ln 2, polynomial of degree 6, exponent added at the end.
#[inline(always)]
pub fn exp_f32(x: u32) -> u32 {
    let power = round_sm16(mul(x, INVERSE_LN2));
    let turns = sm2f(power);
    let rest = mad(turns, 0xb5bf_be8e, mad(turns, 0xbf31_7200, x));
    let tail = polynomial(rest, [0x3ab4_a000, 0x3c09_2f6e, 0x3d2a_adad, 0x3e2a_aa28, 0x3eff_fffb, ONE]);
    let value = mad(tail, rest, ONE);
    // The kernel converts the power by `iabs` and `setsign`, which comes to the same.
    let exponent = exp_biased(value).wrapping_add(sign_magnitude_to_twos_complement(power));
    let below = mul(tail.wrapping_sub(1), 0);
    let above = add(below, INFINITY);
    match exponent as i32 {
        ..1 => below,
        1..255 => setexp(value, exponent),
        255.. => above,
    }
}

/// Seed polynomial of the reciprocal of FP32 kernels.
pub const RECIPROCAL_SEED: [u32; 3] = [0x3ea5_7ebb, 0x3fba_2e90, 0x4007_c1f2];

/// The reciprocal's mantissa by `steps` Newton steps, to be scaled by [`reciprocal_scale`].
#[inline(always)]
pub fn reciprocal_mantissa(x: u32, seed: [u32; 3], steps: usize) -> u32 {
    let negated = setman(MINUS_ONE, x);
    let mut y = polynomial(negated, seed);
    for _ in 0..steps {
        let error = mad(negated, y, ONE);
        y = mad(y, error, y);
    }
    y
}

/// Exponent and sign of the reciprocal of `x` put on `mantissa`.
#[inline(always)]
pub fn reciprocal_scale(mantissa: u32, x: u32) -> u32 {
    let scale = mul(setman(!x, 0), HALF);
    setsign(mul(mantissa, scale), x)
}

/// 1 / x.
#[inline(always)]
pub fn reciprocal(x: u32, steps: usize) -> u32 {
    reciprocal_scale(reciprocal_mantissa(x, RECIPROCAL_SEED, steps), x)
}

/// First approximation of 1 / sqrt(x) with one polynomial correction.
#[inline(always)]
pub fn inverse_root(x: u32) -> u32 {
    let y = 0x5f11_10a0_u32.wrapping_sub(x >> 1);
    let c = mul(flipsign(y), mul(x, y));
    mul(y, mad(c, add(0x4010_3626, c), 0x4012_14c9))
}

/// sqrt(x) from [`inverse_root`]'s result.
#[inline(always)]
pub fn refine_root(x: u32, y: u32) -> u32 {
    let root = mul(x, y);
    let error = mad(flipsign(y), root, ONE);
    mad(error, mul(root, HALF), root)
}

/// 1 / sqrt(x) from [`inverse_root`]'s result.
#[inline(always)]
pub fn refine_inverse_root(x: u32, y: u32) -> u32 {
    let error = mad(flipsign(y), mul(x, y), ONE);
    mad(error, addexp(y, u32::MAX), y)
}
