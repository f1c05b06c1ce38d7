//! Blocks of lanes.
//!
//! Two vectors, so that the steps of one hide the latency of the other's.

/// Vectors of a block.
pub(crate) const VECTORS: usize = 2;

/// Results of a function on the vectors of two blocks.
#[inline(always)]
pub(crate) fn zip<A: Copy, B: Copy, C>(a: [A; VECTORS], b: [B; VECTORS], f: impl Fn(A, B) -> C) -> [C; VECTORS] {
    [f(a[0], b[0]), f(a[1], b[1])]
}
