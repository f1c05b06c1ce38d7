//! Compiled kernels, written in the assembler of the test kit.
//!
//! Calls, pointers, loops that wait, and what goes wrong.

mod assembled;

use assembled::{A0, CORE, Program, S, Source, T0, T1, fault_of, places, source, word_after};
use tt_memory::chip::N150;
use tt_program::Class;
use tt_program::native::{Next, names};
use tt_program::spec::Risc;
use tt_program::state::kernel::{State, Wait};
use tt_testkit::random::Random;
use tt_testkit::riscv::{DATA, ECALL, TEXT, add, addi, beq, bne, jal, lb, lhu, lw, sb, sw};

#[test]
fn pages_go_from_kernel_to_kernel_through_pointers() {
    // The writer adds 1 to what the reader brings, word by word, and leaves the sum in semaphore 0.
    let (cb, semaphore) = places();
    let reader = source().with("cb_reserve_back", &[0, 1]).with("get_write_ptr", &[0]).keep(S[0]);
    let reader = reader.load(T1, 5).put(&[sw(T1, S[0], 0), addi(T1, T1, 1), sw(T1, S[0], 60)]);
    let reader = (4..60).step_by(4).fold(reader, |reader, offset| reader.put(&[sw(0, S[0], offset)]));
    let reader = reader.with("cb_push_back", &[0, 1]).end();
    let writer = source().with("cb_wait_front", &[0, 1]).with("get_read_ptr", &[0]).keep(S[0]);
    let writer = writer.put(&[lw(S[1], S[0], 0), lhu(S[2], S[0], 60), add(S[1], S[1], S[2]), addi(S[1], S[1], 1)]);
    let writer = writer.load(T1, semaphore).put(&[sw(S[1], T1, 0)]).with("cb_pop_front", &[0, 1]).end();
    let kernels = [(Risc::Brisc, writer), (Risc::Ncrisc, reader)];
    assert_eq!(word_after(&kernels, semaphore), 5 + 6 + 1);
    assert_eq!(word_after(&kernels, cb + 60), 6);
}

#[test]
fn time_is_that_of_instructions_and_calls() {
    let end = Program::new(&[(Risc::Brisc, source().end())], &[], 100).finish().run.cycles();
    let work = source().put(&[addi(T1, 0, 1); 10]).end();
    assert_eq!(Program::new(&[(Risc::Brisc, work)], &[], 100).finish().run.cycles(), end + 10);
    let calls = source().with("get_write_ptr", &[0]).end();
    let cost = tt_perf::Costs::of(N150.arch).risc.l1_load;
    // Two instructions for the argument, two for the number, and the call's own.
    assert_eq!(Program::new(&[(Risc::Brisc, calls)], &[], 100).finish().run.cycles(), end + 4 + cost);
    let load = source().load(T1, DATA).put(&[lw(T1, T1, 0), addi(T1, T1, 0)]).end();
    assert_eq!(Program::new(&[(Risc::Brisc, load)], &[], 100).finish().run.cycles(), end + 2 + 3);
}

#[test]
fn the_timeline_shows_instructions_between_calls() {
    let kernel = source().put(&[addi(T1, 0, 1); 10]).with("get_write_ptr", &[0]).end();
    let mut program = Program::new(&[(Risc::Brisc, kernel)], &[], 100);
    program.run.events = Some(Vec::new());
    let events = program.finish().run.events.unwrap_or_default();
    let rows: Vec<_> = events.iter().map(|event| (&*event.name, event.end - event.start)).collect();
    assert_eq!(rows, [("instructions", 14), ("get_write_ptr", 2), ("instructions", 2), ("end of the kernel", 20)]);
}

#[test]
fn a_loop_that_waits_for_a_word_stops_until_it_is_changed() {
    let (_, semaphore) = places();
    let waits = source().load(T1, semaphore).put(&[lw(S[0], T1, 0), beq(S[0], 0, -1)]).load(T1, semaphore);
    let waits = waits.put(&[addi(S[0], S[0], 1), sw(S[0], T1, 0)]).end();
    // Sorted first, so that it polls before anything has happened.
    let slow = source().load(S[1], 2000).put(&[addi(S[1], S[1], -1), bne(S[1], 0, -1)]);
    let sets = slow.load(T1, semaphore).load(S[0], 41).put(&[sw(S[0], T1, 0)]).end();
    let kernels = [(Risc::Brisc, waits.clone()), (Risc::Ncrisc, sets)];
    assert_eq!(word_after(&kernels, semaphore), 42);
    let program = Program::new(&kernels, &[], 1 << 30).finish();
    let (_, instructions) = program.kernels.usage(0).expect("a compiled kernel");
    assert!(instructions < 60, "{instructions} instructions: the loop stopped");
    let ends: Vec<u64> = program.run.kernels.iter().map(tt_program::state::kernel::Kernel::end).collect();
    assert!(ends[0] > 4000 && ends[0] < ends[1] + 40, "{ends:?}: it goes on when the word has come");
    // Nobody changes it.
    let mut alone = Program::new(&[(Risc::Brisc, waits)], &[], 1 << 30);
    assert_eq!(alone.go(), Ok(Next::Nobody));
    assert_eq!(alone.run.kernels[0].state, State::Waiting(Wait::Change { address: semaphore, value: 0 }));
}

#[test]
fn words_beside_the_one_that_is_waited_for_wake_nobody() {
    let (_, semaphore) = places();
    // The last word of the semaphore's 16 B is polled, the first one is stored to again and again.
    let waits = source().load(T1, semaphore).put(&[lw(S[0], T1, 12), beq(S[0], 0, -1), sw(S[0], T1, 8)]).end();
    let delay = |kernel: Source| kernel.load(S[1], 1000).put(&[addi(S[1], S[1], -1), bne(S[1], 0, -1)]);
    let place = N150.worker_coord(CORE).map_or(0, |place| place.x << 4 | place.y << 10);
    let stores = (0..10).fold(source(), |kernel, _| {
        // The count is where others go on that are behind.
        let kernel = delay(kernel).load(T1, semaphore).put(&[sw(0, T1, 0)]);
        delay(kernel).with("noc_semaphore_inc", &[semaphore + 4, place, 1, 0])
    });
    let stores = stores.with("noc_barrier", &[3, 0, u32::MAX]);
    let sets = stores.load(T1, semaphore).load(S[0], 41).put(&[sw(S[0], T1, 12)]).end();
    let kernels = [(Risc::Brisc, waits), (Risc::Ncrisc, sets)];
    assert_eq!(word_after(&kernels, semaphore + 8), 41);
    let program = Program::new(&kernels, &[], 1 << 30).finish();
    let (_, instructions) = program.kernels.usage(0).expect("a compiled kernel");
    assert!(instructions < 60, "{instructions} instructions: nobody has woken it in between");
}

#[test]
fn parts_of_a_flag_are_its_bytes() {
    let (_, semaphore) = places();
    let kernel = source().load(T1, semaphore).load(S[0], 0x0403_0201).put(&[
        sw(S[0], T1, 0),
        lhu(S[1], T1, 2),
        lb(S[2], T1, 1),
        add(S[1], S[1], S[2]),
        sw(S[1], T1, 0),
    ]);
    assert_eq!(word_after(&[(Risc::Brisc, kernel.end())], semaphore), 0x0403 + 2);
}

#[test]
fn a_loop_that_waits_for_either_of_two_words_lets_others_go_on() {
    let (_, semaphore) = places();
    // The second word of the semaphore's 16 B is never changed.
    let waits = source().load(T1, semaphore).put(&[lw(S[0], T1, 0), lw(S[1], T1, 4), add(S[0], S[0], S[1])]);
    let waits = waits.put(&[beq(S[0], 0, -3), addi(S[0], S[0], 1), sw(S[0], T1, 0)]).end();
    let sets = source().load(T1, semaphore).load(S[0], 41).put(&[sw(S[0], T1, 0)]).end();
    assert_eq!(word_after(&[(Risc::Brisc, waits), (Risc::Ncrisc, sets)], semaphore), 42);
}

#[test]
fn the_counters_of_circular_buffers_can_be_polled() {
    let (_, semaphore) = places();
    let (acked, received) = (0xFFB4_0020, 0xFFB4_0028);
    let waits = source().load(T1, received).put(&[lw(S[0], T1, 0), beq(S[0], 0, -1)]).load(T1, semaphore);
    let waits = waits.put(&[sw(S[0], T1, 0)]).end();
    let slow = source().load(S[1], 2000).put(&[addi(S[1], S[1], -1), bne(S[1], 0, -1)]);
    let pushes = slow.with("cb_reserve_back", &[0, 3]).with("cb_push_back", &[0, 3]).end();
    let program = [(Risc::Brisc, waits.clone()), (Risc::Ncrisc, pushes)];
    assert_eq!(word_after(&program, semaphore), 3);
    assert!(Program::new(&program, &[], 1 << 30).finish().kernels.usage(0).is_some_and(|(_, count)| count < 60));
    let mut alone = Program::new(&[(Risc::Brisc, waits)], &[], 1 << 30);
    assert_eq!(alone.go(), Ok(Next::Nobody));
    assert_eq!(alone.run.kernels[0].state, State::Waiting(Wait::Front { cb: 0, pages: 1 }));
    let other = source().load(T1, acked + 8 * 0x1000).put(&[lw(S[0], T1, 0)]).end();
    assert_eq!(fault_of(&[(Risc::Brisc, other)]).what.class(), Class::CircularBuffer, "CB 8 does not exist");
}

#[test]
fn loads_of_different_words_are_no_loop_that_waits() {
    // Each word is loaded once, from behind a window that a call has closed.
    let fills = (0..16).fold(source().with("cb_reserve_back", &[0, 1]).load(T1, places().0), |kernel, word| {
        kernel.put(&[sw(0, T1, 4 * word)])
    });
    let body = [lw(S[1], T1, 0), addi(S[0], S[0], -1)];
    let body = source().put(&body).with("cb_pages_reservable_at_back", &[0, 1]).text;
    let kernel = fills.load(S[0], 40).put(&body).put(&[bne(S[0], 0, -(body.len() as i32))]);
    Program::new(&[(Risc::Brisc, kernel.with("cb_push_back", &[0, 1]).end())], &[], 1 << 30).finish();
}

#[test]
fn zeros_can_be_read_and_not_written() {
    let (_, semaphore) = places();
    let zeros = source().load(T1, 13_344).put(&[lw(S[0], T1, 508), addi(S[0], S[0], 3)]);
    let kernel = zeros.load(T1, semaphore).put(&[sw(S[0], T1, 0)]).end();
    assert_eq!(word_after(&[(Risc::Brisc, kernel)], semaphore), 3);
    let writes = source().load(T1, 13_344).put(&[sw(0, T1, 0)]).end();
    assert_eq!(fault_of(&[(Risc::Brisc, writes)]).what.class(), Class::Address);
}

#[test]
fn a_loop_over_the_clock_runs_on() {
    let clock = source()
        .load(T1, 0xFFB1_21F0)
        .load(S[0], 5000)
        .put(&[lw(S[1], T1, 0), tt_testkit::riscv::bltu(S[1], S[0], -1)]);
    let program = Program::new(&[(Risc::Brisc, clock.end())], &[], 1 << 30).finish();
    assert!(program.run.cycles() >= 5000 && program.run.cycles() < 5200, "{}", program.run.cycles());
}

#[test]
fn arguments_are_words_in_l1() {
    let (_, semaphore) = places();
    let kernel = source().with("argument_address", &[1]).keep(S[0]).with("argument", &[0]).keep(S[1]);
    let kernel = kernel.put(&[lw(S[2], S[0], 0), add(S[1], S[1], S[2])]).with("common_argument", &[0]);
    let kernel = kernel.put(&[add(S[1], S[1], A0)]).load(T1, semaphore).put(&[sw(S[1], T1, 0)]).end();
    let program = Program::new(&[(Risc::Ncrisc, kernel)], &[1, 20, 300], 1000).finish();
    let place = tt_memory::Place { dram: false, bank: 0, address: semaphore.into() };
    assert_eq!(program.device.bytes(place, 2).expect("bytes"), 321_u16.to_le_bytes());
    let beyond = source().with("argument", &[2]).end();
    let fault = Program::new(&[(Risc::Ncrisc, beyond)], &[1, 20, 300], 1000).go().expect_err("two arguments");
    assert_eq!(fault.what.class(), Class::Argument);
}

#[test]
fn circular_buffers_are_mirrored_and_their_pointers_can_be_set() {
    let (cb, semaphore) = places();
    let mut kernel = source();
    kernel.symbols = vec![("cb_interface", DATA)];
    // fifo_size, fifo_limit, fifo_page_size, fifo_num_pages, then the pointers.
    let whole = (0..6).fold(kernel.load(T1, DATA).load(S[0], 0), |kernel, field| {
        kernel.put(&[lw(S[1], T1, 4 * field), add(S[0], S[0], S[1])])
    });
    let store = |kernel: Source| kernel.load(T1, semaphore).put(&[sw(S[0], T1, 0)]).end();
    let sum = 256 + (cb + 256) + 64 + 4 + cb + cb;
    assert_eq!(word_after(&[(Risc::Brisc, store(whole.clone()))], semaphore), sum);
    assert_eq!(word_after(&[(Risc::Trisc, store(whole.clone()))], semaphore), (256 + cb + 256 + 64 + cb + cb) / 16 + 4);
    // After a push the pointer and the count have moved; then it is set back.
    let mut moved = source().with("cb_reserve_back", &[0, 2]).with("cb_push_back", &[0, 2]).load(T1, DATA);
    moved.symbols = vec![("cb_interface", DATA)];
    let seen = moved.clone().put(&[lw(S[0], T1, 20), lw(S[1], T1, 24), add(S[0], S[0], S[1])]);
    assert_eq!(word_after(&[(Risc::Brisc, store(seen))], semaphore), cb + 128 + (2 << 16));
    let back = moved.clone().put(&[lw(S[0], T1, 20), addi(S[0], S[0], -68), sw(S[0], T1, 20)]);
    let back = back.with("get_write_ptr", &[0]).keep(S[0]);
    assert_eq!(word_after(&[(Risc::Brisc, store(back))], semaphore), cb + 60);
    // One past the end is the beginning; what lies behind is outside.
    let forward = |bytes| moved.clone().put(&[lw(S[0], T1, 20), addi(S[0], S[0], bytes), sw(S[0], T1, 20)]);
    let wrapped = forward(128).with("get_write_ptr", &[0]).keep(S[0]);
    assert_eq!(word_after(&[(Risc::Brisc, store(wrapped))], semaphore), cb);
    let outside = fault_of(&[(Risc::Brisc, forward(132).with("get_write_ptr", &[0]).end())]);
    assert_eq!(outside.what.class(), Class::Argument);
    assert!(outside.to_string().contains("outside of the CB"), "{outside}");
    let other = moved.put(&[sw(0, T1, 8)]).with("get_write_ptr", &[0]).end();
    let fault = fault_of(&[(Risc::Brisc, other)]);
    assert_eq!(fault.what.class(), Class::Unsupported);
    assert!(fault.to_string().contains("fifo_page_size of CB 0"), "{fault}");
}

#[test]
fn text_is_printed_line_by_line() {
    let mut kernel = source();
    kernel.data = b"x = \0y\n\0".to_vec();
    let kernel = kernel.with("dprint", &[0, DATA, 0]).with("dprint", &[2, 7, 0]).with("dprint", &[17, 0, 0]);
    let kernel = kernel.with("dprint", &[0, DATA + 5, 0]).with("dprint", &[3, u32::MAX, 0]).end();
    let mut program = Program::new(&[(Risc::Ncrisc, kernel)], &[], 1000).finish();
    let lines = ["x = 7", "y", "-1"].map(|line| (0, line.to_owned()));
    assert_eq!(program.kernels.take_prints(), lines);
    assert!(program.kernels.take_prints().is_empty());
}

#[test]
fn mistakes_of_pointers_have_their_classes() {
    let (cb, semaphore) = places();
    let at = |address: u32| source().load(T1, address);
    let own = N150.worker_coord(CORE).map_or(0, |place| place.x << 4 | place.y << 10);
    let held = source().with("cb_reserve_back", &[0, 1]).load(T1, cb);
    let cases = [
        ("null", at(0).put(&[lw(T1, T1, 0)]), Class::Address, "belong to no buffer"),
        ("firmware", at(100).put(&[sb(0, T1, 0)]), Class::Address, "belong to no buffer"),
        ("misaligned", at(cb + 2).put(&[lw(T1, T1, 0)]), Class::Address, "not a multiple of 4"),
        ("unwritten", held.clone().put(&[lb(T1, T1, 0)]), Class::Address, "were never written"),
        ("not reserved", held.put(&[sw(0, T1, 64)]), Class::CircularBuffer, "outside the 1 pages reserved"),
        ("beyond L1", at(0x0020_0000).put(&[lw(T1, T1, 0)]), Class::Address, "no memory"),
        ("text", at(TEXT).put(&[sw(0, T1, 0)]), Class::Address, "is text"),
        ("NoC", at(0xFFB2_0000).put(&[lw(T1, T1, 0)]), Class::Unsupported, "registers of NoC 0"),
        ("GPR", at(0xFFE0_0000).put(&[sw(0, T1, 0)]), Class::Unsupported, "Tensix GPRs"),
        ("no semaphore", at(semaphore + 16).put(&[lw(T1, T1, 0)]), Class::Address, "belong to no buffer"),
        ("no instruction", source().put(&[0]), Class::Address, "no instruction of RV32IM"),
        ("astray", source().put(&[jal(0, 100)]), Class::Address, "no text is"),
        ("stack", source().put(&[addi(2, 2, -2000), jal(0, -1)]), Class::Address, "stack"),
        ("endless", source().put(&[jal(0, 0)]), Class::Endless, "endless loop"),
        ("no call", source().load(T0, 9999).put(&[ECALL]), Class::Argument, "no call 9999"),
        ("local memory", source().with("noc_async_write", &[DATA, cb, own, 32, u32::MAX]), Class::Address, "local"),
    ];
    for (name, kernel, class, text) in cases {
        let fault = fault_of(&[(Risc::Ncrisc, kernel.end())]);
        assert_eq!(fault.what.class(), class, "{name}: {fault}");
        assert!(fault.to_string().contains(text), "{name}: {fault}");
    }
}

#[test]
fn what_nothing_orders_is_a_race() {
    let (cb, _) = places();
    // Both kernels of the core use the CB as plain memory: one fills it, the other reads it at some later time.
    let fills = (0..32).fold(source().load(T1, cb), |kernel, word| kernel.put(&[sw(T1, T1, 4 * word)]));
    let reads = source().load(S[1], 500).put(&[addi(S[1], S[1], -1), bne(S[1], 0, -1)]);
    let reads = reads.load(T1, cb + 64).put(&[lw(S[0], T1, 0)]);
    let fault = fault_of(&[(Risc::Brisc, fills.end()), (Risc::Ncrisc, reads.end())]);
    assert_eq!(fault.what.class(), Class::Race, "{fault}");
    assert_eq!(fault.risc, Risc::Ncrisc);
}

#[test]
fn the_last_arguments_lie_on_the_stack() {
    // noc_async_write_page has ten: the size and the network come last.
    let kernel = source().put(&[addi(2, 2, -16)]).load(T1, 64).put(&[sw(T1, 2, 0)]).load(T1, 77).put(&[sw(T1, 2, 4)]);
    let kernel = kernel.with("noc_async_write_page", &[1, 0, 0, 2048, 0, 0, 0, 0]).end();
    let fault = fault_of(&[(Risc::Ncrisc, kernel)]);
    assert!(fault.to_string().contains("got 77"), "{fault}");
}

/// Kernels that make any calls with any arguments, after some that may belong together.
fn any_calls(rounds: u32, seed: u64) {
    let (cb, semaphore) = places();
    let values = [0, 1, 2, 3, 4, 16, 32, 64, 2048, cb, cb + 256, semaphore, DATA, TEXT, 13_344, i32::MAX as u32];
    let corners = [u32::MAX, u32::MAX - 1, 1 << 31, 0xFFB0_FFF0, 0x1 << 20, 0xFFFF, 0x248 << 2];
    let mut random = Random::new(seed);
    let setup: &[(&str, &[u32])] = &[
        ("cb_reserve_back", &[1, 1]),
        ("cb_push_back", &[1, 1]),
        ("cb_wait_front", &[1, 1]),
        ("hw_startup", &[1, 1, 1]),
        ("copy_init", &[1, 0]),
        ("tile_regs_acquire", &[]),
        ("tile_regs_commit", &[]),
        ("tile_regs_wait", &[]),
        ("cb_reserve_back", &[0, 2]),
    ];
    let mut classes = std::collections::BTreeSet::new();
    for round in 0..rounds {
        let risc = [Risc::Brisc, Risc::Ncrisc, Risc::Trisc, Risc::Trisc][random.below(4) as usize];
        let mut kernel = source();
        kernel.data = vec![DATA.to_le_bytes(); 64].concat();
        let made = if risc == Risc::Trisc { setup } else { &setup[..3] };
        for (name, arguments) in made.iter().filter(|_| random.below(16) > 0) {
            kernel = kernel.with(name, arguments);
        }
        for _ in 0..random.below(4) {
            let arguments: Vec<u32> = (0..8)
                .map(|_| match random.below(8) {
                    0 => corners[random.below(7) as usize],
                    1 => random.bits() as u32,
                    2 => values[random.below(16) as usize],
                    _ => random.below(3),
                })
                .collect();
            let word = [lw(S[0], T1, 0), lb(S[0], T1, 1), sw(S[0], T1, 0), sb(S[0], T1, 3)][random.below(4) as usize];
            kernel =
                kernel.load(T1, arguments[random.below(8) as usize] & !3).put(&[word; 3][..random.below(4) as usize]);
            let name = names()[random.below(names().len() as u32) as usize];
            kernel = if name == "finish" { kernel } else { kernel.with(name, &arguments) };
        }
        let kernels = [(risc, kernel.end())];
        let mut program = Program::new(&kernels, &[1, 2], 10_000);
        match program.go() {
            Ok(next) => assert_eq!(next, Next::Nobody),
            Err(fault) => {
                assert_ne!(fault.what.class(), Class::Bug, "round {round}: {fault}");
                classes.insert(format!("{:?}", fault.what.class()));
            }
        }
    }
    assert!(classes.len() >= 5, "{classes:?}");
}

#[test]
fn calls_of_any_kind_end_in_one_way_or_another() {
    any_calls(6000, 7);
}

#[test]
#[ignore = "two hundred thousand kernels: a minute"]
fn many_calls_of_any_kind_end_in_one_way_or_another() {
    any_calls(200_000, 8);
}
