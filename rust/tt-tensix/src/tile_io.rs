//! Tile I/O: formats in registers, `Dst` and L1.
//!
//! Which register format a tile is unpacked to, what `Dst` holds for it, and whether bytes in L1 are words of a
//! register as they are.

use tt_cpu::{Level, simd_kernel};
use tt_formats::{DataFormat, TileShape};

use crate::pack::{EdgeMask, PackConfig, Relu};
use crate::regs::{DstFormat, HalfTile, TILE_DATUMS};
use crate::unpack;

/// One tile in registers, in face order.
pub type Tile = [u32; TILE_DATUMS];

/// An empty register tile.
pub const ZERO: Tile = [0; TILE_DATUMS];

/// The path of one buffer's tiles into the registers.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// Format in L1.
    pub format: DataFormat,
    /// Register format after the unpacker.
    pub register: DataFormat,
    direct: bool,
}

impl Input {
    /// The unpacker setting of a buffer for `SrcA` or `SrcB`.
    pub fn new(format: DataFormat, dst32: bool) -> Self {
        let register = unpack::register_format(format, dst32);
        // 32-bit integers have no Src form.
        let direct = matches!(format, DataFormat::Int32 | DataFormat::UInt32);
        Self { format, register, direct }
    }

    /// The same for a buffer flagged unpack-to-dest.
    ///
    /// 32-bit data bypass Src when Dst is 32 bits wide. Bytes come out of the move through Src as the integers they
    /// are.
    pub fn direct_to_dst(format: DataFormat, dst32: bool) -> Self {
        let whole = matches!(format, DataFormat::Float32 | DataFormat::Int32 | DataFormat::UInt32 | DataFormat::UInt8);
        let direct = dst32 && whole;
        Self { direct, ..Self::new(format, dst32) }
    }

    /// Returns true if a tile in Dst has the words of L1.
    pub fn is_words(self) -> bool {
        self.direct && self.format.tile_bytes(TileShape::FULL) == size_of::<Tile>()
    }

    /// Unpacks a tile to a Src register.
    pub fn to_src(self, bytes: &[u8], out: &mut Tile) {
        unpack::to_src(self.format, self.register, bytes, out);
    }

    /// Returns true if tiles enter Dst past Src.
    pub fn skips_src(self) -> bool {
        self.direct
    }
}

/// An L1 tile's words, if they are host words.
pub fn words(l1: &[u8]) -> Option<&Tile> {
    if cfg!(target_endian = "little") { bytemuck::try_from_bytes(l1).ok() } else { None }
}

/// [`words`] to be written.
pub fn words_mut(l1: &mut [u8]) -> Option<&mut Tile> {
    if cfg!(target_endian = "little") { bytemuck::try_from_bytes_mut(l1).ok() } else { None }
}

/// An L1 tile of halves to write, if they are host halves.
pub fn halves_mut(l1: &mut [u8]) -> Option<&mut HalfTile> {
    if cfg!(target_endian = "little") { bytemuck::try_from_bytes_mut(l1).ok() } else { None }
}

/// Returns true if a tile in L1 has the words of Dst.
pub fn packs_words(packer: &PackConfig) -> bool {
    use DataFormat::{Float32, Int32, UInt32};
    let kept = match packer.dst {
        DstFormat::Fp32 => matches!(packer.output, Float32 | Int32 | UInt32),
        DstFormat::Int32 => matches!(packer.output, Int32 | UInt32),
        _ => false,
    };
    let plain = packer.relu == Relu::None && packer.edge == EdgeMask::None && !packer.l1_accumulate;
    kept && plain && packer.intermediate == packer.output
}

/// Returns the `Dst` format for operands of this format.
pub fn dst_format(operand: DataFormat, dst32: bool) -> DstFormat {
    match operand {
        DataFormat::Int32 | DataFormat::UInt32 | DataFormat::Int8 | DataFormat::UInt8 => DstFormat::Int32,
        DataFormat::UInt16 => DstFormat::UInt16,
        _ if dst32 => DstFormat::Fp32,
        _ if operand.has_5_bit_exponent() => DstFormat::Fp16,
        _ => DstFormat::Bf16,
    }
}

/// Returns a function's `Dst` format for these formats.
///
/// Those of the output `output` and of the operands.
pub fn result_format(operand: DataFormat, output: DataFormat, dst32: bool) -> DstFormat {
    if output.is_integer() {
        dst_format(output, dst32)
    } else if operand.is_integer() {
        if dst32 { DstFormat::Fp32 } else { DstFormat::Bf16 }
    } else {
        dst_format(operand, dst32)
    }
}

/// A positive FP32 number as a Src word of this format.
///
/// It is given by its bits; bits that do not fit are cut.
pub fn src_word(register: DataFormat, bits: u32) -> u32 {
    if register == DataFormat::Tf32 { bits >> 13 } else { bits >> 16 << 3 }
}

/// Writes a tile of Src words that are bfloat16 numbers as bfloat16.
///
/// A word has three bits below those.
pub fn narrow(words: &Tile, out: &mut [u8]) {
    narrow_kernel::run(Level::current(), words, out);
}

#[inline(always)]
fn narrow_body(words: &Tile, out: &mut [u8]) {
    for (datum, word) in out.as_chunks_mut::<2>().0.iter_mut().zip(words) {
        *datum = ((*word >> 3) as u16).to_le_bytes();
    }
}

simd_kernel!(narrow_kernel, super::narrow_body, (words: &Tile, out: &mut [u8]));
