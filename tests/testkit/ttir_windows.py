"""`ttir` convolutions and pools in numpy float64.

For images in any order of their dimensions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttnn.compiler.dialects import TableOp
from ttnn.compiler.ir.printing import attribute_text

Array = NDArray[Any]
Groups = Callable[[str], Any]


def pair(value: Any) -> tuple[int, int]:
    """A number for both sides, or two."""
    return (value, value) if isinstance(value, int) else (value[0], value[1])


def upsampled(x: Array, scale: tuple[int, int], *, bilinear: bool) -> Array:
    """[N, H, W, C] upsampled by nearest or linear interpolation.

    Between the two points next to it in each direction.
    """
    for axis, factor in enumerate(scale, 1):
        if not bilinear:
            x = x.repeat(factor, axis=axis)
            continue
        size = x.shape[axis]
        place = np.clip((np.arange(size * factor) + 0.5) / factor - 0.5, 0, size - 1)
        below = np.floor(place).astype(int)
        share = (place - below).reshape([-1 if dim == axis else 1 for dim in range(x.ndim)])
        above = np.minimum(below + 1, size - 1)
        x = x.take(below, axis) * (1 - share) + x.take(above, axis) * share
    return x


def _sides(value: Any) -> tuple[int, int, int, int]:
    """Padding at top, left, bottom and right."""
    if isinstance(value, int):
        return (value,) * 4
    if len(value) == 2:
        return (value[0], value[1], value[0], value[1])
    return tuple(value)  # type: ignore[return-value]


def _window_facts(op: TableOp, pool: bool) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int, int, int], Any]:
    if "stride_height" in op.spec.attributes:
        stride = op.get("stride_height"), op.get("stride_width")
        dilation = op.get("dilation_height"), op.get("dilation_width")
        padding = tuple(op.get(f"padding_{side}") for side in ("top", "left", "bottom", "right"))
        kernel = (op.get("kernel_height"), op.get("kernel_width")) if pool else None
        return stride, dilation, padding, kernel  # type: ignore[return-value]
    kernel = pair(op.get("kernel")) if pool else None
    return pair(op.get("stride")), pair(op.get("dilation")), _sides(op.get("padding")), kernel


def _windows(
    x: Array,
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[tuple[int, int]],
    fill: float,
) -> Array:
    """Windows: [N, sizes.., C] -> [N, positions.., C, kernel..], 1-3D."""
    count = len(kernel)
    x = np.pad(x, ((0, 0), *padding, (0, 0)), constant_values=fill)
    spans = [(size - 1) * step + 1 for size, step in zip(kernel, dilation, strict=True)]
    view = np.lib.stride_tricks.sliding_window_view(x, spans, axis=tuple(range(1, count + 1)))
    steps = tuple(slice(None, None, step) for step in stride)
    inner = tuple(slice(None, None, step) for step in dilation)
    return view[(slice(None), *steps, slice(None), *inner)]


def _convolved(
    x: Array,
    weight: Array,
    stride: Sequence[int],
    padding: Sequence[tuple[int, int]],
    dilation: Sequence[int],
    groups: int,
) -> Array:
    """[N, sizes.., C], [O, C / groups, kernel..] -> [N, positions.., O]."""
    windows = _windows(x, weight.shape[2:], stride, dilation, padding, 0.0)
    inner = len(stride)
    share, outs = x.shape[-1] // groups, weight.shape[0] // groups
    parts = []
    for group in range(groups):
        cut = windows[(slice(None),) * (1 + inner) + (slice(group * share, (group + 1) * share),)]
        axes = list(range(1 + inner, 2 + 2 * inner))
        parts.append(np.tensordot(cut, weight[group * outs : (group + 1) * outs], (axes, list(range(1, 2 + inner)))))
    return np.concatenate(parts, axis=-1)


def _order(op: TableOp, names: Sequence[str]) -> list[int]:
    """Return the positions of batch, space and channels; default: channels last."""
    if f"{names[0]}_dim" not in op.spec.attributes:
        return list(range(len(names)))
    return [int(op.get(f"{name}_dim")) for name in names]


def _ordered(value: Array, order: Sequence[int]) -> Array:
    return np.transpose(value, np.argsort(order))


def _plus(made: Array, bias: Array | None) -> Array:
    return made if bias is None else made + bias.reshape(-1)


_IMAGE = ("batch", "height", "width", "channel")


def conv2d(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    stride, dilation, padding, _ = _window_facts(op, pool=False)
    top, left, bottom, right = padding
    order = _order(op, _IMAGE)
    x = np.transpose(given[0], order)
    flat = op.attribute("flattened_compat_info") if "flattened_compat_info" in op.spec.attributes else None
    if flat is not None:
        numbers = dict(re.findall(r"(\w+) = (\d+)", attribute_text(flat)))
        x = x.reshape(*(int(numbers[name]) for name in ("batch_size", "input_height", "input_width")), x.shape[-1])
    made = _convolved(x, groups("weight"), stride, ((top, bottom), (left, right)), dilation, op.get("groups"))
    return [_ordered(_plus(made, groups("bias")), order)]


def conv_transpose2d(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """Transposed convolution by zero insertion and flipped weights.

    The weights are [C, O / groups, kh, kw].
    """
    stride, dilation, padding, _ = _window_facts(op, pool=False)
    top, left, bottom, right = padding
    more = pair(op.get("output_padding"))
    order = _order(op, _IMAGE)
    x, weight, count = np.transpose(given[0], order), groups("weight"), op.get("groups")
    batch, height, width, channels = x.shape
    spread = np.zeros((batch, (height - 1) * stride[0] + 1, (width - 1) * stride[1] + 1, channels))
    spread[:, :: stride[0], :: stride[1]] = x
    turned = weight[:, :, ::-1, ::-1].reshape(count, channels // count, -1, *weight.shape[2:])
    turned = np.swapaxes(turned, 1, 2).reshape(-1, channels // count, *weight.shape[2:])
    reach = [step * (size - 1) for step, size in zip(dilation, weight.shape[2:], strict=True)]
    around = ((reach[0] - top, reach[0] - bottom + more[0]), (reach[1] - left, reach[1] - right + more[1]))
    made = _convolved(spread, turned, (1, 1), around, dilation, count)
    return [_ordered(_plus(made, groups("bias")), order)]


def conv3d(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    order = _order(op, ("batch", "depth", "height", "width", "channel"))
    x = np.transpose(given[0], order)
    stride, padding = (
        (value,) * 3 if isinstance(value, int) else tuple(value) for value in (op.get("stride"), op.get("padding"))
    )
    around = [(side, side) for side in padding]
    if op.get("padding_mode") == "replicate":
        x, around = np.pad(x, ((0, 0), *around, (0, 0)), mode="edge"), [(0, 0)] * 3
    made = _convolved(x, groups("weight"), stride, around, (1, 1, 1), op.get("groups"))
    return [_ordered(_plus(made, groups("bias")), order)]


def convolution(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """The general form of 2025-10: an attribute says which dimension is which.

    Groups of a batch have output features of their own.
    """
    text = attribute_text(op.properties["convolution_layout"])
    found = {
        name: [int(one) for one in value.split("x")] for name, value in re.findall(r"(\w+) = (\d+(?:x\d+)*)", text)
    }
    count = op.get("batch_group_count")
    parts = zip(
        np.split(given[0], count, found["input_batch"][0]),
        np.split(given[1], count, found["kernel_output_feature"][0]),
        strict=True,
    )
    made = [_general(op, list(part), found) for part in parts]
    joined, bias = np.concatenate(made, axis=found["output_feature"][0]), groups("bias")
    # The bias lies as the result does, with one element in the other dimensions.
    return [joined if bias is None else joined + bias]


def _general(op: TableOp, given: list[Array], found: dict[str, list[int]]) -> Array:
    """One group of a general convolution."""
    images = [*found["input_batch"], *found["input_spatial_dimensions"], *found["input_feature"]]
    weights = [*found["kernel_output_feature"], *found["kernel_input_feature"], *found["kernel_spatial_dimensions"]]
    outs = [*found["output_batch"], *found["output_spatial_dimensions"], *found["output_feature"]]
    x, weight = np.transpose(given[0], images), np.transpose(given[1], weights)
    spread = list(op.get("input_dilation"))
    for axis, step in enumerate(spread, 1):
        if step != 1:
            shape = list(x.shape)
            shape[axis] = (shape[axis] - 1) * step + 1
            wide = np.zeros(shape)
            wide[(slice(None),) * axis + (slice(None, None, step),)] = x
            x = wide
    for axis, reverse in enumerate(op.get("window_reversal"), 2):
        weight = np.flip(weight, axis) if reverse else weight
    sides = list(op.get("padding"))
    around = list(zip(sides[::2], sides[1::2], strict=True))
    made = _convolved(
        x,
        weight,
        tuple(op.get("window_strides")),
        around,
        tuple(op.get("weight_dilation")),
        op.get("feature_group_count"),
    )
    return _ordered(made, outs)


def _pool(op: TableOp, x: Array, how: str) -> Array:
    stride, dilation, padding, kernel = _window_facts(op, pool=True)
    height = op.get("original_height") if "original_height" in op.spec.attributes else None
    if height is not None:
        x = x.reshape(-1, height, op.get("original_width"), x.shape[-1])
    flat = op.attribute("flattened_compat_info") if "flattened_compat_info" in op.spec.attributes else None
    if flat is not None:
        numbers = dict(re.findall(r"(\w+) = (\d+)", attribute_text(flat)))
        x = x.reshape(*(int(numbers[name]) for name in ("batch_size", "input_height", "input_width")), x.shape[-1])
    top, left, bottom, right = padding
    inside = ((top, bottom), (left, right))
    if op.get("ceil_mode"):
        for axis, name in ((0, "bottom"), (1, "right")):
            span = (kernel[axis] - 1) * dilation[axis] + 1
            size = x.shape[1 + axis] + (top + bottom if axis == 0 else left + right)
            extra = -(size - span) % stride[axis]
            bottom, right = (bottom + extra, right) if name == "bottom" else (bottom, right + extra)
    around = ((top, bottom), (left, right))
    if how == "max":
        return _windows(x, kernel, stride, dilation, around, -np.inf).max(axis=(-1, -2))
    if how == "place":
        # Where in its plane the largest element of a window stands.
        plane = np.arange(x.shape[1] * x.shape[2]).reshape(1, *x.shape[1:3], 1)
        windows = _windows(x, kernel, stride, dilation, around, -np.inf)
        places = _windows(np.broadcast_to(plane, x.shape), kernel, stride, dilation, around, 0)
        flat = (*windows.shape[:-2], -1)
        found = windows.reshape(flat).argmax(axis=-1)[..., None]
        return np.take_along_axis(places.reshape(flat), found, axis=-1)[..., 0]
    windows = _windows(x, kernel, stride, dilation, around, 0.0)
    # What ceil_mode adds behind the padding never counts.
    ones = np.ones_like(x)
    if op.get("count_include_pad") is not False:
        ones = np.pad(ones, ((0, 0), *inside, (0, 0)), constant_values=1.0)
        around = ((0, bottom - inside[0][1]), (0, right - inside[1][1]))
    return windows.sum(axis=(-1, -2)) / _windows(ones, kernel, stride, dilation, around, 0.0).sum(axis=(-1, -2))


def is_typed_as_computed(op: TableOp) -> bool:
    """Return whether general pooling results match their windows: unverified."""
    sizes, dilation, sides = op.get("window_dimensions"), op.get("window_dilations"), list(op.get("padding"))
    spans = [(size - 1) * step + 1 for size, step in zip(sizes, dilation, strict=True)]
    extra = [low + high for low, high in zip(sides[::2], sides[1::2], strict=True)]
    for value, result in zip(op.inputs, op.results, strict=True):
        given = value.type.get_shape()  # type: ignore[attr-defined]
        parts = zip(given, extra, spans, op.get("window_strides"), strict=True)
        shape = tuple((size + more - span) // stride + 1 for size, more, span, stride in parts)
        if shape != tuple(result.type.get_shape()):  # type: ignore[attr-defined]
            return False
    return True


def pooling(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    """General pooling of 2025-10 over every dimension.

    An average counts padding unless its text excludes it.
    """
    method = re.search(r"Max|Average|Sum", attribute_text(op.properties["pooling_method"]))
    assert method is not None
    sides, rank = list(op.get("padding")), given[0].ndim
    fill = -np.inf if method[0] == "Max" else 0.0
    sizes, dilation = op.get("window_dimensions"), op.get("window_dilations")
    spans = [(size - 1) * step + 1 for size, step in zip(sizes, dilation, strict=True)]
    places = tuple(slice(None, None, step) for step in (*op.get("window_strides"), *dilation))
    axes = tuple(range(rank, 2 * rank))
    reduce = {"Max": np.max, "Average": np.mean, "Sum": np.sum}[method[0]]
    made = []
    for x in given:
        wide = np.pad(x, list(zip(sides[::2], sides[1::2], strict=True)), constant_values=fill)
        windows = np.lib.stride_tricks.sliding_window_view(wide, spans)[places]
        if "count_include_pad" in op.attributes and method[0] == "Average":
            assert attribute_text(op.attributes["count_include_pad"]) == "false"
            ones = np.pad(np.ones_like(x), list(zip(sides[::2], sides[1::2], strict=True)))
            counts = np.lib.stride_tricks.sliding_window_view(ones, spans)[places]
            made.append(windows.sum(axis=axes) / counts.sum(axis=axes))
        else:
            made.append(reduce(windows, axis=axes))
    return made


def _pooled(how: str) -> Callable[[TableOp, list[Array], Groups], list[Array]]:
    def pool(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
        shape = tuple(int(size) for size in op.results[0].type.get_shape())  # type: ignore[attr-defined]
        return [_pool(op, given[0], how).reshape(shape)]

    return pool


def max_pool2d_with_indices(op: TableOp, given: list[Array], groups: Groups) -> list[Array]:
    shape = tuple(int(size) for size in op.results[0].type.get_shape())  # type: ignore[attr-defined]
    return [_pool(op, given[0], how).reshape(shape) for how in ("max", "place")]


WINDOWS: dict[str, Callable[[TableOp, list[Array], Groups], list[Array]]] = {
    "avg_pool2d": _pooled("mean"),
    "conv2d": conv2d,
    "conv3d": conv3d,
    "conv_transpose2d": conv_transpose2d,
    "convolution": convolution,
    "max_pool2d": _pooled("max"),
    "max_pool2d_with_indices": max_pool2d_with_indices,
    "pooling": pooling,
}
