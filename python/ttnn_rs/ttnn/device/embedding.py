"""Places for chips in a mesh, so that neighbours have links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

MAX_STEPS: Final = 200_000
"""Chips that a search tries before it ends without a result."""


def neighbours_of(links: Iterable[tuple[int, int]]) -> dict[int, set[int]]:
    """Return the chips that each chip is linked to."""
    found: dict[int, set[int]] = {}
    for chip, other in links:
        found.setdefault(chip, set()).add(other)
        found.setdefault(other, set()).add(chip)
    return found


def place_chips(
    chips: Sequence[int],
    neighbours: Mapping[int, set[int]],
    shape: tuple[int, int],
    rings: tuple[bool, bool],
    steps: Iterator[int] | None = None,
) -> tuple[int, ...] | None:
    """Return an order of chips in which neighbours have links.

    The order is row-major, and the first one by numbers. None if none is found.

    Args:
        chips: Numbers of the chips, as many as the mesh has.
        neighbours: The chips that each is linked to.
        shape: Rows and columns.
        rings: Whether columns (0) and rows (1) are rings.
        steps: The steps that are left to searches of several shapes; None for `MAX_STEPS`.
    """
    rows, columns = shape
    order: list[int] = []
    used: set[int] = set()
    allowed = set(chips)
    steps = iter(range(MAX_STEPS)) if steps is None else steps
    if len(allowed) > 1 and any(allowed.isdisjoint(neighbours.get(chip, ())) for chip in allowed):
        return None

    def fits(chip: int, index: int) -> bool:
        row, column = divmod(index, columns)
        linked = neighbours.get(chip, set())
        needed = []
        if column:
            needed.append(order[index - 1])
        if row:
            needed.append(order[index - columns])
        if rings[1] and columns > 2 and column == columns - 1:
            needed.append(order[index - columns + 1])
        if rings[0] and rows > 2 and row == rows - 1:
            needed.append(order[column])
        return all(other in linked for other in needed)

    choices: list[list[int]] = [sorted(chips, reverse=True)]
    while choices:
        if not choices[-1]:
            choices.pop()
            if order:
                used.discard(order.pop())
            continue
        chip = choices[-1].pop()
        if next(steps, None) is None:
            return None
        index = len(order)
        if chip in used or not fits(chip, index):
            continue
        order.append(chip)
        used.add(chip)
        if len(order) == rows * columns:
            return tuple(order)
        column = len(order) % columns
        before = order[-1] if column else order[-columns]
        choices.append(sorted(neighbours.get(before, set()) & allowed, reverse=True))
    return None


def shapes_of(count: int) -> list[tuple[int, int]]:
    """Return the shapes of a number of chips, the most square first."""
    return [(rows, count // rows) for rows in range(int(count**0.5), 0, -1) if count % rows == 0]
