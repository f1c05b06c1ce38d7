//! `logaddexp`, `logaddexp2` and `atan2` of two pages, by the host's arithmetic.
//!
//! # Logarithms of sums
//!
//! The distance of two numbers of 8 bits is the host's difference, as `sums.rs` says. Up to 44 of it leave at least
//! half of 127, so that the argument of the exponential is the host's, too, and the exponential's polynomial has terms
//! of one sign, the last of which is the largest. Of the polynomial of the logarithm no step takes away more than half.
//! Its value is added to the larger operand, which has 8 bits: one of the two is even on the grid, and if terms cancel,
//! both are exact.
//!
//! From 44 on the exponential is at most 2^-63, and leaves no trace of itself unless the larger operand is small; then
//! the definition is asked.
//!
//! `logaddexp2` scales the logarithm and adds in one step, whose terms may both be cut and cancel: that is a sum of a
//! long product, as in `sums.rs`.
//!
//! # Angles
//!
//! The steps are those of the kernel, rounded where the host rounds: that is not always what the unit does, and the
//! results are nearer to the unit's than [`SPAN_OF_ANGLE`]. A test looks at all pairs of mantissas. Where that leaves
//! two results, the definition is asked.

use super::SIGN;
use super::lanes::{Fallbacks, Lane, lane_kernel, round_away, whole};
use crate::functions::blocks::{EXP21_CONSTANT, HALF_PI, INVERSE_LN2, RECIPROCAL_SEED};
use tt_tensix::regs::Bf16Page;
use tt_tensix::regs::HalfTile;

/// 2^23
const STEPS: f32 = 8_388_608.0;
/// From here on exponentials of the distance are below 2^-60.
const FAR: f32 = 44.0;
/// 2^-30. Beside that they leave no trace.
const SMALL: f32 = 1.0 / (1 << 30) as f32;

/// 2^(z - 127) for BF16, z being from 0 to 127.
#[inline(always)]
fn exp2(z: f32) -> f32 {
    let fixed = whole(z * STEPS);
    let fraction = (fixed & 0x7f_ffff) as f32;
    let slope = f32::from_bits(0x27ac_a418).mul_add(fraction, f32::from_bits(0x33a8_5ada));
    let mantissa = slope.mul_add(fraction, f32::from_bits(EXP21_CONSTANT)).to_bits() & 0x7f_ffff;
    let word = fixed as u32 & 0x7f80_0000 | mantissa;
    f32::from_bits(word.wrapping_add(0x8000) & 0xffff_0000)
}

/// ln(1 + x) for x from 0 to 1, good for BF16.
#[inline(always)]
fn log1p(x: f32) -> f32 {
    let slope = f32::from_bits(0xbd9a_0167).mul_add(x, f32::from_bits(0x3e83_a6ad));
    slope.mul_add(x, f32::from_bits(0xbefa_4224)).mul_add(x * x, x)
}

#[inline(always)]
#[allow(clippy::needless_bitwise_bool, reason = "lanes have no branches")]
fn larger_and_distance(a: f32, b: f32) -> (f32, f32, u16) {
    let larger = if a > b { a } else { b };
    let distance = (a - b).abs();
    (larger, distance, u16::from((distance >= FAR) & (larger.abs() < SMALL)))
}

struct Logaddexp;
struct Logaddexp2;

impl Lane<2> for Logaddexp {
    const WINDOW: [u16; 2] = [76, 189];
    #[inline(always)]
    fn compute([a, b]: [f32; 2], _: [f32; 2]) -> (u16, u16) {
        let (larger, distance, fallback) = larger_and_distance(a, b);
        let distance = if distance < 88.0 { distance } else { 88.0 };
        let z = (-distance).mul_add(f32::from_bits(INVERSE_LN2), 127.0);
        (round_away(larger + log1p(exp2(z))), fallback)
    }
}

impl Lane<2> for Logaddexp2 {
    const WINDOW: [u16; 2] = [76, 189];
    #[inline(always)]
    fn compute([a, b]: [f32; 2], _: [f32; 2]) -> (u16, u16) {
        let (larger, distance, fallback) = larger_and_distance(a, b);
        let z = 127.0 - distance;
        let z = if z > 0.0 { z } else { 0.0 };
        let product = log1p(exp2(z)) * f32::from_bits(INVERSE_LN2);
        let magnitude = if larger.abs() > product { larger.abs() } else { product };
        let (sum, off) = (larger + product, magnitude * (1.0 / (1 << 21) as f32));
        let (low, high) = (round_away(sum - off), round_away(sum + off));
        (low, low ^ high | fallback)
    }
}

/// How far the host's angle may be off, as a part of it.
const SPAN_OF_ANGLE: f32 = 1.0 / (1 << 21) as f32;

struct Angle;

/// 1 / x by one Newton step, x being neither zero nor far from the middle of the range.
#[inline(always)]
fn reciprocal(x: f32) -> f32 {
    // Not an array that is mapped, which the compiler may leave as calls.
    let [square, linear, constant] = RECIPROCAL_SEED;
    let (square, linear, constant) = (f32::from_bits(square), f32::from_bits(linear), f32::from_bits(constant));
    let word = x.to_bits();
    let negated = f32::from_bits(word & 0x7f_ffff | 0xbf80_0000);
    let seed = square.mul_add(negated, linear).mul_add(negated, constant);
    let inverse = seed.mul_add(negated.mul_add(seed, 1.0), seed);
    inverse * f32::from_bits((254_u32 << 23).wrapping_sub(word & 0x7f80_0000))
}

impl Lane<2> for Angle {
    const WINDOW: [u16; 2] = [76, 178];
    #[inline(always)]
    fn compute([y, x]: [f32; 2], _: [f32; 2]) -> (u16, u16) {
        let (across, up, half_pi) = (x.abs(), y.abs(), f32::from_bits(HALF_PI));
        let (smaller, larger) = if across < up { (across, up) } else { (up, across) };
        let ratio = smaller * reciprocal(larger);
        let square = ratio * ratio;
        let series = f32::from_bits(0xbd6f_4000).mul_add(square, f32::from_bits(0x3e33_4000));
        let arc = (series.mul_add(square, f32::from_bits(0xbeaa_0000)) * square).mul_add(ratio, ratio);
        let diagonal = if larger == 0.0 { 0.0 } else { half_pi * 0.5 };
        let steep = if smaller < larger { half_pi - arc } else { diagonal };
        let first = if smaller < across { arc } else { steep };
        let angle = if x < 0.0 { half_pi * 2.0 - first } else { first };
        let off = angle * SPAN_OF_ANGLE;
        let (low, high) = (round_away(angle - off), round_away(angle + off));
        let sign = (y.to_bits() >> 16) as u16 & SIGN;
        (low | sign, low ^ high)
    }
}

lane_kernel!(logaddexp, Logaddexp, 2);
lane_kernel!(logaddexp2, Logaddexp2, 2);
lane_kernel!(atan2, Angle, 2);
