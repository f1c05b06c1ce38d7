"""States of an operator's bits, per data type.

`verified.json` lists the operators and data types that recorded vectors cover; `cargo xtask coverage` writes it.
`recorded.json` lists the operators whose programs are those of the official package in every recorded call;
`tests/golden/op_programs.py --write` writes it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Literal

from ttnn.base.enums import DataType

State = Literal["verified", "listing", "reference", "movement"]
"""States of bits: recorded, stepwise, exactly rounded, copied.

Covered by recorded vectors; steps of the public kernel without a vector; the exact result, rounded once; copied.
"""


@cache
def covered() -> dict[str, list[str]]:
    """Return the data types of each operator that recorded vectors cover."""
    found: dict[str, list[str]] = json.loads(Path(__file__).with_name("verified.json").read_text(encoding="utf-8"))
    return found


@cache
def recorded() -> frozenset[str]:
    """Return the operators whose recorded programs all agree with ours."""
    return frozenset(json.loads(Path(__file__).with_name("recorded.json").read_text(encoding="utf-8")))


def state(operator: str, dtype: DataType) -> State:
    """Return a step-following operator's state of bits, by default options.

    It follows the kernel's steps.
    """
    return "verified" if dtype.name.lower() in covered().get(operator, ()) else "listing"
