"""Arguments of captured calls as JSON.

Source: tt-metal `ttnn/ttnn/graph_tracer_utils.py` (form of the result).
"""

from __future__ import annotations

import re
from typing import Any, Final

_TOKEN: Final = re.compile(r"\s*([()\[\]{}=,]|[^()\[\]{}=,\s]+)")
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}


class _UnparsedError(ValueError):
    """A text that is not made of names, numbers, lists and structures."""


class _Reader:
    """Reads the text of an argument, such as `MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED)`."""

    def __init__(self, text: str) -> None:
        self.tokens = _TOKEN.findall(text)
        self.at = 0
        if "".join(self.tokens) != re.sub(r"\s+", "", text):
            raise _UnparsedError(text)

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        token = self.peek()
        if not token or (expected and token != expected):
            raise _UnparsedError(f"expected {expected or 'more'}, got {token or 'the end'}")
        self.at += 1
        return token

    def value(self) -> Any:
        """Return a list, a structure, or a name or number as text."""
        token = self.take()
        if token == "[":
            return self.items("]")
        if token == "{":
            return "{" + ", ".join(map(str, self.items("}"))) + "}"
        if token in ")]}=,":
            raise _UnparsedError(f"a value cannot begin with {token}")
        if self.peek() in ("(", "{"):
            return {token: self.members(_CLOSING[self.take()])}
        return int(token) if re.fullmatch(r"-?\d+", token) else token

    def items(self, closing: str) -> list[Any]:
        found = []
        while self.peek() != closing:
            found.append(self.value())
            if self.peek() != closing:
                self.take(",")
        self.take(closing)
        return found

    def members(self, closing: str) -> Any:
        """Return the members of a structure by name, or its only list."""
        if self.peek() == "[":
            inner = self.value()
            self.take(closing)
            return inner
        found: dict[str, Any] = {}
        while self.peek() != closing:
            name = self.take()
            self.take("=")
            value = self.value()
            # A member that is a structure has the name of the member, not that of its class.
            found[name] = next(iter(value.values())) if isinstance(value, dict) else value
            if self.peek() != closing:
                self.take(",")
        self.take(closing)
        return found


class GraphTracerUtils:
    """Arguments of captured calls as JSON."""

    @staticmethod
    def replace_control_chars(value: str) -> str:
        """Return a text with control characters as escapes."""
        return re.sub(r"[\x00-\x1f]", lambda found: f"\\u{ord(found[0]):04X}", value)

    @staticmethod
    def _convert_to_json(input_str: str, index: int) -> dict[str, Any]:
        """Return an index's argument.

        What cannot be read stays text, with the reason.
        """
        name = f"arg{index}"
        if re.fullmatch(r"\{\s*\}|[^()\[\]{}=,]*", input_str):
            return {name: GraphTracerUtils.replace_control_chars(input_str)}
        if "unsupported type" in input_str:
            return {name: {"unsupported type": input_str.strip("[] ").partition(",")[2].strip()}}
        try:
            reader = _Reader(input_str)
            value = reader.value()
            if reader.peek():
                raise _UnparsedError(f"unexpected {reader.peek()}")
        except _UnparsedError as error:
            text = GraphTracerUtils.replace_control_chars(input_str)
            return {"UnparsedElement": {"error": str(error), "element_info": f'{{"{name}": "{text}"}}'}}
        return {name: value}

    @staticmethod
    def serialize_arguments_to_json(operation_name: str, arguments: Any) -> dict[str, Any] | None:
        """Return a call's name and arguments; None without a name."""
        if not operation_name:
            return None
        convert = GraphTracerUtils._convert_to_json
        return {"operation": operation_name, "arguments": [convert(text, i) for i, text in enumerate(arguments)]}

    @staticmethod
    def serialize_graph(captured_graph: Any) -> dict[str, Any]:
        """Return the calls of a captured graph that have arguments."""
        convert = GraphTracerUtils.serialize_arguments_to_json
        nodes = [node for node in captured_graph if node["arguments"]]
        return {"content": [convert(node["params"].get("name", ""), node["arguments"]) for node in nodes]}
