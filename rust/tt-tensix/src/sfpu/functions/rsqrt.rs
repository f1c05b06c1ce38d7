//! 1 / sqrt(x). Source: listings `rsqrt/*`.
//!
//! Domain: all words. +-0 give +-infinity, +inf gives +0; negative arguments give NaN (+inf in 16-bit `Dst`).
//! The fast form omits the special case of negative arguments.

use super::blocks::Blocks;
use crate::sfpu::arith::lane::{
    INFINITY, NAN, is_negative, is_zero, isub, select, shl, splat, store_f32, store_rounded,
};
use crate::sfpu::exec::functions;

#[inline(always)]
fn fast<V: Blocks>(x: V) -> V {
    // Infinity minus the word is right for both zeros and for infinity.
    let limit = isub(splat::<V>(INFINITY), x);
    select(is_zero(limit) | is_zero(shl(x, 1)), limit, x.refine_inverse_root(x.inverse_root()))
}

#[inline(always)]
fn default<V: Blocks>(x: V) -> V {
    select(is_negative(x) & !is_zero(shl(x, 1)), NAN, fast(x))
}

functions! {
    "rsqrt", "default": |x| store_rounded(default(x)), |x| store_f32(default(x));
    "rsqrt", "fast": |x| store_rounded(fast(x)), |x| store_f32(fast(x));
}
