//! Transposition of square blocks in registers, words or halves.

use tt_cpu::Level;
use tt_cpu::vector::{Vector, vector_kernel};

use crate::regs::{FACE_DATUMS, FACE_SIDE, TILE_DATUMS};

/// Transposes a face of 16 x 16 words.
///
/// Rows are interleaved with the rows half a block below, once per bit of the index.
#[inline(always)]
pub fn face<V: Vector>(from: &[u32], to: &mut [u32]) {
    for row in (0..FACE_SIDE).step_by(V::LANES) {
        for column in (0..FACE_SIDE).step_by(V::LANES) {
            let mut lines = [V::splat(0); FACE_SIDE];
            for (i, line) in lines[..V::LANES].iter_mut().enumerate() {
                *line = V::load(&from[(row + i) * FACE_SIDE + column..]);
            }
            for _ in 0..V::LANES.ilog2() {
                let old = lines;
                for i in 0..V::LANES / 2 {
                    [lines[2 * i], lines[2 * i + 1]] = V::interleave(old[i], old[i + V::LANES / 2]);
                }
            }
            for (i, &line) in lines[..V::LANES].iter().enumerate() {
                V::store(line, &mut to[(column + i) * FACE_SIDE + row..]);
            }
        }
    }
}

#[inline(always)]
fn tile_body<V: Vector>(from: &[u32; TILE_DATUMS], to: &mut [u32; TILE_DATUMS]) {
    for (source, target) in [(0, 0), (2, 1), (1, 2), (3, 3)] {
        face::<V>(&from[source * FACE_DATUMS..], &mut to[target * FACE_DATUMS..][..FACE_DATUMS]);
    }
}

vector_kernel!(tile_kernel, tile_body, (from: &[u32; TILE_DATUMS], to: &mut [u32; TILE_DATUMS]));

/// Transposes a tile in face order.
///
/// Each face, and faces 1 and 2 exchanged.
pub fn tile(level: Level, from: &[u32; TILE_DATUMS], to: &mut [u32; TILE_DATUMS]) {
    tile_kernel::run(level, from, to);
}

/// Words of a face of 16-bit datums, and of a line of it.
const HALF_FACE: usize = FACE_DATUMS / 2;
const HALF_LINE: usize = FACE_SIDE / 2;
/// Vectors of a face of 16-bit datums, if they have the fewest lanes.
const MOST_VECTORS: usize = HALF_FACE / 4;

/// Transposes a face of 16 x 16 datums of 16 bits, two in a word, the first in the lower half.
///
/// A datum's place has the bits `r3 r2 r1 r0 c3 c2 c1 c0`, the last of which chooses the half. Each round of
/// interleaving rotates the others by one, which leaves `r0 c3 c2 c1 r3 r2 r1 c0`; and `r0` and `c0` change places in
/// words that are half the face apart.
#[inline(always)]
fn half_face<V: Vector>(from: &[u32], to: &mut [u32]) {
    let count = HALF_FACE / V::LANES;
    let mut words = [V::splat(0); MOST_VECTORS];
    for (i, word) in words[..count].iter_mut().enumerate() {
        *word = V::load(&from[i * V::LANES..]);
    }
    for _ in 0..HALF_LINE.ilog2() {
        let old = words;
        for i in 0..count / 2 {
            [words[2 * i], words[2 * i + 1]] = V::interleave(old[i], old[i + count / 2]);
        }
    }
    let lower = V::splat(0xffff);
    for i in 0..count / 2 {
        let (even, odd) = (words[i], words[i + count / 2]);
        let first = V::or(V::and(even, lower), V::shl::<16>(odd));
        let second = V::or(V::shr::<16>(even), V::and(odd, V::splat(-1 << 16)));
        V::store(first, &mut to[i * V::LANES..]);
        V::store(second, &mut to[HALF_FACE / 2 + i * V::LANES..]);
    }
}

#[inline(always)]
fn half_tile_body<V: Vector>(from: &[u32; TILE_DATUMS / 2], to: &mut [u32; TILE_DATUMS / 2]) {
    for (source, target) in [(0, 0), (2, 1), (1, 2), (3, 3)] {
        half_face::<V>(&from[source * HALF_FACE..], &mut to[target * HALF_FACE..][..HALF_FACE]);
    }
}

vector_kernel!(half_tile_kernel, half_tile_body, (from: &[u32; TILE_DATUMS / 2], to: &mut [u32; TILE_DATUMS / 2]));

/// Transposes a tile of 16-bit datums in face order.
///
/// The lines of a face follow each other as [`half_line`] says.
pub fn half_tile(level: Level, from: &[u32; TILE_DATUMS / 2], to: &mut [u32; TILE_DATUMS / 2]) {
    half_tile_kernel::run(level, from, to);
}

/// Place of a face line in the result of [`half_tile`].
///
/// The even ones come first.
pub const fn half_line(line: usize) -> usize {
    line % 2 * (FACE_SIDE / 2) + line / 2
}
