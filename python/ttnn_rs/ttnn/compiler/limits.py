"""Limits of texts and binaries in the compiler tools.

Past each of them there is one diagnostic.

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
"""Limit of a module's tokens.

Names, numbers, strings and punctuation, those of dense literals not counted.
"""
CHIPS: Final = 1 << 10
"""Chips of a system."""
CORES: Final = 1 << 16
"""Cores of a grid; times that a kernel repeats its steps."""
DEPTH: Final = 64
"""Limit of nesting.

Attributes, types, locations, regions and pipelines nest; aliases count as their meaning.
"""
ELEMENTS: Final = 1 << 32
"""Elements of an input or output of a program, which ttrt makes."""
ESCAPES: Final = 250_000
"""Escapes of a string."""
EXPANSION: Final = 1 << 24
"""Base limit of characters with aliases written out.

Roughly, in addition to those its text may have.
"""
EXPANSION_FACTOR: Final = 16
"""Limit of written-out characters per character of text."""
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
"""Base limit of values with shared tables written out.

In addition to those the size of the binary allows.
"""
VALUES_FACTOR: Final = 16
"""Limit of written-out values per byte of a binary."""
SHOWN: Final = 240
"""Limit of input characters that a message shows.

Of a source line, of a name or of another piece.
"""


def shortened(text: str, limit: int = SHOWN) -> str:
    """Return a text cut to `limit` characters, ending with dots."""
    return text if len(text) <= limit else text[: limit - 3] + "..."
