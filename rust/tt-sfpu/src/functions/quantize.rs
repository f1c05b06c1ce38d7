//! Quantisation to eight bits: `quant`, `requant`, `dequant`. Source: tt-llk `ckernel_sfpu_quant.h`.
//!
//! The second operand is the scale, the parameter the zero point as FP32. Results are rounded to the nearest integer,
//! ties away from zero, and saturate at +-127. Integers lie in `Dst` as two's complement, as the operators of TT-NN
//! keep them.

use crate::arith::lane::{Lane, ONE, ZERO, mad, round_sm8, sm_to_twos, sm2f, store_f32, twos_to_sm};
use crate::exec::short_binary_functions;

/// `round(x * scale + zero)`.
#[inline(always)]
pub fn quant<V: Lane>(x: V, scale: V, zero: u32) -> V {
    sm_to_twos(round_sm8(mad(x, scale, zero)))
}

/// `round(x * scale + zero)` of integers.
#[inline(always)]
pub fn requant<V: Lane>(x: V, scale: V, zero: u32) -> V {
    quant(sm2f(twos_to_sm(x)), scale, zero)
}

/// `(x + zero) * scale` of integers; programs pass the zero point negated.
#[inline(always)]
pub fn dequant<V: Lane>(x: V, scale: V, zero: u32) -> V {
    store_f32(mad(mad(sm2f(twos_to_sm(x)), ONE, zero), scale, ZERO))
}

short_binary_functions! {
    "quant", "default" [zero]: |x, scale| quant(x, scale, zero), |x, scale| quant(x, scale, zero);
    "requant", "default" [zero]: |x, scale| requant(x, scale, zero), |x, scale| requant(x, scale, zero);
    "dequant", "default" [zero]: |x, scale| dequant(x, scale, zero), |x, scale| dequant(x, scale, zero);
}
