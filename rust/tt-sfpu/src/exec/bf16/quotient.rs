//! `div_binary` of BF16 in 16-bit lanes from L1 bytes.
//!
//! Where nothing leaves the range of normal numbers.
//!
//! The kernel multiplies by a reciprocal of 23 good bits and rounds the product to BF16. Where nothing leaves the range
//! of normal numbers, that is the exact quotient rounded to nearest, and so is what FP32's division gives when it is
//! rounded: of two significands of 8 bits, a quotient is never halfway between two numbers of 8 bits, nor nearer to it
//! than 2^-17 of itself. Halfway is an odd number `h` of 9 bits, times a power of two. Were `a / b = h / 2^j`, the odd
//! `h`, above 256, would divide `a`, below 256. So `a * 2^j - h * b` is a whole number other than 0, and `a / b` is at
//! least `1 / (b * 2^j)` away from halfway; `b` is below 2^8, and `j` at most 8 for quotients from one to two, or 9 for
//! those from a half on.

use tt_cpu::simd_kernel;

use super::Fallbacks;
use tt_tensix::regs::Bf16Page;
use tt_tensix::regs::HalfTile;

const SIGN: u16 = 1 << 15;
const INFINITY: u16 = 255 << 7;
/// What 0 / 0 is.
const NAN: u16 = 0x7fc0;
const LARGEST_DIVIDEND: u16 = 254;
/// The largest exponent field of a divisor with a reciprocal that is a normal number.
const LARGEST_DIVISOR: i32 = 252;
/// Differences of exponents that leave quotients in the range of normal numbers, also half of them.
pub(crate) const DIFFERENCES: std::ops::RangeInclusive<i32> = -125..=126;

simd_kernel!(quotient, super::body, (dst: &mut HalfTile, pages: [&Bf16Page; 2], parameters: &[u32], fallbacks: &mut Fallbacks) -> bool);

/// False if an operand, or the quotient of numbers that are not zero, may not be a normal number or a zero; `dst` is
/// then meaningless.
#[inline(always)]
fn body(dst: &mut HalfTile, [a, b]: [&Bf16Page; 2], _: &[u32], _: &mut Fallbacks) -> bool {
    let ((least_a, most_a), (least_b, most_b)) = (reach(a), reach(b));
    if most_a > LARGEST_DIVIDEND || i32::from(most_b) > LARGEST_DIVISOR {
        return false;
    }
    let difference = |a: u16, b: u16| i32::from(a) - i32::from(b);
    let is_usual = |difference| DIFFERENCES.contains(&difference);
    // With zeros only on one side there are no such quotients.
    if most_a > 0 && most_b > 0 && !(is_usual(difference(most_a, least_b)) && is_usual(difference(least_a, most_b))) {
        return false;
    }
    for ((dst, a), b) in dst.iter_mut().zip(a.as_chunks::<2>().0).zip(b.as_chunks::<2>().0) {
        let (a, b) = (u16::from_le_bytes(*a), u16::from_le_bytes(*b));
        let quotient = f32::from_bits(u32::from(a) << 16) / f32::from_bits(u32::from(b) << 16);
        // There are no ties. Zeros, subnormals among them, are seen to below.
        let rounded = ((quotient.to_bits() + 0x8000) >> 16) as u16;
        let by_zero = if exponent(a) == 0 { NAN } else { a & SIGN | INFINITY };
        let usual = if exponent(a) == 0 { 0 } else { rounded };
        *dst = if exponent(b) == 0 { by_zero } else { usual };
    }
    true
}

#[inline(always)]
fn exponent(half: u16) -> u16 {
    half >> 7 & 255
}

/// The smallest exponent field that is not zero, and the largest.
#[inline(always)]
fn reach(page: &Bf16Page) -> (u16, u16) {
    // No fold: its closure would not be compiled for the level. Zeros wrap to the top of one comparison.
    let (mut least, mut most) = (u16::MAX, 0);
    for datum in page.as_chunks::<2>().0 {
        let exponent = exponent(u16::from_le_bytes(*datum));
        least = exponent.wrapping_sub(1).min(least);
        most = exponent.max(most);
    }
    (least.wrapping_add(1), most)
}
