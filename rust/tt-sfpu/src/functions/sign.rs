//! Identity, sign, magnitude and square. Source: listings `identity/default`, `abs`, `neg`, `sign`, `signbit`,
//! `square`.
//!
//! Domain: all words. The identity makes zeros of their sign of denormals; `abs` leaves negative NaNs alone; `sign` of NaN is 1 with its sign, of -0 it is 0.

use crate::arith::lane::{
    Lane, ONE, fabs, flipsign, is_zero, mul, round_bf16_even, select, setsign, shr, sm2f, splat, store_bf16, store_f32,
};
use crate::exec::bf16::Bf16Step;
use crate::exec::functions;

#[inline(always)]
fn sign<V: Lane>(x: V) -> V {
    select(is_zero(fabs(x)), 0, setsign(splat::<V>(ONE), x))
}

functions! {
    "identity", "default": store_bf16, store_f32;
    "abs", "default": |x| store_bf16(fabs(x)), |x| store_f32(fabs(x));
    "neg", "default": |x| store_bf16(flipsign(x)), |x| store_f32(flipsign(x)), bf16 = |_| Some(Bf16Step::Negate);
    "sign", "default": |x| store_bf16(sign(x)), |x| store_f32(sign(x));
    "signbit", "default": |x| store_bf16(sm2f(shr(x, 31))), |x| store_f32(sm2f(shr(x, 31)));
    "square", "default": |x| store_bf16(round_bf16_even(mul(x, x))), |x| store_f32(mul(x, x));
}
