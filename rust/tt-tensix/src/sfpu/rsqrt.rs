//! 1 / sqrt(x). Source: listings `rsqrt/*`.
//!
//! Domain: all words. +-0 give +-infinity, +inf gives +0; negative arguments give NaN (+inf in 16-bit `Dst`).
//! The fast form omits the special case of negative arguments.

use super::blocks::{inverse_root, refine_inverse_root};
use super::lane::{INFINITY, NAN, is_negative, round_bf16, store_bf16, store_f32};
use super::run::{Function, functions};

#[inline(always)]
fn fast(x: u32) -> u32 {
    // Infinity minus the word is right for both zeros and for infinity.
    let limit = INFINITY.wrapping_sub(x);
    if limit == 0 || x << 1 == 0 { limit } else { refine_inverse_root(x, inverse_root(x)) }
}

#[inline(always)]
fn default(x: u32) -> u32 {
    if is_negative(x) && x << 1 != 0 { NAN } else { fast(x) }
}

functions! {
    "rsqrt", "default": |x| store_bf16(round_bf16(default(x))), |x| store_f32(default(x));
    "rsqrt", "fast": |x| store_bf16(round_bf16(fast(x))), |x| store_f32(fast(x));
}
