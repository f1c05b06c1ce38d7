//! Tile sums with one common factor, at every level.
//!
//! The definitions are compared with.

use tt_cpu::Level;
use tt_formats::DataFormat;
use tt_fpu::{
    Arch, DstFormat, MathConfig, MathFidelity, PoolOp, ReduceDim, Src, reduce_at, reduce_scalar, row_sum_at,
    row_sum_scalar,
};
use tt_testkit::random::Random;

const TILE_DATUMS: usize = 1024;

/// A Src word: ordinary, of any exponent, one that needs care, or one of those that cancel each other.
fn word(random: &mut Random, kind: u32, mask: u32) -> u32 {
    let any = random.below(1 << 19);
    let exponent = match kind {
        0 => 120 + random.below(12),
        1 => [0, 1, 23, 24, 120, 187, 188, 254, 255][random.below(9) as usize],
        2 => random.below(256),
        _ => return (any & (1 << 18 | 3 << 8) | (126 + random.below(3)) << 10) & mask,
    };
    (any & !(255 << 10) | exponent << 10) & mask
}

#[test]
fn sums_with_one_factor_have_the_bits_of_the_definition() {
    let mut random = Random::new(14);
    for round in 0..240_u32 {
        let (alu, mask) = [(DataFormat::Tf32, 0x7_ffff), (DataFormat::Float16B, 0x7_fff8)][round as usize % 2];
        let cfg = MathConfig {
            fidelity: MathFidelity::from_phases(1 + round / 2 % 4).expect("a fidelity"),
            dst: if round % 3 == 0 { DstFormat::Bf16 } else { DstFormat::Fp32 },
            alu,
            arch: if round % 5 == 0 { Arch::Blackhole } else { Arch::Wormhole },
        };
        let factor = [127 << 10, 127 << 10, 115 << 10 | 0x2a8, 1 << 18 | 130 << 10 | 0x3f8][round as usize / 8 % 4];
        let scaler = [factor; TILE_DATUMS];
        let kind = round / 32 % 4;
        let tiles: [Src; 4] = std::array::from_fn(|number| {
            // Tiles of few numbers and of zeros leave more of what is in `Dst`.
            let few = number == 3;
            std::array::from_fn(|_| if few && random.below(8) != 0 { 0 } else { word(&mut random, kind, mask) })
        });
        let dims = [ReduceDim::Row, ReduceDim::Column];
        let mut expected = [[0; TILE_DATUMS]; 3];
        for tile in &tiles {
            row_sum_scalar(&cfg, &mut expected[0], tile, &scaler);
            for (dst, dim) in expected[1..].iter_mut().zip(dims) {
                reduce_scalar(&cfg, alu, PoolOp::Sum, dim, dst, tile, &scaler);
            }
        }
        for &level in Level::supported() {
            let mut sums = [[0; TILE_DATUMS]; 3];
            for tile in &tiles {
                row_sum_at(level, &cfg, &mut sums[0], tile, &scaler);
                for (dst, dim) in sums[1..].iter_mut().zip(dims) {
                    reduce_at(level, &cfg, alu, (PoolOp::Sum, dim), dst, tile, &scaler);
                }
            }
            assert!(sums == expected, "{level}, round {round}");
        }
    }
}
