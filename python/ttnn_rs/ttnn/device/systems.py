"""Systems with a name, and the one that the user chose.

`systems.json` has the chips, orders and links of the systems with a name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from ttnn.base.config import CONFIG
from ttnn.base.exceptions import DeviceError
from ttnn.base.system_enums import ClusterType
from ttnn.device.system import Link, System

DEFAULT_SYSTEM: Final = {"wormhole_b0": "n150", "blackhole": "p150"}
"""The system without a choice, by the generation that ARCH_NAME names."""
_MAX_TEXT: Final = 1000
_TABLE: Final = Path(__file__).with_name("systems.json")


@cache
def named_systems() -> Mapping[str, System]:
    """Return the systems with a name."""
    table = json.loads(_TABLE.read_text(encoding="utf-8"))["systems"]
    return {name: _system(name, entry) for name, entry in table.items()}


def _system(name: str, entry: Mapping[str, Any]) -> System:
    return System(
        name=name,
        type=ClusterType[entry["type"]],
        board=entry["board"],
        chip=entry["chip"],
        shape=(entry["shape"][0], entry["shape"][1]),
        chips=tuple(entry["order"]),
        pcie=tuple(entry["pcie"]),
        usable_links=entry["usable_links"],
        links=tuple(Link(*link) for link in entry["links"]),
        cards=tuple(map(tuple, entry.get("cards", ()))),
        line=tuple(entry["line"]) if "line" in entry else None,
        recorded="order_from" not in entry,
    )


def cluster_type(board: str, chips: int) -> ClusterType:
    """Return the type of a number of chips on boards of one kind."""
    for system in named_systems().values():
        if (system.board, len(system.chips)) == (board, chips):
            return system.type
    return ClusterType.CUSTOM


def part_of(system: System, cards: Sequence[int]) -> System:
    """Return the system of some cards, numbered anew: chips with PCIe first.

    Args:
        system: The system of all cards.
        cards: Numbers of their chips with PCIe, each also for the other chips of its card.

    Raises:
        DeviceError: there is no such card, one is named twice, or their chips are no mesh.
    """
    if len(set(cards)) != len(cards) or not cards or not set(cards) <= set(system.pcie):
        raise DeviceError(
            f"TT_VISIBLE_DEVICES: expected different chips of {list(system.pcie)}, separated by commas; got "
            f"{', '.join(map(str, cards)) or 'none'}"
        )
    members = {card: next((group for group in system.cards if card in group), (card,)) for card in cards}
    remote = (chip for card in cards for chip in members[card] if chip not in cards)
    numbers = {chip: number for number, chip in enumerate(dict.fromkeys([*cards, *remote]))}
    inside = [chip for chip in numbers if chip in system.place_of]
    rows, columns = (sorted({system.place_of[chip][axis] for chip in inside}) for axis in (0, 1))
    order = tuple(system.at((row, column)) for row in rows for column in columns)
    missing = next((chip for chip in order if chip not in numbers), None)
    if missing is not None or not inside:
        raise DeviceError(
            f"TT_VISIBLE_DEVICES: chips {sorted(inside)} of system {system.name} are no mesh: chip {missing} is missing"
        )
    part = replace(
        system,
        name=f"{system.name}[{','.join(map(str, cards))}]",
        type=cluster_type(system.board, len(order)),
        shape=(len(rows), len(columns)),
        chips=tuple(numbers[chip] for chip in order),
        pcie=tuple(range(len(cards))),
        links=tuple(
            Link(numbers[link.chip], link.channel, numbers[link.other], link.other_channel)
            for link in system.links
            if link.chip in numbers and link.other in numbers
        ),
        cards=tuple(
            tuple(sorted(numbers[chip] for chip in group))
            for group in system.cards
            if all(chip in numbers for chip in group)
        ),
        line=None,
        recorded=False,
    )
    part.require_links()
    return part


def system_of_environment() -> System:
    """Return the system that the user chose; one chip by default.

    `CONFIG.system` (TTNN_SYSTEM) names it, and TT_VISIBLE_DEVICES selects some of its cards.

    Raises:
        DeviceError: TT_VISIBLE_DEVICES has other numbers than those of cards, or their chips are no mesh.
    """
    name = CONFIG.system or DEFAULT_SYSTEM[CONFIG.arch_name]
    return _chosen(name, os.environ.get("TT_VISIBLE_DEVICES", ""))


@lru_cache(maxsize=64)
def _chosen(name: str, visible: str) -> System:
    system = named_systems()[name]
    return part_of(system, _numbers(visible)) if visible.strip() else system


def _numbers(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text[:_MAX_TEXT].split(",")]
    if len(text) > _MAX_TEXT or not all(part.isdecimal() and len(part) <= 4 for part in parts):
        raise DeviceError(f"TT_VISIBLE_DEVICES: expected numbers of chips, separated by commas; got {text[:80]!r}")
    return tuple(map(int, parts))
