"""The version of a text, by what only one version writes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ttnn.compiler.dialects.spec import find, text_of
from ttnn.compiler.version import NEWEST, Version

__all__ = ["detect"]


_FIRST = re.compile(r"[#!]tt\.|\boperand_constraints\b|#tt<")
# An `empty` whose value is the last operand of an operation of `ttir` in generic form. Those of 2024-09 that take one
# have operand constraints besides.
_EMPTY = re.compile(r"(%[\w$.-]+)\s*=\s*(?:ttir|tensor)\.empty\b")
_LAST_OPERAND = re.compile(r"\"(ttir\.(?!to_layout)\w+)\"\([^()]*?(%[\w$.-]+)\)")
# Attributes of the library that only 2025-10 has: later ones follow from the type of the result, and dimensions are
# signed.
_WITH_PROPERTIES = re.compile(
    r"\"(ttnn\.(?!empty\b|pad\b|dit_rms_norm)\w+)\"\([^()]*\)\s*<\{([^{}]*)|\"(ttnn\.moreh_cumsum)\""
)
_PLACED = re.compile(r"(?:^|[ ,])(?:dtype = #ttcore|memory_config = #|dim_arg = -?\d+ : i64)")
_DIMENSION = re.compile(r"(?:^|[ ,])dim = -?\d+ : i32, ")

# Operations that 2025-10 has with them only: without them text is of 2026-08, whatever the rest says.
_NOT_PLACED = re.compile(
    r"\"ttnn\.(?:to_layout|typecast|add|multiply|subtract|divide)\"\([^()]*\)\s*:"
    r"|\"ttnn\.constant\"\([^()]*\)\s*<\{(?![^{}]*dtype = )"
)
# How far from its name the types of an operation are looked for.
_FAR = 1 << 16
_TYPES = re.compile(r":\s*\(([^()]*)\)\s*->\s*\(?([^()\n]*)")


def _gives_last(text: str, end: int) -> bool:
    """Return whether the last operands have the result types, as outputs."""
    found = _TYPES.search(text, end, end + _FAR)
    if found is None or text.find(' = "', end, found.start()) >= 0:
        return True
    given, made = (re.sub(r"\s+", "", part) for part in found.groups())
    return given.endswith(made)


def _placed(text: str) -> Iterator[str]:
    """Yield the operations that have attributes of 2025-10."""
    for found in _WITH_PROPERTIES.finditer(text):
        name, properties, cumsum = found.groups()
        if cumsum is not None:
            yield cumsum
            continue
        dimension = _DIMENSION.search(properties)
        if _PLACED.search(properties) or (dimension and "use_multicore" in properties[dimension.end() :]):
            yield name


def _has_outputs(name: str, operands: int) -> bool:
    """Return whether a 2025-10 operation of these operands has outputs.

    By the number of the operands.
    """
    text = text_of(name, "2025-10")
    return bool(text.outs) and operands >= sum(not group.kind for group in text.operands)


def detect(text: str, default: Version = NEWEST) -> Version:
    """Return a text's version by its marks, or the default.

    Args:
        text: The text.
        default: The version of a text without marks.
    """
    if _FIRST.search(text):
        return "2024-09"
    if default == "2024-09" and "ttcore." not in text and '"ttir.' in text and "tensor.empty" in text:
        return "2024-09"
    if "r.empty" in text:
        empties = set(_EMPTY.findall(text))
        for found in _LAST_OPERAND.finditer(text):
            name, value = found.groups()
            if value in empties and _has_outputs(name, found.group().count("%")) and _gives_last(text, found.end()):
                return "2025-10"
    if "ttnn." in text and not _NOT_PLACED.search(text) and any(find(name, "2025-10") for name in _placed(text)):
        return "2025-10"
    if default == "2025-10" or "ttcore." in text or "ttir.empty" in text:
        return "2026-08" if default == "2024-09" else default
    return default
