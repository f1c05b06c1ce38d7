"""A described device operation before planning: name, operands, attributes.

The recorder makes descriptions of calls, and `python -m ttnn profile --compare` of the rows of recorded profiles; plans
are made from either in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ttnn.profiler.operand import Operand
from ttnn.profiler.plan import PHASES, Card

_PAIR: Final = re.compile(r"'(\w+)': '([^']*)'")
_RANGE: Final = re.compile(r"\(x=(\d+)[,;] ?y=(\d+)\) - \(x=(\d+)[,;] ?y=(\d+)\)")
_SHARD: Final = re.compile(r"shape=\{(\d+)[,;] ?(\d+)\}")


@dataclass(frozen=True)
class DeviceOperation:
    """A device operation to plan.

    Args:
        name: The official name, as the column OP CODE has it.
        card: The card.
        inputs: Operands in their order.
        outputs: Results.
        fidelity: "LoFi" to "HiFi4", or empty.
        cores: Cores that work, if that is known; 0 if the plan is to choose.
        grid: Cores that it may use, columns and rows.
        attributes: Texts by name, as profiles have them.
        chain: SFPU functions of an element-wise operation: name, whether approximate.
        program: What the operator decided on: a matrix product, pipelines, functions of the FPU or SFPU.
        pipelines: Programs of the tile pipeline that it runs.
        function: The function of the engine that did the work, empty for a recorded profile.
    """

    name: str
    card: Card
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    fidelity: str = ""
    cores: int = 0
    grid: tuple[int, int] | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    chain: tuple[tuple[str, bool], ...] = ()
    program: Any = None
    pipelines: tuple[Any, ...] = ()
    function: str = ""

    @property
    def kind(self) -> str:
        """The name without its ending."""
        return kind_of(self.name)

    @property
    def phases(self) -> int:
        """Fidelity phases."""
        return PHASES.get(self.fidelity, 4)

    @property
    def wide(self) -> bool:
        """Return True if Dst is 32 bits wide."""
        text = "".join(self.attributes.values())
        return "fp32_dest_acc_en=1" in text or self.attributes.get("fp32_dest_acc_en") == "true"

    def words(self, name: str) -> tuple[int, ...]:
        """Return the numbers in an attribute."""
        return tuple(int(number) for number in re.findall(r"-?\d+", self.attributes.get(name, "")))


def kind_of(name: str) -> str:
    """Return the name of a device operation without its ending."""
    return name.removesuffix("DeviceOperation").removesuffix("Operation").removesuffix("Op")


def attributes_of(text: str) -> dict[str, str]:
    """Return the attributes of a profiler's row."""
    return dict(_PAIR.findall(text))


def cores_of(text: str) -> int:
    """Return the number of cores in a text.

    Such as `{[(x=0;y=0) - (x=4;y=3)]}`, or the first grid of a longer one.
    """
    ranges = [tuple(map(int, found)) for found in _RANGE.findall(text.partition("nd_shard_spec")[0])]
    return sum((x1 - x0 + 1) * (y1 - y0 + 1) for x0, y0, x1, y1 in ranges)


def box_of(text: str) -> tuple[int, int] | None:
    """Return the bounding box of a text's cores, or None.

    Columns and rows; None if it names none.
    """
    ranges = [tuple(map(int, found)) for found in _RANGE.findall(text)]
    if not ranges:
        return None
    return 1 + max(r[2] for r in ranges), 1 + max(r[3] for r in ranges)


def shard_of(text: str) -> tuple[int, int] | None:
    """Return shard height and width from a memory configuration's text.

    None if it has none.
    """
    found = _SHARD.search(text)
    return (int(found[1]), int(found[2])) if found else None
