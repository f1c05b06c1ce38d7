"""One chip of a mesh: properties, coordinates, and memory engine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ttnn import _engine
from ttnn.base.call import shown
from ttnn.base.config import CONFIG
from ttnn.base.core_range import CoreCoord, CoreLike, as_core
from ttnn.base.enums import NOC, Arch
from ttnn.base.exceptions import ArgumentError, DeviceError, UnsupportedError
from ttnn.device.dispatch import Dispatch
from ttnn.device.ranks import Ranks

ARCH: Final = {"wormhole_b0": Arch.WORMHOLE_B0, "blackhole": Arch.BLACKHOLE}
"""Chip generations by the name that ARCH_NAME uses."""


class Chip:
    """A chip of an open mesh.

    Attributes:
        id: Number of the device.
        place: Place in the mesh that was opened, row by row; the engine's number of the chip.
        arch: Generation.
        facts: Grids, banks, sizes, alignments, coordinates, clock.
        dispatch: Dispatch cores.
        engine: Memory and programs of this chip alone.
    """

    __slots__ = ("arch", "dispatch", "engine", "facts", "id", "place")

    def __init__(self, id: int, place: int, engine: _engine.Device, facts: dict[str, Any], dispatch: Dispatch) -> None:
        self.id: Final = id
        self.place: Final = place
        self.engine: Final = engine
        self.facts: Final = facts
        self.dispatch: Final = dispatch
        self.arch: Final = ARCH[facts["arch_name"]]

    @property
    def grid(self) -> tuple[int, int]:
        """Return columns and rows of the compute grid."""
        columns, rows = self.facts["grid"]
        return columns, rows

    # Coordinates.

    def worker_core_from_logical_core(self, logical_core: CoreLike) -> CoreCoord:
        """Return the NoC coordinates of a core.

        Raises:
            DeviceError: the core is outside the compute grid.
        """
        core = as_core(logical_core)
        for logical, coordinate in self.facts["worker_coords"]:
            if logical == (core.x, core.y):
                return CoreCoord(*coordinate)
        columns, rows = self.grid
        raise DeviceError(f"worker_core_from_logical_core: core {core} is outside the compute grid {columns}x{rows}")

    def logical_core_from_worker_core(self, virtual_core: CoreLike) -> CoreCoord:
        """Return the core at NoC coordinates.

        Raises:
            DeviceError: no worker core is there.
        """
        core = as_core(virtual_core)
        for logical, coordinate in self.facts["worker_coords"]:
            if coordinate == (core.x, core.y):
                return CoreCoord(*logical)
        raise DeviceError(f"logical_core_from_worker_core: no worker core at NoC coordinates {core}")

    def dram_core_from_logical_core(self, logical_core: CoreLike) -> CoreCoord:
        """Return a DRAM bank's NoC coordinates, given core (bank, 0).

        Raises:
            DeviceError: there is no such bank.
        """
        core = as_core(logical_core)
        banks = self.facts["dram_cores"]
        if core.y != 0 or core.x >= len(banks):
            raise DeviceError(
                f"dram_core_from_logical_core: {core} is not a DRAM bank; banks are 0-0 to {len(banks) - 1}-0"
            )
        return CoreCoord(*banks[core.x])

    def optimal_dram_workers(self, noc: NOC) -> list[CoreCoord]:
        """Return each DRAM bank's best reading core over a NoC.

        Raises:
            UnsupportedError: the assignment of this chip is not known.
        """
        call = "get_optimal_dram_bank_to_logical_worker_assignment"
        if isinstance(noc, int) and not isinstance(noc, bool) and noc in (0, 1):
            noc = NOC(noc)
        if not isinstance(noc, NOC):
            raise ArgumentError(f"{call}: expected a NOC, got {shown(noc)}")
        workers = self.facts["optimal_dram_workers"]
        if workers is None:
            raise UnsupportedError(
                f"{call}: not known for {self.facts['name']}, only for n150 and p150", "unimplemented"
            )
        return [CoreCoord(x, y) for x, y in workers[noc.value]]


def power_up(
    ids: Sequence[int],
    name: str,
    regions: Mapping[str, int],
    dispatch: Dispatch,
    ranks: Ranks | None = None,
) -> tuple[_engine.Device, tuple[Chip, ...]]:
    """Return the engine of equal chips with empty memory, and the chips.

    They have one allocator: a buffer has the same address on all of them.

    Args:
        ids: Numbers of the devices, row by row.
        name: One of `ttnn._engine.chip_names()`.
        regions: Bytes that are set aside, by the names that the engine has for them.
        dispatch: Dispatch cores.
        ranks: The processes that have the chips; default: this one.
    """
    facts = _engine.chip_info(name, dispatch.cores)
    # As the official package reads it: when a device is opened, and only "1..." counts.
    hybrid = os.environ.get("TT_METAL_ALLOCATOR_MODE_HYBRID", "").startswith("1")
    options: dict[str, Any] = {
        **regions,
        "dispatch": dispatch.cores,
        "chips": len(ids),
        "own_addresses": hybrid,
    }
    if ranks is None:
        engine = _engine.Device(name, **options)
    else:
        with ranks.memory(facts["file_bytes"]) as row:
            engine = _engine.Device(name, **options, ranks=row)
    engine.set_watched(CONFIG.watcher)
    parts = [engine] if len(ids) == 1 else [engine.part([place]) for place in range(len(ids))]
    chips = (Chip(id, place, part, facts, dispatch) for place, (id, part) in enumerate(zip(ids, parts, strict=True)))
    return engine, tuple(chips)
