//! Conversions of whole host tensors.
//!
//! Values in rows become the raw buffer of a tensor, and back.
//!
//! This is the host library's work (`from_torch`, `to_torch`), with its rounding; the device's unpacker and packer are
//! in `tt-tensix`. A tensor is seen as a batch of matrices. With tiles, rows and columns are padded up to whole tiles,
//! which lie row-major over each matrix; without, values lie row-major and unpadded.
//!
//! Work is split over rows of tiles, so the number of threads cannot show in a result.
#[cfg(target_arch = "x86_64")]
mod block_avx512;
mod elements;
mod tiles;

use std::sync::{Mutex, PoisonError};

use tt_formats::{DataFormat, TileShape};

use crate::pool;

pub use elements::{Target, Values};

/// The reason for which a tensor cannot be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// No host tensor has this format.
    #[error("host tensors do not support the format {0:?}")]
    Format(DataFormat),
    /// Block floats exist in tiles only.
    #[error("{0:?} needs tiles: its datums share exponents in rows of a face")]
    BlockFloatRows(DataFormat),
    /// The values, or the buffer, are not as many as the dimensions say.
    #[error("the tensor needs {expected} {unit}, got {got}")]
    Length {
        /// What is counted.
        unit: &'static str,
        /// What the dimensions say.
        expected: usize,
        /// What there is.
        got: usize,
    },
    /// The number of bytes does not fit the address space.
    #[error("a tensor of {0:?} is larger than the address space")]
    TooLarge(Dims),
    /// The host has not so much memory.
    #[error("the host cannot allocate {0} bytes")]
    Memory(usize),
    /// The result array has another type than the format.
    #[error("{0:?} is not unpacked to this type")]
    Target(DataFormat),
}

/// Zeros, which the host may not have room for.
///
/// A tensor of a few values takes whole tiles.
///
/// # Errors
/// [`ConvertError::Memory`] if it does not.
pub fn zeros<T: bytemuck::Zeroable>(count: usize) -> Result<Vec<T>, ConvertError> {
    bytemuck::allocation::try_zeroed_vec(count).map_err(|()| ConvertError::Memory(count.saturating_mul(size_of::<T>())))
}

/// A tensor seen as a batch of matrices, without padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dims {
    /// Matrices.
    pub batch: usize,
    /// Rows of each.
    pub rows: usize,
    /// Columns of each.
    pub columns: usize,
}

impl Dims {
    /// Number of values.
    ///
    /// # Errors
    /// [`ConvertError::TooLarge`] if it does not fit.
    pub fn values(self) -> Result<usize, ConvertError> {
        let values = self.batch.checked_mul(self.rows).and_then(|n| n.checked_mul(self.columns));
        values.filter(|n| n.checked_mul(8).is_some()).ok_or(ConvertError::TooLarge(self))
    }

    /// Rows of tiles in the whole batch, and tiles in each of them.
    fn tile_grid(self, tile: TileShape) -> Option<(usize, usize)> {
        let rows = self.batch.checked_mul(self.rows.div_ceil(tile.height()))?;
        Some((rows, self.columns.div_ceil(tile.width())))
    }
}

/// Bytes of the raw buffer of a tensor.
///
/// # Errors
/// [`ConvertError`] for block floats without tiles, or if the number does not fit.
pub fn buffer_bytes(format: DataFormat, dims: Dims, tile: Option<TileShape>) -> Result<usize, ConvertError> {
    let values = dims.values()?;
    match (tile, format.element_bytes()) {
        (Some(tile), _) => {
            let (rows, tiles) = dims.tile_grid(tile).ok_or(ConvertError::TooLarge(dims))?;
            let bytes = rows.checked_mul(tiles).and_then(|n| n.checked_mul(format.tile_bytes(tile)));
            bytes.filter(|&n| isize::try_from(n).is_ok()).ok_or(ConvertError::TooLarge(dims))
        }
        (None, Some(bytes)) => Ok(values * bytes),
        (None, None) => Err(ConvertError::BlockFloatRows(format)),
    }
}

/// Writes the raw buffer of a tensor.
///
/// `pad_value` fills the tile padding, converted as the values are.
///
/// # Errors
/// [`ConvertError`] if the format, the tiles or the lengths do not allow it.
pub fn pack(
    values: Values<'_>,
    format: DataFormat,
    dims: Dims,
    tile: Option<TileShape>,
    pad_value: f32,
    buffer: &mut [u8],
) -> Result<(), ConvertError> {
    check_length("values", dims.values()?, values.len())?;
    check_length("bytes", buffer_bytes(format, dims, tile)?, buffer.len())?;
    let Some(tile) = tile else {
        return elements::convert(values, format, buffer);
    };
    tiles::pack(values, format, dims, tile, pad_value, buffer)
}

/// Reads the values of a raw buffer, without the padding.
///
/// `values` has the natural type of the format.
///
/// # Errors
/// [`ConvertError`] if the format, the tiles, the type or the lengths do not allow it.
pub fn unpack(
    buffer: &[u8],
    format: DataFormat,
    dims: Dims,
    tile: Option<TileShape>,
    values: Target<'_>,
) -> Result<(), ConvertError> {
    check_length("values", dims.values()?, values.len())?;
    check_length("bytes", buffer_bytes(format, dims, tile)?, buffer.len())?;
    if !values.holds(format) {
        return Err(ConvertError::Target(format));
    }
    let (count, values) = (values.len(), values.into_bytes());
    if count == 0 {
        return Ok(());
    }
    match tile {
        None => values.copy_from_slice(buffer),
        Some(tile) => tiles::unpack(buffer, format, dims, tile, values.len() / count, values)?,
    }
    Ok(())
}

/// Every matrix transposed, and the dimensions after it.
///
/// # Errors
/// [`ConvertError::Length`] if there are not as many values as `dims` says.
pub fn transpose<T: Copy>(values: &[T], dims: Dims) -> Result<(Vec<T>, Dims), ConvertError> {
    check_length("values", dims.values()?, values.len())?;
    let mut transposed = Vec::new();
    transposed.try_reserve_exact(values.len()).map_err(|_| ConvertError::Memory(size_of_val(values)))?;
    for matrix in values.chunks_exact((dims.rows * dims.columns).max(1)) {
        for column in 0..dims.columns {
            transposed.extend(matrix.iter().skip(column).step_by(dims.columns));
        }
    }
    Ok((transposed, Dims { rows: dims.columns, columns: dims.rows, ..dims }))
}

fn check_length(unit: &'static str, expected: usize, got: usize) -> Result<(), ConvertError> {
    if expected == got { Ok(()) } else { Err(ConvertError::Length { unit, expected, got }) }
}

/// Calls `work(i, chunk)` for every chunk of `buffer`, on all threads.
fn for_each_chunk(buffer: &mut [u8], chunk_bytes: usize, work: impl Fn(usize, &mut [u8]) + Sync) {
    let chunks = buffer.len().checked_div(chunk_bytes).unwrap_or(0);
    let rest = buffer.len() - chunks * chunk_bytes;
    for_each_part(buffer, (0..chunks).map(|_| chunk_bytes).chain((rest > 0).then_some(rest)), work);
}

/// Calls `work(i, part)` for parts of these lengths, on all threads.
fn for_each_part(buffer: &mut [u8], lengths: impl Iterator<Item = usize>, work: impl Fn(usize, &mut [u8]) + Sync) {
    let mut rest = buffer;
    let parts: Vec<_> = lengths
        .map(|length| {
            let (part, after) = std::mem::take(&mut rest).split_at_mut(length);
            rest = after;
            Mutex::new(part)
        })
        .collect();
    let bytes = parts.first().map_or(0, |part| part.lock().unwrap_or_else(PoisonError::into_inner).len());
    pool::for_each_sized(parts.len(), bytes, |i| {
        work(i, &mut parts[i].lock().unwrap_or_else(PoisonError::into_inner));
    });
}
