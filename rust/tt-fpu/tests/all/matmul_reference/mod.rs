//! The FPU's tile products against the independent reference.
//!
//! `cargo xtask reference` compares a hundred times as many outputs.

mod compare;

use tt_cpu::Level;
use tt_formats::DataFormat;
use tt_fpu::{Accumulator, Arch, DstFormat, MathConfig, MathFidelity, PreparedA, PreparedB, Src};
use tt_testkit::random::Random;

#[test]
fn a_hundred_thousand_outputs() {
    let counts = compare::compare(100_000);
    assert!(counts.outputs >= 100_000 && counts.minus_one > 0, "{counts:?}");
}

#[test]
fn what_is_known_of_dst_changes_no_bits() {
    // So many products that the bound of Dst's magnitudes, which only grows, has to be measured again.
    const PRODUCTS: usize = 2000;
    let mut random = Random::new(7);
    let mut tile = || -> Src {
        std::array::from_fn(|_| random.below(2) << 18 | (120 + random.below(8)) << 10 | random.below(128) << 3)
    };
    let (in0, in1) = (tile(), tile());
    for dst in [DstFormat::Bf16, DstFormat::Fp32] {
        let cfg = MathConfig { fidelity: MathFidelity::LoFi, dst, alu: DataFormat::Float16B, arch: Arch::Wormhole };
        let (mut a, mut b) = (Box::new(PreparedA::new()), Box::new(PreparedB::new()));
        a.prepare(&cfg, &in1);
        b.prepare(&cfg, &in0);
        let (mut kept, mut forgotten) = (Accumulator::new(), Accumulator::new());
        for _ in 0..PRODUCTS {
            tt_fpu::accumulate(&cfg, &mut kept, &mut a, &mut b);
            tt_fpu::accumulate(&cfg, &mut forgotten, &mut a, &mut b);
            forgotten.dst();
        }
        assert!(kept.dst() == forgotten.dst(), "{dst:?}");
        assert!(kept.dst().iter().any(|&word| word != 0));
    }
}

/// Rows of zeros in the left operand are left out while they are zero in Dst as well.
#[test]
fn rows_of_zeros_change_no_bits() {
    let mut random = Random::new(8);
    let mut tile = |rows: usize| -> Src {
        std::array::from_fn(|place| {
            let row = place / 512 * 16 + place % 256 / 16;
            let sign = random.below(2) << 18;
            let live = row < rows && !random.one_in(9);
            // Zeros of either sign, with and without a mantissa.
            if live { sign | (118 + random.below(12)) << 10 | random.below(1024) } else { sign | random.below(2) }
        })
    };
    let in1 = tile(32);
    let lefts = [1, 0, 3, 17, 8, 31].map(&mut tile);
    for (dst, level) in [DstFormat::Bf16, DstFormat::Fp32]
        .into_iter()
        .flat_map(|dst| Level::supported().iter().map(move |&level| (dst, level)))
    {
        // Words that Dst holds before: none, and some rows of numbers or negative zeros.
        for (word, rows) in [(0, 0), (0x4040_0000, 5), (0x8000_0000, 9)] {
            for (fidelity, arch) in MathFidelity::ALL
                .into_iter()
                .flat_map(|fidelity| [Arch::Wormhole, Arch::Blackhole].map(move |arch| (fidelity, arch)))
            {
                let cfg = MathConfig { fidelity, dst, alu: DataFormat::Float16B, arch };
                let mut expected = [0; 1024];
                for (place, expected) in expected.iter_mut().enumerate() {
                    *expected = if place / 512 * 16 + place % 256 / 16 < rows { word } else { 0 };
                }
                let mut sums = Accumulator::new();
                sums.dst().copy_from_slice(&expected);
                let (mut a, mut b) = (Box::new(PreparedA::new()), Box::new(PreparedB::new()));
                a.prepare(&cfg, &in1);
                let mut used = rows;
                for (left, live) in lefts.iter().zip([1, 0, 3, 17, 8, 31]) {
                    b.prepare(&cfg, left);
                    tt_fpu::accumulate_at(level, &cfg, &mut sums, &mut a, &mut b);
                    tt_fpu::matmul_tile_scalar(&cfg, &mut expected, left, &in1);
                    used = used.max(live);
                    assert!(sums.used_rows() >= used, "{cfg:?} {level}: rows in use");
                    if level != Level::Scalar {
                        assert_eq!(sums.used_rows(), used, "{cfg:?} {level}: rows in use");
                    }
                }
                assert!(*sums.dst() == expected, "{cfg:?} {level} Dst from {word:x} in {rows} rows");
            }
        }
    }
}
