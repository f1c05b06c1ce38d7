"""Lowering of norms: groups of channels as the library takes them, layers over their last dimension."""

from __future__ import annotations

import math

from ttnn.compiler.conversion.ttir_to_ttnn.build import call, filled, like, permute, reshape
from ttnn.compiler.dialects.kinds import f32_attr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue
from ttnn.compiler.transforms.base import fail, replace

__all__ = ["group_norm", "layer_norm"]


def group_norm(module: Module, op: TableOp, device: SSAValue) -> None:
    """Lower a norm over groups of channels: the image becomes [N, 1, H * W, C], scale and offset are given."""
    value, rank = op.inputs[0], len(shape_of(op.inputs[0]))
    channel = op.get("channel_dim") % rank
    order = [i for i in range(rank) if i != channel] + [channel]
    value = permute(module, op, value, order)
    shape = shape_of(value)
    flat = (shape[0], 1, math.prod(shape[1:-1]), shape[-1])
    value = reshape(module, op, value, flat)
    given = {name: op.operand(name) for name in ("weight", "bias")}
    # Without them the library computes something else (tt-metal issue 39529).
    kind = next((one.type for one in given.values() if one is not None), like(value.type, flat[-1:]))
    weight = filled(module, op, "ones", device, kind) if given["weight"] is None else given["weight"]
    bias = filled(module, op, "zeros", device, kind) if given["bias"] is None else given["bias"]
    mask = op.group("input_mask")
    made = call(
        module,
        op,
        "group_norm",
        [value, *mask, weight, bias],
        value.type,
        sizes=(1, len(mask), 1, 1),
        num_groups=op.properties["num_groups"],
        epsilon=op.attribute("epsilon") or f32_attr(1e-12),
    )
    made = reshape(module, op, made, shape)
    replace(op, [permute(module, op, made, [order.index(i) for i in range(rank)])])


def layer_norm(module: Module, op: TableOp) -> None:
    """Lower a norm over the last dimension.

    Raises:
        CompileError: It is over other dimensions.
    """
    shape, normal = shape_of(op.inputs[0]), tuple(op.get("normalized_shape"))
    if normal != shape[-1:]:
        raise fail(
            module,
            op,
            f"cannot be lowered: the library normalizes over the last dimension, {shape[-1]} elements, not {normal}",
        )
    parts = [op.group(name) for name in ("weight", "bias")]
    made = call(
        module,
        op,
        "layer_norm",
        [op.inputs[0], *(value for part in parts for value in part)],
        op.results[0].type,
        sizes=(1, len(parts[0]), len(parts[1])),
        epsilon=op.attribute("epsilon") or f32_attr(1e-5),
    )
    replace(op, [made])
