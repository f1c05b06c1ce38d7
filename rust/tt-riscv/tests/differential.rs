//! The interpreter against the model.
//!
//! Every instruction with every corner of its operands, and streams of anything.

mod model;

use model::{Model, Stop};
use tt_formats::Arch;
use tt_perf::Costs;
use tt_riscv::{Exit, Hart, Image, LOCAL_BASE, Memory, TEXT_BASE, Trap};
use tt_testkit::random::Random;
use tt_testkit::riscv::{ECALL, elf};

/// No memory but the hart's own.
struct Nothing;

impl Memory for Nothing {
    fn load<const N: usize>(&mut self, _: u32) -> Option<[u8; N]> {
        None
    }

    fn store<const N: usize>(&mut self, _: u32, _: [u8; N]) -> bool {
        false
    }
}

const CORNERS: [u32; 18] = [
    0,
    1,
    2,
    3,
    4,
    31,
    32,
    33,
    0x7f,
    0x80,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fffe,
    0xffff_ffff,
];

fn stop_of(exit: Exit) -> Option<Stop> {
    Some(match exit {
        Exit::Budget => return None,
        Exit::Call => Stop::Call,
        Exit::Load { .. } | Exit::Store { .. } => Stop::Elsewhere,
        Exit::Trap(Trap::Illegal { .. }) => Stop::Illegal,
        Exit::Trap(Trap::Breakpoint) => Stop::Break,
        Exit::Trap(Trap::OutsideText { .. }) => Stop::OutsideText,
        Exit::Trap(Trap::MisalignedJump { .. }) => Stop::MisalignedJump,
        Exit::Trap(Trap::Misaligned { .. }) => Stop::Misaligned,
        Exit::Trap(Trap::StoreToText { .. }) => Stop::StoreToText,
        Exit::Trap(Trap::Stack { .. }) => Stop::Stack,
    })
}

/// Runs a text from the same registers on both, and compares everything.
fn compare(text: &[u32], registers: &[u32; 32], budget: u64) -> Option<Stop> {
    let image = Image::new(elf(text, &[], &[])).expect("an image");
    let mut hart = Hart::new(&image, &Costs::of(Arch::Wormhole).core);
    let bytes: Vec<u8> = text.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut model = Model::new(&bytes, TEXT_BASE);
    for (number, &value) in registers.iter().enumerate().filter(|&(number, _)| number != 0 && number != 2) {
        hart.set_register(number as u8, value);
        model.x[number] = value.into();
    }
    let exit = hart.run(&image.code, &mut Nothing, budget);
    let mut stop = None;
    for _ in 0..hart.executed() {
        assert_eq!(model.step(), Ok(()), "the model stops earlier than {exit:?} at {:#x}: {text:x?}", model.pc);
    }
    if exit != Exit::Budget {
        stop = model.step().err();
    }
    assert_eq!(stop_of(exit), stop, "{exit:?} at {:#x}: {text:x?}", hart.pc());
    let x: Vec<i128> = (0..32).map(|number| hart.register(number).into()).collect();
    assert_eq!(x, model.x, "{exit:?}: {text:x?}");
    if !matches!(stop, Some(Stop::OutsideText)) {
        assert_eq!(i128::from(hart.pc()), model.pc, "{exit:?}: {text:x?}");
    }
    for (&address, &byte) in model.bytes.range(i128::from(LOCAL_BASE)..) {
        assert_eq!(hart.local(address as u32, 1), Some(&[byte][..]), "{address:#x}: {text:x?}");
    }
    stop
}

/// Every instruction that computes, as words without registers: `(word, takes an immediate)`.
fn computing() -> Vec<(u32, bool)> {
    let registers = [0, 1, 2, 3, 4, 5, 6, 7].map(|funct3| (funct3 << 12 | 0x33, false));
    let products = [0, 1, 2, 3, 4, 5, 6, 7].map(|funct3| (1 << 25 | funct3 << 12 | 0x33, false));
    let others = [(0x20 << 25 | 0x33, false), (0x20 << 25 | 5 << 12 | 0x33, false)];
    let immediates = [0, 2, 3, 4, 6, 7].map(|funct3| (funct3 << 12 | 0x13, true));
    let shifts = [0x1013, 0x5013, 0x4000_5013].map(|word| (word, false));
    registers.into_iter().chain(products).chain(others).chain(immediates).chain(shifts).collect()
}

#[test]
fn every_computing_instruction_agrees_at_every_corner() {
    for (word, immediate) in computing() {
        for a in CORNERS {
            for (place, b) in CORNERS.into_iter().enumerate() {
                let mut registers = [0; 32];
                (registers[6], registers[7], registers[20]) = (a, b, a);
                let second = if immediate { (b & 0xfff) << 20 } else { 7 << 20 };
                let shift = (place as u32 * 2 % 32) << 20;
                let second = if word & 0x7f == 0x13 && !immediate { shift } else { second };
                // Into another register, into an operand, into x0.
                for rd in [5, 6, 0] {
                    compare(&[word | second | 6 << 15 | rd << 7, ECALL], &registers, 100);
                }
                // Both operands the same register, and x0 as an operand.
                compare(&[word | (20 << 20 & second) | 20 << 15 | 5 << 7, ECALL], &registers, 100);
                compare(&[word | second | 5 << 7, ECALL], &registers, 100);
            }
        }
    }
}

#[test]
fn every_branch_agrees_at_every_corner() {
    for funct3 in [0, 1, 4, 5, 6, 7] {
        for a in CORNERS {
            for b in CORNERS {
                let mut registers = [0; 32];
                (registers[6], registers[7]) = (a, b);
                // Forwards over an ecall to an ebreak; and by half an instruction.
                for distance in [8, 2] {
                    let word = 7 << 20 | 6 << 15 | funct3 << 12 | distance << 7 | 0x63;
                    compare(&[word, ECALL, 0x0010_0073], &registers, 100);
                }
                // Backwards for ever, until the budget ends it.
                let back = 0xfe00_0ee3 | 7 << 20 | 6 << 15 | funct3 << 12;
                compare(&[0x0000_0013, back, ECALL], &registers, 100);
            }
        }
    }
}

#[test]
fn every_load_and_store_agrees_at_every_address_and_value() {
    for address in (0..8).chain([0xffff, 0xfffe, 0xfffc, 0x1_0000]).map(|offset| LOCAL_BASE.wrapping_add(offset)) {
        for value in CORNERS {
            let mut registers = [0; 32];
            (registers[6], registers[7], registers[8]) = (address, value, address & !3);
            for store in [0, 1, 2] {
                for load in [0, 1, 2, 4, 5] {
                    let stores = 7 << 20 | 6 << 15 | store << 12 | 0x23;
                    let loads = 6 << 15 | load << 12 | 5 << 7 | 0x03;
                    let whole = 8 << 15 | 2 << 12 | 9 << 7 | 0x03;
                    compare(&[stores, loads, whole, ECALL], &registers, 100);
                    let text = 10 << 15 | load << 12 | 5 << 7 | 0x03;
                    registers[10] = TEXT_BASE + (address & 15);
                    compare(&[text, ECALL, value, value], &registers, 100);
                }
            }
            registers[6] = TEXT_BASE + (address & 15);
            compare(&[7 << 20 | 6 << 15 | 2 << 12 | 0x23, ECALL, 0, 0], &registers, 100);
        }
    }
}

#[test]
fn jumps_agree_wherever_they_go() {
    for distance in (0..24).chain([0x800, 0x7fe, 0xffe]) {
        for rd in [0, 1, 6] {
            let mut registers = [0; 32];
            registers[6] = TEXT_BASE;
            compare(&[distance << 20 | 6 << 15 | rd << 7 | 0x67, ECALL, ECALL, 0x0010_0073], &registers, 50);
            compare(&[(distance & 0x7ff) << 20 | rd << 7 | 0x6f, ECALL, ECALL, 0x0010_0073], &registers, 50);
        }
    }
}

/// A word: an instruction with any registers and immediates, or now and then anything at all.
fn any_word(random: &mut Random, computing: &[(u32, bool)]) -> u32 {
    let word = random.bits() as u32;
    let registers = word & 0x01ff_8f80;
    let memory = [0x0003, 0x1003, 0x2003, 0x4003, 0x5003, 0x0023, 0x1023, 0x2023];
    let branches = [0x0063, 0x1063, 0x4063, 0x5063, 0x6063, 0x7063];
    let any = |patterns: &[u32], random: &mut Random| patterns[random.below(patterns.len() as u32) as usize];
    match random.below(64) {
        0 => word,
        1 => ECALL,
        2 => 0x0010_0073,
        3 => registers | any(&[0x67, 0x37, 0x17, 0x0f, 0x100f, 0x6f], random) | word & 0x00f0_0000,
        4..12 => registers & !0x80 | any(&branches, random) | word & 0x8000_0000,
        12..24 => word & 0xffff_8f80 | any(&memory, random),
        24..28 => word & !0x7f | any(&[0x33, 0x13, 0x03, 0x23, 0x63, 0x6f, 0x67, 0x37, 0x17], random),
        _ => {
            let (pattern, immediate) = computing[random.below(computing.len() as u32) as usize];
            pattern | if immediate { word & 0xffff_8f80 } else { registers }
        }
    }
}

fn streams(count: u64, seed: u64) {
    let mut random = Random::new(seed);
    let computing = computing();
    let mut stops = std::collections::BTreeMap::new();
    for _ in 0..count {
        let text: Vec<u32> = (0..=random.below(24)).map(|_| any_word(&mut random, &computing)).collect();
        let mut registers = [0; 32];
        for register in &mut registers {
            *register = match random.below(6) {
                0 => random.bits() as u32,
                1 => CORNERS[random.below(18) as usize],
                2 => TEXT_BASE + random.below(96),
                3 => TEXT_BASE + 4 * random.below(24),
                _ => LOCAL_BASE + random.below(0x1_0004),
            };
        }
        let stop = compare(&text, &registers, 200);
        *stops.entry(format!("{stop:?}")).or_insert(0_u64) += 1;
    }
    // The streams reach every way in which a kernel stops, the budget among them.
    assert_eq!(stops.len(), 10, "{stops:?}");
}

#[test]
fn streams_of_anything_agree() {
    streams(20_000, 1);
}

#[test]
#[ignore = "a million streams: minutes"]
fn a_million_streams_of_anything_agree() {
    streams(1_000_000, 2);
}
