"""General 2025-10 convolutions and poolings as TT-NN's, channels last."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from ttnn.compiler.dialects.kinds import i32_array, i32_attr, si32_attr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.attributes import DenseAttr, OpaqueDialectAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import DenseArrayBase, IntegerAttr, IntegerType, SSAValue
from ttnn.compiler.transforms.base import owner_of
from ttnn.compiler.transforms.ttir import build as decompose
from ttnn.compiler.transforms.ttir.constants import build_full, is_float, number_type, splat_of

__all__ = ["COUNT_INCLUDE_PAD", "channels_last", "convolution", "convolution_dimensions", "counts_padding", "pooling"]

COUNT_INCLUDE_PAD = "count_include_pad"
"""Attribute of general poolings that a sum fusion requests.

It is discardable, as they have no inherent one; the fusion is that of a sum over a count.
"""


def convolution_dimensions(text: str) -> dict[str, list[int]]:
    """Return the dimensions that a convolution layout names."""
    found: dict[str, list[int]] = {}
    for name, value in re.findall(r"(\w+) = (\d+(?:x\d+)*)", text):
        found[name] = [int(one) for one in value.split("x")]
    return found


def convolution(module: Module, op: TableOp) -> list[SSAValue] | None:
    """Return a two-dimensional convolution's replacement; None for others."""
    layout = convolution_dimensions(attribute_text(op.properties["convolution_layout"]))
    shape = shape_of(op.inputs[0])
    if op.get("batch_group_count") != 1:
        return _batch_groups(module, op, layout)
    if len(shape) == 3:
        return _line(module, op)
    if len(shape) != 4:
        return None
    order_in = [layout["input_batch"][0], *layout["input_spatial_dimensions"], layout["input_feature"][0]]
    order_weight = [
        layout["kernel_output_feature"][0],
        layout["kernel_input_feature"][0],
        *layout["kernel_spatial_dimensions"],
    ]
    order_out = [layout["output_batch"][0], *layout["output_spatial_dimensions"], layout["output_feature"][0]]
    dilation = list(op.get("input_dilation"))
    if any(one != 1 for one in dilation):
        return _transposed(module, op, order_in, order_weight, order_out)
    if any(op.get("window_reversal")):
        return None
    value = decompose.permute(module, op, op.inputs[0], order_in)
    weight = decompose.permute(module, op, op.inputs[1], order_weight)
    padding = list(op.get("padding"))
    result_shape = shape_of(op.results[0])
    last = [result_shape[i] for i in order_out]
    inputs = [value, weight, *(decompose.permute(module, op, one, order_out) for one in op.inputs[2:])]
    result = decompose.typed(
        module,
        op,
        "conv2d",
        inputs,
        decompose.tensor_like(op.results[0].type, last),
        stride=i32_array(list(op.get("window_strides"))),
        padding=i32_array([padding[0], padding[2], padding[1], padding[3]]),
        dilation=i32_array(list(op.get("weight_dilation"))),
        groups=i32_attr(op.get("feature_group_count")),
    )
    return [decompose.permute(module, op, result, _inverse(order_out))]


def _batch_groups(module: Module, op: TableOp, layout: dict[str, list[int]]) -> list[SSAValue]:
    """Return joined convolutions of batch parts.

    Each has its own output features, joined along these.
    """
    groups = op.get("batch_group_count")
    (batch,), (outputs,), (features,) = (
        layout[name] for name in ("input_batch", "kernel_output_feature", "output_feature")
    )

    def parts(value: SSAValue, dim: int) -> list[SSAValue]:
        shape = shape_of(value)
        size = shape[dim] // groups
        cut = []
        for start in range(0, shape[dim], size):
            begins, ends = [0] * len(shape), list(shape)
            begins[dim], ends[dim] = start, start + size
            cut.append(decompose.slice_static(module, op, value, begins, ends, [1] * len(shape)))
        return cut

    pairs = zip(parts(op.inputs[0], batch), parts(op.inputs[1], outputs), strict=True)
    size = list(shape_of(op.results[0]))
    size[features] //= groups
    entries = {**op.properties, "batch_group_count": IntegerAttr(1, IntegerType(64))}
    kind = decompose.tensor_like(op.results[0].type, size)
    made = [decompose.typed(module, op, "convolution", [image, weight], kind, **entries) for image, weight in pairs]
    result = decompose.typed(module, op, "concat", made, op.results[0].type, dim=si32_attr(features))
    if len(op.inputs) > 2:
        result = decompose.typed(module, op, "add", [result, op.inputs[2]], op.results[0].type)
    return [result]


def _line(module: Module, op: TableOp) -> list[SSAValue]:
    """Return a line convolution as one of width-one images."""
    wide = [decompose.reshape(module, op, one, (*shape_of(one), 1)) for one in op.inputs]
    text = attribute_text(op.properties["convolution_layout"])
    text = re.sub(r"(spatial_dimensions = \d+)", r"\1x3", text).removeprefix("#ttir")
    entries = dict(op.properties)
    entries["convolution_layout"] = OpaqueDialectAttr("ttir", (text,), pretty=False)
    for name in ("window_strides", "input_dilation", "weight_dilation"):
        entries[name] = decompose.i64s([*op.get(name), 1])
    entries["padding"] = decompose.i64s([*op.get("padding"), 0, 0])
    reversal = [*op.get("window_reversal")]
    entries["window_reversal"] = DenseArrayBase.from_list(IntegerType(1), [int(one) for one in [*reversal, *reversal]])
    kind = decompose.tensor_like(op.results[0].type, (*shape_of(op.results[0]), 1))
    result = decompose.typed(module, op, "convolution", wide, kind, **entries)
    return [decompose.reshape(module, op, result, shape_of(op.results[0]))]


def _reversed(module: Module, op: TableOp, value: SSAValue, dims: list[int]) -> SSAValue:
    """Return a value backwards along some dimensions: twice is itself."""
    before = owner_of(value)
    if isinstance(before, TableOp) and before.name == "ttir.reverse" and sorted(before.get("dimensions")) == dims:
        return before.inputs[0]
    return decompose.new(module, op, "reverse", [value], shape_of(value), dimensions=decompose.i64s(dims))


def _transposed(
    module: Module, op: TableOp, order_in: list[int], order_weight: list[int], order_out: list[int]
) -> list[SSAValue] | None:
    """Return a transposed convolution of a zero-stuffed image; else None.

    The image has zeros between its elements.

    The transposed one walks over the kernel backwards, and pads what the kernel covers beyond the padding here.
    """
    reversal, window = op.get("window_reversal"), op.get("weight_dilation")
    if any(one != 1 for one in op.get("window_strides")) or op.get("feature_group_count") != 1:
        return None
    if op.get("batch_group_count") != 1 or len(set(reversal)) != 1:
        return None
    weight = op.inputs[1]
    spatial = order_weight[2:]
    kernel = [shape_of(weight)[i] for i in spatial]
    sides = list(op.get("padding"))
    covered = [(size - 1) * step for size, step in zip(kernel, window, strict=True)]
    low = [span - side for span, side in zip(covered, sides[::2], strict=True)]
    high = [span - side for span, side in zip(covered, sides[1::2], strict=True)]
    if min(*low, *high) < 0:
        return None
    if not reversal[0]:
        weight = _reversed(module, op, weight, sorted(spatial))
    outputs, inputs, *rest = order_weight
    weight = decompose.permute(module, op, weight, [inputs, outputs, *rest])
    image = decompose.permute(module, op, op.inputs[0], order_in)
    bias = [decompose.permute(module, op, one, order_out) for one in op.inputs[2:]]
    last = [shape_of(op.results[0])[i] for i in order_out]
    result = decompose.typed(
        module,
        op,
        "conv_transpose2d",
        [image, weight, *bias],
        decompose.tensor_like(op.results[0].type, last),
        stride=i32_array(list(op.get("input_dilation"))),
        padding=i32_array([*low, *high]),
        output_padding=i32_array([0, 0]),
        dilation=i32_array(list(window)),
        groups=i32_attr(1),
    )
    return [decompose.permute(module, op, result, _inverse(order_out))]


def _inverse(order: Sequence[int]) -> list[int]:
    return [list(order).index(i) for i in range(len(order))]


def channels_last(module: Module, op: TableOp) -> list[SSAValue] | None:
    """Return a convolution with channels moved last; None if last."""
    names = ("batch", "depth", "height", "width", "channel")
    order = [op.get(f"{name}_dim") for name in names if f"{name}_dim" in op.spec.attributes]
    if len(order) < 4 or order == list(range(len(order))):
        return None
    image = decompose.permute(module, op, op.inputs[0], order)
    bias = [decompose.permute(module, op, one, order) for one in op.inputs[2:]]
    last = [shape_of(op.results[0])[i] for i in order]
    properties = {name: value for name, value in op.properties.items() if not name.endswith("_dim")}
    kind = decompose.tensor_like(op.results[0].type, last)
    name = op.name.removeprefix("ttir.")
    result = decompose.typed(module, op, name, [image, op.inputs[1], *bias], kind, **properties)
    return [decompose.permute(module, op, result, _inverse(order))]


def counts_padding(op: TableOp) -> bool:
    """Return whether an average pooling counts padding, the default."""
    found = op.attributes.get(COUNT_INCLUDE_PAD)
    return not isinstance(found, IntegerAttr) or bool(found.value.data)


def _pooled_constants(module: Module, op: TableOp, method: str) -> list[SSAValue] | None:
    """Return a uniform pooling's constants; None for others.

    They are those of constants with equal elements.

    All windows are alike where there is neither padding nor a gap between elements.
    """
    if any(op.get("padding")) or any(step != 1 for step in op.get("base_dilations")):
        return None
    count = math.prod(op.get("window_dimensions")) if method == "Sum" else 1
    results = []
    for value, old in zip(op.inputs, op.results, strict=True):
        number = splat_of(value)
        # Sums of integers that leave their range have no number here.
        if number is None or (count != 1 and not is_float(old.type.element_type)):  # type: ignore[attr-defined]
            return None
        results.append(build_full(module, op, old.type, number * count))
    return results


def pooling(module: Module, op: TableOp) -> list[SSAValue] | None:
    """Return what stands for a pooling of images; None for others."""
    shape = shape_of(op.inputs[0])
    window = list(op.get("window_dimensions"))
    strides, dilation = list(op.get("window_strides")), list(op.get("window_dilations"))
    padding = list(op.get("padding"))
    method = attribute_text(op.properties["pooling_method"])
    kind = re.search(r"\b(Max|Average|Sum)\b", method)
    filled = _pooled_constants(module, op, kind.group(1)) if kind is not None else None
    if filled is not None:
        return filled
    spatial = [i for i, size in enumerate(window) if size > 1]
    if len(shape) != 4 or len(spatial) > 2:
        return None
    while len(spatial) < 2:
        spatial.append(next(i for i in range(len(shape) - 1, -1, -1) if i not in spatial))
    spatial.sort()
    rest = [i for i in range(4) if i not in spatial]
    order = [rest[0], *spatial, rest[1]]
    trivial = not any(padding[2 * i] or padding[2 * i + 1] or strides[i] != 1 for i in rest)
    if kind is None or not trivial or any(step != 1 for step in op.get("base_dilations")):
        return None
    name = "max_pool2d" if kind.group(1) == "Max" else "avg_pool2d"
    import numpy as np

    results = []
    for value, old in zip(op.inputs, op.results, strict=True):
        image = decompose.permute(module, op, value, order)
        last = [shape_of(old)[i] for i in order]
        properties: dict[str, Any] = {
            "kernel": i32_array([window[i] for i in spatial]),
            "stride": i32_array([strides[i] for i in spatial]),
            "dilation": i32_array([dilation[i] for i in spatial]),
            "padding": i32_array(
                [
                    padding[2 * spatial[0]],
                    padding[2 * spatial[1]],
                    padding[2 * spatial[0] + 1],
                    padding[2 * spatial[1] + 1],
                ]
            ),
            "ceil_mode": IntegerAttr(0, IntegerType(1)),
        }
        if name == "avg_pool2d":
            properties["count_include_pad"] = IntegerAttr(int(counts_padding(op)), IntegerType(1))
        pooled = decompose.typed(module, op, name, [image], decompose.tensor_like(old.type, last), **properties)
        pooled = decompose.permute(module, op, pooled, _inverse(order))
        if kind.group(1) == "Sum":
            dtype = number_type(old.type.element_type)  # type: ignore[attr-defined]
            assert dtype is not None
            size = np.asarray(math.prod(window), dtype=dtype).tobytes()
            count = decompose.typed(module, op, "constant", [], old.type, value=DenseAttr(old.type, size, splat=True))  # type: ignore[arg-type]
            pooled = decompose.typed(module, op, "multiply", [pooled, count], old.type)
        results.append(pooled)
    return results
