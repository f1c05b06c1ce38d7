//! Tiles that are not 32x32.
//!
//! Registers hold their datums where a 32x32 tile has them, the rest of the tile is padding.

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

#[cfg(test)]
mod tests {
    use tt_cpu::Level;
    use tt_formats::Wormhole;
    use tt_tensix::pack::{DstFormat, PackConfig};

    use super::*;

    fn shape(height: usize, width: usize) -> TileShape {
        TileShape::new(height, width).expect("a shape")
    }

    #[test]
    fn small_tiles_lie_in_registers_where_a_whole_one_has_their_datums() {
        let (format, small) = (DataFormat::Float16B, shape(16, 32));
        let unpacker = Unpacker::to_dst::<Wormhole>(DataFormat::Float32, Level::Scalar).expect("an unpacker");
        let bytes: Vec<u8> = (0..512_u32).flat_map(|place| (1.0 + place as f32).to_bits().to_le_bytes()).collect();
        let mut tile = ZERO;
        unpack(&unpacker, (DataFormat::Float32, small), &bytes, &mut tile, 77);
        for row in 0..32 {
            for column in 0..32 {
                let word = tile[index(row, column)];
                let place = (row < 16).then(|| small.index(row, column));
                assert_eq!(word, place.map_or(77, |place| (1.0 + place as f32).to_bits()), "{row} {column}");
            }
        }
        // Packed with an edge mask, the rest is zeros.
        let config = PackConfig::precise(DstFormat::Fp32, format, false);
        let packer = Packer::new(&config, Level::Scalar).expect("a packer");
        for (edge, kept) in [
            (EdgeMask::None, (16, 32)),
            (EdgeMask::Column0, (16, 1)),
            (EdgeMask::Row0, (1, 32)),
            (EdgeMask::Datum0, (1, 1)),
        ] {
            let mut packed = vec![0xff; 1024];
            pack(&packer, (format, small), edge, &tile, &mut packed);
            for row in 0..16 {
                for column in 0..32 {
                    let place = small.index(row, column);
                    let word = u16::from_le_bytes([packed[2 * place], packed[2 * place + 1]]);
                    let kept = row < kept.0 && column < kept.1;
                    let rounded = ((1.0 + place as f32).to_bits() >> 16) as u16;
                    assert!(if kept { word.abs_diff(rounded) <= 1 } else { word == 0 }, "{edge:?} {row} {column}");
                }
            }
        }
    }

    #[test]
    fn exponents_of_small_tiles_come_before_their_datums() {
        let (format, small) = (DataFormat::Bfp8B, shape(16, 16));
        let config = PackConfig::precise(DstFormat::Fp32, format, false);
        let packer = Packer::new(&config, Level::Scalar).expect("a packer");
        let unpacker =
            Unpacker::to_src::<Wormhole>(format, tt_tensix::unpack::register_format(format, true), Level::Scalar);
        let unpacker = unpacker.expect("an unpacker");
        let mut tile = ZERO;
        for row in 0..16 {
            (0..16).for_each(|column| tile[index(row, column)] = (2_f32.powi(row as i32) * 1.5).to_bits());
        }
        let mut packed = vec![0; format.tile_bytes(small)];
        pack(&packer, (format, small), EdgeMask::None, &tile, &mut packed);
        let exponents: Vec<u8> = (0..16).map(|row| 127 + row).collect();
        assert_eq!(packed[..16], exponents);
        let mut whole = ZERO;
        unpack(&unpacker, (format, small), &packed, &mut whole, 9);
        let mut expected = vec![0; format.tile_bytes(TileShape::FULL)];
        packer.pack(&tile, &mut expected);
        let mut words = ZERO;
        unpacker.unpack(&expected, &mut words);
        for row in 0..32 {
            for column in 0..32 {
                let word = if row < 16 && column < 16 { words[index(row, column)] } else { 9 };
                assert_eq!(whole[index(row, column)], word, "{row} {column}");
            }
        }
    }

    #[test]
    fn products_have_the_shapes_that_the_fpu_has_programs_for() {
        for (left, right, made) in [
            ((32, 32), (32, 32), Some((32, 32))),
            ((16, 32), (32, 32), Some((16, 32))),
            ((32, 32), (32, 16), Some((32, 16))),
            ((8, 32), (32, 16), Some((8, 16))),
            ((32, 16), (16, 32), Some((32, 32))),
            ((16, 16), (16, 16), None),
            ((32, 16), (32, 32), None),
        ] {
            let found = product(shape(left.0, left.1), shape(right.0, right.1), false);
            assert_eq!(found.ok(), made.map(|(height, width)| shape(height, width)), "{left:?} {right:?}");
        }
        let turned = product(shape(16, 32), shape(32, 32), true);
        let text = "tile products of 16x32 by 32x32 with a transposed right operand".to_owned();
        assert_eq!(turned, Err(FaultKind::Unsupported(text)));
        assert_eq!(product(TileShape::FULL, TileShape::FULL, true), Ok(TileShape::FULL));
        let counts = [(32, 32, 8), (16, 32, 4), (8, 32, 2), (4, 32, 2), (8, 16, 1), (32, 16, 4)];
        for (height, width, count) in counts {
            assert_eq!(blocks(shape(height, width)), count, "{height} {width}");
        }
    }

    #[test]
    fn steps_that_need_whole_tiles_or_equal_ones_say_so() {
        assert_eq!(require_full(TileShape::FULL, "this"), Ok(()));
        let text = "this of tiles of 16x32: what the chip does is not specified; use 32x32".to_owned();
        assert_eq!(require_full(shape(16, 32), "this"), Err(FaultKind::Unsupported(text)));
        assert_eq!(require_same(shape(16, 32), shape(16, 32)), Ok(()));
        let text = "the operands are tiles of 16x32 and of 32x16; give both one shape".to_owned();
        assert_eq!(require_same(shape(16, 32), shape(32, 16)), Err(FaultKind::Argument(text)));
    }
}
