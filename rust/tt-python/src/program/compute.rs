//! Calls of compute kernels: setup, registers, tile work.
use pyo3::prelude::*;
use tt_program::calls::compute::codes::{self, broadcast, dim, eltwise, pool};
use tt_program::calls::compute::{Copying, Math, VectorCall};
use tt_program::state::compute::setups;

use super::{Answer, Checked, ProgramRun, calls};
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
        let call = VectorCall::new(
            (&names.0, &names.1),
            (&function.0, &function.1),
            tiles,
            &parameters,
            codes::dst_format(makes),
        );
        Ok(Self { call: call.map_err(|text| exception(py, "KernelArgumentError", (text,)))? })
    }
}

/// Returns the state SFPU inits set beyond the common state.
#[pyfunction]
pub fn sfpu_setups() -> Vec<setups::Row> {
    setups::rows()
}

// Setup of the compute engine.
calls! {
    local run {
        hw_startup(a: u32, b: u32, out: u32) = run.hw_startup(a, b, out);

        /// A block of (0, 0, 0) is that of single tiles.
        matmul_init(in0: u32, in1: u32, transpose: bool, block: (u32, u32, u32)) =
            run.init_math(codes::matmul(transpose, block), &[in0, in1]);

        eltwise_init(op: u32, kind: u32, accumulate: bool, in0: u32, in1: u32) =
            run.init_math(codes::eltwise_math(op, kind, accumulate), &[in0, in1]);

        reuse_init(op: u32, to_a: bool, cb: u32) = run.init_math(Math::Reuse { op: eltwise(op), to_a }, &[cb]);
        copy_init(cb: u32, transpose: bool) = run.init_math(codes::copying(transpose), &[cb]);

        unary_bcast_init(kind: u32, cb: u32) =
            run.init_math(Math::Copy(Copying::Spread(broadcast(kind))), &[cb]);

        reduce_init(kind: u32, along: u32, cb: u32, scaler: u32) =
            run.init_math(Math::Reduce { pool: pool(kind), dim: dim(along) }, &[cb, scaler]);

        reduce_uninit() = run.reduce_uninit();
        tilize_init(cb: u32, block: u32) = run.init_math(Math::Tilize { block }, &[cb]);
        untilize_init(cb: u32) = run.init_math(Math::Untilize, &[cb]);

        /// `full` 0: the packer packs tiles again.
        pack_untilize_mode(columns: u32, full: u32) = run.pack_untilize_mode((full > 0).then_some((columns, full)));

        transpose_dst_init() = run.init_math(Math::TransposeDst, &[]);
        end_math() = run.end_math();
        vector_init(call: Py<PyVectorCall>, mode: u32) = run.vector_init(&call.get().call, mode);

        #[pyo3(signature = (a, b, old_a=Checked(-1), old_b=Checked(-1)))]
        reconfig_data_format(a: i64, b: i64, old_a: i64, old_b: i64) = run.reconfig_data_format(a, b, old_a, old_b);

        #[pyo3(signature = (cb, old=Checked(-1)))]
        pack_reconfig_data_format(cb: u32, old: i64) = run.pack_reconfig_data_format(cb, old);

        pack_reconfig_l1_acc(accumulate: bool) = run.pack_reconfig_l1_acc(accumulate);
        pack_relu_config(mode: u32, threshold: u16) = run.pack_relu_config(mode, threshold);
    }
}

// Registers, and work on tiles of Dst.
calls! {
    local run {
        tile_regs_acquire() -> bool = run.tile_regs_acquire();
        tile_regs_commit() = run.tile_regs_commit();
        tile_regs_wait() = run.tile_regs_wait();
        tile_regs_release() = run.tile_regs_release();
        acquire_dst() -> bool = run.acquire_dst();
        release_dst() = run.release_dst();
        transpose_dst(dst: u32) = run.transpose_dst(dst);

        vector(call: Py<PyVectorCall>, a: u32, b: u32, c: u32, out: u32, mode: u32) =
            run.vector(&call.get().call, [a, b, c], out, mode);

        /// A function that takes its tiles in a list.
        vector_tiles(call: Py<PyVectorCall>, tiles: Vec<u32>) = run.vector_tiles(&call.get().call, &tiles);
    }
}

// Work on tiles of CBs.
calls! {
    memory (run, device) {
        matmul_tiles(in0: u32, in1: u32, tile0: u32, tile1: u32, dst: u32) =
            run.matmul_tiles(device, (in0, in1), (tile0, tile1), dst);

        matmul_block(
            in0: u32, in1: u32, tile0: u32, tile1: u32, dst: u32, transpose: bool, ct: u32, rt: u32, kt: u32
        ) =
            run.matmul_block(device, (in0, in1), (tile0, tile1), dst, transpose, (ct, rt, kt));

        eltwise_tiles(op: u32, kind: u32, in0: u32, in1: u32, tile0: u32, tile1: u32, dst: u32) =
            run.eltwise_tiles(device, (eltwise(op), broadcast(kind)), (in0, in1), (tile0, tile1), dst);

        eltwise_reuse_dst(op: u32, to_a: bool, cb: u32, tile: u32, dst: u32) =
            run.eltwise_reuse_dst(device, eltwise(op), to_a, (cb, tile), dst);

        copy_tile(cb: u32, tile: u32, dst: u32) = run.copy_tile(device, Copying::Plain, cb, tile, dst);
        transpose_tile(cb: u32, tile: u32, dst: u32) = run.copy_tile(device, Copying::Transposed, cb, tile, dst);

        unary_bcast(kind: u32, cb: u32, tile: u32, dst: u32) =
            run.copy_tile(device, Copying::Spread(broadcast(kind)), cb, tile, dst);

        reduce_tile(kind: u32, along: u32, cb: u32, scaler: u32, tile: u32, scaler_tile: u32, dst: u32) =
            run.reduce_tile(device, (pool(kind), dim(along)), (cb, scaler), (tile, scaler_tile), dst);

        tilize_block(input: u32, block: u32, output: u32, first_in: u32, first_out: u32) =
            run.tilize_block(device, input, block, output, (first_in, first_out));

        tilize_to_dst(input: u32, block: u32, dst: u32, first_in: u32) =
            run.tilize_to_dst(device, input, block, dst, first_in);

        untilize_block(input: u32, columns: u32, output: u32) = run.untilize_block(device, input, columns, output);

        pack_untilize_block(input: u32, output: u32, rows: u32, place: u32) =
            run.pack_untilize_block(device, (input, output), rows, place);

        pack_untilize_dest(output: u32, rows: u32, place: u32, first: u32) =
            run.pack_untilize_dest(device, output, rows, place, first);

        /// `place` -1: after the tiles packed since the last push.
        pack_tile(dst: u32, cb: u32, place: i64) = run.pack_tile(device, dst, cb, u32::try_from(place).ok());
    }
}
