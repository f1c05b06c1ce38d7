//! Settings of a program of two operands.

use tt_formats::DataFormat;
use tt_fpu::{Arch, EltwiseOp, MathFidelity};
use tt_memory::BufferId;

use crate::Chain;

/// A vector-unit function of two operands with its parameters.
pub use tt_sfpu::BinaryCall;

/// The unit that computes, and its function.
#[derive(Clone, Copy, Debug)]
pub enum Unit {
    /// FPU: operand a in `SrcA`, b in `SrcB`.
    Fpu(EltwiseOp),
    /// SFPU: both operands in Dst.
    Sfpu(BinaryCall),
}

/// The second operand.
#[derive(Clone, Copy, Debug)]
pub enum Other {
    /// A tensor with its own shape.
    Tensor(BufferId),
    /// A whole tile of one datum, given as FP32 bits, of which shorter formats keep the upper half, or as an integer.
    Scalar(u32),
}

/// Settings of the program.
///
/// Shapes are logical; the last two dimensions are tiled.
#[derive(Clone)]
pub struct BinaryProgram {
    /// Formats of a, b (of the scalar's tile) and the output.
    pub formats: (DataFormat, DataFormat, DataFormat),
    /// Unit and operation.
    pub unit: Unit,
    /// Shape of a.
    pub shape_a: Vec<usize>,
    /// Shape of b; ignored for a scalar.
    pub shape_b: Vec<usize>,
    /// Shape of the output.
    pub shape_out: Vec<usize>,
    /// The scalar is the left operand.
    pub scalar_is_left: bool,
    /// Pages are tiles; otherwise rows.
    pub tiled: bool,
    /// Fidelity of products on the FPU.
    pub fidelity: MathFidelity,
    /// 32-bit Dst.
    pub dst32: bool,
    /// Activations of operand a, of operand b, and of the result.
    pub chains: [Chain; 3],
    /// The packer clips the result below zero.
    pub packer_relu: bool,
    /// Chip.
    pub arch: Arch,
}
