//! Data movement kernels recorded on chip, replayed without time stamps.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tt_memory::chip::ChipSpec;
use tt_noc::{Noc, NocId, Node, NodeKind};
use tt_perf::Costs;

/// A step of a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reads from another node.
    Read {
        /// The network.
        noc: NocId,
        /// Whose memory it is.
        owner: Node,
        /// How much.
        bytes: u64,
    },
    /// Waits for all reads so far.
    Barrier,
}

/// One processor of a recorded kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Processor {
    /// Its core.
    pub node: Node,
    /// BRISC, else NCRISC.
    pub brisc: bool,
    /// The accesses.
    pub steps: Vec<Access>,
}

/// Times of the recorded kernels between their commands, with the time stamps that they write.
mod recorded {
    /// From program start to the first reads, NCRISC and BRISC.
    pub const FIRST: [u64; 2] = [310, 230];
    /// Between two reads, DRAM and L1 (`docs/chip/noc.md` section 3).
    pub const GAP: [u64; 2] = [124, 142];
    /// From a read to the barrier after it.
    pub const BARRIER_CALL: u64 = 100;
    /// A barrier that has nothing to wait for.
    pub const BARRIER_LEAST: u64 = 80;
    /// From a barrier to the read after it.
    pub const AFTER_BARRIER: u64 = 94;
}

/// Cycles from program start to its last barrier's end.
pub fn replay(chip: &'static ChipSpec, processors: &[Processor]) -> u64 {
    let costs = Costs::of(chip.arch);
    let mut noc = Noc::new(chip);
    let mut last = vec![0; processors.len()];
    let mut queue: BinaryHeap<_> =
        (0..processors.len()).map(|i| Reverse((recorded::FIRST[usize::from(processors[i].brisc)], i, 0))).collect();
    let mut end = 0_u64;
    while let Some(Reverse((now, i, step))) = queue.pop() {
        let next = match processors[i].steps.get(step) {
            None => continue,
            Some(&Access::Read { noc: network, owner, bytes }) => {
                let done = noc.read(now, network, processors[i].node, owner, bytes);
                last[i] = done.arrived.max(last[i]);
                let dram = matches!(noc.layout().kind(owner), NodeKind::Dram { .. });
                if matches!(processors[i].steps.get(step + 1), Some(Access::Barrier)) {
                    now + recorded::BARRIER_CALL
                } else {
                    now + recorded::GAP[usize::from(!dram)]
                }
            }
            Some(Access::Barrier) => {
                let over = (now + recorded::BARRIER_LEAST).max(last[i] + costs.risc.barrier);
                end = end.max(over);
                over + recorded::AFTER_BARRIER
            }
        };
        queue.push(Reverse((next, i, step + 1)));
    }
    end.saturating_sub(costs.launch.kernel_end)
}
