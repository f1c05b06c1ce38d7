//! The unpacker's conversions as loops over a tile, compiled per CPU level.
use tt_cpu::{Level, simd_kernel};
use tt_formats::{DataFormat, block, format::GROUP, unpack};

use super::block_float::BlockFloatDecoder;
use crate::regs::TILE_DATUMS;

/// A conversion of one tile; the bytes must be exactly one tile of its format.
pub type Kernel = unsafe fn(&[u8], &mut [u32; TILE_DATUMS]);

type Tile = [u32; TILE_DATUMS];

const EXPONENTS: usize = TILE_DATUMS / GROUP;

#[inline(always)]
fn words(l1: &[u8], tile: &mut Tile, convert: impl Fn(u32) -> u32) {
    for (datum, bytes) in tile.iter_mut().zip(l1.as_chunks::<4>().0) {
        *datum = convert(u32::from_le_bytes(*bytes));
    }
}

#[inline(always)]
fn halves(l1: &[u8], tile: &mut Tile, convert: impl Fn(u32) -> u32) {
    for (datum, bytes) in tile.iter_mut().zip(l1.as_chunks::<2>().0) {
        *datum = convert(u16::from_le_bytes(*bytes).into());
    }
}

#[inline(always)]
fn bytes(l1: &[u8], tile: &mut Tile, convert: impl Fn(u32) -> u32) {
    for (datum, byte) in tile.iter_mut().zip(l1) {
        *datum = convert(u32::from(*byte));
    }
}

/// Block floats. `convert` takes an 8-bit datum (narrower ones are aligned to it first) and the shared exponent.
#[inline(always)]
fn groups<const BITS: usize>(l1: &[u8], tile: &mut Tile, convert: impl Fn(u32, u32) -> u32) {
    let (exponents, datums) = l1.split_at(EXPONENTS);
    block::unpack::<BITS, u32>(exponents, datums, tile, convert);
}

macro_rules! kernels {
    ($($name:ident: $loop:path, $convert:expr;)*) => { $(
        mod $name {
            use super::*;

            #[inline(always)]
            fn body(l1: &[u8], tile: &mut Tile) {
                $loop(l1, tile, $convert);
            }

            simd_kernel!(kernel, super::body, (l1: &[u8], tile: &mut Tile));
        }
    )* };
}

kernels! {
    src_fp32_as_tf32: words, unpack::fp32_to_src_tf32;
    src_fp32_as_bf16: words, unpack::fp32_to_src_bf16;
    src_fp32_as_fp16: words, unpack::fp32_to_src_fp16;
    src_bf16: halves, unpack::bf16_to_src;
    src_fp16: halves, unpack::fp16_to_src;
    src_uint16: halves, unpack::uint16_to_src;
    src_lf8: bytes, unpack::lf8_to_src;
    src_int8: bytes, unpack::int8_to_src;
    src_uint8: bytes, unpack::uint8_to_src;
    src_bfp8_b: groups::<8>, |datum, exponent| unpack::bf16_to_src(unpack::bfp8_b_to_bf16(datum, exponent));
    src_bfp4_b: groups::<4>, |datum, exponent| unpack::bf16_to_src(unpack::bfp8_b_to_bf16(datum, exponent));
    src_bfp2_b: groups::<2>, |datum, exponent| unpack::bf16_to_src(unpack::bfp8_b_to_bf16(datum, exponent));
    src_bfp8: groups::<8>, |datum, exponent| unpack::fp16_to_src(unpack::bfp8_to_fp16(datum, exponent));
    src_bfp4: groups::<4>, |datum, exponent| unpack::fp16_to_src(unpack::bfp8_to_fp16(datum, exponent));
    src_bfp2: groups::<2>, |datum, exponent| unpack::fp16_to_src(unpack::bfp8_to_fp16(datum, exponent));
    dst_word: words, |x| x;
    dst_bf16: halves, |x| x << 16;
    dst_fp16: halves, unpack::fp16_to_dst;
    dst_uint16: halves, |x| x;
    dst_uint8: bytes, |x| x;
    dst_lf8: bytes, |x| unpack::fp16_to_dst(x << 8);
    dst_bfp8_b: groups::<8>, |datum, exponent| unpack::bfp8_b_to_bf16(datum, exponent) << 16;
    dst_bfp4_b: groups::<4>, |datum, exponent| unpack::bfp8_b_to_bf16(datum, exponent) << 16;
    dst_bfp2_b: groups::<2>, |datum, exponent| unpack::bfp8_b_to_bf16(datum, exponent) << 16;
    dst_bfp8: groups::<8>, |datum, exponent| unpack::fp16_to_dst(unpack::bfp8_to_fp16(datum, exponent));
    dst_bfp4: groups::<4>, |datum, exponent| unpack::fp16_to_dst(unpack::bfp8_to_fp16(datum, exponent));
    dst_bfp2: groups::<2>, |datum, exponent| unpack::fp16_to_dst(unpack::bfp8_to_fp16(datum, exponent));
}

/// Block floats by way of BF16 pages: byte permutes make those, and all that is left is to move every word to its
/// place. Tiles with patterns that are not plain numbers take the compiled way.
macro_rules! permuted {
    ($($name:ident: $format:ident, $shift:literal, $compiled:ident;)*) => { $(
        mod $name {
            use super::*;

            #[inline(always)]
            fn body(l1: &[u8], tile: &mut Tile) {
                let mut page = [0; 2 * TILE_DATUMS];
                let decoder = BlockFloatDecoder::with_permutes(DataFormat::$format);
                if decoder.is_some_and(|decoder| decoder.decode(l1, &mut page)) {
                    halves(&page, tile, |word| word << $shift);
                } else {
                    $compiled::kernel::run(Level::Avx512, l1, tile);
                }
            }

            simd_kernel!(kernel, super::body, (l1: &[u8], tile: &mut Tile));
        }
    )* };
}

permuted! {
    permuted_src_bfp8_b: Bfp8B, 3, src_bfp8_b;
    permuted_src_bfp4_b: Bfp4B, 3, src_bfp4_b;
    permuted_dst_bfp8_b: Bfp8B, 16, dst_bfp8_b;
    permuted_dst_bfp4_b: Bfp4B, 16, dst_bfp4_b;
}

/// Whether a level has the byte permutes.
fn permutes(level: Level) -> bool {
    level.available() == Level::Avx512 && BlockFloatDecoder::with_permutes(DataFormat::Bfp8B).is_some()
}

/// The conversion to `SrcA` or `SrcB`. Only Float32 has a choice of register formats.
pub fn to_src(format: DataFormat, register: DataFormat, level: Level) -> Option<Kernel> {
    let converts = format == DataFormat::Float32;
    if converts {
        return match register {
            DataFormat::Tf32 => Some(src_fp32_as_tf32::kernel::at(level)),
            DataFormat::Float16B => Some(src_fp32_as_bf16::kernel::at(level)),
            DataFormat::Float16 => Some(src_fp32_as_fp16::kernel::at(level)),
            _ => None,
        };
    }
    if format != register {
        return None;
    }
    Some(match format {
        DataFormat::Bfp8B if permutes(level) => permuted_src_bfp8_b::kernel::at(level),
        DataFormat::Bfp4B if permutes(level) => permuted_src_bfp4_b::kernel::at(level),
        DataFormat::Float16B => src_bf16::kernel::at(level),
        DataFormat::Float16 => src_fp16::kernel::at(level),
        DataFormat::UInt16 => src_uint16::kernel::at(level),
        DataFormat::Lf8 => src_lf8::kernel::at(level),
        DataFormat::Int8 => src_int8::kernel::at(level),
        DataFormat::UInt8 => src_uint8::kernel::at(level),
        DataFormat::Bfp8B => src_bfp8_b::kernel::at(level),
        DataFormat::Bfp4B => src_bfp4_b::kernel::at(level),
        DataFormat::Bfp2B => src_bfp2_b::kernel::at(level),
        DataFormat::Bfp8 => src_bfp8::kernel::at(level),
        DataFormat::Bfp4 => src_bfp4::kernel::at(level),
        DataFormat::Bfp2 => src_bfp2::kernel::at(level),
        _ => return None,
    })
}

/// The conversion to `Dst`.
pub fn to_dst(format: DataFormat, level: Level) -> Option<Kernel> {
    Some(match format {
        DataFormat::Bfp8B if permutes(level) => permuted_dst_bfp8_b::kernel::at(level),
        DataFormat::Bfp4B if permutes(level) => permuted_dst_bfp4_b::kernel::at(level),
        DataFormat::Float32 | DataFormat::Tf32 | DataFormat::Int32 | DataFormat::UInt32 => dst_word::kernel::at(level),
        DataFormat::Float16B => dst_bf16::kernel::at(level),
        DataFormat::Float16 => dst_fp16::kernel::at(level),
        DataFormat::UInt16 => dst_uint16::kernel::at(level),
        DataFormat::UInt8 => dst_uint8::kernel::at(level),
        DataFormat::Lf8 => dst_lf8::kernel::at(level),
        DataFormat::Bfp8B => dst_bfp8_b::kernel::at(level),
        DataFormat::Bfp4B => dst_bfp4_b::kernel::at(level),
        DataFormat::Bfp2B => dst_bfp2_b::kernel::at(level),
        DataFormat::Bfp8 => dst_bfp8::kernel::at(level),
        DataFormat::Bfp4 => dst_bfp4::kernel::at(level),
        DataFormat::Bfp2 => dst_bfp2::kernel::at(level),
        DataFormat::Int8 | DataFormat::Fp8E4M3 => return None,
    })
}
