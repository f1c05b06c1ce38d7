//! Tile products of any operands.
//!
//! Ordinary ones go through the chain of FMAs, the others through 16-bit integers.

use crate::combine::Rules;
use tt_cpu::Level;

use super::super::combine::lanes::{by_mode, combine};
use super::super::operand::Phase;
use super::super::{Dst, MathConfig};
use super::chain::{self, EXPONENT, HALF};
use super::prepared::{Planes, PreparedA, PreparedB};
use super::side::Side;
use super::{GROUPS, ROWS, integers};
use tt_cpu::vector::{Vector, vector_kernel};
use tt_tensix::regs::index;

/// What one call computes.
#[derive(Clone, Copy)]
struct Job<'a> {
    cfg: &'a MathConfig,
    a: &'a Planes,
    b: &'a Planes,
    /// The chain of FMAs does not hold.
    integers: bool,
}

/// Adds a tile product to `dst`. `level` is one that the host has.
pub(super) fn accumulate(level: Level, cfg: &MathConfig, dst: &mut Dst, a: &mut PreparedA, b: &mut PreparedB) {
    let (a, b) = (&mut a.0, &mut b.0);
    // Without an FMA instruction the chain would be slower than integers.
    let integers = level == Level::Scalar || !a.is_ordinary(cfg) || !b.is_ordinary(cfg);
    if integers {
        a.integers(level, cfg, Side::A);
        b.integers(level, cfg, Side::B);
    } else {
        a.fields(level, cfg, Side::A);
        b.fields(level, cfg, Side::B);
    }
    general::run(level, &Job { cfg, a, b, integers }, dst);
}

vector_kernel!(general, choose, (job: &Job<'_>, dst: &mut Dst));

#[inline(always)]
fn choose<V: Vector>(job: &Job<'_>, dst: &mut Dst) {
    by_mode!(job.cfg.mode(), body::<V>(job, dst));
}

#[inline(always)]
fn body<V: Vector, const DST32: bool, const E8: bool, G: Rules>(job: &Job<'_>, dst: &mut Dst) {
    // Groups without a live product hold the value below which a group is dead (8-bit exponents), or 0, with which
    // zeros take part (5-bit exponents).
    let floor = if E8 { 127 } else { 0 };
    let (planes, floor) = if job.integers {
        let (a, b) = (job.a.made_integers(), job.b.made_integers());
        ((&a.exponents[..], &b.exponents[..]), floor)
    } else {
        ((&job.a.fields[..], &job.b.fields[..]), (floor - from_field(E8)) << 7)
    };
    for row in (0..32).step_by(ROWS) {
        for lane in (0..16).step_by(V::LANES) {
            let narrow = group_maxima::<V>(planes, floor, row, lane);
            rows::<V, DST32, E8, G>(job, row, lane, &narrow, dst);
        }
    }
}

/// What makes the sum of two fields the sum of two exponents.
const fn from_field(e8: bool) -> i32 {
    if e8 { 127 } else { -100 }
}

/// The largest sum of exponent fields in every group, which all phases share, for two vectors of columns: those from
/// `lane` in the low halves of lanes, those 16 columns on in the high halves. `floor` stands for groups without a
/// product.
#[inline(always)]
fn group_maxima<V: Vector>((a, b): (&[i32], &[i32]), floor: i32, row: usize, lane: usize) -> [[V::Int; ROWS]; GROUPS] {
    let mut largest = [[V::splat(floor << 16 | floor); ROWS]; GROUPS];
    for (group, largest) in largest.iter_mut().enumerate() {
        for k in group * 8..group * 8 + 8 {
            let a = V::load_i32(&a[k * 16 + lane..]);
            for (r, largest) in largest.iter_mut().enumerate() {
                let b = V::splat(b[(row + r) * 32 + k]);
                *largest = V::max_halves(*largest, V::add_halves(a, b));
            }
        }
    }
    largest
}

/// Where the chains of one side's columns start: from the maxima of the fields, which are exponents shifted left by 7.
#[inline(always)]
fn starts_of<V: Vector>(largest: &[[V::Int; ROWS]; GROUPS], side: usize) -> [[V::Int; ROWS]; GROUPS] {
    let mut starts = *largest;
    for group in &mut starts {
        for start in group {
            let fields = if side == 0 { V::shl::<16>(*start) } else { *start };
            *start = V::or(V::and(fields, V::splat(EXPONENT)), V::splat(HALF));
        }
    }
    starts
}

/// Both halves of lanes, sign-extended.
#[inline(always)]
fn split<V: Vector>(pairs: V::Int) -> [V::Int; 2] {
    [V::sar::<16>(V::shl::<16>(pairs)), V::sar::<16>(pairs)]
}

/// All phases of two vectors of columns in [`ROWS`] rows.
#[inline(always)]
fn rows<V: Vector, const DST32: bool, const E8: bool, G: Rules>(
    job: &Job<'_>,
    row: usize,
    lane: usize,
    narrow: &[[V::Int; ROWS]; GROUPS],
    dst: &mut Dst,
) {
    let columns = [lane, 16 + lane];
    let starts = [starts_of::<V>(narrow, 0), starts_of::<V>(narrow, 1)];
    let mut largest = [[[V::splat(0); ROWS]; 2]; GROUPS];
    for group in 0..GROUPS {
        for r in 0..ROWS {
            for (side, wide) in split::<V>(narrow[group][r]).into_iter().enumerate() {
                largest[group][side][r] =
                    if job.integers { wide } else { V::add(V::sar::<7>(wide), V::splat(from_field(E8))) };
            }
        }
    }
    let mut words = [[V::splat(0); ROWS]; 2];
    for side in 0..2 {
        for r in 0..ROWS {
            words[side][r] = V::load(&dst[index(row + r, columns[side])..]);
        }
    }
    for number in 0..job.cfg.fidelity.phases() {
        let adjust = Phase::new(job.cfg.mode(), number).adjust;
        for half in [0, 2] {
            let mut sums = [[[V::splat(0); ROWS]; 2]; 2];
            for (i, sums) in sums.iter_mut().enumerate() {
                let group = half + i;
                if let Some((a, b)) = chain::parts(job.a, job.b, number) {
                    if job.integers {
                        let planes = (job.a.made_integers(), job.b.made_integers());
                        let pairs = integers::group_sums::<V>(planes, number, group, row, lane, narrow[group]);
                        for r in 0..ROWS {
                            [sums[0][r], sums[1][r]] = split::<V>(pairs[r]);
                        }
                    } else {
                        for side in 0..2 {
                            let starts = starts[side][group];
                            let ends = chain::group_sums::<V>(a, b, group, row, columns[side], starts);
                            for r in 0..ROWS {
                                sums[side][r] = V::sub(V::to_bits(ends[r]), starts[r]);
                            }
                        }
                    }
                }
            }
            for side in 0..2 {
                for r in 0..ROWS {
                    let first = (sums[0][side][r], largest[half][side][r]);
                    let second = (sums[1][side][r], largest[half + 1][side][r]);
                    words[side][r] = combine::<V, DST32, E8, G>(adjust, [first, second], words[side][r]);
                }
            }
        }
    }
    for side in 0..2 {
        for r in 0..ROWS {
            V::store(words[side][r], &mut dst[index(row + r, columns[side])..]);
        }
    }
}
