"""Lowerings of 2024-09 that differ: layouts, constants, broadcasts, kernel windows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from ttnn.compiler.dialects.attributes import EnumAttr, LayoutAttr, MemoryConfigAttr, ShapeAttr
from ttnn.compiler.dialects.kinds import f32_attr, i32_attr, si32_attr
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import Attribute, Operation, SSAValue, TensorType
from ttnn.compiler.transforms.base import erase, fail, replace
from ttnn.compiler.transforms.tt.layouts import layout_of, tt_data_type
from ttnn.compiler.transforms.ttnn.build import Build

__all__ = ["CHANGES", "SPECIAL", "empty"]

_BUFFERS = {"system": "system_memory", "mmio": "system_memory", "dram": "dram", "l1": "l1"}


def _layout(module: Module, op: Operation, type_: Attribute) -> LayoutAttr:
    layout = layout_of(type_)
    if layout is None:
        raise fail(module, op, "a tensor has no layout: run ttir-layout before convert-ttir-to-ttnn")
    return layout


def _memory_config(layout: LayoutAttr) -> MemoryConfigAttr:
    mem_layout = "interleaved" if layout.mem_layout == "none" else layout.mem_layout
    return MemoryConfigAttr(EnumAttr("ttnn.buffer_type", _BUFFERS[layout.space]), mem_layout, short=True)


def empty(module: Module, op: Operation, type_: Attribute) -> SSAValue:
    """Insert an empty tensor before an operation and return it.

    Raises:
        CompileError: Its type has no layout.
    """
    layout, build = _layout(module, op, type_), Build(module, op)
    assert isinstance(type_, TensorType)
    properties: dict[str, Any] = {
        "shape": ShapeAttr("ttnn.shape", tuple(type_.get_shape())),
        "dtype": EnumAttr("tt.supportedDataTypes", tt_data_type(layout.element)),
        "layout": EnumAttr("ttnn.layout", "tile" if layout.tiled else "row_major"),
    }
    if layout.mem_layout == "none":
        return build.value("empty", [], type_, **properties)
    return build.value("empty", [build.device], type_, memory_config=_memory_config(layout), **properties)


def _to_layout(module: Module, op: TableOp) -> None:
    kind, build = op.results[0].type, Build(module, op)
    target, device, outs = _layout(module, op, kind), build.device, op.outs
    if target.space in ("system", "mmio"):
        moved = build.value("to_memory_config", [op.inputs[0], device], kind)
    else:
        # Operations of the library want tiles, whatever the layout of the operand says.
        tiled = build.value("to_layout", [op.inputs[0], device], kind, layout=EnumAttr("ttnn.layout", "tile"))
        moved = build.value("to_device", [tiled, device], kind, memory_config=_memory_config(target))
    replace(op, [moved])
    for out in outs:
        owner = out.owner
        if isinstance(owner, Operation) and owner.name == "ttnn.empty" and not out.uses:
            erase(owner)


def _constant(module: Module, op: TableOp) -> None:
    value, kind = op.properties.get("value"), op.results[0].type
    if not isinstance(value, DenseAttr) or not (value.splat or len(value.data) == 0):
        raise fail(module, op, "only a constant that is a splat can be lowered to ttnn.full or ttnn.empty")
    number = float(value.elements()[0]) if value.data else 0.0
    if number == 0:
        replace(op, [empty(module, op, kind)])
        return
    build = Build(module, op)
    replace(op, [build.value("full", [build.device], kind, fillValue=f32_attr(number))])


def _broadcast(module: Module, op: TableOp) -> None:
    """Drop a broadcast: elementwise operations of the library repeat their operands themselves."""
    for use in list(op.results[0].uses):
        if use.operation.name == "func.return" or not use.operation.name.startswith(("ttir.", "ttnn.")):
            raise fail(module, op, f"a broadcast that {use.operation.name} uses cannot be folded away")
    replace(op, [op.inputs[0]])


def _conv2d(op: TableOp) -> dict[str, Attribute]:
    shape, weight = shape_of(op.inputs[0]), shape_of(op.inputs[1])
    numbers = {
        "in_channels": shape[-1],
        "out_channels": shape_of(op.results[0])[-1],
        "batch_size": shape[-4],
        "input_height": shape[-3],
        "input_width": shape[-2],
        "kernel_height": weight[-2],
        "kernel_width": weight[-1],
        "padding_height": op.get("padding_top"),
        "padding_width": op.get("padding_left"),
    }
    same = ("stride_height", "stride_width", "dilation_height", "dilation_width", "groups")
    numbers |= {name: op.get(name) for name in same}
    return {name: i32_attr(value) for name, value in numbers.items()}


def _max_pool2d(op: TableOp) -> dict[str, Attribute]:
    shape = shape_of(op.inputs[0])
    height, width = op.get("original_height"), op.get("original_width")
    height = shape[-3] if height is None else height
    width = shape[-2] if width is None else width
    numbers = {
        "batch_size": math.prod(shape[:-1]) // (height * width),
        "input_height": height,
        "input_width": width,
        "channels": shape[-1],
        "padding_height": op.get("padding_top"),
        "padding_width": op.get("padding_left"),
    }
    return {name: si32_attr(value) for name, value in numbers.items()}


#: Attributes that follow from shapes.
CHANGES: Final[dict[str, Callable[[TableOp], dict[str, Attribute]]]] = {"conv2d": _conv2d, "max_pool2d": _max_pool2d}
#: Operations that become others.
SPECIAL: Final[dict[str, Callable[[Module, TableOp], None]]] = {
    "broadcast": _broadcast,
    "constant": _constant,
    "fill": _constant,
    "to_layout": _to_layout,
}
