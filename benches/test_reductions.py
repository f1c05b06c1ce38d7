"""Reductions and permutes of 4x4x512x512, against torch.

Over every kind of dimension, and in other orders.

Run on one thread: `TTNN_THREADS=1 pytest benches/test_reductions.py --benchmark-only`. 4.2 milliseconds are one
Gelement/s. A result whose last two dimensions are short is mostly tile padding, which is written too: 4 x 512 x 4 x 512
is eight times the size of the input. 64 x 32 x 32 x 64 has as many elements and no padding in any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from inputs import in_torch, on_device

SHAPE = (4, 4, 512, 512)
DTYPES = ["bfloat16", "float32", "bfloat8_b", "int32"]
DIMS: dict[str, Any] = {
    "3": 3,
    "2": 2,
    "1": 1,
    "0": 0,
    "0 and 1": (0, 1),
    "1 and 3": (1, 3),
    "all": None,
}
ORDERS = [(0, 2, 1, 3), (2, 1, 0, 3), (0, 3, 2, 1), (2, 3, 0, 1), (1, 0, 2, 3), (0, 1, 3, 2)]
# Without padding in the result, so that it has the size of the input.
WHOLE = (64, 32, 32, 64)
WHOLE_ORDERS = [(0, 2, 1, 3), (0, 3, 2, 1), (2, 3, 0, 1), (1, 2, 3, 0), (3, 0, 1, 2), (0, 2, 3, 1)]
CASES = [
    (name, dtype) for name in ("sum", "mean", "max", "min") for dtype in DTYPES if (name, dtype) != ("mean", "int32")
]


def values(random: np.random.Generator, dtype: str, shape: tuple[int, ...] = SHAPE) -> Any:
    x = random.standard_normal(shape, np.float32)
    return (x * 1000).astype(np.int32) if dtype == "int32" else x


def ours(
    random: np.random.Generator, dtype: str, device: ttnn.MeshDevice, shape: tuple[int, ...] = SHAPE
) -> ttnn.Tensor:
    return on_device(values(random, dtype, shape), dtype, device)


def of_torch(random: np.random.Generator, dtype: str) -> Any:
    return in_torch(values(random, dtype), dtype)


@pytest.mark.benchmark(group="reductions")
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_reduction(
    benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, name: str, dtype: str, dim: str
) -> None:
    benchmark(getattr(ttnn, name), ours(random, dtype, device), DIMS[dim])


@pytest.mark.benchmark(group="reductions")
@pytest.mark.parametrize("dim", ["3", "1", "0 and 1"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("name", ["sum", "mean", "amax"])
def test_torch_reduction(benchmark: Any, random: np.random.Generator, name: str, dtype: str, dim: str) -> None:
    torch = pytest.importorskip("torch")
    benchmark(getattr(torch, name), of_torch(random, dtype), dim=DIMS[dim])


@pytest.mark.benchmark(group="products")
@pytest.mark.parametrize("dim", ["3", "2", "1", "0", "all"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "bfloat8_b"])
def test_product(benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, dtype: str, dim: str) -> None:
    benchmark(ttnn.prod, ours(random, dtype, device), DIMS[dim])


@pytest.mark.benchmark(group="argmax")
@pytest.mark.parametrize("dim", ["3", "2", "1", "0"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_argmax(benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, dtype: str, dim: str) -> None:
    benchmark(ttnn.argmax, ours(random, dtype, device), DIMS[dim])


@pytest.mark.benchmark(group="argmax")
@pytest.mark.parametrize("dim", ["3", "1"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_torch_argmax(benchmark: Any, random: np.random.Generator, dtype: str, dim: str) -> None:
    torch = pytest.importorskip("torch")
    benchmark(torch.argmax, of_torch(random, dtype), dim=DIMS[dim])


@pytest.mark.benchmark(group="orders of dimensions")
@pytest.mark.parametrize(
    ("shape", "order"),
    [*((SHAPE, order) for order in ORDERS), *((WHOLE, order) for order in WHOLE_ORDERS)],
    ids=lambda numbers: "x".join(map(str, numbers)),
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_permute(
    benchmark: Any,
    device: ttnn.MeshDevice,
    random: np.random.Generator,
    dtype: str,
    shape: tuple[int, ...],
    order: tuple[int, ...],
) -> None:
    benchmark(ttnn.permute, ours(random, dtype, device, shape), order)
