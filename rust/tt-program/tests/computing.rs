//! Compute kernels: `Dst` protocol, unit setup, tile paths, cycles.

mod programs;

use programs::compute::{COMPUTES, COPY, READER, built, clocks, costs, feed, program, start};
use programs::{COMPUTE, mistake};
use tt_formats::{DataFormat, TileShape};
use tt_fpu::{Broadcast, EltwiseOp, PoolOp, ReduceDim};
use tt_perf::{Eltwise, ReduceAxis};
use tt_program::calls::compute::{Copying, Math};
use tt_program::spec::ComputeConfig;
use tt_program::state::kernel::Stall;
use tt_program::{FaultKind, Run};

/// Phases of products in HiFi4.
const PHASES: u32 = 4;

#[test]
fn math_and_packer_take_turns_on_the_halves_of_dst() {
    let mut program = program();
    let sync = costs().dst_sync;
    start(&mut program, COPY);
    program.by(COMPUTES, |run, _| {
        assert_eq!(mistake(run.tile_regs_commit()), FaultKind::CommitWithoutAcquire);
        assert_eq!(mistake(run.tile_regs_release()), FaultKind::ReleaseWithoutWait);
        run.tile_regs_acquire().expect("the first half");
        assert_eq!(mistake(run.tile_regs_acquire()), FaultKind::AcquiredTwice);
        let state = "acquired; tile_regs_commit() or release_dst() is missing";
        assert_eq!(mistake(run.finish_kernel()), FaultKind::DstNotReleased { state });
        run.kernels[COMPUTES].clocks = [0, 1000, 0];
        run.tile_regs_commit().expect("the first half");
        let state = "committed; tile_regs_wait(), tile_regs_release() are missing";
        assert_eq!(mistake(run.finish_kernel()), FaultKind::DstNotReleased { state });
        run.tile_regs_acquire().expect("the second half");
        run.tile_regs_commit().expect("the second half");
        // The packer waits for what was committed first.
        run.tile_regs_wait().expect("the first half");
        assert_eq!(clocks(run), [0, 1000 + 3 * sync, 1000 + 2 * sync]);
        assert_eq!(run.kernels[COMPUTES].stalls.get(&(2, Stall::Dst)), Some(&(1000 + sync)));
        run.kernels[COMPUTES].clocks[2] = 5000;
        run.tile_regs_release().expect("the first half");
        // Math goes on once the packer has released that half.
        run.tile_regs_acquire().expect("the first half again");
        assert_eq!(clocks(run), [0, 5000 + 2 * sync, 5000 + sync]);
        let waited = 5000 + sync - (1000 + 3 * sync);
        assert_eq!(run.kernels[COMPUTES].stalls.get(&(1, Stall::Dst)), Some(&waited));
        run.tile_regs_wait().expect("the second half");
        run.tile_regs_release().expect("the second half");
        run.tile_regs_commit().expect("the first half");
        run.tile_regs_wait().expect("the first half");
        let state = "committed; tile_regs_wait(), tile_regs_release() are missing";
        assert_eq!(mistake(run.finish_kernel()), FaultKind::DstNotReleased { state });
        run.tile_regs_release().expect("the first half");
        run.finish_kernel().expect("nobody holds Dst");
    });
}

#[test]
fn the_classic_protocol_takes_both_threads_through_one_part() {
    let mut program = built(&ComputeConfig { full_sync: true, ..COMPUTE });
    start(&mut program, COPY);
    feed(&mut program, 2, 1);
    program.by(COMPUTES, |run, device| {
        run.cb_reserve_back(3, 1).expect("a page");
        run.kernels[COMPUTES].clocks = [0; 3];
        run.acquire_dst().expect("Dst");
        assert_eq!(mistake(run.acquire_dst()), FaultKind::AcquiredTwice);
        run.copy_tile(device, Copying::Plain, 2, 0, 0).expect("a copy");
        let math = costs().unpack(2048) + costs().copy;
        run.pack_tile(device, 0, 3, None).expect("a pack");
        assert_eq!(
            clocks(run),
            [costs().unpack(2048), math, math + costs().pack(2048, false)],
            "the packer has waited"
        );
        assert_eq!(run.kernels[COMPUTES].stalls.get(&(2, Stall::Dst)), Some(&math));
        run.release_dst().expect("Dst");
        let sync = costs().dst_sync;
        assert_eq!(clocks(run), [costs().unpack(2048), math + sync, math + costs().pack(2048, false) + 2 * sync]);
        // Of one part nothing is free before it is released.
        run.tile_regs_acquire().expect("Dst");
        run.tile_regs_commit().expect("Dst");
        assert_eq!(mistake(run.release_dst()), FaultKind::CommitWithoutAcquire);
    });
}

#[test]
fn a_packer_that_is_ahead_in_the_source_waits_for_math() {
    let mut program = program();
    start(&mut program, COPY);
    feed(&mut program, 2, 1);
    program.by(COMPUTES, |run, device| {
        run.cb_reserve_back(3, 1).expect("a page");
        run.kernels[COMPUTES].clocks = [0; 3];
        run.tile_regs_wait().expect("put off");
        run.pack_tile(device, 0, 3, None).expect("put off");
        run.tile_regs_release().expect("put off");
        run.catch_up(device).expect("nothing can be done");
        assert!(run.must_catch_up());
        assert_eq!(mistake(run.finish_kernel()), FaultKind::NothingCommitted);
        assert_eq!(run.all_waits(), [], "the kernel itself does not wait");
        assert_eq!(run.tile_regs_acquire(), Ok(true));
        run.copy_tile(device, Copying::Plain, 2, 0, 0).expect("put off");
        run.tile_regs_commit().expect("put off");
        run.catch_up(device).expect("all that was put off");
        assert!(!run.must_catch_up());
        let (math, sync) = (costs().unpack(2048) + costs().copy + costs().dst_sync, costs().dst_sync);
        assert_eq!(clocks(run), [costs().unpack(2048), math, math + 2 * sync + costs().pack(2048, false)]);
        run.finish_kernel().expect("nobody holds Dst");
    });
}

#[test]
fn math_that_is_ahead_in_the_source_waits_for_a_free_half() {
    let mut program = program();
    start(&mut program, COPY);
    program.by(COMPUTES, |run, device| {
        for _ in 0..2 {
            assert_eq!(run.tile_regs_acquire(), Ok(true));
            run.tile_regs_commit().expect("a half");
        }
        assert!(!run.must_catch_up());
        assert_eq!(run.tile_regs_acquire(), Ok(true));
        run.tile_regs_commit().expect("put off");
        run.catch_up(device).expect("nothing can be done");
        assert_eq!(mistake(run.finish_kernel()), FaultKind::NoFreeHalf);
        run.kernels[COMPUTES].clocks = [0, 0, 700];
        run.tile_regs_wait().expect("put off");
        run.tile_regs_release().expect("put off");
        run.catch_up(device).expect("all that was put off");
        assert!(!run.must_catch_up());
        let sync = costs().dst_sync;
        assert_eq!(clocks(run), [0, 700 + 4 * sync, 700 + 2 * sync], "math waited for the half");
        for _ in 0..2 {
            run.tile_regs_wait().expect("a half");
            run.tile_regs_release().expect("a half");
        }
        run.finish_kernel().expect("nobody holds Dst");
    });
}

#[test]
fn dst_holds_as_many_tiles_as_its_datums_and_parts_allow() {
    for (dst32, full_sync, capacity, why) in [
        (false, false, 8, "16-bit datums, half sync"),
        (false, true, 16, "16-bit datums, full sync"),
        (true, false, 4, "32-bit datums, half sync"),
        (true, true, 8, "32-bit datums, full sync"),
    ] {
        let mut program = built(&ComputeConfig { dst32, full_sync, ..COMPUTE });
        start(&mut program, COPY);
        feed(&mut program, 2, 1);
        program.by(COMPUTES, |run, device| {
            assert_eq!(mistake(run.copy_tile(device, Copying::Plain, 2, 0, 0)), FaultKind::NotAcquired);
            run.tile_regs_acquire().expect("Dst");
            run.copy_tile(device, Copying::Plain, 2, 0, capacity - 1).expect("the last tile");
            let beyond = FaultKind::DstIndex { index: capacity, capacity, why };
            assert_eq!(mistake(run.copy_tile(device, Copying::Plain, 2, 0, capacity)), beyond);
            run.tile_regs_commit().expect("Dst");
            assert_eq!(mistake(run.pack_tile(device, 0, 3, None)), FaultKind::PackWithoutWait);
            run.tile_regs_wait().expect("Dst");
            assert_eq!(mistake(run.pack_tile(device, capacity, 3, None)), beyond);
            assert_eq!(mistake(run.pack_tile(device, 0, 3, None)), FaultKind::DstUnwritten { index: 0 });
        });
    }
}

#[test]
fn the_unpacker_is_at_most_two_operands_ahead_of_math() {
    let mut program = program();
    program.run.events = Some(Vec::new());
    let math = Math::Eltwise { op: EltwiseOp::Mul, broadcast: Broadcast::None, accumulate: false };
    start(&mut program, math);
    feed(&mut program, 2, 1);
    program.run.events = Some(Vec::new());
    let (unpack, multiply) = (costs().unpack_pair(2048, 2048), costs().eltwise(Eltwise::Mul, PHASES));
    assert!(unpack < multiply, "math is the slower of the two");
    program.by(COMPUTES, |run, device| {
        run.tile_regs_acquire().expect("Dst");
        let (mut unpacked, mut done) = (0, vec![0, 0, costs().dst_sync]);
        for _ in 0..5 {
            run.eltwise_tiles(device, (EltwiseOp::Mul, Broadcast::None), (2, 2), (0, 0), 0).expect("a product");
            // A bank of the source registers is free once math is done with the operands before the last.
            unpacked = done[done.len() - 2].max(unpacked) + unpack;
            done.push(done[done.len() - 1].max(unpacked) + multiply);
            assert_eq!(clocks(run), [unpacked, done[done.len() - 1], 0]);
        }
        let events = run.events.as_deref().unwrap_or_default();
        let of = |name: &str, thread| {
            let times = events.iter().filter(|event| event.name == name && event.thread == thread);
            times.map(|event| event.end - event.start).collect::<Vec<_>>()
        };
        assert_eq!(of("mul_tiles", 0), [unpack; 5]);
        assert_eq!(of("mul_tiles", 1), [multiply; 5]);
        assert_eq!(of("wait for unpack", 1), [unpack - costs().dst_sync]);
        assert_eq!(of("wait for math", 0).len(), 3, "from the third on");
    });
}

#[test]
fn each_operation_takes_its_cycles() {
    let pair = costs().unpack_pair(2048, 2048);
    let single = costs().unpack(2048);
    // Unpack and math of a call on tiles of CB 2; before it Dst holds what another copy left.
    let cycles = |math: Math, call: &dyn Fn(&mut Run, &mut tt_memory::Device)| {
        let mut program = program();
        start(&mut program, COPY);
        feed(&mut program, 2, 2);
        program.by(COMPUTES, |run, device| {
            run.tile_regs_acquire().expect("Dst");
            run.copy_tile(device, Copying::Plain, 2, 0, 0).expect("a copy");
            run.init_math(math, &[2]).expect("an operation");
            // Long after everything that was before.
            run.kernels[COMPUTES].clocks = [10_000; 3];
            call(run, device);
            let [unpacked, done, packed] = clocks(run);
            assert_eq!(packed, 10_000);
            (unpacked - 10_000, done - unpacked)
        })
    };
    for (op, kind) in [(EltwiseOp::Add, Eltwise::Add), (EltwiseOp::Sub, Eltwise::Sub), (EltwiseOp::Mul, Eltwise::Mul)] {
        let math = Math::Eltwise { op, broadcast: Broadcast::None, accumulate: false };
        let found = cycles(math, &|run, device| {
            run.eltwise_tiles(device, (op, Broadcast::None), (2, 2), (0, 1), 1).expect("a step");
        });
        assert_eq!(found, (pair, costs().eltwise(kind, PHASES)), "{op:?}");
        for to_a in [false, true] {
            let found = cycles(Math::Reuse { op, to_a }, &|run, device| {
                run.eltwise_reuse_dst(device, op, to_a, (2, 1), 0).expect("a step");
            });
            assert_eq!(found, (single, costs().eltwise(kind, PHASES)), "{op:?} with Dst");
        }
    }
    for copying in [Copying::Plain, Copying::Transposed, Copying::Spread(Broadcast::Row)] {
        let found = cycles(Math::Copy(copying), &|run, device| {
            run.copy_tile(device, copying, 2, 1, 1).expect("a copy");
        });
        assert_eq!(found, (single, costs().copy), "{copying:?}");
    }
    for (dim, axis) in [
        (ReduceDim::Row, ReduceAxis::Row),
        (ReduceDim::Column, ReduceAxis::Column),
        (ReduceDim::Scalar, ReduceAxis::Scalar),
    ] {
        for (pool, phases) in [(PoolOp::Sum, PHASES), (PoolOp::Max, 1)] {
            let found = cycles(Math::Reduce { pool, dim }, &|run, device| {
                run.reduce_tile(device, (pool, dim), (2, 2), (0, 1), 1).expect("a reduction");
            });
            assert_eq!(found, (pair, costs().reduce(axis, phases)), "{pool:?} {dim:?}");
        }
    }
    let found = cycles(Math::TransposeDst, &|run, _| run.transpose_dst(0).expect("a transposition"));
    assert_eq!(found, (0, costs().transpose));
    let found = cycles(Math::Matmul { transpose: false, block: None }, &|run, device| {
        run.matmul_tiles(device, (2, 2), (0, 1), 1).expect("a product");
        // Onto what is there the run of products goes on.
        let first = clocks(run);
        run.kernels[COMPUTES].clocks = [20_000; 3];
        run.matmul_tiles(device, (2, 2), (0, 1), 1).expect("a product");
        let [unpacked, done, _] = clocks(run);
        assert_eq!(
            (unpacked - 20_000, done - unpacked),
            (costs().unpack_matmul(2048, 2048, 1, 1), costs().matmul(PHASES, 1))
        );
        run.kernels[COMPUTES].clocks = first;
    });
    let product = costs().matmul(PHASES, 1) + costs().matmul_run;
    assert_eq!(found, (costs().unpack_matmul(2048, 2048, 1, 1), product));
    let block = (2, 1, 1);
    let found = cycles(Math::Matmul { transpose: false, block: Some(block) }, &|run, device| {
        run.matmul_block(device, (2, 2), (0, 0), 1, false, block).expect("a block");
    });
    let products = costs().matmul(PHASES, 2) + 2 * costs().matmul_run;
    assert_eq!(found, (costs().unpack_matmul(2048, 2048, 1, 2), products));
}

#[test]
fn a_block_of_products_takes_its_rows_and_columns_from_where_the_call_says() {
    // Left operands are multiples of the unit matrix, so that each product is a multiple of the right one.
    let identity = |factor: u16| {
        let mut tile = vec![0; 1024];
        (0..32).for_each(|i| tile[TileShape::FULL.index(i, i)] = factor);
        tile
    };
    let factors = [0x3f80, 0x4000, 0x4080, 0x4100, 0x4180];
    let mut program = program();
    program.push_words(READER, 4, &factors.map(identity).concat());
    let right: Vec<u16> = [0x3f80_u16, 0x4040, 0x40a0].into_iter().flat_map(|word| vec![word; 1024]).collect();
    program.push_words(READER, 3, &right);
    let (columns, rows, inner) = (2, 2, 2);
    let mut found = Vec::new();
    program.by(COMPUTES, |run, device| {
        run.cb_wait_front(4, 5).expect("tiles");
        run.cb_wait_front(3, 3).expect("tiles");
        run.hw_startup(3, 4, 2).expect("units");
        let block = (columns, rows, inner);
        run.init_math(Math::Matmul { transpose: false, block: Some(block) }, &[4, 3]).expect("an operation");
        run.tile_regs_acquire().expect("Dst");
        run.matmul_block(device, (4, 3), (1, 1), 3, false, block).expect("a block");
        let far = FaultKind::TileNotWaitedFor {
            cb: 4,
            tile: 5,
            end_bytes: 6 * 2048,
            waited: 5,
            page_bytes: 2048,
            counts: "",
        };
        assert_eq!(mistake(run.matmul_block(device, (4, 3), (3, 1), 3, false, block)), far);
        let far = FaultKind::TileNotWaitedFor {
            cb: 3,
            tile: 3,
            end_bytes: 4 * 2048,
            waited: 3,
            page_bytes: 2048,
            counts: "",
        };
        assert_eq!(mistake(run.matmul_block(device, (4, 3), (1, 2), 3, false, block)), far);
        let beyond = FaultKind::DstIndex { index: 8, capacity: 8, why: "16-bit datums, half sync" };
        assert_eq!(mistake(run.matmul_block(device, (4, 3), (1, 1), 5, false, block)), beyond);
        run.tile_regs_commit().expect("Dst");
        run.tile_regs_wait().expect("Dst");
        for dst in 3..7 {
            run.cb_reserve_back(2, 1).expect("a page");
            let at = run.get_write_ptr(2).expect("a pointer");
            run.pack_tile(device, dst, 2, None).expect("a pack");
            found.push(run.load_word(device, at).expect("a word").expect("a word") as u16);
            run.cb_push_back(2, 1).expect("a push");
            run.cb_wait_front(2, 1).expect("a page");
            run.cb_pop_front(2, 1).expect("a pop");
        }
    });
    // Rows 1 and 3 of the left (2 and 8), columns 1 and 2 of the right (3 and 5).
    let expected = [2.0 * 3.0, 2.0 * 5.0, 8.0 * 3.0, 8.0 * 5.0_f32].map(|value| (value.to_bits() >> 16) as u16);
    assert_eq!(found, expected);
}

#[test]
fn setup_costs_what_it_changes() {
    let mut program = program();
    let (common, init, configure) = (costs().init_common, costs().init, costs().configure);
    program.by(COMPUTES, |run, _| {
        let spent = |run: &mut Run, call: &dyn Fn(&mut Run) -> Result<(), tt_program::Fault>| {
            run.kernels[COMPUTES].clocks = [0; 3];
            call(run).expect("setup");
            clocks(run)
        };
        let kind = mistake(run.init_math(COPY, &[2]));
        assert!(matches!(&kind, FaultKind::MissingInit { state, .. } if state.contains("never set up")), "{kind:?}");
        assert_eq!(spent(run, &|run| run.hw_startup(2, 2, 3)), [common; 3]);
        assert_eq!(spent(run, &|run| run.init_math(COPY, &[2])), [init, init, 0]);
        assert!(matches!(mistake(run.init_math(COPY, &[2, 9])), FaultKind::NoCb { cb: 9, .. }));
        assert_eq!(spent(run, &Run::end_math), [0, configure, 0]);
        assert_eq!(spent(run, &Run::reduce_uninit), [0, 0, configure]);
        assert_eq!(spent(run, &|run| run.pack_reconfig_l1_acc(true)), [0, 0, configure]);
        assert_eq!(spent(run, &|run| run.pack_relu_config(3, 0x3f80)), [0, 0, configure]);
        let text = "ReLU mode 4; modes are 0 to 3".to_owned();
        assert_eq!(mistake(run.pack_relu_config(4, 0)), FaultKind::Argument(text));
        assert_eq!(spent(run, &|run| run.pack_untilize_mode(Some((2, 4)))), [0, 0, init]);
        for (columns, full) in [(0, 4), (3, 4), (2, 0)] {
            let text = format!("blocks of {columns} tiles do not divide rows of {full} tiles");
            assert_eq!(mistake(run.pack_untilize_mode(Some((columns, full)))), FaultKind::Argument(text));
        }
        // The formats are alike: nothing is programmed.
        assert_eq!(spent(run, &|run| run.reconfig_data_format(3, 4, -1, -1)), [0; 3]);
        assert_eq!(spent(run, &|run| run.pack_reconfig_data_format(2, 3)), [0; 3]);
    });
    // CB 4 gets another format.
    program.run.cores[0].cb_mut(4).expect("a CB").format = DataFormat::Float32;
    program.by(COMPUTES, |run, _| {
        let mut spent = |call: &dyn Fn(&mut Run) -> Result<(), tt_program::Fault>| {
            run.kernels[COMPUTES].clocks = [0; 3];
            call(run).expect("setup");
            clocks(run)
        };
        let change = costs().reconfigure;
        assert_eq!(spent(&|run| run.reconfig_data_format(4, -1, -1, -1)), [change, 0, 0]);
        assert_eq!(spent(&|run| run.reconfig_data_format(-1, 4, -1, 2)), [change, 0, 0]);
        assert_eq!(spent(&|run| run.reconfig_data_format(2, 2, 4, 4)), [2 * change, 0, 0]);
        assert_eq!(spent(&|run| run.pack_reconfig_data_format(4, 0)), [0, 0, change]);
        assert_eq!(spent(&|run| run.pack_reconfig_data_format(4, -1)), [0; 3]);
        let said = |register: &str, set: &str, cb, before: &str| FaultKind::DiffersFromInit {
            what: "the old CB",
            expected: format!("one of {set}, for which {register} is set up (CB {cb})"),
            said: before.to_owned(),
        };
        let kind = mistake(run.reconfig_data_format(4, -1, 4, -1));
        assert_eq!(kind, said("unpacker A", "Float16B", 2, "CB 4 of Float32"));
        let kind = mistake(run.reconfig_data_format(-1, 4, -1, 4));
        assert_eq!(kind, said("unpacker B", "Float16B", 2, "CB 4 of Float32"));
        // CB 0 is a CB like any other.
        run.reconfig_data_format(4, 4, -1, -1).expect("setup");
        let kind = mistake(run.reconfig_data_format(2, -1, 0, -1));
        assert_eq!(kind, said("unpacker A", "Float32", 4, "CB 0 of Float16B"));
        let kind = mistake(run.pack_reconfig_data_format(2, 0));
        assert_eq!(kind, said("the packer", "Float32", 4, "CB 0 of Float16B"));
    });
}

#[test]
fn tiles_are_packed_one_after_the_other_or_where_the_call_says() {
    let mut program = program();
    start(&mut program, COPY);
    let words = feed(&mut program, 2, 2);
    let out = program.cb(3);
    program.by(COMPUTES, |run, device| {
        run.tile_regs_acquire().expect("Dst");
        run.copy_tile(device, Copying::Plain, 2, 0, 0).expect("a copy");
        run.copy_tile(device, Copying::Plain, 2, 1, 1).expect("a copy");
        run.tile_regs_commit().expect("Dst");
        run.tile_regs_wait().expect("Dst");
        run.cb_reserve_back(3, 3).expect("pages");
        run.pack_tile(device, 1, 3, None).expect("to tile 0");
        run.pack_tile(device, 0, 3, Some(2)).expect("to tile 2");
        run.pack_tile(device, 0, 3, None).expect("to tile 1");
        let beyond = FaultKind::TileNotReserved {
            cb: 3,
            tile: 3,
            end_bytes: 4 * 2048,
            reserved: 3,
            page_bytes: 2048,
            counts: "",
        };
        assert_eq!(mistake(run.pack_tile(device, 0, 3, Some(3))), beyond);
        run.kernels[COMPUTES].clocks = [0; 3];
        run.pack_tile(device, 0, 3, Some(0)).expect("a pack");
        assert_eq!(clocks(run), [0, 0, costs().pack(2048, false)]);
        run.pack_reconfig_l1_acc(true).expect("a switch");
        run.kernels[COMPUTES].clocks = [0; 3];
        run.pack_tile(device, 0, 3, Some(0)).expect("a pack");
        assert_eq!(clocks(run), [0, 0, costs().pack(2048, true)]);
        run.cb_push_back(3, 3).expect("a push");
        let nothing = FaultKind::AddsToNothing { cb: 3, address: out + 3 * 2048 };
        run.cb_reserve_back(3, 1).expect("the last page");
        assert_eq!(mistake(run.pack_tile(device, 0, 3, None)), nothing);
    });
    // Twice the first tile, which is one more in the exponent.
    let twice: Vec<u16> = words[..1024].iter().map(|word| word + 0x80).collect();
    assert_eq!(program.words(out, 1024), twice);
    assert_eq!(program.words(out + 2048, 1024), words[..1024]);
    assert_eq!(program.words(out + 4096, 1024), words[..1024]);
}

#[test]
fn data_movement_kernels_have_no_compute_engine() {
    let mut program = program();
    program.by(READER, |run, device| {
        assert!(matches!(mistake(run.tile_regs_acquire()), FaultKind::WrongRisc(_)));
        assert!(matches!(mistake(run.pack_tile(device, 0, 3, None)), FaultKind::WrongRisc(_)));
        assert!(matches!(mistake(run.hw_startup(2, 2, 3)), FaultKind::WrongRisc(_)));
    });
}

#[test]
fn only_some_reductions_take_small_tiles() {
    let small = |height, width, dim| {
        let mut program = program();
        start(&mut program, Math::Reduce { pool: PoolOp::Sum, dim });
        feed(&mut program, 2, 1);
        program.push(READER, 3, 1);
        let cb = program.run.cores[0].cb_mut(3).expect("a CB");
        let shape = TileShape::new(height, width).expect("a shape");
        (cb.shape, cb.tile) = (Some(shape), (height as u32, width as u32));
        cb.page_bytes = DataFormat::Float16B.tile_bytes(shape) as u32;
        cb.tile_bytes = cb.page_bytes;
        program.by(COMPUTES, |run, device| {
            run.cb_wait_front(3, 1).expect("a tile");
            run.tile_regs_acquire().expect("Dst");
            let reduced = run.reduce_tile(device, (PoolOp::Sum, dim), (3, 2), (0, 0), 0);
            assert!(matches!(
                mistake(run.reduce_tile(device, (PoolOp::Sum, dim), (2, 3), (0, 0), 0)),
                FaultKind::Unsupported(text) if text.contains("scaler tiles")
            ));
            reduced.map_err(|fault| fault.what.to_string())
        })
    };
    let text = "this reduction of tiles of 16x32: what the chip does is not specified; use 32x32".to_owned();
    assert_eq!(small(16, 32, ReduceDim::Scalar), Err(text));
    assert_eq!(small(16, 32, ReduceDim::Column), Ok(()));
    assert_eq!(small(16, 32, ReduceDim::Row), Ok(()));
    assert_eq!(small(8, 32, ReduceDim::Row), Ok(()));
    let text = "this reduction of tiles of 8x32: what the chip does is not specified; use 32x32".to_owned();
    assert_eq!(small(8, 32, ReduceDim::Column), Err(text));
}

#[test]
fn floats_of_32_bits_keep_them_in_a_wide_dst_if_their_buffer_says_so() {
    // 1 + 2^-23: the source registers hold 19 bits.
    let word = 0x3f80_0001_u32;
    let copied = |dst32, unpack_to_dest| {
        let mut program = built(&ComputeConfig { dst32, unpack_to_dest, ..COMPUTE });
        for cb in [2, 3] {
            let cb = program.run.cores[0].cb_mut(cb).expect("a CB");
            (cb.format, cb.pages) = (DataFormat::Float32, 1);
            (cb.page_bytes, cb.tile_bytes) = (4096, 4096);
        }
        program.by(READER, |run, device| {
            run.cb_reserve_back(2, 1).expect("a page");
            let at = run.get_write_ptr(2).expect("a pointer");
            run.store_bytes(device, at, &word.to_le_bytes().repeat(1024)).expect("a store");
            run.cb_push_back(2, 1).expect("a push");
        });
        start(&mut program, COPY);
        let out = program.cb(3);
        program.by(COMPUTES, |run, device| {
            run.cb_wait_front(2, 1).expect("a tile");
            run.tile_regs_acquire().expect("Dst");
            run.copy_tile(device, Copying::Plain, 2, 0, 0).expect("a copy");
            run.tile_regs_commit().expect("Dst");
            run.tile_regs_wait().expect("Dst");
            run.cb_reserve_back(3, 1).expect("a page");
            run.pack_tile(device, 0, 3, None).expect("a pack");
        });
        program.word(0, out)
    };
    assert_eq!(copied(true, 1 << 2), word);
    for (dst32, unpack_to_dest) in [(true, 0), (true, 1 << 3), (false, 0), (false, 1 << 2)] {
        assert_eq!(copied(dst32, unpack_to_dest), 0x3f80_0000, "{dst32} {unpack_to_dest:#b}");
    }
}
