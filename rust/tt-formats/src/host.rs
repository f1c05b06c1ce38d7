//! Conversions of the host library, for tensors on the host.
//!
//! They are built or read there.
//!
//! They are not the packer's: bfloat16 rounds ties to even, and block floats shift first (cutting bits off) and round
//! afterwards. Source: tt-metal `blockfloat_common.cpp`, settled by recorded tensors.

/// The pattern that every NaN becomes in bfloat16.
pub const BF16_NAN: u32 = 0x7fc0;

/// FP32 to BF16, ties to even; denormals kept, every NaN becomes [`BF16_NAN`].
#[inline(always)]
pub const fn fp32_to_bf16(x: u32) -> u32 {
    let rounded = x.wrapping_add(0x7fff + (x >> 16 & 1)) >> 16;
    if x & 0x7fff_ffff > 0x7f80_0000 { BF16_NAN } else { rounded }
}

/// BF16 to FP32, exact.
#[inline(always)]
pub const fn bf16_to_fp32(x: u32) -> u32 {
    x << 16
}

/// The exponent field of an FP32 value, infinities and NaN included.
#[inline(always)]
pub const fn fp32_exponent(x: u32) -> u32 {
    x >> 23 & 0xff
}

/// One FP32 value as a block float datum of `MAGNITUDE_BITS`.
///
/// 7 for `bfloat8_b`, 3 for `bfloat4_b`, below its sign.
///
/// `shared_exponent` is the largest exponent field of the group.
#[inline(always)]
pub const fn fp32_to_bfp<const MAGNITUDE_BITS: u32>(x: u32, shared_exponent: u32) -> u32 {
    let exponent = fp32_exponent(x);
    let significand = if exponent == 0 { 0 } else { x & 0x7f_ffff | 0x80_0000 };
    let distance = shared_exponent - exponent;
    let aligned = significand >> if distance > 31 { 31 } else { distance };
    let dropped = 24 - MAGNITUDE_BITS;
    let rounded = (aligned + (1 << (dropped - 1)) - 1 + (aligned >> dropped & 1)) >> dropped;
    let most = (1 << MAGNITUDE_BITS) - 1;
    let magnitude = if rounded > most { most } else { rounded };
    if magnitude == 0 { 0 } else { (x >> 31) << MAGNITUDE_BITS | magnitude }
}

/// One datum of `bfloat8_b` with its shared exponent, as FP32.
///
/// The sign is in bit 7.
///
/// The value is `magnitude * 2^(exponent - 133)`; an exponent of 255 is rebuilt as an IEEE word, so that a full
/// magnitude is an infinity or a NaN.
#[inline(always)]
pub const fn bfp8_b_to_fp32(datum: u32, shared_exponent: u32) -> u32 {
    let magnitude = datum & 0x7f;
    let sign = (datum & 0x80) << 24;
    let normal = (magnitude as f32).to_bits();
    let exponent = (normal >> 23) + shared_exponent;
    if magnitude == 0 {
        sign
    } else if exponent > 133 {
        sign | normal.wrapping_add(shared_exponent << 23).wrapping_sub(133 << 23)
    } else {
        // Below the normal range: a unit of the magnitude is 2^(exponent - 133), of the word 2^-149.
        sign | magnitude << 16 << shared_exponent
    }
}

/// One datum of `bfloat4_b` with its shared exponent, as FP32.
///
/// The sign is in bit 3.
#[inline(always)]
pub const fn bfp4_b_to_fp32(datum: u32, shared_exponent: u32) -> u32 {
    bfp8_b_to_fp32((datum & 0xf) << 4, shared_exponent)
}

/// FP32 to FP8 e4m3, ties to even.
///
/// The code of all ones is NaN, so the largest magnitude is 448 and larger ones saturate; what lies below the normal
/// range becomes signed zero.
#[inline(always)]
pub const fn fp32_to_fp8_e4m3(x: u32) -> u32 {
    let magnitude = x & 0x7fff_ffff;
    let sign = (x >> 31) << 7;
    if magnitude > 0x7f80_0000 {
        0x7f
    } else if magnitude < 121 << 23 {
        sign
    } else {
        let rounded = ((magnitude + 0x7_ffff + (magnitude >> 20 & 1)) >> 20) - (120 << 3);
        sign | if rounded > 0x7e { 0x7e } else { rounded }
    }
}

/// FP8 e4m3 to FP32.
///
/// The code of all ones is NaN, exponent 0 signed zero.
#[inline(always)]
pub const fn fp8_e4m3_to_fp32(x: u32) -> u32 {
    let magnitude = x & 0x7f;
    let sign = (x >> 7) << 31;
    if magnitude == 0x7f {
        0x7fc0_0000
    } else if magnitude < 8 {
        sign
    } else {
        sign | (magnitude + (120 << 3)) << 20
    }
}

/// FP32 to INT32: truncation.
///
/// What does not fit, and NaN, is the smallest integer.
#[inline(always)]
pub const fn fp32_to_int32(x: u32) -> i32 {
    let value = f32::from_bits(x);
    if value >= -2_147_483_648.0 && value < 2_147_483_648.0 { value as i32 } else { i32::MIN }
}

/// FP32 to UINT32: truncation.
///
/// Negative values wrap as far as INT32 reaches, everything else is 2^31.
#[inline(always)]
pub const fn fp32_to_uint32(x: u32) -> u32 {
    let value = f32::from_bits(x);
    if value >= 2_147_483_648.0 && value < 4_294_967_296.0 { value as u32 } else { fp32_to_int32(x) as u32 }
}

/// FP32 to UINT16: through INT32, saturating.
#[inline(always)]
pub fn fp32_to_uint16(x: u32) -> u16 {
    fp32_to_int32(x).clamp(0, 0xffff) as u16
}

/// FP32 to UINT8: through INT32, saturating.
#[inline(always)]
pub fn fp32_to_uint8(x: u32) -> u8 {
    fp32_to_int32(x).clamp(0, 0xff) as u8
}

/// FP32 to INT8: through INT32, saturating.
#[inline(always)]
pub fn fp32_to_int8(x: u32) -> i8 {
    fp32_to_int32(x).clamp(-128, 127) as i8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bf16_rounds_ties_to_even_and_unifies_nan() {
        assert_eq!(fp32_to_bf16(0x3f80_8000), 0x3f80);
        assert_eq!(fp32_to_bf16(0x3f81_8000), 0x3f82);
        assert_eq!(fp32_to_bf16(0xffff_ffff), BF16_NAN);
        assert_eq!(fp32_to_bf16(0xff80_0000), 0xff80);
        assert_eq!(fp32_to_bf16(0x7f7f_ffff), 0x7f80);
        assert_eq!(fp32_to_bf16(0x8000_0001), 0x8000);
    }

    #[test]
    fn every_bf16_value_survives_the_way_through_fp32() {
        for x in 0..=0xffff {
            let expected = if x & 0x7fff > 0x7f80 { BF16_NAN } else { x };
            assert_eq!(fp32_to_bf16(bf16_to_fp32(x)), expected);
        }
    }

    #[test]
    fn block_floats_cut_before_they_round() {
        let half_unit = 1.0f32.to_bits() - 1;
        assert_eq!(fp32_to_bfp::<7>(1.0f32.to_bits(), 127), 64);
        assert_eq!(fp32_to_bfp::<7>(half_unit, 127), 64);
        assert_eq!(fp32_to_bfp::<7>(1.999f32.to_bits(), 127), 127, "saturates");
        assert_eq!(fp32_to_bfp::<7>((-1.0f32).to_bits(), 134), 0, "a tie goes to even, zero has no sign");
        assert_eq!(fp32_to_bfp::<7>((-1.5f32).to_bits(), 134), 129);
        assert_eq!(fp32_to_bfp::<3>((-1.0f32).to_bits(), 127), 12);
        assert_eq!(fp32_to_bfp::<3>(1.0f32.to_bits(), 255), 0);
    }

    #[test]
    fn every_datum_decodes_to_its_value() {
        for shared in 0..255 {
            for datum in 0..256u32 {
                let sign = if datum < 128 { 1.0 } else { -1.0 };
                let expected = sign * f64::from(datum & 127) * f64::powi(2.0, shared as i32 - 133);
                let got = f64::from(f32::from_bits(bfp8_b_to_fp32(datum, shared)));
                assert_eq!(got, expected, "{datum} {shared}");
            }
        }
        assert_eq!(bfp8_b_to_fp32(64, 255), 0x7f80_0000);
        assert_eq!(bfp8_b_to_fp32(0xff, 255), 0xfffe_0000);
    }

    #[test]
    fn every_fp8_e4m3_number_survives_the_way_through_fp32() {
        for x in 0..256 {
            let expected = if x & 0x7f == 0x7f {
                0x7f
            } else if x & 0x7f < 8 {
                x & 0x80
            } else {
                x
            };
            assert_eq!(fp32_to_fp8_e4m3(fp8_e4m3_to_fp32(x)), expected);
        }
    }

    #[test]
    fn fp8_e4m3_rounds_to_even_saturates_and_flushes() {
        let bits = f32::to_bits;
        assert_eq!(fp32_to_fp8_e4m3(bits(1.0)), 0x38);
        assert_eq!((fp32_to_fp8_e4m3(bits(1.0625)), fp32_to_fp8_e4m3(bits(1.1875))), (0x38, 0x3a));
        assert_eq!((fp32_to_fp8_e4m3(bits(240.0)), fp32_to_fp8_e4m3(bits(448.0))), (0x77, 0x7e));
        assert_eq!((fp32_to_fp8_e4m3(bits(464.0)), fp32_to_fp8_e4m3(bits(-1e9))), (0x7e, 0xfe));
        assert_eq!((fp32_to_fp8_e4m3(bits(1.0 / 64.0)), fp32_to_fp8_e4m3(bits(-0.0156))), (8, 0x80));
    }

    #[test]
    fn integers_truncate_wrap_and_saturate() {
        let bits = f32::to_bits;
        assert_eq!(
            (fp32_to_int32(bits(-2.7)), fp32_to_int32(bits(3e9)), fp32_to_int32(bits(f32::NAN))),
            (-2, i32::MIN, i32::MIN)
        );
        assert_eq!(
            (fp32_to_uint32(bits(-1.0)), fp32_to_uint32(bits(3e9)), fp32_to_uint32(bits(-3e9))),
            (u32::MAX, 3_000_000_000, 1 << 31)
        );
        assert_eq!(
            (fp32_to_uint16(bits(70000.0)), fp32_to_uint16(bits(-1.0)), fp32_to_uint16(bits(3e9))),
            (65535, 0, 0)
        );
        assert_eq!(
            (fp32_to_uint8(bits(255.5)), fp32_to_int8(bits(-200.0)), fp32_to_int8(bits(200.0))),
            (255, -128, 127)
        );
    }
}
