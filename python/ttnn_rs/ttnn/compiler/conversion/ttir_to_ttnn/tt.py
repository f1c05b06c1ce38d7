"""`convert-ttir-to-ttnn` of 2024-09: tensor operations become calls of the library."""

from __future__ import annotations

from typing import Any

from ttnn.compiler.dialects.attributes import DeviceType, EnumAttr, LayoutAttr, MemoryConfigAttr, ShapeAttr
from ttnn.compiler.dialects.kinds import f32_attr, i32_attr, si32_attr
from ttnn.compiler.dialects.operations import TableOp, make, operation_class
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import ArrayAttr, Attribute, Block, Operation, SSAValue, TensorType
from ttnn.compiler.transforms.base import device_in_block, erase, fail, insert_before, replace, table_ops
from ttnn.compiler.transforms.tt.layouts import device_of, layout_of, tt_data_type
from ttnn.compiler.transforms.ttcore.system import implicit_device

__all__ = ["run"]

_BUFFERS = {"system": "system_memory", "mmio": "system_memory", "dram": "dram", "l1": "l1"}


def run(module: Module) -> None:
    """Lower all operations.

    Raises:
        CompileError: The module has no device, a tensor has no layout, or an operation has no counterpart.
    """
    for op in [one for one in module.op.walk() if one.name == "tensor.empty"]:
        replace(op, [_empty(module, op, op.results[0].type)])
    for op in table_ops(module.op, "ttir."):
        _lower(module, op)
    for op in module.op.walk():
        if op.name.startswith("ttir."):
            raise fail(module, op, "is not an operation that convert-ttir-to-ttnn can lower")


def _device(module: Module, op: Operation) -> SSAValue:
    """Return the block's device, created at the head if missing."""
    found = device_in_block(op)
    if found is not None:
        return found
    block = op.parent
    assert isinstance(block, Block)
    device = device_of(module)
    if device is None:
        # Without one the program runs on the first chip.
        implicit_device(module, {"mesh-shape": ()})
        device = device_of(module)
    assert device is not None
    mesh = (
        device.mesh_shape if len(device.mesh_shape) == 2 else ((*device.mesh_shape, 1) if device.mesh_shape else (1, 1))
    )
    new = make(
        "ttnn.get_device",
        module.version,
        [],
        [DeviceType(device)],
        {"mesh_shape": ShapeAttr("ttnn.mesh_shape", mesh[-2:] if len(mesh) <= 2 else mesh)},
        location=op.location,
    )
    first = block.first_op
    assert first is not None
    block.insert_op_before(new, first)
    return new.results[0]


def _layout(module: Module, op: Operation, type_: Attribute) -> LayoutAttr:
    layout = layout_of(type_)
    if layout is None:
        raise fail(module, op, "a tensor has no layout: run ttir-layout before convert-ttir-to-ttnn")
    return layout


def _memory_config(layout: LayoutAttr) -> MemoryConfigAttr:
    mem_layout = "interleaved" if layout.mem_layout == "none" else layout.mem_layout
    return MemoryConfigAttr(EnumAttr("ttnn.buffer_type", _BUFFERS[layout.space]), mem_layout, short=True)


def _empty(module: Module, op: Operation, type_: Attribute) -> SSAValue:
    layout = _layout(module, op, type_)
    assert isinstance(type_, TensorType)
    properties: dict[str, Attribute] = {
        "shape": ShapeAttr("ttnn.shape", tuple(type_.get_shape())),
        "dtype": EnumAttr("tt.supportedDataTypes", tt_data_type(layout.element)),
        "layout": EnumAttr("ttnn.layout", "tile" if layout.tiled else "row_major"),
    }
    operands = []
    if layout.mem_layout != "none":
        operands.append(_device(module, op))
        properties["memory_config"] = _memory_config(layout)
    new = make("ttnn.empty", module.version, operands, [type_], properties, location=op.location)
    insert_before(op, new)
    return new.results[0]


def _lower(module: Module, op: TableOp) -> None:
    short = op.name.partition(".")[2]
    special = {"to_layout": _to_layout, "constant": _constant, "fill": _constant, "broadcast": _broadcast}.get(short)
    if special is not None:
        special(module, op)
        return
    properties = {name: value for name, value in op.properties.items() if name != "operand_constraints"}
    rewrite = {
        "concat": _normalise("dim"),
        "squeeze": _to_reshape,
        "unsqueeze": _to_reshape,
        "conv2d": _conv2d,
        "max_pool2d": _max_pool2d,
    }.get(short)
    name = "ttnn." + {"squeeze": "reshape", "unsqueeze": "reshape"}.get(short, short)
    kind = operation_class(name, module.version)
    if kind is None:
        raise fail(module, op, f"there is no {name} in this version, so it cannot be lowered")
    if short == "conv2d" and (op.get("padding_top"), op.get("padding_left")) != (
        op.get("padding_bottom"),
        op.get("padding_right"),
    ):
        raise fail(module, op, "ttnn.conv2d pads both sides alike, so different paddings cannot be lowered")
    outs = op.outs or tuple(_empty(module, op, result.type) for result in op.results)
    if rewrite is not None:
        properties = rewrite(op, properties)
    operands = list(op.inputs)
    if "device" in {group.name for group in kind.spec.operands}:
        operands.append(_device(module, op))
    known = {key: value for key, value in properties.items() if key in kind.spec.attributes}
    new = make(
        name,
        module.version,
        operands,
        [result.type for result in op.results],
        known,
        outs=outs,
        attributes=dict(op.attributes),
        location=op.location,
    )
    insert_before(op, new)
    replace(op, new.results)


def _to_layout(module: Module, op: TableOp) -> None:
    target = _layout(module, op, op.results[0].type)
    device = _device(module, op)
    outs = op.outs
    if target.space in ("system", "mmio"):
        new = make(
            "ttnn.to_memory_config",
            module.version,
            [op.inputs[0], device],
            [op.results[0].type],
            location=op.location,
        )
        insert_before(op, new)
        replace(op, new.results)
    else:
        # Operations of the library want tiles, whatever the layout of the operand says.
        tiled = make(
            "ttnn.to_layout",
            module.version,
            [op.inputs[0], device],
            [op.results[0].type],
            {"layout": EnumAttr("ttnn.layout", "tile")},
            location=op.location,
        )
        insert_before(op, tiled)
        moved = make(
            "ttnn.to_device",
            module.version,
            [tiled.results[0], device],
            [op.results[0].type],
            {"memory_config": _memory_config(target)},
            location=op.location,
        )
        insert_before(op, moved)
        replace(op, moved.results)
    for out in outs:
        owner = out.owner
        if isinstance(owner, Operation) and owner.name == "ttnn.empty" and not out.uses:
            erase(owner)


def _constant(module: Module, op: TableOp) -> None:
    value = op.properties.get("value")
    if not isinstance(value, DenseAttr) or not (value.splat or len(value.data) == 0):
        raise fail(module, op, "only a constant that is a splat can be lowered to ttnn.full or ttnn.empty")
    number = float(value.elements()[0]) if value.data else 0.0
    if number == 0:
        replace(op, [_empty(module, op, op.results[0].type)])
        return
    new = make(
        "ttnn.full",
        module.version,
        [_device(module, op)],
        [op.results[0].type],
        {"fillValue": f32_attr(number)},
        location=op.location,
    )
    insert_before(op, new)
    replace(op, new.results)


def _broadcast(module: Module, op: TableOp) -> None:
    """Drop a broadcast: elementwise operations of the library repeat their operands themselves."""
    for use in list(op.results[0].uses):
        if use.operation.name == "func.return" or not use.operation.name.startswith(("ttir.", "ttnn.")):
            raise fail(module, op, f"a broadcast that {use.operation.name} uses cannot be folded away")
    replace(op, [op.inputs[0]])


def _normalise(name: str) -> Any:
    def rewrite(op: TableOp, properties: dict[str, Attribute]) -> dict[str, Attribute]:
        rank = len(shape_of(op.inputs[0]))
        return {**properties, name: si32_attr(op.get(name) % rank)}

    return rewrite


def _to_reshape(op: TableOp, properties: dict[str, Attribute]) -> dict[str, Attribute]:
    del properties
    return {"shape": ArrayAttr([i32_attr(size) for size in shape_of(op.results[0])])}


def _conv2d(op: TableOp, properties: dict[str, Attribute]) -> dict[str, Attribute]:
    del properties
    shape, weight = shape_of(op.inputs[0]), shape_of(op.inputs[1])
    result = shape_of(op.results[0])
    numbers = {
        "in_channels": shape[-1],
        "out_channels": result[-1],
        "batch_size": shape[-4],
        "input_height": shape[-3],
        "input_width": shape[-2],
        "kernel_height": weight[-2],
        "kernel_width": weight[-1],
        "padding_height": op.get("padding_top"),
        "padding_width": op.get("padding_left"),
        **{
            name: op.get(name)
            for name in ("stride_height", "stride_width", "dilation_height", "dilation_width", "groups")
        },
    }
    return {name: i32_attr(value) for name, value in numbers.items()}


def _max_pool2d(op: TableOp, properties: dict[str, Attribute]) -> dict[str, Attribute]:
    shape = shape_of(op.inputs[0])
    height, width = op.get("original_height"), op.get("original_width")
    height = shape[-3] if height is None else height
    width = shape[-2] if width is None else width
    flat = 1
    for size in shape[:-1]:
        flat *= size
    numbers = {
        "batch_size": flat // (height * width),
        "input_height": height,
        "input_width": width,
        "channels": shape[-1],
        "padding_height": op.get("padding_top"),
        "padding_width": op.get("padding_left"),
    }
    return {**properties, **{name: si32_attr(value) for name, value in numbers.items()}}
