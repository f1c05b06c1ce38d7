//! Vectors of 32-bit lanes, with one implementation per CPU level.
//!
//! A body is written once for all of them.
//!
//! Only operations whose results are defined bit by bit are offered; every implementation gives the same bits.
//! Values are created and used inside functions compiled for their level, never outside.

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
pub mod portable;
#[cfg(target_arch = "x86_64")]
pub mod x86;

use crate::level::Level;

/// Returns true if a level has vectors of its own.
///
/// Otherwise a definition may be faster than a body on arrays.
pub fn has_registers(level: Level) -> bool {
    matches!(level.available(), Level::Avx2 | Level::Avx512)
}

/// Compiles a generic body for every CPU level: `vector_kernel!(name, body, (a: &[u32], b: &mut [u32]))` makes the
/// module `name` with `run(level, a, b)`, which calls `body::<V>(a, b)` with the level's vectors.
///
/// Everything that the body calls with vectors must be `#[inline(always)]`. A closure is not: it would be compiled
/// without the level's instructions, and ten times as slow.
#[macro_export]
macro_rules! vector_kernel {
    ($name:ident, $body:ident, ($($argument:ident: $type:ty),* $(,)?)) => {
        mod $name {
            #[allow(clippy::wildcard_imports, reason = "the types that the arguments name")]
            use super::*;

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
            fn avx512($($argument: $type),*) {
                super::$body::<$crate::vector::avx512::Avx512>($($argument),*);
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
            fn avx2($($argument: $type),*) {
                super::$body::<$crate::vector::avx2::Avx2>($($argument),*);
            }

            /// Calls the version for a level; the best that the host has if it lacks the level.
            pub(super) fn run(level: $crate::Level, $($argument: $type),*) {
                #[cfg(target_arch = "x86_64")]
                match level.available() {
                    // SAFETY: an available level is one that the host has.
                    $crate::Level::Avx512 => return unsafe { avx512($($argument),*) },
                    // SAFETY: as above.
                    $crate::Level::Avx2 => return unsafe { avx2($($argument),*) },
                    _ => {}
                }
                super::$body::<$crate::vector::portable::Portable>($($argument),*);
            }
        }
    };
}
pub use crate::vector_kernel;

/// The operations on `i32` or `f32` lanes.
///
/// Shifts accept any count: 32 and more leave zero, or the sign.
pub trait Vector: Copy {
    /// Integer lanes.
    type Int: Copy;
    /// FP32 lanes.
    type Float: Copy;
    /// One truth value per lane.
    type Mask: Copy;
    /// Lanes of a vector.
    const LANES: usize;
    /// Whether single instructions can round down.
    const ROUNDS_DOWN: bool;

    /// The words at the start of a slice.
    fn load(words: &[u32]) -> Self::Int;
    /// Writes the lanes to the start of a slice.
    fn store(vector: Self::Int, words: &mut [u32]);
    /// The integers at the start of a slice.
    fn load_i32(words: &[i32]) -> Self::Int;
    /// The numbers at the start of a slice.
    fn load_float(words: &[f32]) -> Self::Float;
    /// The value in every lane.
    fn splat(value: i32) -> Self::Int;
    /// The number in every lane.
    fn splat_float(value: f32) -> Self::Float;

    /// `a * b + c`, rounded once.
    fn fma(a: Self::Float, b: Self::Float, c: Self::Float) -> Self::Float;
    /// `a * b + c` rounded down; only where [`Self::ROUNDS_DOWN`].
    #[inline(always)]
    fn fma_down(_a: Self::Float, _b: Self::Float, _c: Self::Float) -> Self::Float {
        unreachable!("no instruction of this level rounds down")
    }
    /// `a + b` rounded down; only where [`Self::ROUNDS_DOWN`].
    #[inline(always)]
    fn add_down(_a: Self::Float, _b: Self::Float) -> Self::Float {
        unreachable!("no instruction of this level rounds down")
    }
    /// `a * b[INDEX] + c`: one instruction where a number in memory can be an operand of all lanes.
    #[inline(always)]
    fn fma_element<const INDEX: usize, const LENGTH: usize>(
        a: Self::Float,
        b: &[f32; LENGTH],
        c: Self::Float,
    ) -> Self::Float {
        Self::fma(a, Self::splat_float(b[INDEX]), c)
    }
    /// The larger magnitude of numbers that are not NaN, without a sign; only where [`Self::ROUNDS_DOWN`].
    #[inline(always)]
    fn largest_magnitude(_a: Self::Float, _b: Self::Float) -> Self::Float {
        unreachable!("no instruction of this level compares magnitudes")
    }
    /// `a * b`.
    fn mul_float(a: Self::Float, b: Self::Float) -> Self::Float;
    /// `a + b`.
    fn add_float(a: Self::Float, b: Self::Float) -> Self::Float;
    /// `a - b`.
    fn sub_float(a: Self::Float, b: Self::Float) -> Self::Float;
    /// The bits of the numbers.
    fn to_bits(a: Self::Float) -> Self::Int;
    /// The numbers with these bits.
    fn from_bits(a: Self::Int) -> Self::Float;
    /// Exact for values below 2^24; others are not allowed.
    fn exact_float(a: Self::Int) -> Self::Float;

    /// Sum modulo 2^32.
    fn add(a: Self::Int, b: Self::Int) -> Self::Int;
    /// Difference modulo 2^32.
    fn sub(a: Self::Int, b: Self::Int) -> Self::Int;
    /// Product modulo 2^32.
    fn mul(a: Self::Int, b: Self::Int) -> Self::Int;
    /// Product of values that fit 16 bits, the second not negative.
    fn mul_small(a: Self::Int, b: Self::Int) -> Self::Int;
    /// The larger signed integer.
    fn max(a: Self::Int, b: Self::Int) -> Self::Int;
    /// The smaller unsigned integer.
    fn min_unsigned(a: Self::Int, b: Self::Int) -> Self::Int;
    /// Absolute value modulo 2^32.
    fn abs(a: Self::Int) -> Self::Int;
    /// Bits set in both.
    fn and(a: Self::Int, b: Self::Int) -> Self::Int;
    /// Bits set in either.
    fn or(a: Self::Int, b: Self::Int) -> Self::Int;
    /// Bits set in exactly one.
    fn xor(a: Self::Int, b: Self::Int) -> Self::Int;
    /// Zero bits above the highest set bit of an integer that is not negative; 32 for zero.
    fn leading_zeros(a: Self::Int) -> Self::Int;

    /// Left shift by a constant.
    fn shl<const N: u32>(a: Self::Int) -> Self::Int;
    /// Logical right shift by a constant.
    fn shr<const N: u32>(a: Self::Int) -> Self::Int;
    /// Arithmetic right shift by a constant.
    fn sar<const N: u32>(a: Self::Int) -> Self::Int;
    /// Left shift, lane by lane.
    fn shl_by(a: Self::Int, count: Self::Int) -> Self::Int;
    /// Logical right shift, lane by lane.
    fn shr_by(a: Self::Int, count: Self::Int) -> Self::Int;
    /// Arithmetic right shift, lane by lane.
    fn sar_by(a: Self::Int, count: Self::Int) -> Self::Int;

    /// `a0 b0 a1 b1 ...`, first and second half.
    fn interleave(a: Self::Int, b: Self::Int) -> [Self::Int; 2];

    /// Sums of the 16-bit halves of every lane.
    fn add_halves(a: Self::Int, b: Self::Int) -> Self::Int;
    /// Differences of the halves.
    fn sub_halves(a: Self::Int, b: Self::Int) -> Self::Int;
    /// The larger signed halves.
    fn max_halves(a: Self::Int, b: Self::Int) -> Self::Int;
    /// Low 16 bits of the products.
    fn mul_halves(a: Self::Int, b: Self::Int) -> Self::Int;
    /// Counts of 16 and more, up to 32767, leave zero.
    fn shr_halves_by(a: Self::Int, count: Self::Int) -> Self::Int;
    /// `(a + b + 1) / 2`, not signed and without overflow.
    fn average_halves(a: Self::Int, b: Self::Int) -> Self::Int;

    /// Differences of the four unsigned bytes of every lane, zero instead of negative.
    fn sub_bytes(a: Self::Int, b: Self::Int) -> Self::Int;
    /// The larger unsigned bytes.
    fn max_bytes(a: Self::Int, b: Self::Int) -> Self::Int;

    /// Lanes of equal integers.
    fn equal(a: Self::Int, b: Self::Int) -> Self::Mask;
    /// Lanes where the signed `a` is larger.
    fn greater(a: Self::Int, b: Self::Int) -> Self::Mask;
    /// Lanes where both masks are true.
    fn both(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// `yes` where the mask is true, else `no`.
    fn select(mask: Self::Mask, yes: Self::Int, no: Self::Int) -> Self::Int;
    /// `value` where the mask is true, else 0.
    fn keep(mask: Self::Mask, value: Self::Int) -> Self::Int;
}
