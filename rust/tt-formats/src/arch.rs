//! Chip generations.

/// A chip generation. The numbers are those of the public `Arch` enum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Arch {
    /// Wormhole B0.
    Wormhole = 2,
    /// Blackhole.
    Blackhole = 3,
}

impl Arch {
    /// The name that `ARCH_NAME` uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wormhole => "wormhole_b0",
            Self::Blackhole => "blackhole",
        }
    }
}
