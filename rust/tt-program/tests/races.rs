//! Accesses that nothing orders.
//!
//! Which of two kernels is blamed, for what, and what orders them.

mod programs;

use programs::{Program, mistake};
use tt_memory::buffer::BufferType;
use tt_memory::chip::N150;
use tt_program::FaultKind;
use tt_program::calls::noc::Barrier;
use tt_program::spec::Risc;

fn program() -> Program {
    Program::new(&[(0, Risc::Brisc), (0, Risc::Ncrisc), (1, Risc::Brisc)])
}

const PLACE: &str = "the L1 of core 0-0";
const OTHER: &str = "kernel BRISC_0 (BRISC) on core 0-0";

fn unordered(address: u32, bytes: u64) -> FaultKind {
    FaultKind::Unordered { place: PLACE.to_owned(), address: address.into(), bytes, writer: OTHER.to_owned() }
}

#[test]
fn sixteen_bytes_are_a_flag_and_more_are_data() {
    let mut program = program();
    let start = program.cb(4);
    let lost = |address: u32| FaultKind::LostChange {
        place: PLACE.to_owned(),
        address: address.into(),
        writer: OTHER.to_owned(),
    };
    program.by(0, |run, device| {
        run.store_bytes(device, start, &[1; 17]).expect("data");
        run.store_bytes(device, start + 32, &[1; 16]).expect("a flag");
        run.store_word(device, start + 64, 1).expect("a flag");
    });
    program.by(1, |run, device| {
        assert_eq!(mistake(run.store_bytes(device, start, &[2; 20])), unordered(start, 20));
        assert_eq!(mistake(run.load_bytes(device, start, 20).map(|_| ())), unordered(start, 20));
        assert_eq!(mistake(run.load_word(device, start + 16)), unordered(start + 16, 4), "the last of the data");
        assert_eq!(mistake(run.store_bytes(device, start + 32, &[2; 16])), lost(start + 32));
        assert_eq!(mistake(run.store_word(device, start + 64, 2)), lost(start + 64));
        // Who loads a flag knows all that its writer has done before.
        assert_eq!(run.load_word(device, start + 64), Ok(Some(1)));
        run.store_word(device, start + 64, 2).expect("it has seen it");
        run.store_bytes(device, start, &[2; 20]).expect("it knows of it");
        run.store_bytes(device, start + 32, &[2; 16]).expect("and of this");
    });
}

#[test]
fn what_a_kernel_may_still_read_is_not_overwritten() {
    let mut program = program();
    let start = program.cb(4);
    let semaphore = program.run.semaphore_address(0);
    program.by(0, |run, device| {
        run.store_bytes(device, start, &[1; 64]).expect("data");
        run.noc_semaphore_set(device, semaphore, 1).expect("a flag");
    });
    program.by(1, |run, device| {
        assert_eq!(run.noc_semaphore_wait(device, semaphore, 1, false), Ok(true));
        run.load_bytes(device, start, 32).expect("what it knows of");
    });
    program.by(0, |run, device| {
        let reader = "kernel NCRISC_0 (NCRISC) on core 0-0".to_owned();
        let (place, address) = (PLACE.to_owned(), start.into());
        let early = FaultKind::OverwrittenWhileRead { place, address, bytes: 64, reader };
        assert_eq!(mistake(run.store_bytes(device, start, &[2; 64])), early);
        run.store_bytes(device, start + 32, &[2; 32]).expect("what nobody reads");
    });
    program.by(1, |run, device| run.noc_semaphore_set(device, semaphore, 0)).expect("a flag");
    program.by(0, |run, device| {
        assert_eq!(run.noc_semaphore_wait(device, semaphore, 0, false), Ok(true));
        run.store_bytes(device, start, &[2; 64]).expect("it has been read");
    });
}

#[test]
fn a_write_that_nobody_has_waited_for_is_on_its_way() {
    let mut program = program();
    let (own, there) = (program.cb(2), program.cb(4));
    let semaphore = program.run.semaphore_address(0);
    let (target, other) = (program.noc(1, there), program.noc(1, semaphore));
    program.by(0, |run, device| {
        run.store_bytes(device, own, &[1; 128]).expect("data");
        run.noc_async_write(device, own, target, 64, 0).expect("before the flag, over its network");
        run.noc_async_write(device, own + 64, target + 64, 64, 1).expect("over the other network");
        run.noc_semaphore_inc(device, other, 1, 0).expect("a flag");
    });
    program.by(2, |run, device| {
        assert_eq!(run.noc_semaphore_wait(device, semaphore, 1, false), Ok(true));
        run.load_bytes(device, there, 64).expect("the flag cannot overtake it");
        let on_its_way = FaultKind::StillOnItsWay {
            place: "the L1 of core 1-0".to_owned(),
            address: u64::from(there) + 64,
            bytes: 64,
            writer: OTHER.to_owned(),
        };
        assert_eq!(mistake(run.load_bytes(device, there + 64, 64).map(|_| ())), on_its_way);
    });
    // Waiting for it afterwards does not help: the flag was earlier.
    program.by(0, |run, _| run.noc_barrier(Barrier::Writes, 1, None)).expect("a barrier");
    program.by(2, |run, device| {
        let kind = mistake(run.load_bytes(device, there + 64, 64).map(|_| ()));
        assert!(matches!(kind, FaultKind::StillOnItsWay { .. }), "{kind:?}");
    });
    program.by(0, |run, device| run.noc_semaphore_inc(device, other, 1, 0)).expect("a flag");
    program.by(2, |run, device| {
        assert_eq!(run.noc_semaphore_wait(device, semaphore, 2, false), Ok(true));
        run.load_bytes(device, there + 64, 64).expect("now it is there");
    });
}

#[test]
fn few_bytes_of_dram_are_data_too() {
    let mut program = program();
    let id = program.device.allocate_interleaved(BufferType::Dram, 64, 1, 1).expect("a buffer");
    let base = program.device.buffer(id).expect("a buffer").address();
    let bank = N150.dram_cores[0];
    let target = u64::from(bank.x) << 36 | u64::from(bank.y) << 42 | base;
    let own = program.cb(3);
    program.by(0, |run, device| {
        run.store_bytes(device, own, &[1; 32]).expect("data");
        run.noc_async_write(device, own, target, 16, 0).expect("a write");
        run.noc_barrier(Barrier::Writes, 0, None).expect("a barrier");
    });
    let own = program.cb(4);
    program.by(1, |run, device| {
        let (place, writer) = ("DRAM bank 0".to_owned(), OTHER.to_owned());
        let expected = FaultKind::Unordered { place, address: base, bytes: 16, writer };
        assert_eq!(base % 32, u64::from(own) % 32);
        assert_eq!(mistake(run.noc_async_read(device, target, own, 16, 0)), expected);
    });
}

#[test]
fn pages_carry_what_their_producer_knows_and_free_pages_what_their_consumer_does() {
    let mut program = program();
    let (scratch, page) = (program.cb(4), program.cb(0));
    program.by(1, |run, device| run.store_bytes(device, scratch, &[1; 64])).expect("data");
    program.push(1, 0, 1);
    program.by(0, |run, device| {
        let kind = mistake(run.load_bytes(device, scratch, 64).map(|_| ()));
        assert!(matches!(kind, FaultKind::Unordered { .. }), "{kind:?}");
        run.cb_wait_front(0, 1).expect("a page");
        run.load_bytes(device, scratch, 64).expect("the producer has told");
        run.load_bytes(device, page, 64).expect("the page");
        run.store_bytes(device, scratch + 64, &[1; 64]).expect("data");
        run.cb_pop_front(0, 1).expect("a pop");
    });
    program.by(1, |run, device| {
        let kind = mistake(run.store_bytes(device, scratch, &[2; 64]));
        assert!(matches!(kind, FaultKind::OverwrittenWhileRead { .. }), "{kind:?}");
        run.cb_reserve_back(0, 4).expect("pages, among them the one that was popped");
        run.store_bytes(device, scratch, &[2; 64]).expect("the consumer has told");
        run.load_bytes(device, scratch + 64, 64).expect("and of this");
    });
}

#[test]
fn an_inline_write_replaces_what_it_must_have_seen_and_a_count_adds_to_anything() {
    let mut program = program();
    let semaphore = program.run.semaphore_address(0);
    let target = program.noc(1, semaphore);
    program.by(0, |run, device| run.noc_semaphore_inc(device, target, 1, 0)).expect("a count");
    program.by(1, |run, device| {
        assert_eq!(run.noc_semaphore_inc(device, target, 1, 0), Ok(true));
        let kind = mistake(run.noc_inline_dw_write(device, target, 7, 0xf, 0));
        let place = "the L1 of core 1-0".to_owned();
        assert_eq!(kind, FaultKind::LostChange { place, address: semaphore.into(), writer: OTHER.to_owned() });
    });
    assert_eq!(program.word(1, semaphore), 2, "nothing is written then");
}
