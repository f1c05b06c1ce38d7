//! The multiply-add by host arithmetic, and fallback lanes.
//!
//! One form for each relation of product and addend.

use super::range::{LIMIT, Range};
use super::{A, Float, INFINITY, Int, Lanes, SIGN, STEP, SpecLanes, float, is_within, magnitude, splat};
use crate::arith::lane::ONE;
use tt_cpu::vector::Vector;

/// 2^-100, above which denormals and tiny products vanish.
///
/// Beside results from here on, denormals and products without exponent are nothing.
pub const SMALL: u32 = 27 << 23;
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
pub struct Operands {
    pub x: SpecLanes,
    pub y: SpecLanes,
    pub z: SpecLanes,
    pub lane: usize,
}

impl Operands {
    #[inline(always)]
    pub fn floats(self) -> (Float, Float, Float) {
        (float(self.x.words[self.lane]), float(self.y.words[self.lane]), float(self.z.words[self.lane]))
    }

    #[inline(always)]
    fn host(self) -> Int {
        let (x, y, z) = self.floats();
        A::to_bits(A::fma(x, y, z))
    }

    /// A denormal factor would count in the host.
    #[inline(always)]
    pub fn denormal_factor(self) -> Lanes {
        self.x.denormal(self.lane) | self.y.denormal(self.lane)
    }

    /// A not tiny constant factor; products cannot exceed the range.
    ///
    /// They cannot leave the range above, where the unit does not let the addend bring them back.
    #[inline(always)]
    pub fn keeps_range(self) -> bool {
        let finite = self.x.range.times(self.y.range).is_finite();
        self.y.constant.is_some_and(|word| (SMALL..=if finite { INFINITY - 1 } else { ONE }).contains(&(word & !SIGN)))
    }

    /// No product is so small that the unit loses it.
    #[inline(always)]
    fn has_large_product(self) -> bool {
        self.x.range.times(self.y.range).least >= -100
    }

    /// The lanes with results at the ends of the range, of an addend that outweighs the product. If the addend cannot be
    /// small, the result is not; if it can be nothing, the product must not be small.
    #[inline(always)]
    fn extreme(self, result: Int) -> Lanes {
        let z = self.z.range;
        let constant = self.z.constant.is_some_and(|word| word & !SIGN >= SMALL);
        if z.regular && z.is_finite() && (constant || self.has_large_product()) {
            return 0;
        }
        let irregular = A::is_irregular_or_infinite(float(result));
        if self.has_large_product() { irregular | self.z.denormal(self.lane) } else { irregular | is_tiny(result) }
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

    /// A step of a polynomial.
    ///
    /// The result and its word's distance from half of the addend's power of two, of which [`is_ordinary`] tells the
    /// rest. For addends that are ordinary numbers.
    #[inline(always)]
    pub fn of_polynomial(self, above: i32) -> (Int, Int, Range) {
        let result = self.host();
        (result, self.above_half(result), self.near_addend(1, above))
    }

    /// The range of a result that is smaller or larger than the addend by so many exponents at most.
    #[inline(always)]
    fn near_addend(self, below: i32, above: i32) -> Range {
        Range::between(self.z.range.least - below, self.z.range.most + above)
    }

    #[inline(always)]
    pub fn ordinary(self) -> (Int, Lanes, Range) {
        let result = self.host();
        (result, !self.is_ordinary(result) | self.extreme(result) | self.denormal_factor(), self.near_addend(1, 1))
    }

    /// The product is small beside the addend.
    ///
    /// The case is ordinary if the result has the addend's exponent.
    #[inline(always)]
    pub fn small_product(self) -> (Int, Lanes, Range) {
        let result = self.host();
        let crossed = A::any_bit(A::xor(result, self.z.words[self.lane]), splat(SIGN | INFINITY));
        (result, crossed | self.extreme(result) | self.denormal_factor(), self.near_addend(1, 1))
    }

    /// The host's result, assumed to be the unit's.
    #[inline(always)]
    pub fn assumed(self) -> (Int, Lanes, Range) {
        (self.host(), 0, self.near_addend(1, 1))
    }

    /// One factor is a power of two that keeps the range.
    ///
    /// The product has 24 bits and less than twice its power, so that it is even, has no tie, and the sum is less than
    /// four times the larger power.
    #[inline(always)]
    pub fn of_short_product(self) -> (Int, Lanes, Range) {
        let result = self.host();
        let fallback =
            is_tiny(result) | A::is_irregular(float(result)) | self.denormal_factor() | self.z.denormal(self.lane);
        let most = self.x.range.times(self.y.range).most.max(self.z.range.most);
        (result, fallback, Range { most: (most + 1).min(LIMIT), ..Range::REGULAR })
    }

    /// The same for a constant factor that is larger than 1.
    ///
    /// Half of the range is left for it.
    #[inline(always)]
    pub fn of_large_power(self) -> (Int, Lanes, Range) {
        let (result, fallback, range) = self.of_short_product();
        (result, fallback | !A::below_unsigned(magnitude(self.x.words[self.lane]), splat(191 << 23)), range)
    }

    /// The same for a constant factor of 1.
    ///
    /// Nothing falls below the range but by denormals, and what does so is exact.
    #[inline(always)]
    pub fn sum(self) -> (Int, Lanes, Range) {
        let (_, y, z) = self.floats();
        self.of_terms(A::add_float(z, y))
    }

    /// And for one of -1.
    #[inline(always)]
    pub fn difference(self) -> (Int, Lanes, Range) {
        let (_, y, z) = self.floats();
        self.of_terms(A::sub_float(z, y))
    }

    #[inline(always)]
    fn of_terms(self, result: Float) -> (Int, Lanes, Range) {
        let (y, z) = (self.y.range, self.z.range);
        let least = y.least.min(z.least);
        if least >= -90 && y.is_finite() && z.is_finite() && (y.regular || z.regular) {
            // A difference is a multiple of the smaller one's last place.
            return (A::to_bits(result), 0, Range::between(least - 23, y.most.max(z.most) + 1));
        }
        // Beside a constant that is not small, a number without exponent is nothing, and the difference is a multiple
        // of what is not small.
        if self.z.constant.is_some() && y.regular && z.least >= -90 && z.is_finite() {
            return (A::to_bits(result), 0, Range::REGULAR);
        }
        let denormal = self.y.denormal(self.lane) | self.z.denormal(self.lane);
        (A::to_bits(result), A::is_irregular(result) | denormal, Range::REGULAR)
    }

    /// The addend is nothing.
    ///
    /// The host's smallest normal number may be one that was rounded up to it.
    #[inline(always)]
    pub fn product(self) -> (Int, Lanes, Range) {
        let (x, y, zero) = self.floats();
        let range = self.x.range.times(self.y.range);
        if range.least >= -125 && range.is_finite() {
            // Added to, a negative zero becomes a positive one.
            return (A::to_bits(A::fma(x, y, zero)), 0, range);
        }
        if self.y.constant == Some(0) {
            let result = A::fma(x, y, zero);
            return (A::to_bits(result), A::is_irregular(result), Range { regular: true, ..Range::ZERO });
        }
        // A factor that is no constant is rarely a negative zero, and a product takes no register for a zero.
        let result = if self.y.constant.is_some() { A::fma(x, y, zero) } else { A::mul_float(x, y) };
        let word = A::to_bits(result);
        if self.y.constant.is_some_and(|word| (ONE..INFINITY).contains(&word)) {
            // No smaller than the other factor, and of its sign.
            return (word, if self.x.range.regular { 0 } else { A::is_nan_or_denormal(x) }, range);
        }
        if range.least >= -125 {
            return (word, A::is_irregular(result), range);
        }
        let smallest = A::equal(A::add(word, word), splat(STEP << 1));
        (word, A::is_irregular(result) | smallest | self.denormal_factor(), range)
    }

    /// A sum small against the addend, rounded to odd.
    ///
    /// The sum is less than 1/16 of the addend's power of two, and the product's exponent at most the addend's. So the
    /// result is the exact sum, rounded to odd on the grid; that is what comes of rounding it down and up beside a
    /// number that moves the grid to its last bit.
    #[inline(always)]
    pub fn residual(self) -> (Int, Lanes, Range) {
        let (x, y, z) = self.floats();
        let of_one = self.z.constant == Some(ONE);
        let (down, up, beside, fallback) = if of_one {
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
        let odd = A::round_to_odd(A::to_bits(down), A::to_bits(up));
        // From two thirds of that number to four thirds, which is one exponent.
        let first = A::sub(A::to_bits(beside), splat(STEP / 2));
        let result = A::to_bits(A::sub_float(float(odd), beside));
        let range = if of_one { Range::between(-26, -4) } else { Range::REGULAR };
        (result, fallback | !is_within(odd, first, STEP) | self.denormal_factor(), range)
    }

    /// An exact product, and a sum no larger than the addend.
    ///
    /// The product is exact on every grid that matters. So the signs differ, or the product is too small to count, and
    /// the product's exponent is at most one above the addend's, which is not cut.
    ///
    /// If 24 bits hold the product, it has no tie, and it is enough that the signs differ: an addend that is cut leaves
    /// at least half of the product.
    #[inline(always)]
    pub fn reduce(self) -> (Int, Lanes, Range) {
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
        let whole = self.x.range.least >= 0;
        let tiny = if whole { 0 } else { is_tiny(z) | is_tiny(x) };
        let irregular = if whole && self.z.range.regular { 0 } else { A::is_irregular(float(result)) };
        let most = self.z.range.most.max(self.x.range.times(self.y.range).most);
        (result, long | !taken | irregular | tiny, Range { most, ..Range::REGULAR })
    }

    /// A product possibly larger than an even addend of equal sign.
    ///
    /// The addend is even on its grid: by up to two exponents, and one more for each zero at the addend's end. If the
    /// product is cut by its grid, two places may be lost.
    #[inline(always)]
    pub fn growing(self) -> (Int, Lanes, Range) {
        let result = self.host();
        let zeros = self.z.constant.map_or(0, |word| word.trailing_zeros().min(20));
        let distance = self.above_half(result);
        let grown = is_grown(distance, zeros);
        let good = grown & (is_ordinary(distance) | self.is_cut());
        (result, !good | self.extreme(result) | self.denormal_factor(), self.near_addend(1, 3 + zeros as i32))
    }

    /// The case before of a square and 1.
    ///
    /// A square that is not cut ends with an even number of zeros: its last one on the grid is in the lowest place,
    /// where it leaves a trace, or above both places that the sum may lose.
    #[inline(always)]
    pub fn square_and_one(self) -> (Int, Lanes, Range) {
        let result = self.host();
        (result, !is_grown(self.above_half(result), 20) | self.denormal_factor(), Range::between(0, 23))
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
}

/// Lanes with results from half to three times the addend's power.
///
/// It is the addend's power of two.
#[inline(always)]
pub fn is_ordinary(above_half: Int) -> Lanes {
    A::below_unsigned(above_half, splat(2 * STEP + STEP / 2 - 1))
}

/// Lanes with results from half to eight times the addend's power.
///
/// Or more for an addend that ends with zeros.
#[inline(always)]
pub fn is_grown(above_half: Int, zeros: u32) -> Lanes {
    A::below_unsigned(above_half, splat((4 + zeros) * STEP - 1))
}

/// The bits at the end of a word that must be clear for its product with another one to have 20 zeros.
fn beside(word: u32) -> u32 {
    (1 << 20_u32.saturating_sub((word | STEP).trailing_zeros())) - 1
}
