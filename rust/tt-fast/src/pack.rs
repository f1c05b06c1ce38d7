//! Tiles in face order to panels and back, compiled per CPU level.
use tt_cpu::simd_kernel;

use super::fidelity::Keep;
use super::{Bf16Page, LINES, Panel, Tile, TileRow};
use tt_tensix::regs::{FACE_SIDE, TILE_DATUMS, index};

const SIDE: usize = 2 * FACE_SIDE;

/// Bytes of a row of a BF16 face.
const FACE_ROW: usize = 2 * FACE_SIDE;

/// First byte of a face row in a BF16 page.
#[inline(always)]
const fn face_row(face: usize, row: usize) -> usize {
    (face * FACE_SIDE + row) * FACE_ROW
}

/// Rows of 32 steps along K: what AMX takes as the left operand, rows 0 to 15 first.
#[inline(always)]
fn left_bf16_body(page: &Bf16Page, keep: Keep, panel: &mut Panel) {
    for (row, line) in panel.0.as_chunks_mut::<FACE_SIDE>().0.iter_mut().enumerate() {
        let face = row / FACE_SIDE * 2;
        // As words at once: taken apart into bytes, the compiler gathers them from different rows.
        let half = |side: usize| -> [u32; FACE_SIDE / 2] {
            let from = face_row(face + side, row % FACE_SIDE);
            bytemuck::must_cast::<[u8; FACE_ROW], _>(*page[from..].first_chunk().expect("a row"))
        };
        let both: [u32; FACE_SIDE] = bytemuck::must_cast([half(0), half(1)]);
        for (to, pair) in line.iter_mut().zip(both) {
            *to = keep.bf16_pair(u32::from_le(pair));
        }
    }
}

/// [`left_bf16_body`] of rows that lie anywhere.
#[inline(always)]
fn left_rows_body(rows: &[&[u8]; SIDE], at: usize, mask: u32, panel: &mut Panel) {
    for (line, row) in panel.0.as_chunks_mut::<FACE_SIDE>().0.iter_mut().zip(rows) {
        let bytes: [u8; 2 * FACE_ROW] = *row[at..].first_chunk().expect("a row of the tile");
        let words: [u32; FACE_SIDE] = bytemuck::must_cast(bytes);
        for (to, pair) in line.iter_mut().zip(words) {
            *to = u32::from_le(pair) & mask;
        }
    }
}

/// Pairs of steps along K, 16 columns each: what AMX takes as the right operand, columns 0 to 15 first.
#[inline(always)]
fn right_bf16_body(page: &Bf16Page, keep: Keep, panel: &mut Panel) {
    for (line_number, line) in panel.0.as_chunks_mut::<FACE_SIDE>().0.iter_mut().enumerate() {
        let (side, pair) = (line_number / FACE_SIDE, line_number % FACE_SIDE);
        let from = face_row(pair / (FACE_SIDE / 2) * 2 + side, pair % (FACE_SIDE / 2) * 2);
        let (even, odd) = page[from..from + 2 * FACE_ROW].split_at(FACE_ROW);
        for ((word, even), odd) in line.iter_mut().zip(even.as_chunks::<2>().0).zip(odd.as_chunks::<2>().0) {
            let (even, odd) = (u16::from_le_bytes(*even), u16::from_le_bytes(*odd));
            *word = keep.bf16_pair(u32::from(even) | u32::from(odd) << 16);
        }
    }
}

/// Steps along K of 32 rows each.
#[inline(always)]
fn left_fp32_body(tile: &Tile, keep: Keep, panels: &mut [Panel; 2]) {
    for (half, panel) in panels.iter_mut().enumerate() {
        for (step, line) in panel.0.as_chunks_mut::<SIDE>().0.iter_mut().enumerate() {
            for (row, word) in line.iter_mut().enumerate() {
                *word = keep.fp32(tile[index(row, half * FACE_SIDE + step)]);
            }
        }
    }
}

/// Steps along K of 32 columns each.
#[inline(always)]
fn right_fp32_body(tile: &Tile, keep: Keep, panels: &mut [Panel; 2]) {
    for (half, panel) in panels.iter_mut().enumerate() {
        for (step, line) in panel.0.as_chunks_mut::<SIDE>().0.iter_mut().enumerate() {
            for (side, line) in line.as_chunks_mut::<FACE_SIDE>().0.iter_mut().enumerate() {
                let from = index(half * FACE_SIDE + step, side * FACE_SIDE);
                for (word, from) in line.iter_mut().zip(&tile[from..from + FACE_SIDE]) {
                    *word = keep.fp32(*from);
                }
            }
        }
    }
}

#[inline(always)]
fn widen_body(page: &Bf16Page, tile: &mut Tile) {
    for (word, bytes) in tile.iter_mut().zip(page.as_chunks::<2>().0) {
        *word = u32::from(u16::from_le_bytes(*bytes)) << 16;
    }
}

#[inline(always)]
fn narrow_body(tile: &Tile, page: &mut Bf16Page) {
    for (bytes, word) in page.as_chunks_mut::<2>().0.iter_mut().zip(tile) {
        *bytes = ((word >> 16) as u16).to_le_bytes();
    }
}

#[inline(always)]
fn canonicalize_body(tile: &mut Tile) {
    for word in tile {
        let magnitude = *word & 0x7fff_ffff;
        let number = if magnitude < 0x0080_0000 { 0 } else { *word };
        *word = if magnitude > 0x7f80_0000 { 0x7fc0_0000 } else { number };
    }
}

/// Sums of lines of a page, the first of which is the page's `first`, with a row added to each of the tile's. Zero
/// exponents, NaN and ties as `canonicalize` and the packer have them; all NaN are positive by then.
#[inline(always)]
fn canonical_to_bf16_body(words: &[u32], row: &TileRow, first: usize, bytes: &mut [u8]) {
    let lines = bytes.as_chunks_mut::<{ 2 * FACE_ROW }>().0.iter_mut().zip(words.as_chunks::<SIDE>().0);
    for (line, (bytes, words)) in lines.enumerate() {
        let row = row_of_line(row, first + line);
        for (bytes, words) in bytes.as_chunks_mut::<FACE_ROW>().0.iter_mut().zip(words.as_chunks::<FACE_SIDE>().0) {
            for ((bytes, word), add) in bytes.as_chunks_mut::<2>().0.iter_mut().zip(words).zip(row) {
                let word = (f32::from_bits(*word) + f32::from_bits(*add)).to_bits();
                let magnitude = word & 0x7fff_ffff;
                let number = if magnitude < 0x0080_0000 { 0 } else { word.wrapping_add(0x8000) >> 16 };
                *bytes = (if magnitude > 0x7f80_0000 { 0x7f80 } else { number as u16 }).to_le_bytes();
            }
        }
    }
}

/// Returns the addends of the two face rows of a page's line.
#[inline(always)]
pub fn row_of_line(row: &TileRow, line: usize) -> &[u32; FACE_SIDE] {
    &row.as_chunks::<FACE_SIDE>().0[line / (LINES / 4) % 2]
}

#[inline(always)]
fn round_to_bf16_body(tile: &mut Tile) {
    for word in tile {
        let magnitude = *word & 0x7fff_ffff;
        let rounded = (*word).wrapping_add(0x8000) & 0xffff_0000;
        let number = if rounded & 0x7fff_ffff < 0x0080_0000 { 0 } else { rounded };
        *word = if magnitude > 0x7f80_0000 { *word & 0x8000_0000 | 0x7f80_0000 } else { number };
    }
}

#[inline(always)]
fn add_row_body(tile: &mut Tile, row: &TileRow) {
    for (number, line) in tile.as_chunks_mut::<FACE_SIDE>().0.iter_mut().enumerate() {
        for (word, add) in line.iter_mut().zip(row_of_line(row, number / 2)) {
            *word = (f32::from_bits(*word) + f32::from_bits(*add)).to_bits();
        }
    }
}

const _: () = assert!(TILE_DATUMS == SIDE * SIDE);

simd_kernel!(left_rows, super::left_rows_body, (rows: &[&[u8]; SIDE], at: usize, mask: u32, panel: &mut Panel));
simd_kernel!(left_bf16, super::left_bf16_body, (page: &Bf16Page, keep: Keep, panel: &mut Panel));
simd_kernel!(right_bf16, super::right_bf16_body, (page: &Bf16Page, keep: Keep, panel: &mut Panel));
simd_kernel!(left_fp32, super::left_fp32_body, (tile: &Tile, keep: Keep, panels: &mut [Panel; 2]));
simd_kernel!(right_fp32, super::right_fp32_body, (tile: &Tile, keep: Keep, panels: &mut [Panel; 2]));
simd_kernel!(widen, super::widen_body, (page: &Bf16Page, tile: &mut Tile));
simd_kernel!(narrow, super::narrow_body, (tile: &Tile, page: &mut Bf16Page));
simd_kernel!(canonicalize, super::canonicalize_body, (tile: &mut Tile));
simd_kernel!(canonical_to_bf16, super::canonical_to_bf16_body, (words: &[u32], row: &TileRow, first: usize, bytes: &mut [u8]));
simd_kernel!(round_to_bf16, super::round_to_bf16_body, (tile: &mut Tile));
simd_kernel!(add_row, super::add_row_body, (tile: &mut Tile, row: &TileRow));
