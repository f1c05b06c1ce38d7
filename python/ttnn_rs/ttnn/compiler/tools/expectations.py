"""`--verify-diagnostics`: comments `// expected-error@+1 {{text}}` say which diagnostics a file gives."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from typing import Final

from ttnn.compiler.ir.diagnostics import Diagnostic

__all__ = ["compare"]

_EXPECTED = re.compile(
    r"expected-(?P<severity>error|warning|remark|note)(?P<regex>-re)?\s*(?:@(?P<at>unknown|above|below|[-+]?\d{1,9}))?"
    r"\s*\{\{(?P<text>(?(regex).{0,1000}(?=\}\}\s*$)|.{0,1000}?))\}\}"
)
"""Text with braced regular expressions, to the line's last braces."""


@dataclass
class _Expected:
    severity: str
    line: int | None
    text: str
    regex: bool
    own_line: int
    met: bool = False

    def matches(self, diagnostic: Diagnostic) -> bool:
        if self.met or self.severity != diagnostic.severity:
            return False
        if self.line is not None and diagnostic.line and self.line != diagnostic.line:
            return False
        if self.regex:
            pattern = "".join(
                f"(?:{part})" if i % 2 else re.escape(part)
                for i, part in enumerate(re.split(r"\{\{(.*?)\}\}", self.text))
            )
            return _search(pattern, diagnostic.message)
        return self.text in diagnostic.message


_SECONDS: Final = 10
_SEARCH: Final = "import re, sys; sys.exit(re.search(sys.argv[1], sys.argv[2]) is None)"


class _PatternError(Exception):
    """A pattern that is no regular expression, or takes too long."""


def _search(pattern: str, message: str) -> bool:
    """Return whether a pattern of a file is found in a message.

    A pattern with several repetitions may need exponential time, so it is searched for in a process that is ended.
    """
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise _PatternError(f"{pattern!r} is no regular expression: {error}") from None
    if len(re.findall(r"[*+{]", pattern)) <= 1:
        return compiled.search(message) is not None
    command = [sys.executable, "-I", "-c", _SEARCH, pattern, message]
    try:
        return subprocess.run(command, timeout=_SECONDS, check=False, capture_output=True).returncode == 0
    except subprocess.TimeoutExpired:
        raise _PatternError(f"{pattern!r} needs more than {_SECONDS} s of search") from None


def _expected(text: str, first_line: int) -> list[_Expected]:
    found = []
    for number, line in enumerate(text.split("\n"), start=first_line + 1):
        for match in _EXPECTED.finditer(line):
            at = match["at"]
            place: int | None = number
            if at == "unknown":
                place = None
            elif at in ("above", "below"):
                place = number + (1 if at == "below" else -1)
            elif at is not None:
                place = number + int(at) if at[0] in "+-" else int(at)
            found.append(_Expected(match["severity"], place, match["text"], bool(match["regex"]), number))
    return found


def compare(text: str, name: str, first_line: int, diagnostics: list[Diagnostic]) -> list[str]:
    """Return differences between a text's expected and actual diagnostics."""
    expected = _expected(text, first_line)
    problems = []
    for diagnostic in diagnostics:
        hit = None
        for one in expected:
            try:
                found = one.matches(diagnostic)
            except _PatternError as error:
                return [f"{name}:{one.own_line}: error: expected-{one.severity}-re: {error}"]
            if found:
                hit = one
                break
        if hit is None:
            problems.append(
                f"{name}:{diagnostic.line}:{diagnostic.column}: error: unexpected {diagnostic.severity}: "
                f"{diagnostic.message}"
            )
        else:
            hit.met = True
    problems += [
        f'{name}:{one.own_line}: error: expected {one.severity} "{one.text}" was not produced'
        for one in expected
        if not one.met and one.severity != "note"
    ]
    return problems
