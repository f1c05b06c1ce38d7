"""Scatter of block floats, which are bfloat16 in rows."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn


@pytest.mark.parametrize("kind", [ttnn.bfloat8_b, ttnn.bfloat4_b])
@pytest.mark.parametrize("source", [ttnn.bfloat16, ttnn.bfloat8_b])
def test_scatter_into_block_floats_is_that_into_bfloat16(
    kind: ttnn.DataType, source: ttnn.DataType, device: ttnn.MeshDevice
) -> None:
    rng = np.random.default_rng(3)
    index = np.argsort(rng.random((32, 64)))[:, :5].astype(np.int32)
    tiles = {"device": device, "layout": ttnn.TILE_LAYOUT}
    x = ttnn.Tensor(rng.normal(size=(32, 64)).astype(np.float32), kind, **tiles)
    values = ttnn.Tensor(rng.normal(size=(32, 5)).astype(np.float32), source, **tiles)
    places = ttnn.Tensor(index, ttnn.uint16, **tiles)
    made = ttnn.scatter(x, 1, places, values)
    assert (made.dtype, made.layout) == (ttnn.bfloat16, ttnn.TILE_LAYOUT)
    wanted = ttnn.to_torch(x).float().numpy().copy()
    np.put_along_axis(wanted, index, ttnn.to_torch(values).float().numpy(), 1)
    assert np.array_equal(ttnn.to_torch(made).float().numpy(), wanted)


def test_scatter_of_other_types_is_refused(device: ttnn.MeshDevice) -> None:
    tiles = {"device": device, "layout": ttnn.TILE_LAYOUT}
    x, values = (
        ttnn.Tensor(np.zeros((32, 32), kind), dtype, **tiles)
        for kind, dtype in ((np.float32, ttnn.bfloat8_b), (np.int32, ttnn.uint16))
    )
    with pytest.raises(ttnn.DTypeError, match="src is UINT16, input BFLOAT8_B; they must be equal"):
        ttnn.scatter(x, 1, values, values)
