//! Copies between the register files.

use tt_cpu::Level;
use tt_formats::DataFormat;
use tt_formats::unpack;
use tt_fpu::{Arch, DstFormat, MathConfig, MathFidelity, copy_to_dst, copy_to_dst_scalar, move_page_to_dst_at};

use tt_tensix::regs::TILE_DATUMS;

fn config(dst: DstFormat) -> MathConfig {
    MathConfig { fidelity: MathFidelity::LoFi, dst, alu: DataFormat::Float16B, arch: Arch::Wormhole }
}

fn halves(first: u32) -> [u16; TILE_DATUMS] {
    std::array::from_fn(|i| (first + i as u32) as u16)
}

#[test]
fn halves_that_are_integers_come_out_of_a_register_as_they_went_in() {
    for first in (0..1_u32 << 16).step_by(TILE_DATUMS) {
        let (halves, mut dst) = (halves(first), [1; TILE_DATUMS]);
        copy_to_dst(&config(DstFormat::UInt16), &mut dst, &halves.map(|half| unpack::uint16_to_src(half.into())));
        assert_eq!(dst, halves.map(u32::from), "from {first:#06x}");
    }
}

#[test]
fn every_half_comes_into_dst_as_by_way_of_a_register() {
    for first in (0..1_u32 << 16).step_by(TILE_DATUMS) {
        let halves = halves(first);
        let mut page = [0; 2 * TILE_DATUMS];
        for (bytes, half) in page.as_chunks_mut::<2>().0.iter_mut().zip(&halves) {
            *bytes = half.to_le_bytes();
        }
        let mut expected = [1; TILE_DATUMS];
        let cfg = config(DstFormat::Bf16);
        copy_to_dst_scalar(&cfg, &mut expected, &halves.map(|half| unpack::bf16_to_src(half.into())));
        for &level in Level::supported() {
            let mut dst = [2; TILE_DATUMS];
            move_page_to_dst_at(level, &mut dst, &page);
            assert_eq!(dst, expected, "{level}, from {first:#06x}");
        }
    }
}
