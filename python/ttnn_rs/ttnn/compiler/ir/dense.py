"""`dense<...>`: lists, splats and hex blobs.

A splat stays one element, whatever the size of its type.
"""

from __future__ import annotations

import math
import re
import struct
from typing import Any

from ttnn.compiler.ir.attributes import DenseAttr, SparseAttr, element_format
from ttnn.compiler.ir.interfaces import ParserLike
from ttnn.compiler.ir.xdsl_adapter import (
    Attribute,
    ComplexType,
    IndexType,
    IntegerType,
    MemRefType,
    MLIRTokenKind,
    Signedness,
    TensorType,
    VectorType,
)
from ttnn.compiler.limits import shortened

__all__ = ["parse_dense", "parse_sparse"]

_BODY = re.compile(r"[^\">]*")
_PIECE = re.compile(r"\s*(?:(\[)|(\])|(,)|(\()|(\))|([-+]?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\w+)))")
_SPARSE = re.compile(r"[-+\w\s.,\[\]()]*")
_FLOAT = re.compile(r"-?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\d+)")
_HEX = re.compile(r"-?0x[0-9a-fA-F]+")


def parse_dense(parser: ParserLike) -> DenseAttr:
    """Parse what follows the word `dense`."""
    start = parser._current_token.span
    if parser._current_token.kind != MLIRTokenKind.LESS:
        parser.fail("expected '<' after 'dense'")
    first = _next_char(parser._text, start.end)
    if first == '"':
        parser.parse_punctuation("<")
        token = parser._current_token
        text = token.text[1:-1]
        parser._consume_token()
        parser.parse_punctuation(">", " after the dense literal")
        type_ = _type(parser)
        return _from_hex(parser, text, type_, token.span)
    found = _BODY.match(parser._text, start.end)
    assert found is not None
    end = found.end()
    if parser._text[end : end + 1] != ">":
        parser.fail("expected '>' after the dense literal", end if end < len(parser._text) else start)
    body = parser._text[start.end : end]
    parser._resume_from(end + 1)
    type_ = _type(parser)
    return _from_text(parser, body, type_, start)


def parse_sparse(parser: ParserLike) -> SparseAttr:
    """Parse what follows the word `sparse`."""
    start = parser._current_token.span
    if parser._current_token.kind != MLIRTokenKind.LESS:
        parser.fail("expected '<' after 'sparse'")
    found = _BODY.match(parser._text, start.end)
    assert found is not None
    end = found.end()
    body = parser._text[start.end : end]
    if parser._text[end : end + 1] != ">" or not _SPARSE.fullmatch(body):
        parser.fail("expected indices, values and '>' in a sparse literal", end if end < len(parser._text) else start)
    parser._resume_from(end + 1)
    return SparseAttr(" ".join(body.split()), _type(parser))


def _next_char(text: str, at: int) -> str:
    while at < len(text) and text[at].isspace():
        at += 1
    return text[at : at + 1]


def _type(parser: ParserLike) -> Any:
    parser.parse_punctuation(":", " before the type of a dense literal")
    at = parser._current_token.span
    type_ = parser.parse_type()
    if not isinstance(type_, (TensorType, VectorType, MemRefType)) or any(size < 0 for size in type_.get_shape()):
        parser.fail("dense literal must have a tensor, vector or memref type of static shape", at)
    element = type_.element_type
    if not isinstance(element, ComplexType) and element_format(element) is None:
        parser.fail(f"elements of a dense literal cannot be of type {getattr(element, 'name', element)}", at)
    return type_


def _size(element: Attribute) -> int:
    if isinstance(element, ComplexType):
        return 2 * _size(element.element_type)
    name = element_format(element) or "float64"
    digits = re.search(r"\d+", name)
    if name == "bool" or name.startswith("float8"):
        return 1
    return int(digits.group()) // 8 if digits else 8


def _from_hex(parser: ParserLike, text: str, type_: Any, at: Any) -> DenseAttr:
    try:
        if not text.startswith("0x"):
            raise ValueError
        data = bytes.fromhex(text[2:])
    except ValueError:
        parser.fail('elements hex string should start with "0x" and have an even number of digits', at)
    count = math.prod(type_.get_shape())
    size = _size(type_.element_type)
    if isinstance(type_.element_type, IntegerType) and type_.element_type.width.data == 1:
        bits = (count + 7) // 8
        if len(data) == bits and count != 1:
            import numpy as np

            unpacked = np.unpackbits(np.frombuffer(data, np.uint8), count=count, bitorder="little")
            return DenseAttr(type_, unpacked.tobytes(), splat=False, as_hex=True)
    if len(data) == size:
        return DenseAttr(type_, data, splat=count != 1, as_hex=True)
    if len(data) != size * count:
        parser.fail(f"elements hex data size is invalid for provided type: {len(data)} bytes for {count} elements", at)
    return DenseAttr(type_, data, splat=False, as_hex=True)


def _from_text(parser: ParserLike, body: str, type_: Any, at: Any) -> DenseAttr:
    element = type_.element_type
    stripped = body.strip()
    shape = tuple(type_.get_shape())
    count = math.prod(shape)
    if not stripped:
        if count:
            parser.fail("expected elements of the dense literal", at)
        return DenseAttr(type_, b"", splat=False)
    if stripped[0] != "[" and not isinstance(element, ComplexType):
        return DenseAttr(type_, _encode(parser, [stripped], element, at), splat=True)
    values, found_shape = _nested(parser, stripped, at)
    if not found_shape:
        return DenseAttr(type_, _encode(parser, values, element, at), splat=True)
    if found_shape != list(shape):
        parser.fail(f"inferred shape of elements literal ({found_shape}) does not match type ({list(shape)})", at)
    data = _encode(parser, values, element, at)
    size = len(data) // max(count, 1)
    # MLIR keeps a list of equal elements as a splat, and prints it as one.
    if count > 1 and data == data[:size] * count and not isinstance(element, ComplexType):
        return DenseAttr(type_, data[:size], splat=True)
    if count == 1 and shape:
        return DenseAttr(type_, data, splat=True)
    return DenseAttr(type_, data, splat=False)


def _nested(parser: ParserLike, text: str, at: Any) -> tuple[list[str], list[int]]:
    """Return the elements of nested lists and the shape of the nesting."""
    values: list[str] = []
    counts: list[int] = []
    shape: dict[int, int] = {}
    depth = position = 0
    leaf: int | None = None
    expect_value = True
    while position < len(text):
        found = _PIECE.match(text, position)
        if found is None:
            if not text[position:].strip():
                break
            parser.fail(f"unexpected text in dense literal: {text[position : position + 10]!r}", at)
        position = found.end()
        if found.group(1):
            if counts:
                counts[-1] += 1
            counts.append(0)
            depth += 1
            expect_value = True
        elif found.group(2):
            if not counts or (expect_value and counts[-1]):
                parser.fail("unexpected ']' in dense literal", at)
            size = counts.pop()
            if shape.setdefault(depth, size) != size:
                parser.fail("tensor literal is invalid; ranks are not consistent between elements", at)
            depth -= 1
            expect_value = False
        elif found.group(3):
            if expect_value:
                parser.fail("unexpected ',' in dense literal", at)
            expect_value = True
        elif found.group(4):
            close = text.find(")", position)
            if close < 0:
                parser.fail("expected ')' in dense literal", at)
            values.append(text[position:close])
            position = close + 1
            leaf = _leaf(parser, leaf, depth, counts, at)
            expect_value = False
        elif found.group(6):
            if not expect_value:
                parser.fail("expected ',' between elements of a dense literal", at)
            values.append(found.group(6))
            leaf = _leaf(parser, leaf, depth, counts, at)
            expect_value = False
        else:
            parser.fail("unexpected ')' in dense literal", at)
    if depth:
        parser.fail("expected ']' in dense literal", at)
    return values, [shape[level] for level in sorted(shape)]


def _leaf(parser: ParserLike, leaf: int | None, depth: int, counts: list[int], at: Any) -> int:
    if counts:
        counts[-1] += 1
    if leaf is not None and leaf != depth:
        parser.fail("tensor literal is invalid; ranks are not consistent between elements", at)
    return depth


def _encode(parser: ParserLike, values: list[str], element: Attribute, at: Any) -> bytes:
    if isinstance(element, (IntegerType, IndexType)):
        return _integers(parser, values, element, at)
    if isinstance(element, ComplexType):
        flat = [part.strip() for value in values for part in value.strip("() ").split(",")]
        if len(flat) != 2 * len(values):
            parser.fail("expected pairs of complex numbers in dense literal", at)
        return _encode(parser, flat, element.element_type, at)
    return _floats(parser, values, element, at)


def _integers(parser: ParserLike, values: list[str], element: Any, at: Any) -> bytes:
    width = 64 if isinstance(element, IndexType) else element.width.data
    unsigned = isinstance(element, IntegerType) and element.signedness.data is Signedness.UNSIGNED
    signless = isinstance(element, IntegerType) and element.signedness.data is Signedness.SIGNLESS
    low = 0 if unsigned else -(1 << (width - 1))
    high = (1 << width) - 1 if unsigned or signless else (1 << (width - 1)) - 1
    words = {"true": 1, "false": 0}
    size = _size(element)
    out = bytearray()
    for value in values:
        number = words.get(value) if width == 1 else None
        if number is None:
            try:
                number = int(value, 16 if "0x" in value else 10)
            except ValueError:
                parser.fail(f"expected integer elements, but parsed {shortened(value)!r}", at)
        if width == 1:
            number = number & 1
        elif not low <= number <= high:
            parser.fail(f"integer constant {shortened(value)} out of range for type of {width} bits", at)
        out += (number & ((1 << (8 * size)) - 1)).to_bytes(size, "little")
    return bytes(out)


def _floats(parser: ParserLike, values: list[str], element: Any, at: Any) -> bytes:
    size = _size(element)
    numbers: list[float | bytes] = []
    for value in values:
        if _HEX.fullmatch(value):
            bits = int(value, 16)
            if bits < 0 or bits >= 1 << (8 * size):
                parser.fail(f"hexadecimal float constant out of range for type: {shortened(value)}", at)
            numbers.append(bits.to_bytes(size, "little"))
        elif _FLOAT.fullmatch(value):
            numbers.append(float(value))
        else:
            parser.fail(f"expected floating point elements, but parsed {shortened(value)!r}", at)
    if element.name == "f32" and len(numbers) == 1 and isinstance(numbers[0], float):
        try:
            return struct.pack("<f", numbers[0])
        except OverflowError:
            return struct.pack("<f", math.copysign(math.inf, numbers[0]))
    import ml_dtypes
    import numpy as np

    name = element_format(element) or "float64"
    dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name, None) or name)
    if not any(isinstance(number, bytes) for number in numbers):
        with np.errstate(over="ignore"):
            return np.asarray(numbers, dtype=np.float64).astype(dtype).tobytes()
    with np.errstate(over="ignore"):
        parts = (
            n if isinstance(n, bytes) else np.asarray(n, dtype=np.float64).astype(dtype).tobytes() for n in numbers
        )
        return b"".join(parts)
