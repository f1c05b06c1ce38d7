"""Lowering of norms: channel groups and last dimensions.

They are in the form of TT-NN.
"""

from __future__ import annotations

import math

from ttnn.compiler.dialects.kinds import f32_attr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.transforms.base import fail, replace
from ttnn.compiler.transforms.ttnn.build import Build, groups_of
from ttnn.compiler.transforms.ttnn.layout.types import retyped

__all__ = ["group_norm", "layer_norm"]


def group_norm(module: Module, op: TableOp) -> None:
    """Lower a group norm on [N, 1, H * W, C].

    Scale and offset are given.
    """
    build, value, rank = Build(module, op), op.inputs[0], len(shape_of(op.inputs[0]))
    channel = op.get("channel_dim") % rank
    order = [i for i in range(rank) if i != channel] + [channel]
    value = build.permute(value, order)
    shape = shape_of(value)
    flat = (shape[0], 1, math.prod(shape[1:-1]), shape[-1])
    value = build.reshape(value, flat)
    # The device is in the block of every group norm, also where both factors are given.
    _ = build.device
    given = {name: op.operand(name) for name in ("weight", "bias")}
    # Without them the library computes something else (tt-metal issue 39529).
    kind = next((one.type for one in given.values() if one is not None), retyped(value.type, shape=flat[-1:]))
    operands = {
        "input": value,
        "input_mask": op.group("input_mask"),
        "weight": build.filled("ones", kind) if given["weight"] is None else given["weight"],
        "bias": build.filled("zeros", kind) if given["bias"] is None else given["bias"],
    }
    made = build.value(
        "group_norm",
        operands,
        value.type,
        num_groups=op.properties["num_groups"],
        epsilon=op.attribute("epsilon") or f32_attr(1e-12),
    )
    made = build.reshape(made, shape)
    replace(op, [build.permute(made, [order.index(i) for i in range(rank)])])


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
            f"cannot be lowered: TT-NN normalizes over the last dimension, {shape[-1]} elements, not {normal}",
        )
    epsilon = op.attribute("epsilon") or f32_attr(1e-5)
    replace(op, [Build(module, op).value("layer_norm", groups_of(op), op.results[0].type, epsilon=epsilon)])
