//! 1 / x. Source: listings `recip/*`.
//!
//! Domain: all words. Zeros and denormals give an infinity of their sign, infinities a zero of their sign.

use super::blocks::{reciprocal, reciprocal_mantissa, reciprocal_scale};
use super::lane::{Word, round_bf16, store_bf16, store_f32};
use super::run::functions;

/// Seed tuned for one Newton step.
const ONE_STEP_SEED: [u32; 3] = [0x3ea4_85e4, 0x3fb9_c7f6, 0x4007_af87];

#[inline(always)]
fn accurate_16<V: Word>(x: V) -> V {
    let mantissa = round_bf16(reciprocal_mantissa(x, ONE_STEP_SEED, 1));
    store_bf16(reciprocal_scale(mantissa, x))
}

functions! {
    "recip", "accurate": accurate_16, |x| store_f32(reciprocal(x, 2));
    "recip", "approx": |x| store_bf16(reciprocal(x, 1)), |x| store_f32(reciprocal(x, 1));
}
