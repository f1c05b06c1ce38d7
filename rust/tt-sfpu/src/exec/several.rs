//! Functions of two and three tiles, applied to `Dst`.
//!
//! As [`super::function`], without tables.

use std::fmt;

use tt_cpu::Level;
use tt_formats::Arch;

use super::bf16::{Bf16, Fallbacks};
use super::function::{DstWidth, MAX_PARAMETERS, WrongParameters};
use super::kernels::{Kernel, Speculative};
use tt_tensix::regs::Bf16Page;
use tt_tensix::regs::{HalfTile, TILE_DATUMS};

/// Computes whole tiles of words, or says that it cannot.
type Tiles<const OTHERS: usize> = fn(&mut [u32], [&[u32]; OTHERS], Level) -> bool;

/// A function of `OPERANDS` tiles, the first and `OTHERS`.
#[derive(Clone, Copy)]
pub struct Several<const OTHERS: usize, const OPERANDS: usize> {
    /// Operation, as in the specification's listings.
    pub name: &'static str,
    /// Variant, as there; `default` if the listings' variants differ only by parameters.
    pub variant: &'static str,
    /// The generation whose primitives it has.
    pub generation: Arch,
    /// Generations whose kernel has these steps.
    ///
    /// Each runs them with its own primitives.
    pub generations: &'static [Arch],
    /// The names of the parameters, each a raw word.
    ///
    /// FP32 bits or an integer.
    pub parameters: &'static [&'static str],
    /// The definition in a 16-bit and in a 32-bit `Dst`, at every CPU level.
    pub(crate) exact: [Kernel<OTHERS>; 2],
    /// The speculative programs of both widths.
    pub(crate) speculative: [Option<Speculative<OTHERS>>; 2],
    /// The same programs on lanes that check their bounds.
    #[cfg(all(feature = "checked", target_arch = "x86_64"))]
    pub checked: [Option<super::speculative::CheckedProgram>; 2],
    /// What computes whole tiles of a 32-bit `Dst` if it can, and says so.
    pub(crate) tiles: Option<Tiles<OTHERS>>,
    /// The kernel on BF16 pages.
    pub(crate) bf16: Option<Bf16<OPERANDS>>,
}

/// A function of two operands.
pub type BinaryFunction = Several<1, 2>;
/// A function of three operands.
pub type TernaryFunction = Several<2, 3>;

/// A function of several operands with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct SeveralCall<const OTHERS: usize, const OPERANDS: usize> {
    function: Several<OTHERS, OPERANDS>,
    pub(super) parameters: [u32; MAX_PARAMETERS],
}

/// A function of two operands with its parameters.
pub type BinaryCall = SeveralCall<1, 2>;
/// A function of three operands with its parameters.
pub type TernaryCall = SeveralCall<2, 3>;

impl<const OTHERS: usize, const OPERANDS: usize> fmt::Debug for Several<OTHERS, OPERANDS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.name, self.variant)
    }
}

impl<const OTHERS: usize, const OPERANDS: usize> Several<OTHERS, OPERANDS> {
    /// The function with its parameters.
    ///
    /// # Errors
    /// [`WrongParameters`] if their number is not that of `parameters`.
    pub fn with(&self, parameters: &[u32]) -> Result<SeveralCall<OTHERS, OPERANDS>, WrongParameters> {
        if parameters.len() != self.parameters.len() {
            return Err(WrongParameters { expected: self.parameters, given: parameters.len() });
        }
        let mut words = [0; MAX_PARAMETERS];
        words[..parameters.len()].copy_from_slice(parameters);
        Ok(SeveralCall { function: *self, parameters: words })
    }
}

impl<const OTHERS: usize, const OPERANDS: usize> SeveralCall<OTHERS, OPERANDS> {
    /// The function's name, as in the listings.
    pub fn name(&self) -> &'static str {
        self.function.name
    }

    /// Replaces every word of `dst` by the function of all operands.
    ///
    /// `dst` is the first operand.
    pub fn run_with(&self, dst: &mut [u32], others: [&[u32]; OTHERS], width: DstWidth, level: Level) {
        let Some(tiles) = self.function.tiles.filter(|_| width == DstWidth::Bits32) else {
            return self.run_words(dst, others, width, level);
        };
        for (number, dst) in dst.chunks_mut(TILE_DATUMS).enumerate() {
            let others = others.map(|words| &words[number * TILE_DATUMS..][..dst.len()]);
            if !tiles(dst, others, level) {
                self.run_words(dst, others, width, level);
            }
        }
    }

    fn run_words(&self, dst: &mut [u32], others: [&[u32]; OTHERS], width: DstWidth, level: Level) {
        let parameters = &self.parameters[..self.function.parameters.len()];
        let exact = self.function.exact[width as usize];
        match self.function.speculative[width as usize] {
            None => exact(dst, others, parameters, level),
            Some(program) => program(dst, others, parameters, level, exact),
        }
    }

    /// The kernel on BF16 pages, if there is one.
    pub fn bf16(&self) -> Option<Bf16<OPERANDS>> {
        self.function.bf16
    }

    /// Computes a tile of a 16-bit `Dst` from BF16 pages.
    ///
    /// False if there is no such kernel, the level has no vectors, or the datums are outside of the kernel's exponent
    /// range; `dst` is then meaningless.
    #[must_use]
    pub fn run_bf16(&self, level: Level, dst: &mut HalfTile, pages: [&Bf16Page; OPERANDS]) -> bool {
        let mut fallbacks = Fallbacks::NONE;
        let Some(bf16) = self.function.bf16 else { return false };
        let computed = bf16.run(level, dst, pages, &self.parameters, &mut fallbacks);
        if computed && !fallbacks.places().is_empty() {
            self.fall_back(level, dst, pages, fallbacks.places());
        }
        computed
    }

    /// Returns a tile's fallback places, or `None` if refused.
    ///
    /// They fall back to the definition; the kernel refuses the tile.
    #[cfg(feature = "checked")]
    pub fn try_bf16(&self, level: Level, dst: &mut HalfTile, pages: [&Bf16Page; OPERANDS]) -> Option<Vec<u16>> {
        let mut fallbacks = Fallbacks::NONE;
        let computed = self.function.bf16?.run(level, dst, pages, &self.parameters, &mut fallbacks);
        computed.then(|| fallbacks.places().to_vec())
    }

    /// Computes the results at some places by the definition.
    #[inline(never)]
    fn fall_back(&self, level: Level, dst: &mut HalfTile, pages: [&Bf16Page; OPERANDS], places: &[u16]) {
        let [mut results, second, third] =
            [0, 1, 2].map(|operand| pages.get(operand).map_or(Vec::new(), |page| super::bf16::words_at(page, places)));
        let others = [&second[..], &third[..]];
        let others = std::array::from_fn(|other| others[other]);
        self.run_with(&mut results, others, DstWidth::Bits16, level);
        for (&place, word) in places.iter().zip(results) {
            dst[usize::from(place)] = (word >> 16) as u16;
        }
    }
}

impl BinaryCall {
    /// Replaces every word of `dst` by the function with `second`.
    ///
    /// `dst` is the first operand.
    pub fn run(&self, dst: &mut [u32], second: &[u32], width: DstWidth, level: Level) {
        self.run_with(dst, [second], width, level);
    }
}

impl TernaryCall {
    /// Same as for two operands.
    pub fn run(&self, dst: &mut [u32], second: &[u32], third: &[u32], width: DstWidth, level: Level) {
        self.run_with(dst, [second, third], width, level);
    }
}

/// Replaces every word of `dst` by the function with `second`.
///
/// `dst` is the first operand.
///
/// # Panics
/// If the function takes parameters.
pub fn binary(function: BinaryFunction, dst: &mut [u32], second: &[u32], width: DstWidth, level: Level) {
    let call = function.with(&[]).unwrap_or_else(|error| panic!("{function:?}: {error}"));
    call.run(dst, second, width, level);
}

/// Lists a file's functions of two operands, as `functions!`; `bf16 = kernel` names the kernel on BF16 pages, which is one
/// of Wormhole, or with `bf16 on both = kernel` one of both generations.
macro_rules! binary_functions {
    ($($list:tt)+) => {
        $crate::exec::list_of_several! { BINARY, BinaryFunction, speculated, [second], $($list)+ }
    };
}

/// As `binary_functions!`, of integers and of few steps, for which speculation does not pay.
macro_rules! short_binary_functions {
    ($($list:tt)+) => {
        $crate::exec::list_of_several! { BINARY, BinaryFunction, plain, [second], $($list)+ }
    };
}

/// Lists a file's functions of three operands, as `binary_functions!`.
macro_rules! ternary_functions {
    ($($list:tt)+) => {
        $crate::exec::list_of_several! { TERNARY, TernaryFunction, speculated, [second, third], $($list)+ }
    };
}

macro_rules! list_of_several {
    ($table:ident, $type:ident, $how:ident, $others:tt,
     $($name:literal, $variant:literal $(for $only:ident)? $([$($parameter:ident),+])?: $bits16:expr, $bits32:expr
       $(, speculative = [$program16:expr, $program32:expr])? $(, tiles = $tiles:expr)?
       $(, bf16 = $bf16:expr)? $(, bf16 on both = $both:expr)?;)+) => {
        /// The functions of this file.
        pub(crate) static $table: &[$crate::exec::Row<$crate::$type>] = &[$(
            $crate::exec::row! { [$($only)?]
                $crate::exec::several! {
                    Wormhole, $how, $others, $name, $variant, [$($only)?], [$($($parameter),+)?], $bits16, $bits32,
                    ($($program16)?), ($($program32)?), ($($tiles)?), ($($bf16)? $($both)?)
                },
                $crate::exec::several! {
                    Blackhole, plain, $others, $name, $variant, [$($only)?], [$($($parameter),+)?], $bits16, $bits32,
                    (), (), (), ($($both)?)
                }
            }
        ),+];
    };
}

macro_rules! several {
    ($generation:ident, $how:ident, $others:tt, $name:literal, $variant:literal, [$($only:ident)?], $parameters:tt,
     $bits16:expr, $bits32:expr, ($($program16:expr)?), ($($program32:expr)?), ($($tiles:expr)?), ($($bf16:expr)?)) => {
        $crate::exec::Several {
            name: $name,
            variant: $variant,
            generation: tt_formats::Arch::$generation,
            generations: $crate::exec::generations!($($only)?),
            parameters: $crate::exec::parameter_names!($parameters),
            exact: [
                $crate::exec::kernels::exact!(tt_formats::$generation, $others, $parameters, $bits16),
                $crate::exec::kernels::exact!(tt_formats::$generation, $others, $parameters, $bits32),
            ],
            speculative: [
                $crate::exec::kernels::speculative!($how, $others, $parameters, ($($program16)?) $bits16),
                $crate::exec::kernels::speculative!($how, $others, $parameters, ($($program32)?) $bits32),
            ],
            #[cfg(all(feature = "checked", target_arch = "x86_64"))]
            checked: [
                $crate::exec::kernels::checked!($how, $others, $parameters, ($($program16)?) $bits16),
                $crate::exec::kernels::checked!($how, $others, $parameters, ($($program32)?) $bits32),
            ],
            tiles: $crate::exec::some!($($tiles)?),
            bf16: $crate::exec::some!($($bf16)?),
        }
    };
}

macro_rules! some {
    () => {
        None
    };
    ($value:expr) => {
        Some($value)
    };
}

pub(crate) use {binary_functions, list_of_several, several, short_binary_functions, some, ternary_functions};
