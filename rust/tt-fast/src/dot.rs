//! Products with the dot products of AVX-512.
//!
//! `VDPBF16PS` adds pairs of BF16 products to FP32 sums.
//!
//! For each sum that is two fused multiply-adds, of a pair the odd step along K first. Denormals are flushed on the way
//! in and out, roundings are to nearest even. Panels are those of AMX: a line of the left one is a row with 32 steps, a
//! line of the right one has a pair of steps for each of 16 columns.
//!
//! Pages of BF16 need no packing: what would be done once for a panel is done each time beside the dot products, in
//! units of the CPU that have nothing to do meanwhile. Where two dot products start in each cycle, no unit has nothing
//! to do: pages are packed beside the first product, and the others read panels.

#[allow(clippy::wildcard_imports, reason = "a dozen intrinsics of one family")]
use std::arch::x86_64::*;
use std::sync::OnceLock;

use tt_cpu::stream::Ahead;

use super::pack_avx512::{self, canonical, left_rows, pair_rows, upper_halves};
use super::{Bf16Page, Masks, Panel, Sums};
use tt_tensix::regs::index;
use tt_tensix::unpack::block_float::permutes::load;

/// Rows whose sums are in registers together: 16 sums hide the latency of the instruction, and each load of a pair of
/// rows of the right operand is used 8 times.
const ROWS: usize = 8;

/// Words and bytes of a vector.
const WORDS: usize = 16;
const LINE: usize = 64;

/// Sixteen steps along K: of a row of the left operand, and, two in each line, of 16 columns of the right one.
type Row = [[u8; 4]; 8];
type Columns = [[u8; LINE]; 8];

/// Returns true if this CPU has the instruction.
pub fn available() -> bool {
    std::arch::is_x86_feature_detected!("avx512bf16") && std::arch::is_x86_feature_detected!("avx512bw")
}

/// Returns true if this CPU starts two per cycle.
///
/// AMD's do from family 26 (Zen 5) on; no other flag tells.
pub fn starts_two() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        #[allow(unused_unsafe, reason = "later compilers call it safe")]
        // SAFETY: every CPU of the architecture has the instruction.
        let [vendor, version] = [0, 1].map(|leaf| unsafe { __cpuid(leaf) });
        let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
        let family = (version.eax >> 8 & 15) + (version.eax >> 20 & 255);
        name.as_flattened() == b"AuthenticAMD" && family >= 26
    })
}

/// Tiles of an operand along K.
pub trait Tile {
    /// The bits that are kept of a pair of numbers, if it is not masked yet: as a left or as a right operand.
    const CUTS: bool;

    /// Sixteen steps along K of some rows, the first of them a multiple of their number.
    fn rows(&self, first: usize, half: usize) -> [&Row; ROWS];

    /// Sixteen steps along K of columns 0 to 15, and of the others: two steps in each line.
    fn columns(&self, half: usize) -> [&Columns; 2];
}

impl Tile for Panel {
    const CUTS: bool = false;

    #[inline]
    fn rows(&self, first: usize, half: usize) -> [&Row; ROWS] {
        let halves = bytemuck::must_cast_ref::<_, [Row; 64]>(&self.0);
        let rows: &[_; 2 * ROWS] = halves[2 * first..].first_chunk().expect("rows");
        std::array::from_fn(|row| &rows[2 * row + half])
    }

    #[inline]
    fn columns(&self, half: usize) -> [&Columns; 2] {
        let [a, b, c, d] = bytemuck::must_cast_ref::<_, [Columns; 4]>(&self.0);
        if half == 0 { [a, c] } else { [b, d] }
    }
}

/// A page: faces 0 and 1 have the first 16 steps of a right operand, faces 0 and 2 those of a left one.
impl Tile for &[u8] {
    const CUTS: bool = true;

    #[inline]
    fn rows(&self, first: usize, half: usize) -> [&Row; ROWS] {
        let page: &Bf16Page = self.first_chunk().expect("a tile");
        let face_rows: &[Row; 64] = bytemuck::must_cast_ref(page);
        let rows: &[_; ROWS] = face_rows[first / 16 * 32 + half * 16 + first % 16..].first_chunk().expect("rows");
        std::array::from_fn(|row| &rows[row])
    }

    #[inline]
    fn columns(&self, half: usize) -> [&Columns; 2] {
        let page: &Bf16Page = self.first_chunk().expect("a tile");
        let [a, b, c, d] = bytemuck::must_cast_ref::<_, [Columns; 4]>(page);
        if half == 0 { [a, b] } else { [c, d] }
    }
}

/// The destination of sums.
///
/// Memory, or, once they are complete, a page, straight from the registers.
pub enum End<'a> {
    Sums,
    Page(&'a mut Bf16Page),
}

/// Sums of some rows at a time: `$add` adds to them, for rows from `$first` on. Not a function: of an array that
/// another one sees, the compiler keeps a copy in memory all the time.
macro_rules! each_rows {
    (($sums:expr, $start:expr, $end:expr), |$first:ident, $sum:ident| $add:block) => {
        for $first in (0..32).step_by(ROWS) {
            let mut $sum = [[_mm512_setzero_ps(); 2]; ROWS];
            if !$start {
                for (row, sum) in $sum.iter_mut().enumerate() {
                    for (half, sum) in sum.iter_mut().enumerate() {
                        let words: &[u32; WORDS] =
                            $sums.0[index($first + row, half * WORDS)..].first_chunk().expect("a line");
                        *sum = _mm512_castsi512_ps(load(bytemuck::must_cast_ref(words)));
                    }
                }
            }
            $add
            match &mut $end {
                End::Sums => {
                    for (row, sum) in $sum.into_iter().enumerate() {
                        for (half, sum) in sum.into_iter().enumerate() {
                            let words = &mut $sums.0[index($first + row, half * WORDS)..];
                            let words: &mut [u32; WORDS] = words.first_chunk_mut().expect("a line");
                            store(bytemuck::must_cast_mut(words), _mm512_castps_si512(sum));
                        }
                    }
                }
                End::Page(page) => {
                    let lines: &mut [[u8; LINE]; 32] = bytemuck::must_cast_mut(*page);
                    // No loop: of an array with a number for an index, too, the compiler keeps a copy in memory.
                    pack(lines, $first, $sum[0], $sum[1]);
                    pack(lines, $first + 2, $sum[2], $sum[3]);
                    pack(lines, $first + 4, $sum[4], $sum[5]);
                    pack(lines, $first + 6, $sum[6], $sum[7]);
                }
            }
        }
    };
}

/// See `Session::multiply`. Pages are masked.
///
/// # Panics
/// If the operands have different numbers of tiles, or none.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
pub fn kernel<T: Tile>(
    (left, right): (&[T], &[T]),
    masks: &Masks,
    sums: &mut Sums,
    start: bool,
    mut soon: Ahead<'_>,
    mut end: End<'_>,
) {
    assert!(!left.is_empty() && left.len() == right.len(), "steps along K");
    let masks = (load(bytemuck::must_cast_ref(&masks.left)), load(bytemuck::must_cast_ref(&masks.right)));
    let share = soon.share(32 / ROWS * left.len());
    each_rows!((sums, start, end), |first, sum| {
        for (left, right) in left.iter().zip(right) {
            soon.ask(share);
            for half in 0..2 {
                add::<T>(left.rows(first, half), right.columns(half), masks, &mut sum);
            }
        }
    });
}

/// The same for panels packed just before they are multiplied.
///
/// From pages of either operand; from none, if they have been packed before.
///
/// # Panics
/// If the operands have different numbers of panels, or none, or an operand has pages, but not as many.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
pub fn kernel_that_packs(
    (left, right): (&mut [Panel], &mut [Panel]),
    (left_pages, right_pages): (&[&[u8]], &[&[u8]]),
    masks: &Masks,
    sums: &mut Sums,
    start: bool,
    mut soon: Ahead<'_>,
    mut end: End<'_>,
) {
    assert!(!left.is_empty() && left.len() == right.len(), "steps along K");
    assert!([left_pages, right_pages].iter().all(|pages| [0, left.len()].contains(&pages.len())), "pages of panels");
    let [left_mask, right_mask] = [masks.left[0], masks.right[0]];
    // Panels are masked already.
    let unmasked = (_mm512_setzero_si512(), _mm512_setzero_si512());
    let share = soon.share(32 / ROWS * left.len());
    each_rows!((sums, start, end), |first, sum| {
        for (step, (left, right)) in left.iter_mut().zip(&mut *right).enumerate() {
            soon.ask(share);
            if let Some(page) = left_pages.get(step) {
                left_rows::<ROWS>(page.first_chunk().expect("a tile"), left_mask, left, first);
            }
            if first == 0
                && let Some(page) = right_pages.get(step)
            {
                pack_avx512::right(page.first_chunk().expect("a tile"), right_mask, right, &mut ());
            }
            for half in 0..2 {
                add::<Panel>(left.rows(first, half), right.columns(half), unmasked, &mut sum);
            }
        }
    });
}

/// Packs two rows of sums.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn pack(lines: &mut [[u8; LINE]; 32], row: usize, even: [__m512; 2], odd: [__m512; 2]) {
    for half in 0..2 {
        let (even, odd) = (canonical(_mm512_castps_si512(even[half])), canonical(_mm512_castps_si512(odd[half])));
        store(&mut lines[index(row, half * WORDS) / 32], upper_halves(even, odd));
    }
}

/// Adds the products of 16 steps along K.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
fn add<T: Tile>(
    rows: [&Row; ROWS],
    columns: [&Columns; 2],
    (left, right): (__m512i, __m512i),
    sum: &mut [[__m512; 2]; ROWS],
) {
    let [near, far] = columns;
    for (pair, (near, far)) in near.iter().zip(far).enumerate() {
        let (mut near, mut far) = (load(near), load(far));
        if T::CUTS {
            near = _mm512_and_si512(pair_rows(near), right);
            far = _mm512_and_si512(pair_rows(far), right);
        }
        for (sum, row) in sum.iter_mut().zip(rows) {
            let mut row = _mm512_set1_epi32(i32::from_ne_bytes(row[pair]));
            if T::CUTS {
                row = _mm512_and_si512(row, left);
            }
            sum[0] = _mm512_dpbf16_ps(sum[0], pairs(row), pairs(near));
            sum[1] = _mm512_dpbf16_ps(sum[1], pairs(row), pairs(far));
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(line: &mut [u8; LINE], words: __m512i) {
    // SAFETY: the array is as long as the store, which takes any alignment.
    unsafe { _mm512_storeu_si512(line.as_mut_ptr().cast(), words) };
}

/// The same bits as pairs of BF16.
#[inline]
#[target_feature(enable = "avx512f")]
pub fn pairs(words: __m512i) -> __m512bh {
    // SAFETY: both are 64 bytes of which every pattern is valid.
    unsafe { std::mem::transmute(words) }
}
