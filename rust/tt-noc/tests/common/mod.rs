//! Traces of the golden folder.
#![allow(dead_code, reason = "each test uses a part of this")]

use flate2::read::GzDecoder;
use serde_json::Value;
use tt_noc::{NocId, Node};
use tt_testkit::golden::golden_file;

/// A step of a processor in a trace.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    Read { noc: NocId, owner: Node, bytes: u64 },
    Barrier,
}

/// One processor of a trace: where it is, when its kernel began, when it issued its first command, and its steps.
#[derive(Debug, Clone)]
pub struct Processor {
    pub node: Node,
    pub brisc: bool,
    pub steps: Vec<Step>,
}

/// The processors of a single-chip trace that did something, in the order of the file.
pub fn trace(name: &str) -> Option<Vec<Processor>> {
    let file = std::fs::File::open(golden_file(name)?).expect("a readable trace");
    let events: Vec<Value> = serde_json::from_reader(GzDecoder::new(file)).expect("a trace is a JSON array");
    let mut processors: Vec<Processor> = Vec::new();
    let number = |event: &Value, key: &str| event[key].as_i64().expect("a number");
    for event in &events {
        let node = |x, y| Node { x: number(event, x) as u32, y: number(event, y) as u32 };
        let step = match event["type"].as_str() {
            Some("READ") => Step::Read {
                noc: if event["noc"] == "NOC_0" { NocId::Noc0 } else { NocId::Noc1 },
                owner: node("dx", "dy"),
                bytes: number(event, "num_bytes") as u64,
            },
            Some("READ_BARRIER_START") => Step::Barrier,
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
