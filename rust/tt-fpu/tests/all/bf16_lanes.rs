//! 16-bit lane operations on BF16, against 32-bit word definitions.
//!
//! Packing from them, too.

use tt_cpu::Level;
use tt_formats::DataFormat;
use tt_fpu::bf16_lanes::{self, Reader};
use tt_fpu::{Arch, Broadcast, DstFormat, EltwiseOp, HalfTile, MathConfig, MathFidelity};
use tt_tensix::pack::{EdgeMask, HalfPacker, PackConfig, Packer, Relu};
use tt_tensix::unpack::{Bf16Page, BlockFloatDecoder};
use tt_testkit::random::Random;

const OPERATIONS: [EltwiseOp; 3] = [EltwiseOp::Add, EltwiseOp::Sub, EltwiseOp::Mul];

fn config(fidelity: MathFidelity, arch: Arch) -> MathConfig {
    MathConfig { fidelity, dst: DstFormat::Bf16, alu: DataFormat::Float16B, arch }
}

fn levels() -> impl Iterator<Item = Level> {
    let cfg = config(MathFidelity::HiFi4, Arch::Wormhole);
    Level::supported().iter().copied().filter(move |&level| bf16_lanes::supports(level, &cfg))
}

fn page(words: &[u16; 1024]) -> Bf16Page {
    let mut page = [0; 2048];
    for (bytes, word) in page.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    page
}

/// Asserts the bits of the definition at every level; the number of levels that had a result.
fn check(cfg: &MathConfig, op: EltwiseOp, a: &[u16; 1024], b: &[u16; 1024]) -> usize {
    let mut expected = [0; 1024];
    let src = |words: &[u16; 1024]| words.map(|word| u32::from(word) << 3);
    tt_fpu::eltwise_scalar(cfg, op, Broadcast::None, false, &mut expected, &src(a), &src(b));
    let mut results = 0;
    for level in levels() {
        let mut got: HalfTile = [0x5555; 1024];
        if !bf16_lanes::run(level, cfg, op, &mut got, &page(a), &page(b)) {
            continue;
        }
        results += 1;
        for (i, (got, expected)) in got.iter().zip(&expected).enumerate() {
            assert_eq!(u32::from(*got) << 16, *expected, "{level} {op:?} {cfg:?} of {:#06x} and {:#06x}", a[i], b[i]);
        }
        let plain = PackConfig::new(DstFormat::Bf16, DataFormat::Float16B);
        let mut packed = [0; 2048];
        HalfPacker::new(&plain, level).expect("a plain conversion").pack(&got, &mut packed);
        assert!(packed == page(&got), "{level} {op:?}: the packer changes datums");
    }
    results
}

/// How the words of a tile are drawn: any bits, exponents around one, near the smallest, near the largest.
fn word(random: &mut Random, kind: u32) -> u16 {
    let exponent = match kind {
        0 => random.below(256),
        1 => 127 + random.below(14) - 7,
        2 => random.below(2) * (60 + random.below(10)),
        _ => 255 - random.below(8),
    };
    let exponent = if random.one_in(12) { 0 } else { exponent };
    (random.below(2) << 15 | exponent << 7 | random.below(128)) as u16
}

#[test]
fn random_tiles() {
    let mut random = Random::new(1);
    let (mut with, mut without) = (0, 0);
    for round in 0..96u32 {
        // Short significands leave out phases.
        let masks = [[0xffff, 0xffff], [0xfffe, 0xfffe], [0xffff, 0xfff0], [0xfff8, 0xffff]][round as usize / 4 % 4];
        let [a, mut b] = masks.map(|mask| std::array::from_fn::<u16, 1024, _>(|_| word(&mut random, round % 4) & mask));
        if round % 3 == 0 {
            // Sums that almost or wholly cancel.
            b = a.map(|word| word ^ 0x8000 ^ (random.below(2) * random.below(4)) as u16);
        }
        for fidelity in MathFidelity::ALL {
            for arch in [Arch::Wormhole, Arch::Blackhole] {
                for op in OPERATIONS {
                    let results = check(&config(fidelity, arch), op, &a, &b);
                    assert!(op == EltwiseOp::Mul || results == levels().count());
                    if results == 0 { without += 1 } else { with += 1 }
                }
            }
        }
    }
    assert!(levels().count() == 0 || with > 1000 && without > 100, "{with} tiles with results, {without} without");
}

#[test]
fn all_pairs_of_significands() {
    let cfg = config(MathFidelity::HiFi4, Arch::Wormhole);
    for first in 0..128u16 {
        // Tiles of 8 significands of `a` by 128 of `b`; for sums of either sign and of 13 differences of exponents.
        for block in 0..16 {
            let a = std::array::from_fn(|i| (127 << 7) | (block * 8 + i as u16 / 128));
            let b = std::array::from_fn(|i| {
                let (significand, sign) = (i as u16 % 128, (first & 1) << 15);
                sign | (127 - first / 2 % 13) << 7 | significand
            });
            if first < 26 {
                check(&cfg, EltwiseOp::Add, &a, &b);
                check(&cfg, EltwiseOp::Sub, &b, &a);
            }
            if first < 2 {
                for fidelity in MathFidelity::ALL {
                    assert_eq!(check(&config(fidelity, Arch::Wormhole), EltwiseOp::Mul, &a, &b), levels().count());
                }
            }
        }
    }
}

#[test]
fn sums_at_the_edges_of_the_exponents() {
    let mut random = Random::new(2);
    let cfg = config(MathFidelity::HiFi4, Arch::Wormhole);
    let mut drawn = |largest: u32, span: u32| {
        let mut word = || {
            let exponent = largest.saturating_sub(random.below(span));
            (random.below(2) << 15 | exponent << 7 | random.below(128)) as u16
        };
        [std::array::from_fn::<u16, 1024, _>(|_| word()), std::array::from_fn(|_| word())]
    };
    // Around the largest that the host adds, and where what is left of a difference is too small for an exponent.
    for largest in (0..=20).chain(235..=255) {
        for span in [1, 2, 4, 14] {
            let [a, b] = drawn(largest, span);
            assert_eq!(check(&cfg, EltwiseOp::Add, &a, &b), levels().count());
            // Almost the same numbers.
            let near = std::array::from_fn(|i| a[i] ^ (b[i] & 3));
            assert_eq!(check(&cfg, EltwiseOp::Sub, &a, &near), levels().count());
        }
    }
}

#[test]
fn products_at_the_edges_of_the_exponents() {
    for sum in (120..=140).chain(370..=384) {
        for fidelity in MathFidelity::ALL {
            let mut random = Random::new(sum.into());
            let a: [u16; 1024] = std::array::from_fn(|_| (random.below(2) << 15 | 100 << 7 | random.below(128)) as u16);
            let b =
                std::array::from_fn(|_| (random.below(2) << 15 | (sum - 100).min(255) << 7 | random.below(128)) as u16);
            let a = if sum > 300 { a.map(|word| word & 0x807f | (sum as u16 - 190) << 7) } else { a };
            let b = if sum > 300 { b.map(|word| word & 0x807f | 190 << 7) } else { b };
            check(&config(fidelity, Arch::Wormhole), EltwiseOp::Mul, &a, &b);
        }
    }
}

#[test]
fn products_beyond_the_largest_number_are_infinite() {
    let cfg = |fidelity| config(fidelity, Arch::Wormhole);
    // From the largest that is finite to infinities times infinities, with whole mantissas and ones that leave phases
    // empty.
    for sum in (376..=410).chain([510]) {
        for mask in [0xffff, 0xfff8, 0xfffe, 0xff80] {
            let mut random = Random::new(u64::from(sum * mask));
            let mut word = |exponent: u32, mantissa| (random.below(2) << 15 | exponent << 7 | mantissa) & mask;
            let first: [u16; 1024] = std::array::from_fn(|i| word(255, (i / 8) as u32) as u16);
            let second = std::array::from_fn(|i| word(sum - 255, i as u32 * 37 % 128) as u16);
            for fidelity in MathFidelity::ALL {
                for (a, b) in [(&first, &second), (&second, &first)] {
                    let results = check(&cfg(fidelity), EltwiseOp::Mul, a, b);
                    assert_eq!(results, if sum <= 398 { levels().count() } else { 0 }, "exponents of {sum}");
                }
            }
        }
    }
}

#[test]
fn every_half_is_packed_as_its_word() {
    let mut random = Random::new(7);
    let mut conversions = 0;
    for output in [DataFormat::Float16B, DataFormat::Bfp8B, DataFormat::Bfp4B, DataFormat::Float32] {
        for intermediate in [DataFormat::Float16B, DataFormat::Bfp8B] {
            let plain = PackConfig { intermediate, ..PackConfig::new(DstFormat::Bf16, output) };
            for &level in Level::supported() {
                let Some(halves) = HalfPacker::new(&plain, level) else { continue };
                conversions += 1;
                let words = Packer::new(&plain, Level::Scalar).expect("a conversion");
                let mut bytes = [vec![0; words.tile_bytes()], vec![1; words.tile_bytes()]];
                for first in (0..1u32 << 17).step_by(1024) {
                    // All patterns, in groups of near exponents and of far ones.
                    let dst: HalfTile = std::array::from_fn(|i| {
                        let number = first + i as u32;
                        if number < 1 << 16 {
                            number as u16
                        } else {
                            number.wrapping_mul(40_503) as u16 ^ random.below(3) as u16
                        }
                    });
                    halves.pack(&dst, &mut bytes[0]);
                    words.pack(&dst.map(|half| u32::from(half) << 16), &mut bytes[1]);
                    assert!(bytes[0] == bytes[1], "{level} {plain:?} from {first:#x}");
                }
            }
        }
    }
    assert_eq!(conversions, 5 * Level::supported().len());
    let refused = PackConfig::new(DstFormat::Bf16, DataFormat::Bfp8B);
    for config in [
        PackConfig { relu: Relu::Zero, ..refused },
        PackConfig { edge: EdgeMask::Row0, ..refused },
        PackConfig { l1_accumulate: true, ..refused },
        PackConfig { dst: DstFormat::Fp32, ..refused },
    ] {
        assert!(HalfPacker::new(&config, Level::detected()).is_none(), "{config:?}");
    }
}

#[test]
fn tiles_are_read_as_the_unpacker_does() {
    let mut random = Random::new(3);
    for &level in Level::supported() {
        for format in [DataFormat::Float16B, DataFormat::Bfp8B, DataFormat::Bfp4B] {
            let reader = Reader::new(format, level).expect("a format of BF16");
            for plain in [true, false] {
                let mut l1: Vec<u8> =
                    (0..format.tile_bytes(tt_formats::TileShape::FULL)).map(|_| random.bits() as u8).collect();
                if format != DataFormat::Float16B {
                    l1[..64].iter_mut().for_each(|exponent| *exponent = 100 + *exponent % 50);
                    // A negative zero is minus infinity.
                    l1[64..].iter_mut().for_each(|datum| *datum |= 0x11);
                    l1[64] = if plain {
                        0x11
                    } else if format == DataFormat::Bfp8B {
                        0x80
                    } else {
                        0x18
                    };
                }
                let mut register = [0; 1024];
                tt_tensix::unpack::to_src(format, format, &l1, &mut register);
                let (mut buffer, expected) = ([0; 2048], page(&register.map(|word| (word >> 3) as u16)));
                assert!(*reader.read(&l1, &mut buffer) == expected, "{level} {format:?}, plain: {plain}");
                // Every exponent, also those of infinities and those that wrap, with every datum.
                if format != DataFormat::Float16B {
                    for first in 0..=255 {
                        l1[..64].fill(first);
                        l1[64..].iter_mut().enumerate().for_each(|(i, datum)| *datum = i as u8);
                        tt_tensix::unpack::to_src(format, format, &l1, &mut register);
                        let expected = page(&register.map(|word| (word >> 3) as u16));
                        assert!(*reader.read(&l1, &mut buffer) == expected, "{level} {format:?}, exponent {first}");
                    }
                }
            }
        }
        assert!(
            Reader::new(DataFormat::Float32, level).is_none()
                && BlockFloatDecoder::new(DataFormat::Bfp8, level).is_none()
        );
    }
}
