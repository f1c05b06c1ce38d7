//! A tile of `Dst` between tile products, with known properties.

use tt_cpu::{Level, simd_kernel};

use super::super::Dst;
use super::used_rows;
use tt_tensix::regs::TILE_DATUMS;

/// The FP32 exponent field under which the plain path hides zeros. It never gets near: see [`super::plain`].
pub(super) const HIDDEN_ZERO: u32 = 13;
/// Exponent fields of what the plain path takes besides zeros. No result of it is smaller.
pub(super) const SMALLEST: u32 = 41;
const LARGEST: u32 = 230;

/// `Dst` of a tile while products are added to it.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct Accumulator {
    words: Dst,
    /// No magnitude is larger; infinite if it is not known, or if a word is out of the plain path's range.
    bound: f64,
    /// Words with the exponent of a hidden zero are zeros.
    hidden: bool,
    /// Rows from here on are +0, if the bound is known.
    rows: usize,
}

impl Accumulator {
    /// Zeros.
    pub const fn new() -> Self {
        Self { words: [0; TILE_DATUMS], bound: 0.0, hidden: false, rows: 0 }
    }

    /// Sets all words to zero, as the start of an accumulation does.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// The words, to be read or written.
    pub fn dst(&mut self) -> &mut Dst {
        if self.hidden {
            uncover::run(Level::current(), &mut self.words);
        }
        (self.hidden, self.bound) = (false, f64::INFINITY);
        &mut self.words
    }

    /// Rows from here on are known to be +0.
    pub fn used_rows(&self) -> usize {
        if self.bound.is_finite() { self.rows } else { 32 }
    }

    /// A bound of all magnitudes, if every word is in the range that the plain path takes.
    pub(super) fn bound(&mut self) -> Option<f64> {
        if self.bound > 1e30 {
            self.bound = self.measure();
        }
        (self.bound <= 1e30).then_some(self.bound)
    }

    fn measure(&mut self) -> f64 {
        let (least, largest, rows) = reach::run(Level::current(), self.dst());
        self.rows = rows;
        let fits = least >= (SMALLEST << 23) - 1 && largest < LARGEST << 23;
        if fits { f32::from_bits(largest).into() } else { f64::INFINITY }
    }

    /// The words for the plain path, which leaves hidden zeros if `hides`, and magnitudes up to `bound`; and how many
    /// rows it has to compute if those of its left operand from `rows` on are zero.
    pub(super) fn plain(&mut self, bound: f64, hides: bool, rows: usize) -> (&mut Dst, usize) {
        self.bound = bound;
        self.hidden |= hides;
        self.rows = self.rows.max(rows);
        (&mut self.words, self.rows)
    }
}

impl Default for Accumulator {
    fn default() -> Self {
        Self::new()
    }
}

/// Makes hidden zeros zeros.
#[inline(always)]
fn uncover_body(words: &mut Dst) {
    for word in words {
        *word = if *word >> 23 & 255 <= HIDDEN_ZERO { 0 } else { *word };
    }
}

/// The smallest magnitude that is not zero, less one, and the largest, and how many rows are in use. Zeros wrap to the
/// top of one comparison and are at the bottom of the other.
#[inline(always)]
fn reach_body(words: &Dst) -> (u32, u32, usize) {
    let (mut least, mut largest) = (u32::MAX, 0);
    for word in words {
        let magnitude = *word & 0x7fff_ffff;
        least = magnitude.wrapping_sub(1).min(least);
        largest = magnitude.max(largest);
    }
    (least, largest, used_rows(words, u32::MAX))
}

simd_kernel!(uncover, super::uncover_body, (words: &mut Dst));
simd_kernel!(reach, super::reach_body, (words: &Dst) -> (u32, u32, usize));
