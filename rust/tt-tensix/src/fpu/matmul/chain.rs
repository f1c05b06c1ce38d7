//! The rounded sum of a group of eight products, one FMA per product.
//!
//! Started at `C = 1.5 * 2^23 * g`, where `g` is the weight of one unit of the group's grid, every FMA rounds its product
//! to that grid: to nearest, and the nudge in `SrcA`'s parts makes ties go away from zero. `numerics-performance.md`
//! section 2 has the proof. All numbers of the chain are normal, for operands whose exponents [`super::prepared`] calls
//! ordinary.

use super::prepared::Planes;
use super::{GROUPS, ROWS};
use crate::vector::Vector;

/// The sign and exponent bits of FP32, without the sign.
pub(super) const EXPONENT: i32 = 0x7f80_0000;
/// With these, a number is 1.5 times a power of two.
pub(super) const HALF: i32 = 0x40_0000;

/// The largest sum of exponent fields in every group, which all phases share, for two vectors of columns: those from
/// `lane` in the low halves of lanes, those 16 columns on in the high halves. `floor` stands for groups without a product.
#[inline(always)]
pub(super) fn group_maxima<V: Vector>(
    (a, b): (&[i32], &[i32]),
    floor: i32,
    row: usize,
    lane: usize,
) -> [[V::Int; ROWS]; GROUPS] {
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
pub(super) fn starts<V: Vector>(largest: &[[V::Int; ROWS]; GROUPS], side: usize) -> [[V::Int; ROWS]; GROUPS] {
    let mut starts = *largest;
    for group in &mut starts {
        for start in group {
            let fields = if side == 0 { V::shl::<16>(*start) } else { *start };
            *start = V::or(V::and(fields, V::splat(EXPONENT)), V::splat(HALF));
        }
    }
    starts
}

/// What the chains of a group end with: their starts plus the sum, in units of the last place.
#[inline(always)]
pub(super) fn group_sums<V: Vector>(
    a: &[f32],
    b: &[f32],
    group: usize,
    row: usize,
    column: usize,
    starts: [V::Int; ROWS],
) -> [V::Float; ROWS] {
    let mut chain = [V::splat_float(0.0); ROWS];
    for r in 0..ROWS {
        chain[r] = V::from_bits(starts[r]);
    }
    for k in group * 8..group * 8 + 8 {
        let a = V::load_float(&a[k * 32 + column..]);
        for r in 0..ROWS {
            chain[r] = V::fma(a, V::splat_float(b[(row + r) * 32 + k]), chain[r]);
        }
    }
    chain
}

/// Parts of a phase, `SrcA`'s and `SrcB`'s; none if one of them is zero throughout. The group's exponent still counts
/// then and can round `Dst`.
#[inline(always)]
pub(super) fn parts<'a>(a: &'a Planes, b: &'a Planes, phase: u32) -> Option<(&'a [f32], &'a [f32])> {
    let (number_a, number_b) = ((phase & 1) as usize, (phase >> 1) as usize);
    let empty = a.empty[number_a] || b.empty[number_b];
    (!empty).then(|| (&a.parts[number_a][..], &b.parts[number_b][..]))
}
