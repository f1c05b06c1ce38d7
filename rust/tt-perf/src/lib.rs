//! Time of a core: what its parts take, in cycles.
//!
//! Processors, unpackers, FPU, SFPU, packers. One table per chip generation.
//!
//! Sections named in comments are those of `docs/chip/performance.md`; the marks are explained there ([isa], [rep],
//! [iss], [own]), and `k...` are rows of `golden/silicon/tensix_kernel_cycles.csv`. *Estimate* marks a figure that
//! nobody has published; its comment says what it was derived from.

mod compute;
mod core;
mod risc;
mod sfpu;
mod slots;

use tt_formats::Arch;

pub use self::core::CoreCosts;
pub use compute::{ComputeCosts, Eltwise, ReduceAxis};
pub use risc::{LaunchCosts, RiscCosts};
pub use sfpu::{SfpuCost, SfpuCosts};

/// Every cost of a core, in cycles.
#[derive(Debug)]
pub struct Costs {
    /// The five processors: calls of the kernel API.
    pub risc: RiscCosts,
    /// Their instructions.
    pub core: CoreCosts,
    /// Unpackers, FPU, packers.
    pub compute: ComputeCosts,
    /// The SFPU.
    pub sfpu: SfpuCosts,
    /// Start and end of programs and kernels.
    pub launch: LaunchCosts,
}

impl Costs {
    /// The costs of a chip generation.
    pub const fn of(arch: Arch) -> &'static Self {
        match arch {
            Arch::Wormhole => &WORMHOLE,
            Arch::Blackhole => &BLACKHOLE,
        }
    }
}

static WORMHOLE: Costs = Costs {
    risc: risc::WORMHOLE,
    core: core::CORE,
    compute: compute::WORMHOLE,
    sfpu: SfpuCosts::new(Arch::Wormhole),
    launch: risc::LAUNCH,
};

static BLACKHOLE: Costs = Costs {
    risc: risc::BLACKHOLE,
    core: core::CORE,
    compute: compute::BLACKHOLE,
    sfpu: SfpuCosts::new(Arch::Blackhole),
    launch: risc::LAUNCH,
};
