//! Instructions per second of the interpreter, with checks and time.
//!
//! Items of the output are instructions.

use divan::Bencher;
use divan::counter::ItemsCount;
use tt_formats::Arch;
use tt_perf::Costs;
use tt_riscv::{Exit, Hart, Image, LOCAL_BASE, Memory};
use tt_testkit::riscv::{ECALL, add, addi, bne, elf, jal, jalr, li, lw, mul, register, sw};

fn main() {
    divan::main();
}

const ROUNDS: u32 = 100_000;

/// L1 with a byte of bits for each 16 B, as runs of programs have it.
struct Open {
    bits: Vec<u8>,
    bytes: Vec<u8>,
}

impl Memory for Open {
    #[inline(always)]
    fn load<const N: usize>(&mut self, address: u32) -> Option<[u8; N]> {
        let bits = self.bits.get_mut(address as usize / 16)?;
        if *bits & 1 == 0 {
            return None;
        }
        *bits |= 4;
        self.bytes.get(address as usize..address as usize + N)?.try_into().ok()
    }

    #[inline(always)]
    fn store<const N: usize>(&mut self, address: u32, bytes: [u8; N]) -> bool {
        let Some(bits) = self.bits.get_mut(address as usize / 16).filter(|bits| **bits & 2 != 0) else { return false };
        *bits |= 8;
        self.bytes[address as usize..address as usize + N].copy_from_slice(&bytes);
        true
    }
}

/// Runs a loop body so many times: it counts down `x31`.
fn run(bencher: Bencher<'_, '_>, body: &[u32]) {
    let length = body.len() as i32;
    let start = [li(31, ROUNDS), li(8, LOCAL_BASE), li(9, 4096)].concat();
    let back = [addi(31, 31, -1), bne(31, 0, -length - 1), ECALL];
    let image = Image::new(elf(&[&start[..], body, &back].concat(), &[], &[])).expect("an image");
    let mut memory = Open { bits: vec![3; 4096], bytes: vec![0; 65536] };
    bencher.counter(ItemsCount::new(ROUNDS as usize * (body.len() + 2))).bench_local(|| {
        let mut hart = Hart::new(&image, &Costs::of(Arch::Wormhole).core);
        loop {
            match hart.run(&image.code, &mut memory, u64::MAX) {
                Exit::Call => break,
                Exit::Load { address, .. } => {
                    let bytes = memory.load(address).expect("open memory");
                    hart.finish_load(&image.code, u32::from_le_bytes(bytes), true);
                }
                other => panic!("{other:?}"),
            }
        }
        hart.now()
    });
}

#[divan::bench]
fn computing(bencher: Bencher<'_, '_>) {
    let xor = |rd, a, b| register(0, 4, rd, a, b);
    run(
        bencher,
        &[add(5, 6, 7), xor(6, 5, 31), addi(7, 7, 3), register(0, 1, 10, 5, 7), mul(11, 10, 6), add(12, 11, 5)],
    );
}

/// A copy of L1 with a sum: loads, stores, addresses.
#[divan::bench]
fn pointers(bencher: Bencher<'_, '_>) {
    let wrap = register(0, 7, 13, 13, 14);
    run(
        bencher,
        &[
            addi(13, 13, 16),
            addi(14, 0, 2032),
            wrap,
            add(15, 9, 13),
            lw(5, 15, 0),
            lw(6, 15, 4),
            add(7, 5, 6),
            sw(7, 15, 2044),
            sw(5, 15, 8),
        ],
    );
}

/// What compilers make of calls: the stack, jumps, branches.
#[divan::bench]
fn calls_and_stack(bencher: Bencher<'_, '_>) {
    run(
        bencher,
        &[
            jal(1, 2),
            jal(0, 8),
            addi(2, 2, -16),
            sw(1, 2, 12),
            sw(8, 2, 8),
            lw(8, 2, 8),
            lw(1, 2, 12),
            addi(2, 2, 16),
            jalr(0, 1, 0),
        ],
    );
}

/// Stops at a call that does nothing, and goes on.
#[divan::bench]
fn empty_calls(bencher: Bencher<'_, '_>) {
    let text = [&li(31, ROUNDS)[..], &[ECALL, addi(31, 31, -1), bne(31, 0, -2)]].concat();
    let image = Image::new(elf(&text, &[], &[])).expect("an image");
    let mut memory = Open { bits: vec![3; 4096], bytes: vec![0; 65536] };
    bencher.counter(ItemsCount::new(ROUNDS as usize)).bench_local(|| {
        let mut hart = Hart::new(&image, &Costs::of(Arch::Wormhole).core);
        while hart.run(&image.code, &mut memory, u64::MAX) == Exit::Call {
            hart.finish_call();
        }
        hart.now()
    });
}
