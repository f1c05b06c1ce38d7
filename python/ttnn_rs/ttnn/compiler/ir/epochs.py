"""The three epochs of the language of the compiler stack."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import Enum

__all__ = ["Epoch", "epoch_of"]


class Epoch(Enum):
    """One of three: what text looks like changed twice."""

    BOOK = "book"
    """To December 2024: dialect `tt`, operand constraints, outputs are operands fed by `tensor.empty`."""
    SLIDES = "slides"
    """June to November 2025: dialect `ttcore`, outputs are operands fed by `ttir.empty`."""
    CURRENT = "current"
    """From December 2025: dialect `ttcore`, outputs are results only."""


_BOOK = re.compile(r"[#!]tt\.|\boperand_constraints\b|#tt<")
# An `empty` whose value is the last operand of an operation of `ttir` in generic form. Those of the book that take one
# have operand constraints besides.
_EMPTY = re.compile(r"(%[\w$.-]+)\s*=\s*(?:ttir|tensor)\.empty\b")
_LAST_OPERAND = re.compile(r"\"(ttir\.(?!to_layout)\w+)\"\([^()]*?(%[\w$.-]+)\)")
# Attributes of the library that only the slides have: later ones follow from the type of the result, and dimensions are
# signed.
_WITH_PROPERTIES = re.compile(
    r"\"(ttnn\.(?!empty\b|pad\b|dit_rms_norm)\w+)\"\([^()]*\)\s*<\{([^{}]*)|\"(ttnn\.moreh_cumsum)\""
)
_PLACED = re.compile(r"(?:^|[ ,])(?:dtype = #ttcore|memory_config = #|dim_arg = -?\d+ : i64)")
_DIMENSION = re.compile(r"(?:^|[ ,])dim = -?\d+ : i32, ")

# Operations that the slides have with them only: without them text is of the current epoch, whatever the rest says.
_NOT_PLACED = re.compile(
    r"\"ttnn\.(?:to_layout|typecast|add|multiply|subtract|divide)\"\([^()]*\)\s*:"
    r"|\"ttnn\.constant\"\([^()]*\)\s*<\{(?![^{}]*dtype = )"
)
# How far from its name the types of an operation are looked for.
_FAR = 1 << 16
_TYPES = re.compile(r":\s*\(([^()]*)\)\s*->\s*\(?([^()\n]*)")


def _gives_last(text: str, end: int) -> bool:
    """Return whether the last operands of an operation have the types of its results, as outputs have."""
    found = _TYPES.search(text, end, end + _FAR)
    if found is None or text.find(' = "', end, found.start()) >= 0:
        return True
    given, made = (re.sub(r"\s+", "", part) for part in found.groups())
    return given.endswith(made)


def _placed(text: str) -> Iterator[str]:
    """Yield the operations that have attributes of the slides."""
    for found in _WITH_PROPERTIES.finditer(text):
        name, properties, cumsum = found.groups()
        if cumsum is not None:
            yield cumsum
            continue
        dimension = _DIMENSION.search(properties)
        if _PLACED.search(properties) or (dimension and "use_multicore" in properties[dimension.end() :]):
            yield name


def epoch_of(
    text: str,
    default: Epoch = Epoch.CURRENT,
    *,
    takes_outputs: Callable[[str, int], bool] = lambda name, operands: True,
    known: Callable[[str], bool] = lambda name: True,
) -> Epoch:
    """Return the epoch of a text by its marks; text without a mark is of the default.

    Args:
        text: The text.
        default: The epoch of a text without marks.
        takes_outputs: Whether an operation of the slides with so many operands has some for its outputs.
        known: Whether the slides have an operation.
    """
    if _BOOK.search(text):
        return Epoch.BOOK
    if default is Epoch.BOOK and "ttcore." not in text and '"ttir.' in text and "tensor.empty" in text:
        return Epoch.BOOK
    if "r.empty" in text:
        empties = set(_EMPTY.findall(text))
        for found in _LAST_OPERAND.finditer(text):
            name, value = found.groups()
            if value in empties and takes_outputs(name, found.group().count("%")) and _gives_last(text, found.end()):
                return Epoch.SLIDES
    if "ttnn." in text and not _NOT_PLACED.search(text) and any(known(name) for name in _placed(text)):
        return Epoch.SLIDES
    if default is Epoch.SLIDES or "ttcore." in text or "ttir.empty" in text:
        return Epoch.CURRENT if default is Epoch.BOOK else default
    return default
