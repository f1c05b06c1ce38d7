//! The two operands of a product, and how their planes are written.

use bytemuck::{AnyBitPattern, NoUninit};

use tt_cpu::vector::Vector;

/// Which register an operand lies in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    A,
    B,
}

/// Two values below 2^16 in a lane.
#[inline(always)]
pub(super) fn pair<V: Vector>(low: V::Int, high: V::Int) -> V::Int {
    V::or(V::and(low, V::splat(0xffff)), V::shl::<16>(high))
}

#[inline(always)]
pub(super) fn store<V: Vector, T: NoUninit + AnyBitPattern>(vector: V::Int, plane: &mut [T], at: usize) {
    V::store(vector, &mut bytemuck::cast_slice_mut(plane)[at..]);
}
