"""Operator configurations: attributes to tables, and tables to `ttnn` objects."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from ttnn.compiler.conversion.ttnn_to_calls.calls import Argument, Name, New
from ttnn.compiler.conversion.ttnn_to_calls.descriptions import dtype_name
from ttnn.compiler.target.flatbuffer.schema import Enum, Scalar, Struct, Table, Type, Vector

__all__ = [
    "attention_config",
    "configuration_table",
    "conv2d_config",
    "conv3d_config",
    "core_ranges",
    "program_config",
    "split_top",
]

EnumName = Callable[[Enum, str], str]
"""The binaries' enumeration name for an attribute's word."""
_COORDINATE: Final = "CoreCoord"
_CORES: Final = "CoreRangeSet"


def split_top(text: str) -> list[str]:
    """Return a text's parts between unbracketed commas, stripped."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        if character in "<[(":
            depth += 1
        elif character in ">])":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [part for part in (one.strip() for one in [*parts, text[start:]]) if part]


def configuration_table(kind: Table, text: str, enum: EnumName) -> dict[str, Any]:
    """Return the table of `#ttnn.name<key = value, ..>`.

    Or of `<value, ..>` in the order of its fields.

    Raises:
        ValueError: A part has no form in the table; the message is the part.
    """
    body = text[text.index("<") + 1 : text.rindex(">")] if "<" in text else ""
    values: dict[str, Any] = {}
    order = list(kind.by_name)
    for index, part in enumerate(split_top(body)):
        named = re.match(r"(\w+)\s*=\s*", part)
        key, word = (named.group(1), part[named.end() :]) if named else (order[min(index, len(order) - 1)], part)
        field = kind.by_name.get(key)
        if field is None:
            raise ValueError(part)
        try:
            values[key] = _value(field.type, word, enum)
        except ValueError:
            raise ValueError(part) from None
    return values


def _value(kind: Type, word: str, enum: EnumName) -> Any:
    if isinstance(kind, Enum):
        return enum(kind, re.sub(r"^#?[\w.]*<|>$", "", word))
    if isinstance(kind, Scalar):
        return _scalar(kind, word)
    if isinstance(kind, Vector) and isinstance(kind.element, Scalar):
        element = kind.element
        return [_scalar(element, part) for part in split_top(word.strip()[1:-1])]
    if isinstance(kind, Struct) and kind.name.endswith(_COORDINATE):
        numbers = [int(one) for one in re.findall(r"\d+", word.partition("<")[2])]
        if len(numbers) != 2:
            raise ValueError(word)
        # A grid has rows and columns, a coordinate x and y.
        x, y = reversed(numbers) if "grid" in word else numbers
        return {"x": x, "y": y}
    if isinstance(kind, Table) and kind.name.endswith(_CORES):
        return core_ranges(word)
    if isinstance(kind, Table):
        return configuration_table(kind, word, enum)
    raise ValueError(word)


def core_ranges(word: str) -> dict[str, Any]:
    """Return the table of `#ttnn.core_range_set<[..]>`."""
    corners = [{"x": int(x), "y": int(y)} for x, y in re.findall(r"\((\d+),\s*(\d+)\)", word)]
    pairs = zip(corners[::2], corners[1::2], strict=True)
    return {"core_ranges": [{"start_coord": first, "end_coord": last} for first, last in pairs]}


def _scalar(kind: Scalar, word: str) -> float | int | bool:
    number = word.partition(" : ")[0].strip()
    if kind.code == "?":
        if number not in ("true", "false"):
            raise ValueError(word)
        return number == "true"
    return float(number) if kind.code in "fd" else int(number)


#: Fields of tables whose argument has another name.
_ARGUMENTS: Final = {
    "per_core_m": "per_core_M",
    "per_core_n": "per_core_N",
    "t_out_block": "T_out_block",
    "w_out_block": "W_out_block",
    "h_out_block": "H_out_block",
    "c_out_block": "C_out_block",
    "c_in_block": "C_in_block",
}


def _coordinate(table: dict[str, Any]) -> New:
    return New("ttnn.CoreCoord", (int(table["x"]), int(table["y"])))


def _argument(value: Any) -> Argument:
    """Return the argument that a field stands for."""
    if not isinstance(value, dict):
        return value
    if "op_type" in value:
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", str(value["op_type"])).upper()
        numbers = [float(one) for one in value.get("params", [])]
        return New("ttnn.UnaryWithParam", (Name(f"ttnn.UnaryOpType.{name}"), *numbers))
    if set(value) == {"x", "y"}:
        return _coordinate(value)
    ranges = [
        New("ttnn.CoreRange", (_coordinate(one["start_coord"]), _coordinate(one["end_coord"])))
        for one in value.get("core_ranges", [])
    ]
    return New("ttnn.CoreRangeSet", (ranges,))


def _object(path: str, table: dict[str, Any]) -> New:
    return New(path, (), tuple((_ARGUMENTS.get(name, name), _argument(value)) for name, value in table.items()))


def program_config(member: str, table: dict[str, Any]) -> New:
    """Return a matmul's program configuration; `member` names its table."""
    # Only products that gather their first operand have receivers and hops; others are written with none.
    empty = {"num_global_cb_receivers": 0, "hop_cores": {"core_ranges": []}}
    kept = {name: value for name, value in table.items() if name not in empty or value not in (empty[name], {})}
    return _object(f"ttnn.{member}", kept)


def attention_config(table: dict[str, Any] | None) -> New | None:
    """Return an attention's program configuration, or None for the default."""
    if not table:
        return None
    return _object("ttnn.SDPAProgramConfig", {name: value for name, value in table.items() if value not in (None, {})})


def conv2d_config(table: dict[str, Any]) -> New | None:
    """Return an image convolution's configuration, or None for an empty one."""
    return _with_weights("ttnn.Conv2dConfig", table) if table else None


def conv3d_config(table: dict[str, Any]) -> New:
    """Return the configuration of a convolution of volumes."""
    return _with_weights("ttnn.Conv3dConfig", table)


def _with_weights(path: str, table: dict[str, Any]) -> New:
    """Return a configuration that may name the data type of weights."""
    made = _object(path, {name: value for name, value in table.items() if name != "weights_dtype"})
    if "weights_dtype" not in table:
        return made
    return New(made.path, (), (*made.keywords, ("weights_dtype", dtype_name(table["weights_dtype"]))))
