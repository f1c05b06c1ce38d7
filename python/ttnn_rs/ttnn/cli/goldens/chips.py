"""Chips of golden vectors: the nearest `arch.json` above a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ttnn import _engine
from ttnn.base.exceptions import FileFormatError
from ttnn.base.files import read_json

FILE: Final = "arch.json"
_GENERATIONS: Final = ("wormhole_b0", "blackhole")
"""Names of generations, at the place of the engine's number."""


@dataclass(frozen=True)
class Chip:
    """A chip that vectors are for.

    Args:
        arch: Name of its generation, one of those of `ARCH_NAME`.
        board: Chip that `open_device` accepts.
    """

    arch: str = "wormhole_b0"
    board: str = "n150"

    @property
    def number(self) -> int:
        """The engine's number of the generation."""
        return _GENERATIONS.index(self.arch)


def chip_of(path: Path) -> Chip:
    """Return the chip of a file of vectors.

    A folder's chip is that of the nearest `arch.json` above, Wormhole if there is none.

    Raises:
        FileFormatError: `arch.json` names no chip that there is.
    """
    named = next((file for folder in path.absolute().parents if (file := folder / FILE).is_file()), None)
    if named is None:
        return Chip()
    facts = read_json(named, where="goldens")
    chip = Chip(str(facts.get("arch")), str(facts.get("board"))) if isinstance(facts, dict) else None
    boards = {name: _engine.chip_info(name)["arch_name"] for name in _engine.chip_names()}
    if chip is None or chip.arch not in _GENERATIONS or boards.get(chip.board) != chip.arch:
        raise FileFormatError(
            f"goldens: {named} names no chip; expected arch and board, {', '.join(_GENERATIONS)} and one of its boards "
            f"({', '.join(boards)}), got {facts}"
        )
    return chip
