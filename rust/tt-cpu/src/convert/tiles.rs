//! Rows of tiles: matrix rows gathered into faces, or back.
//!
//! With a conversion between.
//!
//! A row of a face, sixteen values, is contiguous on both sides. The loops go along rows of the matrix, where the faces
//! of a tile share cache lines. Tiles are made in the first-level cache; large results leave it past the other caches.
use bytemuck::{cast_slice, cast_slice_mut};
use tt_formats::block::{self, Lanes, MOST_DATUMS};
use tt_formats::tile::FACE_SIDE;
use tt_formats::{DataFormat, TileShape};

use super::elements::{self, Values};
use super::{ConvertError, Dims, for_each_chunk, for_each_part, zeros};
use crate::stream::{self, STREAM_BYTES};
use crate::{Level, simd_kernel};

/// Offsets in a row of tiles.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    tile: TileShape,
    /// Bytes of the exponents of a tile.
    exponents: usize,
    tile_bytes: usize,
    /// Bytes of a row of the matrix.
    row_bytes: usize,
    /// Whether results leave past the caches.
    stream: bool,
}

impl Layout {
    fn new(format: DataFormat, tile: TileShape, columns: usize, value_bytes: usize, result_bytes: usize) -> Self {
        Self {
            tile,
            exponents: format.exponent_bytes(tile),
            tile_bytes: format.tile_bytes(tile),
            row_bytes: columns * value_bytes,
            stream: result_bytes >= STREAM_BYTES,
        }
    }

    /// Tiles at the beginning of a row of tiles that have all of 32 rows and columns, if `rows_bytes` belong to it.
    #[cfg(target_arch = "x86_64")]
    fn whole_tiles(&self, rows_bytes: usize, face_row_bytes: usize) -> usize {
        let whole = self.tile == TileShape::FULL && rows_bytes == MOST_ROWS * self.row_bytes;
        if whole { self.row_bytes / (2 * face_row_bytes) } else { 0 }
    }
}

/// Gathers a tile from rows of a matrix. `pad` is a face row of padding, `BYTES` the length of a face row.
#[inline(always)]
fn gather<const BYTES: usize>(rows: &[u8], layout: &Layout, column: usize, pad: &[u8; BYTES], tile: &mut [u8]) {
    let (height, across) = (layout.tile.face_height(), layout.tile.width() / FACE_SIDE);
    let mut lines = rows.chunks_exact(layout.row_bytes.max(1));
    for band in tile.as_chunks_mut::<BYTES>().0.chunks_exact_mut(across * height) {
        for row in 0..height {
            let line = lines.next().unwrap_or(&[]);
            let (whole, rest) = line.as_chunks::<BYTES>();
            for face in 0..across {
                let at = column * across + face;
                let to = &mut band[face * height + row];
                if let Some(values) = whole.get(at) {
                    *to = *values;
                } else {
                    *to = *pad;
                    if at == whole.len() {
                        to[..rest.len()].copy_from_slice(rest);
                    }
                }
            }
        }
    }
}

/// Scatters a tile into rows of `row_bytes`; what lies beyond them is padding and dropped.
#[inline(always)]
fn scatter<const BYTES: usize>(tile: &[u8], layout: &Layout, column: usize, rows: &mut [u8], row_bytes: usize) {
    let (height, across) = (layout.tile.face_height(), layout.tile.width() / FACE_SIDE);
    let mut lines = rows.chunks_exact_mut(row_bytes);
    for band in tile.as_chunks::<BYTES>().0.chunks_exact(across * height) {
        for row in 0..height {
            let Some(line) = lines.next() else { return };
            let (whole, rest) = line.as_chunks_mut::<BYTES>();
            for face in 0..across {
                let at = column * across + face;
                let values = &band[face * height + row];
                if at < whole.len() {
                    whole[at] = *values;
                } else if at == whole.len() {
                    rest.copy_from_slice(&values[..rest.len()]);
                }
            }
        }
    }
}

/// Turns the values of a tile, in face order, into its bytes.
///
/// A trait and not a function argument: only what is called by its name is sure to be inlined, and so compiled for a
/// level.
trait MakeTile {
    fn make(values: &[u8], tile: &mut [u8]);
}

/// Turns the exponents and datums of a tile into its values in face order.
trait MakeValues {
    fn make(exponents: &[u8], datums: &[u8], values: &mut [u8]);
}

/// Fills a row of tiles.
#[inline(always)]
fn pack_row<const BYTES: usize, Make: MakeTile>(rows: &[u8], layout: Layout, pad: &[u8], out: &mut [u8]) {
    pack_tiles::<BYTES, Make>(rows, &layout, 0, pad, out);
    stream::finish();
}

/// Fills tiles from a column of tiles on.
#[inline(always)]
fn pack_tiles<const BYTES: usize, Make: MakeTile>(
    rows: &[u8],
    layout: &Layout,
    first: usize,
    pad: &[u8],
    out: &mut [u8],
) {
    let Some(pad) = pad.first_chunk::<BYTES>() else { return };
    let (mut values, mut made): (Lanes<u32>, Lanes<u32>) = ([0; MOST_DATUMS], [0; MOST_DATUMS]);
    let values: &mut [u8] = &mut cast_slice_mut(&mut values)[..layout.tile.datums() * BYTES / FACE_SIDE];
    let made: &mut [u8] = &mut cast_slice_mut(&mut made)[..layout.tile_bytes];
    for (column, out) in out.chunks_exact_mut(layout.tile_bytes).enumerate() {
        gather(rows, layout, first + column, pad, values);
        if layout.stream {
            Make::make(values, made);
            stream::copy(out, made);
        } else {
            Make::make(values, out);
        }
    }
}

/// Fills a row of tiles with the values as they are.
#[inline(always)]
fn tilize_row<const BYTES: usize>(rows: &[u8], layout: Layout, pad: &[u8], out: &mut [u8]) {
    let Some(pad) = pad.first_chunk::<BYTES>() else { return };
    let mut values: Lanes<u32> = [0; MOST_DATUMS];
    let values: &mut [u8] = &mut cast_slice_mut(&mut values)[..layout.tile_bytes];
    for (column, out) in out.chunks_exact_mut(layout.tile_bytes).enumerate() {
        if layout.stream {
            gather(rows, &layout, column, pad, values);
            stream::copy(out, values);
        } else {
            gather(rows, &layout, column, pad, out);
        }
    }
    stream::finish();
}

/// Bytes of a row of the matrix that are collected before they leave past the caches. With 32 rows of it, what is
/// collected stays in the first-level cache.
const STRIP_BYTES: usize = 512;

/// Bytes of a cache line. What leaves past the caches is slow unless it leaves in whole lines.
const LINE: usize = 64;

/// Most bytes from one row of a strip to the next: what is collected, a line that could not leave before, and what
/// brings the rows to the same place in a line that they have in the matrix.
const MOST_STRIDE: usize = STRIP_BYTES + 3 * LINE;

/// Most rows of a tile.
const MOST_ROWS: usize = 32;

/// Reads a row of tiles.
#[inline(always)]
fn unpack_row<const BYTES: usize, Make: MakeValues>(tiles: &[u8], layout: Layout, rows: &mut [u8]) {
    #[expect(clippy::large_stack_arrays, reason = "23 KiB, for one call that calls nothing deep")]
    let mut strip = [0; STRIP];
    let mut strip = Strip::<BYTES>::new(&layout, rows, &mut strip);
    unpack_tiles::<BYTES, Make>(tiles, &layout, &mut strip);
    stream::finish();
}

/// Reads tiles into the columns that come next.
#[inline(always)]
fn unpack_tiles<const BYTES: usize, Make: MakeValues>(tiles: &[u8], layout: &Layout, strip: &mut Strip<'_, BYTES>) {
    let mut values: Lanes<u32> = [0; MOST_DATUMS];
    let values: &mut [u8] = &mut cast_slice_mut(&mut values)[..layout.tile.datums() * BYTES / FACE_SIDE];
    for tile in tiles.chunks_exact(layout.tile_bytes) {
        let (exponents, datums) = tile.split_at(layout.exponents);
        Make::make(exponents, datums, values);
        strip.push(values);
    }
}

/// Reads a row of tiles that hold the values as they are.
#[inline(always)]
fn untilize_row<const BYTES: usize>(tiles: &[u8], layout: Layout, rows: &mut [u8]) {
    #[expect(clippy::large_stack_arrays, reason = "23 KiB, for one call that calls nothing deep")]
    let mut strip = [0; STRIP];
    let mut strip = Strip::<BYTES>::new(&layout, rows, &mut strip);
    for tile in tiles.chunks_exact(layout.tile_bytes) {
        strip.push(tile);
    }
    stream::finish();
}

/// Bytes that a strip needs.
const STRIP: usize = MOST_STRIDE * (MOST_ROWS + 1);

/// Rows of a matrix that are filled tile after tile, directly or in strips that leave past the caches.
///
/// A byte of a strip has the same place in a cache line as the byte of the matrix that it becomes. Only whole lines
/// leave; the beginning of a line waits for its end in the next strip.
struct Strip<'a, const BYTES: usize> {
    layout: &'a Layout,
    rows: &'a mut [u8],
    collected: &'a mut [u8],
    /// From one row of the strip to the next.
    stride: usize,
    /// Where the first row of the strip begins.
    start: usize,
    /// Bytes of a row of the matrix that came before this strip.
    before: usize,
    /// Bytes of a row that the strip holds.
    held: usize,
}

impl<'a, const BYTES: usize> Strip<'a, BYTES> {
    #[inline(always)]
    fn new(layout: &'a Layout, rows: &'a mut [u8], collected: &'a mut [u8]) -> Self {
        let stride = STRIP_BYTES + 2 * LINE + layout.row_bytes % LINE;
        let start = LINE + rows.as_ptr().addr() % LINE;
        Self { layout, rows, collected, stride, start, before: 0, held: 0 }
    }

    /// Where the next tile goes: bytes that begin with its first row, and the distance to the next row.
    #[inline(always)]
    fn place(&mut self) -> (&mut [u8], usize) {
        if self.layout.stream {
            let rows = self.rows.len() / self.layout.row_bytes;
            (&mut self.collected[self.start + self.held..][..rows * self.stride], self.stride)
        } else {
            (&mut self.rows[self.before + self.held..], self.layout.row_bytes)
        }
    }

    /// Says that the next tile is there.
    #[inline(always)]
    fn advance(&mut self) {
        self.held += self.layout.tile.width() / FACE_SIDE * BYTES;
        let row_bytes = self.layout.row_bytes;
        let now = self.before + self.held;
        if self.held < STRIP_BYTES && now < row_bytes {
            return;
        }
        if self.layout.stream {
            self.leave(now.min(row_bytes));
        }
        self.before = now;
        self.held = 0;
    }

    /// Writes the rows up to the last whole line before the byte `now` of each; to their end if that is it.
    #[inline(always)]
    fn leave(&mut self, now: usize) {
        let row_bytes = self.layout.row_bytes;
        for (row, line) in self.rows.chunks_exact_mut(row_bytes).enumerate() {
            let address = line.as_ptr().addr();
            let waiting = |at: usize| if at == 0 || at == row_bytes { 0 } else { ((address + at) % LINE).min(at) };
            let (from, to) = (self.before - waiting(self.before), now - waiting(now));
            // Byte 0 of the strip's row is byte `before` of the matrix's; what waited lies in front of it.
            let strip = &mut self.collected[row * self.stride..][..self.start + STRIP_BYTES];
            let at = |byte: usize| self.start + byte - self.before;
            stream::copy(&mut line[from..to], &strip[at(from)..at(to)]);
            strip.copy_within(at(to)..at(now), self.start - (now - to));
        }
    }

    /// Takes the values of the next tile, in face order.
    #[inline(always)]
    fn push(&mut self, values: &[u8]) {
        let layout = self.layout;
        if layout.stream {
            let (rows, stride) = self.place();
            scatter::<BYTES>(values, layout, 0, rows, stride);
        } else {
            let column = (self.before + self.held) / (layout.tile.width() / FACE_SIDE * BYTES);
            scatter::<BYTES>(values, layout, column, self.rows, layout.row_bytes);
        }
        self.advance();
    }
}

/// FP32 to BF16.
struct Bf16;

impl MakeTile for Bf16 {
    #[inline(always)]
    fn make(values: &[u8], tile: &mut [u8]) {
        elements::fp32_to_bf16_body(values, tile);
    }
}

/// FP32 or BF16, whose face rows have `BYTES`, to or from block floats of `BITS`.
struct BlockFloats<const BYTES: usize, const BITS: usize>;

impl<const BYTES: usize, const BITS: usize> MakeTile for BlockFloats<BYTES, BITS> {
    #[inline(always)]
    fn make(values: &[u8], tile: &mut [u8]) {
        let rows = values.len() / BYTES;
        let (exponents, datums) = tile.split_at_mut(tile.len() - rows * FACE_SIDE * BITS / 8);
        let (exponents, padding) = exponents.split_at_mut(rows);
        padding.fill(0);
        if BYTES == 64 {
            block::quantise_fp32::<BITS>(cast_slice(values), exponents, datums);
        } else {
            block::quantise_bf16::<BITS>(cast_slice(values), exponents, datums);
        }
    }
}

impl<const BYTES: usize, const BITS: usize> MakeValues for BlockFloats<BYTES, BITS> {
    #[inline(always)]
    fn make(exponents: &[u8], datums: &[u8], values: &mut [u8]) {
        if BYTES == 64 {
            block::unpack_fp32::<BITS>(exponents, datums, cast_slice_mut(values));
        } else {
            block::unpack_bf16::<BITS>(exponents, datums, cast_slice_mut(values));
        }
    }
}

/// Fills a row of tiles from rows of a matrix, with a face row of padding.
type PackKernel = unsafe fn(&[u8], Layout, &[u8], &mut [u8]);

macro_rules! kernels {
    ($($pack:ident: $fill:path;)* / $($unpack:ident: $read:path;)*) => {
        $(simd_kernel!($pack, $fill, (rows: &[u8], layout: Layout, pad: &[u8], out: &mut [u8]));)*
        $(simd_kernel!($unpack, $read, (tiles: &[u8], layout: Layout, rows: &mut [u8]));)*
    };
}

kernels! {
    tilize_bytes: tilize_row::<16>;
    tilize_halves: tilize_row::<32>;
    tilize_words: tilize_row::<64>;
    fp32_to_bf16: pack_row::<64, Bf16>;
    fp32_to_bfp8: pack_row::<64, BlockFloats<64, 8>>;
    fp32_to_bfp4: pack_row::<64, BlockFloats<64, 4>>;
    bf16_to_bfp8: pack_row::<32, BlockFloats<32, 8>>;
    bf16_to_bfp4: pack_row::<32, BlockFloats<32, 4>>;
    /
    untilize_bytes: untilize_row::<16>;
    untilize_halves: untilize_row::<32>;
    untilize_words: untilize_row::<64>;
    bfp8_to_fp32: unpack_row::<64, BlockFloats<64, 8>>;
    bfp4_to_fp32: unpack_row::<64, BlockFloats<64, 4>>;
    bfp8_to_bf16: unpack_row::<32, BlockFloats<32, 8>>;
    bfp4_to_bf16: unpack_row::<32, BlockFloats<32, 4>>;
}

/// Reads a row of tiles into rows of a matrix.
type UnpackKernel = unsafe fn(&[u8], Layout, &mut [u8]);

/// Rows of tiles with AVX-512: whole tiles directly between the matrix and their bytes, others as elsewhere.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{
        BlockFloats, Lanes, Layout, MOST_DATUMS, STRIP, Strip, cast_slice_mut, pack_tiles, stream, unpack_tiles,
    };
    use crate::convert::block_avx512 as whole;

    macro_rules! kernels {
        ($($pack:ident: $quantise:path, $unpack:ident: $read:path, $bytes:literal, $bits:literal;)*) => { $(
            #[target_feature(enable = "avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
            pub fn $pack(rows: &[u8], layout: Layout, pad: &[u8], out: &mut [u8]) {
                let count = layout.whole_tiles(rows.len(), $bytes);
                let (inside, edge) = out.split_at_mut(count * layout.tile_bytes);
                let mut made: Lanes<u32> = [0; MOST_DATUMS];
                let made: &mut [u8] = &mut cast_slice_mut(&mut made)[..layout.tile_bytes];
                for (column, out) in inside.chunks_exact_mut(layout.tile_bytes).enumerate() {
                    let rows = &rows[column * 2 * $bytes..];
                    if layout.stream {
                        $quantise(rows, layout.row_bytes, made);
                        stream::copy(out, made);
                    } else {
                        $quantise(rows, layout.row_bytes, out);
                    }
                }
                pack_tiles::<$bytes, BlockFloats<$bytes, $bits>>(rows, &layout, count, pad, edge);
                stream::finish();
            }

            #[target_feature(enable = "avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
            pub fn $unpack(tiles: &[u8], layout: Layout, rows: &mut [u8]) {
                let count = layout.whole_tiles(rows.len(), $bytes);
                let (inside, edge) = tiles.split_at(count * layout.tile_bytes);
                #[expect(clippy::large_stack_arrays, reason = "23 KiB, for one call that calls nothing deep")]
                let mut strip = [0; STRIP];
                let mut strip = Strip::<$bytes>::new(&layout, rows, &mut strip);
                for tile in inside.chunks_exact(layout.tile_bytes) {
                    let (rows, stride) = strip.place();
                    $read(tile, rows, stride);
                    strip.advance();
                }
                unpack_tiles::<$bytes, BlockFloats<$bytes, $bits>>(edge, &layout, &mut strip);
                stream::finish();
            }
        )* };
    }

    kernels! {
        fp32_to_bfp8: whole::quantise_fp32::<8>, bfp8_to_fp32: whole::unpack_fp32::<8>, 64, 8;
        fp32_to_bfp4: whole::quantise_fp32::<4>, bfp4_to_fp32: whole::unpack_fp32::<4>, 64, 4;
        bf16_to_bfp8: whole::quantise_bf16::<8>, bfp8_to_bf16: whole::unpack_bf16::<8>, 32, 8;
        bf16_to_bfp4: whole::quantise_bf16::<4>, bfp4_to_bf16: whole::unpack_bf16::<4>, 32, 4;
    }
}

/// A kernel for block floats: AVX-512's own at its level.
macro_rules! block_kernel {
    ($name:ident: $kernel:ty, $level:expr) => {{
        let kernel: $kernel = match $level.available() {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => avx512::$name,
            level => $name::at(level),
        };
        kernel
    }};
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
        (F::Float32, F::Float16B) => (fp32_to_bf16::at(level), pad),
        (F::Float32, F::Bfp8B) => (block_kernel!(fp32_to_bfp8: PackKernel, level), pad),
        (F::Float32, F::Bfp4B) => (block_kernel!(fp32_to_bfp4: PackKernel, level), pad),
        // Padding is a float32 value: it must not be rounded on the way into a block float.
        (F::Float16B, F::Bfp8B) if pad << 16 == pad_value.to_bits() => {
            (block_kernel!(bf16_to_bfp8: PackKernel, level), pad)
        }
        (F::Float16B, F::Bfp4B) if pad << 16 == pad_value.to_bits() => {
            (block_kernel!(bf16_to_bfp4: PackKernel, level), pad)
        }
        (_, F::Bfp8B | F::Bfp4B) => {
            let mut words = zeros::<u32>(values.len())?;
            elements::convert(values, F::Float32, bytemuck::cast_slice_mut(&mut words))?;
            let values = Values::Float32(bytemuck::cast_slice(&words));
            return pack(values, format, dims, tile, pad_value, buffer);
        }
        _ if from == format => (tilize(format, level)?, pad),
        _ => {
            let bytes = format.element_bytes().ok_or(ConvertError::Format(format))?;
            let mut rows = zeros(values.len() * bytes)?;
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
        Some(4) => tilize_words::at(level),
        Some(2) => tilize_halves::at(level),
        Some(_) => tilize_bytes::at(level),
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
    let layout = Layout::new(format, tile, dims.columns, value_bytes, buffer.len());
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
        (DataFormat::Bfp8B, 4) => block_kernel!(bfp8_to_fp32: UnpackKernel, level),
        (DataFormat::Bfp4B, 4) => block_kernel!(bfp4_to_fp32: UnpackKernel, level),
        (DataFormat::Bfp8B, 2) => block_kernel!(bfp8_to_bf16: UnpackKernel, level),
        (DataFormat::Bfp4B, 2) => block_kernel!(bfp4_to_bf16: UnpackKernel, level),
        _ => match format.element_bytes() {
            Some(4) => untilize_words::at(level),
            Some(2) => untilize_halves::at(level),
            Some(_) => untilize_bytes::at(level),
            None => return Err(ConvertError::Format(format)),
        },
    };
    let layout = Layout::new(format, tile, dims.columns, value_bytes, values.len());
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
