"""Shared attribute syntax: words, dimensions, maps, nested attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ttnn.compiler.ir.attributes import AttributePrinter, DialectAttr
from ttnn.compiler.ir.xdsl_adapter import (
    AffineMap,
    Attribute,
    MLIRTokenKind,
)

if TYPE_CHECKING:
    from ttnn.compiler.ir.parser import MlirParser


__all__ = [
    "parse_dims",
    "parse_map",
    "parse_nested",
    "parse_word",
    "stripped",
]


def parse_word(parser: MlirParser) -> str:
    """Parse a keyword."""
    token = parser._current_token
    if token.kind != MLIRTokenKind.BARE_IDENT:
        parser.fail("expected a keyword")
    parser._consume_token()
    return token.text


def parse_dims(parser: MlirParser) -> tuple[int, ...]:
    """Parse a list of dimensions such as `8x8`."""
    return tuple(parser.parse_dimension_list())


def parse_nested(parser: MlirParser, name: str, parse: Callable[[MlirParser], Attribute]) -> Any:
    """Parse a nested attribute: alias, full form, or body.

    The body is what follows its name.
    """
    if parser._current_token.kind == MLIRTokenKind.HASH_IDENT:
        at = parser._current_token.span
        value = parser.parse_attribute()
        if not isinstance(value, DialectAttr) or value.full_name() != name:
            parser.fail(f"expected #{name} here", at)
        return value
    return parse(parser)


def stripped(printer: AttributePrinter, attribute: DialectAttr) -> str:
    """Return a nested attribute's text: alias or body.

    The body is what follows its name.
    """
    text = printer.attribute(attribute)
    prefix = f"#{attribute.full_name()}"
    return text[len(prefix) :] if text.startswith(prefix + "<") else text


def parse_map(parser: MlirParser) -> AffineMap:
    """Parse a map, bare, in `affine_map<>` or by its alias."""
    if parser._current_token.kind == MLIRTokenKind.HASH_IDENT or parser._current_token.text == "affine_map":
        value = parser.parse_attribute()
        data = getattr(value, "data", None)
        if not isinstance(data, AffineMap):
            parser.fail("expected an affine map")
        return data
    return parser.parse_affine_map()
