"""Reference functions of pooling and resampling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]


def _outputs(extent: int, size: int, stride: int, pads: tuple[int, int], dilation: int, ceil: bool) -> int:
    free = extent + sum(pads) - dilation * (size - 1) - 1
    count = (-(-free // stride) if ceil else free // stride) + 1
    return count - 1 if ceil and (count - 1) * stride >= extent + pads[0] else count


def _pool(
    x: ArrayLike,
    image: tuple[int, int, int, int],
    join: Callable[[Values, int, int], Any],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int] = (1, 1),
    ceil_mode: bool = False,
) -> Values:
    """Return every window joined, with its first row and column."""
    batch, height, width, channels = image
    values = np.asarray(x, np.float64).reshape(image)
    top, bottom, left, right = padding if len(padding) == 4 else (padding[0], padding[0], padding[1], padding[1])
    rows = _outputs(height, kernel[0], stride[0], (top, bottom), dilation[0], ceil_mode)
    columns = _outputs(width, kernel[1], stride[1], (left, right), dilation[1], ceil_mode)
    result: Values = np.zeros((batch, rows, columns, channels))
    for y in range(rows):
        for x0 in range(columns):
            first = (y * stride[0] - top, x0 * stride[1] - left)
            ys = [first[0] + i * dilation[0] for i in range(kernel[0])]
            xs = [first[1] + j * dilation[1] for j in range(kernel[1])]
            inside = np.ix_([i for i in ys if 0 <= i < height], [j for j in xs if 0 <= j < width])
            window = values.transpose(1, 2, 0, 3)[inside]
            result[:, y, x0] = join(window, *first)
    return result.reshape(1, 1, -1, channels)


def max_pool2d(
    x: ArrayLike,
    batch_size: int,
    input_h: int,
    input_w: int,
    channels: int,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool = False,
    return_indices: bool = False,
    **_: Any,
) -> Values | tuple[Values, NDArray[np.int64]]:
    """Return every window's maximum, and its pixel with `return_indices`.

    The first among equals.
    """
    image = (batch_size, input_h, input_w, channels)

    def largest(window: Values, *_: int) -> Any:
        return window.max(axis=(0, 1)) if window.size else -np.inf

    def pixel(window: Values, y: int, x0: int) -> Any:
        if not window.size:
            return -1
        # Rows and columns of padding in front of the image are not in the window.
        first_row, first_column = (
            place if place >= 0 else place % step for place, step in zip((y, x0), dilation, strict=True)
        )
        row, column = np.divmod(window.reshape(-1, *window.shape[2:]).argmax(axis=0), window.shape[1])
        return (first_row + row * dilation[0]) * input_w + first_column + column * dilation[1]

    values = _pool(x, image, largest, kernel_size, stride, padding, dilation, ceil_mode)
    if not return_indices:
        return values
    return values, _pool(x, image, pixel, kernel_size, stride, padding, dilation, ceil_mode).astype(np.int64)


def avg_pool2d(
    x: ArrayLike,
    batch_size: int,
    input_h: int,
    input_w: int,
    channels: int,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    **_: Any,
) -> Values:
    """Return the mean of every window."""
    image = (batch_size, input_h, input_w, channels)
    after = (padding[1], padding[3]) if len(padding) == 4 else (padding[0], padding[1])

    def mean(window: Values, y: int, x0: int) -> Any:
        high = min(y + kernel_size[0], input_h + after[0]) - y
        wide = min(x0 + kernel_size[1], input_w + after[1]) - x0
        count = high * wide if count_include_pad else window.shape[0] * window.shape[1]
        return window.sum(axis=(0, 1)) / (divisor_override or max(count, 1))

    return _pool(x, image, mean, kernel_size, stride, padding, (1, 1), ceil_mode)


def _adaptive(
    x: ArrayLike, image: tuple[int, int, int, int], output_size: Sequence[int], join: Callable[[Values], Values]
) -> Values:
    batch, height, width, channels = image
    values = np.asarray(x, np.float64).reshape(image)
    high, wide = output_size
    result: Values = np.zeros((batch, high, wide, channels))
    for y in range(high):
        for x0 in range(wide):
            rows = slice(y * height // high, -(-(y + 1) * height // high))
            columns = slice(x0 * width // wide, -(-(x0 + 1) * width // wide))
            result[:, y, x0] = join(values[:, rows, columns])
    return result.reshape(1, 1, -1, channels)


def adaptive_avg_pool2d(
    x: ArrayLike, batch_size: int, input_h: int, input_w: int, channels: int, output_size: Sequence[int], **_: Any
) -> Values:
    """Return the means of windows that divide images evenly."""
    return _adaptive(x, (batch_size, input_h, input_w, channels), output_size, lambda w: w.mean(axis=(1, 2)))


def adaptive_max_pool2d(
    x: ArrayLike, batch_size: int, input_h: int, input_w: int, channels: int, output_size: Sequence[int], **_: Any
) -> Values:
    """Return the largest elements of windows that divide images evenly."""
    return _adaptive(x, (batch_size, input_h, input_w, channels), output_size, lambda w: w.max(axis=(1, 2)))


def global_avg_pool2d(x: ArrayLike, **_: Any) -> Values:
    """Return the mean of every channel of [N, H, W, C]."""
    result: Values = np.asarray(x, np.float64).mean(axis=(1, 2), keepdims=True)
    return result


def upsample(x: ArrayLike, scale_factor: Any, *, mode: str = "nearest", **_: Any) -> Values:
    """Return larger images [N, H, W, C]."""
    values: Values = np.asarray(x, np.float64)
    factors = [scale_factor] * 2 if isinstance(scale_factor, int | float) else list(scale_factor)
    for axis, factor in enumerate(factors, 1):
        extent = values.shape[axis]
        if mode == "nearest":
            place = np.floor(np.arange(int(extent * factor)) / factor).astype(np.int64)
            values = np.take(values, np.minimum(place, extent - 1), axis=axis)
            continue
        place = np.clip((np.arange(extent * int(factor)) + 0.5) / factor - 0.5, 0, extent - 1)
        first = np.floor(place).astype(np.int64)
        shape = [1] * values.ndim
        shape[axis] = -1
        part = (place - first).reshape(shape)
        second = np.minimum(first + 1, extent - 1)
        values = np.take(values, first, axis=axis) * (1 - part) + np.take(values, second, axis=axis) * part
    return values


def grid_sample(
    x: ArrayLike,
    grid: ArrayLike,
    *,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
    **_: object,
) -> Values:
    """Return images interpolated from four pixels per point.

    Zeros are outside.
    """
    if (mode, padding_mode) != ("bilinear", "zeros"):
        raise ValueError(f"mode={mode!r} with padding_mode={padding_mode!r}")
    values, points = np.asarray(x, np.float64), np.asarray(grid, np.float64)
    batch, height, width, channels = values.shape
    padded = np.zeros((batch, height + 2, width + 2, channels))
    padded[:, 1:-1, 1:-1] = values
    places = []
    for axis, extent in ((1, height), (0, width)):
        half = (extent - 1) / 2 if align_corners else extent / 2
        places.append(points[..., axis] * half + (half if align_corners else half - 0.5))
    firsts = [np.floor(place) for place in places]
    image = np.arange(batch)[:, None, None]
    result: Values = np.zeros((*points.shape[:3], channels))
    for down in (0, 1):
        for across in (0, 1):
            row, column = (
                np.clip(first + step, -1, extent).astype(int) + 1
                for first, step, extent in zip(firsts, (down, across), (height, width), strict=True)
            )
            weight = np.ones(points.shape[:3])
            for place, first, step in zip(places, firsts, (down, across), strict=True):
                weight *= place - first if step else 1 - place + first
            result += weight[..., None] * padded[image, row, column]
    return result


def rotate(
    x: ArrayLike,
    angle: float,
    center: Sequence[float] | None = None,
    fill: float = 0.0,
    _expand: bool = False,
    interpolation_mode: str = "nearest",
    **_: object,
) -> NDArray[np.float64]:
    """Return images [N, H, W, C] turned counter-clockwise around a point."""
    values = np.asarray(x, np.float64)
    _, height, width, _channels = values.shape
    middle = ((width - 1) / 2, (height - 1) / 2) if center is None else (center[0] - 0.5, center[1] - 0.5)
    cosine, sine = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
    across, down = np.meshgrid(np.arange(width) - middle[0], np.arange(height) - middle[1])
    columns = across * cosine - down * sine + middle[0]
    rows = across * sine + down * cosine + middle[1]

    def at(y: NDArray[np.float64], z: NDArray[np.float64]) -> NDArray[np.float64]:
        inside = (y >= 0) & (y < height) & (z >= 0) & (z < width)
        taken = values[:, np.clip(y, 0, height - 1).astype(int), np.clip(z, 0, width - 1).astype(int)]
        return np.where(inside[None, :, :, None], taken, fill)

    if interpolation_mode == "nearest":
        return at(np.floor(rows + 0.5), np.floor(columns + 0.5))
    y, z = np.floor(rows), np.floor(columns)
    v, u = (rows - y)[None, :, :, None], (columns - z)[None, :, :, None]
    above = at(y, z) * (1 - u) + at(y, z + 1) * u
    below = at(y + 1, z) * (1 - u) + at(y + 1, z + 1) * u
    return np.asarray(above * (1 - v) + below * v)
