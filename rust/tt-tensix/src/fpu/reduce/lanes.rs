//! Reductions along columns, a vector of columns at a time. Rows are the columns of the transposed tile.

use tt_cpu::Level;
use tt_formats::DataFormat;

use super::super::combine::lanes::combine;
use super::super::moves::{add_zero, move_datum};
use super::super::mvmul::STEP;
use super::super::operand::{Operand, Phase, mask};
use super::super::{Dst, MathConfig, Src};
use super::{PoolOp, ReduceDim};
use crate::regs::{FACE_DATUMS, FACE_SIDE, TILE_DATUMS, index};
use crate::vector::{Vector, transpose, vector_kernel};

/// The sixteen factors of a step.
#[derive(Clone, Copy)]
struct Factors {
    /// Far below zero for a zero.
    exponents: [i32; STEP],
    /// Mantissa parts of a factor in this register, without signs.
    parts: [[i32; STEP]; 2],
    /// Signs at the place where Src words have theirs.
    signs: [i32; STEP],
    /// Parts that are zero in every factor.
    empty: [bool; 2],
}

impl Factors {
    const NONE: Self = Self { exponents: [0; STEP], parts: [[0; STEP]; 2], signs: [0; STEP], empty: [true; 2] };

    /// Row 0 of a face of a masked scaler tile. In `SrcA` the parts are of 5 bits, in `SrcB` of 7.
    fn new(cfg: &MathConfig, in_src_a: bool, words: &[u32], mask: u32) -> Self {
        let operands: [Operand; STEP] = std::array::from_fn(|k| Operand::decode(words[k] & mask, cfg.mode().e8));
        let parts = [0, 1].map(|number| {
            let phase = Phase::new(cfg.mode(), if in_src_a { number } else { 2 * number });
            operands.map(|x| match (x.exponent, in_src_a) {
                (0, _) => 0,
                (_, true) => phase.part_a(x.significand) as i32,
                (_, false) => phase.part_b(x.significand) as i32,
            })
        });
        Self {
            exponents: operands.map(|x| if x.exponent == 0 { -8192 } else { x.exponent }),
            parts,
            signs: operands.map(|x| (x.sign << 18) as i32),
            empty: parts.map(|part| part == [0; STEP]),
        }
    }
}

/// What one call computes: 32 results from the columns of the tile `data`.
struct Job<'a> {
    cfg: &'a MathConfig,
    /// Products with `factors`, in this register; otherwise the largest words.
    sum: bool,
    factors_in_src_a: bool,
    /// All phases of a face come before the next face, as with the pooling instructions.
    face_by_face: bool,
    /// For the left and the right half of the columns: the factors of the upper and of the lower face.
    factors: [[Factors; 2]; 2],
    mask: u32,
    data: &'a Src,
}

type Results = [u32; 2 * FACE_SIDE];

/// [`super::reduce_at`] along rows or columns.
pub(super) fn reduce(
    level: Level,
    cfg: &MathConfig,
    scaler_format: DataFormat,
    (pool, dim): (PoolOp, ReduceDim),
    dst: &mut Dst,
    data: &Src,
    scaler: &Src,
) {
    let rows = dim == ReduceDim::Row;
    let mut transposed = [0; TILE_DATUMS];
    let data = if rows {
        transpose::tile(level, data, &mut transposed);
        &transposed
    } else {
        data
    };
    let row_0 = |face: usize| &scaler[face * FACE_DATUMS..][..STEP];
    let sum = pool == PoolOp::Sum;
    let first = if sum { Factors::new(cfg, false, row_0(0), mask(scaler_format)) } else { Factors::NONE };
    // The faces of a scaler tile are alike as a rule.
    let factors = |face: usize| {
        if sum && row_0(face) != row_0(0) { Factors::new(cfg, false, row_0(face), mask(scaler_format)) } else { first }
    };
    // Faces 1 and 2 have changed places in the transposed tile, the factors have not.
    let faces = if rows { [[0, 1], [2, 3]] } else { [[0, 2], [1, 3]] };
    let job = Job {
        cfg,
        sum,
        factors_in_src_a: false,
        face_by_face: true,
        factors: faces.map(|pair| pair.map(factors)),
        mask: mask(cfg.alu),
        data,
    };
    let place = |i: usize| if rows { index(i, 0) } else { index(0, i) };
    let mut results: Results = std::array::from_fn(|i| dst[place(i)]);
    columns_kernel::run(level, &job, &mut results);
    for (i, result) in results.into_iter().enumerate() {
        // The row of results becomes a column on a trip through SrcB, whose format cuts too.
        let moved = |word| add_zero(cfg.mode(), move_datum(cfg, word) & mask(scaler_format));
        dst[place(i)] = if rows { moved(result) } else { result };
    }
}

/// [`super::row_sum_at`].
pub(super) fn row_sum(level: Level, cfg: &MathConfig, dst: &mut Dst, data: &Src, scaler: &Src) {
    let mut transposed = [0; TILE_DATUMS];
    transpose::tile(level, data, &mut transposed);
    let row_0 = [0, 1].map(|half| &scaler[half * FACE_DATUMS..][..STEP]);
    let first = Factors::new(cfg, true, row_0[0], mask(cfg.alu));
    let second = if row_0[1] == row_0[0] { first } else { Factors::new(cfg, true, row_0[1], mask(cfg.alu)) };
    let factors = [first, second];
    let job = Job {
        cfg,
        sum: true,
        factors_in_src_a: true,
        face_by_face: false,
        factors: [factors; 2],
        mask: u32::MAX,
        data: &transposed,
    };
    let mut results: Results = std::array::from_fn(|row| dst[index(row, 0)]);
    columns_kernel::run(level, &job, &mut results);
    for (row, result) in results.into_iter().enumerate() {
        dst[index(row, 0)] = result;
    }
}

vector_kernel!(columns_kernel, columns_body, (job: &Job<'_>, results: &mut Results));

#[inline(always)]
fn columns_body<V: Vector>(job: &Job<'_>, results: &mut Results) {
    if !job.sum {
        return largest::<V>(job, results);
    }
    let mode = job.cfg.mode();
    match (mode.dst32, mode.e8, mode.wormhole) {
        (false, true, _) => sums::<V, false, true, false>(job, results),
        (false, false, _) => sums::<V, false, false, false>(job, results),
        (true, true, true) => sums::<V, true, true, true>(job, results),
        (true, true, false) => sums::<V, true, true, false>(job, results),
        (true, false, true) => sums::<V, true, false, true>(job, results),
        (true, false, false) => sums::<V, true, false, false>(job, results),
    }
}

/// The two faces below each other that hold the columns from `column` on, from the first of these columns on.
#[inline(always)]
fn stack(data: &Src, column: usize) -> [&[u32]; 2] {
    let face = column / FACE_SIDE;
    [face, face + 2].map(|face| &data[face * FACE_DATUMS + column % FACE_SIDE..])
}

#[inline(always)]
fn sums<V: Vector, const DST32: bool, const E8: bool, const WORMHOLE: bool>(job: &Job<'_>, results: &mut Results) {
    let phases = job.cfg.fidelity.phases() as usize;
    for column in (0..2 * FACE_SIDE).step_by(V::LANES) {
        let factors = &job.factors[column / FACE_SIDE];
        let stack = stack(job.data, column);
        let mut largest = [[V::splat(0); 2]; 2];
        for face in 0..2 {
            for group in 0..2 {
                let data = &stack[face][group * 8 * FACE_SIDE..];
                largest[face][group] = group_largest::<V, E8>(job, data, &factors[face].exponents[group * 8..]);
            }
        }
        let mut sum = V::load(&results[column..]);
        for step in 0..2 * phases {
            let (face, number) = if job.face_by_face { (step / phases, step % phases) } else { (step % 2, step / 2) };
            let mut terms = [(V::splat(0), V::splat(0)); 2];
            for (group, term) in terms.iter_mut().enumerate() {
                let (data, largest) = (&stack[face][group * 8 * FACE_SIDE..], largest[face][group]);
                *term = (group_sum::<V, E8>(job, number, data, &factors[face], group * 8, largest), largest);
            }
            let adjust = Phase::new(job.cfg.mode(), number as u32).adjust;
            sum = combine::<V, DST32, E8, WORMHOLE>(adjust, terms, sum);
        }
        V::store(sum, &mut results[column..]);
    }
}

/// Exponents of the products of a row of data and a factor.
#[inline(always)]
fn exponents<V: Vector, const E8: bool>(words: V::Int, factor: i32) -> V::Int {
    let exponent = V::and(V::shr::<10>(words), V::splat(if E8 { 255 } else { 31 }));
    let live = V::greater(exponent, V::splat(0));
    V::add(V::select(live, exponent, V::splat(-8192)), V::splat(factor))
}

/// The largest exponent of a group of eight products; without a live one, the value with which zeros take part or below
/// which a group is dead.
#[inline(always)]
fn group_largest<V: Vector, const E8: bool>(job: &Job<'_>, data: &[u32], factors: &[i32]) -> V::Int {
    let mut largest = V::splat(if E8 { 127 } else { 0 });
    for k in 0..8 {
        let words = V::and(V::load(&data[k * FACE_SIDE..]), V::splat(job.mask as i32));
        largest = V::max(largest, exponents::<V, E8>(words, factors[k]));
    }
    largest
}

/// The sum of a group's products on the grid of its largest one.
#[inline(always)]
fn group_sum<V: Vector, const E8: bool>(
    job: &Job<'_>,
    number: usize,
    data: &[u32],
    factors: &Factors,
    first: usize,
    largest: V::Int,
) -> V::Int {
    let (number_a, number_b) = (number & 1, number >> 1);
    let (of_factor, of_data) = if job.factors_in_src_a { (number_a, number_b) } else { (number_b, number_a) };
    let mut sum = V::splat(0);
    if factors.empty[of_factor] {
        // Not a step to leave out: the group's exponent can still round Dst.
        return sum;
    }
    for k in 0..8 {
        let words = V::and(V::load(&data[k * FACE_SIDE..]), V::splat(job.mask as i32));
        let part = match (job.factors_in_src_a, of_data) {
            (true, 0) => V::or(V::and(V::shr::<4>(words), V::splat(63)), V::splat(64)),
            (true, _) => V::shl::<3>(V::and(words, V::splat(15))),
            (false, 0) => V::or(V::and(V::shr::<6>(words), V::splat(15)), V::splat(16)),
            (false, _) => V::and(V::shr::<1>(words), V::splat(31)),
        };
        let product = V::mul_small(part, V::splat(factors.parts[of_factor][first + k]));
        // The product of a zero is shifted out.
        let shift = V::sub(largest, exponents::<V, E8>(words, factors.exponents[first + k]));
        let aligned = V::shr::<1>(V::add(V::shr_by(V::shl::<1>(product), shift), V::splat(1)));
        let sign = V::sar::<31>(V::shl::<13>(V::xor(words, V::splat(factors.signs[first + k]))));
        sum = V::add(sum, V::sub(V::xor(aligned, sign), sign));
    }
    sum
}

/// As integers, words are in order once the bits below the sign of negative ones are inverted; and back again.
#[inline(always)]
fn order<V: Vector>(words: V::Int) -> V::Int {
    V::xor(words, V::and(V::sar::<31>(words), V::splat(i32::MAX)))
}

/// Largest words in GMPOOL's order.
#[inline(always)]
fn largest<V: Vector>(job: &Job<'_>, results: &mut Results) {
    let start_mask = V::splat(if job.cfg.mode().dst32 { -1 << 13 } else { -1 });
    let exponent_mask = V::splat(if job.cfg.mode().e8 { 255 << 23 } else { 31 << 23 });
    for column in (0..2 * FACE_SIDE).step_by(V::LANES) {
        let mut largest = order::<V>(V::and(V::load(&results[column..]), start_mask));
        for face in stack(job.data, column) {
            for k in 0..FACE_SIDE {
                let words = V::and(V::load(&face[k * FACE_SIDE..]), V::splat(job.mask as i32));
                let words = V::shl::<13>(words);
                let live = V::greater(V::and(words, exponent_mask), V::splat(0));
                largest = V::max(largest, order::<V>(V::keep(live, words)));
            }
        }
        V::store(order::<V>(largest), &mut results[column..]);
    }
}
