//! Packer conversion of one datum, and of sixteen that share an exponent.
//!
//! Source: `docs/chip/numerics.md` sections 10.1 to 10.4.
//!
//! The *early* conversion takes a Dst value to an intermediate format, the *late* one takes that to the format in L1.
//! Values of 16 bits are in the low half of the word.

use crate::unpack::fp32_to_fp16;

/// A BF16 value that is a denormal or zero becomes +0.
#[inline(always)]
const fn flush_bf16(y: u32) -> u32 {
    if y & 0x7fff < 0x80 { 0 } else { y }
}

/// An FP16 value that is a denormal or zero becomes +0.
#[inline(always)]
const fn flush_fp16(y: u32) -> u32 {
    if y & 0x7fff < 0x400 { 0 } else { y }
}

/// A NaN becomes the infinity of its sign.
#[inline(always)]
const fn fp32_nan_to_infinity(x: u32) -> u32 {
    if x & 0x7fff_ffff > 0x7f80_0000 { x & 0xff80_0000 } else { x }
}

#[inline(always)]
const fn bf16_nan_to_infinity(x: u32) -> u32 {
    if x & 0x7fff > 0x7f80 { x & 0xff80 } else { x }
}

/// Early: FP32 to BF16, nearest, ties away from zero.
///
/// NaN to infinity, denormal results to +0.
#[inline(always)]
pub const fn fp32_to_bf16(x: u32) -> u32 {
    flush_bf16((fp32_nan_to_infinity(x) + 0x8000) >> 16)
}

/// Early: FP32 to E8M6, truncated to BF16, then nearest, ties away.
///
/// E8M6 is a BF16 pattern with its last bit zero.
#[inline(always)]
pub const fn fp32_to_e8m6(x: u32) -> u32 {
    flush_bf16(((fp32_nan_to_infinity(x) >> 16) + 1) & 0xfffe)
}

/// Early: FP32 to TF32, nearest, ties away.
///
/// TF32 is a 32-bit pattern with the low 13 bits zero.
#[inline(always)]
pub const fn fp32_to_tf32(x: u32) -> u32 {
    let y = (fp32_nan_to_infinity(x) + 0x1000) & 0xffff_e000;
    if y & 0x7fff_ffff < 0x0080_0000 { 0 } else { y }
}

/// Early: BF16 stays, without NaN, denormals and minus zero.
#[inline(always)]
pub const fn bf16_to_bf16(x: u32) -> u32 {
    flush_bf16(bf16_nan_to_infinity(x))
}

/// Early: BF16 to E8M6. The flush comes before the rounding.
#[inline(always)]
pub const fn bf16_to_e8m6(x: u32) -> u32 {
    (bf16_to_bf16(x) + 1) & 0xfffe
}

/// Early: FP16 stays, without denormals and minus zero.
#[inline(always)]
pub const fn fp16_to_fp16(x: u32) -> u32 {
    flush_fp16(x)
}

/// Early: FP32 to FP16, rounded to a 19-bit TF32 word first.
///
/// Rounds to nearest, ties away from zero; NaN to infinity, denormals to +0. `ReLU` works on this word, and
/// [`tf32_word_to_fp16`] ends the conversion.
#[inline(always)]
pub const fn fp32_to_tf32_word(x: u32) -> u32 {
    let y = (fp32_nan_to_infinity(x) + 0x1000) >> 13;
    if y & 0x3_ffff < 0x400 { 0 } else { y }
}

/// Ends [`fp32_to_tf32_word`]: a 19-bit TF32 word to FP16, saturating.
#[inline(always)]
pub const fn tf32_word_to_fp16(y: u32) -> u32 {
    fp32_to_fp16(y << 13)
}

/// Early: BF16 to FP16, exact where FP16 has the number.
///
/// Too small becomes signed zero, too large and NaN the largest magnitude.
#[inline(always)]
pub const fn bf16_to_fp16(x: u32) -> u32 {
    fp32_to_fp16(x << 16)
}

/// Early: FP16 to E5M6, nearest, ties away, saturating.
///
/// E5M6 is an FP16 pattern with the last four bits zero.
#[inline(always)]
pub const fn fp16_to_e5m6(x: u32) -> u32 {
    let x = if x & 0x7fff > 0x7ff7 { x & 0x8000 | 0x7ff0 } else { x };
    flush_fp16((x + 8) & 0xfff0)
}

/// Early: INT32 (sign and magnitude) to INT8, saturating.
#[inline(always)]
pub const fn int32_to_int8(x: u32) -> u32 {
    let magnitude = x & 0x7fff_ffff;
    (x >> 31) << 7 | if magnitude > 127 { 127 } else { magnitude }
}

/// Early: INT32 (sign and magnitude) to UINT8, saturating, negative to 0.
#[inline(always)]
pub const fn int32_to_uint8(x: u32) -> u32 {
    if x >> 31 != 0 {
        0
    } else if x > 255 {
        255
    } else {
        x
    }
}

/// Late: FP16 or E5M6 to FP32.
///
/// A denormal keeps its mantissa bits under an exponent of 0.
#[inline(always)]
pub const fn fp16_to_fp32(y: u32) -> u32 {
    let magnitude = y & 0x7fff;
    let rebiased = if magnitude < 0x400 { magnitude } else { magnitude + (112 << 10) };
    (y >> 15) << 31 | rebiased << 13
}

/// Late: FP16 or E5M6 to BF16 by truncation; denormals become +0.
#[inline(always)]
pub const fn fp16_late_to_bf16(y: u32) -> u32 {
    if y & 0x7c00 == 0 { 0 } else { y & 0x8000 | ((y & 0x7fff) + (112 << 10)) >> 3 }
}

/// Late: FP32 to BF16 by truncation, denormals become +0.
///
/// The first step of FP32 to block floats.
#[inline(always)]
pub const fn fp32_late_to_bf16(y: u32) -> u32 {
    flush_bf16(y >> 16)
}

/// Late: FP16 to FP8 e5m2 by truncation.
#[inline(always)]
pub const fn fp16_to_lf8(y: u32) -> u32 {
    y >> 8
}

/// Late: FP16 to FP8 e4m3 by truncation, saturating.
///
/// Too small becomes signed zero; there is no NaN.
#[inline(always)]
pub const fn fp16_to_fp8_e4m3(y: u32) -> u32 {
    let magnitude = y >> 7 & 0xff;
    let rebiased = if magnitude < 9 << 3 {
        0
    } else if magnitude >= 24 << 3 {
        0x7f
    } else {
        magnitude - (8 << 3)
    };
    y >> 15 << 7 | rebiased
}

/// The largest exponent of a group of BF16 values.
#[inline(always)]
pub fn bfp_b_exponent(group: &[u32; 16]) -> u32 {
    group.iter().fold(0, |most, y| most.max(y >> 7 & 0xff))
}

/// One BF16 value as a datum of `BFP8_b`.
///
/// Sign in bit 7, magnitude rounded to nearest, ties away, saturating; zero is +0.
#[inline(always)]
pub fn bf16_to_bfp8_b(y: u32, shared_exponent: u32) -> u32 {
    let exponent = y >> 7 & 0xff;
    quantise(y >> 15, exponent, y & 0x7f, shared_exponent)
}

/// The largest exponent of a group of FP16 values.
#[inline(always)]
pub fn bfp_exponent(group: &[u32; 16]) -> u32 {
    group.iter().fold(0, |most, y| most.max(y >> 10 & 0x1f))
}

/// One FP16 value as a datum of BFP8 (5-bit shared exponent).
///
/// Mantissa truncated to 7 bits, then as [`bf16_to_bfp8_b`].
#[inline(always)]
pub fn fp16_to_bfp8(y: u32, shared_exponent: u32) -> u32 {
    let exponent = y >> 10 & 0x1f;
    quantise(y >> 15 & 1, exponent, y >> 3 & 0x7f, shared_exponent)
}

#[inline(always)]
fn quantise(sign: u32, exponent: u32, mantissa: u32, shared_exponent: u32) -> u32 {
    let significand = if exponent == 0 { mantissa } else { 0x80 | mantissa };
    // From 9 on every significand is below half a unit; capping keeps the shift in range.
    let shift = (shared_exponent - exponent).min(9);
    let magnitude = ((significand + (1 << shift)) >> (shift + 1)).min(127);
    if magnitude == 0 { 0 } else { sign << 7 | magnitude }
}

/// A datum of an 8-bit block float cut to 4 bits.
///
/// The magnitude is truncated, zero loses its sign.
#[inline(always)]
pub const fn bfp8_to_bfp4(datum: u32) -> u32 {
    let magnitude = datum >> 4 & 7;
    if magnitude == 0 { 0 } else { datum >> 4 & 8 | magnitude }
}

/// A datum of an 8-bit block float cut to 2 bits.
///
/// The magnitude is truncated, zero loses its sign.
#[inline(always)]
pub const fn bfp8_to_bfp2(datum: u32) -> u32 {
    let magnitude = datum >> 6 & 1;
    if magnitude == 0 { 0 } else { datum >> 6 & 2 | magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_away_from_zero_at_ties() {
        assert_eq!(fp32_to_bf16(0x3f80_8000), 0x3f81);
        assert_eq!(fp32_to_bf16(0x3f80_7fff), 0x3f80);
        assert_eq!(fp32_to_bf16(0xbf80_8000), 0xbf81);
        assert_eq!(fp32_to_e8m6(0x3f81_ffff), 0x3f82);
        assert_eq!(fp32_to_e8m6(0x3f80_ffff), 0x3f80);
        assert_eq!(fp32_to_tf32(0x3f80_1000), 0x3f80_2000);
    }

    #[test]
    fn nan_denormals_and_minus_zero_do_not_survive_a_rounding_conversion() {
        assert_eq!((fp32_to_bf16(0xffff_ffff), fp32_to_bf16(0x7fc0_0000)), (0xff80, 0x7f80));
        assert_eq!((fp32_to_bf16(0x8000_0000), fp32_to_bf16(0x007f_7fff)), (0, 0));
        assert_eq!(fp32_to_bf16(0x007f_8000), 0x0080, "flushed after rounding");
        assert_eq!(bf16_to_e8m6(0x007f), 0, "flushed before rounding");
        assert_eq!((fp16_to_e5m6(0xfff9), fp16_to_e5m6(0x83ff)), (0xfff0, 0x8400));
    }

    #[test]
    fn every_fp16_value_as_fp8_e4m3() {
        for y in 0..=0xffffu32 {
            let (s, e, m) = (y >> 15, y >> 10 & 31, y & 0x3ff);
            let expected = match e {
                0..=8 => s << 7,
                24.. => s << 7 | 0x7f,
                _ => s << 7 | (e - 8) << 3 | m >> 7,
            };
            assert_eq!(fp16_to_fp8_e4m3(y), expected, "{y:#06x}");
        }
    }

    #[test]
    fn fp32_is_tf32_before_it_is_fp16() {
        let fp16 = |x| tf32_word_to_fp16(fp32_to_tf32_word(x));
        assert_eq!((fp16(0x3f80_0fff), fp16(0x3f80_1000), fp16(0xbf80_1000)), (0x3c00, 0x3c01, 0xbc01));
        assert_eq!((fp16(0x7fff_ffff), fp16(0xff80_0001), fp16(0x4800_0000)), (0x7fff, 0xffff, 0x7fff));
        assert_eq!((fp16(0x8000_0000), fp16(0x807f_efff), fp16(0x8080_0000)), (0, 0, 0x8000));
        assert_eq!((bf16_to_fp16(0x3801), bf16_to_fp16(0xff80), bf16_to_fp16(0x8000)), (8, 0xffff, 0x8000));
    }

    /// Quantisation as the specification writes it, in numbers of any size.
    fn quantise_by_the_book(y: u32, shared: u32) -> u32 {
        let (sign, e, m) = (y >> 15, y >> 7 & 0xff, y & 0x7f);
        let m = u64::from(if e == 0 { m } else { 128 | m });
        let d = shared - e;
        let q = if d >= 8 { 0 } else { ((m + (1 << d)) >> (d + 1)).min(127) };
        if q == 0 { 0 } else { sign << 7 | q as u32 }
    }

    #[test]
    fn every_bf16_value_in_a_group_of_every_exponent() {
        for y in 0..=0xffffu32 {
            for shared in (y >> 7 & 0xff)..256 {
                assert_eq!(bf16_to_bfp8_b(y, shared), quantise_by_the_book(y, shared), "{y:#06x} {shared}");
            }
        }
    }

    #[test]
    fn narrow_block_floats_truncate() {
        assert_eq!(bfp8_to_bfp4(0x7f), 7);
        assert_eq!(bfp8_to_bfp4(0x8f), 0);
        assert_eq!(bfp8_to_bfp4(0x90), 9);
        assert_eq!((bfp8_to_bfp2(0xbf), bfp8_to_bfp2(0xc0)), (0, 3));
    }

    #[test]
    fn integers_saturate() {
        assert_eq!((int32_to_int8(0x8000_1000), int32_to_int8(5)), (0xff, 5));
        assert_eq!((int32_to_uint8(0x8000_0005), int32_to_uint8(300), int32_to_uint8(7)), (0, 255, 7));
    }
}
