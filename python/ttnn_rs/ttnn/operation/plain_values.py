"""Arguments of operators as plain JSON data, and back.

Only types of this module's tables are written and read: numbers, texts, collections, and the public enumerations and
settings of `ttnn.base`. A reader therefore makes nothing else, whatever its text says.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ttnn.base import (
    activation,
    compute_config,
    conv_config,
    core_range,
    enums,
    memory_config,
    op_enums,
    program_config,
    system_enums,
)
from ttnn.base.activation import UnaryWithParam
from ttnn.base.core_range import CoreGrid
from ttnn.base.exceptions import ArgumentError, FileFormatError
from ttnn.base.json_text import JsonValue
from ttnn.base.shape import Shape
from ttnn.base.tile import Tile

_MODULES: Final = (
    *(activation, compute_config, conv_config, core_range, enums, memory_config, op_enums, program_config),
    system_enums,
)
_TYPES: Final = {
    kind.__name__: kind
    for module in _MODULES
    for kind in vars(module).values()
    if isinstance(kind, type) and kind.__module__ == module.__name__ and not kind.__name__.startswith("_")
}
_MOST_NESTED: Final = 64

Reference = Callable[[Any], "dict[str, Any] | None"]
"""Returns a tensor's or device's data, None for other values."""


def as_plain(value: Any, reference: Reference) -> Any:
    """Return a value as JSON data.

    Args:
        value: The value.
        reference: Called with values of other types first.

    Raises:
        ArgumentError: it has a type without a form.
    """
    found = reference(value)
    if found is not None:
        return found
    if isinstance(value, np.generic):
        value = value.item()
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return {"float": value.hex()}
    if kind is list:
        return [as_plain(part, reference) for part in value]
    if kind is tuple:
        return {"tuple": [as_plain(part, reference) for part in value]}
    if kind is dict:
        return {"dict": [[as_plain(part, reference) for part in pair] for pair in value.items()]}
    if kind is Shape:
        return {"shape": list(value)}
    if kind is Tile:
        return {"tile": [list(value.tile_shape), value._transpose]}
    if _TYPES.get(kind.__name__) is kind:
        if issubclass(kind, enum.Enum):
            return {"enum": [kind.__name__, value.name]}
        if isinstance(value, JsonValue):
            return {"json": [kind.__name__, value.to_json()]}
        if kind is UnaryWithParam:
            return {"unary": [value.op_type.name, [number.hex() for number in value.params]]}
        if kind is CoreGrid:
            return {"grid": [value.x, value.y]}
        if dataclasses.is_dataclass(value):
            fields = [field.name for field in dataclasses.fields(value) if field.init]
            return {"fields": [kind.__name__, {name: as_plain(getattr(value, name), reference) for name in fields}]}
    raise ArgumentError(f"values of {kind.__module__}.{kind.__qualname__} have no plain form")


def from_plain(data: Any, reference: Callable[[str, Any], Any], depth: int = 0) -> Any:
    """Return the value of JSON data.

    Args:
        data: What `as_plain` returned, or something else.
        reference: Returns the value of a tag of its own; it raises `FileFormatError` if there is none.
        depth: How far the data is nested.

    Raises:
        FileFormatError: the data describes no value.
    """
    if depth > _MOST_NESTED:
        raise FileFormatError("a value is nested too far")
    if data is None or type(data) in (bool, int, str):
        return data
    if type(data) is list:
        return [from_plain(part, reference, depth + 1) for part in data]
    if type(data) is not dict or len(data) != 1:
        raise FileFormatError(f"a value cannot be {type(data).__name__}")
    ((tag, content),) = data.items()
    if tag not in _READERS:
        return reference(tag, content)
    try:
        return _READERS[tag](content, lambda part: from_plain(part, reference, depth + 1))
    except FileFormatError:
        raise
    except Exception as error:
        raise FileFormatError(f"{tag} has no value: {error}") from None


def _kind(name: str, base: type | None = None) -> type:
    kind = _TYPES[name]
    if base is not None and not issubclass(kind, base):
        raise FileFormatError(f"{name} is no {base.__name__}")
    return kind


def _enum(content: Any, _: Any) -> Any:
    name, member = content
    return _kind(name, enum.Enum)[member]  # type: ignore[index]


def _json(content: Any, _: Any) -> Any:
    name, text = content
    return _kind(name, JsonValue).from_json(text)  # type: ignore[attr-defined]


def _fields(content: Any, read: Callable[[Any], Any]) -> Any:
    name, fields = content
    kind = _kind(name)
    if not dataclasses.is_dataclass(kind):
        raise FileFormatError(f"{name} has no fields")
    return kind(**{field: read(value) for field, value in fields.items()})


def _tile(content: Any, _: Any) -> Any:
    (height, width), transposed = content
    return Tile((height, width), transposed)


_READERS: Final[dict[str, Callable[[Any, Callable[[Any], Any]], Any]]] = {
    "float": lambda content, _: float.fromhex(content),
    "tuple": lambda content, read: tuple(map(read, content)),
    "dict": lambda content, read: {read(key): read(value) for key, value in content},
    "shape": lambda content, _: Shape(content),
    "tile": _tile,
    "enum": _enum,
    "json": _json,
    "unary": lambda content, _: UnaryWithParam(op_enums.UnaryOpType[content[0]], *map(float.fromhex, content[1])),
    "grid": lambda content, _: CoreGrid(x=content[0], y=content[1]),
    "fields": _fields,
}
