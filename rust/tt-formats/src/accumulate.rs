//! The packer adding to what is in L1 already.
//!
//! Source: `docs/chip/numerics.md` section 10.5.

/// FP32: `l1 + y` as IEEE adds.
///
/// With denormals as signed zero on both sides and every NaN the same.
#[inline(always)]
pub fn fp32(l1: u32, y: u32) -> u32 {
    let sum = (f32::from_bits(flush_fp32(l1)) + f32::from_bits(flush_fp32(y))).to_bits();
    if sum & 0x7fff_ffff > 0x7f80_0000 { 0x7fc0_0000 } else { flush_fp32(sum) }
}

#[inline(always)]
const fn flush_fp32(x: u32) -> u32 {
    if x & 0x7f80_0000 == 0 { x & 0x8000_0000 } else { x }
}

/// A magnitude that no finite BF16 value can bring back into range.
const BEYOND_BF16: u64 = (1023 + 500) << 52;

/// A BF16 pattern as a double. Infinity stays infinity; patterns of NaN become `nan_pattern` or numbers of binade 255.
#[inline(always)]
fn bf16_to_double(x: u32, nan_is_beyond: bool) -> f64 {
    let (magnitude, sign) = (u64::from(x & 0x7fff), u64::from(x >> 15 & 1) << 63);
    let bits = if magnitude < 0x80 {
        0
    } else if magnitude == 0x7f80 {
        0x7ff0_0000_0000_0000
    } else if magnitude > 0x7f80 && nan_is_beyond {
        BEYOND_BF16
    } else {
        (magnitude << 45) + ((1023 - 127) << 52)
    };
    f64::from_bits(sign | bits)
}

/// BF16: `l1 + y`.
///
/// A double holds the sum rounded to 53 bits, which is the width that the adder keeps before it rounds to BF16.
#[inline(always)]
pub fn bf16(l1: u32, y: u32) -> u32 {
    let sum = (bf16_to_double(l1, true) + bf16_to_double(y, false)).to_bits();
    let magnitude = sum & 0x7fff_ffff_ffff_ffff;
    let sign = ((sum >> 63) as u32) << 15;
    // The exponent is moved to BF16's bias; everything that has none there is decided before rounding.
    let rebiased = magnitude.wrapping_sub((1023 - 127) << 52);
    let rounded = (rebiased.wrapping_add((1 << 44) - 1 + (rebiased >> 45 & 1)) >> 45) as u32;
    if magnitude > 0x7ff0_0000_0000_0000 {
        0x7fc0
    } else if magnitude < (1023 - 127 + 1) << 52 {
        sign
    } else if magnitude >= (1023 - 127 + 255) << 52 {
        sign | 0x7f80
    } else {
        sign | rounded
    }
}

/// FP16: `l1 + y` through FP32.
///
/// With the adder's own idea of what is too small.
#[inline(always)]
pub fn fp16(l1: u32, y: u32) -> u32 {
    let sum = (f32::from_bits(fp16_to_fp32(l1)) + f32::from_bits(fp16_to_fp32(y))).to_bits();
    let sign = (sum >> 31) << 15;
    let magnitude = sum & 0x7fff_ffff;
    let exponent = (magnitude >> 23) as i32 - 112;
    if magnitude == 0 {
        sign | if l1 >> 10 & 0x1f >= 30 { 0x7fff } else { 0 }
    } else if exponent < 0 {
        sign | 0x7fff
    } else if exponent == 0 {
        sign
    } else {
        let rebiased = magnitude - (112 << 23);
        sign | ((rebiased + 0xfff + (rebiased >> 13 & 1)) >> 13).min(0x7fff)
    }
}

/// FP16 as FP32 for the adder: denormals are signed zero, exponent 31 is an ordinary binade.
#[inline(always)]
const fn fp16_to_fp32(x: u32) -> u32 {
    let magnitude = x & 0x7fff;
    (x >> 15) << 31 | if magnitude < 0x400 { 0 } else { (magnitude + (112 << 10)) << 13 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinities_and_nan_patterns_in_bf16() {
        assert_eq!(bf16(0x7f80, 0xff80), 0x7fc0);
        assert_eq!(bf16(0x7f80, 0xc000), 0x7f80);
        assert_eq!(bf16(0xffc0, 0x4000), 0xff80, "a NaN in L1 is beyond any finite partner");
        assert_eq!(bf16(0x4000, 0x7fc0), 0x7f80, "a NaN pattern in the new datum is a number of binade 255");
        assert_eq!(bf16(0xff7f, 0x7fc0), 0x7f01, "which a large partner brings back into range");
        assert_eq!(bf16(0x7fc0, 0xff7f), 0x7f80, "but not from L1");
    }

    #[test]
    fn infinities_and_nans_in_fp32() {
        assert_eq!(fp32(0x7f80_0000, 0x3f80_0000), 0x7f80_0000);
        assert_eq!(fp32(0x7f80_0001, 0x3f80_0000), 0x7fc0_0000);
        assert_eq!(fp32(0x3f80_0000, 0xffff_ffff), 0x7fc0_0000);
    }

    #[test]
    fn the_smallest_normal_bf16_is_no_zero() {
        assert_eq!(bf16(0x0080, 0x0000), 0x0080);
        assert_eq!(bf16(0x007f, 0x0000), 0x0000);
    }

    #[test]
    fn zeros_keep_or_lose_their_sign() {
        assert_eq!(bf16(0x8000, 0x8000), 0x8000);
        assert_eq!(bf16(0x8000, 0x0000), 0x0000);
        assert_eq!(bf16(0x3f80, 0xbf80), 0x0000);
        assert_eq!(fp32(0x8000_0001, 0x8000_0000), 0x8000_0000);
        assert_eq!(fp32(0x7f80_0000, 0xff80_0000), 0x7fc0_0000);
    }

    #[test]
    fn bf16_rounds_to_even_and_carries_into_infinity() {
        assert_eq!(bf16(0x3f80, 0x3b80), 0x3f80, "1 + 2^-8 is a tie, even stays");
        assert_eq!(bf16(0x3f81, 0x3b80), 0x3f82, "odd goes up");
        assert_eq!(bf16(0x7f7f, 0x7b80), 0x7f80);
    }
}
