"""A check of kernel assembly before assembling: no host file is read."""

from __future__ import annotations

import re

_FORBIDDEN = re.compile(r"\.(incbin|include|macro|irpc?|rept|rep|altmacro|endm|endr)\b", re.IGNORECASE)
"""Directives that read a file, or can assemble their names."""
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_ERROR = re.compile(r"^kernel\.s:(?P<line>\d+)(?::\d+)?: error: (?P<text>.*(?:\n(?!kernel\.s:).*)*)", re.MULTILINE)
_LINE_END = re.compile(r"^", re.MULTILINE)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "\\": "\\"}
_LINE = re.compile(r"[^\r\n]+")
_COMMENT = re.compile(r"/\*.*?\*/")
_STARTS = re.compile(r"(?:^|[;:])\s*$")
_LOCATION = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)", re.MULTILINE)
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+(?:"((?:[^"\\]|\\.)*)"\s+)?"((?:[^"\\]|\\.)*)"', re.MULTILINE)


def forbidden_directive(text: str) -> tuple[str, str] | None:
    """Return the first forbidden directive of kernel assembly and its position.

    Every line must close its strings, and comments that span lines are refused too. So each line starts outside of
    strings and comments, whatever the source does, and what is a string here is one for the assembler.

    Returns:
        Name of the directive, place as file:line; None if there is none.
    """
    for found in _LINE.finditer(text):
        name = _forbidden(found[0])
        if name:
            return name, place_of(text, found.start())
    return None


def _forbidden(line: str) -> str:
    if '"' not in line:
        bad = _FORBIDDEN.search(line)
        rest = _COMMENT.sub("", line)
        return bad[0].lower() if bad else "a comment of several lines" if "/*" in rest or "*/" in rest else ""
    outside = _QUOTED.sub('""', line)
    bad = _FORBIDDEN.search(outside)
    if bad:
        return bad[0].lower()
    # The assembler reads a directive in quotes as one.
    for quoted in _QUOTED.finditer(line):
        if _STARTS.search(_QUOTED.sub('""', line[: quoted.start()])) and _FORBIDDEN.search(quoted[0].replace("\\", "")):
            return quoted[0]
    left = outside.replace('""', "")
    if '"' in left:
        return "a string that does not end in its line"
    if "'" in left or "/*" in left or "*/" in left or "//" in left or "#" in left:
        return "a string beside a comment or character"
    return ""


def assembler_error(text: str, output: str) -> tuple[str, str] | None:
    """Return the assembler's first error and its source position.

    None if there is none.
    """
    found = _ERROR.search(output)
    if found is None:
        return None
    lines = list(_LINE_END.finditer(text, 0))
    number = min(int(found["line"]), len(lines)) - 1
    return found["text"], place_of(text, lines[number].start() if number > 0 else 0)


def place_of(text: str, position: int) -> str:
    """Return an assembly position's source file and line, empty if unknown."""
    locations = list(_LOCATION.finditer(text, 0, position))
    if not locations:
        return ""
    number, line = locations[-1].groups()
    files = {one[1]: one[3] for one in _FILE.finditer(text)}
    return f"{_unquoted(files[number])}:{line}" if number in files else ""


def _unquoted(text: str) -> str:
    data = re.sub(r"\\([0-7]{3}|.)", lambda found: _ESCAPES.get(found[1]) or chr(int(found[1], 8)), text)
    return data.encode("latin-1").decode(errors="replace")
