"""Operators that reduce dimensions away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Dims = int | Sequence[int] | None


def _axes(dim: Dims, rank: int) -> tuple[int, ...]:
    named = range(rank) if dim is None else [dim] if isinstance(dim, int) else dim
    return tuple(sorted({axis % rank for axis in named})) if rank else ()


def _reduced(function: Callable[..., Any], x: ArrayLike, dim: Dims, keepdim: bool, **options: float) -> Array:
    values = np.asarray(x, np.float64)
    result: Array = np.asarray(function(values, axis=_axes(dim, values.ndim), keepdims=keepdim, **options), np.float64)
    return result


def sum_(x: ArrayLike, dim: Dims = None, keepdim: bool = False, *, scalar: float = 1.0, **_: object) -> Array:
    """Return `scalar` times the sum over `dim`, or over everything.

    0 where there is nothing to add.
    """
    return scalar * _reduced(np.sum, x, dim, keepdim)


def mean(x: ArrayLike, dim: Dims = None, keepdim: bool = False, *, scalar: float = 1.0, **_: object) -> Array:
    """Return `scalar` times the mean over `dim`, or over everything.

    NaN where there is nothing to average.
    """
    values = np.asarray(x, np.float64)
    count = np.prod([values.shape[axis] for axis in _axes(dim, values.ndim)], dtype=np.float64)
    total = _reduced(np.sum, values, dim, keepdim)
    return scalar * total / count if count else np.full(total.shape, np.nan)


def max_(x: ArrayLike, dim: Dims = None, keepdim: bool = False, *, scalar: float = 1.0, **_: object) -> Array:
    """Return `scalar` times the maximum along `dim`, or of all.

    -inf where there is none.
    """
    return scalar * _reduced(np.max, x, dim, keepdim, initial=-np.inf)


def min_(x: ArrayLike, dim: Dims = None, keepdim: bool = False, *, scalar: float = 1.0, **_: object) -> Array:
    """Return `scalar` times the minimum along `dim`, or of all.

    inf where there is none.
    """
    return scalar * _reduced(np.min, x, dim, keepdim, initial=np.inf)


def prod(
    x: ArrayLike,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    dims: Sequence[int] | None = None,
    **_: object,
) -> Array:
    """Return the product along `dim`, or of everything.

    1 where there is nothing to multiply. `dims` are kept.
    """
    return _reduced(np.prod, x, dim, keepdim) if dims is None else _reduced(np.prod, x, dims, True)


def sum_of_magnitudes(x: ArrayLike, dim: Dims = None, keepdim: bool = False, **options: Any) -> Array:
    """Return the sum of absolute values, a sum's error scale."""
    return np.abs(sum_(np.abs(np.asarray(x, np.float64)), dim, keepdim, **options))


def mean_of_magnitudes(x: ArrayLike, dim: Dims = None, keepdim: bool = False, **options: Any) -> Array:
    """Return the mean of absolute values, a mean's error scale."""
    return np.abs(mean(np.abs(np.asarray(x, np.float64)), dim, keepdim, **options))


def argmax(x: ArrayLike, dim: int | None = None, keepdim: bool = False, **_: object) -> NDArray[Any]:
    """Return the index of the maximum along `dim`, or flattened.

    NaN outranks every number, +0 equals -0, and the lowest index wins: that is also numpy's order.
    """
    values = np.asarray(x, np.float64)
    if dim is None:
        index = np.asarray(np.argmax(values))
        return index.reshape((1,) * values.ndim) if keepdim else index
    return np.asarray(np.argmax(values, axis=dim, keepdims=keepdim))


def cumsum(x: ArrayLike, dim: int, *_args: object, reverse_order: bool = False, **_: object) -> NDArray[np.float64]:
    """Return cumulative sums along `dim`, optionally from the end."""
    return _accumulated(np.cumsum, x, dim, reverse_order)


def cumprod(x: ArrayLike, dim: int, *_args: object, reverse_order: bool = False, **_: object) -> NDArray[np.float64]:
    """Return cumulative products along `dim`, optionally from the end."""
    return _accumulated(np.cumprod, x, dim, reverse_order)


def ema(x: ArrayLike, alpha: float, **_: object) -> NDArray[np.float64]:
    """Return moving averages along the last dimension.

    `alpha` is the weight of the average so far.
    """
    values: NDArray[np.float64] = np.array(x, np.float64)
    average = np.zeros(values.shape[:-1])
    for index in range(values.shape[-1]):
        average = alpha * average + (1.0 - alpha) * values[..., index]
        values[..., index] = average
    return values


def _accumulated(by: Callable[..., Any], x: ArrayLike, dim: int, reverse_order: bool) -> NDArray[np.float64]:
    values: NDArray[np.float64] = np.asarray(x, np.float64)
    if not values.ndim:
        return values
    values = np.flip(values, dim) if reverse_order else values
    result: NDArray[np.float64] = by(values, axis=dim)
    return np.flip(result, dim) if reverse_order else result


def var(
    x: ArrayLike,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    scalar: float = 1.0,
    correction: bool = True,
    **_: object,
) -> NDArray[np.float64]:
    """Return the variance along dimensions, of elements times `scalar`."""
    values: NDArray[np.float64] = np.asarray(x, np.float64) * scalar
    axes = _axes(dim, values.ndim)
    squares = ((values - values.mean(axis=axes, keepdims=True)) ** 2).sum(axis=axes, keepdims=keepdim)
    divisor = np.float64(np.prod([values.shape[axis] for axis in axes]) - int(correction))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(squares / divisor)


def std(x: ArrayLike, *given: Any, **options: Any) -> NDArray[np.float64]:
    """Return the standard deviation along dimensions, of elements times `scalar`."""
    return np.asarray(np.sqrt(var(x, *given, **options)))


def sort(
    x: ArrayLike, dim: int = -1, descending: bool = False, stable: bool = False, **_: object
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return sorted elements and original indices along a dimension.

    Equal ones keep their order.
    """
    values: NDArray[np.float64] = np.asarray(x, np.float64)
    order = np.argsort(-values if descending else values, axis=dim, kind="stable")
    return np.take_along_axis(values, order, axis=dim), order.astype(np.int64)


def topk(
    x: ArrayLike,
    k: int = 32,
    dim: int = -1,
    largest: bool = True,
    *_args: object,
    indices_tensor: ArrayLike | None = None,
    **_: object,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the k largest or smallest elements, sorted, and their indices.

    Along a dimension; names may replace indices.
    """
    values, order = sort(x, dim, descending=largest)
    if indices_tensor is not None:
        order = np.take_along_axis(np.asarray(indices_tensor, np.int64), order, axis=dim)
    first = np.arange(k)
    return np.take(values, first, axis=dim), np.take(order, first, axis=dim)


def intimg(x: ArrayLike, **_: object) -> NDArray[np.float64]:
    """Return the sums over rows and columns to each pixel.

    Of [1, H, W, C].
    """
    return np.asarray(np.asarray(x, np.float64).cumsum(axis=1).cumsum(axis=2))
