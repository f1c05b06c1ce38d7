//! Functions of two tiles with logarithms or angles.
//!
//! Source: listings `xlogy`, `logaddexp`, `logaddexp2`, `atan2`.
//!
//! Domain: all words. `xlogy` uses a rough logarithm and is NaN for negative second operands. `logaddexp` is the larger
//! operand plus ln(1 + e^-|difference|). `atan2` is NaN if an operand is, and 0 or pi at the origin.

use std::sync::LazyLock;

use tt_cpu::table::HalfTable;
use tt_formats::Blackhole;

use super::blocks::{
    BIAS, Blocks, EXP21_CONSTANT, HALF_PI, INVERSE_LN2, LN2, MAX_EXPONENT, MINUS_INFINITY, MINUS_LN2, exp21,
    is_blackhole, quick_steps,
};
use super::log::SERIES_32;
use crate::arith::lane::{
    INFINITY, NAN, ONE, Word, ZERO, add, addexp, fabs, flipsign, ieq, ilt, is_finite, is_negative, is_zero, mad,
    magnitude, man_only, max, min, mul, polynomial, round_bf16, select, setexp, setsign, splat, store_bf16, store_f32,
    store_rounded, sub,
};
use crate::exec::bf16::{Bf16, logarithmic, tables};
use crate::exec::{DstWidth, binary_functions};

#[inline(always)]
fn store<V: Blocks>(x: V, width: DstWidth) -> V {
    match width {
        DstWidth::Bits16 => store_bf16(x),
        DstWidth::Bits32 => store_f32(x),
    }
}

/// Operand and logarithm pass through `Dst`.
#[inline(always)]
fn xlogy<V: Blocks>(a: V, b: V, width: DstWidth) -> V {
    let argument = store(b, width);
    let mantissa = setexp(argument, 127);
    let cubic = mad(polynomial(mantissa, [0x3de0_a4f6, 0xbf3a_a693, 0x4007_355e]), mantissa, 0xbfbf_134a);
    let logarithm = mad(argument.exponent_number(), LN2, cubic);
    let logarithm = store(select(is_zero(argument), MINUS_INFINITY, logarithm), width);
    let nan = if is_blackhole::<V>() { is_negative(b) | ieq(b, NAN) } else { is_negative(b) };
    store(select(nan, NAN, mul(logarithm, a)), width)
}

#[inline(always)]
pub fn xlogy_16<V: Blocks>(a: V, b: V) -> V {
    xlogy(a, b, DstWidth::Bits16)
}

/// The larger operand, or NaN, and the distance of the two, or 0.
#[inline(always)]
fn larger_and_distance<V: Blocks>(a: V, b: V) -> (V, V) {
    let distance = fabs(sub(a, b));
    let nan = !is_finite(distance) & !is_zero(man_only(distance));
    (select(nan, add(a, b), max(a, b)), select(nan, ZERO, distance))
}

/// ln(1 + x) for x in [0, 1], good for BF16.
#[inline(always)]
fn short_log1p<V: Blocks>(x: V) -> V {
    mad(polynomial(x, [0xbd9a_0167, 0x3e83_a6ad, 0xbefa_4224]), mul(x, x), x)
}

#[inline(always)]
fn logaddexp_16<V: Blocks>(a: V, b: V) -> V {
    /// 88.0
    const LARGEST: u32 = 0x42b0_0000;
    let (larger, distance) = larger_and_distance(a, b);
    let z = mad(flipsign(min(distance, LARGEST)), INVERSE_LN2, BIAS);
    store_rounded(add(larger, short_log1p(round_bf16(exp21(z, EXP21_CONSTANT)))))
}

#[inline(always)]
fn logaddexp_32<V: Blocks>(a: V, b: V) -> V {
    let (larger, distance) = larger_and_distance(a, b);
    store_f32(add(larger, flipsign(distance).exp_f32().log1p(SERIES_32)))
}

#[inline(always)]
fn logaddexp2_16<V: Blocks>(a: V, b: V) -> V {
    let (larger, distance) = larger_and_distance(a, b);
    let z = min(max(add(flipsign(distance), BIAS), ZERO), MAX_EXPONENT);
    store_rounded(mad(short_log1p(round_bf16(exp21(z, EXP21_CONSTANT))), INVERSE_LN2, larger))
}

#[inline(always)]
fn logaddexp2_32<V: Blocks>(a: V, b: V) -> V {
    let (larger, distance) = larger_and_distance(a, b);
    store_f32(mad(mul(distance, MINUS_LN2).exp_f32().log1p(SERIES_32), INVERSE_LN2, larger))
}

/// (atan r - r) / r^3, for BF16 and for FP32.
pub const ANGLE_16: [u32; 3] = [0xbd6f_4000, 0x3e33_4000, 0xbeaa_0000];
pub const ANGLE_32: [u32; 8] =
    [0x3b80_e000, 0xbca5_e000, 0x3d49_8000, 0xbda4_6000, 0x3dde_a000, 0xbe12_0000, 0x3e4c_c9c5, 0xbeaa_aaac];

/// The angle of (x, y), without the sign of y. `series` are the coefficients of (atan r - r) / r^3.
#[inline(always)]
fn angle<V: Blocks, const N: usize>(y: V, x: V, steps: usize, series: [u32; N]) -> V {
    let ratio = ratio(y, x, steps);
    let square = mul(ratio, ratio);
    of_octant(y, x, mad(mul(polynomial(square, series), square), ratio, ratio))
}

/// The smaller magnitude by the larger one.
#[inline(always)]
pub fn ratio<V: Blocks>(y: V, x: V, steps: usize) -> V {
    let (across, up) = (magnitude(x), magnitude(y));
    mul(min(across, up), max(across, up).reciprocal(steps))
}

/// The angle, from that of the first octant.
#[inline(always)]
pub fn of_octant<V: Blocks>(y: V, x: V, arc: V) -> V {
    let (across, up) = (magnitude(x), magnitude(y));
    let (smaller, larger) = (min(across, up), max(across, up));
    let diagonal = select(is_zero(larger), ZERO, addexp(splat::<V>(HALF_PI), -1));
    let steep = select(ilt(smaller, larger), sub(splat::<V>(HALF_PI), arc), diagonal);
    let first = select(ilt(smaller, across), arc, steep);
    select(is_negative(x), sub(addexp(splat::<V>(HALF_PI), 1), first), first)
}

/// NaN if an operand is NaN.
#[inline(always)]
pub fn unless_nan<V: Blocks>(y: V, x: V, value: V) -> V {
    select(ilt(splat::<V>(INFINITY), max(magnitude(x), magnitude(y))), NAN, value)
}

#[inline(always)]
fn atan2_16<V: Blocks>(y: V, x: V) -> V {
    let angle = round_bf16(angle(y, x, quick_steps::<V>(), ANGLE_16));
    store_bf16(unless_nan(y, x, setsign(angle, y)))
}

#[inline(always)]
fn atan2_32<V: Blocks>(y: V, x: V, steps: usize) -> V {
    store_f32(unless_nan(y, x, setsign(angle(y, x, steps, ANGLE_32), y)))
}

#[inline(always)]
fn atan2_quick<V: Blocks>(y: V, x: V) -> V {
    atan2_32(y, x, quick_steps::<V>())
}

static LOGARITHMS: LazyLock<HalfTable> = LazyLock::new(|| tables::table_of(|b| xlogy_16(ONE, b)));
static BLACKHOLE_LOGARITHMS: LazyLock<HalfTable> =
    LazyLock::new(|| tables::table_of(|b| xlogy_16(Word::<Blackhole>::from(ONE), b.into()).bits));

binary_functions! {
    "xlogy", "default" for Wormhole: xlogy_16, |a, b| xlogy(a, b, DstWidth::Bits32),
        bf16 = Bf16::packed(|level, dst, pages, parameters, fallbacks| {
            tables::xlogy(&LOGARITHMS, level, dst, pages, parameters, fallbacks)
        });
    "xlogy", "default" for Blackhole: xlogy_16, |a, b| xlogy(a, b, DstWidth::Bits32),
        bf16 on both = Bf16::packed(|level, dst, pages, parameters, fallbacks| {
            tables::xlogy(&BLACKHOLE_LOGARITHMS, level, dst, pages, parameters, fallbacks)
        });
    "logaddexp", "default": logaddexp_16, logaddexp_32, bf16 = Bf16::packed(logarithmic::logaddexp::run);
    "logaddexp2", "default": logaddexp2_16, logaddexp2_32, bf16 = Bf16::packed(logarithmic::logaddexp2::run);
    "atan2", "default": atan2_16, |y, x| atan2_32(y, x, 2),
        speculative = [speculative::logarithmic::atan2_16, speculative::logarithmic::atan2_32],
        bf16 = Bf16::packed(logarithmic::atan2::run);
    "atan2", "approx": atan2_16, atan2_quick;
}
