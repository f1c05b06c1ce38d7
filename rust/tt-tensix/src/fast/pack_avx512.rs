//! What `pack` does for AMX, with the two instructions that the compiler does not find: a row of the left operand is two
//! half rows side by side, a row of the right one is 64 bytes of a face with its words permuted.
#[allow(clippy::wildcard_imports, reason = "a dozen intrinsics of one family")]
use std::arch::x86_64::*;

use super::{Bf16Page, Panel};

/// Bytes of a face, and of a half row of it.
const FACE: usize = 512;
const HALF: usize = 32;

/// Bytes of a vector.
const LINE: usize = 64;

/// Packs a left tile whose datums are cut by `mask`, two at a time.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub fn left(page: &Bf16Page, mask: u32, panel: &mut Panel) {
    let mask = _mm512_set1_epi32(mask as i32);
    let (from, to) = (page.as_ptr(), (&raw mut panel.0).cast::<u8>());
    for half in 0..2 {
        for row in 0..16 {
            let start = half * 2 * FACE + row * HALF;
            // SAFETY: `start + FACE + HALF` is at most the 2048 bytes of the page, and there are as many in the panel
            // as in 32 lines.
            unsafe {
                let first = _mm256_loadu_si256(from.add(start).cast());
                let second = _mm256_loadu_si256(from.add(start + FACE).cast());
                let both = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(first), second);
                _mm512_storeu_si512(to.add((half * 16 + row) * LINE).cast(), _mm512_and_si512(both, mask));
            }
        }
    }
}

/// Packs a right tile whose datums are cut by `mask`, two at a time.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub fn right(page: &Bf16Page, mask: u32, panel: &mut Panel) {
    let mask = _mm512_set1_epi32(mask as i32);
    // Word 2c comes from the even row's column c, word 2c + 1 from the odd one's.
    let columns = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    let pairs = _mm512_or_si512(columns, _mm512_slli_epi32::<16>(_mm512_add_epi32(columns, _mm512_set1_epi32(16))));
    let (from, to) = (page.as_ptr(), (&raw mut panel.0).cast::<u8>());
    for face in 0..4 {
        // Faces 0 and 2 are columns 0 to 15.
        let place = (face % 2 * 2 + face / 2) * FACE;
        for line in 0..8 {
            // SAFETY: a face is 8 lines, page and panel are 4 faces.
            unsafe {
                let rows = _mm512_loadu_si512(from.add(face * FACE + line * LINE).cast());
                let paired = _mm512_permutexvar_epi16(pairs, rows);
                _mm512_storeu_si512(to.add(place + line * LINE).cast(), _mm512_and_si512(paired, mask));
            }
        }
    }
}
