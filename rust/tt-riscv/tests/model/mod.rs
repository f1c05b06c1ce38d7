//! An independent model of RV32IM, for tests.
//!
//! A table of bit patterns, exact integers, one byte of memory at a time.

use std::collections::BTreeMap;

/// Registers, program counter and local RAM as exact numbers.
#[derive(Debug, Clone)]
pub struct Model {
    /// 0 to 2^32 - 1 each.
    pub x: [i128; 32],
    /// Address of the next instruction.
    pub pc: i128,
    /// Bytes of local RAM that were written, and all of the text.
    pub bytes: BTreeMap<i128, u8>,
    text: (i128, i128),
    lowest: i128,
}

/// The reason why it stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    Call,
    Break,
    Illegal,
    OutsideText,
    MisalignedJump,
    Misaligned,
    StoreToText,
    Stack,
    /// Memory that the model does not have.
    Elsewhere,
}

const WHOLE: i128 = 1 << 32;
const LOCAL: std::ops::Range<i128> = 0xFFB0_0000..0xFFB1_0000;

fn signed(value: i128, bits: u32) -> i128 {
    let value = value.rem_euclid(1 << bits);
    if value >= 1 << (bits - 1) { value - (1 << bits) } else { value }
}

/// Rounded towards zero, as i128 divides.
fn divided(a: i128, b: i128) -> (i128, i128) {
    if b == 0 { (-1, a) } else { (a / b, a % b) }
}

type Operation = fn(i128, i128) -> i128;
type Condition = fn(i128, i128) -> bool;

/// Mask, pattern, and what comes of two operands, of instructions that change a register only. The operands are exact
/// and unsigned; `0xfe00707f` ones take a second register, the others an immediate.
const OPERATIONS: &[(u32, u32, Operation)] = &[
    (0x707f, 0x0013, |a, b| a + b),
    (0x707f, 0x2013, |a, b| i128::from(signed(a, 32) < signed(b, 32))),
    (0x707f, 0x3013, |a, b| i128::from(a < b)),
    (0x707f, 0x4013, |a, b| a ^ b),
    (0x707f, 0x6013, |a, b| a | b),
    (0x707f, 0x7013, |a, b| a & b),
    (0xfe00_707f, 0x0000_1013, |a, b| a << (b % 32)),
    (0xfe00_707f, 0x0000_5013, |a, b| a >> (b % 32)),
    (0xfe00_707f, 0x4000_5013, |a, b| signed(a, 32) >> (b % 32)),
    (0xfe00_707f, 0x0000_0033, |a, b| a + b),
    (0xfe00_707f, 0x4000_0033, |a, b| a - b),
    (0xfe00_707f, 0x0000_1033, |a, b| a << (b % 32)),
    (0xfe00_707f, 0x0000_2033, |a, b| i128::from(signed(a, 32) < signed(b, 32))),
    (0xfe00_707f, 0x0000_3033, |a, b| i128::from(a < b)),
    (0xfe00_707f, 0x0000_4033, |a, b| a ^ b),
    (0xfe00_707f, 0x0000_5033, |a, b| a >> (b % 32)),
    (0xfe00_707f, 0x4000_5033, |a, b| signed(a, 32) >> (b % 32)),
    (0xfe00_707f, 0x0000_6033, |a, b| a | b),
    (0xfe00_707f, 0x0000_7033, |a, b| a & b),
    (0xfe00_707f, 0x0200_0033, |a, b| a * b),
    (0xfe00_707f, 0x0200_1033, |a, b| (signed(a, 32) * signed(b, 32)).div_euclid(WHOLE)),
    (0xfe00_707f, 0x0200_2033, |a, b| (signed(a, 32) * b).div_euclid(WHOLE)),
    (0xfe00_707f, 0x0200_3033, |a, b| a * b / WHOLE),
    (0xfe00_707f, 0x0200_4033, |a, b| divided(signed(a, 32), signed(b, 32)).0),
    (0xfe00_707f, 0x0200_5033, |a, b| divided(a, b).0),
    (0xfe00_707f, 0x0200_6033, |a, b| divided(signed(a, 32), signed(b, 32)).1),
    (0xfe00_707f, 0x0200_7033, |a, b| divided(a, b).1),
];

/// Patterns of branches and when they are taken.
const BRANCHES: &[(u32, Condition)] = &[
    (0x0063, |a, b| a == b),
    (0x1063, |a, b| a != b),
    (0x4063, |a, b| signed(a, 32) < signed(b, 32)),
    (0x5063, |a, b| signed(a, 32) >= signed(b, 32)),
    (0x6063, |a, b| a < b),
    (0x7063, |a, b| a >= b),
];

/// Patterns of loads: bytes, and whether the sign is kept.
const LOADS: &[(u32, i128, bool)] =
    &[(0x0003, 1, true), (0x1003, 2, true), (0x2003, 4, true), (0x4003, 1, false), (0x5003, 2, false)];

/// Patterns of stores: bytes.
const STORES: &[(u32, i128)] = &[(0x0023, 1), (0x1023, 2), (0x2023, 4)];

impl Model {
    /// Before the first instruction of a text at an address.
    pub fn new(text: &[u8], at: u32) -> Self {
        let start = i128::from(at);
        let bytes = text.iter().enumerate().map(|(offset, &byte)| (start + offset as i128, byte)).collect();
        let mut x = [0; 32];
        x[2] = LOCAL.end;
        Self { x, pc: start, bytes, text: (start, start + text.len() as i128), lowest: LOCAL.end }
    }

    fn read(&self, address: i128, count: i128) -> i128 {
        (0..count).map(|byte| i128::from(*self.bytes.get(&(address + byte)).unwrap_or(&0)) << (8 * byte)).sum()
    }

    fn write(&mut self, register: usize, value: i128) {
        if register > 0 {
            self.x[register] = value.rem_euclid(WHOLE);
        }
    }

    /// Executes one instruction.
    pub fn step(&mut self) -> Result<(), Stop> {
        if !(self.text.0..self.text.1).contains(&self.pc) {
            return Err(Stop::OutsideText);
        }
        let word = self.read(self.pc, 4) as u32;
        let field = |shift: u32, count: u32| i128::from(word / (1 << shift)) % (1 << count);
        let (rd, rs1, rs2) = (field(7, 5) as usize, field(15, 5) as usize, field(20, 5) as usize);
        let (a, b) = (self.x[rs1], self.x[rs2]);
        let long = signed(field(20, 12), 12);
        let split = signed(field(25, 7) * 32 + field(7, 5), 12);
        let upper = field(12, 20) * 4096;
        let after = self.pc + 4;

        if let Some((mask, pattern, operation)) = OPERATIONS.iter().find(|(mask, pattern, _)| word & mask == *pattern) {
            let registers = pattern & 0x20 != 0;
            let second = if registers {
                b
            } else if *mask == 0x707f {
                long.rem_euclid(WHOLE)
            } else {
                rs2 as i128
            };
            let value = operation(a, second);
            let adds = matches!(*pattern, 0x13 | 0x33 | 0x4000_0033);
            let value = value.rem_euclid(WHOLE);
            if rd == 2 && adds && value < self.lowest {
                if LOCAL.end - value > 16 << 10 {
                    return Err(Stop::Stack);
                }
                self.lowest = value;
            }
            self.write(rd, value);
        } else if let Some((_, taken)) = BRANCHES.iter().find(|(pattern, _)| word & 0x707f == *pattern) {
            let distance = field(31, 1) * 4096 + field(7, 1) * 2048 + field(25, 6) * 32 + field(8, 4) * 2;
            if taken(a, b) {
                return self.jump(self.pc + signed(distance, 13));
            }
        } else if let Some(&(_, count, keeps)) = LOADS.iter().find(|(pattern, ..)| word & 0x707f == *pattern) {
            let address = (a + long).rem_euclid(WHOLE);
            self.check(address, count)?;
            let value = self.read(address, count);
            self.write(rd, if keeps { signed(value, 8 * count as u32) } else { value });
        } else if let Some(&(_, count)) = STORES.iter().find(|(pattern, _)| word & 0x707f == *pattern) {
            let address = (a + split).rem_euclid(WHOLE);
            self.check(address, count)?;
            if !LOCAL.contains(&address) {
                return Err(Stop::StoreToText);
            }
            for byte in 0..count {
                self.bytes.insert(address + byte, (b >> (8 * byte)) as u8);
            }
        } else if word & 0x7f == 0x37 {
            self.write(rd, upper);
        } else if word & 0x7f == 0x17 {
            self.write(rd, self.pc + upper);
        } else if word & 0x7f == 0x6f {
            let distance = field(31, 1) << 20 | field(12, 8) << 12 | field(20, 1) << 11 | field(21, 10) << 1;
            let target = self.pc + signed(distance, 21);
            let before = self.x;
            self.write(rd, after);
            return self.jump(target).inspect_err(|_| self.x = before);
        } else if word & 0x707f == 0x67 {
            let target = (a + long).rem_euclid(WHOLE) / 2 * 2;
            if target % 4 == 0 && !(self.text.0..self.text.1).contains(&target) {
                return Err(Stop::OutsideText);
            }
            let before = self.x;
            self.write(rd, after);
            return self.jump(target).inspect_err(|_| self.x = before);
        } else if word & 0x607f == 0x0f {
        } else if word == 0x73 {
            return Err(Stop::Call);
        } else if word == 0x0010_0073 {
            return Err(Stop::Break);
        } else {
            return Err(Stop::Illegal);
        }
        self.pc = after;
        Ok(())
    }

    fn jump(&mut self, target: i128) -> Result<(), Stop> {
        if target % 4 != 0 {
            return Err(Stop::MisalignedJump);
        }
        self.pc = target;
        Ok(())
    }

    fn check(&self, address: i128, count: i128) -> Result<(), Stop> {
        if address % count != 0 {
            return Err(Stop::Misaligned);
        }
        if !LOCAL.contains(&address) && !(self.text.0..self.text.1).contains(&address) {
            return Err(Stop::Elsewhere);
        }
        Ok(())
    }
}
