//! Copies between the register files: MOVA2D, MOVD2A, MOVD2B. `docs/chip/numerics.md` section 9.

use tt_cpu::{Level, simd_kernel};
use tt_formats::DataFormat;

use super::combine::Mode;
use super::eltwise::{add, lanes};
use super::operand::{Operand, mask};
use super::{Dst, DstFormat, MathConfig, Src, integer};
use tt_tensix::unpack::Bf16Page;

/// `copy_tile`: brings a tile from `SrcA` into `Dst`.
///
/// A 32-bit `Dst` is written by `ELWADD(A, 0)`, which turns NaN and infinity patterns into infinity;
/// a 16-bit one by MOVA2D, which keeps them. Both flush datums with exponent 0 to +0.
pub fn copy_to_dst(cfg: &MathConfig, dst: &mut Dst, a: &Src) {
    match cfg.dst {
        DstFormat::Fp32 => lanes::add_zero(Level::current(), cfg, dst, a),
        _ => copy_to_dst_scalar(cfg, dst, a),
    }
}

/// [`copy_to_dst`], datum by datum where a 32-bit `Dst` makes it an addition.
pub fn copy_to_dst_scalar(cfg: &MathConfig, dst: &mut Dst, a: &Src) {
    match cfg.dst {
        DstFormat::Fp32 => {
            let mode = cfg.mode();
            for (datum, &word) in dst.iter_mut().zip(a) {
                *datum = add_zero(mode, word & mask(cfg.alu));
            }
        }
        DstFormat::Int32 => integer::copy_to_dst(dst, a),
        DstFormat::UInt16 => {
            for (datum, &word) in dst.iter_mut().zip(a) {
                // The inverse of the unpacker's opaque transport: low byte in E, the rest in S and M.
                *datum = (word >> 18 & 1) << 15 | (word >> 3 & 127) << 8 | word >> 10 & 255;
            }
        }
        DstFormat::Bf16 | DstFormat::Fp16 => move_a_to_dst(cfg, dst, a),
    }
}

/// MOVA2D: datums with exponent 0 become +0, all others keep their bits.
///
/// In a 32-bit `Dst` TF32 fills the top 19 bits. A 16-bit format there is a 16-bit write, which lands in the low half;
/// kernels do not do that to floats.
pub fn move_a_to_dst(cfg: &MathConfig, dst: &mut Dst, a: &Src) {
    let low_half = cfg.dst.is_32_bit() && !is_tf32(cfg.alu);
    let exponent = if cfg.mode().e8 { 255 << 10 } else { 31 << 10 };
    move_words::run(Level::current(), mask(cfg.alu), exponent, low_half, dst, a);
}

#[inline(always)]
fn move_body(mask: u32, exponent: u32, low_half: bool, dst: &mut Dst, a: &Src) {
    let (left, right) = if low_half { (0, 3) } else { (13, 0) };
    for (datum, &word) in dst.iter_mut().zip(a) {
        let word = word & mask;
        *datum = if word & exponent == 0 { 0 } else { word << left >> right };
    }
}

simd_kernel!(move_words, super::move_body, (mask: u32, exponent: u32, low_half: bool, dst: &mut Dst, a: &Src));

/// A BF16 page moved to a 16-bit `Dst` in one step.
///
/// As the unpacker brings it to `SrcA` and MOVA2D from there into `Dst`.
pub fn move_page_to_dst(dst: &mut Dst, page: &Bf16Page) {
    move_page_to_dst_at(Level::current(), dst, page);
}

/// [`move_page_to_dst`] at a CPU level.
pub fn move_page_to_dst_at(level: Level, dst: &mut Dst, page: &Bf16Page) {
    move_page::run(level, dst, page);
}

#[inline(always)]
fn move_page_body(dst: &mut Dst, page: &Bf16Page) {
    for (datum, half) in dst.iter_mut().zip(page.as_chunks::<2>().0) {
        let word = u32::from(u16::from_le_bytes(*half)) << 16;
        *datum = if word & 255 << 23 == 0 { 0 } else { word };
    }
}

simd_kernel!(move_page, super::move_page_body, (dst: &mut Dst, page: &Bf16Page));

fn is_tf32(alu: DataFormat) -> bool {
    matches!(alu, DataFormat::Tf32 | DataFormat::Float32)
}

/// MOVD2A and MOVD2B: brings a tile of `Dst` into a Src register.
///
/// 16-bit data are kept; FP32 is truncated to TF32 if that is `SrcA`'s ALU format, otherwise to its upper 16 bits.
pub fn move_dst_to_src(cfg: &MathConfig, dst: &Dst, src: &mut Src) {
    for (word, &datum) in src.iter_mut().zip(dst) {
        *word = move_datum(cfg, datum);
    }
}

/// [`move_dst_to_src`] for one datum.
#[inline(always)]
pub(crate) fn move_datum(cfg: &MathConfig, datum: u32) -> u32 {
    if cfg.dst == DstFormat::Fp32 && !is_tf32(cfg.alu) { datum >> 16 << 3 } else { datum >> 13 }
}

/// `ELWADD(0, word)` into an empty `Dst`.
#[inline(always)]
pub(crate) fn add_zero(mode: Mode, word: u32) -> u32 {
    add(mode, Operand::decode(word, mode.e8), Operand::decode(0, mode.e8), 0)
}
