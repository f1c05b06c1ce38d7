//! Running sums of BF16 pages in a 32-bit `Dst`.
//!
//! ELWADD of a page and a tile of zeros, accumulated.
//!
//! Words of `Dst` stay in registers while several pages are added to them, and datums are taken from pages as they are,
//! two in a word, without a way through `SrcA`.

use crate::combine::Rules;
use tt_cpu::Level;
use tt_formats::{Arch, by_generation};

use super::super::combine::lanes::combine_one;
use super::super::{Dst, MathConfig};
use tt_cpu::vector::{Vector, vector_kernel};
use tt_tensix::regs::{DstFormat, TILE_DATUMS};

/// Words of a BF16 page.
///
/// Two datums each, the first in the lower half.
pub const PAGE_WORDS: usize = TILE_DATUMS / 2;

/// The sums of a tile.
#[derive(Clone)]
pub struct RunningSum {
    /// Of the first datums of words, and of the second ones.
    halves: [[u32; PAGE_WORDS]; 2],
}

impl Default for RunningSum {
    fn default() -> Self {
        Self { halves: [[0; PAGE_WORDS]; 2] }
    }
}

impl RunningSum {
    /// Forgets what was added.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Adds pages, one after the other.
    ///
    /// # Panics
    /// For another `Dst` and for operands with 5-bit exponents or of integers.
    pub fn add(&mut self, level: Level, cfg: &MathConfig, pages: &[&[u32; PAGE_WORDS]]) {
        assert!(cfg.dst == DstFormat::Fp32 && cfg.mode().e8 && !cfg.is_integer(), "sums of BF16 in FP32");
        add_kernel::run(level, cfg.arch, pages, &mut self.halves);
    }

    /// Writes the sums to `Dst`.
    pub fn store(&self, level: Level, dst: &mut Dst) {
        store_kernel::run(level, &self.halves, dst);
    }
}

vector_kernel!(add_kernel, add_body, (arch: Arch, pages: &[&[u32; PAGE_WORDS]], sums: &mut [[u32; PAGE_WORDS]; 2]));
vector_kernel!(store_kernel, store_body, (sums: &[[u32; PAGE_WORDS]; 2], dst: &mut Dst));

#[inline(always)]
fn add_body<V: Vector>(arch: Arch, pages: &[&[u32; PAGE_WORDS]], sums: &mut [[u32; PAGE_WORDS]; 2]) {
    by_generation!(arch, G => add_pages::<V, G>(pages, sums));
}

#[inline(always)]
fn add_pages<V: Vector, G: Rules>(pages: &[&[u32; PAGE_WORDS]], sums: &mut [[u32; PAGE_WORDS]; 2]) {
    let [first, second] = sums;
    for at in (0..PAGE_WORDS).step_by(V::LANES) {
        let (mut sum, mut other) = (V::load(&first[at..]), V::load(&second[at..]));
        for page in pages {
            let words = V::load(&page[at..]);
            sum = combine_one::<V, true, true, G>(term::<V>(V::shl::<16>(words)), sum);
            other = combine_one::<V, true, true, G>(term::<V>(words), other);
        }
        V::store(sum, &mut first[at..]);
        V::store(other, &mut second[at..]);
    }
}

/// The BF16 number in the upper half of a word: its significand in units of 1 / 1024, and its exponent.
#[inline(always)]
fn term<V: Vector>(words: V::Int) -> (V::Int, V::Int) {
    let exponent = V::and(V::shr::<23>(words), V::splat(255));
    let magnitude = V::or(V::and(V::shr::<13>(words), V::splat(127 << 3)), V::splat(1024));
    let magnitude = V::keep(V::greater(exponent, V::splat(0)), magnitude);
    let sign = V::sar::<31>(words);
    (V::sub(V::xor(magnitude, sign), sign), exponent)
}

#[inline(always)]
fn store_body<V: Vector>(sums: &[[u32; PAGE_WORDS]; 2], dst: &mut Dst) {
    for at in (0..PAGE_WORDS).step_by(V::LANES) {
        let [low, high] = V::interleave(V::load(&sums[0][at..]), V::load(&sums[1][at..]));
        V::store(low, &mut dst[2 * at..]);
        V::store(high, &mut dst[2 * at + V::LANES..]);
    }
}
