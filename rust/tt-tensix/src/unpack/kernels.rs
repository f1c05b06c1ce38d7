//! The unpacker's conversions as loops over a tile, compiled per CPU level.
use tt_cpu::{Level, simd_kernel};
use tt_formats::{DataFormat as F, block, format::GROUP, unpack, unpack::Unpacks};

use super::block_float::BlockFloatDecoder;
use crate::regs::TILE_DATUMS;

/// A conversion of one tile.
///
/// The bytes must be exactly one tile of its format.
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

/// Conversions by what they convert, and the function that finds one. Those that depend on the generation, which name it,
/// are compiled for each.
macro_rules! kernels {
    (
        fn $find:ident($key:ident: $type:ty);
        $($name:ident $(<$generation:ident>)?: $pattern:pat $(if $has:expr)? => $loop:path, $convert:expr;)*
    ) => {
        $(mod $name {
            use super::*;

            #[inline(always)]
            fn body$(<$generation: Unpacks>)?(l1: &[u8], tile: &mut Tile) {
                $loop(l1, tile, $convert);
            }

            simd_kernel!(
                kernel$(<$generation: Unpacks>)?, super::body$(::<$generation>)?, (l1: &[u8], tile: &mut Tile)
            );
        })*

        fn $find<G: Unpacks>($key: $type, level: Level) -> Option<Kernel> {
            match $key {
                $($pattern $(if $has)? => Some($name::kernel::at$(::<$generation>)?(level)),)*
                _ => None,
            }
        }
    };
}

kernels! {
    fn compiled_to_src(formats: (F, F));
    src_fp32_as_tf32: (F::Float32, F::Tf32) => words, unpack::fp32_to_src_tf32;
    src_fp32_as_bf16: (F::Float32, F::Float16B) => words, unpack::fp32_to_src_bf16;
    src_fp32_as_fp16: (F::Float32, F::Float16) => words, unpack::fp32_to_src_fp16;
    src_bf16: (F::Float16B, F::Float16B) => halves, unpack::bf16_to_src;
    src_fp16: (F::Float16, F::Float16) => halves, unpack::fp16_to_src;
    src_uint16: (F::UInt16, F::UInt16) => halves, unpack::uint16_to_src;
    src_lf8<G>: (F::Lf8, F::Lf8) => bytes, |x| unpack::fp16_to_src(G::lf8_to_fp16(x));
    src_fp8_e4m3: (F::Fp8E4M3, F::Float16) if G::FP8_E4M3 => bytes, |x| unpack::fp16_to_src(unpack::fp8_e4m3_to_fp16(x));
    src_int8: (F::Int8, F::Int8) => bytes, unpack::int8_to_src;
    src_uint8: (F::UInt8, F::UInt8) => bytes, unpack::uint8_to_src;
    src_bfp8_b: (F::Bfp8B, F::Bfp8B) => groups::<8>, |x, e| unpack::bf16_to_src(unpack::bfp8_b_to_bf16(x, e));
    src_bfp4_b: (F::Bfp4B, F::Bfp4B) => groups::<4>, |x, e| unpack::bf16_to_src(unpack::bfp8_b_to_bf16(x, e));
    src_bfp2_b: (F::Bfp2B, F::Bfp2B) => groups::<2>, |x, e| unpack::bf16_to_src(unpack::bfp8_b_to_bf16(x, e));
    src_bfp8: (F::Bfp8, F::Bfp8) => groups::<8>, |x, e| unpack::fp16_to_src(unpack::bfp8_to_fp16(x, e));
    src_bfp4: (F::Bfp4, F::Bfp4) => groups::<4>, |x, e| unpack::fp16_to_src(unpack::bfp8_to_fp16(x, e));
    src_bfp2: (F::Bfp2, F::Bfp2) => groups::<2>, |x, e| unpack::fp16_to_src(unpack::bfp8_to_fp16(x, e));
}

kernels! {
    fn compiled_to_dst(format: F);
    dst_word: F::Float32 | F::Tf32 | F::Int32 | F::UInt32 => words, |x| x;
    dst_bf16: F::Float16B => halves, |x| x << 16;
    dst_fp16: F::Float16 => halves, unpack::fp16_to_dst;
    dst_uint16: F::UInt16 => halves, |x| x;
    dst_uint8: F::UInt8 => bytes, |x| x;
    dst_lf8<G>: F::Lf8 => bytes, |x| unpack::fp16_to_dst(G::lf8_to_fp16(x));
    dst_fp8_e4m3: F::Fp8E4M3 if G::FP8_E4M3 => bytes, |x| unpack::fp16_to_dst(unpack::fp8_e4m3_to_fp16(x));
    dst_bfp8_b: F::Bfp8B => groups::<8>, |x, e| unpack::bfp8_b_to_bf16(x, e) << 16;
    dst_bfp4_b: F::Bfp4B => groups::<4>, |x, e| unpack::bfp8_b_to_bf16(x, e) << 16;
    dst_bfp2_b: F::Bfp2B => groups::<2>, |x, e| unpack::bfp8_b_to_bf16(x, e) << 16;
    dst_bfp8: F::Bfp8 => groups::<8>, |x, e| unpack::fp16_to_dst(unpack::bfp8_to_fp16(x, e));
    dst_bfp4: F::Bfp4 => groups::<4>, |x, e| unpack::fp16_to_dst(unpack::bfp8_to_fp16(x, e));
    dst_bfp2: F::Bfp2 => groups::<2>, |x, e| unpack::fp16_to_dst(unpack::bfp8_to_fp16(x, e));
}

/// Block floats by way of BF16 pages: byte permutes make those, and all that is left is to move every word to its
/// place. Tiles with patterns that are not plain numbers take the compiled way.
macro_rules! permuted {
    (fn $find:ident; $($name:ident: $format:ident, $shift:literal, $compiled:ident;)*) => {
        $(mod $name {
            use super::*;

            #[inline(always)]
            fn body(l1: &[u8], tile: &mut Tile) {
                let mut page = [0; 2 * TILE_DATUMS];
                let decoder = BlockFloatDecoder::with_permutes(F::$format);
                if decoder.is_some_and(|decoder| decoder.decode(l1, &mut page)) {
                    halves(&page, tile, |word| word << $shift);
                } else {
                    $compiled::kernel::run(Level::Avx512, l1, tile);
                }
            }

            simd_kernel!(kernel, super::body, (l1: &[u8], tile: &mut Tile));
        })*

        /// That of a format, where the level has the byte permutes.
        fn $find(format: F, level: Level) -> Option<Kernel> {
            match format {
                $(F::$format if permutes(level) => Some($name::kernel::at(level)),)*
                _ => None,
            }
        }
    };
}

permuted! {
    fn permuted_to_src;
    permuted_src_bfp8_b: Bfp8B, 3, src_bfp8_b;
    permuted_src_bfp4_b: Bfp4B, 3, src_bfp4_b;
}

permuted! {
    fn permuted_to_dst;
    permuted_dst_bfp8_b: Bfp8B, 16, dst_bfp8_b;
    permuted_dst_bfp4_b: Bfp4B, 16, dst_bfp4_b;
}

/// Whether a level has the byte permutes.
fn permutes(level: Level) -> bool {
    level.available() == Level::Avx512 && BlockFloatDecoder::with_permutes(F::Bfp8B).is_some()
}

/// The conversion to `SrcA` or `SrcB`.
///
/// Only Float32 has a choice of register formats.
pub fn to_src<G: Unpacks>(format: F, register: F, level: Level) -> Option<Kernel> {
    let permuted = if format == register { permuted_to_src(format, level) } else { None };
    permuted.or_else(|| compiled_to_src::<G>((format, register), level))
}

/// The conversion to `Dst`.
pub fn to_dst<G: Unpacks>(format: F, level: Level) -> Option<Kernel> {
    permuted_to_dst(format, level).or_else(|| compiled_to_dst::<G>(format, level))
}
