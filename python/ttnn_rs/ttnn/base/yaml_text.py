"""A reader of simple YAML in files that other programs wrote.

It reads block and flow mappings and sequences, comments, integers, floats, booleans, null, and text. Tags, anchors,
aliases, block scalars and several documents are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, NoReturn

from ttnn.base.exceptions import FileFormatError

MAX_DEPTH: Final = 32
MAX_VALUES: Final = 1 << 20

_INTEGER: Final = re.compile(r"[-+]?(?:0x[0-9a-fA-F]{1,32}|[0-9]{1,40})")
_FLOAT: Final = re.compile(r"[-+]?(?:[0-9]{1,40}\.[0-9]{0,40}|\.[0-9]{1,40})(?:[eE][-+]?[0-9]{1,3})?")
_WORDS: Final = {"true": True, "false": False, "null": None, "~": None, "": None}
_REFUSED: Final = {
    "&": "anchors",
    "*": "aliases",
    "!": "tags",
    "|": "block scalars",
    ">": "block scalars",
    "%": "directives",
    "@": "reserved characters",
    "`": "reserved characters",
    "?": "complex keys",
}


class _Line(NamedTuple):
    indent: int
    text: str
    number: int


def parse_yaml(text: str, where: str) -> Any:
    """Return the content of a document: dicts, lists and scalars.

    Args:
        text: The document.
        where: Who reads it, and the name of the file, for errors.

    Raises:
        FileFormatError: it is not YAML that this reader knows, or has too many values or levels.
    """
    lines = _lines(text.removeprefix("\ufeff"), where)
    if not lines:
        return None
    reader = _Reader(lines, where)
    value = reader.block(lines[0].indent, 0)
    if reader.at < len(lines):
        reader.fail("expected the end of the file or a line with less indentation")
    return value


def _fail(where: str, number: int, what: str) -> NoReturn:
    raise FileFormatError(f"{where}: line {number}: {what}")


def _lines(text: str, where: str) -> list[_Line]:
    """Return lines without comments; lines of one flow collection are one."""
    lines: list[_Line] = []
    pieces: list[str] = []  # of the flow collection that is open
    open_brackets, started = 0, False
    for number, physical in enumerate(text.split("\n"), 1):
        content, brackets = _scan(physical.rstrip("\r"), where, number)
        stripped = content.strip()
        if not stripped:
            continue
        if open_brackets:
            pieces.append(stripped)
        elif stripped == "---" and not started:
            started = True
            continue
        elif stripped in ("---", "...") or stripped.startswith("--- "):
            _fail(where, number, "expected one document")
        else:
            indent = len(content) - len(content.lstrip(" "))
            if content[indent] == "\t":
                _fail(where, number, "tabs do not indent")
            lines.append(_Line(indent, stripped, number))
            pieces = [stripped]
        started = True
        open_brackets += brackets
        if not open_brackets and len(pieces) > 1:
            lines[-1] = lines[-1]._replace(text=" ".join(pieces))
        if open_brackets < 0:
            _fail(where, number, "a bracket is closed that is not open")
    if open_brackets:
        _fail(where, lines[-1].number, "a bracket is not closed")
    return lines


def _scan(line: str, where: str, number: int) -> tuple[str, int]:
    """Return a line without its comment, and the brackets left open."""
    at, brackets = 0, 0
    while at < len(line):
        character, before = line[at], line[at - 1] if at else " "
        if character in "\"'" and before in " \t[{,:-":
            at = _quote_end(line, at)
            if at < 0:
                _fail(where, number, "a quote is not closed")
            continue
        if character == "#" and before in " \t":
            return line[:at], brackets
        brackets += (character in "[{") - (character in "]}")
        at += 1
    return line, brackets


def _quote_end(text: str, at: int) -> int:
    """Return the end of a text in quotes, -1 without one."""
    quote = text[at]
    at += 1
    while at < len(text):
        if quote == '"' and text[at] == "\\":
            at += 1
        elif text[at] == quote:
            if quote == '"' or text[at + 1 : at + 2] != quote:
                return at + 1
            at += 1
        at += 1
    return -1


@dataclass
class _Reader:
    lines: list[_Line]
    where: str
    at: int = 0
    values: int = 0

    def fail(self, what: str) -> NoReturn:
        number = self.lines[min(self.at, len(self.lines) - 1)].number
        _fail(self.where, number, what)

    def _count(self, depth: int) -> None:
        self.values += 1
        if self.values > MAX_VALUES:
            self.fail(f"more than {MAX_VALUES} values")
        if depth > MAX_DEPTH:
            self.fail(f"more than {MAX_DEPTH} levels")

    def _here(self, indent: int) -> str | None:
        """Return the text of the next line if it has this indentation."""
        if self.at < len(self.lines) and self.lines[self.at].indent == indent:
            return self.lines[self.at].text
        return None

    def block(self, indent: int, depth: int) -> Any:
        """Read the collection or scalar that begins at the next line."""
        self._count(depth)
        text = self.lines[self.at].text
        if text == "-" or text.startswith("- "):
            return self._sequence(indent, depth)
        if _key_end(text) is not None:
            return self._mapping(indent, depth)
        self.at += 1
        return self._inline(text, depth)

    def _sequence(self, indent: int, depth: int) -> list[Any]:
        items: list[Any] = []
        while (text := self._here(indent)) is not None and (text == "-" or text.startswith("- ")):
            rest = text[1:].lstrip(" ")
            if rest:
                line = self.lines[self.at]
                inner = indent + len(text) - len(rest)
                self.lines[self.at] = line._replace(indent=inner, text=rest)
                items.append(self.block(inner, depth + 1))
            else:
                self.at += 1
                items.append(self._child(indent + 1, depth))
        return items

    def _mapping(self, indent: int, depth: int) -> dict[Any, Any]:
        items: dict[Any, Any] = {}
        while (text := self._here(indent)) is not None:
            end = _key_end(text)
            if end is None:
                self.fail(f"expected `key: value`, got {text[:60]!r}")
            key = self._scalar(text[:end].strip())
            rest = text[end + 1 :].strip()
            if key in items:
                self.fail(f"the key {key!r} is there twice")
            self.at += 1
            if rest:
                items[key] = self._inline(rest, depth + 1)
            else:
                following = self._here(indent)
                dashes = following is not None and (following == "-" or following.startswith("- "))
                items[key] = self._child(indent if dashes else indent + 1, depth)
        return items

    def _child(self, least: int, depth: int) -> Any:
        if self.at < len(self.lines) and self.lines[self.at].indent >= least:
            return self.block(self.lines[self.at].indent, depth + 1)
        return None

    def _inline(self, text: str, depth: int) -> Any:
        if text[0] not in "[{":
            self._count(depth)
            return self._scalar(text)
        value, end = self._flow(text, 0, depth)
        if text[end:].strip():
            self.fail(f"expected nothing after the bracket, got {text[end : end + 60]!r}")
        return value

    def _flow(self, text: str, at: int, depth: int) -> tuple[Any, int]:
        """Read a flow collection or scalar; return it and where it ends."""
        self._count(depth)
        if at >= len(text) or text[at] not in "[{":
            end = _scalar_end(text, at)
            return self._scalar(text[at:end].strip()), end
        mapping, closing = text[at] == "{", "}" if text[at] == "{" else "]"
        items: list[Any] = []
        pairs: dict[Any, Any] = {}
        at += 1
        while True:
            at = _skip(text, at)
            if text[at : at + 1] == closing:
                return (pairs if mapping else items), at + 1
            if at >= len(text):
                self.fail("a bracket is not closed")
            item, at = self._flow(text, at, depth + 1)
            at = _skip(text, at)
            if text[at : at + 1] == ":":
                if isinstance(item, dict | list):
                    self.fail("expected a scalar as a key")
                value, at = self._flow(text, _skip(text, at + 1), depth + 1)
                if mapping and item in pairs:
                    self.fail(f"the key {item!r} is there twice")
                pairs[item] = value
                if not mapping:
                    # A pair in a sequence is a mapping of its own.
                    items.append({item: value})
            elif mapping:
                self.fail(f"expected `key: value` in braces, got {text[at : at + 60]!r}")
            else:
                items.append(item)
            at = _skip(text, at)
            if text[at : at + 1] == ",":
                at += 1
            elif text[at : at + 1] != closing:
                self.fail(f"expected `,` or `{closing}`, got {text[at : at + 60]!r}")

    def _scalar(self, text: str) -> Any:
        if text[:1] in ("'", '"'):
            if _quote_end(text, 0) != len(text):
                self.fail(f"expected a closing quote: {text[:60]!r}")
            return text[1:-1].replace("''", "'") if text[0] == "'" else text[1:-1]
        if text[:1] in _REFUSED:
            self.fail(f"{_REFUSED[text[0]]} are not read: {text[:60]!r}")
        if text.lower() in _WORDS:
            return _WORDS[text.lower()]
        if _INTEGER.fullmatch(text):
            return int(text, 16 if "x" in text else 10)
        return float(text) if _FLOAT.fullmatch(text) else text


def _key_end(text: str) -> int | None:
    """Return where the colon of `key: value` is; None without one."""
    if text[0] in "[{":
        return None
    if text[0] in "\"'":
        at = _quote_end(text, 0)
        return at if at > 0 and text[at : at + 1] == ":" and text[at + 1 : at + 2] in ("", " ") else None
    at = text.find(":")
    while at >= 0 and text[at + 1 : at + 2] not in ("", " "):
        at = text.find(":", at + 1)
    return at if at > 0 else None


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    return at


def _scalar_end(text: str, at: int) -> int:
    """Return where a scalar of a flow collection ends."""
    if text[at : at + 1] in ("'", '"'):
        end = _quote_end(text, at)
        return end if end > 0 else len(text)
    while at < len(text) and text[at] not in ",]}[{":
        if text[at] == ":" and text[at + 1 : at + 2] in ("", " ", ",", "]", "}"):
            break
        at += 1
    return at
