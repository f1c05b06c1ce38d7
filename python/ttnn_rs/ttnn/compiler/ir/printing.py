"""The text of attributes, types and locations, with or without aliases."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ttnn.compiler.ir.affine import affine_text, set_text
from ttnn.compiler.ir.attributes import (
    PLAIN_TEXT,
    DenseAttr,
    DialectAttr,
    FileRangeLoc,
    ResourceAttr,
    SparseAttr,
    float_bits,
    float_text,
    shape_text,
)
from ttnn.compiler.ir.xdsl_adapter import (
    AffineMapAttr,
    AffineSetAttr,
    ArrayAttr,
    Attribute,
    BuiltinAttribute,
    BytesAttr,
    CallSiteLoc,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    DictionaryAttr,
    FileLineColLoc,
    FloatAttr,
    FunctionType,
    FusedLoc,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NameLoc,
    NoneAttr,
    NoneType,
    OpaqueAttr,
    Printer,
    Signedness,
    StridedLayoutAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    TupleType,
    TypeAttribute,
    UnitAttr,
    UnknownLoc,
    UnrankedMemRefType,
    UnrankedTensorType,
    UnregisteredAttr,
    VectorType,
)

__all__ = ["LOCAL", "LOCATIONS", "AttributeText", "attribute_text", "bare_or_quoted", "quote", "symbol_text"]

LOCATIONS = (UnknownLoc, FileLineColLoc, NameLoc, FusedLoc, CallSiteLoc, FileRangeLoc)
_BARE = re.compile(r"[a-zA-Z_][\w$.]*", re.ASCII)
_SYMBOL = re.compile(r"[a-zA-Z_][\w$.]*", re.ASCII)
_ESCAPED = re.compile(rb'[^\x20-\x7E]|[\\"]')
_BIT = IntegerType(1)
_SIGN = {Signedness.SIGNLESS: "i", Signedness.SIGNED: "si", Signedness.UNSIGNED: "ui"}


def quote(text: str | bytes) -> str:
    """Return a string literal with the escapes of MLIR."""
    raw = text.encode() if isinstance(text, str) else text
    return '"' + _ESCAPED.sub(_escape, raw).decode("ascii") + '"'


def _escape(found: re.Match[bytes]) -> bytes:
    byte = found.group()
    return rb"\\" if byte == b"\\" else b"\\%02X" % ord(byte)


def unquote(literal: str) -> str:
    """Return an MLIR string literal's text.

    Its escapes are a letter or two hexadecimal digits of a byte.

    Raises:
        ValueError: The bytes are no UTF-8.
    """
    named = {"n": b"\n", "t": b"\t", '"': b'"', "\\": b"\\"}
    parts = re.split(r'\\(["\\nt]|[0-9A-Fa-f]{2})', literal.strip()[1:-1])
    raw = [part.encode() for part in parts]
    raw[1::2] = [named.get(part) or bytes.fromhex(part) for part in parts[1::2]]
    return b"".join(raw).decode()


def bare_or_quoted(name: str) -> str:
    """Return a key of a dictionary: bare if it can be."""
    return name if _BARE.fullmatch(name) else quote(name)


def symbol_text(name: str) -> str:
    """Return `@name`, quoted if it must be."""
    return "@" + (name if _SYMBOL.fullmatch(name) else quote(name))


def fused_parts(location: FusedLoc) -> tuple[Attribute, ...]:
    """Return the locations of a fused location."""
    parts = location.locations
    return tuple(parts.data) if isinstance(parts, ArrayAttr) else ()


class AttributeText:
    """Text of attributes; the text of an attribute object is made once."""

    def __init__(self) -> None:
        self._cache: dict[int, tuple[Attribute, str]] = {}

    def attribute(self, attribute: Attribute) -> str:
        """Return the text of an attribute or type."""
        key = id(attribute)
        found = self._cache.get(key)
        if found is None:
            found = attribute, self.visit(attribute)
            self._cache[key] = found
        return found[1]

    def visit(self, attribute: Attribute) -> str:
        """Return the text of an attribute that was not printed before."""
        return self.full(attribute)

    def full(self, attribute: Attribute) -> str:
        """Return the text of an attribute itself, not its alias."""
        if isinstance(attribute, LOCATIONS):
            return f"loc({self.location(attribute)})"
        if isinstance(attribute, DenseAttr):
            return f"{self.dense(attribute)} : {self.attribute(attribute.type)}"
        if isinstance(attribute, ResourceAttr):
            return f"dense_resource<{bare_or_quoted(attribute.key)}> : {self.attribute(attribute.type)}"
        if isinstance(attribute, SparseAttr):
            return f"sparse<{attribute.text}> : {self.attribute(attribute.type)}"
        if isinstance(attribute, DialectAttr):
            sigil = "!" if attribute.is_type else "#"
            return f"{sigil}{attribute.full_name()}{attribute.body(self)}"
        if isinstance(attribute, UnregisteredAttr):
            sigil = "!" if attribute.is_type.data else "#"
            return f"{sigil}{attribute.attr_name.data}{attribute.value.data}"
        printer = _BUILTIN.get(type(attribute))
        if printer is not None:
            return printer(self, attribute)
        return self._foreign(attribute)

    def _foreign(self, attribute: Attribute) -> str:
        """Return the text of an attribute of a dialect of xdsl."""
        from io import StringIO

        out = StringIO()
        Printer(stream=out).print_attribute(attribute)
        return out.getvalue()

    def dictionary(self, entries: Mapping[str, Attribute]) -> str:
        """Return `{a = 1, b}` with the keys in order."""
        parts = []
        for name in sorted(entries):
            value = entries[name]
            text = bare_or_quoted(name)
            parts.append(text if isinstance(value, UnitAttr) else f"{text} = {self.attribute(value)}")
        return "{" + ", ".join(parts) + "}"

    def types(self, types: Iterable[Attribute]) -> str:
        """Return types with commas between."""
        return ", ".join(self.attribute(type_) for type_ in types)

    def results(self, types: Iterable[Attribute]) -> str:
        """Return a function type's results, parenthesized unless one."""
        all_types = tuple(types)
        if len(all_types) == 1 and not isinstance(all_types[0], FunctionType):
            return self.attribute(all_types[0])
        return f"({self.types(all_types)})"

    def location(self, location: Attribute) -> str:
        """Return what stands in `loc(...)`."""
        if isinstance(location, FileLineColLoc):
            return f"{quote(location.filename.data)}:{location.line.data}:{location.column.data}"
        if isinstance(location, NameLoc):
            child = location.location
            nested = "" if isinstance(child, (NoneAttr, UnknownLoc)) else f"({self.nested_location(child)})"
            return quote(location.desc.data) + nested
        if isinstance(location, FusedLoc):
            meta = "" if isinstance(location.metadata, NoneAttr) else f"<{self.attribute(location.metadata)}>"
            return f"fused{meta}[" + ", ".join(self.nested_location(one) for one in fused_parts(location)) + "]"
        if isinstance(location, CallSiteLoc):
            return f"callsite({self.nested_location(location.callee)} at {self.nested_location(location.caller)})"
        if isinstance(location, FileRangeLoc):
            return f"{quote(location.file)}:{location.line}:{location.column} to {location.end}"
        return "unknown"

    def nested_location(self, location: Attribute) -> str:
        """Return a location inside another one."""
        return self.location(location)

    def dense(self, attribute: DenseAttr) -> str:
        """Return `dense<...>` without the type."""
        if not attribute.data:
            return "dense<>"
        if attribute.as_hex:
            return f'dense<"0x{_packed(attribute).hex().upper()}">'
        texts = _element_texts(attribute)
        if attribute.splat:
            return f"dense<{texts[0]}>"
        for size in reversed(attribute.shape):
            texts = ["[" + ", ".join(texts[i : i + size]) + "]" for i in range(0, len(texts), size)]
        return f"dense<{texts[0]}>"

    def number(self, value: float, element: Attribute) -> str:
        """Return a float of an element type."""
        return float_text(value, getattr(element, "name", "f64"))


def _packed(attribute: DenseAttr) -> bytes:
    """Return a hex blob's bytes: truth values have one bit each."""
    if attribute.element_type != _BIT or attribute.splat:
        return attribute.data
    import numpy as np

    return np.packbits(np.frombuffer(attribute.data, np.uint8), bitorder="little").tobytes()


def _element_texts(attribute: DenseAttr) -> list[str]:
    element = attribute.element_type
    values = attribute.elements().tolist()
    if isinstance(element, IntegerType):
        return ["true" if v else "false" for v in values] if element.width.data == 1 else [str(v) for v in values]
    if isinstance(element, IndexType):
        return [str(v) for v in values]
    if isinstance(element, ComplexType):
        inner = getattr(element.element_type, "name", "f64")
        return [f"({float_text(v.real, inner)},{float_text(v.imag, inner)})" for v in values]
    name = getattr(element, "name", "f64")
    seen: dict[float, str] = {}
    texts = []
    for value in values:
        if value != value or value in (float("inf"), float("-inf")):
            texts.append(float_bits(value, name))
            continue
        if value == 0:
            texts.append(float_text(value, name))
            continue
        text = seen.get(value)
        if text is None:
            text = seen[value] = float_text(value, name)
        texts.append(text)
    return texts


def _integer(printer: AttributeText, attribute: Any) -> str:
    if attribute.type == _BIT:
        return "true" if attribute.value.data else "false"
    if isinstance(attribute.type, IndexType):
        return f"{attribute.value.data} : index"
    return f"{attribute.value.data} : {printer.attribute(attribute.type)}"


def _shaped(printer: AttributeText, attribute: Any) -> str:
    dims = shape_text(attribute.get_shape())
    return (dims + "x" if dims else "") + printer.attribute(attribute.element_type)


def _tensor(printer: AttributeText, attribute: Any) -> str:
    text = _shaped(printer, attribute)
    if not isinstance(attribute.encoding, NoneAttr):
        text += ", " + printer.attribute(attribute.encoding)
    return f"tensor<{text}>"


def _memref(printer: AttributeText, attribute: Any) -> str:
    text = _shaped(printer, attribute)
    if not isinstance(attribute.layout, NoneAttr):
        text += ", " + printer.attribute(attribute.layout)
    if not isinstance(attribute.memory_space, NoneAttr):
        text += ", " + printer.attribute(attribute.memory_space)
    return f"memref<{text}>"


def _vector(printer: AttributeText, attribute: Any) -> str:
    scalable = [bool(flag.value.data) for flag in attribute.scalable_dims.data]
    dims = [f"[{n}]" if flag else str(n) for n, flag in zip(attribute.get_shape(), scalable, strict=True)]
    return "vector<" + "".join(d + "x" for d in dims) + printer.attribute(attribute.element_type) + ">"


def _array(printer: AttributeText, attribute: Any) -> str:
    return "[" + ", ".join(printer.attribute(one) for one in attribute.data) + "]"


def _dense_array(printer: AttributeText, attribute: Any) -> str:
    element = attribute.elt_type
    values = attribute.get_values()
    if isinstance(element, IntegerType):
        width = element.width.data
        texts = ["true" if v else "false" for v in values] if width == 1 else [str(v) for v in values]
    else:
        texts = [printer.number(v, element) for v in values]
    return f"array<{printer.attribute(element)}" + (": " + ", ".join(texts) if texts else "") + ">"


def _float(printer: AttributeText, attribute: Any) -> str:
    text = printer.number(attribute.value.data, attribute.type)
    return f"{text} : {printer.attribute(attribute.type)}" if attribute.type.name != "f64" else text


def _symbol(_: AttributeText, attribute: Any) -> str:
    names = [attribute.root_reference.data, *(one.data for one in attribute.nested_references.data)]
    return "::".join(symbol_text(name) for name in names)


def _function(printer: AttributeText, attribute: Any) -> str:
    return f"({printer.types(attribute.inputs.data)}) -> {printer.results(attribute.outputs.data)}"


def _strided(_: AttributeText, attribute: Any) -> str:
    strides = ", ".join("?" if isinstance(s, NoneAttr) else str(s.data) for s in attribute.strides.data)
    offset = "?" if isinstance(attribute.offset, NoneAttr) else str(attribute.offset.data)
    return f"strided<[{strides}]" + (f", offset: {offset}" if offset != "0" else "") + ">"


def _integer_type(_: AttributeText, attribute: Any) -> str:
    return f"{_SIGN[attribute.signedness.data]}{attribute.width.data}"


def _opaque(printer: AttributeText, attribute: Any) -> str:
    kind = "" if isinstance(attribute.type, NoneAttr) else f" : {printer.attribute(attribute.type)}"
    return f"opaque<{quote(attribute.ident.data)}, {quote(attribute.value.data)}>{kind}"


def _xdsl_dense(printer: AttributeText, attribute: Any) -> str:
    values = list(attribute.get_values())
    element = attribute.type.element_type
    texts = [str(v) if isinstance(element, (IntegerType, IndexType)) else printer.number(v, element) for v in values]
    for size in reversed(attribute.type.get_shape()):
        texts = ["[" + ", ".join(texts[i : i + size]) + "]" for i in range(0, len(texts), size)]
    return f"dense<{texts[0] if texts else ''}> : {printer.attribute(attribute.type)}"


_BUILTIN: dict[type, Callable[[AttributeText, Any], str]] = {
    IntegerAttr: _integer,
    FloatAttr: _float,
    StringAttr: lambda _, a: quote(a.data),
    BytesAttr: lambda _, a: quote(a.data),
    UnitAttr: lambda _, a: "unit",
    ArrayAttr: _array,
    DenseArrayBase: _dense_array,
    DictionaryAttr: lambda p, a: p.dictionary(a.data),
    SymbolRefAttr: _symbol,
    AffineMapAttr: lambda _, a: f"affine_map<{affine_text(a.data)}>",
    AffineSetAttr: lambda _, a: f"affine_set<{set_text(a.data)}>",
    StridedLayoutAttr: _strided,
    OpaqueAttr: _opaque,
    DenseIntOrFPElementsAttr: _xdsl_dense,
    DenseResourceAttr: lambda p, a: f"dense_resource<{a.resource_handle.data}> : {p.attribute(a.type)}",
    IntegerType: _integer_type,
    IndexType: lambda _, a: "index",
    NoneType: lambda _, a: "none",
    NoneAttr: lambda _, a: "none",
    IntAttr: lambda _, a: str(a.data),
    TensorType: _tensor,
    UnrankedTensorType: lambda p, a: f"tensor<*x{p.attribute(a.element_type)}>",
    MemRefType: _memref,
    UnrankedMemRefType: lambda p, a: (
        f"memref<*x{p.attribute(a.element_type)}"
        + ("" if isinstance(a.memory_space, NoneAttr) else f", {p.attribute(a.memory_space)}")
        + ">"
    ),
    VectorType: _vector,
    TupleType: lambda p, a: f"tuple<{p.types(a.types.data)}>",
    ComplexType: lambda p, a: f"complex<{p.attribute(a.element_type)}>",
    FunctionType: _function,
}


def _is_float_type(attribute: Attribute) -> bool:
    return isinstance(attribute, TypeAttribute) and isinstance(attribute, BuiltinAttribute)


class _Local(AttributeText):
    """Text without aliases and without a cache, for messages."""

    def attribute(self, attribute: Attribute) -> str:
        return self.full(attribute)

    def _foreign(self, attribute: Attribute) -> str:
        return attribute.name if _is_float_type(attribute) else super()._foreign(attribute)


LOCAL = _Local()


def attribute_text(attribute: Attribute) -> str:
    """Return the text of an attribute or type without aliases."""
    return LOCAL.attribute(attribute)


PLAIN_TEXT.append(attribute_text)
