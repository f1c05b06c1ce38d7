//! Instructions of a baby RISC-V core, for compiled kernels.

/// Cycles of instructions. What is not named takes one.
#[derive(Debug)]
pub struct CoreCosts {
    /// A multiplication; nothing enters meanwhile.
    pub multiply: u64,
    /// A division by 0 or 1, or minimum by -1.
    pub divide_easy: u64,
    /// Least cycles of another division.
    ///
    /// Otherwise one more than the bits of the dividend's magnitude.
    pub divide_least: u64,
    /// Beyond a branch that goes another way than predicted.
    pub mispredict: u64,
    /// From a load of local RAM to its first use.
    pub local_load: u64,
    /// From a load of L1 to its first use.
    pub l1_load: u64,
    /// From a NoC or debug register load to its use.
    pub register_load: u64,
    /// Four loads of L1 that nothing else holds up.
    ///
    /// The fifth cannot begin earlier after the first.
    pub l1_four_loads: u64,
    /// A store to L1 that leaves the queue of four.
    pub l1_store: u64,
}

/// Also for Blackhole, whose cores are of the same family: nobody has published others (*estimate* there).
pub(super) const CORE: CoreCosts = CoreCosts {
    multiply: 2,      // section 2.5 [isa]
    divide_easy: 2,   // section 2.5 [isa]
    divide_least: 6,  // section 2.5: 6 to 33 with the dividend's magnitude [isa]
    mispredict: 2,    // section 2.5 [isa]; which way is predicted is an estimate: backward branches taken, others not
    local_load: 2,    // section 2.5 [isa]
    l1_load: 8,       // section 2.5 [isa]
    register_load: 7, // section 2.5 [isa]
    l1_four_loads: 7, // section 2.5 [isa]
    l1_store: 5,      // section 2.5 [isa]
};
