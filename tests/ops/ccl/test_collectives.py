"""Operators of several chips: there by name, refused when called."""

from __future__ import annotations

import pytest

import ttnn
from operands import make


@pytest.mark.parametrize("name", ["all_gather", "reduce_scatter", "point_to_point"])
def test_a_collective_says_that_there_is_one_chip(name: str, device: ttnn.MeshDevice) -> None:
    x = make((1, 1, 32, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    with pytest.raises(ttnn.UnsupportedError, match=rf"ttnn\.{name}: chips that work together are not modelled"):
        getattr(ttnn, name)(x, dim=3)
    with pytest.raises(RuntimeError, match="fabric"):
        ttnn.experimental.all_gather_async(x)
