//! 1 / x. Source: listings `recip/*`.
//!
//! Domain: all words. Zeros and denormals give an infinity of their sign, infinities a zero of their sign.

use super::blocks::{Blocks, reciprocal_mantissa, reciprocal_scale};
use crate::arith::lane::{round_bf16, store_bf16, store_f32};
use crate::exec::functions;

/// Seed tuned for one Newton step.
const ONE_STEP_SEED: [u32; 3] = [0x3ea4_85e4, 0x3fb9_c7f6, 0x4007_af87];

#[inline(always)]
fn accurate_16<V: Blocks>(x: V) -> V {
    let mantissa = round_bf16(reciprocal_mantissa(x, ONE_STEP_SEED, 1));
    store_bf16(reciprocal_scale(mantissa, x))
}

functions! {
    "recip", "accurate" for Wormhole: accurate_16, |x| store_f32(Blocks::reciprocal(x, 2));
    "recip", "approx" for Wormhole: |x| store_bf16(Blocks::reciprocal(x, 1)), |x| store_f32(Blocks::reciprocal(x, 1));
}
