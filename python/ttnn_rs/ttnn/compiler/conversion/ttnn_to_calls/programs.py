"""The programs of a binary as calls of `ttnn` functions."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from ttnn.base.exceptions import FileFormatError, TtnnError, UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.calls import Call, drop_dead_calls
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import Description, describe
from ttnn.compiler.conversion.ttnn_to_calls.handlers import HANDLERS
from ttnn.compiler.conversion.ttnn_to_calls.parts import Calls
from ttnn.compiler.conversion.ttnn_to_calls.upgrade import HANDLERS_2024_09, upgraded
from ttnn.compiler.features import DIALECT_TT
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.version import Version

__all__ = ["Program", "programs", "programs_of_tables"]

_NAME: Final = re.compile(r'loc\("([^"\\]*)"(?:\(.*\))?\)')
"""A location that is a name."""


@dataclass(frozen=True)
class Program:
    """A program of a TTNN binary.

    Attributes:
        name: Name of the function.
        inputs: Number and description of each input.
        outputs: Number and description of each output.
        calls: What it calls, in order.
        texts: Text of each operation, for messages.
        locations: Location of each operation, `loc("name")`, where the binary has it.
        mesh: Rows and columns of the mesh on which it runs.
        private: Whether only other programs call it.
        all: All programs of the binary, by number.
        constants: What programs of constants that it calls gave last, by number and operation, with what they read.
        traces: Traces that it has captured, by the number of their operation.
        prepared: What an executor keeps of it between runs.
    """

    name: str
    inputs: tuple[tuple[int, Description], ...]
    outputs: tuple[tuple[int, Description], ...]
    calls: tuple[Call, ...]
    texts: tuple[str, ...]
    mesh: tuple[int, int] = (1, 1)
    private: bool = False
    locations: tuple[str, ...] = ()
    all: list[Program] = field(default_factory=list, repr=False, compare=False)
    constants: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    traces: dict[int, Any] = field(default_factory=dict, repr=False, compare=False)
    prepared: list[Any] = field(default_factory=list, repr=False, compare=False)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Name of each operation in the framework; empty for those without one."""
        found = map(_NAME.fullmatch, self.locations)
        return tuple("" if one is None else one.group(1) for one in found)

    def location(self, call: Call) -> str:
        """Return the location of a call, or an empty text."""
        return self.locations[call.operation] if 0 <= call.operation < len(self.locations) else ""


def programs(binary: Binary) -> list[Program]:
    """Return the programs of a TTNN binary.

    Raises:
        FileFormatError: It is no TTNN binary, or an operation lacks what it needs.
        UnsupportedError: An operation, data type or placement that the package does not have.
    """
    if binary.identifier != "TTNN":
        raise FileFormatError(f"a TTNN binary is expected, got one with the identifier {binary.identifier}.")
    return programs_of_tables(binary.values.get("programs", []), binary.language)


def programs_of_tables(tables: list[dict[str, Any]], version: Version) -> list[Program]:
    """Return a version's programs from binary tables `Program`.

    Raises:
        FileFormatError: An operation lacks what it needs.
        UnsupportedError: An operation, data type or placement that the package does not have.
    """
    found: list[Program] = []
    for index, table in enumerate(tables):
        found.append(_program(table, version, index, found))
    return found


def _tensors(references: list[dict[str, Any]]) -> tuple[tuple[int, Description], ...]:
    return tuple((reference["global_id"], describe(reference)) for reference in references)


def _mesh(table: dict[str, Any], operations: list[dict[str, Any]]) -> tuple[int, int]:
    """Return a program's mesh: that of its table, or of its device."""
    devices = [one.get("type", {}) for one in operations if one.get("type_type") == "GetDeviceOp"]
    sizes = [found for found in (table.get("mesh_shape"), *(one.get("mesh") for one in devices)) if found]
    meshes = [(int(one["y"]), int(one["x"])) for one in sizes]
    return max(meshes, key=math.prod, default=(1, 1))


def _program(table: dict[str, Any], version: Version, index: int, found: list[Program]) -> Program:
    name = table.get("name") or f"program_{index}"
    operations = table.get("operations", [])
    mesh = _mesh(table, operations)
    calls = Calls(mesh)
    early = DIALECT_TT.of(version)
    handlers = HANDLERS_2024_09 if early else HANDLERS
    known: dict[int, Description] = {}
    for number, operation in enumerate(operations):
        calls.operation = number
        kind = operation.get("type_type", "NONE")
        where = f"program {name}, operation {number} ({kind})"
        try:
            arguments = operation.get("type", {})
            if early:
                kind, arguments = upgraded(kind, arguments, known)
            if kind not in handlers:
                names = ", ".join(sorted(handlers))
                raise UnsupportedError(f"this operation is not executed. There are {names}.")
            handlers[kind](calls, arguments)
        except TtnnError as error:
            error.sentence = f"{where}: {error.sentence}"
            raise
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise FileFormatError(f"{where}: the operation is damaged: {error!r}.") from None
    outputs = _tensors(table.get("outputs", []))
    kept = drop_dead_calls(calls.added, [number for number, _ in outputs])
    return Program(
        name,
        _tensors(table.get("inputs", [])),
        outputs,
        tuple(kept),
        tuple(str(operation.get("debug_info", "")) for operation in operations),
        mesh,
        bool(table.get("private", False)),
        tuple(str(operation.get("loc_info", "")) for operation in operations),
        found,
    )
