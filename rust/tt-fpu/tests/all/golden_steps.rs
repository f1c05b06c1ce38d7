//! Single MVMUL elements against golden vectors.

use tt_formats::DataFormat;
use tt_fpu::{DstFormat, MathConfig, MathFidelity};
use tt_tensix::regs::Arch;
use tt_testkit::golden;

#[test]
fn mvmul_elements() {
    check("fpu/mvmul_step", Arch::Wormhole);
    check("blackhole/fpu/mvmul_step", Arch::Blackhole);
}

fn check(file: &str, arch: Arch) {
    let Some(mut vectors) = golden::open(file) else { return };
    let cases = [
        ("e8_dst16", DataFormat::Tf32, DstFormat::Bf16),
        ("e8_dst32", DataFormat::Tf32, DstFormat::Fp32),
        ("e5_dst16", DataFormat::Float16, DstFormat::Fp16),
        ("e5_dst32", DataFormat::Float16, DstFormat::Fp32),
    ];
    for (name, alu, dst) in cases {
        let cfg = MathConfig { fidelity: MathFidelity::HiFi4, dst, alu, arch };
        for phase in 0..4 {
            let [a, b, d, out] =
                ["a", "b", "d", "out"].map(|array| vectors.read(&format!("{name}_phase{phase}_{array}")));
            for i in 0..a.len() {
                let operands = |array: &golden::Array| array.at(i).try_into().expect("sixteen operands");
                let got = tt_fpu::mvmul_element(&cfg, phase, &operands(&a), &operands(&b), d.data[i]);
                assert_eq!(
                    got, out.data[i],
                    "{file} {name}, phase {phase}, case {i}: {got:08x}, expected {:08x}",
                    out.data[i]
                );
            }
        }
    }
}
