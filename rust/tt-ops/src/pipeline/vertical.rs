//! SFPU programs that go from row to row, or from column to column of a transposed tile: running sums; and compensated
//! sums from tile to tile.

use tt_tensix::sfpu::lane::{INFINITY, MINUS_ONE, ONE, ZERO, mad, store_f32};
use tt_tensix::tile_io::Tile;

use crate::moments::place;

/// Makes every datum the sum of its column, or row, down to it; `carry` is the sum of the tiles before.
pub(super) fn running_sum(tile: &mut Tile, carry: &mut [u32], transposed: bool) {
    for along in 0..32 {
        for (across, sum) in carry.iter_mut().enumerate() {
            let datum = &mut tile[place(transposed, along, across)];
            *sum = mad(ONE, *sum, *datum);
            *datum = store_f32(*sum);
        }
    }
}

/// Adds the tile `total` to the tile `next`, less what the additions before lost; keeps what this one loses.
pub(super) fn add_compensated(next: &mut Tile, total: &Tile, lost: &mut Tile) {
    for ((next, &total), lost) in next.iter_mut().zip(total).zip(lost) {
        let corrected = mad(*lost, MINUS_ONE, *next);
        let sum = mad(ONE, total, corrected);
        let added = mad(total, MINUS_ONE, sum);
        let left = mad(corrected, MINUS_ONE, added);
        *lost = if left & INFINITY == INFINITY { ZERO } else { store_f32(left) };
        *next = store_f32(sum);
    }
}
