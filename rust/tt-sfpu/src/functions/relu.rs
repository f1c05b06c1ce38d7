//! Rectifiers. Source: listings `relu`, `relu_max`, `relu_min`, `leaky_relu`, `prelu`.
//!
//! Domain: all words. `relu` and `relu_min` go by total order: -0 and negative NaN give the limit, positive NaN stays.
//! The others go by the sign bit, so that -0 counts as negative; comparison with a limit is the sign of the difference.

use crate::arith::lane::{Lane, ZERO, greater, is_negative, max, mul, select, store_bf16, store_f32};
use crate::exec::functions;

/// `x` held between 0 and `upper`.
#[inline(always)]
fn relu_max<V: Lane>(x: V, upper: u32) -> V {
    let limited = select(greater(x, upper), upper, x);
    select(is_negative(limited), 0, limited)
}

/// `x`, its negative part multiplied by `slope`.
#[inline(always)]
fn leaky<V: Lane>(x: V, slope: u32) -> V {
    select(is_negative(x), mul(x, slope), x)
}

functions! {
    "relu", "relu": |x| store_bf16(max(x, ZERO)), |x| store_f32(max(x, ZERO));
    "relu_max", "default" [upper]: |x| store_bf16(relu_max(x, upper)), |x| store_f32(relu_max(x, upper));
    "relu_min", "default" [lower]: |x| store_bf16(max(x, lower)), |x| store_f32(max(x, lower));
    "leaky_relu", "default" [slope]: |x| store_bf16(leaky(x, slope)), |x| store_f32(leaky(x, slope));
    "prelu", "default" [slope]: |x| store_bf16(leaky(x, slope)), |x| store_f32(leaky(x, slope));
}
