//! Conversions of one datum against the same conversions in plain arithmetic.
//!
//! A pattern is taken apart into its fields or its value, and put together again.

use tt_formats::unpack::Unpacks;
use tt_formats::{Arch, DataFormat, TileShape, Wormhole, accumulate, block, host, pack, unpack};
use tt_testkit::random::Random;

/// Sign, exponent and mantissa of a pattern.
fn fields(x: u32, exponent_bits: u32, mantissa_bits: u32) -> (u32, u32, u32) {
    let (binades, steps) = (1 << exponent_bits, 1 << mantissa_bits);
    (x / steps / binades % 2, x / steps % binades, x % steps)
}

/// The pattern of FP16, BF16 or a word of the source registers with these fields.
fn pattern((sign, exponent, mantissa): (u32, u32, u32), exponent_bits: u32, mantissa_bits: u32) -> u32 {
    (sign * (1 << exponent_bits) + exponent) * (1 << mantissa_bits) + mantissa
}

fn fp16(x: u32) -> (u32, u32, u32) {
    fields(x, 5, 10)
}

fn bf16(x: u32) -> (u32, u32, u32) {
    fields(x, 8, 7)
}

fn src((sign, exponent, mantissa): (u32, u32, u32)) -> u32 {
    pattern((sign, exponent, mantissa), 8, 10)
}

/// FP32 words of every sign and exponent, with mantissas at the borders of truncation and random ones.
fn words() -> impl Iterator<Item = u32> {
    let mut random = Random::new(1);
    let borders = [0, 1, 0xfff, 0x1000, 0x1001, 0x1fff, 0x2000, 0x7fff, 0x8000, 0xffff, 0x1_0000, 0x7f_0000, 0x7f_ffff];
    (0..512).flat_map(move |upper| {
        let drawn: Vec<u32> = (0..20).map(|_| random.bits() as u32 % 0x80_0000).collect();
        borders.into_iter().chain(drawn).map(move |mantissa| upper * 0x80_0000 + mantissa)
    })
}

#[test]
fn short_words_reach_the_source_registers_with_all_their_fields() {
    for x in 0..=0xffff {
        let (sign, exponent, mantissa) = bf16(x);
        assert_eq!(unpack::bf16_to_src(x), src((sign, exponent, mantissa * 8)), "{x:#x}");
        let (sign, exponent, mantissa) = fp16(x);
        assert_eq!(unpack::fp16_to_src(x), src((sign, exponent, mantissa)), "{x:#x}");
        assert_eq!(unpack::fp16_to_dst(x), sign * 0x8000_0000 + (x % 0x8000) * 0x2000, "{x:#x}");
        // The lower byte is the exponent, the rest of the upper one the mantissa.
        assert_eq!(unpack::uint16_to_src(x), src((x / 0x8000, x % 0x100, x / 0x100 % 0x80 * 8)), "{x:#x}");
    }
    for x in 0..=0xff {
        let (sign, exponent, mantissa) = fields(x, 5, 2);
        assert_eq!(unpack::fp16_to_src(Wormhole::lf8_to_fp16(x)), src((sign, exponent, mantissa * 0x100)), "{x:#x}");
        let (sign, magnitude) = (x / 0x80, x % 0x80);
        assert_eq!(unpack::int8_to_src(x), src((sign, if magnitude == 0 { 0 } else { 16 }, magnitude)), "{x:#x}");
        assert_eq!(unpack::uint8_to_src(x), src((0, if x == 0 { 0 } else { 16 }, x)), "{x:#x}");
    }
}

#[test]
fn single_precision_reaches_the_source_registers_truncated() {
    for x in words() {
        let (sign, exponent, mantissa) = fields(x, 8, 23);
        assert_eq!(unpack::fp32_to_src_tf32(x), src((sign, exponent, mantissa / 0x2000)), "{x:#x}");
        let cut = if exponent == 0 { 0 } else { mantissa / 0x1_0000 * 8 };
        assert_eq!(unpack::fp32_to_src_bf16(x), src((sign, exponent, cut)), "{x:#x}");
        let half = match exponent {
            ..112 => (sign, 0, 0),
            112..=143 => (sign, exponent - 112, mantissa / 0x2000),
            _ => (sign, 31, 0x3ff),
        };
        assert_eq!(unpack::fp32_to_fp16(x), pattern(half, 5, 10), "{x:#x}");
        assert_eq!(unpack::fp32_to_src_fp16(x), src(half), "{x:#x}");
    }
}

/// The nearest multiple of a power of two, ties away from zero, of a magnitude.
fn to_multiple(magnitude: u64, unit: u64) -> u64 {
    (magnitude + unit / 2) / unit * unit
}

#[test]
fn the_packer_rounds_single_precision_away_from_zero() {
    for x in words() {
        let (sign, exponent, _) = fields(x, 8, 23);
        let magnitude = if exponent == 255 { 0x7f80_0000 } else { u64::from(x % 0x8000_0000) };
        let with_sign = |rounded: u64| if rounded < 0x80_0000 { 0 } else { sign * 0x8000_0000 + rounded as u32 };
        assert_eq!(pack::fp32_to_tf32(x), with_sign(to_multiple(magnitude, 0x2000)), "{x:#x}");
        assert_eq!(pack::fp32_to_bf16(x), with_sign(to_multiple(magnitude, 0x1_0000)) / 0x1_0000, "{x:#x}");
        let truncated = magnitude / 0x1_0000 * 0x1_0000;
        assert_eq!(pack::fp32_to_e8m6(x), with_sign(to_multiple(truncated, 0x2_0000)) / 0x1_0000, "{x:#x}");
        let late = if exponent == 0 { 0 } else { x / 0x1_0000 };
        assert_eq!(pack::fp32_late_to_bf16(x), late, "{x:#x}");
    }
}

#[test]
fn the_packer_takes_every_short_word() {
    for x in 0..=0xffff {
        let (sign, exponent, _) = bf16(x);
        let kept = match exponent {
            0 => 0,
            255 => pattern((sign, 255, 0), 8, 7),
            _ => x,
        };
        assert_eq!(pack::bf16_to_bf16(x), kept, "{x:#x}");
        let up = if kept == 0 { 0 } else { sign * 0x8000 + to_multiple(u64::from(kept % 0x8000), 2) as u32 };
        assert_eq!(pack::bf16_to_e8m6(x), up, "{x:#x}");

        let (sign, exponent, mantissa) = fp16(x);
        let kept = if exponent == 0 { 0 } else { x };
        assert_eq!(pack::fp16_to_fp16(x), kept, "{x:#x}");
        let rounded = to_multiple(u64::from(x % 0x8000), 16).min(0x7ff0) as u32;
        let e5m6 = if rounded < 0x400 { 0 } else { sign * 0x8000 + rounded };
        assert_eq!(pack::fp16_to_e5m6(x), e5m6, "{x:#x}");
        assert_eq!(pack::fp16_to_lf8(x), x / 0x100, "{x:#x}");
        let wide = if exponent == 0 { 0 } else { exponent + 112 };
        assert_eq!(pack::fp16_to_fp32(x), pattern((sign, wide, mantissa * 0x2000), 8, 23), "{x:#x}");
        let narrow = if exponent == 0 { 0 } else { pattern((sign, wide, mantissa / 8), 8, 7) };
        assert_eq!(pack::fp16_late_to_bf16(x), narrow, "{x:#x}");
        for shared in exponent..32 {
            // In units of the group's largest magnitude.
            let significand = mantissa / 8 + if exponent == 0 { 0 } else { 128 };
            let unit = 2u64.pow(shared - exponent + 1);
            let magnitude = (to_multiple(significand.into(), unit) / unit).min(127) as u32;
            let datum = if magnitude == 0 { 0 } else { sign * 128 + magnitude };
            assert_eq!(pack::fp16_to_bfp8(x, shared), datum, "{x:#x} {shared}");
        }
    }
    for datum in 0..=0xff {
        let (sign, magnitude) = (datum / 0x80, datum % 0x80);
        let cut = |unit: u32, top: u32| if magnitude / unit == 0 { 0 } else { sign * top + magnitude / unit };
        assert_eq!((pack::bfp8_to_bfp4(datum), pack::bfp8_to_bfp2(datum)), (cut(16, 8), cut(64, 2)), "{datum:#x}");
    }
}

#[test]
fn a_group_has_its_largest_exponent() {
    let mut random = Random::new(2);
    for _ in 0..1000 {
        let group: [u32; 16] = std::array::from_fn(|_| random.bits() as u32 % 0x1_0000);
        let most = |exponent: fn(u32) -> (u32, u32, u32)| group.iter().map(|&x| exponent(x).1).max();
        assert_eq!(Some(pack::bfp_b_exponent(&group)), most(bf16));
        assert_eq!(Some(pack::bfp_exponent(&group)), most(fp16));
    }
    let mut one = [0; 16];
    one[15] = 0x0080;
    assert_eq!(pack::bfp_b_exponent(&one), 1);
}

#[test]
fn integers_are_cut_to_bytes() {
    for magnitude in [0, 1, 126, 127, 128, 254, 255, 256, 0x7fff_ffff] {
        assert_eq!(pack::int32_to_int8(magnitude), magnitude.min(127));
        assert_eq!(pack::int32_to_int8(0x8000_0000 + magnitude), 0x80 + magnitude.min(127));
        assert_eq!(pack::int32_to_uint8(magnitude), magnitude.min(255));
        assert_eq!(pack::int32_to_uint8(0x8000_0000 + magnitude), 0);
    }
}

/// The value of an FP16 pattern for the adder, whose largest exponent is an ordinary binade.
fn value((sign, exponent, mantissa): (u32, u32, u32)) -> f64 {
    let magnitude = if exponent == 0 { 0.0 } else { (1024 + mantissa) as f64 * 2f64.powi(exponent as i32 - 25) };
    if sign == 1 { -magnitude } else { magnitude }
}

#[test]
fn the_packer_adds_halves_through_single_precision() {
    let mut random = Random::new(3);
    let corners = [0, 0x8000, 1, 0x83ff, 0x400, 0x8400, 0x7fff, 0xffff, 0x7c00, 0xfbff, 0x3c00, 0xbc01, 0x1400, 0x9401];
    let drawn: Vec<u32> = (0..1500).map(|_| random.bits() as u32 % 0x1_0000).collect();
    let near =
        drawn.iter().flat_map(|&x| [(x, x ^ 0x8000), (x, x ^ 0x8001), (x, (x ^ 0x8000).wrapping_add(2) & 0xffff)]);
    let pairs = corners.iter().flat_map(|&a| corners.iter().map(move |&b| (a, b)));
    let far = drawn.iter().zip(drawn.iter().skip(1)).map(|(&a, &b)| (a, b));
    for (l1, y) in pairs.chain(near).chain(far) {
        let sum = (value(fp16(l1)) + value(fp16(y))) as f32;
        let (magnitude, sign) = (f64::from(sum.abs()), if sum.is_sign_negative() { 0x8000 } else { 0 });
        let expected = if magnitude == 0.0 {
            // The adder takes the upper two binades in L1 for numbers without a sum.
            if fp16(l1).1 >= 30 { 0x7fff } else { 0 }
        } else if magnitude < 2f64.powi(-15) {
            0x7fff
        } else if magnitude < 2f64.powi(-14) {
            0
        } else {
            let exponent = magnitude.log2().floor() as i32;
            let steps = (magnitude / 2f64.powi(exponent - 10)).round_ties_even() as u32;
            // Rounding up to the next binade carries into the exponent.
            ((exponent + 15) as u32 * 1024 + (steps - 1024)).min(0x7fff)
        };
        assert_eq!(accumulate::fp16(l1, y), sign + expected, "{l1:#x} + {y:#x}");
    }
}

#[test]
fn host_block_floats_round_ties_to_even() {
    // A significand of 24 bits has 17 below a datum of 7 bits, 21 below one of 3.
    for (mantissa, wide, narrow) in [
        (0, 64, 4),
        (0x00_ffff, 64, 4),
        (0x01_0000, 64, 4),
        (0x01_0001, 65, 4),
        (0x03_0000, 66, 4),
        (0x0f_ffff, 72, 4),
        (0x10_0000, 72, 4),
        (0x10_0001, 72, 5),
        (0x30_0000, 88, 6),
        (0x7f_ffff, 127, 7),
    ] {
        let x = 130 * 0x80_0000 + mantissa;
        assert_eq!(host::fp32_to_bfp::<7>(x, 130), wide, "{mantissa:#x}");
        assert_eq!(host::fp32_to_bfp::<3>(x, 130), narrow, "{mantissa:#x}");
        assert_eq!(host::fp32_to_bfp::<7>(0x8000_0000 + x, 130), 0x80 + wide, "{mantissa:#x}");
    }
    // Bits are cut off before they are rounded; 24 places below nothing is left.
    assert_eq!(host::fp32_to_bfp::<7>(130 * 0x80_0000, 137), 0);
    assert_eq!(host::fp32_to_bfp::<7>(130 * 0x80_0000 + 0x40_0000, 137), 1);
    assert_eq!(
        [131, 160, 161, 162, 255].map(|shared| host::fp32_to_bfp::<7>(130 * 0x80_0000, shared)),
        [32, 0, 0, 0, 0]
    );
    assert_eq!(host::fp32_to_bfp::<7>(0x007f_ffff, 0), 0, "denormals are zero");
}

#[test]
fn host_block_floats_of_halves_are_those_of_their_words() {
    let mut random = Random::new(4);
    let halves: Vec<u16> = (0..4096).map(|_| random.bits() as u16).collect();
    let words: Vec<u32> = halves.iter().map(|&half| u32::from(half) * 0x1_0000).collect();
    let (mut exponents, mut datums) = ([vec![1; 256], vec![2; 256]], [vec![1; 4096], vec![2; 4096]]);
    block::quantise_bf16::<8>(&halves, &mut exponents[0], &mut datums[0]);
    block::quantise_fp32::<8>(&words, &mut exponents[1], &mut datums[1]);
    assert!(exponents[0] == exponents[1] && datums[0] == datums[1]);
    for (group, words) in words.chunks(16).enumerate() {
        let shared = words.iter().map(|&word| fields(word, 8, 23).1).max();
        assert_eq!(Some(u32::from(exponents[0][group])), shared);
        for (datum, &word) in datums[0][group * 16..].iter().zip(words) {
            assert_eq!(u32::from(*datum), host::fp32_to_bfp::<7>(word, exponents[0][group].into()), "{word:#x}");
        }
    }
}

#[test]
fn host_datums_are_the_values_they_stand_for() {
    for datum in 0..=0xff {
        for shared in [0, 1, 5, 6, 7, 126, 127, 254] {
            let (sign, magnitude) = (datum / 0x80, datum % 0x80);
            let exact = f64::from(magnitude) * 2f64.powi(shared as i32 - 133);
            let expected = (if sign == 1 { -exact } else { exact }) as f32;
            assert_eq!(host::bfp8_b_to_fp32(datum, shared), expected.to_bits(), "{datum:#x} {shared}");
        }
    }
    for datum in 0..=0xf {
        assert_eq!(host::bfp4_b_to_fp32(datum, 100), host::bfp8_b_to_fp32(datum * 16, 100));
    }
    for x in 0..=0xff {
        let (sign, exponent, mantissa) = fields(x, 4, 3);
        let finite = f64::from(8 + mantissa) * 2f64.powi(exponent as i32 - 10);
        let expected = match exponent {
            _ if x & 0x7f == 0x7f => f32::NAN,
            0 => 0.0,
            _ => finite as f32,
        };
        let expected = if sign == 1 && !expected.is_nan() { -expected } else { expected };
        assert_eq!(host::fp8_e4m3_to_fp32(x), expected.to_bits(), "{x:#x}");
        if !expected.is_nan() {
            let back = if exponent == 0 { sign * 0x80 } else { x };
            assert_eq!(host::fp32_to_fp8_e4m3(expected.to_bits()), back, "{x:#x}");
        }
    }
    for (value, word) in
        [(448.0, 0x7e), (1e9, 0x7e), (f32::INFINITY, 0x7e), (f32::NEG_INFINITY, 0xfe), (f32::NAN, 0x7f)]
    {
        assert_eq!(host::fp32_to_fp8_e4m3(value.to_bits()), word, "{value}");
    }
}

#[test]
fn formats_and_chips_are_what_the_vendor_says() {
    for (format, bytes) in [
        (DataFormat::Float32, Some(4)),
        (DataFormat::Tf32, Some(4)),
        (DataFormat::UInt32, Some(4)),
        (DataFormat::Float16, Some(2)),
        (DataFormat::UInt16, Some(2)),
        (DataFormat::Lf8, Some(1)),
        (DataFormat::UInt8, Some(1)),
        (DataFormat::Bfp8B, None),
        (DataFormat::Bfp2, None),
    ] {
        assert_eq!(format.element_bytes(), bytes, "{format:?}");
    }
    let small = |format: &DataFormat| format.has_5_bit_exponent();
    let found: Vec<DataFormat> = DataFormat::ALL.into_iter().filter(small).collect();
    let expected = [
        DataFormat::Float16,
        DataFormat::Bfp8,
        DataFormat::Bfp4,
        DataFormat::Lf8,
        DataFormat::Bfp2,
        DataFormat::Fp8E4M3,
    ];
    assert_eq!(found, expected);
    for (height, width, face_height) in [(32, 32, 16), (16, 32, 16), (8, 16, 8), (1, 32, 1), (32, 16, 16)] {
        let shape = TileShape::new(height, width).expect("a shape of the chip");
        assert_eq!((shape.height(), shape.width(), shape.datums()), (height, width, height * width));
        assert_eq!((shape.face_height(), shape.face_width()), (face_height, 16));
        assert_eq!((shape.face_grid(), shape.face_datums()), ((height / face_height, width / 16), face_height * 16));
    }
    assert_eq!((Arch::Wormhole.name(), Arch::Blackhole.name()), ("wormhole_b0", "blackhole"));
}
