//! Square root. Source: listings `sqrt/*`.
//!
//! Domain: all words. +-0 stay, +inf stays; negative arguments give NaN (+inf in 16-bit `Dst`, where rounding makes it
//! so). The fast form omits the special cases of zero and negative arguments.

use super::blocks::Blocks;
use crate::sfpu::arith::lane::{INFINITY, NAN, ilt, is_negative, is_zero, select, shl, store_f32, store_rounded};
use crate::sfpu::exec::functions;

#[inline(always)]
fn fast<V: Blocks>(x: V) -> V {
    let y = x.inverse_root();
    select(ilt(x, INFINITY), x.refine_root(y), y)
}

#[inline(always)]
fn accurate<V: Blocks>(x: V) -> V {
    select(is_zero(shl(x, 1)), x, select(is_negative(x), NAN, fast(x)))
}

functions! {
    "sqrt", "accurate": |x| store_rounded(accurate(x)), |x| store_f32(accurate(x));
    "sqrt", "fast": |x| store_rounded(fast(x)), |x| store_f32(fast(x));
}
