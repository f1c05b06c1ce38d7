//! Loads and stores left to the caller to complete.
//!
//! The memory leaves them.

use tt_formats::Arch;
use tt_perf::Costs;
use tt_riscv::{Exit, Hart, Image, Memory, TEXT_BASE};
use tt_testkit::riscv::{ECALL, addi, elf, lb, lhu, lw, sb, sh, sw};

/// Answers nothing.
struct Elsewhere;

impl Memory for Elsewhere {
    fn load<const N: usize>(&mut self, _: u32) -> Option<[u8; N]> {
        None
    }

    fn store<const N: usize>(&mut self, _: u32, _: [u8; N]) -> bool {
        false
    }
}

/// A load like [`lb`] with another third of its code: 1 is `lh`, 4 is `lbu`.
fn like_lb(kind: u32, rd: u32, rs1: u32) -> u32 {
    lb(rd, rs1, 0) | kind << 12
}

#[test]
fn answered_loads_extend_their_sign_or_do_not() {
    let text = [lb(5, 10, 0), like_lb(4, 6, 10), like_lb(1, 7, 10), lhu(8, 10, 0), lw(9, 10, 0), ECALL];
    for (value, expected) in [
        (0xf0f1_8283, [0xffff_ff83, 0x83, 0xffff_8283, 0x8283, 0xf0f1_8283]),
        (0x0102_0304, [4, 4, 0x0304, 0x0304, 0x0102_0304]),
    ] {
        let image = Image::new(elf(&text, &[], &[])).expect("an image");
        let mut hart = Hart::new(&image, &Costs::of(Arch::Wormhole).core);
        hart.set_register(10, 0x40);
        for (number, bytes) in [1, 1, 2, 2, 4].into_iter().enumerate() {
            assert_eq!(hart.pc(), TEXT_BASE + 4 * number as u32);
            let exit = hart.run(&image.code, &mut Elsewhere, 10);
            assert_eq!(exit, Exit::Load { address: 0x40, bytes, repeats: 0 });
            let before = hart.now();
            hart.finish_load(&image.code, value, true);
            assert!(hart.now() > before);
        }
        assert_eq!(hart.run(&image.code, &mut Elsewhere, 10), Exit::Call);
        assert_eq!([5, 6, 7, 8, 9].map(|number| hart.register(number)), expected);
    }
}

#[test]
fn stores_are_told_and_passed_once() {
    let image = Image::new(elf(&[sb(5, 10, 1), sh(5, 10, 2), sw(5, 10, 4), ECALL], &[], &[])).expect("an image");
    let mut hart = Hart::new(&image, &Costs::of(Arch::Wormhole).core);
    hart.set_register(10, 0x40);
    hart.set_register(5, 0x1234_5678);
    for (address, bytes) in [(0x41, 1), (0x42, 2), (0x44, 4)] {
        let exit = hart.run(&image.code, &mut Elsewhere, 10);
        let Exit::Store { address: told, bytes: count, value } = exit else { panic!("{exit:?}") };
        assert_eq!((told, count), (address, bytes));
        assert_eq!(value << (32 - 8 * bytes), 0x1234_5678 << (32 - 8 * bytes));
        hart.finish_store(&image.code);
    }
    assert_eq!(hart.run(&image.code, &mut Elsewhere, 10), Exit::Call);
}

#[test]
fn stubs_of_calls_lie_between_their_symbols() {
    let symbols = [("__tt_calls_start", TEXT_BASE + 4), ("__tt_calls_end", TEXT_BASE + 8)];
    let image = Image::new(elf(&[addi(5, 0, 7), addi(5, 0, 8), ECALL], &[], &symbols)).expect("an image");
    assert_eq!([0, 4, 8].map(|offset| image.is_free(TEXT_BASE + offset)), [false, true, false]);
}
