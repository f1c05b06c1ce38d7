//! SFPU programs along rows, columns or tiles.
//!
//! From row to row, or from column to column of a transposed tile: running sums and moving averages; and compensated
//! sums from tile to tile.

use tt_formats::Arch;
use tt_sfpu::lane::{INFINITY, ZERO, store_bf16, store_f32};
use tt_sfpu::{DstWidth, fma};
use tt_tensix::tile_io::Tile;

use crate::lanes::Lanes;
use crate::moments::place;

/// Makes every datum the sum of its column, or row, down to it; `carry` is the sum of the tiles before.
pub(super) fn running_sum(tile: &mut Tile, carry: &mut [u32], transposed: bool, arch: Arch) {
    let lanes = Lanes::new(arch);
    let mut line = [0; 32];
    for along in 0..32 {
        for (across, datum) in line.iter_mut().enumerate() {
            *datum = tile[place(transposed, along, across)];
        }
        lanes.add(carry, &line);
        for (across, &sum) in carry.iter().enumerate() {
            tile[place(transposed, along, across)] = sum;
        }
    }
}

/// Makes every datum the average of its row up to it: `weights[0]` times the one before, plus `weights[1]` times the
/// datum. `carry` is the average before the tile, which a register keeps in FP32.
pub(super) fn moving_average(
    tile: &mut Tile,
    carry: &mut [u32],
    [old, new]: [u32; 2],
    (width, arch): (DstWidth, Arch),
) {
    for along in 0..32 {
        for (across, average) in carry.iter_mut().enumerate() {
            let datum = &mut tile[place(true, along, across)];
            *average = fma(new, *datum, fma(old, *average, ZERO, arch), arch);
            *datum = match width {
                DstWidth::Bits16 => store_bf16(*average),
                DstWidth::Bits32 => store_f32(*average),
            };
        }
    }
}

/// Adds the tile `total` to the tile `next`, less what the additions before lost; keeps what this one loses.
pub(super) fn add_compensated(next: &mut Tile, total: &Tile, lost: &mut Tile, arch: Arch) {
    let lanes = Lanes::new(arch);
    lanes.subtract(next, lost);
    let corrected = *next;
    next.copy_from_slice(total);
    lanes.add(next, &corrected);
    lost.copy_from_slice(next);
    lanes.subtract(lost, total);
    lanes.subtract(lost, &corrected);
    for word in lost {
        *word = if *word & INFINITY == INFINITY { ZERO } else { *word };
    }
}

#[cfg(test)]
mod tests {
    use tt_sfpu::lane::{MINUS_ONE, ONE};
    use tt_sfpu::tile::{Registers, Rules, lookup};
    use tt_tensix::tile_io::ZERO as EMPTY;
    use tt_testkit::random::Random;

    use super::*;

    /// Any words, few exponents, or sums that cancel.
    fn word(random: &mut Random, kind: u32) -> u32 {
        let any = random.below(1 << 16) << 16 | random.below(1 << 16);
        match kind {
            0 => any,
            1 => any & !(255 << 23) | [0, 1, 127, 254, 255][random.below(5) as usize] << 23,
            _ => any & (1 << 31 | 7 << 20) | (126 + random.below(3)) << 23,
        }
    }

    #[test]
    fn compensated_sums_are_those_of_single_datums() {
        let mut random = Random::new(31);
        for round in 0..60 {
            let arch = if round % 2 == 0 { Arch::Wormhole } else { Arch::Blackhole };
            let mad = |a, b, c| fma(a, b, c, arch);
            let (mut total, mut lost, mut sums, mut losses) = (EMPTY, EMPTY, [ZERO; 1024], [ZERO; 1024]);
            for _ in 0..6 {
                let tile: Tile = std::array::from_fn(|_| store_f32(word(&mut random, round / 2 % 3)));
                let mut next = tile;
                add_compensated(&mut next, &total, &mut lost, arch);
                total = next;
                for ((&datum, sum), loss) in tile.iter().zip(&mut sums).zip(&mut losses) {
                    let corrected = mad(*loss, MINUS_ONE, datum);
                    let new = mad(ONE, *sum, corrected);
                    let left = mad(corrected, MINUS_ONE, mad(*sum, MINUS_ONE, new));
                    *loss = if left & INFINITY == INFINITY { ZERO } else { store_f32(left) };
                    *sum = store_f32(new);
                }
                assert!(total == sums && lost == losses, "round {round}");
            }
        }
    }

    /// The kernel transposes the tile, runs `ema_tile` down its columns, and transposes the result.
    #[test]
    fn moving_averages_are_those_of_the_tile_function() {
        let mut random = Random::new(33);
        let weights = [0.75_f32.to_bits(), 0.25_f32.to_bits()];
        for round in 0..40 {
            let width = if round % 2 == 0 { DstWidth::Bits32 } else { DstWidth::Bits16 };
            let arch = if round % 4 < 2 { Arch::Wormhole } else { Arch::Blackhole };
            let run = |name: &str, registers: &mut Registers, tiles: &mut [Tile], parameters: &[u32]| {
                let function = lookup(name).expect("a function on tiles");
                function.run(registers, tiles, parameters, Rules { width, arch }).expect("calls in order");
            };
            let (mut registers, mut carry) = (Registers::default(), [ZERO; 32]);
            run("ema_init", &mut registers, &mut [], &weights);
            for _ in 0..3 {
                let mut got: Tile = std::array::from_fn(|_| word(&mut random, round / 2 % 3) & 0xffff_0000);
                let mut turned = [EMPTY; 2];
                for (row, column) in (0..1024).map(|at| (at / 32, at % 32)) {
                    turned[0][place(false, column, row)] = got[place(false, row, column)];
                }
                run("ema", &mut registers, &mut turned, &[]);
                moving_average(&mut got, &mut carry, weights, (width, arch));
                for (row, column) in (0..1024).map(|at| (at / 32, at % 32)) {
                    let expected = turned[1][place(false, column, row)];
                    assert_eq!(got[place(false, row, column)], expected, "round {round}");
                }
            }
        }
    }

    #[test]
    fn running_sums_are_those_of_single_datums() {
        let mut random = Random::new(32);
        for round in 0..60 {
            let transposed = round % 2 == 0;
            let arch = if round % 4 < 2 { Arch::Wormhole } else { Arch::Blackhole };
            let (mut carry, mut sums) = ([ZERO; 32], [ZERO; 32]);
            for _ in 0..3 {
                let tile: Tile = std::array::from_fn(|_| store_f32(word(&mut random, round / 2 % 3)));
                let mut got = tile;
                running_sum(&mut got, &mut carry, transposed, arch);
                for along in 0..32 {
                    for (across, sum) in sums.iter_mut().enumerate() {
                        let at = place(transposed, along, across);
                        *sum = fma(ONE, *sum, tile[at], arch);
                        assert_eq!(got[at], store_f32(*sum), "round {round}");
                    }
                }
            }
        }
    }
}
