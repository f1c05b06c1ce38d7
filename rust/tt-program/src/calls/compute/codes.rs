//! Numbers by which kernels of both languages name operations.

use tt_fpu::{Broadcast, EltwiseOp, PoolOp, ReduceDim};
use tt_tensix::pack::DstFormat;

use super::{Copying, Math};

/// 0 add, 1 subtract, 2 multiply.
pub fn eltwise(op: u32) -> EltwiseOp {
    [EltwiseOp::Add, EltwiseOp::Sub, EltwiseOp::Mul][op.min(2) as usize]
}

/// 0 none, 1 column, 2 row, 3 scalar.
pub fn broadcast(kind: u32) -> Broadcast {
    [Broadcast::None, Broadcast::Column, Broadcast::Row, Broadcast::Scalar][kind.min(3) as usize]
}

/// 0 sum, 1 maximum.
pub fn pool(kind: u32) -> PoolOp {
    if kind == 1 { PoolOp::Max } else { PoolOp::Sum }
}

/// 0 along rows, 1 along columns, 2 both.
pub fn dim(kind: u32) -> ReduceDim {
    [ReduceDim::Row, ReduceDim::Column, ReduceDim::Scalar][kind.min(2) as usize]
}

/// The format with this code that `Dst` may hold.
pub fn dst_format(code: i32) -> Option<DstFormat> {
    match code {
        0 => Some(DstFormat::Fp32),
        5 => Some(DstFormat::Bf16),
        8 => Some(DstFormat::Int32),
        9 => Some(DstFormat::UInt16),
        _ => None,
    }
}

/// Products of tiles.
///
/// A block of (0, 0, 0) is that of single tiles.
pub fn matmul(transpose: bool, block: (u32, u32, u32)) -> Math {
    Math::Matmul { transpose, block: (block != (0, 0, 0)).then_some(block) }
}

/// Element-wise operations on two CBs.
pub fn eltwise_math(op: u32, kind: u32, accumulate: bool) -> Math {
    Math::Eltwise { op: eltwise(op), broadcast: broadcast(kind), accumulate }
}

/// Copies of tiles, transposed or not.
pub fn copying(transpose: bool) -> Math {
    Math::Copy(if transpose { Copying::Transposed } else { Copying::Plain })
}
