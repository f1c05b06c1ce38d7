//! The text of an image, decoded: what each word does.

use std::ops::Range;

use crate::TEXT_BASE;

/// What an instruction does. `li` is `lui` or `auipc` with its value; the names that end in `Sp` change the stack
/// pointer, and those that begin with `Free` take no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Op {
    Li,
    FreeLi,
    Jal,
    Jalr,
    FreeJalr,
    Beq,
    Bne,
    Blt,
    Bge,
    Bltu,
    Bgeu,
    Lb,
    Lh,
    Lw,
    Lbu,
    Lhu,
    Sb,
    Sh,
    Sw,
    Addi,
    FreeAddi,
    AddiSp,
    Slti,
    Sltiu,
    Xori,
    Ori,
    Andi,
    Slli,
    Srli,
    Srai,
    Add,
    AddSp,
    Sub,
    SubSp,
    Sll,
    Slt,
    Sltu,
    Xor,
    Srl,
    Sra,
    Or,
    And,
    Mul,
    Mulh,
    Mulhsu,
    Mulhu,
    Div,
    Divu,
    Rem,
    Remu,
    Fence,
    Ecall,
    Ebreak,
    Illegal,
}

/// The register that takes what is written to `x0`.
const SINK: u8 = 32;
const SP: u8 = 2;

/// An instruction: what it does, its registers, its immediate. That of a branch or `jal` is a distance in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub(crate) op: Op,
    pub(crate) rd: u8,
    pub(crate) rs1: u8,
    pub(crate) rs2: u8,
    pub(crate) imm: i32,
}

impl Instruction {
    /// What a word at an address does.
    pub(crate) fn decode(word: u32, address: u32) -> Self {
        let signed = word as i32;
        let bits = |low: u32, count: u32| word >> low & ((1 << count) - 1);
        let (rd, rs1, rs2) = (bits(7, 5) as u8, bits(15, 5) as u8, bits(20, 5) as u8);
        let (funct3, funct7) = (bits(12, 3), bits(25, 7));
        let rd = if rd == 0 { SINK } else { rd };
        let i = signed >> 20;
        let s = signed >> 25 << 5 | bits(7, 5) as i32;
        let b = signed >> 31 << 12 | (bits(7, 1) << 11 | bits(25, 6) << 5 | bits(8, 4) << 1) as i32;
        let j = signed >> 31 << 20 | (bits(12, 8) << 12 | bits(20, 1) << 11 | bits(21, 10) << 1) as i32;
        let u = word & 0xffff_f000;
        let make = |op: Op, imm: i32| Self { op, rd, rs1, rs2, imm };
        let illegal = Self { op: Op::Illegal, rd: SINK, rs1: 0, rs2: 0, imm: signed };
        // A distance that is no multiple of 4 B leads to a misaligned jump; it stays in bytes, odd ones included.
        match word & 0x7f {
            0x37 => make(Op::Li, u as i32),
            0x17 => make(Op::Li, address.wrapping_add(u) as i32),
            0x6f => make(Op::Jal, j),
            0x67 if funct3 == 0 => make(Op::Jalr, i),
            0x63 => match funct3 {
                0 => make(Op::Beq, b),
                1 => make(Op::Bne, b),
                4 => make(Op::Blt, b),
                5 => make(Op::Bge, b),
                6 => make(Op::Bltu, b),
                7 => make(Op::Bgeu, b),
                _ => illegal,
            },
            0x03 => match funct3 {
                0 => make(Op::Lb, i),
                1 => make(Op::Lh, i),
                2 => make(Op::Lw, i),
                4 => make(Op::Lbu, i),
                5 => make(Op::Lhu, i),
                _ => illegal,
            },
            0x23 => match funct3 {
                0 => make(Op::Sb, s),
                1 => make(Op::Sh, s),
                2 => make(Op::Sw, s),
                _ => illegal,
            },
            0x13 => match (funct3, funct7) {
                (0, _) => make(if rd == SP { Op::AddiSp } else { Op::Addi }, i),
                (2, _) => make(Op::Slti, i),
                (3, _) => make(Op::Sltiu, i),
                (4, _) => make(Op::Xori, i),
                (6, _) => make(Op::Ori, i),
                (7, _) => make(Op::Andi, i),
                (1, 0) => make(Op::Slli, i32::from(rs2)),
                (5, 0) => make(Op::Srli, i32::from(rs2)),
                (5, 0x20) => make(Op::Srai, i32::from(rs2)),
                _ => illegal,
            },
            0x33 => match (funct7, funct3) {
                (0, 0) => make(if rd == SP { Op::AddSp } else { Op::Add }, 0),
                (0x20, 0) => make(if rd == SP { Op::SubSp } else { Op::Sub }, 0),
                (0, 1) => make(Op::Sll, 0),
                (0, 2) => make(Op::Slt, 0),
                (0, 3) => make(Op::Sltu, 0),
                (0, 4) => make(Op::Xor, 0),
                (0, 5) => make(Op::Srl, 0),
                (0x20, 5) => make(Op::Sra, 0),
                (0, 6) => make(Op::Or, 0),
                (0, 7) => make(Op::And, 0),
                (1, 0) => make(Op::Mul, 0),
                (1, 1) => make(Op::Mulh, 0),
                (1, 2) => make(Op::Mulhsu, 0),
                (1, 3) => make(Op::Mulhu, 0),
                (1, 4) => make(Op::Div, 0),
                (1, 5) => make(Op::Divu, 0),
                (1, 6) => make(Op::Rem, 0),
                (1, 7) => make(Op::Remu, 0),
                _ => illegal,
            },
            // `fence` and `fence.i`: a core sees its own accesses in order.
            0x0f if funct3 < 2 => make(Op::Fence, 0),
            0x73 if word == 0x73 => make(Op::Ecall, 0),
            0x73 if word == 0x0010_0073 => make(Op::Ebreak, 0),
            _ => illegal,
        }
    }

    /// The same, as it stands in a stub: a call's own time is booked by the call.
    fn free(self) -> Self {
        let op = match self.op {
            Op::Li => Op::FreeLi,
            Op::Addi => Op::FreeAddi,
            Op::Jalr => Op::FreeJalr,
            op => op,
        };
        Self { op, ..self }
    }
}

/// The text of an image.
#[derive(Debug)]
pub struct Code {
    pub(crate) bytes: Vec<u8>,
    pub(crate) instructions: Vec<Instruction>,
}

impl Code {
    /// Decodes a text that begins at [`TEXT_BASE`].
    ///
    /// Instructions at the addresses in `free` take no time.
    pub fn new(mut bytes: Vec<u8>, free: Range<u32>) -> Self {
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let words = bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        let decode = |(address, word)| {
            let instruction = Instruction::decode(word, address);
            if free.contains(&address) { instruction.free() } else { instruction }
        };
        let instructions = (TEXT_BASE..).step_by(4).zip(words).map(decode).collect();
        Self { bytes, instructions }
    }

    /// The word at an address, if it is one of the text.
    pub fn word(&self, address: u32) -> Option<u32> {
        let at = address.checked_sub(TEXT_BASE)? as usize;
        let word = self.bytes.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
    }

    /// Bytes from an address of the text on, at most so many.
    pub fn bytes(&self, address: u32, most: usize) -> &[u8] {
        let start = address.wrapping_sub(TEXT_BASE) as usize;
        let end = start.saturating_add(most).min(self.bytes.len());
        self.bytes.get(start..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the bits of an immediate stand in a word, from bit `first` on; signs are at the top.
    fn placed(value: i32, bits: &[u32], first: u32) -> u32 {
        (first..).zip(bits).fold(0, |word, (bit, &place)| word | (value as u32 >> bit & 1) << place)
    }

    #[test]
    fn immediates_are_signed_distances() {
        let branch: Vec<u32> = [8, 9, 10, 11].into_iter().chain(25..31).chain([7, 31]).collect();
        let jump: Vec<u32> = (21..31).chain([20]).chain(12..20).chain([31]).collect();
        for distance in (-4096..4096).step_by(2) {
            let word = placed(distance, &branch, 1) | 0x63;
            assert_eq!(Instruction::decode(word, 0).imm, distance, "{word:#010x}");
        }
        for distance in (-1 << 20..1 << 20).step_by(2) {
            let word = placed(distance, &jump, 1) | 0x6f;
            assert_eq!(Instruction::decode(word, 0).imm, distance, "{word:#010x}");
        }
        for offset in -2048..2048 {
            let store: Vec<u32> = (7..12).chain(25..32).collect();
            assert_eq!(Instruction::decode(placed(offset, &store, 0) | 0x2023, 0).imm, offset);
            assert_eq!(Instruction::decode((offset << 20) as u32 | 0x13, 0).imm, offset);
        }
    }
}
