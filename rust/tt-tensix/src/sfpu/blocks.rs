//! Pieces that several functions share: exponential cores, reciprocals, square roots. `sfpu.md` section 4.

use super::lane::{
    HALF, INFINITY, MINUS_ONE, ONE, Word, add, and, copyexp, exp_biased, exp_unbiased, flipsign, general, iadd, ilt,
    is_zero, isub, mad, man_only, man_with_one, max, min, mul, not, ordinary_polynomial, polynomial, reduce, residual,
    round_sm16, select, setexp, setman, setsign, shift, shr, shrinking, sm_to_twos, sm2f, splat, sub, twos_to_sm,
};
use super::series::is_ordinary;

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

/// 2^(z - 127) for a clamped `z`, good for BF16. `constant` is the polynomial's lowest coefficient.
#[inline(always)]
pub fn exp21<V: Word>(z: V, constant: u32) -> V {
    exp2_fixed(z, [0x27ac_a418, 0x33a8_5ada, constant])
}

/// 2^(z - 127) for a clamped `z`: the integer part becomes the exponent, a polynomial of the 23-bit fraction the
/// mantissa.
#[inline(always)]
pub fn exp2_fixed<V: Word, const N: usize>(z: V, coefficients: [u32; N]) -> V {
    let fixed = shift(man_with_one(z), exp_unbiased(z));
    copyexp(polynomial(sm2f(man_only(fixed)), coefficients), fixed)
}

/// e^x for BF16.
#[inline(always)]
pub fn exp_bf16<V: Word>(x: V) -> V {
    let z = mad(x, INVERSE_LN2, BIAS);
    exp21(min(max(z, 0), MAX_EXPONENT), EXP21_CONSTANT)
}

/// -ln 2 in two parts.
pub const LN2_PARTS: [u32; 2] = [0xbf31_7200, 0xb5bf_be8e];

/// x - turns * ln 2, ln 2 in two parts.
#[inline(always)]
pub fn reduce_by_ln2<V: Word>(x: V, turns: V) -> V {
    mad(turns, LN2_PARTS[1], reduce(turns, LN2_PARTS[0], x))
}

/// x less the nearest multiple of ln 2, and the multiple. The kernel converts the power by `iabs` and `setsign`, which
/// comes to the same.
#[inline(always)]
pub fn nearest_turns_of_ln2<V: Word>(x: V) -> (V, V) {
    let power = round_sm16(mul(x, INVERSE_LN2));
    (reduce_by_ln2(x, sm2f(power)), sm_to_twos(power))
}

/// The nearest integer, and what is left.
#[inline(always)]
pub fn nearest_integer<V: Word>(x: V) -> (V, V) {
    let power = round_sm16(x);
    (sub(x, sm2f(power)), sm_to_twos(power))
}

/// Polynomial of e^r for a reduced argument, without its last step.
pub const EXP_TAIL: [u32; 6] = [0x3ab4_a000, 0x3c09_2f6e, 0x3d2a_adad, 0x3e2a_aa28, 0x3eff_fffb, ONE];
/// More than half of ln 2, which is what is left of an argument at most.
const LARGEST_REST: f32 = 0.36;
const _: () = assert!(is_ordinary(
    &[0x3ab4_a000, 0x3c09_2f6e, 0x3d2a_adad, 0x3e2a_aa28, 0x3eff_fffb, ONE, ONE],
    -LARGEST_REST,
    LARGEST_REST
));

/// e^x by reduction and a polynomial of degree 6: the polynomial before its last step, after it, and the power of two
/// that the latter is short of the result.
#[inline(always)]
fn exp_parts<V: Word>(x: V) -> (V, V, V) {
    let (rest, power) = x.reduced_by_ln2([-88.0, 89.0]);
    let tail = ordinary_polynomial(rest, EXP_TAIL);
    (tail, tail.ordinary_horner(rest, &[ONE]), power)
}

/// `value` times two to a power, for an exponential whose polynomial's tail is given: 0 if the exponent field would be
/// below 1, infinity if it would be above 254, or NaN if the tail is.
#[inline(always)]
pub fn raised<V: Word>(value: V, power: V, tail: V) -> V {
    let exponent = iadd(exp_biased(value), power);
    let below = mul(isub(tail, 1), 0);
    let above = add(below, INFINITY);
    select(ilt(exponent, 1), below, select(ilt(exponent, 255), setexp(value, exponent), above))
}

/// e^x in FP32. Below -88 it is 0, and above 89 infinite.
#[inline(always)]
pub fn exp_f32<V: Word>(x: V) -> V {
    let (tail, value, power) = exp_parts(x);
    value.raised(power, raised(value, power, tail))
}

/// As [`exp_f32`], for arguments that cannot leave the range.
#[inline(always)]
pub fn exp_f32_unlimited<V: Word>(x: V) -> V {
    let (_, value, power) = exp_parts(x);
    setexp(value, iadd(exp_biased(value), power))
}

/// What [`Word::exponent_number`] is.
#[inline(always)]
pub fn exponent_number<V: Word>(x: V) -> V {
    sm2f(twos_to_sm(exp_unbiased(x)))
}

/// ln of a mantissa in [1, 2) by a cubic, less ln 2 for the next exponent down.
pub const LOG_CUBIC: [u32; 4] = [0x3e11_1cd0, 0xbf5e_712a, 0x4013_d4e2, 0xbfca_94c9];

/// ln of the mantissa by [`LOG_CUBIC`].
#[inline(always)]
pub fn log_cubic<V: Word>(x: V) -> V {
    let mantissa = setexp(x, 127).usual(0, 1);
    let [cubic, square, linear, constant] = LOG_CUBIC;
    const { assert!(is_ordinary(&[LOG_CUBIC[0], LOG_CUBIC[1], LOG_CUBIC[2]], 1.0, 2.0)) };
    // A slope from 1.1 to 1.6: the product's exponent is that of the constant, and the sum is less than 1.
    ordinary_polynomial(mantissa, [cubic, square, linear]).on_constant_grid(mantissa, constant)
}

/// A little less than ln 2.
pub const ROUGH_LN2: u32 = 0x3f31_5ffe;

/// ln x by [`LOG_CUBIC`]; -inf for +0.
#[inline(always)]
pub fn rough_log<V: Word>(x: V) -> V {
    let value = general(x.exponent_number(), ROUGH_LN2, log_cubic(x));
    select(is_zero(x), MINUS_INFINITY, value)
}

/// -inf
pub const MINUS_INFINITY: u32 = 0xff80_0000;

/// Seed polynomial of the reciprocal of FP32 kernels.
pub const RECIPROCAL_SEED: [u32; 3] = [0x3ea5_7ebb, 0x3fba_2e90, 0x4007_c1f2];

/// First approximation of the reciprocal of a mantissa that is given negated.
#[inline(always)]
pub fn reciprocal_seed<V: Word>(negated: V, seed: [u32; 3]) -> V {
    shrinking(mad(splat::<V>(seed[0]), negated, seed[1]), negated, seed[2])
}

/// The reciprocal's mantissa by `steps` Newton steps, to be scaled by [`reciprocal_scale`].
#[inline(always)]
pub fn reciprocal_mantissa<V: Word>(x: V, seed: [u32; 3], steps: usize) -> V {
    if seed == RECIPROCAL_SEED { x.inverse_of_mantissa(steps) } else { refined_reciprocal(x, seed, steps) }
}

/// [`reciprocal_mantissa`], one step after the other.
#[inline(always)]
pub fn refined_reciprocal<V: Word>(x: V, seed: [u32; 3], steps: usize) -> V {
    let negated = setman(splat::<V>(MINUS_ONE), x).usual(0, 1);
    let mut y = reciprocal_seed(negated, seed);
    for _ in 0..steps {
        y = mad(y, residual(negated, y, ONE), y);
    }
    y
}

/// Exponent and inverted sign of the reciprocal of `x` put on `mantissa`.
#[inline(always)]
pub fn negated_reciprocal_scale<V: Word>(mantissa: V, x: V) -> V {
    mul(mantissa, mul(setman(not(x), 0).usual(-60, 60), HALF))
}

/// Exponent and sign of the reciprocal of `x` put on `mantissa`.
#[inline(always)]
pub fn reciprocal_scale<V: Word>(mantissa: V, x: V) -> V {
    setsign(negated_reciprocal_scale(mantissa, x), x)
}

/// 1 / x.
#[inline(always)]
pub fn reciprocal<V: Word>(x: V, steps: usize) -> V {
    reciprocal_scale(reciprocal_mantissa(x, RECIPROCAL_SEED, steps), x)
}

/// -1 / x from a guess by integer subtraction, which is 5.4% off at most; `refine` adds a Newton step, as FP32 kernels
/// do.
#[inline(always)]
pub fn guessed_reciprocal<V: Word>(x: V, refine: bool) -> V {
    let x = x.usual(-60, 60);
    let mut y = isub(splat::<V>(0xfef3_92e0), x).surely(-62, 62);
    let mut error = x.residual_of_one(y);
    if refine {
        y = y.ordinary(error, y);
        error = x.residual_of_one(y);
    }
    flipsign(y).ordinary(error.ordinary(error, error), flipsign(y))
}

/// First approximation of 1 / sqrt(x) with one polynomial correction.
///
/// With the guess, x y^2 is from 0.63 to 0.72, the correction from 1.17 to 1.26, and then x y^2 is 1 within 1/10000.
#[inline(always)]
pub fn inverse_root<V: Word>(x: V) -> V {
    let x = x.usually_positive(-60, 60);
    let y = isub(splat::<V>(ROOT_GUESS), shr(x, 1)).surely(-31, 31);
    let c = mul(flipsign(y), mul(x, y)).surely(-1, 0);
    let correction = c.ordinary(add(splat::<V>(0x4010_3626), c), splat(0x4012_14c9));
    mul(y, correction.surely(0, 1))
}

/// Minus half the word of x added to this guesses the word of 1 / sqrt(x).
const ROOT_GUESS: u32 = 0x5f11_10a0;

/// sqrt(x) from [`inverse_root`]'s result.
#[inline(always)]
pub fn refine_root<V: Word>(x: V, y: V) -> V {
    let x = x.usually_positive(-60, 60);
    let root = mul(x, y).surely(-32, 32);
    let error = flipsign(y).residual_of_one(root);
    error.ordinary(mul(root, HALF), root)
}

/// 1 / sqrt(x) from [`inverse_root`]'s result.
#[inline(always)]
pub fn refine_inverse_root<V: Word>(x: V, y: V) -> V {
    let x = x.usually_positive(-60, 60);
    let y = y.surely(-32, 32);
    let error = flipsign(y).residual_of_one(mul(x, y));
    error.ordinary(y.surely_moved(-1), y)
}

/// sqrt(x) of a positive finite number or zero, by `steps` Newton steps on the guess and a correction of the root.
///
/// With the guess, x y^2 is from 0.63 to 0.72, and at most a little more than 1 after each step. What the root lacks is
/// less than 1/30 of it.
#[inline(always)]
pub fn newton_root<V: Word>(x: V, steps: usize) -> V {
    let usual = x.usually_positive(-60, 60);
    let half = usual.surely_moved(-1);
    let mut y = isub(splat::<V>(ROOT_GUESS), shr(usual, 1)).surely(-31, 31);
    for _ in 0..steps {
        let excess = mul(mul(half, y), y).surely(-2, 0);
        y = mul(y, add(splat::<V>(ONE_AND_HALF), flipsign(excess))).surely(-32, 32);
    }
    let root = mul(usual, y).surely(-32, 32);
    let error = mul(sub(usual, mul(root, root)), HALF);
    select(is_zero(x), 0, error.ordinary(y, root))
}

/// Neither +0 nor an infinity nor NaN.
#[inline(always)]
pub fn is_nonzero_finite<V: Word>(x: V) -> V::Mask {
    !is_zero(x) & ilt(exp_biased(x), 255)
}

/// The even bit of an integer left in the mantissa by [`super::lane::ROUNDER`], as a sign.
#[inline(always)]
pub fn parity_sign<V: Word>(rounded: V) -> V {
    super::lane::shl(and(rounded, 1), 31)
}
