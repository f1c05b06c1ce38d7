//! Lanes computed by the host's own multiply-add, each with a doubt: the [`Word`] that programs are tried with first.
//!
//! The vector unit's multiply-add differs from the host's in few cases, and most programs meet none of them in most lanes.
//! A `Guess` goes through a program without a branch; where a step may differ, the lane's doubt is raised, and lanes that
//! end in doubt are computed again by [`super::wide`]. A doubt without a difference costs time; a difference without a doubt
//! would be an error, so every condition here is a sufficient one.
//!
//! What the unit does with `x * y + z`: it brings product and addend to a grid of 2^-26 of the larger exponent, that of the
//! product being the sum of its factors'. A term that the grid cuts is jammed: it becomes its odd neighbour on the grid. The
//! sum on the grid is exact and is rounded once, to nearest even, three bits above the grid. That is the host's rounding of
//! the exact sum if
//! - at most one term is jammed (an odd number stands for all between its even neighbours),
//! - the other one is even on the grid (else the sum of two odd numbers stands for too much),
//! - the sum's leading one is at most one place below the larger exponent (else it is the jammed bit that rounds),
//! - and at most one above (of two lost bits the upper one leaves no trace), or the product is jammed.
//!
//! A term that the grid cuts to nothing leaves no trace; it counts only at a tie of the other one, which has one only
//! if it is a product of more than 24 bits.

use super::lane::{MINUS_ONE, ONE};
use super::wide::VECTORS;
use super::word::Word;
use crate::vector::Vector;
use crate::vector::avx512::Avx512 as A;

type Int = <A as Vector>::Int;
type Float = <A as Vector>::Float;
type Lanes = <A as Vector>::Mask;
type Words = [Int; VECTORS];
type Bits = [Lanes; VECTORS];

const SIGN: u32 = 1 << 31;
const INFINITY: u32 = 0x7f80_0000;
const MANTISSA: u32 = STEP - 1;
/// One step of the exponent.
const STEP: u32 = 1 << 23;
/// 2^-100. Beside results from here on, denormals and products without exponent are nothing.
const SMALL: u32 = 27 << 23;
/// A product with this many zeros at the end of its 48 bits is not cut by the grid of an addend that it nearly cancels: the
/// grid takes 20, and the addend's exponent may be larger by two.
const ZEROS_OF_EXACT: u32 = 22;

/// Applies a step of [`Operands`] to both vectors. Its results are tame where it has no doubt. A macro, since a function
/// that is handed to another one would be compiled without the level's instructions.
macro_rules! step {
    ($x:expr, $y:expr, $z:expr, $step:ident) => {{
        let (x, y, z): (Guess, Guess, Guess) = ($x, $y, $z);
        let first = Operands { x, y, z, lane: 0 }.$step();
        let second = Operands { x, y, z, lane: 1 }.$step();
        let doubt = either(either(x.doubt, y.doubt), z.doubt);
        Guess { words: [first.0, second.0], doubt: either(doubt, [first.1, second.1]), constant: None, known: first.2 }
    }};
}

/// Combines words of bits.
macro_rules! bits {
    ($a:expr, $b:expr, $operation:path) => {{
        let (a, b): (Guess, Guess) = ($a, $b);
        let words = [$operation(a.words[0], b.words[0]), $operation(a.words[1], b.words[1])];
        Guess::wild(words, either(a.doubt, b.doubt))
    }};
}

/// A block of lanes.
#[derive(Clone, Copy)]
pub(crate) struct Guess {
    words: Words,
    /// Lanes that may be wrong.
    doubt: Bits,
    /// The word, where the program's text names it.
    constant: Option<u32>,
    known: Known,
}

/// What is known of lanes without doubt, from the program's text alone; the compiler sees it, the program's run does not.
#[derive(Clone, Copy)]
struct Known {
    /// Neither denormal nor -0 nor NaN.
    tame: bool,
    /// Zero, or at least two to this power in magnitude.
    least: i32,
    /// Finite, and less than two to this power in magnitude.
    most: i32,
}

impl Known {
    const NOTHING: Self = Self { tame: false, least: -LIMIT, most: LIMIT };
    const TAME: Self = Self { tame: true, ..Self::NOTHING };
    /// Zero of either sign.
    const ZERO: Self = Self { tame: false, least: LIMIT, most: -LIMIT };

    #[inline(always)]
    fn between(least: i32, most: i32) -> Self {
        Self { tame: true, least, most }
    }

    #[inline(always)]
    fn of(word: u32) -> Self {
        match word & !SIGN {
            0 => Self { tame: word == 0, ..Self::ZERO },
            1..STEP => Self::NOTHING,
            magnitude @ STEP..INFINITY => Self::between((magnitude >> 23) as i32 - 127, (magnitude >> 23) as i32 - 126),
            INFINITY => Self::TAME,
            _ => Self::NOTHING,
        }
    }

    /// A product of two, tame unless it is small.
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        let unknown = self.least < -LIMIT / 2 || other.least < -LIMIT / 2;
        let unbounded = self.most > LIMIT / 2 || other.most > LIMIT / 2;
        let least = if unknown { -LIMIT } else { self.least + other.least };
        Self::between(least, if unbounded { LIMIT } else { self.most + other.most })
    }

    /// Either of two.
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self { tame: self.tame && other.tame, least: self.least.min(other.least), most: self.most.max(other.most) }
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        self.least == LIMIT
    }

    /// Less than the largest power.
    #[inline(always)]
    fn is_finite(self) -> bool {
        self.most <= 126
    }
}

/// No number has this exponent.
const LIMIT: i32 = 1000;

/// Truth values of a block.
#[derive(Clone, Copy)]
pub(crate) struct GuessMask {
    truth: Bits,
    doubt: Bits,
}

#[inline(always)]
fn either(a: Bits, b: Bits) -> Bits {
    [a[0] | b[0], a[1] | b[1]]
}

#[inline(always)]
fn splat(word: u32) -> Int {
    A::splat(word as i32)
}

#[inline(always)]
fn float(word: Int) -> Float {
    A::from_bits(word)
}

#[inline(always)]
fn magnitude(word: Int) -> Int {
    A::and(word, splat(!SIGN))
}

/// Neither 0 nor at least 2^-100 nor infinite; -0 passes.
#[inline(always)]
fn is_tiny(word: Int) -> Lanes {
    A::below_unsigned(A::sub(magnitude(word), splat(1)), splat(SMALL - 1))
}

/// Between two words, both included.
#[inline(always)]
fn is_within(word: Int, first: Int, span: u32) -> Lanes {
    A::below_unsigned(A::sub(word, first), splat(span))
}

impl Guess {
    /// Lanes of a block.
    pub(crate) const LANES: usize = VECTORS * A::LANES;

    #[inline(always)]
    pub(crate) fn load(words: &[u32]) -> Self {
        Self::wild([A::load(words), A::load(&words[A::LANES..])], [0; VECTORS])
    }

    /// The words, and whether each may be wrong.
    #[inline(always)]
    pub(crate) fn parts(self) -> (Words, Bits) {
        (self.words, self.doubt)
    }

    /// Any words.
    #[inline(always)]
    fn wild(words: Words, doubt: Bits) -> Self {
        Self { words, doubt, constant: None, known: Known::NOTHING }
    }

    /// A doubt about lanes that count as zero in the unit but not in the host, if there can be any.
    #[inline(always)]
    fn denormal(self, lane: usize) -> Lanes {
        if self.known.tame || self.known.least > -127 { 0 } else { A::is_denormal(float(self.words[lane])) }
    }
}

/// The operands of `x * y + z`, and which of the vectors is meant.
#[derive(Clone, Copy)]
struct Operands {
    x: Guess,
    y: Guess,
    z: Guess,
    lane: usize,
}

impl Operands {
    #[inline(always)]
    fn floats(self) -> (Float, Float, Float) {
        (float(self.x.words[self.lane]), float(self.y.words[self.lane]), float(self.z.words[self.lane]))
    }

    #[inline(always)]
    fn host(self) -> Int {
        let (x, y, z) = self.floats();
        A::to_bits(A::fma(x, y, z))
    }

    /// A denormal factor would count in the host.
    #[inline(always)]
    fn denormal_factor(self) -> Lanes {
        self.x.denormal(self.lane) | self.y.denormal(self.lane)
    }

    /// The second factor is a constant that is not tiny, and products cannot leave the range above, where the unit does not
    /// let the addend bring them back.
    #[inline(always)]
    fn keeps_range(self) -> bool {
        let finite = self.x.known.times(self.y.known).is_finite();
        self.y.constant.is_some_and(|word| (SMALL..=if finite { INFINITY - 1 } else { ONE }).contains(&(word & !SIGN)))
    }

    /// No product is so small that the unit loses it.
    #[inline(always)]
    fn has_large_product(self) -> bool {
        self.x.known.times(self.y.known).least >= -100
    }

    /// A doubt about results at the ends of the range, of an addend that outweighs the product. If the addend cannot be small,
    /// the result is not; if it can be nothing, the product must not be small.
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

    /// Whether the addend outweighs the product, or nearly so: the result has the addend's sign and is above half of its
    /// power of two and below three times that. Then the product is less than twice that power and its exponent at most the
    /// addend's, which is even, and the sum is less than four times that power.
    #[inline(always)]
    fn is_ordinary(self, result: Int) -> Lanes {
        is_within(result, A::sub(self.power(), splat(STEP - 1)), 2 * STEP + STEP / 2 - 1)
    }

    /// What is known of a result that is smaller or larger than the addend by so many exponents at most.
    #[inline(always)]
    fn near_addend(self, below: i32, above: i32) -> Known {
        Known::between(self.z.known.least - below, self.z.known.most + above)
    }

    #[inline(always)]
    fn ordinary(self) -> (Int, Lanes, Known) {
        let result = self.host();
        (result, !self.is_ordinary(result) | self.extreme(result) | self.denormal_factor(), self.near_addend(1, 1))
    }

    /// One factor is a power of two that keeps the range: the product has 24 bits and less than twice its power, so that it is even,
    /// has no tie, and the sum is less than four times the larger power.
    #[inline(always)]
    fn of_short_product(self) -> (Int, Lanes, Known) {
        let result = self.host();
        let doubt = is_tiny(result) | A::is_wild(float(result)) | self.denormal_factor() | self.z.denormal(self.lane);
        (result, doubt, Known::TAME)
    }

    /// The case before for any power of two, which is asked for. A factor of at most 1 keeps the product in range.
    #[inline(always)]
    fn scaled(self) -> (Int, Lanes, Known) {
        let (result, doubt, known) = self.of_short_product();
        let long = A::any_bit(self.y.words[self.lane], splat(MANTISSA));
        let small = A::at_most(float(magnitude(self.x.words[self.lane])), A::splat_float(1.0));
        (result, doubt | long | !small, known)
    }

    /// The same for a constant factor of 1: nothing falls below the range but by denormals, and what does so is exact.
    #[inline(always)]
    fn sum(self) -> (Int, Lanes, Known) {
        let (_, y, z) = self.floats();
        self.of_terms(A::add_float(z, y))
    }

    /// And for one of -1.
    #[inline(always)]
    fn difference(self) -> (Int, Lanes, Known) {
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
        let denormal = self.y.denormal(self.lane) | self.z.denormal(self.lane);
        (A::to_bits(result), A::is_wild(result) | denormal, Known::TAME)
    }

    /// The addend is nothing. The host's smallest normal number may be one that was rounded up to it.
    #[inline(always)]
    fn product(self) -> (Int, Lanes, Known) {
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
        let result = A::mul_float(x, y);
        let word = A::to_bits(result);
        if self.y.constant.is_some_and(|word| (ONE..INFINITY).contains(&word)) {
            // No smaller than the other factor, and of its sign.
            return (word, if self.x.known.tame { 0 } else { A::is_wild(x) }, known);
        }
        if known.least >= -125 {
            return (word, A::is_wild(result), known);
        }
        let smallest = A::equal(A::add(word, word), splat(STEP << 1));
        (word, A::is_wild(result) | smallest | self.denormal_factor(), known)
    }

    /// The sum is less than 1/16 of the addend's power of two, and the product's exponent at most the addend's. So the result
    /// is the exact sum, jammed on the grid; that is what comes of rounding it down and up beside a number that moves the grid
    /// to its last bit.
    #[inline(always)]
    fn residual(self) -> (Int, Lanes, Known) {
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

    /// As the ordinary case, or the sum is between a quarter and half of the addend's power of two: then the grid has one bit
    /// more than the result, and everything between two results is jammed to the middle, a tie, of which the even one comes.
    #[inline(always)]
    fn shrinking(self) -> (Int, Lanes, Known) {
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

    /// The product is exact on every grid that matters, and the sum is no larger than the addend. So the signs differ, or
    /// the product is too small to count, and the product's exponent is at most one above the addend's, which is not cut.
    #[inline(always)]
    fn reduce(self) -> (Int, Lanes, Known) {
        let Some(factor) = self.y.constant.filter(|_| self.keeps_range()) else { return self.ordinary() };
        let result = self.host();
        let (x, z) = (self.x.words[self.lane], self.z.words[self.lane]);
        let zeros = ZEROS_OF_EXACT.saturating_sub(factor.trailing_zeros());
        let long = A::any_bit(x, splat((1 << zeros) - 1));
        let smaller = A::at_most(float(magnitude(result)), float(magnitude(z)));
        // A factor that is 0 or at least 1 leaves no product that is too small for the unit.
        let whole = self.x.known.least >= 0;
        let tiny = if whole { 0 } else { is_tiny(z) };
        let wild = if whole && self.z.known.tame { 0 } else { A::is_wild(float(result)) };
        (result, long | !smaller | wild | tiny, Known { most: self.z.known.most, ..Known::TAME })
    }

    /// The product may be larger than the addend, by up to two exponents, with the same sign. If it is cut by its grid, two
    /// places may be lost.
    #[inline(always)]
    fn growing(self) -> (Int, Lanes, Known) {
        let result = self.host();
        let grown = is_within(result, self.power(), 3 * STEP);
        // Fewer than 20 zeros at the end of the product of the words.
        let cut = A::any_bit(self.x.words[self.lane], splat(0x1ff)) & A::any_bit(self.y.words[self.lane], splat(0x7ff));
        let good = self.is_ordinary(result) | grown & cut;
        (result, !good | self.extreme(result) | self.denormal_factor(), self.near_addend(1, 3))
    }

    /// The product may be so much larger than the addend that both are jammed. Then the larger part of the product, the rest
    /// of it on the grid, and the addend on the grid are summed: the latter two exactly, so that there is one rounding.
    #[inline(always)]
    fn far(self) -> (Int, Lanes, Known) {
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

/// A number less than `eighth`, not negative, jammed on the grid of which that is 2^23 places; and whether it was less than
/// two places, of which the unit may keep nothing.
#[inline(always)]
fn on_grid(number: Float, eighth: Int) -> (Float, Lanes) {
    let (down, up) = (A::add_down(number, float(eighth)), A::add_up(number, float(eighth)));
    let jammed = A::jam(A::to_bits(down), A::to_bits(up));
    (A::sub_float(float(jammed), float(eighth)), A::equal(jammed, A::add(eighth, splat(1))))
}

impl From<u32> for Guess {
    #[inline(always)]
    fn from(word: u32) -> Self {
        Self { words: [splat(word); VECTORS], doubt: [0; VECTORS], constant: Some(word), known: Known::of(word) }
    }
}

impl Word for Guess {
    type Mask = GuessMask;

    #[inline(always)]
    fn mad(self, b: Self, c: Self) -> Self {
        let power = b.constant.is_some_and(|word| word & MANTISSA == 0);
        if power && (Operands { x: self, y: b, z: c, lane: 0 }).keeps_range() {
            return step!(self, b, c, of_short_product);
        }
        step!(self, b, c, ordinary)
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        step!(Self::from(ONE), other, self, sum)
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        step!(Self::from(MINUS_ONE), other, self, difference)
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        step!(self, other, Self::from(0), product)
    }
    #[inline(always)]
    fn residual(self, b: Self, c: Self) -> Self {
        step!(self, b, c, residual)
    }
    #[inline(always)]
    fn reduce(self, b: Self, c: Self) -> Self {
        step!(self, b, c, reduce)
    }
    #[inline(always)]
    fn shrinking(self, b: Self, c: Self) -> Self {
        step!(self, b, c, shrinking)
    }
    #[inline(always)]
    fn scaled(self, b: Self, c: Self) -> Self {
        step!(self, b, c, scaled)
    }
    #[inline(always)]
    fn far(self, b: Self, c: Self) -> Self {
        step!(self, b, c, far)
    }
    #[inline(always)]
    fn growing(self, b: Self, c: Self) -> Self {
        step!(self, b, c, growing)
    }
    #[inline(always)]
    fn usual(self, least: i32, most: i32) -> Self {
        let (first, span) = (splat(((least + 127) as u32) << 23), ((most - least) as u32) << 23);
        let doubt =
            [!is_within(magnitude(self.words[0]), first, span), !is_within(magnitude(self.words[1]), first, span)];
        let known = Known::between(least, most);
        Self { words: self.words, doubt: either(self.doubt, doubt), constant: None, known }
    }
    #[inline(always)]
    fn round_magnitude(self, largest: u32) -> Self {
        let [first, second] = self.words;
        Self::wild([round_magnitude(first, largest), round_magnitude(second, largest)], self.doubt)
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        let result = bits!(self, other, A::and);
        match other.constant {
            // The magnitude, or the sign alone.
            Some(0x7fff_ffff) => Self { known: self.known, ..result },
            Some(SIGN) => Self { known: Known::ZERO, ..result },
            _ => result,
        }
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        let result = bits!(self, other, A::or);
        // A sign is put on.
        if other.known.is_zero() { Self { known: Known { tame: false, ..self.known }, ..result } } else { result }
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        let result = bits!(self, other, A::xor);
        if other.known.is_zero() { Self { known: Known { tame: false, ..self.known }, ..result } } else { result }
    }
    #[inline(always)]
    fn iadd(self, other: Self) -> Self {
        bits!(self, other, A::add)
    }
    #[inline(always)]
    fn isub(self, other: Self) -> Self {
        bits!(self, other, A::sub)
    }
    #[inline(always)]
    fn imul(self, other: Self) -> Self {
        bits!(self, other, A::mul)
    }
    #[inline(always)]
    fn shl(self, count: Self) -> Self {
        bits!(self, count.and(Self::from(31)), A::shl_by)
    }
    #[inline(always)]
    fn shr(self, count: Self) -> Self {
        bits!(self, count.and(Self::from(31)), A::shr_by)
    }
    #[inline(always)]
    fn clz(self) -> Self {
        Self::wild([A::leading_zeros(self.words[0]), A::leading_zeros(self.words[1])], self.doubt)
    }
    #[inline(always)]
    fn magnitude_to_f32(self) -> Self {
        let [first, second] = self.words;
        let words = [A::to_bits(A::exact_float(first)), A::to_bits(A::exact_float(second))];
        Self { words, doubt: self.doubt, constant: None, known: Known::between(0, 32) }
    }
    #[inline(always)]
    fn is_equal(self, other: Self) -> GuessMask {
        let truth = [A::equal(self.words[0], other.words[0]), A::equal(self.words[1], other.words[1])];
        GuessMask { truth, doubt: either(self.doubt, other.doubt) }
    }
    #[inline(always)]
    fn is_less(self, other: Self) -> GuessMask {
        let truth = [A::greater(other.words[0], self.words[0]), A::greater(other.words[1], self.words[1])];
        GuessMask { truth, doubt: either(self.doubt, other.doubt) }
    }
    #[inline(always)]
    fn select(mask: GuessMask, yes: Self, no: Self) -> Self {
        let (m, a, b) = (mask, yes, no);
        let words = [A::select(m.truth[0], a.words[0], b.words[0]), A::select(m.truth[1], a.words[1], b.words[1])];
        // A doubt about what is not taken does not count.
        let doubt = [
            m.doubt[0] | m.truth[0] & a.doubt[0] | !m.truth[0] & b.doubt[0],
            m.doubt[1] | m.truth[1] & a.doubt[1] | !m.truth[1] & b.doubt[1],
        ];
        Self { words, doubt, constant: None, known: yes.known.or(no.known) }
    }
}

/// Half is added and the rest cut off. The sum is cut, too, so that it never reaches an integer that the exact one does not.
/// Out of range, the conversion gives 2^31, which is larger than any.
#[inline(always)]
fn round_magnitude(word: Int, largest: u32) -> Int {
    let sum = A::add_cut(float(magnitude(word)), A::splat_float(0.5));
    A::min_unsigned(A::to_int_cut(sum), splat(largest))
}

impl std::ops::BitAnd for GuessMask {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        let truth = [self.truth[0] & other.truth[0], self.truth[1] & other.truth[1]];
        Self { truth, doubt: either(self.doubt, other.doubt) }
    }
}

impl std::ops::BitOr for GuessMask {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self { truth: either(self.truth, other.truth), doubt: either(self.doubt, other.doubt) }
    }
}

impl std::ops::Not for GuessMask {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self { truth: [!self.truth[0], !self.truth[1]], doubt: self.doubt }
    }
}

/// Words that are tried at a time.
const PIECE: usize = 1024;

/// Runs a lane program on every word: tried on whole blocks, exactly on what is left in doubt.
#[inline(always)]
pub(crate) fn blocks(dst: &mut [u32], program: impl Fn(Guess) -> Guess, exact: impl Fn(&mut [u32])) {
    for piece in dst.chunks_mut(PIECE) {
        let whole = piece.len() / Guess::LANES * Guess::LANES;
        let (piece, rest) = piece.split_at_mut(whole);
        let mut left = None;
        for at in (0..whole).step_by(Guess::LANES) {
            let block = Guess::load(&piece[at..]);
            let (words, doubt) = program(block).parts();
            if doubt[0] | doubt[1] != 0 {
                let left = left.get_or_insert_with(Left::new);
                left.keep(at, block.words[0], doubt[0]);
                left.keep(at + A::LANES, block.words[1], doubt[1]);
            }
            A::store(words[0], &mut piece[at..]);
            A::store(words[1], &mut piece[at + A::LANES..]);
        }
        if let Some(Left { words, places, count }) = &mut left {
            exact(&mut words[..*count]);
            for (&word, &place) in words[..*count].iter().zip(&*places) {
                piece[place as usize] = word;
            }
        }
        if !rest.is_empty() {
            exact(rest);
        }
    }
}

/// Words in doubt, with their places.
struct Left {
    words: [u32; PIECE + A::LANES],
    places: [u32; PIECE + A::LANES],
    count: usize,
}

impl Left {
    fn new() -> Self {
        Self { words: [0; PIECE + A::LANES], places: [0; PIECE + A::LANES], count: 0 }
    }

    #[inline(always)]
    fn keep(&mut self, first: usize, words: Int, doubt: Lanes) {
        const STEPS: [i32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
        let places = A::add(A::load_i32(&STEPS), A::splat(first as i32));
        A::compress(doubt, places, &mut self.places[self.count..]);
        self.count += A::compress(doubt, words, &mut self.words[self.count..]);
    }
}

#[cfg(test)]
#[allow(clippy::print_stdout, reason = "the shares are the result of the long run")]
mod tests {
    use tt_cpu::Level;
    use tt_testkit::random::Random;

    use super::{A, Guess, MINUS_ONE, ONE, SIGN, STEP, Vector, Word};
    use crate::sfpu::fma::wormhole;

    type Program = fn(Guess, Guess, Guess) -> Guess;
    type Definition = fn(u32, u32, u32) -> u32;

    /// A step, what it is to compute, and the share of lanes that it may be in doubt of where it is at home, in percent.
    const STEPS: [(&str, Program, Definition); 13] = [
        ("mad", |x, y, z| x.mad(y, z), wormhole),
        ("mad, constant addend", |x, y, _| x.mad(y, Guess::from(0x3fb8_aa3b)), |x, y, _| wormhole(x, y, 0x3fb8_aa3b)),
        ("mad, constant power", |x, _, z| x.mad(Guess::from(0x3e80_0000), z), |x, _, z| wormhole(x, 0x3e80_0000, z)),
        ("plus", |x, _, z| x.plus(z), |x, _, z| wormhole(ONE, x, z)),
        ("minus", |x, _, z| x.minus(z), |x, _, z| wormhole(MINUS_ONE, z, x)),
        ("times", |x, y, _| x.times(y), |x, y, _| wormhole(x, y, 0)),
        ("residual of one", |x, y, _| x.residual(y, Guess::from(ONE)), |x, y, _| wormhole(x, y, ONE)),
        ("residual", |x, y, z| x.residual(y, z), wormhole),
        ("reduce", |x, _, z| x.reduce(Guess::from(0xbf31_7200), z), |x, _, z| wormhole(x, 0xbf31_7200, z)),
        ("shrinking", |x, y, z| x.shrinking(y, z), wormhole),
        ("scaled", |x, y, z| x.scaled(y, z), wormhole),
        ("far", |x, y, z| x.far(y, z), wormhole),
        ("growing", |x, y, z| x.growing(y, z), wormhole),
    ];

    #[target_feature(enable = "avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
    fn run(step: Program, [x, y, z]: [&[u32; 32]; 3]) -> ([u32; 32], u32) {
        let (words, doubt) = step(Guess::load(x), Guess::load(y), Guess::load(z)).parts();
        let mut out = [0; 32];
        A::store(words[0], &mut out);
        A::store(words[1], &mut out[16..]);
        (out, u32::from(doubt[0]) | u32::from(doubt[1]) << 16)
    }

    fn mantissa(random: &mut Random) -> u32 {
        let bits = random.below(STEP);
        match random.below(5) {
            0 => bits & !0u32 << random.below(24),
            1 => STEP - 1 - (bits >> random.below(24)),
            2 => bits >> random.below(24),
            _ => bits,
        }
    }

    /// Any bits, numbers around 1, the ends of the range, and corners.
    fn word(random: &mut Random) -> u32 {
        let sign = random.below(2) << 31;
        let exponent = match random.below(12) {
            0 => random.below(256),
            1 => random.below(3),
            2 => 252 + random.below(4),
            _ => 118 + random.below(18),
        };
        match random.below(40) {
            0 => [0, SIGN, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x7f80_0001, 1, 0x7f_ffff][random.below(8) as usize],
            1 => sign | exponent << 23,
            _ => sign | exponent << 23 | mantissa(random),
        }
    }

    /// A number of any length up to that many bits.
    fn below_power(random: &mut Random, bits: u32) -> u32 {
        let bits = random.below(bits);
        random.below(1 << bits)
    }

    /// Three words whose product and sum stand in a relation: none, nearly cancelled, a tie, or far apart.
    fn triple(random: &mut Random) -> [u32; 3] {
        let (mut x, mut y) = (word(random), word(random));
        if random.one_in(4) {
            y = y & 0xff80_0000 | y & 0x7f_8000 & !0u32 << random.below(24);
        }
        if random.one_in(5) {
            // A power of two.
            y &= 0xff80_0000;
        }
        if random.one_in(6) {
            // A small integer.
            x = (random.below(400) as f32).to_bits() | random.below(2) << 31;
        }
        let product = wormhole(x, y, 0);
        let z = match random.below(9) {
            0 | 1 => word(random),
            2 | 3 => (product ^ SIGN).wrapping_add(random.below(64)).wrapping_sub(32),
            4 => (product ^ SIGN).wrapping_add(below_power(random, 23)),
            5 => (product ^ SIGN).wrapping_sub(below_power(random, 23)),
            6 => product ^ random.below(2) << 31 ^ mantissa(random),
            7 => {
                product.wrapping_add((random.below(70) << 23).wrapping_sub(35 << 23))
                    ^ mantissa(random)
                    ^ random.below(2) << 31
            }
            _ => {
                product.wrapping_add((random.below(12) << 23).wrapping_sub(6 << 23))
                    ^ mantissa(random)
                    ^ random.below(2) << 31
            }
        };
        // Factors whose product nearly cancels 1.
        if random.one_in(5) {
            let inverse = (-1.0 / f32::from_bits(x)).to_bits();
            return [x, inverse.wrapping_add(below_power(random, 22)).wrapping_sub(below_power(random, 22)), z];
        }
        [x, y, z]
    }

    fn check(blocks: usize, seed: u64) -> Vec<(&'static str, f64)> {
        let mut random = Random::new(seed);
        let mut doubts = [0u64; STEPS.len()];
        for _ in 0..blocks {
            let (mut x, mut y, mut z) = ([0; 32], [0; 32], [0; 32]);
            for lane in 0..32 {
                [x[lane], y[lane], z[lane]] = triple(&mut random);
            }
            for (&(name, step, definition), doubts) in STEPS.iter().zip(&mut doubts) {
                // SAFETY: the caller asked for the level.
                let (words, doubt) = unsafe { run(step, [&x, &y, &z]) };
                *doubts += u64::from(doubt.count_ones());
                for lane in 0..32 {
                    if doubt >> lane & 1 == 0 {
                        let expected = definition(x[lane], y[lane], z[lane]);
                        let (x, y, z, got) = (x[lane], y[lane], z[lane], words[lane]);
                        assert_eq!(got, expected, "{name}: {x:08x} * {y:08x} + {z:08x}: {got:08x}, not {expected:08x}");
                    }
                }
            }
        }
        let share = |count: u64| count as f64 / (32 * blocks) as f64;
        STEPS.iter().zip(doubts).map(|(step, count)| (step.0, share(count))).collect()
    }

    #[test]
    fn lanes_without_doubt_have_the_bits_of_the_definition() {
        if Level::Avx512.is_supported() {
            for (name, share) in check(4_000, 7) {
                // Each step is sure of some of what it is not made for.
                assert!(share < 0.95, "{name} doubts {share}");
            }
        }
    }

    #[test]
    #[ignore = "minutes; `cargo xtask guesses` runs it"]
    fn lanes_without_doubt_have_the_bits_of_the_definition_400_million_times() {
        if Level::Avx512.is_supported() {
            for (name, share) in check(1_000_000, 8) {
                println!("{name}: {:.1} % in doubt", 100.0 * share);
            }
        }
    }
}
