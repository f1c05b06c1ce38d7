//! Operations into an empty 32-bit `Dst` by exact FP32 arithmetic.
//!
//! It is the host's, used where it is exact.
//!
//! Operands are FP32 words of 11 significant bits at most. A tile with others than ordinary numbers is left to the
//! integer steps of [`super::lanes`]. Tiles are read and written where they are, in registers or in L1: the moves between
//! would cost as much as the arithmetic.

use tt_cpu::{Level, simd_kernel};

use super::super::operand::{Datum, mask};
use super::super::{Dst, DstFormat, MathConfig, Src};
use crate::EltwiseOp;
use tt_tensix::regs::TILE_DATUMS;

/// A tile.
#[derive(Clone, Copy)]
pub enum Datums<'t> {
    /// Of bfloat16 in L1.
    Halves(&'t [u8]),
    /// Of FP32 in L1, of which the unpacker makes TF32.
    Singles(&'t [u8]),
    /// In a Src register.
    Words(&'t Src),
}

/// The second operand.
#[derive(Clone, Copy)]
pub enum Second<'t> {
    /// The first one once more, of a product.
    Same,
    /// A tile in a Src register.
    Words(&'t Src),
}

/// The destination of the results.
pub enum Results<'t> {
    /// They stay in `Dst`, or the packer leaves them as they are.
    Words(&'t mut Dst),
    /// The packer makes bfloat16 of them.
    Halves(&'t mut [u8]),
}

const SIGN: u32 = 1 << 31;
pub(super) const EXPONENT: u32 = 255 << 23;
/// From the exponent of a number in place to 1.5 * 2^13 of its power of two. The last bit of sums with that is 1 / 1024
/// of the power: the grid that ELWADD puts its operands on.
const GRID: u32 = 13 << 23 | 1 << 22;
/// Exponents from here on are left to the FPU, so that no sum with the grid, and no infinity, has to be thought
/// of.
pub(super) const HUGE: u32 = 240 << 23;

/// [`super::eltwise`] without broadcast and accumulation.
///
/// False if datums are too large or too small for host arithmetic to be exact, for another `Dst`, and for what has no
/// steps here: results that are packed from a register, and products of one or two phases from L1. The results are then
/// meaningless.
///
/// # Panics
/// If what is in L1 is not a tile.
pub fn eltwise(
    level: Level,
    cfg: &MathConfig,
    op: EltwiseOp,
    results: Results<'_>,
    a: Datums<'_>,
    b: Second<'_>,
) -> bool {
    if cfg.dst != DstFormat::Fp32 || cfg.alu.has_5_bit_exponent() || cfg.is_integer() {
        return false;
    }
    let steps = match op {
        EltwiseOp::Add => Steps::Sum(0),
        EltwiseOp::Sub => Steps::Sum(SIGN),
        EltwiseOp::Mul => Steps::Product(cfg.fidelity.phases()),
    };
    kernel::run(level, (steps, mask(cfg.alu).fp32()), results, a, b)
}

/// What is computed: a sum, with the sign of the second operand flipped; or a product of so many phases.
#[derive(Clone, Copy)]
enum Steps {
    Sum(u32),
    Product(u32),
}

type Job = (Steps, u32);

simd_kernel!(kernel, super::of_all, (job: Job, results: Results<'_>, a: Datums<'_>, b: Second<'_>) -> bool);

#[inline(always)]
fn of_all(job: Job, results: Results<'_>, a: Datums<'_>, b: Second<'_>) -> bool {
    match (results, a, b) {
        (Results::Words(words), Datums::Words(a), Second::Words(b)) => match job {
            (Steps::Product(1), mask) => products::<1, u32, u32, u32>(mask, words, a, b),
            (Steps::Product(2), mask) => products::<2, u32, u32, u32>(mask, words, a, b),
            _ => of_words(job, words, a, b),
        },
        (_, Datums::Words(_), _) => false,
        (Results::Words(words), Datums::Halves(a), b) => of_page(job, words, datums::<2>(a), b),
        (Results::Words(words), Datums::Singles(a), b) => of_page(job, words, datums::<4>(a), b),
        (Results::Halves(page), Datums::Halves(a), b) => of_page(job, halves(page), datums::<2>(a), b),
        (Results::Halves(page), Datums::Singles(a), b) => of_page(job, halves(page), datums::<4>(a), b),
    }
}

#[inline(always)]
fn of_page<R: Packed, A: Datum>(job: Job, results: &mut [R; TILE_DATUMS], a: &[A; TILE_DATUMS], b: Second<'_>) -> bool {
    match (job, b) {
        (_, Second::Words(b)) => of_words(job, results, a, b),
        ((Steps::Product(3), mask), Second::Same) => products::<3, R, A, A>(mask, results, a, a),
        ((Steps::Product(4), mask), Second::Same) => products::<4, R, A, A>(mask, results, a, a),
        _ => false,
    }
}

#[inline(always)]
fn of_words<R: Packed, A: Datum>(
    (steps, mask): Job,
    results: &mut [R; TILE_DATUMS],
    a: &[A; TILE_DATUMS],
    b: &Src,
) -> bool {
    match steps {
        Steps::Sum(flip) => sums(flip, mask, results, a, b),
        Steps::Product(3) => products::<3, R, A, u32>(mask, results, a, b),
        Steps::Product(4) => products::<4, R, A, u32>(mask, results, a, b),
        Steps::Product(_) => false,
    }
}

#[inline(always)]
fn datums<const BYTES: usize>(page: &[u8]) -> &[[u8; BYTES]; TILE_DATUMS] {
    page.as_chunks().0.try_into().expect("a tile")
}

#[inline(always)]
fn halves(page: &mut [u8]) -> &mut [[u8; 2]; TILE_DATUMS] {
    page.as_chunks_mut().0.try_into().expect("a tile")
}

/// A datum after the packer.
trait Packed {
    /// From a word of `Dst` that is no infinity and no denormal.
    fn pack(word: u32) -> Self;
}

impl Packed for u32 {
    #[inline(always)]
    fn pack(word: u32) -> Self {
        word
    }
}

impl Packed for [u8; 2] {
    #[inline(always)]
    fn pack(word: u32) -> Self {
        // To the nearest, ties away from zero; a carry bumps the exponent.
        ((word.wrapping_add(1 << 15) >> 16) as u16).to_le_bytes()
    }
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
fn sums<R: Packed, A: Datum>(
    flip: u32,
    mask: u32,
    results: &mut [R; TILE_DATUMS],
    a: &[A; TILE_DATUMS],
    b: &Src,
) -> bool {
    let mut most = 0;
    for ((result, a), b) in results.iter_mut().zip(a).zip(b) {
        let total = total(a.fp32() & mask, b.fp32() ^ flip, &mut most);
        // Below the smallest exponent it becomes zero.
        *result = R::pack(if total & EXPONENT == 0 { 0 } else { total });
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

    /// Whether products of all phases are exact and so are their sums: neither the largest ones leave the exponents, nor
    /// when they are rounded, nor the smallest ones of the last phase, which is worth 12 exponents less than the first.
    #[inline(always)]
    fn has_exact_products(self, other: Self) -> bool {
        let [a, b] = [self, other].map(|range| [range.most >> 23, (range.least >> 23) + 1]);
        a[0] < 255 && b[0] < 255 && a[0] + b[0] < 127 + 253 && a[1] + b[1] > 127 + 12
    }
}

/// The parts that each phase takes have few enough bits that products are exact, and the sum of two of them that the
/// third phase makes is as well.
#[inline(always)]
fn product<const PHASES: u32>(a: u32, b: u32) -> u32 {
    // Not an array that is mapped, which the compiler may leave as a call for every datum.
    let (first, both) = (f32::from_bits(a & !63.fp32()), f32::from_bits(a & !1.fp32()));
    let (upper, whole) = (f32::from_bits(b & !15.fp32()), f32::from_bits(b));
    let product = match PHASES {
        1 => first * upper,
        2 => both * upper,
        3 => both * upper + first * (whole - upper),
        _ => both * whole,
    };
    if a & EXPONENT == 0 || b & EXPONENT == 0 { 0 } else { product.to_bits() }
}

#[inline(always)]
fn products<const PHASES: u32, R: Packed, A: Datum, B: Datum>(
    mask: u32,
    results: &mut [R; TILE_DATUMS],
    a: &[A; TILE_DATUMS],
    b: &[B; TILE_DATUMS],
) -> bool {
    let (mut exponents_a, mut exponents_b) = (Exponents::NONE, Exponents::NONE);
    for ((result, a), b) in results.iter_mut().zip(a).zip(b) {
        let (a, b) = (a.fp32() & mask, b.fp32());
        exponents_a.take(a);
        exponents_b.take(b);
        *result = R::pack(product::<PHASES>(a, b));
    }
    exponents_a.has_exact_products(exponents_b)
}
