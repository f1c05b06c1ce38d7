"""Recorded programs of official calls against the steps of ours.

Operators whose programs differ in some calls are listed with the number of these calls, and why.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from op_programs import CHANGED, DIFFERENCES, RECORDED, WORMHOLE_CHIP, agreeing, calls_of, options_of, walk
from program_options import TABLE


# Operands of several rows, of which a program reads the first, cause a warning.
@pytest.mark.filterwarnings("ignore:.*the program broadcasts its first row:UserWarning")
@pytest.mark.parametrize("chip", [WORMHOLE_CHIP, *CHANGED])
def test_recorded_programs(golden: Path, chip: str) -> None:
    compared = walk(golden, chip)
    different = Counter(one.operator for one in compared if one.differs)
    print(f"\nrecorded programs on {chip}: {len(compared) - different.total()} of {len(compared)} agree")
    listed = json.loads(DIFFERENCES.read_text(encoding="utf-8"))
    assert different == Counter({name: calls_of(entry, chip) for name, entry in listed.items()})
    if chip != WORMHOLE_CHIP:
        return
    assert agreeing(compared) == json.loads(RECORDED.read_text(encoding="utf-8"))
    official = options_of(compared)
    assert official == json.loads(TABLE.read_text(encoding="utf-8"))
    for operator, options in options_of(compared, ours=True).items():
        # In listed operators, a call that differs may be the one in which an option matters.
        assert f"ttnn.{operator}" in listed or options.items() <= official[operator].items(), operator
