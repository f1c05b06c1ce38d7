//! Program of the tile pipeline.
//!
//! Tensors, passes, and the loads of each pass.

use std::ops::Range;

use tt_formats::DataFormat;
use tt_fpu::{Arch, Broadcast, EltwiseOp, MathFidelity};
use tt_sfpu::BinaryCall;

use crate::{Chain, OpError};

/// The name in errors; operators check their operands before.
pub(super) const NAME: &str = "tile pipeline";

/// The tiles that form a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The tiles of a row of tiles.
    Width,
    /// The tiles of a column of tiles.
    Height,
    /// The tiles at the same place of a leading dimension, given by its index.
    Leading(usize),
    /// All tiles of the dimensions from this one on. They are reduced to one datum.
    Inner(usize),
}

impl Axis {
    /// How a tile that stands for its line is broadcast over it.
    pub(super) fn broadcast(self) -> Broadcast {
        match self {
            Self::Width => Broadcast::Column,
            Self::Height => Broadcast::Row,
            Self::Leading(_) => Broadcast::None,
            Self::Inner(_) => Broadcast::Scalar,
        }
    }
}

/// Settings shared by all passes of a program.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Logical shape whose tiles the lines consist of.
    ///
    /// The last two dimensions are tiled.
    pub domain: Vec<usize>,
    /// The tiles that form a line.
    pub axis: Axis,
    /// Format of the first input. It decides what `Dst` holds.
    pub format: DataFormat,
    /// 32-bit `Dst`.
    pub dst32: bool,
    /// Buffers of 32-bit data, unpacked to `Dst` where a pass copies.
    ///
    /// They go past `SrcA`.
    pub direct: bool,
    /// Fidelity of sums and products.
    pub fidelity: MathFidelity,
    /// Generation whose functions and rules the passes have.
    pub arch: Arch,
}

/// A tensor that a program reads.
#[derive(Clone, Debug)]
pub enum Tensor {
    /// Of this format and logical shape, broadcast to the domain; the broadcast within a tile may be given.
    Broadcast(DataFormat, Vec<usize>, Option<Broadcast>),
    /// Of this format and the shape of the domain; the lines begin at this tile and go on at their first one.
    Rotated(DataFormat, usize),
    /// Lines of so many tiles of this format, one for each line of the domain or one for all.
    Lines(DataFormat, usize),
}

/// Tiles that a pass loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A tensor of the call.
    Tensor(usize),
    /// What an earlier pass packed: a line of tiles, or one tile that stands for the line.
    Value(usize),
    /// A tile filled with a number, FP32 bits that are cut to the format.
    Constant(DataFormat, u32),
}

/// Some tiles of a line.
pub type Part = (Operand, Range<usize>);

/// The combination of a running result and the next tile.
#[derive(Clone, Copy)]
pub enum Join {
    /// By the FPU, the next tile first.
    Fpu(EltwiseOp),
    /// By the SFPU, the next tile first.
    Sfpu(BinaryCall),
    /// By compensated sums on the SFPU: what each addition loses is added to the next tile.
    Compensated,
}

/// The load of tiles to `Dst`.
#[derive(Clone)]
pub enum Load {
    /// `copy_tile`.
    Copy(Operand),
    /// An operation of the FPU; the second operand is broadcast by the instruction.
    Eltwise(EltwiseOp, Operand, Operand),
    /// An operation of the SFPU on two tiles in `Dst`.
    Sfpu(BinaryCall, Operand, Operand),
    /// The product with a tile.
    Matmul(Operand, Operand),
    /// The largest datum along the line.
    Max(Operand),
    /// The sum along the line of these parts, each datum times a scaler, FP32 bits, in this format. The last tile of
    /// the line has so many rows or columns that count; the others meet a scaler of zero. An operand may be copied to
    /// `Dst` first, to which the sum is added.
    Sum(Vec<Part>, (DataFormat, u32), Option<usize>, Option<Operand>),
    /// The sum of an FPU operation of two operands, in one `Dst`.
    Accumulate(EltwiseOp, Operand, Operand),
    /// Every tile joined to what the tiles before it gave, packed in between; the first tile is copied.
    Fold(Join, Operand),
    /// The same with all results kept.
    Scan(Join, Operand),
    /// The running sum of every datum along the line, on the SFPU.
    RunningSum(Operand),
    /// The moving average of every row, on the SFPU: the weights of the average so far and of the datum, FP32 bits.
    MovingAverage(Operand, [u32; 2]),
    /// A statistic of some tiles of a line, on the SFPU.
    Moment(Part, Moment),
    /// The distance of every tile from a mean that two operands make up: the first is subtracted, the second added, in
    /// one `Dst`.
    Centred(Operand, Operand, Operand),
}

/// Statistics that the SFPU makes in two passes over the datums.
///
/// Factors are FP32 bits: of the sum of distances from the first datum, and of the sum of squared distances from the
/// mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The first datum.
    Anchor,
    /// The mean.
    Mean(u32),
    /// The first datum less the mean.
    Correction(u32),
    /// The variance. Of matrices, the second factor is that of the sum of the variances of their columns.
    Variance(u32, u32),
}

/// The treatment of padding at a line's end, in `Dst`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Padding {
    /// It stays.
    #[default]
    Kept,
    /// The FPU adds minus infinity.
    MinusInfinity,
    /// It becomes zero.
    Zero,
}

/// The destination of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A circular buffer, which later passes read.
    Value,
    /// Tiles of an output. A tile that stands for its line is one of so many columns: `(output, column, columns)`.
    Output(usize, usize, usize),
}

/// One pass over a line.
#[derive(Clone)]
pub struct Pass {
    /// The load of tiles to `Dst`.
    pub load: Load,
    /// The treatment of padding there.
    pub padding: Padding,
    /// SFPU functions after it.
    pub chain: Chain,
    /// Format of the packed tiles.
    pub format: DataFormat,
    /// The first tile of a line for which nothing is computed.
    ///
    /// From there on, the first operand's tiles are the result, which have the same format.
    pub until: Option<usize>,
    /// The destination.
    pub target: Target,
}

/// Everything that a program is made of.
pub(super) struct Program {
    pub(super) settings: Settings,
    pub(super) tensors: Vec<Tensor>,
    pub(super) passes: Vec<Pass>,
}

/// A program that cannot be run.
pub(super) fn refuse<T>(what: String) -> Result<T, OpError> {
    Err(OpError::Invariant { operator: NAME, what })
}
