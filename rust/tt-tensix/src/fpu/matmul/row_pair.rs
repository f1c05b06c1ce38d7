//! Two rows and both sides of 16 columns: the four vectors that the plain path computes together, and the exponents of
//! their groups, which are the bytes of one vector.

use super::GROUPS;
use super::chain::{EXPONENT, HALF};
use crate::vector::Vector;

/// Vectors of a row pair: vector `v` is row `v / 2` and side `v % 2`.
pub(super) const VECTORS: usize = 4;
/// Pairs of rows of which the exponents are found together: a vector of `SrcA` serves all of them.
pub(super) const PAIRS: usize = 4;
/// The largest exponents of every group in phase 0, which all phases share, of two rows and both sides.
pub(super) type Exponents<V> = [<V as Vector>::Int; GROUPS];

/// [`Exponents`] of [`PAIRS`] pairs of rows from `row` and two vectors of columns, those from `lane` and those 16
/// columns on. `empty` stands for groups without a product. Planes are [`super::prepared::Planes::bytes`].
#[inline(always)]
pub(super) fn exponents<V: Vector>(
    (a, b): (&[i32], &[i32]),
    empty: i32,
    row: usize,
    lane: usize,
) -> [Exponents<V>; PAIRS] {
    let mut largest = [[V::splat(empty * 0x0101_0101); GROUPS]; PAIRS];
    for group in 0..GROUPS {
        for k in group * 8..group * 8 + 8 {
            let a = V::load_i32(&a[k * 16 + lane..]);
            for (pair, largest) in largest.iter_mut().enumerate() {
                let b = V::splat(b[(row / 2 + pair) * 32 + k]);
                largest[group] = V::max_bytes(largest[group], V::sub_bytes(a, b));
            }
        }
    }
    largest
}

/// Repeats a body for every vector, whose number is a constant in it. In loops over arrays the compiler keeps vectors in
/// memory, and products take up to a third longer.
macro_rules! each_vector {
    ($vector:ident, $body:block) => {
        $crate::fpu::matmul::row_pair::each_vector!($vector, $body, 0, 1, 2, 3)
    };
    ($vector:ident, $body:block, $($number:literal),*) => {
        $({
            const $vector: usize = $number;
            $body
        })*
    };
}
pub(super) use each_vector;

/// Where the chain of a vector starts, from the exponents of a group: 1.5 times a power of two.
#[inline(always)]
pub(super) fn start<V: Vector, const VECTOR: usize>(exponents: V::Int) -> V::Int {
    let shifted = match VECTOR {
        0 => V::shl::<23>(exponents),
        1 => V::shl::<15>(exponents),
        2 => V::shl::<7>(exponents),
        _ => V::shr::<1>(exponents),
    };
    V::or(V::and(shifted, V::splat(EXPONENT)), V::splat(HALF))
}

/// Adds the products of a group to the chains of all vectors.
#[inline(always)]
pub(super) fn add_group<V: Vector>(
    (a, b): (&[f32], &[f32]),
    group: usize,
    row: usize,
    lane: usize,
    chains: &mut [V::Float; VECTORS],
) {
    for k in group * 8..group * 8 + 8 {
        let a = [V::load_float(&a[k * 32 + lane..]), V::load_float(&a[k * 32 + 16 + lane..])];
        for r in 0..2 {
            let b = V::splat_float(b[(row + r) * 32 + k]);
            chains[2 * r] = V::fma(a[0], b, chains[2 * r]);
            chains[2 * r + 1] = V::fma(a[1], b, chains[2 * r + 1]);
        }
    }
}
