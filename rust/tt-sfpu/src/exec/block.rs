//! Size of the blocks that the SIMD executors compute at a time.

/// Vectors of a block.
pub(crate) const VECTORS: usize = 2;
