"""Options of passes and pipelines: `key=value` separated by spaces, lists by commas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ttnn.base.exceptions import TtnnError
from ttnn.compiler.limits import shortened

__all__ = ["Option", "OptionError", "parse_options"]


class OptionError(TtnnError, RuntimeError, ValueError):
    """A missing option of a pass or pipeline, or unreadable value."""


@dataclass(frozen=True)
class Option:
    """An option.

    Attributes:
        name: As it is written.
        kind: "bool", "int", "float", "str", or "ints" and "strs" for lists.
        default: Its value where it is not given.
        doc: What it does, one line.
    """

    name: str
    kind: str = "str"
    default: Any = ""
    doc: str = ""

    def value(self, text: str) -> Any:
        """Return the value of a text.

        Raises:
            OptionError: The text is not of the kind.
        """
        text = text.strip()
        if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
            text = text[1:-1]
        try:
            if self.kind == "bool":
                words = {"true": True, "1": True, "": True, "false": False, "0": False}
                return words[text.lower()]
            if self.kind == "int":
                return int(text, 0)
            if self.kind == "float":
                return float(text)
            if self.kind == "ints":
                return tuple(int(part) for part in text.strip("{}").split(",") if part)
            if self.kind == "strs":
                return tuple(part for part in text.strip("{}").split(",") if part)
        except (KeyError, ValueError):
            raise OptionError(f"option {self.name} must be {self.kind}, got {shortened(text)!r}.") from None
        return text


def parse_options(owner: str, options: tuple[Option, ...], text: str) -> dict[str, Any]:
    """Return all option values of a pass from text.

    It is the text between its braces or quotes.

    Raises:
        OptionError: An option that it does not have, or a value of the wrong kind.
    """
    values = {option.name: option.default for option in options}
    known = {option.name: option for option in options}
    for part in _split(text):
        name, _, value = part.partition("=")
        option = known.get(name)
        if option is None:
            have = ", ".join(sorted(known)) or "none"
            raise OptionError(f"{owner} has no option {shortened(name)!r}; it has {have}.")
        values[name] = option.value(value)
    return values


def _split(text: str) -> list[str]:
    """Return a text's words, split at unenclosed spaces.

    Enclosed: inside braces, brackets and quotes.
    """
    parts, depth, word, quoted = [], 0, "", ""
    for char in text:
        if quoted:
            quoted = "" if char == quoted else quoted
        elif char in "\"'":
            quoted = char
        elif char in "{[(":
            depth += 1
        elif char in "}])":
            depth -= 1
        if char.isspace() and depth == 0 and not quoted:
            if word:
                parts.append(word)
            word = ""
        else:
            word += char
    return parts + ([word] if word else [])
