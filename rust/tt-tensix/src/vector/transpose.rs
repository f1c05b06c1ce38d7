//! Transposition of square blocks of words in registers.

use super::{Vector, vector_kernel};
use crate::regs::{FACE_DATUMS, FACE_SIDE, TILE_DATUMS};

/// Transposes a face of 16 x 16 words. Rows are interleaved with the rows half a block below, once per bit of the index.
#[inline(always)]
pub(crate) fn face<V: Vector>(from: &[u32], to: &mut [u32]) {
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

/// Transposes a tile in face order: each face, and faces 1 and 2 exchanged.
pub(crate) fn tile(level: tt_cpu::Level, from: &[u32; TILE_DATUMS], to: &mut [u32; TILE_DATUMS]) {
    tile_kernel::run(level, from, to);
}
