//! The matrix unit's tile products against the independent reference. `cargo xtask reference` compares a hundred times
//! as many outputs.

mod compare;

use tt_formats::DataFormat;
use tt_tensix::fpu::{self, Accumulator, Arch, DstFormat, MathConfig, MathFidelity, PreparedA, PreparedB, Src};
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
            fpu::accumulate(&cfg, &mut kept, &mut a, &mut b);
            fpu::accumulate(&cfg, &mut forgotten, &mut a, &mut b);
            forgotten.dst();
        }
        assert!(kept.dst() == forgotten.dst(), "{dst:?}");
        assert!(kept.dst().iter().any(|&word| word != 0));
    }
}
