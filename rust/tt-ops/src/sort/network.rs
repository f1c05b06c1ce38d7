//! The SFPU's bitonic network on 64 values of 32 rows.
//!
//! And the order of equal values that it gives.
//!
//! Element `e` of all rows is one array, so that a conditional swap is one step for 32 rows. Which elements a phase
//! compares follows from how the kernel holds 16 of them: in 4 registers of 4 lane rows, transposed or not. The kernel
//! itself, instruction by instruction, is `tt_sfpu::tile`.

use tt_cpu::{Level, simd_kernel};

/// Rows that are sorted together.
pub const ROWS: usize = 32;
/// Elements of a tile.
pub const TILE: usize = 32;
/// One element of all rows.
pub type Lane = [u32; ROWS];

/// Values as signed integer keys, and their indices.
///
/// The keys have the order of words by sign and magnitude.
pub struct Elements<'a> {
    /// Keys.
    pub keys: &'a mut [Lane],
    /// The original indices.
    pub indices: &'a mut [Lane],
}

/// The key of a word, and the word of a key.
#[inline(always)]
pub fn key(word: u32) -> u32 {
    word ^ ((word as i32 >> 31) as u32 >> 1)
}

/// The conditional swap: where `c` is smaller, or where it is not if `inverted`.
#[inline(always)]
fn swap(elements: &mut Elements<'_>, c: usize, d: usize, inverted: bool) {
    let (mut kc, mut kd) = (elements.keys[c], elements.keys[d]);
    let (mut ic, mut id) = (elements.indices[c], elements.indices[d]);
    for row in 0..ROWS {
        let exchange = ((kc[row] as i32) < kd[row] as i32) != inverted;
        let mask = 0_u32.wrapping_sub(u32::from(exchange));
        let (keys, indices) = ((kc[row] ^ kd[row]) & mask, (ic[row] ^ id[row]) & mask);
        kc[row] ^= keys;
        kd[row] ^= keys;
        ic[row] ^= indices;
        id[row] ^= indices;
    }
    (elements.keys[c], elements.keys[d]) = (kc, kd);
    (elements.indices[c], elements.indices[d]) = (ic, id);
}

/// Swaps of two registers of the block that begins at `base`; `transposed` is how it is held. In the lane rows that
/// `larger_first` names the first register gets the larger values.
#[inline(always)]
fn registers(
    elements: &mut Elements<'_>,
    base: usize,
    (c, d): (usize, usize),
    transposed: bool,
    larger_first: [bool; 4],
    inverted: bool,
) {
    for (lane_row, &larger) in larger_first.iter().enumerate() {
        let place = |register: usize| base + if transposed { 4 * lane_row + register } else { 4 * register + lane_row };
        swap(elements, place(c), place(d), larger == inverted);
    }
}

const ALL: [bool; 4] = [true; 4];
const ROWS_01: [bool; 4] = [true, true, false, false];
const ROWS_02: [bool; 4] = [true, false, true, false];
const STEPS_2_AND_1: [(usize, usize); 4] = [(0, 2), (1, 3), (0, 1), (2, 3)];

#[inline(always)]
fn phase_3(elements: &mut Elements<'_>, base: usize, ascending: bool) {
    for transposed in [false, true] {
        for pair in STEPS_2_AND_1 {
            registers(elements, base, pair, transposed, ALL, ascending);
        }
    }
}

/// A step between elements that are `distance` apart.
#[inline(always)]
fn far_step(elements: &mut Elements<'_>, base: usize, distance: usize, ascending: bool) {
    for place in base..base + distance {
        let (low, high) = (place, place + distance);
        let (c, d) = if ascending { (high, low) } else { (low, high) };
        swap(elements, c, d, false);
    }
}

#[inline(always)]
fn sort_64(keys: &mut [Lane], indices: &mut [Lane], ascending: bool) {
    let elements = &mut Elements { keys, indices };
    for base in [0, 16, 32, 48] {
        registers(elements, base, (0, 1), true, ALL, false);
        registers(elements, base, (3, 2), true, ALL, false);
        for pair in STEPS_2_AND_1 {
            registers(elements, base, pair, true, ROWS_02, false);
        }
        registers(elements, base, (0, 1), false, ALL, false);
        registers(elements, base, (2, 3), false, ALL, false);
        for place in base + 8..base + 12 {
            elements.keys.swap(place, place + 4);
            elements.indices.swap(place, place + 4);
        }
        for pair in STEPS_2_AND_1 {
            registers(elements, base, pair, true, ROWS_01, false);
        }
    }
    for (number, base) in [0, 16, 32, 48].into_iter().enumerate() {
        phase_3(elements, base, ascending != (number % 2 == 1));
    }
    for (number, base) in [0, 32].into_iter().enumerate() {
        let ascending = ascending != (number == 1);
        far_step(elements, base, 16, ascending);
        phase_3(elements, base, ascending);
        phase_3(elements, base + 16, ascending);
    }
    far_step(elements, 0, 32, ascending);
    for base in [0, 32] {
        far_step(elements, base, 16, ascending);
    }
    for base in [0, 16, 32, 48] {
        phase_3(elements, base, ascending);
    }
}

simd_kernel!(sort_64_kernel, super::sort_64, (keys: &mut [super::Lane], indices: &mut [super::Lane], ascending: bool));

/// Sorts 64 elements of all rows.
pub fn local_sort(level: Level, elements: &mut Elements<'_>, ascending: bool) {
    sort_64_kernel::run(level, elements.keys, elements.indices, ascending);
}

/// Compares two tiles element by element: the first gets the larger ones.
///
/// In a block that ascends the two then change places, equal elements too.
pub fn exchange_tiles(elements: &mut Elements<'_>, first: usize, second: usize, ascending: bool) {
    for place in 0..TILE {
        let (c, d) = (first * TILE + place, second * TILE + place);
        swap(elements, c, d, false);
        if ascending {
            elements.keys.swap(c, d);
            elements.indices.swap(c, d);
        }
    }
}

#[cfg(test)]
mod tests {
    use tt_formats::Arch;
    use tt_sfpu::DstWidth;
    use tt_sfpu::tile::{Registers, Rules, lookup};

    use super::*;

    #[test]
    fn the_network_is_that_of_the_kernel() {
        let place = |row: usize, column: usize| tt_formats::TileShape::FULL.index(row, column);
        for ascending in [false, true] {
            for values in [3, 17, 5000_u32] {
                let mut tiles = [[0_u32; 1024]; 4];
                let (mut keys, mut indices) = (vec![[0; ROWS]; 64], vec![[0; ROWS]; 64]);
                for e in 0..64 {
                    for row in 0..ROWS {
                        let value = (e as u32 * 37 + row as u32 * 101 + (e * e) as u32) % values;
                        let word = (value as f32 - values as f32 / 2.0).to_bits();
                        tiles[e / 32][place(e % 32, row)] = word;
                        tiles[2 + e / 32][place(e % 32, row)] = e as u32;
                        (keys[e][row], indices[e][row]) = (key(word), e as u32);
                    }
                }
                let rules = Rules { width: DstWidth::Bits32, arch: Arch::Wormhole };
                let function = lookup("topk_local_sort").expect("the kernel's function");
                let parameters = [u32::from(ascending), 5, 0, 0, 0];
                function.run(&mut Registers::Free, &mut tiles, &parameters, rules).expect("sorted");
                for &level in Level::supported() {
                    let (mut keys, mut indices) = (keys.clone(), indices.clone());
                    local_sort(level, &mut Elements { keys: &mut keys, indices: &mut indices }, ascending);
                    for e in 0..64 {
                        for row in 0..ROWS {
                            assert_eq!(key(keys[e][row]), tiles[e / 32][place(e % 32, row)], "{level:?} {e} {row}");
                            assert_eq!(indices[e][row], tiles[2 + e / 32][place(e % 32, row)], "{level:?} {e} {row}");
                        }
                    }
                }
            }
        }
    }
}
