"""Shared code of the later versions' calls: operands, result descriptions, configurations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ttnn.compiler.conversion.ttnn_to_calls.calls import Argument, Name, New, Ref
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description, describe
from ttnn.compiler.conversion.ttnn_to_calls.tt_handlers import Calls, Handler, place

__all__ = [
    "DRAM",
    "INTEGERS",
    "compute_config",
    "finish",
    "in_rows",
    "in_tiles",
    "numbers",
    "operand",
    "row",
    "several",
]

DRAM: Final = New("ttnn.MemoryConfig", (Name("ttnn.TensorMemoryLayout.INTERLEAVED"), Name("ttnn.BufferType.DRAM")))
"""Default memory config of operator results."""
INTEGERS: Final = ("Int32", "UInt32", "UInt16", "UInt8")
"""Data types of integers."""


def operand(reference: dict[str, Any] | None) -> Ref | None:
    """Return the operand that a table `TensorRef` names, or `None`."""
    return None if reference is None else Ref(reference["global_id"])


def finish(
    calls: Calls,
    table: dict[str, Any],
    function: str,
    have: Description,
    *arguments: Argument,
    data_type: str | None = None,
    out: str = "out",
    placed: bool = True,
    **keywords: Argument,
) -> None:
    """Add a call, and conversions to the output's description.

    Args:
        calls: Where to add it.
        table: The operation.
        function: Public name.
        have: The first operand: the result has its data type and layout, unless `data_type` says otherwise.
        arguments: Of the function.
        data_type: Of the result.
        out: Field of the output.
        placed: Whether the function takes `memory_config`.
        keywords: Of the function.
    """
    number, want = table[out]["global_id"], describe(table[out])
    if placed and want.memory is not None:
        keywords["memory_config"] = want.memory
    memory = want.memory if placed and want.memory is not None else DRAM
    result = Description(want.shape, data_type or have.data_type, have.tiled, memory)
    if (result.data_type, result.tiled, result.memory) == (want.data_type, want.tiled, want.memory):
        calls.call(function, *arguments, out=number, **keywords)
        return
    place(calls, calls.call(function, *arguments, **keywords), result, number, want)


def compute_config(table: dict[str, Any]) -> New | None:
    """The compute configuration of an operation, or None."""
    config = table.get("compute_config")
    if not config:
        return None
    fields: list[tuple[str, Argument]] = []
    if "math_fidelity" in config:
        fields.append(("math_fidelity", Name(f"ttnn.MathFidelity.{config['math_fidelity']}")))
    names = ("math_approx_mode", "fp32_dest_acc_en", "packer_l1_acc", "dst_full_sync_en")
    fields += [(name, bool(config[name])) for name in names if name in config]
    return New("ttnn.WormholeComputeKernelConfig", (), tuple(fields))


def row(text: str) -> Handler:
    """Return the handler of an operation that is one call.

    Args:
        text: The function, then its arguments: a field of the table, or `name=field`, with `?` where it may be missing
            and `:kind` where it is not passed as it is. `{type}` in the name of the function is the member of a family.
    """
    function, *words = text.split()
    arguments = [word.rpartition("=")[::2] for word in words]
    first = arguments[0][1].partition(":")[0]

    def add(calls: Calls, table: dict[str, Any]) -> None:
        values = [(name, _argument(calls, table, field)) for name, field in arguments]
        reference = table[first]
        have = describe(reference[0] if isinstance(reference, list) else reference)
        called = function.replace("{type}", str(table.get("type", "")).lower())
        positional = [value for name, value in values if not name]
        finish(calls, table, called, have, *positional, **{name: value for name, value in values if name})

    return add


def _argument(calls: Calls, table: dict[str, Any], word: str) -> Argument:
    """Return a table field as an argument, converted by its kind."""
    field, _, kind = word.partition(":")
    if kind == "config":
        return compute_config(table)
    value = table.get(field[:-1]) if field.endswith("?") else table[field]
    if value is None:
        return _MISSING.get(kind)
    if kind in _OPERANDS:
        return _OPERANDS[kind](calls, value)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [operand(one) for one in value]
    if isinstance(value, dict):
        return operand(value) if "global_id" in value else value["value"]
    return _VALUES[kind](value)


def numbers(values: Any) -> list[int]:
    """Return a vector of a table as plain numbers."""
    return [int(one) for one in values]


def in_rows(calls: Calls, reference: dict[str, Any], data_type: str | None = None) -> Ref:
    """Return an operand in rows, optionally in another data type."""
    have = describe(reference)
    found = calls.cast(Ref(reference["global_id"]), have.data_type, data_type or have.data_type)
    return calls.call("ttnn.to_layout", found, Name("ttnn.ROW_MAJOR_LAYOUT")) if have.tiled else found


def in_tiles(calls: Calls, reference: dict[str, Any], data_type: str | None = None) -> Ref:
    """Return an operand in tiles, optionally in another data type."""
    have = describe(reference)
    found = Ref(reference["global_id"])
    if not have.tiled:
        found = calls.call("ttnn.to_layout", found, Name("ttnn.TILE_LAYOUT"))
    return calls.cast(found, have.data_type, data_type or have.data_type)


def several(
    calls: Calls,
    function: str,
    arguments: list[Argument],
    keywords: dict[str, Argument],
    outs: list[dict[str, Any]],
    made: list[Description],
) -> None:
    """Add a call with several results, and conversions to descriptions.

    Args:
        calls: Where to add it.
        function: Public name.
        arguments: Of the function.
        keywords: Of the function; those that are `None` are left out.
        outs: The results as the binary names them.
        made: The results as the function makes them.
    """
    wants = [describe(out) for out in outs]
    kept = [out["global_id"] if one == want else None for out, one, want in zip(outs, made, wants, strict=True)]
    results = calls.call_several(function, arguments, keywords, kept)
    for result, number, have, out, want in zip(results, kept, made, outs, wants, strict=True):
        if number is None:
            place(calls, result, have, out["global_id"], want)


_OPERANDS: Final[dict[str, Callable[[Calls, dict[str, Any]], Argument]]] = {
    "places": lambda calls, reference: in_tiles(calls, reference, "UInt32"),
}
#: What a field that a table lacks is; None elsewhere. A shape of no dimensions is left out of tables.
_MISSING: Final[dict[str, Argument]] = {"bool": False, "true": True, "shape": []}
_VALUES: Final[dict[str, Callable[[Any], Argument]]] = {
    "": lambda value: value,
    "int": int,
    "float": float,
    "bool": bool,
    "true": bool,
    "numbers": numbers,
    "shape": numbers,
}
