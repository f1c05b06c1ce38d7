//! Operations into an empty 32-bit `Dst` by the host's FP32 arithmetic, where that is exact.
//!
//! Operands are FP32 words of 11 significant bits at most. A tile with others than ordinary numbers is left to the
//! integer steps of [`super::lanes`].

use tt_cpu::{Level, simd_kernel};

use super::super::operand::{Datum, mask};
use super::super::{Dst, DstFormat, MathConfig, Src};
use crate::fpu::EltwiseOp;

/// The first operand.
#[derive(Clone, Copy)]
pub enum Datums<'t> {
    /// A tile of bfloat16 in L1.
    Halves(&'t [u8]),
    /// A tile in a Src register.
    Words(&'t Src),
}

const SIGN: u32 = 1 << 31;
pub(super) const EXPONENT: u32 = 255 << 23;
/// From the exponent of a number in place to 1.5 * 2^13 of its power of two. The last bit of sums with that is 1 / 1024
/// of the power: the grid that ELWADD puts its operands on.
const GRID: u32 = 13 << 23 | 1 << 22;
/// Exponents from here on are left to the FPU, so that no sum with the grid, and no infinity, has to be thought
/// of.
pub(super) const HUGE: u32 = 240 << 23;

/// [`super::eltwise`] without broadcast and accumulation. False if datums are too large or too small for host arithmetic
/// to be exact, or for another `Dst`; `dst` is then meaningless.
pub fn eltwise(level: Level, cfg: &MathConfig, op: EltwiseOp, dst: &mut Dst, a: Datums<'_>, b: &Src) -> bool {
    if cfg.dst != DstFormat::Fp32 || cfg.alu.has_5_bit_exponent() || cfg.is_integer() {
        return false;
    }
    let (phases, mask) = (cfg.fidelity.phases(), mask(cfg.alu).fp32());
    let flip = if op == EltwiseOp::Sub { SIGN } else { 0 };
    match (op, a) {
        (EltwiseOp::Mul, Datums::Halves(page)) => products_of_halves::run(level, phases, mask, dst, halves(page), b),
        (EltwiseOp::Mul, Datums::Words(words)) => products_of_words::run(level, phases, mask, dst, words, b),
        (_, Datums::Halves(page)) => sums_of_halves::run(level, flip, mask, dst, halves(page), b),
        (_, Datums::Words(words)) => sums_of_words::run(level, flip, mask, dst, words, b),
    }
}

fn halves(page: &[u8]) -> &[[u8; 2]] {
    page.as_chunks().0
}

/// A little more than the number of a word, or zero.
#[inline(always)]
fn number(word: u32) -> f32 {
    f32::from_bits(if word & EXPONENT == 0 { 0 } else { word | 1 })
}

/// The sum on the grid of the larger operand, normalised and not flushed; raises `most` to its exponent.
///
/// The first two additions round each operand to the grid, as the one that is not rounded keeps to it, and so do their
/// sums. That is rounding to even, but there are no ties: an operand has 11 bits, and one more far below makes it a
/// little larger than it is. Taking the grid away leaves the exact total.
#[inline(always)]
pub(super) fn total(a: u32, b: u32, most: &mut u32) -> u32 {
    let largest = (a & EXPONENT).max(b & EXPONENT);
    *most = largest.max(*most);
    let grid = f32::from_bits(largest.wrapping_add(GRID));
    (((grid + number(a)) + number(b)) - grid).to_bits()
}

#[inline(always)]
fn sums<T: Datum>(flip: u32, mask: u32, dst: &mut Dst, a: &[T], b: &Src) -> bool {
    let mut most = 0;
    for ((dst, a), b) in dst.iter_mut().zip(a).zip(b) {
        let total = total(a.fp32() & mask, b.fp32() ^ flip, &mut most);
        // Below the smallest exponent it becomes zero.
        *dst = if total & EXPONENT == 0 { 0 } else { total };
    }
    most < HUGE
}

/// The largest exponent of some words, in place, and the smallest of those that are not zero, less one.
#[derive(Clone, Copy)]
struct Exponents {
    most: u32,
    least: u32,
}

impl Exponents {
    const NONE: Self = Self { most: 0, least: 253 << 23 };

    #[inline(always)]
    fn take(&mut self, word: u32) {
        let exponent = word & EXPONENT;
        self.most = self.most.max(exponent);
        // Zeros wrap to the top.
        self.least = self.least.min(exponent.wrapping_sub(1 << 23));
    }

    /// Whether products of all phases are exact and so are their sums: neither the largest ones leave the exponents,
    /// nor the smallest ones of the last phase, which is worth 12 exponents less than the first.
    #[inline(always)]
    fn has_exact_products(self, other: Self) -> bool {
        let [a, b] = [self, other].map(|range| [range.most >> 23, (range.least >> 23) + 1]);
        a[0] < 255 && b[0] < 255 && a[0] + b[0] < 127 + 254 && a[1] + b[1] > 127 + 12
    }
}

/// The parts that each phase takes have few enough bits that products are exact, and the sum of two of them that the
/// third phase makes is as well.
#[inline(always)]
fn product<const PHASES: u32>(a: u32, b: u32) -> u32 {
    let (high, both, upper) = (a & !63.fp32(), a & !1.fp32(), b & !15.fp32());
    let [first, both, upper, whole] = [high, both, upper, b].map(f32::from_bits);
    let product = match PHASES {
        1 => first * upper,
        2 => both * upper,
        3 => both * upper + first * (whole - upper),
        _ => both * whole,
    };
    if a & EXPONENT == 0 || b & EXPONENT == 0 { 0 } else { product.to_bits() }
}

#[inline(always)]
fn products<const PHASES: u32, T: Datum>(mask: u32, dst: &mut Dst, a: &[T], b: &Src) -> bool {
    let (mut exponents_a, mut exponents_b) = (Exponents::NONE, Exponents::NONE);
    for ((dst, a), b) in dst.iter_mut().zip(a).zip(b) {
        let (a, b) = (a.fp32() & mask, b.fp32());
        exponents_a.take(a);
        exponents_b.take(b);
        *dst = product::<PHASES>(a, b);
    }
    exponents_a.has_exact_products(exponents_b)
}

#[inline(always)]
fn all_products<T: Datum>(phases: u32, mask: u32, dst: &mut Dst, a: &[T], b: &Src) -> bool {
    match phases {
        1 => products::<1, T>(mask, dst, a, b),
        2 => products::<2, T>(mask, dst, a, b),
        3 => products::<3, T>(mask, dst, a, b),
        _ => products::<4, T>(mask, dst, a, b),
    }
}

simd_kernel!(sums_of_halves, super::sums::<[u8; 2]>, (flip: u32, mask: u32, dst: &mut Dst, a: &[[u8; 2]], b: &Src) -> bool);
simd_kernel!(sums_of_words, super::sums::<u32>, (flip: u32, mask: u32, dst: &mut Dst, a: &[u32], b: &Src) -> bool);
simd_kernel!(products_of_halves, super::all_products::<[u8; 2]>, (phases: u32, mask: u32, dst: &mut Dst, a: &[[u8; 2]], b: &Src) -> bool);
simd_kernel!(products_of_words, super::all_products::<u32>, (phases: u32, mask: u32, dst: &mut Dst, a: &[u32], b: &Src) -> bool);

#[cfg(test)]
mod tests {
    use tt_formats::DataFormat;
    use tt_testkit::random::Random;

    use super::super::super::{Arch, MathFidelity};
    use super::super::{Broadcast, eltwise_scalar};
    use super::*;
    use crate::tile_io::ZERO;

    /// A Src word near one exponent, or of any.
    fn word(random: &mut Random, kind: u32, centre: u32) -> u32 {
        let any = random.below(1 << 19);
        let exponent = match kind {
            0 => random.below(256),
            1 => (centre + random.below(30)).min(255),
            2 => [0, centre][random.below(2) as usize],
            _ => centre + random.below(2),
        };
        any & !(255 << 10) & if random.below(4) == 0 { !0x3f0 } else { !0 } | exponent << 10
    }

    #[test]
    fn steps_have_the_bits_of_the_fpu() {
        let mut random = Random::new(22);
        let mut taken = [0; 3];
        for round in 0..1200_u32 {
            let halves = round % 2 == 0;
            let alu = if halves { DataFormat::Float16B } else { DataFormat::Tf32 };
            let fidelity = MathFidelity::from_phases(1 + round / 2 % 4).expect("a fidelity");
            let arch = if round % 3 == 0 { Arch::Blackhole } else { Arch::Wormhole };
            let math = MathConfig { fidelity, dst: DstFormat::Fp32, alu, arch };
            let kind = round / 8 % 4;
            let centres =
                [1, 2, 12, 40, 60, 64, 69, 70, 75, 120, 127, 180, 190, 191, 200, 224, 238, 239, 240, 252, 253];
            let mut centre = || centres[random.below(centres.len() as u32) as usize];
            let (centre_a, centre_b) = (centre(), centre());
            let (mut a, mut b) = (ZERO, ZERO);
            for (a, b) in a.iter_mut().zip(&mut b) {
                *a = word(&mut random, kind, centre_a) & if halves { 0x7_fff8 } else { 0x7_ffff };
                *b = word(&mut random, kind, if round % 5 < 2 { centre_a } else { centre_b });
            }
            let page: Vec<u8> = a.iter().flat_map(|word| ((word >> 3) as u16).to_le_bytes()).collect();
            let source = if halves { Datums::Halves(&page) } else { Datums::Words(&a) };
            for &level in Level::supported() {
                for (op, taken) in [EltwiseOp::Add, EltwiseOp::Sub, EltwiseOp::Mul].into_iter().zip(&mut taken) {
                    let (mut expected, mut dst) = (ZERO, [1; 1024]);
                    eltwise_scalar(&math, op, Broadcast::None, false, &mut expected, &a, &b);
                    let done = eltwise(level, &math, op, &mut dst, source, &b);
                    assert!(!done || dst == expected, "{op:?}, {alu:?}, {level:?}, round {round}");
                    *taken += u32::from(done);
                }
            }
        }
        assert!(taken.iter().all(|&taken| taken > 500), "{taken:?}");
    }
}
