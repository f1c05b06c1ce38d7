"""A million views of one tensor: the process does not grow."""

from __future__ import annotations

import copy
import os
from pathlib import Path

import numpy as np
import pytest

import ttnn

_STATM = Path("/proc/self/statm")


def _resident_bytes() -> int:
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not _STATM.exists(), reason="needs /proc")
@pytest.mark.parametrize(("kind", "count"), [("reshape", 200_000), ("copy", 1_000_000)])
def test_memory_is_flat(kind: str, count: int, device: ttnn.MeshDevice) -> None:
    source = ttnn.from_torch(np.ones((32, 32), np.float32), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    view = copy.copy if kind == "copy" else lambda tensor: ttnn.reshape(tensor, (1, 32, 32))
    for _ in range(1_000):
        view(source)
    before = _resident_bytes()
    for _ in range(count):
        view(source)
    # A reference of 72 bytes for each would be 14 and 72 MB.
    assert _resident_bytes() - before < 4 << 20
