//! Products on FP32 vectors: fused multiply-adds where the level has them, else a multiplication and an addition.
//!
//! A panel is 16 steps along K, each with 32 rows or columns.
use tt_cpu::stream::Ahead;
use tt_cpu::{Level, simd_kernel};

use super::{PANEL_WORDS, Panel, Sums};
use crate::regs::index;
#[cfg(target_arch = "x86_64")]
use crate::vector::{Vector, avx2::Avx2, avx512::Avx512};

const SIDE: usize = 32;

/// See `Session::multiply`. To be called only on a CPU that has the level it was chosen for.
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

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
fn avx512(left: &[Panel], right: &[Panel], sums: &mut Sums, start: bool, soon: Ahead<'_>) {
    blocked::<Avx512, 8, 2>(left, right, sums, start, soon);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
fn avx2(left: &[Panel], right: &[Panel], sums: &mut Sums, start: bool, soon: Ahead<'_>) {
    blocked::<Avx2, 4, 2>(left, right, sums, start, soon);
}

/// Blocks of `ROWS` rows by `VECTORS` vectors of columns whose sums stay in registers for all of K.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn blocked<V: Vector, const ROWS: usize, const VECTORS: usize>(
    left: &[Panel],
    right: &[Panel],
    sums: &mut Sums,
    start: bool,
    mut soon: Ahead<'_>,
) {
    let share = soon.share(SIDE / ROWS * (SIDE / VECTORS / V::LANES) * left.len());
    for first_row in (0..SIDE).step_by(ROWS) {
        for first_column in (0..SIDE).step_by(VECTORS * V::LANES) {
            let place = |row: usize, vector: usize| index(first_row + row, first_column + vector * V::LANES);
            let mut sum = [[V::splat_float(0.0); VECTORS]; ROWS];
            if !start {
                for (row, sum) in sum.iter_mut().enumerate() {
                    for (vector, sum) in sum.iter_mut().enumerate() {
                        *sum = V::from_bits(V::load(&sums.0[place(row, vector)..]));
                    }
                }
            }
            for (left, right) in left.iter().zip(right) {
                soon.ask(share);
                let steps = left.0.as_chunks::<SIDE>().0.iter().zip(right.0.as_chunks::<SIDE>().0);
                for (left, right) in steps {
                    let mut columns = [V::splat_float(0.0); VECTORS];
                    for (vector, columns) in columns.iter_mut().enumerate() {
                        *columns = V::from_bits(V::load(&right[first_column + vector * V::LANES..]));
                    }
                    for (sum, left) in sum.iter_mut().zip(&left[first_row..first_row + ROWS]) {
                        let left = V::splat_float(f32::from_bits(*left));
                        for (sum, column) in sum.iter_mut().zip(columns) {
                            *sum = V::fma(left, column, *sum);
                        }
                    }
                }
            }
            for (row, sum) in sum.into_iter().enumerate() {
                for (vector, sum) in sum.into_iter().enumerate() {
                    V::store(V::to_bits(sum), &mut sums.0[place(row, vector)..]);
                }
            }
        }
    }
}

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
