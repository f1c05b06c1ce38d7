"""Canonical forms of collectives."""

from __future__ import annotations

from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.transforms.rewriting import Result
from ttnn.compiler.transforms.ttcore.device import device_op
from ttnn.compiler.transforms.ttnn.layout.chip import mesh_shape

__all__ = ["of_one_chip"]


def of_one_chip(module: Module, op: TableOp) -> Result:
    """Replace a collective over one chip by its input.

    One that changes the shape nevertheless stays, and is an error of the operator.
    """
    mesh, axis = mesh_shape(module), op.get("cluster_axis")
    if device_op(module) is None or axis >= len(mesh) or mesh[axis] != 1:
        return None
    return [op.inputs[0]] if shape_of(op.inputs[0]) == shape_of(op.results[0]) else None
