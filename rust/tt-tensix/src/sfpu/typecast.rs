//! Conversions between types inside `Dst`. Source: listings `typecast_from_fp32/*`.
//!
//! `fp32_to_bf16` rounds to the nearest even BF16 on the bare word, so that NaN payloads may wrap; the packer then finds
//! nothing left to round. A 16-bit `Dst` already holds BF16, which the rounding leaves as it is.

use super::lane::{round_bf16_even, store_bf16, store_f32};
use super::run::functions;

functions! {
    "typecast_from_fp32", "fp32_to_bf16": |x| store_bf16(round_bf16_even(x)), |x| store_f32(round_bf16_even(x));
}
