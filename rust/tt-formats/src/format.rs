//! Tensor formats in device memory, with their codes.
//!
//! They are the codes that the chip and its host library use.
use crate::tile::TileShape;

/// Datums that share one exponent in a block-float format.
///
/// One row of a face.
pub const GROUP: usize = 16;

/// A format of datums in memory.
///
/// The discriminant is the code that the hardware (0 to 15) or the host library uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum DataFormat {
    /// IEEE single precision.
    Float32 = 0,
    /// `S1 E5 M10`; the largest exponent is an ordinary binade, there is no NaN.
    Float16 = 1,
    /// Block float, 5-bit shared exponent, sign and 7 magnitude bits.
    Bfp8 = 2,
    /// Block float, 5-bit shared exponent, sign and 3 magnitude bits.
    Bfp4 = 3,
    /// `S1 E8 M10` in the upper bits of a 32-bit word.
    Tf32 = 4,
    /// bfloat16, `S1 E8 M7`.
    Float16B = 5,
    /// `bfloat8_b`: block float, 8-bit shared exponent, sign and 7 magnitude bits.
    Bfp8B = 6,
    /// `bfloat4_b`: block float, 8-bit shared exponent, sign and 3 magnitude bits.
    Bfp4B = 7,
    /// 32-bit integer; sign and magnitude in the packer's view.
    Int32 = 8,
    /// 16 opaque bits.
    UInt16 = 9,
    /// FP8 e5m2.
    Lf8 = 10,
    /// Block float, 5-bit shared exponent, sign and 1 magnitude bit.
    Bfp2 = 11,
    /// 8-bit integer, sign and magnitude in the unpacker's view.
    Int8 = 14,
    /// Block float, 8-bit shared exponent, sign and 1 magnitude bit.
    Bfp2B = 15,
    /// 32-bit unsigned integer.
    UInt32 = 24,
    /// FP8 e4m3, Blackhole only.
    Fp8E4M3 = 26,
    /// 8-bit unsigned integer.
    UInt8 = 30,
}

impl DataFormat {
    /// Every format, in the order of the codes.
    pub const ALL: [Self; 17] = [
        Self::Float32,
        Self::Float16,
        Self::Bfp8,
        Self::Bfp4,
        Self::Tf32,
        Self::Float16B,
        Self::Bfp8B,
        Self::Bfp4B,
        Self::Int32,
        Self::UInt16,
        Self::Lf8,
        Self::Bfp2,
        Self::Int8,
        Self::Bfp2B,
        Self::UInt32,
        Self::Fp8E4M3,
        Self::UInt8,
    ];

    /// The format with this code.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.code() == code)
    }

    /// The code of the chip or of the host library.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Bits of one datum, without its share of a common exponent.
    pub const fn datum_bits(self) -> usize {
        match self {
            Self::Float32 | Self::Tf32 | Self::Int32 | Self::UInt32 => 32,
            Self::Float16 | Self::Float16B | Self::UInt16 => 16,
            Self::Bfp8 | Self::Bfp8B | Self::Lf8 | Self::Int8 | Self::Fp8E4M3 | Self::UInt8 => 8,
            Self::Bfp4 | Self::Bfp4B => 4,
            Self::Bfp2 | Self::Bfp2B => 2,
        }
    }

    /// Bytes of one datum; `None` for block floats, whose datums share exponents.
    pub const fn element_bytes(self) -> Option<usize> {
        if self.is_block_float() { None } else { Some(self.datum_bits() / 8) }
    }

    /// True if sixteen datums share an exponent.
    pub const fn is_block_float(self) -> bool {
        matches!(self, Self::Bfp8 | Self::Bfp4 | Self::Bfp2 | Self::Bfp8B | Self::Bfp4B | Self::Bfp2B)
    }

    /// True for floats and block floats with 5 exponent bits in registers.
    pub const fn has_5_bit_exponent(self) -> bool {
        matches!(self, Self::Float16 | Self::Lf8 | Self::Fp8E4M3 | Self::Bfp8 | Self::Bfp4 | Self::Bfp2)
    }

    /// True for integers and opaque words.
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::Int32 | Self::UInt32 | Self::UInt16 | Self::Int8 | Self::UInt8)
    }

    /// Bytes of the exponent section that opens a tile.
    ///
    /// 0 unless block float. Padded to whole 16-byte words.
    pub const fn exponent_bytes(self, shape: TileShape) -> usize {
        if self.is_block_float() { (shape.datums() / GROUP).next_multiple_of(16) } else { 0 }
    }

    /// Bytes of a tile: exponent section, then datums.
    pub const fn tile_bytes(self, shape: TileShape) -> usize {
        self.exponent_bytes(shape) + shape.datums() * self.datum_bits() / 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_found_again() {
        for format in DataFormat::ALL {
            assert_eq!(DataFormat::from_code(format.code()), Some(format));
        }
        assert_eq!(DataFormat::from_code(12), None);
    }

    #[test]
    fn tile_sizes_are_those_of_the_vendor() {
        let bytes = |format: DataFormat, h, w| format.tile_bytes(TileShape::new(h, w).expect("valid shape"));
        assert_eq!(bytes(DataFormat::Float32, 32, 32), 4096);
        assert_eq!(bytes(DataFormat::Float16B, 32, 32), 2048);
        assert_eq!(bytes(DataFormat::UInt8, 32, 32), 1024);
        assert_eq!(bytes(DataFormat::Fp8E4M3, 32, 32), 1024);
        assert_eq!(bytes(DataFormat::Bfp8B, 32, 32), 1088);
        assert_eq!(bytes(DataFormat::Bfp4B, 32, 32), 576);
        assert_eq!(bytes(DataFormat::Bfp2, 32, 32), 320);
        assert_eq!(bytes(DataFormat::Bfp8B, 4, 32), 144);
        assert_eq!(bytes(DataFormat::Bfp8B, 1, 32), 48);
        assert_eq!(bytes(DataFormat::Bfp4B, 16, 16), 144);
        assert_eq!(bytes(DataFormat::Bfp4B, 1, 32), 32);
        assert_eq!(bytes(DataFormat::Float16B, 8, 16), 256);
    }
}
