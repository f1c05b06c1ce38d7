"""Enumerations, operand constraints, grids, tiles, and the data types of elements."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from ttnn.compiler.dialects.enums import (
    CONSTRAINT_GROUPS,
    ENUMS,
    constraint_words,
    expand_constraint,
)
from ttnn.compiler.ir.affine import affine_text
from ttnn.compiler.ir.attributes import AttributePrinter, DialectAttr, OpaqueDialectType, shape_text
from ttnn.compiler.ir.xdsl_adapter import (
    AffineMap,
    Attribute,
    IntegerType,
    Signedness,
    TypeAttribute,
    VerifyException,
)

if TYPE_CHECKING:
    from ttnn.compiler.ir.parser import MlirParser

from ttnn.compiler.dialects.syntax import parse_dims, parse_map, parse_word
from ttnn.compiler.limits import CORES

__all__ = [
    "ConstraintAttr",
    "EnumAttr",
    "GridAttr",
    "TileType",
    "data_type",
    "element_of",
    "enum",
    "enum_parser",
]


@dataclass(frozen=True)
class EnumAttr(DialectAttr):
    """`#dialect.mnemonic<word>`.

    Attributes:
        enum: `dialect.mnemonic`.
        value: The word.
    """

    enum: str
    value: str

    def full_name(self) -> str:
        """Return `dialect.mnemonic`."""
        return self.enum

    def body(self, printer: AttributePrinter) -> str:
        """Return `<word>`."""
        del printer
        return f"<{self.value}>"

    @property
    def code(self) -> int:
        """The number of the word."""
        return ENUMS[self.enum].index(self.value)


def enum(name: str, value: str) -> EnumAttr:
    """Return an enumeration attribute."""
    return EnumAttr(name, value)


def enum_parser(name: str) -> Callable[[MlirParser], EnumAttr]:
    """Return the parser of an enumeration, after its name."""

    def parse(parser: MlirParser) -> EnumAttr:
        parser.parse_punctuation("<")
        at = parser._current_token.span
        word = parse_word(parser)
        if word not in ENUMS[name]:
            parser.fail(f"expected one of {', '.join(ENUMS[name])} for #{name}, got '{word}'", at)
        parser.parse_punctuation(">")
        return EnumAttr(name, word)

    return parse


@dataclass(frozen=True)
class ConstraintAttr(DialectAttr):
    """`#tt.operand_constraint<a|b|c>`: where an operand may live, in which form and layout."""

    name: ClassVar[str] = "tt.operand_constraint"
    bits: int

    def body(self, printer: AttributePrinter) -> str:
        """Return every bit and every group that is contained."""
        del printer
        return f"<{constraint_words(self.bits)}>"

    def allows(self, word: str) -> bool:
        """Return whether a word is among the bits."""
        wanted = expand_constraint([word])
        return wanted is not None and self.bits & wanted == wanted

    @staticmethod
    def parse(parser: MlirParser) -> ConstraintAttr:
        """Parse `<a|b>`."""
        parser.parse_punctuation("<")
        at = parser._current_token.span
        words = [parse_word(parser)]
        while parser.parse_optional_punctuation("|"):
            words.append(parse_word(parser))
        parser.parse_punctuation(">")
        bits = expand_constraint(words)
        if bits is None:
            parser.fail("expected words of an operand constraint", at)
        return ConstraintAttr(bits)

    @property
    def group(self) -> str | None:
        """The name of the exactly matching group with an alias."""
        names = ("any", "any_device", "any_device_tile", "l1_block_sharded")
        return next((name for name in names if CONSTRAINT_GROUPS[name] == self.bits), None)


@dataclass(frozen=True)
class GridAttr(DialectAttr):
    """`#tt.grid<8x8>`, with any map to chips and cores.

    Attributes:
        dialect: "tt" or "ttcore".
        shape: Its size per dimension.
        mapping: Points to (chip, y, x), or None.
        inverse: The map back, of 2026-08.
        keyed: Whether the maps have names in the text.
    """

    dialect: str
    shape: tuple[int, ...]
    mapping: AffineMap | None = None
    inverse: AffineMap | None = None
    keyed: bool = False

    def full_name(self) -> str:
        """Return `dialect.grid`."""
        return f"{self.dialect}.grid"

    def verify(self) -> None:
        """Check that every dimension is positive."""
        if any(size <= 0 for size in self.shape):
            raise VerifyException(f"grid {shape_text(self.shape)} must have positive dimensions")
        if math.prod(self.shape) > CORES:
            raise VerifyException(f"grid {shape_text(self.shape)} has more than {CORES} cores")

    def body(self, printer: AttributePrinter) -> str:
        """Return `<8x8, map>`."""
        del printer
        text = shape_text(self.shape)
        if self.mapping is not None:
            text += f", {'virt_to_physical_map = ' if self.keyed else ''}{affine_text(self.mapping)}"
        if self.inverse is not None:
            text += f", physical_to_virt_map = {affine_text(self.inverse)}"
        return f"<{text}>"

    @staticmethod
    def parse_in(dialect: str) -> Callable[[MlirParser], GridAttr]:
        """Return the parser of grids of a dialect."""

        def parse(parser: MlirParser) -> GridAttr:
            parser.parse_punctuation("<")
            shape = parse_dims(parser)
            mapping = inverse = None
            keyed = False
            while parser.parse_optional_punctuation(","):
                if parser.parse_optional_keyword("virt_to_physical_map"):
                    parser.parse_punctuation("=")
                    mapping, keyed = parser.parse_affine_map(), True
                elif parser.parse_optional_keyword("physical_to_virt_map"):
                    parser.parse_punctuation("=")
                    inverse, keyed = parser.parse_affine_map(), True
                else:
                    mapping = parse_map(parser)
            parser.parse_punctuation(">")
            return GridAttr(dialect, shape, mapping, inverse, keyed)

        return parse


@dataclass(frozen=True)
class TileType(DialectAttr, TypeAttribute):
    """`!tt.tile<32x32, bf16>`.

    Attributes:
        dialect: "tt" or "ttcore".
        height: Rows.
        width: Columns.
        dtype: Word of the data type.
    """

    is_type: ClassVar[bool] = True
    dialect: str
    height: int
    width: int
    dtype: str

    def full_name(self) -> str:
        """Return `dialect.tile`."""
        return f"{self.dialect}.tile"

    def body(self, printer: AttributePrinter) -> str:
        """Return `<32x32, bf16>`."""
        del printer
        return f"<{self.height}x{self.width}, {self.dtype}>"

    @staticmethod
    def parse_in(dialect: str) -> Callable[[MlirParser], TileType]:
        """Return the parser of tiles of a dialect."""

        def parse(parser: MlirParser) -> TileType:
            parser.parse_punctuation("<")
            at = parser._current_token.span
            shape = parse_dims(parser)
            if len(shape) != 2 or min(shape) <= 0:
                parser.fail("expected a tile of 2 positive dimensions", at)
            parser.parse_punctuation(",")
            at = parser._current_token.span
            word = parse_word(parser)
            if word not in ENUMS[f"{dialect}.supportedDataTypes"]:
                parser.fail(f"unknown data type '{word}' of a tile", at)
            parser.parse_punctuation(">")
            return TileType(dialect, shape[0], shape[1], word)

        return parse


_ELEMENTS: Final = {"f32": "f32", "f16": "f16", "bf16": "bf16", "f64": "f32"}


def data_type(element: Attribute) -> str:
    """Return the word of the data type that holds an element type.

    Raises:
        VerifyException: No data type holds it.
    """
    if isinstance(element, TileType):
        return element.dtype
    name = getattr(element, "name", "")
    if name in _ELEMENTS:
        return _ELEMENTS[name]
    if isinstance(element, OpaqueDialectType) and element.mnemonic == "quant.uniform":
        # Quantized integers are stored as 32 bits, whatever their own width.
        return "si32"
    if isinstance(element, IntegerType):
        width = element.width.data
        signed = element.signedness.data is not Signedness.UNSIGNED
        if width == 1:
            return "bf16"
        if width in (32, 64):
            return "si32" if signed else "u32"
        if width in (8, 16):
            return f"u{width}"
    if name == "index":
        return "u32"
    raise VerifyException(f"no data type of the chip holds elements of type {name}")


def element_of(word: str) -> Attribute:
    """Return a data type's element type.

    Of block formats that of what they unpack to.
    """
    from ttnn.compiler.ir.xdsl_adapter import builtin_float

    if word in ("f32", "f16", "bf16"):
        return builtin_float(word)
    if word in ("bfp_bf8", "bfp_bf4", "bfp_bf2"):
        return builtin_float("bf16")
    if word in ("bfp_f8", "bfp_f4", "bfp_f2"):
        return builtin_float("f16")
    if word == "si32":
        return IntegerType(32, Signedness.SIGNED)
    return IntegerType(int(word[1:]), Signedness.UNSIGNED)
