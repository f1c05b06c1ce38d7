//! A chain of SFPU functions that run in one visit to Dst.

use tt_cpu::Level;
use tt_formats::Arch;
use tt_sfpu::exec::bf16::Bf16Step;
use tt_sfpu::{Call, DstWidth};

use crate::OpError;

/// One function of a chain, as the caller names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainStep {
    /// Name as in the specification's listings, e.g. `exp`.
    pub name: String,
    /// Variant as in the listings, e.g. `accurate`.
    ///
    /// `default` where those differ only by parameters.
    pub variant: String,
    /// Parameters as raw words: FP32 bits or integers.
    pub parameters: Vec<u32>,
}

impl ChainStep {
    pub(crate) fn new(name: &str, variant: &str, parameters: &[u32]) -> Self {
        Self { name: name.to_owned(), variant: variant.to_owned(), parameters: parameters.to_vec() }
    }
}

/// Functions resolved once per call and applied to every tile.
#[derive(Clone, Default)]
pub struct Chain {
    steps: Vec<ChainStep>,
    /// The functions of a generation.
    calls: Vec<Call>,
}

impl Chain {
    /// Looks the functions of a generation up.
    ///
    /// # Errors
    /// [`OpError::UnknownFunction`] names the first that the engine does not have, [`OpError::WrongParameters`] the
    /// first that takes other parameters.
    pub fn resolve(arch: Arch, steps: &[ChainStep]) -> Result<Self, OpError> {
        let find = |step: &ChainStep| {
            let (name, variant) = (&step.name, &step.variant);
            let function = tt_sfpu::lookup(arch, name, variant)
                .ok_or_else(|| OpError::UnknownFunction { name: name.clone(), variant: variant.clone() })?;
            function.with(&step.parameters).map_err(|source| OpError::WrongParameters {
                name: name.clone(),
                variant: variant.clone(),
                source,
            })
        };
        Ok(Self { steps: steps.to_vec(), calls: steps.iter().map(find).collect::<Result<_, _>>()? })
    }

    /// A chain of one function.
    ///
    /// # Errors
    /// As [`Self::resolve`].
    pub fn of(arch: Arch, name: &str, variant: &str, parameters: &[u32]) -> Result<Self, OpError> {
        Self::resolve(arch, &[ChainStep::new(name, variant, parameters)])
    }

    /// Returns true if there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// What the chain does, as it was named: chains of equal steps give equal results on a generation.
    pub(crate) fn steps(&self) -> &[ChainStep] {
        &self.steps
    }

    /// The generation whose functions it has, if there are any.
    pub(crate) fn arch(&self) -> Option<Arch> {
        self.calls.first().map(Call::arch)
    }

    /// The step on BF16 lanes that the chain is, if it is one.
    pub(crate) fn bf16(&self) -> Option<Bf16Step> {
        let [call] = &self.calls[..] else { return None };
        call.bf16()
    }

    /// Applies the functions in order; values stay in Dst between them.
    pub(crate) fn apply(&self, dst: &mut [u32], dst32: bool) {
        self.each_call(dst32, |call, width, level| call.run(dst, width, level));
    }

    /// [`Self::apply`] where results are so few that no table of all of them pays.
    pub(crate) fn apply_once(&self, dst: &mut [u32], dst32: bool) {
        self.each_call(dst32, |call, width, level| call.run_program(dst, width, level));
    }

    fn each_call(&self, dst32: bool, mut run: impl FnMut(&Call, DstWidth, Level)) {
        let width = if dst32 { DstWidth::Bits32 } else { DstWidth::Bits16 };
        self.calls.iter().for_each(|call| run(call, width, Level::current()));
    }
}
