//! Two rows and both sides of 16 columns.
//!
//! The four vectors that the plain path computes together, and the exponents of their groups, which are the bytes of
//! one vector.

use super::GROUPS;
use super::chain::{EXPONENT, HALF};
use crate::Dst;
use tt_cpu::vector::Vector;
use tt_tensix::regs::index;

/// Vectors of a row pair: vector `v` is row `v / 2` and side `v % 2`.
pub(super) const VECTORS: usize = 4;
/// Pairs of rows of which the exponents are found together: a vector of `SrcA` serves all of them.
pub(super) const PAIRS: usize = 4;
/// The largest exponents of every group in phase 0, which all phases share, of two rows and both sides.
pub(super) type Exponents<V> = [<V as Vector>::Int; GROUPS];

/// [`Exponents`] of [`PAIRS`] pairs of rows from `row` and two vectors of columns, those from `lane` and those 16
/// columns on. `empty` stands for groups without a product. Planes are [`super::prepared::Planes::bytes`]; without
/// `ZEROS` no datum of either is zero, so that no byte of a difference borrows from another.
#[inline(always)]
pub(super) fn exponents<V: Vector, const ZEROS: bool>(
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
                let difference = if ZEROS { V::sub_bytes(a, b) } else { V::sub(a, b) };
                largest[group] = V::max_bytes(largest[group], difference);
            }
        }
    }
    largest
}

/// Repeats a body for every vector, whose number is a constant in it. In loops over arrays the compiler keeps vectors in
/// memory, and products take up to a third longer.
macro_rules! each_vector {
    ($vector:ident, $body:block) => {
        $crate::matmul::row_pair::each_vector!($vector, $body, 0, 1, 2, 3)
    };
    ($vector:ident, $body:block, $($number:literal),*) => {
        $({
            const $vector: usize = $number;
            $body
        })*
    };
}
pub(super) use each_vector;

/// [`start`] for chains that any number of the same exponent may start, of either sign: the other bytes of the lane
/// become its lower bits. `super::directed` has what makes that harmless.
#[inline(always)]
pub(super) fn rough_start<V: Vector, const VECTOR: usize>(exponents: V::Int) -> V::Int {
    match VECTOR {
        0 => V::or(V::shl::<23>(exponents), V::splat(HALF)),
        1 => V::shl::<15>(exponents),
        2 => V::shl::<7>(exponents),
        _ => V::shr::<1>(exponents),
    }
}

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

/// Numbers of `SrcB` that a row pair reads in one half of K: those of the first row, and those of the second 32 later.
const SPAN: usize = 32 + 16;

/// Repeats a body for every product of a group, whose number is a constant in it.
macro_rules! each_product {
    ($k:ident, $body:block) => {
        each_product!($k, $body, 0, 1, 2, 3, 4, 5, 6, 7)
    };
    ($k:ident, $body:block, $($number:literal),*) => {
        $({
            const $k: usize = $number;
            $body
        })*
    };
}

/// Adds the products of the two groups of a half of K to the chains of all vectors: eight sums that do not wait for each
/// other.
#[inline(always)]
pub(super) fn add_half<V: Vector>(
    (a, b): (&[f32], &[f32]),
    half: usize,
    row: usize,
    lane: usize,
    chains: &mut [[V::Float; VECTORS]; 2],
) {
    let b: &[f32; SPAN] = b[row * 32 + half * 16..].first_chunk().expect("two rows");
    let a = &a[half * 16 * 32 + lane..];
    let [first, second] = chains;
    each_product!(K, {
        let (left, right) = (V::load_float(&a[K * 32..]), V::load_float(&a[K * 32 + 16..]));
        first[0] = V::fma_element::<K, SPAN>(left, b, first[0]);
        first[1] = V::fma_element::<K, SPAN>(right, b, first[1]);
        first[2] = V::fma_element::<{ K + 32 }, SPAN>(left, b, first[2]);
        first[3] = V::fma_element::<{ K + 32 }, SPAN>(right, b, first[3]);
        let (left, right) = (V::load_float(&a[(K + 8) * 32..]), V::load_float(&a[(K + 8) * 32 + 16..]));
        second[0] = V::fma_element::<{ K + 8 }, SPAN>(left, b, second[0]);
        second[1] = V::fma_element::<{ K + 8 }, SPAN>(right, b, second[1]);
        second[2] = V::fma_element::<{ K + 40 }, SPAN>(left, b, second[2]);
        second[3] = V::fma_element::<{ K + 40 }, SPAN>(right, b, second[3]);
    });
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

/// The words of two vectors of columns in two rows.
#[inline(always)]
pub(super) fn load_rows<V: Vector>(dst: &Dst, row: usize, lane: usize) -> [V::Int; VECTORS] {
    let mut words = [V::splat(0); VECTORS];
    each_vector!(P, { words[P] = V::load(&dst[index(row + P / 2, P % 2 * 16 + lane)..]) });
    words
}

#[inline(always)]
pub(super) fn store_rows<V: Vector>(words: [V::Int; VECTORS], dst: &mut Dst, row: usize, lane: usize) {
    each_vector!(P, { V::store(words[P], &mut dst[index(row + P / 2, P % 2 * 16 + lane)..]) });
}
