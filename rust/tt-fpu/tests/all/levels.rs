//! The FPU at every CPU level against the scalar definitions.
//!
//! On random and on awkward tiles.

use tt_cpu::Level;
use tt_formats::DataFormat;
use tt_fpu::{Arch, Broadcast, DstFormat, EltwiseOp, MathConfig, MathFidelity, PoolOp, ReduceDim, Src};
use tt_tensix::unpack;
use tt_testkit::random::Random;

/// Operand formats with what a 16-bit Dst holds for them.
const FAMILIES: [(DataFormat, DstFormat); 3] = [
    (DataFormat::Tf32, DstFormat::Bf16),
    (DataFormat::Float16B, DstFormat::Bf16),
    (DataFormat::Float16, DstFormat::Fp16),
];

fn settings() -> Vec<MathConfig> {
    let mut all = Vec::new();
    for (alu, narrow) in FAMILIES {
        for dst in [narrow, DstFormat::Fp32] {
            for arch in [Arch::Wormhole, Arch::Blackhole] {
                for fidelity in MathFidelity::ALL {
                    all.push(MathConfig { fidelity, dst, alu, arch });
                }
            }
        }
    }
    all
}

/// How the words of a tile are drawn: any bits, exponents in a narrow band, near the smallest or near the largest.
const KINDS: u32 = 4;

fn word(random: &mut Random, kind: u32, cfg: &MathConfig) -> u32 {
    let five = cfg.alu == DataFormat::Float16;
    let top = if five { 31 } else { 255 };
    let exponent = match kind {
        0 => random.between(0, top),
        1 => top / 2 + random.between(-3, 3),
        2 => random.between(0, top / 2 + 8).min(top / 4 + random.between(0, 9)),
        _ => top - random.between(0, top / 4),
    };
    let exponent = if random.one_in(12) { 0 } else { exponent as u32 };
    let mantissa = match random.below(3) {
        0 => random.below(1024),
        1 => 1 << random.below(10),
        _ => 1023 - (1 << random.below(10)),
    };
    random.below(2) << 18 | exponent << 10 | mantissa
}

fn tile(random: &mut Random, kind: u32, cfg: &MathConfig) -> Src {
    std::array::from_fn(|_| word(random, kind, cfg))
}

/// The negated tile, nudged: sums that almost or wholly cancel.
fn opposite(random: &mut Random, tile: &Src) -> Src {
    tile.map(|word| word ^ 1 << 18 ^ (random.below(2) * random.below(16)))
}

/// Words that the mode's Dst can hold.
fn dst_tile(random: &mut Random, cfg: &MathConfig) -> [u32; 1024] {
    std::array::from_fn(|_| match cfg.dst {
        DstFormat::Bf16 => random.bits() as u32 & 0xffff_0000,
        DstFormat::Fp16 => random.bits() as u32 & 0x8fff_e000,
        _ => random.bits() as u32,
    })
}

/// Asserts that every level computes what the definition does.
fn same_as_scalar(
    cfg: &MathConfig,
    (op, broadcast): (EltwiseOp, Broadcast),
    accumulate: bool,
    start: &[u32; 1024],
    (a, b): (&Src, &Src),
) {
    let mut expected = *start;
    tt_fpu::eltwise_scalar(cfg, op, broadcast, accumulate, &mut expected, a, b);
    for &level in Level::supported() {
        let mut got = *start;
        tt_fpu::eltwise_at(level, cfg, (op, broadcast), accumulate, &mut got, a, b);
        let shown = (0..1024).find(|&i| got[i] != expected[i]).map(|i| {
            let all = [a[i], b[i], start[i], got[i], expected[i]];
            format!("datum {i}: a, b, dst, got, expected {all:x?}")
        });
        assert_eq!(shown, None, "{cfg:?} {op:?} {broadcast:?} accumulate {accumulate} {level}");
    }
}

#[test]
fn element_wise_operations() {
    let mut random = Random::new(11);
    let broadcasts = [Broadcast::None, Broadcast::Row, Broadcast::Column, Broadcast::Scalar];
    for cfg in settings() {
        for kind in 0..=KINDS {
            let a = tile(&mut random, kind % KINDS, &cfg);
            let b = if kind == KINDS { opposite(&mut random, &a) } else { tile(&mut random, kind, &cfg) };
            let start = dst_tile(&mut random, &cfg);
            for op in [EltwiseOp::Add, EltwiseOp::Sub, EltwiseOp::Mul] {
                for broadcast in broadcasts {
                    for accumulate in [false, true] {
                        same_as_scalar(&cfg, (op, broadcast), accumulate, &start, (&a, &b));
                    }
                }
            }
        }
    }
}

/// Where products begin to be dropped or to overflow, phase by phase.
#[test]
fn products_at_the_edges_of_the_exponents() {
    let mut random = Random::new(14);
    for cfg in settings().iter().filter(|cfg| cfg.dst == DstFormat::Fp32 && cfg.alu != DataFormat::Float16) {
        for sum in (124..=144).chain(376..=386).chain([1, 255, 256, 400, 510]) {
            let mut with = |exponent: u32, other: u32| {
                // Some datums are out of line, some are zero.
                let exponent = if random.one_in(500) { other } else { exponent };
                let exponent = if random.one_in(12) { 0 } else { exponent };
                random.below(2) << 18 | exponent << 10 | random.below(1024)
            };
            let first = (sum / 2).min(255);
            let a: Src = std::array::from_fn(|_| with(first, first));
            let b: Src = std::array::from_fn(|_| with((sum - first).min(255), 128));
            same_as_scalar(cfg, (EltwiseOp::Mul, Broadcast::None), false, &[0x3f80_0000; 1024], (&a, &b));
        }
    }
}

/// Short formats leave the parts of later phases empty, which may then be left out, but not where a product overflows.
#[test]
fn products_of_short_significands() {
    let mut random = Random::new(12);
    for cfg in settings() {
        for kind in 0..KINDS {
            for (bits_a, bits_b) in [(4, 6), (4, 10), (10, 6), (6, 6), (2, 2)] {
                let mut short = |bits: u32| tile(&mut random, kind, &cfg).map(|word| word & !(1023 >> bits));
                let (a, b) = (short(bits_a), short(bits_b));
                let start = dst_tile(&mut random, &cfg);
                for accumulate in [false, true] {
                    same_as_scalar(&cfg, (EltwiseOp::Mul, Broadcast::None), accumulate, &start, (&a, &b));
                }
            }
        }
    }
}

#[test]
fn copies_of_every_word() {
    for cfg in settings().into_iter().filter(|cfg| cfg.fidelity == MathFidelity::LoFi) {
        for first in (0..1 << 19).step_by(1024) {
            let a: Src = std::array::from_fn(|i| first + i as u32);
            let (mut got, mut expected) = ([0; 1024], [0; 1024]);
            tt_fpu::copy_to_dst(&cfg, &mut got, &a);
            tt_fpu::copy_to_dst_scalar(&cfg, &mut expected, &a);
            assert_eq!(got, expected, "{cfg:?} words from {first:x}");
        }
    }
}

#[test]
fn reductions() {
    let mut random = Random::new(12);
    for cfg in settings() {
        let five = cfg.alu == DataFormat::Float16;
        for kind in 0..=KINDS {
            let mut data = tile(&mut random, kind % KINDS, &cfg);
            if kind == KINDS {
                for pair in data.chunks_exact_mut(2) {
                    pair[1] = pair[0] ^ 1 << 18 ^ random.below(2);
                }
            }
            let one = if five { 15 << 10 } else { 127 << 10 };
            let scaler = if kind % 2 == 0 { [one; 1024] } else { tile(&mut random, kind % KINDS, &cfg) };
            let start = dst_tile(&mut random, &cfg);
            let mut expected = start;
            tt_fpu::row_sum_scalar(&cfg, &mut expected, &data, &scaler);
            for &level in Level::supported() {
                let mut got = start;
                tt_fpu::row_sum_at(level, &cfg, &mut got, &data, &scaler);
                assert!(got == expected, "row sum {cfg:?} kind {kind} {level}");
            }
            for pool in [PoolOp::Sum, PoolOp::Max] {
                for dim in [ReduceDim::Row, ReduceDim::Column, ReduceDim::Scalar] {
                    let covered = pool == PoolOp::Sum && (dim == ReduceDim::Column || cfg.dst == DstFormat::Fp16);
                    if five && !covered {
                        continue;
                    }
                    let scaler_format = if five { DataFormat::Float16 } else { DataFormat::Float16B };
                    let mut expected = start;
                    tt_fpu::reduce_scalar(&cfg, scaler_format, pool, dim, &mut expected, &data, &scaler);
                    for &level in Level::supported() {
                        let mut got = start;
                        tt_fpu::reduce_at(level, &cfg, scaler_format, (pool, dim), &mut got, &data, &scaler);
                        assert!(got == expected, "{cfg:?} {pool:?} {dim:?} kind {kind} {level}");
                    }
                }
            }
        }
    }
}

#[test]
fn transposition() {
    let tile: Src = std::array::from_fn(|i| i as u32);
    let mut transposed = [0; 1024];
    unpack::transpose(&tile, &mut transposed);
    let at = |row: usize, column: usize| (row / 16 * 2 + column / 16) * 256 + row % 16 * 16 + column % 16;
    for (row, column) in (0..32).flat_map(|row| (0..32).map(move |column| (row, column))) {
        assert_eq!(transposed[at(row, column)], tile[at(column, row)]);
    }
}
