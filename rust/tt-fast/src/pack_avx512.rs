//! The functions of `pack` with hand-chosen instructions.
//!
//! For AMX, a row of the left operand is two half rows side by side, and a row of the right one is 64 bytes of a face
//! with its words permuted.
#[allow(clippy::wildcard_imports, reason = "a dozen intrinsics of one family")]
use std::arch::x86_64::*;

use super::amx::{Step, Tiles};
use super::pack::row_of_line;
use super::run::{AHEAD, FAR, PLACES, Run, WAITING, run_loop};
use super::{Bf16Page, LINES, Panel, TileRow};
use tt_tensix::each_part;
use tt_tensix::unpack::block_float::{Interleave, PARTS};

/// Bytes of a face, and of a half row of it.
const FACE: usize = 512;
const HALF: usize = 32;

/// Bytes of a vector.
const LINE: usize = 64;

/// Packs a left tile masked by `mask`, two datums at a time.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub fn left(page: &Bf16Page, mask: u32, panel: &mut Panel) {
    left_rows::<32>(page, mask, panel, 0);
}

/// Packs some rows of a left tile.
///
/// # Panics
/// If the tile does not have them.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
#[inline]
pub fn left_rows<const ROWS: usize>(page: &Bf16Page, mask: u32, panel: &mut Panel, first: usize) {
    assert!(first + ROWS <= 32, "rows of a tile");
    let mask = _mm512_set1_epi32(mask as i32);
    let (from, to) = (page.as_ptr(), (&raw mut panel.0).cast::<u8>());
    for row in first..first + ROWS {
        let start = row / 16 * 2 * FACE + row % 16 * HALF;
        // SAFETY: `start + FACE + HALF` is at most the 2048 bytes of the page, and there are as many in the panel as in
        // 32 lines.
        unsafe {
            let first = _mm256_loadu_si256(from.add(start).cast());
            let second = _mm256_loadu_si256(from.add(start + FACE).cast());
            let both = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(first), second);
            _mm512_storeu_si512(to.add(row * LINE).cast(), _mm512_and_si512(both, mask));
        }
    }
}

/// Packs a right tile masked by `mask`, two datums at a time.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
#[inline]
pub fn right<B: Interleave>(page: &Bf16Page, mask: u32, panel: &mut Panel, beside: &mut B) {
    let mask = _mm512_set1_epi32(mask as i32);
    let (from, to) = (page.as_ptr(), (&raw mut panel.0).cast::<u8>());
    each_part!(PART => {
        beside.part::<LINES>(PART);
        // Faces 0 and 2 are columns 0 to 15. Lines of the two that change places are taken by turns: loads of a whole one
        // would wait for stores of the other where page and panel lie a multiple of 4096 bytes from each other.
        let line = PART % 8 * LINE;
        for face in if PART < 8 { [0, 3] } else { [1, 2] } {
            let place = (face % 2 * 2 + face / 2) * FACE;
            // SAFETY: a face is 8 lines, page and panel are 4 faces.
            unsafe {
                let rows = _mm512_loadu_si512(from.add(face * FACE + line).cast());
                _mm512_storeu_si512(to.add(place + line).cast(), _mm512_and_si512(pair_rows(rows), mask));
            }
        }
    });
}

/// Two rows of a face as one line of pairs.
///
/// Word 2c is the even row's column c, word 2c + 1 the odd one's.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub fn pair_rows(rows: __m512i) -> __m512i {
    let columns = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    let pairs = _mm512_or_si512(columns, _mm512_slli_epi32::<16>(_mm512_add_epi32(columns, _mm512_set1_epi32(16))));
    _mm512_permutexvar_epi16(pairs, rows)
}

/// A run of products beside the packing of pages; see `Running::run`.
///
/// # Panics
/// If a page is shorter than a tile.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub fn run(tiles: &mut Tiles, run: &mut Run<'_>, mask: u32) -> Option<usize> {
    run_loop!(tiles, run, |page, panel, beside| {
        right(page.first_chunk().expect("a tile"), mask, panel, beside);
        true
    })
}

/// What becomes of a sum, four bits for each kind of number: both kinds of NaN become +infinity, zeros +0, others stay.
const FIX_UP: i32 = 0x855;

/// `pack::canonical_to_bf16` for whole lines of 32 sums.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub fn canonical_to_bf16(words: &[u32], row: &TileRow, first: usize, bytes: &mut [u8]) {
    for (number, (words, line)) in words.as_chunks::<32>().0.iter().zip(bytes.as_chunks_mut::<LINE>().0).enumerate() {
        let row = row_of_line(row, first + number);
        // SAFETY: a vector of 16 words is as long as the array.
        let row = unsafe { _mm512_loadu_ps(row.as_ptr().cast()) };
        let [first, second] = [0, 16].map(|place| {
            // SAFETY: two vectors of 16 words are the 32 of the array.
            let sums = unsafe { _mm512_loadu_ps(words[place..].as_ptr().cast()) };
            _mm512_castps_si512(_mm512_add_ps(sums, row))
        });
        let both = upper_halves(canonical(first), canonical(second));
        // SAFETY: the array is as long as the store, which takes any alignment.
        unsafe { _mm512_storeu_si512(line.as_mut_ptr().cast(), both) };
    }
}

/// FP32 sums whose upper halves are what the packer writes.
#[inline]
#[target_feature(enable = "avx512f")]
pub fn canonical(sums: __m512i) -> __m512i {
    let (fix_up, half) = (_mm512_set1_epi32(FIX_UP), _mm512_set1_epi32(0x8000));
    let fixed = _mm512_castsi512_ps(sums);
    let fixed = _mm512_castps_si512(_mm512_fixupimm_ps::<0>(fixed, fixed, fix_up));
    _mm512_maskz_add_epi32(_mm512_test_epi32_mask(sums, _mm512_set1_epi32(0x7f80_0000)), fixed, half)
}

/// The upper halves of 32 words.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub fn upper_halves(first: __m512i, second: __m512i) -> __m512i {
    let columns = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    // Word c is the upper half of word c of the first vector, then of the second.
    let even = _mm512_slli_epi32::<2>(columns);
    let upper = _mm512_or_si512(
        _mm512_add_epi32(even, _mm512_set1_epi32(1)),
        _mm512_slli_epi32::<16>(_mm512_add_epi32(even, _mm512_set1_epi32(3))),
    );
    _mm512_permutex2var_epi16(first, upper, second)
}
