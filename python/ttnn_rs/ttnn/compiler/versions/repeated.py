"""Attributes that repeat a result's layout, to 2025-10.

`ttnn` operations have them.

They are checked and left out when text is read, and written from the layout. One that says more than the layout, such
as the cores of shards, stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from ttnn.compiler.dialects.attributes import MemoryConfigAttr, TTNNLayoutAttr
from ttnn.compiler.dialects.kinds import check_kind
from ttnn.compiler.dialects.operations import TableOp
from ttnn.compiler.dialects.spec import AttributeSpec
from ttnn.compiler.dialects.ttnn.described import data_type_attr, layout_enum, memory_config
from ttnn.compiler.dialects.verify.parts import layout_of, need, tuple_text
from ttnn.compiler.ir.printing import attribute_text
from ttnn.compiler.ir.xdsl_adapter import Attribute, VerifyException

__all__ = ["leave_out", "stated_by_default", "states", "written"]

_OF_LAYOUT: Final[dict[str, Callable[[TTNNLayoutAttr], Attribute]]] = {
    "dtype": data_type_attr,
    "layout": layout_enum,
    "memory_config": memory_config,
}
_TILE: Final = 32
_SHARD: Final = re.compile(r"shard_spec<<.*?>, <(\d+)x(\d+)>")


def leave_out(op: TableOp) -> None:
    """Check a freshly read operation's attributes, dropping its layout's.

    What is wrong with them is the operation's `problem`, which its verifier reports.
    """
    fields = op.text.repeated
    if not fields:
        return
    op.stated = frozenset(name for name in fields if name in op.properties)
    layout = layout_of(op.results[0]) if op.results else None
    try:
        for name, entry in fields.items():
            given = op.properties.get(name)
            if given is not None:
                check_kind(entry, given)
            if layout is not None:
                _check(op, entry, given, layout)
    except VerifyException as error:
        op.problem = op.problem or str(error)
        return
    if layout is not None:
        for name in op.stated:
            if op.properties[name] == _OF_LAYOUT[name](layout):
                del op.properties[name]


def _check(op: TableOp, entry: AttributeSpec, given: Attribute | None, layout: TTNNLayoutAttr) -> None:
    """Check one attribute against the layout of the result.

    Raises:
        VerifyException: It is missing, or says something else.
    """
    value = getattr(given, "value", None)
    if entry.name == "memory_config":
        if isinstance(given, MemoryConfigAttr) and not given.short:
            _check_memory(given, layout)
    elif entry.optional:
        return
    elif op.name in ("ttnn.typecast", "ttnn.to_dtype"):
        message = f"Output tensor data type {layout.dtype} must match the data type of dtype attribute {value}."
        need(value in (None, layout.dtype), message)
    elif entry.name == "dtype":
        need(
            given is not None,
            "output data type attribute is not defined for op that has output layout data attribute " + layout.dtype,
        )
        need(
            value == layout.dtype,
            f"output tensor layout data type {layout.dtype} must match output data type attribute {value}",
        )
    elif op.written_name != "ttnn.to_layout":
        need(given is not None, "output layout attribute is not defined for op that has output layout attribute.")
        kind = "tile" if layout.tiled else "row_major"
        need(kind == value, f"output tensor layout {kind} must match output layout attribute {value}")


def _check_memory(memory: MemoryConfigAttr, layout: TTNNLayoutAttr) -> None:
    need(
        memory.buffer.value == layout.space,
        f"Output tensor buffer type {layout.space} must match memory config buffer type {memory.buffer.value}",
    )
    need(
        memory.layout is None or memory.layout == layout.mem_layout,
        f"Output tensor layout memory space {layout.mem_layout} must match memory config memory space {memory.layout}",
    )
    found = _SHARD.search(attribute_text(memory))
    if found is not None:
        scale = _TILE if layout.tiled else 1
        shard = tuple(scale * size for size in layout.memref.get_shape())
        wanted = (int(found.group(1)), int(found.group(2)))
        need(
            shard == wanted,
            f"Output tensor scalar shard shape {tuple_text(shard)} must match memory config shard spec shape "
            f"{tuple_text(wanted)}",
        )


def stated_by_default(op: TableOp) -> frozenset[str]:
    """Return the textual attribute names of a pass-made operation."""
    layout = layout_of(op.results[0]) if op.results else None
    names = {entry.name for entry in op.text.repeated.values() if not entry.optional or entry.default is not None}
    if layout is not None and layout.space == "system_memory" and any(one.name == "device" for one in op.text.inputs):
        # Tensors of the host are made without a place.
        names.discard("memory_config")
    return frozenset(names)


def states(op: TableOp) -> frozenset[str]:
    """Return an operation's textual attribute names."""
    return stated_by_default(op) if op.stated is None else op.stated


def written(op: TableOp) -> dict[str, Attribute]:
    """Return the attributes of an operation with those that its text repeats."""
    layout = layout_of(op.results[0]) if op.results else None
    fields = op.text.repeated
    if layout is None or not fields:
        return op.properties
    names = states(op)
    return {**{name: _OF_LAYOUT[name](layout) for name in names if name in fields}, **op.properties}
