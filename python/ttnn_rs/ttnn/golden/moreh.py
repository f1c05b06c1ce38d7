"""Reference functions of the Moreh framework."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Dims = int | Sequence[int] | None


def moreh_sum(x: ArrayLike, dim: Dims = None, *, keepdim: bool = False, **_: object) -> Array:
    """Return the sum along dimensions; rows and columns stay with size 1."""
    values = np.asarray(x, np.float64)
    return _squeezed(values.sum(axis=_axes(dim, values.ndim), keepdims=True), dim, keepdim)


def moreh_mean(x: ArrayLike, *, dim: Dims = None, keepdim: bool = False, **_: object) -> Array:
    """Return the mean along dimensions; rows and columns stay with size 1."""
    values = np.asarray(x, np.float64)
    return _squeezed(values.mean(axis=_axes(dim, values.ndim), keepdims=True), dim, keepdim)


def fast_reduce_nc(x: ArrayLike, *, dims: Sequence[int] = (), **_: object) -> Array:
    """Return the sum over leading dimensions, which stay with size 1."""
    result: Array = np.asarray(x, np.float64).sum(axis=tuple(dims), keepdims=True)
    return result


def moreh_softmax(x: ArrayLike, dim: int, **_: object) -> Array:
    """Return exp(x) / sum(exp(x))."""
    return np.exp(moreh_logsoftmax(x, dim))


def moreh_softmin(x: ArrayLike, dim: int, **_: object) -> Array:
    """Return exp(-x) / sum(exp(-x))."""
    return moreh_softmax(-np.asarray(x, np.float64), dim)


def moreh_logsoftmax(x: ArrayLike, dim: int, **_: object) -> Array:
    """Return x - log(sum(exp(x)))."""
    values = np.asarray(x, np.float64)
    if values.size == 0:
        return values
    shifted = values - values.max(axis=dim, keepdims=True)
    result: Array = shifted - np.log(np.exp(shifted).sum(axis=dim, keepdims=True))
    return result


def _axes(dim: Dims, rank: int) -> tuple[int, ...]:
    named = range(rank) if dim is None else [dim] if isinstance(dim, int) else dim
    return tuple(axis % rank for axis in named)


def _squeezed(values: Array, dim: Dims, keepdim: bool) -> Array:
    axes = _axes(dim, values.ndim)
    gone = [axis for axis in axes if axis < values.ndim - 2 and not keepdim]
    return values.squeeze(axis=tuple(gone))


def moreh_full(shape: Sequence[int], fill_value: float, *_args: object, **_: object) -> Array:
    """Return `fill_value` in every element."""
    return np.full(tuple(shape), fill_value, np.float64)


def moreh_full_like(x: ArrayLike, fill_value: float, *_args: object, **_: object) -> Array:
    """Return `fill_value` in every element of the shape of `x`."""
    return np.full(np.shape(x), fill_value, np.float64)


def moreh_cumsum(x: ArrayLike, dim: int, **_: object) -> Array:
    """Return running sums along `dim`."""
    return np.cumsum(np.asarray(x, np.float64), axis=dim)


def moreh_cumsum_backward(grad: ArrayLike, dim: int, **_: object) -> Array:
    """Return running sums along `dim` from the end."""
    result: Array = np.flip(np.cumsum(np.flip(np.asarray(grad, np.float64), dim), axis=dim), dim)
    return result


def moreh_sum_backward(
    grad: ArrayLike, *, input: ArrayLike, dim: int | Sequence[int] | None = None, **_: object
) -> Array:
    """Return the gradient repeated along the dimensions that were summed."""
    shape = np.shape(input)
    named = range(len(shape)) if dim is None else [dim] if isinstance(dim, int) else dim
    axes = {axis % len(shape) for axis in named}
    kept = [1 if axis in axes else size for axis, size in enumerate(shape)]
    result: Array = np.broadcast_to(np.asarray(grad, np.float64).reshape(kept), shape).copy()
    return result


def moreh_matmul(
    a: ArrayLike,
    b: ArrayLike,
    *,
    transpose_input: bool = False,
    transpose_other: bool = False,
    bias: ArrayLike | None = None,
    **_: object,
) -> Array:
    """Return the product of matrices, plus a bias."""
    left, right = np.asarray(a, np.float64), np.asarray(b, np.float64)
    left = left.swapaxes(-1, -2) if transpose_input else left
    right = right.swapaxes(-1, -2) if transpose_other else right
    result: Array = left @ right
    return result if bias is None else result + np.asarray(bias, np.float64).reshape(-1)


def moreh_linear(x: ArrayLike, weight: ArrayLike, *, bias: ArrayLike | None = None, **_: object) -> Array:
    """Return the product with the transposed weight, plus a bias."""
    return moreh_matmul(x, weight, transpose_other=True, bias=bias)


def _summed(gradient: Array, shape: tuple[int, ...]) -> Array:
    axes = tuple(axis for axis, size in enumerate(shape) if size == 1 != gradient.shape[axis])
    return gradient.sum(axes, keepdims=True) if axes else gradient


def moreh_matmul_backward(
    grad: ArrayLike, a: ArrayLike, b: ArrayLike, *, are_required_outputs: Sequence[bool] = (True, True), **_: object
) -> list[Array | None]:
    """Return the gradients of both operands of a product."""
    given, left, right = (np.asarray(values, np.float64) for values in (grad, a, b))
    both = (given @ right.swapaxes(-1, -2), left.swapaxes(-1, -2) @ given)
    wanted = zip(are_required_outputs, both, (left.shape, right.shape), strict=True)
    return [_summed(gradient, shape) if flag else None for flag, gradient, shape in wanted]


def moreh_linear_backward(
    grad: ArrayLike,
    x: ArrayLike,
    weight: ArrayLike,
    *,
    are_required_outputs: Sequence[bool] = (True, True, True),
    **_: object,
) -> list[Array | None]:
    """Return the gradients of input, weight and bias."""
    given, values, matrix = (np.asarray(item, np.float64) for item in (grad, x, weight))
    of_weight = given.swapaxes(-1, -2) @ values
    all_three = (given @ matrix, _summed(of_weight, matrix.shape), given.reshape(-1, given.shape[-1]).sum(0))
    return [gradient if flag else None for flag, gradient in zip(are_required_outputs, all_three, strict=True)]


def moreh_mean_backward(
    grad: ArrayLike,
    *,
    dim: int | Sequence[int] | None = None,
    input_grad_shape: Sequence[int] | None = None,
    **options: Any,
) -> Array:
    """Return the gradient repeated along the dimensions of the mean, divided by how many elements there were."""
    shape = tuple(input_grad_shape if input_grad_shape is not None else np.shape(options["input_grad"]))
    repeated = moreh_sum_backward(grad, input=np.zeros(shape), dim=dim)
    return repeated * (np.size(grad) / repeated.size)
