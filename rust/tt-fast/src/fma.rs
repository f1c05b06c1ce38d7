//! Products on FP32 vectors.
//!
//! Fused multiply-adds where the level has them, else a multiplication and an addition.
//!
//! A panel is 16 steps along K, each with 32 rows or columns.
use tt_cpu::stream::Ahead;
use tt_cpu::{Level, simd_kernel};

use super::{PANEL_WORDS, Panel, Sums};
use tt_tensix::regs::index;

const SIDE: usize = 32;

/// See `Session::multiply`.
///
/// To be called only on a CPU that has the level it was chosen for.
pub type Kernel = unsafe fn(&[Panel], &[Panel], &mut Sums, bool, Ahead<'_>);

/// The version for a level.
pub fn at(level: Level) -> Kernel {
    match level.available() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => avx512,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => avx2,
        level => plain::at(level),
    }
}

/// Blocks of `rows` rows by two vectors of columns whose sums stay in registers for all of K.
#[cfg(target_arch = "x86_64")]
macro_rules! blocked {
    ($name:ident, $features:literal, $rows:literal x $lanes:literal, $zero:ident, $splat:ident, $load:ident, $store:ident, $fma:ident) => {
        #[target_feature(enable = $features)]
        fn $name(left: &[Panel], right: &[Panel], sums: &mut Sums, start: bool, mut soon: Ahead<'_>) {
            use std::arch::x86_64::{$fma, $load, $splat, $store, $zero};
            // SAFETY: the array is as long as the load, which takes any alignment.
            let load = |words: &[u32; $lanes]| unsafe { $load(words.as_ptr().cast()) };
            let share = soon.share(SIDE / $rows * (SIDE / 2 / $lanes) * left.len());
            for first_row in (0..SIDE).step_by($rows) {
                for first_column in (0..SIDE).step_by(2 * $lanes) {
                    let place = |row: usize, vector: usize| index(first_row + row, first_column + vector * $lanes);
                    let mut sum = [[$zero(); 2]; $rows];
                    if !start {
                        for (row, sum) in sum.iter_mut().enumerate() {
                            for (vector, sum) in sum.iter_mut().enumerate() {
                                *sum = load(sums.0[place(row, vector)..].first_chunk().expect("a vector"));
                            }
                        }
                    }
                    for (left, right) in left.iter().zip(right) {
                        soon.ask(share);
                        let steps = left.0.as_chunks::<SIDE>().0.iter().zip(right.0.as_chunks::<SIDE>().0);
                        for (left, right) in steps {
                            let mut columns = [$zero(); 2];
                            for (vector, columns) in columns.iter_mut().enumerate() {
                                let from = first_column + vector * $lanes;
                                *columns = load(right[from..].first_chunk().expect("a vector"));
                            }
                            for (sum, left) in sum.iter_mut().zip(&left[first_row..first_row + $rows]) {
                                let left = $splat(f32::from_bits(*left));
                                for (sum, column) in sum.iter_mut().zip(columns) {
                                    *sum = $fma(left, column, *sum);
                                }
                            }
                        }
                    }
                    for (row, sum) in sum.into_iter().enumerate() {
                        for (vector, sum) in sum.into_iter().enumerate() {
                            let to: &mut [u32; $lanes] =
                                sums.0[place(row, vector)..].first_chunk_mut().expect("a vector");
                            // SAFETY: the array is as long as the store, which takes any alignment.
                            unsafe { $store(to.as_mut_ptr().cast(), sum) };
                        }
                    }
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
blocked!(
    avx512, "avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt", 8 x 16,
    _mm512_setzero_ps, _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_fmadd_ps
);
#[cfg(target_arch = "x86_64")]
blocked!(
    avx2, "avx2,fma,bmi1,bmi2,lzcnt", 4 x 8,
    _mm256_setzero_ps, _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_fmadd_ps
);

/// Any host: a row of sums at a time.
#[inline(always)]
fn plain_body(left: &[Panel], right: &[Panel], sums: &mut Sums, start: bool, mut soon: Ahead<'_>) {
    let share = soon.share(SIDE);
    for row in 0..SIDE {
        soon.ask(share);
        let mut sum = [0.0; SIDE];
        if !start {
            for (column, sum) in sum.iter_mut().enumerate() {
                *sum = f32::from_bits(sums.0[index(row, column)]);
            }
        }
        for (left, right) in left.iter().zip(right) {
            for step in 0..PANEL_WORDS / SIDE {
                let left = f32::from_bits(left.0[step * SIDE + row]);
                for (sum, right) in sum.iter_mut().zip(&right.0[step * SIDE..(step + 1) * SIDE]) {
                    *sum += left * f32::from_bits(*right);
                }
            }
        }
        for (column, sum) in sum.into_iter().enumerate() {
            sums.0[index(row, column)] = sum.to_bits();
        }
    }
}

simd_kernel!(plain, super::plain_body, (left: &[Panel], right: &[Panel], sums: &mut Sums, start: bool, soon: Ahead<'_>));
