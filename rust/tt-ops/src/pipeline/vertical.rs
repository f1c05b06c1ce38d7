//! SFPU programs that go from row to row, or from column to column of a transposed tile: running sums and variances; and
//! compensated sums from tile to tile.

use tt_formats::TileShape;
use tt_tensix::sfpu::lane::{INFINITY, MINUS_ONE, ONE, ZERO, mad, store_f32};
use tt_tensix::tile_io::Tile;

/// The datum of a row and a column, or of the transposed tile.
#[inline]
fn place(transposed: bool, along: usize, across: usize) -> usize {
    if transposed { TileShape::FULL.index(across, along) } else { TileShape::FULL.index(along, across) }
}

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

/// Mean and variance of the columns, or rows, of a line of tiles. Even and odd datums have sums of their own.
#[derive(Default)]
pub(super) struct Moments {
    /// The first datum; then the mean.
    anchor: [u32; 32],
    sums: [[u32; 32]; 2],
}

impl Moments {
    /// Takes a tile of which so many rows count: distances from the anchor, in the second pass squares of those from
    /// the mean.
    pub(super) fn take(&mut self, tile: &Tile, (transposed, used): (bool, usize), is_first: bool, second: bool) {
        if is_first && !second {
            self.anchor = std::array::from_fn(|across| tile[place(transposed, 0, across)]);
        }
        for along in 0..used {
            for across in 0..32 {
                let distance = mad(MINUS_ONE, self.anchor[across], tile[place(transposed, along, across)]);
                let sum = &mut self.sums[along % 2][across];
                *sum = if second { mad(distance, distance, *sum) } else { mad(*sum, ONE, distance) };
            }
        }
    }

    /// Scales the sums: to the mean after the first pass, to the variance after the second.
    pub(super) fn end_pass(&mut self, factor: u32, second: bool) {
        for (across, anchor) in self.anchor.iter_mut().enumerate() {
            let total = mad(self.sums[0][across], ONE, self.sums[1][across]);
            *anchor = mad(total, factor, if second { ZERO } else { *anchor });
        }
        self.sums = [[0; 32]; 2];
    }

    /// Writes the results into row 0, or column 0.
    pub(super) fn store(&self, tile: &mut Tile, transposed: bool) {
        for (across, &word) in self.anchor.iter().enumerate() {
            tile[place(transposed, 0, across)] = store_f32(word);
        }
    }
}
