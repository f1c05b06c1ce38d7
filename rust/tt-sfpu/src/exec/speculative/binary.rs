//! The speculative programs of `functions/binary.rs` and `functions/division.rs`.

use super::Speculative;
use crate::arith::lane::{flipsign, mul, select, setexp, setsign, store_f32, sub};
use crate::functions::binary::{is_regular, regular_quotient, special_quotient};
use crate::functions::division::{as_numbers, quotient_of_numbers};

/// Error bound of the mantissa reciprocal's estimate after its step.
///
/// It is 1/10000 off at most, so that the quotient is, and its product with the divisor leaves less than 1/16 of the
/// dividend's mantissa.
#[inline(always)]
pub fn div_f32<S: Speculative>(a: S, b: S) -> S {
    let (over, under) = (setexp(a, 127).assume(0, 1), setexp(b, 127).assume(0, 1));
    let inverse = setsign(b.reciprocal_of_mantissa(1), under).assume(-2, 1);
    let estimate = mul(over, inverse).assume(-2, 1);
    let rest = estimate.fma_residual(flipsign(under), over);
    let quotient = regular_quotient(a, b, rest.host_fma(inverse, estimate));
    let special = !is_regular(a, b);
    store_f32(if S::any(special) { select(special, special_quotient(a, b), quotient) } else { quotient })
}

/// Quotient in two steps.
///
/// The part that the first one lacks is small beside it.
#[inline(always)]
pub fn div_to_fp32<S: Speculative>(a: S, b: S) -> S {
    let (over, under) = as_numbers(a, b);
    let inverse = under.reciprocal(2);
    let quotient = mul(over, inverse);
    let refined = sub(over, mul(quotient, under)).fma(inverse, quotient);
    quotient_of_numbers(a, b, quotient, refined)
}
