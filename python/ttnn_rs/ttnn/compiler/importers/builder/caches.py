"""Rows written in place into caches of keys and values.

A cache is an argument that nobody reads afterwards: its own memory is changed, and returned.
"""

from __future__ import annotations

from typing import Any, Final

from ttnn.compiler.importers.builder.steps import Steps
from ttnn.compiler.importers.builder.types import element_of, shape_of
from ttnn.compiler.ir.xdsl_adapter import SSAValue

__all__ = ["fill_rows", "update_rows"]

_TILE: Final = 32


def _is_cache(steps: Steps, cache: SSAValue, rows: SSAValue) -> bool:
    """Return whether a value is a cache that may be changed.

    The device moves rows of float32 through registers of fewer bits: those caches are copied.
    """
    full, part = shape_of(cache), shape_of(rows)
    if cache not in steps.b.donated or getattr(element_of(cache), "name", "") != "bf16":
        return False
    if len(full) != 4 or len(part) != 4 or (*full[:2], full[3]) != (*part[:2], part[3]):
        return False
    return full[2] % _TILE == 0 and full[3] % _TILE == 0


def update_rows(steps: Steps, cache: SSAValue, rows: SSAValue, position: SSAValue) -> SSAValue | None:
    """Return a cache with a row of every head replaced.

    None if it cannot be in place.

    Args:
        steps: The function.
        cache: [users, heads, length, size].
        rows: [users, heads, 1, size].
        position: [1], within the length.
    """
    users = shape_of(cache)[0]
    if not _is_cache(steps, cache, rows) or shape_of(rows)[2] != 1 or users > _TILE:
        return None
    given = rows if users == 1 else steps.permute(rows, (2, 1, 0, 3))
    steps.b.op("update_cache", cache, given, position, batch_offset=0)
    return cache


def fill_rows(steps: Steps, cache: SSAValue, rows: SSAValue) -> SSAValue | None:
    """Return a cache whose first rows are replaced.

    None if it cannot be in place.

    Args:
        steps: The function.
        cache: [users, heads, length, size].
        rows: [users, heads, count, size]; the device writes whole tiles, of 32 rows.
    """
    users, heads, count, size = (*shape_of(rows), 0, 0, 0, 0)[:4]
    if not _is_cache(steps, cache, rows) or count % _TILE or users > _TILE:
        return None
    for user in range(users):
        part: Any = steps.slice(rows, (user, 0, 0, 0), (user + 1, heads, count, size))
        steps.b.op("fill_cache", cache, part, batch_offset=user)
    return cache
