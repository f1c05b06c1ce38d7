//! Cube root. Source: listing `cbrt`.
//!
//! Domain: all words. The inverse cube root is estimated from the word as a number, divided by three in arithmetic on
//! the bit pattern, then refined by a polynomial of x y^3; 32-bit `Dst` adds a step of the same kind at the end.

use crate::sfpu::arith::lane::{
    Lane, MINUS_ONE, ONE, fabs, mad, mul, polynomial, setsign, shl, sm2f, store_f32, store_rounded,
};
use crate::sfpu::exec::functions;

/// -1 / 768: a third, and eight bits to the right.
pub const MINUS_THIRD: u32 = 0xbaaa_aaab;
/// What the word of 1 / cbrt(x) has at zero, eight bits to the right.
pub const ESTIMATE: u32 = 0x4b54_8c2c;
pub const SERIES: [u32; 3] = [0x3f02_66d9, 0xbfa0_1f36, 0x3fe0_4c03];

#[inline(always)]
fn estimate<V: Lane>(distance: V) -> V {
    shl(mad(sm2f(distance), MINUS_THIRD, ESTIMATE), 8)
}

#[inline(always)]
fn cbrt_16<V: Lane>(x: V) -> V {
    let distance = fabs(x);
    let y = estimate(distance);
    let root = mul(distance, mul(y, y));
    let correction = polynomial(mul(root, y), SERIES);
    store_rounded(mul(setsign(root, x), mul(correction, correction)))
}

#[inline(always)]
fn cbrt_32<V: Lane>(x: V) -> V {
    let distance = fabs(x);
    let y = estimate(distance);
    let cube = mul(mul(distance, y), mul(y, y));
    let y = mul(y, polynomial(cube, SERIES));
    let root = mul(distance, mul(y, y));
    // -1/3 of the error of x y^3.
    let correction = mad(mad(root, y, MINUS_ONE), MINUS_THIRD + (8 << 23), ONE);
    store_f32(mul(setsign(root, x), mul(correction, correction)))
}

functions! {
    "cbrt", "default": cbrt_16, cbrt_32, speculative = speculative::cbrt::cbrt_32;
}
