//! Square root. Source: listings `sqrt/*`.
//!
//! Domain: all words. +-0 stay, +inf stays; negative arguments give NaN (+inf in 16-bit `Dst`, where rounding makes it
//! so). The fast form omits the special cases of zero and negative arguments.

use super::blocks::{inverse_root, refine_root};
use super::lane::{INFINITY, NAN, Word, ilt, is_negative, is_zero, select, shl, store_f32, store_rounded};
use super::run::functions;

#[inline(always)]
fn fast<V: Word>(x: V) -> V {
    let y = inverse_root(x);
    select(ilt(x, INFINITY), refine_root(x, y), y)
}

#[inline(always)]
fn accurate<V: Word>(x: V) -> V {
    select(is_zero(shl(x, 1)), x, select(is_negative(x), NAN, fast(x)))
}

functions! {
    "sqrt", "accurate": |x| store_rounded(accurate(x)), |x| store_f32(accurate(x));
    "sqrt", "fast": |x| store_rounded(fast(x)), |x| store_f32(fast(x));
}
