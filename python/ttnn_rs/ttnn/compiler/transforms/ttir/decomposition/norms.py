"""Normalizations, optimizer steps and attention in TT-NN's four dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttnn.compiler.dialects.kinds import i32_attr
from ttnn.compiler.dialects.operations import TableOp, make
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import SSAValue
from ttnn.compiler.transforms.base import insert_before
from ttnn.compiler.transforms.ttir.build import permute, reshape, tensor_like

__all__ = ["batch_norm", "four_dimensions"]

_TILE_WIDTH = 32


def _image(shape: Sequence[int]) -> tuple[int, ...]:
    """Return [N, C, ...] in four dimensions; whole-tile rows stay."""
    if len(shape) == 3 and shape[2] % _TILE_WIDTH == 0:
        return (shape[0], shape[1], shape[2] // _TILE_WIDTH, _TILE_WIDTH)
    if len(shape) <= 4:
        return (*shape, 1, 1)[:4] if len(shape) >= 2 else (*shape, 1, 1, 1)[:4]
    return (*shape[:3], math.prod(shape[3:]))


def _lines(module: Module, op: TableOp, values: Sequence[SSAValue]) -> list[SSAValue]:
    """Return statistics in four dimensions with the channels second."""
    return [reshape(module, op, one, (1, math.prod(shape_of(one)), 1, 1)) for one in values]


def batch_norm(module: Module, op: TableOp) -> list[SSAValue] | None:
    """The library normalizes images with channels second, with statistics in four dimensions."""
    operand, scale, offset, mean, variance = op.inputs
    shape, channel = shape_of(operand), op.get("dimension")
    if all(len(shape_of(one)) == 4 for one in op.inputs) and channel == 1:
        return None
    rank = len(shape)
    order = list(range(rank))
    order[channel], order[1] = order[1], order[channel]
    value = permute(module, op, operand, order)
    moved = shape_of(value)
    value = reshape(module, op, value, _image(moved))
    if op.name == "ttir.batch_norm_inference":
        mean, variance, scale, offset = _lines(module, op, (mean, variance, scale, offset))
    else:
        scale, offset, mean, variance = _lines(module, op, (scale, offset, mean, variance))
    types = [tensor_like(op.results[0].type, shape_of(value))]
    if len(op.results) == 3:
        types += [mean.type, variance.type]  # type: ignore[list-item]
    made = make(
        op.name,
        module.version,
        [value, scale, offset, mean, variance],
        types,
        {**op.properties, "dimension": i32_attr(1)},
        location=op.location,
    )
    insert_before(op, made)
    result = reshape(module, op, made.results[0], moved)
    rest = [reshape(module, op, new, shape_of(old)) for new, old in zip(made.results[1:], op.results[1:], strict=True)]
    return [permute(module, op, result, order), *rest]


def _four(shape: Sequence[int]) -> tuple[int, ...]:
    """Return a four-dimensional shape; the last two stay.

    The others are joined.
    """
    if len(shape) == 4:
        return tuple(shape)
    height, width = (1, 1, *shape)[-2:]
    return (1, math.prod(shape[:-2]), height, width)


def four_dimensions(module: Module, op: TableOp) -> list[SSAValue] | None:
    """Operations equal in all leading dimensions, on four dimensions."""
    if all(len(shape_of(one)) == 4 for one in (*op.inputs, *op.results)):
        return None
    inputs = [reshape(module, op, one, _four(shape_of(one))) for one in op.inputs]
    made = make(
        op.name,
        module.version,
        inputs,
        [tensor_like(one.type, _four(shape_of(one))) for one in op.results],
        op.properties,
        sizes=tuple(len(op.group(group.name)) for group in op.text.inputs),
        attributes=dict(op.attributes),
        location=op.location,
    )
    insert_before(op, made)
    return [reshape(module, op, new, shape_of(old)) for new, old in zip(made.results, op.results, strict=True)]
