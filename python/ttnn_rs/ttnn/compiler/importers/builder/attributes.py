"""Python values as attributes, by the kinds of the tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, cast

from ttnn.base.exceptions import EngineBugError
from ttnn.compiler.dialects.attributes import EnumAttr
from ttnn.compiler.dialects.enums import ENUMS
from ttnn.compiler.dialects.kinds import f32_attr, integer
from ttnn.compiler.dialects.spec import AttributeSpec
from ttnn.compiler.importers.builder.types import dense, scalar
from ttnn.compiler.ir.xdsl_adapter import ArrayAttr, Attribute, DenseArrayBase, IntegerType, StringAttr

__all__ = ["attribute"]


def _array(kind: str, value: Any) -> Attribute | None:
    if isinstance(value, (str, int, float)) or not isinstance(value, Sequence):
        return None
    element = scalar(kind[6:-1])
    assert isinstance(element, IntegerType)
    return cast("Attribute", DenseArrayBase.from_list(element, [int(one) for one in value]))


def _list(kind: str, value: Any) -> Attribute | None:
    if isinstance(value, (str, int, float)) or not isinstance(value, Sequence):
        return None
    return ArrayAttr([integer(int(one), kind[1:-1]) for one in value])


def _number(kind: str, value: Any) -> Attribute | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return integer(value, kind)
    return None


def _elements(kind: str, value: Any) -> Attribute | None:
    del kind
    import numpy as np

    return dense(np.asarray(value), IntegerType(64))


_SIMPLE: Final[dict[str, Callable[[Any], Attribute | None]]] = {
    "bool": lambda v: integer(int(v), "i1") if isinstance(v, (bool, int)) else None,
    "f32": lambda v: f32_attr(float(v)) if isinstance(v, (int, float)) and not isinstance(v, bool) else None,
    "str": lambda v: StringAttr(v) if isinstance(v, str) else None,
}


def _of_kind(kind: str, value: Any) -> Attribute | None:
    """Return a value as an attribute of one kind, or None."""
    if kind in _SIMPLE:
        return _SIMPLE[kind](value)
    if kind in ENUMS:
        return EnumAttr(kind, value) if value in ENUMS[kind] else None
    if kind == "elements":
        return _elements(kind, value)
    if kind.startswith("array<"):
        return _array(kind, value)
    return _list(kind, value) if kind.startswith("[") else _number(kind, value)


def attribute(operation: str, spec: AttributeSpec, value: Any) -> Attribute:
    """Return a Python value as an attribute of an operation.

    Of several kinds the first one that the value has is chosen; numbers with a fraction are floats.

    Raises:
        EngineBugError: The value has none of the kinds.
    """
    if isinstance(value, Attribute):
        return value
    kinds = spec.kind.split("|")
    if "f32" in kinds and "i32" in kinds:
        kinds = ["f32" if isinstance(value, float) else "i32"]
    for kind in kinds:
        made = _of_kind(kind, value)
        if made is not None:
            return made
    raise EngineBugError(f"{operation}: attribute {spec.name} is {spec.kind}, got {value!r}.")
