//! Reductions along columns, a vector of columns at a time.
//!
//! Rows are the columns of the transposed tile.

use crate::combine::Rules;
use tt_cpu::Level;
use tt_formats::DataFormat;

use super::super::combine::lanes::{by_mode, combine};
use super::super::matmul::chain::{EXPONENT, HALF};
use super::super::moves::{add_zero, move_datum};
use super::super::mvmul::STEP;
use super::super::operand::{Operand, Phase, mask};
use super::super::{Dst, MathConfig, Src};
use super::{PoolOp, ReduceDim};
use tt_cpu::vector::{Vector, vector_kernel};
use tt_tensix::regs::{FACE_DATUMS, FACE_SIDE, TILE_DATUMS, index};
use tt_tensix::transpose;

/// Exponents with which parts, products and sums are normal FP32 numbers, or exact in a multiply-add.
const ORDINARY: std::ops::RangeInclusive<i32> = 24..=187;
/// Makes ties of the rounding of products go away from zero and moves nothing else across one half, as products are of
/// 12 bits. With it a part of 7 bits has 24.
const NUDGE: f32 = 1.0 + 1.0 / 131_072.0;

/// The sixteen factors of a step.
#[derive(Clone, Copy)]
pub(super) struct Factors {
    /// Far below zero for a zero.
    exponents: [i32; STEP],
    /// Mantissa parts of a factor in this register, without signs.
    parts: [[i32; STEP]; 2],
    /// Signs at the place where Src words have theirs.
    signs: [i32; STEP],
    /// Parts that are zero in every factor.
    empty: [bool; 2],
    /// The parts as FP32 numbers, for either part of the data: see [`chained_sums`]. Set if `ordinary`.
    scaled: [[[f32; STEP]; 2]; 2],
    /// All factors are [`ORDINARY`].
    pub(super) ordinary: bool,
    /// All factors are the same.
    uniform: bool,
}

impl Factors {
    const NONE: Self = Self {
        exponents: [0; STEP],
        parts: [[0; STEP]; 2],
        signs: [0; STEP],
        empty: [true; 2],
        scaled: [[[0.0; STEP]; 2]; 2],
        ordinary: false,
        uniform: false,
    };

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
        let ordinary = cfg.mode().e8 && operands.iter().all(|x| ORDINARY.contains(&x.exponent));
        let mut scaled = Self::NONE.scaled;
        if ordinary {
            // Bits behind the point in the parts of the data, which lie in the other register.
            let behind = if in_src_a { [6, 13] } else { [4, 9] };
            for (number, scaled) in scaled.iter_mut().enumerate() {
                for (scaled, behind) in scaled.iter_mut().zip(behind) {
                    *scaled = std::array::from_fn(|k| {
                        let unit = f32::from_bits(((operands[k].exponent - 150 + behind + 127) << 23) as u32);
                        let part = parts[number][k] as f32 * NUDGE * unit;
                        if operands[k].sign == 1 { -part } else { part }
                    });
                }
            }
        }
        Self {
            exponents: operands.map(|x| if x.exponent == 0 { -8192 } else { x.exponent }),
            parts,
            scaled,
            ordinary,
            uniform: words.iter().all(|word| (word ^ words[0]) & mask == 0),
            signs: operands.map(|x| (x.sign << 18) as i32),
            empty: parts.map(|part| part == [0; STEP]),
        }
    }

    /// Whether the exponent of a product with an [`ORDINARY`] datum is such that the sum of a group in an empty 32-bit
    /// `Dst` is exact: at least 18, so that a unit of the third phase is a normal number, and far from the largest.
    pub(super) fn is_short(&self) -> bool {
        self.ordinary && self.exponents.iter().all(|exponent| (121..=189).contains(exponent))
    }
}

/// A reduction with its factors decoded: chosen once, applied to many tiles.
///
/// The 32 results of a tile come from the columns of the tile, or of the transposed one.
pub struct Reduction {
    pub(super) cfg: MathConfig,
    /// Products with `factors`, in this register; otherwise the largest words.
    pub(super) sum: bool,
    factors_in_src_a: bool,
    /// All phases of a face come before the next face, as with the pooling instructions.
    face_by_face: bool,
    /// Rows are reduced: the tile is transposed.
    pub(super) rows: bool,
    /// The results of rows become a column on a trip through `SrcB`, whose format cuts too.
    moved_mask: Option<u32>,
    /// For the left and the right half of the columns: the factors of the upper and of the lower face.
    pub(super) factors: [[Factors; 2]; 2],
    pub(super) mask: u32,
}

type Results = [u32; 2 * FACE_SIDE];

impl Reduction {
    /// [`super::reduce`] along rows or columns.
    ///
    /// # Panics
    /// As [`super::reduce`], and for scalars.
    pub fn pool(cfg: &MathConfig, scaler_format: DataFormat, (pool, dim): (PoolOp, ReduceDim), scaler: &Src) -> Self {
        super::require_known(cfg, pool, dim);
        assert!(dim != ReduceDim::Scalar, "a scalar is no row of results");
        let rows = dim == ReduceDim::Row;
        let row_0 = |face: usize| &scaler[face * FACE_DATUMS..][..STEP];
        let sum = pool == PoolOp::Sum;
        let first = if sum { Factors::new(cfg, false, row_0(0), mask(scaler_format)) } else { Factors::NONE };
        // The faces of a scaler tile are alike as a rule.
        let factors = |face: usize| {
            if sum && row_0(face) != row_0(0) {
                Factors::new(cfg, false, row_0(face), mask(scaler_format))
            } else {
                first
            }
        };
        // Faces 1 and 2 have changed places in the transposed tile, the factors have not.
        let faces = if rows { [[0, 1], [2, 3]] } else { [[0, 2], [1, 3]] };
        Self {
            cfg: *cfg,
            sum,
            factors_in_src_a: false,
            face_by_face: true,
            rows,
            moved_mask: rows.then(|| mask(scaler_format)),
            factors: faces.map(|pair| pair.map(factors)),
            mask: mask(cfg.alu),
        }
    }

    /// [`super::row_sum`].
    pub fn row_sum(cfg: &MathConfig, scaler: &Src) -> Self {
        let row_0 = [0, 1].map(|half| &scaler[half * FACE_DATUMS..][..STEP]);
        let first = Factors::new(cfg, true, row_0[0], mask(cfg.alu));
        let second = if row_0[1] == row_0[0] { first } else { Factors::new(cfg, true, row_0[1], mask(cfg.alu)) };
        Self {
            cfg: *cfg,
            sum: true,
            factors_in_src_a: true,
            face_by_face: false,
            rows: true,
            moved_mask: None,
            factors: [[first, second]; 2],
            mask: u32::MAX,
        }
    }

    /// The part of the factor and that of the datum which a phase takes.
    #[inline(always)]
    fn parts(&self, number: usize) -> (usize, usize) {
        let (of_a, of_b) = (number & 1, number >> 1);
        if self.factors_in_src_a { (of_a, of_b) } else { (of_b, of_a) }
    }

    /// Reduces one tile onto `dst`.
    ///
    /// The bits do not depend on the level.
    pub fn run(&self, level: Level, dst: &mut Dst, data: &Src) {
        let mut transposed = [0; TILE_DATUMS];
        let data = if self.rows {
            transpose::tile(level, data, &mut transposed);
            &transposed
        } else {
            data
        };
        let place = |i: usize| if self.rows { index(i, 0) } else { index(0, i) };
        let mut results: Results = [0; 2 * FACE_SIDE];
        for (i, result) in results.iter_mut().enumerate() {
            *result = dst[place(i)];
        }
        columns_kernel::run(
            level,
            &Job { reduction: self, data, chains: level.available() != Level::Scalar },
            &mut results,
        );
        for (i, result) in results.into_iter().enumerate() {
            dst[place(i)] = match self.moved_mask {
                Some(mask) => add_zero(self.cfg.mode(), move_datum(&self.cfg, result) & mask),
                None => result,
            };
        }
    }
}

/// What one call computes.
struct Job<'a> {
    reduction: &'a Reduction,
    data: &'a Src,
    /// The level has multiply-add instructions; without them chains are slower than integers.
    chains: bool,
}

vector_kernel!(columns_kernel, columns_body, (job: &Job<'_>, results: &mut Results));

#[inline(always)]
fn columns_body<V: Vector>(job: &Job<'_>, results: &mut Results) {
    let (reduction, data) = (job.reduction, job.data);
    if !reduction.sum {
        return largest::<V>(reduction, data, results);
    }
    by_mode!(reduction.cfg.mode(), sums::<V>((reduction, data, job.chains), results));
}

/// The two faces below each other that hold the columns from `column` on, from the first of these columns on.
#[inline(always)]
fn stack(data: &Src, column: usize) -> [&[u32]; 2] {
    let face = column / FACE_SIDE;
    [face, face + 2].map(|face| &data[face * FACE_DATUMS + column % FACE_SIDE..])
}

/// By face and group of a column.
type Groups<V> = [[Group<V>; 2]; 2];

#[inline(always)]
fn sums<V: Vector, const DST32: bool, const E8: bool, G: Rules>(
    (job, data, chains): (&Reduction, &Src, bool),
    results: &mut Results,
) {
    let phases = job.cfg.fidelity.phases() as usize;
    // Two vectors at a time: the steps of each wait for one another.
    for columns in (0..2 * FACE_SIDE).step_by(2 * V::LANES) {
        let columns = [columns, columns + V::LANES];
        let mut groups = [[[Group::<V>::none(); 2]; 2]; 2];
        let mut sums = [V::splat(0); 2];
        for vector in 0..2 {
            groups[vector] = groups_of::<V, E8>(job, phases, data, columns[vector], chains);
            sums[vector] = V::load(&results[columns[vector]..]);
        }
        for step in 0..2 * phases {
            let (face, number) = if job.face_by_face { (step / phases, step % phases) } else { (step % 2, step / 2) };
            let adjust = Phase::new(job.cfg.mode(), number as u32).adjust;
            let nothing = |column: usize| job.factors[column / FACE_SIDE][face].empty[job.parts(number).0];
            if E8 && nothing(columns[0]) && nothing(columns[1]) && keeps::<V, DST32>(adjust, &groups, face, sums) {
                continue;
            }
            for vector in 0..2 {
                let [first, second] = &groups[vector][face];
                let terms = [(first.sums[number], first.largest), (second.sums[number], second.largest)];
                sums[vector] = combine::<V, DST32, E8, G>(adjust, terms, sums[vector]);
            }
        }
        for vector in 0..2 {
            V::store(sums[vector], &mut results[columns[vector]..]);
        }
    }
}

/// Whether all words of `Dst` stay what they are when sums of zero join them: numbers none of which a group's exponent
/// puts on a coarser grid, and halves where `Dst` has 16 bits.
#[inline(always)]
fn keeps<V: Vector, const DST32: bool>(adjust: i32, groups: &[Groups<V>; 2], face: usize, dst: [V::Int; 2]) -> bool {
    let mut outside = V::splat(0);
    for vector in 0..2 {
        let [first, second] = &groups[vector][face];
        let least = V::max(V::add(V::max(first.largest, second.largest), V::splat(adjust)), V::splat(1));
        let own = V::and(V::shr::<23>(dst[vector]), V::splat(255));
        outside = V::or(outside, V::or(V::sub(own, least), V::sub(V::splat(254), own)));
        if !DST32 {
            outside = V::or(outside, V::sub(V::splat(0), V::and(dst[vector], V::splat(0xffff))));
        }
    }
    none_negative::<V>(outside)
}

#[inline(always)]
fn none_negative<V: Vector>(words: V::Int) -> bool {
    let mut signs = [0; FACE_SIDE];
    V::store(words, &mut signs);
    // A fold without an exit is one instruction or two on vectors.
    let mut all = 0;
    for word in signs {
        all |= word;
    }
    all >> 31 == 0
}

/// The groups of a vector of columns.
#[inline(always)]
fn groups_of<V: Vector, const E8: bool>(
    job: &Reduction,
    phases: usize,
    data: &Src,
    column: usize,
    chains: bool,
) -> Groups<V> {
    let factors = &job.factors[column / FACE_SIDE];
    let stack = stack(data, column);
    let mut groups = [[Group::<V>::none(); 2]; 2];
    if E8 && chains && factors[0].ordinary && factors[1].ordinary {
        let mut outside = V::splat(0);
        let uniform = factors[0].uniform && factors[1].uniform;
        for face in 0..2 {
            for group in 0..2 {
                let data = &stack[face][group * 8 * FACE_SIDE..];
                groups[face][group] = if uniform {
                    uniform_sums::<V>(job, phases, data, &factors[face], &mut outside)
                } else {
                    chained_sums::<V, FACE_SIDE, 8>(job, phases, data, &factors[face], group * 8, &mut outside)
                };
            }
        }
        if none_negative::<V>(outside) {
            return groups;
        }
    }
    for face in 0..2 {
        for group in 0..2 {
            let data = &stack[face][group * 8 * FACE_SIDE..];
            groups[face][group] = group_sums::<V, E8, FACE_SIDE, 8>(job, phases, data, &factors[face], group * 8);
        }
    }
    groups
}

/// Eight products per column.
#[derive(Clone, Copy)]
pub(super) struct Group<V: Vector> {
    /// The sum of each phase on the grid of the largest product.
    pub(super) sums: [V::Int; 4],
    /// The largest exponent; without a live product, the value with which zeros take part or below which a group is
    /// dead.
    pub(super) largest: V::Int,
}

impl<V: Vector> Group<V> {
    #[inline(always)]
    fn none() -> Self {
        Self { sums: [V::splat(0); 4], largest: V::splat(0) }
    }
}

/// Computes a group whose rows begin `STRIDE` words after each other; rows from `ROWS` on are zeros, which change
/// nothing. What the phases share is computed once.
#[inline(always)]
pub(super) fn group_sums<V: Vector, const E8: bool, const STRIDE: usize, const ROWS: usize>(
    job: &Reduction,
    phases: usize,
    data: &[u32],
    factors: &Factors,
    first: usize,
) -> Group<V> {
    let mask = V::splat(job.mask as i32);
    let field = V::splat(if E8 { 255 } else { 31 });
    let mut words = [V::splat(0); ROWS];
    let mut shifts = [V::splat(0); ROWS];
    let mut signs = [V::splat(0); ROWS];
    let mut largest = V::splat(if E8 { 127 } else { 0 });
    for k in 0..ROWS {
        let word = V::and(V::load(&data[k * STRIDE..]), mask);
        let exponent = V::and(V::shr::<10>(word), field);
        let live = V::greater(exponent, V::splat(0));
        // The product of a zero is shifted out.
        let exponent = V::add(V::select(live, exponent, V::splat(-8192)), V::splat(factors.exponents[first + k]));
        signs[k] = V::sar::<31>(V::shl::<13>(V::xor(word, V::splat(factors.signs[first + k]))));
        (words[k], shifts[k]) = (word, exponent);
        largest = V::max(largest, exponent);
    }
    for shift in &mut shifts {
        *shift = V::sub(largest, *shift);
    }
    let mut sums = [V::splat(0); 4];
    for (number, total) in sums.iter_mut().enumerate().take(phases) {
        let (of_factor, of_data) = job.parts(number);
        // Not a step to leave out in the end: the group's exponent can still round Dst.
        if factors.empty[of_factor] {
            continue;
        }
        let parts = &factors.parts[of_factor];
        let mut sum = V::splat(0);
        for k in 0..ROWS {
            let part = match (job.factors_in_src_a, of_data) {
                (true, 0) => V::or(V::and(V::shr::<4>(words[k]), V::splat(63)), V::splat(64)),
                (true, _) => V::shl::<3>(V::and(words[k], V::splat(15))),
                (false, 0) => V::or(V::and(V::shr::<6>(words[k]), V::splat(15)), V::splat(16)),
                (false, _) => V::and(V::shr::<1>(words[k]), V::splat(31)),
            };
            let doubled = V::mul_small(part, V::splat(2 * parts[first + k]));
            let aligned = V::shr::<1>(V::add(V::shr_by(doubled, shifts[k]), V::splat(1)));
            sum = V::add(sum, V::sub(V::xor(aligned, signs[k]), signs[k]));
        }
        *total = sum;
    }
    Group { sums, largest }
}

/// Computes a group as tile products do: [`super::super::matmul::chain`]. `outside` becomes negative where a datum is
/// neither zero nor [`ORDINARY`]; the sums mean nothing then.
///
/// A datum is an FP32 number of 11 bits, whose parts the fidelity masks select. [`Factors::scaled`] turn them into multiples of
/// the product's unit, `2^(X - 150)` for the exponent `X` that the chain's start has; the nudge for ties is in the
/// factors.
#[inline(always)]
pub(super) fn chained_sums<V: Vector, const STRIDE: usize, const ROWS: usize>(
    job: &Reduction,
    phases: usize,
    data: &[u32],
    factors: &Factors,
    first: usize,
    outside: &mut V::Int,
) -> Group<V> {
    let mask = V::splat(job.mask as i32);
    let [high_mask, both_mask] = if job.factors_in_src_a { [-1 << 17, -1 << 13] } else { [-1 << 19, -1 << 14] };
    let mut datums = [V::splat(0); ROWS];
    let mut largest = V::splat(0);
    for k in 0..ROWS {
        let datum = V::shl::<13>(V::and(V::load(&data[k * STRIDE..]), mask));
        let exponent = V::and(datum, V::splat(EXPONENT));
        let live = V::greater(exponent, V::splat(0));
        // Below the range this wraps, above it the difference is large.
        let above = V::sub(exponent, V::splat(*ORDINARY.start() << 23));
        let beyond = V::sub(V::splat((*ORDINARY.end() - *ORDINARY.start()) << 23), above);
        *outside = V::or(*outside, V::keep(live, V::or(above, beyond)));
        datums[k] = V::keep(live, datum);
        let own = V::add(exponent, V::splat((factors.exponents[first + k] - 127) << 23));
        largest = V::max(largest, V::keep(live, own));
    }
    let start = V::or(largest, V::splat(HALF));
    let mut sums = [V::splat(0); 4];
    for (number, total) in sums.iter_mut().enumerate().take(phases) {
        let (of_factor, of_data) = job.parts(number);
        if factors.empty[of_factor] {
            continue;
        }
        let scaled = &factors.scaled[of_factor][of_data][first..];
        let mut chain = V::from_bits(start);
        for (&datum, &factor) in datums.iter().zip(scaled) {
            let high = V::from_bits(V::and(datum, V::splat(high_mask)));
            let part =
                if of_data == 0 { high } else { V::sub_float(V::from_bits(V::and(datum, V::splat(both_mask))), high) };
            chain = V::fma(part, V::splat_float(factor), chain);
        }
        *total = V::sub(V::to_bits(chain), start);
    }
    // What the sums of exponents have more than FP32's.
    Group { sums, largest: V::add(V::shr::<23>(largest), V::splat(127)) }
}

/// [`chained_sums`] of a face's rows, all of which meet the same factor: the largest magnitude has the largest exponent,
/// and it and the smallest one tell whether all datums are [`ORDINARY`].
#[inline(always)]
fn uniform_sums<V: Vector>(
    job: &Reduction,
    phases: usize,
    data: &[u32],
    factors: &Factors,
    outside: &mut V::Int,
) -> Group<V> {
    const ROWS: usize = 8;
    let kept = (job.mask as i32) << 13;
    let [high_mask, both_mask] = if job.factors_in_src_a { [-1 << 17, -1 << 13] } else { [-1 << 19, -1 << 14] };
    let (mut most, mut before_least) = (V::splat(0), V::splat(i32::MAX));
    let mut datums = [V::splat(0); ROWS];
    for (k, datum) in datums.iter_mut().enumerate() {
        *datum = V::shl::<13>(V::load(&data[k * FACE_SIDE..]));
        let magnitude = V::and(*datum, V::splat(kept & i32::MAX));
        most = V::max(most, magnitude);
        // Zeros wrap to the top.
        before_least = V::min_unsigned(before_least, V::sub(magnitude, V::splat(1)));
    }
    let (low, high) = ((*ORDINARY.start() << 23) - 1, ((*ORDINARY.end() + 1) << 23) - 1);
    *outside = V::or(*outside, V::or(V::sub(before_least, V::splat(low)), V::sub(V::splat(high), most)));
    let own = V::add(V::and(most, V::splat(EXPONENT)), V::splat((factors.exponents[0] - 127) << 23));
    let largest = V::max(V::keep(V::greater(most, V::splat(0)), own), V::splat(0));
    let start = V::or(largest, V::splat(HALF));
    let mut sums = [V::splat(0); 4];
    for (number, total) in sums.iter_mut().enumerate().take(phases) {
        let (of_factor, of_data) = job.parts(number);
        if factors.empty[of_factor] {
            continue;
        }
        let factor = V::splat_float(factors.scaled[of_factor][of_data][0]);
        let mut chain = V::from_bits(start);
        for &datum in &datums {
            let high = V::from_bits(V::and(datum, V::splat(high_mask & kept)));
            let part = if of_data == 0 {
                high
            } else {
                V::sub_float(V::from_bits(V::and(datum, V::splat(both_mask & kept))), high)
            };
            chain = V::fma(part, factor, chain);
        }
        *total = V::sub(V::to_bits(chain), start);
    }
    Group { sums, largest: V::add(V::shr::<23>(largest), V::splat(127)) }
}

/// As integers, words are in order once the bits below the sign of negative ones are inverted; and back again.
#[inline(always)]
pub(super) fn order<V: Vector>(words: V::Int) -> V::Int {
    V::xor(words, V::and(V::sar::<31>(words), V::splat(i32::MAX)))
}

/// What a comparison sees of `Dst`.
#[inline(always)]
pub(super) fn start_mask<V: Vector>(job: &Reduction) -> V::Int {
    V::splat(if job.cfg.mode().dst32 { -1 << 13 } else { -1 })
}

/// The place of Src words in GMPOOL's order, of numbers other than zero with the bits of `flip` changed.
#[inline(always)]
pub(super) fn place<V: Vector>(job: &Reduction, words: V::Int, flip: i32) -> V::Int {
    let exponent_mask = V::splat(if job.cfg.mode().e8 { 255 << 23 } else { 31 << 23 });
    let words = V::shl::<13>(V::and(words, V::splat(job.mask as i32)));
    let live = V::greater(V::and(words, exponent_mask), V::splat(0));
    order::<V>(V::keep(live, V::xor(words, V::splat(flip))))
}

/// Largest words in GMPOOL's order.
#[inline(always)]
fn largest<V: Vector>(job: &Reduction, data: &Src, results: &mut Results) {
    for column in (0..2 * FACE_SIDE).step_by(V::LANES) {
        let mut largest = order::<V>(V::and(V::load(&results[column..]), start_mask::<V>(job)));
        for face in stack(data, column) {
            for k in 0..FACE_SIDE {
                largest = V::max(largest, place::<V>(job, V::load(&face[k * FACE_SIDE..]), 0));
            }
        }
        V::store(order::<V>(largest), &mut results[column..]);
    }
}
