//! How a vector function is applied to `Dst`: one lane program for each width, compiled once per CPU level.
//!
//! In a 16-bit `Dst` a word can only be one of 65,536, so there the program is run once over all of them and looked up
//! afterwards; the table holds the same bits by construction.

use std::fmt;
use std::sync::OnceLock;

use tt_cpu::Level;

/// Width of the `Dst` words that a vector function loads and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DstWidth {
    /// BF16 in the upper half of each word.
    Bits16,
    /// FP32 or integers.
    Bits32,
}

pub(crate) type Kernel = fn(&mut [u32], Level);
pub(crate) type Table = OnceLock<Box<[u16]>>;

/// A unary function of the vector unit.
#[derive(Clone, Copy)]
pub struct Function {
    /// Operation, as in the specification's listings.
    pub name: &'static str,
    /// Variant, as there.
    pub variant: &'static str,
    pub(crate) bits16: Kernel,
    pub(crate) bits32: Kernel,
    pub(crate) table: &'static Table,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.name, self.variant)
    }
}

impl Function {
    /// Replaces every word of `dst`.
    pub fn run(&self, dst: &mut [u32], width: DstWidth, level: Level) {
        match width {
            DstWidth::Bits32 => (self.bits32)(dst, level),
            DstWidth::Bits16 => {
                let table = self.table();
                for word in dst {
                    *word = u32::from(table[(*word >> 16) as usize]) << 16;
                }
            }
        }
    }

    /// [`Function::run`] without the table: the lane program itself.
    pub fn run_program(&self, dst: &mut [u32], width: DstWidth, level: Level) {
        match width {
            DstWidth::Bits32 => (self.bits32)(dst, level),
            DstWidth::Bits16 => (self.bits16)(dst, level),
        }
    }

    /// The results for all 65,536 words of a 16-bit `Dst`, in the upper half's order.
    pub fn table(&self) -> &'static [u16] {
        self.table.get_or_init(|| {
            let mut words: Vec<u32> = (0..=0xffff).map(|word: u32| word << 16).collect();
            (self.bits16)(&mut words, Level::current());
            words.iter().map(|&word| (word >> 16) as u16).collect()
        })
    }
}

/// Lists a file's functions: name, variant, lane program in 16-bit and in 32-bit `Dst`.
macro_rules! functions {
    ($($name:literal, $variant:literal: $bits16:expr, $bits32:expr;)+) => {
        /// The functions of this file.
        pub(crate) static FUNCTIONS: &[Function] = &[$({
            static TABLE: $crate::sfpu::run::Table = $crate::sfpu::run::Table::new();
            Function {
                name: $name,
                variant: $variant,
                bits16: |dst, level| $crate::sfpu::run::each_lane(level, dst, $bits16),
                bits32: |dst, level| $crate::sfpu::run::each_lane(level, dst, $bits32),
                table: &TABLE,
            }
        }),+];
    };
}
pub(crate) use functions;

/// Runs a lane program on every word, compiled for `level`.
///
/// As `simd_kernel!`, but for programs that are closures.
pub(crate) fn each_lane(level: Level, dst: &mut [u32], program: impl Fn(u32) -> u32) {
    let program = |words: &mut [u32]| {
        for word in words {
            *word = program(*word);
        }
    };
    at_level(level, dst, program);
}

/// Runs a lane program on every pair of words.
pub(crate) fn each_pair(level: Level, dst: &mut [u32], second: &[u32], program: impl Fn(u32, u32) -> u32) {
    let program = |words: &mut [u32]| {
        for (word, &other) in words.iter_mut().zip(second) {
            *word = program(*word, other);
        }
    };
    at_level(level, dst, program);
}

fn at_level(level: Level, dst: &mut [u32], body: impl FnOnce(&mut [u32])) {
    match level.available() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `available` returns only levels that were detected on this host.
        Level::Avx512 => unsafe { x86::avx512(dst, body) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Level::Avx2 => unsafe { x86::avx2(dst, body) },
        // NEON is part of every 64-bit Arm target.
        _ => body(dst),
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
    pub fn avx2(dst: &mut [u32], body: impl FnOnce(&mut [u32])) {
        body(dst);
    }

    #[target_feature(enable = "avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
    pub fn avx512(dst: &mut [u32], body: impl FnOnce(&mut [u32])) {
        body(dst);
    }
}
