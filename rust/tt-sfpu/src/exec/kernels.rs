//! Lane programs applied to slices.
//!
//! Compiled once per CPU level, on blocks of lanes.

use tt_cpu::Level;

#[cfg(target_arch = "x86_64")]
use super::simd::{BlockMultiplyAdd, LaneVector, Simd};
use crate::arith::generation::VectorUnit;
use crate::arith::lane::Word;

/// A definition on words in place, with other operands and parameters.
pub type Kernel<const OTHERS: usize> = fn(&mut [u32], [&[u32]; OTHERS], &[u32], Level);
/// A speculative program, with the definition for lanes under the fallback mask and for levels without such lanes.
pub(crate) type Speculative<const OTHERS: usize> = fn(&mut [u32], [&[u32]; OTHERS], &[u32], Level, Kernel<OTHERS>);

/// Binds parameters to names.
macro_rules! take {
    ($parameters:ident, []) => {
        let _ = $parameters;
    };
    ($parameters:ident, [$($name:ident),+]) => {
        // `with` has counted them.
        let [$($name),+] = *$parameters else { unreachable!("wrong number of parameters") };
    };
}

/// The [`Kernel`] of a lane program by the rules of a generation: `exact!(Wormhole, [second], [parameter], program)`.
///
/// The program's text is taken once for each CPU level, inside a function compiled for it, since a closure has the CPU
/// features of the function that it stands in; a function by its name would not.
macro_rules! exact {
    ($generation:path, [$($other:ident),*], $names:tt, $program:expr) => {{
        const OTHERS: usize = <[&str]>::len(&[$(stringify!($other)),*]);
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
        fn avx512(dst: &mut [u32], others: [&[u32]; OTHERS], parameters: &[u32]) {
            $crate::exec::kernels::take!(parameters, $names);
            $crate::exec::kernels::blocks::<tt_cpu::vector::avx512::Avx512, $generation, OTHERS>(
                dst, others, |x, [$($other),*]| ($program)(x $(, $other)*)
            );
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
        fn avx2(dst: &mut [u32], others: [&[u32]; OTHERS], parameters: &[u32]) {
            $crate::exec::kernels::take!(parameters, $names);
            $crate::exec::kernels::blocks::<tt_cpu::vector::avx2::Avx2, $generation, OTHERS>(
                dst, others, |x, [$($other),*]| ($program)(x $(, $other)*)
            );
        }
        |dst, others: [&[u32]; OTHERS], parameters, level| match level.available() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` returns only levels that were detected on this host.
            tt_cpu::Level::Avx512 => unsafe { avx512(dst, others, parameters) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            tt_cpu::Level::Avx2 => unsafe { avx2(dst, others, parameters) },
            _ => {
                $crate::exec::kernels::take!(parameters, $names);
                $crate::exec::kernels::scalar::<$generation, OTHERS>(
                    dst, others, |x, [$($other),*]| ($program)(x $(, $other)*)
                );
            }
        }
    }};
}

/// The [`Speculative`] kernel of a lane program, if it is `speculated`; of the first program that is given.
macro_rules! speculative {
    (plain, $($unused:tt)*) => {
        None
    };
    ($how:ident, $others:tt, $names:tt, ($program:expr) $unused:expr) => {
        $crate::exec::kernels::speculative!($how, $others, $names, () $program)
    };
    (speculated, [$($other:ident),*], $names:tt, () $program:expr) => {{
        #[cfg(not(target_arch = "x86_64"))]
        { None }
        #[cfg(target_arch = "x86_64")]
        {
            const OTHERS: usize = <[&str]>::len(&[$(stringify!($other)),*]);
            #[target_feature(enable = "avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
            fn avx512(
                dst: &mut [u32],
                others: [&[u32]; OTHERS],
                parameters: &[u32],
                exact: $crate::exec::kernels::Kernel<OTHERS>,
            ) {
                #[allow(unused_imports, reason = "for programs of a family")]
                use $crate::exec::speculative;
                $crate::exec::kernels::take!(parameters, $names);
                speculative::run(
                    dst,
                    others,
                    |x, [$($other),*]| ($program)(x $(, $other)*),
                    |rest, others| exact(rest, others, parameters, tt_cpu::Level::Avx512),
                );
            }
            Some(|dst, others: [&[u32]; OTHERS], parameters, level, exact| match level.available() {
                // SAFETY: `available` returns only levels that were detected on this host.
                tt_cpu::Level::Avx512 => unsafe { avx512(dst, others, parameters, exact) },
                level => exact(dst, others, parameters, level),
            })
        }
    }};
}

/// The same program on lanes that check its bounds.
#[cfg(all(feature = "checked", target_arch = "x86_64"))]
macro_rules! checked {
    (plain, $($unused:tt)*) => {
        None
    };
    ($how:ident, $others:tt, $names:tt, ($program:expr) $unused:expr) => {
        $crate::exec::kernels::checked!($how, $others, $names, () $program)
    };
    (speculated, [$($other:ident),*], $names:tt, () $program:expr) => {
        Some(|operands: &[$crate::exec::speculative::Checked], parameters: &[u32]| {
            #[allow(unused_imports, reason = "for programs of a family")]
            use $crate::exec::speculative;
            $crate::exec::kernels::take!(parameters, $names);
            let [x $(, $other)*] = *operands else { unreachable!("wrong number of operands") };
            ($program)(x $(, $other)*)
        })
    };
}

#[cfg(all(feature = "checked", target_arch = "x86_64"))]
pub(crate) use checked;
pub(crate) use {exact, speculative, take};

/// Runs a lane program on every word and those beside it, one at a time.
pub(crate) fn scalar<G: VectorUnit, const N: usize>(
    dst: &mut [u32],
    others: [&[u32]; N],
    program: impl Fn(Word<G>, [Word<G>; N]) -> Word<G>,
) {
    for (i, word) in dst.iter_mut().enumerate() {
        *word = program(Word::from(*word), others.map(|words| Word::from(words[i]))).bits;
    }
}

/// Runs a lane program on whole blocks, then on the rest in a block of its own.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn blocks<V: LaneVector, G: BlockMultiplyAdd, const N: usize>(
    dst: &mut [u32],
    others: [&[u32]; N],
    program: impl Fn(Simd<V, G>, [Simd<V, G>; N]) -> Simd<V, G>,
) {
    let lanes = Simd::<V, G>::LANES;
    let whole = dst.len() / lanes * lanes;
    for at in (0..whole).step_by(lanes) {
        let block = Simd::load(&dst[at..]);
        let mut blocks = [block; N];
        for (block, words) in blocks.iter_mut().zip(others) {
            *block = Simd::load(&words[at..]);
        }
        program(block, blocks).store(&mut dst[at..]);
    }
    let rest = &mut dst[whole..];
    if !rest.is_empty() {
        let mut last = padded(rest);
        let mut blocks = [Simd::load(&last); N];
        for (block, words) in blocks.iter_mut().zip(others) {
            *block = Simd::load(&padded(&words[whole..][..rest.len()]));
        }
        program(Simd::load(&last), blocks).store(&mut last);
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

/// The last words of a slice in a block of their own, which the first one fills: zeros would be slow where the others
/// are not.
#[cfg(target_arch = "x86_64")]
fn padded(words: &[u32]) -> [u32; 64] {
    let mut block = [words[0]; 64];
    block[..words.len()].copy_from_slice(words);
    block
}
