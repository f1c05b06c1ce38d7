//! The unpacker: L1 tiles to `SrcA`, `SrcB` or `Dst`.
//!
//! Source: `docs/chip/numerics.md` section 3.
//!
//! Datums keep their place: L1 and register tiles are both in face order. Conversions are chosen once per operator
//! ([`Unpacker`]) and applied to many tiles; [`to_src`] and [`to_dst`] are for single ones.
pub mod block_float;
mod kernels;

use std::fmt;

use tt_cpu::Level;
use tt_formats::unpack::Unpacks;
use tt_formats::{DataFormat, TileShape, Wormhole};

use crate::regs::TILE_DATUMS;
use crate::transpose;
use kernels::Kernel;

pub use crate::regs::Bf16Page;
pub use block_float::BlockFloatDecoder;

/// The unpacker has no such conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnpackError {
    format: DataFormat,
    /// `None`: to `Dst`.
    register: Option<DataFormat>,
}

impl fmt::Display for UnpackError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.register {
            Some(register) => {
                write!(formatter, "the unpacker does not convert {:?} to {register:?} in Src", self.format)
            }
            None => write!(formatter, "the unpacker does not convert {:?} for Dst", self.format),
        }
    }
}

impl std::error::Error for UnpackError {}

/// TT-NN's register format for a tensor format.
///
/// `docs/chip/numerics.md` section 11.
pub fn register_format(format: DataFormat, dst_is_32_bit: bool) -> DataFormat {
    match (format, dst_is_32_bit) {
        (DataFormat::Float32, true) => DataFormat::Tf32,
        (DataFormat::Float32, false) => DataFormat::Float16B,
        (DataFormat::Fp8E4M3, _) => DataFormat::Float16,
        _ => format,
    }
}

/// A conversion by the rules of a generation, ready for tiles.
#[derive(Clone, Copy)]
pub struct Unpacker {
    kernel: Kernel,
    tile_bytes: usize,
}

impl Unpacker {
    /// From L1 `format` to `register` in `SrcA` or `SrcB`.
    ///
    /// Tiles hold 19-bit words there.
    ///
    /// `register` is `Tf32`, `Float16B` or `Float16` for `Float32`, `Float16` for `Fp8E4M3`, and `format` itself for
    /// everything else.
    ///
    /// # Errors
    /// [`UnpackError`] if the unpacker has no such conversion.
    pub fn to_src<G: Unpacks>(format: DataFormat, register: DataFormat, level: Level) -> Result<Self, UnpackError> {
        let kernel = kernels::to_src::<G>(format, register, level);
        Self::new(kernel, UnpackError { format, register: Some(register) })
    }

    /// From L1 `format` straight to `Dst`, at FP32's bit positions.
    ///
    /// # Errors
    /// [`UnpackError`] if the unpacker has no such conversion.
    pub fn to_dst<G: Unpacks>(format: DataFormat, level: Level) -> Result<Self, UnpackError> {
        Self::new(kernels::to_dst::<G>(format, level), UnpackError { format, register: None })
    }

    fn new(kernel: Option<Kernel>, error: UnpackError) -> Result<Self, UnpackError> {
        let kernel = kernel.ok_or(error)?;
        Ok(Self { kernel, tile_bytes: error.format.tile_bytes(TileShape::FULL) })
    }

    /// Bytes of a tile in L1.
    pub fn tile_bytes(&self) -> usize {
        self.tile_bytes
    }

    /// Unpacks one 32x32 tile.
    ///
    /// # Panics
    /// If `l1` is not exactly one tile.
    #[inline]
    pub fn unpack(&self, l1: &[u8], registers: &mut [u32; TILE_DATUMS]) {
        assert_eq!(l1.len(), self.tile_bytes, "bytes of one tile");
        // SAFETY: `kernels` hands out versions for levels that the host has.
        unsafe { (self.kernel)(l1, registers) }
    }
}

/// Unpacks a 32x32 tile to `SrcA` or `SrcB`, see [`Unpacker::to_src`].
///
/// Generations agree on the formats of tensors.
///
/// # Panics
/// If there is no such conversion, or `l1` is not exactly one tile.
pub fn to_src(format: DataFormat, register: DataFormat, l1: &[u8], registers: &mut [u32; TILE_DATUMS]) {
    match Unpacker::to_src::<Wormhole>(format, register, Level::current()) {
        Ok(unpacker) => unpacker.unpack(l1, registers),
        Err(error) => panic!("{error}"),
    }
}

/// Unpacks a 32x32 tile to `Dst`, see [`Unpacker::to_dst`] and [`to_src`].
///
/// # Panics
/// If there is no such conversion, or `l1` is not exactly one tile.
pub fn to_dst(format: DataFormat, l1: &[u8], registers: &mut [u32; TILE_DATUMS]) {
    match Unpacker::to_dst::<Wormhole>(format, Level::current()) {
        Ok(unpacker) => unpacker.unpack(l1, registers),
        Err(error) => panic!("{error}"),
    }
}

/// Transposes a whole 32x32 tile.
///
/// The unpacker's transpose inside faces, and faces 1 and 2 exchanged.
pub fn transpose(tile: &[u32; TILE_DATUMS], transposed: &mut [u32; TILE_DATUMS]) {
    transpose::tile(Level::current(), tile, transposed);
}

/// [`transpose`] of a 16-bit tile, two datums in a word.
///
/// The first is in the lower half. The lines of a face of the result follow each other as [`line_of_halves`] says.
pub fn transpose_halves(tile: &[u32; TILE_DATUMS / 2], transposed: &mut [u32; TILE_DATUMS / 2]) {
    transpose::half_tile(Level::current(), tile, transposed);
}

/// Returns the face row of this line in the result of [`transpose_halves`].
pub const fn line_of_halves(line: usize) -> usize {
    transpose::half_line(line)
}
