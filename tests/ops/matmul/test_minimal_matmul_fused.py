"""The experimental matmul with split or gated results.

Cut into parts, or scaled, gated and added to another tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ttnn
from testkit import tile_parts
from testkit.tile_parts import api_bits
from ttnn import kernel_api as api
from ttnn import metal

NARROW = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4)
FINE = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)


def _tensor(
    shape: tuple[int, ...], device: ttnn.MeshDevice, seed: int, dtype: ttnn.DataType = ttnn.bfloat16
) -> ttnn.Tensor:
    values = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    return ttnn.to_device(ttnn.to_layout(ttnn.Tensor(values, dtype), ttnn.TILE_LAYOUT), device)


def _values(tensor: ttnn.Tensor) -> np.ndarray:
    return np.asarray(tensor.to_numpy(), np.float64)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.float32])
@pytest.mark.parametrize("chunks", [1, 2, 3])
def test_parts_are_those_of_the_product(chunks: int, dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    a, b = _tensor((2, 40, 96), device, 0), _tensor((96, 192), device, 1)
    options: dict[str, Any] = {
        "bias_tensor": _tensor((1, 192), device, 2),
        "fused_activation": ttnn.UnaryWithParam(ttnn.UnaryOpType.SILU),
        "dtype": dtype,
    }
    parts = ttnn.experimental.minimal_matmul_split(a, b, chunks=chunks, **options)
    whole = _values(ttnn.experimental.minimal_matmul(a, b, **options))
    assert [tuple(part.shape) for part in parts] == [(2, 40, 192 // chunks)] * chunks
    for part, expected in zip(parts, np.split(whole, chunks, axis=-1), strict=True):
        assert part.dtype is dtype
        np.testing.assert_array_equal(_values(part), expected)


@pytest.mark.parametrize(("inner", "block"), [(288, 4), (96, 2), (288, None)])
@pytest.mark.parametrize("config", [None, NARROW])
def test_a_short_last_block_is_one_of_zeros(
    inner: int, block: int | None, config: Any, device: ttnn.MeshDevice
) -> None:
    a, b = _tensor((64, inner), device, 0), _tensor((inner, 64), device, 1)
    size = 8 if block is None else block
    padded = -(-inner // (32 * size)) * 32 * size
    longer = ttnn.pad(a, [(0, 0), (0, padded - inner)], 0.0), ttnn.pad(b, [(0, padded - inner), (0, 0)], 0.0)
    blocks = None if block is None else ttnn.MinimalMatmulConfig(K_block_size=block)
    options = {"config": blocks, "compute_kernel_config": config, "dtype": ttnn.float32}
    result = ttnn.experimental.minimal_matmul(a, b, **options)
    np.testing.assert_array_equal(_values(result), _values(ttnn.experimental.minimal_matmul(*longer, **options)))
    assert np.max(np.abs(_values(result) - _values(a) @ _values(b))) < 0.05 * np.sqrt(inner)


def test_what_lies_behind_the_last_column_does_not_count(device: ttnn.MeshDevice) -> None:
    a, b = _tensor((32, 300), device, 0), _tensor((300, 32), device, 1)
    expected = ttnn.experimental.minimal_matmul(a, b)
    a = ttnn.fill_implicit_tile_padding(a, 7.0)
    np.testing.assert_array_equal(_values(ttnn.experimental.minimal_matmul(a, b)), _values(expected))


def test_one_block_of_a_narrow_dst_is_packed_once(device: ttnn.MeshDevice) -> None:
    a, b, bias = _tensor((32, 64), device, 0), _tensor((64, 64), device, 1), _tensor((1, 64), device, 2)
    options = {"bias_tensor": bias, "compute_kernel_config": NARROW}
    between = ttnn.experimental.minimal_matmul(a, b, **options)
    blocks = ttnn.experimental.minimal_matmul(a, b, **options, dtype=ttnn.bfloat8_b)
    assert blocks.dtype is ttnn.bfloat8_b
    # The sum with the bias is a bfloat16 number in Dst, and packed to either type from there.
    packed = ttnn.add(between, ttnn.zeros_like(between), dtype=ttnn.bfloat8_b)
    np.testing.assert_array_equal(_values(blocks), _values(packed))


def _on_tiles(body: Callable[[], object]) -> Callable[[], None]:
    """Return a binary compute kernel.

    `body` on CBs 0 and 1, Dst 0 to CB 16.
    """

    def compute() -> None:
        api.compute_kernel_hw_startup(0, 1, 16)
        api.cb_wait_front(0, 1)
        api.cb_wait_front(1, 1)
        api.tile_regs_acquire()
        body()
        api.tile_regs_commit()
        api.tile_regs_wait()
        api.cb_reserve_back(16, 1)
        api.pack_tile(0, 16)
        api.cb_push_back(16, 1)
        api.tile_regs_release()
        api.cb_pop_front(0, 1)
        api.cb_pop_front(1, 1)

    return compute


def _scale() -> None:
    api.mul_bcast_rows_init(0, 1)
    api.mul_tiles_bcast_rows(0, 1, 0, 0, 0)
    api.binop_with_scalar_tile_init()
    api.mul_unary_tile(0, api_bits(0.75))


def _add() -> None:
    api.add_tiles_init(0, 1)
    api.add_tiles(0, 1, 0, 0, 0)


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("config", [NARROW, FINE])
def test_gated_sums_have_the_bits_of_their_steps(with_bias: bool, config: Any, device: ttnn.MeshDevice) -> None:
    a, b = _tensor((32, 320), device, 0), _tensor((320, 32), device, 1)
    base, gate = _tensor((32, 32), device, 2), _tensor((1, 32), device, 3)
    bias = _tensor((1, 32), device, 4) if with_bias else None
    options = {"compute_kernel_config": config}
    result = ttnn.experimental.dit_minimal_matmul_addcmul_fused(a, b, 0.75, base, gate, bias, **options)
    between, dtype = (ttnn.float32, np.float32) if config is FINE else (ttnn.bfloat16, ml_dtypes.bfloat16)
    product = ttnn.experimental.minimal_matmul(a, b, bias_tensor=bias, dtype=between, **options)
    compute = metal.ComputeConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=config is FINE)

    def step(body: Callable[[], object], left: Any, right: Any, kind: Any) -> Any:
        operands = [tile_parts.Matrix(np.asarray(values)) for values in (left, right)]
        out = tile_parts.Matrix(np.zeros((32, 32), kind))
        return tile_parts.run(device, _on_tiles(body), operands, out, compute)

    row = np.zeros((32, 32), ml_dtypes.bfloat16)
    row[0] = _values(gate)[0]
    scaled = step(_scale, _values(product).astype(dtype), row, dtype)
    expected = step(_add, scaled, _values(base).astype(ml_dtypes.bfloat16), ml_dtypes.bfloat16)
    np.testing.assert_array_equal(_values(result), expected.astype(np.float64))
    reference = (_values(a) @ _values(b) + (_values(bias) if bias else 0.0)) * _values(gate) * 0.75 + _values(base)
    assert np.max(np.abs(_values(result) - reference)) < 0.02 * np.max(np.abs(reference))


def test_a_gate_of_zeros_leaves_the_other_tensor(device: ttnn.MeshDevice) -> None:
    a, b, base = _tensor((32, 64), device, 0), _tensor((64, 32), device, 1), _tensor((32, 32), device, 2)
    for dtype in (ttnn.bfloat16, ttnn.float32):
        gate = ttnn.zeros((1, 32), dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)
        result = ttnn.experimental.dit_minimal_matmul_addcmul_fused(a, b, 1.0, base, gate)
        np.testing.assert_array_equal(_values(result), _values(base))


def test_a_float32_gate_keeps_more_than_bfloat16(device: ttnn.MeshDevice) -> None:
    a, b = _tensor((32, 64), device, 0, ttnn.float32), _tensor((64, 32), device, 1, ttnn.float32)
    base, gate = _tensor((32, 32), device, 2, ttnn.float32), _tensor((1, 32), device, 3, ttnn.float32)
    result = ttnn.experimental.dit_minimal_matmul_addcmul_fused(a, b, 1.0, base, gate, compute_kernel_config=FINE)
    product = _values(ttnn.experimental.minimal_matmul(a, b, compute_kernel_config=FINE))
    reference = _values(base) + product * _values(gate)
    assert result.dtype is ttnn.float32
    assert np.max(np.abs(_values(result) - reference)) < 2.0**-9 * np.max(np.abs(reference))


@pytest.mark.parametrize(
    ("error", "match", "options"),
    [
        (ttnn.ParameterError, "chunks >= 1", {"chunks": 0}),
        (ttnn.UnsupportedError, "only supports dim=-1", {"dim": 0}),
        (ttnn.ShapeError, "divisible by chunks=5", {"chunks": 5}),
        (ttnn.ShapeError, "multiple of TILE_WIDTH", {"chunks": 4}),
        (ttnn.UnsupportedError, "fuse_swiglu", {"chunks": 2, "fuse_swiglu": True}),
        (
            ttnn.ParameterError,
            "Block sizes must be > 0",
            {"chunks": 2, "config": ttnn.MinimalMatmulConfig(K_block_size=0)},
        ),
    ],
)
def test_wrong_parts_are_refused(error: type, match: str, options: dict[str, Any], device: ttnn.MeshDevice) -> None:
    with pytest.raises(error, match=match):
        ttnn.experimental.minimal_matmul_split(_tensor((32, 32), device, 0), _tensor((32, 64), device, 1), **options)


@pytest.mark.parametrize(
    ("error", "match", "base", "gate", "dtype"),
    [
        (ttnn.ShapeError, "must match output", (32, 32), (1, 64), ttnn.bfloat16),
        (ttnn.ShapeError, "broadcast like bias", (32, 64), (32, 64), ttnn.bfloat16),
        (ttnn.DTypeError, "must be equal to in1_data_format", (32, 64), (1, 64), ttnn.float32),
    ],
)
def test_wrong_gates_are_refused(
    error: type,
    match: str,
    base: tuple[int, ...],
    gate: tuple[int, ...],
    dtype: ttnn.DataType,
    device: ttnn.MeshDevice,
) -> None:
    a, b = _tensor((32, 32), device, 0), _tensor((32, 64), device, 1)
    with pytest.raises(error, match=match):
        ttnn.experimental.dit_minimal_matmul_addcmul_fused(
            a, b, 1.0, _tensor(base, device, 2, dtype), _tensor(gate, device, 3)
        )
