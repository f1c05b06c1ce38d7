"""Builder of TT-NN operations for conversion and passes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ttnn.compiler.dialects.kinds import f32_attr, i32_array, i32_attr, of_kind
from ttnn.compiler.dialects.operations import SEGMENTS, TableOp, make, operation_class
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    NameLoc,
    Operation,
    SSAValue,
    StringAttr,
)
from ttnn.compiler.transforms.base import insert_before, set_type
from ttnn.compiler.transforms.ttcore.device import device_value
from ttnn.compiler.transforms.ttnn.layout.layouts import (
    layout_of,
    shape_attr,
)
from ttnn.compiler.transforms.ttnn.layout.types import on_host, retyped
from ttnn.compiler.version import Version
from ttnn.compiler.versions.repeated import stated_by_default

__all__ = [
    "Build",
    "change_operands",
    "groups_of",
    "set_result",
    "with_suffix",
]


def with_suffix(location: Attribute, suffix: str) -> Attribute:
    """Return a location with suffixed name; nameless ones are unchanged."""
    if suffix and isinstance(location, NameLoc):
        return NameLoc(StringAttr(location.desc.data + suffix), location)
    return location


def groups_of(op: TableOp) -> dict[str, tuple[SSAValue, ...]]:
    """Return the operands of an operation by group."""
    return {group.name: op.group(group.name) for group in op.spec.operands}


def set_result(op: TableOp, type_: Attribute, index: int = 0) -> None:
    """Change a result's type, dropping redundant layout attributes.

    They say more of its layout than the type.
    """
    set_type(op.results[index], type_)
    if index == 0 and op.stated is not None:
        for name in op.stated:
            op.properties.pop(name, None)


class Build:
    """Inserts operations before a place.

    Attributes:
        module: The module.
        place: The operation before which new ones come.
    """

    def __init__(self, module: Module, place: Operation) -> None:
        self.module = module
        self.place = place

    @property
    def version(self) -> Version:
        """The version of the module."""
        return self.module.version

    @property
    def device(self) -> SSAValue:
        """The device, created at the block's head if missing."""
        return device_value(self.module, self.place)

    def op(
        self,
        name: str,
        operands: Any,
        types: Sequence[Attribute],
        *,
        suffix: str = "",
        attributes: dict[str, Attribute] | None = None,
        **properties: Attribute | None,
    ) -> TableOp:
        """Insert an operation and return it.

        Args:
            name: Its name without the dialect.
            operands: Its operands in order, or by group.
            types: Types of its results.
            suffix: Of its location's name.
            attributes: Discardable attributes.
            properties: Its attributes; None for one that is missing, names of later versions only are left out in
                2025-10.
        """
        kind = operation_class(f"ttnn.{name}", self.module.version)
        assert kind is not None, f"ttnn.{name} is not of version {self.module.version}"
        known = kind.text.attributes
        given = {
            key: of_kind(value, known[key].kind)
            for key, value in properties.items()
            if value is not None and key in known
        }
        values, sizes = _flat(kind, operands)
        made = make(
            f"ttnn.{name}",
            self.module.version,
            values,
            types,
            given,
            sizes=sizes,
            attributes=attributes,
            location=with_suffix(self.place.location, suffix),
        )
        insert_before(self.place, made)
        return made

    def value(self, name: str, operands: Any, type_: Attribute, **properties: Any) -> SSAValue:
        """Insert an operation of one result and return it."""
        result: SSAValue = self.op(name, operands, [type_], **properties).results[0]
        return result

    def again(
        self,
        op: TableOp,
        types: Sequence[Attribute] | None = None,
        *,
        operands: Mapping[str, Any] | None = None,
        suffix: str = "",
        **properties: Attribute,
    ) -> TableOp:
        """Insert a copy of an operation with other results, operands or attributes."""
        groups: dict[str, Any] = {**groups_of(op), **(operands or {})}
        kept = {key: value for key, value in op.properties.items() if key not in (SEGMENTS, "resultSegmentSizes")}
        new = self.op(
            op.name.partition(".")[2],
            groups,
            list(types) if types is not None else [result.type for result in op.results],
            suffix=suffix,
            attributes=dict(op.attributes),
            **{**kept, **properties},
        )
        if op.stated is not None:
            new.stated = stated_by_default(new) | op.stated
        return new

    def spec(self, value: SSAValue, type_: Attribute, suffix: str = "") -> SSAValue:
        """Return a value with another data type, layout or place."""
        if value.type == type_:
            return value
        return self.value("to_tensor_spec", [value], type_, suffix=suffix)

    def reshape(
        self, value: SSAValue, shape: Sequence[int], suffix: str = "", like: Attribute | None = None
    ) -> SSAValue:
        """Return a value in another shape, or itself if equal.

        If it has that shape and no type is given.
        """
        if like is None and shape_of(value) == tuple(shape):
            return value
        type_ = retyped(value.type, shape=shape) if like is None else like
        return self.value("reshape", [value], type_, shape=_ints(shape), suffix=suffix)

    def flat(self, value: SSAValue) -> SSAValue:
        """Return a value as [1, 1, rows, columns]."""
        shape = shape_of(value)
        return self.reshape(value, (1, 1, math.prod(shape[:-1]), shape[-1]))

    def permute(self, value: SSAValue, order: Sequence[int], suffix: str = "") -> SSAValue:
        """Return a value with permuted dimensions, or itself if unchanged."""
        if list(order) == list(range(len(order))):
            return value
        shape = shape_of(value)
        type_ = retyped(value.type, shape=[shape[i] for i in order])
        array = DenseArrayBase.from_list(IntegerType(64), list(order))
        return self.value("permute", [value], type_, permutation=array, suffix=suffix)

    def slice(
        self,
        value: SSAValue,
        begins: Sequence[int],
        ends: Sequence[int],
        steps: Sequence[int] | None = None,
        suffix: str = "",
        like: Attribute | None = None,
    ) -> SSAValue:
        """Return a part of a value."""
        steps = steps if steps is not None else [1] * len(begins)
        shape = [max(0, -(-(end - begin) // step)) for begin, end, step in zip(begins, ends, steps, strict=True)]
        parts = {"begins": _ints(begins), "ends": _ints(ends), "step": _ints(steps)}
        type_ = retyped(value.type, shape=shape) if like is None else like
        return self.value("slice_static", [value], type_, suffix=suffix, **parts)

    def pad(
        self, value: SSAValue, padding: Sequence[int], fill: float = 0.0, *, multicore: bool = False, suffix: str = ""
    ) -> SSAValue:
        """Return a value with elements added before and after each dimension."""
        shape = [
            size + before + after
            for size, before, after in zip(shape_of(value), padding[::2], padding[1::2], strict=True)
        ]
        return self.value(
            "pad",
            [value],
            retyped(value.type, shape=shape),
            suffix=suffix,
            padding=i32_array(list(padding)),
            value=f32_attr(fill),
            use_multicore=_bool(multicore),
        )

    def pad_to(self, value: SSAValue, dim: int, size: int) -> SSAValue:
        """Return a value zero-padded along a dimension, or itself.

        If the dimension has that size.
        """
        more = size - shape_of(value)[dim]
        padding = [0] * (2 * len(shape_of(value)))
        padding[2 * dim + 1] = more
        return self.pad(value, padding, multicore=True) if more else value

    def filled(self, name: str, type_: Attribute) -> SSAValue:
        """Return a tensor on the device that `ones` or `zeros` makes."""
        shape = shape_attr(tuple(type_.get_shape()))  # type: ignore[attr-defined]
        return self.value(name, {"device": self.device}, type_, shape=shape)

    def repeat(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Return a value broadcast to a shape.

        It is repeated along dimensions of size one; the rank is the same or higher.
        """
        before = (1,) * (len(shape) - len(shape_of(value))) + shape_of(value)
        factors = tuple(size // old for size, old in zip(shape, before, strict=True))
        return self.value("repeat", [value], retyped(value.type, shape=shape), repeat_dims=shape_attr(factors))

    def full(self, number: float, type_: Attribute, suffix: str = "") -> SSAValue:
        """Return a tensor of one number."""
        fill = f32_attr(number) if isinstance(number, float) else i32_attr(number)
        layout = layout_of(type_)
        device = None if layout is not None and on_host(layout) else self.device
        shape = shape_attr(tuple(type_.get_shape()))  # type: ignore[attr-defined]
        return self.value("full", {"device": device}, type_, suffix=suffix, shape=shape, fill_value=fill)


def change_operands(op: TableOp, **changes: SSAValue | Sequence[SSAValue] | None) -> None:
    """Change an operation's operands in place, in any number.

    Also to none or more than there were.
    """
    groups: dict[str, Any] = {**groups_of(op), **changes}
    values, sizes = _flat(type(op), groups)
    op.operands = [*values, *op.outs]
    if sizes is not None:
        op.properties |= op.segments(sizes)


def _flat(kind: type[TableOp], operands: Any) -> tuple[list[SSAValue], tuple[int, ...] | None]:
    if not isinstance(operands, Mapping):
        return list(operands), None
    values: list[SSAValue] = []
    sizes = []
    for group in kind.text.inputs:
        given = operands.get(group.name)
        part = [] if given is None else [given] if isinstance(given, SSAValue) else list(given)
        values += part
        sizes.append(len(part))
    return values, tuple(sizes)


def _ints(values: Sequence[int]) -> ArrayAttr[Any]:
    return ArrayAttr([i32_attr(value) for value in values])


def _bool(value: bool) -> Attribute:
    return IntegerAttr(int(value), IntegerType(1))
