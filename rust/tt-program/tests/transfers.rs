//! Transfers: ends, allowed bytes, waits, and notifications.

mod programs;

use programs::{COMPUTE, Program, costs, mistake};
use tt_memory::buffer::BufferType;
use tt_memory::chip::{ChipSpec, LogicalCore, N150, P150};
use tt_noc::{Noc, NocId, Node};
use tt_program::calls::noc::{Barrier, Page};
use tt_program::spec::Risc;
use tt_program::state::kernel::{InFlight, Receivers, Stall, State, TRANSFER, Transfers, Wait};
use tt_program::{FaultKind, Run};

fn program() -> Program {
    Program::new(&[(0, Risc::Brisc), (0, Risc::Ncrisc), (1, Risc::Brisc), (2, Risc::Brisc)])
}

/// Where core `x` of the first row lies on an idle network.
fn node(noc: &Noc, x: u32) -> Node {
    noc.layout().worker(LogicalCore { x, y: 0 }).expect("a core")
}

fn transfers(run: &Run, kernel: usize) -> &Transfers {
    &run.kernels[kernel].transfers
}

#[test]
fn a_read_is_over_when_the_network_has_brought_the_last_byte() {
    let mut program = program();
    program.run.events = Some(Vec::new());
    let (from, to) = (program.noc(1, program.cb(2)), program.cb(2));
    program.at(0, 1000);
    let mut noc = Noc::new(&N150);
    let at = 1000 + costs().noc_command;
    let (own, other) = (node(&noc, 0), node(&noc, 1));
    let times = noc.read(at, NocId::Noc0, own, other, 2048);
    let late = noc.read(times.issued + costs().noc_command, NocId::Noc1, own, other, 32);
    program.by(0, |run, device| {
        assert_eq!(run.noc_async_read(device, from, to, 2048, -1), Ok(true));
        assert_eq!(run.kernels[0].clock(), times.issued.max(at));
        assert_eq!(run.noc_async_read(device, from + 32, to + 2048, 32, 1), Ok(true));
        let arrived =
            |start, bytes, noc, time| InFlight { start, end: start + bytes, noc, trid: 0, moved: time, done: time };
        let reads = [arrived(to, 2048, 0, times.arrived), arrived(to + 2048, 32, 1, late.arrived)];
        assert_eq!(transfers(run, 0).reads, reads);
        let before = run.kernels[0].clock();
        run.noc_barrier(Barrier::Reads, 0, None).expect("a barrier");
        assert_eq!(transfers(run, 0).reads, reads[1..], "of the other network");
        let done = times.arrived + costs().barrier;
        assert_eq!(run.kernels[0].clock(), done);
        let waited = done - before - costs().semaphore_poll;
        assert_eq!(run.kernels[0].stalls.get(&(0, Stall::ReadBarrier)), Some(&waited));
        assert_eq!(run.kernels[0].stalls.get(&(0, Stall::WriteBarrier)), None);
        let events = run.events.as_deref().unwrap_or_default();
        let shown: Vec<_> = events.iter().filter(|event| event.thread == TRANSFER).collect();
        assert_eq!(shown.len(), 2);
        assert_eq!((&*shown[0].name, shown[0].start, shown[0].end, shown[0].bytes), ("read", at, times.arrived, 2048));
    });
}

#[test]
fn a_write_has_left_before_it_is_acknowledged() {
    let mut program = program();
    program.run.events = Some(Vec::new());
    let (from, to) = (program.cb(2), program.noc(1, program.cb(2)));
    program.by(0, |run, device| run.store_bytes(device, from, &[1; 4096])).expect("a store");
    program.at(0, 1000);
    let mut noc = Noc::new(&N150);
    let at = 1000 + costs().noc_command;
    let (own, other) = (node(&noc, 0), node(&noc, 1));
    let times = noc.write(at, NocId::Noc0, own, other, 2048, false);
    program.by(0, |run, device| {
        assert_eq!(run.noc_async_write(device, from, to, 2048, 0), Ok(true));
        let sending = &transfers(run, 0).unflushed[0];
        let source =
            InFlight { start: from, end: from + 2048, noc: 0, trid: 0, moved: times.sent, done: times.acknowledged };
        assert_eq!((sending.source, &sending.to, sending.flag), (source, &Receivers::Core(1), None));
        assert_eq!(transfers(run, 0).unacknowledged, [(0, 0, times.acknowledged)]);
        run.noc_barrier(Barrier::WritesFlushed, 0, None).expect("a flush");
        assert_eq!(run.kernels[0].clock(), times.sent.max(times.issued.max(at) + costs().semaphore_poll));
        assert_eq!((transfers(run, 0).unflushed.len(), transfers(run, 0).unacknowledged.len()), (0, 1));
        run.noc_barrier(Barrier::Writes, 1, None).expect("of the other network");
        assert_eq!(transfers(run, 0).unacknowledged.len(), 1);
        run.noc_barrier(Barrier::Writes, 0, None).expect("a barrier");
        assert_eq!(run.kernels[0].clock(), times.acknowledged + costs().barrier);
        assert!(transfers(run, 0).unacknowledged.is_empty());
        let events = run.events.as_deref().unwrap_or_default();
        let shown = events.iter().find(|event| event.thread == TRANSFER).expect("a transfer");
        assert_eq!((&*shown.name, shown.start, shown.end, shown.bytes), ("write", at, times.acknowledged, 2048));
    });
}

#[test]
fn barriers_wait_for_their_own_kind_network_and_transaction() {
    let mut program = program();
    let (own, there) = (program.cb(2), program.noc(1, program.cb(2)));
    let semaphore = program.noc(1, program.run.semaphore_address(0));
    program.by(0, |run, device| {
        run.store_bytes(device, own, &[1; 4096]).expect("a store");
        let start = |run: &mut Run, device: &mut tt_memory::Device| {
            run.kernels[0].transfers = Transfers::default();
            for (trid, noc) in [(3, 0), (4, 1)] {
                run.set_trid(false, trid, noc).expect("an id");
                run.set_trid(true, trid + 10, noc).expect("an id");
                let offset = 1024 * noc as u32;
                run.noc_async_read(device, there + 2048, own + 2048 + offset, 64, noc).expect("a read");
                run.noc_async_write(device, own + offset, there + u64::from(offset), 64, noc).expect("a write");
                run.noc_semaphore_inc(device, semaphore, 1, noc).expect("a count");
            }
        };
        let left = |run: &Run| {
            let left = transfers(run, 0);
            (left.reads.len(), left.unflushed.len(), left.unacknowledged.len(), left.atomics.len())
        };
        let cases = [
            (Barrier::Reads, 0, None, (1, 2, 2, 2)),
            (Barrier::Reads, 0, Some(3), (1, 2, 2, 2)),
            (Barrier::Reads, 0, Some(4), (2, 2, 2, 2)),
            (Barrier::WritesFlushed, 1, None, (2, 1, 2, 2)),
            (Barrier::WritesFlushed, 1, Some(13), (2, 2, 2, 2)),
            (Barrier::Writes, 1, Some(14), (2, 1, 1, 2)),
            (Barrier::Writes, 0, Some(14), (2, 2, 2, 2)),
            (Barrier::Atomics, 0, None, (2, 2, 2, 1)),
            (Barrier::Full, 1, None, (1, 1, 1, 1)),
            (Barrier::Full, 0, Some(3), (1, 2, 2, 1)),
        ];
        for (barrier, noc, trid, expected) in cases {
            start(run, device);
            assert_eq!(left(run), (2, 2, 2, 2));
            run.noc_barrier(barrier, noc, trid).expect("a barrier");
            assert_eq!(left(run), expected, "{barrier:?} {noc} {trid:?}");
        }
        // Ids that are reset are waited for by nobody.
        for (ids, noc, expected) in [
            (1 << 3, 0, (1, 2, 2, 2)),
            (1 << 13, 0, (2, 1, 1, 2)),
            (1 << 3 | 1 << 13, 1, (2, 2, 2, 2)),
            (0xffff, 1, (1, 1, 1, 2)),
        ] {
            start(run, device);
            let before = run.kernels[0].clock();
            run.reset_trids(ids, noc).expect("a reset");
            assert_eq!(left(run), expected, "{ids:#x} {noc}");
            assert_eq!(run.kernels[0].clock(), before + costs().noc_command);
        }
        let before = run.kernels[0].clock();
        run.set_trid(true, 15, 0).expect("the last id");
        assert_eq!(run.kernels[0].clock(), before + costs().l1_store);
        let text = "transaction id 16; ids are 0 to 15".to_owned();
        assert_eq!(mistake(run.set_trid(true, 16, 0)), FaultKind::Argument(text));
        assert_eq!(mistake(run.noc_barrier(Barrier::Full, 2, None)), third_network(2));
        assert_eq!(mistake(run.set_trid(true, 1, -2)), third_network(-2));
    });
    let kinds = [Barrier::Reads, Barrier::WritesFlushed, Barrier::Writes, Barrier::Atomics, Barrier::Full];
    assert_eq!([0, 1, 2, 3, 4].map(Barrier::of), kinds);
}

fn third_network(noc: i32) -> FaultKind {
    FaultKind::Argument(format!("noc must be 0 or 1, got {noc}"))
}

#[test]
fn a_full_barrier_ends_with_the_last_of_all_transfers() {
    // Each kind alone, so that its own time decides.
    for kind in 0..3 {
        let mut program = program();
        let (own, there) = (program.cb(2), program.noc(2, program.cb(2)));
        let semaphore = program.noc(2, program.run.semaphore_address(0));
        program.by(0, |run, device| {
            run.store_bytes(device, own, &[1; 2048]).expect("a store");
            run.kernels[0].clocks[0] = 0;
            match kind {
                0 => run.noc_async_read(device, there, own + 2048, 2048, 0),
                1 => run.noc_async_write(device, own, there, 2048, 0),
                _ => run.noc_semaphore_inc(device, semaphore, 1, 0),
            }
            .expect("a transfer");
            let left = transfers(run, 0);
            let done = [
                left.reads.first().map(|read| read.done),
                left.unacknowledged.first().map(|write| write.2),
                left.atomics.first().map(|atomic| atomic.1),
            ];
            let done = done[kind].expect("it is on its way");
            run.noc_barrier(Barrier::Full, 0, None).expect("a barrier");
            assert_eq!(run.kernels[0].clock(), done + costs().barrier, "{kind}");
        });
    }
}

#[test]
fn up_to_sixteen_bytes_are_a_flag() {
    let mut program = program();
    let (own, address) = (program.cb(2), program.cb(3));
    program.by(0, |run, device| run.store_bytes(device, own, &[1; 64])).expect("a store");
    for (number, bytes) in [4_u32, 16, 20, 32].into_iter().enumerate() {
        let there = address + 64 * number as u32;
        let target = program.noc(1, there);
        program.by(0, |run, device| assert_eq!(run.noc_async_write(device, own, target, bytes, 0), Ok(true)));
        assert_eq!(program.run.word_writer(1, there), (bytes <= 16).then_some(0), "{bytes} B");
        let sent = program.run.kernels[0].transfers.unflushed.last().expect("a write").flag;
        assert_eq!(sent.is_some(), bytes <= 16, "{bytes} B");
    }
    // To DRAM nothing is one.
    let id = program.device.allocate_interleaved(BufferType::Dram, 64, 1, 1).expect("a buffer");
    let base = program.device.buffer(id).expect("a buffer").address();
    program.by(0, |run, device| {
        let page = Page { dram: true, base, page: 0, bytes: 64, offset: 0 };
        assert_eq!(run.noc_async_write_page(device, own, page, 16, 0), Ok(true));
        let last = run.kernels[0].transfers.unflushed.last().expect("a write");
        assert_eq!((&last.to, last.flag), (&Receivers::Dram, None));
    });
}

#[test]
fn a_multicast_goes_to_the_cores_of_its_rectangle() {
    let mut program = program();
    program.run.events = Some(Vec::new());
    let (own, there) = (program.cb(2), program.cb(3));
    let ends: Vec<u64> = (0..3).map(|x| program.noc(x, there)).collect();
    // x and y of the start lie above those of the end.
    let rectangle = |first: usize, last: usize| ends[last] | (ends[first] >> 36) << 48;
    let mut noc = Noc::new(&N150);
    let places: Vec<Node> = (0..3).map(|x| node(&noc, x)).collect();
    program.by(0, |run, device| {
        run.store_bytes(device, own, &[5; 64]).expect("a store");
        run.kernels[0].clocks[0] = 0;
        let wrong = |cores, given| FaultKind::WrongDestinations { cores, given };
        let mut send = |target, count, loopback, noc| {
            run.noc_async_write_multicast(device, own, target, 16, count, (loopback, false), noc)
        };
        assert_eq!(mistake(send(rectangle(0, 2), 3, false, 0)), wrong(2, 3));
        assert_eq!(mistake(send(rectangle(0, 2), 2, true, 0)), wrong(3, 2));
        let exchanged = |noc, start: usize, end: usize| {
            let place =
                |x: usize| (N150.worker_coord(LogicalCore { x: x as u32, y: 0 })).map_or((0, 0), |at| (at.x, at.y));
            FaultKind::CornersExchanged { noc, start: place(start), end: place(end) }
        };
        assert_eq!(mistake(send(rectangle(2, 0), 2, false, 0)), exchanged(0, 2, 0));
        assert_eq!(mistake(send(rectangle(0, 2), 2, false, 1)), exchanged(1, 0, 2));
        assert_eq!(send(rectangle(0, 2), 2, false, 0), Ok(true));
    });
    let at = costs().noc_command;
    let times = noc.multicast(at, NocId::Noc0, places[0], &places[1..], 16, false, false);
    let sent = program.run.kernels[0].transfers.unflushed[0].clone();
    assert_eq!((sent.source.moved, sent.source.done), (times.sent, times.acknowledged));
    assert_eq!((sent.to, sent.flag), (Receivers::Cores(vec![1, 2]), Some(1)));
    assert_eq!([0, 1, 2].map(|x| program.word(x, there)), [0, 0x0505_0505, 0x0505_0505]);
    assert_eq!([0, 1, 2].map(|bank| program.run.word_writer(bank, there)), [None, Some(0), Some(0)]);
    let events = program.run.events.as_deref().unwrap_or_default();
    let shown = events.iter().find(|event| event.thread == TRANSFER).expect("a transfer");
    assert_eq!((&*shown.name, shown.start, shown.end, shown.bytes), ("multicast", at, times.acknowledged, 16));
    // To the same address of its own core nothing is copied.
    let here = program.noc(2, own) | (program.noc(0, own) >> 36) << 48;
    program.by(0, |run, device| {
        let sent = run.noc_async_write_multicast(device, own, here, 64, 3, (true, true), 0);
        assert_eq!(sent, Ok(true));
    });
    assert_eq!([0, 1, 2].map(|x| program.word(x, own + 60)), [0x0505_0505; 3]);
}

#[test]
fn single_words_are_written_byte_by_byte_and_added_to() {
    let mut program = program();
    let address = program.run.semaphore_address(2);
    let target = program.noc(1, address);
    let mut noc = Noc::new(&N150);
    let (own, other) = (node(&noc, 0), node(&noc, 1));
    let first = noc.inline_write(costs().noc_command, NocId::Noc0, own, other, false);
    program.by(0, |run, device| {
        assert_eq!(run.noc_inline_dw_write(device, target, 0x4433_2211, 0xf, 0), Ok(true));
        assert_eq!(transfers(run, 0).unacknowledged, [(0, 0, first.acknowledged)]);
        assert_eq!(run.kernels[0].clock(), first.issued.max(costs().noc_command));
    });
    assert_eq!(program.word(1, address), 0x4433_2211);
    assert_eq!(program.run.word_writer(1, address), Some(0));
    for (enabled, expected) in [(0x1, 0x4433_22aa), (0x8, 0xdd33_22aa), (0x6, 0xddcc_bbaa)] {
        program.by(0, |run, device| {
            assert_eq!(run.noc_inline_dw_write(device, target, 0xddcc_bbaa, enabled, 0), Ok(true));
        });
        assert_eq!(program.word(1, address), expected);
    }
    program.by(0, |run, device| {
        for enabled in [0, 0x10] {
            let text = format!("byte enables {enabled:#x}; a word has bytes 0x1 to 0xf");
            let kind = mistake(run.noc_inline_dw_write(device, target, 1, enabled, 0));
            assert_eq!(kind, FaultKind::Argument(text));
        }
        let misaligned =
            FaultKind::Misaligned { what: "the address of a word", value: u64::from(address) + 2, alignment: 4 };
        assert_eq!(mistake(run.noc_semaphore_inc(device, target + 2, 1, 0)), misaligned);
        assert_eq!(run.noc_semaphore_inc(device, target, 0x2233_4457, 1), Ok(true));
        assert_eq!(transfers(run, 0).atomics.len(), 1);
        assert_eq!(transfers(run, 0).atomics[0].0, 1);
    });
    assert_eq!(program.word(1, address), 1, "it goes round");
    let mut idle = Program::new(&[(0, Risc::Brisc), (1, Risc::Brisc)]);
    let atomic = Noc::new(&N150).atomic(costs().noc_command, NocId::Noc0, own, other, false);
    idle.by(0, |run, device| {
        assert_eq!(run.noc_semaphore_inc(device, target, 1, 0), Ok(true));
        assert_eq!(transfers(run, 0).atomics, [(0, atomic.acknowledged)]);
    });
    // The word is there at the time of its arrival.
    idle.at(1, 0);
    idle.by(1, |run, device| {
        assert_eq!(run.noc_semaphore_wait(device, address, 3, false), Ok(true));
        assert_eq!(run.kernels[1].clock(), atomic.arrived + costs().semaphore_poll);
    });
}

#[test]
fn both_sides_of_a_transfer_are_aligned_alike() {
    let mut program = program();
    let id = program.device.allocate_interleaved(BufferType::Dram, 2048, 1, 1).expect("a buffer");
    let buffer = program.device.buffer(id).expect("a buffer");
    buffer.mark_bytes(0, 0, 0, 2048);
    let base = buffer.address();
    let own = program.cb(2);
    assert_eq!((base % 64, own % 64), (0, 32), "so that the cases below are what they say");
    let page = |offset| Page { dram: true, base, page: 0, bytes: 2048, offset };
    program.by(0, |run, device| {
        run.store_bytes(device, own, &[1; 2048]).expect("a store");
        let read = |run: &mut Run, device: &mut tt_memory::Device, offset, target| {
            run.noc_async_read_page(device, page(offset), target, 32, 0)
        };
        assert_eq!(read(run, device, 32, own), Ok(true));
        let kind = mistake(read(run, device, 16, own + 32));
        let (source_address, target_address) = (base + 16, u64::from(own) + 32);
        assert_eq!(kind, FaultKind::Unlike { source_address, target_address, alignment: 32 });
        // Writes need sixteen bytes only, to DRAM too.
        run.noc_barrier(Barrier::Reads, 0, None).expect("a barrier");
        assert_eq!(run.noc_async_write_page(device, own, page(16), 32, 0), Ok(true));
        let kind = mistake(run.noc_async_write_page(device, own, page(8), 32, 0));
        let (source_address, target_address) = (u64::from(own), base + 8);
        assert_eq!(kind, FaultKind::Unlike { source_address, target_address, alignment: 16 });
    });
}

#[test]
fn pages_of_interleaved_buffers_go_round_the_banks() {
    let mut program = program();
    let id = program.device.allocate_interleaved(BufferType::Dram, 40, 30, 1).expect("a buffer");
    let base = program.device.buffer(id).expect("a buffer").address();
    let page = |page, bytes, offset| Page { dram: true, base, page, bytes, offset };
    program.by(0, |run, device| {
        let bank = N150.dram_cores[29 % N150.dram_cores.len()];
        let address = base + 64 * (29 / N150.dram_cores.len() as u64) + 8;
        let found = run.page_address(device, page(29, 40, 8));
        assert_eq!(found, Ok(u64::from(bank.x) << 36 | u64::from(bank.y) << 42 | address));
        assert_eq!(run.kernels[0].clock(), costs().noc_address);
        assert_eq!(run.page_address(device, page(29, 64, 8)), found, "with the padding of the page");
        let differs = FaultKind::PageSizeDiffers { given: 48, base, actual: 40 };
        assert_eq!(mistake(run.page_address(device, page(29, 48, 8))), differs);
        let beyond = FaultKind::PageOutOfRange { page: 30, base, pages: 30 };
        assert_eq!(mistake(run.page_address(device, page(30, 40, 0))), beyond);
        let kind = mistake(run.page_address(device, Page { base: base + 64, ..page(0, 40, 0) }));
        assert!(matches!(kind, FaultKind::NoBufferAt { memory: "DRAM", .. }), "{kind:?}");
        let kind = mistake(run.page_address(device, Page { dram: false, ..page(0, 40, 0) }));
        assert!(matches!(kind, FaultKind::NoBufferAt { memory: "L1", .. }), "{kind:?}");
        assert_eq!(run.shard_address(device, page(7, 40, 8), 29), found, "every page is a shard");
        assert_eq!(run.buffer_cut(device, page(0, 40, 0)), Ok([30, 30, 1, 1, 12]));
    });
    let cores = [LogicalCore { x: 1, y: 0 }, LogicalCore { x: 2, y: 0 }];
    // 6 by 5 pages in shards of 2 by 3: two shards side by side, three rows of them, the last of each row narrower.
    let id = program.device.allocate_sharded(BufferType::L1, 64, (6, 5), (2, 3), &cores).expect("a buffer");
    let base = program.device.buffer(id).expect("a buffer").address();
    let first = Page { dram: false, base, page: 0, bytes: 64, offset: 4 };
    let there = |x, shard_of_core: u32| program.noc(x, base as u32 + shard_of_core * 6 * 64 + 4);
    let expected: Vec<u64> = (0..6).map(|shard| there(1 + shard % 2, shard / 2)).collect();
    program.by(0, |run, device| {
        for (shard, &address) in (0..).zip(&expected) {
            assert_eq!(run.shard_address(device, first, shard), Ok(address), "shard {shard}");
        }
        assert_eq!(run.buffer_cut(device, first), Ok([30, 5, 2, 3, 2]));
        assert!(matches!(mistake(run.shard_address(device, first, 6)), FaultKind::PageOutOfRange { .. }));
    });
}

#[test]
fn places_on_the_network_are_cores_and_banks() {
    let mut program = program();
    program.by(0, |run, device| {
        for (x, y) in [(63, 63), (0, 63), (2, 0)] {
            let kind = mistake(run.noc_semaphore_inc(device, u64::from(x) << 36 | u64::from(y) << 42, 1, 0));
            let FaultKind::NoSuchCoordinate { x: at, y: row, advice } = &kind else { panic!("{kind:?}") };
            assert_eq!((*at, *row), (x, y));
            let looks = advice.contains("2-0 looks like a logical core") && advice.contains("core 0-0 is at 18-18");
            assert_eq!(looks, (x, y) == (2, 0), "{advice}");
        }
        for (bank, place) in N150.dram_cores.iter().enumerate() {
            let target = u64::from(place.x) << 36 | u64::from(place.y) << 42 | 1 << 20;
            let text = format!("DRAM bank {bank} has no atomics; semaphores are in L1");
            assert_eq!(mistake(run.noc_semaphore_inc(device, target, 1, 0)), FaultKind::Argument(text));
        }
    });
}

#[test]
fn a_kernel_that_is_ahead_lets_others_catch_up() {
    let mut program = program();
    let (own, there) = (program.cb(2), program.noc(1, program.cb(2)));
    assert_eq!(program.run.schedule(), Some(0));
    // The next kernel is at 0: this one may go on until it is more than 500 cycles ahead.
    for (clock, goes_on) in [(499, true), (500, true), (501, false)] {
        program.at(0, clock);
        program.by(0, |run, device| assert_eq!(run.noc_async_read(device, there, own, 32, 0), Ok(goes_on), "{clock}"));
    }
    assert_eq!(program.run.kernels[0].state, State::Ready);
    let order: Vec<_> = (0..4).map(|_| program.run.schedule()).collect();
    assert_eq!(order, [Some(1), Some(2), Some(3), Some(0)], "it is the last of the queue");
    // Alone it goes on, however late it is, until another is woken.
    program.at(0, 100_000);
    program.by(0, |run, device| assert_eq!(run.noc_async_read(device, there, own, 32, 0), Ok(true)));
    program.by(1, |run, _| assert_eq!(run.cb_wait_front(0, 1), Ok(false)));
    program.at(1, 70_000);
    program.at(2, 0);
    let semaphore = program.run.semaphore_address(0);
    program.by(2, |run, device| assert_eq!(run.noc_semaphore_wait(device, semaphore, 1, false), Ok(false)));
    let signal = program.noc(1, semaphore);
    program.at(0, 80_000);
    program.by(0, |run, device| assert_eq!(run.noc_semaphore_inc(device, signal, 1, 0), Ok(true)));
    let woken = program.run.kernels[2].woken;
    assert!(woken > 80_000);
    for (clock, goes_on) in [(woken + 500, true), (woken + 501, false)] {
        program.at(0, clock);
        program.by(0, |run, device| assert_eq!(run.noc_async_read(device, there, own, 32, 0), Ok(goes_on), "{clock}"));
    }
}

#[test]
fn a_flag_of_another_core_that_stays_the_same_is_waited_for_if_nobody_else_can_run() {
    let mut program = Program::new(&[(0, Risc::Brisc), (1, Risc::Brisc)]);
    let (own, there) = (program.cb(2), program.noc(1, program.cb(2)));
    let read = |program: &mut Program, bytes| {
        program.by(0, |run, device| {
            run.noc_async_read(device, there, own, bytes, 0).inspect(|_| run.kernels[0].transfers.reads.clear())
        })
    };
    assert_eq!(program.run.schedule(), Some(0));
    program.run.schedule();
    program.run.current = 0;
    // The other kernel runs no more, and no queue is left.
    for number in 1..4096 {
        assert_eq!(read(&mut program, 16), Ok(true), "read {number}");
    }
    // Any other kind of read, or another flag, and it begins to count again.
    assert_eq!(read(&mut program, 32), Ok(true));
    for number in 1..4096 {
        assert_eq!(read(&mut program, 16), Ok(true), "read {number}");
    }
    assert_eq!(read(&mut program, 16), Ok(false));
    assert_eq!(program.run.kernels[0].state, State::Waiting(Wait::Change { address: own, value: 0 }));
}

#[test]
fn compute_kernels_have_no_network() {
    let mut program = Program::new(&[(0, Risc::Trisc)]);
    let text = "a compute kernel has no NoC; move data in the reader or the writer kernel".to_owned();
    let wrong = FaultKind::WrongRisc(text);
    let (own, there) = (program.cb(2), program.noc(0, program.cb(2)));
    program.by(0, |run, device| {
        assert_eq!(mistake(run.noc_async_read(device, there, own, 32, 0)), wrong);
        assert_eq!(mistake(run.noc_barrier(Barrier::Full, 0, None)), wrong);
        assert_eq!(mistake(run.set_trid(true, 1, 0)), wrong);
        assert_eq!(mistake(run.reset_trids(1, 0)), wrong);
    });
}

#[test]
fn bytes_that_arrive_wake_whoever_waits_for_a_word_among_them() {
    for (multicast, offset, wakes) in
        [(false, 0, true), (false, 60, true), (false, 64, false), (true, 60, true), (true, 64, false)]
    {
        let mut program = Program::unwatched(&[(0, Risc::Brisc), (1, Risc::Brisc)]);
        let (own, there) = (program.cb(2), program.cb(3));
        let target = program.noc(1, there);
        program.by(1, |run, device| {
            run.store_bytes(device, there, &[0; 128]).expect("zeros");
            while run.load_word(device, there + offset).expect("a word").is_some() {}
        });
        program.by(0, |run, device| {
            run.store_bytes(device, own, &[1; 64]).expect("a store");
            run.kernels[0].clocks[0] = 9000;
            let rectangle = target | (target >> 36) << 48;
            if multicast {
                run.noc_async_write_multicast(device, own, rectangle, 64, 1, (false, false), 0)
            } else {
                run.noc_async_write(device, own, target, 64, 0)
            }
            .expect("a write");
        });
        let kernel = &program.run.kernels[1];
        assert_eq!(kernel.state == State::Ready, wakes, "{multicast} {offset}");
        if wakes {
            assert!(kernel.woken > 9000, "when they have arrived");
        }
    }
}

#[test]
fn bytes_that_are_known_to_have_left_may_be_overwritten() {
    let mut program = Program::new(&[(0, Risc::Brisc), (1, Risc::Brisc), (2, Risc::Brisc)]);
    let (own, there) = (program.cb(2), program.cb(3));
    let semaphore = program.run.semaphore_address(0);
    let (data, flag) = (program.noc(1, there), program.noc(1, semaphore));
    let (back, elsewhere) = (program.noc(0, semaphore), program.noc(2, there));
    program.by(0, |run, device| {
        run.store_bytes(device, own, &[1; 1024]).expect("a store");
        // Both go to core 1 before the flag; the third goes elsewhere, the fourth over the other network.
        run.noc_async_write(device, own, data, 64, 0).expect("a write");
        run.noc_async_write(device, own + 64, data + 64, 64, 0).expect("a write");
        run.noc_async_write(device, own + 128, elsewhere, 64, 0).expect("a write");
        run.noc_async_write(device, own + 192, data + 192, 64, 1).expect("a write");
        run.noc_semaphore_inc(device, flag, 1, 0).expect("a flag");
        let flags: Vec<_> = transfers(run, 0).unflushed.iter().map(|write| write.flag).collect();
        assert_eq!(flags, [Some(1), Some(1), None, None]);
        let sent = FaultKind::OverwrittenWhileSent { address: own, bytes: 64 };
        assert_eq!(mistake(run.store_bytes(device, own, &[2; 64])), sent);
    });
    program.by(1, |run, device| {
        assert_eq!(run.noc_semaphore_wait(device, semaphore, 1, false), Ok(true));
        assert_eq!(run.noc_semaphore_inc(device, back, 1, 0), Ok(true));
    });
    program.by(0, |run, device| {
        assert_eq!(run.noc_semaphore_wait(device, semaphore, 1, false), Ok(true));
        run.store_bytes(device, own, &[2; 128]).expect("they have left");
        for offset in [128, 192] {
            let sent = FaultKind::OverwrittenWhileSent { address: own + offset, bytes: 64 };
            assert_eq!(mistake(run.store_bytes(device, own + offset, &[2; 64])), sent);
        }
        // A long list is searched for those that have left.
        for number in 4..66 {
            assert_eq!(transfers(run, 0).unflushed.len(), if number < 65 { number } else { 63 });
            run.noc_async_write(device, own + 512, elsewhere + 512, 64, 0).expect("a write");
        }
        assert_eq!(transfers(run, 0).unflushed.len(), 64);
    });
}

#[test]
fn a_rectangle_holds_worker_cores_and_nothing_else() {
    let multicast = |program: &mut Program, (x0, y0): (u32, u32), (x1, y1): (u32, u32), count| {
        let (own, there) = (program.cb(2), u64::from(program.cb(3)));
        let corner = |x: u32, y: u32| u64::from(x) | u64::from(y) << 6;
        let target = there | corner(x1, y1) << 36 | corner(x0, y0) << 48;
        program.by(0, |run, device| {
            run.store_bytes(device, own, &[1; 64]).expect("a store");
            let sent = run.noc_async_write_multicast(device, own, target, 64, count, (false, false), 0);
            run.noc_barrier(Barrier::Writes, 0, None).expect("a barrier");
            sent
        })
    };
    let place = |chip: &'static ChipSpec, x, y| {
        chip.worker_coord(LogicalCore { x, y }).map(|place| (place.x, place.y)).expect("a core")
    };
    let mut program = program();
    let (first, last) = (place(&N150, 1, 0), place(&N150, 7, 0));
    let outside = FaultKind::NoRectangle { x0: first.0, y0: first.1, x1: last.0 + 1, y1: first.1 };
    assert_eq!(mistake(multicast(&mut program, first, (last.0 + 1, last.1), 7)), outside);
    // On a Blackhole the columns of DRAM in the middle of the rectangle are passed over; no others are.
    let mut program = Program::configured(&P150, &[(0, Risc::Brisc), (6, Risc::Brisc), (7, Risc::Brisc)], &COMPUTE);
    let ends = (place(&P150, 6, 0), place(&P150, 7, 0));
    assert_eq!((ends.0.0, ends.1.0), (7, 10));
    assert_eq!(multicast(&mut program, ends.0, ends.1, 2), Ok(true));
    let last = place(&P150, 12, 0);
    let kind = mistake(multicast(&mut program, ends.0, (last.0 + 1, last.1), 7));
    assert!(matches!(kind, FaultKind::NoRectangle { .. }), "{kind:?}");
}

#[test]
fn barriers_are_shown_and_blamed_by_their_names() {
    let mut program = Program::new(&[(0, Risc::Brisc), (0, Risc::Trisc)]);
    program.run.events = Some(Vec::new());
    let names = [
        "noc_async_read_barrier",
        "noc_async_writes_flushed",
        "noc_async_write_barrier",
        "noc_async_atomic_barrier",
        "noc_async_full_barrier",
    ];
    for (kind, name) in (0..).zip(names) {
        program.by(0, |run, _| run.noc_barrier(Barrier::of(kind), 0, None)).expect("a barrier");
        let fault = program.by(1, |run, _| run.noc_barrier(Barrier::of(kind), 0, None)).expect_err("no network");
        assert_eq!((&*fault.call, fault.kernel, fault.risc), (name, 1, Risc::Trisc));
    }
    let events = program.run.events.as_deref().unwrap_or_default();
    let shown: Vec<_> = events.iter().map(|event| (&*event.name, event.end - event.start)).collect();
    assert_eq!(shown, names.map(|name| (name, costs().semaphore_poll)));
    for (writes, name) in [(false, "noc_async_read_set_trid"), (true, "noc_async_write_set_trid")] {
        let fault = program.by(0, |run, _| run.set_trid(writes, 16, 0)).expect_err("no such id");
        assert_eq!(&*fault.call, name);
    }
    let fault = program.by(0, |run, _| run.reset_trids(0, 7)).expect_err("no such network");
    assert_eq!(&*fault.call, "reset_noc_trid_barrier_counter");
}
