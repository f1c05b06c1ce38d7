"""`ttnn.narrow` and `ttnn.chunk`: parts as PyTorch returns them, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
@pytest.mark.parametrize(("dim", "start", "length"), [(-1, 32, 64), (2, 5, 40), (0, 1, 1), (1, -2, 2), (3, 0, 96)])
def test_narrow_is_that_of_torch(
    dim: int, start: int, length: int, layout: ttnn.Layout, device: ttnn.MeshDevice
) -> None:
    torch = pytest.importorskip("torch")
    x = make((2, 3, 64, 96), ttnn.float32, layout, device)
    expected = torch.narrow(torch.from_numpy(values_of(x)), dim, start, length)
    np.testing.assert_array_equal(values_of(ttnn.narrow(x, dim, start, length)), expected.numpy())


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
@pytest.mark.parametrize(("chunks", "dim"), [(3, -1), (2, 2), (5, 1), (7, -2), (1, 0)])
def test_chunks_are_those_of_torch(chunks: int, dim: int, layout: ttnn.Layout, device: ttnn.MeshDevice) -> None:
    torch = pytest.importorskip("torch")
    x = make((2, 3, 64, 96), ttnn.float32, layout, device)
    pieces, expected = ttnn.chunk(x, chunks, dim), torch.chunk(torch.from_numpy(values_of(x)), chunks, dim)
    assert len(pieces) == len(expected)
    for piece, part in zip(pieces, expected, strict=True):
        np.testing.assert_array_equal(values_of(piece), part.numpy())


def test_wrong_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    x = make((2, 3, 64, 96), ttnn.float32, ttnn.TILE_LAYOUT, device)
    with pytest.raises(ttnn.ShapeError, match="leave dimension"):
        ttnn.narrow(x, 2, 60, 5)
    with pytest.raises(ttnn.ShapeError, match="must be positive"):
        ttnn.chunk(x, 0, 1)
