"""Rows: operations of binaries that are one call, each written as text.

* `?`: it may be missing, with the default that follows (`seed?0`);
* `:kind`: what becomes of it. `rows`, `tiles` put an operand into that layout, `rows/UInt32` also into a data type:
  one of `_TYPES`, or that of another operand (`tiles/@cache`).

Kinds without a field (`:config`) are read from the whole table. Missing positional arguments at the end are left out.
`{type}` in the name of the function is the member of a family of operations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from ttnn.compiler.conversion.ttnn_to_calls.calls import DEVICE, Argument, Call, Name, New
from ttnn.compiler.conversion.ttnn_to_calls.configurations import attention_config, program_config
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description, describe, dtype_name
from ttnn.compiler.conversion.ttnn_to_calls.parts import (
    DRAM,
    Calls,
    Handler,
    chosen_type,
    compute_config,
    conv_config,
    finish,
    in_rows,
    in_tiles,
    mask,
    numbers,
    operand,
    place,
    several,
    unflattened,
)

__all__ = ["by_type", "function_of", "row"]

#: Functions of members of families whose name is another one.
_FUNCTIONS: Final = {
    "BitwiseAnd": "bitwise_and",
    "BitwiseNot": "bitwise_not",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "ClampScalar": "clamp",
    "ClampTensor": "clamp",
    "Div": "divide",
    "Equal": "eq",
    "GreaterEqual": "ge",
    "GreaterThan": "gt",
    "LeakyRelu": "leaky_relu",
    "LessEqual": "le",
    "LessThan": "lt",
    "LogicalAnd": "logical_and",
    "LogicalLeftShift": "logical_left_shift",
    "LogicalNot": "logical_not",
    "LogicalOr": "logical_or",
    "LogicalRightShift": "logical_right_shift",
    "LogicalXor": "logical_xor",
    "NotEqual": "ne",
}


def function_of(table: dict[str, Any]) -> str:
    """Return the name of the function for a member of a family."""
    kind = table.get("type", "")
    return _FUNCTIONS.get(kind) or kind.lower()


def row(
    text: str,
    *,
    out: str = "out",
    like: str = "",
    data_type: str = "",
    placed: bool = True,
    tiled: bool = False,
    flat: bool = False,
    returns: bool = True,
) -> Handler:
    """Return the handler of an operation that is one call.

    Args:
        text: The row.
        out: Field of the output, several fields with blanks between, or "" if the result is not used.
        like: The argument whose data type and layout the result has, by default the first. If it is `out`, the
            function returns what the output's description says.
        data_type: Data type of the result where `like` has another one; "out" for that of the output.
        placed: Whether the function has the argument `memory_config`.
        tiled: Whether the result is in tiles also where `like` is not.
        flat: Whether the result has the shape [1, 1, rows, channels], in tiles.
        returns: Whether the function returns something.
    """
    function, *words = text.split()
    arguments = [_parsed(word) for word in words]
    first = arguments[0][1]
    model = next((source for _, source in arguments if source.partition(":")[0] == like), first) if like else first
    outs = out.split()

    def made(table: dict[str, Any]) -> Description:
        field, _, kind = model.partition(":")
        reference = table[field]
        have = describe(reference[0] if isinstance(reference, list) else reference)
        layout, _, wanted = kind.partition("/")
        whole = tiled or flat or (layout == "tiles" if layout in _LAYOUTS else have.tiled)
        word = describe(table["out"]).data_type if data_type == "out" else data_type
        return Description(have.shape, word or chosen_type(have.data_type, wanted, table), whole, DRAM)

    def add(calls: Calls, table: dict[str, Any]) -> None:
        values = [(name, _argument(calls, table, source)) for name, source in arguments]
        called = function.replace("{type}", function_of(table))
        positional = [value for name, value in values if not name]
        keywords = {name: value for name, value in values if name}
        while positional and positional[-1] is None:
            positional.pop()
        if not returns:
            given = {name: value for name, value in keywords.items() if value is not None}
            calls.added.append(Call(called, positional, given, (), calls.operation))
        elif not outs or like == out:
            number = table[out]["global_id"] if outs else None
            calls.call(called, *positional, out=number, **keywords)
        elif len(outs) > 1:
            have, wants = made(table), [table[name] for name in outs]
            described = [describe(want) for want in wants]
            results = [
                Description(one.shape, have.data_type, have.tiled, one.memory if placed else DRAM) for one in described
            ]
            several(calls, called, positional, keywords, wants, results)
        elif placed and not flat:
            have = made(table)
            finish(calls, table, called, have, *positional, data_type=have.data_type, out=out, **keywords)
        else:
            have, want = made(table), describe(table[out])
            result = calls.call(called, *positional, **keywords)
            result = unflattened(calls, result, want.shape) if flat else result
            place(calls, result, replace(have, shape=want.shape), table[out]["global_id"], want)

    return add


def by_type(handlers: dict[str, Handler]) -> Handler:
    """Return the handler of a family from the handlers of its members."""
    return lambda calls, table: handlers[table["type"]](calls, table)


def _parsed(word: str) -> tuple[str, str]:
    """Return the keyword ("" for a positional argument) and the source."""
    name, equals, source = word.partition("=")
    if not equals:
        return "", word
    return name or source.partition(":")[0].partition("?")[0], source


def _argument(calls: Calls, table: dict[str, Any], source: str) -> Argument:
    """Return an argument of a call from its source."""
    path, _, kind = source.partition(":")
    if not path:
        return _OF_TABLE[kind](calls, table) if kind in _OF_TABLE else dtype_name(kind)
    path, optional, default = path.partition("?")
    value: Any = table
    for name in path.split("."):
        value = value[name] if not optional else None if value is None else value.get(name)
    if value is None:
        if not default:
            return _MISSING.get(kind)
        value = default
    layout, _, wanted = kind.partition("/")
    if layout in _LAYOUTS:
        return _LAYOUTS[layout](calls, value, chosen_type(describe(value).data_type, wanted, table))
    if kind in _VALUES:
        return _VALUES[kind](value)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [operand(one) for one in value]
    if isinstance(value, dict):
        return operand(value) if "global_id" in value else value["value"]
    return value


def _device(value: dict[str, Any]) -> Argument:
    """Return the device, or None for an output on the host."""
    return None if "desc" in value and describe(value).on_host else DEVICE


def _factors(value: Any) -> Argument:
    return numbers(value) if isinstance(value, list) else int(value)


_LAYOUTS: Final = {"rows": in_rows, "tiles": in_tiles}
#: What a field that a table lacks is; None elsewhere. A shape of no dimensions is left out of tables.
_MISSING: Final[dict[str, Argument]] = {"bool": False, "true": True, "shape": []}
_VALUES: Final[dict[str, Callable[[Any], Argument]]] = {
    "1d": lambda value: program_config("MatmulMultiCoreReuseMultiCast1DProgramConfig", value),
    "attention": attention_config,
    "bool": bool,
    "device": _device,
    "dtype": lambda value: describe(value).dtype,
    "factors": _factors,
    "float": float,
    "int": int,
    "layout": lambda value: describe(value).layout,
    "memory": lambda value: describe(value).memory,
    "numbers": numbers,
    "shape": numbers,
    "sizes": lambda value: list(describe(value).shape),
    "subdevice": lambda value: New("ttnn.SubDeviceId", (int(value),)),
    "text": str,
    "topology": lambda value: Name(f"ttnn.Topology.{value}"),
    "true": bool,
}
_OF_TABLE: Final[dict[str, Callable[[Calls, dict[str, Any]], Argument]]] = {
    "config": lambda calls, table: compute_config(table),
    "conv": lambda calls, table: conv_config(table),
    "device": lambda calls, table: DEVICE,
    "false": lambda calls, table: False,
    "mask": mask,
}
