"""Shared softmax example code: buffers and steps of a row."""

from __future__ import annotations

import numpy as np

import ttnn
from examples.common import add_cb
from ttnn import metal
from ttnn.kernel_api import *

X, MAX_SCALER, SUM_SCALER, OUT, EXPS, MAX, RECIP = 0, 1, 2, 16, 24, 25, 26
"""Circular buffers of the softmax.

Input, ones for maximum and sum, result, exponentials, a row's maximum, its reciprocal sum.
"""
FLOAT = metal.DataFormat.Float32
FLOAT_TILE = 4096
ONE = 0x3F80_0000
COLUMN_0 = {"reduce_dim": ReduceDim.REDUCE_ROW}


def compute_config(
    device: ttnn.MeshDevice, arguments: list[int], unpack_to_dest: tuple[int, ...] = ()
) -> metal.ComputeConfig:
    """Return the configuration that `ttnn.softmax` uses.

    HiFi3, on Blackhole HiFi4, and sums in a 32-bit Dst.
    """
    fidelity = metal.MathFidelity.HiFi4 if ttnn.device.is_blackhole(device) else metal.MathFidelity.HiFi3
    modes = [metal.UnpackToDestMode.Default] * 32
    for index in unpack_to_dest:
        modes[index] = metal.UnpackToDestMode.UnpackToDestFp32
    return metal.ComputeConfig(
        math_fidelity=fidelity,
        fp32_dest_acc_en=True,
        unpack_to_dest_mode=modes,
        compile_args=arguments,
    )


def float_cb(program: metal.Program, cores: metal.CoreRange | metal.CoreRangeSet, index: int, pages: int) -> None:
    """Create a circular buffer of float32 tiles on the cores."""
    add_cb(program, cores, index, pages, FLOAT, FLOAT_TILE)


def fill_ones(cb: int, dtype: object, one: int) -> None:
    """Reader: a reduction's factor tile, ones in faces' row 0."""
    cb_reserve_back(cb, 1)
    faces = L1Pointer(get_write_ptr(cb), dtype)
    for face in range(4):
        faces.write(np.full(16, one, dtype), 256 * face)
    cb_push_back(cb, 1)


def fill_max_scaler() -> None:
    """Reader: bfloat16 ones."""
    fill_ones(MAX_SCALER, np.uint16, ONE >> 16)


def fill_sum_scaler() -> None:
    """Reader: float32 ones."""
    fill_ones(SUM_SCALER, np.uint32, ONE)


def pack_one(cb: int) -> None:
    """Hand Dst 0 to the packer and push it to a buffer."""
    tile_regs_commit()
    cb_reserve_back(cb, 1)
    tile_regs_wait()
    pack_tile(0, cb)
    tile_regs_release()
    cb_push_back(cb, 1)


def row_maximum(wt: int) -> None:
    """Compute: the maximum of `wt` row tiles, in column 0."""
    reconfig_data_format(X, MAX_SCALER)
    pack_reconfig_data_format(MAX)
    reduce_init(X, MAX_SCALER, MAX, reduce_type=PoolType.MAX, **COLUMN_0)
    tile_regs_acquire()
    for tile in range(wt):
        reduce_tile(X, MAX_SCALER, tile, 0, 0, reduce_type=PoolType.MAX, **COLUMN_0)
    pack_one(MAX)
    reduce_uninit()


def row_exponentials(wt: int) -> None:
    """Compute: exp(x - maximum), tile by tile."""
    cb_wait_front(MAX, 1)
    reconfig_data_format(X, MAX)
    pack_reconfig_data_format(EXPS)
    sub_bcast_cols_init(X, MAX)
    exp_tile_init(approx=True)
    for tile in range(wt):
        tile_regs_acquire()
        sub_tiles_bcast_cols(X, MAX, tile, 0, 0)
        exp_tile(0, approx=True)
        pack_one(EXPS)
    cb_pop_front(MAX, 1)


def sum_row(exps: int, wt: int) -> None:
    """Compute: the sum of a row, in column 0 of Dst 0."""
    reconfig_data_format(exps, SUM_SCALER)
    reduce_init(exps, SUM_SCALER, reduce_type=PoolType.SUM, **COLUMN_0)
    tile_regs_acquire()
    for tile in range(wt):
        reduce_tile(exps, SUM_SCALER, tile, 0, 0, reduce_type=PoolType.SUM, **COLUMN_0)


def row_reciprocal(wt: int) -> None:
    """Compute: one over the sum of a row."""
    pack_reconfig_data_format(RECIP)
    sum_row(EXPS, wt)
    recip_tile_init()
    recip_tile(0)
    pack_one(RECIP)
    reduce_uninit()


def row_products(exps: int, factor: int, wt: int) -> None:
    """Compute: the tiles of a row times column 0 of `factor`."""
    cb_wait_front(factor, 1)
    reconfig_data_format(exps, factor)
    pack_reconfig_data_format(OUT)
    mul_bcast_cols_init(exps, factor)
    for tile in range(wt):
        tile_regs_acquire()
        mul_tiles_bcast_cols(exps, factor, tile, 0, 0)
        pack_one(OUT)
    cb_pop_front(factor, 1)


def by_operator(x: ttnn.Tensor, *, stable: bool) -> ttnn.Tensor:
    """Return the result of the operator."""
    return ttnn.softmax(x, -1, numeric_stable=stable)
