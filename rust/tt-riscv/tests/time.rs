//! Times of short sequences, counted by hand from instruction costs.

use tt_formats::Arch;
use tt_perf::Costs;
use tt_riscv::{Exit, Hart, Image, LOCAL_BASE, Memory};
use tt_testkit::riscv::{ECALL, add, addi, beq, bne, div, elf, jal, jalr, lui, lw, mul, sw};

/// L1 that answers every access.
struct Flat([u8; 256]);

impl Memory for Flat {
    fn load<const N: usize>(&mut self, address: u32) -> Option<[u8; N]> {
        self.0.get(address as usize..address as usize + N)?.try_into().ok()
    }

    fn store<const N: usize>(&mut self, address: u32, bytes: [u8; N]) -> bool {
        let place = self.0.get_mut(address as usize..address as usize + N);
        place.map(|place| place.copy_from_slice(&bytes)).is_some()
    }
}

/// Cycles until the `ecall` at the end; `registers` 5 to 9 hold these values.
fn cycles(text: &[u32], registers: [u32; 5]) -> u64 {
    let image = Image::new(elf(&[text, &[ECALL]].concat(), &[], &[])).expect("an image");
    let mut hart = Hart::new(&image, &Costs::of(Arch::Wormhole).core);
    (5..).zip(registers).for_each(|(number, value)| hart.set_register(number, value));
    assert_eq!(hart.run(&image.code, &mut Flat([0; 256]), 1000), Exit::Call);
    hart.now()
}

#[test]
fn computing_takes_a_cycle_and_products_and_quotients_more() {
    assert_eq!(cycles(&[addi(5, 0, 1), add(6, 5, 5), lui(7, 4096)], [0; 5]), 3);
    assert_eq!(cycles(&[mul(5, 6, 7), mul(5, 5, 5)], [0; 5]), 4);
    for (dividend, divisor, expected) in [
        (1000, 0, 2),
        (1000, 1, 2),
        (0x8000_0000, u32::MAX, 2),
        (0, 7, 6),
        (31, 7, 6),
        (32, 7, 7),
        (1000, 7, 11),
        ((-1000_i32) as u32, 7, 11),
        (0x7fff_ffff, 7, 32),
        (0x8000_0000, 7, 33),
    ] {
        assert_eq!(cycles(&[div(5, 6, 7)], [0, dividend, divisor, 0, 0]), expected, "{dividend} / {divisor}");
    }
}

#[test]
fn branches_backwards_are_predicted_taken_and_others_not() {
    // Not taken forwards: as predicted. Taken forwards: not.
    assert_eq!(cycles(&[bne(0, 0, 2), addi(5, 0, 0)], [0; 5]), 2);
    assert_eq!(cycles(&[beq(0, 0, 2), addi(5, 0, 0)], [0; 5]), 3);
    // Three rounds of a loop: the last branch falls through against its prediction.
    assert_eq!(cycles(&[addi(5, 5, -1), bne(5, 0, -1)], [3, 0, 0, 0, 0]), 2 + 2 + 2 + 2);
    assert_eq!(cycles(&[jal(1, 2), addi(5, 0, 0)], [0; 5]), 1);
}

#[test]
fn a_load_is_waited_for_where_its_result_is_used() {
    let used = [lw(5, 6, 0), addi(7, 5, 0)];
    assert_eq!(cycles(&used, [0, LOCAL_BASE, 0, 0, 0]), 2 + 1);
    assert_eq!(cycles(&used, [0; 5]), 8 + 1);
    let later = [lw(5, 6, 0), addi(7, 0, 0), addi(7, 0, 0), addi(8, 5, 0)];
    assert_eq!(cycles(&later, [0; 5]), 8 + 1);
    assert_eq!(cycles(&[lw(5, 6, 0), addi(5, 0, 1), addi(7, 5, 0)], [0; 5]), 3, "the result is overwritten");
}

#[test]
fn l1_takes_four_loads_in_seven_cycles_and_a_store_in_five() {
    let loads = |count: usize| cycles(&vec![lw(5, 6, 0); count], [0; 5]);
    // The same load twice is asked for by whoever runs the hart; addresses differ here.
    let distinct = |count: i32| {
        let text: Vec<u32> = (0..count).map(|index| lw(5, 6, 4 * index)).collect();
        cycles(&text, [0; 5])
    };
    assert_eq!([1, 2, 3, 4, 5, 6, 7, 8, 9].map(distinct), [1, 2, 3, 4, 8, 9, 10, 11, 15]);
    assert_eq!(loads(1), 1);
    let stores = |count: i32| {
        let text: Vec<u32> = (0..count).map(|index| sw(5, 6, 4 * index)).collect();
        cycles(&text, [0; 5])
    };
    assert_eq!([1, 2, 3, 4, 5, 6, 7].map(stores), [1, 2, 3, 4, 6, 11, 16]);
    let local: Vec<u32> = (0..9).map(|index| sw(5, 6, 4 * index)).collect();
    assert_eq!(cycles(&local, [0, LOCAL_BASE, 0, 0, 0]), 9);
}

#[test]
fn stubs_take_no_time() {
    // Call a stub at 3: `li t0, 7; ecall; ret`.
    let text = [addi(5, 0, 0), jal(1, 2), ECALL, addi(5, 0, 7), ECALL, jalr(0, 1, 0)];
    let symbols = [("__tt_calls_start", 0xA000_000C), ("__tt_calls_end", 0xA000_0018)];
    let image = Image::new(elf(&text, &[], &symbols)).expect("an image");
    let mut hart = Hart::new(&image, &Costs::of(Arch::Wormhole).core);
    let mut memory = Flat([0; 256]);
    assert_eq!(hart.run(&image.code, &mut memory, 1000), Exit::Call);
    assert_eq!((hart.now(), hart.register(5), hart.pc()), (2, 7, 0xA000_0010));
    hart.wait_until(50);
    hart.finish_call();
    assert_eq!(hart.run(&image.code, &mut memory, 1000), Exit::Call);
    assert_eq!((hart.now(), hart.pc()), (50, 0xA000_0008));
}
