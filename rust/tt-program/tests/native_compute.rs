//! Compiled compute kernels.
//!
//! Functions of the SFPU by their records, and vector operations one by one.

mod assembled;

use assembled::{A0, Program, S, Source, T1, places, source};
use tt_memory::Place;
use tt_memory::chip::N150;
use tt_program::spec::Risc;
use tt_program::{Class, FaultKind};
use tt_testkit::riscv::{DATA, addi, lw, sw};

/// Where the words of a record lie, and those of a list.
const RECORD: u32 = DATA;
const LIST: u32 = DATA + 24;
const TEXTS: u32 = DATA + 32;

/// A kernel whose data hold a record of a function, a list of two words, and the texts of the record.
fn with_record(texts: [&str; 4], tiles: u32, list: [u32; 2]) -> Source {
    let mut kernel = source();
    let (mut words, mut bytes) = (Vec::new(), Vec::new());
    for text in texts {
        words.push(TEXTS + bytes.len() as u32);
        bytes.extend(text.as_bytes());
        bytes.push(0);
    }
    words.extend([tiles, u32::MAX, list[0], list[1]]);
    kernel.data = words.iter().flat_map(|word| word.to_le_bytes()).chain(bytes).collect();
    kernel
}

/// Fills CB 1 with the word 2.5 as a compiled kernel does, waits for it, and copies it to `Dst[0]`.
fn tile_in_dst(kernel: Source) -> Source {
    let cb = places().0 + 256;
    let kernel = kernel.with("cb_reserve_back", &[1, 2]).load(T1, cb).load(S[0], 0x4020_4020).load(S[1], 512);
    // Stores reach 2 KB only from one pointer.
    let kernel = kernel.put(&[sw(S[0], T1, 0), addi(T1, T1, 4), addi(S[1], S[1], -1)]);
    let kernel = kernel.put(&[tt_testkit::riscv::bne(S[1], 0, -3)]);
    let kernel = kernel.with("cb_push_back", &[1, 1]).with("cb_wait_front", &[1, 1]).with("hw_startup", &[1, 1, 1]);
    kernel.with("copy_init", &[1, 0]).with("tile_regs_acquire", &[]).with("copy_tile", &[1, 0, 0])
}

/// Packs a tile of `Dst` to the second page of CB 1, which is pushed.
fn packed(kernel: Source, dst: u32) -> Source {
    let kernel = kernel.with("tile_regs_commit", &[]).with("tile_regs_wait", &[]);
    let kernel = kernel.with("pack_tile", &[dst, 1, u32::MAX]).with("tile_regs_release", &[]);
    kernel
        .with("cb_push_back", &[1, 1])
        .with("cb_pop_front", &[1, 1])
        .with("cb_wait_front", &[1, 1])
        .with("cb_pop_front", &[1, 1])
}

/// The first word of the tile that was packed.
fn word_of(kernel: Source) -> u16 {
    let program = Program::new(&[(Risc::Trisc, kernel.end())], &[], 1 << 30).finish();
    let place = Place { dram: false, bank: 0, address: u64::from(program.cb) + 256 + 2048 };
    let bytes = program.device.bytes(place, 2).expect("bytes");
    u16::from_le_bytes([bytes[0], bytes[1]])
}

#[test]
fn functions_are_found_by_their_records() {
    let fill = |parameters: &[u32]| {
        let kernel = with_record(["fill_tile", "fill_tile_init", "fill", ""], 1, [0x40e0_0000, 0]);
        let kernel = tile_in_dst(kernel).with("sfpu_init", &[RECORD, 0, 0, 0]);
        kernel.with("sfpu", &[&[RECORD, 0, 0, 0, 0, 0], parameters].concat())
    };
    assert_eq!(word_of(packed(fill(&[1, LIST]), 0)), 0x40e0);
    let no_value = Program::new(&[(Risc::Trisc, fill(&[0, 0]).end())], &[], 1 << 30).go().expect_err("a mistake");
    assert_eq!((no_value.what.class(), &*no_value.call), (Class::Argument, "a vector function"));
    let kernel = with_record(["relu_tile", "relu_tile_init", "relu", "relu"], 1, [0; 2]);
    let kernel = tile_in_dst(kernel).with("sfpu", &[RECORD, 0, 0, 0, 0, 0, 0, 0]);
    let missing = Program::new(&[(Risc::Trisc, kernel.end())], &[], 1 << 30).go().expect_err("a mistake");
    assert!(
        matches!(&*missing.what, FaultKind::MissingInit { missing, .. }
        if missing == "relu_tile_init before relu_tile"),
        "{missing}"
    );
    assert_eq!(&*missing.call, "relu_tile");
}

#[test]
fn lists_of_tiles_are_words_in_local_memory() {
    let kernel = with_record(["mask_tile", "mask_tile_init", "tile", "mask"], 2, [0, 1]);
    let kernel = tile_in_dst(kernel).with("copy_tile", &[1, 0, 1]);
    let call = |kernel: Source, number: u32| kernel.with("sfpu_tiles", &[RECORD, number, LIST, 0, 0]);
    let missing = Program::new(&[(Risc::Trisc, call(kernel, 2).end())], &[], 1 << 30).go().expect_err("a mistake");
    assert!(missing.to_string().starts_with("mask_tile: mask_tile_init before mask_tile is missing"), "{missing}");
}

#[test]
fn vector_operations_are_done_before_the_next_call_and_their_operands_are_moved_at_no_cost() {
    // Dst[0] = Dst[0] * Dst[0] + 1 in the first four rows.
    let kernel = tile_in_dst(source()).with("sfpi_start", &[0]);
    let kernel = kernel.with("sfpi_load", &[0, 0]).keep(S[0]).call("sfpi_multiply", &[Err(S[0]), Err(S[0])]).keep(S[1]);
    let kernel =
        kernel.with("sfpi_word", &[0x3f80_0000]).keep(S[2]).call("sfpi_add", &[Err(S[1]), Err(S[2])]).keep(S[1]);
    let kernel = kernel.call("sfpi_store", &[Ok(0), Ok(0), Err(S[1])]);
    assert_eq!(word_of(packed(kernel.clone(), 0)), 0x40e8, "7.25");
    let cycles = |kernel: Source| {
        let mut program = Program::new(&[(Risc::Trisc, kernel.end())], &[], 1 << 30);
        program.run.events = Some(Vec::new());
        let program = program.finish();
        let events = program.run.events.clone().unwrap_or_default();
        let math: Vec<_> = events.into_iter().filter(|event| event.thread == 1).collect();
        (program.run.kernels[0].clocks[1], math)
    };
    let (whole, events) = cycles(packed(kernel, 0));
    let sfpi = events.iter().find(|event| event.name == "sfpi").expect("the operations");
    assert_eq!(sfpi.end - sfpi.start, 4, "load, word, multiply-add and store");
    let (without, _) = cycles(packed(tile_in_dst(source()).with("sfpi_start", &[0]), 0));
    assert!(whole - without < 32, "{whole} {without}: instructions between operations are not the device's");
    for pair in events.windows(2) {
        assert!(pair[0].end <= pair[1].start, "{pair:?}");
    }
}

#[test]
fn numbers_of_operations_that_do_not_exist_are_mistakes() {
    for (name, what, arguments) in [
        ("sfpi_constant", "constant", vec![8]),
        ("sfpi_unary", "function", vec![19, 0, 0]),
        ("sfpi_binary", "function", vec![13, 0, 0]),
        ("sfpi_compare", "comparison", vec![16, 0, 0]),
        ("sfpi_join", "join", vec![3, 0, 0]),
        ("sfpi_lines", "table", vec![2, 0, 0, 0, 0]),
    ] {
        let kernel = tile_in_dst(source()).with(name, &arguments);
        let fault = Program::new(&[(Risc::Trisc, kernel.end())], &[], 1 << 30).go().expect_err("a mistake");
        assert!(fault.to_string().contains(&format!("a {what} of this number does not exist")), "{fault}");
    }
    for name in ["sfpi_otherwise", "sfpi_end"] {
        let kernel = tile_in_dst(source()).with(name, &[]);
        let fault = Program::new(&[(Risc::Trisc, kernel.end())], &[], 1 << 30).go().expect_err("a mistake");
        assert!(fault.to_string().contains("there is no v_if around this place"), "{fault}");
    }
    let kernel = tile_in_dst(source()).with("sfpi_load", &[64, 0]);
    let fault = Program::new(&[(Risc::Trisc, kernel.end())], &[], 1 << 30).go().expect_err("a mistake");
    assert_eq!(*fault.what, FaultKind::DstUnwritten { index: 1 }, "the second tile");
    let kernel = tile_in_dst(source()).with("sfpi_start", &[0]).with("sfpi_advance", &[64]).with("sfpi_load", &[0, 0]);
    let fault = Program::new(&[(Risc::Trisc, kernel.end())], &[], 1 << 30).go().expect_err("a mistake");
    assert_eq!(*fault.what, FaultKind::DstUnwritten { index: 1 });
    let kernel = tile_in_dst(source()).with("sfpi_load", &[0, 2]);
    let fault = Program::new(&[(Risc::Trisc, kernel.end())], &[], 1 << 30).go().expect_err("a mistake");
    let format = tt_formats::DataFormat::Int32;
    assert_eq!(*fault.what, FaultKind::NeedsWideDst { format });
}

#[test]
fn arguments_and_results_of_64_bits_are_two_words() {
    let (cb, semaphore) = places();
    let place = N150.worker_coord(assembled::CORE).expect("a core");
    // A NoC address has its coordinates in the upper word; -1 is the kernel's own network.
    let there = [semaphore, place.x << 4 | place.y << 10];
    let kernel = source().with("noc_semaphore_inc", &[there[0], there[1], 5, u32::MAX]);
    let kernel = kernel.with("noc_barrier", &[3, 0, u32::MAX]).with("wall_clock", &[]).put(&[addi(S[0], A0 + 1, 0)]);
    let kernel = kernel.load(T1, semaphore).put(&[lw(S[1], T1, 0), tt_testkit::riscv::add(S[0], S[0], S[1])]);
    let kernel = kernel.put(&[sw(S[0], T1, 0)]).end();
    assert_eq!(assembled::word_after(&[(Risc::Brisc, kernel)], semaphore), 5, "the upper word of the clock is 0");
    let refused = source().with("noc_semaphore_inc", &[cb, 0, 5, 2]).end();
    let fault = assembled::fault_of(&[(Risc::Brisc, refused)]);
    assert!(fault.to_string().contains("noc must be 0 or 1, got 2"), "{fault}");
}

#[test]
fn the_clock_and_both_counters_of_a_circular_buffer_are_registers() {
    let (_, semaphore) = places();
    let (acked, received) = (0xFFB4_0020, 0xFFB4_0028);
    let kernel = source().with("cb_reserve_back", &[0, 4]).with("cb_push_back", &[0, 4]).with("cb_wait_front", &[0, 3]);
    let kernel = kernel.with("cb_pop_front", &[0, 3]).load(T1, acked).put(&[lw(S[0], T1, 0)]).load(T1, received);
    // 16 * 4 pushed pages and 3 popped ones.
    let kernel = kernel.put(&[lw(S[1], T1, 0)]);
    let kernel = (0..4).fold(kernel, |kernel, _| kernel.put(&[tt_testkit::riscv::add(S[1], S[1], S[1])]));
    let kernel = kernel.put(&[tt_testkit::riscv::add(S[0], S[0], S[1])]).load(T1, semaphore).put(&[sw(S[0], T1, 0)]);
    let kernel = kernel.with("cb_wait_front", &[0, 1]).with("cb_pop_front", &[0, 1]).end();
    assert_eq!(assembled::word_after(&[(Risc::Brisc, kernel)], semaphore), 16 * 4 + 3);
    for (address, text) in [
        (0xFFB1_1FFC, "no memory"),
        (0xFFB1_2000, "debug registers"),
        (0xFFB2_FFFC, "registers of NoC 0"),
        (0xFFB3_0000, "registers of NoC 1"),
        (0xFFB4_0024, "overlay registers"),
        (0xFFB6_0020, "overlay registers"),
        (0xFFE7_FFFC, "instruction FIFO"),
        (0xFFE8_0000, "PCBufs"),
        (0xFFEC_0000, "mailboxes"),
        (0xFFEF_FFFC, "the Tensix configuration"),
        (0xFFF0_0000, "no memory"),
    ] {
        let fault = assembled::fault_of(&[(Risc::Brisc, source().load(T1, address).put(&[lw(S[0], T1, 0)]).end())]);
        assert!(fault.to_string().contains(text), "{address:#x}: {fault}");
    }
}
