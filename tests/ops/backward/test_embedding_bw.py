"""The gradient of `embedding`: bits, data types, memory configs, errors.

Sums are in bfloat16.
"""

# ruff: noqa: E501 - one row per call
from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
import torch

import ttnn
from testkit.operands import values_of

ROWS, WIDTH = 70, 96
T, R = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT


def indices_of(shape: tuple[int, ...], rows: int = ROWS, seed: int = 0) -> npt.NDArray[np.uint32]:
    return np.random.default_rng(seed).integers(0, rows, size=shape).astype(np.uint32)


def gradient_of(count: int, width: int = WIDTH) -> npt.NDArray[np.float32]:
    """Return values of varied size, so that summation order matters."""
    generator = np.random.default_rng(1)
    values = generator.normal(size=(1, 1, count, width)) * 2.0 ** generator.integers(-6, 7, size=(1, 1, count, width))
    held: npt.NDArray[np.float32] = values.astype(ml_dtypes.bfloat16).astype(np.float32)
    return held


def tensor(values: Any, dtype: ttnn.DataType, layout: ttnn.Layout, device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.Tensor(values, dtype, None, layout).to(device)


def table(device: ttnn.MeshDevice, rows: int = ROWS) -> ttnn.Tensor:
    return ttnn.zeros((rows, WIDTH), ttnn.bfloat16, T, device)


def cut(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return FP32 values with the bits that bfloat16 has."""
    return (values.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b, ttnn.bfloat4_b, ttnn.float32, ttnn.int32])
@pytest.mark.parametrize("shape", [(WIDTH,), (1, WIDTH), (2, 1, WIDTH)], ids=str)
def test_only_the_number_of_rows_of_the_table_counts(
    shape: tuple[int, ...], dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    indices, grad = np.zeros((1, 32), np.uint32), gradient_of(32)
    given = tensor(indices, ttnn.uint32, R, device), tensor(grad, ttnn.bfloat16, T, device)
    result = ttnn.embedding_bw(given[0], ttnn.zeros(shape, dtype, T, device), given[1])
    expected = ttnn.embedding_bw(given[0], table(device, rows=1), given[1])
    assert result.shape == [1, 1, 1, WIDTH]
    np.testing.assert_array_equal(values_of(result), values_of(expected))


@pytest.mark.parametrize("shape", [(1, 32), (2, 64), (3, 1, 1, 96), (1, 2048)], ids=str)
@pytest.mark.parametrize("index_dtype", [ttnn.uint32, ttnn.bfloat16], ids=["uint32", "bfloat16"])
def test_gradient_additions_are_cut_to_bfloat16_in_index_order(
    shape: tuple[int, ...], index_dtype: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    """Every addition is cut to bfloat16, in the order of the indices."""
    indices, grad = indices_of(shape), gradient_of(int(np.prod(shape)))
    given = indices if index_dtype is ttnn.uint32 else indices.astype(np.float32)
    result = ttnn.embedding_bw(
        tensor(given, index_dtype, R, device), table(device), tensor(grad, ttnn.bfloat16, T, device)
    )
    expected = np.zeros((ROWS, WIDTH), np.float32)
    for row, values in zip(indices.reshape(-1), grad[0, 0], strict=True):
        expected[row] = cut(expected[row] + values)
    assert (tuple(result.shape), result.dtype, result.layout) == ((1, 1, ROWS, WIDTH), ttnn.bfloat16, T)
    np.testing.assert_array_equal(values_of(result)[0, 0], expected)


def test_gradient_matches_automatic_differentiation(device: ttnn.MeshDevice) -> None:
    indices, grad = indices_of((2, 32)), gradient_of(64)
    weight = torch.zeros((ROWS, WIDTH), dtype=torch.float64, requires_grad=True)
    output = torch.nn.functional.embedding(torch.from_numpy(indices.reshape(-1).astype(np.int64)), weight)
    output.backward(torch.from_numpy(grad[0, 0].astype(np.float64)))
    assert weight.grad is not None
    entry = ttnn.embedding_bw.entry
    assert entry is not None
    assert entry.golden is not None
    reference = entry.golden(indices, np.zeros((ROWS, WIDTH)), grad)
    np.testing.assert_allclose(reference[0, 0], weight.grad.numpy(), rtol=1e-12)


def test_block_floats(device: ttnn.MeshDevice) -> None:
    indices = indices_of((1, 64))
    grad = tensor(np.random.default_rng(2).normal(size=(1, 1, 64, WIDTH)).astype(np.float32), ttnn.bfloat8_b, T, device)
    result = ttnn.embedding_bw(tensor(indices, ttnn.uint32, R, device), table(device), grad)
    entry = ttnn.embedding_bw.entry
    assert entry is not None
    assert entry.golden is not None
    reference = entry.golden(indices, np.zeros((ROWS, WIDTH)), values_of(grad))
    assert result.dtype is ttnn.bfloat8_b
    # A step of the shared exponent per group of 32 indices, and the cuts of the sums.
    assert np.max(np.abs(values_of(result) - reference)) <= 2.0 * 2.0**-6 * np.max(np.abs(reference))


def test_places_and_outputs(device: ttnn.MeshDevice) -> None:
    indices = tensor(indices_of((1, 64)), ttnn.uint32, R, device)
    grad = tensor(gradient_of(64), ttnn.bfloat16, T, device)
    expected = ttnn.embedding_bw(indices, table(device), grad, dtype=ttnn.bfloat16)
    here = ttnn.embedding_bw(indices, table(device), grad, memory_config=ttnn.L1_MEMORY_CONFIG)
    assert here.memory_config() == ttnn.L1_MEMORY_CONFIG
    np.testing.assert_array_equal(values_of(here), values_of(expected))
    given = ttnn.full((1, 1, ROWS, WIDTH), 7.0, ttnn.bfloat16, T, device)
    assert ttnn.embedding_bw(indices, table(device), grad, output_tensor=given) is given
    np.testing.assert_array_equal(values_of(given), values_of(expected))


def test_gradient_is_one_program(device: ttnn.MeshDevice) -> None:
    grad = tensor(gradient_of(32), ttnn.bfloat16, T, device)
    indices, weight = tensor(indices_of((1, 32)), ttnn.uint32, R, device), table(device)
    before = device.num_program_cache_entries()
    for _ in range(2):
        ttnn.embedding_bw(indices, weight, grad)
        assert device.num_program_cache_entries() == before + 1


def test_empty_indices_return_a_zero_gradient(device: ttnn.MeshDevice) -> None:
    result = ttnn.embedding_bw(
        ttnn.zeros((1, 0), ttnn.uint32, R, device),
        table(device),
        ttnn.zeros((1, 1, 0, WIDTH), ttnn.bfloat16, T, device),
    )
    np.testing.assert_array_equal(values_of(result), np.zeros((1, 1, ROWS, WIDTH)))


def _bad(device: ttnn.MeshDevice) -> list[tuple[str, type[Exception], str, tuple[Any, ...], dict[str, Any]]]:
    indices, weight = tensor(indices_of((1, 32)), ttnn.uint32, R, device), table(device)
    grad = tensor(gradient_of(32), ttnn.bfloat16, T, device)

    def zeros(shape: tuple[int, ...], dtype: ttnn.DataType = ttnn.bfloat16, layout: ttnn.Layout = T) -> ttnn.Tensor:
        return ttnn.zeros(shape, dtype, layout, device)

    sharded = ttnn.create_sharded_memory_config((1, 1, 96, WIDTH), ttnn.CoreGrid(y=1, x=1), ttnn.ShardStrategy.HEIGHT)
    return [
        ("volume", ttnn.ShapeError, "reshape between two shapes", (zeros((2, 3, 32), ttnn.uint32, R), weight, grad), {}),
        ("tiled indices", ttnn.LayoutError, "input_tensor is TILE", (zeros((1, 32), ttnn.uint32), weight, grad), {}),
        ("index dtype", ttnn.DTypeError, "must be UINT32", (zeros((1, 32), ttnn.int32, R), weight, grad), {}),
        ("index count", ttnn.ShapeError, "divisible by tile", (zeros((1, 31), ttnn.uint32, R), weight, grad), {}),
        ("rows", ttnn.ShapeError, "equal to number of indices", (zeros((1, 64), ttnn.uint32, R), weight, grad), {}),
        ("grad layout", ttnn.LayoutError, "not tiled", (indices, weight, zeros((1, 1, 32, 96), layout=R)), {}),
        ("grad dtype", ttnn.DTypeError, "BFLOAT16 or BFLOAT8_B", (indices, weight, zeros((1, 1, 32, 96), ttnn.float32)), {}),
        ("grad rank", ttnn.ShapeError, "First two dimensions", (indices, weight, zeros((32, 96))), {}),
        ("grad width", ttnn.ShapeError, "divisible by tile", (indices, weight, zeros((1, 1, 32, 95))), {}),
        ("result dtype", ttnn.DTypeError, "must have the same dtype", (indices, weight, grad), {"dtype": ttnn.bfloat8_b}),
        ("sharded", ttnn.MemoryConfigError, "does not currently support", (indices, weight, grad), {"memory_config": sharded}),
        ("host", ttnn.StorageError, "output_gradient_tensor is a host", (indices, weight, grad.cpu()), {}),
        ("output", ttnn.ShapeError, "output_tensor is", (indices, weight, grad), {"output_tensor": zeros((1, 1, 32, 96))}),
    ]  # fmt: skip


def test_wrong_calls_raise_errors(device: ttnn.MeshDevice) -> None:
    for name, error, text, operands, options in _bad(device):
        with pytest.raises(error, match=rf"(?s)^ttnn\.embedding_bw: .*{text}") as caught:
            ttnn.embedding_bw(*operands, **options)
        assert str(caught.value), name


def test_an_index_beyond_the_table(device: ttnn.MeshDevice) -> None:
    indices = indices_of((1, 32))
    indices[0, 5] = ROWS
    grad = tensor(gradient_of(32), ttnn.bfloat16, T, device)
    with pytest.raises(ttnn.IndexRangeError, match=r"^ttnn\.embedding_bw: input_tensor holds 70; .* rows 0 to 69"):
        ttnn.embedding_bw(tensor(indices, ttnn.uint32, R, device), table(device), grad)


def test_results_do_not_depend_on_the_thread_count(device: ttnn.MeshDevice, host_threads: None) -> None:
    indices = tensor(indices_of((2, 512)), ttnn.uint32, R, device)
    grad = tensor(gradient_of(1024), ttnn.bfloat16, T, device)
    results = []
    for threads in (1, 2, 8):
        ttnn._engine.set_threads(threads)
        results.append(values_of(ttnn.embedding_bw(indices, table(device), grad)))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
