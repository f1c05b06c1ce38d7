//! Tile products of ordinary operands with 8-bit exponents.
//!
//! Nothing can underflow, overflow or vanish in a dead group.
//!
//! [`fits`] holds for a tile product if both tiles are ordinary, every product of data that are not zero has an
//! exponent of at least [`SMALLEST_PRODUCT`] in phase 0, and every `Dst` word is zero or has an exponent from
//! [`SMALLEST`] on, and stays far from overflow. Then, for the exponents `X` of a step (`docs/chip/numerics.md` section 5):
//! - A group with a product has `X >= 76 - 12`, in any phase. A total on its grid is 0 or has an exponent of at least
//!   `X - 23 = 41`, so `Dst` stays in range.
//! - A group without a product holds [`EMPTY_GROUP`]: between 28 and 40 in any phase, below every `Dst` word that is
//!   not zero. It counts as dead since the largest exponent is that of another term, or all terms are zero.
//!
//! The accumulate step of a 16-bit `Dst` is done by FP32 additions: [`combine_narrow`] has the proof, and
//! [`super::directed`] that of a shorter form for CPUs with instructions that round down.

use crate::combine::Rules;
use tt_cpu::Level;
use tt_formats::{Wormhole, by_generation};

use super::super::MathConfig;
use super::GROUPS;
use super::accumulator::{Accumulator, HIDDEN_ZERO, SMALLEST};
use super::chain::{self, EXPONENT, HALF};
use super::directed;
use super::job::{Job, power_of_two};
use super::prepared::{Planes, PreparedA, PreparedB};
use super::row_pair::{self, Exponents, PAIRS, VECTORS, each_vector};
use crate::Dst;
use tt_cpu::vector::{Vector, vector_kernel};

/// Exponent in phase 0 of the smallest product.
const SMALLEST_PRODUCT: i32 = SMALLEST as i32 + 12 + 23;
/// No word may become larger: [`super::directed`] carries it times up to 2^12.
const LARGEST_RESULT: f64 = (1_u128 << 114) as f64;
/// Exponent in phase 0 of a group without a product.
const EMPTY_GROUP: i32 = SMALLEST as i32 - 1;

/// Whether [`accumulate`] can add the product of two tiles to `dst`.
pub(super) fn fits(cfg: &MathConfig, dst: &mut Accumulator, a: &PreparedA, b: &PreparedB) -> bool {
    let (a, b) = (&a.0, &b.0);
    cfg.mode().e8
        && a.is_ordinary(cfg)
        && b.is_ordinary(cfg)
        && a.smallest + b.smallest - 127 >= SMALLEST_PRODUCT
        && dst.bound().is_some_and(|before| bound(before, a, b) <= LARGEST_RESULT)
}

/// No word is larger after adding the product of two tiles. Each of up to eight steps adds two sums of eight products
/// below 2^12 on grids of at most `2^(X - 127 - 10)`, and rounds by less than 2^-8 of the result.
fn bound(before: f64, a: &Planes, b: &Planes) -> f64 {
    let exponent = a.largest + b.largest - 127 - 127 - 10 + 16;
    let sums = f64::from_bits(((exponent + 1023) as u64) << 52);
    (before + 8.0 * sums) * 1.05
}

/// Adds a tile product to `dst`, if it [`fits`]. `level` is one that the host has.
pub(super) fn accumulate(level: Level, cfg: &MathConfig, dst: &mut Accumulator, a: &PreparedA, b: &PreparedB) {
    let (a, b) = (&a.0, &b.0);
    let bound = bound(dst.bound().unwrap_or(f64::INFINITY), a, b);
    let (dst, rows) = dst.plain(bound, !cfg.mode().dst32, b.rows);
    plain::run(level, &Job { cfg, a, b, rows }, dst);
}

vector_kernel!(plain, choose, (job: &Job<'_>, dst: &mut Dst));

#[inline(always)]
fn choose<V: Vector>(job: &Job<'_>, dst: &mut Dst) {
    let mode = job.cfg.mode();
    let zeros = job.a.has_zeros || job.b.has_zeros;
    match (mode.dst32, zeros) {
        (false, false) => body::<V, false, Wormhole, false>(job, dst),
        (false, true) => body::<V, false, Wormhole, true>(job, dst),
        (true, false) => by_generation!(mode.arch, G => body::<V, true, G, false>(job, dst)),
        (true, true) => by_generation!(mode.arch, G => body::<V, true, G, true>(job, dst)),
    }
}

#[inline(always)]
fn body<V: Vector, const DST32: bool, G: Rules, const ZEROS: bool>(job: &Job<'_>, dst: &mut Dst) {
    for block in (0..job.rows).step_by(2 * PAIRS) {
        for lane in (0..16).step_by(V::LANES) {
            let exponents = row_pair::exponents::<V, ZEROS>((&job.a.bytes, &job.b.bytes), EMPTY_GROUP, block, lane);
            for (pair, exponents) in exponents.iter().enumerate() {
                let row = block + 2 * pair;
                if row >= job.rows {
                    break;
                }
                if DST32 {
                    wide_rows::<V, G>(job, row, lane, exponents, dst);
                } else if V::ROUNDS_DOWN {
                    directed::narrow_rows::<V>(job, row, lane, exponents, dst);
                } else {
                    narrow_rows::<V>(job, row, lane, exponents, dst);
                }
            }
        }
    }
}

/// Constants of a phase for [`combine_narrow`].
#[derive(Clone, Copy)]
struct Narrow<V: Vector> {
    /// A group's unit in phase 0 becomes one in this phase.
    unit: V::Float,
    /// Of the grid: 2^-14 and an eighth more, in units of a group's sum.
    nudge: V::Float,
}

/// Adds the two groups of a step to words of a 16-bit `Dst`: `docs/chip/numerics.md` section 5.
///
/// The grid is `C = 1.5 * 2^23 * u` where `u = 2^(X - 150)`; `X` is the largest exponent of the step and the one of
/// `power`. All values are kept scaled by `2^-13`, so that `u` stands for one unit of the 11-bit grid on which the
/// terms are added, and every addition to a number near `C` rounds to a multiple of `u`. Sums of terms are below 2^17
/// units, far from the ends of `C`'s binade.
///
/// **`Dst`** is 8 bits, aligned with ties away from zero. (The alignment to a 24-bit grid before that loses nothing
/// unless the result is zero either way.) The factor `1 + 2^-12` moves ties off one half and nothing across it, as
/// values have at most 11 bits and a fraction is a multiple of `2^-d` with 8 bits of magnitude before it.
///
/// **A term** is `S / 2^d` units, `|S| <= 31496` and `d >= 0`, first rounded to `2^-13` and then to whole units, both
/// times with ties upward: `floor(S / 2^d + 1/2 + 2^-14)`. [`add_terms_nearest`] computes that.
///
/// **The total** is exact, and rounded to 8 bits like a magnitude: half a unit of its last place added to the word, the
/// rest truncated. Adding 13 to the exponent at the same time undoes the scaling; a zero becomes a number so small that
/// it rounds to zero in every later step, [`HIDDEN_ZERO`].
#[inline(always)]
fn combine_narrow<V: Vector>(
    of: Narrow<V>,
    power: V::Int,
    any: bool,
    sums: [(V::Float, V::Int); 2],
    dst: V::Int,
) -> V::Int {
    let grid = V::from_bits(V::or(power, V::splat(HALF)));
    let scaled = V::splat_float((1.0 + power_of_two(-12)) * power_of_two(-13));
    let mut total = V::fma(V::from_bits(dst), scaled, grid);
    if any {
        total = add_terms_nearest::<V>(of, grid, sums, total);
    }
    let total = V::to_bits(V::sub_float(total, grid));
    V::and(V::add(total, V::splat((HIDDEN_ZERO as i32) << 23 | 1 << 15)), V::splat(-1 << 16))
}

/// Terms of [`combine_narrow`] by rounding to nearest. Adding to `S` anything between 0 and 1 (1/2 if `d = 0`) for
/// `d <= 13`, between 1 and 2 for `d = 14`, between 2 and 3 for `d = 15` leaves no ties; for `d >= 16` a term is zero.
///
/// Here it is `1/4 + 1.125 * 2^(d - 14)`:
/// 0.25 to 0.82 up to `d = 13`, then 1.375 and 2.5. Errors of these steps are below `2^-7`. The quarter comes from
/// `(C' + S) * (1 - 2^-24) - (C' - 1) = S + 1 - 0.75 - S * 2^-24`, `C' = 1.5 * 2^23` in units of `S`.
#[inline(always)]
fn add_terms_nearest<V: Vector>(
    of: Narrow<V>,
    grid: V::Float,
    sums: [(V::Float, V::Int); 2],
    mut total: V::Float,
) -> V::Float {
    for (end, start) in sums {
        // The start without its last unit, and negative.
        let base = V::from_bits(V::add(start, V::splat(i32::MAX)));
        let sum = V::fma(end, V::splat_float(1.0 - power_of_two(-24)), base);
        total = V::fma(V::fma(grid, of.nudge, sum), of.unit, total);
    }
    total
}

/// All phases of two vectors of columns in two rows of a 16-bit `Dst`.
#[inline(always)]
fn narrow_rows<V: Vector>(job: &Job<'_>, row: usize, lane: usize, exponents: &Exponents<V>, dst: &mut Dst) {
    let mut words = row_pair::load_rows::<V>(dst, row, lane);
    let mut starts = [[V::splat(0); VECTORS]; GROUPS];
    for group in 0..GROUPS {
        each_vector!(P, { starts[group][P] = row_pair::start::<V, P>(exponents[group]) });
    }
    let mut powers = [[V::splat(0); VECTORS]; 2];
    for half in 0..2 {
        each_vector!(P, {
            let largest = V::max(starts[2 * half][P], starts[2 * half + 1][P]);
            powers[half][P] = V::and(largest, V::splat(EXPONENT));
        });
    }
    for phase in 0..job.cfg.fidelity.phases() {
        let below = job.below_phase_0(phase);
        let lower = V::splat(-below << 23);
        let of = Narrow::<V> {
            unit: V::splat_float(power_of_two(-below)),
            // 1.5 * 2^23 * u times this is 1.125 * 2^-14 * u.
            nudge: V::splat_float(0.75 * power_of_two(below - 37)),
        };
        let parts = chain::parts(job.a, job.b, phase);
        for half in 0..2 {
            let (first, second) = (starts[2 * half], starts[2 * half + 1]);
            let mut ends = [[V::splat_float(0.0); VECTORS]; 2];
            if let Some(parts) = parts {
                each_vector!(P, { ends[0][P] = V::from_bits(first[P]) });
                each_vector!(P, { ends[1][P] = V::from_bits(second[P]) });
                row_pair::add_group::<V>(parts, 2 * half, row, lane, &mut ends[0]);
                row_pair::add_group::<V>(parts, 2 * half + 1, row, lane, &mut ends[1]);
            }
            each_vector!(P, {
                let power = V::max(V::add(powers[half][P], lower), V::and(words[P], V::splat(EXPONENT)));
                let sums = [(ends[0][P], first[P]), (ends[1][P], second[P])];
                words[P] = combine_narrow::<V>(of, power, parts.is_some(), sums, words[P]);
            });
        }
    }
    row_pair::store_rows::<V>(words, dst, row, lane);
}

/// Adds the two groups of a step to words of a 32-bit `Dst`: `docs/chip/numerics.md` section 5. Exponents are those of phase 0,
/// of `Dst` `below` more than it has; `largest` is that of the two groups.
///
/// Terms are aligned as integers: `S * 2^13`, doubled, shifted right, then rounded to whole units half up. So is `Dst`,
/// of which the magnitude is rounded. The total has at most 30 bits. As FP32 numbers its upper 18 and its lower 12 bits
/// are exact, and added they are rounded to 24 bits to nearest, ties to even. The upper part of such a tie is not zero,
/// and its product with 2^-31 that is added to the lower part is between 2^-7 and 1/2: ties go away from zero, and
/// nothing else changes sides, as totals are whole numbers. A total below 2^24 is returned exactly, since the addend is
/// below 2^-24 of it. Nothing underflows, so a zero has no trace.
#[inline(always)]
fn combine_wide<V: Vector, G: Rules>(
    below: i32,
    largest: V::Int,
    any: bool,
    sums: [(V::Float, V::Int); 2],
    dst: V::Int,
) -> V::Int {
    let one = V::splat(1);
    let doubled = V::shl::<1>(dst);
    let own = V::add(V::shr::<24>(doubled), V::splat(below));
    let x = V::max(largest, own);
    let magnitude = V::or(V::and(doubled, V::splat(0xff_fffe)), V::splat(1 << 24));
    let magnitude = V::shr::<1>(V::add(V::shr_by(magnitude, V::sub(x, own)), one));
    let mut total = V::select(V::greater(V::splat(0), dst), V::sub(V::splat(0), magnitude), magnitude);
    if any {
        for (end, exponent) in sums {
            // Of a chain's end, only the sum's low bits are left.
            let sum = V::shl::<14>(V::to_bits(end));
            let aligned = V::sar_by(sum, V::sub(x, exponent));
            total = V::add(total, V::sar::<1>(V::add(aligned, one)));
        }
    }
    let upper = V::exact_float(V::and(total, V::splat(-1 << 12)));
    let lower = V::exact_float(V::and(total, V::splat((1 << 12) - 1)));
    let away = V::fma(V::add_float(upper, lower), V::splat_float(power_of_two(-31)), lower);
    let mut rounded = V::to_bits(V::add_float(upper, away));
    if G::MINUS_ONE_BUG {
        // -2^(X + 4 - 127) in units of 2^(X - 150).
        let bug = V::splat(power_of_two(27).to_bits() as i32 | i32::MIN);
        rounded = V::select(V::equal(total, V::splat(-1)), bug, rounded);
    }
    let unit = V::shl::<23>(V::add(x, V::splat(127 - 150 - below)));
    V::to_bits(V::mul_float(V::from_bits(rounded), V::from_bits(unit)))
}

/// All phases of two vectors of columns in two rows of a 32-bit `Dst`.
#[inline(always)]
fn wide_rows<V: Vector, G: Rules>(job: &Job<'_>, row: usize, lane: usize, exponents: &Exponents<V>, dst: &mut Dst) {
    let mut words = row_pair::load_rows::<V>(dst, row, lane);
    for phase in 0..job.cfg.fidelity.phases() {
        let below = job.below_phase_0(phase);
        let parts = chain::parts(job.a, job.b, phase);
        for half in 0..2 {
            let (first, second) = (exponents[2 * half], exponents[2 * half + 1]);
            let mut ends = [[V::splat_float(0.0); VECTORS]; 2];
            if let Some(parts) = parts {
                each_vector!(P, { ends[0][P] = V::from_bits(row_pair::start::<V, P>(first)) });
                each_vector!(P, { ends[1][P] = V::from_bits(row_pair::start::<V, P>(second)) });
                if V::LANES == 16 {
                    // The level has the registers for eight chains.
                    row_pair::add_half::<V>(parts, half, row, lane, &mut ends);
                } else {
                    row_pair::add_group::<V>(parts, 2 * half, row, lane, &mut ends[0]);
                    row_pair::add_group::<V>(parts, 2 * half + 1, row, lane, &mut ends[1]);
                }
            }
            each_vector!(P, {
                let first = V::shr::<23>(row_pair::start::<V, P>(first));
                let second = V::shr::<23>(row_pair::start::<V, P>(second));
                let sums = [(ends[0][P], first), (ends[1][P], second)];
                let largest = V::max(first, second);
                words[P] = combine_wide::<V, G>(below, largest, parts.is_some(), sums, words[P]);
            });
        }
    }
    row_pair::store_rows::<V>(words, dst, row, lane);
}
