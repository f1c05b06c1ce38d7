//! `fmod_binary` and `remainder_binary` of two pages, by the host's division.
//!
//! The kernels take a whole quotient from the product with the divisor's reciprocal, which is 2^-21 of it off at most,
//! and correct by one divisor what that leaves, if it has the wrong sign or is too large. A dividend that is not below
//! the divisor is a multiple of the divisor's last place, and so is what is left, which therefore has 8 bits. A whole
//! quotient of up to 16 bits times the divisor has 24, so that all steps are exact, and the corrections give the exact
//! remainder.
//!
//! Of a dividend below the divisor the whole quotient is 0, or -1 with the other sign for `remainder`: then one sum is
//! rounded, as `sums.rs` says, and the result to BF16, ties away from zero.
//!
//! `remainder` has no correction for operands of different signs if the whole quotient is one too small. That happens
//! only if nothing is left, or less than the quotient is off: quotients below 2^13 are off by less than a divisor's
//! last place. So it is left to the definition where nothing is left of different signs.

use super::lanes::{Fallbacks, Lane, lane_kernel, round_away};
use tt_tensix::regs::Bf16Page;
use tt_tensix::regs::HalfTile;

/// 2^23 * 1.5: added and taken away, it leaves the nearest integer.
const ROUNDER: f32 = 12_582_912.0;
const WINDOW: [u16; 2] = [76, 170];

#[inline(always)]
fn nearest(number: f32) -> f32 {
    (number + ROUNDER) - ROUNDER
}

struct Fmod;
struct Remainder;

impl Lane<2> for Fmod {
    const WINDOW: [u16; 2] = WINDOW;
    #[inline(always)]
    fn compute([a, b]: [f32; 2], _: [f32; 2]) -> (u16, u16) {
        let (dividend, divisor) = (a.abs(), b.abs());
        let quotient = dividend / divisor;
        let rest = dividend - nearest(quotient) * divisor;
        let rest = if rest < 0.0 { rest + divisor } else { rest };
        let sign = (a.to_bits() >> 16) as u16 & super::SIGN;
        let half = (rest.to_bits() >> 16) as u16;
        let result = if rest == 0.0 { 0 } else { half | sign };
        // The kernel's NaN of a divisor of zero is rounded to infinity.
        if divisor == 0.0 { (super::INFINITY, 0) } else { (result, u16::from(quotient >= 65_000.0)) }
    }
}

impl Lane<2> for Remainder {
    const WINDOW: [u16; 2] = WINDOW;
    #[inline(always)]
    #[allow(clippy::needless_bitwise_bool, reason = "lanes have no branches")]
    fn compute([a, b]: [f32; 2], _: [f32; 2]) -> (u16, u16) {
        let quotient = a / b;
        let rest = a - nearest(quotient) * b;
        let other_sign = (rest < 0.0) != (b < 0.0);
        let result = if other_sign & (rest != 0.0) { rest + b } else { rest };
        let unsettled = (quotient < 0.0) & (result == 0.0) | (quotient.abs() >= 8000.0);
        // As above.
        if b == 0.0 { (super::INFINITY, 0) } else { (round_away(result), u16::from(unsettled)) }
    }
}

lane_kernel!(fmod, Fmod, 2);
lane_kernel!(remainder, Remainder, 2);
