//! The multiply-add by the host's arithmetic, one form for each relation of product and addend, and the lanes that each
//! leaves in doubt.

use super::known::{Known, LIMIT};
use super::{A, Float, Guess, INFINITY, Int, Lanes, MANTISSA, SIGN, STEP, float, is_within, magnitude, splat};
use crate::sfpu::lane::ONE;
use crate::vector::Vector;

/// 2^-100. Beside results from here on, denormals and products without exponent are nothing.
pub(super) const SMALL: u32 = 27 << 23;
/// A product with this many zeros at the end of its 48 bits is not cut by the grid of an addend that it nearly cancels:
/// the grid takes 20, and the addend's exponent may be larger by two.
const ZEROS_OF_EXACT: u32 = 22;
/// A constant with as many zeros is short enough for products with integers to have 24 bits.
const ZEROS_OF_SHORT: u32 = 10;

/// Neither 0 nor at least 2^-100 nor infinite; -0 passes.
#[inline(always)]
fn is_tiny(word: Int) -> Lanes {
    A::below_unsigned(A::sub(magnitude(word), splat(1)), splat(SMALL - 1))
}

/// The operands of `x * y + z`, and which of the vectors is meant.
#[derive(Clone, Copy)]
pub(super) struct Operands {
    pub(super) x: Guess,
    pub(super) y: Guess,
    pub(super) z: Guess,
    pub(super) lane: usize,
}

impl Operands {
    #[inline(always)]
    pub(super) fn floats(self) -> (Float, Float, Float) {
        (float(self.x.words[self.lane]), float(self.y.words[self.lane]), float(self.z.words[self.lane]))
    }

    #[inline(always)]
    fn host(self) -> Int {
        let (x, y, z) = self.floats();
        A::to_bits(A::fma(x, y, z))
    }

    /// A denormal factor would count in the host.
    #[inline(always)]
    pub(super) fn denormal_factor(self) -> Lanes {
        self.x.denormal(self.lane) | self.y.denormal(self.lane)
    }

    /// The second factor is a constant that is not tiny, and products cannot leave the range above, where the unit does
    /// not let the addend bring them back.
    #[inline(always)]
    pub(super) fn keeps_range(self) -> bool {
        let finite = self.x.known.times(self.y.known).is_finite();
        self.y.constant.is_some_and(|word| (SMALL..=if finite { INFINITY - 1 } else { ONE }).contains(&(word & !SIGN)))
    }

    /// No product is so small that the unit loses it.
    #[inline(always)]
    fn has_large_product(self) -> bool {
        self.x.known.times(self.y.known).least >= -100
    }

    /// A doubt about results at the ends of the range, of an addend that outweighs the product. If the addend cannot be
    /// small, the result is not; if it can be nothing, the product must not be small.
    #[inline(always)]
    fn extreme(self, result: Int) -> Lanes {
        let z = self.z.known;
        let constant = self.z.constant.is_some_and(|word| word & !SIGN >= SMALL);
        if z.tame && z.is_finite() && (constant || self.has_large_product()) {
            return 0;
        }
        let wild = A::is_wild_or_infinite(float(result));
        if self.has_large_product() { wild | self.z.denormal(self.lane) } else { wild | is_tiny(result) }
    }

    /// The addend's power of two, with its sign.
    #[inline(always)]
    fn power(self) -> Int {
        A::and(self.z.words[self.lane], splat(SIGN | INFINITY))
    }

    /// Whether the addend outweighs the product, or nearly so: the result has the addend's sign and is above half of
    /// its power of two and below three times that. Then the product is less than twice that power and its exponent at
    /// most the addend's, which is even, and the sum is less than four times that power.
    #[inline(always)]
    fn is_ordinary(self, result: Int) -> Lanes {
        is_ordinary(self.above_half(result))
    }

    /// How far a result's word is from half of the addend's power of two.
    #[inline(always)]
    fn above_half(self, result: Int) -> Int {
        A::sub(result, A::sub(self.power(), splat(STEP - 1)))
    }

    /// A step of a polynomial: the result and its word's distance from half of the addend's power of two, of which
    /// [`is_ordinary`] tells the rest. For addends that are ordinary numbers.
    #[inline(always)]
    pub(super) fn of_polynomial(self, above: i32) -> (Int, Int, Known) {
        let result = self.host();
        (result, self.above_half(result), self.near_addend(1, above))
    }

    /// What is known of a result that is smaller or larger than the addend by so many exponents at most.
    #[inline(always)]
    fn near_addend(self, below: i32, above: i32) -> Known {
        Known::between(self.z.known.least - below, self.z.known.most + above)
    }

    #[inline(always)]
    pub(super) fn ordinary(self) -> (Int, Lanes, Known) {
        let result = self.host();
        (result, !self.is_ordinary(result) | self.extreme(result) | self.denormal_factor(), self.near_addend(1, 1))
    }

    /// The product is small beside the addend: the case is ordinary if the result has the addend's exponent.
    #[inline(always)]
    pub(super) fn nudged(self) -> (Int, Lanes, Known) {
        let result = self.host();
        let crossed = A::any_bit(A::xor(result, self.z.words[self.lane]), splat(SIGN | INFINITY));
        (result, crossed | self.extreme(result) | self.denormal_factor(), self.near_addend(1, 1))
    }

    /// The same, proven of the lanes that count.
    #[inline(always)]
    pub(super) fn proven(self) -> (Int, Lanes, Known) {
        (self.host(), 0, self.near_addend(1, 1))
    }

    /// One factor is a power of two that keeps the range: the product has 24 bits and less than twice its power, so
    /// that it is even, has no tie, and the sum is less than four times the larger power.
    #[inline(always)]
    pub(super) fn of_short_product(self) -> (Int, Lanes, Known) {
        let result = self.host();
        let doubt = is_tiny(result) | A::is_wild(float(result)) | self.denormal_factor() | self.z.denormal(self.lane);
        let most = self.x.known.times(self.y.known).most.max(self.z.known.most);
        (result, doubt, Known { most: (most + 1).min(LIMIT), ..Known::TAME })
    }

    /// The same for a constant factor that is larger than 1. Half of the range is left for it.
    #[inline(always)]
    pub(super) fn of_large_power(self) -> (Int, Lanes, Known) {
        let (result, doubt, known) = self.of_short_product();
        (result, doubt | !A::below_unsigned(magnitude(self.x.words[self.lane]), splat(191 << 23)), known)
    }

    /// The case before for any power of two, which is asked for. A factor of at most 1 keeps the product in range.
    #[inline(always)]
    pub(super) fn scaled(self) -> (Int, Lanes, Known) {
        let (result, doubt, known) = self.of_short_product();
        let long = A::any_bit(self.y.words[self.lane], splat(MANTISSA));
        let small = A::at_most(float(magnitude(self.x.words[self.lane])), A::splat_float(1.0));
        (result, doubt | long | !small, known)
    }

    /// The same for a constant factor of 1: nothing falls below the range but by denormals, and what does so is exact.
    #[inline(always)]
    pub(super) fn sum(self) -> (Int, Lanes, Known) {
        let (_, y, z) = self.floats();
        self.of_terms(A::add_float(z, y))
    }

    /// And for one of -1.
    #[inline(always)]
    pub(super) fn difference(self) -> (Int, Lanes, Known) {
        let (_, y, z) = self.floats();
        self.of_terms(A::sub_float(z, y))
    }

    #[inline(always)]
    fn of_terms(self, result: Float) -> (Int, Lanes, Known) {
        let (y, z) = (self.y.known, self.z.known);
        let least = y.least.min(z.least);
        if least >= -90 && y.is_finite() && z.is_finite() && (y.tame || z.tame) {
            // A difference is a multiple of the smaller one's last place.
            return (A::to_bits(result), 0, Known::between(least - 23, y.most.max(z.most) + 1));
        }
        // Beside a constant that is not small, a number without exponent is nothing, and the difference is a multiple
        // of what is not small.
        if self.z.constant.is_some() && y.tame && z.least >= -90 && z.is_finite() {
            return (A::to_bits(result), 0, Known::TAME);
        }
        let denormal = self.y.denormal(self.lane) | self.z.denormal(self.lane);
        (A::to_bits(result), A::is_wild(result) | denormal, Known::TAME)
    }

    /// The addend is nothing. The host's smallest normal number may be one that was rounded up to it.
    #[inline(always)]
    pub(super) fn product(self) -> (Int, Lanes, Known) {
        let (x, y, zero) = self.floats();
        let known = self.x.known.times(self.y.known);
        if known.least >= -125 && known.is_finite() {
            // Added to, a negative zero becomes a positive one.
            return (A::to_bits(A::fma(x, y, zero)), 0, known);
        }
        if self.y.constant == Some(0) {
            let result = A::fma(x, y, zero);
            return (A::to_bits(result), A::is_wild(result), Known { tame: true, ..Known::ZERO });
        }
        // A factor that is no constant is rarely a negative zero, and a product takes no register for a zero.
        let result = if self.y.constant.is_some() { A::fma(x, y, zero) } else { A::mul_float(x, y) };
        let word = A::to_bits(result);
        if self.y.constant.is_some_and(|word| (ONE..INFINITY).contains(&word)) {
            // No smaller than the other factor, and of its sign.
            return (word, if self.x.known.tame { 0 } else { A::is_nan_or_denormal(x) }, known);
        }
        if known.least >= -125 {
            return (word, A::is_wild(result), known);
        }
        let smallest = A::equal(A::add(word, word), splat(STEP << 1));
        (word, A::is_wild(result) | smallest | self.denormal_factor(), known)
    }

    /// The sum is less than 1/16 of the addend's power of two, and the product's exponent at most the addend's. So the
    /// result is the exact sum, jammed on the grid; that is what comes of rounding it down and up beside a number that
    /// moves the grid to its last bit.
    #[inline(always)]
    pub(super) fn residual(self) -> (Int, Lanes, Known) {
        let (x, y, z) = self.floats();
        let of_one = self.z.constant == Some(ONE);
        let (down, up, beside, doubt) = if of_one {
            let beside = A::splat_float(1.1875);
            (A::fma_down(x, y, beside), A::fma_up(x, y, beside), A::splat_float(0.1875), 0)
        } else {
            let power = A::and(A::to_bits(z), splat(INFINITY));
            let beside = A::mul_float(float(power), A::splat_float(0.1875));
            let product = magnitude(A::to_bits(A::mul_float(x, y)));
            let below = A::below_unsigned(product, A::add(power, splat(STEP)));
            let usual = is_within(power, splat(SMALL), INFINITY - SMALL);
            let (down, up) = (A::fma_down(x, y, z), A::fma_up(x, y, z));
            (A::add_down(down, beside), A::add_up(up, beside), beside, !(below & usual))
        };
        let jammed = A::jam(A::to_bits(down), A::to_bits(up));
        // From two thirds of that number to four thirds, which is one exponent.
        let first = A::sub(A::to_bits(beside), splat(STEP / 2));
        let result = A::to_bits(A::sub_float(float(jammed), beside));
        let known = if of_one { Known::between(-26, -4) } else { Known::TAME };
        (result, doubt | !is_within(jammed, first, STEP) | self.denormal_factor(), known)
    }

    /// As the ordinary case, or the sum is between a quarter and half of the addend's power of two: then the grid has
    /// one bit more than the result, and everything between two results is jammed to the middle, a tie, of which the
    /// even one comes.
    #[inline(always)]
    pub(super) fn shrinking(self) -> (Int, Lanes, Known) {
        let (x, y, z) = self.floats();
        let (down, up) = (A::to_bits(A::fma_down(x, y, z)), A::to_bits(A::fma_up(x, y, z)));
        let even = A::select(A::any_bit(down, splat(1)), up, down);
        let first = A::sub(self.power(), splat(2 * STEP - 1));
        if self.z.known.least < -90 || !self.z.known.tame || self.z.constant.is_none() {
            return self.ordinary();
        }
        let halved = is_within(down, first, STEP - 1) & is_within(up, first, STEP - 1);
        let host = self.host();
        let result = A::select(halved, even, host);
        let good = halved | self.is_ordinary(host);
        (result, !good | self.extreme(result) | self.denormal_factor(), self.near_addend(2, 1))
    }

    /// The product is exact on every grid that matters, and the sum is no larger than the addend. So the signs differ,
    /// or the product is too small to count, and the product's exponent is at most one above the addend's, which is not
    /// cut.
    ///
    /// If 24 bits hold the product, it has no tie, and it is enough that the signs differ: an addend that is cut leaves
    /// at least half of the product.
    #[inline(always)]
    pub(super) fn reduce(self) -> (Int, Lanes, Known) {
        let Some(factor) = self.y.constant.filter(|_| self.keeps_range()) else { return self.ordinary() };
        let result = self.host();
        let (x, z) = (self.x.words[self.lane], self.z.words[self.lane]);
        let is_short = factor.trailing_zeros() >= ZEROS_OF_SHORT;
        let zeros = if is_short { 24 } else { ZEROS_OF_EXACT }.saturating_sub(factor.trailing_zeros());
        let long = A::any_bit(x, splat((1 << zeros) - 1));
        let taken = if is_short {
            A::any_bit(A::xor(x, A::xor(z, splat(factor))), splat(SIGN)) | A::equal(magnitude(x), splat(0))
        } else {
            A::at_most(float(magnitude(result)), float(magnitude(z)))
        };
        // A factor that is 0 or at least 1 leaves no product that is too small for the unit.
        let whole = self.x.known.least >= 0;
        let tiny = if whole { 0 } else { is_tiny(z) | is_tiny(x) };
        let wild = if whole && self.z.known.tame { 0 } else { A::is_wild(float(result)) };
        let most = self.z.known.most.max(self.x.known.times(self.y.known).most);
        (result, long | !taken | wild | tiny, Known { most, ..Known::TAME })
    }

    /// The product may be larger than the addend, with the same sign, as long as the addend is even on its grid: by up
    /// to two exponents, and one more for each zero at the addend's end. If the product is cut by its grid, two places
    /// may be lost.
    #[inline(always)]
    pub(super) fn growing(self) -> (Int, Lanes, Known) {
        let result = self.host();
        let zeros = self.z.constant.map_or(0, |word| word.trailing_zeros().min(20));
        let distance = self.above_half(result);
        let grown = is_grown(distance, zeros);
        let good = grown & (is_ordinary(distance) | self.is_cut());
        (result, !good | self.extreme(result) | self.denormal_factor(), self.near_addend(1, 3 + zeros as i32))
    }

    /// The case before of a square and 1. A square that is not cut ends with an even number of zeros: its last one on
    /// the grid is in the lowest place, where it leaves a trace, or above both places that the sum may lose.
    #[inline(always)]
    pub(super) fn square_and_one(self) -> (Int, Lanes, Known) {
        let result = self.host();
        (result, !is_grown(self.above_half(result), 20) | self.denormal_factor(), Known::between(0, 23))
    }

    /// Fewer than 20 zeros at the end of the product of the words. Other products may be cut, too.
    #[inline(always)]
    fn is_cut(self) -> Lanes {
        let (x, y) = (self.x.words[self.lane], self.y.words[self.lane]);
        match (self.x.constant, self.y.constant) {
            (Some(word), _) => A::any_bit(y, splat(beside(word))),
            (_, Some(word)) => A::any_bit(x, splat(beside(word))),
            _ => A::any_bit(x, splat(0x1ff)) & A::any_bit(y, splat(0x7ff)),
        }
    }

    /// The product may be so much larger than the addend that both are jammed. Then the larger part of the product, the
    /// rest of it on the grid, and the addend on the grid are summed: the latter two exactly, so that there is one
    /// rounding.
    #[inline(always)]
    pub(super) fn far(self) -> (Int, Lanes, Known) {
        let (x, y, z) = self.floats();
        let (x_bits, y_bits, z_bits) = (A::to_bits(x), A::to_bits(y), A::to_bits(z));
        let plain = A::to_bits(A::fma(x, y, z));

        // An eighth of the product's power of two: added to less than itself, a sum whose last bit is the grid's.
        let powers = A::add(A::and(x_bits, splat(INFINITY)), A::and(y_bits, splat(INFINITY)));
        let eighth = A::sub(powers, splat((127 + 3) << 23));
        let sign = A::and(A::xor(x_bits, y_bits), splat(SIGN));
        let (x, y) = (float(magnitude(x_bits)), float(magnitude(y_bits)));
        let upper = A::mul_cut(x, y);
        let rest = A::fma(x, y, A::negative(upper));
        let (rest, _) = on_grid(rest, eighth);
        let addend = magnitude(z_bits);
        let (cut, lost) = on_grid(float(addend), eighth);
        let addend_cut = A::select(A::below_unsigned(addend, eighth), A::to_bits(cut), addend);
        let addend_sign = A::xor(A::and(z_bits, splat(SIGN)), sign);
        let lower = A::add_float(rest, float(A::or(addend_cut, addend_sign)));
        let far = A::xor(A::to_bits(A::add_float(upper, lower)), sign);

        let quarter = A::add(eighth, splat(STEP));
        let usual = is_within(eighth, splat(SMALL), INFINITY - SMALL - 8 * STEP);
        let small = usual & A::below_unsigned(addend, quarter);
        let result = A::select(small, far, plain);
        // Above half of the product's power and below four times it.
        let kept = is_within(magnitude(result), A::add(eighth, splat(2 * STEP + 1)), 3 * STEP - 1);
        let exact = A::below_unsigned(magnitude(A::to_bits(lower)), quarter);
        let good_far = small & exact & !lost;
        let good_plain = !small & A::below_unsigned(addend, A::add(eighth, splat(4 * STEP)));
        let ordinary = !small & self.is_ordinary(plain) & !self.extreme(plain);
        (result, !(usual & kept & (good_far | good_plain) | ordinary) | self.denormal_factor(), Known::TAME)
    }
}

/// Whether no result lies outside of half of the addend's power of two and three times that.
#[inline(always)]
pub(super) fn is_ordinary(above_half: Int) -> Lanes {
    A::below_unsigned(above_half, splat(2 * STEP + STEP / 2 - 1))
}

/// Whether no result lies outside of half of the addend's power of two and eight times that, or more for an addend that
/// ends with zeros.
#[inline(always)]
pub(super) fn is_grown(above_half: Int, zeros: u32) -> Lanes {
    A::below_unsigned(above_half, splat((4 + zeros) * STEP - 1))
}

/// The bits at the end of a word that must be clear for its product with another one to have 20 zeros.
fn beside(word: u32) -> u32 {
    (1 << 20_u32.saturating_sub((word | STEP).trailing_zeros())) - 1
}

/// A number less than `eighth`, not negative, jammed on the grid of which that is 2^23 places; and whether it was less
/// than two places, of which the unit may keep nothing.
#[inline(always)]
fn on_grid(number: Float, eighth: Int) -> (Float, Lanes) {
    let (down, up) = (A::add_down(number, float(eighth)), A::add_up(number, float(eighth)));
    let jammed = A::jam(A::to_bits(down), A::to_bits(up));
    (A::sub_float(float(jammed), float(eighth)), A::equal(jammed, A::add(eighth, splat(1))))
}
