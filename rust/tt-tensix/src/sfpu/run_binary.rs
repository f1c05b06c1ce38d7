//! How functions of two and three tiles are applied to `Dst`. As [`super::run`], without tables.

use std::fmt;

use tt_cpu::Level;

use super::run::{DstWidth, MAX_PARAMETERS, WrongParameters};

pub(crate) type BinaryKernel = fn(&mut [u32], &[u32], &[u32], Level);
pub(crate) type TernaryKernel = fn(&mut [u32], [&[u32]; 2], &[u32], Level);

/// A function of several operands, its kernels of type `K`.
#[derive(Clone, Copy)]
pub struct Several<K> {
    /// Operation, as in the specification's listings.
    pub name: &'static str,
    /// Variant, as there; `default` if the listings' variants differ only by parameters.
    pub variant: &'static str,
    /// What the parameters are, each a raw word: FP32 bits or an integer.
    pub parameters: &'static [&'static str],
    pub(crate) bits16: K,
    pub(crate) bits32: K,
}

/// A function of two operands.
pub type BinaryFunction = Several<BinaryKernel>;
/// A function of three operands.
pub type TernaryFunction = Several<TernaryKernel>;

/// A function of several operands with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct SeveralCall<K> {
    function: Several<K>,
    parameters: [u32; MAX_PARAMETERS],
}

impl<K> fmt::Debug for Several<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.name, self.variant)
    }
}

impl<K: Copy> Several<K> {
    /// The function with its parameters.
    ///
    /// # Errors
    /// [`WrongParameters`] if their number is not that of `parameters`.
    pub fn with(&self, parameters: &[u32]) -> Result<SeveralCall<K>, WrongParameters> {
        if parameters.len() != self.parameters.len() {
            return Err(WrongParameters { expected: self.parameters, given: parameters.len() });
        }
        let mut words = [0; MAX_PARAMETERS];
        words[..parameters.len()].copy_from_slice(parameters);
        Ok(SeveralCall { function: *self, parameters: words })
    }
}

impl<K: Copy> SeveralCall<K> {
    /// The function's name, as in the listings.
    pub fn name(&self) -> &'static str {
        self.function.name
    }

    /// Its parameters, and zeros.
    pub(crate) fn parameters(&self) -> [u32; MAX_PARAMETERS] {
        self.parameters
    }

    fn kernel(&self, width: DstWidth) -> (K, &[u32]) {
        let parameters = &self.parameters[..self.function.parameters.len()];
        match width {
            DstWidth::Bits16 => (self.function.bits16, parameters),
            DstWidth::Bits32 => (self.function.bits32, parameters),
        }
    }
}

impl SeveralCall<BinaryKernel> {
    /// Replaces every word of `dst`, the first operand, by the function of it and of the word of `second`.
    pub fn run(&self, dst: &mut [u32], second: &[u32], width: DstWidth, level: Level) {
        let (kernel, parameters) = self.kernel(width);
        kernel(dst, second, parameters, level);
    }
}

impl SeveralCall<TernaryKernel> {
    /// As for two operands.
    pub fn run(&self, dst: &mut [u32], second: &[u32], third: &[u32], width: DstWidth, level: Level) {
        let (kernel, parameters) = self.kernel(width);
        kernel(dst, [second, third], parameters, level);
    }
}

/// Replaces every word of `dst`, the first operand, by the function of it and of the word of `second`.
///
/// # Panics
/// If the function takes parameters.
pub fn binary(function: BinaryFunction, dst: &mut [u32], second: &[u32], width: DstWidth, level: Level) {
    let call = function.with(&[]).unwrap_or_else(|error| panic!("{function:?}: {error}"));
    call.run(dst, second, width, level);
}

/// Lists a file's functions of two operands, as `functions!`.
macro_rules! binary_functions {
    ($($list:tt)+) => {
        $crate::sfpu::run_binary::list_of_binary! { guessed, $($list)+ }
    };
}

/// As `binary_functions!`, of integers and of few steps, for which a guess does not pay.
macro_rules! short_binary_functions {
    ($($list:tt)+) => {
        $crate::sfpu::run_binary::list_of_binary! { exactly, $($list)+ }
    };
}

macro_rules! list_of_binary {
    ($how:ident, $($name:literal, $variant:literal $([$($parameter:ident),+])?: $bits16:expr, $bits32:expr;)+) => {
        /// The binary functions of this file.
        pub(crate) static BINARY: &[$crate::sfpu::BinaryFunction] = &[$(
            $crate::sfpu::run_binary::Several {
                name: $name,
                variant: $variant,
                parameters: &[$($(stringify!($parameter)),+)?],
                bits16: |dst, second, parameters, level| {
                    $crate::sfpu::lanes::each_lane!($how, level, dst, [second: second], parameters, [$($($parameter),+)?], $bits16);
                },
                bits32: |dst, second, parameters, level| {
                    $crate::sfpu::lanes::each_lane!($how, level, dst, [second: second], parameters, [$($($parameter),+)?], $bits32);
                },
            }
        ),+];
    };
}

/// Lists a file's functions of three operands, as `functions!`.
macro_rules! ternary_functions {
    ($($name:literal, $variant:literal $([$($parameter:ident),+])?: $bits16:expr, $bits32:expr;)+) => {
        /// The ternary functions of this file.
        pub(crate) static TERNARY: &[$crate::sfpu::TernaryFunction] = &[$(
            $crate::sfpu::run_binary::Several {
                name: $name,
                variant: $variant,
                parameters: &[$($(stringify!($parameter)),+)?],
                bits16: |dst, others, parameters, level| {
                    $crate::sfpu::lanes::each_lane!(guessed, level, dst, [second: others[0], third: others[1]], parameters, [$($($parameter),+)?], $bits16);
                },
                bits32: |dst, others, parameters, level| {
                    $crate::sfpu::lanes::each_lane!(guessed, level, dst, [second: others[0], third: others[1]], parameters, [$($($parameter),+)?], $bits32);
                },
            }
        ),+];
    };
}

pub(crate) use {binary_functions, list_of_binary, short_binary_functions, ternary_functions};
