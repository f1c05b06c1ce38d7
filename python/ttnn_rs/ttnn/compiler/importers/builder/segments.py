"""Host operations, loops and branches in functions of the device.

Each is a call of a private function without a body, whose attributes say what it is. Plans run the parts in turn; the
passes see functions without such calls only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ttnn.compiler.importers.builder.builder import Builder
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    DictionaryAttr,
    FuncOp,
    FunctionType,
    IntegerAttr,
    IntegerType,
    Region,
    SSAValue,
    StringAttr,
    SymbolRefAttr,
)

__all__ = ["Part", "branch", "constants", "host", "loop", "part_of"]

_HOST: Final = "ttnn.host"
_OPTIONS: Final = "ttnn.host_options"
_LOOP: Final = "ttnn.loop"
_BRANCH: Final = "ttnn.branch"


@dataclass(frozen=True)
class Part:
    """Meaning of a function without a body.

    Attributes:
        kind: `host`, `loop` or `branch`.
        operation: The host operation, else the empty text.
        options: Its options.
        functions: The condition and the body of a loop, or the branches.
    """

    kind: str
    operation: str = ""
    options: Mapping[str, Attribute] | None = None
    functions: tuple[str, ...] = ()


def part_of(function: FuncOp) -> Part | None:
    """Return what a function stands for; None for one that is compiled."""
    given = function.attributes
    name = given.get(_HOST)
    if isinstance(name, StringAttr):
        options = given.get(_OPTIONS)
        return Part("host", name.data, options.data if isinstance(options, DictionaryAttr) else {})
    for kind, key in (("loop", _LOOP), ("branch", _BRANCH)):
        names = given.get(key)
        if isinstance(names, ArrayAttr):
            symbols = tuple(one.string_value() for one in names.data if isinstance(one, SymbolRefAttr))
            return Part(kind, functions=symbols)
    return None


def constants(options: Mapping[str, int | str]) -> dict[str, Attribute]:
    """Return options of a host operation as attributes."""
    return {
        key: StringAttr(value) if isinstance(value, str) else IntegerAttr(int(value), IntegerType(64))
        for key, value in options.items()
    }


def host(
    builder: Builder,
    operation: str,
    operands: Sequence[SSAValue],
    types: Sequence[Attribute],
    options: Mapping[str, Attribute] | None = None,
) -> list[SSAValue]:
    """Return the results of an operation that the host computes.

    Args:
        builder: The function that calls it.
        operation: Name of an operation of `frontends.host`.
        operands: What it reads.
        types: Types of the results.
        options: Its options.
    """
    given: dict[str, Attribute] = {_HOST: StringAttr(operation), _OPTIONS: DictionaryAttr(dict(options or {}))}
    return _call(builder, "host", operands, types, given)


def loop(builder: Builder, condition: FuncOp, body: FuncOp, operands: Sequence[SSAValue]) -> list[SSAValue]:
    """Return the values that a loop ends with.

    Args:
        builder: The function that has the loop.
        condition: Takes all operands; returns whether there is another round.
        body: Takes all operands; returns the first of them anew. The others stay as they are.
        operands: The first values.
    """
    builder.functions += [condition, body]
    names = ArrayAttr([SymbolRefAttr(one.sym_name.data) for one in (condition, body)])
    return _call(builder, "loop", operands, list(body.function_type.outputs.data), {_LOOP: names})


def branch(
    builder: Builder, index: SSAValue, branches: Sequence[FuncOp], operands: Sequence[SSAValue]
) -> list[SSAValue]:
    """Return the results of one of several functions.

    Args:
        builder: The function that has the branch.
        index: Number of the function; one out of range means the last. Of booleans true is 0 and false 1.
        branches: The functions; all take the operands, and return the same types.
        operands: What the functions read.
    """
    builder.functions += branches
    names = ArrayAttr([SymbolRefAttr(one.sym_name.data) for one in branches])
    types = list(branches[0].function_type.outputs.data)
    return _call(builder, "branch", [index, *operands], types, {_BRANCH: names})


def _call(
    builder: Builder,
    kind: str,
    operands: Sequence[SSAValue],
    types: Sequence[Attribute],
    attributes: Mapping[str, Attribute],
) -> list[SSAValue]:
    name = builder.unique(kind)
    type_ = FunctionType.from_lists([one.type for one in operands], list(types))
    function = FuncOp(name, type_, Region(), visibility=StringAttr("private"))
    function.attributes |= dict(attributes)
    builder.functions.append(function)
    return builder.call(name, operands, types)
