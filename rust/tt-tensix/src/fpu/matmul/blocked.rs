//! All columns of four rows at a time, `Dst` in registers across the phases of a tile.
//!
//! The rounded sum of a group of eight products comes from one FMA per product: started at `C = 1.5 * 2^23 * g`, where
//! `g` is the weight of one unit of the group's grid, every FMA rounds its product to that grid (nearest, and the nudge in
//! `SrcA`'s parts makes ties go away from zero). `numerics-performance.md` section 2 has the proof and the range
//! condition; tiles outside it take the same route with integer alignment.

use tt_cpu::Level;

use super::super::combine::lanes::combine;
use super::super::operand::Phase;
use super::super::{Dst, MathConfig};
use super::prepared::{Integers, Planes, PreparedA, PreparedB};
use crate::regs::index;
use crate::vector::Vector;
use crate::vector::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::vector::{avx2::Avx2, avx512::Avx512};

/// Rows that are computed side by side.
const ROWS: usize = 4;
/// Groups of eight products in a tile's K.
const GROUPS: usize = 4;

/// What one call computes.
#[derive(Clone, Copy)]
struct Job<'a> {
    cfg: &'a MathConfig,
    a: &'a Planes,
    b: &'a Planes,
    /// Parts as integers, if the FMA chain cannot be used.
    integers: Option<(&'a Integers, &'a Integers)>,
    /// Every group is either alive and far above the smallest exponent in every phase, or all zeros. Then neither a
    /// group nor a result can underflow.
    roomy: bool,
}

/// Adds a tile product to `dst`. `level` is one that the host has.
pub(super) fn accumulate(level: Level, cfg: &MathConfig, dst: &mut Dst, a: &PreparedA, b: &PreparedB) {
    let (a, b) = (&a.0, &b.0);
    let scale = a.scale + b.scale;
    // Parts and the grids of live groups must not be too small for FP32. With the scale of ordinary data they never are.
    let in_range = !cfg.mode().e8
        || scale == 2 * 127
        || a.smallest >= a.scale - 126 && b.smallest >= b.scale - 126 && a.smallest + b.smallest >= scale - 126;
    // A cancellation takes 23 bits at most, the phases 12 off the exponent. The chain of a dead group, which is not
    // masked then, must be a number too.
    let roomy = cfg.mode().e8 && a.smallest + b.smallest >= 127 + 12 + 25 && scale <= 276;
    if in_range && level != Level::Scalar {
        run(level, &Job { cfg, a, b, integers: None, roomy }, dst);
    } else {
        // Without an FMA instruction the chain would be slower than integers.
        let (integers_a, integers_b) = (a.integers::<true>(cfg), b.integers::<false>(cfg));
        run(level, &Job { cfg, a, b, integers: Some((&integers_a, &integers_b)), roomy: false }, dst);
    }
}

fn run(level: Level, job: &Job<'_>, dst: &mut Dst) {
    #[cfg(target_arch = "x86_64")]
    match level {
        // SAFETY: the caller has made sure of the level.
        Level::Avx512 => return unsafe { at_avx512(job, dst) },
        // SAFETY: as above.
        Level::Avx2 => return unsafe { at_avx2(job, dst) },
        _ => {}
    }
    choose::<Portable>(job, dst);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
fn at_avx512(job: &Job<'_>, dst: &mut Dst) {
    choose::<Avx512>(job, dst);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
fn at_avx2(job: &Job<'_>, dst: &mut Dst) {
    choose::<Avx2>(job, dst);
}

#[inline(always)]
fn choose<V: Vector>(job: &Job<'_>, dst: &mut Dst) {
    let mode = job.cfg.mode();
    match (mode.dst32, mode.e8, mode.wormhole, job.roomy) {
        (false, true, _, true) => body::<V, false, true, false, true>(job, dst),
        (true, true, true, true) => body::<V, true, true, true, true>(job, dst),
        (true, true, false, true) => body::<V, true, true, false, true>(job, dst),
        (false, true, _, false) => body::<V, false, true, false, false>(job, dst),
        (true, true, true, false) => body::<V, true, true, true, false>(job, dst),
        (true, true, false, false) => body::<V, true, true, false, false>(job, dst),
        (false, false, ..) => body::<V, false, false, false, false>(job, dst),
        (true, false, true, _) => body::<V, true, false, true, false>(job, dst),
        (true, false, false, _) => body::<V, true, false, false, false>(job, dst),
    }
}

#[inline(always)]
fn body<V: Vector, const DST32: bool, const E8: bool, const WORMHOLE: bool, const ROOMY: bool>(
    job: &Job<'_>,
    dst: &mut Dst,
) {
    for block in 0..32 / ROWS {
        for pair in 0..16 / V::LANES {
            let (row, columns) = (block * ROWS, pair * 2 * V::LANES);
            let narrow = group_maxima::<V, E8>(job, row, columns);
            for side in 0..2 {
                let column = columns + side * V::LANES;
                let mut largest = [[V::splat(0); ROWS]; GROUPS];
                for group in 0..GROUPS {
                    for r in 0..ROWS {
                        largest[group][r] = V::widen(narrow[group][r])[side];
                    }
                }
                rows::<V, DST32, E8, WORMHOLE, ROOMY>(job, row, column, &largest, dst);
            }
        }
    }
}

/// All phases of a vector's width of columns in [`ROWS`] rows.
#[inline(always)]
fn rows<V: Vector, const DST32: bool, const E8: bool, const WORMHOLE: bool, const ROOMY: bool>(
    job: &Job<'_>,
    row: usize,
    column: usize,
    largest: &[[V::Int; ROWS]; GROUPS],
    dst: &mut Dst,
) {
    let mut sums = [V::splat(0); ROWS];
    for (r, sum) in sums.iter_mut().enumerate() {
        *sum = V::load(&dst[index(row + r, column)..]);
    }
    for number in 0..job.cfg.fidelity.phases() {
        let phase = Phase::new(job.cfg.mode(), number);
        for half in [0, 2] {
            let first = group_sums::<V>(job, number, half, row, column, largest[half]);
            let second = group_sums::<V>(job, number, half + 1, row, column, largest[half + 1]);
            for r in 0..ROWS {
                let terms = [(first[r], largest[half][r]), (second[r], largest[half + 1][r])];
                sums[r] = combine::<V, DST32, E8, WORMHOLE, ROOMY>(phase.adjust, terms, sums[r]);
            }
        }
    }
    for r in 0..ROWS {
        V::store(sums[r], &mut dst[index(row + r, column)..]);
    }
}

/// The largest sum of exponents in every group, which all phases share, for two vectors of columns. Groups without a
/// live product hold the value below which a group is dead (8-bit exponents), or 0, with which zeros take part (5-bit
/// exponents).
#[inline(always)]
fn group_maxima<V: Vector, const E8: bool>(job: &Job<'_>, row: usize, columns: usize) -> [[V::Halves; ROWS]; GROUPS] {
    let floor: i32 = if E8 { 127 << 16 | 127 } else { 0 };
    let mut largest = [[V::splat_pair(floor); ROWS]; GROUPS];
    for (group, largest) in largest.iter_mut().enumerate() {
        for k in group * 8..group * 8 + 8 {
            let a = V::load_halves(&job.a.exponents[k * 32 + columns..]);
            for (r, largest) in largest.iter_mut().enumerate() {
                let b = V::splat_pair(job.b.exponent_pairs[(row + r) * 32 + k]);
                *largest = V::max_halves(*largest, V::add_halves(a, b));
            }
        }
    }
    largest
}

/// The sums of a group's products on the grid of its largest one, for [`ROWS`] rows.
#[inline(always)]
fn group_sums<V: Vector>(
    job: &Job<'_>,
    phase: u32,
    group: usize,
    row: usize,
    column: usize,
    largest: [V::Int; ROWS],
) -> [V::Int; ROWS] {
    let (number_a, number_b) = ((phase & 1) as usize, (phase >> 1) as usize);
    if job.a.empty[number_a] || job.b.empty[number_b] {
        // Not a step to leave out: the group's exponent can still round Dst.
        return [V::splat(0); ROWS];
    }
    if let Some((a, b)) = job.integers {
        return integer_sums::<V>((a, number_a), (b, number_b), group, row, column, largest);
    }
    let (parts_a, parts_b) = (&job.a.parts[number_a], &job.b.parts[number_b]);
    // The FP32 word of 1.5 * 2^23 * 2^(largest - scales).
    let offset = V::splat(((150 - job.a.scale - job.b.scale) << 23) + 0x40_0000);
    let mut start = largest;
    let mut chain = [V::splat_float(0.0); ROWS];
    for r in 0..ROWS {
        start[r] = V::add(V::shl::<23>(largest[r]), offset);
        chain[r] = V::from_bits(start[r]);
    }
    for k in group * 8..group * 8 + 8 {
        let a = V::load_float(&parts_a[k * 32 + column..]);
        for r in 0..ROWS {
            chain[r] = V::fma(a, V::splat_float(parts_b[(row + r) * 32 + k]), chain[r]);
        }
    }
    for r in 0..ROWS {
        start[r] = V::sub(V::to_bits(chain[r]), start[r]);
    }
    start
}

/// [`group_sums`] by aligning every product, whatever its exponent.
#[inline(always)]
fn integer_sums<V: Vector>(
    (a, number_a): (&Integers, usize),
    (b, number_b): (&Integers, usize),
    group: usize,
    row: usize,
    column: usize,
    largest: [V::Int; ROWS],
) -> [V::Int; ROWS] {
    let mut sums = [V::splat(0); ROWS];
    for k in group * 8..group * 8 + 8 {
        let (at, one) = (k * 32 + column, V::splat(1));
        let (part, exponent) = (V::load_i32(&a.parts[number_a][at..]), V::load_i32(&a.exponents[at..]));
        for (r, sum) in sums.iter_mut().enumerate() {
            let at = (row + r) * 32 + k;
            let shift = V::sub(largest[r], V::add(exponent, V::splat(b.exponents[at])));
            let product = V::mul(part, V::splat(b.parts[number_b][at]));
            let sign = V::sar::<31>(product);
            let magnitude = V::sub(V::xor(product, sign), sign);
            let aligned = V::shr::<1>(V::add(V::shr_by(V::shl::<1>(magnitude), shift), one));
            *sum = V::add(*sum, V::sub(V::xor(aligned, sign), sign));
        }
    }
    sums
}
