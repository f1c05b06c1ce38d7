"""Reductions, softmax, element-wise operators and conversions, against torch.

They have 1024 x 1024 elements, in the same run.

Run on one thread: `TTNN_THREADS=1 pytest benches/test_pointwise.py --benchmark-only`. The table is in milliseconds; a
million elements in a millisecond are one Gelement/s. The group "large" has 4096 x 4096, which no cache holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from inputs import in_torch, matrix, on_device

SIZE = 1024
LARGE = (4096, 4096)
FLOATS = ["bfloat16", "float32", "bfloat8_b"]
AXES = {"W": -1, "H": -2, "HW": None}
BROADCASTS = {"none": (SIZE, SIZE), "column": (SIZE, 1), "row": (1, SIZE), "scalar": (1, 1)}
FUNCTIONS = ["exp", "gelu", "silu", "tanh", "sigmoid", "sqrt", "reciprocal", "erf", "log", "log_sigmoid"]
MORE_OF_TWO = [
    *(
        (name, dtype)
        for name in ("gt", "eq", "maximum", "logical_and", "isclose", "fmod", "remainder", "rsub")
        for dtype in FLOATS
    ),
    *((name, dtype) for name in ("pow", "logaddexp", "logaddexp2", "atan2", "xlogy") for dtype in FLOATS),
    *((name, "int32") for name in ("div", "floor_div", "fmod", "remainder")),
]
REDUCTIONS = [
    (name, dtype)
    for name in ("sum", "mean", "max", "min")
    for dtype in [*FLOATS, "int32"]
    if (name, dtype) != ("mean", "int32")
]


def values(random: np.random.Generator, dtype: str, shape: tuple[int, int] = (SIZE, SIZE)) -> Any:
    # Positive, so that logarithms and roots return no NaN.
    block = np.abs(matrix(random, max(SIZE, *shape)))[: shape[0], : shape[1]] + np.float32(2.0**-10)
    return np.ascontiguousarray(block if dtype != "int32" else (block * 1000).astype(np.int32))


def ours(
    random: np.random.Generator, dtype: str, device: ttnn.MeshDevice, shape: tuple[int, int] = (SIZE, SIZE)
) -> ttnn.Tensor:
    return on_device(values(random, dtype, shape), dtype, device)


def of_torch(random: np.random.Generator, dtype: str, shape: tuple[int, int] = (SIZE, SIZE)) -> Any:
    return in_torch(values(random, dtype, shape), dtype)


@pytest.mark.benchmark(group="reductions")
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize(("name", "dtype"), REDUCTIONS)
def test_reduction(
    benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, name: str, dtype: str, axis: str
) -> None:
    benchmark(getattr(ttnn, name), ours(random, dtype, device), AXES[axis])


@pytest.mark.benchmark(group="reductions")
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin"])
def test_torch_reduction(benchmark: Any, random: np.random.Generator, name: str, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    benchmark(getattr(torch, name), of_torch(random, dtype), dim=-1)


@pytest.mark.benchmark(group="softmax")
@pytest.mark.parametrize("stable", [True, False], ids=["stable", "plain"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_softmax(
    benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, dtype: str, stable: bool
) -> None:
    benchmark(ttnn.softmax, ours(random, dtype, device), dim=-1, numeric_stable=stable)


@pytest.mark.benchmark(group="softmax")
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_torch_softmax(benchmark: Any, random: np.random.Generator, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    benchmark(torch.softmax, of_torch(random, dtype), dim=-1)


@pytest.mark.benchmark(group="binary")
@pytest.mark.parametrize("broadcast", BROADCASTS)
@pytest.mark.parametrize("dtype", [*FLOATS, "bfloat4_b"])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
def test_binary(
    benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, name: str, dtype: str, broadcast: str
) -> None:
    a, b = ours(random, dtype, device), ours(random, dtype, device, BROADCASTS[broadcast])
    benchmark(getattr(ttnn, name), a, b, output_tensor=ttnn.clone(a))


@pytest.mark.benchmark(group="binary")
@pytest.mark.parametrize("broadcast", BROADCASTS)
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("name", ["add", "mul", "div"])
def test_torch_binary(benchmark: Any, random: np.random.Generator, name: str, dtype: str, broadcast: str) -> None:
    torch = pytest.importorskip("torch")
    a, b = of_torch(random, dtype), of_torch(random, dtype, BROADCASTS[broadcast])
    benchmark(getattr(torch, name), a, b, out=torch.empty_like(a))


@pytest.mark.benchmark(group="more of two")
@pytest.mark.parametrize(("name", "dtype"), MORE_OF_TWO)
def test_more_of_two(
    benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, name: str, dtype: str
) -> None:
    benchmark(getattr(ttnn, name), ours(random, dtype, device), ours(random, dtype, device))


@pytest.mark.benchmark(group="three")
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["where", "mac", "addcmul", "addcdiv", "lerp"])
def test_three(benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, name: str, dtype: str) -> None:
    benchmark(getattr(ttnn, name), *(ours(random, dtype, device) for _ in range(3)))


@pytest.mark.benchmark(group="unary")
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_unary(benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, name: str, dtype: str) -> None:
    x = ours(random, dtype, device)
    benchmark(getattr(ttnn, name), x, output_tensor=ttnn.clone(x))


@pytest.mark.benchmark(group="unary")
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_torch_unary(benchmark: Any, random: np.random.Generator, name: str, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    x = of_torch(random, dtype)
    if name in ("gelu", "silu", "log_sigmoid"):
        benchmark(getattr(torch.nn.functional, name.replace("log_", "log")), x)
    else:
        benchmark(getattr(torch, name), x, out=torch.empty_like(x))


@pytest.mark.benchmark(group="pack and unpack")
@pytest.mark.parametrize("target", ["float32", "bfloat16", "bfloat8_b", "int32"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_typecast(
    benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, dtype: str, target: str
) -> None:
    benchmark(ttnn.typecast, ours(random, dtype, device), getattr(ttnn, target))


@pytest.mark.benchmark(group="pack and unpack")
def test_numpy_copy(benchmark: Any, random: np.random.Generator) -> None:
    source = matrix(random, SIZE)
    benchmark(np.copyto, np.empty_like(source), source)


@pytest.mark.benchmark(group="large")
@pytest.mark.parametrize("dtype", [*FLOATS, "int32"])
@pytest.mark.parametrize("name", ["add", "multiply", "gt"])
def test_large_binary(
    benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, name: str, dtype: str
) -> None:
    a, b = ours(random, dtype, device, LARGE), ours(random, dtype, device, LARGE)
    benchmark(getattr(ttnn, name), a, b, output_tensor=ttnn.clone(a))


@pytest.mark.benchmark(group="large")
@pytest.mark.parametrize("dtype", FLOATS)
def test_large_where(benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, dtype: str) -> None:
    a, b, c = (ours(random, dtype, device, LARGE) for _ in range(3))
    benchmark(ttnn.where, a, b, c, output_tensor=ttnn.clone(a))


@pytest.mark.benchmark(group="large")
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["clone", "abs"])
def test_large_unary(
    benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, name: str, dtype: str
) -> None:
    benchmark(getattr(ttnn, name), ours(random, dtype, device, LARGE))


@pytest.mark.benchmark(group="large")
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("name", ["add", "mul"])
def test_torch_large_binary(benchmark: Any, random: np.random.Generator, name: str, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    a, b = of_torch(random, dtype, LARGE), of_torch(random, dtype, LARGE)
    benchmark(getattr(torch, name), a, b, out=torch.empty_like(a))


@pytest.mark.benchmark(group="large")
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_torch_large_copy(benchmark: Any, random: np.random.Generator, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    a = of_torch(random, dtype, LARGE)
    benchmark(torch.empty_like(a).copy_, a)
