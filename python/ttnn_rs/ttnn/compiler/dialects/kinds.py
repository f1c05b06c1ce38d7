"""Kinds of attributes in the tables: their checks and their defaults."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ttnn.compiler.dialects.spec import AttributeSpec
from ttnn.compiler.ir.attributes import DenseAttr, DialectAttr, ResourceAttr, SparseAttr
from ttnn.compiler.ir.xdsl_adapter import (
    AffineMapAttr,
    ArrayAttr,
    Attribute,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    SymbolRefAttr,
    TypeAttribute,
    UnitAttr,
    VerifyException,
)

__all__ = ["check_kind", "default_attribute", "f32_attr", "i32_array", "i32_attr", "integer", "si32_attr"]

_SIGNS = {"": Signedness.SIGNLESS, "s": Signedness.SIGNED, "u": Signedness.UNSIGNED}
_WORDS = {
    "bool": "bool attribute",
    "f32": "32-bit float attribute",
    "f64": "64-bit float attribute",
    "str": "string attribute",
    "unit": "unit attribute",
    "symbol": "symbol reference attribute",
    "elements": "constant vector/tensor attribute",
    "type": "any type attribute",
    "map": "AffineMap attribute",
    "dict": "dictionary of named attribute values",
    "index": "index attribute",
}


@cache
def _integer_kind(kind: str) -> IntegerType | None:
    sign, _, width = kind.partition("i")
    if sign in _SIGNS and width.isdigit():
        return IntegerType(int(width), _SIGNS[sign])
    return None


def _simple(kind: str, value: Attribute) -> bool | None:
    """Return whether a value has a kind; None if not builtin."""
    checks: dict[str, Callable[[Attribute], bool]] = {
        "bool": lambda v: isinstance(v, IntegerAttr) and v.type == IntegerType(1),
        "f32": lambda v: isinstance(v, FloatAttr) and v.type.name == "f32",
        "f64": lambda v: isinstance(v, FloatAttr) and v.type.name == "f64",
        "str": lambda v: isinstance(v, StringAttr),
        "unit": lambda v: isinstance(v, UnitAttr),
        "symbol": lambda v: isinstance(v, SymbolRefAttr),
        "elements": lambda v: isinstance(v, (DenseAttr, ResourceAttr, SparseAttr, DenseIntOrFPElementsAttr)),
        "type": lambda v: isinstance(v, TypeAttribute),
        "map": lambda v: isinstance(v, AffineMapAttr),
        "dict": lambda v: isinstance(v, DictionaryAttr),
        "index": lambda v: isinstance(v, IntegerAttr) and isinstance(v.type, IndexType),
        "any": lambda v: True,
    }
    if kind in checks:
        return checks[kind](value)
    integer_type = _integer_kind(kind)
    if integer_type is not None:
        return isinstance(value, IntegerAttr) and value.type == integer_type
    if kind.startswith("array<"):
        return isinstance(value, DenseArrayBase) and _element(value) == kind[6:-1]
    if kind.startswith("["):
        inner = kind[1:-1]
        return isinstance(value, ArrayAttr) and all(_simple(inner, one) is not False for one in value.data)
    if isinstance(value, DialectAttr) and not isinstance(value, (DenseAttr, ResourceAttr)):
        # Attributes of dialects are told apart by their own parsers; a wrong one is found by its name.
        return value.full_name().partition(".")[0] == kind.partition(".")[0] or None
    return False


def _element(value: DenseArrayBase) -> str:
    element = value.elt_type
    if isinstance(element, IntegerType):
        sign = {v: k for k, v in _SIGNS.items()}[element.signedness.data]
        return f"{sign}i{element.width.data}"
    return str(getattr(element, "name", ""))


_REPEATED = {
    "result.dtype": "ttcore.supportedDataTypes",
    "result.layout": "ttnn.layout",
    "result.memory_config": "ttnn.memory_config",
}


def check_kind(entry: AttributeSpec, value: Attribute) -> None:
    """Check the value of an attribute.

    Raises:
        VerifyException: It is not of the kind.
    """
    kinds = [_REPEATED.get(kind, kind) for kind in entry.kind.split("|")]
    if any(_simple(kind, value) is not False for kind in kinds):
        return
    raise VerifyException(
        f"attribute '{entry.name}' failed to satisfy constraint: {' or '.join(describe(kind) for kind in kinds)}"
    )


def describe(kind: str) -> str:
    """Return a kind as MLIR describes it."""
    if kind in _WORDS:
        return _WORDS[kind]
    integer_type = _integer_kind(kind)
    if integer_type is not None:
        word = {"": "signless", "s": "signed", "u": "unsigned"}[kind.partition("i")[0]]
        return f"{integer_type.width.data}-bit {word} integer attribute"
    if kind.startswith("array<"):
        return f"{kind[6:-1]} dense array attribute"
    if kind.startswith("["):
        return f"array of {describe(kind[1:-1])}"
    return f"#{kind}"


@cache
def default_attribute(entry: AttributeSpec) -> Attribute | None:
    """Return the default of an attribute, or None."""
    text = entry.default
    if text is None:
        return None
    kind = entry.kind.split("|")[0]
    if kind == "bool":
        return IntegerAttr(1 if text == "true" else 0, IntegerType(1))
    integer_type = _integer_kind(kind)
    if integer_type is not None:
        return IntegerAttr(int(text, 0), integer_type)
    if kind == "f32":
        return f32_attr(float(text))
    if kind == "str":
        return StringAttr("" if text == '""' else text)
    return None


def integer(value: int, kind: str) -> IntegerAttr:
    """Return an integer attribute of a kind, for example "si32"."""
    integer_type = _integer_kind(kind)
    assert integer_type is not None
    return IntegerAttr(value, integer_type)


def of_kind(value: Attribute, kind: str) -> Attribute:
    """Return a number in another kind of attribute; others unchanged."""
    if isinstance(value, IntegerAttr) and kind == "f32":
        return f32_attr(float(value.value.data))
    if isinstance(value, IntegerAttr) and _integer_kind(kind) is not None:
        return integer(value.value.data, kind)
    return value


def i32_attr(value: int) -> IntegerAttr:
    """Return an `i32` attribute."""
    return integer(value, "i32")


def si32_attr(value: int) -> IntegerAttr:
    """Return an `si32` attribute."""
    return integer(value, "si32")


def f32_attr(value: float) -> FloatAttr:
    """Return an `f32` attribute."""
    return FloatAttr(value, 32)


def i32_array(values: list[int] | tuple[int, ...]) -> DenseArrayBase:
    """Return `array<i32: ...>`."""
    return DenseArrayBase.from_list(IntegerType(32), list(values))
