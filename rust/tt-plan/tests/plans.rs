//! Plans in small.
//!
//! Kernels that meet at circular buffers, bounds, and what a plan must not be.

use tt_formats::Arch;
use tt_plan::{Bound, CoreGroup, Place, Plan, PlanError, Step, TileOp, Transfer, time};

const PAGE: u64 = 2048;

fn pages(place: Place, pages: u64, per_barrier: u64) -> Transfer {
    Transfer { place, pages, page_bytes: PAGE, per_barrier, in_step: 100 }
}

fn reader(count: u64) -> Vec<Step> {
    let step = vec![Step::Reserve(0, 1), Step::Read(pages(Place::Dram, 1, 1)), Step::Push(0, 1)];
    vec![Step::Loop(count, step)]
}

fn writer(count: u64) -> Vec<Step> {
    let step = vec![Step::Await(0, 1), Step::Write(pages(Place::Dram, 1, 0)), Step::Pop(0, 1)];
    vec![Step::Loop(count, step), Step::Barrier]
}

fn copy(count: u64, cores: u64) -> Plan {
    let group = CoreGroup { cores, reader: reader(count), compute: Vec::new(), writer: writer(count) };
    Plan { arch: Arch::Blackhole, banks: 8, l1_banks: 130, cbs: vec![2], groups: vec![group] }
}

#[test]
fn the_steady_state_is_that_of_the_slowest_kernel() {
    let cycles = |count| time(&copy(count, 1)).expect("a plan that ends").cycles;
    let (short, long, longer) = (cycles(100), cycles(200), cycles(300));
    assert_eq!(long - short, longer - long);
    assert_eq!(time(&copy(100, 1)).expect("a plan that ends").bound, Bound::Reader);
}

#[test]
fn bytes_are_counted_for_all_cores() {
    let timing = time(&copy(10, 7)).expect("a plan that ends");
    assert_eq!((timing.dram_read_bytes, timing.dram_write_bytes), (70 * PAGE, 70 * PAGE));
}

#[test]
fn no_operation_is_shorter_than_its_dram_needs() {
    let timing = time(&copy(100, 130)).expect("a plan that ends");
    // The peak of a p150: 512 GB/s at 1.35 GHz.
    let peak = 2.0 * 130.0 * 100.0 * PAGE as f64 / 379.0;
    assert!(timing.cycles as f64 > peak && timing.bound == Bound::Dram);
}

#[test]
fn a_plan_takes_the_same_time_twice() {
    assert_eq!(time(&copy(50, 64)), time(&copy(50, 64)));
}

#[test]
fn plans_that_cannot_be_run_are_errors() {
    let plan = |compute: Vec<Step>| {
        let group = CoreGroup { cores: 1, reader: Vec::new(), compute, writer: Vec::new() };
        Plan { arch: Arch::Wormhole, banks: 12, l1_banks: 64, cbs: vec![1], groups: vec![group] }
    };
    assert_eq!(time(&plan(vec![Step::Await(0, 1)])), Err(PlanError::Stuck { group: 0 }));
    assert_eq!(time(&plan(vec![Step::Pop(3, 1)])), Err(PlanError::NoBuffer { cb: 3 }));
    let unknown = TileOp::Sfpu { name: "no such function".to_owned(), approximate: false, wide: false };
    assert!(matches!(time(&plan(vec![Step::Tiles(unknown, 1)])), Err(PlanError::UnknownFunction { .. })));
}

#[test]
fn unpack_math_and_pack_overlap() {
    let tile = [TileOp::Copy { bytes: PAGE }, TileOp::Pack { bytes: PAGE, accumulate: false }];
    let steps = |count| vec![Step::Loop(count, tile.iter().map(|op| Step::Tiles(op.clone(), 1)).collect())];
    let plan = |count| {
        let group = CoreGroup { cores: 1, reader: Vec::new(), compute: steps(count), writer: Vec::new() };
        Plan { arch: Arch::Blackhole, banks: 8, l1_banks: 130, cbs: Vec::new(), groups: vec![group] }
    };
    let (one, many) = (time(&plan(1)).expect("ends"), time(&plan(1001)).expect("ends"));
    let group = many.groups[0];
    let busiest = group.busy[1].max(group.busy[2]).max(group.busy[3]);
    assert!(many.cycles - one.cycles < busiest + busiest / 50);
}
