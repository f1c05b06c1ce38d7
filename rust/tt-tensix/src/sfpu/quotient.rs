//! `div_binary` where nothing leaves the range of normal numbers: of BF16 datums in lanes of 16 bits from L1 bytes, and
//! of words of a 32-bit `Dst`.
//!
//! # BF16
//!
//! The kernel multiplies by a reciprocal of 23 good bits and rounds the product to BF16. Where nothing leaves the range
//! of normal numbers, that is the exact quotient rounded to nearest, and so is what FP32's division gives when it is
//! rounded: of two significands of 8 bits, a quotient is never halfway between two numbers of 8 bits, nor nearer to it
//! than 2^-17 of itself. Halfway is an odd number `h` of 9 bits, times a power of two. Were `a / b = h / 2^j`, the odd
//! `h`, above 256, would divide `a`, below 256. So `a * 2^j - h * b` is a whole number other than 0, and `a / b` is at
//! least `1 / (b * 2^j)` away from halfway; `b` is below 2^8, and `j` at most 8 for quotients from one to two, or 9 for
//! those from a half on.
//!
//! # FP32
//!
//! The steps of the definition, each with the host instructions that the multiply-add comes to for these operands;
//! `guess/mod.rs` says what it does. With mantissas `a` and `b` from one to two, whose signs are put on at the end:
//! - The seed's inner term, 1.4545 - 0.3232 b, is from 0.8 to 1.14: one place below its addend or none, which is the
//!   host's rounding.
//! - The seed, 2.1212 less the product, falls from 0.990 to 0.505: two places below the addend, so that what lies
//!   between two results becomes the even one.
//! - `1 - b * seed` is below 0.0102, and jammed on the grid of 1.
//! - The inverse is the seed and up to 0.0102 of it: the host's rounding. It is below one: 1 / b less the square of the
//!   error before, which is 0.0001 at one and nearly nothing only far from it.
//! - The guess `a * inverse` is a product, and below two. So the product of it and `b` has an exponent of 0 at most,
//!   which is that of `a`; and `a` less that product is below 0.0003, jammed on the grid of 1.
//! - The quotient is the guess and up to 0.0003: the host's rounding.
//!
//! The difference of the exponents is then added to the quotient's own.

use tt_cpu::{Level, simd_kernel};

use super::SeveralCall;
use super::binary::{div_16, div_32};
use super::lanes::each_lane;
use super::run_binary::{BinaryFunction, BinaryKernel, Several};
use crate::regs::{HalfTile, TILE_DATUMS};
use crate::unpack::Bf16Page;

const SIGN: u16 = 1 << 15;
const INFINITY: u16 = 255 << 7;
/// What 0 / 0 is.
const NAN: u16 = 0x7fc0;
const LARGEST_DIVIDEND: u16 = 254;
/// The largest exponent field of a divisor with a reciprocal that is a normal number.
const LARGEST_DIVISOR: i32 = 252;
/// Differences of exponents that leave quotients in the range of normal numbers, also half of them.
const DIFFERENCES: std::ops::RangeInclusive<i32> = -125..=126;

/// Whether [`run`] computes what the call does.
pub fn computes(call: &SeveralCall<BinaryKernel>) -> bool {
    call.name() == "div_binary"
}

/// `dst = a / b` of two pages as they come into a 16-bit `Dst`. False if an operand, or the quotient of numbers that
/// are not zero, may not be a normal number or a zero; `dst` is then meaningless.
#[must_use]
pub fn run(level: Level, dst: &mut HalfTile, a: &Bf16Page, b: &Bf16Page) -> bool {
    quotients::run(level, dst, a, b)
}

simd_kernel!(quotients, super::body, (dst: &mut HalfTile, a: &Bf16Page, b: &Bf16Page) -> bool);

#[inline(always)]
fn body(dst: &mut HalfTile, a: &Bf16Page, b: &Bf16Page) -> bool {
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

/// `div_binary`, as `binary_functions!` lists functions, with the shorter way in front.
pub(super) static BINARY: &[BinaryFunction] = &[Several {
    name: "div_binary",
    variant: "default",
    parameters: &[],
    bits16: |dst, second, parameters, level| {
        each_lane!(guessed, level, dst, [second: second], parameters, [], div_16);
    },
    bits32: |dst, second, parameters, level| {
        for (dst, second) in dst.chunks_mut(TILE_DATUMS).zip(second.chunks(TILE_DATUMS)) {
            if !words(level, dst, second) {
                each_lane!(guessed, level, dst, [second: second], parameters, [], div_32);
            }
        }
    },
}];

/// Divides words of a 32-bit `Dst`. False, and nothing is done, if the level has no way to, or an operand or the
/// quotient of numbers that are not zero may not be a normal number or a zero, or a divisor is zero.
fn words(level: Level, dst: &mut [u32], second: &[u32]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if level.available() == Level::Avx512 && dst.len() == TILE_DATUMS && wide::is_usual(dst, second) {
        // SAFETY: an available level is one that the host has.
        unsafe { wide::divide(dst, second) };
        return true;
    }
    let _ = (level, dst, second);
    false
}

#[cfg(target_arch = "x86_64")]
mod wide {
    //! Quotients of usual words.

    use tt_cpu::{Level, simd_kernel};

    use super::DIFFERENCES;
    use crate::sfpu::guess::whole::{self, BESIDE};
    use crate::vector::Vector;
    use crate::vector::avx512::Avx512 as A;

    type Int = <A as Vector>::Int;

    const SIGN: i32 = i32::MIN;
    const EXPONENT: i32 = 255 << 23;
    const MANTISSA: i32 = (1 << 23) - 1;
    const ONE: i32 = 127 << 23;

    #[target_feature(enable = "avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
    pub fn divide(dst: &mut [u32], second: &[u32]) {
        for at in (0..dst.len()).step_by(A::LANES) {
            let (a, b) = (A::load(&dst[at..]), A::load(&second[at..]));
            A::store(quotient(a, b), &mut dst[at..]);
        }
    }

    #[inline(always)]
    fn quotient(a: Int, b: Int) -> Int {
        let mantissa = A::splat(MANTISSA);
        let over = A::from_bits(A::or(A::and(a, mantissa), A::splat(ONE)));
        let negated = A::from_bits(A::or(A::and(b, mantissa), A::splat(SIGN | ONE)));
        let inverse = whole::inverse(negated, 1);
        let guess = A::mul_float(over, inverse);
        let (down, up) = (A::fma_down(guess, negated, over), A::fma_up(guess, negated, over));
        let beside = A::splat_float(BESIDE);
        let rest = whole::without_beside(A::add_down(down, beside), A::add_up(up, beside));
        let quotient = A::to_bits(A::fma(rest, inverse, guess));
        let exponents = A::sub(A::and(a, A::splat(EXPONENT)), A::and(b, A::splat(EXPONENT)));
        let signed = A::or(A::add(quotient, exponents), A::and(A::xor(a, b), A::splat(SIGN)));
        A::keep(A::any_bit(a, A::splat(!SIGN)), signed)
    }

    /// What a tile's magnitudes are, as words.
    struct Magnitudes {
        least: u32,
        /// Of those that are not zero.
        least_number: u32,
        most: u32,
    }

    simd_kernel!(magnitudes, super::magnitudes_body, (words: &[u32]) -> Magnitudes);

    #[inline(always)]
    fn magnitudes_body(words: &[u32]) -> Magnitudes {
        // Zeros wrap to the top of one comparison.
        let (mut least, mut before_number, mut most) = (u32::MAX, u32::MAX, 0);
        for word in words {
            let magnitude = *word & 0x7fff_ffff;
            least = magnitude.min(least);
            before_number = magnitude.wrapping_sub(1).min(before_number);
            most = magnitude.max(most);
        }
        Magnitudes { least, least_number: before_number.wrapping_add(1), most }
    }

    /// Whether dividends are zeros or normal numbers, divisors normal numbers, and so the quotients of numbers.
    pub fn is_usual(dividends: &[u32], divisors: &[u32]) -> bool {
        let normal = 1 << 23..255 << 23;
        let exponent = |word: u32| (word >> 23) as i32;
        let (a, b) = (magnitudes::run(Level::Avx512, dividends), magnitudes::run(Level::Avx512, divisors));
        if !normal.contains(&b.least) || !normal.contains(&b.most) {
            return false;
        }
        let differences = [exponent(a.most) - exponent(b.least), exponent(a.least_number) - exponent(b.most)];
        let numbers = normal.contains(&a.least_number) && normal.contains(&a.most);
        a.most == 0 || numbers && differences.iter().all(|difference| DIFFERENCES.contains(difference))
    }
}
