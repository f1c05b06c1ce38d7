//! Square root. Source: listings `sqrt/*`.
//!
//! Domain: all words. +-0 stay, +inf stays; negative arguments give NaN (+inf in 16-bit `Dst`, where rounding makes it so).
//! The fast form omits the special cases of zero and negative arguments.

use super::blocks::{inverse_root, refine_root};
use super::lane::{INFINITY, NAN, is_negative, round_bf16, store_bf16, store_f32};
use super::run::{Function, functions};

#[inline(always)]
fn fast(x: u32) -> u32 {
    let y = inverse_root(x);
    if (x as i32) < INFINITY as i32 { refine_root(x, y) } else { y }
}

#[inline(always)]
fn accurate(x: u32) -> u32 {
    if x << 1 == 0 {
        x
    } else if is_negative(x) {
        NAN
    } else {
        fast(x)
    }
}

functions! {
    "sqrt", "accurate": |x| store_bf16(round_bf16(accurate(x))), |x| store_f32(accurate(x));
    "sqrt", "fast": |x| store_bf16(round_bf16(fast(x))), |x| store_f32(fast(x));
}
