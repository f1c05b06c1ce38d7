//! Issue of instructions.
//!
//! One a cycle, in order, unless an operand is not ready or a unit is busy.
//!
//! A load's result is usable some cycles later; what does not need it goes on. The documented bound of seven instructions
//! behind an unfinished load is never the first to be reached: no load takes longer than eight cycles.

use tt_perf::CoreCosts;

/// Where a load goes, for its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Port {
    /// Local RAM and text.
    Local,
    /// L1.
    L1,
    /// Registers behind the NoC or debug port.
    Register,
}

/// The last loads and stores, and when instructions may begin.
#[derive(Debug, Clone)]
pub(crate) struct Ports {
    pub(crate) costs: &'static CoreCosts,
    /// When the last loads of L1 began, a ring.
    loads: [u64; 4],
    load: u8,
    /// When the last stores leave the queue, a ring.
    stores: [u64; 4],
    store: u8,
}

impl Ports {
    pub(crate) fn new(costs: &'static CoreCosts) -> Self {
        Self { costs, loads: [0; 4], load: 0, stores: [0; 4], store: 0 }
    }

    /// A load that could begin at a time: when it does, and when its result is usable.
    #[inline(always)]
    pub(crate) fn load(&mut self, at: u64, port: Port) -> (u64, u64) {
        match port {
            Port::Local => (at, at + self.costs.local_load),
            Port::Register => (at, at + self.costs.register_load),
            Port::L1 => {
                let slot = (self.load & 3) as usize;
                let begins = at.max(self.loads[slot]);
                self.loads[slot] = begins + self.costs.l1_four_loads;
                self.load = self.load.wrapping_add(1);
                (begins, begins + self.costs.l1_load)
            }
        }
    }

    /// A store to L1 that could begin at a time: when it does. Others take their place in the pipeline only.
    #[inline(always)]
    pub(crate) fn store(&mut self, at: u64) -> u64 {
        let slot = (self.store & 3) as usize;
        let begins = at.max(self.stores[slot]);
        let before = self.stores[(self.store.wrapping_sub(1) & 3) as usize];
        self.stores[slot] = begins.max(before) + self.costs.l1_store;
        self.store = self.store.wrapping_add(1);
        begins
    }

    /// Cycles of a division of a number of this magnitude by a divisor.
    #[inline]
    pub(crate) fn divide(&self, magnitude: u32, easy: bool) -> u64 {
        let bits = u64::from(32 - magnitude.leading_zeros());
        if easy { self.costs.divide_easy } else { (bits + 1).max(self.costs.divide_least) }
    }
}
