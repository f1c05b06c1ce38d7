"""`--param NAME=VALUE`: operator arguments as text, and the matching signature."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Final

from ttnn.base.activation import UnaryWithParam
from ttnn.base.enums import UnaryOpType
from ttnn.base.exceptions import ArgumentError
from ttnn.operation import registry
from ttnn.operation.signature import REQUIRED, TENSOR, Param, Signature

_INTEGER: Final = re.compile(r"[-+]?\d+")
ONE_OF_THESE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("clamp", "clamp_bw", "clip", "clip_bw"), "--param min=NUMBER, --param max=NUMBER or both of them"),
    "prelu": "--param weight=NUMBER",
}
"""Operators that need one of two options, or a differently shaped tensor.

The tensor replaces a number.
"""


def parse_parameter(text: str) -> tuple[str, Any]:
    """Return name and value of `name=value`.

    True or false, an integer, a number, or the text itself.

    Raises:
        ArgumentError: there is no `=`.
    """
    name, value = _split(text)
    if value.lower() in ("true", "false"):
        return name, value.lower() == "true"
    try:
        return name, _number(value)
    except ValueError:
        return name, value


def parameters_of(entry: registry.Op, texts: Sequence[str]) -> dict[str, Any]:
    """Return `--param` operator arguments, parsed for the signatures' types.

    Raises:
        ArgumentError: an argument that the operator does not have or that has no text form, another value than it
            takes, or one that is missing.
    """
    found = {name: _value(entry, name, text) for name, text in map(_split, texts)}
    signature_of(entry, found)
    return found


def signature_of(entry: registry.Op, parameters: Mapping[str, Any]) -> Signature:
    """Return the signature with these arguments and a tensor count.

    Raises:
        ArgumentError: there is none; the message names what has to be given.
    """
    fitting = [signature for signature in entry.signatures if _takes(signature, parameters)]
    complete = [signature for signature in fitting if not missing(signature, parameters)]
    if entry.name in ONE_OF_THESE and not parameters:
        raise ArgumentError(f"sweep {entry.name}: give {ONE_OF_THESE[entry.name]}.")
    if complete:
        return max(complete, key=lambda signature: len(swept(signature, parameters)))
    wanted = [[_usage(param) for param in missing(signature, parameters)] for signature in fitting]
    nameable = [" and ".join(usages) for usages in wanted if all(usages)]
    if nameable:
        raise ArgumentError(f"sweep {entry.name}: give {min(nameable, key=len)}.")
    raise ArgumentError(f"sweep {entry.name}: no signature accepts {', '.join(parameters)} together.")


def missing(signature: Signature, parameters: Mapping[str, Any]) -> list[Param]:
    """Return the missing non-tensor parameters of a signature's call."""
    return [
        param
        for param in signature.params
        if param.default is REQUIRED and param.kind is not TENSOR and param.name not in parameters
    ]


def swept(signature: Signature, parameters: Mapping[str, Any]) -> list[str]:
    """Return the missing tensors' names of a signature's call."""
    return [
        param.name
        for param in signature.params
        if param.default is REQUIRED and param.kind is TENSOR and param.name not in parameters
    ]


def shown(value: Any) -> Any:
    """Return a value as tables and JSON show it."""
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, UnaryWithParam):
        return ":".join([value.op_type.name, *map(str, value.params)])
    return [shown(item) for item in value] if isinstance(value, list) else value


def _split(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ArgumentError(f"sweep: a parameter is name=value, got {text!r}.")
    return name.strip(), value.strip()


def _number(text: str) -> int | float:
    return int(text) if _INTEGER.fullmatch(text) else float(text)


def _integer(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise ValueError(text)
    return int(text)


def _truth(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]


def _numbers(text: str) -> list[int | float]:
    return [_number(part.strip()) for part in text.split(",")]


def _functions(text: str) -> list[UnaryWithParam]:
    parts = [part.strip().split(":") for part in text.split(",")]
    return [UnaryWithParam(UnaryOpType[name.upper()], *map(float, values)) for name, *values in parts]


_READERS: Final[Mapping[str, tuple[Callable[[str], Any], str]]] = {
    "bool": (_truth, "true|false"),
    "int": (_integer, "INTEGER"),
    **dict.fromkeys(("float", "int | float", "int | int | float"), (_number, "NUMBER")),
    "str": (str, "TEXT"),
    "collections.abc.Sequence[float]": (_numbers, "NUMBER,NUMBER,..."),
    "collections.abc.Sequence[ttnn.EltwiseUnaryWithParam]": (_functions, "FUNCTION,FUNCTION:NUMBER,..."),
}
"""By a kind's text: reading of values, and usage placeholder."""


def _reader(param: Param) -> tuple[Callable[[str], Any], str] | None:
    if isinstance(param.default, Enum):
        members = type(param.default).__members__
        return members.__getitem__, "|".join(members)
    return _READERS.get(param.kind.text)


def _usage(param: Param) -> str:
    reader = _reader(param)
    return "" if reader is None else f"--param {param.name}={reader[1]}"


def _value(entry: registry.Op, name: str, text: str) -> Any:
    params = [param for signature in entry.signatures for param in signature.params]
    named = [param for param in params if param.name == name]
    readers = list(dict.fromkeys(reader for param in named if (reader := _reader(param)) is not None))
    if not readers:
        known = dict.fromkeys(param.name for param in params if _reader(param) is not None)
        there_are = f"it has {', '.join(known)}" if known else "it has none that can be given here"
        problem = "is a tensor or a memory config, which has no text form" if named else "is not an argument of it"
        raise ArgumentError(f"sweep {entry.name}: {name} {problem}; {there_are}.")
    for read, _ in readers:
        with contextlib.suppress(ValueError, KeyError, OverflowError):
            return read(text)
    forms = " or ".join(form for _, form in readers)
    raise ArgumentError(f"sweep {entry.name}: {name} is {forms}, got {text!r}.")


def _takes(signature: Signature, parameters: Mapping[str, Any]) -> bool:
    kinds = {param.name: param for param in signature.params}
    return all(name in kinds and kinds[name].kind.accepts(value) for name, value in parameters.items())
