//! Lane programs applied to slices: compiled once per CPU level, on blocks of lanes.

#[cfg(target_arch = "x86_64")]
use super::wide::{LaneVector, Wide};

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

/// Runs a lane program on every word, given as `each_lane!(exactly, level, dst, [second: words, ...], parameters,
/// [names], program)`; `guessed` instead of `exactly` tries it first as [`super::guess`] says, where the CPU level can.
///
/// The program's text is taken once for each CPU level, inside a function compiled for it, since a closure has the CPU
/// features of the function that it stands in; a function by its name would not.
macro_rules! each_lane {
    ($how:ident, $level:expr, $dst:expr, [$($other:ident: $words:expr),*], $parameters:expr, $names:tt, $program:expr) => {{
        const OTHERS: usize = <[&str]>::len(&[$(stringify!($other)),*]);
        match $level.available() {
            #[cfg(target_arch = "x86_64")]
            tt_cpu::Level::Avx512 => {
                #[target_feature(enable = "avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
                #[inline(never)]
                fn exactly(dst: &mut [u32], others: [&[u32]; OTHERS], parameters: &[u32]) {
                    $crate::sfpu::lanes::take!(parameters, $names);
                    $crate::sfpu::lanes::blocks::<$crate::vector::avx512::Avx512, OTHERS>(dst, others, |x, [$($other),*]| {
                        ($program)(x $(, $other)*)
                    });
                }
                $crate::sfpu::lanes::guess!($how, OTHERS, [$($other),*], $names, $program);
                // SAFETY: `available` returns only levels that were detected on this host.
                unsafe { $how($dst, [$($words),*], $parameters) }
            }
            #[cfg(target_arch = "x86_64")]
            tt_cpu::Level::Avx2 => {
                #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
                fn exactly(dst: &mut [u32], others: [&[u32]; OTHERS], parameters: &[u32]) {
                    $crate::sfpu::lanes::take!(parameters, $names);
                    $crate::sfpu::lanes::blocks::<$crate::vector::avx2::Avx2, OTHERS>(dst, others, |x, [$($other),*]| {
                        ($program)(x $(, $other)*)
                    });
                }
                // SAFETY: as above.
                unsafe { exactly($dst, [$($words),*], $parameters) }
            }
            _ => {
                let parameters: &[u32] = $parameters;
                $crate::sfpu::lanes::take!(parameters, $names);
                let others: [&[u32]; OTHERS] = [$($words),*];
                $crate::sfpu::lanes::scalar($dst, others, |x: u32, [$($other),*]| ($program)(x $(, $other)*));
            }
        }
    }};
}

/// The function `guessed` beside the function `exactly`, if it is wanted.
#[cfg(target_arch = "x86_64")]
macro_rules! guess {
    (exactly, $($unused:tt)*) => {};
    (guessed, $others:ident, [$($other:ident),*], $names:tt, $program:expr) => {
        #[target_feature(enable = "avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
        fn guessed(dst: &mut [u32], others: [&[u32]; $others], parameters: &[u32]) {
            $crate::sfpu::lanes::take!(parameters, $names);
            $crate::sfpu::guess::blocks(
                dst,
                others,
                |x, [$($other),*]| ($program)(x $(, $other)*),
                |rest, others| exactly(rest, others, parameters),
            );
        }
    };
}

#[cfg(target_arch = "x86_64")]
pub(crate) use guess;
pub(crate) use {each_lane, take};

/// Runs a lane program on every word and those beside it, one at a time.
pub(crate) fn scalar<const N: usize>(dst: &mut [u32], others: [&[u32]; N], program: impl Fn(u32, [u32; N]) -> u32) {
    for (i, word) in dst.iter_mut().enumerate() {
        *word = program(*word, others.map(|words| words[i]));
    }
}

/// Runs a lane program on whole blocks, then on the rest in a block of its own.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn blocks<V: LaneVector, const N: usize>(
    dst: &mut [u32],
    others: [&[u32]; N],
    program: impl Fn(Wide<V>, [Wide<V>; N]) -> Wide<V>,
) {
    let lanes = Wide::<V>::LANES;
    let whole = dst.len() / lanes * lanes;
    for at in (0..whole).step_by(lanes) {
        let block = Wide::load(&dst[at..]);
        let mut blocks = [block; N];
        for (block, words) in blocks.iter_mut().zip(others) {
            *block = Wide::load(&words[at..]);
        }
        program(block, blocks).store(&mut dst[at..]);
    }
    let rest = &mut dst[whole..];
    if !rest.is_empty() {
        let mut last = padded(rest);
        let mut blocks = [Wide::load(&last); N];
        for (block, words) in blocks.iter_mut().zip(others) {
            *block = Wide::load(&padded(&words[whole..][..rest.len()]));
        }
        program(Wide::load(&last), blocks).store(&mut last);
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
