"""Diagnostics in MLIR form: position, source line, and caret.

File, line and column.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field

from ttnn.base.exceptions import TtnnError
from ttnn.compiler.limits import SHOWN, shortened

__all__ = ["CompileError", "Diagnostic", "Source", "VersionError"]


@dataclass(frozen=True)
class Source:
    """A text and its name.

    `first_line` is the number of lines before it in the file that it was cut from.
    """

    text: str
    name: str
    first_line: int = 0
    starts: array[int] = field(default_factory=lambda: array("Q"), compare=False, repr=False)

    def place(self, offset: int) -> tuple[int, int]:
        """Return line and column of a character, both from 1."""
        if not self.starts:
            self.starts.append(0)
            self.starts.extend(found.end() for found in re.finditer("\n", self.text))
        line = bisect_right(self.starts, offset) - 1
        return line + 1 + self.first_line, offset - self.starts[line] + 1

    def line(self, number: int) -> str | None:
        """Return the line of that number without its end, or None."""
        self.place(0)
        index = number - 1 - self.first_line
        if not 0 <= index < len(self.starts):
            return None
        end = self.text.find("\n", self.starts[index])
        return self.text[self.starts[index] : end if end >= 0 else None]


@dataclass(frozen=True)
class Diagnostic:
    """One message with its place.

    Attributes:
        severity: "error", "warning", "remark" or "note".
        message: What is wrong; of an operation it starts with `'dialect.name' op`.
        file: Name of the file, or "" if the place is unknown.
        line: From 1; 0 if unknown.
        column: From 1; 0 if unknown.
        source_line: The line of the text, or None if it is not at hand.
        at: What stands before the message where no file is known, for example `loc("add_1")`.
    """

    severity: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    source_line: str | None = None
    at: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.line else (f"{self.at}: " if self.at else "")
        text = f"{shortened(place, 4 * SHOWN)}{self.severity}: {shortened(self.message, 4 * SHOWN)}"
        if self.source_line is not None:
            line, column = _around(self.source_line, max(self.column - 1, 0))
            indent = "".join("\t" if char == "\t" else " " for char in line[:column])
            text += f"\n{line}\n{indent}^"
        return text


def _around(line: str, column: int) -> tuple[str, int]:
    """Return a long line's part around a column, and the column."""
    if len(line) <= SHOWN:
        return line, column
    start = max(0, min(column - SHOWN // 2, len(line) - SHOWN))
    before = "..." if start else ""
    after = "..." if start + SHOWN < len(line) else ""
    return f"{before}{line[start : start + SHOWN]}{after}", column - start + len(before)


class CompileError(TtnnError, RuntimeError, ValueError):
    """A module that cannot be read, verified or transformed.

    Attributes:
        diagnostics: What was found, in order; at least one is an error.
    """

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("\n".join(str(diagnostic) for diagnostic in diagnostics))
        self.diagnostics = diagnostics


class VersionError(CompileError):
    """An attribute that the version of the text does not allow."""
