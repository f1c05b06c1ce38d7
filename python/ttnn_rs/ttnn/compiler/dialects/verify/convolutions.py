"""Rules of `ttnn` convolutions and weight preparation.

Messages are those that tests of the compiler stack look for. Source: `lib/Dialect/TTNN/Utils/VerificationUtils.cpp` and
verifiers in `lib/Dialect/TTNN/IR/TTNNOps.cpp` of tt-mlir.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import (
    Rule,
    Shape,
    need,
    need_rank,
    require_4d,
    shape_of,
    tuple_text,
    window_count,
)
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["CONVOLUTIONS"]


def _owner_name(value: SSAValue) -> str:
    return str(getattr(value.owner, "name", ""))


def _conv2d(op: TableOp) -> None:
    bias = op.operand("bias")
    require_4d({"Input": op.inputs[0], "Weight": op.inputs[1], "Bias": bias, "Output": op.results[0]})
    kernel, stride, padding, dilation = _conv2d_numbers(op)
    weight = shape_of(op.inputs[1])
    channels, out, groups = op.get("in_channels"), op.get("out_channels"), op.get("groups")
    need(groups > 0, f"The number of groups must be greater than 0, got: {groups}")
    prepared = weight[:2] == (1, 1) or _owner_name(op.inputs[1]) in (
        "ttnn.prepare_conv2d_weights",
        "ttcore.load_cached",
    )
    if not prepared:
        need(
            out == weight[0],
            f"Expected output channels attribute ({out}) to match the output channels in the weight tensor "
            f"({weight[0]}).",
        )
        need(
            channels // groups == weight[1],
            f"Expected input channels / groups attribute ({channels}/{groups}) = {channels // groups} to match the "
            f"number of input channels per group in the weight tensor ({weight[1]}).",
        )
        for i, word in enumerate(("height", "width")):
            got, want = kernel[i], weight[2 + i]
            need(
                got == want,
                f"Expected kernel {word} attribute ({got}) to match the kernel {word} in the weight tensor ({want}).",
            )
    batch, height, width = (op.get(name) for name in ("batch_size", "input_height", "input_width"))
    flat, count = shape_of(op.inputs[0])[2], batch * height * width
    need(
        flat == count,
        f"The input tensor's flattened dimension ({flat}) does not match the product of batch_size_attr * "
        f"input_height_attr * input_width_attr ({batch} * {height} * {width} = {count}).",
    )
    _conv2d_channels(op, groups, channels, out, bias)
    sides = (*padding, *padding) if len(padding) == 2 else (padding[0], padding[2], padding[1], padding[3])
    top, left, bottom, right = sides
    padded = (height + top + bottom, width + left + right)
    effective = tuple(d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True))
    need(
        effective[0] <= padded[0] and effective[1] <= padded[1],
        f"The effective kernel size {tuple_text(effective)} cannot be greater than the padded input size per channel "
        f"{tuple_text(padded)}.",
    )
    rows = window_count(height, kernel[0], stride[0], top, bottom, dilation[0])
    columns = window_count(width, kernel[1], stride[1], left, right, dilation[1])
    result = shape_of(op.results[0])
    need(
        result[2] == batch * rows * columns,
        f"The output tensor's flattened dimension ({result[2]}) does not match the product of batch_size * "
        f"output_height * output_width ({batch} * {rows} * {columns} = {batch * rows * columns}).",
    )
    need(
        result[3] == out,
        f"The number of output channels from the output tensor ({result[3]}) must match the number of output channels "
        f"in the weight tensor ({out}). ",
    )


def _conv2d_numbers(op: TableOp) -> tuple[Shape, Shape, Shape, Shape]:
    kernel, stride, padding, dilation = (
        tuple(op.get(name)) for name in ("kernel_size", "stride", "padding", "dilation")
    )
    need(len(kernel) == 2, f"Kernel size attribute must have two values, got: {len(kernel)}")
    need(len(stride) == 2, f"Stride attribute must have two values, got: {len(stride)}")
    need(min(stride) > 0, f"Stride attribute values must be greater than 0, got: {tuple_text(stride)}")
    need(len(padding) in (2, 4), f"Padding attribute must have two or four values, got: {len(padding)}")
    need(
        min(padding) >= 0,
        f"Padding attribute values must be greater than or equal to 0, got: {tuple_text(padding)}",
    )
    need(len(dilation) == 2, f"Dilation attribute must have two values, got: {len(dilation)}")
    need(min(dilation) > 0, f"Dilation attribute values must be greater than 0, got: {tuple_text(dilation)}")
    return kernel, stride, padding, dilation


def _conv2d_channels(op: TableOp, groups: int, channels: int, out: int, bias: SSAValue | None) -> None:
    need(
        channels % groups == 0,
        f"The number of input channels from the input tensor ({channels}) is not divisible by the number of groups "
        f"({groups}).",
    )
    need(
        out % groups == 0,
        f"The number of output channels from the weight tensor ({out}) is not divisible by the number of groups "
        f"({groups}).",
    )
    if bias is not None and _owner_name(bias) not in ("ttnn.prepare_conv2d_bias", "ttcore.load_cached"):
        extent = shape_of(bias)[3]
        need(
            extent == out,
            f"The number of output channels from the weight tensor ({out}) must match the number of output channels in "
            f"the bias tensor ({extent}).",
        )


def _triple(op: TableOp, name: str, least: int, words: str) -> Shape:
    values = tuple(op.get(name))
    need(len(values) == 3, f"{name} must have 3 values, got: {len(values)}")
    need(min(values) >= least, f"{name} values must be {words}, got: {tuple_text(values)}")
    return values


def _conv3d(op: TableOp) -> None:
    bias, weight, result = op.operand("bias"), shape_of(op.inputs[1]), shape_of(op.results[0])
    need_rank(op.inputs[0], 5, "input must be a 5D tensor [N, D, H, W, C]")
    need(
        len(weight) in (2, 5),
        "weight must be either a 5D tensor [O, C/G, kD, kH, kW] (raw) or a 2D tensor [kD*kH*kW*C/G, O] (prepared)",
    )
    if bias is not None:
        need_rank(bias, 2, "bias must be a 2D tensor [1, O]")
    need(len(result) == 5, "result must be a 5D tensor [N, D_out, H_out, W_out, O]")
    kernel = _triple(op, "kernel_size", 1, ">= 1")
    stride = _triple(op, "stride", 1, "> 0")
    padding = _triple(op, "padding", 0, ">= 0")
    mode = op.get("padding_mode")
    need(mode in ("zeros", "replicate"), f"padding_mode must be 'zeros' or 'replicate', got: {mode}")
    groups, channels = op.get("groups"), op.get("in_channels")
    need(groups >= 1, f"groups must be >= 1, got: {groups}")
    out = weight[0] if len(weight) == 5 else op.get("out_channels")
    need(channels % groups == 0, f"in_channels ({channels}) must be divisible by groups ({groups})")
    need(out % groups == 0, f"out_channels ({out}) must be divisible by groups ({groups})")
    if len(weight) == 2:
        want = channels // groups * math.prod(kernel)
        need(
            weight[0] == want,
            f"weight flattened dimension ({weight[0]}) must equal kD*kH*kW*C_in/groups ({want})",
        )
    else:
        need(
            weight[2:] == kernel,
            f"weight kernel dimensions {tuple_text(weight[2:])} must match kernel_size {tuple_text(kernel)}",
        )
    if bias is not None:
        extents = shape_of(bias)
        need(
            extents[1] == out,
            f"bias output channels ({extents[1]}) must match weight output channels ({out})",
        )
        need(extents[0] == 1, f"bias first dimension must be 1, got {extents[0]}")
    batch = op.get("batch_size")
    need(result[0] == batch, f"output batch size ({result[0]}) must match input batch size ({batch})")
    for i, word in enumerate(("depth", "height", "width")):
        want = window_count(op.get(f"input_{word}"), kernel[i], stride[i], padding[i], padding[i], 1)
        got = result[1 + i]
        need(got == want, f"output {word} ({got}) does not match calculated {word} ({want})")
    need(result[4] == out, f"output channels ({result[4]}) must match weight output channels ({out})")


def _conv1d(op: TableOp) -> None:
    need_rank(op.inputs[0], 3, "input must be a 3D tensor (N, L_in, C)")
    need_rank(op.inputs[1], 3, "weight must be a 3D tensor (O, C/G, K)")
    bias = op.operand("bias")
    if bias is not None:
        need_rank(bias, 4, "bias must be a 4D tensor (1, 1, 1, O)")
    need_rank(op.results[0], 4, "output must be a 4D tensor (1, 1, N * L_out, O)")
    need(len(op.get("padding")) == 2, "padding attribute must have exactly 2 elements ([pL, pR])")
    groups = op.get("groups")
    need(groups > 0, "groups must be a positive integer")
    need(op.get("in_channels") % groups == 0, "in_channels must be divisible by groups")
    need(op.get("out_channels") % groups == 0, "out_channels must be divisible by groups")


def _prepare_weights(first: str, check: Callable[[TableOp, Shape], None]) -> Rule:
    """Return the rule of weights in a format.

    OIHW, or IOHW for transposed convolutions.
    """

    def rule(op: TableOp) -> None:
        weight = shape_of(op.inputs[0])
        need(len(weight) == 4, "Weight must be a 4D tensor")
        need(op.get("weights_format") == first, f"Only `{first}` weights format is currently supported")
        check(op, weight)
        kernel = tuple(op.get("kernel_size"))
        need(len(kernel) == 2, "Expected kernel size attribute to be a 2D tensor")
        for i, (word, order) in enumerate((("height", "third"), ("width", "fourth"))):
            got, want = kernel[i], weight[2 + i]
            need(
                got == want,
                f"Expected kernel {word} attribute ({got}) to match the {order} dimension of the weight tensor "
                f"({want})",
            )
        for name, sizes in (("stride", (2,)), ("dilation", (2,)), ("padding", (2, 4))):
            need(len(op.get(name)) in sizes, f"Expected {name} attribute to be a 2D tensor")

    return rule


def _forward(op: TableOp, weight: Shape) -> None:
    out, channels, groups = op.get("out_channels"), op.get("in_channels"), op.get("groups")
    need(groups > 0, f"Expected a positive number of groups, got {groups}")
    need(
        weight[0] == out,
        f"Expected output channels attribute ({out}) to match the first dimension of the weight tensor ({weight[0]})",
    )
    need(
        weight[1] == channels // groups,
        f"Expected input channels attribute ({channels}) to match the number of input channels per group "
        f"({weight[1] // groups})",
    )


def _transposed(op: TableOp, weight: Shape) -> None:
    out, channels, groups = op.get("out_channels"), op.get("in_channels"), op.get("groups")
    need(groups > 0, f"Expected a positive number of groups, got {groups}")
    need(
        weight[0] == channels,
        f"Expected input channels attribute ({channels}) to match the first dimension of the weight tensor "
        f"({weight[0]})",
    )
    need(
        weight[1] == out // groups,
        f"Expected output channels attribute ({out}) to match the number of output channels per group "
        f"({weight[1] // groups})",
    )


def _prepare_bias(op: TableOp) -> None:
    need_rank(op.inputs[0], 4, "Bias must be a 4D tensor")
    out, extent = op.get("out_channels"), shape_of(op.inputs[0])[3]
    need(
        out == extent,
        f"Expected output channels attribute ({out}) to match the number of output channels in the bias tensor "
        f"({extent})",
    )
    words = {"kernel_size": "Kernel size", "stride": "Stride", "padding": "Padding", "dilation": "Dilation"}
    for name, word in words.items():
        size = len(op.get(name))
        count = "two or four" if name == "padding" else "two"
        need(
            size == 2 or (name == "padding" and size == 4),
            f"{word} attribute must have {count} values, got: {size}",
        )


CONVOLUTIONS: Final[dict[str, Rule]] = {
    "ttnn.conv1d": _conv1d,
    "ttnn.conv2d": _conv2d,
    "ttnn.conv3d": _conv3d,
    "ttnn.prepare_conv2d_weights": _prepare_weights("OIHW", _forward),
    "ttnn.prepare_conv_transpose2d_weights": _prepare_weights("IOHW", _transposed),
    "ttnn.prepare_conv2d_bias": _prepare_bias,
    "ttnn.prepare_conv_transpose2d_bias": _prepare_bias,
}
