//! Transposition of tiles of halves.

use tt_cpu::Level;
use tt_tensix::regs::{FACE_SIDE, TILE_DATUMS, index};
use tt_tensix::transpose::{half_line, half_tile};

#[test]
fn halves_change_rows_with_columns() {
    let from: [u32; TILE_DATUMS / 2] = std::array::from_fn(|i| (((2 * i + 1) << 16) | (2 * i)) as u32);
    for &level in Level::supported() {
        let mut to = [0; TILE_DATUMS / 2];
        half_tile(level, &from, &mut to);
        for row in 0..2 * FACE_SIDE {
            for column in 0..2 * FACE_SIDE {
                let line = index(row, column) / FACE_SIDE;
                let at = (line / FACE_SIDE * FACE_SIDE + half_line(line % FACE_SIDE)) * FACE_SIDE + column % FACE_SIDE;
                let datum = to[at / 2] >> (at % 2 * 16) & 0xffff;
                assert_eq!(datum as usize, index(column, row), "{level:?}: row {row}, column {column}");
            }
        }
    }
}
