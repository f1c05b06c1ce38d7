//! The FPU, the matrix unit of a core.
//!
//! Products, element-wise operations, reductions and moves between register files.
//!
//! Every operation has a scalar integer definition, after `docs/chip/numerics.md` sections 2 to 9 and 12, and a form that
//! computes a vector of datums at a time and returns the same bits. There are no NaN or infinity semantics inside the
//! FPU: exponent 255 is an ordinary binade, exponent 0 is zero.
#![allow(unsafe_code, reason = "calls of kernels compiled for a CPU level")]
#![allow(clippy::trivially_copy_pass_by_ref, reason = "a configuration is one thing, whatever its size")]

mod combine;
mod copy_tile;
mod eltwise;
mod integer;
pub mod matmul;
mod moves;
mod mvmul;
mod op;
mod operand;
mod reduce;

use tt_formats::DataFormat;

pub use tt_tensix::regs::{Arch, Dst, DstFormat, HalfTile, MathFidelity, Src};

pub use copy_tile::CopyTile;
pub use eltwise::{bf16_lanes, eltwise, eltwise_at, eltwise_scalar, exact, multiply_datum, running};
pub use matmul::{
    Accumulator, PreparedA, PreparedB, accumulate, accumulate_at, matmul_tile, matmul_tile_scalar, row_sum_scalar,
};
pub use moves::{
    copy_to_dst, copy_to_dst_scalar, move_a_to_dst, move_dst_to_src, move_page_to_dst, move_page_to_dst_at,
};
pub use mvmul::mvmul_element;
pub use op::{Broadcast, EltwiseOp};
pub use reduce::{
    PoolOp, ReduceDim, Reduction, RunningMax, clear_for_max, minimum, reduce, reduce_at, reduce_scalar, row_sum,
    row_sum_at,
};

/// Setup of a compute kernel before its math instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MathConfig {
    /// Number of fidelity phases of a multiplication.
    pub fidelity: MathFidelity,
    /// The format of `Dst`.
    pub dst: DstFormat,
    /// ALU format of `SrcA`.
    ///
    /// It decides the operand family (5-bit or 8-bit exponents, integers) of both operands. `SrcB` words are used as
    /// they come: the unpacker leaves no bits that a narrower format does not have.
    pub alu: DataFormat,
    /// Chip generation.
    pub arch: Arch,
}

impl MathConfig {
    fn mode(&self) -> combine::Mode {
        combine::Mode { dst32: self.dst.is_32_bit(), e8: !self.alu.has_5_bit_exponent(), arch: self.arch }
    }

    fn is_integer(&self) -> bool {
        matches!(self.alu, DataFormat::Int8 | DataFormat::UInt8)
    }
}
