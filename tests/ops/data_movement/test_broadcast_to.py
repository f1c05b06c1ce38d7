"""`ttnn.experimental.broadcast_to`."""

from __future__ import annotations

import numpy as np
import pytest

import ttnn
from testkit.operands import make, values_of

TILES = ttnn.TILE_LAYOUT


def test_broadcast_to_writes_into_output(device: ttnn.MeshDevice) -> None:
    x = make((1, 40, 1), ttnn.bfloat16, TILES, device)
    output = make((3, 40, 70), ttnn.bfloat16, TILES, device, 1)
    assert ttnn.experimental.broadcast_to(x, (3, 40, 70), output=output) is output
    np.testing.assert_array_equal(values_of(output), np.broadcast_to(values_of(x), (3, 40, 70)))
    with pytest.raises(ttnn.ShapeError, match=r"output_tensor is Shape\(\[3, 40, 70\]\)"):
        ttnn.experimental.broadcast_to(x, (2, 40, 70), output=output)
    with pytest.raises(ttnn.DTypeError, match="FLOAT32"):
        ttnn.experimental.broadcast_to(x, (3, 40, 70), output=make((3, 40, 70), ttnn.float32, TILES, device))
    with pytest.raises(ttnn.MemoryConfigError, match="memory_config"):
        ttnn.experimental.broadcast_to(x, (3, 40, 70), memory_config=ttnn.L1_MEMORY_CONFIG, output=output)


@pytest.mark.parametrize("shapes", [((1, 1, 1), (1, 1)), ((1, 1), (1, 1, 1, 1, 1)), ((1,) * 5, (1,) * 5)], ids=str)
def test_broadcast_to_of_other_ranks_raises(
    shapes: tuple[tuple[int, ...], tuple[int, ...]], device: ttnn.MeshDevice
) -> None:
    with pytest.raises(ttnn.ShapeError, match=r"expected \d to 4"):
        ttnn.experimental.broadcast_to(make(shapes[0], ttnn.bfloat16, TILES, device), shapes[1])


def test_shards_are_refused(device: ttnn.MeshDevice) -> None:
    place = ttnn.create_sharded_memory_config(
        (32, 32), ttnn.CoreGrid(y=1, x=1), ttnn.ShardStrategy.HEIGHT, use_height_and_width_as_shard_shape=True
    )
    x = make((1, 32), ttnn.bfloat16, TILES, device)
    with pytest.raises(ttnn.MemoryConfigError, match="Input sharding not supported"):
        ttnn.experimental.broadcast_to(ttnn.to_memory_config(x, place), (32, 32))
    with pytest.raises(ttnn.MemoryConfigError, match="Output sharding not supported"):
        ttnn.experimental.broadcast_to(x, (32, 32), memory_config=place)
