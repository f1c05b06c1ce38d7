//! The accumulate step of a 16-bit `Dst` with round-down instructions.
//!
//! For tile products that the plain path takes.
//!
//! The step is that of [`super::plain`]; the differences make it shorter.
//! - `Dst` is carried at the scale of phase 0, as `dst * 2^below`, where a phase takes `below` off the exponents. The
//!   units of the groups are then the same in all phases, and terms need no factor.
//! - Chains start at [`row_pair::rough_start`]: a number with the right exponent whose lower bits are the exponents of
//!   other groups, perhaps negative. The 8 bits below the exponent are between 40, what groups without a product hold,
//!   and 250. So a start is between `2^23 * (1 + 40/256)` and `2^23 * (1 + 251/256)` units of its group. A sum has a
//!   magnitude of at most 31,496 units and stays in the binade. A negative start mirrors the roundings, which go to
//!   nearest and meet no ties. `end - start` is the sum exactly, whatever the start was.
//! - The largest exponent `X` of the step is that of the largest magnitude of `Dst` and both starts.
//!
//! With `grid = 1.5 * 2^X`, everything scaled by `2^-13`, and `u = 2^(X - 23)` the last place of `grid`:
//! - `dst * (1 + 2^-12) * 2^-13 + grid` rounds `Dst` to whole `u`, ties away from zero, as in [`super::plain`].
//! - A term is a sum `S` of `2^-d` units each, first rounded to `2^-13` and then to whole units, both with ties upward:
//!   `floor(S / 2^d + 1/2 + 2^-14)`. With `h = 2^(d - 1) + 2^(d - 14)`, in units of `S`, that is `floor((S + h) / 2^d)`.
//!   `h` is `2^(X - 24) * (1 + 2^-13)`, whatever `d` is. `S + h` is rounded to nearest: for `d = 0` to between `S + 1/2`
//!   and `S + 1/2 + 2^-14`. For `d` from 1 to 13 what it has above a whole number is at most 1/2, and 1 and 2 exactly
//!   for 14 and 15, so that no multiple of `2^d` is crossed. From 16 on it lies between 0 and `2^d`, and the term is
//!   zero.
//! - An addition that rounds down floors `S + h` to whole `u`: the total stays in the binade of `grid`, since its
//!   magnitude is below 2^17 units.
//! - `total - grid` is exact. Half a unit of the last of 8 bits and a cut round it like a magnitude; a carry bumps the
//!   exponent. The same addition undoes the scaling by `2^-13` and moves on to the
//!   scale of the next phase, or back to that of phase 0.
//!
//! A zero becomes a number with an exponent of at most 18. It is below every start, so it is the grid of no step, and
//! rounds to zero in every later one. What is left of it is at most [`super::accumulator::HIDDEN_ZERO`].

use super::chain::{self, EXPONENT, HALF};
use super::job::{Job, power_of_two};
use super::row_pair::{self, Exponents, VECTORS, add_half, each_vector, load_rows, store_rows};
use crate::Dst;
use tt_cpu::vector::Vector;

/// What makes bits of the grid `1.5 * 2^X` those of `2^(X - 24) * (1 + 2^-13)`.
const HALF_UNIT: i32 = (-24 << 23) - HALF + 0x400;

/// `Dst` on the grid of a step, and the grid.
#[inline(always)]
fn aligned<V: Vector>(starts: [V::Int; 2], dst: V::Int) -> (V::Float, V::Int) {
    // Not an array that is mapped, which the compiler may leave as calls.
    let (first, second) = (V::from_bits(starts[0]), V::from_bits(starts[1]));
    let dst = V::from_bits(dst);
    let largest = V::largest_magnitude(dst, V::largest_magnitude(first, second));
    let grid = V::or(V::and(V::to_bits(largest), V::splat(EXPONENT)), V::splat(HALF));
    let scaled = V::splat_float((1.0 + power_of_two(-12)) * power_of_two(-13));
    (V::fma(dst, scaled, V::from_bits(grid)), grid)
}

/// Adds the sums of two chains to what is on the grid.
#[inline(always)]
fn add_terms<V: Vector>(total: V::Float, grid: V::Int, starts: [V::Int; 2], ends: [V::Float; 2]) -> V::Float {
    let half = V::from_bits(V::add(grid, V::splat(HALF_UNIT)));
    let (first, second) = (V::from_bits(starts[0]), V::from_bits(starts[1]));
    let total = V::add_down(total, V::add_float(V::sub_float(ends[0], first), half));
    V::add_down(total, V::add_float(V::sub_float(ends[1], second), half))
}

/// The word of a total. `finish` has the change of scale in the exponent's place, and half a unit of the last place of
/// the result.
#[inline(always)]
fn rounded<V: Vector>(total: V::Float, grid: V::Int, finish: V::Int) -> V::Int {
    let total = V::to_bits(V::sub_float(total, V::from_bits(grid)));
    V::and(V::add(total, finish), V::splat(-1 << 16))
}

/// One half of K in a phase. `change` is what the scale of `Dst` grows by at its end.
#[inline(always)]
fn step<V: Vector, const HALF_OF_K: usize>(
    parts: Option<(&[f32], &[f32])>,
    (row, lane): (usize, usize),
    exponents: &Exponents<V>,
    change: i32,
    words: &mut [V::Int; VECTORS],
) {
    let (first, second) = (exponents[2 * HALF_OF_K], exponents[2 * HALF_OF_K + 1]);
    let finish = V::splat((13 + change) << 23 | 1 << 15);
    let mut starts = [[V::splat(0); VECTORS]; 2];
    each_vector!(P, { starts[0][P] = row_pair::rough_start::<V, P>(first) });
    each_vector!(P, { starts[1][P] = row_pair::rough_start::<V, P>(second) });
    let mut totals = [V::splat_float(0.0); VECTORS];
    let mut grids = [V::splat(0); VECTORS];
    each_vector!(P, { (totals[P], grids[P]) = aligned::<V>([starts[0][P], starts[1][P]], words[P]) });
    if let Some(parts) = parts {
        let mut ends = [[V::splat_float(0.0); VECTORS]; 2];
        each_vector!(P, { ends[0][P] = V::from_bits(starts[0][P]) });
        each_vector!(P, { ends[1][P] = V::from_bits(starts[1][P]) });
        add_half::<V>(parts, HALF_OF_K, row, lane, &mut ends);
        each_vector!(P, {
            let (starts, ends) = ([starts[0][P], starts[1][P]], [ends[0][P], ends[1][P]]);
            totals[P] = add_terms::<V>(totals[P], grids[P], starts, ends);
        });
    }
    each_vector!(P, { words[P] = rounded::<V>(totals[P], grids[P], finish) });
}

/// All phases of two vectors of columns in two rows of a 16-bit `Dst`.
#[inline(always)]
pub(super) fn narrow_rows<V: Vector>(job: &Job<'_>, row: usize, lane: usize, exponents: &Exponents<V>, dst: &mut Dst) {
    let mut words = load_rows::<V>(dst, row, lane);
    let phases = job.cfg.fidelity.phases();
    for phase in 0..phases {
        let below = job.below_phase_0(phase);
        let next = if phase + 1 < phases { job.below_phase_0(phase + 1) } else { 0 };
        let parts = chain::parts(job.a, job.b, phase);
        step::<V, 0>(parts, (row, lane), exponents, 0, &mut words);
        step::<V, 1>(parts, (row, lane), exponents, next - below, &mut words);
    }
    store_rows::<V>(words, dst, row, lane);
}
