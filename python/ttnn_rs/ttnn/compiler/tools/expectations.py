"""`--verify-diagnostics`: comments `// expected-error@+1 {{text}}` say which diagnostics a file gives."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ttnn.compiler.asm.diagnostics import Diagnostic

__all__ = ["compare"]

_EXPECTED = re.compile(
    r"expected-(?P<severity>error|warning|remark|note)(?P<regex>-re)?\s*(?:@(?P<at>unknown|above|below|[-+]?\d{1,9}))?"
    r"\s*\{\{(?P<text>.{0,1000}?)\}\}"
)


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
            return re.search(pattern, diagnostic.message) is not None
        return self.text in diagnostic.message


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
    """Return what differs between the expectations in a text and the diagnostics that came."""
    expected = _expected(text, first_line)
    problems = []
    for diagnostic in diagnostics:
        hit = next((one for one in expected if one.matches(diagnostic)), None)
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
