"""Convolutions fused with their followers.

A bias, a scale, the normalization of a batch, a second branch, a padding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttnn.compiler.dialects.kinds import f32_attr, i32_array
from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.features import SHARED_BIASES
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    BlockArgument,
    DictionaryAttr,
    FuncOp,
    SSAValue,
    UnitAttr,
)
from ttnn.compiler.transforms.base import insert_before
from ttnn.compiler.transforms.rewriting import Result
from ttnn.compiler.transforms.ttir.build import i64s, new, reshape, tensor_like, typed
from ttnn.compiler.transforms.ttir.constants import build_full
from ttnn.compiler.transforms.ttir.decomposition.windows import convolution_dimensions
from ttnn.compiler.transforms.ttir.fusing.parts import (
    depends_on,
    from_constants,
    operand_pairs,
    producer,
    through,
)

__all__ = ["CONVOLUTIONS", "batch_norm", "bias", "padding3d", "scale", "tag_weights", "two_branches"]

CONVOLUTIONS = ("conv2d", "conv_transpose2d", "conv3d", "convolution")
_WEIGHT = "ttcore.conv2d_weight"


def _convolution(value: SSAValue, names: Sequence[str] = CONVOLUTIONS) -> TableOp | None:
    """Return the convolution that makes a value nobody else uses, or None."""
    if not value.has_one_use():
        return None
    return next((one for name in names if (one := producer(value, name)) is not None), None)


def _features(op: TableOp) -> tuple[int, int]:
    """Return channel dimension of the result and output dimension of weights."""
    if op.name == "ttir.convolution":
        layout = convolution_dimensions(attribute_text(op.properties["convolution_layout"]))
        return layout["output_feature"][0], layout["kernel_output_feature"][0]
    return op.get("channel_dim"), 1 if op.name == "ttir.conv_transpose2d" else 0


def _per_channel(op: TableOp, value: SSAValue) -> bool:
    """Return whether a value is per channel, and its rank.

    It has one number for each channel of a result.
    """
    shape, channel = shape_of(op.results[0]), _features(op)[0]
    wanted = tuple(shape[channel] if i == channel else 1 for i in range(len(shape)))
    return shape_of(value) == wanted


def _rebuilt(
    module: Module, place: TableOp, op: TableOp, *, weight: SSAValue | None = None, bias: SSAValue | None = None
) -> SSAValue:
    """Insert a convolution with other weights and bias before an operation."""
    inputs = [op.inputs[0], weight or op.inputs[1]]
    old = op.operand("bias")
    bias = bias or old
    if bias is not None:
        inputs.append(bias)
    sizes = (1, 1, int(bias is not None))
    made = make(
        op.name,
        module.version,
        inputs,
        [op.results[0].type],
        op.properties,
        sizes=sizes,
        attributes=dict(op.attributes),
        location=op.location,
    )
    insert_before(place, made)
    value: SSAValue = made.results[0]
    return value


def bias(module: Module, op: TableOp) -> Result:
    """A per-channel summand of a convolution becomes its bias."""
    for value, other in operand_pairs(op):
        inner = _convolution(value)
        if inner is None or value.type != op.results[0].type:
            continue
        other = through(other, "broadcast")
        if not _per_channel(inner, other) or depends_on(other, inner):
            continue
        old = inner.operand("bias")
        if old is not None:
            if not SHARED_BIASES.of(module.version):
                continue
            other = typed(module, op, "add", [old, other], other.type)
        return [_rebuilt(module, op, inner, bias=other)]
    return None


def scale(module: Module, op: TableOp) -> Result:
    """A per-channel constant factor of a convolution scales its weights.

    And its bias.
    """
    for value, other in operand_pairs(op):
        inner = _convolution(value, ("conv2d", "conv_transpose2d", "convolution"))
        if inner is None or value.type != op.results[0].type:
            continue
        number = through(other, "broadcast")
        if len(shape_of(number)) != 4 or not _per_channel(inner, number):
            continue
        if not from_constants(number) or depends_on(number, inner):
            continue
        old, (channel, outputs) = inner.operand("bias"), _features(inner)
        if old is not None and not SHARED_BIASES.of(module.version):
            continue
        if inner.name == "ttir.conv_transpose2d" and inner.get("groups") != 1:
            continue
        shape = list(shape_of(number))
        shape[channel], shape[outputs] = shape[outputs], shape[channel]
        column = reshape(module, op, number, shape)
        weight = inner.inputs[1]
        if other is not number:
            factors = [a // b for a, b in zip(shape_of(weight), shape, strict=True)]
            column = new(module, op, "broadcast", [column], shape_of(weight), broadcast_dimensions=i64s(factors))
        scaled = typed(module, op, "multiply", [weight, column], weight.type)
        if old is not None:
            old = typed(module, op, "multiply", [old, number], old.type)
        return [_rebuilt(module, op, inner, weight=scaled, bias=old)]
    return None


def tag_weights(module: Module, op: TableOp) -> Result:
    """An argument used as convolution weight is marked.

    Its layout is that of weights.
    """
    del module
    value = op.inputs[1]
    cast = producer(value, "typecast")
    value = cast.inputs[0] if cast is not None else value
    function = value.owner.parent_op() if isinstance(value, BlockArgument) else None
    if not isinstance(value, BlockArgument) or not isinstance(function, FuncOp):
        return None
    count = len(function.function_type.inputs.data)
    entries = list(function.arg_attrs.data) if function.arg_attrs is not None else [DictionaryAttr({})] * count
    if _WEIGHT in entries[value.index].data:
        return None
    entries[value.index] = DictionaryAttr({**entries[value.index].data, _WEIGHT: UnitAttr()})
    function.properties["arg_attrs"] = ArrayAttr(entries)
    return True


def batch_norm(module: Module, op: TableOp) -> Result:
    """Normalization after a convolution: a product and sum to fuse.

    (x - mean) / sqrt(variance + epsilon) * scale + offset = x * alpha + beta.
    """
    value, factor, offset, mean, variance = op.inputs
    inner = _convolution(value, ("conv2d", "conv_transpose2d", "convolution"))
    if inner is None or any(len(shape_of(one)) not in (1, 4) for one in (factor, offset, mean, variance)):
        return None
    dim = op.get("dimension")
    channels = shape_of(value)[dim]
    if any(math.prod(shape_of(one)) != channels for one in (factor, offset, mean, variance)):
        return None
    shapes = {shape_of(one) for one in (factor, offset, mean, variance)}
    full = tuple(channels if i == dim else 1 for i in range(4))
    if len(shapes) != 1 and shapes != {full}:
        factor, offset, mean, variance = (reshape(module, op, one, full) for one in (factor, offset, mean, variance))
    small = build_full(module, op, tensor_like(variance.type, (1,)), op.get("epsilon"))
    guarded = typed(module, op, "add", [variance, small], variance.type)
    deviation = typed(module, op, "sqrt", [guarded], variance.type)
    alpha = typed(module, op, "div", [factor, deviation], factor.type)
    moved = typed(module, op, "multiply", [mean, alpha], mean.type)
    beta = typed(module, op, "subtract", [offset, moved], offset.type)
    alpha, beta = reshape(module, op, alpha, full), reshape(module, op, beta, full)
    scaled = typed(module, op, "multiply", [value, alpha], value.type)
    return [typed(module, op, "add", [scaled, beta], op.results[0].type)]


def _numbers(op: TableOp, name: str) -> tuple[int, ...]:
    value = op.get(name)
    return (value,) if isinstance(value, int) else tuple(value)


def two_branches(module: Module, op: TableOp) -> Result:
    """Parallel 3x3 and 1x1 convolutions of one image merge.

    The point is the middle of the 3x3.
    """
    for left, right in operand_pairs(op):
        wide, point = _convolution(left, ("conv2d",)), _convolution(right, ("conv2d",))
        if wide is None or point is None or wide is point or wide.inputs[0] is not point.inputs[0]:
            continue
        if shape_of(wide.inputs[1])[2:] != (3, 3) or shape_of(point.inputs[1])[2:] != (1, 1):
            continue
        if set(_numbers(wide, "padding")) != {1} or set(_numbers(point, "padding")) != {0}:
            continue
        if any(wide.attribute(name) != point.attribute(name) for name in _ALIKE):
            continue
        if set(_numbers(wide, "dilation")) != {1}:
            continue
        spread = new(
            module,
            op,
            "pad",
            [point.inputs[1]],
            (*shape_of(point.inputs[1])[:2], 3, 3),
            padding=i32_array([0, 0, 0, 0, 1, 1, 1, 1]),
            value=f32_attr(0.0),
        )
        weight = typed(module, op, "add", [spread, wide.inputs[1]], wide.inputs[1].type)
        first, second = wide.operand("bias"), point.operand("bias")
        joined = second if first is None else first
        if first is not None and second is not None:
            joined = typed(module, op, "add", [first, second], first.type)
        return [_rebuilt(module, op, wide, weight=weight, bias=joined)]
    return None


_ALIKE = ("stride", "dilation", "groups", "batch_dim", "height_dim", "width_dim", "channel_dim")


def padding3d(module: Module, op: TableOp) -> Result:
    """Zeros around volumes are padding of the convolution."""
    pad = producer(op.inputs[0], "pad")
    if pad is None or not op.inputs[0].has_one_use() or op.get("padding_mode") != "zeros" or pad.get("value") != 0:
        return None
    sides: Any = pad.get("padding")
    low, high = sides[::2], sides[1::2]
    if low != high or low[op.get("batch_dim")] or low[op.get("channel_dim")]:
        return None
    old = _numbers(op, "padding") * (1 if not isinstance(op.get("padding"), int) else 3)
    spatial = [op.get(name) for name in ("depth_dim", "height_dim", "width_dim")]
    del module
    op.operands[0] = pad.inputs[0]
    op.properties["padding"] = i32_array([a + low[dim] for a, dim in zip(old, spatial, strict=True)])
    return True
