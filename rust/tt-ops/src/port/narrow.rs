//! Src words that are bfloat16 numbers, as bfloat16 in L1.

use tt_cpu::{Level, simd_kernel};

use super::Tile;

/// Writes a tile of Src words as bfloat16: a word has three bits below those.
pub fn narrow(words: &Tile, out: &mut [u8]) {
    narrow_kernel::run(Level::current(), words, out);
}

#[inline(always)]
fn narrow_body(words: &Tile, out: &mut [u8]) {
    for (datum, word) in out.as_chunks_mut::<2>().0.iter_mut().zip(words) {
        *datum = ((*word >> 3) as u16).to_le_bytes();
    }
}

simd_kernel!(narrow_kernel, super::narrow_body, (words: &Tile, out: &mut [u8]));
