//! Arithmetic with a scalar. Source: listings `add_unary`, `sub_unary`, `mul_unary`, `div_unary`, `rsub`, `rdiv`.
//!
//! Domain: all words. Sums and products are cut by the store in 16-bit `Dst`, except `rsub`, which rounds to nearest
//! even. The approximate `rdiv`, of kernels with `math_approx_mode`, does not round its inverse. `div_unary` takes the inverse of the divisor and multiplies.

use super::blocks::{Blocks, quick_reciprocal};
use super::rounding::{floor, trunc};
use crate::arith::lane::{
    MINUS_ONE, add, flipsign, mul, round_bf16, round_bf16_even, splat, store_bf16, store_f32, sub,
};
use crate::exec::bf16::Bf16Step;
use crate::exec::functions;

#[inline(always)]
pub fn rsub<V: Blocks>(x: V, scalar: u32) -> V {
    add(splat::<V>(scalar), flipsign(x))
}

#[inline(always)]
fn rdiv_16<V: Blocks>(x: V, scalar: u32) -> V {
    mul(round_bf16(x.reciprocal(1)), scalar)
}

#[inline(always)]
fn rdiv_approx<V: Blocks>(x: V, scalar: u32) -> V {
    mul(quick_reciprocal(x), scalar)
}

#[inline(always)]
fn rdiv_32<V: Blocks>(x: V, scalar: u32) -> V {
    mul(x.reciprocal(2), scalar)
}

functions! {
    "add_unary", "default" [scalar]: |x| store_bf16(add(x, scalar)), |x| store_f32(add(x, scalar));
    "sub_unary", "default" [scalar]: |x| store_bf16(sub(x, scalar)), |x| store_f32(sub(x, scalar));
    // The product with -1 differs from the negative by the sign of zero only, which the packer does not keep.
    "mul_unary", "default" for Wormhole [scalar]: |x| store_bf16(mul(x, scalar)), |x| store_f32(mul(x, scalar)),
        bf16 = |parameters| (parameters == [MINUS_ONE]).then_some(Bf16Step::Negate);
    // It has no NaN of negative sign.
    "mul_unary", "default" for Blackhole [scalar]: |x| store_bf16(mul(x, scalar)), |x| store_f32(mul(x, scalar));
    "div_unary", "default" [inverse]: |x| store_bf16(mul(x, inverse)), |x| store_f32(mul(x, inverse));
    "rsub", "default" [scalar]: |x| store_bf16(round_bf16_even(rsub(x, scalar))), |x| store_f32(rsub(x, scalar));
    "rdiv", "default" [scalar]: |x| store_bf16(rdiv_16(x, scalar)), |x| store_f32(rdiv_32(x, scalar));
    "rdiv", "trunc" [scalar]: |x| store_bf16(trunc(rdiv_16(x, scalar))), |x| store_f32(trunc(rdiv_32(x, scalar)));
    "rdiv", "floor" [scalar]: |x| store_bf16(floor(rdiv_16(x, scalar))), |x| store_f32(floor(rdiv_32(x, scalar)));
    "rdiv", "approx" [scalar]: |x| store_bf16(rdiv_approx(x, scalar)), |x| store_f32(rdiv_approx(x, scalar));
    "rdiv", "approx_trunc" [scalar]: |x| store_bf16(trunc(rdiv_approx(x, scalar))),
        |x| store_f32(trunc(rdiv_approx(x, scalar)));
    "rdiv", "approx_floor" [scalar]: |x| store_bf16(floor(rdiv_approx(x, scalar))),
        |x| store_f32(floor(rdiv_approx(x, scalar)));
}
