//! The speculative program of `functions/bessel.rs`.

use super::Speculative;
use crate::arith::lane::{ONE, mul, polynomial};
use crate::functions::bessel::I0_SERIES;

#[inline(always)]
pub fn i0<S: Speculative>(x: S) -> S {
    let square = mul(x, x);
    polynomial(square, I0_SERIES).fma_growing(square, S::from(ONE))
}
