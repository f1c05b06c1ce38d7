"""Operators that move elements and compute nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def identity(x: ArrayLike, *_args: object, **_: object) -> Array:
    """Return `x`."""
    return np.asarray(x, np.float64)


def copies(x: ArrayLike, return_output1: bool = True, return_output2: bool = True, **_: object) -> list[Array | None]:
    """Return `x` twice, or None for one that is not wanted."""
    return [np.asarray(x, np.float64) if wanted else None for wanted in (return_output1, return_output2)]


def reshape(x: ArrayLike, shape: Sequence[int], *_args: object, **_: object) -> Array:
    """Return the elements of `x` in their order with another shape."""
    return np.reshape(np.asarray(x, np.float64), tuple(shape))


def permute(x: ArrayLike, dims: Sequence[int], *_args: object, **_: object) -> Array:
    """Return `x` with its dimensions in the order `dims`."""
    return np.transpose(np.asarray(x, np.float64), tuple(dims))


def transpose(x: ArrayLike, dim1: int, dim2: int, *_args: object, **_: object) -> Array:
    """Return `x` with two dimensions exchanged."""
    return np.swapaxes(np.asarray(x, np.float64), dim1, dim2)


def slice_(
    x: ArrayLike,
    slice_start: Sequence[int] | None = None,
    slice_end: Sequence[int] | None = None,
    slice_step: Sequence[int] | None = None,
    *,
    starts: Sequence[int] = (),
    ends: Sequence[int] = (),
    steps: Sequence[int] | None = None,
    **_: object,
) -> Array:
    """Return the elements from `slice_start` up to `slice_end`, every `slice_step`-th of them."""
    values = np.asarray(x, np.float64)
    start = starts if slice_start is None else slice_start
    end = ends if slice_end is None else slice_end
    limits = zip(start, end, slice_step or steps or [1] * len(start), strict=True)
    return values[tuple(slice(int(first), int(last), int(step)) for first, last, step in limits)]


def pad(x: ArrayLike, *given: Any, value: float = 0.0, **_: object) -> Array:
    """Return `x` with elements of a value around it.

    `given` is a pair (before, after) for each of the last dimensions, or the shape of the result and where `x` begins
    in it; and the value.
    """
    values = np.asarray(x, np.float64)
    if len(given) == 3:
        shape, start, value = given
        padding = [(first, size - first - own) for size, first, own in zip(shape, start, values.shape, strict=True)]
    else:
        padding, value = (*given, value)[:2]
    missing = [(0, 0)] * (values.ndim - len(padding))
    widths = missing + [(int(before), int(after)) for before, after in padding]
    return np.pad(values, widths, constant_values=value)


def squeeze(x: ArrayLike, dim: int | Sequence[int] | None = None, **_: object) -> Array:
    """Return `x` without dimensions of size 1, or those in `dim`."""
    values = np.asarray(x, np.float64)
    named = range(values.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    ones = tuple({axis % values.ndim for axis in named if values.shape[axis] == 1}) if values.ndim else ()
    return np.squeeze(values, axis=ones)


def unsqueeze(x: ArrayLike, dim: int, **_: object) -> Array:
    """Return `x` with a new dimension of size 1 at `dim`."""
    return np.expand_dims(np.asarray(x, np.float64), dim)


def unsqueeze_to_4d(x: ArrayLike, **_: object) -> Array:
    """Return `x` with leading dimensions of size 1 up to rank 4."""
    values = np.asarray(x, np.float64)
    return values.reshape((1,) * (4 - values.ndim) + values.shape)


def split(x: ArrayLike, split_size: int | Sequence[int], dim: int = 0, **_: object) -> list[Array]:
    """Return the pieces of `x` along `dim`, of given sizes.

    Of one size or of several.
    """
    values = np.asarray(x, np.float64)
    step = [split_size] * (values.shape[dim] // split_size) if isinstance(split_size, int) else split_size
    pieces = np.split(values, np.cumsum(step)[: None if isinstance(split_size, int) else -1], axis=dim)
    return [piece for piece in pieces if piece.shape[dim] or not isinstance(split_size, int)] or [values]


def concat(tensors: Sequence[ArrayLike], dim: int = 0, groups: int = 1, **_: object) -> Array:
    """Return arrays concatenated along `dim`, alternating group parts.

    Only if there are groups.
    """
    arrays = [np.asarray(tensor, np.float64) for tensor in tensors]
    parts = [np.split(array, groups, axis=dim) for array in arrays]
    return np.concatenate([part[group] for group in range(groups) for part in parts], axis=dim)


def stack(tensors: Sequence[ArrayLike], dim: int, **_: object) -> Array:
    """Return arrays along a new dimension."""
    return np.stack([np.asarray(tensor, np.float64) for tensor in tensors], axis=dim)


def repeat(x: ArrayLike, repeat_dims: Sequence[int], *_args: object, **_: object) -> Array:
    """Return `x` repeated along each dimension."""
    return np.tile(np.asarray(x, np.float64), tuple(int(count) for count in repeat_dims))


def expand(x: ArrayLike, output_shape: Sequence[int], *_args: object, **_: object) -> Array:
    """Return `x` broadcast to a shape in which -1 keeps a size."""
    values = np.asarray(x, np.float64)
    sizes = [1] * (len(output_shape) - values.ndim) + list(values.shape)
    shape = [size if want == -1 else want for want, size in zip(output_shape, sizes, strict=True)]
    return np.broadcast_to(values, shape)


def repeat_interleave(x: ArrayLike, repeats: int, dim: int, *_args: object, **_: object) -> Array:
    """Return `x` with each element repeated along `dim`."""
    return np.repeat(np.asarray(x, np.float64), repeats, axis=dim)


def narrow(x: ArrayLike, dim: int, start: int, length: int, **_: object) -> Array:
    """Return `length` indices of `x` along `dim`, from `start`."""
    values = np.asarray(x, np.float64)
    first = start % values.shape[dim] if start < 0 else start
    return np.take(values, range(first, first + length), axis=dim)


def chunk(x: ArrayLike, chunks: int, dim: int, **_: object) -> list[Array]:
    """Return the chunks of `x` along `dim`.

    Of ceil(size / chunks) indices each but the last.
    """
    values = np.asarray(x, np.float64)
    return split(values, max(1, -(-values.shape[dim] // chunks)), dim)


def roll(x: ArrayLike, shifts: int | Sequence[int], dim: Any = None, *_args: object, **_: object) -> Array:
    """Return elements moved along dimensions."""
    return np.roll(np.asarray(x, np.float64), shifts, axis=tuple(dim) if isinstance(dim, list) else dim)


def reshape_to_sizes(x: ArrayLike, *sizes: int, **_: object) -> Array:
    """Return the elements of `x` reshaped to these sizes."""
    return np.reshape(np.asarray(x, np.float64), sizes)


def view(x: ArrayLike, *shape: Any, **_: object) -> Array:
    """Return the elements of `x` reshaped.

    The shape is one argument or its sizes.
    """
    sizes = tuple(shape[0]) if len(shape) == 1 else shape
    return np.reshape(np.asarray(x, np.float64), sizes)


def broadcast_to(x: ArrayLike, output_shape: Sequence[int], **_: object) -> Array:
    """Return `x` broadcast to a shape."""
    return np.broadcast_to(np.asarray(x, np.float64), tuple(output_shape))


def gather(x: ArrayLike, dim: int, index: ArrayLike, **_: object) -> Array:
    """Return the elements of `x` that `index` names along `dim`."""
    values, names = np.asarray(x, np.float64), np.asarray(index).astype(np.int64)
    axis = dim % values.ndim
    part = values[tuple(slice(None) if i == axis else slice(size) for i, size in enumerate(names.shape))]
    return np.take_along_axis(part, names, axis)


def _scattered(x: ArrayLike, dim: int, index: ArrayLike, src: ArrayLike, combine: Any = None) -> Array:
    values, names = np.array(x, np.float64), np.asarray(index).astype(np.int64)
    places: list[NDArray[np.int64]] = [*np.indices(names.shape)]
    places[dim] = names
    given = np.asarray(src, np.float64)[tuple(map(slice, names.shape))]
    if combine is None:
        values[tuple(places)] = given
    else:
        whole = np.all(values == np.rint(values)) and np.all(given == np.rint(given))
        low = -(2.0**31) if min(values.min(initial=0), given.min(initial=0)) < 0 else 0.0
        combine.at(values, tuple(places), given)
        if whole and np.any((values < low) | (values >= low + 2.0**32)):
            # Integers of 32 bits wrap.
            values = (values - low) % 2.0**32 + low
    return values


def scatter(
    x: ArrayLike, dim: int, index: ArrayLike, src: ArrayLike, *, reduce: str | None = None, **_: object
) -> Array:
    """Return `x` with `src` set, added or multiplied at `index`."""
    return _scattered(x, dim, index, src, {"add": np.add, "multiply": np.multiply}.get(reduce or ""))


def scatter_add(x: ArrayLike, dim: int, index: ArrayLike, src: ArrayLike, **_: object) -> Array:
    """Return `x` with elements of `src` added at the positions of `index`."""
    return _scattered(x, dim, index, src, np.add)


def _per_channel(index: ArrayLike, channels: int) -> NDArray[np.int64]:
    names = np.asarray(index).astype(np.int64)
    return np.repeat(names[:, :, None], channels, axis=2)


def tosa_gather(x: ArrayLike, index: ArrayLike, **_: object) -> Array:
    """Return the rows of every batch that `index` names."""
    values = np.asarray(x, np.float64)
    return np.take_along_axis(values, _per_channel(index, values.shape[2]), 1)


def tosa_scatter(x: ArrayLike, index: ArrayLike, src: ArrayLike, **_: object) -> Array:
    """Return `x` with rows of every batch replaced by those of `src`."""
    return _scattered(x, 1, _per_channel(index, np.shape(src)[2]), src)


def index_fill(x: ArrayLike, dim: int, index: ArrayLike, value: float, **_: object) -> Array:
    """Return `x` with a value wherever `index` names its place along `dim`."""
    values = np.array(x, np.float64)
    names = np.asarray(index).astype(np.int64).reshape(-1)
    np.moveaxis(values, dim, 0)[names[names < values.shape[dim]]] = value
    return values


def indexed_fill(batch_id: ArrayLike, a: ArrayLike, b: ArrayLike, *, dim: int = 0, **_: object) -> Array:
    """Return `a` with slices `batch_id` along `dim` from `b`."""
    values = np.array(a, np.float64)
    for place, part in zip(
        np.asarray(batch_id).astype(np.int64).reshape(-1), np.moveaxis(np.asarray(b, np.float64), dim, 0), strict=True
    ):
        np.moveaxis(values, dim, 0)[place] = part
    return values


def nonzero(x: ArrayLike, **_: object) -> list[Array]:
    """Return the nonzero count, first of 8 places, and positions.

    Zeros follow.
    """
    values = np.asarray(x, np.float64).reshape(-1)
    places = np.flatnonzero(values)
    counts, found = np.zeros((1, 1, 1, 8)), np.zeros((1, 1, 1, 4 * values.size))
    counts[..., 0] = places.size
    found[..., : places.size] = places
    return [counts, found]


def plus_one(x: ArrayLike, sub_core_grids: object = None, skip_negative_entries: bool = False, **_: object) -> Array:
    """Return x + 1; below zero x itself, if asked for."""
    values = np.asarray(x, np.float64)
    stays: NDArray[np.bool_] = (values < 0) & skip_negative_entries
    result: Array = values + 1 - stays
    return result


def isin(x: ArrayLike, others: ArrayLike, *, invert: bool = False, **_: object) -> Array:
    """Return 2**32 - 1 where an element is among `others`, else 0."""
    return np.where(np.isin(np.asarray(x), np.asarray(others), invert=invert), 2.0**32 - 1, 0.0)


def fill_rm(
    n: int,
    c: int,
    h: int,
    w: int,
    rows: int,
    columns: int,
    _like: object,
    high: float = 1.0,
    low: float = 0.0,
    **_: object,
) -> Array:
    """Return [n, c, h, w] with `high` first and `low` elsewhere.

    `high` is in the first rows and columns.
    """
    values: Array = np.full((n, c, h, w), low)
    values[..., :rows, :columns] = high
    return values


def fold(
    x: ArrayLike,
    stride_h: int,
    stride_w: int,
    use_transpose_as_fold: bool = False,
    output_shape: Sequence[int] | None = None,
    padding: Sequence[int] = (0, 0),
    *_args: object,
    collapse_output: bool = False,
    **_: object,
) -> Array:
    """Return images with pixel blocks as channels.

    From channels first, rows and columns fill tiles before.
    """
    values = np.asarray(x, np.float64)
    around = [padding[0], padding[0], padding[1], padding[1], 0, 0] if len(padding) == 2 else [*padding, 0, 0][:6]
    if use_transpose_as_fold:
        more = [around[5], around[0], around[2]]
        sizes = [size + extra for size, extra in zip(values.shape[1:], more, strict=True)]
        full = [sizes[0], *(-(-size // 32) * 32 for size in sizes[1:])]
        widths = [(0, 0), *((0, total - own) for total, own in zip(full, values.shape[1:], strict=True))]
        values = np.pad(values, widths).transpose(0, 2, 3, 1)
    else:
        values = np.pad(values, [(0, 0), *zip(around[::2], around[1::2], strict=True)])
    n, h, w, c = values.shape
    blocks = values.reshape(n, h // stride_h, stride_h, w // stride_w, stride_w, c).transpose(0, 1, 3, 2, 4, 5)
    result: Array = blocks.reshape(n, h // stride_h, w // stride_w, -1)
    if use_transpose_as_fold and output_shape is not None:
        result = result[tuple(map(slice, output_shape))]
    return result.reshape(1, 1, -1, result.shape[-1]) if collapse_output else result


def fold_of_shards(
    x: ArrayLike,
    stride_h: int,
    stride_w: int,
    use_transpose_as_fold: bool = False,
    output_shape: Sequence[int] | None = None,
    padding: Sequence[int] = (0, 0),
    *_args: object,
    **options: Any,
) -> Array:
    """Return `fold` of sharded images.

    From channels first, rows and columns are padded on both sides.
    """
    if not use_transpose_as_fold:
        return fold(x, stride_h, stride_w, False, output_shape, padding, **options)
    top, left = (padding[0], padding[1]) if len(padding) == 2 else (padding[0], padding[2])
    around = [top, top, left, left, 0, [*padding, 0, 0][5] if len(padding) > 2 else 0]
    images = np.asarray(x, np.float64).transpose(0, 2, 3, 1)
    padded = np.pad(images, [(0, 0), *zip(around[::2], around[1::2], strict=True)])
    height, width = (
        size // stride * stride for size, stride in zip(padded.shape[1:3], (stride_h, stride_w), strict=True)
    )
    result = fold(padded[:, :height, :width], stride_h, stride_w)
    return result if output_shape is None else result[tuple(map(slice, output_shape))]


def rotate_half(x: ArrayLike, **_: object) -> Array:
    """Return the second half of the last dimension negated, then the first."""
    first, second = np.split(np.asarray(x, np.float64), 2, axis=-1)
    return np.concatenate([-second, first], axis=-1)


def interleaved_to_sharded_partial(
    x: ArrayLike, _grid: object, _shape: object, num_slices: int, slice_index: int, *_args: object, **_: object
) -> Array:
    """Return a slice of the rows of all matrices."""
    values = np.asarray(x, np.float64)
    rows = values.reshape(-1, values.shape[-1])
    height = len(rows) // num_slices
    return rows[slice_index * height : (slice_index + 1) * height].reshape(1, 1, height, -1)


def sharded_to_interleaved_partial(
    x: ArrayLike, cache: ArrayLike, num_slices: int, slice_index: int, **_: object
) -> Array:
    """Return `cache` with a slice of its rows replaced."""
    values = np.array(cache, np.float64)
    rows = values.reshape(-1, values.shape[-1])
    height = len(rows) // num_slices
    rows[slice_index * height : (slice_index + 1) * height] = np.asarray(x, np.float64).reshape(height, -1)
    return rows.reshape(values.shape)


def bcast(a: ArrayLike, b: ArrayLike, math_op: object, _dim: object = None, **_: object) -> Array:
    """Return `a` and `b` added, subtracted or multiplied, with broadcasting.

    Batches of `b` may be parts of a's rows.
    """
    left, right = np.asarray(a, np.float64), np.asarray(b, np.float64)
    shape = left.shape
    if left.ndim == 4 and right.ndim == 4 and shape[0] == 1 < right.shape[0]:
        left = left.reshape(right.shape[0], 1, -1, shape[-1])
    name = str(getattr(math_op, "name", math_op))
    with np.errstate(all="ignore"):
        result = {"ADD": np.add, "SUB": np.subtract, "MUL": np.multiply}[name](left, right)
    return np.asarray(result, np.float64).reshape(shape)


def convert_to_chw(x: ArrayLike, **_: object) -> Array:
    """Return a channels-first image: [1, 1, HW, C] -> [1, 1, C, HW]."""
    return np.swapaxes(np.asarray(x, np.float64), 2, 3)


def convert_to_hwc(x: ArrayLike, *, channels: int | None = None, **_: object) -> Array:
    """Return channels-last images, zero-padded.

    [1, B, C, HW] -> [1, 1, B * HW, channels].
    """
    values = np.asarray(x, np.float64)
    _, batch, own, pixels = values.shape
    result = np.zeros((1, 1, batch * pixels, channels or own))
    result[0, 0, :, :own] = values[0].swapaxes(1, 2).reshape(batch * pixels, own)
    return result


def transpose_rm(x: ArrayLike, **_: object) -> Array:
    """Return `x` with its rows and columns exchanged."""
    return np.swapaxes(np.asarray(x, np.float64), -1, -2)
