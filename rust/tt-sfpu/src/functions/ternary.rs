//! Functions of three `Dst` tiles.
//!
//! Source: listings `where`, `lerp`, `mac`, `addcmul`, `addcdiv`, `snake_beta`.
//!
//! `where` moves words as they are and takes everything but +0 as true. In 16-bit `Dst` sums are rounded by the kernel,
//! `lerp` and `addcdiv` to nearest even on the bare word, the others with ties away.

use super::blocks::Blocks;
use crate::arith::lane::{
    is_zero, mad, mul, polynomial, round_bf16_even, round_sm16, select, sm2f, store_bf16, store_f32, store_rounded, sub,
};
use crate::exec::bf16::{Bf16, relations, sums};
use crate::exec::ternary_functions;

#[inline(always)]
fn choose<V: Blocks>(condition: V, yes: V, no: V) -> V {
    select(is_zero(condition), no, yes)
}

#[inline(always)]
fn lerp<V: Blocks>(start: V, end: V, weight: V) -> V {
    mad(weight, sub(end, start), start)
}

#[inline(always)]
fn addcmul<V: Blocks>(a: V, b: V, c: V, value: u32) -> V {
    mad(mul(b, value), c, a)
}

#[inline(always)]
fn addcdiv<V: Blocks>(a: V, b: V, c: V, value: u32) -> V {
    mad(mul(b, value), c.reciprocal(2), a)
}

/// x + sin^2(alpha x) / beta
#[inline(always)]
fn snake<V: Blocks, const N: usize>(x: V, alpha: V, beta: V, sine: [u32; N], steps: usize) -> V {
    const INVERSE_PI: u32 = 0x3ea2_f983;
    const PI: u32 = 0x4049_0fdb;
    let turns = mul(mul(alpha, x), INVERSE_PI);
    let angle = mul(sub(turns, sm2f(round_sm16(turns))), PI);
    let square = mul(angle, angle);
    let sine = mad(mul(angle, square), polynomial(square, sine), angle);
    mad(mul(sine, sine), beta.reciprocal(steps), x)
}

const SINE_16: [u32; 3] = [0xb945_8852, 0x3c08_6151, 0xbe2a_aa52];
const SINE_32: [u32; 4] = [0x362e_e484, 0xb94f_b878, 0x3c08_876d, 0xbe2a_aaa6];

ternary_functions! {
    "where", "default": choose, choose, bf16 on both = Bf16::packed(relations::choose::run);
    "lerp", "default": |a, b, c| store_bf16(round_bf16_even(lerp(a, b, c))), |a, b, c| store_f32(lerp(a, b, c)),
        bf16 on both = Bf16::packed(sums::lerp::run);
    "mac", "default": |a, b, c| store_rounded(mad(a, b, c)), |a, b, c| store_f32(mad(a, b, c)),
        bf16 on both = Bf16::packed(sums::mac::run);
    "addcmul", "default" [value]: |a, b, c| store_rounded(addcmul(a, b, c, value)),
        |a, b, c| store_f32(addcmul(a, b, c, value)), bf16 on both = Bf16::packed(sums::addcmul::run);
    "addcdiv", "default" [value]: |a, b, c| store_bf16(round_bf16_even(addcdiv(a, b, c, value))),
        |a, b, c| store_f32(addcdiv(a, b, c, value)), bf16 on both = Bf16::packed(sums::addcdiv::run);
    "snake_beta", "default": |x, a, b| store_rounded(snake(x, a, b, SINE_16, 1)),
        |x, a, b| store_f32(snake(x, a, b, SINE_32, 2));
}
