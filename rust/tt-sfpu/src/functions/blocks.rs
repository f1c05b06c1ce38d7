//! Building blocks that several functions share: exponential cores, reciprocals, roots, logarithms.
//!
//! `docs/chip/sfpu.md` section 4.

use tt_formats::{Arch, Generation};

use crate::arith::generation::VectorUnit;
use crate::arith::lane::{
    HALF, INFINITY, Lane, MINUS_ONE, ONE, add, add_negated_product, addexp, and, arecip, copyexp, exp_biased,
    exp_unbiased, flipsign, iadd, ilt, is_negative, is_zero, isub, mad, man_only, man_with_one, max, min, mul, not,
    polynomial, round_sm16, select, setexp, setman, setsign, shift, shl, shr, sm_to_twos, sm2f, splat, sub_product,
    twos_to_sm,
};

/// Building blocks of 32-bit `Dst` functions, by their listings.
///
/// The listings are in [`super::definitions`]. An executor may have programs of its own for them, with the same bits.
#[allow(clippy::return_self_not_must_use, reason = "as for the primitives")]
pub trait Blocks: Lane {
    /// e^x.
    fn exp_f32(self) -> Self;
    /// e^x for arguments that cannot leave the range.
    fn exp_f32_unlimited(self) -> Self;
    /// 1 / x.
    fn reciprocal(self, steps: usize) -> Self;
    /// 1 / x from an estimate of a few bits.
    fn reciprocal_estimate(self, refine: bool) -> Self;
    /// First approximation of 1 / sqrt(x).
    fn inverse_root(self) -> Self;
    /// sqrt(x) from its approximation.
    fn refine_root(self, y: Self) -> Self;
    /// 1 / sqrt(x) from its approximation.
    fn refine_inverse_root(self, y: Self) -> Self;
    /// sqrt(x) by Newton steps.
    fn newton_root(self, steps: usize) -> Self;
    /// The exponent as a number.
    #[must_use]
    fn exponent_number(self) -> Self;
    /// ln of the mantissa by a cubic.
    fn log_cubic(self) -> Self;
    /// ln x, or times a scale.
    fn natural(self, coefficients: &[u32], scale: Option<u32>) -> Self;
    /// log2 x.
    fn binary(self, coefficients: &[u32]) -> Self;
    /// ln(1 + x).
    fn log1p(self, coefficients: &[u32]) -> Self;
    /// tanh x.
    fn tanh_f32(self) -> Self;
    /// erf x for |x| <= 10.
    fn erf_f32(self, steps: usize) -> Self;
    /// sin x.
    fn sin(self, coefficients: &[u32]) -> Self;
    /// cos x.
    fn cos(self, coefficients: &[u32]) -> Self;
    /// The main stage of ln |gamma(x)|.
    fn lgamma_stirling(self) -> Self;
    /// a / b in FP32.
    fn div_f32(self, b: Self) -> Self;
    /// |a| / |b| of integers, and what it leaves, as the kernels of quotients or of remainders find them.
    fn divide(self, b: Self, for_quotient: bool) -> (Self, Self);
    /// What so many rounds of the kernels' algorithm make of the greatest common divisor.
    fn gcd_rounds(self, b: Self, rounds: usize) -> Self;
}

/// 1 / ln 2
pub const INVERSE_LN2: u32 = 0x3fb8_aa3b;
/// -ln 2
pub const MINUS_LN2: u32 = 0xbf31_7218;
/// ln 2
pub const LN2: u32 = 0x3f31_7218;
/// 127.0
pub const BIAS: u32 = 0x42fe_0000;
/// 255.0
pub const MAX_EXPONENT: u32 = 0x437f_0000;
/// pi / 2
pub const HALF_PI: u32 = 0x3fc9_0fdb;
/// 1.5
pub const ONE_AND_HALF: u32 = 0x3fc0_0000;

/// The lowest coefficient of [`exp21`] in most functions.
pub const EXP21_CONSTANT: u32 = 0x3f80_3885;

/// 2^(z - 127) for a clamped `z`, good for BF16.
///
/// `constant` is the polynomial's lowest coefficient.
#[inline(always)]
pub fn exp21<V: Lane>(z: V, constant: u32) -> V {
    exp2_fixed(z, [0x27ac_a418, 0x33a8_5ada, constant])
}

/// 2^(z - 127) for a clamped `z`.
///
/// The integer part becomes the exponent, a polynomial of the 23-bit fraction the mantissa.
#[inline(always)]
pub fn exp2_fixed<V: Lane, const N: usize>(z: V, coefficients: [u32; N]) -> V {
    let fixed = shift(man_with_one(z), exp_unbiased(z));
    copyexp(polynomial(sm2f(man_only(fixed)), coefficients), fixed)
}

/// e^x for BF16.
#[inline(always)]
pub fn exp_bf16<V: Lane>(x: V) -> V {
    let z = mad(x, INVERSE_LN2, BIAS);
    exp21(min(max(z, 0), MAX_EXPONENT), EXP21_CONSTANT)
}

/// -ln 2 in two parts.
pub const LN2_PARTS: [u32; 2] = [0xbf31_7200, 0xb5bf_be8e];

/// x - turns * ln 2, ln 2 in two parts.
#[inline(always)]
pub fn reduce_by_ln2<V: Lane>(x: V, turns: V) -> V {
    mad(turns, LN2_PARTS[1], mad(turns, LN2_PARTS[0], x))
}

/// Polynomial of e^r for a reduced argument, without its last step.
pub const EXP_TAIL: [u32; 6] = [0x3ab4_a000, 0x3c09_2f6e, 0x3d2a_adad, 0x3e2a_aa28, 0x3eff_fffb, ONE];

/// e^x by reduction and a polynomial of degree 6: the polynomial before its last step, after it, and the power of two
/// that the latter is short of the result. The kernel converts the power by `iabs` and `setsign`, which comes to the
/// same.
#[inline(always)]
fn exp_parts<V: Lane>(x: V) -> (V, V, V) {
    let power = round_sm16(mul(x, INVERSE_LN2));
    let rest = reduce_by_ln2(x, sm2f(power));
    let tail = polynomial(rest, EXP_TAIL);
    (tail, mad(tail, rest, ONE), sm_to_twos(power))
}

/// e^x in FP32.
///
/// 0 if the exponent field would be below 1, infinity if it would be above 254, NaN of NaN.
#[inline(always)]
pub fn exp_f32<V: Lane>(x: V) -> V {
    let (tail, value, power) = exp_parts(x);
    let exponent = iadd(exp_biased(value), power);
    let below = mul(isub(tail, 1), 0);
    let above = add(below, INFINITY);
    select(ilt(exponent, 1), below, select(ilt(exponent, 255), setexp(value, exponent), above))
}

/// Same as [`exp_f32`], without the limits.
#[inline(always)]
pub fn exp_f32_unlimited<V: Lane>(x: V) -> V {
    let (_, value, power) = exp_parts(x);
    setexp(value, iadd(exp_biased(value), power))
}

/// The exponent as a number: 3.0 for 8.0 up to 16.0.
#[inline(always)]
pub fn exponent_number<V: Lane>(x: V) -> V {
    sm2f(twos_to_sm(exp_unbiased(x)))
}

/// ln of a mantissa in [1, 2), by a cubic.
///
/// Less ln 2 for the next exponent down.
pub const LOG_CUBIC: [u32; 4] = [0x3e11_1cd0, 0xbf5e_712a, 0x4013_d4e2, 0xbfca_94c9];

/// ln of the mantissa by [`LOG_CUBIC`].
#[inline(always)]
pub fn log_cubic<V: Lane>(x: V) -> V {
    polynomial(setexp(x, 127), LOG_CUBIC)
}

/// A little less than ln 2.
pub const ROUGH_LN2: u32 = 0x3f31_5ffe;

/// ln x by [`LOG_CUBIC`]; -inf for +0.
#[inline(always)]
pub fn rough_log<V: Blocks>(x: V) -> V {
    select(is_zero(x), MINUS_INFINITY, mad(x.exponent_number(), ROUGH_LN2, x.log_cubic()))
}

/// -inf
pub const MINUS_INFINITY: u32 = 0xff80_0000;

/// Seed polynomial of the reciprocal of FP32 kernels.
pub const RECIPROCAL_SEED: [u32; 3] = [0x3ea5_7ebb, 0x3fba_2e90, 0x4007_c1f2];

/// The reciprocal's mantissa by a seed and Newton `steps`.
///
/// To be scaled by [`reciprocal_scale`].
#[inline(always)]
pub fn reciprocal_mantissa<V: Lane>(x: V, seed: [u32; 3], steps: usize) -> V {
    let negated = setman(splat::<V>(MINUS_ONE), x);
    let mut y = polynomial(negated, seed);
    for _ in 0..steps {
        y = mad(y, mad(negated, y, ONE), y);
    }
    y
}

/// Exponent and inverted sign of the reciprocal of `x` put on `mantissa`.
#[inline(always)]
pub fn negated_reciprocal_scale<V: Lane>(mantissa: V, x: V) -> V {
    mul(mantissa, mul(setman(not(x), 0), HALF))
}

/// Exponent and sign of the reciprocal of `x` put on `mantissa`.
#[inline(always)]
pub fn reciprocal_scale<V: Lane>(mantissa: V, x: V) -> V {
    setsign(negated_reciprocal_scale(mantissa, x), x)
}

/// 1 / x by Newton `steps`.
///
/// On Blackhole they start from the instruction's 7 bits, and are left out where these are zero or infinite.
#[inline(always)]
pub fn reciprocal<V: Lane>(x: V, steps: usize) -> V {
    if !V::Of::HAS_RECIPROCAL {
        return reciprocal_scale(reciprocal_mantissa(x, RECIPROCAL_SEED, steps), x);
    }
    let seed = arecip(x);
    if steps == 0 {
        return seed;
    }
    let (mut y, excess) = newton_step(x, seed);
    // NaN, of zero times infinity, is positive.
    let usual = is_negative(excess);
    for _ in 1..steps {
        (y, _) = newton_step(x, y);
    }
    select(usual, y, seed)
}

/// A better reciprocal by the product with x less 2, and that.
#[inline(always)]
pub fn newton_step<V: Lane>(x: V, y: V) -> (V, V) {
    const MINUS_TWO: u32 = 0xc000_0000;
    let excess = mad(x, y, MINUS_TWO);
    (mad(y, flipsign(excess), MINUS_ZERO), excess)
}

/// -0
const MINUS_ZERO: u32 = 0x8000_0000;

/// True if a listing runs by Blackhole's rules.
#[inline(always)]
pub fn is_blackhole<V: Lane>() -> bool {
    matches!(V::Of::ARCH, Arch::Blackhole)
}

/// Steps of an unrefined reciprocal: one on Wormhole.
#[inline(always)]
pub fn quick_steps<V: Lane>() -> usize {
    usize::from(!V::Of::HAS_RECIPROCAL)
}

/// The reciprocal that kernels do not refine.
#[inline(always)]
pub fn quick_reciprocal<V: Blocks>(x: V) -> V {
    x.reciprocal(quick_steps::<V>())
}

/// A better reciprocal by what its product with x lacks to 1.
#[inline(always)]
pub fn refined_reciprocal<V: Lane>(x: V, y: V) -> V {
    mad(y, mad(flipsign(x), y, ONE), y)
}

/// 1 / x from an estimate by integers, or Blackhole's instruction.
///
/// `refine` adds a Newton step, as FP32 kernels do.
#[inline(always)]
pub fn reciprocal_estimate<V: Lane>(x: V, refine: bool) -> V {
    if V::Of::HAS_RECIPROCAL {
        let y = refined_reciprocal(x, arecip(x));
        return if refine { refined_reciprocal(x, y) } else { y };
    }
    let mut y = isub(splat::<V>(RECIPROCAL_ESTIMATE), x);
    let mut error = mad(x, y, ONE);
    if refine {
        y = mad(y, error, y);
        error = mad(x, y, ONE);
    }
    mad(flipsign(y), mad(error, error, error), flipsign(y))
}

/// Constant minus the word of x: estimate of -1 / x.
pub const RECIPROCAL_ESTIMATE: u32 = 0xfef3_92e0;
/// Constant minus half the word of x: estimate of 1 / sqrt(x).
pub const ROOT_ESTIMATE: u32 = 0x5f11_10a0;
/// The last two coefficients of the correction of that estimate.
///
/// The first is 1.
pub const ROOT_CORRECTION: [u32; 2] = [0x4010_3626, 0x4012_14c9];

/// First approximation of 1 / sqrt(x) with one polynomial correction.
#[inline(always)]
pub fn inverse_root<V: Lane>(x: V) -> V {
    let y = isub(splat::<V>(ROOT_ESTIMATE), shr(x, 1));
    let c = mul(flipsign(y), mul(x, y));
    mul(y, mad(c, add(splat::<V>(ROOT_CORRECTION[0]), c), ROOT_CORRECTION[1]))
}

/// sqrt(x) from [`inverse_root`]'s result.
#[inline(always)]
pub fn refine_root<V: Lane>(x: V, y: V) -> V {
    let root = mul(x, y);
    mad(mad(flipsign(y), root, ONE), mul(root, HALF), root)
}

/// 1 / sqrt(x) from [`inverse_root`]'s result.
#[inline(always)]
pub fn refine_inverse_root<V: Lane>(x: V, y: V) -> V {
    mad(mad(flipsign(y), mul(x, y), ONE), addexp(y, -1), y)
}

/// sqrt(x) of a nonnegative finite number, by Newton `steps`.
///
/// On the estimate, and a correction of the root.
#[inline(always)]
pub fn newton_root<V: Lane>(x: V, steps: usize) -> V {
    let half = addexp(x, -1);
    let mut y = isub(splat::<V>(ROOT_ESTIMATE), shr(x, 1));
    for _ in 0..steps {
        y = mul(y, add_negated_product(splat::<V>(ONE_AND_HALF), mul(half, y), y));
    }
    let root = mul(x, y);
    let error = mul(sub_product(x, root, root), HALF);
    select(is_zero(x), 0, mad(error, y, root))
}

/// Neither +0 nor an infinity nor NaN.
#[inline(always)]
pub fn is_nonzero_finite<V: Lane>(x: V) -> V::Mask {
    !is_zero(x) & ilt(exp_biased(x), 255)
}

/// The even bit of an integer from [`ROUNDER`], as sign.
///
/// The integer is left in the mantissa.
#[inline(always)]
pub fn parity_sign<V: Lane>(rounded: V) -> V {
    shl(and(rounded, 1), 31)
}
