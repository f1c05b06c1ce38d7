//! The multiply-add in whatever relation its terms stand, with AVX-512.
//!
//! The sum on the unit's grid, put together from two parts.
//!
//! The grid is 2^-26 of the larger exponent. Both terms are split at 64 of its places. The upper parts have an exact
//! sum; the lower parts are rounded to odd on the grid, after which theirs is exact, too. Adding the two sums is the one
//! rounding.

use std::arch::x86_64::{__m512, __m512i, __mmask16};

use tt_cpu::vector::Vector;
use tt_cpu::vector::avx512::Avx512 as A;

/// Factors are below two to this power. So zeros, whose exponent means nothing, and denormals are far below the grid.
pub(crate) const LARGEST_FACTOR: i32 = 41;
/// The larger exponent is from here on,
pub(crate) const LEAST: i32 = -58;
/// up to here.
pub(crate) const MOST: i32 = 100;

/// The exponent of 1, in place.
const BIAS: u32 = 127 << 23;
/// One step of the exponent.
const STEP: u32 = 1 << 23;

/// A sum on the grid, and the numbers that tell whether it is right.
#[derive(Clone, Copy)]
pub(crate) struct Sum {
    pub(crate) words: __m512i,
    /// Lanes that lost bits of the sum.
    pub(crate) lost: __mmask16,
    /// The larger power of two of the factors, in place.
    factor: __m512i,
    /// The larger exponent of the terms, in place, with the bias of two.
    largest: __m512i,
}

/// Returns `x * y + z` on the grid, right in lanes that are neither lost nor out of range.
#[inline(always)]
pub(crate) fn multiply_add(x: __m512i, y: __m512i, z: __m512i) -> Sum {
    let (x_power, y_power) = (power(x), power(y));
    let z_power = A::add(power(z), splat(BIAS));
    let largest = A::max_unsigned(A::add(x_power, y_power), z_power);
    // Added to, 1.5 * 2^3 of the power leaves 64 places of the grid; 1.5 / 2^3 of it leaves one.
    let coarse = A::from_bits(A::add(largest, splat((3 * STEP + STEP / 2).wrapping_sub(BIAS))));
    let fine = A::sub(largest, splat(3 * STEP - STEP / 2 + BIAS));

    let (x, y) = (A::from_bits(x), A::from_bits(y));
    let minus_upper = A::sub_float(coarse, A::fma(x, y, coarse));
    let (down, up) = (A::fma_down(x, y, minus_upper), A::fma_up(x, y, minus_upper));
    let product = round_to_odd(A::add_down(down, A::from_bits(fine)), A::add_up(up, A::from_bits(fine)));

    // Nothing is left of an addend below the grid.
    let z = A::from_bits(A::keep(A::below_unsigned(largest, A::add(z_power, splat(27 * STEP))), z));
    let minus_z_upper = A::sub_float(coarse, A::add_float(z, coarse));
    let z_lower = A::add_float(z, minus_z_upper);
    let addend = round_to_odd(A::add_down(z_lower, A::from_bits(fine)), A::add_up(z_lower, A::from_bits(fine)));

    let lower = A::sub(A::add(product, addend), fine);
    let sum =
        A::sub_float(A::sub_float(A::from_bits(lower), A::from_bits(fine)), A::add_float(minus_upper, minus_z_upper));
    let words = A::to_bits(sum);
    // A sum that is two exponents above the larger one loses two bits, of which the upper one leaves no trace,
    // unless the lower one does.
    let magnitude = A::and(words, splat(u32::MAX >> 1));
    let large = !A::below_unsigned(magnitude, A::add(largest, splat((2 * STEP).wrapping_sub(BIAS))));
    let lost = large & !A::any_bit(lower, splat(1));
    Sum { words, lost, factor: A::max_unsigned(x_power, y_power), largest }
}

impl Sum {
    /// Lanes whose sum may not be the unit's.
    #[inline(always)]
    pub(crate) fn wrong(self) -> __mmask16 {
        self.lost | self.large_factors() | self.outside()
    }

    /// Lanes whose larger factor is out of range.
    #[inline(always)]
    pub(crate) fn large_factors(self) -> __mmask16 {
        !A::below_unsigned(self.factor, splat(((127 + LARGEST_FACTOR) as u32) << 23))
    }

    /// Lanes whose larger exponent is out of range.
    #[inline(always)]
    pub(crate) fn outside(self) -> __mmask16 {
        let first = BIAS + (((127 + LEAST) as u32) << 23);
        !A::below_unsigned(A::sub(self.largest, splat(first)), splat(((MOST - LEAST) as u32) << 23))
    }
}

#[inline(always)]
fn splat(word: u32) -> __m512i {
    A::splat(word as i32)
}

/// Two to the exponent, in place.
#[inline(always)]
fn power(word: __m512i) -> __m512i {
    A::and(word, splat(255 << 23))
}

#[inline(always)]
fn round_to_odd(down: __m512, up: __m512) -> __m512i {
    A::round_to_odd(A::to_bits(down), A::to_bits(up))
}
