"""Opaque attributes and types, `#DIALECT.opaque<"TEXT">`, of the dialects `emitc` and `emitpy`."""

from __future__ import annotations

import re

from ttnn.compiler.ir.attributes import OpaqueDialectAttr, OpaqueDialectType
from ttnn.compiler.ir.printing import attribute_text, quote, unquote
from ttnn.compiler.ir.xdsl_adapter import Attribute

__all__ = ["opaque", "opaque_text", "opaque_type"]


def opaque(dialect: str, text: str) -> OpaqueDialectAttr:
    """Return a text as an attribute."""
    return OpaqueDialectAttr(f"{dialect}.opaque", (f"<{quote(text)}>",))


def opaque_type(dialect: str, text: str) -> OpaqueDialectType:
    """Return a text as a type."""
    return OpaqueDialectType(f"{dialect}.opaque", (f"<{quote(text)}>",))


def opaque_text(dialect: str, value: Attribute) -> str | None:
    """Return the text of an opaque attribute or type, or None."""
    if not isinstance(value, OpaqueDialectAttr) or value.mnemonic != f"{dialect}.opaque":
        return None
    found = re.search(r"<\s*(\".*\")\s*>$", attribute_text(value))
    return unquote(found[1]) if found is not None else None
