//! Products with the dot products of AVX-512: `VDPBF16PS` adds pairs of BF16 products to FP32 sums.
//!
//! For each sum that is two fused multiply-adds, of a pair the odd step along K first. Denormals are flushed on the way in
//! and out, roundings are to nearest even. Panels are those of AMX: a line of the left one is a row with 32 steps, a line of
//! the right one has a pair of steps for each of 16 columns.

#[allow(clippy::wildcard_imports, reason = "a dozen intrinsics of one family")]
use std::arch::x86_64::*;

use tt_cpu::stream::Ahead;

use super::{Panel, Sums};
use crate::regs::index;

/// Rows whose sums are in registers together: 16 sums hide the latency of the instruction, and each load of a pair of rows
/// of the right operand is used 8 times.
const ROWS: usize = 8;

/// Words of a line of a panel, and of the first half of the right one's lines.
const LINE: usize = 16;
const HALF: usize = 256;

/// Whether this CPU has the instruction.
pub fn available() -> bool {
    std::arch::is_x86_feature_detected!("avx512bf16") && std::arch::is_x86_feature_detected!("avx512f")
}

/// See `Session::multiply`.
#[target_feature(enable = "avx512f,avx512bf16")]
pub fn kernel(left: &[Panel], right: &[Panel], sums: &mut Sums, start: bool, mut soon: Ahead<'_>) {
    let share = soon.share(32 / ROWS * left.len());
    for first in (0..32).step_by(ROWS) {
        rows(left, right, sums, start, first, (&mut soon, share));
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn rows(
    left: &[Panel],
    right: &[Panel],
    sums: &mut Sums,
    start: bool,
    first: usize,
    (soon, share): (&mut Ahead<'_>, usize),
) {
    let mut sum = [[_mm512_setzero_ps(); 2]; ROWS];
    if !start {
        for (row, sum) in sum.iter_mut().enumerate() {
            for (half, sum) in sum.iter_mut().enumerate() {
                *sum = _mm512_castsi512_ps(load(&sums.0[index(first + row, half * LINE)..]));
            }
        }
    }
    for (left, right) in left.iter().zip(right) {
        soon.ask(share);
        // An array, so that the loop over it is unrolled and sums stay in registers.
        let left: &[[u32; LINE]; ROWS] = left.0[first * LINE..].as_chunks().0.first_chunk().expect("rows");
        let (near, far) = right.0.split_at(HALF);
        for pair in 0..LINE {
            let columns = [pairs(load(&near[pair * LINE..])), pairs(load(&far[pair * LINE..]))];
            for (sum, left) in sum.iter_mut().zip(left) {
                let left = pairs(_mm512_set1_epi32(left[pair] as i32));
                sum[0] = _mm512_dpbf16_ps(sum[0], left, columns[0]);
                sum[1] = _mm512_dpbf16_ps(sum[1], left, columns[1]);
            }
        }
    }
    for (row, sum) in sum.into_iter().enumerate() {
        for (half, sum) in sum.into_iter().enumerate() {
            let to: &mut [u32; LINE] = sums.0[index(first + row, half * LINE)..].first_chunk_mut().expect("a line");
            // SAFETY: the array is as long as the store, which takes any alignment.
            unsafe { _mm512_storeu_ps(to.as_mut_ptr().cast(), sum) };
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(words: &[u32]) -> __m512i {
    let line: &[u32; LINE] = words.first_chunk().expect("a line");
    // SAFETY: the array is as long as the load, which takes any alignment.
    unsafe { _mm512_loadu_si512(line.as_ptr().cast()) }
}

/// The same bits as pairs of BF16.
#[inline]
#[target_feature(enable = "avx512f")]
fn pairs(words: __m512i) -> __m512bh {
    // SAFETY: both are 64 bytes of which every pattern is valid.
    unsafe { std::mem::transmute(words) }
}
