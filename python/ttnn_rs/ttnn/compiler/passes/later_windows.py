"""General convolutions and poolings of the slides become those of the library, on images with channels last."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from ttnn.compiler.asm.attributes import DenseAttr
from ttnn.compiler.asm.module import Module
from ttnn.compiler.asm.printing import attribute_text
from ttnn.compiler.asm.xdsl_adapter import IntegerAttr, IntegerType, SSAValue
from ttnn.compiler.dialects.kinds import i32_array, i32_attr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.rules import shape_of
from ttnn.compiler.passes import later_build as decompose
from ttnn.compiler.passes.constants import number_type

__all__ = ["channels_last", "convolution", "convolution_dimensions", "pooling"]


def convolution_dimensions(text: str) -> dict[str, list[int]]:
    """Return the dimensions that a convolution layout names."""
    found: dict[str, list[int]] = {}
    for name, value in re.findall(r"(\w+) = (\d+(?:x\d+)*)", text):
        found[name] = [int(one) for one in value.split("x")]
    return found


def convolution(module: Module, op: TableOp) -> list[SSAValue] | None:
    """Return what stands for a convolution of two spatial dimensions; None for others."""
    layout = convolution_dimensions(attribute_text(op.properties["convolution_layout"]))
    shape = shape_of(op.inputs[0])
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
    transposed = any(one != 1 for one in dilation)
    if transposed or any(op.get("window_reversal")):
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


def _inverse(order: Sequence[int]) -> list[int]:
    return [list(order).index(i) for i in range(len(order))]


def channels_last(module: Module, op: TableOp) -> list[SSAValue] | None:
    """Return what stands for a convolution of images with channels elsewhere; None if they are last."""
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


def pooling(module: Module, op: TableOp) -> list[SSAValue] | None:
    """Return what stands for a pooling of images; None for others."""
    shape = shape_of(op.inputs[0])
    window = list(op.get("window_dimensions"))
    strides, dilation = list(op.get("window_strides")), list(op.get("window_dilations"))
    padding = list(op.get("padding"))
    method = attribute_text(op.properties["pooling_method"])
    spatial = [i for i, size in enumerate(window) if size > 1]
    if len(shape) != 4 or len(spatial) > 2:
        return None
    while len(spatial) < 2:
        spatial.append(next(i for i in range(len(shape) - 1, -1, -1) if i not in spatial))
    spatial.sort()
    rest = [i for i in range(4) if i not in spatial]
    order = [rest[0], *spatial, rest[1]]
    kind = re.search(r"\b(Max|Average|Sum)\b", method)
    if kind is None:
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
            properties["count_include_pad"] = IntegerAttr(1, IntegerType(1))
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
