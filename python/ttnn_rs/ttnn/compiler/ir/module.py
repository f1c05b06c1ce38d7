"""A module with what its text had besides operations."""

from __future__ import annotations

from dataclasses import dataclass, field

from ttnn.compiler.ir.diagnostics import Diagnostic, Source
from ttnn.compiler.ir.operations import written_name
from ttnn.compiler.ir.printing import LOCAL, fused_parts
from ttnn.compiler.ir.xdsl_adapter import (
    CallSiteLoc,
    FileLineColLoc,
    FuncOp,
    FusedLoc,
    ModuleOp,
    NameLoc,
    Operation,
)
from ttnn.compiler.version import Version

__all__ = ["Module", "location_name"]


@dataclass
class Module:
    """A module.

    Attributes:
        op: The operation `builtin.module`.
        version: The version of the text; it is written again.
        filename: Where the text came from.
        resources: Bytes of `dialect_resources` by dialect and key.
        places: The first character of operations in the text, for diagnostics.
        hoisted: Constants that stand where hoisting has put them.
        dialects: Dialects of the attributes and types in its text.
    """

    op: ModuleOp
    version: Version = "2026-08"
    filename: str = "-"
    resources: dict[str, dict[str, bytes]] = field(default_factory=dict)
    source: Source | None = None
    places: dict[Operation, int] = field(default_factory=dict)
    hoisted: set[Operation] = field(default_factory=set)
    warnings: list[Diagnostic] = field(default_factory=list)
    dialects: frozenset[str] = frozenset()

    def functions(self) -> list[FuncOp]:
        """Return the functions, those of nested modules too, in order."""
        return [op for op in self.op.walk() if isinstance(op, FuncOp)]

    def error(self, operation: Operation, message: str, *, severity: str = "error") -> Diagnostic:
        """Return a diagnostic about an operation: `'dialect.name' op message`."""
        return self.at(operation, f"'{written_name(operation)}' op {message}", severity=severity)

    def at(self, operation: Operation, message: str, *, severity: str = "error") -> Diagnostic:
        """Return a diagnostic at the place of an operation."""
        offset = self.places.get(operation)
        if offset is not None and self.source is not None:
            line, column = self.source.place(offset)
            return Diagnostic(severity, message, self.source.name, line, column, self.source.line(line))
        found = _file_location(operation.location)
        if found is not None:
            line, column = found.line.data, found.column.data
            return Diagnostic(severity, message, found.filename.data, line, column)
        return Diagnostic(severity, message, at=LOCAL.attribute(operation.location))

    def whole(self, message: str) -> Diagnostic:
        """Return an error about the module as a whole, at its beginning."""
        if self.op in self.places or self.source is None:
            return self.at(self.op, message)
        line, column = self.source.place(0)
        return Diagnostic("error", message, self.source.name, line, column, self.source.line(line))


def _file_location(location: object) -> FileLineColLoc | None:
    """Return the place in a file that a location leads to."""
    if isinstance(location, FileLineColLoc):
        return location
    if isinstance(location, NameLoc):
        return _file_location(location.location)
    if isinstance(location, CallSiteLoc):
        return _file_location(location.callee)
    if isinstance(location, FusedLoc):
        for one in fused_parts(location):
            found = _file_location(one)
            if found is not None:
                return found
    return None


def location_name(operation: Operation) -> str | None:
    """Return an operation location's name, which options address."""
    location: object = operation.location
    while isinstance(location, FusedLoc) and fused_parts(location):
        location = fused_parts(location)[0]
    if isinstance(location, NameLoc):
        return location.desc.data
    return None
