//! Arithmetic of two pages by the SFPU: `add_binary`, `sub_binary`, `rsub_binary`, `mul_binary`, `isclose`.
//!
//! A sum is one with a product of 8 bits, and a product has 16: the host's results are the unit's, as `sums.rs` says.
//!
//! `isclose` asks whether a difference, which is exact in that sense, exceeds a tolerance: a product and a sum of
//! numbers that are not negative, at most 2^-21 of it away from the unit's, as `sums.rs` says, too. Where the
//! difference is nearer, the definition is asked.

use super::lanes::{Fallbacks, Lane, lane_kernel, round_even};
use tt_tensix::regs::Bf16Page;
use tt_tensix::regs::HalfTile;

const ONE: u16 = 127 << 7;

/// What a store leaves of a number.
#[inline(always)]
pub(super) fn truncated(number: f32) -> u16 {
    (number.to_bits() >> 16) as u16
}

macro_rules! functions {
    ($($name:ident $lane:ident [$first:literal, $last:literal]: |$a:ident, $b:ident| $result:expr;)+) => { $(
        struct $lane;

        impl Lane<2> for $lane {
            const WINDOW: [u16; 2] = [$first, $last];
            const FALLS_BACK: bool = false;
            #[inline(always)]
            fn compute([$a, $b]: [f32; 2], _: [f32; 2]) -> (u16, u16) {
                ($result, 0)
            }
        }

        lane_kernel!($name, $lane, 2);
    )+ };
}

functions! {
    sum Sum [40, 250]: |a, b| truncated(a + b);
    difference Difference [40, 250]: |a, b| truncated(a - b);
    reversed_difference ReversedDifference [40, 250]: |a, b| truncated(b - a);
    product Product [64, 189]: |a, b| if a == 0.0 || b == 0.0 { 0 } else { round_even(a * b) };
}

struct Close;

impl Lane<2> for Close {
    const WINDOW: [u16; 2] = [76, 189];
    #[inline(always)]
    fn takes([relative, absolute]: [f32; 2]) -> bool {
        relative.is_sign_positive() && absolute.is_sign_positive()
    }
    #[inline(always)]
    fn compute([a, b]: [f32; 2], [relative, absolute]: [f32; 2]) -> (u16, u16) {
        let (distance, tolerance) = ((a - b).abs(), b.abs() * relative + absolute);
        let near = (distance - tolerance).abs() < tolerance * (1.0 / (1 << 20) as f32);
        (if distance > tolerance { 0 } else { ONE }, u16::from(near))
    }
}

lane_kernel!(isclose, Close, 2);
