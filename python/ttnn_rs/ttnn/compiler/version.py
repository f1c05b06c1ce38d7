"""Language versions: tt-mlir at a date.

Texts and binaries are of one of them.

2024-09: dialect `tt`, operand constraints, outputs are operands fed by `tensor.empty` (to December 2024).
2025-10: dialect `ttcore`, outputs are operands fed by `ttir.empty` (June to November 2025).
2026-08: dialect `ttcore`, outputs are results only (from December 2025).
"""

from __future__ import annotations

from functools import cache
from typing import Final, Literal, TypeAlias

__all__ = ["NEWEST", "VERSIONS", "Version", "span", "version_of"]

Version: TypeAlias = Literal["2024-09", "2025-10", "2026-08"]
"""A version; as text, later ones compare as greater."""
VERSIONS: Final[tuple[Version, ...]] = ("2024-09", "2025-10", "2026-08")
NEWEST: Final = VERSIONS[-1]
_OLD_NAMES: Final[dict[str, Version]] = {"book": "2024-09", "slides": "2025-10", "current": "2026-08"}


def version_of(word: str) -> Version:
    """Return a user word's version, including older release names.

    Raises:
        ValueError: It is none.
    """
    for version in VERSIONS:
        if word == version or _OLD_NAMES.get(word) == version:
            return version
    raise ValueError(f"expected {VERSIONS[0]}, {VERSIONS[1]} or {VERSIONS[2]}, got {word!r}")


@cache
def span(text: str) -> tuple[Version, ...]:
    """Return a span's versions.

    `2025-10`, `2025-10..` from it on, `..2025-10` up to it, `..` for all.
    """
    first, on, last = text.partition("..")
    return tuple(one for one in VERSIONS if (first or VERSIONS[0]) <= one <= (last or (NEWEST if on else first)))
