//! `div_binary` of FP32 tiles in the normal range.
//!
//! The steps of the definition, each with the host instructions that the multiply-add comes to for these operands;
//! [`super::speculative`] says what it does. With mantissas `a` and `b` from one to two, whose signs are put on at the end:
//! - The seed's inner term, 1.4545 - 0.3232 b, is from 0.8 to 1.14: one place below its addend or none, which is the
//!   host's rounding.
//! - The seed, 2.1212 less the product, falls from 0.990 to 0.505: two places below the addend, so that what lies
//!   between two results becomes the even one.
//! - `1 - b * seed` is below 0.0102, and rounded to odd on the grid of 1.
//! - The inverse is the seed and up to 0.0102 of it: the host's rounding. It is below one: 1 / b less the square of the
//!   error before, which is 0.0001 at one and nearly nothing only far from it.
//! - The estimate `a * inverse` is a product, and below two. So the product of it and `b` has an exponent of 0 at most,
//!   which is that of `a`; and `a` less that product is below 0.0003, rounded to odd on the grid of 1.
//! - The quotient is the estimate and up to 0.0003: the host's rounding.
//!
//! The difference of the exponents is then added to the quotient's own.

use tt_cpu::Level;

use tt_tensix::regs::TILE_DATUMS;

/// Divides a tile. False, and nothing is done, if the level has no way to, an operand or the quotient of numbers that
/// are not zero may not be a normal number or a zero, or a divisor is zero.
pub(crate) fn divide_tile(dst: &mut [u32], [second]: [&[u32]; 1], level: Level) -> bool {
    #[cfg(target_arch = "x86_64")]
    if level.available() == Level::Avx512 && dst.len() == TILE_DATUMS && normal::are_normal(dst, second) {
        // SAFETY: an available level is one that the host has.
        unsafe { normal::divide(dst, second) };
        return true;
    }
    let _ = (level, dst, second, TILE_DATUMS);
    false
}

#[cfg(target_arch = "x86_64")]
mod normal {
    //! Quotients of normal numbers.

    use tt_cpu::{Level, simd_kernel};

    use crate::exec::bf16::quotient::DIFFERENCES;
    use crate::exec::speculative::lanes::fused::{self, BESIDE};
    use tt_cpu::vector::Vector;
    use tt_cpu::vector::avx512::Avx512 as A;

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
        let inverse = fused::inverse(negated, 1);
        let estimate = A::mul_float(over, inverse);
        let (down, up) = (A::fma_down(estimate, negated, over), A::fma_up(estimate, negated, over));
        let beside = A::splat_float(BESIDE);
        let rest = fused::without_beside(A::add_down(down, beside), A::add_up(up, beside));
        let quotient = A::to_bits(A::fma(rest, inverse, estimate));
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

    /// Returns true if quotients and operands are normal, or dividends zero.
    pub fn are_normal(dividends: &[u32], divisors: &[u32]) -> bool {
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
