//! Mean and variance on the SFPU in two passes.
//!
//! Distances from the first datum, then squared distances from the mean.
//!
//! Source: tt-metal `welford_reduce_w.cpp`, `welford_reduce_h.cpp`. Every lane has sums of its own, one for the datums
//! of even rows and one for those of odd rows.

mod matrix;

use std::ops::Range;

use tt_formats::{Arch, TileShape};
use tt_sfpu::fma;
use tt_sfpu::lane::{MINUS_ONE, ONE, ZERO, store_bf16, store_f32};
use tt_tensix::tile_io::Tile;
use tt_tensix::unpack;

use crate::lanes::Lanes;
pub(crate) use matrix::{MatrixMoments, of_lanes};

/// Lanes: columns of a tile, or rows of a transposed one.
const SIDE: usize = 32;
/// Up to so many lanes are computed one by one.
const FEW: u32 = 4;

/// Statistics of the columns, or rows, of tiles.
pub(crate) struct Moments {
    arch: Arch,
    lanes: Lanes,
    first: [u32; SIDE],
    /// The first datum; then the mean; then the variance.
    result: [u32; SIDE],
    /// Those of even rows, then those of odd ones.
    sums: [u32; 2 * SIDE],
}

/// The datum of a row and a column, or of the transposed tile.
#[inline]
pub(crate) fn place(transposed: bool, along: usize, across: usize) -> usize {
    if transposed { TileShape::FULL.index(across, along) } else { TileShape::FULL.index(along, across) }
}

/// The rows of a tile, or its columns, one after the other.
pub(crate) fn lines(tile: &Tile, transposed: bool) -> Tile {
    let mut turned = [0; 1024];
    let tile = if transposed {
        unpack::transpose(tile, &mut turned);
        &turned
    } else {
        tile
    };
    let mut lines = [0; 1024];
    for (along, line) in lines.as_chunks_mut::<SIDE>().0.iter_mut().enumerate() {
        for (half, words) in line.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            words.copy_from_slice(&tile[TileShape::FULL.index(along, 16 * half)..][..16]);
        }
    }
    lines
}

impl Moments {
    pub(crate) fn new(arch: Arch) -> Self {
        Self { arch, lanes: Lanes::new(arch), first: [0; SIDE], result: [0; SIDE], sums: [0; 2 * SIDE] }
    }

    /// `a * b + c` as the generation's SFPU rounds it.
    fn mad(&self, a: u32, b: u32, c: u32) -> u32 {
        fma(a, b, c, self.arch)
    }

    /// Takes some rows, or columns, of a tile: their distances from the first datum, in the second pass the squares of
    /// those from the mean.
    pub(crate) fn take(&mut self, tile: &Tile, transposed: bool, rows: Range<usize>, (is_first, second): (bool, bool)) {
        let mut distances = lines(tile, transposed);
        let distances = &mut distances[SIDE * rows.start..SIDE * rows.end];
        if is_first && !second {
            self.first.copy_from_slice(&distances[..SIDE]);
            self.result = self.first;
        }
        let live = self.live(distances);
        if live.count_ones() <= FEW {
            for across in (0..SIDE).filter(|across| live >> across & 1 == 1) {
                self.take_lane(across, rows.start, distances, second);
            }
            return;
        }
        let subtracted: Tile = std::array::from_fn(|at| self.result[at % SIDE]);
        self.lanes.subtract(distances, &subtracted[..distances.len()]);
        // Sums of an even row and of the odd one behind it do not meet.
        let (mut along, mut rest) = (rows.start, &distances[..]);
        while !rest.is_empty() {
            let count = if along % 2 == 0 { rest.len().min(2 * SIDE) } else { SIDE };
            let (taken, left) = rest.split_at(count);
            let sums = &mut self.sums[along % 2 * SIDE..][..count];
            if second {
                self.lanes.add_squares(sums, taken);
            } else {
                self.lanes.add(sums, taken);
            }
            (along, rest) = (along + count / SIDE, left);
        }
    }

    /// The lanes of some lines that are not zero throughout, nor is what was made of them; each has a bit. The others
    /// stay zero.
    fn live(&self, lines: &[u32]) -> u32 {
        let mut seen = self.result;
        for line in lines.as_chunks::<SIDE>().0.iter().chain(self.sums.as_chunks().0) {
            for (seen, word) in seen.iter_mut().zip(line) {
                *seen |= word;
            }
        }
        seen.iter().rev().fold(0, |live, &word| live << 1 | u32::from(word != 0))
    }

    /// [`Self::take`] of one lane.
    fn take_lane(&mut self, across: usize, first: usize, lines: &[u32], second: bool) {
        for (along, line) in (first..).zip(lines.as_chunks::<SIDE>().0) {
            let distance = self.mad(MINUS_ONE, self.result[across], line[across]);
            let place = along % 2 * SIDE + across;
            let sum = self.sums[place];
            self.sums[place] = if second { self.mad(distance, distance, sum) } else { self.mad(sum, ONE, distance) };
        }
    }

    /// Scales the sums: to the mean after the first pass, to the variance after the second.
    pub(crate) fn end_pass(&mut self, factor: u32, second: bool) {
        for across in 0..SIDE {
            let total = self.mad(self.sums[across], ONE, self.sums[SIDE + across]);
            self.result[across] = self.mad(total, factor, if second { ZERO } else { self.result[across] });
        }
        self.sums = [0; 2 * SIDE];
    }

    /// Puts the first datum less the mean in the place of the mean.
    pub(crate) fn turn_to_correction(&mut self) {
        for (result, &first) in self.result.iter_mut().zip(&self.first) {
            *result = fma(MINUS_ONE, *result, first, self.arch);
        }
    }

    /// The results of the lanes.
    pub(crate) fn results(&self) -> &[u32; SIDE] {
        &self.result
    }

    /// Writes the results into row 0, or column 0, of a `Dst` of 32 or 16 bits.
    pub(crate) fn store(&self, tile: &mut Tile, transposed: bool, dst32: bool) {
        for (across, &word) in self.result.iter().enumerate() {
            tile[place(transposed, 0, across)] = if dst32 { store_f32(word) } else { store_bf16(word) };
        }
    }
}

#[cfg(test)]
mod tests {
    use tt_testkit::random::Random;

    use super::*;

    fn tile(value: impl Fn(usize, usize) -> f32) -> Tile {
        std::array::from_fn(|index| {
            let (row, column) = TileShape::FULL.position(index);
            value(row, column).to_bits()
        })
    }

    /// The sums datum by datum.
    fn sums_of(
        arch: Arch,
        tiles: &[Tile],
        transposed: bool,
        rows: &Range<usize>,
        mean: Option<[u32; 32]>,
    ) -> [[u32; 32]; 2] {
        let mad = |a, b, c| fma(a, b, c, arch);
        let mut sums = [[ZERO; 32]; 2];
        for tile in tiles {
            for along in rows.clone() {
                for across in 0..32 {
                    let first = tiles[0][place(transposed, rows.start, across)];
                    let from = mean.map_or(first, |mean| mean[across]);
                    let distance = mad(MINUS_ONE, from, tile[place(transposed, along, across)]);
                    let sum = &mut sums[along % 2][across];
                    *sum = if mean.is_some() { mad(distance, distance, *sum) } else { mad(*sum, ONE, distance) };
                }
            }
        }
        sums
    }

    #[test]
    fn sums_of_lanes_are_those_of_single_datums() {
        let mut random = Random::new(33);
        for round in 0..90_u32 {
            let arch = if round % 4 < 2 { Arch::Wormhole } else { Arch::Blackhole };
            // In some rounds most lanes are zero.
            let used = if round % 3 == 0 { 1 + round as usize / 9 } else { 32 };
            let transposed = round % 2 == 0;
            let start = random.below(32) as usize;
            let rows = start..start + 1 + random.below(32 - start as u32) as usize;
            let mut word = || {
                let any = random.below(1 << 16) << 16 | random.below(1 << 16);
                match round / 2 % 3 {
                    0 => store_f32(any),
                    1 => store_f32(any & !(255 << 23) | [0, 1, 127, 254, 255][random.below(5) as usize] << 23),
                    _ => any & (1 << 31 | 0x7f << 16) | (126 + random.below(3)) << 23,
                }
            };
            let mut tiles: [Tile; 2] = std::array::from_fn(|_| std::array::from_fn(|_| word()));
            for tile in &mut tiles {
                for along in 0..32 {
                    (used..32).for_each(|across| tile[place(transposed, along, across)] = ZERO);
                }
            }
            let mut moments = Moments::new(arch);
            for second in [false, true] {
                let mean = second.then_some(*moments.results());
                for (number, tile) in tiles.iter().enumerate() {
                    moments.take(tile, transposed, rows.clone(), (number == 0, second));
                }
                let expected = sums_of(arch, &tiles, transposed, &rows, mean);
                assert_eq!(moments.sums.as_chunks::<32>().0, expected, "round {round}, second pass: {second}");
                moments.end_pass((1.0_f32 / 7.0).to_bits(), second);
            }
        }
    }

    #[test]
    fn statistics_of_small_integers_are_exact() {
        for transposed in [false, true] {
            let data = tile(|row, column| {
                let (along, across) = if transposed { (column, row) } else { (row, column) };
                (across + if along % 4 < 2 { 0 } else { 2 }) as f32
            });
            let mut moments = Moments::new(Arch::Wormhole);
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
        let mut moments = Moments::new(Arch::Wormhole);
        moments.take(&data, false, 0..32, (true, false));
        moments.end_pass((1.0_f32 / 32.0).to_bits(), false);
        moments.turn_to_correction();
        assert_eq!(moments.results().map(f32::from_bits), [-15.5; 32]);
    }
}
