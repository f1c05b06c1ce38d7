//! Element-wise operations on BF16 in 16-bit `Dst` and lanes.
//!
//! Twice as many lanes as in [`super::lanes`], and bytes in L1 need not be widened to words and back.
//!
//! All steps of the definition fit. In units of 1 / 1024, significands and their products have 12 bits, totals have 13,
//! and none has bits below a unit but while it is aligned.
//!
//! Sums of numbers that are not huge are made by the host's additions, which align and normalise in one step each.

use tt_cpu::{Level, simd_kernel};
use tt_formats::DataFormat;

use super::exact::{EXPONENT, HUGE, total};
use crate::EltwiseOp;
use crate::MathConfig;
use crate::operand::Phase;
use tt_cpu::vector::has_registers;
use tt_tensix::regs::{DstFormat, HalfTile};
use tt_tensix::unpack::{Bf16Page, BlockFloatDecoder};

/// The exponent field of infinity, and the pattern.
const LARGEST: i16 = 255;
const INFINITY: u16 = 255 << 7;
const SIGN: u16 = 1 << 15;
/// The bits of a mantissa that the odd phases take from `SrcA`, and the last two from `SrcB`.
const LOW_A: u16 = 7;
const LOW_B: u16 = 1;
/// Leading zeros of a total of one, 1024 units.
const ZEROS_OF_ONE: i16 = 5;

/// Conversion of tiles in L1 to BF16 pages.
#[derive(Clone, Copy)]
pub enum Reader {
    /// They are.
    Bf16,
    /// By a decoder.
    Blocks(BlockFloatDecoder),
}

impl Reader {
    /// The reader of a format, `None` if not BF16 in `Src`.
    pub fn new(format: DataFormat, level: Level) -> Option<Self> {
        match format {
            DataFormat::Float16B => Some(Self::Bf16),
            _ => BlockFloatDecoder::new(format, level).map(Self::Blocks),
        }
    }

    /// The page of a tile, in `page` if need be.
    ///
    /// # Panics
    /// If `l1` is not a tile.
    #[inline]
    pub fn read<'t>(self, l1: &'t [u8], page: &'t mut Bf16Page) -> &'t Bf16Page {
        match self {
            Self::Bf16 => l1.try_into().expect("a tile"),
            Self::Blocks(decoder) => {
                decoder.decode_any(l1, page);
                page
            }
        }
    }
}

/// Returns true if [`run`] supports this configuration at this CPU level.
pub fn supports(level: Level, cfg: &MathConfig) -> bool {
    cfg.dst == DstFormat::Bf16 && cfg.mode().e8 && !cfg.is_integer() && has_registers(level)
}

/// Same as [`super::eltwise_at`] without broadcast and accumulation, for BF16 pages.
///
/// False if products go far beyond the largest number; `dst` is then meaningless. The packer leaves these datums as
/// they are in BF16.
///
/// # Panics
/// If the configuration is not one that [`supports`] admits.
#[must_use]
pub fn run(level: Level, cfg: &MathConfig, op: EltwiseOp, dst: &mut HalfTile, a: &Bf16Page, b: &Bf16Page) -> bool {
    assert!(supports(level, cfg), "16-bit lanes for {cfg:?}");
    match op {
        EltwiseOp::Add => sum_pages(level, 0, dst, a, b),
        EltwiseOp::Sub => sum_pages(level, SIGN, dst, a, b),
        EltwiseOp::Mul => return products::run(level, cfg, dst, a, b),
    }
    true
}

fn sum_pages(level: Level, flip: u16, dst: &mut HalfTile, a: &Bf16Page, b: &Bf16Page) {
    if !host_sums::run(level, flip, dst, a, b) {
        sums::run(level, flip, dst, a, b);
    }
}

simd_kernel!(host_sums, super::host_sums_body, (flip: u16, dst: &mut HalfTile, a: &Bf16Page, b: &Bf16Page) -> bool);
simd_kernel!(sums, super::sums_body, (flip: u16, dst: &mut HalfTile, a: &Bf16Page, b: &Bf16Page));
simd_kernel!(products, super::products_body, (cfg: &MathConfig, dst: &mut HalfTile, a: &Bf16Page, b: &Bf16Page) -> bool);

/// The datums of a page, little endian.
#[inline(always)]
fn datums(page: &Bf16Page) -> &[[u8; 2]] {
    page.as_chunks::<2>().0
}

#[inline(always)]
fn exponent(word: u16) -> i16 {
    (word >> 7 & 255) as i16
}

#[inline(always)]
fn sums_body(flip: u16, dst: &mut HalfTile, a: &Bf16Page, b: &Bf16Page) {
    for ((dst, a), b) in dst.iter_mut().zip(datums(a)).zip(datums(b)) {
        *dst = sum(u16::from_le_bytes(*a), u16::from_le_bytes(*b) ^ flip);
    }
}

/// The bits of an FP32 word that hold a BF16 number.
const UPPER: u32 = 0xffff_0000;

/// Two datums of each operand at a time, in words of 32 bits. False if a datum is huge; `dst` is then meaningless.
#[inline(always)]
fn host_sums_body(flip: u16, dst: &mut HalfTile, a: &Bf16Page, b: &Bf16Page) -> bool {
    let flips = u32::from(flip) << 16 | u32::from(flip);
    let mut most = 0;
    let pairs: &mut [[u8; 4]] = bytemuck::cast_slice_mut(dst);
    for ((pair, a), b) in pairs.iter_mut().zip(a.as_chunks::<4>().0).zip(b.as_chunks::<4>().0) {
        let (a, b) = (u32::from_le_bytes(*a), u32::from_le_bytes(*b) ^ flips);
        let first = host_sum(a << 16, b << 16, &mut most);
        let second = host_sum(a & UPPER, b & UPPER, &mut most);
        let both = first >> 16 | second & UPPER;
        // The first one is first in memory.
        *pair = if cfg!(target_endian = "big") { both.rotate_left(16) } else { both }.to_ne_bytes();
    }
    most < HUGE
}

/// As [`sum`] of BF16 numbers in the upper halves of words, in the upper half; raises `most` to the larger exponent.
///
/// The exact total has at most 13 bits. It is rounded to 8 bits, ties away from zero, by adding half of the last one's
/// worth, as in [`finish`]. A total below the smallest exponent becomes 0. It is a multiple of 2^-133, the last bit of
/// the smallest numbers: if an operand was rounded, the other one is too large to leave so little. So half of 2^-133
/// does not lift it to that exponent, neither here nor in [`finish`].
#[inline(always)]
fn host_sum(a: u32, b: u32, most: &mut u32) -> u32 {
    let rounded = total(a, b, most).wrapping_add(1 << 15);
    if rounded & EXPONENT == 0 { 0 } else { rounded }
}

/// Both operands on the grid of the larger exponent. The operand that has it is not changed by that, so it need not be
/// known which one it is.
#[inline(always)]
fn sum(a: u16, b: u16) -> u16 {
    let largest = exponent(a).max(exponent(b));
    finish(aligned(a, largest) + aligned(b, largest), largest)
}

/// An operand's significand on the grid of exponent `x`, ties away from zero.
#[inline(always)]
fn aligned(word: u16, x: i16) -> i16 {
    let exponent = exponent(word);
    let doubled = if exponent == 0 { 0 } else { (word & 127) << 4 | 2048 };
    let magnitude = (((doubled >> ((x - exponent) as u16).min(15)) + 1) >> 1) as i16;
    if word & SIGN == 0 { magnitude } else { -magnitude }
}

/// A total as a `Dst` word: normalised, rounded to 8 bits with ties away from zero; 0 if too small, infinity if too
/// large.
#[inline(always)]
fn finish(total: i16, x: i16) -> u16 {
    let magnitude = total.unsigned_abs();
    let zeros = magnitude.leading_zeros() as i16;
    let normal = magnitude << (zeros & 15);
    // With the hidden bit it is added to the exponent field, so that a carry bumps the exponent.
    let significand = ((normal >> 7) + 1) >> 1;
    let below = x + (ZEROS_OF_ONE - 1) - zeros;
    let word = ((below as u16) << 7).wrapping_add(significand).min(INFINITY);
    let lives = magnitude != 0 && below + (significand >> 8) as i16 >= 0;
    if lives { word | total as u16 & SIGN } else { 0 }
}

/// How much less than the sum of its factors' exponents that of a phase's product is.
#[inline(always)]
fn adjust(cfg: &MathConfig, number: u32) -> i16 {
    Phase::new(cfg.mode(), number).adjust as i16
}

/// All bits that a page has, and its largest exponent.
#[inline(always)]
fn reach(page: &Bf16Page) -> (u16, i16) {
    // No fold: its closure would not be compiled for the level.
    let (mut bits, mut most) = (0, 0);
    for datum in datums(page) {
        let half = u16::from_le_bytes(*datum);
        bits |= half;
        most = exponent(half).max(most);
    }
    (bits, most)
}

/// Exponents of products of the first phase up to which infinities stay what they are: to later phases, whose exponents
/// are less by five or more, they are ones with the exponent of infinity, and what is added to such a one, on a grid
/// that is coarser by up to 11 exponents, is infinite again. Beyond, a phase's grid has nothing left of it.
const LARGEST_PRODUCT: i16 = LARGEST + 5 + 11;

/// Short formats leave the lower part of an operand empty; a phase with such a part adds nothing.
///
/// Exponents from 255 on stay until the last phase, as if there were words for them; then they are infinities.
#[inline(always)]
fn products_body(cfg: &MathConfig, dst: &mut HalfTile, a: &Bf16Page, b: &Bf16Page) -> bool {
    let ((bits_a, most_a), (bits_b, most_b)) = (reach(a), reach(b));
    if most_a + most_b + adjust(cfg, 0) > LARGEST_PRODUCT {
        return false;
    }
    let adjusts = [adjust(cfg, 0), adjust(cfg, 1), adjust(cfg, 2), adjust(cfg, 3)];
    let asked = (1 << cfg.fidelity.phases()) - 1;
    let part_a = if bits_a & LOW_A == 0 { 0b0101 } else { 0b1111 };
    let part_b = if bits_b & LOW_B == 0 { 0b0011 } else { 0b1111 };
    match asked & part_a & part_b {
        0b0001 => products_of::<0b0001>(&adjusts, dst, a, b),
        0b0011 => products_of::<0b0011>(&adjusts, dst, a, b),
        0b0101 => products_of::<0b0101>(&adjusts, dst, a, b),
        0b0111 => products_of::<0b0111>(&adjusts, dst, a, b),
        _ => products_of::<0b1111>(&adjusts, dst, a, b),
    }
    true
}

#[inline(always)]
fn products_of<const PHASES: u32>(adjusts: &[i16; 4], dst: &mut HalfTile, a: &Bf16Page, b: &Bf16Page) {
    for ((dst, a), b) in dst.iter_mut().zip(datums(a)).zip(datums(b)) {
        *dst = product::<PHASES>(adjusts, u16::from_le_bytes(*a), u16::from_le_bytes(*b));
    }
}

/// The products of all phases have one sign, the first is at least one in its exponent, and `Dst` only grows. If the
/// first is too small for `Dst` then so are the others.
#[inline(always)]
fn product<const PHASES: u32>(adjusts: &[i16; 4], a: u16, b: u16) -> u16 {
    let (exponent_a, exponent_b) = (exponent(a), exponent(b));
    let exponent = exponent_a + exponent_b;
    let lives = exponent_a > 0 && exponent_b > 0 && exponent + adjusts[0] > 0;
    let sign = (a ^ b) & SIGN;
    let mut word = normal(parts::<0>(a, b), (exponent + adjusts[0]) as u16);
    if PHASES >> 1 & 1 == 1 {
        word = grown(parts::<1>(a, b), exponent + adjusts[1], sign, word);
    }
    if PHASES >> 2 & 1 == 1 {
        word = grown(parts::<2>(a, b), exponent + adjusts[2], sign, word);
    }
    if PHASES >> 3 & 1 == 1 {
        word = grown(parts::<3>(a, b), exponent + adjusts[3], sign, word);
    }
    if lives { word.min(INFINITY) | sign } else { 0 }
}

/// The product of the parts of the significands that a phase takes.
#[inline(always)]
fn parts<const NUMBER: usize>(a: u16, b: u16) -> u16 {
    let part_a = if NUMBER & 1 == 0 { a >> 3 & 15 | 16 } else { (a & LOW_A) << 2 };
    let part_b = if NUMBER >> 1 == 0 { b >> 1 & 63 | 64 } else { (b & LOW_B) << 6 };
    part_a * part_b
}

/// The magnitude of a `Dst` word from a total of at least one and below four (a product is, and a sum with those of
/// later phases), rounded to 8 bits with ties away from zero.
#[inline(always)]
fn normal(total: u16, x: u16) -> u16 {
    let large = total >= 2048;
    let significand = if large { (total + 8) >> 4 } else { (total + 4) >> 3 };
    (x << 7).wrapping_add(significand).wrapping_sub(if large { 0 } else { 128 })
}

/// The magnitude of a `Dst` word with a phase's product added. Ties of a product go up, so that a negative one, of
/// which this is the magnitude, has its ties go down.
#[inline(always)]
fn grown(product: u16, exponent: i16, sign: u16, word: u16) -> u16 {
    let own = word >> 7;
    let doubled = (product << 1).wrapping_sub(sign >> 14) as i16;
    let aligned = if exponent > 0 { doubled >> ((own as i16).wrapping_sub(exponent) & 15) } else { 0 };
    let total = ((word & 127 | 128) << 4 | 1).wrapping_add(aligned as u16) >> 1;
    normal(total, own)
}
