//! Element-wise steps on words of L1 against the FPU.

use tt_cpu::Level;
use tt_formats::DataFormat;
use tt_fpu::exact::*;
use tt_fpu::{Arch, Broadcast, DstFormat, EltwiseOp, MathConfig, MathFidelity, Src, eltwise_scalar};
use tt_testkit::random::Random;

use tt_tensix::pack::{PackConfig, pack_tile};
use tt_tensix::tile_io::ZERO;

/// A Src word near one exponent, or of any.
fn word(random: &mut Random, kind: u32, centre: u32) -> u32 {
    let any = random.below(1 << 19);
    let exponent = match kind {
        0 => random.below(256),
        1 => (centre + random.below(30)).min(255),
        2 => [0, centre][random.below(2) as usize],
        _ => centre + random.below(2),
    };
    any & !(255 << 10) & if random.below(4) == 0 { !0x3f0 } else { !0 } | exponent << 10
}

/// A tile of Src words in L1.
fn page(words: &Src, halves: bool) -> Vec<u8> {
    if halves {
        words.iter().flat_map(|word| ((word >> 3) as u16).to_le_bytes()).collect()
    } else {
        // The unpacker cuts what lies below.
        words.iter().flat_map(|word| (word << 13 | word & 0x1fff).to_le_bytes()).collect()
    }
}

#[test]
fn steps_have_the_bits_of_the_fpu() {
    let mut random = Random::new(22);
    let mut taken = [0; 6];
    for round in 0..1200_u32 {
        let halves = round % 2 == 0;
        let alu = if halves { DataFormat::Float16B } else { DataFormat::Tf32 };
        let fidelity = MathFidelity::from_phases(1 + round / 2 % 4).expect("a fidelity");
        let arch = if round % 3 == 0 { Arch::Blackhole } else { Arch::Wormhole };
        let math = MathConfig { fidelity, dst: DstFormat::Fp32, alu, arch };
        let kind = round / 8 % 4;
        let centres = [1, 2, 12, 40, 60, 64, 69, 70, 75, 120, 127, 180, 190, 191, 200, 224, 238, 239, 240, 252, 253];
        let mut centre = || centres[random.below(centres.len() as u32) as usize];
        let (centre_a, centre_b) = (centre(), centre());
        let (mut a, mut b) = (ZERO, ZERO);
        for (a, b) in a.iter_mut().zip(&mut b) {
            *a = word(&mut random, kind, centre_a) & if halves { 0x7_fff8 } else { 0x7_ffff };
            *b = word(&mut random, kind, if round % 5 < 2 { centre_a } else { centre_b });
        }
        let page = page(&a, halves);
        let first = match (round / 2 % 3, halves) {
            (0, _) => Datums::Words(&a),
            (_, true) => Datums::Halves(&page),
            (_, false) => Datums::Singles(&page),
        };
        let second = if round / 2 % 3 == 2 { Second::Same } else { Second::Words(&b) };
        let b = if matches!(second, Second::Same) { a } else { b };
        for &level in Level::supported() {
            for (number, op) in [EltwiseOp::Add, EltwiseOp::Sub, EltwiseOp::Mul].into_iter().enumerate() {
                let (mut expected, mut dst, mut packed) = (ZERO, [1; 1024], [1; 2048]);
                eltwise_scalar(&math, op, Broadcast::None, false, &mut expected, &a, &b);
                let done = eltwise(level, &math, op, Results::Words(&mut dst), first, second);
                assert!(!done || dst == expected, "{op:?}, {alu:?}, {level:?}, round {round}");
                taken[number] += u32::from(done);
                let done = eltwise(level, &math, op, Results::Halves(&mut packed), first, second);
                let mut expected_page = [0; 2048];
                let packer = PackConfig::new(DstFormat::Fp32, DataFormat::Float16B);
                pack_tile(&packer, &expected, &mut expected_page);
                assert!(!done || packed == expected_page, "{op:?} packed, {alu:?}, {level:?}, round {round}");
                taken[3 + number] += u32::from(done);
            }
        }
    }
    // Of 1200 rounds at each level; products that are packed have the fewest that are exact.
    let least = 70 * Level::supported().len() as u32;
    assert!(taken.iter().all(|&taken| taken > least), "{taken:?}");
}
