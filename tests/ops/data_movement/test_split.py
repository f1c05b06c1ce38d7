"""`ttnn.split`: pieces as PyTorch returns them, and what it refuses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
@pytest.mark.parametrize(
    ("size", "dim"), [(32, -1), (32, 3), (40, -2), (1, 0), (100, 1), ([32, 64], -1), ([3, 0, 61], 2)]
)
def test_pieces_are_those_of_torch(
    size: int | Sequence[int], dim: int, layout: ttnn.Layout, device: ttnn.MeshDevice
) -> None:
    torch = pytest.importorskip("torch")
    x = make((2, 3, 64, 96), ttnn.float32, layout, device)
    pieces = ttnn.split(x, size, dim)
    expected = torch.split(torch.from_numpy(values_of(x)), size, dim)
    assert len(pieces) == len(expected)
    for piece, part in zip(pieces, expected, strict=True):
        np.testing.assert_array_equal(values_of(piece), part.numpy())


def test_a_place_for_the_pieces(device: ttnn.MeshDevice) -> None:
    x = make((64, 96), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    pieces = ttnn.split(x, 32, memory_config=ttnn.L1_MEMORY_CONFIG)
    assert [piece.memory_config() for piece in pieces] == [ttnn.L1_MEMORY_CONFIG] * 2
    assert [list(piece.shape) for piece in pieces] == [[32, 96], [32, 96]]


@pytest.mark.parametrize(
    ("size", "dim", "text"),
    [
        (0, 0, "split_size=0 must be positive"),
        ([32, 33], 0, r"split_size=\[32, 33\] must add up to 64, the size of dimension 0"),
        ([65, -1], 0, "must add up to 64"),
        (32, 2, "dim=2 is out of range for a tensor of rank 2"),
    ],
)
def test_wrong_arguments_raise_errors(size: int | Sequence[int], dim: int, text: str, device: ttnn.MeshDevice) -> None:
    x = make((64, 96), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    with pytest.raises(ttnn.ShapeError, match=text):
        ttnn.split(x, size, dim)
