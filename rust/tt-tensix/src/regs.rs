//! The engine's register files and modes.
//!
//! A register tile is 1024 words in face order: datum `i = face * 256 + row * 16 + column`, the order of tiles in L1.
//! Source: `docs/chip/numerics.md` sections 1 and 2.

/// Datums of a 32x32 tile.
pub const TILE_DATUMS: usize = 1024;
/// Datums of one of the four 16x16 faces of a tile.
pub const FACE_DATUMS: usize = 256;
/// Rows and columns of a face.
pub const FACE_SIDE: usize = 16;

/// Row and column of a datum of a tile in face order.
#[inline(always)]
pub const fn position(datum: usize) -> (usize, usize) {
    let (face, inside) = (datum / FACE_DATUMS, datum % FACE_DATUMS);
    (face / 2 * FACE_SIDE + inside / FACE_SIDE, face % 2 * FACE_SIDE + inside % FACE_SIDE)
}

/// Datum of a tile in face order.
#[inline(always)]
pub const fn index(row: usize, column: usize) -> usize {
    (row / FACE_SIDE * 2 + column / FACE_SIDE) * FACE_DATUMS + row % FACE_SIDE * FACE_SIDE + column % FACE_SIDE
}

/// A tile in `SrcA` or `SrcB`: 19-bit words `S(1) E(8) M(10)`.
///
/// BF16 has the low three mantissa bits zero, FP16 its five exponent bits in the low bits of `E`,
/// INT8 is `S, E = 16 (0 for zero), M = magnitude`.
pub type Src = [u32; TILE_DATUMS];

/// A tile in `Dst`, every format at the bit positions of FP32.
///
/// FP32 as it is; BF16 shifted left by 16; FP16 as sign in bit 31, five exponent bits at 27:23, mantissa at 22:13;
/// INT32 as sign and magnitude; UINT16 in the low half.
pub type Dst = [u32; TILE_DATUMS];

/// A 16-bit `Dst` tile's upper word halves.
///
/// The lower ones are zero.
pub type HalfTile = [u16; TILE_DATUMS];

/// A BF16 tile as it lies in L1, in face order.
pub type Bf16Page = [u8; 2 * TILE_DATUMS];

/// The content of `Dst`: two 16-bit floats, 32-bit floats, or integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DstFormat {
    /// 16-bit mode, `S1 E8 M7`.
    Bf16,
    /// 16-bit mode, `S1 E5 M10`.
    Fp16,
    /// 32-bit mode, `S1 E8 M23`.
    Fp32,
    /// 32-bit mode, sign and magnitude.
    Int32,
    /// 16-bit mode, opaque.
    UInt16,
}

impl DstFormat {
    /// True for the 32-bit modes ("fp32 dest accumulation", or integer math).
    pub const fn is_32_bit(self) -> bool {
        matches!(self, Self::Fp32 | Self::Int32)
    }
}

/// The number of passes over mantissa parts in a multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum MathFidelity {
    /// Phase 0 only.
    LoFi = 1,
    /// Phases 0 and 1.
    HiFi2 = 2,
    /// Phases 0 to 2.
    HiFi3 = 3,
    /// All four phases.
    HiFi4 = 4,
}

impl MathFidelity {
    /// All fidelities, cheapest first.
    pub const ALL: [Self; 4] = [Self::LoFi, Self::HiFi2, Self::HiFi3, Self::HiFi4];

    /// Number of phases, 1 to 4; they are executed in ascending order.
    pub const fn phases(self) -> u32 {
        self as u32
    }

    /// The fidelity with this number of phases.
    pub const fn from_phases(phases: u32) -> Option<Self> {
        match phases {
            1 => Some(Self::LoFi),
            2 => Some(Self::HiFi2),
            3 => Some(Self::HiFi3),
            4 => Some(Self::HiFi4),
            _ => None,
        }
    }
}

/// The chip generation.
///
/// It decides two details of the arithmetic (`docs/chip/numerics.md` section 14).
pub use tt_formats::Arch;
