"""Errors of `ttnn.matmul`, `ttnn.linear` and `ttnn.addmm`, and their texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.matmul_operands import integers, numbers, on, program, sharded
from ttnn.base import exceptions

Make = Callable[..., ttnn.Tensor]

UNSUPPORTED: dict[str, tuple[Callable[[Make], Any], str]] = {
    "no fidelity": (
        lambda t: ttnn.matmul(t(32, 32), t(32, 32), compute_kernel_config=ttnn.WormholeComputeKernelConfig()),
        "compute_kernel_config without math_fidelity",
    ),
    "throttle": (
        lambda t: ttnn.matmul(
            t(32, 32),
            t(32, 32),
            compute_kernel_config=ttnn.WormholeComputeKernelConfig(
                math_fidelity=ttnn.MathFidelity.LoFi, throttle_level=ttnn.ThrottleLevel.LEVEL_1
            ),
        ),
        "throttle_level=ThrottleLevel.LEVEL_1 changes only the time",
    ),
    "column offset": (
        lambda t: ttnn.linear(t(32, 32), t(32, 32), in0_column_offset=32),
        "in0_column_offset=32 is not modelled",
    ),
    "fused activation": (
        lambda t: ttnn.matmul(
            t(32, 32),
            t(32, 32),
            activation="selu",
            core_grid=ttnn.CoreGrid(x=1, y=1),
            compute_kernel_config=ttnn.WormholeComputeKernelConfig(
                math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=True
            ),
        ),
        "math_approx_mode=True with the fused activation SELU",
    ),
    "fused activation in a 32-bit Dst": (
        lambda t: ttnn.matmul(
            t(32, 32),
            t(32, 32),
            activation="softplus",
            core_grid=ttnn.CoreGrid(x=1, y=1),
            dtype=ttnn.float32,
        ),
        "fp32_dest_acc_en=True with the fused activation SOFTPLUS",
    ),
    "untilize_out": (
        lambda t: ttnn.matmul(
            t(32, 32),
            t(32, 32),
            program_config=program("1D", (1, 1), untilize_out=True),
        ),
        "untilize_out=True with an interleaved result",
    ),
    "ring of interleaved tensors": (
        lambda t: ttnn.matmul(t(32, 32), t(32, 32), program_config=program("1D", (1, 1), gather_in0=True)),
        "gather_in0 with operands or an output that are not WIDTH_SHARDED in L1 is not modelled",
    ),
    "ring with a transposed operand": (
        lambda t: ttnn.matmul(
            t(32, 32), t(32, 32), transpose_b=True, program_config=program("1D", (1, 1), gather_in0=True)
        ),
        "gather_in0 with transpose_b is not modelled",
    ),
    "stream_in1": (
        lambda t: ttnn.matmul(
            t(32, 32),
            t(32, 32),
            program_config=program("1D", (1, 1), stream_in1=True),
        ),
        "stream_in1 is not modelled",
    ),
    "transposed vector": (
        lambda t: ttnn.matmul(t(32), t(32, 32), transpose_a=True),
        "transpose_a of a tensor of rank 1 is not modelled",
    ),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_matmul_options_raise(device: ttnn.MeshDevice, name: str) -> None:
    call, message = UNSUPPORTED[name]
    with pytest.raises(exceptions.UnsupportedError, match=message):
        call(lambda *shape: on(device, integers(1, *shape)))


def test_host_operands_are_refused(device: ttnn.MeshDevice) -> None:
    host = ttnn.Tensor(integers(1, 32, 32), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
    with pytest.raises(exceptions.StorageError, match="Operands to matmul need to be on device!"):
        ttnn.matmul(host, on(device, integers(1, 32, 32)))
    with pytest.raises(exceptions.StorageError, match="input_tensor_b is a host tensor"):
        ttnn.matmul(on(device, integers(1, 32, 32)), host)


def test_operands_of_two_devices_are_refused(device: ttnn.MeshDevice) -> None:
    other = ttnn.open_device(device_id=1)
    try:
        with pytest.raises(exceptions.StorageError, match="need to be on the same device!"):
            ttnn.matmul(on(device, integers(1, 32, 32)), on(other, integers(1, 32, 32)))
    finally:
        ttnn.close_device(other)


def test_inner_dimensions_message(device: ttnn.MeshDevice) -> None:
    with pytest.raises(exceptions.ShapeError) as caught:
        ttnn.matmul(on(device, integers(1, 32, 64)), on(device, integers(1, 96, 32)))
    assert str(caught.value) == (
        "ttnn.matmul: inner dimensions differ: input_tensor_a is (32, 64) (K=64), input_tensor_b is (96, 32) (K=96), "
        "after "
        "the requested transposes. Pass transpose_b=True if b is stored as [N, K].\n"
        "info:\n"
        "The width of the first tensor must be equal to the height of the second tensor. Mismatch: width=64 height=96"
    )


def test_wrong_addmm_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    x = on(device, integers(1, 32, 32))
    integer = ttnn.zeros((32, 32), ttnn.int32, ttnn.TILE_LAYOUT, device)
    with pytest.raises(ttnn.DTypeError) as caught:
        ttnn.addmm(x, integer, x)
    assert str(caught.value) == (
        "ttnn.addmm: mat1_tensor is INT32; typecast it first. ttnn.addmm takes BFLOAT16, FLOAT32, BFLOAT8_B in "
        "TILE_LAYOUT.\ninfo:\nonly ttnn.bfloat16, ttnn.float32 and ttnn.bfloat8_b types are supported for mat1_tensor"
    )
    with pytest.raises(ttnn.ParameterError, match="alpha parameter cannot be 0"):
        ttnn.addmm(x, x, x, alpha=0.0)
    wide = on(device, integers(1, 32, 64))
    with pytest.raises(ttnn.ShapeError, match="input_tensor must have shape matching one of result"):
        ttnn.addmm(wide, x, x)
    assert np.array_equal(numbers(ttnn.addmm(wide, x, x, beta=0.0)), numbers(ttnn.matmul(x, x)))


def test_failures_hold_no_memory(device: ttnn.MeshDevice) -> None:
    a, b = on(device, integers(1, 64, 64)), on(device, integers(2, 64, 64))
    before = device.engine.state_hash()
    calls: list[dict[str, Any]] = [
        {"activation": "no such function"},
        {"activation": "log", "core_grid": ttnn.CoreGrid(x=2, y=2)},
        {"memory_config": sharded("BLOCK", 8, 8, 32, 32), "core_grid": ttnn.CoreGrid(x=1, y=1), "dtype": ttnn.uint16},
    ]
    for options in calls:
        with pytest.raises(exceptions.TtnnError):
            ttnn.matmul(a, b, **options)
    assert device.engine.state_hash() == before


@pytest.mark.parametrize(("x", "y"), [(0, 8), (8, 0), (-1, 8)])
def test_a_grid_without_cores(device: ttnn.MeshDevice, x: int, y: int) -> None:
    a = on(device, integers(1, 64, 64))
    with pytest.raises(exceptions.ProgramConfigError, match=rf"core_grid=\(x={x}, y={y}\) has no cores"):
        ttnn.matmul(a, a, core_grid=ttnn.CoreGrid(x=x, y=y))


@pytest.mark.parametrize("dtype", [ttnn.int32, ttnn.uint32, ttnn.uint16, ttnn.uint8], ids=lambda dtype: dtype.name)
def test_integers_are_refused(device: ttnn.MeshDevice, dtype: ttnn.DataType) -> None:
    floats, integer = on(device, integers(1, 32, 32)), ttnn.zeros((32, 32), dtype, ttnn.TILE_LAYOUT, device)
    with pytest.raises(exceptions.DTypeError, match=f"operand A is {dtype.name}"):
        ttnn.matmul(integer, integer)
    with pytest.raises(exceptions.DTypeError, match=f"operand B is {dtype.name}"):
        ttnn.matmul(floats, integer)
    with pytest.raises(exceptions.DTypeError, match=f"the result cannot be {dtype.name}"):
        ttnn.matmul(floats, floats, dtype=dtype)
    with pytest.raises(exceptions.DTypeError, match=f"bias cannot be {dtype.name}"):
        ttnn.linear(floats, floats, bias=ttnn.zeros((1, 32), dtype, ttnn.TILE_LAYOUT, device))


def test_a_result_of_no_data_type_is_refused(device: ttnn.MeshDevice) -> None:
    floats = on(device, integers(1, 32, 32))
    for operator in (ttnn.matmul, ttnn.linear):
        with pytest.raises(exceptions.DTypeError, match="the result cannot be INVALID"):
            operator(floats, floats, dtype=ttnn.DataType.INVALID)


@pytest.mark.parametrize("shape", [(33,), (2, 2, 1, 33), (3, 64, 32)], ids=str)
def test_a_bias_that_would_be_added_must_broadcast(device: ttnn.MeshDevice, shape: tuple[int, ...]) -> None:
    """The refusal comes from `linear`, before the product."""
    a, b = on(device, integers(1, 2, 64, 64)), on(device, integers(2, 2, 64, 32))
    text = re.escape(f"ttnn.linear: cannot broadcast [2, 64, 32] with {list(shape)}: dimension ")
    with pytest.raises(ttnn.ShapeError, match=text):
        ttnn.linear(a, b, bias=on(device, integers(3, *shape)))


def test_a_ring_takes_only_its_shards(device: ttnn.MeshDevice) -> None:
    a = on(device, integers(1, 32, 256), memory_config=sharded("WIDTH", 4, 1, 32, 64))
    b = on(device, integers(2, 256, 128), memory_config=sharded("WIDTH", 4, 1, 256, 32))
    memory = sharded("WIDTH", 4, 1, 32, 32)
    ring = program("1D", (4, 1), in0_block_w=1, mcast_in0=False, gather_in0=True)
    with pytest.raises(ttnn.UnsupportedError, match=r"in0_block_w=2, per_core_M=1 and per_core_N=1 are"):
        ttnn.matmul(a, b, program_config=ring, memory_config=memory)
    ring = program("1D", (4, 1), in0_block_w=2, mcast_in0=False, gather_in0=True)
    bias = on(device, integers(3, 1, 128))
    with pytest.raises(ttnn.UnsupportedError, match="gather_in0 with a fused bias"):
        ttnn.linear(a, b, bias=bias, program_config=ring, memory_config=memory)
    with pytest.raises(ttnn.UnsupportedError, match="on different cores"):
        ttnn.matmul(a, b, program_config=ring, memory_config=sharded("WIDTH", 2, 2, 32, 32))


@pytest.mark.parametrize(
    ("wrong", "options", "error", "message"),
    [
        ({"dtype": ttnn.float32}, {"dtype": ttnn.bfloat16}, exceptions.DTypeError, "the data type BFLOAT16"),
        ({"memory_config": ttnn.L1_MEMORY_CONFIG}, {"memory_config": ttnn.DRAM_MEMORY_CONFIG},
         exceptions.MemoryConfigError, "the memory configuration INTERLEAVED/DRAM"),
        ({"layout": ttnn.ROW_MAJOR_LAYOUT}, {}, exceptions.LayoutError, "has to be in TILE_LAYOUT"),
        ({"shape": (5, 3)}, {}, exceptions.ShapeError, r"the shape \(3, 5\)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("inner", [0, 32])
def test_a_tensor_to_write_to_is_what_the_product_is(
    device: ttnn.MeshDevice,
    inner: int,
    wrong: dict[str, Any],
    options: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    """Also for an empty matmul, which no program writes."""
    like = {"shape": (3, 5), "dtype": ttnn.bfloat16, "layout": ttnn.TILE_LAYOUT, "device": device}
    a, b = (ttnn.zeros(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device) for shape in ((3, inner), (inner, 5)))
    with pytest.raises(error, match=message):
        ttnn.matmul(a, b, optional_output_tensor=ttnn.zeros(**like | wrong), **options)
