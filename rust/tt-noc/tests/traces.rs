//! Reshard kernels measured on silicon, predicted from their programs alone: no time stamp of the trace goes in.
#![allow(clippy::print_stderr, reason = "the comparison is shown with --nocapture")]

mod common;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use common::{Processor, Step, trace};
use tt_memory::chip::N150;
use tt_noc::{Noc, NodeKind};
use tt_perf::Costs;
use tt_testkit::golden::table;

/// Times of the recorded kernels between their commands, with the time stamps that they write.
mod recorded {
    /// From the start of the program to the first read, NCRISC and BRISC.
    pub const FIRST: [u64; 2] = [310, 230];
    /// Between two reads, DRAM and L1 (`spec/noc.md` section 3).
    pub const GAP: [u64; 2] = [124, 142];
    /// From a read to the barrier after it.
    pub const BARRIER_CALL: u64 = 100;
    /// A barrier that has nothing to wait for.
    pub const BARRIER_LEAST: u64 = 80;
    /// From a barrier to the read after it.
    pub const AFTER_BARRIER: u64 = 94;
}

fn predict(processors: &[Processor]) -> u64 {
    let costs = Costs::of(N150.arch);
    let mut noc = Noc::new(&N150);
    let mut last = vec![0; processors.len()];
    let mut queue: BinaryHeap<_> =
        (0..processors.len()).map(|i| Reverse((recorded::FIRST[usize::from(processors[i].brisc)], i, 0))).collect();
    let mut end = 0;
    while let Some(Reverse((now, i, step))) = queue.pop() {
        let next = match processors[i].steps.get(step) {
            None => continue,
            Some(&Step::Read { noc: network, owner, bytes }) => {
                let done = noc.read(now, network, processors[i].node, owner, bytes);
                last[i] = done.arrived.max(last[i]);
                let dram = matches!(noc.layout().kind(owner), NodeKind::Dram { .. });
                let gap = recorded::GAP[usize::from(!dram)];
                if matches!(processors[i].steps.get(step + 1), Some(Step::Barrier)) {
                    now + recorded::BARRIER_CALL
                } else {
                    now + gap
                }
            }
            Some(Step::Barrier) => {
                let over = (now + recorded::BARRIER_LEAST).max(last[i] + costs.risc.barrier);
                end = end.max(over);
                over + recorded::AFTER_BARRIER
            }
        };
        queue.push(Reverse((next, i, step + 1)));
    }
    end - costs.launch.kernel_end
}

#[test]
fn traces_of_reshards() {
    let Some(rows) = table("noc/tt_npe_results.csv") else { return };
    let (mut sums, mut worst) = ([(0.0, 0.0, 0); 2], 0.0_f64);
    for row in &rows {
        let name = &row["workload"];
        let processors = trace(&format!("noc/{}", row["trace_file"])).expect("the trace of a row");
        let measured: f64 = row["golden_cycles"].parse().expect("a number");
        let cycles = predict(&processors);
        let error = 100.0 * (cycles as f64 - measured) / measured;
        let estimator = &row["npe_err_pct_step128"];
        eprintln!(
            "{name:28} measured {measured:6.0} predicted {cycles:6} error {error:+6.1} % (estimator {estimator} %)"
        );
        let group = &mut sums[usize::from(name.starts_with("DRAM"))];
        *group = (group.0 + error.abs(), group.1 + error, group.2 + 1);
        worst = worst.max(error.abs());
    }
    for (name, (absolute, signed, count)) in ["L1 to L1", "DRAM to L1"].iter().zip(sums) {
        let count = f64::from(count);
        eprintln!("{name}: mean absolute error {:.1} %, bias {:+.1} %", absolute / count, signed / count);
    }
    let mean = (sums[0].0 + sums[1].0) / rows.len() as f64;
    eprintln!("all: mean absolute error {mean:.1} %, worst {worst:.1} %");
    // `spec/noc.md` section 7: the best static bound is 8.5 % off on average and 37 % at worst.
    assert!(rows.len() >= 36 && mean < 8.5 && worst < 37.0);
}

#[test]
fn a_trace_is_predicted_the_same_twice() {
    let Some(processors) = trace("noc/traces/DRAM_TO_8x8_HEIGHT.json.gz") else { return };
    assert_eq!(predict(&processors), predict(&processors));
}
