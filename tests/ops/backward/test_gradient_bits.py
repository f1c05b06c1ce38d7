"""Gradients in one visit to Dst, bit for bit.

From the vectors of the functions they use.

A model in numpy of the kernels' steps: every step leaves bfloat16 in Dst, products and sums rounded to nearest even,
numbers cut.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import ttnn
from testkit.operands import values_of

Words = npt.NDArray[np.uint16]
Singles = npt.NDArray[np.float32]

ALL: Words = np.arange(1 << 16, dtype=np.uint16)


def single(words: Words) -> Singles:
    return (words.astype(np.uint32) << 16).view(np.float32)


def rounded(values: Singles) -> Singles:
    """Return FP32 values rounded to bfloat16, halves to even."""
    words = values.view(np.uint32)
    even = (words >> 16) & np.uint32(1)
    return ((words + np.uint32(0x7FFF) + even) & np.uint32(0xFFFF0000)).view(np.float32)


def cut(value: float) -> np.float32:
    return np.float32((np.array([value], np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)[0])


def table(golden: Path, name: str, variant: str) -> Words:
    with np.load(golden / "sfpu" / f"{name}.npz") as vectors:
        found: Words = vectors[f"{variant}__bf16"]
    return found


def of(words: Words, x: Singles) -> Singles:
    """Return the tabulated function of bfloat16 values."""
    return single(words[(x.view(np.uint32) >> 16).astype(np.uint16)])


def usual() -> Singles:
    """Return bfloat16 values of magnitude 2^-8 to 4.

    No step meets a subnormal number there.
    """
    values = single(ALL)
    return values[np.isfinite(values) & (np.abs(values) >= 2.0**-8) & (np.abs(values) <= 4.0)]


def gradient(name: str, grad: Singles, x: Singles, device: ttnn.MeshDevice, **options: object) -> Singles:
    def tensor(values: Singles) -> ttnn.Tensor:
        return ttnn.Tensor(values.reshape(1, -1), ttnn.bfloat16, None, ttnn.TILE_LAYOUT).to(device)

    (result,) = getattr(ttnn, name)(tensor(grad), tensor(x), **options)
    return values_of(result).astype(np.float32).reshape(-1)


def grads(count: int) -> Singles:
    return rounded(np.random.default_rng(0).normal(size=count).astype(np.float32))


@pytest.mark.parametrize("name", ["tanh", "gelu"])
def test_derivatives_by_vectors(name: str, golden: Path, device: ttnn.MeshDevice) -> None:
    x = usual()
    grad = grads(x.size)
    slope = of(table(golden, f"{name}_derivative", "accurate"), x)
    np.testing.assert_array_equal(gradient(f"{name}_bw", grad, x, device), rounded(grad * slope))


def test_sigmoid_bw_rounds_once(device: ttnn.MeshDevice) -> None:
    x = usual()
    grad = grads(x.size)
    wide = ttnn.Tensor(x.reshape(1, -1), ttnn.float32, None, ttnn.TILE_LAYOUT).to(device)
    sigmoid = values_of(ttnn.sigmoid(wide)).astype(np.float32).reshape(-1)
    expected = rounded(grad * sigmoid * (np.float32(1.0) - sigmoid))
    np.testing.assert_array_equal(gradient("sigmoid_bw", grad, x, device), expected)


@pytest.mark.parametrize("name", ["sigmoid", "tanh", "gelu"])
def test_row_major_gradients(name: str, device: ttnn.MeshDevice) -> None:
    values = [grads(2 * 3 * 40).reshape(2, 3, 40) * factor for factor in (1, 2)]
    results = []
    for layout in (ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT):
        grad, x = (ttnn.Tensor(array, ttnn.bfloat16, None, layout).to(device) for array in values)
        (result,) = getattr(ttnn, f"{name}_bw")(grad, x)
        assert result.layout == layout
        results.append(values_of(result))
    np.testing.assert_array_equal(*results)
    with pytest.raises(ttnn.LayoutError, match="grad_tensor is TILE and input_tensor ROW_MAJOR"):
        getattr(ttnn, f"{name}_bw")(ttnn.to_layout(grad, ttnn.TILE_LAYOUT), x)


def test_gelu_with_tanh(golden: Path, device: ttnn.MeshDevice) -> None:
    x = usual()
    grad = grads(x.size)
    square, sigmoid_of = table(golden, "square", "default"), table(golden, "sigmoid", "accurate")
    one, kappa, scale = (np.float32(1.0), np.float32(0.044715), np.float32(2.0) * np.float32(0.7978845608028654))
    cubic = rounded(rounded(of(square, x) * x) * cut(kappa))
    share = of(sigmoid_of, rounded(rounded(cubic + x) * cut(scale)))
    flat = rounded(share * rounded(one - share))
    slope = rounded(rounded(of(square, x) * cut(np.float32(3.0) * kappa)) + one)
    slope = rounded(rounded(slope * flat) * cut(scale))
    expected = rounded(grad * rounded(share + rounded(slope * x)))
    result = gradient("gelu_bw", grad, x, device, variant=ttnn.GeluVariant.Tanh)
    np.testing.assert_array_equal(result, expected)
