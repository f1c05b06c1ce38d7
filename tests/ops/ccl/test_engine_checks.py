"""Engine steps of several chips check their arguments."""

from __future__ import annotations

from typing import Any

import pytest

import ttnn
from testkit.meshes import by_chip, different, places, same
from ttnn.base.enums import FORMAT_CODE
from ttnn.base.exceptions import TtnnError
from ttnn.runtime import engine_steps

GOOD: dict[str, Any] = {
    "format": FORMAT_CODE[ttnn.bfloat16],
    "dst32": False,
    "order": "ring",
    "chunk": 8,
    "slices": (2, 2),
    "matrix": 4,
}


@pytest.mark.parametrize(
    "changed",
    [
        {"groups": [[0, 1, 2]]},
        {"groups": [[0]]},
        {"groups": [[]]},
        {"groups": []},
        {"groups": [[0, 1, 2, 9]]},
        {"groups": [[0, 1], [2]]},
        {"groups": [[0, 1, 1, 0]]},
        {"format": FORMAT_CODE[ttnn.float32]},
        {"chunk": 0},
        {"order": "pairs", "groups": [[0, 1, 2]]},
        {"order": "turn", "chunk": 0},
        {"order": "turn", "chunk": 2**63},
        {"matrix": 0},
        {"slices": (0, 0)},
        {"slices": (2**63, 2**63)},
        {"slices": (3, 7)},
    ],
    ids=str,
)
def test_sums_of_wrong_groups_and_sizes_are_errors(ring: ttnn.MeshDevice, changed: dict[str, Any]) -> None:
    x = different(ring, (1, 1, 64, 512))
    result = ttnn.zeros([1, 1, 64, 64], ttnn.bfloat16, ttnn.TILE_LAYOUT, ring)
    with pytest.raises(TtnnError):
        engine_steps.sum_over_chips(x.buffer, result.buffer, **{"groups": places(ring), **GOOD, **changed})
    engine_steps.sum_over_chips(x.buffer, result.buffer, groups=places(ring), **GOOD)
    assert same(by_chip(result), by_chip(ttnn.reduce_scatter(x, 3, chunks_per_sync=1)))


@pytest.mark.parametrize("groups", [[[9, 0]], [[0, 0]], [[]], [[2**40, 1]]], ids=str)
def test_copies_of_wrong_groups_are_errors(ring: ttnn.MeshDevice, groups: list[list[int]]) -> None:
    x = different(ring, (1, 1, 64, 512))
    wide = ttnn.zeros([1, 1, 64, 1024], ttnn.bfloat16, ttnn.TILE_LAYOUT, ring)
    with pytest.raises(TtnnError):
        engine_steps.send_pages(x.buffer, wide.buffer, groups=groups, position=0, kept=True)
    with pytest.raises(TtnnError):
        engine_steps.gather_slices(x.buffer, wide.buffer, groups=groups, slices=(2, 16))
    with pytest.raises(TtnnError):
        engine_steps.take_slices(wide.buffer, x.buffer, groups=groups, slices=(2, 16))
    assert not any(part.any() for part in by_chip(wide))
