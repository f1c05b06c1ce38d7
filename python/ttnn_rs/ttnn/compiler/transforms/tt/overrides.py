"""Overrides of output layouts by location name: `add_1_0=4x4:dram:interleaved`, and the older `add_1_0=4x4`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ttnn.compiler.transforms.options import OptionError

__all__ = ["Override", "parse_overrides"]


@dataclass(frozen=True)
class Override:
    """Requested properties of an operation's output; None keeps the default."""

    grid: tuple[int, ...] | None = None
    space: str | None = None
    layout: str | None = None


def parse_overrides(option: str, texts: tuple[str, ...]) -> dict[str, Override]:
    """Return the overrides by name.

    Raises:
        OptionError: A text that is not `name=RxC[:space[:layout]]`.
    """
    found: dict[str, Override] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        parts = value.split(":")
        if not name or not parts or not re.fullmatch(r"\d+(x\d+)+", parts[0]) or len(parts) not in (1, 2, 3):
            raise OptionError(f"{option}: expected name=RxC:space:layout, got {text!r}.")
        grid = tuple(int(size) for size in parts[0].split("x"))
        space = parts[1] if len(parts) > 1 else None
        layout = parts[2] if len(parts) > 2 else None
        if space not in (None, "system", "mmio", "dram", "l1"):
            raise OptionError(f"{option}: Invalid memory space: {space}.")
        layouts = (None, "none", "interleaved", "single_bank", "height_sharded", "width_sharded", "block_sharded")
        if layout not in layouts:
            raise OptionError(f"{option}: Invalid tensor memory layout: {layout}.")
        if min(grid) < 1:
            raise OptionError(f"{option}: a grid has at least one core per dimension, got {parts[0]}.")
        found[name] = Override(grid, space, layout)
    return found
