//! The largest datums of many tiles, in the order of GMPOOL.
//!
//! By sign and magnitude, denormals being zero.
//!
//! GMPOOL of rows takes tile after tile. All that it changes is NaN, which becomes infinity, so the maximum of the rows of
//! many tiles is that of the largest datums at each place.

use super::super::Src;
use super::super::operand::Datum;
use tt_cpu::{Level, simd_kernel};

/// The largest datums so far, as ordered numbers.
pub struct RunningMax {
    keys: Box<Src>,
    level: Level,
}

impl RunningMax {
    /// Nothing compared yet.
    pub fn new(level: Level) -> Self {
        Self { keys: Box::new([LOWEST; 1024]), level }
    }

    /// Forgets what was compared.
    pub fn clear(&mut self) {
        self.keys.fill(LOWEST);
    }

    /// Compares a tile in L1, of bfloat16.
    pub fn take_halves(&mut self, tile: &[u8]) {
        halves_kernel::run(self.level, tile.as_chunks().0, &mut self.keys);
    }

    /// Compares a tile in a Src register.
    pub fn take(&mut self, src: &Src) {
        words_kernel::run(self.level, src, &mut self.keys);
    }

    /// The largest datums, as they are in a Src register.
    pub fn store(&self, src: &mut Src) {
        for (word, key) in src.iter_mut().zip(&*self.keys) {
            *word = ordered(*key as i32) as u32 >> BELOW;
        }
    }
}

/// The bits of an FP32 word below those of a Src word.
const BELOW: u32 = 13;
const EXPONENT: u32 = 255 << 23;
const LOWEST: u32 = i32::MIN as u32;

/// Words in the order of sign and magnitude as numbers, and back.
#[inline(always)]
fn ordered(word: i32) -> i32 {
    word ^ (word >> 31 & i32::MAX)
}

#[inline(always)]
fn take<T: Datum>(tile: &[T], keys: &mut Src) {
    for (key, datum) in keys.iter_mut().zip(tile) {
        let word = datum.fp32();
        let live = if word & EXPONENT == 0 { 0 } else { word };
        *key = (*key as i32).max(ordered(live as i32)) as u32;
    }
}

simd_kernel!(halves_kernel, super::take::<[u8; 2]>, (tile: &[[u8; 2]], keys: &mut Src));
simd_kernel!(words_kernel, super::take::<u32>, (tile: &[u32], keys: &mut Src));
