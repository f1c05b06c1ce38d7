//! The multiply-add in whatever relation its terms stand: the sum on the unit's grid, put together from two parts.
//!
//! The grid is 2^-26 of the larger exponent. Both terms are split at 64 of its places. The upper parts have an exact
//! sum; the lower parts are rounded to odd on the grid, after which theirs is exact, too. Adding the two sums is the one
//! rounding.

use super::range::Range;
use super::step::Operands;
use super::{A, BIAS, INFINITY, Int, Lanes, STEP, float, is_within, magnitude, splat};
use tt_cpu::vector::Vector;

/// Factors are below two to this power. So zeros, whose exponent means nothing, and denormals are far below the grid.
const LARGEST_FACTOR: i32 = 41;
/// The larger exponent is from here on,
const LEAST: i32 = -58;
/// up to here.
const MOST: i32 = 100;

impl Operands {
    #[inline(always)]
    pub(super) fn general(self) -> (Int, Lanes, Range) {
        let (x, y, z) = self.floats();
        let (x_power, y_power) = (power(self.x.words[self.lane]), power(self.y.words[self.lane]));
        let z_power = A::add(power(self.z.words[self.lane]), splat(BIAS));
        // The larger exponent in place, with the bias of two.
        let largest = A::max_unsigned(A::add(x_power, y_power), z_power);
        // Added to, 1.5 * 2^3 of the power leaves 64 places of the grid; 1.5 / 2^3 of it leaves one.
        let coarse = float(A::add(largest, splat((3 * STEP + STEP / 2).wrapping_sub(BIAS))));
        let fine = A::sub(largest, splat(3 * STEP - STEP / 2 + BIAS));

        let minus_upper = A::sub_float(coarse, A::fma(x, y, coarse));
        let (down, up) = (A::fma_down(x, y, minus_upper), A::fma_up(x, y, minus_upper));
        let product = round_to_odd(A::add_down(down, float(fine)), A::add_up(up, float(fine)));

        // Nothing is left of an addend below the grid.
        let z = float(A::keep(A::below_unsigned(largest, A::add(z_power, splat(27 * STEP))), A::to_bits(z)));
        let minus_z_upper = A::sub_float(coarse, A::add_float(z, coarse));
        let z_lower = A::add_float(z, minus_z_upper);
        let addend = round_to_odd(A::add_down(z_lower, float(fine)), A::add_up(z_lower, float(fine)));

        let lower = A::sub(A::add(product, addend), fine);
        let sum = A::sub_float(A::sub_float(float(lower), float(fine)), A::add_float(minus_upper, minus_z_upper));
        let result = A::to_bits(sum);
        // A sum that is two exponents above the larger one loses two bits, of which the upper one leaves no trace,
        // unless the lower one does.
        let large = !A::below_unsigned(magnitude(result), A::add(largest, splat((2 * STEP).wrapping_sub(BIAS))));
        let lost = large & !A::any_bit(lower, splat(1));
        (result, lost | self.outside(A::max_unsigned(x_power, y_power), largest), self.range())
    }

    /// Lanes whose larger factor or larger exponent is out of range, unless the program's text says that there is none.
    #[inline(always)]
    fn outside(self, factor: Int, largest: Int) -> Lanes {
        let (x, y, z) = (self.x.range, self.y.range, self.z.range);
        let factors = if x.most <= LARGEST_FACTOR && y.most <= LARGEST_FACTOR {
            0
        } else {
            !A::below_unsigned(factor, splat(((127 + LARGEST_FACTOR) as u32) << 23))
        };
        let first = ((127 + LEAST) as u32) << 23;
        let outside = if self.z.constant.is_some() && z.regular && z.least >= LEAST && z.most <= MOST {
            0
        } else {
            !is_within(largest, splat(BIAS + first), ((MOST - LEAST) as u32) << 23)
        };
        factors | outside
    }

    #[inline(always)]
    fn range(self) -> Range {
        let least = if self.z.constant.is_some() { self.z.range.least.max(LEAST) } else { LEAST };
        let most = self.x.range.times(self.y.range).most.max(self.z.range.most);
        Range::between(least - 26, most.min(MOST + 1) + 1)
    }
}

/// Two to the exponent, in place.
#[inline(always)]
fn power(word: Int) -> Int {
    A::and(word, splat(INFINITY))
}

#[inline(always)]
fn round_to_odd(down: <A as Vector>::Float, up: <A as Vector>::Float) -> Int {
    A::round_to_odd(A::to_bits(down), A::to_bits(up))
}
