"""Filled tensors, running sums and gradients of sums of the moreh family."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import ttnn
from testkit.operands import make, raw_of, values_of

TILES = ttnn.TILE_LAYOUT


def test_full_fills_every_element(device: ttnn.MeshDevice) -> None:
    x = ttnn.moreh_full([2, 40], 2.5, device)
    assert (x.dtype, x.layout, x.shape) == (ttnn.bfloat16, TILES, [2, 40])
    assert (values_of(x) == 2.5).all()
    like = ttnn.moreh_full_like(x, -3, dtype=ttnn.int32, layout=ttnn.ROW_MAJOR_LAYOUT)
    assert (like.dtype, like.layout) == (ttnn.int32, ttnn.ROW_MAJOR_LAYOUT)
    assert (values_of(like) == -3).all()


@pytest.mark.parametrize("dim", [0, 1, -1, -2])
def test_running_sums_are_those_of_cumsum(dim: int, device: ttnn.MeshDevice) -> None:
    x = make((2, 3, 40, 50), ttnn.bfloat16, TILES, device)
    np.testing.assert_array_equal(raw_of(ttnn.moreh_cumsum(x, dim)), raw_of(ttnn.cumsum(x, dim)))
    expected = ttnn.cumsum(x, dim, reverse_order=True)
    np.testing.assert_array_equal(raw_of(ttnn.moreh_cumsum_backward(x, dim)), raw_of(expected))


@pytest.mark.parametrize("dim", [0, -1, [1, 3], None, [2, 3]])
def test_sum_backward_broadcasts_the_gradient(dim: int | list[int] | None, device: ttnn.MeshDevice) -> None:
    x = make((2, 3, 40, 50), ttnn.bfloat16, TILES, device)
    axes = tuple(range(4)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    shape = tuple(1 if axis in {a % 4 for a in axes} else size for axis, size in enumerate((2, 3, 40, 50)))
    grad = make(shape, ttnn.bfloat16, TILES, device, seed=1)
    expected = np.broadcast_to(values_of(grad), (2, 3, 40, 50))
    np.testing.assert_array_equal(values_of(ttnn.moreh_sum_backward(grad, input=x, dim=dim, keepdim=True)), expected)
    assert ttnn.moreh_sum_backward(grad, dim=dim, keepdim=True, input_grad=x) is x
    np.testing.assert_array_equal(values_of(x), expected)
    with pytest.raises(ttnn.ShapeError, match="neither input nor input_grad"):
        ttnn.moreh_sum_backward(grad, dim=dim)
    with pytest.raises(ttnn.ShapeError, match="output_grad has shape"):
        ttnn.moreh_sum_backward(make((2, 7), ttnn.bfloat16, TILES, device), input=x, dim=dim)


@pytest.mark.parametrize("dim", [0, -1, [1, 3], None])
def test_gradient_of_a_mean(dim: int | list[int] | None, device: ttnn.MeshDevice) -> None:
    shape = (2, 3, 40, 50)
    axes = tuple(range(4)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    kept = tuple(1 if axis in {a % 4 for a in axes} else size for axis, size in enumerate(shape))
    grad = make(kept, ttnn.bfloat16, TILES, device, seed=1)
    result = ttnn.moreh_mean_backward(grad, dim=dim, keepdim=True, input_grad_shape=ttnn.Shape(shape))
    count = np.prod([shape[axis] for axis in axes])
    # A mean over as many elements, all but the first of them zero, multiplies by the same factor in the same way.
    others = np.zeros((int(count) - 1, *kept[1:]), np.float32)
    first = values_of(grad).reshape(-1, *kept[1:])[:1]
    stack = ttnn.Tensor(np.concatenate([first, others]), ttnn.bfloat16, device, TILES)
    product = values_of(ttnn.moreh_mean(stack, dim=0, keepdim=True))
    np.testing.assert_array_equal(values_of(result)[:1], np.broadcast_to(product, (1, *shape[1:])))
    wide = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)
    options = {"dim": dim, "keepdim": True, "input_grad_shape": shape}
    exact = (np.float32(1 / count).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32) * values_of(grad)
    found = values_of(ttnn.moreh_mean_backward(grad, compute_kernel_config=wide, **options))
    # With a 32-bit Dst only the packer rounds.
    expected = np.broadcast_to(exact, shape).astype(ml_dtypes.bfloat16).astype(np.float32)
    np.testing.assert_array_equal(found, expected)
    into = make(shape, ttnn.bfloat16, TILES, device)
    assert ttnn.moreh_mean_backward(grad, dim=dim, keepdim=True, input_grad=into) is into
    np.testing.assert_array_equal(values_of(into), values_of(result))
    with pytest.raises(RuntimeError, match="neither input_grad nor"):
        ttnn.moreh_mean_backward(grad, dim=dim)


def test_operations_moreh_has_the_names(device: ttnn.MeshDevice) -> None:
    assert ttnn.operations.moreh.sum is ttnn.moreh_sum
    assert ttnn.operations.moreh.matmul is ttnn.moreh_matmul
    x = make((2, 40), ttnn.bfloat16, TILES, device).cpu()
    np.testing.assert_array_equal(values_of(x.to(device=device)), values_of(x))
    assert x.to(layout=ttnn.ROW_MAJOR_LAYOUT).layout is ttnn.ROW_MAJOR_LAYOUT
    with pytest.raises(ttnn.ArgumentError, match="one device or one layout"):
        x.to()


@pytest.mark.parametrize(("dim", "keepdim"), [(3, True), (2, False), ([2, 3], False), ([0, 3], False), ([], True)])
def test_sums_and_gradients_in_full_tiles(dim: int | list[int], keepdim: bool, device: ttnn.MeshDevice) -> None:
    """Outputs may name whole tiles: first rows and columns count.

    So may gradients.
    """
    shape = (2, 3, 40, 50)
    x = make(shape, ttnn.bfloat16, TILES, device, fit=np.round)
    plain = ttnn.moreh_sum(x, dim, keepdim=keepdim)
    named = range(4) if dim == [] else [dim] if isinstance(dim, int) else dim
    tiles = [32 if axis in named and axis >= 2 else 1 if axis in named else size for axis, size in enumerate(shape)]
    full = [size for axis, size in enumerate(tiles) if keepdim or axis not in named or axis >= 2]
    into = make(tuple(full), ttnn.bfloat16, TILES, device)
    assert ttnn.moreh_sum(x, dim, keepdim=keepdim, output=into) is into
    first = tuple(slice(0, size) for size in plain.shape)
    np.testing.assert_array_equal(values_of(into)[first], values_of(plain))
    grad = ttnn.moreh_sum_backward(into, input=x, dim=dim, keepdim=keepdim)
    kept = [1 if axis in named else size for axis, size in enumerate(shape)]
    np.testing.assert_array_equal(values_of(grad), np.broadcast_to(values_of(plain).reshape(kept), shape))
