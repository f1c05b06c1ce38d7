//! Unpacker and packer conversions follow the rules of their generation.

use tt_cpu::Level;
use tt_formats::unpack::{self, Unpacks};
use tt_formats::{Arch, Blackhole, DataFormat, Generation, TileShape, Wormhole};
use tt_tensix::pack::{DstFormat, PackConfig, Packer, Packs, Relu};
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
fn wormhole_and_blackhole_unpack_alike_except_fp8() {
    let mut random = Random::new(1);
    for format in DataFormat::ALL {
        let l1: Vec<u8> = (0..format.tile_bytes(TileShape::FULL)).map(|_| random.below(256) as u8).collect();
        for &level in Level::supported() {
            let wormhole = registers::<Wormhole>(format, &l1, level);
            let blackhole = registers::<Blackhole>(format, &l1, level);
            match format {
                DataFormat::Fp8E4M3 => assert_eq!((wormhole.len(), blackhole.len()), (0, 2), "{level}"),
                DataFormat::Lf8 => {
                    for (wormhole, blackhole) in wormhole.iter().zip(&blackhole) {
                        for (i, &code) in l1.iter().enumerate() {
                            assert_eq!(wormhole[i] == blackhole[i], code & 0x7f != 0x7f, "{code:#x}, {level}");
                        }
                    }
                }
                _ => assert!(wormhole == blackhole, "{format:?}, {level}"),
            }
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
                let by_way_of_fp16 = match output {
                    DataFormat::Float16 => dst == Fp32,
                    DataFormat::Fp8E4M3 => matches!(dst, Fp32 | Bf16 | Fp16),
                    _ => false,
                };
                let intermediate = if by_way_of_fp16 { DataFormat::Float16 } else { wormhole.intermediate };
                let blackhole = PackConfig::of::<Blackhole>(dst, output, precise);
                assert_eq!(blackhole, PackConfig { intermediate, ..wormhole });
                let has = |config: &PackConfig| Packer::new(config, Level::Scalar).is_ok();
                if output == DataFormat::Fp8E4M3 {
                    assert_eq!((has(&wormhole), has(&blackhole)), (false, by_way_of_fp16), "{dst:?}");
                }
                assert_eq!(wormhole, PackConfig::precise(dst, output, precise));
                let other = PackConfig::of::<Other>(dst, output, precise);
                assert_eq!(other, PackConfig { intermediate: output, ..wormhole });
            }
        }
    }
    // Wormhole cuts the full value to FP16.
    assert_eq!(PackConfig::of::<Wormhole>(Fp32, DataFormat::Float16, false).intermediate, DataFormat::Float32);
}

#[test]
fn limits_of_fp16_from_a_32_bit_dst_are_bfloat16_numbers() {
    let config = PackConfig::of::<Blackhole>(DstFormat::Fp32, DataFormat::Float16, false);
    let values = [-1.0, 0.25, 0.5, 0.500_25, 2.0, 2.001, 3.0f32];
    let mut dst = [0; 1024];
    for (word, value) in dst.iter_mut().zip(values) {
        *word = value.to_bits();
    }
    // Half and two in bfloat16; in FP16 their patterns would be other numbers.
    let expected = [
        (Relu::Zero, [0, 0x3400, 0x3800, 0x3801, 0x4000, 0x4001, 0x4200]),
        (Relu::MinThreshold(0x3f00), [0, 0, 0, 0x3801, 0x4000, 0x4001, 0x4200]),
        (Relu::MaxThreshold(0x4000), [0, 0x3400, 0x3800, 0x3801, 0x4000, 0x4000, 0x4000u16]),
    ];
    for &level in Level::supported() {
        for (relu, expected) in expected {
            let packer = Packer::new(&PackConfig { relu, ..config }, level).expect("a conversion of the packer");
            let mut l1 = vec![0; packer.tile_bytes()];
            packer.pack(&dst, &mut l1);
            let got: Vec<u16> = l1.as_chunks::<2>().0.iter().map(|&bytes| u16::from_le_bytes(bytes)).collect();
            assert_eq!(got[..7], expected, "{relu:?}, {level}");
        }
    }
}
