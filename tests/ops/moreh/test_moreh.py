"""Moreh sums, means and softmax, and leading dimension sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from ttnn.golden import moreh as golden

TILES = ttnn.TILE_LAYOUT
SHAPE = (2, 3, 40, 70)


@pytest.mark.parametrize("dim", [0, 1, 2, 3, -1, [2, 3], [0, 1]])
@pytest.mark.parametrize("keepdim", [False, True])
def test_sums_and_means(dim: int | list[int], keepdim: bool, device: ttnn.MeshDevice) -> None:
    x = make(SHAPE, ttnn.bfloat16, TILES, device, fit=np.abs)
    for operator, reference in ((ttnn.moreh_sum, golden.moreh_sum), (ttnn.moreh_mean, golden.moreh_mean)):
        result = operator(x, dim=dim, keepdim=keepdim)
        expected = reference(values_of(x), dim=dim, keepdim=keepdim)
        assert tuple(result.shape) == expected.shape
        # 210 additions at most, each rounded to 8 bits, errors in both directions.
        np.testing.assert_allclose(values_of(result), expected, rtol=0.05)


def test_everything_leaves_a_matrix_of_one_element(device: ttnn.MeshDevice) -> None:
    x = ttnn.Tensor(np.ones((1, 1, 64, 40), np.float32), ttnn.bfloat16, device=device, layout=TILES)
    result = ttnn.moreh_mean(x)
    assert tuple(result.shape) == (1, 1)
    # The factors 1 / 40 and 1 / 64 have 8 bits.
    assert abs(values_of(result).item() - 1) <= 2**-6


@pytest.mark.parametrize("dim", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ["softmax", "softmin", "logsoftmax"])
def test_softmax(name: str, dim: int, device: ttnn.MeshDevice) -> None:
    x = make(SHAPE, ttnn.bfloat16, TILES, device)
    operator: Any = getattr(ttnn, f"moreh_{name}")
    expected = getattr(golden, f"moreh_{name}")(values_of(x), dim)
    np.testing.assert_allclose(values_of(operator(x, dim)), expected, atol=2**-6 * np.abs(expected).max())
    output = ttnn.empty_like(x)
    assert operator(x, dim, output_tensor=output) is output
    np.testing.assert_array_equal(values_of(output), values_of(operator(x, dim)))


@pytest.mark.parametrize("dim", [-1, -2])
def test_distances_of_block_floats_are_packed(dim: int, device: ttnn.MeshDevice) -> None:
    """-1 in a group with -129 loses its bits.

    Columns have groups of equal numbers.
    """
    rows = np.concatenate([np.full((32, 1), -128.0), np.zeros((32, 15)), np.ones((32, 16))], 1).astype(np.float32)
    values = np.ascontiguousarray(rows if dim == -1 else rows.T)
    x = ttnn.Tensor(values, ttnn.bfloat8_b, device, TILES)
    np.testing.assert_array_equal(values_of(x), values)
    distances = ttnn.typecast(ttnn.Tensor(values - 1, ttnn.float32, device, TILES), ttnn.bfloat8_b)
    exponentials = np.exp(values_of(distances))
    expected = exponentials / exponentials.sum(dim, keepdims=True)
    np.testing.assert_allclose(values_of(ttnn.moreh_softmax(x, dim)), expected, atol=2**-9)


def test_means_of_rows_continue_from_tf32(device: ttnn.MeshDevice) -> None:
    """The sum of all tiles but the last becomes TF32."""
    wide = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)
    values = np.zeros((32, 64), np.float32)
    # The factor 1/64 is exact. The sum of the first tile is 1 + 2^-12, that of the second -1.
    values[:, 0], values[:, 16], values[:, 32] = 64.0, 2.0**-6, -64.0
    x = ttnn.Tensor(values, ttnn.bfloat16, device, TILES)
    assert values_of(ttnn.moreh_mean(x, dim=1, keepdim=True, compute_kernel_config=wide))[0, 0] == 0.0
    assert values_of(ttnn.moreh_sum(x, dim=1, keepdim=True, compute_kernel_config=wide))[0, 0] == 2.0**-6
    columns = ttnn.Tensor(np.ascontiguousarray(values.T), ttnn.bfloat16, device, TILES)
    assert values_of(ttnn.moreh_mean(columns, dim=0, keepdim=True, compute_kernel_config=wide))[0, 0] == 2.0**-12


def test_means_of_leading_dimensions_are_packed_after_every_tile(device: ttnn.MeshDevice) -> None:
    wide = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)
    values = np.zeros((4, 32, 32), np.float32)
    values[:, 0, 0] = 256.0, 0.5, 0.5, -256.0
    x = ttnn.Tensor(values, ttnn.bfloat16, device, TILES)
    # 256.5 packs to 256.
    result = values_of(ttnn.moreh_mean(x, dim=0, keepdim=True, compute_kernel_config=wide))
    assert result[0, 0, 0] == 0.0
    assert values_of(ttnn.moreh_sum(x, dim=0, keepdim=True, compute_kernel_config=wide))[0, 0, 0] == 1.0


def test_leading_dimensions_are_added_tile_by_tile(device: ttnn.MeshDevice) -> None:
    x = make(SHAPE, ttnn.bfloat16, TILES, device, fit=np.round)
    result = ttnn.experimental.fast_reduce_nc(x, dims=[0, 1])
    assert tuple(result.shape) == (1, 1, 40, 70)
    # Sums of small integers are exact.
    np.testing.assert_array_equal(values_of(result), values_of(x).sum((0, 1), keepdims=True))


def test_unsupported_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    x = make((32, 32), ttnn.float32, TILES, device)
    with pytest.raises(ttnn.DTypeError, match=r"specific data types. \[BFLOAT16\]"):
        ttnn.moreh_mean(x)
    with pytest.raises(ttnn.LayoutError, match="moreh_sum input only supports TILE layout"):
        ttnn.moreh_sum(make((32, 32), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device))
    with pytest.raises(ttnn.ShapeError, match="must not name the last two dimensions"):
        ttnn.experimental.fast_reduce_nc(make((2, 32, 32), ttnn.bfloat16, TILES, device), dims=[1])
    with pytest.raises(ttnn.ParameterError, match="is another operator"):
        ttnn.moreh_softmax(make((32, 32), ttnn.bfloat16, TILES, device), 0, op=ttnn.MorehSoftmaxOp.SOFTMIN)


@pytest.mark.parametrize("dim", [0, 1, -2, -1, [0, 3]])
def test_sums_of_integers_wrap(dim: int | list[int], device: ttnn.MeshDevice) -> None:
    values = np.random.default_rng(2).integers(-(2**31), 2**31, (2, 3, 40, 50)).astype(np.int32)
    x = ttnn.Tensor(values, ttnn.int32, device, ttnn.TILE_LAYOUT)
    axes = tuple(dim) if isinstance(dim, list) else (dim,)
    result = ttnn.moreh_sum(x, dim=dim, keepdim=True)
    assert result.dtype is ttnn.int32
    np.testing.assert_array_equal(values_of(result), values.sum(axes, keepdims=True, dtype=np.int32))
