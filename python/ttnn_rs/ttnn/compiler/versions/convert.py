"""Conversion between versions: `ttmlir-opt --emit-version`.

Tensor operations are the same; some attributes are not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ttnn.compiler.dialects.attributes import ConstraintAttr
from ttnn.compiler.dialects.enums import CONSTRAINT_GROUPS
from ttnn.compiler.dialects.kinds import default_attribute, i32_array, i32_attr, integer, si32_attr
from ttnn.compiler.dialects.operations import SEGMENTS, TableOp, make, operation_class
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.operations import GenericOp
from ttnn.compiler.ir.verifier import verify_module
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    DenseArrayBase,
    IntegerType,
    NoneAttr,
    Operation,
    TensorType,
)
from ttnn.compiler.version import Version

__all__ = ["convert"]

Properties = dict[str, Attribute]


def convert(module: Module, version: Version) -> Module:
    """Return a module in the language of another version.

    Raises:
        CompileError: An operation or a layout of the module does not exist there, or asks for something else there.
    """
    if version == module.version:
        return module
    copy = module.op.clone()
    places = {
        new: module.places[old] for old, new in zip(module.op.walk(), copy.walk(), strict=True) if old in module.places
    }
    target = Module(copy, version, module.filename, module.resources, module.source, places)
    for op in list(copy.walk()):
        for value in (*op.results, *(arg for region in op.regions for block in region.blocks for arg in block.args)):
            _check_type(target, op, value.type, module.version, version)
        if isinstance(op, TableOp):
            _operation(target, op, module.version, version)
        elif isinstance(op, GenericOp) and op.name.partition(".")[0] in ("ttir", "ttnn", "tt", "ttcore"):
            raise CompileError(target.error(op, f"is not known, so it cannot be written in version {version}"))
    found = verify_module(target)
    if found:
        words = f"' op cannot be written in version {version}: it "
        raise CompileError(*(replace(one, message=one.message.replace("' op ", words, 1)) for one in found))
    return target


def _check_type(module: Module, op: Operation, type_: Attribute, source: Version, target: Version) -> None:
    if "2024-09" not in (source, target):
        return
    if isinstance(type_, TensorType) and not isinstance(type_.encoding, NoneAttr):
        raise CompileError(module.error(op, f"has a tensor with a layout, which cannot be written in version {target}"))


def _operation(module: Module, op: TableOp, source: Version, target: Version) -> None:
    kind = operation_class(op.name, target)
    if kind is None or ("2024-09" in (source, target) and not op.name.startswith("ttir.")):
        raise CompileError(module.error(op, f"does not exist in version {target}"))
    properties = {name: value for name, value in op.properties.items() if name not in (SEGMENTS, "operand_constraints")}
    if "2024-09" in (source, target):
        change = (_TO_TT if target == "2024-09" else _FROM_TT).get(op.name.partition(".")[2])
        if change is not None:
            properties = change(op)
    if target == "2024-09" and "operand_constraints" in kind.text.attributes:
        anywhere = ConstraintAttr(CONSTRAINT_GROUPS["any_device"])
        count = len(op.inputs) + len(kind.text.outs)
        properties["operand_constraints"] = ArrayAttr([anywhere] * count)
    inputs, sizes = list(op.inputs), None
    if kind.spec is op.spec:
        groups = [op.group(group.name) for group in kind.text.inputs]
        inputs, sizes = [value for group in groups for value in group], tuple(map(len, groups))
        for name in [one for one in op.text.attributes if one not in kind.text.attributes]:
            # Later versions decide what earlier ones state; in earlier ones, operations do what is the default.
            value = properties.pop(name, None)
            if value not in (None, default_attribute(op.spec.attributes[name])) and target < source:
                raise CompileError(module.error(op, f"has {name}, which does not exist in version {target}"))
    new = make(
        op.name,
        target,
        inputs,
        [result.type for result in op.results],
        properties,
        outs=op.outs,
        sizes=sizes,
        attributes=dict(op.attributes),
        regions=[op.detach_region(0) for _ in range(len(op.regions))],
        location=op.location,
    )
    new.stated = op.stated
    block = op.parent
    assert block is not None
    block.insert_op_before(new, op)
    if op in module.places:
        module.places[new] = module.places.pop(op)
    for old_result, new_result in zip(op.results, new.results, strict=True):
        old_result.replace_all_uses_with(new_result)
    block.erase_op(op)


def _pair(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else (value[0], value[1])


def _padding(value: Any) -> tuple[int, int, int, int]:
    """Return top, left, bottom, right."""
    if isinstance(value, int):
        return (value,) * 4
    return (value[0], value[1], value[0], value[1]) if len(value) == 2 else tuple(value)


def _window_to_tt(names: tuple[str, ...]) -> Callable[[TableOp], Properties]:
    def change(op: TableOp) -> Properties:
        found: Properties = {}
        for name in names:
            height, width = _pair(op.get(name))
            found[f"{name}_height"], found[f"{name}_width"] = si32_attr(height), si32_attr(width)
        top, left, bottom, right = _padding(op.get("padding"))
        for side, size in (("top", top), ("left", left), ("bottom", bottom), ("right", right)):
            found[f"padding_{side}"] = si32_attr(size)
        if "ceil_mode" in op.properties:
            found["ceil_mode"] = op.properties["ceil_mode"]
        if "groups" in op.properties:
            found["groups"] = si32_attr(op.get("groups"))
        return found

    return change


def _window_from_tt(names: tuple[str, ...]) -> Callable[[TableOp], Properties]:
    def change(op: TableOp) -> Properties:
        found: Properties = {name: i32_array([op.get(f"{name}_height"), op.get(f"{name}_width")]) for name in names}
        found["padding"] = i32_array([op.get(f"padding_{side}") for side in ("top", "left", "bottom", "right")])
        if "ceil_mode" in op.properties:
            found["ceil_mode"] = op.properties["ceil_mode"]
        if "groups" in op.properties:
            found["groups"] = i32_attr(op.get("groups"))
        return found

    return change


def _broadcast_to_tt(op: TableOp) -> Properties:
    dims = [i for i, factor in enumerate(op.get("broadcast_dimensions")) if factor != 1]
    return {"dimension": ArrayAttr([integer(one, "i64") for one in dims])}


def _broadcast_from_tt(op: TableOp) -> Properties:
    shape, result = shape_of(op.inputs[0]), shape_of(op.results[0])
    padded = (1,) * (len(result) - len(shape)) + shape
    factors = [out // size if size else 1 for size, out in zip(padded, result, strict=True)]
    return {"broadcast_dimensions": DenseArrayBase.from_list(IntegerType(64), factors)}


_CONV = ("stride", "dilation")
_POOL = ("kernel", "stride", "dilation")
_TO_TT: dict[str, Callable[[TableOp], Properties]] = {
    "conv2d": _window_to_tt(_CONV),
    "max_pool2d": _window_to_tt(_POOL),
    "broadcast": _broadcast_to_tt,
}
_FROM_TT: dict[str, Callable[[TableOp], Properties]] = {
    "conv2d": _window_from_tt(_CONV),
    "max_pool2d": _window_from_tt(_POOL),
    "broadcast": _broadcast_from_tt,
}
