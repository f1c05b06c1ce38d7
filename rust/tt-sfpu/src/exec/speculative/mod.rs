//! Lanes computed by the host's own multiply-add, each with a fallback bit.
//!
//! The SFPU's multiply-add differs from the host's in few cases, and most programs meet none of them in most
//! lanes. A speculative program runs without a branch; where a step may differ, the lane joins the fallback mask, and
//! lanes that end under it are computed again by the definition. A fallback without a difference costs time; a
//! difference without a fallback would be an error, so every condition here is a sufficient one.
//!
//! What the unit does with `x * y + z`: it brings product and addend to a grid of 2^-26 of the larger exponent, that of
//! the product being the sum of its factors'. A term that the grid cuts is rounded to odd: it becomes its odd neighbour
//! on the grid, as if it had a sticky bit. The sum on the grid is exact and is rounded once, to nearest even, three bits
//! above the grid. That is the host's rounding of the exact sum if
//! - at most one term is cut (an odd number stands for all between its even neighbours),
//! - the other one is even on the grid (else the sum of two odd numbers stands for too much),
//! - the sum's leading one is at most one place below the larger exponent (else it is the sticky bit that rounds),
//! - and at most one above (of two lost bits the upper one leaves no trace), or the product is cut.
//!
//! A term that the grid cuts to nothing leaves no trace; it counts only at a tie of the other one, which has one only
//! if it is a product of more than 24 bits.
//!
//! A listing runs on these lanes as it is. Where speed needs knowledge of a function, its family has a second program
//! here, generic over [`Speculative`]. What the forms of that trait take for granted, [`Checked`] asserts in a test.
//!
//! The lanes are those of Wormhole, whose multiply-add their conditions are about, and frozen: no further function has a
//! speculative program.

/// Goes through a slice of up to twelve items in straight-line code. Of a loop that the compiler leaves one, nothing
/// about an item is known before the program runs, and what a step may leave out is asked for each time. That is no
/// matter in a build for debugging, which takes twice as long to compile without the loop.
macro_rules! unrolled {
    ($items:expr, |$i:ident, $item:ident| $body:block) => {{
        let items: &[u32] = $items;
        assert!(items.len() <= 12, "as many as there are below");
        #[cfg(debug_assertions)]
        for ($i, &$item) in items.iter().enumerate() $body
        #[cfg(not(debug_assertions))]
        unrolled! { items, $i, $item, $body, 0 1 2 3 4 5 6 7 8 9 10 11 }
    }};
    ($items:ident, $i:ident, $item:ident, $body:block, $($number:literal)+) => {
        $(if let Some(&$item) = $items.get($number) {
            let $i: usize = $number;
            $body
        })+
    };
}

/// Methods of one expression.
macro_rules! forms {
    ($(fn $name:ident($self:ident $(, $argument:ident: $type:ty)*) -> $result:ty = $body:expr;)+) => {$(
        #[inline(always)]
        fn $name($self $(, $argument: $type)*) -> $result {
            $body
        }
    )+};
}

/// The building blocks by their speculative programs.
macro_rules! speculative_blocks {
    (@methods $(fn $name:ident($($argument:ident: $type:ty),*) = $family:ident::$program:ident;)+) => {$(
        #[inline(always)]
        fn $name(self $(, $argument: $type)*) -> Self {
            $crate::exec::speculative::$family::$program(self $(, $argument)*)
        }
    )+};
    ($lanes:ty) => {
        impl $crate::functions::blocks::Blocks for $lanes {
            speculative_blocks! { @methods
                fn exp_f32() = blocks::exp_f32;
                fn exp_f32_unlimited() = blocks::exp_f32_unlimited;
                fn reciprocal(steps: usize) = blocks::reciprocal;
                fn reciprocal_estimate(refine: bool) = blocks::reciprocal_estimate;
                fn inverse_root() = blocks::inverse_root;
                fn refine_root(y: Self) = blocks::refine_root;
                fn refine_inverse_root(y: Self) = blocks::refine_inverse_root;
                fn newton_root(steps: usize) = blocks::newton_root;
                fn log_cubic() = blocks::log_cubic;
                fn natural(coefficients: &[u32], scale: Option<u32>) = log::natural;
                fn binary(coefficients: &[u32]) = log::binary;
                fn log1p(coefficients: &[u32]) = log::log1p;
                fn tanh_f32() = tanh::tanh_f32;
                fn erf_f32(steps: usize) = erf::erf_f32;
                fn sin(coefficients: &[u32]) = trigonometry::sin;
                fn cos(coefficients: &[u32]) = trigonometry::cos;
                fn lgamma_stirling() = gamma::lgamma_stirling;
                fn div_f32(b: Self) = binary::div_f32;
            }
            #[inline(always)]
            fn exponent_number(self) -> Self {
                $crate::exec::speculative::Speculative::exponent_as_number(self)
            }
            #[inline(always)]
            fn divide(self, b: Self, for_quotient: bool) -> (Self, Self) {
                self.quotient_and_rest(b, for_quotient)
            }
            #[inline(always)]
            fn gcd_rounds(self, b: Self, rounds: usize) -> Self {
                self.common_divisor(b, rounds)
            }
        }
    };
}

pub(crate) mod activation;
pub(crate) mod arc;
pub(crate) mod bessel;
pub(crate) mod binary;
mod blocks;
#[cfg(feature = "checked")]
mod check;
pub(crate) mod composed;
pub(crate) mod derivative;
pub(crate) mod erf;
pub(crate) mod exp;
pub(crate) mod gamma;
pub(crate) mod gelu;
pub(crate) mod hyperbolic;
pub(crate) mod interval;
pub(crate) mod lanes;
mod log;
pub(crate) mod logarithmic;
pub(crate) mod roots;
mod tanh;
pub(crate) mod trigonometry;

use crate::functions::blocks::Blocks;
use interval::Plan;

#[cfg(feature = "checked")]
pub use check::{Checked, CheckedProgram};
pub(crate) use lanes::run::run;

/// The forms of speculative programs: primitives whose speed rests on a bound.
///
/// A bound that is *expected* is tested, and a lane outside of it falls back. A bound that is *assumed* holds for every
/// lane that is not under the fallback mask and whose value is selected.
pub trait Speculative: Blocks {
    /// Expected: the magnitude is at least two to the power of `least` and below two to that of `most`.
    fn expect(self, least: i32, most: i32) -> Self;
    /// As [`Self::expect`], of positive numbers.
    fn expect_positive(self, least: i32, most: i32) -> Self;
    /// Expected: +0, or as [`Self::expect`]; without an upper bound if `most` is above 128. Assumed then: no NaN.
    fn expect_zero_or(self, least: i32, most: i32) -> Self;
    /// Expected: the magnitude is at most the bound.
    fn expect_up_to(self, bound: f32) -> Self;
    /// Expected: no NaN.
    fn expect_number(self) -> Self;
    /// Assumed: +0, or the magnitude is at least two to the power of `least` and below two to that of `most`.
    fn assume(self, least: i32, most: i32) -> Self;
    /// Whether a lane's truth value may be true, so that what is selected by it must be computed.
    fn any(mask: Self::Mask) -> bool;

    /// Multiply-add. Expected: the addend outweighs the product, or nearly so.
    fn fma(self, b: Self, c: Self) -> Self;
    /// Multiply-add. Expected: the product changes neither sign nor exponent of the addend.
    fn fma_small(self, b: Self, c: Self) -> Self;
    /// Multiply-add that takes most of `c` away. Expected: the product of an integer and a short constant is exact.
    fn fma_reduction(self, b: Self, c: Self) -> Self;
    /// Multiply-add. Expected: the terms nearly cancel.
    fn fma_residual(self, b: Self, c: Self) -> Self;
    /// Multiply-add. Expected: the product has the addend's sign, and is at most several times as large.
    fn fma_growing(self, b: Self, c: Self) -> Self;
    /// The square and 1.
    fn square_plus_one(self) -> Self;
    /// Multiply-add. Assumed: the host's has the unit's bits, and a result within one exponent of the addend.
    fn host_fma(self, b: Self, c: Self) -> Self;
    /// Multiply-add. Assumed: the host's has the unit's bits, no NaN among them.
    fn host_fma_unbounded(self, b: Self, c: Self) -> Self;
    /// Multiply-add that takes at least a third of `c` away. Expected: the product of an integer below 2^8 and the
    /// constant is exact. Assumed: then the host's has the unit's bits, but for denormals, which stay.
    fn host_fma_reduction(self, b: u32, c: Self) -> Self;
    /// `self * b + 1`. Assumed: less than 1/16 in magnitude, or of a factor of zero.
    fn residual_of_one(self, b: Self) -> Self;
    /// Multiply-add. Assumed: the product has an exponent of at most that of `c`, and the sum is from -1.8 to 2 times
    /// its power of two, with its sign, or up to eight times that if `c` ends with three zeros.
    fn fma_on_addend_grid(self, b: Self, c: u32) -> Self;
    /// Multiply-add. Assumed: `c` has no place below the grid, 2^-26 of the larger exponent, and the sum is less than
    /// four times the larger power of two, or, if it `grows`, `c` is even on the grid where it is more.
    fn fma_on_common_grid(self, b: Self, c: Self, grows: bool) -> Self;
    /// The host's product: denormals and negative zeros stay. The result of the function must not depend on that.
    fn mul_unflushed(self, b: Self) -> Self;
    /// `k` added to the exponent field. Assumed: the number is neither zero nor near the ends of the range.
    fn shift_exponent(self, k: i32) -> Self;

    /// Horner's rule. Assumed: the argument is within the bounds of the plan.
    fn horner_planned(self, x: Self, coefficients: &[u32], plan: Plan) -> Self;
    /// Horner's rule, by the plan if the arguments of all lanes are within its bounds.
    fn horner_within(self, x: Self, coefficients: &[u32], plan: Plan) -> Self;

    /// The number, clamped to the range, less the nearest multiple of ln 2, and what multiple that is. -0 and denormals
    /// stay, which leaves no trace beside 1.
    fn reduce_by_ln2(self, range: [f32; 2]) -> (Self, Self);
    /// The number, clamped to -127 and 128, less the nearest integer, and that.
    fn reduce_by_one(self) -> (Self, Self);
    /// The number times two to a power, with the limits of an exponential. Assumed: it is from 1/2 to 2, the power from
    /// -127 to 128.
    fn scale_exp(self, power: Self) -> Self;
    /// The reciprocal of the mantissa by Newton steps from the seed of the FP32 kernels.
    fn reciprocal_of_mantissa(self, steps: usize) -> Self;
    /// `self * first + second` rounded to an integer, which is left in the low bits. Expected: numbers up to 64, and no
    /// sum near the middle of two integers.
    fn round_line(self, first: u32, second: u32) -> Self;
    /// The exponent as a number.
    fn exponent_as_number(self) -> Self;
    /// So many times [`crate::functions::blocks::ROUGH_LN2`], and the logarithm of the mantissa. Assumed: from -1
    /// to 15 times, of a logarithm from 0 to 0.7 that is a multiple of 2^-26.
    fn add_rough_exponent(self, mantissa: Self) -> Self;
    /// For a logarithm: how often a word is to be halved to lie in [0.75, 1.5), in place, and as a number times 2^23.
    fn split_exponent(self) -> (Self, Self);
    /// So many times ln 2, and the logarithm of the mantissa. Assumed: that is from -0.29 to 0.41.
    fn add_exponent(self, mantissa: Self) -> Self;
    /// The logarithm's value, or what it is where there is none. Expected: no denormal, infinity or NaN.
    fn limit_log(self, value: Self) -> Self;
}
