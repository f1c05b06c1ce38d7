//! A small assembler of RV32IM, and ELF files of what it makes.
//!
//! Kernels for tests without a compiler.
//!
//! Registers are numbers. Functions return instruction words; distances of branches are in instructions.

/// First address of the text of kernels.
pub const TEXT: u32 = 0xA000_0000;
/// First address of their data.
pub const DATA: u32 = 0xFFB0_0000;

/// `op rd, rs1, rs2` of the two register opcodes: `funct7`, `funct3`.
pub const fn register(funct7: u32, funct3: u32, rd: u32, rs1: u32, rs2: u32) -> u32 {
    funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x33
}

const fn immediate(opcode: u32, funct3: u32, rd: u32, rs1: u32, value: i32) -> u32 {
    (value as u32 & 0xfff) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

/// `addi rd, rs1, value`.
pub const fn addi(rd: u32, rs1: u32, value: i32) -> u32 {
    immediate(0x13, 0, rd, rs1, value)
}

/// `add rd, rs1, rs2`.
pub const fn add(rd: u32, rs1: u32, rs2: u32) -> u32 {
    register(0, 0, rd, rs1, rs2)
}

/// `mul rd, rs1, rs2`.
pub const fn mul(rd: u32, rs1: u32, rs2: u32) -> u32 {
    register(1, 0, rd, rs1, rs2)
}

/// `div rd, rs1, rs2`.
pub const fn div(rd: u32, rs1: u32, rs2: u32) -> u32 {
    register(1, 4, rd, rs1, rs2)
}

/// `lui rd, value >> 12`.
pub const fn lui(rd: u32, value: u32) -> u32 {
    value & 0xffff_f000 | rd << 7 | 0x37
}

/// `lw rd, offset(rs1)`.
pub const fn lw(rd: u32, rs1: u32, offset: i32) -> u32 {
    immediate(0x03, 2, rd, rs1, offset)
}

/// `lhu rd, offset(rs1)`.
pub const fn lhu(rd: u32, rs1: u32, offset: i32) -> u32 {
    immediate(0x03, 5, rd, rs1, offset)
}

/// `lb rd, offset(rs1)`.
pub const fn lb(rd: u32, rs1: u32, offset: i32) -> u32 {
    immediate(0x03, 0, rd, rs1, offset)
}

const fn store(funct3: u32, rs2: u32, rs1: u32, offset: i32) -> u32 {
    let offset = offset as u32;
    (offset >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | (offset & 0x1f) << 7 | 0x23
}

/// `sw rs2, offset(rs1)`.
pub const fn sw(rs2: u32, rs1: u32, offset: i32) -> u32 {
    store(2, rs2, rs1, offset)
}

/// `sh rs2, offset(rs1)`.
pub const fn sh(rs2: u32, rs1: u32, offset: i32) -> u32 {
    store(1, rs2, rs1, offset)
}

/// `sb rs2, offset(rs1)`.
pub const fn sb(rs2: u32, rs1: u32, offset: i32) -> u32 {
    store(0, rs2, rs1, offset)
}

const fn branch(funct3: u32, rs1: u32, rs2: u32, distance: i32) -> u32 {
    let bytes = (distance * 4) as u32;
    (bytes >> 12 & 1) << 31
        | (bytes >> 5 & 0x3f) << 25
        | rs2 << 20
        | rs1 << 15
        | funct3 << 12
        | (bytes >> 1 & 0xf) << 8
        | (bytes >> 11 & 1) << 7
        | 0x63
}

/// `beq rs1, rs2, distance`.
pub const fn beq(rs1: u32, rs2: u32, distance: i32) -> u32 {
    branch(0, rs1, rs2, distance)
}

/// `bne rs1, rs2, distance`.
pub const fn bne(rs1: u32, rs2: u32, distance: i32) -> u32 {
    branch(1, rs1, rs2, distance)
}

/// `bltu rs1, rs2, distance`.
pub const fn bltu(rs1: u32, rs2: u32, distance: i32) -> u32 {
    branch(6, rs1, rs2, distance)
}

/// `jal rd, distance`.
pub const fn jal(rd: u32, distance: i32) -> u32 {
    let bytes = (distance * 4) as u32;
    (bytes >> 20 & 1) << 31
        | (bytes >> 1 & 0x3ff) << 21
        | (bytes >> 11 & 1) << 20
        | (bytes >> 12 & 0xff) << 12
        | rd << 7
        | 0x6f
}

/// `jalr rd, offset(rs1)`.
pub const fn jalr(rd: u32, rs1: u32, offset: i32) -> u32 {
    immediate(0x67, 0, rd, rs1, offset)
}

/// `ecall`.
pub const ECALL: u32 = 0x73;
/// `ebreak`.
pub const EBREAK: u32 = 0x0010_0073;

/// `li rd, value`, always two instructions.
pub const fn li(rd: u32, value: u32) -> [u32; 2] {
    let upper = value.wrapping_add(0x800);
    [lui(rd, upper), addi(rd, rd, value as i32)]
}

/// An ELF file with a text, data, and symbols.
///
/// Its entry is the first instruction.
pub fn elf(text: &[u32], data: &[u8], symbols: &[(&str, u32)]) -> Vec<u8> {
    let text: Vec<u8> = text.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut names = vec![0];
    let mut table = vec![0; 16];
    for (name, value) in symbols {
        let entry = [names.len() as u32, *value, 0, 0];
        table.extend(entry.iter().flat_map(|word| word.to_le_bytes()));
        names.extend(name.as_bytes());
        names.push(0);
    }
    let (header, segments) = (52, 2 * 32);
    let places = [&text[..], data, &table, &names].map(<[u8]>::len);
    let mut offsets = [header + segments; 5];
    for (index, bytes) in places.iter().enumerate() {
        offsets[index + 1] = offsets[index] + bytes.next_multiple_of(4);
    }
    let mut file = b"\x7fELF\x01\x01\x01".to_vec();
    file.resize(16, 0);
    let mut half = |values: &[u16]| values.iter().for_each(|value| file.extend(value.to_le_bytes()));
    half(&[2, 243]);
    let mut word = |values: &[u32]| values.iter().for_each(|value| file.extend(value.to_le_bytes()));
    word(&[1, TEXT, header as u32, offsets[4] as u32, 0]);
    let mut half = |values: &[u16]| values.iter().for_each(|value| file.extend(value.to_le_bytes()));
    half(&[header as u16, 32, 2, 40, 3, 2]);
    for (index, address) in [(0, TEXT), (1, DATA)] {
        let (offset, bytes) = (offsets[index] as u32, places[index] as u32);
        for value in [1, offset, address, address, bytes, bytes, 7, 4] {
            file.extend(u32::to_le_bytes(value));
        }
    }
    for part in [&text[..], data, &table, &names] {
        file.extend(part);
        file.resize(file.len().next_multiple_of(4), 0);
    }
    // Sections: none, symbols, their names.
    let symbols = [0, 2, 0, 0, offsets[2] as u32, places[2] as u32, 2, 0, 4, 16];
    let strings = [0, 3, 0, 0, offsets[3] as u32, places[3] as u32, 0, 0, 1, 0];
    for value in [0; 10].iter().chain(&symbols).chain(&strings) {
        file.extend(value.to_le_bytes());
    }
    file
}
