"""Rules of convolutions, pools and upsampling.

Messages are those that tests of the compiler stack look for. Source: verifiers in `lib/Dialect/TTIR/IR/TTIROps.cpp` and
`lib/Dialect/TTNN/IR/TTNNOps.cpp` of tt-mlir.
"""

from __future__ import annotations

import math
import re
from typing import Final

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import (
    Rule,
    flat_image,
    need,
    padding_of,
    pair_of,
    require_4d,
    shape_of,
    tuple_text,
    window_count,
)
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import IntegerType, TensorType

__all__ = ["WINDOWS"]


def _pool(op: TableOp) -> None:
    if not op.name.startswith("ttir."):
        return
    require_4d({"input": op.inputs[0], "output": op.results[0]})
    shape, result = shape_of(op.inputs[0]), shape_of(op.results[0])
    kernel = pair_of(op, "kernel", " for kernel attribute")
    stride = pair_of(op, "stride", " for stride attribute")
    dilation = pair_of(op, "dilation", " for dilation attribute")
    top, left, bottom, right = padding_of(op, " for padding attribute")
    need(min(kernel) > 0, "kernel size attribute values must be > 0")
    need(min(stride) > 0, "stride attribute values must be > 0")
    need(min(dilation) > 0, "dilation attribute values must be > 0")
    need(min(top, left, bottom, right) >= 0, "padding attribute values must be >= 0")
    flat = flat_image(op)
    batch, height, width = flat or shape[:3]
    if flat is not None:
        count = math.prod(flat)
        need(
            shape[2] == count,
            f"the input tensor's flattened dimension ({shape[2]}) does not match the product of batch_size * "
            f"input_height * input_width from FlattenedCompatInfo ({batch} * {height} * {width} = {count})",
        )
    padded = (height + top + bottom, width + left + right)
    effective = tuple(d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True))
    need(
        effective[0] <= padded[0] and effective[1] <= padded[1],
        f"effective kernel size {tuple_text(effective)} cannot be greater than the padded input size per channel "
        f"{tuple_text(padded)}",
    )
    up = bool(op.get("ceil_mode"))
    expected = (
        window_count(height, kernel[0], stride[0], top, bottom, dilation[0], up=up),
        window_count(width, kernel[1], stride[1], left, right, dilation[1], up=up),
    )
    need(
        result[3] == shape[3],
        f"number of output channels from the output tensor ({result[3]}) must match the number of input channels "
        f"({shape[3]})",
    )
    if flat is not None:
        count = batch * expected[0] * expected[1]
        need(
            result[2] == count,
            f"output tensor's flattened dimension ({result[2]}) does not match the product of batch_size * "
            f"output_height * output_width ({batch} * {expected[0]} * {expected[1]} = {count})",
        )
    else:
        need(
            result[0] == batch,
            f"batch size from the input tensor ({batch}) must match the first dimension of the output tensor "
            f"({result[0]})",
        )
        need(
            result[1:3] == expected,
            f"output tensor height and width dimension {tuple_text(result[1:3])} do not match the expected dimensions "
            f"{tuple_text(expected)}",
        )
    if len(op.results) == 2:
        need(shape_of(op.results[1]) == result, "Pooled values and indices must have the same shape")
        kind = op.results[1].type
        need(
            isinstance(kind, TensorType) and isinstance(kind.element_type, IntegerType),
            "Indices result must have integer element type",
        )


def _convolution(op: TableOp) -> None:
    """Check a 2025-10 convolution, whose layout names dimensions.

    They are those of its tensors.
    """
    layout = attribute_text(op.properties["convolution_layout"])

    def spatial(name: str) -> int:
        found = re.search(rf"{name}_spatial_dimensions = ([\dx]+)", layout)
        return len(found.group(1).split("x")) if found is not None else 0

    count = spatial("input")
    need(
        spatial("output") == count == spatial("kernel"),
        "Convolution input, output, and kernel must have the same number of spatial dimensions",
    )
    for word, value in (("Input", op.inputs[0]), ("Weight", op.inputs[1])):
        need(
            len(shape_of(value)) - 2 == count,
            f"{word} tensor must have the same number of spatial dimensions as specified in the ConvolutionLayout",
        )
    bias = op.operand("bias")
    if bias is not None:
        result = shape_of(op.results[0])
        need(len(shape_of(bias)) == len(result), "Bias tensor must have the same rank as the output tensor")
        found = re.search(r"(?<!kernel_)output_feature = (\d+)", layout)
        feature = int(found.group(1)) if found is not None else -1
        for i, size in enumerate(shape_of(bias)):
            need(i != feature or size == result[i], "Bias size must match output feature dimension")
            need(
                i == feature or size == 1,
                "Bias tensor must have size 1 in all dimensions except the output feature dimension",
            )
    need(
        len(op.get("window_strides")) == count,
        "Window strides must have the same number of elements as the spatial dimensions of the input tensor",
    )


def _global_pool(op: TableOp) -> None:
    if not op.name.startswith("ttir."):
        return
    shape, result = shape_of(op.inputs[0]), shape_of(op.results[0])
    need(
        len(shape) >= 3,
        "input tensor must have at least 2 dimensions for global average pooling over 2 spatial dimensions",
    )
    need(result[0] == shape[0], "batch dimension must remain the same between input and output")
    need(result[-1] == shape[-1], "channel dimension must remain the same between input and output")
    need(all(size == 1 for size in result[-3:-1]), "spatial dimensions of the output must be 1")


def image_order(op: TableOp) -> None:
    """Each dimension of an image is named once."""
    names = [name for name in op.spec.attributes if re.fullmatch("(batch|depth|length|height|width|channel)_dim", name)]
    order = [op.get(name) for name in names]
    need(
        "batch_dim" not in names or None in order or sorted(order) == list(range(len(order))),
        f"{', '.join(names)} must be each of the dimensions 0 to {len(order) - 1} once, got {tuple_text(order)}",
    )


def _conv2d(op: TableOp) -> None:
    bias = op.operand("bias")
    tensors = {"input": op.inputs[0], "weight": op.inputs[1], "bias": bias, "output": op.results[0]}
    if op.name.startswith("ttnn."):
        return
    require_4d(tensors)
    shape, weight, result = shape_of(op.inputs[0]), shape_of(op.inputs[1]), shape_of(op.results[0])
    stride = pair_of(op, "stride", " for stride")
    sides = padding_of(op, " for padding")
    dilation = pair_of(op, "dilation", " for dilation")
    need(min(stride) > 0, "Stride attribute values must be > 0.")
    need(min(sides) >= 0, "Padding attribute values must be >= 0.")
    need(min(dilation) > 0, "Dilation attribute values must be > 0.")
    at = tuple(op.get(f"{name}_dim") for name in ("height", "width", "channel"))
    h_at, w_at, c_at = (1, 2, 3) if at[0] is None else at
    flat = flat_image(op)
    height, width = flat[1:] if flat is not None else (shape[h_at], shape[w_at])
    groups, channels, out = op.get("groups"), shape[c_at], result[c_at]
    need(groups > 0, f"Number of groups must be positive, got {groups}")
    need(
        channels % groups == 0,
        f"The number of input channels from the input tensor ({channels}) is not divisible by the number of groups "
        f"({groups}).",
    )
    need(
        weight[0] % groups == 0,
        f"The number of output channels from the weight tensor ({weight[0]}) is not divisible by the number of groups "
        f"({groups}).",
    )
    need(
        channels // groups == weight[1],
        f"The number of input channels per group ({channels // groups}) must match the number of input channels in "
        f"the weight tensor ({weight[1]}).",
    )
    if bias is not None:
        extent = shape_of(bias)[c_at]
        need(
            weight[0] == extent,
            f"The number of output channels from the weight tensor ({weight[0]}) must match the number of output "
            f"channels in the bias tensor ({extent}).",
        )
    padded = (height + sides[0] + sides[2], width + sides[1] + sides[3])
    effective = tuple(d * (k - 1) + 1 for d, k in zip(dilation, weight[2:], strict=True))
    need(
        effective[0] <= padded[0] and effective[1] <= padded[1],
        f"The effective kernel size {tuple_text(effective)} cannot be greater than the padded input size per channel "
        f"{tuple_text(padded)}.",
    )
    need(
        weight[0] == out,
        f"The number of output channels from the output tensor ({out}) must match the number of output channels in "
        f"the weight tensor ({weight[0]}).",
    )
    if flat is None:
        expected = tuple((p - e) // s + 1 for p, e, s in zip(padded, effective, stride, strict=True))
        found = (result[h_at], result[w_at])
        need(
            found == expected,
            f" The output tensor height and width dimension {tuple_text(found)} do not match the expected dimensions "
            f"{tuple_text(expected)}.",
        )


def _conv_transpose2d(op: TableOp) -> None:
    if not op.name.startswith("ttir."):
        return
    bias = op.operand("bias")
    require_4d({"Input": op.inputs[0], "Weight": op.inputs[1], "Bias": bias, "Output": op.results[0]})
    shape, weight, result = shape_of(op.inputs[0]), shape_of(op.inputs[1]), shape_of(op.results[0])
    flat = flat_image(op)
    names = ("batch", "height", "width", "channel")
    n_at, h_at, w_at, c_at = (op.get(f"{name}_dim") for name in names)
    if flat is None:
        need(shape[n_at] == result[n_at], "Batch size of input and output tensors must match")
    stride = pair_of(op, "stride", " for stride")
    need(min(stride) > 0, "Stride values must be greater than 0")
    sides = padding_of(op, " for padding")
    need(min(sides) >= 0, "Padding values must be greater or equal than 0")
    extra = pair_of(op, "output_padding", " for output padding")
    need(min(extra) >= 0, "Output padding values must be greater or equal than 0")
    dilation = pair_of(op, "dilation", " for dilation")
    need(min(dilation) > 0, "Dilation values must be greater than 0")
    groups, channels, out = op.get("groups"), shape[c_at], result[c_at]
    need(groups > 0, f"Number of groups must be positive, got {groups}")
    need(
        channels % groups == 0,
        "Number of input channels from input tensor must be divisible by the number of groups. "
        f"Got {channels} input channels and {groups} groups",
    )
    need(
        out % groups == 0,
        "Number of output channels from output tensor must be divisible by the number of groups. "
        f"Got {out} output channels and {groups} groups.",
    )
    need(
        channels == weight[0],
        "Number of input channels from input tensor must match the first dimension of the weight tensor. "
        f"Got {channels} input channels and {weight[0]} in the weight tensor.",
    )
    need(
        out // groups == weight[1],
        "Number of output channels per group must match the second dimension of the weight tensor. "
        f"Got {out // groups} output channels per group and {weight[1]} in the weight tensor.",
    )
    if bias is not None:
        extent = shape_of(bias)[c_at]
        need(
            extent == out,
            f"Mismatch in bias tensor dimensions. Bias tensor has {extent} channels, but the output tensor has {out} "
            "channels.",
        )
    height, width = flat[1:] if flat is not None else (shape[h_at], shape[w_at])
    expected = tuple(
        (size - 1) * s - before - after + d * (k - 1) + 1 + more
        for size, s, before, after, d, k, more in zip(
            (height, width), stride, sides[:2], sides[2:], dilation, weight[2:], extra, strict=True
        )
    )
    need(
        min(expected) >= 0,
        f"Given input size per channel: ({height} x {width}). Calculated output size per channel: ({expected[0]} x "
        f"{expected[1]}). Output size is too small",
    )
    if flat is None:
        need(
            (result[h_at], result[w_at]) == expected,
            f"Mismatch between expected output size per channel and got output tensor dimensions. Expected: "
            f"({expected[0]} x {expected[1]}), got: ({result[h_at]} x {result[w_at]}).",
        )


def _upsample(op: TableOp) -> None:
    shape, result = shape_of(op.inputs[0]), shape_of(op.results[0])
    need(len(shape) == 4, f"Expected rank of input tensor is 4, got rank {len(shape)}")
    need(len(result) == 4, f"Expected rank of output tensor is 4, got rank {len(result)}")
    scale = pair_of(op, "scale_factor", "")
    need(min(scale) > 0, f"Scale factors H = {scale[0]} and W = {scale[1]} must be positive integers")
    mode = op.get("mode")
    need(mode in ("nearest", "bilinear"), f'Expected modes are (nearest, bilinear), got "{mode}"')
    want = (shape[0], shape[1] * scale[0], shape[2] * scale[1], shape[3])
    for i, word in ((0, "N"), (1, "H"), (2, "W"), (3, "C")):
        extra = f" input {word} dimension * scale{word} =" if word in "HW" else ""
        need(result[i] == want[i], f"Expected output {word} dimension to be{extra} {want[i]}, got {result[i]}")


WINDOWS: Final[dict[str, Rule]] = {
    "convolution": _convolution,
    "max_pool2d": _pool,
    "max_pool2d_with_indices": _pool,
    "avg_pool2d": _pool,
    "global_avg_pool2d": _global_pool,
    "conv2d": _conv2d,
    "conv_transpose2d": _conv_transpose2d,
    "upsample": _upsample,
    "upsample2d": _upsample,
}
