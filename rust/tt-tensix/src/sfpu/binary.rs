//! Functions of two `Dst` tiles: sums, differences, products. Source: listings `*_binary/default`.
//!
//! In 16-bit `Dst` sums are truncated by the store; products are rounded to nearest even by the kernel.

use std::fmt;

use tt_cpu::Level;

use super::DstWidth;
use super::lane::{add, mul, round_bf16_even, store_bf16, store_f32, sub};
use super::run::each_pair;

type Kernel = fn(&mut [u32], &[u32], Level);

/// A function of two operands.
#[derive(Clone, Copy)]
pub struct BinaryFunction {
    /// Operation, as in the specification's listings.
    pub name: &'static str,
    bits16: Kernel,
    bits32: Kernel,
}

impl fmt::Debug for BinaryFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Replaces every word of `dst`, the first operand, by the function of it and of the word of `second`.
pub fn binary(function: BinaryFunction, dst: &mut [u32], second: &[u32], width: DstWidth, level: Level) {
    match width {
        DstWidth::Bits16 => (function.bits16)(dst, second, level),
        DstWidth::Bits32 => (function.bits32)(dst, second, level),
    }
}

/// The function of this name.
pub fn lookup_binary(name: &str) -> Option<BinaryFunction> {
    BINARY_FUNCTIONS.iter().find(|function| function.name == name).copied()
}

#[inline(always)]
fn mul_16(a: u32, b: u32) -> u32 {
    if a == 0 || b == 0 { 0 } else { store_bf16(round_bf16_even(mul(a, b))) }
}

macro_rules! functions {
    ($($name:literal: $bits16:expr, $bits32:expr;)+) => {
        /// Every binary function of the vector unit.
        pub static BINARY_FUNCTIONS: &[BinaryFunction] = &[$(BinaryFunction {
            name: $name,
            bits16: |dst, second, level| each_pair(level, dst, second, $bits16),
            bits32: |dst, second, level| each_pair(level, dst, second, $bits32),
        }),+];
    };
}

functions! {
    "add_binary": |a, b| store_bf16(add(a, b)), |a, b| store_f32(add(a, b));
    "sub_binary": |a, b| store_bf16(sub(a, b)), |a, b| store_f32(sub(a, b));
    "rsub_binary": |a, b| store_bf16(sub(b, a)), |a, b| store_f32(sub(b, a));
    "mul_binary": mul_16, |a, b| store_f32(mul(a, b));
}
