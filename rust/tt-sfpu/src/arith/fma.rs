//! The SFPU's multiply-add, used by every addition and multiplication of its kernels.
//!
//! Not IEEE: denormals count as zero, the product is cut to 27 bits with a sticky bit before the addition, and an
//! operand that is shifted out completely leaves no trace. `docs/chip/numerics.md` section 13, `docs/chip/sfpu.md` section 2.

use tt_formats::{Arch, Blackhole, Generation, Wormhole, by_generation};

const INFINITY: u32 = 0x7f80_0000;

/// `x * y + z` on FP32 words.
#[inline(always)]
pub fn fma(x: u32, y: u32, z: u32, arch: Arch) -> u32 {
    by_generation!(arch, G => G::multiply_add(x, y, z))
}

/// The multiply-add of a generation.
pub trait MultiplyAdd: Generation {
    /// `x * y + z` on FP32 words.
    fn multiply_add(x: u32, y: u32, z: u32) -> u32;
}

impl MultiplyAdd for Wormhole {
    #[inline(always)]
    fn multiply_add(x: u32, y: u32, z: u32) -> u32 {
        wormhole(x, y, z)
    }
}

impl MultiplyAdd for Blackhole {
    #[inline(always)]
    fn multiply_add(x: u32, y: u32, z: u32) -> u32 {
        blackhole(x, y, z)
    }
}

/// The operands taken apart, with the product formed.
struct Parts {
    product_sign: u32,
    product_exponent: i32,
    /// 27 bits, 28 if the product of the significands is at least 2; the lowest is sticky.
    product: u32,
    addend_sign: u32,
    addend_exponent: i32,
    /// Significand with three guard bits.
    addend: u32,
}

#[inline(always)]
fn exponent(word: u32) -> i32 {
    (word >> 23 & 255) as i32
}

#[inline(always)]
fn significand(word: u32) -> u32 {
    if exponent(word) == 0 { 0 } else { 1 << 23 | word & 0x7f_ffff }
}

#[inline(always)]
fn is_nan(word: u32) -> bool {
    word & 0x7fff_ffff > INFINITY
}

#[inline(always)]
fn is_infinite(word: u32) -> bool {
    word & 0x7fff_ffff == INFINITY
}

impl Parts {
    #[inline(always)]
    fn new(x: u32, y: u32, z: u32) -> Self {
        let full = u64::from(significand(x)) * u64::from(significand(y));
        Self {
            product_sign: (x ^ y) >> 31,
            product_exponent: exponent(x) + exponent(y) - 127,
            product: (full >> 20) as u32 | u32::from(full & 0xf_ffff != 0),
            addend_sign: z >> 31,
            addend_exponent: exponent(z),
            addend: significand(z) << 3,
        }
    }

    /// Aligns both terms and adds them: sign, magnitude and exponent of the sum.
    #[inline(always)]
    fn sum(&self) -> (u32, u32, i32) {
        let exponent = self.product_exponent.max(self.addend_exponent);
        let product = semi_sticky(self.product, exponent - self.product_exponent);
        let addend = semi_sticky(self.addend, exponent - self.addend_exponent);
        let sign = if product >= addend { self.product_sign } else { self.addend_sign };
        let magnitude = if self.product_sign == self.addend_sign { product + addend } else { product.abs_diff(addend) };
        (sign, magnitude, exponent)
    }
}

/// Right shift that ORs lost bits into the lowest one, unless nothing is left at all.
#[inline(always)]
fn semi_sticky(value: u32, shift: i32) -> u32 {
    if shift > 31 {
        return 0;
    }
    let shifted = value >> shift;
    let lost = shifted << shift != value;
    if shifted == 0 { 0 } else { shifted | u32::from(lost) }
}

/// Packs exponent and a 27-bit significand, rounding the three guard bits to nearest even.
#[inline(always)]
fn round(exponent: i32, significand: u32) -> u32 {
    let word = ((exponent as u32) << 23).wrapping_add(significand >> 3 & 0x7f_ffff);
    word + u32::from((significand & 7) + (word & 1) > 4)
}

/// Wormhole's form, where a pending NaN continues.
///
/// It does not stop the arithmetic, whose mantissa bits leak into it.
#[inline(always)]
pub fn wormhole(x: u32, y: u32, z: u32) -> u32 {
    let mut parts = Parts::new(x, y, z);
    let mut nan = 0;
    let product_infinite = exponent(x) == 255 || exponent(y) == 255 || parts.product_exponent >= 255;
    if product_infinite || parts.addend_exponent == 255 {
        let x_nan = is_nan(x) || is_infinite(x) && significand(y) == 0;
        let y_nan = is_nan(y) || is_infinite(y) && significand(x) == 0;
        let opposite = is_infinite(z) && product_infinite && parts.addend_sign != parts.product_sign;
        if x_nan || y_nan || opposite {
            nan = parts.product_sign << 31 | INFINITY | 1;
        } else if is_nan(z) {
            nan = parts.addend_sign << 31 | INFINITY | 1;
        } else if is_infinite(z) {
            return z;
        } else {
            return parts.product_sign << 31 | INFINITY;
        }
        parts.product_exponent = parts.product_exponent.min(255);
    }
    if parts.product == 0 || parts.product_exponent < 0 {
        if nan == 0 {
            return if parts.addend == 0 { 0 } else { z };
        }
        parts.product = 0;
        parts.product_exponent = 0;
    }
    let (sign, magnitude, largest) = parts.sum();
    if magnitude == 0 {
        return nan;
    }
    let shift = 5 - magnitude.leading_zeros() as i32;
    let exponent = largest + shift;
    if exponent >= 255 {
        return if nan == 0 { sign << 31 | INFINITY } else { nan };
    }
    if exponent < 0 {
        return nan;
    }
    let normal = if shift > 0 { magnitude >> shift | magnitude & 1 } else { magnitude << -shift };
    let word = round(exponent, normal);
    if word < 1 << 23 {
        return nan;
    }
    if nan == 0 { sign << 31 | word } else { nan | word }
}

/// Blackhole's form: canonical NaNs, signed zeros.
#[inline(always)]
pub fn blackhole(x: u32, y: u32, z: u32) -> u32 {
    const NAN: u32 = 0x7fc0_0000;
    let parts = Parts::new(x, y, z);
    let operand_infinite = exponent(x) == 255 || exponent(y) == 255;
    if operand_infinite || parts.product_exponent >= 255 || parts.addend_exponent == 255 {
        let x_nan = is_nan(x) || is_infinite(x) && significand(y) == 0;
        let y_nan = is_nan(y) || is_infinite(y) && significand(x) == 0;
        let opposite = is_infinite(z) && operand_infinite && parts.addend_sign != parts.product_sign;
        return if x_nan || y_nan || opposite || is_nan(z) {
            NAN
        } else if is_infinite(z) {
            z
        } else {
            parts.product_sign << 31 | INFINITY
        };
    }
    let zero = (parts.addend_sign & parts.product_sign) << 31;
    if parts.product == 0 || parts.product_exponent < 0 {
        return if parts.addend == 0 { zero } else { z };
    }
    let (sign, magnitude, largest) = parts.sum();
    if magnitude == 0 {
        return zero;
    }
    let mut shift = 5 - magnitude.leading_zeros() as i32;
    let mut exponent = largest + shift;
    if exponent >= 255 {
        return sign << 31 | INFINITY;
    }
    if exponent <= 0 {
        shift += 1 - exponent;
        exponent = 0;
    }
    let normal = if shift > 31 {
        0
    } else if shift > 0 {
        magnitude >> shift | u32::from(magnitude & (shift as u32 | 1) != 0)
    } else {
        magnitude << -shift
    };
    let word = round(exponent, normal);
    if word < 1 << 23 { sign << 31 } else { sign << 31 | word }
}
