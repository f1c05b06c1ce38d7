//! Mean and variance on the SFPU in two passes: distances from the first datum, then squared distances from the mean.
//!
//! Source: `op-programs-2.md` section 9. Every lane has sums of its own, one for the datums of even rows and one for those
//! of odd rows.

use std::ops::Range;

use tt_formats::TileShape;
use tt_tensix::sfpu::lane::{MINUS_ONE, ONE, ZERO, mad, store_f32};
use tt_tensix::tile_io::Tile;

/// Statistics of the columns, or rows, of tiles.
#[derive(Default)]
pub(crate) struct Moments {
    first: [u32; 32],
    /// The first datum; then the mean; then the variance.
    result: [u32; 32],
    sums: [[u32; 32]; 2],
}

/// The datum of a row and a column, or of the transposed tile.
#[inline]
pub(crate) fn place(transposed: bool, along: usize, across: usize) -> usize {
    if transposed { TileShape::FULL.index(across, along) } else { TileShape::FULL.index(along, across) }
}

impl Moments {
    /// Takes some rows, or columns, of a tile: their distances from the first datum, in the second pass the squares of
    /// those from the mean.
    pub(crate) fn take(&mut self, tile: &Tile, transposed: bool, rows: Range<usize>, (is_first, second): (bool, bool)) {
        if is_first && !second {
            self.first = std::array::from_fn(|across| tile[place(transposed, rows.start, across)]);
            self.result = self.first;
        }
        for along in rows {
            for across in 0..32 {
                let distance = mad(MINUS_ONE, self.result[across], tile[place(transposed, along, across)]);
                let sum = &mut self.sums[along % 2][across];
                *sum = if second { mad(distance, distance, *sum) } else { mad(*sum, ONE, distance) };
            }
        }
    }

    /// Scales the sums: to the mean after the first pass, to the variance after the second.
    pub(crate) fn end_pass(&mut self, factor: u32, second: bool) {
        for (across, result) in self.result.iter_mut().enumerate() {
            let total = mad(self.sums[0][across], ONE, self.sums[1][across]);
            *result = mad(total, factor, if second { ZERO } else { *result });
        }
        self.sums = [[0; 32]; 2];
    }

    /// Puts the first datum less the mean in the place of the mean.
    pub(crate) fn turn_to_correction(&mut self) {
        for (result, &first) in self.result.iter_mut().zip(&self.first) {
            *result = mad(MINUS_ONE, *result, first);
        }
    }

    /// The results of the lanes.
    pub(crate) fn results(&self) -> &[u32; 32] {
        &self.result
    }

    /// Writes the results into row 0, or column 0.
    pub(crate) fn store(&self, tile: &mut Tile, transposed: bool) {
        for (across, &word) in self.result.iter().enumerate() {
            tile[place(transposed, 0, across)] = store_f32(word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(value: impl Fn(usize, usize) -> f32) -> Tile {
        std::array::from_fn(|index| {
            let (row, column) = TileShape::FULL.position(index);
            value(row, column).to_bits()
        })
    }

    #[test]
    fn statistics_of_small_integers_are_exact() {
        for transposed in [false, true] {
            let data = tile(|row, column| {
                let (along, across) = if transposed { (column, row) } else { (row, column) };
                (across + if along % 4 < 2 { 0 } else { 2 }) as f32
            });
            let mut moments = Moments::default();
            moments.take(&data, transposed, 4..20, (true, false));
            moments.end_pass((1.0_f32 / 16.0).to_bits(), false);
            assert_eq!(f32::from_bits(moments.results()[5]), 6.0);
            moments.take(&data, transposed, 4..20, (true, true));
            moments.end_pass((1.0_f32 / 16.0).to_bits(), true);
            assert_eq!(moments.results().map(f32::from_bits), [1.0; 32]);
        }
    }

    #[test]
    fn the_correction_leads_from_the_first_datum_to_the_mean() {
        let data = tile(|row, column| (column * 3 + row) as f32);
        let mut moments = Moments::default();
        moments.take(&data, false, 0..32, (true, false));
        moments.end_pass((1.0_f32 / 32.0).to_bits(), false);
        moments.turn_to_correction();
        assert_eq!(moments.results().map(f32::from_bits), [-15.5; 32]);
    }
}
