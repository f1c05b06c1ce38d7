//! Unpacker conversion of one datum. Source: `docs/chip/numerics.md` sections 1 to 3.
//!
//! Results for `SrcA` and `SrcB` are 19-bit words `S(1) E(8) M(10)`, called src19. FP16 keeps its five exponent bits in
//! the low bits of `E`.

use crate::arch::{Blackhole, Generation, Wormhole};

/// Sign bit of a src19 word.
pub const SRC_SIGN: u32 = 1 << 18;

/// BF16 to src19: all bits kept.
#[inline(always)]
pub const fn bf16_to_src(x: u32) -> u32 {
    x << 3
}

/// FP16 to src19: all bits kept.
#[inline(always)]
pub const fn fp16_to_src(x: u32) -> u32 {
    (x >> 15) << 18 | x & 0x7fff
}

/// The conversions of a generation.
///
/// The given ones are those of generations without a rule of their own.
pub trait Unpacks: Generation {
    /// Whether it reads FP8 e4m3, with [`fp8_e4m3_to_fp16`].
    const FP8_E4M3: bool = false;

    /// FP8 e5m2 to FP16.
    #[inline(always)]
    fn lf8_to_fp16(x: u32) -> u32 {
        x << 8
    }
}

impl Unpacks for Wormhole {}

impl Unpacks for Blackhole {
    const FP8_E4M3: bool = true;

    /// The code of all ones becomes the largest magnitude.
    #[inline(always)]
    fn lf8_to_fp16(x: u32) -> u32 {
        x << 8 | if x & 0x7f == 0x7f { 0xff } else { 0 }
    }
}

/// FP8 e4m3 to FP16, exact.
///
/// The code of all ones fills the mantissa.
///
/// Denormals keep their mantissa under an exponent of 0, which is zero in arithmetic.
#[inline(always)]
pub const fn fp8_e4m3_to_fp16(x: u32) -> u32 {
    let magnitude = x & 0x7f;
    let rebiased = if magnitude < 8 { magnitude } else { magnitude + (8 << 3) };
    (x >> 7) << 15 | rebiased << 7 | if magnitude == 0x7f { 0x7f } else { 0 }
}

/// FP32 to src19 as TF32: truncation. A NaN may become infinity.
#[inline(always)]
pub const fn fp32_to_src_tf32(x: u32) -> u32 {
    x >> 13
}

/// FP32 to src19 as BF16: truncation, denormals become signed zero.
#[inline(always)]
pub const fn fp32_to_src_bf16(x: u32) -> u32 {
    let magnitude = if x & 0x7f80_0000 == 0 { 0 } else { x >> 13 & 0x3_fff8 };
    (x >> 31) << 18 | magnitude
}

/// FP32 to src19 as FP16: truncation.
///
/// Too small becomes signed zero, too large the largest magnitude.
#[inline(always)]
pub const fn fp32_to_src_fp16(x: u32) -> u32 {
    fp16_to_src(fp32_to_fp16(x))
}

/// FP32 to FP16 bits by truncation, saturating.
///
/// The packer's late conversion is the same function.
#[inline(always)]
pub const fn fp32_to_fp16(x: u32) -> u32 {
    let exponent = (x >> 23 & 0xff) as i32 - 112;
    let magnitude = if exponent < 0 {
        0
    } else if exponent > 31 {
        0x7fff
    } else {
        (x >> 13 & 0x3_ffff).wrapping_sub(112 << 10) & 0x7fff
    };
    (x >> 31) << 15 | magnitude
}

/// INT8 (sign and magnitude) to src19: exponent 16 unless zero.
#[inline(always)]
pub const fn int8_to_src(x: u32) -> u32 {
    let magnitude = x & 0x7f;
    (x >> 7) << 18 | if magnitude == 0 { 0 } else { 16 << 10 | magnitude }
}

/// UINT8 to src19: exponent 16 unless zero.
#[inline(always)]
pub const fn uint8_to_src(x: u32) -> u32 {
    if x == 0 { 0 } else { 16 << 10 | x }
}

/// UINT16 to src19: the bits travel unread.
#[inline(always)]
pub const fn uint16_to_src(x: u32) -> u32 {
    (x >> 15) << 18 | (x & 0xff) << 10 | (x >> 8 & 0x7f) << 3
}

/// One datum of `BFP8_b` with its shared exponent, as BF16.
///
/// Sign in bit 7, magnitude below.
///
/// "Negative zero" is minus infinity, and the exponent wraps modulo 256, as on silicon.
#[inline(always)]
pub const fn bfp8_b_to_bf16(datum: u32, exponent: u32) -> u32 {
    let magnitude = datum & 0x7f;
    // Converting the small integer to a float finds its leading bit: 127 + 6 is the exponent of a full magnitude.
    let normal = (magnitude as f32).to_bits() >> 16;
    let finite = normal.wrapping_add(exponent << 7).wrapping_sub(133 << 7) & 0x7fff;
    let sign = (datum & 0x80) << 8;
    if magnitude == 0 { if sign == 0 { 0 } else { 0xff80 } } else { sign | finite }
}

/// One datum of BFP8 (5-bit shared exponent) as FP16.
///
/// The exponent wraps modulo 32; hardware leaves that case undefined.
#[inline(always)]
pub const fn bfp8_to_fp16(datum: u32, exponent: u32) -> u32 {
    let magnitude = datum & 0x7f;
    let normal = (magnitude as f32).to_bits() >> 13;
    let finite = normal.wrapping_add(exponent << 10).wrapping_sub(133 << 10) & 0x7fff;
    let sign = (datum & 0x80) << 8;
    if magnitude == 0 { if sign == 0 { 0 } else { 0xfc00 } } else { sign | finite }
}

/// FP16 at the bit positions that Dst has here.
///
/// Sign in bit 31, exponent at 27:23, mantissa at 22:13.
#[inline(always)]
pub const fn fp16_to_dst(x: u32) -> u32 {
    (x >> 15) << 31 | (x & 0x7fff) << 13
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The decoding loop as the specification writes it.
    fn bfp8_b_by_the_book(datum: u32, exponent: u32) -> u32 {
        let (sign, m7) = (datum >> 7, datum & 0x7f);
        if m7 == 0 {
            return if sign == 1 { 0xff80 } else { 0 };
        }
        let z = m7.leading_zeros() - 25;
        sign << 15 | (exponent.wrapping_sub(z) & 0xff) << 7 | ((m7 << z) & 0x3f) << 1
    }

    #[test]
    fn every_block_float_datum_with_every_exponent() {
        for exponent in 0..256 {
            for datum in 0..256 {
                assert_eq!(bfp8_b_to_bf16(datum, exponent), bfp8_b_by_the_book(datum, exponent));
            }
        }
    }

    #[test]
    fn five_bit_block_floats_are_the_eight_bit_ones_rebiased() {
        for exponent in 8..32 {
            for datum in (1..128).chain(129..256) {
                let wide = bfp8_b_to_bf16(datum, exponent + 112);
                let narrow = bfp8_to_fp16(datum, exponent);
                assert_eq!(narrow & 0x8000, wide & 0x8000);
                assert_eq!(narrow & 0x7fff, ((wide & 0x7fff) << 3) - (112 << 10));
            }
        }
        assert_eq!((bfp8_to_fp16(0, 20), bfp8_to_fp16(128, 20)), (0, 0xfc00));
    }

    #[test]
    fn every_fp8_e4m3_code() {
        for x in 0..256u32 {
            let (s, e, m) = (x >> 7, x >> 3 & 15, x & 7);
            let ones = if e == 15 && m == 7 { 0x7f } else { 0 };
            assert_eq!(fp8_e4m3_to_fp16(x), s << 15 | (if e == 0 { 0 } else { e + 8 }) << 10 | m << 7 | ones, "{x:#x}");
        }
    }

    #[test]
    fn the_largest_fp8_e5m2_code_depends_on_the_generation() {
        for x in 0..256 {
            assert_eq!(Wormhole::lf8_to_fp16(x), x << 8);
            let low = if x == 0x7f || x == 0xff { 0xff } else { 0 };
            assert_eq!(Blackhole::lf8_to_fp16(x), x << 8 | low);
        }
    }

    #[test]
    fn fp32_saturates_and_truncates_into_fp16() {
        assert_eq!(fp32_to_fp16(1.0f32.to_bits()), 0x3c00);
        assert_eq!(fp32_to_fp16((-2.5f32).to_bits()), 0xc100);
        assert_eq!(fp32_to_fp16(1e30f32.to_bits()), 0x7fff);
        assert_eq!(fp32_to_fp16((-1e-30f32).to_bits()), 0x8000);
        assert_eq!(fp32_to_fp16(f32::from_bits(112 << 23 | 0x0060_0000).to_bits()), 0x300);
    }
}
