"""States of an operator's bits, per chip and data type.

`verified.json` lists the operators and data types that recorded vectors of a chip cover; `cargo xtask coverage` writes
it.
`recorded.json` lists the operators whose programs are those of the official package in every recorded call;
`tests/golden/op_programs.py --write` writes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from ttnn.base.enums import Arch, DataType

State = Literal["verified", "listing", "reference", "movement"]
"""States of bits: recorded, stepwise, exactly rounded, copied.

Covered by recorded vectors; steps of the public kernel without a vector; the exact result, rounded once; copied.
"""


class States(dict[DataType, State]):
    """States of bits by data type, on one generation of chips.

    Attributes:
        arch: The generation.
    """

    def __init__(self, states: Mapping[DataType, State], arch: Arch) -> None:
        super().__init__(states)
        self.arch = arch

    def __repr__(self) -> str:
        states = ", ".join(f"{dtype.name.lower()}: {state}" for dtype, state in self.items())
        return f"States({self.arch.name.lower()}: {{{states}}})"


@cache
def covered(arch: Arch) -> dict[str, list[str]]:
    """Return each operator's data types that vectors of a chip cover."""
    text = Path(__file__).with_name("verified.json").read_text(encoding="utf-8")
    found: dict[str, list[str]] = json.loads(text)[arch.name.lower()]
    return found


@cache
def recorded() -> frozenset[str]:
    """Return the operators whose recorded programs all agree with ours."""
    return frozenset(json.loads(Path(__file__).with_name("recorded.json").read_text(encoding="utf-8")))


def state(operator: str, dtype: DataType, arch: Arch) -> State:
    """Return a step-following operator's state of bits, by default options.

    It follows the kernel's steps.
    """
    return "verified" if dtype.name.lower() in covered(arch).get(operator, ()) else "listing"
