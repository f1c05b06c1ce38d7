//! The FPU against the independent reference, on random and on awkward operands.

#![allow(clippy::trivially_copy_pass_by_ref, reason = "as the engine's own functions")]

use tt_cpu::Level;
use tt_formats::DataFormat;
use tt_fpu::{Accumulator, Broadcast, DstFormat, EltwiseOp, MathConfig, MathFidelity, PreparedA, PreparedB};
use tt_tensix::regs::Arch;
use tt_testkit::random::Random;
use tt_testkit::reference::fpu::{self as reference, Setting};

/// Every combination of operand family, width of Dst and chip.
fn settings() -> Vec<(Setting, MathConfig)> {
    let mut all = Vec::new();
    for (five_bit_exponents, alu, narrow) in
        [(false, DataFormat::Tf32, DstFormat::Bf16), (true, DataFormat::Float16, DstFormat::Fp16)]
    {
        for wide_dst in [false, true] {
            for arch in [Arch::Wormhole, Arch::Blackhole] {
                let dst = if wide_dst { DstFormat::Fp32 } else { narrow };
                let cfg = MathConfig { fidelity: MathFidelity::HiFi4, dst, alu, arch };
                all.push((Setting { five_bit_exponents, wide_dst, wormhole: arch == Arch::Wormhole }, cfg));
            }
        }
    }
    all
}

/// How operands are drawn.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Any bits.
    Anything,
    /// Exponents in a narrow band, so that every product counts and ties are frequent.
    Close,
    /// Products near the smallest exponents.
    Tiny,
    /// Products near the largest.
    Huge,
    /// Pairs of opposite products.
    Cancelling,
}

const KINDS: [Kind; 5] = [Kind::Anything, Kind::Close, Kind::Tiny, Kind::Huge, Kind::Cancelling];

fn source_word(random: &mut Random, kind: Kind, five: bool) -> u32 {
    let top = if five { 31 } else { 255 };
    let exponent = match kind {
        Kind::Anything => random.between(0, top),
        Kind::Close | Kind::Cancelling => top / 2 + random.between(-3, 3),
        Kind::Tiny => random.between(0, top / 2 + 8).min(if random.one_in(2) { top / 4 } else { top }),
        Kind::Huge => random.between(top * 3 / 4, top),
    };
    let exponent = if random.one_in(12) { 0 } else { exponent as u32 };
    let mantissa = match random.below(4) {
        0 => random.below(1024),
        1 => 1 << random.below(10),
        2 => 1023 - (1 << random.below(10)),
        _ => random.below(8) << 7,
    };
    random.below(2) << 18 | exponent << 10 | mantissa
}

fn operands(random: &mut Random, kind: Kind, five: bool) -> ([u32; 16], [u32; 16]) {
    let mut a: [u32; 16] = std::array::from_fn(|_| source_word(random, kind, five));
    let mut b: [u32; 16] = std::array::from_fn(|_| source_word(random, kind, five));
    if let Kind::Cancelling = kind {
        for k in 0..8 {
            let partner = 8 + random.below(8) as usize;
            a[partner] = a[k] ^ 1 << 18;
            b[partner] = b[k] ^ random.below(2);
        }
    }
    (a, b)
}

/// A Dst word that the mode can hold.
fn dst_word(random: &mut Random, cfg: &MathConfig) -> u32 {
    let word = random.bits() as u32;
    match cfg.dst {
        DstFormat::Bf16 => word & 0xffff_0000,
        DstFormat::Fp16 => word & 0x8000_0000 | word & 0x0fff_e000,
        _ => word,
    }
}

/// Nudges a word by a few units of its last place and perhaps its sign: the neighbourhood of exact cancellation.
fn near(random: &mut Random, cfg: &MathConfig, word: u32) -> u32 {
    let unit = match cfg.dst {
        DstFormat::Bf16 => 1 << 16,
        DstFormat::Fp16 => 1 << 13,
        _ => 1,
    };
    let moved = (word & 0x7fff_ffff).wrapping_add_signed(random.between(-2, 2) * unit) & 0x7fff_ffff;
    let limit = if cfg.dst == DstFormat::Fp16 { 0x0fff_e000 } else { 0x7fff_ffff };
    moved.min(limit) | !word & 0x8000_0000
}

#[test]
fn mvmul_elements() {
    let mut random = Random::new(1);
    for (setting, cfg) in settings() {
        for kind in KINDS {
            for case in 0..4000 {
                let (a, b) = operands(&mut random, kind, setting.five_bit_exponents);
                let phase = random.below(4);
                let mut dst = dst_word(&mut random, &cfg);
                if case % 2 == 0 {
                    dst = reference::mvmul(setting, phase, &a, &b, 0);
                    dst = near(&mut random, &cfg, dst);
                }
                let got = tt_fpu::mvmul_element(&cfg, phase, &a, &b, dst);
                let expected = reference::mvmul(setting, phase, &a, &b, dst);
                assert_eq!(got, expected, "{setting:?} {kind:?} phase {phase} a {a:x?} b {b:x?} dst {dst:08x}");
            }
        }
    }
}

#[test]
fn a_tile_product_is_its_elements_in_order() {
    let mut random = Random::new(2);
    for (setting, cfg) in settings() {
        for fidelity in MathFidelity::ALL {
            let cfg = MathConfig { fidelity, ..cfg };
            let kind = KINDS[random.below(5) as usize];
            let mut tile = || -> [u32; 1024] {
                std::array::from_fn(|_| source_word(&mut random, kind, setting.five_bit_exponents))
            };
            let (in0, in1) = (tile(), tile());
            let mut dst = [0; 1024];
            tt_fpu::matmul_tile(&cfg, &mut dst, &in0, &in1);
            let at = |row: usize, column: usize| (row / 16 * 2 + column / 16) * 256 + row % 16 * 16 + column % 16;
            for row in 0..32 {
                for column in 0..32 {
                    let mut expected = 0;
                    for phase in 0..fidelity.phases() {
                        for half in [0, 16] {
                            let a = std::array::from_fn(|k| in1[at(half + k, column)]);
                            let b = std::array::from_fn(|k| in0[at(row, half + k)]);
                            expected = reference::mvmul(setting, phase, &a, &b, expected);
                        }
                    }
                    assert_eq!(dst[at(row, column)], expected, "{setting:?} {fidelity:?} ({row}, {column})");
                }
            }
        }
    }
}

#[test]
fn every_level_returns_the_bits_of_the_definition() {
    let mut random = Random::new(5);
    let (mut a, mut b) = (PreparedA::new(), PreparedB::new());
    for (setting, cfg) in settings() {
        for kind in KINDS {
            for fidelity in MathFidelity::ALL {
                let cfg = MathConfig { fidelity, ..cfg };
                // Columns of in1 and rows of in0 that cancel against old Dst values, within few units.
                let mut tile = || -> [u32; 1024] {
                    std::array::from_fn(|_| source_word(&mut random, kind, setting.five_bit_exponents))
                };
                let (mut in0, in1) = (tile(), tile());
                // Rows of in0 of which a group of eight, or everything, is zero: faces 0 and 1 hold K 0 to 31.
                in0[16..24].fill(0);
                in0[256 + 24..256 + 32].fill(1 << 18);
                in0[48..64].fill(0);
                in0[256 + 48..256 + 64].fill(0);
                let mut product = [0; 1024];
                tt_fpu::matmul_tile_scalar(&cfg, &mut product, &in0, &in1);
                let old: [u32; 1024] = std::array::from_fn(|i| match i % 3 {
                    0 => dst_word(&mut random, &cfg),
                    1 => near(&mut random, &cfg, product[i]),
                    _ => 0,
                });
                let mut expected = old;
                tt_fpu::matmul_tile_scalar(&cfg, &mut expected, &in0, &in1);
                a.prepare(&cfg, &in1);
                b.prepare(&cfg, &in0);
                for &level in Level::supported() {
                    let mut got = Accumulator::new();
                    got.dst().copy_from_slice(&old);
                    tt_fpu::accumulate_at(level, &cfg, &mut got, &mut a, &mut b);
                    let got = got.dst();
                    let differ = (0..1024).find(|&i| got[i] != expected[i]);
                    if let Some(i) = differ {
                        let (got, expected) = (got[i], expected[i]);
                        panic!("{setting:?} {kind:?} {fidelity:?} {level}, {i}: {got:08x}, expected {expected:08x}");
                    }
                }
            }
        }
    }
}

#[test]
fn row_sums_are_products_with_a_column_of_scalers() {
    let mut random = Random::new(3);
    for (setting, cfg) in settings() {
        let mut tile = |kind| -> [u32; 1024] {
            std::array::from_fn(|_| source_word(&mut random, kind, setting.five_bit_exponents))
        };
        let (data, scaler) = (tile(Kind::Close), tile(Kind::Anything));
        // The scaler's rows 0 become columns 0: a right operand with one column.
        let mut column = [0; 1024];
        for k in 0..16 {
            column[k * 16] = scaler[k];
            column[512 + k * 16] = scaler[256 + k];
        }
        let (mut sums, mut product) = ([0; 1024], [0; 1024]);
        for _ in 0..3 {
            tt_fpu::row_sum(&cfg, &mut sums, &data, &scaler);
            tt_fpu::matmul_tile(&cfg, &mut product, &data, &column);
        }
        for row in 0..32 {
            let datum = row / 16 * 512 + row % 16 * 16;
            assert_eq!(sums[datum], product[datum], "{setting:?} row {row}");
        }
    }
}

#[test]
fn eltwise_datums() {
    let mut random = Random::new(4);
    for (setting, cfg) in settings() {
        for kind in KINDS {
            for round in 0..4 {
                let mut tile = || -> [u32; 1024] {
                    std::array::from_fn(|_| source_word(&mut random, kind, setting.five_bit_exponents))
                };
                let (a, b) = (tile(), tile());
                for op in [EltwiseOp::Add, EltwiseOp::Sub, EltwiseOp::Mul] {
                    let expect = |i: usize, old: u32| match op {
                        EltwiseOp::Mul => {
                            (0..4).fold(old, |dst, phase| reference::multiply(setting, phase, a[i], b[i], dst))
                        }
                        _ => reference::add(setting, op == EltwiseOp::Sub, a[i], b[i], old),
                    };
                    let old: [u32; 1024] = std::array::from_fn(|i| {
                        if round % 2 == 0 { dst_word(&mut random, &cfg) } else { near(&mut random, &cfg, expect(i, 0)) }
                    });
                    let (mut fresh, mut added) = (old, old);
                    tt_fpu::eltwise(&cfg, op, Broadcast::None, false, &mut fresh, &a, &b);
                    tt_fpu::eltwise(&cfg, op, Broadcast::None, true, &mut added, &a, &b);
                    for i in 0..1024 {
                        let what = format!("{setting:?} {kind:?} {op:?} {:05x} {:05x} {:08x}", a[i], b[i], old[i]);
                        assert_eq!(fresh[i], expect(i, 0), "{what}, fresh");
                        assert_eq!(added[i], expect(i, old[i]), "{what}, accumulated");
                    }
                }
            }
        }
    }
}
