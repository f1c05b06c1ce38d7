//! Own L1: which bytes belong to whom, to the byte.
//!
//! Loads and stores, semaphores, and loops that wait for words.

mod programs;

use programs::{CBS, Program, costs, mistake};
use tt_memory::Place;
use tt_memory::buffer::BufferType;
use tt_memory::chip::N150;
use tt_program::calls::noc::Barrier;
use tt_program::spec::Risc;
use tt_program::state::kernel::{Stall, State, Wait};
use tt_program::{Fault, FaultKind};

fn program() -> Program {
    Program::new(&[(0, Risc::Brisc), (0, Risc::Ncrisc), (1, Risc::Brisc)])
}

fn load(program: &mut Program, address: u32, bytes: u32) -> Result<(), Fault> {
    program.by(0, |run, device| run.load_bytes(device, address, bytes).map(|_| ()))
}

fn store(program: &mut Program, address: u32, bytes: usize) -> Result<(), Fault> {
    program.by(0, |run, device| run.store_bytes(device, address, &vec![1; bytes]))
}

#[test]
fn semaphores_own_sixteen_bytes_each_if_they_exist() {
    let mut program = program();
    // Of this core there are 0 and 2.
    let [first, second, third] = [0, 1, 2].map(|id| program.run.semaphore_address(id));
    assert_eq!((second - first, third - first), (16, 32));
    for (address, bytes, there) in
        [(first, 4, true), (first + 12, 4, true), (first, 16, true), (third, 16, true), (third + 12, 4, true)]
            .into_iter()
            .chain([(first, 20, false), (first + 12, 8, false), (second, 4, false), (third + 12, 8, false)])
            .chain([(third + 16, 4, false), (first + 31 * 16, 4, false), (first - 4, 8, false)])
    {
        let stored = store(&mut program, address, bytes);
        assert_eq!(stored.is_ok(), there, "{} {bytes}", address as i32 - first as i32);
        if let Err(fault) = stored {
            assert!(matches!(*fault.what, FaultKind::NoOwner { address: at, bytes: size, .. }
                if (at, size) == (address.into(), bytes as u64)));
        }
    }
    program.by(0, |run, _| {
        assert_eq!(run.get_semaphore(2), Ok(third));
        assert_eq!(run.kernels[0].clock(), costs().l1_load + 11 * costs().l1_store);
        for id in [1, 31, 32, 64] {
            assert_eq!(mistake(run.get_semaphore(id)), FaultKind::NoSemaphore { id, created: "0, 2".to_owned() });
        }
    });
}

#[test]
fn arguments_can_be_read_and_lie_below_the_semaphores() {
    let mut program = program();
    let semaphores = program.run.semaphore_address(0);
    let first = program.by(0, |run, _| run.argument_address(0));
    assert_eq!(semaphores - first, 3 * 1536, "room for three RISCs");
    let of_the_second = program.by(1, |run, _| run.argument_address(2));
    assert_eq!(of_the_second, first + 1536 + 8);
    assert_eq!(program.word(0, of_the_second), 9);
    for (address, bytes, readable) in [
        (first, 4, true),
        (first, 3 * 1536, true),
        (semaphores - 4, 4, true),
        (semaphores - 4, 8, false),
        (first - 4, 4, false),
        (first - 4, 8, false),
    ] {
        assert_eq!(load(&mut program, address, bytes).is_ok(), readable, "{} {bytes}", address as i32 - first as i32);
        assert!(store(&mut program, address, bytes as usize).is_err());
    }
    // Those of another core are none of this kernel's business.
    let there = program.noc(1, first);
    let own = program.cb(2);
    program.by(0, |run, device| {
        assert!(matches!(mistake(run.noc_async_read(device, there, own, 16, 0)), FaultKind::NoOwner { .. }));
    });
}

#[test]
fn zeros_of_the_firmware_are_512_bytes() {
    let mut program = program();
    for (address, bytes, readable) in [
        (13_344, 512, true),
        (13_344, 4, true),
        (13_852, 4, true),
        (13_340, 4, false),
        (13_340, 8, false),
        (13_852, 8, false),
        (13_856, 4, false),
    ] {
        assert_eq!(load(&mut program, address, bytes).is_ok(), readable, "{address} {bytes}");
        assert!(store(&mut program, address, bytes as usize).is_err());
    }
}

#[test]
fn memory_ends_where_it_ends() {
    let mut program = program();
    let limit = N150.l1_bytes as u32;
    let kind = mistake(load(&mut program, limit - 32, 32));
    assert!(matches!(kind, FaultKind::NoOwner { bytes: 32, .. }), "{kind:?}");
    for (address, bytes) in [(limit - 32, 33_u32), (limit, 1), (u32::MAX, 4)] {
        let place = "the L1 of core 0-0".to_owned();
        let (address, bytes, limit) = (address.into(), bytes.into(), limit.into());
        let expected = FaultKind::OutOfBounds { place, address, bytes, limit };
        assert_eq!(mistake(load(&mut program, address as u32, bytes as u32)), expected);
    }
    assert_eq!(mistake(load(&mut program, limit - 32, 0)), FaultKind::EmptyTransfer);
    // Local memory and text of the RISCs have addresses beyond L1.
    for (base, bytes) in [(tt_riscv::LOCAL_BASE, tt_riscv::LOCAL_BYTES), (tt_riscv::TEXT_BASE, tt_riscv::TEXT_BYTES)] {
        for (address, private) in [(base - 4, false), (base, true), (base + bytes - 4, true), (base + bytes, false)] {
            let kind = mistake(load(&mut program, address, 4));
            let expected = FaultKind::LocalMemory { address: address.into(), bytes: 4 };
            assert_eq!(kind == expected, private, "{address:#x}: {kind:?}");
        }
    }
    let bank = N150.dram_cores[3];
    let (address, own) = (N150.dram_bank_bytes - 32, program.cb(2));
    let target = u64::from(bank.x) << 36 | u64::from(bank.y) << 42 | address;
    program.by(0, |run, device| {
        let kind = mistake(run.noc_async_read(device, target, own, 64, 0));
        let place = "DRAM bank 3".to_owned();
        assert_eq!(kind, FaultKind::OutOfBounds { place, address, bytes: 64, limit: N150.dram_bank_bytes });
        let kind = mistake(run.noc_async_read(device, target, own, 32, 0));
        assert!(matches!(&kind, FaultKind::NoOwner { place, .. } if place == "DRAM bank 3"), "{kind:?}");
    });
}

#[test]
fn bytes_of_a_buffer_end_with_it() {
    let mut program = program();
    // The second one, which does not end where L1 does.
    let ids = [0; 2].map(|_| program.device.allocate_interleaved(BufferType::L1, 64, 2, 1).expect("a buffer"));
    let buffer = program.device.buffer(ids[1]).expect("a buffer");
    let start = buffer.address() as u32;
    assert_eq!(buffer.bytes_per_bank(), 64);
    let owner = format!("the buffer at {start} (2 pages of 64 B)");
    let place = "the L1 of core 0-0".to_owned();
    let never = |address: u32, bytes: u32| FaultKind::NeverWritten {
        place: place.clone(),
        address: address.into(),
        bytes: bytes.into(),
        owner: owner.clone(),
    };
    assert_eq!(mistake(load(&mut program, start, 64)), never(start, 64));
    store(&mut program, start + 16, 48).expect("the end of it");
    assert_eq!(mistake(load(&mut program, start, 64)), never(start, 64));
    assert_eq!(mistake(load(&mut program, start + 12, 8)), never(start + 12, 8));
    load(&mut program, start + 16, 48).expect("what was written");
    store(&mut program, start, 64).expect("all of it");
    load(&mut program, start, 64).expect("all of it");
    for (offset, bytes, over) in [(0, 65, 1), (60, 8, 4), (63, 2, 1)] {
        let (address, bytes) = (u64::from(start) + offset, bytes as u64);
        let past = FaultKind::PastBuffer { place: place.clone(), address, bytes, over, owner: owner.clone() };
        assert_eq!(mistake(store(&mut program, address as u32, bytes as usize)), past);
    }
}

#[test]
fn bytes_of_a_circular_buffer_end_with_it() {
    let mut program = program();
    let (start, bytes) = (program.cb(4), CBS[4].0 * CBS[4].1);
    store(&mut program, start, bytes as usize).expect("plain memory");
    load(&mut program, start + bytes - 16, 16).expect("the end of it");
    let past = FaultKind::PastBuffer {
        place: "the L1 of core 0-0".to_owned(),
        address: u64::from(start + bytes) - 16,
        bytes: 36,
        over: 20,
        owner: "CB 4".to_owned(),
    };
    assert_eq!(mistake(load(&mut program, start + bytes - 16, 36)), past);
    // From one CB into the next.
    let kind = mistake(store(&mut program, program_end(0), 8));
    assert!(matches!(&kind, FaultKind::PastBuffer { over: 4, owner, .. } if owner == "CB 0"), "{kind:?}");
    assert!(matches!(mistake(load(&mut program, start + bytes, 4)), FaultKind::NoOwner { .. }));
}

/// Four bytes before the end of a CB.
fn program_end(index: usize) -> u32 {
    N150.l1_base as u32 + CBS[..=index].iter().map(|(page, pages)| page * pages).sum::<u32>() - 4
}

#[test]
fn a_producer_writes_what_it_has_reserved_and_a_consumer_what_it_has_waited_for() {
    let mut program = program();
    let start = program.cb(0);
    let (outside, inside) = (
        |reserved, address, bytes, back| FaultKind::WriteOutsideReserved {
            cb: 0,
            address,
            bytes,
            reserved,
            start: back,
        },
        |waited, address, bytes, front| FaultKind::ReadOutsideWaited { cb: 0, address, bytes, waited, start: front },
    );
    program.by(1, |run, device| {
        run.store_bytes(device, start, &[1; 256]).expect("plain memory until somebody reserves");
        run.cb_reserve_back(0, 2).expect("pages");
        run.store_bytes(device, start, &[1; 128]).expect("what is reserved");
        run.load_bytes(device, start + 64, 192).expect("a producer may look at all of it");
        let kind = mistake(run.store_bytes(device, start + 64, &[1; 65]));
        assert_eq!(kind, outside(2, start + 64, 65, start));
        run.cb_push_back(0, 1).expect("a push");
        let kind = mistake(run.store_word(device, start + 60, 1));
        assert_eq!(kind, outside(1, start + 60, 4, start + 64));
        run.store_bytes(device, start + 64, &[1; 64]).expect("what is still reserved");
        let kind = mistake(run.store_bytes(device, start + 60, &[1; 8]));
        assert_eq!(kind, outside(1, start + 60, 8, start + 64));
    });
    program.by(0, |run, device| {
        let kind = mistake(run.load_bytes(device, start, 4).map(|_| ()));
        assert_eq!(kind, inside(0, start, 4, start));
        run.cb_wait_front(0, 1).expect("a page");
        run.load_bytes(device, start, 64).expect("what was waited for");
        run.store_bytes(device, start, &[2; 64]).expect("in place");
        let kind = mistake(run.load_bytes(device, start + 60, 8).map(|_| ()));
        assert_eq!(kind, inside(1, start + 60, 8, start));
        assert_eq!(mistake(run.store_word(device, start + 128, 2)), outside(1, start + 128, 4, start + 64));
        run.cb_pop_front(0, 1).expect("a pop");
        let kind = mistake(run.load_bytes(device, start, 16).map(|_| ()));
        assert_eq!(kind, inside(0, start, 16, start + 64));
    });
}

#[test]
fn bytes_of_a_page_that_nobody_wrote_are_not_read() {
    let mut program = program();
    let start = program.cb(0);
    program.by(1, |run, device| {
        run.cb_reserve_back(0, 1).expect("a page");
        run.store_bytes(device, start + 16, &[1; 16]).expect("a part of it");
        run.cb_push_back(0, 1).expect("a push");
    });
    program.by(0, |run, device| {
        run.cb_wait_front(0, 1).expect("a page");
        run.load_bytes(device, start, 64).expect("some of it is written");
        for (offset, bytes, written) in [(0, 16, false), (16, 16, true), (32, 32, false), (12, 4, false), (12, 5, true)]
        {
            let loaded = run.load_bytes(device, start + offset, bytes).map(|_| ());
            let (address, bytes) = (u64::from(start + offset), u64::from(bytes));
            let (place, owner) = ("the L1 of core 0-0".to_owned(), "CB 0".to_owned());
            let never = FaultKind::NeverWritten { place, address, bytes, owner };
            assert_eq!(loaded.map_err(|fault| *fault.what), if written { Ok(()) } else { Err(never) });
        }
        run.cb_pop_front(0, 1).expect("a pop");
    });
    // What was popped is not written any more.
    program.by(1, |run, _| {
        run.cb_reserve_back(0, 4).expect("pages");
        run.cb_push_back(0, 3).expect("a push");
        run.cb_push_back(0, 1).expect("a push");
    });
    program.by(0, |run, device| {
        run.cb_wait_front(0, 3).expect("pages");
        let kind = mistake(run.load_bytes(device, start + 64, 64).map(|_| ()));
        assert!(matches!(kind, FaultKind::NeverWritten { .. }));
        run.cb_pop_front(0, 3).expect("pages");
        run.cb_wait_front(0, 1).expect("the first page again");
        let kind = mistake(run.load_bytes(device, start + 16, 16).map(|_| ()));
        assert!(matches!(kind, FaultKind::NeverWritten { .. }), "{kind:?}");
    });
}

#[test]
fn loads_and_stores_take_their_time() {
    let mut program = program();
    let start = program.cb(0);
    program.by(0, |run, device| {
        run.store_bytes(device, start, &[1; 13]).expect("a store");
        let mut time = 4 * costs().l1_store;
        assert_eq!(run.kernels[0].clock(), time);
        run.load_bytes(device, start, 9).expect("a load");
        time += 3 * costs().l1_load;
        assert_eq!(run.kernels[0].clock(), time);
        run.store_word(device, start, 0x0807_0605).expect("a store");
        time += costs().l1_store;
        assert_eq!(run.kernels[0].clock(), time);
        assert_eq!(run.load_word(device, start), Ok(Some(0x0807_0605)));
        time += costs().l1_load;
        assert_eq!(run.kernels[0].clock(), time);
        assert_eq!(run.load_bytes(device, start, 4).map(<[u8]>::to_vec), Ok(vec![5, 6, 7, 8]));
        run.spend(0).expect("an argument");
        run.spend(1).expect("an address");
        time += costs().l1_load + costs().argument + costs().noc_address;
        assert_eq!(run.kernels[0].clock(), time);
        assert_eq!(run.kernels[0].calls, 7);
        let misaligned = |value| FaultKind::Misaligned { what: "the address of a word", value, alignment: 4 };
        assert_eq!(mistake(run.load_word(device, start + 2)), misaligned(u64::from(start) + 2));
        assert_eq!(mistake(run.store_word(device, start + 1, 0)), misaligned(u64::from(start) + 1));
    });
}

#[test]
fn the_sixty_fifth_load_of_an_unchanged_word_waits_for_a_change() {
    let mut program = program();
    let (start, other) = (program.cb(0), program.cb(0) + 4);
    assert_eq!(program.run.schedule(), Some(0));
    program.by(0, |run, device| {
        run.store_bytes(device, start, &[0; 16]).expect("zeros");
        for _ in 0..200 {
            assert_eq!((run.load_word(device, start), run.load_word(device, other)), (Ok(Some(0)), Ok(Some(0))));
        }
        for number in 0..200 {
            run.store_word(device, start, number).expect("a store");
            assert_eq!(run.load_word(device, start), Ok(Some(number)));
        }
        for number in 1..64 {
            assert_eq!(run.load_word(device, start), Ok(Some(199)), "load {number}");
        }
        assert_eq!(run.load_word(device, start), Ok(None));
        assert_eq!(run.kernels[0].state, State::Waiting(Wait::Change { address: start, value: 199 }));
    });
    // A store beside it is no change of it; one over it is.
    program.by(1, |run, device| run.store_word(device, other, 1)).expect("a store");
    assert!(matches!(program.run.kernels[0].state, State::Waiting(_)));
    program.at(1, 7000);
    program.by(1, |run, device| {
        assert_eq!(run.load_word(device, start), Ok(Some(199)));
        run.store_bytes(device, start, &[1; 8]).expect("a store");
    });
    assert_eq!(program.run.kernels[0].state, State::Ready);
    assert_eq!(program.run.kernels[0].woken, 7000 + costs().l1_load + 2 * costs().l1_store);
}

#[test]
fn a_semaphore_wakes_whoever_waits_for_its_value() {
    let mut program = program();
    let semaphore = program.run.semaphore_address(0);
    let wait = |program: &mut Program, value, at_least| {
        program.by(0, |run, device| run.noc_semaphore_wait(device, semaphore, value, at_least))
    };
    let set = |program: &mut Program, value| {
        program.by(1, |run, device| run.noc_semaphore_set(device, semaphore, value)).expect("a store");
    };
    assert_eq!(program.run.schedule(), Some(0));
    assert_eq!(wait(&mut program, 2, false), Ok(false));
    let waiting = State::Waiting(Wait::Word { address: semaphore, value: 2, at_least: false });
    for value in [1, 3] {
        set(&mut program, value);
        assert_eq!(program.run.kernels[0].state, waiting, "{value}");
    }
    program.at(1, 5000);
    set(&mut program, 2);
    assert_eq!(program.run.kernels[0].state, State::Granted);
    // It was there, whatever it is when the kernel looks.
    set(&mut program, 9);
    assert_eq!(wait(&mut program, 2, false), Ok(true));
    let seen = 5000 + 2 * costs().l1_store;
    assert_eq!(program.clock(0), seen + costs().semaphore_poll);
    assert_eq!(program.run.kernels[0].stalls.get(&(0, Stall::Semaphore(semaphore))), Some(&seen));
    assert_eq!(program.run.kernels[0].state, State::Ready);
    assert_eq!(wait(&mut program, 9, true), Ok(true), "at least");
    assert_eq!(wait(&mut program, 8, true), Ok(true), "more");
    assert_eq!(wait(&mut program, 8, false), Ok(false), "not equal");
    program.run.kernels[0].state = State::Ready;
    assert_eq!(wait(&mut program, 10, true), Ok(false), "less");
    set(&mut program, 9);
    assert!(matches!(program.run.kernels[0].state, State::Waiting(_)));
    set(&mut program, 11);
    assert_eq!(program.run.kernels[0].state, State::Granted);
    assert_eq!(wait(&mut program, 10, true), Ok(true));
}

#[test]
fn a_semaphore_that_lets_a_kernel_pass_twice_unchanged_is_noted() {
    let mut program = program();
    let semaphore = program.run.semaphore_address(2);
    let unchanged = |program: &mut Program, value, at_least| {
        program.by(0, |run, device| {
            assert_eq!(run.noc_semaphore_wait(device, semaphore, value, at_least), Ok(true));
            run.kernels[0].unchanged.take()
        })
    };
    assert_eq!(unchanged(&mut program, 2, false), None);
    assert_eq!(unchanged(&mut program, 1, true), None, "counts are waited for again");
    assert_eq!(unchanged(&mut program, 2, false), Some(semaphore));
    program.at(1, 100);
    program.by(1, |run, device| run.noc_semaphore_set(device, semaphore, 2)).expect("a store");
    assert_eq!(unchanged(&mut program, 2, false), None, "somebody has set it again");
    assert_eq!(unchanged(&mut program, 2, false), Some(semaphore));
}

#[test]
fn who_changed_a_word_that_nobody_looks_at_is_known() {
    let mut program = program();
    let semaphore = program.run.semaphore_address(0);
    let (here, there) = (program.noc(0, semaphore), program.noc(1, semaphore));
    program.by(0, |run, device| {
        assert_eq!(run.noc_semaphore_inc(device, here, 1, 0), Ok(true));
        assert_eq!(run.noc_semaphore_inc(device, there, 1, 0), Ok(true));
    });
    assert_eq!(program.run.unseen_changes(0, semaphore), [(1, 0)], "the word of the other core");
    assert_eq!(program.run.unseen_changes(1, semaphore), [(0, 0)]);
    assert_eq!(program.run.unseen_changes(0, semaphore + 16), []);
    assert_eq!((program.run.word_writer(1, semaphore), program.run.word_writer(1, semaphore + 4)), (Some(0), None));
    program.by(2, |run, device| assert_eq!(run.noc_semaphore_wait(device, semaphore, 1, false), Ok(true)));
    assert_eq!(program.run.unseen_changes(0, semaphore), [], "it has looked");
}

#[test]
fn bytes_in_flight_are_left_alone_to_the_byte() {
    let mut program = program();
    let (own, there) = (program.cb(2), program.noc(1, program.cb(2)));
    program.by(0, |run, device| {
        run.store_bytes(device, own, &[1; 1024]).expect("a store");
        assert_eq!(run.noc_async_read(device, there, own + 128, 64, 0), Ok(true));
        let early = FaultKind::UseBeforeReadBarrier { address: own + 128, bytes: 64 };
        run.load_bytes(device, own + 64, 64).expect("before it");
        run.load_bytes(device, own + 192, 64).expect("behind it");
        assert_eq!(mistake(run.load_bytes(device, own + 64, 65).map(|_| ())), early);
        assert_eq!(mistake(run.load_bytes(device, own + 191, 4).map(|_| ())), early);
        assert_eq!(mistake(run.load_word(device, own + 188)), early);
        assert_eq!(mistake(run.noc_async_write(device, own + 176, there + 176, 32, 0)), early);
        run.noc_barrier(Barrier::Reads, 0, None).expect("a barrier");
        run.load_bytes(device, own + 64, 192).expect("all of it");
        assert_eq!(run.noc_async_write(device, own + 128, there, 64, 0), Ok(true));
        let sent = FaultKind::OverwrittenWhileSent { address: own + 128, bytes: 64 };
        run.store_bytes(device, own + 64, &[2; 64]).expect("before it");
        run.store_bytes(device, own + 192, &[2; 64]).expect("behind it");
        assert_eq!(mistake(run.store_bytes(device, own + 64, &[2; 65])), sent);
        assert_eq!(mistake(run.store_word(device, own + 188, 2)), sent);
        assert_eq!(mistake(run.noc_async_read(device, there + 176, own + 176, 32, 0)), sent);
        let kind = mistake(run.finish_kernel());
        assert_eq!(kind, FaultKind::EndsWithTransfers { reads: 0, writes: 1, atomics: 0 });
        run.noc_barrier(Barrier::Writes, 0, None).expect("a barrier");
        run.store_bytes(device, own + 64, &[2; 192]).expect("all of it");
        assert_eq!(run.noc_async_read(device, there, own, 32, 0), Ok(true));
        let kind = mistake(run.finish_kernel());
        assert_eq!(kind, FaultKind::EndsWithTransfers { reads: 1, writes: 0, atomics: 0 });
    });
}

#[test]
fn the_end_of_a_kernel_takes_its_time_and_is_its_last_call() {
    let mut program = Program::new(&[(0, Risc::Brisc), (0, Risc::Trisc)]);
    let end = tt_perf::Costs::of(N150.arch).launch.kernel_end;
    for kernel in 0..2 {
        assert!(!program.run.is_finished());
        program.at(kernel, 100);
        program.by(kernel, |run, _| run.finish_kernel()).expect("an end");
        assert_eq!(program.run.kernels[kernel].clocks, [100 + end; 3]);
        assert_eq!(program.run.kernels[kernel].state, State::Done);
        assert_eq!(program.run.kernels[kernel].calls, 1);
    }
    assert!(program.run.is_finished());
    assert_eq!(program.run.cycles(), 100 + end);
}

#[test]
fn cores_start_one_after_the_other() {
    let kernels: Vec<_> = (0..5).map(|x| (x, Risc::Brisc)).collect();
    let program = Program::new(&kernels);
    let skew = tt_perf::Costs::of(N150.arch).launch.core_skew;
    let starts: Vec<u64> = (0..5).map(|kernel| program.clock(kernel)).collect();
    assert_eq!(starts, [0, 1, 2, 3, 4].map(|slot| slot * skew / 4));
    let (first, second) = (program.run.semaphore_address(0), program.run.semaphore_address(2));
    assert_eq!((program.word(4, first), program.word(4, second)), (0, 2), "initial values");
    let place = Place { dram: false, bank: 4, address: u64::from(first) - 3 * 1536 };
    assert_eq!(program.device.bytes(place, 12).expect("bytes"), [7, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0]);
}

#[test]
fn a_timeline_has_room_for_so_many_events() {
    use tt_program::state::MOST_EVENTS;
    use tt_program::state::kernel::Event;

    let mut program = program();
    let event = Event { kernel: 1, thread: 0, name: "before".into(), start: 0, end: 1, bytes: 0 };
    program.run.events = Some(vec![event; MOST_EVENTS - 1]);
    for _ in 0..2 {
        program.by(0, |run, _| run.get_semaphore(0)).expect("a semaphore");
        assert_eq!(program.run.events.as_ref().map(Vec::len), Some(MOST_EVENTS));
    }
    let (own, there) = (program.cb(2), program.noc(1, program.cb(2)));
    program.by(0, |run, device| run.noc_async_read(device, there, own, 32, 0)).expect("a read");
    assert_eq!(program.run.events.as_ref().map(Vec::len), Some(MOST_EVENTS), "transfers too");
    let last = program.run.events.as_ref().and_then(|events| events.last()).expect("an event");
    assert_eq!((&*last.name, last.kernel, last.start, last.end), ("get_semaphore", 0, 0, costs().l1_load));
}

#[test]
fn popped_pages_are_unwritten_to_the_last_byte_and_no_others() {
    let mut program = program();
    program.push(1, 0, 4);
    program.pop(0, 0, 3);
    let start = program.cb(0);
    program.by(1, |run, _| {
        run.cb_reserve_back(0, 3).expect("pages");
        run.cb_push_back(0, 3).expect("a push");
    });
    program.by(0, |run, device| {
        run.cb_wait_front(0, 1).expect("a page");
        run.load_bytes(device, start + 192, 16).expect("the page that was not popped");
        run.cb_pop_front(0, 1).expect("a pop");
        run.cb_wait_front(0, 3).expect("pages");
        for offset in [0, 64, 128, 176] {
            let kind = mistake(run.load_bytes(device, start + offset, 16).map(|_| ()));
            assert!(matches!(kind, FaultKind::NeverWritten { .. }), "{offset}: {kind:?}");
        }
    });
}
