//! A step of a reduction.

use tt_formats::DataFormat;
use tt_fpu::{Arch, MathFidelity};

/// The reduced dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The width of each matrix: one column remains.
    Width,
    /// The height of each matrix: one row remains.
    Height,
    /// A matrix of one tile to its first datum.
    Tile,
    /// A leading dimension of this length, tiles being joined as they lie; what lies inside it is `rows * columns`
    /// tiles.
    Leading(usize),
    /// The same by a program that transposes the dimension and the height, reduces columns and transposes back. Not of
    /// integers, which have the same result on both ways.
    Transposed(usize),
}

/// The combination of datums, and its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// FPU: products with a scaler, given as FP32 bits; a 16-bit scaler tile truncates them.
    FpuSum {
        /// 1.0 for a sum, 1/N for a mean.
        scaler: u32,
    },
    /// FPU: GMPOOL.
    FpuMax,
    /// FPU: the negated maximum of the negated datums. Negated tiles and the running maximum lie in L1 in the
    /// input's format, so that block floats share exponents once more per tile.
    FpuMin,
    /// SFPU: FP32 additions in its lane order.
    SfpuSum,
    /// SFPU: the largest word.
    SfpuMax,
    /// SFPU: the smallest word.
    SfpuMin,
    /// SFPU: sums modulo 2^32.
    IntSum,
    /// SFPU: the largest integer, with or without a sign as the format has it.
    IntMax,
    /// SFPU: the smallest integer.
    IntMin,
}

/// One step.
#[derive(Clone, Debug)]
pub struct ReduceStep {
    /// Formats of input and output.
    pub formats: (DataFormat, DataFormat),
    /// Matrices (for a leading dimension: what lies outside it).
    pub outer: usize,
    /// Tile rows of a matrix.
    pub rows: usize,
    /// Tile columns of a matrix.
    pub columns: usize,
    /// Logical height and width whose surroundings are overwritten first, if they are.
    ///
    /// For a transposed dimension, what the padding of the result holds.
    pub fill: Option<Fill>,
    /// The reduced dimension.
    pub axis: Axis,
    /// The combination.
    pub join: Join,
    /// FP32 bits of a factor that the SFPU multiplies the result by.
    ///
    /// Nothing happens for 1.0.
    pub scale: u32,
    /// 32-bit Dst. The SFPU's sums need it.
    pub dst32: bool,
    /// Fidelity of the FPU.
    pub fidelity: MathFidelity,
    /// Chip.
    pub arch: Arch,
}

/// Tile padding and what it is overwritten with.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    /// Logical height of a matrix.
    pub height: usize,
    /// Logical width.
    pub width: usize,
    /// Usually the identity of the reduction.
    ///
    /// FP32 bits, which shorter formats hold exactly, or the integer itself.
    pub value: u32,
}
