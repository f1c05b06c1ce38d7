"""`ttnn.hardswish`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import ttnn
from testkit.operands import NAMES, from_raw, golden_cases, raw_of


def test_hardswish(golden: Path, device: ttnn.MeshDevice) -> None:
    arrays, cases = golden_cases(golden, "hardswish")
    for case in cases:
        name = case["case"]
        x = from_raw(arrays[f"{name}.in0"], tuple(case["shape"]), NAMES[case["dtype"]], device)
        np.testing.assert_array_equal(raw_of(ttnn.hardswish(x)), arrays[f"{name}.out"].reshape(-1))
    assert cases
