//! Reshard kernels measured on silicon, predicted from their programs alone.
//!
//! No time stamp of the trace goes in.
#![allow(clippy::print_stderr, reason = "the comparison is shown with --nocapture")]

use flate2::read::GzDecoder;
use serde_json::Value;
use tt_memory::chip::N150;
use tt_noc::{NocId, Node};
use tt_plan::{Access, Processor, replay};
use tt_testkit::golden::{golden_file, table};

/// The processors of a single-chip trace that did something, in the order of the file.
fn trace(name: &str) -> Option<Vec<Processor>> {
    let file = std::fs::File::open(golden_file(name)?).expect("a readable trace");
    let events: Vec<Value> = serde_json::from_reader(GzDecoder::new(file)).expect("a trace is a JSON array");
    let mut processors: Vec<Processor> = Vec::new();
    let number = |event: &Value, key: &str| event[key].as_i64().expect("a number");
    for event in &events {
        let node = |x, y| Node { x: number(event, x) as u32, y: number(event, y) as u32 };
        let step = match event["type"].as_str() {
            Some("READ") => Access::Read {
                noc: if event["noc"] == "NOC_0" { NocId::Noc0 } else { NocId::Noc1 },
                owner: node("dx", "dy"),
                bytes: number(event, "num_bytes") as u64,
            },
            Some("READ_BARRIER_START") => Access::Barrier,
            _ => continue,
        };
        let (at, brisc) = (node("sx", "sy"), event["proc"] == "BRISC");
        match processors.last_mut().filter(|last| last.node == at && last.brisc == brisc) {
            Some(processor) => processor.steps.push(step),
            None => processors.push(Processor { node: at, brisc, steps: vec![step] }),
        }
    }
    Some(processors)
}

fn predict(processors: &[Processor]) -> u64 {
    replay(&N150, processors)
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
    assert!(rows.len() >= 36 && mean < 5.0 && worst < 20.0);
}

#[test]
fn a_trace_is_predicted_the_same_twice() {
    let Some(processors) = trace("noc/traces/DRAM_TO_8x8_HEIGHT.json.gz") else { return };
    assert_eq!(predict(&processors), predict(&processors));
}
