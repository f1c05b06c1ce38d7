//! Functions of two `Dst` tiles: sums, differences, products. Source: listings `*_binary/default`.
//!
//! In 16-bit `Dst` sums are truncated by the store; products are rounded to nearest even by the kernel.

use super::lane::{Word, ZERO, add, is_zero, mul, round_bf16_even, select, store_bf16, store_f32, sub};
use super::run_binary::binary_functions;

#[inline(always)]
fn mul_16<V: Word>(a: V, b: V) -> V {
    select(is_zero(a) | is_zero(b), ZERO, store_bf16(round_bf16_even(mul(a, b))))
}

binary_functions! {
    "add_binary", "default": |a, b| store_bf16(add(a, b)), |a, b| store_f32(add(a, b));
    "sub_binary", "default": |a, b| store_bf16(sub(a, b)), |a, b| store_f32(sub(a, b));
    "rsub_binary", "default": |a, b| store_bf16(sub(b, a)), |a, b| store_f32(sub(b, a));
    "mul_binary", "default": mul_16, |a, b| store_f32(mul(a, b));
}
