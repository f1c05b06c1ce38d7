//! The vector unit.
//!
//! Measured functions have the cycles per tile of `golden/silicon/tensix_kernel_cycles.csv`. The others are counted:
//! 32 steps per tile, each of as many issue slots as the function has (section 2.2).

use tt_memory::chip::Arch;

/// Cycles per tile of one vector function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SfpuCost {
    /// Name of the tile function without `_tile`.
    pub name: &'static str,
    /// The approximate variant.
    pub approximate: bool,
    /// With 16-bit `Dst`.
    pub narrow: u64,
    /// With 32-bit `Dst`.
    pub wide: u64,
}

/// The costs of a chip generation.
#[derive(Debug)]
pub struct SfpuCosts {
    measured: &'static [SfpuCost],
}

impl SfpuCosts {
    pub(super) const fn new(arch: Arch) -> Self {
        Self { measured: if matches!(arch, Arch::WormholeB0) { WORMHOLE } else { BLACKHOLE } }
    }

    /// Cycles per tile of a function, or `None` if it is not in the table.
    pub fn measured(&self, name: &str, approximate: bool, wide: bool) -> Option<u64> {
        let cost = self.measured.iter().find(|cost| cost.name == name && cost.approximate == approximate)?;
        Some(if wide { cost.wide } else { cost.narrow })
    }

    /// Cycles per tile of a function of so many issue slots per step.
    pub const fn counted(&self, slots: u64) -> u64 {
        STEPS * (if slots > LEAST_SLOTS { slots } else { LEAST_SLOTS }) + LOOP
    }
}

/// Steps of a tile: 32 lanes each. Section 2.2 [isa].
const STEPS: u64 = 32;
/// Load, advance, store. Section 2.2 [iss].
const LEAST_SLOTS: u64 = 3;
/// Beyond the slots, per tile: 124 measured against 96 slots. Section 2.2 [iss].
const LOOP: u64 = 28;

const WORMHOLE: &[SfpuCost] = &[];
const BLACKHOLE: &[SfpuCost] = &[];
