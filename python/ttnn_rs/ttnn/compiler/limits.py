"""Limits of what texts and binaries may ask of the compiler tools. Past each of them there is one diagnostic.

Texts of compilers stay far below all of them; docs/compiler.md lists them.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "CHIPS",
    "CORES",
    "DEPTH",
    "DIGITS",
    "DIMENSION",
    "ELEMENTS",
    "ESCAPES",
    "EXPANSION",
    "EXPANSION_FACTOR",
    "FILE_BYTES",
    "INTEGER_BITS",
    "OPERANDS",
    "PASSES",
    "RANK",
    "SHOWN",
    "TOKENS",
    "VALUES",
    "VALUES_FACTOR",
    "shortened",
]

FILE_BYTES: Final = 1 << 28
"""Bytes of a file or of standard input."""
TOKENS: Final = 2_000_000
"""Tokens of a module: names, numbers, strings and punctuation, those of dense literals not counted."""
CHIPS: Final = 1 << 10
"""Chips of a system."""
CORES: Final = 1 << 16
"""Cores of a grid; times that a kernel repeats its steps."""
DEPTH: Final = 64
"""Levels that attributes, types, locations, regions and pipelines nest; aliases count as what they stand for."""
ELEMENTS: Final = 1 << 32
"""Elements of an input or output of a program, which ttrt makes."""
ESCAPES: Final = 250_000
"""Escapes of a string."""
EXPANSION: Final = 1 << 24
"""Characters, roughly, of a module whose aliases are written out, in addition to those its text may have."""
EXPANSION_FACTOR: Final = 16
"""Characters of a module whose aliases are written out, for each character of its text."""
RANK: Final = 64
"""Dimensions of a shape; dimensions, symbols and results of an affine map."""
DIMENSION: Final = (1 << 63) - 1
"""Largest size of a dimension."""
OPERANDS: Final = 128
"""Operands of an affine expression, parentheses and signs included."""
DIGITS: Final = 1_000
"""Digits of a number."""
INTEGER_BITS: Final = (1 << 24) - 1
"""Largest width of an integer type; as in MLIR."""
PASSES: Final = 1_000
"""Passes of a command line or pipeline text."""
VALUES: Final = 1 << 20
"""Values of a binary whose shared tables are written out, in addition to those its size allows."""
VALUES_FACTOR: Final = 16
"""Values of a binary whose shared tables are written out, for each of its bytes."""
SHOWN: Final = 240
"""Characters of a source line, of a name or of another piece of input that a message shows."""


def shortened(text: str, limit: int = SHOWN) -> str:
    """Return a text of at most `limit` characters; a longer one ends with dots."""
    return text if len(text) <= limit else text[: limit - 3] + "..."
