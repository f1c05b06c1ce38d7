//! The SFPU, the vector unit of a core.
//!
//! Measured functions have the cycles per tile of `golden/silicon/tensix_kernel_cycles.csv`, rows without the mark
//! "after"; Blackhole takes Wormhole's where it has none. The others are counted: 32 steps per tile, each of as many
//! issue slots as the function has (section 2.2).

use tt_formats::Arch;

use super::slots::{SLOTS, Slots};

/// The source of a cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SfpuCost {
    /// Cycles per tile, measured on a chip.
    Measured(u64),
    /// Cycles per tile, from the number of issue slots.
    Counted(u64),
}

impl SfpuCost {
    /// Cycles per tile.
    pub const fn cycles(self) -> u64 {
        match self {
            Self::Measured(cycles) | Self::Counted(cycles) => cycles,
        }
    }
}

/// Name, approximate variant or not, 32-bit `Dst` or not, cycles per tile.
type Measured = (&'static str, bool, bool, u64);

/// The costs of a chip generation.
#[derive(Debug)]
pub struct SfpuCosts {
    measured: [&'static [Measured]; 2],
    /// Functions whose kernel starts several instructions in one slot with load macros: name, approximate variant or not.
    macros: &'static [(&'static str, bool)],
}

impl SfpuCosts {
    pub(super) const fn new(arch: Arch) -> Self {
        match arch {
            Arch::Wormhole => Self { measured: [WORMHOLE, &[]], macros: &[] },
            Arch::Blackhole => Self { measured: [BLACKHOLE, WORMHOLE], macros: &[("exp", true)] },
        }
    }

    /// Cycles per tile of function `name`, measured or counted.
    ///
    /// Of the listings, or of `fill` and `copy`, with 32-bit `Dst` if `wide`; counted where nobody has measured it. A
    /// function without an approximate variant ignores the choice. `None` for an unknown function.
    pub fn tile(&self, name: &str, approximate: bool, wide: bool) -> Option<SfpuCost> {
        let approximate = slots(name, approximate)?.1;
        let mut rows = self.measured.into_iter().flatten();
        let measured = rows.find(|row| (row.0, row.1, row.2) == (name, approximate, wide));
        measured.map(|row| SfpuCost::Measured(row.3)).or_else(|| self.count(name, approximate, wide))
    }

    /// The same from the function's issue slots alone.
    pub fn count(&self, name: &str, approximate: bool, wide: bool) -> Option<SfpuCost> {
        let &(name, approximate, narrow_slots, wide_slots) = slots(name, approximate)?;
        if self.macros.contains(&(name, approximate)) {
            return Some(SfpuCost::Counted(STEPS * MACRO_SLOTS.0 / MACRO_SLOTS.1 + LOOP));
        }
        Some(SfpuCost::Counted(self.counted(if wide { wide_slots } else { narrow_slots })))
    }

    /// Cycles per tile, from issue slots per 32-lane step.
    pub fn counted(&self, slots: u64) -> u64 {
        STEPS * slots.max(LEAST_SLOTS) + LOOP
    }
}

/// The row of a function, in the wanted variant if it has both.
fn slots(name: &str, approximate: bool) -> Option<&'static Slots> {
    let find = |approximate| {
        let found = SLOTS.binary_search_by(|slots| (slots.0, slots.1).cmp(&(name, approximate)));
        found.ok().map(|index| &SLOTS[index])
    };
    find(approximate).or_else(|| find(!approximate))
}

/// Steps of a tile: 32 lanes each. Section 2.2 [isa].
const STEPS: u64 = 32;
/// Slots and steps of a loop of load macros, which overlap load, arithmetic, rounding and store. Section 2.2 [iss].
const MACRO_SLOTS: (u64, u64) = (9, 8);
/// Load, advance, store. Section 2.2 [iss].
const LEAST_SLOTS: u64 = 3;
/// Beyond the slots, per tile: 124 measured against 96 slots. Section 2.2 [iss].
const LOOP: u64 = 28;

const WORMHOLE: &[Measured] = &[
    ("gelu", true, false, 256),         // k000
    ("sigmoid", true, false, 256),      // k001
    ("tanh", false, false, 824),        // k020
    ("tanh", false, true, 1601),        // k003
    ("tanh", true, false, 192),         // k004
    ("tanh", true, true, 192),          // k005
    ("relu_max", false, false, 491),    // k008
    ("hardsigmoid", false, false, 484), // k010
    ("i0", false, false, 1417),         // k012
    ("softplus", false, false, 1549),   // k014
    ("div_binary", false, false, 1475), // k016
    ("exp2", false, false, 920),        // k018
    ("sin", false, false, 894),         // k022
    ("silu", false, false, 1432),       // k024
    ("floor", false, false, 568),       // k026
    ("ceil", false, false, 568),        // k028
    ("trunc", false, false, 440),       // k030
    ("frac", false, false, 504),        // k032
    ("exp", false, false, 1150),        // k034
];

const BLACKHOLE: &[Measured] = &[
    ("gelu_derivative", false, false, 3809), // k035
    ("gelu_derivative", true, false, 3425),  // k036
    ("gelu", false, false, 2849),            // k037
    ("gelu", true, false, 223),              // k038
    ("abs", false, false, 146),              // k039
    ("atan", false, false, 1672),            // k041
    ("exp", true, false, 94),                // k042
    ("tanh", true, false, 160),              // k044
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measured_function_is_known_and_listed_once() {
        for table in [WORMHOLE, BLACKHOLE] {
            for (i, row) in table.iter().enumerate() {
                assert!(SLOTS.iter().any(|slots| (slots.0, slots.1) == (row.0, row.1)), "{}", row.0);
                let again = |other: &&Measured| (other.0, other.1, other.2) == (row.0, row.1, row.2);
                assert_eq!(table[i + 1..].iter().find(again), None);
            }
        }
        assert!(SLOTS.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1)));
    }

    #[test]
    fn what_is_looked_up() {
        let (wormhole, blackhole) = (SfpuCosts::new(Arch::Wormhole), SfpuCosts::new(Arch::Blackhole));
        assert_eq!(wormhole.tile("tanh", false, true), Some(SfpuCost::Measured(1601)));
        // Blackhole's own figure comes first, Wormhole's second.
        assert_eq!(blackhole.tile("tanh", true, false), Some(SfpuCost::Measured(160)));
        assert_eq!(blackhole.tile("sin", true, false), Some(SfpuCost::Measured(894)));
        // Nobody has measured square: 8 slots.
        assert_eq!(wormhole.tile("square", false, false), Some(SfpuCost::Counted(32 * 8 + 28)));
        assert_eq!(wormhole.tile("relu", false, false), Some(SfpuCost::Counted(32 * 8 + 28)));
        // Load macros: 36 slots instead of 12 for each of 32 steps.
        assert_eq!(blackhole.count("exp", true, false), Some(SfpuCost::Counted(36 + 28)));
        assert_eq!(wormhole.count("exp", true, false), Some(SfpuCost::Counted(12 * 32 + 28)));
        assert_eq!(wormhole.tile("no such function", false, false), None);
    }
}
