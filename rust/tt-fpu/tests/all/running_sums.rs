//! Running sums of pages against the instruction.

use tt_cpu::Level;
use tt_formats::DataFormat;
use tt_fpu::running::*;
use tt_fpu::{Arch, Broadcast, DstFormat, EltwiseOp, MathConfig, MathFidelity, eltwise_scalar};
use tt_tensix::regs::TILE_DATUMS;
use tt_testkit::random::Random;

/// Any word, or one of few exponents, of which sums cancel.
fn half(random: &mut Random, kind: usize) -> u16 {
    let any = random.below(1 << 16) as u16;
    let exponents = [0, 1, 2, 23, 126, 127, 128, 150, 253, 254, 255];
    match kind % 4 {
        0 => any,
        1 => any & 0x807f | exponents[random.below(11) as usize] << 7,
        2 => any & 0x8003 | (110 + random.below(30) as u16) << 7,
        _ => any & 0x8001 | (126 + random.below(3) as u16) << 7,
    }
}

#[test]
fn sums_of_pages_are_those_of_the_instruction() {
    let mut random = Random::new(17);
    for round in 0..48 {
        let arch = if round % 2 == 0 { Arch::Wormhole } else { Arch::Blackhole };
        let (dst, alu) = (DstFormat::Fp32, DataFormat::Float16B);
        let cfg = MathConfig { fidelity: MathFidelity::HiFi4, dst, alu, arch };
        let tiles: Vec<[u16; TILE_DATUMS]> =
            (0..=round % 13).map(|_| std::array::from_fn(|_| half(&mut random, round / 2))).collect();
        let mut expected = [0; TILE_DATUMS];
        for tile in &tiles {
            let src = tile.map(|half| u32::from(half) << 3);
            let zeros = [0; TILE_DATUMS];
            eltwise_scalar(&cfg, EltwiseOp::Add, Broadcast::None, true, &mut expected, &src, &zeros);
        }
        let pages: Vec<[u32; PAGE_WORDS]> = tiles
            .iter()
            .map(|tile| std::array::from_fn(|i| u32::from(tile[2 * i + 1]) << 16 | u32::from(tile[2 * i])))
            .collect();
        let pages: Vec<_> = pages.iter().collect();
        for &level in Level::supported() {
            let (mut sums, mut dst) = (RunningSum::default(), [1; TILE_DATUMS]);
            for pages in pages.chunks(5) {
                sums.add(level, &cfg, pages);
            }
            sums.store(level, &mut dst);
            assert!(dst == expected, "round {round}, {level:?}");
        }
    }
}
