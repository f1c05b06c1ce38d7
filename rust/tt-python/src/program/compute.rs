//! Calls of compute kernels: setup, registers, tile work.
use pyo3::prelude::*;
use tt_program::Run;
use tt_program::calls::compute::{Math, VectorCall};
use tt_tensix::fpu::{Broadcast, EltwiseOp, PoolOp, ReduceDim};
use tt_tensix::pack::DstFormat;

use super::ProgramRun;
use crate::error::exception;

/// A function of the SFPU with its parameters.
#[pyclass(frozen, module = "ttnn._engine", name = "VectorCall")]
pub struct PyVectorCall {
    call: VectorCall,
}

#[pymethods]
impl PyVectorCall {
    /// `names`: of the tile function and its init; `function`: name and variant of the listings; `tiles`: operands;
    /// `makes`: the format code of what `Dst` holds afterwards, or -1 if it stays.
    #[new]
    fn new(
        py: Python<'_>,
        names: (String, String),
        function: (String, String),
        tiles: u32,
        parameters: Vec<u32>,
        makes: i32,
    ) -> PyResult<Self> {
        let makes = match makes {
            0 => Some(DstFormat::Fp32),
            5 => Some(DstFormat::Bf16),
            8 => Some(DstFormat::Int32),
            9 => Some(DstFormat::UInt16),
            _ => None,
        };
        let call = VectorCall::new((&names.0, &names.1), (&function.0, &function.1), tiles, &parameters, makes);
        Ok(Self { call: call.map_err(|text| exception(py, "KernelArgumentError", (text,)))? })
    }
}

fn eltwise(op: u32) -> EltwiseOp {
    [EltwiseOp::Add, EltwiseOp::Sub, EltwiseOp::Mul][op.min(2) as usize]
}

fn broadcast(kind: u32) -> Broadcast {
    [Broadcast::None, Broadcast::Column, Broadcast::Row, Broadcast::Scalar][kind.min(3) as usize]
}

fn pool(kind: u32) -> PoolOp {
    if kind == 1 { PoolOp::Max } else { PoolOp::Sum }
}

fn dim(kind: u32) -> ReduceDim {
    [ReduceDim::Row, ReduceDim::Column, ReduceDim::Scalar][kind.min(2) as usize]
}

#[pymethods]
impl ProgramRun {
    // Setup of the compute engine.

    fn hw_startup(&mut self, py: Python<'_>, a: u32, b: u32, out: u32) -> PyResult<()> {
        self.local(py, |run| run.hw_startup(a, b, out))
    }

    /// A block of (0, 0, 0) is that of single tiles.
    fn matmul_init(
        &mut self,
        py: Python<'_>,
        in0: u32,
        in1: u32,
        transpose: bool,
        block: (u32, u32, u32),
    ) -> PyResult<()> {
        let block = (block != (0, 0, 0)).then_some(block);
        self.local(py, |run| run.init_math(Math::Matmul { transpose, block }, &[in0, in1]))
    }

    fn eltwise_init(
        &mut self,
        py: Python<'_>,
        op: u32,
        kind: u32,
        accumulate: bool,
        in0: u32,
        in1: u32,
    ) -> PyResult<()> {
        let math = Math::Eltwise { op: eltwise(op), broadcast: broadcast(kind), accumulate };
        self.local(py, |run| run.init_math(math, &[in0, in1]))
    }

    fn reuse_init(&mut self, py: Python<'_>, op: u32, to_a: bool, cb: u32) -> PyResult<()> {
        self.local(py, |run| run.init_math(Math::Reuse { op: eltwise(op), to_a }, &[cb]))
    }

    fn copy_init(&mut self, py: Python<'_>, cb: u32, transpose: bool) -> PyResult<()> {
        self.local(py, |run| run.init_math(Math::Copy { transpose }, &[cb]))
    }

    fn unary_bcast_init(&mut self, py: Python<'_>, kind: u32, cb: u32) -> PyResult<()> {
        self.local(py, |run| run.init_math(Math::Spread(broadcast(kind)), &[cb]))
    }

    fn reduce_init(&mut self, py: Python<'_>, kind: u32, along: u32, cb: u32, scaler: u32) -> PyResult<()> {
        self.local(py, |run| run.init_math(Math::Reduce { pool: pool(kind), dim: dim(along) }, &[cb, scaler]))
    }

    fn reduce_uninit(&mut self, py: Python<'_>) -> PyResult<()> {
        self.local(py, Run::reduce_uninit)
    }

    fn tilize_init(&mut self, py: Python<'_>, cb: u32, block: u32) -> PyResult<()> {
        self.local(py, |run| run.init_math(Math::Tilize { block }, &[cb]))
    }

    fn untilize_init(&mut self, py: Python<'_>, cb: u32) -> PyResult<()> {
        self.local(py, |run| run.init_math(Math::Untilize, &[cb]))
    }

    /// `full` 0: the packer packs tiles again.
    fn pack_untilize_mode(&mut self, py: Python<'_>, columns: u32, full: u32) -> PyResult<()> {
        self.local(py, |run| run.pack_untilize_mode((full > 0).then_some((columns, full))))
    }

    fn transpose_dst_init(&mut self, py: Python<'_>) -> PyResult<()> {
        self.local(py, |run| run.init_math(Math::TransposeDst, &[]))
    }

    fn end_math(&mut self, py: Python<'_>) -> PyResult<()> {
        self.local(py, Run::end_math)
    }

    fn vector_init(&mut self, py: Python<'_>, call: &PyVectorCall, mode: u32) -> PyResult<()> {
        self.local(py, |run| run.vector_init(&call.call, mode))
    }

    /// A function that takes its tiles in a list.
    fn vector_tiles(&mut self, py: Python<'_>, call: &PyVectorCall, tiles: Vec<u32>) -> PyResult<()> {
        self.local(py, |run| run.vector_tiles(&call.call, &tiles))
    }

    #[pyo3(signature = (a, b, old_a=-1, old_b=-1))]
    fn reconfig_data_format(&mut self, py: Python<'_>, a: i64, b: i64, old_a: i64, old_b: i64) -> PyResult<()> {
        self.local(py, |run| run.reconfig_data_format(a, b, old_a, old_b))
    }

    #[pyo3(signature = (cb, old=-1))]
    fn pack_reconfig_data_format(&mut self, py: Python<'_>, cb: u32, old: i64) -> PyResult<()> {
        self.local(py, |run| run.pack_reconfig_data_format(cb, old))
    }

    fn pack_reconfig_l1_acc(&mut self, py: Python<'_>, accumulate: bool) -> PyResult<()> {
        self.local(py, |run| run.pack_reconfig_l1_acc(accumulate))
    }

    fn pack_relu_config(&mut self, py: Python<'_>, mode: u32, threshold: u16) -> PyResult<()> {
        self.local(py, |run| run.pack_relu_config(mode, threshold))
    }

    // Registers.

    fn tile_regs_acquire(&mut self, py: Python<'_>) -> PyResult<()> {
        self.local(py, Run::tile_regs_acquire)
    }

    fn tile_regs_commit(&mut self, py: Python<'_>) -> PyResult<()> {
        self.local(py, Run::tile_regs_commit)
    }

    fn tile_regs_wait(&mut self, py: Python<'_>) -> PyResult<()> {
        self.local(py, Run::tile_regs_wait)
    }

    fn tile_regs_release(&mut self, py: Python<'_>) -> PyResult<()> {
        self.local(py, Run::tile_regs_release)
    }

    fn acquire_dst(&mut self, py: Python<'_>) -> PyResult<()> {
        self.local(py, Run::acquire_dst)
    }

    fn release_dst(&mut self, py: Python<'_>) -> PyResult<()> {
        self.local(py, Run::release_dst)
    }

    // Tile work.

    fn matmul_tiles(&mut self, py: Python<'_>, in0: u32, in1: u32, tile0: u32, tile1: u32, dst: u32) -> PyResult<()> {
        self.memory(py, |run, device| run.matmul_tiles(device, (in0, in1), (tile0, tile1), dst))
    }

    #[allow(clippy::too_many_arguments, reason = "the arguments of the kernel API")]
    fn matmul_block(
        &mut self,
        py: Python<'_>,
        in0: u32,
        in1: u32,
        tile0: u32,
        tile1: u32,
        dst: u32,
        transpose: bool,
        ct: u32,
        rt: u32,
        kt: u32,
    ) -> PyResult<()> {
        self.memory(py, |run, device| {
            run.matmul_block(device, (in0, in1), (tile0, tile1), dst, transpose, (ct, rt, kt))
        })
    }

    #[allow(clippy::too_many_arguments, reason = "the arguments of the kernel API")]
    fn eltwise_tiles(
        &mut self,
        py: Python<'_>,
        op: u32,
        kind: u32,
        in0: u32,
        in1: u32,
        tile0: u32,
        tile1: u32,
        dst: u32,
    ) -> PyResult<()> {
        let step = (eltwise(op), broadcast(kind));
        self.memory(py, |run, device| run.eltwise_tiles(device, step, (in0, in1), (tile0, tile1), dst))
    }

    fn eltwise_reuse_dst(&mut self, py: Python<'_>, op: u32, to_a: bool, cb: u32, tile: u32, dst: u32) -> PyResult<()> {
        self.memory(py, |run, device| run.eltwise_reuse_dst(device, eltwise(op), to_a, (cb, tile), dst))
    }

    fn copy_tile(&mut self, py: Python<'_>, cb: u32, tile: u32, dst: u32) -> PyResult<()> {
        self.memory(py, |run, device| run.copy_tile(device, cb, tile, dst))
    }

    fn transpose_tile(&mut self, py: Python<'_>, cb: u32, tile: u32, dst: u32) -> PyResult<()> {
        self.memory(py, |run, device| run.transpose_tile(device, cb, tile, dst))
    }

    fn unary_bcast(&mut self, py: Python<'_>, kind: u32, cb: u32, tile: u32, dst: u32) -> PyResult<()> {
        self.memory(py, |run, device| run.unary_bcast(device, broadcast(kind), cb, tile, dst))
    }

    #[allow(clippy::too_many_arguments, reason = "the arguments of the kernel API")]
    fn reduce_tile(
        &mut self,
        py: Python<'_>,
        kind: u32,
        along: u32,
        cb: u32,
        scaler: u32,
        tile: u32,
        scaler_tile: u32,
        dst: u32,
    ) -> PyResult<()> {
        let step = (pool(kind), dim(along));
        self.memory(py, |run, device| run.reduce_tile(device, step, (cb, scaler), (tile, scaler_tile), dst))
    }

    fn transpose_dst(&mut self, py: Python<'_>, dst: u32) -> PyResult<()> {
        self.local(py, |run| run.transpose_dst(dst))
    }

    #[allow(clippy::too_many_arguments, reason = "three operands, a result and a mode")]
    fn vector(
        &mut self,
        py: Python<'_>,
        call: &PyVectorCall,
        a: u32,
        b: u32,
        c: u32,
        out: u32,
        mode: u32,
    ) -> PyResult<()> {
        self.local(py, |run| run.vector(&call.call, [a, b, c], out, mode))
    }

    fn tilize_block(
        &mut self,
        py: Python<'_>,
        input: u32,
        block: u32,
        output: u32,
        first_in: u32,
        first_out: u32,
    ) -> PyResult<()> {
        self.memory(py, |run, device| run.tilize_block(device, input, block, output, (first_in, first_out)))
    }

    fn tilize_to_dst(&mut self, py: Python<'_>, input: u32, block: u32, dst: u32, first_in: u32) -> PyResult<()> {
        self.memory(py, |run, device| run.tilize_to_dst(device, input, block, dst, first_in))
    }

    fn untilize_block(&mut self, py: Python<'_>, input: u32, columns: u32, output: u32) -> PyResult<()> {
        self.memory(py, |run, device| run.untilize_block(device, input, columns, output))
    }

    fn pack_untilize_block(&mut self, py: Python<'_>, input: u32, output: u32, rows: u32, place: u32) -> PyResult<()> {
        self.memory(py, |run, device| run.pack_untilize_block(device, (input, output), rows, place))
    }

    fn pack_untilize_dest(&mut self, py: Python<'_>, output: u32, rows: u32, place: u32, first: u32) -> PyResult<()> {
        self.memory(py, |run, device| run.pack_untilize_dest(device, output, rows, place, first))
    }

    /// `place` -1: after the tiles packed since the last push.
    fn pack_tile(&mut self, py: Python<'_>, dst: u32, cb: u32, place: i64) -> PyResult<()> {
        let place = u32::try_from(place).ok();
        self.memory(py, |run, device| run.pack_tile(device, dst, cb, place))
    }
}
