//! The speculative lanes of AVX-512.

mod forms;
pub(in crate::sfpu::exec) mod fused;
mod general;
mod horner;
mod integer;
mod range;
pub(super) mod run;
mod step;
#[cfg(test)]
mod tests;

use range::Range;

use crate::sfpu::exec::simd::VECTORS;
use crate::vector::Vector;
use crate::vector::avx512::Avx512 as A;

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

speculative_blocks!(SpecLanes);

/// A block of lanes.
#[derive(Clone, Copy)]
pub(crate) struct SpecLanes {
    words: Words,
    /// Lanes that may be wrong.
    fallback: Bits,
    /// The word, where the program's text names it.
    constant: Option<u32>,
    range: Range,
}

/// Truth values of a block.
#[derive(Clone, Copy)]
pub(crate) struct SpecMask {
    truth: Bits,
    fallback: Bits,
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

impl SpecLanes {
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
        (self.words, self.fallback)
    }

    /// Any words.
    #[inline(always)]
    fn wild(words: Words, fallback: Bits) -> Self {
        Self { words, fallback, constant: None, range: Range::NOTHING }
    }

    /// A constant that is neither zero nor infinite nor NaN.
    #[inline(always)]
    fn is_number(self) -> bool {
        self.constant.is_some_and(|word| (STEP..INFINITY).contains(&(word & !SIGN)))
    }

    /// The lanes of NaN, if there can be any.
    #[inline(always)]
    fn nan(self) -> Bits {
        if self.range.tame { [0; VECTORS] } else { [A::is_nan(float(self.words[0])), A::is_nan(float(self.words[1]))] }
    }

    /// The lanes that count as zero in the unit but not in the host, if there can be any.
    #[inline(always)]
    fn denormal(self, lane: usize) -> Lanes {
        if self.range.tame || self.range.least > -127 { 0 } else { A::is_denormal(float(self.words[lane])) }
    }
}

impl std::ops::BitAnd for SpecMask {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        let truth = [self.truth[0] & other.truth[0], self.truth[1] & other.truth[1]];
        Self { truth, fallback: either(self.fallback, other.fallback) }
    }
}

impl std::ops::BitOr for SpecMask {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self { truth: either(self.truth, other.truth), fallback: either(self.fallback, other.fallback) }
    }
}

impl std::ops::Not for SpecMask {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self { truth: [!self.truth[0], !self.truth[1]], fallback: self.fallback }
    }
}
