//! The attention program of `softmax` over the last dimension, on the row pipeline.

use tt_formats::DataFormat;
use tt_memory::{BufferId, Device};
use tt_tensix::fpu::{Arch, EltwiseOp, MathFidelity};

use crate::rows::{Load, RowProgram, RowSettings};
use crate::{Chain, OpError};

/// What the program is built with.
#[derive(Clone, Debug)]
pub struct SoftmaxProgram {
    /// Format of input and output.
    pub format: DataFormat,
    /// Rows of tiles, over all leading dimensions.
    pub rows: usize,
    /// Logical width in datums.
    pub width: usize,
    /// Subtract the row maximum first.
    pub stable: bool,
    /// Accurate exponential; otherwise the approximate one that clamps below.
    pub exact_exp: bool,
    /// 32-bit Dst.
    pub dst32: bool,
    /// Fidelity of the row sum and of the final product.
    pub fidelity: MathFidelity,
    /// Chip.
    pub arch: Arch,
}

/// Runs the program on every row of tiles: `exp(x - max(x)) * (1 / sum(exp(x - max(x))))`.
///
/// # Errors
/// Memory errors; buffers that do not hold the tiles of `rows` and `width`.
pub fn softmax(
    device: &mut Device,
    input: BufferId,
    output: BufferId,
    program: &SoftmaxProgram,
) -> Result<(), OpError> {
    let &SoftmaxProgram { format, rows, width, stable, dst32, fidelity, arch, .. } = program;
    let kept = if format == DataFormat::Float32 { DataFormat::Float32 } else { DataFormat::Float16B };
    let exp = Chain::of("exp", if program.exact_exp { "accurate" } else { "approx_clampneg" }, &[])?;
    let shape = vec![rows * 32, width];
    let settings = RowSettings { operator: "softmax", shape, format, dst32, fidelity, arch };
    let (mut program, mut x) = RowProgram::new(settings);
    // Without the maximum to subtract, the exponential runs before the masked row is packed.
    let masked = !width.is_multiple_of(32);
    let mut exponent = if masked { Load::MaskPadding(x) } else { Load::Copy(x) };
    if stable {
        if masked {
            x = program.pass(exponent, Chain::default(), kept);
        }
        let max = program.pass(Load::RowMax(x), Chain::default(), kept);
        exponent = Load::Eltwise(EltwiseOp::Sub, x, max);
    }
    let exps = program.pass(exponent, exp, kept);
    let sum = Load::RowSum(exps, (DataFormat::Float32, 1_f32.to_bits()));
    let reciprocal = program.pass(sum, Chain::of("recip", "accurate", &[])?, DataFormat::Float32);
    program.pass(Load::Eltwise(EltwiseOp::Mul, exps, reciprocal), Chain::default(), format);
    program.run(device, &[input], output)
}
