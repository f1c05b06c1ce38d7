//! Building blocks by their listings, run as they are.
//!
//! No module names this one, which names the families; those name the trait.

use super::blocks::{self, Blocks};
use super::{binary, division, erf, gamma, log, tanh, trigonometry};
use crate::arith::generation::VectorUnit;
use crate::arith::lane::Word;
use crate::exec::simd::{BlockMultiplyAdd, LaneVector, Simd};

macro_rules! listed {
    ($($(#[$level:meta])* [$($vector:tt)*] $lanes:ty),+; $methods:tt) => {$(
        $(#[$level])*
        impl $($vector)* Blocks for $lanes {
            listed! { @methods $methods }
        }
    )+};
    (@methods { $(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty = $program:path;)+ }) => {$(
        #[inline(always)]
        fn $name(self $(, $argument: $type)*) -> $result {
            $program(self $(, $argument)*)
        }
    )+};
}

listed! {
    [] u32, [<G: VectorUnit>] Word<G>, [<V: LaneVector, G: BlockMultiplyAdd>] Simd<V, G>;
    {
        fn exp_f32() -> Self = blocks::exp_f32;
        fn exp_f32_unlimited() -> Self = blocks::exp_f32_unlimited;
        fn reciprocal(steps: usize) -> Self = blocks::reciprocal;
        fn reciprocal_estimate(refine: bool) -> Self = blocks::reciprocal_estimate;
        fn inverse_root() -> Self = blocks::inverse_root;
        fn refine_root(y: Self) -> Self = blocks::refine_root;
        fn refine_inverse_root(y: Self) -> Self = blocks::refine_inverse_root;
        fn newton_root(steps: usize) -> Self = blocks::newton_root;
        fn exponent_number() -> Self = blocks::exponent_number;
        fn log_cubic() -> Self = blocks::log_cubic;
        fn natural(coefficients: &[u32], scale: Option<u32>) -> Self = log::natural;
        fn binary(coefficients: &[u32]) -> Self = log::binary;
        fn log1p(coefficients: &[u32]) -> Self = log::log1p;
        fn tanh_f32() -> Self = tanh::tanh_f32;
        fn erf_f32(steps: usize) -> Self = erf::erf_f32;
        fn sin(coefficients: &[u32]) -> Self = trigonometry::sin;
        fn cos(coefficients: &[u32]) -> Self = trigonometry::cos;
        fn lgamma_stirling() -> Self = gamma::lgamma_stirling;
        fn div_f32(b: Self) -> Self = binary::div_f32;
        fn divide(b: Self, for_quotient: bool) -> (Self, Self) = division::divide;
        fn gcd_rounds(b: Self, rounds: usize) -> Self = division::gcd_rounds;
    }
}
