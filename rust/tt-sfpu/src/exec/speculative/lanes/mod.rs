//! The speculative lanes of AVX-512.

/// A function of one vector for both of a block: of the words of its operands, and of what follows. A macro, since a
/// function that is handed to another one would be compiled without the level's instructions.
macro_rules! both {
    ([$($operand:ident),+], $function:path $(, $argument:expr)*) => {{
        let first = $function($($operand.words[0]),+ $(, $argument)*).parts();
        let second = $function($($operand.words[1]),+ $(, $argument)*).parts();
        // The operands' first: much of them is common, and then computed once.
        let mut fallback = [0; VECTORS];
        $(fallback = either(fallback, $operand.fallback);)+
        SpecLanes::with_fallback([first.0, second.0], either(fallback, [first.1, second.1]))
    }};
}

/// [`both`] for a function that gives two words.
macro_rules! both_pairs {
    ([$($operand:ident),+], $function:path $(, $argument:expr)*) => {{
        let first = $function($($operand.words[0]),+ $(, $argument)*);
        let second = $function($($operand.words[1]),+ $(, $argument)*);
        let mut fallback = [0; VECTORS];
        $(fallback = either(fallback, $operand.fallback);)+
        fallback = either(fallback, [first.2, second.2]);
        let pair = ([first.0, second.0], [first.1, second.1]);
        (SpecLanes::with_fallback(pair.0, fallback), SpecLanes::with_fallback(pair.1, fallback))
    }};
}

mod forms;
pub(in crate::exec) mod fused;
mod general;
mod horner;
mod integer;
mod range;
pub(super) mod run;
mod step;

use std::arch::x86_64::{__m512, __m512i, __mmask16};

use range::Range;

use crate::exec::block::VECTORS;
use tt_cpu::vector::Vector;
use tt_cpu::vector::avx512::Avx512 as A;

type Int = __m512i;
type Float = __m512;
type Lanes = __mmask16;
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
pub struct SpecLanes {
    words: Words,
    /// Lanes that may be wrong.
    fallback: Bits,
    /// The word, where the program's text names it.
    constant: Option<u32>,
    range: Range,
}

/// Truth values of a block.
#[derive(Clone, Copy)]
pub struct SpecMask {
    truth: Bits,
    fallback: Bits,
}

/// What a function of one vector gives: words, and lanes that fall back.
trait Outcome {
    fn parts(self) -> (Int, Lanes);
}

impl Outcome for Int {
    #[inline(always)]
    fn parts(self) -> (Int, Lanes) {
        (self, 0)
    }
}

impl Outcome for Float {
    #[inline(always)]
    fn parts(self) -> (Int, Lanes) {
        (A::to_bits(self), 0)
    }
}

impl<T: Outcome> Outcome for (T, Lanes) {
    #[inline(always)]
    fn parts(self) -> (Int, Lanes) {
        (self.0.parts().0, self.1)
    }
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
    pub const LANES: usize = VECTORS * A::LANES;

    #[inline(always)]
    pub fn load(words: &[u32]) -> Self {
        Self::of([A::load(words), A::load(&words[A::LANES..])])
    }

    #[inline(always)]
    pub fn of(words: Words) -> Self {
        Self::with_fallback(words, [0; VECTORS])
    }

    /// The words, and whether each may be wrong.
    #[inline(always)]
    pub fn parts(self) -> (Words, Bits) {
        (self.words, self.fallback)
    }

    /// Any words.
    #[inline(always)]
    fn with_fallback(words: Words, fallback: Bits) -> Self {
        Self { words, fallback, constant: None, range: Range::ANY }
    }

    /// A constant that is neither zero nor infinite nor NaN.
    #[inline(always)]
    fn is_number(self) -> bool {
        self.constant.is_some_and(|word| (STEP..INFINITY).contains(&(word & !SIGN)))
    }

    /// The lanes of NaN, if there can be any.
    #[inline(always)]
    fn nan(self) -> Bits {
        if self.range.regular {
            [0; VECTORS]
        } else {
            [A::is_nan(float(self.words[0])), A::is_nan(float(self.words[1]))]
        }
    }

    /// The lanes that count as zero in the unit but not in the host, if there can be any.
    #[inline(always)]
    fn denormal(self, lane: usize) -> Lanes {
        if self.range.regular || self.range.least > -127 { 0 } else { A::is_denormal(float(self.words[lane])) }
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
