//! A chain of vector-unit functions that run in one visit to Dst.

use tt_tensix::sfpu::{self, DstWidth, Function};

use crate::OpError;
use crate::port::Tile;

/// One function of a chain, as the caller names it.
#[derive(Clone, Debug)]
pub struct ChainStep {
    /// Name as in the specification's listings, e.g. `exp`.
    pub name: String,
    /// Variant as in the listings, e.g. `accurate`.
    pub variant: String,
}

/// Functions resolved once per call and applied to every tile.
#[derive(Clone, Default)]
pub struct Chain {
    functions: Vec<Function>,
}

impl Chain {
    /// Looks the functions up.
    ///
    /// # Errors
    /// [`OpError::UnknownFunction`] names the first that the engine does not have.
    pub fn resolve(steps: &[ChainStep]) -> Result<Self, OpError> {
        let find = |step: &ChainStep| {
            sfpu::lookup(&step.name, &step.variant)
                .ok_or_else(|| OpError::UnknownFunction { name: step.name.clone(), variant: step.variant.clone() })
        };
        Ok(Self { functions: steps.iter().map(find).collect::<Result<_, _>>()? })
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Applies the functions in order; values stay in Dst between them.
    pub(crate) fn apply(&self, dst: &mut Tile, dst32: bool) {
        let width = if dst32 { DstWidth::Bits32 } else { DstWidth::Bits16 };
        let level = tt_cpu::Level::current();
        for function in &self.functions {
            function.run(dst, width, level);
        }
    }
}
