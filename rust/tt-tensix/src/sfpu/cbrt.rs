//! Cube root. Source: listing `cbrt`.
//!
//! Domain: all words. The inverse cube root is guessed from the word as a number, divided by three in arithmetic on the
//! bit pattern, then refined by a polynomial of x y^3; 32-bit `Dst` adds a step of the same kind at the end.

use super::lane::{
    ONE, Word, fabs, mad, mul, ordinary_polynomial, polynomial, setsign, shl, sm2f, splat, store_f32, store_rounded,
};
use super::run::functions;
use super::series::is_ordinary;

/// -1 / 768: a third, and eight bits to the right.
const MINUS_THIRD: u32 = 0xbaaa_aaab;
/// What the word of 1 / cbrt(x) has at zero, eight bits to the right.
const GUESS: u32 = 0x4b54_8c2c;
const SERIES: [u32; 3] = [0x3f02_66d9, 0xbfa0_1f36, 0x3fe0_4c03];

#[inline(always)]
fn guess<V: Word>(distance: V) -> V {
    shl(mad(sm2f(distance), MINUS_THIRD, GUESS), 8)
}

#[inline(always)]
fn cbrt_16<V: Word>(x: V) -> V {
    let distance = fabs(x);
    let y = guess(distance);
    let root = mul(distance, mul(y, y));
    let correction = polynomial(mul(root, y), SERIES);
    store_rounded(mul(setsign(root, x), mul(correction, correction)))
}

/// With the guess, x y^3 is from 0.64 to 0.77, and with the first correction it is 1 within 1/10000.
#[inline(always)]
fn cbrt_32<V: Word>(x: V) -> V {
    const _: () = assert!(is_ordinary(&SERIES, 0.6, 0.8));
    let distance = fabs(x).normal_or_zero();
    // From 0.8 to 1 times what it is for zero. All roots are between 2^-44 and 2^44, and no product is tiny.
    let y = shl(sm2f(distance).ordinary(splat(MINUS_THIRD), splat(GUESS)), 8).surely(-44, 44);
    let cube = distance.traceless_product(y).traceless_product(mul(y, y));
    let y = mul(y, ordinary_polynomial(cube, SERIES).surely(0, 1)).surely(-44, 44);
    let root = distance.traceless_product(mul(y, y)).surely(-44, 44);
    // -1/3 of the error of x y^3.
    let correction = root.residual_of_minus_one(y).ordinary(splat(MINUS_THIRD + (8 << 23)), splat(ONE)).surely(-1, 1);
    store_f32(mul(setsign(root, x), mul(correction, correction)))
}

functions! {
    "cbrt", "default": cbrt_16, cbrt_32;
}
