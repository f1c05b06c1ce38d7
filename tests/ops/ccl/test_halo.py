"""Slices that chips exchange with their neighbours."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.meshes import by_chip, different, semaphores


@pytest.mark.parametrize("mode", ["zeros", "replicate"])
@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT], ids=str)
def test_neighbor_pad(line: ttnn.MeshDevice, mode: str, layout: ttnn.Layout) -> None:
    x = ttnn.to_layout(different(line, (2, 4, 6, 32)), layout)
    parts, two = by_chip(x), semaphores(line, 2)
    padded = ttnn.experimental.neighbor_pad_async(x, [1, 2], [1, 2], [2, 1], mode, [1, 0], two, two)
    rows = [np.concatenate(parts[row * 4 : row * 4 + 4], 1) for row in range(2)]
    whole = np.concatenate(rows, 2)
    edges = ((0, 0), (1, 2), (2, 1), (0, 0))
    whole = np.pad(whole, edges, mode="edge" if mode == "replicate" else "constant")
    for chip, part in enumerate(by_chip(padded)):
        row, column = divmod(chip, 4)
        assert np.array_equal(part, whole[:, column * 4 : column * 4 + 7, row * 6 : row * 6 + 9])


def test_slice_reshard(line: ttnn.MeshDevice) -> None:
    x, one = ttnn.to_layout(different(line, (6, 2, 4, 32)), ttnn.ROW_MAJOR_LAYOUT), semaphores(line, 1)[0]
    parts = by_chip(x)
    results = by_chip(ttnn.experimental.slice_reshard_async(x, 0, 3, 12, 1, one, one))
    for chip, result in enumerate(results):
        whole = np.concatenate(parts[chip // 4 * 4 : chip // 4 * 4 + 4], 0)
        assert np.array_equal(result, whole[3 + chip % 4 * 3 : 6 + chip % 4 * 3])
    with pytest.raises(ttnn.ShapeError, match="4 chips have 24 rows"):
        ttnn.experimental.slice_reshard_async(x, 0, 16, 12, 1, one, one)
