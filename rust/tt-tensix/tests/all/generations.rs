//! Unpacker and packer conversions follow the rules of their generation.

use tt_cpu::Level;
use tt_formats::unpack::{self, Unpacks};
use tt_formats::{Arch, Blackhole, DataFormat, Generation, TileShape, Wormhole};
use tt_tensix::pack::{DstFormat, PackConfig, Packs};
use tt_tensix::unpack::Unpacker;
use tt_testkit::random::Random;

/// A generation with rules of its own.
#[derive(Clone, Copy, Debug)]
struct Other;

impl Generation for Other {
    const ARCH: Arch = Arch::Blackhole;
}

impl Unpacks for Other {
    fn lf8_to_fp16(x: u32) -> u32 {
        x << 8 | 0xff
    }
}

impl Packs for Other {
    fn intermediate(output: DataFormat, _: DstFormat, _: bool) -> DataFormat {
        output
    }
}

/// A tile of these bytes in Src and in Dst, where the unpacker has such conversions.
fn registers<G: Unpacks>(format: DataFormat, l1: &[u8], level: Level) -> Vec<[u32; 1024]> {
    let registers = [DataFormat::Tf32, DataFormat::Float16B, DataFormat::Float16, format];
    let to_src = registers.map(|register| Unpacker::to_src::<G>(format, register, level));
    let unpackers = to_src.into_iter().chain([Unpacker::to_dst::<G>(format, level)]).flatten();
    unpackers
        .map(|unpacker| {
            let mut tile = [0; 1024];
            unpacker.unpack(l1, &mut tile);
            tile
        })
        .collect()
}

#[test]
fn wormhole_and_blackhole_unpack_alike() {
    let mut random = Random::new(1);
    for format in DataFormat::ALL {
        let l1: Vec<u8> = (0..format.tile_bytes(TileShape::FULL)).map(|_| random.below(256) as u8).collect();
        for &level in Level::supported() {
            let wormhole = registers::<Wormhole>(format, &l1, level);
            assert!(wormhole == registers::<Blackhole>(format, &l1, level), "{format:?}, {level}");
        }
    }
}

#[test]
fn an_unpacker_has_the_rules_of_its_generation() {
    let codes: Vec<u8> = (0..1024).map(|code| code as u8).collect();
    for &level in Level::supported() {
        let tiles = registers::<Other>(DataFormat::Lf8, &codes, level);
        let [src, dst] = [unpack::fp16_to_src, unpack::fp16_to_dst]
            .map(|convert| std::array::from_fn(|code| convert(Other::lf8_to_fp16(code as u32 & 0xff))));
        assert!(tiles == [src, dst], "{level}");
        // What the generation leaves as it is stays as it is.
        let halves = [codes.clone(), codes.clone()].concat();
        assert!(
            registers::<Other>(DataFormat::Float16B, &halves, level)
                == registers::<Wormhole>(DataFormat::Float16B, &halves, level)
        );
    }
}

#[test]
fn a_generation_selects_the_conversions_of_the_packer() {
    use DstFormat::{Bf16, Fp16, Fp32, Int32, UInt16};
    for dst in [Bf16, Fp16, Fp32, Int32, UInt16] {
        for output in DataFormat::ALL {
            for precise in [false, true] {
                let wormhole = PackConfig::of::<Wormhole>(dst, output, precise);
                assert_eq!(wormhole, PackConfig::of::<Blackhole>(dst, output, precise));
                assert_eq!(wormhole, PackConfig::precise(dst, output, precise));
                let other = PackConfig::of::<Other>(dst, output, precise);
                assert_eq!(other, PackConfig { intermediate: output, ..wormhole });
            }
        }
    }
    // FP16 of a 32-bit Dst is made of the full value.
    assert_eq!(PackConfig::of::<Blackhole>(Fp32, DataFormat::Float16, false).intermediate, DataFormat::Float32);
}
