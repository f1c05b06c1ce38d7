//! Chip generations, as values and as types.

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

/// A chip generation as a type.
///
/// What is generic over it is compiled for the rules of one generation. Each unit has a trait of its own for its rules,
/// such as the multiply-add of the SFPU. [`by_generation`](crate::by_generation) goes from the value to the type.
pub trait Generation: Copy + std::fmt::Debug + 'static {
    /// The generation as a value.
    const ARCH: Arch;
}

/// Wormhole B0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wormhole;

/// Blackhole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blackhole;

impl Generation for Wormhole {
    const ARCH: Arch = Arch::Wormhole;
}

impl Generation for Blackhole {
    const ARCH: Arch = Arch::Blackhole;
}

/// Evaluates an expression in which a name is the type of a generation: `by_generation!(arch, G => run::<G>())`.
#[macro_export]
macro_rules! by_generation {
    ($arch:expr, $generation:ident => $body:expr) => {
        match $arch {
            $crate::Arch::Wormhole => {
                type $generation = $crate::Wormhole;
                $body
            }
            $crate::Arch::Blackhole => {
                type $generation = $crate::Blackhole;
                $body
            }
        }
    };
}
