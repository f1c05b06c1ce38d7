//! Decoding of block floats against the unpacker.

use tt_cpu::Level;
use tt_formats::DataFormat;
use tt_formats::TileShape;
use tt_tensix::regs::TILE_DATUMS;
use tt_tensix::unpack::{self, BlockFloatDecoder};

/// Groups of a tile, which share an exponent.
const GROUPS: usize = 64;

#[test]
fn tiles_that_are_decoded_equal_the_unpacker() {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    for format in [DataFormat::Bfp8B, DataFormat::Bfp4B] {
        let bytes = format.tile_bytes(TileShape::FULL);
        for &level in Level::supported() {
            let decoder = BlockFloatDecoder::new(format, level).expect("a block float");
            let mut decoded = 0;
            for round in 0..200 {
                let mut l1: Vec<u8> = (0..bytes).map(|_| next()).collect();
                if round % 2 == 0 {
                    for exponent in &mut l1[..GROUPS] {
                        *exponent = *exponent % 246 + 8;
                    }
                    for datum in &mut l1[GROUPS..] {
                        // No negative zeros: a sign only with a magnitude.
                        *datum |= if format == DataFormat::Bfp8B { 1 } else { 0x11 };
                    }
                }
                let (mut page, mut src) = ([0; 2 * TILE_DATUMS], [0; TILE_DATUMS]);
                unpack::to_src(format, format, &l1, &mut src);
                if decoder.decode(&l1, &mut page) {
                    decoded += 1;
                    for (bytes, src) in page.as_chunks::<2>().0.iter().zip(&src) {
                        assert_eq!(u32::from(u16::from_le_bytes(*bytes)) << 3, *src, "{format:?} {level}");
                    }
                }
            }
            assert!((100..200).contains(&decoded), "{decoded} tiles of {format:?} at {level}");
        }
    }
}

#[test]
fn empty_groups_are_plain_and_wrapping_exponents_are_not() {
    for format in [DataFormat::Bfp8B, DataFormat::Bfp4B] {
        let decoder = BlockFloatDecoder::new(format, Level::current()).expect("a block float");
        let mut l1 = vec![0; format.tile_bytes(TileShape::FULL)];
        let mut page = [1; 2 * TILE_DATUMS];
        assert!(decoder.decode(&l1, &mut page) && page.iter().all(|&byte| byte == 0));
        l1[GROUPS] = 1;
        assert!(!decoder.decode(&l1, &mut page), "a number whose exponent wraps");
        l1[GROUPS] = if format == DataFormat::Bfp8B { 0x80 } else { 0x08 };
        l1[0] = 127;
        assert!(!decoder.decode(&l1, &mut page), "a negative zero");
    }
}
