"""The program of one device, made operation by operation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.importers.builder import element_of, shape_of
from ttnn.compiler.importers.spmd.layout import Layout, Mesh, local_shape, whole
from ttnn.compiler.importers.stablehlo.view import View
from ttnn.compiler.ir.attributes import DenseAttr, OpaqueDialectAttr
from ttnn.compiler.ir.operations import generic_operation, written_name
from ttnn.compiler.ir.xdsl_adapter import (
    Attribute,
    Block,
    DictionaryAttr,
    FuncOp,
    IntegerAttr,
    IntegerType,
    Operation,
    Region,
    SSAValue,
    StringAttr,
    TensorType,
    UnitAttr,
)

__all__ = ["Part", "Partitioner", "kept", "plain"]

_I64: Final = IntegerType(64)
_DEPTH: Final = 64
_BODIES: Final = {"sum": "add", "max": "maximum", "min": "minimum", "prod": "multiply"}


@dataclass(frozen=True)
class Part:
    """A value of the program on one device.

    Attributes:
        value: The part.
        layout: How the value is divided.
        shape: Shape of the whole value.
    """

    value: SSAValue
    layout: Layout
    shape: tuple[int, ...]


class Partitioner:
    """A function that is made from one with shardings.

    Attributes:
        mesh: The devices.
    """

    def __init__(self, mesh: Mesh, functions: Mapping[str, FuncOp], rules: Mapping[str, Callable[..., Any]]) -> None:
        self.mesh = mesh
        self._functions = functions
        self._rules = rules
        self._parts: dict[SSAValue, Part] = {}
        self._again: dict[tuple[SSAValue, Layout], Part] = {}
        self._depth = 0
        self._location: Any = None
        self.block = Block()

    def argument(self, type_: Attribute, layout: Layout) -> Part:
        """Add an argument, and return it."""
        shape = shape_of(type_)
        value = self.block.insert_arg(self.type(type_, layout), len(self.block.args))
        return Part(value, layout, shape)

    def run(self, block: Block, arguments: Sequence[Part]) -> list[Part]:
        """Divide the operations of a block, and return what it returns."""
        self._depth += 1
        if self._depth > _DEPTH:
            raise UnsupportedError(f"functions of this program call each other more than {_DEPTH} deep.")
        self._parts.update(zip(block.args, arguments, strict=True))
        returned: list[Part] = []
        for op in block.ops:
            if written_name(op) in ("func.return", "sdy.return"):
                returned = self.parts(op)
                continue
            self._location = op.location
            made = self._rules.get(written_name(op), self._rules[""])(self, View(op))
            self._parts.update(zip(op.results, [made] if isinstance(made, Part) else made, strict=True))
        self._depth -= 1
        return returned

    def call(self, name: str, arguments: Sequence[Part]) -> list[Part]:
        """Divide the operations of a function in place of its call."""
        function = self._functions.get(name)
        if function is None or not function.regions[0].blocks:
            raise UnsupportedError(f"the function @{name} has no body.")
        return self.run(function.regions[0].blocks[0], arguments)

    def parts(self, op: Operation) -> list[Part]:
        """Return the operands of an operation."""
        return [self._parts[one] for one in op.operands]

    def hints(self, view: View) -> list[Layout]:
        """Return the layouts that propagation has found for results; whole without one."""
        shapes = [shape_of(one) for one in view.types if isinstance(one, TensorType)]
        found = self.mesh.layouts(view.op.attributes.get("sdy.sharding"))
        if len(found) != len(shapes):
            found = [whole(len(shape)) for shape in shapes]
        return [self.mesh.fitting(layout, shape) for layout, shape in zip(found, shapes, strict=True)]

    def type(self, type_: Attribute, layout: Layout) -> TensorType[Any]:
        """Return the type of a part."""
        return TensorType(element_of(type_), local_shape(self.mesh, layout, shape_of(type_)))

    def written(self, block: Block, arguments: Sequence[Part]) -> list[SSAValue]:
        """Copy the operations of a block, and return its results."""
        region = block.parent
        assert region is not None
        copied = self._copied(region).blocks[0]
        for one, part in zip(copied.args, arguments, strict=True):
            one.replace_all_uses_with(part.value)
        returned: list[SSAValue] = []
        for op in list(copied.ops):
            op.detach()
            if written_name(op) == "sdy.return":
                returned = list(op.operands)
                op.erase()
            else:
                self.block.add_op(op)
        return returned

    def _copied(self, region: Region) -> Region:
        """Return a copy of a region, with whole values of outside."""
        mapper: dict[SSAValue, SSAValue] = {}
        for one in _captured(region):
            part = self._parts[one]
            mapper[one] = self.divided(part, whole(len(part.shape))).value
        copied = Region()
        region.clone_into(copied, value_mapper=mapper)
        return plain(copied)

    def insert(
        self,
        name: str,
        operands: Sequence[SSAValue],
        types: Sequence[Attribute],
        properties: Mapping[str, Attribute] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> list[SSAValue]:
        """Add an operation, and return its results."""
        op = generic_operation(name).create(
            operands=list(operands),
            result_types=list(types),
            properties=dict(properties or {}),
            attributes=dict(attributes or {}),
            regions=list(regions),
        )
        op.location = self._location
        self.block.add_op(op)
        return list(op.results)

    def clone(
        self,
        view: View,
        operands: Sequence[Part],
        layouts: Sequence[Layout],
        properties: Mapping[str, Attribute] | None = None,
    ) -> list[Part]:
        """Add an operation with other operands, and return its results.

        Args:
            view: The operation.
            operands: Its operands.
            layouts: Layouts of its results.
            properties: Properties that differ.
        """
        types = [self.type(one, layout) for one, layout in zip(view.types, layouts, strict=True)]
        regions = [self._copied(region) for region in view.op.regions]
        made = self.insert(
            view.name.replace("sdy.constant", "stablehlo.constant"),
            [one.value for one in operands],
            types,
            {**view.op.properties, **(properties or {})},
            kept(view.op.attributes),
            regions,
        )
        return [
            Part(value, layout, shape_of(type_)) for value, layout, type_ in zip(made, layouts, view.types, strict=True)
        ]

    def divided(self, part: Part, layout: Layout) -> Part:
        """Return a value in another layout."""
        if part.layout == layout:
            return part
        known = self._again.get((part.value, layout))
        if known is not None:
            return known
        value = part.value
        now = list(part.layout)
        for dim, (axes, wanted) in enumerate(zip(part.layout, layout, strict=True)):
            for axis in reversed(axes[_common(axes, wanted) :]):
                value = self._gathered(value, dim, axis)
            now[dim] = axes[: _common(axes, wanted)]
        for dim, (axes, wanted) in enumerate(zip(now, layout, strict=True)):
            for axis in wanted[len(axes) :]:
                value = self._cut(value, dim, axis)
        made = self._again[part.value, layout] = Part(value, layout, part.shape)
        return made

    def reduced(self, part: Part, axes: Sequence[int], kind: str) -> Part:
        """Return the reduction of a value over the devices along axes."""
        value = part.value
        for axis in axes:
            scalar: TensorType[Any] = TensorType(element_of(value), [])
            body = Block(arg_types=[scalar, scalar])
            inner = generic_operation(f"stablehlo.{_BODIES[kind]}").create(operands=body.args, result_types=[scalar])
            body.add_ops([inner, generic_operation("stablehlo.return").create(operands=inner.results)])
            properties = {**self._groups(axis), "use_global_device_ids": UnitAttr()}
            (value,) = self.insert("stablehlo.all_reduce", [value], [value.type], properties, regions=[Region(body)])
        return Part(value, part.layout, part.shape)

    def _groups(self, axis: int) -> dict[str, Attribute]:
        groups = np.asarray(self.mesh.groups(axis), np.int64)
        return {
            "replica_groups": DenseAttr(TensorType(_I64, groups.shape), groups.tobytes(), False),
            "channel_handle": OpaqueDialectAttr("stablehlo.channel_handle", ("<handle = 1, type = 1>",)),
        }

    def _gathered(self, value: SSAValue, dim: int, axis: int) -> SSAValue:
        properties = {
            **self._groups(axis),
            "all_gather_dim": IntegerAttr(dim, _I64),
            "use_global_device_ids": UnitAttr(),
        }
        type_ = _scaled(value.type, dim, self.mesh.sizes[axis], 1)
        return self.insert("stablehlo.all_gather", [value], [type_], properties)[0]

    def _cut(self, value: SSAValue, dim: int, axis: int) -> SSAValue:
        # The program of StableHLO has no operation for it: a call of ours.
        texts = {"dim": StringAttr(str(dim)), "cluster_axis": StringAttr(str(axis + 2 - len(self.mesh.sizes)))}
        type_ = _scaled(value.type, dim, 1, self.mesh.sizes[axis])
        properties = {"call_target_name": StringAttr("tt.mesh_partition")}
        attributes = {"mhlo.frontend_attributes": DictionaryAttr(texts)}
        return self.insert("stablehlo.custom_call", [value], [type_], properties, attributes)[0]


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """Return how many axes two lists begin with together."""
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return count


def _scaled(type_: Any, dim: int, factor: int, divisor: int) -> TensorType[Any]:
    shape = list(type_.get_shape())
    shape[dim] = shape[dim] * factor // divisor
    return TensorType(type_.element_type, shape)


def _captured(region: Region) -> list[SSAValue]:
    """Return the values of outside that a region uses."""
    inside: set[SSAValue] = set()
    used: dict[SSAValue, None] = {}
    for block in _blocks(region):
        inside.update(block.args)
        for one in block.ops:
            inside.update(one.results)
            used.update(dict.fromkeys(one.operands))
    return [one for one in used if one not in inside]


def _blocks(region: Region) -> Iterator[Block]:
    """Return the blocks of a region, and those of regions in it."""
    for block in region.blocks:
        yield block
        for op in block.ops:
            for inner in op.regions:
                yield from _blocks(inner)


def kept(entries: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """Return attributes without those of Shardy."""
    return {key: one for key, one in entries.items() if not key.startswith("sdy.")}


def plain(region: Region) -> Region:
    """Remove what belongs to Shardy from a region, and return it."""
    for op in list(region.walk()):
        for key in [key for key in op.attributes if key.startswith("sdy.")]:
            del op.attributes[key]
        name = written_name(op)
        if not name.startswith("sdy."):
            continue
        if name == "sdy.constant":
            new = generic_operation("stablehlo.constant").create(
                result_types=[one.type for one in op.results], properties=dict(op.properties)
            )
            new.location = op.location
            block = op.parent
            assert block is not None
            block.insert_op_before(new, op)
            results: Sequence[SSAValue] = new.results
        elif name in ("sdy.sharding_constraint", "sdy.reshard"):
            results = op.operands
        elif name == "sdy.return":
            continue
        else:
            raise UnsupportedError(f"{name} inside of a region of another operation is not supported.")
        for old, value in zip(op.results, results, strict=True):
            old.replace_all_uses_with(value)
        op.detach()
        op.erase()
    return region
