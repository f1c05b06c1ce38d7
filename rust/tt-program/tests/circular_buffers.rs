//! Circular buffers: counts, pointers, page times, waiting and waking.

mod programs;

use programs::{Program, costs, mistake};
use tt_program::FaultKind;
use tt_program::spec::Risc;
use tt_program::state::kernel::{Stall, State, Wait};

const WRITER: usize = 0;
const READER: usize = 1;

fn program() -> Program {
    Program::new(&[(0, Risc::Brisc), (0, Risc::Ncrisc)])
}

#[test]
fn a_page_is_there_when_the_last_one_of_those_waited_for_was_pushed() {
    let mut program = program();
    let advance = costs().cb_advance;
    // Three pages, at three times; then, after two were popped, two more over the end of the CB.
    for time in [1000, 2000, 3000] {
        program.at(READER, time);
        program.push(READER, 0, 1);
        assert!(program.clock(READER) > time);
    }
    let pushed: Vec<u64> = [1000, 2000, 3000].iter().map(|time| time + stores(1) + advance).collect();
    program.at(WRITER, 0);
    assert_eq!(program.by(WRITER, |run, _| run.cb_wait_front(0, 2)), Ok(true));
    assert_eq!(program.clock(WRITER), pushed[1] + costs().cb_check, "the second page, not the third");
    let stalls = &program.run.kernels[WRITER].stalls;
    assert_eq!(stalls.get(&(0, Stall::Front(0))), Some(&pushed[1]));
    program.by(WRITER, |run, _| run.cb_pop_front(0, 2)).expect("a pop");
    program.at(READER, 9000);
    program.push(READER, 0, 1);
    program.at(READER, 9500);
    program.push(READER, 0, 1);
    program.at(WRITER, 0);
    assert_eq!(program.by(WRITER, |run, _| run.cb_wait_front(0, 3)), Ok(true));
    assert_eq!(program.clock(WRITER), 9500 + stores(1) + advance + costs().cb_check, "the page behind the end");
}

/// What reserving, asking for the pointer and filling of pages of CB 0 costs.
fn stores(pages: u64) -> u64 {
    costs().cb_check + costs().l1_load + pages * 16 * costs().l1_store
}

#[test]
fn a_page_is_free_when_it_was_popped() {
    let mut program = program();
    program.push(READER, 0, 4);
    for time in [1000, 2000, 3000] {
        program.at(WRITER, time);
        program.pop(WRITER, 0, 1);
        assert_eq!(program.clock(WRITER), time + costs().cb_check + costs().cb_advance);
    }
    let popped = |time: u64| time + costs().cb_check + costs().cb_advance;
    program.at(READER, 0);
    assert_eq!(program.by(READER, |run, _| run.cb_reserve_back(0, 2)), Ok(true));
    assert_eq!(program.clock(READER), popped(2000) + costs().cb_check, "the second of the freed pages");
    assert_eq!(program.run.kernels[READER].stalls.get(&(0, Stall::Back(0))), Some(&popped(2000)));
    assert_eq!(program.by(READER, |run, _| run.cb_reserve_back(0, 3)), Ok(true));
    assert_eq!(program.clock(READER), popped(3000) + costs().cb_check);
}

#[test]
fn what_is_reserved_and_waited_for_is_the_most_of_all_calls_until_it_is_used() {
    let mut program = program();
    program.by(READER, |run, _| {
        assert_eq!((run.cb_reserve_back(0, 3), run.cb_reserve_back(0, 1)), (Ok(true), Ok(true)));
        run.cb_push_back(0, 1).expect("the first of three");
        assert_eq!(run.get_write_ptr(0), Ok(run.get_read_ptr(0).expect("a pointer") + 64));
        let kind = mistake(run.cb_push_back(0, 3));
        assert_eq!(kind, FaultKind::PushWithoutReserve { cb: 0, pages: 3, reserved: 2 });
        run.cb_push_back(0, 2).expect("the other two");
        assert_eq!(mistake(run.cb_push_back(0, 1)), FaultKind::PushWithoutReserve { cb: 0, pages: 1, reserved: 0 });
    });
    program.by(WRITER, |run, _| {
        assert_eq!((run.cb_wait_front(0, 3), run.cb_wait_front(0, 1)), (Ok(true), Ok(true)));
        run.cb_pop_front(0, 1).expect("the first of three");
        assert_eq!(mistake(run.cb_pop_front(0, 3)), FaultKind::PopWithoutWait { cb: 0, pages: 3, waited: 2 });
        run.cb_pop_front(0, 2).expect("the other two");
        assert_eq!(mistake(run.cb_pop_front(0, 1)), FaultKind::PopWithoutWait { cb: 0, pages: 1, waited: 0 });
        assert_eq!(mistake(run.cb_pop_front(0, 5)), FaultKind::TooManyPages { cb: 0, wanted: 5, capacity: 4 });
    });
}

#[test]
fn pages_may_end_at_the_end_and_not_behind_it() {
    let mut program = program();
    program.push(READER, 1, 2);
    program.pop(WRITER, 1, 2);
    let over = |cb| FaultKind::PastEnd { cb, page: 2, pages: 2, capacity: 3 };
    program.by(READER, |run, _| {
        assert_eq!(run.cb_reserve_back(1, 2), Ok(true), "only their use is refused");
        assert_eq!(mistake(run.cb_push_back(1, 2)), over(1));
        run.cb_push_back(1, 1).expect("the last page");
        let back = run.get_write_ptr(1).expect("a pointer");
        run.cb_push_back(1, 1).expect("the first page again");
        assert_eq!(run.get_write_ptr(1), Ok(back + 64));
    });
    program.by(WRITER, |run, _| {
        assert_eq!(run.cb_wait_front(1, 2), Ok(true));
        assert_eq!(mistake(run.cb_pop_front(1, 2)), over(1));
        run.cb_pop_front(1, 1).expect("the last page");
        assert_eq!(run.get_read_ptr(1), Ok(run.cores[0].cb_mut(1).expect("a CB").address));
    });
}

#[test]
fn calls_that_name_no_pages_take_their_time_and_nothing_else() {
    let mut program = program();
    program.by(READER, |run, _| {
        assert_eq!((run.cb_reserve_back(0, 0), run.cb_wait_front(0, 0)), (Ok(true), Ok(true)));
        assert_eq!((run.cb_push_back(0, 0), run.cb_pop_front(0, 0)), (Ok(()), Ok(())));
        assert!(matches!(mistake(run.cb_wait_front(9, 0)), FaultKind::NoCb { cb: 9, .. }));
        assert_eq!((run.cores[0].cb_mut(0).expect("a CB").producer, run.kernels[READER].calls), (None, 5));
    });
    assert_eq!(program.run.kernels[READER].clocks, [2 * costs().cb_check + 2 * costs().cb_advance, 0, 0]);
}

#[test]
fn a_compute_kernel_waits_in_the_unpacker_and_reserves_in_the_packer() {
    let mut program = Program::new(&[(0, Risc::Brisc), (0, Risc::Trisc)]);
    program.push(0, 0, 1);
    program.at(0, 0);
    let pushed = costs().cb_advance + stores(1);
    program.by(1, |run, _| {
        assert_eq!((run.cb_wait_front(0, 1), run.cb_reserve_back(1, 1)), (Ok(true), Ok(true)));
        assert_eq!(run.kernels[1].clocks, [pushed + costs().cb_check, 0, costs().cb_check]);
        assert_eq!((run.cb_pop_front(0, 1), run.cb_push_back(1, 1)), (Ok(()), Ok(())));
        let (check, advance) = (costs().cb_check, costs().cb_advance);
        assert_eq!(run.kernels[1].clocks, [pushed + check + advance, 0, check + advance]);
        assert_eq!(run.cb_pages_available_at_front(0, 1), Ok(Some(false)));
        assert_eq!(run.cb_pages_reservable_at_back(1, 2), Ok(Some(true)));
        assert_eq!(run.kernels[1].clocks, [pushed + 2 * check + advance, 0, 2 * check + advance]);
        assert_eq!((run.cb_wait_front(0, 0), run.cb_push_back(1, 0)), (Ok(true), Ok(())));
        assert_eq!((run.cb_pop_front(0, 0), run.cb_reserve_back(1, 0)), (Ok(()), Ok(true)));
        assert_eq!(run.kernels[1].clocks, [pushed + 3 * check + 2 * advance, 0, 3 * check + 2 * advance]);
        // Addresses are the business of all three.
        run.get_read_ptr(0).expect("a pointer");
        assert_eq!(run.kernels[1].clocks[1], costs().l1_load);
    });
}

#[test]
fn questions_about_pages_are_answered_as_they_are_now() {
    let mut program = program();
    program.push(READER, 0, 3);
    program.by(WRITER, |run, _| {
        let answers: Vec<_> = (0..6).map(|pages| run.cb_pages_available_at_front(0, pages)).collect();
        assert_eq!(answers, [true, true, true, true, false, false].map(|yes| Ok(Some(yes))));
        let answers: Vec<_> = (0..4).map(|pages| run.cb_pages_reservable_at_back(0, pages)).collect();
        assert_eq!(answers, [true, true, false, false].map(|yes| Ok(Some(yes))));
        assert_eq!(run.kernels[WRITER].clock(), 10 * costs().cb_check);
        assert_eq!(run.kernels[WRITER].state, State::Ready);
    });
}

#[test]
fn the_sixty_fifth_question_with_the_same_no_waits_for_the_yes() {
    let mut program = program();
    program.by(WRITER, |run, _| {
        for number in 0..64 {
            assert_eq!(run.cb_pages_available_at_front(0, 2), Ok(Some(false)), "question {number}");
        }
        assert_eq!(run.cb_pages_available_at_front(0, 2), Ok(None));
        assert_eq!(run.kernels[WRITER].state, State::Waiting(Wait::Front { cb: 0, pages: 2 }));
        run.kernels[WRITER].state = State::Ready;
        // Other questions in between, of each kind, begin to count again.
        for _ in 0..200 {
            assert_eq!(run.cb_pages_available_at_front(0, 2), Ok(Some(false)));
            assert_eq!(run.cb_pages_available_at_front(0, 1), Ok(Some(false)));
        }
        run.cb_reserve_back(0, 4).expect("four pages");
        run.cb_push_back(0, 2).expect("two of them");
        for _ in 0..200 {
            assert_eq!(run.cb_pages_available_at_front(0, 3), Ok(Some(false)));
            assert_eq!(run.cb_pages_reservable_at_back(0, 3), Ok(Some(false)));
        }
        for _ in 0..200 {
            assert_eq!(run.cb_pages_available_at_front(0, 2), Ok(Some(true)), "a yes is no reason to wait");
        }
        for _ in 0..64 {
            assert_eq!(run.cb_pages_reservable_at_back(0, 4), Ok(Some(false)));
        }
        assert_eq!(run.cb_pages_reservable_at_back(0, 4), Ok(None));
        assert_eq!(run.kernels[WRITER].state, State::Waiting(Wait::Back { cb: 0, pages: 4 }));
    });
}

#[test]
fn whoever_waits_for_pages_is_woken_once_all_of_them_are_there() {
    let mut program = program();
    assert_eq!(program.run.schedule(), Some(WRITER));
    program.by(WRITER, |run, _| assert_eq!(run.cb_wait_front(0, 2), Ok(false)));
    let waits = State::Waiting(Wait::Front { cb: 0, pages: 2 });
    assert_eq!(program.run.schedule(), Some(READER));
    program.push(READER, 1, 2);
    assert_eq!(program.run.kernels[WRITER].state, waits, "pages of another CB");
    program.push(READER, 0, 1);
    assert_eq!(program.run.kernels[WRITER].state, waits, "one page");
    assert_eq!(program.run.schedule(), None);
    program.at(READER, 5000);
    program.push(READER, 0, 1);
    let now = program.clock(READER);
    let kernel = &program.run.kernels[WRITER];
    assert_eq!((kernel.state, kernel.woken), (State::Ready, now));
    assert_eq!((program.run.schedule(), program.run.schedule()), (Some(WRITER), None));
    // The same for free pages.
    program.push(READER, 0, 2);
    program.by(READER, |run, _| assert_eq!(run.cb_reserve_back(0, 2), Ok(false)));
    program.pop(WRITER, 0, 1);
    assert_eq!(program.run.kernels[READER].state, State::Waiting(Wait::Back { cb: 0, pages: 2 }));
    program.pop(WRITER, 0, 1);
    assert_eq!(program.run.kernels[READER].state, State::Ready);
}

#[test]
fn each_end_of_a_buffer_belongs_to_one_kernel() {
    let mut program = program();
    program.push(READER, 0, 2);
    program.by(WRITER, |run, _| {
        let first = "kernel NCRISC_0 (NCRISC)".to_owned();
        assert_eq!(mistake(run.cb_reserve_back(0, 1)), FaultKind::TwoProducers { cb: 0, first: first.clone() });
        assert_eq!(mistake(run.cb_push_back(0, 1)), FaultKind::TwoProducers { cb: 0, first });
    });
    program.pop(WRITER, 0, 1);
    program.by(READER, |run, _| {
        assert_eq!(run.cb_wait_front(0, 1), Ok(true), "whoever waits only is no consumer");
        let first = "kernel BRISC_0 (BRISC)".to_owned();
        assert_eq!(mistake(run.cb_pop_front(0, 1)), FaultKind::TwoConsumers { cb: 0, first });
    });
    // Only its own kernel's pointer moves.
    let start = program.cb(0);
    let pointers = |program: &mut Program, kernel| {
        program.by(kernel, |run, _| (run.get_read_ptr(0).expect("front"), run.get_write_ptr(0).expect("back")))
    };
    assert_eq!(pointers(&mut program, WRITER), (start + 64, start));
    assert_eq!(pointers(&mut program, READER), (start, start + 128));
}

#[test]
fn the_interface_of_a_buffer_is_what_the_host_configured() {
    let mut program = program();
    let start = program.cb(2);
    program.by(READER, |run, _| {
        assert_eq!(run.cb_interface(2), Ok((start, 2048, 2, tt_formats::DataFormat::Float16B.code(), 2048, 32, 32)));
        assert_eq!(run.kernels[READER].clock(), costs().l1_load);
        let configured = "CB 0, 1, 2, 3, 4".to_owned();
        assert_eq!(mistake(run.cb_interface(5)), FaultKind::NoCb { cb: 5, configured });
    });
}

#[test]
fn words_of_a_tile_end_with_the_tile() {
    let mut program = program();
    program.push(READER, 3, 3);
    program.by(WRITER, |run, device| {
        assert_eq!(run.cb_wait_front(3, 2), Ok(true));
        let last = run.get_read_ptr(3).expect("a pointer") + 2 * 2048 - 4;
        run.store_word(device, last, 0x1234_5678).expect("a store");
        let before = run.kernels[WRITER].clock();
        assert_eq!(run.read_tile_value(device, 3, 1, 511), Ok(Some(0x1234_5678)));
        assert_eq!(run.kernels[WRITER].clock(), before + costs().l1_load);
        let text = "word 512 of a tile of CB 3, which has 512 words".to_owned();
        assert_eq!(mistake(run.read_tile_value(device, 3, 1, 512)), FaultKind::Argument(text));
        let beyond =
            FaultKind::TileNotWaitedFor { cb: 3, tile: 2, end_bytes: 6144, waited: 2, page_bytes: 2048, counts: "" };
        assert_eq!(mistake(run.read_tile_value(device, 3, 2, 0)), beyond);
    });
}

#[test]
fn pages_left_at_the_end_of_a_kernel_are_missing_calls() {
    let mut program = program();
    program.push(READER, 0, 3);
    program.by(READER, |run, device| {
        run.cb_reserve_back(0, 1).expect("a page");
        let page = run.get_write_ptr(0).expect("a pointer");
        run.store_word(device, page, 1).expect("a store");
        assert_eq!(mistake(run.finish_kernel()), FaultKind::MissingPush { cb: 0, pages: 1 });
        run.cb_push_back(0, 1).expect("a push");
        // Pages of a CB that never carries data are memory to work with.
        run.cb_reserve_back(1, 3).expect("pages");
        run.finish_kernel().expect("nothing is missing");
    });
    program.by(WRITER, |run, _| {
        run.cb_wait_front(0, 2).expect("pages");
        run.cb_pop_front(0, 1).expect("a pop");
        assert_eq!(mistake(run.finish_kernel()), FaultKind::MissingPop { cb: 0, pages: 1 });
        run.cb_pop_front(0, 1).expect("a pop");
        run.finish_kernel().expect("nothing is missing");
    });
    assert!(program.run.is_finished());
    let left = program.run.leftovers();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!((left[0].cb, left[0].pages), (0, 2));
    assert_eq!((left[0].producer, left[0].consumer), (Some(READER), Some(WRITER)));
}

#[test]
fn pages_are_used_when_their_transfers_are_over() {
    let mut program = program();
    program.push(READER, 0, 1);
    let (start, there) = (program.cb(0), program.noc(0, program.cb(0)));
    program.by(READER, |run, device| {
        run.cb_reserve_back(0, 2).expect("pages");
        // The second of the two pages is still on its way.
        run.noc_async_read(device, there, start + 128, 32, -1).expect("a read");
        let early = FaultKind::PushBeforeReadBarrier { cb: 0, address: start + 128, bytes: 32 };
        assert_eq!(mistake(run.cb_push_back(0, 2)), early);
        run.cb_push_back(0, 1).expect("the page before it");
        assert_eq!(mistake(run.cb_push_back(0, 1)), early);
        run.noc_barrier(tt_program::calls::noc::Barrier::Reads, -1, None).expect("a barrier");
        run.cb_push_back(0, 1).expect("the page");
    });
    let target = program.noc(0, program.cb(1));
    program.by(WRITER, |run, device| {
        run.cb_wait_front(0, 3).expect("pages");
        run.noc_async_write(device, start + 128, target, 32, -1).expect("a write");
        let early = FaultKind::PopBeforeWriteBarrier { cb: 0, address: start + 128, bytes: 32 };
        assert_eq!(mistake(run.cb_pop_front(0, 3)), early);
        run.cb_pop_front(0, 2).expect("the pages before it");
        assert_eq!(mistake(run.cb_pop_front(0, 1)), early);
        run.noc_barrier(tt_program::calls::noc::Barrier::WritesFlushed, -1, None).expect("a flush");
        run.cb_pop_front(0, 1).expect("the page");
    });
}
