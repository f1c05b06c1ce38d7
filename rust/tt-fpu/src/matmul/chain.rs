//! The rounded sum of eight products, one FMA each.
//!
//! Started at `C = 1.5 * 2^23 * g`, where `g` is the weight of one unit of the group's grid, every FMA rounds its
//! product to that grid: to nearest, and the nudge in `SrcA`'s parts makes ties go away from zero.
//! `docs/chip/numerics.md` section 15 has the proof. All numbers of the chain are normal, for operands whose exponents
//! [`super::prepared`] calls ordinary.

use super::ROWS;
use super::prepared::Planes;
use tt_cpu::vector::Vector;

/// The sign and exponent bits of FP32, without the sign.
pub(crate) const EXPONENT: i32 = 0x7f80_0000;
/// With these, a number is 1.5 times a power of two.
pub(crate) const HALF: i32 = 0x40_0000;

/// What the chains of a group end with, for a vector of columns in [`ROWS`] rows: their starts plus the sum, in units
/// of the last place.
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
