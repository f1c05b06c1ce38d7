//! 1 / x. Source: listings `recip/*`.
//!
//! Domain: all words. Zeros and denormals give an infinity of their sign, infinities a zero of their sign. Blackhole has
//! an instruction for 7 bits, which is the approximate form; the accurate forms add one step, in 16-bit `Dst` to the word.
//!
//! Attention has its own forms for the sums of rows: `column` has the seed and the steps that kernels share, rounded
//! to nearest; `streaming` is the accurate form, which Wormhole rounds after the scaling instead of before it.

use super::blocks::{Blocks, quick_reciprocal, reciprocal_mantissa, reciprocal_scale};
use crate::arith::lane::{
    MINUS_ONE, ONE, ZERO, arecip, flipsign, iadd, mad, min, or, round_bf16, shr, splat, store_bf16, store_f32,
    store_rounded,
};
use crate::exec::functions;

/// Seed tuned for one Newton step.
const ONE_STEP_SEED: [u32; 3] = [0x3ea4_85e4, 0x3fb9_c7f6, 0x4007_af87];

#[inline(always)]
fn accurate_16<V: Blocks>(x: V) -> V {
    let mantissa = round_bf16(reciprocal_mantissa(x, ONE_STEP_SEED, 1));
    store_bf16(reciprocal_scale(mantissa, x))
}

/// Rounded after the scaling, so that results below the range are zero.
#[inline(always)]
fn streaming_16<V: Blocks>(x: V) -> V {
    store_rounded(reciprocal_scale(reciprocal_mantissa(x, ONE_STEP_SEED, 1), x))
}

/// Half a place is added to the estimate first, then the upper half of what its product exceeds 1 by.
#[inline(always)]
fn estimated_16<V: Blocks>(x: V) -> V {
    let number = mad(splat::<V>(ZERO), ZERO, x);
    let y = or(arecip(x), 0x8000);
    store_bf16(iadd(shr(mad(number, y, MINUS_ONE), 16), y))
}

/// A correction by the cube of the error, held to 1.
#[inline(always)]
fn estimated_32<V: Blocks>(x: V) -> V {
    let y = arecip(x);
    let error = mad(flipsign(x), y, ONE);
    let correction = mad(mad(error, error, error), error, error);
    store_f32(mad(min(correction, ONE), y, y))
}

functions! {
    "recip", "accurate" for Wormhole: accurate_16, |x| store_f32(Blocks::reciprocal(x, 2));
    "recip", "accurate" for Blackhole: estimated_16, estimated_32;
    "recip", "column": |x| store_rounded(Blocks::reciprocal(x, 1)), |x| store_f32(Blocks::reciprocal(x, 2));
    "recip", "streaming" for Wormhole: streaming_16, |x| store_f32(Blocks::reciprocal(x, 2));
    "recip", "streaming" for Blackhole: estimated_16, estimated_32;
    "recip", "approx": |x| store_bf16(quick_reciprocal(x)), |x| store_f32(quick_reciprocal(x));
}
