//! Reductions across tiles against those of a column.

use tt_cpu::Level;
use tt_fpu::{
    Arch, Dst, DstFormat, MathConfig, MathFidelity, PoolOp, ReduceDim, Reduction, Src, clear_for_max, reduce_scalar,
};
use tt_tensix::regs::TILE_DATUMS;
use tt_testkit::random::Random;

use tt_formats::DataFormat;
use tt_tensix::regs::index;

/// Tiles of a group of products.
const GROUP: usize = 8;

/// A Src word: ordinary, of any exponent, or one that needs care.
fn word(random: &mut Random, kind: u32, mask: u32) -> u32 {
    let any = random.below(1 << 19);
    let exponent = match kind {
        0 => 120 + random.below(12),
        1 => [0, 1, 2, 23, 24, 187, 188, 254, 255][random.below(9) as usize],
        2 => random.below(256),
        // Datums that cancel each other.
        _ => return (any & (1 << 18 | 3 << 8) | (126 + random.below(3)) << 10) & mask,
    };
    (any & !(255 << 10) | exponent << 10) & mask
}

#[test]
fn datums_of_tiles_are_reduced_as_those_of_a_column() {
    let mut random = Random::new(11);
    for round in 0..192 {
        let (alu, mask) = [(DataFormat::Tf32, 0x7_ffff), (DataFormat::Float16B, 0x7_fff8)][round % 2];
        let cfg = MathConfig {
            fidelity: MathFidelity::from_phases(1 + round as u32 % 4).expect("a fidelity"),
            dst: if round % 7 == 0 { DstFormat::Bf16 } else { DstFormat::Fp32 },
            alu,
            arch: if round % 5 == 0 { Arch::Blackhole } else { Arch::Wormhole },
        };
        let factor = match round % 4 {
            0 => 127 << 10,
            1 => 125 << 10 | 0x2a8,
            2 => 1 << 18 | 131 << 10 | 0x3f8,
            _ => word(&mut random, 1, mask),
        };
        let scaler = [factor; TILE_DATUMS];
        let live = 1 + random.below(if round % 2 == 0 { 8 } else { 32 }) as usize;
        let padded = live / GROUP * GROUP + [0, 2, 2, 4, 4, 8, 8, 8][live % GROUP];
        let kind = round as u32 / 4 % 4;
        let mut tiles = vec![[0; TILE_DATUMS]; padded];
        for tile in &mut tiles[..live] {
            tile.fill_with(|| word(&mut random, kind, mask));
        }
        for pool in [PoolOp::Sum, PoolOp::Max] {
            let tiles = if pool == PoolOp::Sum { &tiles[..] } else { &tiles[..live] };
            let mut start = [0; TILE_DATUMS];
            if pool == PoolOp::Max {
                clear_for_max(&cfg, &mut start);
            }
            let reduction = Reduction::pool(&cfg, alu, (pool, ReduceDim::Column), &scaler);
            let results = Level::supported().iter().map(|&level| {
                // A fresh sum takes no notice of it.
                let mut dst = if pool == PoolOp::Sum { [0x4049_0fdb; TILE_DATUMS] } else { start };
                // Twice, so that `Dst` holds something.
                reduction.across(level, &mut dst, tiles, pool == PoolOp::Sum);
                reduction.across(level, &mut dst, tiles, false);
                dst
            });
            let results: Vec<Dst> = results.collect();
            for at in 0..TILE_DATUMS {
                // Below the datums lie zeros, or the first datum again, which changes no maximum.
                let mut column = [0; TILE_DATUMS];
                for row in 0..32 {
                    let filler = if pool == PoolOp::Sum { 0 } else { tiles[0][at] };
                    column[index(row, 0)] = tiles.get(row).map_or(filler, |tile| tile[at]);
                }
                let mut expected = start;
                for _ in 0..2 {
                    reduce_scalar(&cfg, alu, pool, ReduceDim::Column, &mut expected, &column, &scaler);
                }
                for result in &results {
                    assert_eq!(result[at], expected[0], "round {round}, {pool:?} of {live} tiles at {at}");
                }
            }
        }
    }
}

#[test]
fn the_largest_of_negated_datums_is_that_of_negated_tiles() {
    let mut random = Random::new(12);
    let (dst, alu) = (DstFormat::Fp32, DataFormat::Float16B);
    let cfg = MathConfig { fidelity: MathFidelity::HiFi4, dst, alu, arch: Arch::Wormhole };
    let reduction = Reduction::pool(&cfg, alu, (PoolOp::Max, ReduceDim::Column), &[127 << 10; TILE_DATUMS]);
    for round in 0..16 {
        let mut plain = || {
            let word = word(&mut random, round % 4, 0x7_fff8);
            if (1..255).contains(&(word >> 10 & 255)) { word } else { 0 }
        };
        let mut tiles = vec![[0; TILE_DATUMS]; 1 + round as usize % 9];
        tiles.as_flattened_mut().fill_with(&mut plain);
        let negated: Vec<Src> =
            tiles.iter().map(|tile| tile.map(|word| if word == 0 { 0 } else { word ^ 1 << 18 })).collect();
        let mut expected = [0; TILE_DATUMS];
        clear_for_max(&cfg, &mut expected);
        let start = expected;
        reduction.across(Level::Scalar, &mut expected, &negated, false);
        for &level in Level::supported() {
            let mut dst = start;
            reduction.across_negated(level, &mut dst, &tiles);
            assert!(dst == expected, "round {round}, {level:?}");
        }
    }
}
