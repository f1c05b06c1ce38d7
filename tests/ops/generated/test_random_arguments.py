"""Sampled calls of `random_arguments.py`: valid results or errors.

And nothing left.
"""

from __future__ import annotations

from collections import Counter

import pytest

import ttnn
from testkit.random_arguments import allocated, run_one

CALLS = 150


# Operands of several rows, of which a program reads the first, cause a warning.
@pytest.mark.filterwarnings("ignore:.*the program broadcasts its first row:UserWarning")
@pytest.mark.parametrize("block", range(16))
def test_a_block_of_calls(block: int, device: ttnn.MeshDevice) -> None:
    before = allocated(device)
    ends = Counter(run_one(block * CALLS + i, device) for i in range(CALLS))
    assert allocated(device) == before
    assert ends["result"] > CALLS // 10
    assert len(ends) > 4
