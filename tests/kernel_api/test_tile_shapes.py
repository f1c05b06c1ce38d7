"""Tiles other than 32x32, with small integers, against numpy.

Every step is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import ttnn
from testkit import tile_parts
from testkit.kernel_parts import pack_one
from testkit.tile_parts import Matrix
from ttnn import kernel_api as api
from ttnn.base.exceptions import KernelArgumentError, UnsupportedError

RNG = np.random.default_rng(32)
SHAPES = [(32, 32), (16, 32), (32, 16), (16, 16), (8, 32), (4, 32), (2, 32), (1, 32), (8, 16)]


def small(shape: tuple[int, int], low: int = -2, high: int = 3) -> npt.NDArray[Any]:
    return RNG.integers(low, high, shape).astype(ml_dtypes.bfloat16)


def to_out(step: Callable[[], object], inputs: int) -> Callable[[], None]:
    """Return a compute kernel: `step` leaves a tile in Dst 0."""

    def compute() -> None:
        for cb in range(inputs):
            api.cb_wait_front(cb, 1)
        step()
        pack_one()
        for cb in range(inputs):
            api.cb_pop_front(cb, 1)

    return compute


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("data_format", [ml_dtypes.bfloat16, np.float32], ids=["bf16", "fp32"])
def test_copy_tile_of_small_tiles_keeps_values(
    device: ttnn.MeshDevice, shape: tuple[int, int], data_format: Any
) -> None:
    data = small(shape, -100, 100).astype(data_format)

    def step() -> None:
        api.compute_kernel_hw_startup(0, 16)
        api.copy_init(0)
        api.tile_regs_acquire()
        api.copy_tile(0, 0, 0)

    out = Matrix(np.zeros(shape, data_format), shape)
    result = tile_parts.run(device, to_out(step, 1), [Matrix(data, shape)], out)
    np.testing.assert_array_equal(result, data)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("verb", ["add", "sub", "mul"])
def test_eltwise_binary_of_small_tiles_matches_numpy(
    device: ttnn.MeshDevice, shape: tuple[int, int], verb: str
) -> None:
    a, b = small(shape, -9, 9), small(shape, -9, 9)

    def step() -> None:
        api.compute_kernel_hw_startup(0, 1, 16)
        getattr(api, f"{verb}_tiles_init")(0, 1)
        api.tile_regs_acquire()
        getattr(api, f"{verb}_tiles")(0, 1, 0, 0, 0)

    reference = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[verb]
    out = Matrix(np.zeros(shape, ml_dtypes.bfloat16), shape)
    result = tile_parts.run(device, to_out(step, 2), [Matrix(a, shape), Matrix(b, shape)], out)
    np.testing.assert_array_equal(result.astype(np.float32), reference(a.astype(np.float32), b.astype(np.float32)))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sfpu_functions_of_small_tiles_match_numpy(device: ttnn.MeshDevice, shape: tuple[int, int]) -> None:
    data = small(shape, -9, 9)

    def step() -> None:
        api.init_sfpu(0, 16)
        api.tile_regs_acquire()
        api.copy_tile(0, 0, 0)
        api.relu_tile_init()
        api.relu_tile(0)

    out = Matrix(np.zeros(shape, ml_dtypes.bfloat16), shape)
    result = tile_parts.run(device, to_out(step, 1), [Matrix(data, shape)], out)
    np.testing.assert_array_equal(result.astype(np.float32), np.maximum(data.astype(np.float32), 0))


PRODUCTS = {((height, 32), (32, 32)) for height in (32, 16, 8, 4, 2, 1)}
PRODUCTS |= {((height, 32), (32, 16)) for height in (32, 16, 8)}
PRODUCTS |= {((height, 16), (16, 32)) for height in (32, 16, 8)}


@pytest.mark.parametrize(("left", "right"), sorted(PRODUCTS), ids=str)
def test_matmul_of_small_tiles_matches_numpy(
    device: ttnn.MeshDevice, left: tuple[int, int], right: tuple[int, int]
) -> None:
    a, b = small((left[0], 2 * left[1])), small((2 * right[0], right[1]))
    shape = (left[0], right[1])

    def compute() -> None:
        api.mm_init(0, 1, 16)
        api.cb_wait_front(0, 2)
        api.cb_wait_front(1, 2)
        api.tile_regs_acquire()
        api.matmul_tiles(0, 1, 0, 0, 0)
        api.matmul_tiles(0, 1, 1, 1, 0)
        pack_one()
        api.cb_pop_front(0, 2)
        api.cb_pop_front(1, 2)

    out = Matrix(np.zeros(shape, ml_dtypes.bfloat16), shape)
    result = tile_parts.run(device, compute, [Matrix(a, left), Matrix(b, right)], out)
    np.testing.assert_array_equal(result.astype(np.float32), a.astype(np.float32) @ b.astype(np.float32))


def product(in0: int, in1: int, transpose: int = 0) -> Callable[[], None]:
    def step() -> None:
        api.mm_init(in0, in1, 16, transpose)
        api.tile_regs_acquire()
        api.matmul_tiles(in0, in1, 0, 0, 0)

    return step


@pytest.mark.parametrize(
    ("left", "right", "transpose", "error", "text"),
    [
        ((16, 16), (16, 16), 0, UnsupportedError, "tile products of 16x16 by 16x16: the FPU's programs"),
        ((16, 32), (32, 32), 1, UnsupportedError, "tile products of 16x32 by 32x32 with a transposed right operand"),
        ((32, 16), (32, 32), 0, KernelArgumentError, "tile products of 32x16 by 32x32: the inner dimensions differ"),
        ((4, 32), (32, 16), 0, UnsupportedError, "tile products of 4x32 by 32x16: the FPU's programs"),
    ],
)
def test_matmul_of_unsupported_tile_shapes_raises(
    device: ttnn.MeshDevice,
    left: tuple[int, int],
    right: tuple[int, int],
    transpose: int,
    error: type[Exception],
    text: str,
) -> None:
    inputs = [Matrix(small(left), left), Matrix(small(right), right)]
    with pytest.raises(error, match=text):
        tile_parts.run(device, to_out(product(0, 1, transpose), 2), inputs, Matrix(small((32, 32))))


REDUCED = [(shape, "REDUCE_ROW") for shape in SHAPES]
REDUCED += [(shape, "REDUCE_COL") for shape in SHAPES if shape[0] >= 16]


def reduction(pool: str, dim: str) -> Callable[[], None]:
    step = {"reduce_type": api.PoolType[pool], "reduce_dim": api.ReduceDim[dim]}

    def compute() -> None:
        api.binary_op_init_common(0, 1, 16)
        api.reduce_init(0, 1, 16, **step)
        api.tile_regs_acquire()
        api.reduce_tile(0, 1, 0, 0, 0, **step)

    return compute


@pytest.mark.parametrize(("shape", "dim"), REDUCED, ids=str)
@pytest.mark.parametrize("pool", ["SUM", "MAX"])
def test_reduce_of_small_tiles_matches_numpy(
    device: ttnn.MeshDevice, shape: tuple[int, int], dim: str, pool: str
) -> None:
    # All below zero: zeros that pad a tile would show in the maximum.
    data = small(shape, -7, -1) if pool == "MAX" else small(shape)
    scaler = np.ones((32, 32), ml_dtypes.bfloat16)
    out = Matrix(np.zeros(shape, ml_dtypes.bfloat16), shape)
    result = tile_parts.run(device, to_out(reduction(pool, dim), 2), [Matrix(data, shape), Matrix(scaler)], out)
    expected = np.zeros(shape, np.float32)
    reduce = np.sum if pool == "SUM" else np.max
    if dim == "REDUCE_ROW":
        expected[:, 0] = reduce(data.astype(np.float32), axis=1)
    else:
        expected[0] = reduce(data.astype(np.float32), axis=0)
    np.testing.assert_array_equal(result.astype(np.float32), expected)


def test_reduce_of_low_faces_raises(device: ttnn.MeshDevice) -> None:
    scaler = Matrix(np.ones((32, 32), ml_dtypes.bfloat16))
    inputs = [Matrix(small((8, 32)), (8, 32)), scaler]
    with pytest.raises(UnsupportedError, match="this reduction of tiles of 8x32: what the chip does is not specified"):
        tile_parts.run(device, to_out(reduction("SUM", "REDUCE_COL"), 2), inputs, Matrix(small((32, 32))))


def copy() -> None:
    api.compute_kernel_hw_startup(0, 16)
    api.copy_init(0)
    api.tile_regs_acquire()
    api.copy_tile(0, 0, 0)


def test_the_packer_takes_the_upper_rows_of_a_tile(device: ttnn.MeshDevice) -> None:
    data = small((32, 32), -9, 9)
    out = Matrix(np.zeros((16, 32), ml_dtypes.bfloat16), (16, 32))
    result = tile_parts.run(device, to_out(copy, 1), [Matrix(data)], out)
    np.testing.assert_array_equal(result, data[:16])


@pytest.mark.parametrize(
    ("source", "target"), [((16, 32), (32, 32)), ((32, 32), (32, 16)), ((16, 16), (16, 32))], ids=str
)
def test_the_packer_refuses_other_shapes(
    device: ttnn.MeshDevice, source: tuple[int, int], target: tuple[int, int]
) -> None:
    text = rf"Dst\[0\] holds a tile of {source[0]}x{source[1]}, the CB takes tiles of {target[0]}x{target[1]}"
    with pytest.raises(KernelArgumentError, match=text):
        tile_parts.run(device, to_out(copy, 1), [Matrix(small(source), source)], Matrix(small(target), target))


def test_operands_of_different_tile_shapes_raise(device: ttnn.MeshDevice) -> None:
    def step() -> None:
        api.compute_kernel_hw_startup(0, 1, 16)
        api.add_tiles_init(0, 1)
        api.tile_regs_acquire()
        api.add_tiles(0, 1, 0, 0, 0)

    inputs = [Matrix(small((16, 32)), (16, 32)), Matrix(small((32, 32)))]
    with pytest.raises(KernelArgumentError, match="the operands are tiles of 16x32 and of 32x32; give both one shape"):
        tile_parts.run(device, to_out(step, 2), inputs, Matrix(small((16, 32)), (16, 32)))


def transpose() -> None:
    api.transpose_wh_init(0, 16)
    api.tile_regs_acquire()
    api.transpose_wh_tile(0, 0, 0)


def running_sum() -> None:
    copy()
    api.cumsum_tile_init()
    api.cumsum_tile(0)


@pytest.mark.parametrize(
    ("step", "text"), [(transpose, "transposes of tiles of 16x32"), (running_sum, "cumsum of tiles")]
)
def test_functions_for_whole_tiles_raise_on_small_tiles(
    device: ttnn.MeshDevice, step: Callable[[], None], text: str
) -> None:
    shape = (16, 32)
    with pytest.raises(UnsupportedError, match=text):
        tile_parts.run(device, to_out(step, 1), [Matrix(small(shape), shape)], Matrix(small(shape), shape))


@pytest.mark.parametrize(("columns", "rows"), [(0, 1), (1, 0), (0, 0)])
def test_empty_block_raises(columns: int, rows: int, device: ttnn.MeshDevice) -> None:
    def step() -> None:
        api.mm_block_init(0, 1, 16, 0, columns, rows, 1)
        api.tile_regs_acquire()
        api.matmul_block(0, 1, 0, 0, 0, 0, columns, rows, 1)

    tile = Matrix(small((32, 32)))
    with pytest.raises(KernelArgumentError, match="a block of no tiles"):
        tile_parts.run(device, to_out(step, 2), [tile, tile], tile)


def test_each_end_of_products_takes_the_same_time(device: ttnn.MeshDevice) -> None:
    def step(times: int) -> None:
        api.mm_init(0, 1, 16)
        api.tile_regs_acquire()
        api.matmul_tiles(0, 1, 0, 0, 0)
        for _ in range(times):
            api.mm_uninit(0, 1)

    tile = Matrix(small((32, 32)))
    kernels = [to_out(partial(step, times), 2) for times in (50, 100, 150)]
    few, more, most = (tile_parts.run_report(device, kernel, [tile, tile], tile).cycles for kernel in kernels)
    assert most - more == more - few > 0
