//! Tiles that are not 32x32. Registers hold their datums where a 32x32 tile has them, the rest of the tile is padding.

use tt_formats::{DataFormat, TileShape};
use tt_tensix::pack::{EdgeMask, Packer};
use tt_tensix::regs::{TILE_DATUMS, index};
use tt_tensix::unpack::Unpacker;

use super::{Tile, ZERO};
use crate::error::FaultKind;

/// Datums with less than which no number is, as `SrcA` and `SrcB` hold them: padding that never is a maximum.
pub(crate) const LEAST: u32 = 0x7_ffff;

/// Unpacks a tile of any shape; places that the shape does not have become `padding`.
pub(crate) fn unpack(
    unpacker: &Unpacker,
    (format, shape): (DataFormat, TileShape),
    bytes: &[u8],
    tile: &mut Tile,
    padding: u32,
) {
    if shape == TileShape::FULL {
        unpacker.unpack(bytes, tile);
        return;
    }
    let mut whole = [0; TILE_DATUMS * 4];
    let whole = &mut whole[..unpacker.tile_bytes()];
    let (exponents, datums) = bytes.split_at(format.exponent_bytes(shape));
    let section = format.exponent_bytes(TileShape::FULL);
    whole[..exponents.len()].copy_from_slice(exponents);
    whole[section..section + datums.len()].copy_from_slice(datums);
    let mut words = ZERO;
    unpacker.unpack(whole, &mut words);
    tile.fill(padding);
    for (place, &word) in words.iter().enumerate().take(shape.datums()) {
        let (row, column) = shape.position(place);
        tile[index(row, column)] = word;
    }
}

/// Packs a tile of any shape onto `bytes`. For shapes other than 32x32 `packer` must have no edge mask of its own.
pub(crate) fn pack(
    packer: &Packer,
    (format, shape): (DataFormat, TileShape),
    edge: EdgeMask,
    tile: &Tile,
    bytes: &mut [u8],
) {
    if shape == TileShape::FULL {
        packer.pack(tile, bytes);
        return;
    }
    let mut words = ZERO;
    for (place, word) in words.iter_mut().enumerate().take(shape.datums()) {
        let (row, column) = shape.position(place);
        let taken = match edge {
            EdgeMask::None => true,
            EdgeMask::Column0 => column == 0,
            EdgeMask::Row0 => row == 0,
            EdgeMask::Datum0 => row == 0 && column == 0,
        };
        *word = if taken { tile[index(row, column)] } else { 0 };
    }
    let mut whole = [0; TILE_DATUMS * 4];
    let whole = &mut whole[..packer.tile_bytes()];
    let section = format.exponent_bytes(TileShape::FULL);
    let (exponents, datums) = bytes.split_at_mut(format.exponent_bytes(shape));
    // What accumulation in L1 adds to.
    whole[..exponents.len()].copy_from_slice(exponents);
    whole[section..section + datums.len()].copy_from_slice(datums);
    packer.pack(&words, whole);
    exponents.copy_from_slice(&whole[..exponents.len()]);
    datums.copy_from_slice(&whole[section..section + datums.len()]);
}

/// Instructions of the FPU, which work on 8x16 datums, that a tile takes.
pub(crate) fn blocks(shape: TileShape) -> u64 {
    (shape.height().div_ceil(8) * (shape.width() / 16)) as u64
}

/// The shape of a product.
pub(crate) fn product(left: TileShape, right: TileShape, transpose: bool) -> Result<TileShape, FaultKind> {
    let name = |shape: TileShape| format!("{}x{}", shape.height(), shape.width());
    let both = format!("tile products of {} by {}", name(left), name(right));
    if left == TileShape::FULL && right == TileShape::FULL {
        return Ok(TileShape::FULL);
    }
    if left.width() != right.height() {
        return Err(FaultKind::Argument(format!("{both}: the inner dimensions differ")));
    }
    if transpose {
        return Err(FaultKind::Unsupported(format!("{both} with a transposed right operand")));
    }
    let result = TileShape::new(left.height(), right.width());
    match result {
        // The vendor's kernels refuse the product of two single faces.
        Some(shape) if left.width() + right.width() > 32 => Ok(shape),
        _ => Err(FaultKind::Unsupported(format!("{both}: the FPU's programs do not cover it"))),
    }
}

/// Only whole tiles can do this.
pub(crate) fn require_full(shape: TileShape, what: &str) -> Result<(), FaultKind> {
    if shape == TileShape::FULL {
        return Ok(());
    }
    let (height, width) = (shape.height(), shape.width());
    Err(FaultKind::Unsupported(format!(
        "{what} of tiles of {height}x{width}: what the chip does is not specified; use 32x32"
    )))
}

/// Operands must have one shape.
pub(crate) fn require_same(a: TileShape, b: TileShape) -> Result<(), FaultKind> {
    if a == b {
        return Ok(());
    }
    let name = |shape: TileShape| format!("{}x{}", shape.height(), shape.width());
    Err(FaultKind::Argument(format!("the operands are tiles of {} and of {}; give both one shape", name(a), name(b))))
}
