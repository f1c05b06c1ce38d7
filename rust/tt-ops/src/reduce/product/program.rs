//! Settings of a product.

use tt_formats::DataFormat;
use tt_fpu::{Arch, MathFidelity};

/// The factors of a product.
#[derive(Clone, Copy, Debug)]
pub enum Factors {
    /// All tiles, one after the other, in FP32; operands of shorter formats meet the upper half of what is there so
    /// far.
    Tiles,
    /// [`Self::Tiles`] of a row-major tensor of matrices that have a few datums each, every one padded to a tile with
    /// ones. The tiles need not be in memory.
    Matrix {
        /// The height of a matrix.
        height: usize,
        /// Its width.
        width: usize,
    },
    /// The tiles of a leading dimension.
    Leading {
        /// Its length.
        length: usize,
        /// Tiles of what lies inside it.
        inside: usize,
    },
    /// The rows or columns of matrices, every datum for itself. The products of a matrix are a row of the output.
    Matrices(MatrixAxis),
}

/// Rows or columns that are multiplied.
#[derive(Clone, Copy, Debug)]
pub struct MatrixAxis {
    /// The number of matrices of the output.
    pub outer: usize,
    /// The number of input matrices that form one's rows.
    pub matrices: usize,
    /// The height of a matrix of the input.
    pub height: usize,
    /// Their width.
    pub width: usize,
    /// The datums of a column are multiplied; otherwise those of a row.
    pub columns: bool,
    /// Datums pass through Dst first: bfloat16 denormals become zero, NaN becomes infinity.
    ///
    /// Block floats are packed there with the padding that they have, and once more without.
    pub flush: bool,
}

/// Settings of the program.
#[derive(Clone, Copy, Debug)]
pub struct ProductProgram {
    /// Format of input and output.
    pub format: DataFormat,
    /// The factors.
    pub factors: Factors,
    /// Fidelity of the FPU.
    pub fidelity: MathFidelity,
    /// Chip.
    pub arch: Arch,
}
