"""Reference functions of the Moreh framework."""

from __future__ import annotations

from collections.abc import Sequence

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
