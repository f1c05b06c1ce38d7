//! Operands as the multipliers see them.
//!
//! Masked `Src` words, mantissa parts of the phases, exponent bias. `docs/chip/numerics.md` sections 3 (masking) and 4.

use tt_formats::DataFormat;

use super::combine::Mode;

/// The bits of a `Src` word that the math unit looks at for this ALU format.
pub(crate) const fn mask(alu: DataFormat) -> u32 {
    match alu {
        DataFormat::Tf32 | DataFormat::Float32 | DataFormat::Int8 | DataFormat::UInt8 => 0x7_ffff,
        _ if alu.has_5_bit_exponent() => 1 << 18 | 0x7fff,
        _ => 0x7_fff8,
    }
}

/// One decoded operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    /// Biased exponent; 0 means the value is zero whatever the rest says.
    pub exponent: i32,
    /// 11 bits with the hidden one.
    pub significand: u32,
    /// 1 for negative.
    pub sign: u32,
}

impl Operand {
    /// Decodes a masked `Src` word.
    #[inline(always)]
    pub fn decode(word: u32, e8: bool) -> Self {
        let exponent_mask = if e8 { 255 } else { 31 };
        Self { exponent: (word >> 10 & exponent_mask) as i32, significand: 1024 | word & 1023, sign: word >> 18 & 1 }
    }
}

/// One fidelity phase: which mantissa parts are multiplied, and what the product's exponent is worth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phase {
    number: u32,
    /// Added to the sum of the operands' exponents.
    pub adjust: i32,
}

impl Phase {
    pub fn new(mode: Mode, number: u32) -> Self {
        let base = match (mode.e8, mode.dst32) {
            (true, _) => -127,
            (false, false) => -15,
            (false, true) => 127 - 30,
        };
        Self { number, adjust: base - 5 * (number & 1) as i32 - 7 * (number >> 1) as i32 }
    }

    /// Exponent with which a zero product takes part.
    pub fn zero_exponent(self) -> i32 {
        self.adjust.max(0)
    }

    /// Five bits of `SrcA`'s significand; its lowest bit is never used.
    #[inline(always)]
    pub fn part_a(self, significand: u32) -> u32 {
        if self.number & 1 == 0 { significand >> 6 } else { significand >> 1 & 31 }
    }

    /// Seven bits of `SrcB`'s significand.
    #[inline(always)]
    pub fn part_b(self, significand: u32) -> u32 {
        if self.number >> 1 == 0 { significand >> 4 } else { (significand & 15) << 3 }
    }
}

/// A datum as it lies in a register or in L1.
pub(crate) trait Datum: Copy {
    /// Its FP32 word.
    fn fp32(self) -> u32;
}

/// A Src word.
impl Datum for u32 {
    #[inline(always)]
    fn fp32(self) -> u32 {
        self << 13
    }
}

/// FP32 in L1: the unpacker makes TF32 of it.
impl Datum for [u8; 4] {
    #[inline(always)]
    fn fp32(self) -> u32 {
        u32::from_le_bytes(self) & !0x1fff
    }
}

/// BF16 in L1.
impl Datum for [u8; 2] {
    #[inline(always)]
    fn fp32(self) -> u32 {
        u32::from(u16::from_le_bytes(self)) << 16
    }
}
