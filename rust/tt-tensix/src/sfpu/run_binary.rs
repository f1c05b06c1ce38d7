//! How functions of two and three tiles are applied to `Dst`. As [`super::run`], without tables.

use std::fmt;

use tt_cpu::Level;

use super::run::{DstWidth, MAX_PARAMETERS, WrongParameters};
#[cfg(target_arch = "x86_64")]
use super::wide::{LaneVector, Wide};

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
    ($($name:literal, $variant:literal $([$($parameter:ident),+])?: $bits16:expr, $bits32:expr;)+) => {
        /// The binary functions of this file.
        pub(crate) static BINARY: &[$crate::sfpu::BinaryFunction] = &[$(
            $crate::sfpu::run_binary::Several {
                name: $name,
                variant: $variant,
                parameters: &[$($(stringify!($parameter)),+)?],
                bits16: |dst, second, parameters, level| {
                    $crate::sfpu::run_binary::each_pair!(level, dst, second, parameters, [$($($parameter),+)?], $bits16);
                },
                bits32: |dst, second, parameters, level| {
                    $crate::sfpu::run_binary::each_pair!(level, dst, second, parameters, [$($($parameter),+)?], $bits32);
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
                    $crate::sfpu::run_binary::each_triple!(level, dst, others, parameters, [$($($parameter),+)?], $bits16);
                },
                bits32: |dst, others, parameters, level| {
                    $crate::sfpu::run_binary::each_triple!(level, dst, others, parameters, [$($($parameter),+)?], $bits32);
                },
            }
        ),+];
    };
}

/// Runs a lane program on every pair of words, compiled for the level as by `each_lane!`.
macro_rules! each_pair {
    ($level:expr, $dst:expr, $second:expr, $parameters:expr, $names:tt, $program:expr) => {
        match $level.available() {
            #[cfg(target_arch = "x86_64")]
            tt_cpu::Level::Avx512 => {
                #[target_feature(enable = "avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
                fn compiled(dst: &mut [u32], second: &[u32], parameters: &[u32]) {
                    $crate::sfpu::run::take!(parameters, $names);
                    $crate::sfpu::run_binary::pairs::<$crate::vector::avx512::Avx512>(dst, second, |a, b| {
                        ($program)(a, b)
                    });
                }
                // SAFETY: `available` returns only levels that were detected on this host.
                unsafe { compiled($dst, $second, $parameters) }
            }
            #[cfg(target_arch = "x86_64")]
            tt_cpu::Level::Avx2 => {
                #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
                fn compiled(dst: &mut [u32], second: &[u32], parameters: &[u32]) {
                    $crate::sfpu::run::take!(parameters, $names);
                    $crate::sfpu::run_binary::pairs::<$crate::vector::avx2::Avx2>(dst, second, |a, b| ($program)(a, b));
                }
                // SAFETY: as above.
                unsafe { compiled($dst, $second, $parameters) }
            }
            _ => {
                let parameters: &[u32] = $parameters;
                $crate::sfpu::run::take!(parameters, $names);
                $crate::sfpu::run_binary::scalar_pairs($dst, $second, $program)
            }
        }
    };
}

/// Runs a lane program on every triple of words, compiled for the level as by `each_lane!`.
macro_rules! each_triple {
    ($level:expr, $dst:expr, $others:expr, $parameters:expr, $names:tt, $program:expr) => {
        match $level.available() {
            #[cfg(target_arch = "x86_64")]
            tt_cpu::Level::Avx512 => {
                #[target_feature(enable = "avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
                fn compiled(dst: &mut [u32], others: [&[u32]; 2], parameters: &[u32]) {
                    $crate::sfpu::run::take!(parameters, $names);
                    $crate::sfpu::run_binary::triples::<$crate::vector::avx512::Avx512>(dst, others, |a, b, c| {
                        ($program)(a, b, c)
                    });
                }
                // SAFETY: `available` returns only levels that were detected on this host.
                unsafe { compiled($dst, $others, $parameters) }
            }
            #[cfg(target_arch = "x86_64")]
            tt_cpu::Level::Avx2 => {
                #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
                fn compiled(dst: &mut [u32], others: [&[u32]; 2], parameters: &[u32]) {
                    $crate::sfpu::run::take!(parameters, $names);
                    $crate::sfpu::run_binary::triples::<$crate::vector::avx2::Avx2>(dst, others, |a, b, c| {
                        ($program)(a, b, c)
                    });
                }
                // SAFETY: as above.
                unsafe { compiled($dst, $others, $parameters) }
            }
            _ => {
                let parameters: &[u32] = $parameters;
                $crate::sfpu::run::take!(parameters, $names);
                $crate::sfpu::run_binary::scalar_triples($dst, $others, $program)
            }
        }
    };
}

pub(crate) use {binary_functions, each_pair, each_triple, ternary_functions};

/// Runs a lane program on every pair of words, one at a time.
pub(crate) fn scalar_pairs(dst: &mut [u32], second: &[u32], program: impl Fn(u32, u32) -> u32) {
    for (word, &other) in dst.iter_mut().zip(second) {
        *word = program(*word, other);
    }
}

/// Runs a lane program on every triple of words, one at a time.
pub(crate) fn scalar_triples(dst: &mut [u32], others: [&[u32]; 2], program: impl Fn(u32, u32, u32) -> u32) {
    for ((word, &second), &third) in dst.iter_mut().zip(others[0]).zip(others[1]) {
        *word = program(*word, second, third);
    }
}

/// Runs a lane program on blocks of pairs.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn pairs<V: LaneVector>(dst: &mut [u32], second: &[u32], program: impl Fn(Wide<V>, Wide<V>) -> Wide<V>) {
    let lanes = Wide::<V>::LANES;
    let length = dst.len().min(second.len());
    let whole = length / lanes * lanes;
    for at in (0..whole).step_by(lanes) {
        program(Wide::load(&dst[at..]), Wide::load(&second[at..])).store(&mut dst[at..]);
    }
    if whole < length {
        let [mut a, b] = [&*dst, second].map(|words| padded(&words[whole..length]));
        program(Wide::load(&a), Wide::load(&b)).store(&mut a);
        dst[whole..length].copy_from_slice(&a[..length - whole]);
    }
}

/// Runs a lane program on blocks of triples.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn triples<V: LaneVector>(
    dst: &mut [u32],
    [second, third]: [&[u32]; 2],
    program: impl Fn(Wide<V>, Wide<V>, Wide<V>) -> Wide<V>,
) {
    let lanes = Wide::<V>::LANES;
    let length = dst.len().min(second.len()).min(third.len());
    let whole = length / lanes * lanes;
    for at in (0..whole).step_by(lanes) {
        let result = program(Wide::load(&dst[at..]), Wide::load(&second[at..]), Wide::load(&third[at..]));
        result.store(&mut dst[at..]);
    }
    if whole < length {
        let [mut a, b, c] = [&*dst, second, third].map(|words| padded(&words[whole..length]));
        program(Wide::load(&a), Wide::load(&b), Wide::load(&c)).store(&mut a);
        dst[whole..length].copy_from_slice(&a[..length - whole]);
    }
}

/// The last words of a slice in a block of their own.
#[cfg(target_arch = "x86_64")]
fn padded(words: &[u32]) -> [u32; 64] {
    let mut block = [0; 64];
    block[..words.len()].copy_from_slice(words);
    block
}
