//! Lanes computed by the host's own multiply-add, each with a doubt: the [`Word`] that programs are tried with first.
//!
//! The vector unit's multiply-add differs from the host's in few cases, and most programs meet none of them in most
//! lanes. A `Guess` goes through a program without a branch; where a step may differ, the lane's doubt is raised, and
//! lanes that end in doubt are computed again by [`super::wide`]. A doubt without a difference costs time; a difference
//! without a doubt would be an error, so every condition here is a sufficient one.
//!
//! What the unit does with `x * y + z`: it brings product and addend to a grid of 2^-26 of the larger exponent, that of
//! the product being the sum of its factors'. A term that the grid cuts is jammed: it becomes its odd neighbour on the
//! grid. The sum on the grid is exact and is rounded once, to nearest even, three bits above the grid. That is the
//! host's rounding of the exact sum if
//! - at most one term is jammed (an odd number stands for all between its even neighbours),
//! - the other one is even on the grid (else the sum of two odd numbers stands for too much),
//! - the sum's leading one is at most one place below the larger exponent (else it is the jammed bit that rounds),
//! - and at most one above (of two lost bits the upper one leaves no trace), or the product is jammed.
//!
//! A term that the grid cuts to nothing leaves no trace; it counts only at a tie of the other one, which has one only
//! if it is a product of more than 24 bits.

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

mod along;
mod division;
mod general;
mod known;
mod run;
mod step;
#[cfg(test)]
mod tests;
pub(super) mod whole;
mod word;

use known::Known;

use super::wide::VECTORS;
use crate::vector::Vector;
use crate::vector::avx512::Avx512 as A;

pub(crate) use run::blocks;

type Int = <A as Vector>::Int;
type Float = <A as Vector>::Float;
type Lanes = <A as Vector>::Mask;
type Words = [Int; VECTORS];
type Bits = [Lanes; VECTORS];

const SIGN: u32 = 1 << 31;
const INFINITY: u32 = 0x7f80_0000;
/// The exponent of 1, in place.
const BIAS: u32 = 127 << 23;
const MANTISSA: u32 = STEP - 1;
/// One step of the exponent.
const STEP: u32 = 1 << 23;

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
        Self::of([A::load(words), A::load(&words[A::LANES..])])
    }

    #[inline(always)]
    pub(crate) fn of(words: Words) -> Self {
        Self::wild(words, [0; VECTORS])
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

    /// A constant that is neither zero nor infinite nor NaN.
    #[inline(always)]
    fn is_number(self) -> bool {
        self.constant.is_some_and(|word| (STEP..INFINITY).contains(&(word & !SIGN)))
    }

    /// A doubt about NaN, if there can be any.
    #[inline(always)]
    fn nan(self) -> Bits {
        if self.known.tame { [0; VECTORS] } else { [A::is_nan(float(self.words[0])), A::is_nan(float(self.words[1]))] }
    }

    /// A doubt about lanes that count as zero in the unit but not in the host, if there can be any.
    #[inline(always)]
    fn denormal(self, lane: usize) -> Lanes {
        if self.known.tame || self.known.least > -127 { 0 } else { A::is_denormal(float(self.words[lane])) }
    }
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
