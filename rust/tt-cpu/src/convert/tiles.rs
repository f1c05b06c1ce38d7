//! Rows of tiles: gathering rows of a matrix into faces, with the conversion on the way.
//!
//! A row of a face, sixteen values, is the unit: it is contiguous on both sides, and block floats share an exponent in
//! it. The loops go along rows of the matrix, where two faces of a tile share cache lines.
use tt_formats::tile::FACE_SIDE;
use tt_formats::{DataFormat, TileShape, host};

use super::elements::{self, Values};
use super::{ConvertError, Dims, for_each_chunk, for_each_part};
use crate::{Level, simd_kernel};

/// Bytes of the exponents of a tile, 0 for the formats that share none, and of a face row of datums.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The tile.
    pub tile: TileShape,
    /// Bytes of the section of exponents.
    pub exponents: usize,
    /// Bytes of a tile.
    pub tile_bytes: usize,
    /// Bytes of a row of the matrix.
    pub row_bytes: usize,
}

impl Layout {
    fn new(format: DataFormat, tile: TileShape, columns: usize, value_bytes: usize) -> Self {
        Self {
            tile,
            exponents: format.exponent_bytes(tile),
            tile_bytes: format.tile_bytes(tile),
            row_bytes: columns * value_bytes,
        }
    }
}

/// Fills a row of tiles. `rows` are the rows of the matrix in it; `pad` is a face row of padding.
///
/// `put` writes a face row: its values, the exponents of the tile, its datums.
#[inline(always)]
fn pack_row<const VALUES: usize, const DATUMS: usize>(
    rows: &[u8],
    layout: Layout,
    pad: &[u8; VALUES],
    out: &mut [u8],
    put: impl Fn(&[u8; VALUES], &mut u8, &mut [u8; DATUMS]),
) {
    let tile = layout.tile;
    let (face_height, faces_across) = (tile.face_height(), tile.width() / FACE_SIDE);
    let mut unused = 0;
    for (column, out) in out.chunks_exact_mut(layout.tile_bytes).enumerate() {
        let (exponents, datums) = out.split_at_mut(layout.exponents);
        let datums = datums.as_chunks_mut::<DATUMS>().0;
        for row in 0..tile.height() {
            let first = row / face_height * faces_across * face_height + row % face_height;
            let line = rows.get(row * layout.row_bytes..(row + 1) * layout.row_bytes).unwrap_or(&[]);
            let (whole, rest) = line.as_chunks::<VALUES>();
            for face in 0..faces_across {
                let group = first + face * face_height;
                let at = column * faces_across + face;
                let exponent = if layout.exponents == 0 { &mut unused } else { &mut exponents[group] };
                if let Some(values) = whole.get(at) {
                    put(values, exponent, &mut datums[group]);
                } else {
                    let mut values = *pad;
                    if at == whole.len() {
                        values[..rest.len()].copy_from_slice(rest);
                    }
                    put(&values, exponent, &mut datums[group]);
                }
            }
        }
    }
}

/// Reads a row of tiles. `rows` are the rows of the matrix in it; padding is skipped.
#[inline(always)]
fn unpack_row<const VALUES: usize, const DATUMS: usize>(
    tiles: &[u8],
    layout: Layout,
    rows: &mut [u8],
    get: impl Fn(u8, &[u8; DATUMS]) -> [u8; VALUES],
) {
    let tile = layout.tile;
    let (face_height, faces_across) = (tile.face_height(), tile.width() / FACE_SIDE);
    for (column, tiles) in tiles.chunks_exact(layout.tile_bytes).enumerate() {
        let (exponents, datums) = tiles.split_at(layout.exponents);
        let datums = datums.as_chunks::<DATUMS>().0;
        for (row, line) in rows.chunks_exact_mut(layout.row_bytes).enumerate() {
            let first = row / face_height * faces_across * face_height + row % face_height;
            let (whole, rest) = line.as_chunks_mut::<VALUES>();
            for face in 0..faces_across {
                let group = first + face * face_height;
                let at = column * faces_across + face;
                let values = get(if layout.exponents == 0 { 0 } else { exponents[group] }, &datums[group]);
                if at < whole.len() {
                    whole[at] = values;
                } else if at == whole.len() {
                    rest.copy_from_slice(&values[..rest.len()]);
                }
            }
        }
    }
}

#[inline(always)]
fn copy_face_row<const BYTES: usize>(values: &[u8; BYTES], _: &mut u8, datums: &mut [u8; BYTES]) {
    *datums = *values;
}

#[inline(always)]
fn fp32_face_row_to_bf16(values: &[u8; 64], _: &mut u8, datums: &mut [u8; 32]) {
    for (x, y) in values.as_chunks::<4>().0.iter().zip(datums.as_chunks_mut::<2>().0) {
        *y = (host::fp32_to_bf16(u32::from_le_bytes(*x)) as u16).to_le_bytes();
    }
}

#[inline(always)]
fn fp32_face_row(values: &[u8; 64]) -> [u32; FACE_SIDE] {
    let mut words = [0; FACE_SIDE];
    for (word, bytes) in words.iter_mut().zip(values.as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

#[inline(always)]
fn bf16_face_row(values: &[u8; 32]) -> [u32; FACE_SIDE] {
    let mut words = [0; FACE_SIDE];
    for (word, bytes) in words.iter_mut().zip(values.as_chunks::<2>().0) {
        *word = host::bf16_to_fp32(u16::from_le_bytes(*bytes).into());
    }
    words
}

#[inline(always)]
fn quantise<const BITS: u32>(words: &[u32; FACE_SIDE], exponent: &mut u8) -> [u32; FACE_SIDE] {
    let shared = words.iter().fold(0, |most, x| most.max(host::fp32_exponent(*x)));
    *exponent = shared as u8;
    words.map(|x| host::fp32_to_bfp::<BITS>(x, shared))
}

#[inline(always)]
fn to_bfp8(words: &[u32; FACE_SIDE], exponent: &mut u8, datums: &mut [u8; 16]) {
    *datums = quantise::<7>(words, exponent).map(|datum| datum as u8);
}

#[inline(always)]
fn to_bfp4(words: &[u32; FACE_SIDE], exponent: &mut u8, datums: &mut [u8; 8]) {
    let nibbles = quantise::<3>(words, exponent);
    for (byte, pair) in datums.iter_mut().zip(nibbles.as_chunks::<2>().0) {
        *byte = (pair[0] | pair[1] << 4) as u8;
    }
}

#[inline(always)]
fn from_bfp8(exponent: u8, datums: &[u8; 16]) -> [u32; FACE_SIDE] {
    datums.map(|datum| host::bfp8_b_to_fp32(datum.into(), exponent.into()))
}

#[inline(always)]
fn from_bfp4(exponent: u8, datums: &[u8; 8]) -> [u32; FACE_SIDE] {
    let mut words = [0; FACE_SIDE];
    for (i, word) in words.iter_mut().enumerate() {
        *word = host::bfp4_b_to_fp32(u32::from(datums[i / 2]) >> (i % 2 * 4), exponent.into());
    }
    words
}

#[inline(always)]
fn as_fp32(words: [u32; FACE_SIDE]) -> [u8; 64] {
    let mut bytes = [0; 64];
    for (bytes, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    bytes
}

/// Block floats hold no more bits than BF16 does, so the upper half is the value.
#[inline(always)]
fn as_bf16(words: [u32; FACE_SIDE]) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (bytes, word) in bytes.as_chunks_mut::<2>().0.iter_mut().zip(words) {
        *bytes = ((word >> 16) as u16).to_le_bytes();
    }
    bytes
}

/// Fills a row of tiles from rows of a matrix; `pad` is a face row of padding, of as many bytes as the values take.
type PackKernel = unsafe fn(&[u8], Layout, &[u8], &mut [u8]);

macro_rules! kernels {
    ($($pack:ident: $values:literal, $datums:literal, $put:expr;)* / $($unpack:ident: $from:literal, $to:literal, $get:expr;)*) => {
        $(mod $pack {
            use super::*;

            #[inline(always)]
            fn body(rows: &[u8], layout: Layout, pad: &[u8], out: &mut [u8]) {
                let pad = pad.first_chunk::<$values>().unwrap_or(&[0; $values]);
                pack_row::<$values, $datums>(rows, layout, pad, out, $put);
            }

            simd_kernel!(kernel, super::body, (rows: &[u8], layout: Layout, pad: &[u8], out: &mut [u8]));
        })*
        $(mod $unpack {
            use super::*;

            #[inline(always)]
            fn body(tiles: &[u8], layout: Layout, rows: &mut [u8]) {
                unpack_row::<$to, $from>(tiles, layout, rows, $get);
            }

            simd_kernel!(kernel, super::body, (tiles: &[u8], layout: Layout, rows: &mut [u8]));
        })*
    };
}

kernels! {
    tilize_bytes: 16, 16, copy_face_row::<16>;
    tilize_halves: 32, 32, copy_face_row::<32>;
    tilize_words: 64, 64, copy_face_row::<64>;
    fp32_to_bf16: 64, 32, fp32_face_row_to_bf16;
    fp32_to_bfp8: 64, 16, |values, exponent, datums| to_bfp8(&fp32_face_row(values), exponent, datums);
    fp32_to_bfp4: 64, 8, |values, exponent, datums| to_bfp4(&fp32_face_row(values), exponent, datums);
    bf16_to_bfp8: 32, 16, |values, exponent, datums| to_bfp8(&bf16_face_row(values), exponent, datums);
    bf16_to_bfp4: 32, 8, |values, exponent, datums| to_bfp4(&bf16_face_row(values), exponent, datums);
    /
    untilize_bytes: 16, 16, |_, datums| *datums;
    untilize_halves: 32, 32, |_, datums| *datums;
    untilize_words: 64, 64, |_, datums| *datums;
    bfp8_to_fp32: 16, 64, |exponent, datums| as_fp32(from_bfp8(exponent, datums));
    bfp4_to_fp32: 8, 64, |exponent, datums| as_fp32(from_bfp4(exponent, datums));
    bfp8_to_bf16: 16, 32, |exponent, datums| as_bf16(from_bfp8(exponent, datums));
    bfp4_to_bf16: 8, 32, |exponent, datums| as_bf16(from_bfp4(exponent, datums));
}

/// Fills the raw buffer of a tensor in tiles.
pub(super) fn pack(
    values: Values<'_>,
    format: DataFormat,
    dims: Dims,
    tile: TileShape,
    pad_value: f32,
    buffer: &mut [u8],
) -> Result<(), ConvertError> {
    use DataFormat as F;
    let level = Level::current();
    let from = values.format();
    let pad = elements::one(from, pad_value)?;
    let (kernel, pad) = match (from, format) {
        (F::Float32, F::Float16B) => (fp32_to_bf16::kernel::at(level), pad),
        (F::Float32, F::Bfp8B) => (fp32_to_bfp8::kernel::at(level), pad),
        (F::Float32, F::Bfp4B) => (fp32_to_bfp4::kernel::at(level), pad),
        // Padding is a float32 value: it must not be rounded on the way into a block float.
        (F::Float16B, F::Bfp8B) if pad << 16 == pad_value.to_bits() => (bf16_to_bfp8::kernel::at(level), pad),
        (F::Float16B, F::Bfp4B) if pad << 16 == pad_value.to_bits() => (bf16_to_bfp4::kernel::at(level), pad),
        (_, F::Bfp8B | F::Bfp4B) => {
            let mut words = vec![0u32; values.len()];
            elements::convert(values, F::Float32, bytemuck::cast_slice_mut(&mut words))?;
            let values = Values::Float32(bytemuck::cast_slice(&words));
            return pack(values, format, dims, tile, pad_value, buffer);
        }
        _ if from == format => (tilize(format, level)?, pad),
        _ => {
            let bytes = format.element_bytes().ok_or(ConvertError::Format(format))?;
            let mut rows = vec![0; values.len() * bytes];
            elements::convert(values, format, &mut rows)?;
            let pad = elements::one(format, pad_value)?;
            pack_rows(tilize(format, level)?, &rows, bytes, format, dims, tile, pad, buffer);
            return Ok(());
        }
    };
    pack_rows(kernel, values.as_bytes(), values.value_bytes(), format, dims, tile, pad, buffer);
    Ok(())
}

fn tilize(format: DataFormat, level: Level) -> Result<PackKernel, ConvertError> {
    Ok(match format.element_bytes() {
        Some(4) => tilize_words::kernel::at(level),
        Some(2) => tilize_halves::kernel::at(level),
        Some(_) => tilize_bytes::kernel::at(level),
        None => return Err(ConvertError::Format(format)),
    })
}

#[expect(clippy::too_many_arguments, reason = "what a row of tiles is made from")]
fn pack_rows(
    kernel: PackKernel,
    values: &[u8],
    value_bytes: usize,
    format: DataFormat,
    dims: Dims,
    tile: TileShape,
    pad: u32,
    buffer: &mut [u8],
) {
    let layout = Layout::new(format, tile, dims.columns, value_bytes);
    let mut face_row = [0; FACE_SIDE * 4];
    for bytes in face_row.chunks_exact_mut(value_bytes) {
        bytes.copy_from_slice(&pad.to_le_bytes()[..value_bytes]);
    }
    let tiles_down = dims.rows.div_ceil(tile.height());
    for_each_chunk(buffer, dims.columns.div_ceil(tile.width()) * layout.tile_bytes, |i, out| {
        let rows = matrix_rows(i, tiles_down, dims, tile);
        let rows = &values[rows.start * layout.row_bytes..rows.end * layout.row_bytes];
        // SAFETY: the kernel was compiled for a level that the host has.
        unsafe { kernel(rows, layout, &face_row, out) }
    });
}

/// The rows of all matrices that a row of tiles holds.
fn matrix_rows(tile_row: usize, tiles_down: usize, dims: Dims, tile: TileShape) -> std::ops::Range<usize> {
    let (matrix, down) = (tile_row / tiles_down, tile_row % tiles_down);
    let first = matrix * dims.rows;
    first + down * tile.height()..first + dims.rows.min((down + 1) * tile.height())
}

/// Reads the raw buffer of a tensor in tiles into the bytes of its values.
pub(super) fn unpack(
    buffer: &[u8],
    format: DataFormat,
    dims: Dims,
    tile: TileShape,
    value_bytes: usize,
    values: &mut [u8],
) -> Result<(), ConvertError> {
    let level = Level::current();
    let kernel = match (format, value_bytes) {
        (DataFormat::Bfp8B, 4) => bfp8_to_fp32::kernel::at(level),
        (DataFormat::Bfp4B, 4) => bfp4_to_fp32::kernel::at(level),
        (DataFormat::Bfp8B, 2) => bfp8_to_bf16::kernel::at(level),
        (DataFormat::Bfp4B, 2) => bfp4_to_bf16::kernel::at(level),
        _ => match format.element_bytes() {
            Some(4) => untilize_words::kernel::at(level),
            Some(2) => untilize_halves::kernel::at(level),
            Some(_) => untilize_bytes::kernel::at(level),
            None => return Err(ConvertError::Format(format)),
        },
    };
    let layout = Layout::new(format, tile, dims.columns, value_bytes);
    let tile_row_bytes = dims.columns.div_ceil(tile.width()) * layout.tile_bytes;
    let tiles_down = dims.rows.div_ceil(tile.height());
    // Chunks end with a matrix, so that each is the rows of one row of tiles.
    let lengths = (0..dims.batch * tiles_down).map(|i| matrix_rows(i, tiles_down, dims, tile).len() * layout.row_bytes);
    for_each_part(values, lengths, |i, rows| {
        let tiles = &buffer[i * tile_row_bytes..][..tile_row_bytes];
        // SAFETY: the kernel was compiled for a level that the host has.
        unsafe { kernel(tiles, layout, rows) }
    });
    Ok(())
}
