"""`ttnn.experimental.intimg` against running sums of integers, which are exact."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of
from ttnn.golden import reduction as golden

TILES = ttnn.TILE_LAYOUT


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (1, 5, 40, 33), (1, 100, 70, 32)])
def test_sums_of_integers(shape: tuple[int, ...], dtype: ttnn.DataType, device: ttnn.MeshDevice) -> None:
    # Few elements that are not 0 keep sums small enough for bfloat16.
    generator = np.random.default_rng(0)
    values = generator.integers(-1, 1, size=shape, endpoint=True) * (generator.random(shape) < 0.25)
    values = values.astype(np.float32)
    x = ttnn.Tensor(values, dtype, None, TILES).to(device)
    result = ttnn.experimental.intimg(x)
    expected = golden.intimg(values)
    assert np.abs(expected).max() < 256
    assert (result.shape, result.dtype, result.layout) == (x.shape, dtype, TILES)
    np.testing.assert_array_equal(values_of(result), expected)


def test_shards_stay(device: ttnn.MeshDevice) -> None:
    shards = ttnn.create_sharded_memory_config((1, 2, 64, 64), ttnn.CoreGrid(y=4, x=1), ttnn.ShardStrategy.HEIGHT)
    x = make((1, 2, 64, 64), ttnn.bfloat16, TILES, device, memory_config=shards)
    result = ttnn.experimental.intimg(x)
    assert result.memory_config() == shards
    same = ttnn.experimental.intimg(ttnn.to_memory_config(x, ttnn.DRAM_MEMORY_CONFIG))
    np.testing.assert_array_equal(values_of(result), values_of(same))


def test_wrong_arguments_raise_errors(device: ttnn.MeshDevice) -> None:
    intimg = ttnn.experimental.intimg
    with pytest.raises(ttnn.ShapeError, match="only one batch, found 2"):
        intimg(make((2, 2, 32, 32), ttnn.bfloat16, TILES, device))
    with pytest.raises(ttnn.ShapeError, match="only 4D tensors"):
        intimg(make((2, 32, 32), ttnn.bfloat16, TILES, device))
    with pytest.raises(ttnn.LayoutError, match="only tile layout is supported"):
        intimg(make((1, 2, 32, 32), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device))
    with pytest.raises(ttnn.DTypeError, match="only bf16 and fp32 dtypes"):
        intimg(make((1, 2, 32, 32), ttnn.bfloat8_b, TILES, device))
