//! Whole tiles from rows, and whole tiles of 16-bit datums transposed.
//!
//! Compiled per CPU level.

use tt_cpu::{Level, simd_kernel};
use tt_tensix::tile_io::{Tile, ZERO};
use tt_tensix::unpack;

use super::datums::flushed;

/// Bytes of a tile of 16-bit datums.
pub const HALVES: usize = 2048;

/// Makes a tile of 32 rows, from byte `at` of each. `LINE` are the bytes of a line of a face.
#[inline(always)]
fn tile_of_rows<const LINE: usize>(rows: &[&[u8]], at: usize, flush: bool, tile: &mut [u8]) {
    let lines = tile.as_chunks_mut::<LINE>().0;
    for (row, source) in rows.iter().take(32).enumerate() {
        let [left, right] = source[at..at + 2 * LINE].as_chunks::<LINE>().0 else { return };
        let place = row / 16 * 32 + row % 16;
        (lines[place], lines[place + 16]) = (*left, *right);
    }
    if flush {
        super::datums::flush_bytes(tile);
    }
}

simd_kernel!(tile_of_16_bit_rows, super::tile_of_rows::<32>, (rows: &[&[u8]], at: usize, flush: bool, tile: &mut [u8]));
simd_kernel!(tile_of_32_bit_rows, super::tile_of_rows::<64>, (rows: &[&[u8]], at: usize, flush: bool, tile: &mut [u8]));

#[inline(always)]
fn joined(lower: &[u8; HALVES], upper: &[u8; HALVES], flush: bool, words: &mut Tile) {
    let pairs = lower.as_chunks::<2>().0.iter().zip(upper.as_chunks::<2>().0);
    for (word, (lower, upper)) in words.iter_mut().zip(pairs) {
        let datum = |bytes: [u8; 2]| {
            let half = u16::from_le_bytes(bytes);
            u32::from(if flush { flushed(half) } else { half })
        };
        *word = datum(*lower) | datum(*upper) << 16;
    }
}

#[inline(always)]
fn parted(words: &Tile, lower: &mut [u8; HALVES], upper: &mut [u8; HALVES]) {
    let pairs = lower.as_chunks_mut::<2>().0.iter_mut().zip(upper.as_chunks_mut::<2>().0);
    for (word, (lower, upper)) in words.iter().zip(pairs) {
        (*lower, *upper) = ((*word as u16).to_le_bytes(), ((word >> 16) as u16).to_le_bytes());
    }
}

simd_kernel!(join_halves, super::joined, (lower: &[u8; HALVES], upper: &[u8; HALVES], flush: bool, words: &mut Tile));
simd_kernel!(part_halves, super::parted, (words: &Tile, lower: &mut [u8; HALVES], upper: &mut [u8; HALVES]));

/// Transposes two tiles of 16-bit datums: as the halves of words.
pub fn transpose_halves(level: Level, tiles: [&[u8; HALVES]; 2], flush: bool, targets: &mut [[u8; HALVES]; 2]) {
    let (mut words, mut transposed) = (ZERO, ZERO);
    join_halves::run(level, tiles[0], tiles[1], flush, &mut words);
    unpack::transpose(&words, &mut transposed);
    let [lower, upper] = targets;
    part_halves::run(level, &transposed, lower, upper);
}

#[cfg(test)]
mod tests {
    use tt_formats::TileShape;
    use tt_testkit::random::Random;

    use super::*;

    fn words(random: &mut Random, count: usize) -> Vec<u16> {
        (0..count).map(|_| random.below(1 << 16) as u16).collect()
    }

    fn bytes(words: &[u16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn a_transposed_tile_has_rows_for_columns() {
        let mut random = Random::new(5);
        for flush in [false, true] {
            let tiles = [(); 2].map(|()| words(&mut random, 1024));
            let expected = tiles.each_ref().map(|tile| {
                let mut expected = vec![0; 1024];
                for (index, &word) in tile.iter().enumerate() {
                    let (row, column) = TileShape::FULL.position(index);
                    expected[TileShape::FULL.index(column, row)] = if flush { flushed(word) } else { word };
                }
                bytes(&expected)
            });
            let pages = tiles.each_ref().map(|tile| bytes(tile));
            let pages: [&[u8; HALVES]; 2] = pages.each_ref().map(|page| page[..].try_into().expect("a tile"));
            for &level in Level::supported() {
                let mut targets = [[1; HALVES]; 2];
                transpose_halves(level, pages, flush, &mut targets);
                assert!(
                    targets.iter().zip(&expected).all(|(target, expected)| target[..] == expected[..]),
                    "{level:?}"
                );
            }
        }
    }

    #[test]
    fn a_tile_has_the_lines_of_its_rows() {
        let mut random = Random::new(6);
        let rows: Vec<Vec<u16>> = (0..32).map(|_| words(&mut random, 100)).collect();
        let lines: Vec<Vec<u8>> = rows.iter().map(|row| bytes(row)).collect();
        let lines: Vec<&[u8]> = lines.iter().map(|line| &line[..]).collect();
        for flush in [false, true] {
            let datum = |index: usize| {
                let (row, column) = TileShape::FULL.position(index);
                let word = rows[row][20 + column];
                if flush { flushed(word) } else { word }
            };
            let expected: Vec<u16> = (0..1024).map(datum).collect();
            for &level in Level::supported() {
                let mut tile = [1; HALVES];
                tile_of_16_bit_rows::run(level, &lines, 40, flush, &mut tile);
                assert_eq!(tile[..], bytes(&expected), "{level:?}");
            }
        }
    }
}
