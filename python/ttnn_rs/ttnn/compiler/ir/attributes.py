"""Attributes that xdsl lacks, or has in a costly form."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from ttnn.compiler.ir.xdsl_adapter import (
    Attribute,
    ComplexType,
    IndexType,
    IntegerType,
    MemRefType,
    Signedness,
    TensorType,
    TypeAttribute,
    VectorType,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "AttributePrinter",
    "DenseAttr",
    "DialectAttr",
    "FileRangeLoc",
    "OpaqueDialectAttr",
    "OpaqueDialectType",
    "ResourceAttr",
    "SparseAttr",
    "element_format",
    "shape_text",
]


class AttributePrinter(Protocol):
    """Printer of nested attributes: by their alias if they have one."""

    def attribute(self, attribute: Attribute) -> str:
        """Return the text of an attribute or type."""


PLAIN_TEXT: list[Callable[[Attribute], str]] = []
"""Function that prints an attribute without aliases, set by printing."""


@dataclass(frozen=True)
class DialectAttr(Attribute):
    """Base of self-printing attributes and types: `#name` and `body`."""

    name: ClassVar[str] = ""
    is_type: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self.verify()

    def body(self, printer: AttributePrinter) -> str:
        """Return the text from `<` to `>`; empty without parameters."""
        del printer
        return ""

    def full_name(self) -> str:
        """Return `dialect.mnemonic`."""
        return self.name

    def __str__(self) -> str:
        return PLAIN_TEXT[0](self) if PLAIN_TEXT else self.full_name()


@dataclass(frozen=True)
class OpaqueDialectAttr(DialectAttr):
    """An attribute of known text only.

    Attributes that it names by an alias are kept as attributes.

    Attributes:
        mnemonic: `dialect.mnemonic`.
        parts: Text and attributes in turn; together the text after the name.
    """

    mnemonic: str
    parts: tuple[str | Attribute, ...]
    pretty: bool = True

    def full_name(self) -> str:
        """Return `dialect.mnemonic`."""
        return self.mnemonic

    def body(self, printer: AttributePrinter) -> str:
        """Return the text after the name."""
        return "".join(part if isinstance(part, str) else printer.attribute(part) for part in self.parts)


@dataclass(frozen=True)
class OpaqueDialectType(OpaqueDialectAttr, TypeAttribute):
    """A type of which only the text is known."""

    is_type: ClassVar[bool] = True


@dataclass(frozen=True)
class FileRangeLoc(DialectAttr):
    """A location that is a range of a file: `"file":1:2 to 3:4`."""

    name: ClassVar[str] = "builtin.file_range"
    file: str
    line: int
    column: int
    end: str


def element_format(element: Attribute) -> str | None:
    """Return an element type's numpy name; None without fixed size."""
    name = getattr(element, "name", "")
    if isinstance(element, IndexType):
        return "int64"
    if isinstance(element, IntegerType):
        width = element.width.data
        if width == 1:
            return "bool"
        size = max(8, 1 << (width - 1).bit_length())
        if size > 64:
            return None
        return f"{'uint' if element.signedness.data is Signedness.UNSIGNED else 'int'}{size}"
    return {
        "bf16": "bfloat16",
        "f16": "float16",
        "f32": "float32",
        "f64": "float64",
        "f8E4M3FN": "float8_e4m3fn",
        "f8E5M2": "float8_e5m2",
        "f8E4M3": "float8_e4m3",
        "f8E3M4": "float8_e3m4",
        "f8E8M0FNU": "float8_e8m0fnu",
        "f8E4M3FNUZ": "float8_e4m3fnuz",
        "f8E5M2FNUZ": "float8_e5m2fnuz",
        "f8E4M3B11FNUZ": "float8_e4m3b11fnuz",
    }.get(name)


@dataclass(frozen=True)
class DenseAttr(DialectAttr):
    """`dense<...>`: the elements as bytes; of a splat only one element.

    Attributes:
        type: Tensor, vector or memref type with a static shape.
        data: Elements in row-major order, little endian; one byte per `i1`.
        splat: Whether `data` is one element that stands for all.
        as_hex: Whether the text was a hex blob; it is printed as one again.
    """

    name: ClassVar[str] = "builtin.dense"
    type: TensorType[Any] | VectorType[Any] | MemRefType[Any]
    data: bytes
    splat: bool
    as_hex: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the type."""
        return tuple(self.type.get_shape())

    @property
    def element_type(self) -> Attribute:
        """The type of an element."""
        element: Attribute = self.type.element_type
        return element

    def elements(self) -> NDArray[Any]:
        """Return the stored elements: one of a splat, else all, flat."""
        import ml_dtypes
        import numpy as np

        name = element_format(self.element_type)
        if isinstance(self.element_type, ComplexType):
            inner = element_format(self.element_type.element_type)
            return np.frombuffer(self.data, dtype={"float32": "complex64"}.get(inner or "", "complex128"))
        assert name is not None
        dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name, None) or name)
        return np.frombuffer(self.data, dtype=dtype)

    def to_numpy(self) -> NDArray[Any]:
        """Return all elements in shape.

        A splat is a broadcast view that needs no memory.
        """
        import numpy as np

        stored = self.elements()
        if self.splat:
            return np.broadcast_to(stored[0] if stored.size else stored, self.shape)
        return stored.reshape(self.shape)

    def ints(self) -> tuple[int, ...]:
        """Return the elements as Python integers, splats expanded."""
        values = [int(value) for value in self.elements()]
        return tuple(values * math.prod(self.shape)) if self.splat else tuple(values)


@dataclass(frozen=True)
class ResourceAttr(DialectAttr):
    """`dense_resource<key>`: the bytes stand in the resource section of the file."""

    name: ClassVar[str] = "builtin.dense_resource"
    key: str
    type: Attribute


@dataclass(frozen=True)
class SparseAttr(DialectAttr):
    """`sparse<indices, values>`, kept as written.

    It has the elements that are not zero; no operation has one.
    """

    name: ClassVar[str] = "builtin.sparse"
    text: str
    type: Attribute


def shape_text(shape: Sequence[int]) -> str:
    """Return `2x?x4`."""
    return "x".join("?" if size < 0 else str(size) for size in shape)


def float_text(value: float, element: str) -> str:
    """Return a float as MLIR prints it.

    Six digits if they are exact, else as many as needed.
    """
    if math.isinf(value) or math.isnan(value):
        return float_bits(value, element)
    value = _rounded(value, element)
    if math.isinf(value):
        return float_bits(value, element)
    text = _six_digits(value)
    if _rounded(float(text), element) == value:
        return text
    precision = {"f32": 24, "f64": 53, "bf16": 8, "f16": 11, "tf32": 11}.get(element, 53)
    digits = 2 + precision * 59 // 196
    sign = "-" if value < 0 else ""
    significand, low = _cut(value, digits)
    short = significand.rstrip("0") or "0"
    low += len(significand) - len(short)
    significand = short
    top = low + len(significand) - 1
    if low >= 0:
        scientific = low > 3 or len(significand) + low > digits
        plain = significand + "0" * low + ".0"
    else:
        scientific = top < 0 and -top > 3
        plain = (
            significand[: top + 1] + "." + significand[top + 1 :] if top >= 0 else "0." + "0" * (-top - 1) + significand
        )
    if scientific:
        tail = significand[1:] or "0"
        exponent_sign = "-" if top < 0 else "+"
        return f"{sign}{significand[0]}.{tail}E{exponent_sign}{abs(top)}"
    return sign + plain


def _cut(value: float, count: int) -> tuple[str, int]:
    """Return about `count` significant digits and the last one's exponent.

    It is a power of ten.

    Digits are first cut off so that about as many are left, then rounded: six of 0.01 as f32 are 9.99999e-03.
    """
    numerator, denominator = abs(value).as_integer_ratio()
    exponent = 1 - denominator.bit_length()
    digits = numerator * 5**-exponent
    bits, needed = digits.bit_length(), (count * 196 + 58) // 59
    if bits > needed:
        drop = (bits - needed) * 59 // 196
        digits //= 10**drop
        exponent += drop
    text = str(digits)
    if len(text) > count:
        drop = len(text) - count
        text = str(int(text[:count]) + (text[count] >= "5"))
        exponent += drop
    return text, exponent


def _six_digits(value: float) -> str:
    """Return a float with six significant digits and a trailing zero."""
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    text, exponent = _cut(value, 6)
    top = exponent + len(text) - 1 if text != "0" else 0
    text = (text + "000000")[:6]
    return f"{sign}{text[0]}.{text[1:]}0e{'-' if top < 0 else '+'}{abs(top):02d}"


def float_bits(value: float, element: str) -> str:
    """Return a float's bits in hex, for infinities and NaN.

    MLIR prints these that way.
    """
    import ml_dtypes
    import numpy as np

    name = {"bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64"}.get(element, "float64")
    dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name, None) or name)
    raw = np.asarray(value, dtype=dtype).tobytes()[::-1]
    return "0x" + raw.hex().upper()


def _rounded(value: float, element: str) -> float:
    """Return a float rounded to an element type."""
    if element == "f64":
        return value
    if element == "f32":
        try:
            rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
        except OverflowError:
            return math.inf
        return rounded
    import ml_dtypes
    import numpy as np

    dtype = {"bf16": ml_dtypes.bfloat16, "f16": np.float16}.get(element)
    return float(np.asarray(value).astype(dtype)) if dtype is not None else value
