//! Logarithms. Source: listings `log/*`, `log2/*`, `log10/*`, `log1p/*`.
//!
//! Domain: all words. The argument is split into a power of two and a mantissa m in [0.75, 1.5) by integer subtraction;
//! a polynomial of m - 1 gives ln m. Negative arguments, -0 among them unless flushed first, give NaN (+inf in 16-bit
//! `Dst`); infinity and positive NaN stay what they are. The accurate forms flush denormals to +0 before the split.

use super::blocks::{Blocks, INVERSE_LN2};
use crate::arith::lane::{
    INFINITY, MINUS_ONE, NAN, ONE, add, addexp, exp_biased, iabs, ilt, is_negative, isub, mad, mul, select, setman,
    setsign, sm2f, splat, store_f32, store_rounded,
};
use crate::exec::functions;

/// 0.75
pub const SPLIT: u32 = 0x3f40_0000;
/// ln 2 * 2^-23
pub const LN2_PER_STEP: u32 = 0x33b1_7218;
/// 2^-23
pub const PER_STEP: u32 = 0x3400_0000;
/// 1 / ln 10
const INVERSE_LN10: u32 = 0x3ede_5bd9;
/// -4.0
pub const MINUS_FOUR: u32 = 0xc080_0000;
/// -0.25
pub const MINUS_QUARTER: u32 = 0xbe80_0000;

/// Coefficients of (ln(1 + m) - m) / m^2 for 16-bit `Dst`.
pub const SERIES_16: &[u32] = &[0xbe80_0000, 0x3eba_2000, 0xbf00_4000];
/// The same for 32-bit `Dst`.
pub const SERIES_32: &[u32] = &[
    0xbd49_6000,
    0x3ddc_2000,
    0xbe06_2000,
    0x3e13_a000,
    0xbe2a_8000,
    0x3e4c_c000,
    0xbe80_000d,
    0x3eaa_aab9,
    0xbf00_0000,
];

/// The word's exponent relative to [0.75, 1.5), and times 2^23.
///
/// The first in place, the second as a number.
#[inline(always)]
pub fn exponent<V: Blocks>(x: V) -> (V, V) {
    let steps = setman(isub(x, SPLIT), 0);
    (steps, setsign(sm2f(iabs(steps)), steps))
}

/// ln(1 + m).
#[inline(always)]
fn series<V: Blocks>(m: V, coefficients: &[u32]) -> V {
    mad(V::from(coefficients[0]).horner(m, &coefficients[1..]), mul(m, m), m)
}

/// Applies special cases of the logarithm of x to `value`.
///
/// `value` is the logarithm of a positive finite `x`.
#[inline(always)]
pub fn special<V: Blocks>(x: V, value: V) -> V {
    let kept = select(ilt(exp_biased(addexp(x, -1)), 255), value, mul(value, addexp(x, -1)));
    select(is_negative(x), NAN, kept)
}

/// The logarithm as base e, or times a scale.
#[inline(always)]
pub fn natural<V: Blocks>(x: V, coefficients: &[u32], scale: Option<u32>) -> V {
    let (steps, turns) = exponent(x);
    let m = add(isub(x, steps), MINUS_ONE);
    let value = mad(turns, LN2_PER_STEP, series(m, coefficients));
    let scaled = match scale {
        Some(scale) => mul(value, scale),
        None => value,
    };
    special(x, scaled)
}

/// The logarithm to base 2, with the exponent as it is.
#[inline(always)]
pub fn binary<V: Blocks>(x: V, coefficients: &[u32]) -> V {
    let (steps, turns) = exponent(x);
    let m = add(isub(x, steps), MINUS_ONE);
    special(x, mad(turns, PER_STEP, mul(series(m, coefficients), INVERSE_LN2)))
}

/// Flushes denormals and makes -0 a +0.
#[inline(always)]
pub fn flushed<V: Blocks>(x: V) -> V {
    add(x, 0)
}

/// ln(1 + x), exact for small x.
///
/// The mantissa of 1 + x less 1 is put together from the parts of x, so that small x lose nothing.
#[inline(always)]
pub fn log1p<V: Blocks>(x: V, coefficients: &[u32]) -> V {
    let sum = add(x, ONE);
    let (steps, turns) = exponent(sum);
    let one_scaled = mad(splat::<V>(MINUS_QUARTER), isub(splat::<V>(MINUS_FOUR), steps), MINUS_ONE);
    let m = add(isub(x, steps), one_scaled);
    let value = mad(turns, LN2_PER_STEP, series(m, coefficients));
    select(is_negative(sum), NAN, select(ilt(sum, INFINITY), value, sum))
}

functions! {
    "log", "accurate": |x| store_rounded(Blocks::natural(flushed(x), SERIES_16, None)),
        |x| store_f32(Blocks::natural(flushed(x), SERIES_32, None));
    "log", "fast": |x| store_rounded(Blocks::natural(x, SERIES_16, None)), |x| store_f32(Blocks::natural(x, SERIES_32, None));
    "log2", "accurate": |x| store_rounded(Blocks::binary(flushed(x), SERIES_16)), |x| store_f32(Blocks::binary(flushed(x), SERIES_32));
    "log2", "fast": |x| store_rounded(Blocks::binary(x, SERIES_16)), |x| store_f32(Blocks::binary(x, SERIES_32));
    "log10", "accurate": |x| store_rounded(Blocks::natural(flushed(x), SERIES_16, Some(INVERSE_LN10))),
        |x| store_f32(Blocks::natural(flushed(x), SERIES_32, Some(INVERSE_LN10)));
    "log10", "fast": |x| store_rounded(Blocks::natural(x, SERIES_16, Some(INVERSE_LN10))),
        |x| store_f32(Blocks::natural(x, SERIES_32, Some(INVERSE_LN10)));
    "log1p", "accurate": |x| store_rounded(Blocks::log1p(x, SERIES_16)), |x| store_f32(Blocks::log1p(x, SERIES_32));
    "log1p", "fast": |x| store_rounded(Blocks::log1p(x, SERIES_16)), |x| store_f32(Blocks::log1p(x, SERIES_32));
}
