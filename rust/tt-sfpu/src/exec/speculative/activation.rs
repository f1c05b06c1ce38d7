//! The speculative program of `functions/activation.rs`.

use super::Speculative;
use crate::arith::lane::{ONE, TWO, add, less, mul, select, store_f32};
use crate::functions::activation::LINEAR;

#[inline(always)]
pub fn mish<S: Speculative>(x: S, exponential: S, steps: usize) -> S {
    let over = mul(exponential, add(exponential, TWO));
    let ratio = mul(over, add(exponential, ONE).square_plus_one().reciprocal(steps));
    store_f32(select(less(x, LINEAR), mul(x, ratio), x))
}
