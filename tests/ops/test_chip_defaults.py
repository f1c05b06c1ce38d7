"""Operator defaults that depend on the chip: fidelity, convolution shards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import pytest

import ttnn

HIFI3, HIFI4 = ttnn.MathFidelity.HiFi3, ttnn.MathFidelity.HiFi4
HEIGHT, BLOCK = ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.TensorMemoryLayout.BLOCK_SHARDED


@pytest.fixture(params=["n150", "p100", "p150"])
def on_chip(request: pytest.FixtureRequest) -> Iterator[ttnn.MeshDevice]:
    opened = ttnn.open_device(device_id=0, chip=request.param)
    yield opened
    ttnn.close_device(opened)


def _words(tensor: ttnn.Tensor) -> list[int]:
    found: list[int] = np.asarray(tensor.cpu().to_list(), dtype=np.float32).view(np.uint32).ravel().tolist()
    return found


def _normal(shape: tuple[int, ...], seed: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


CALLS: Final[dict[str, Callable[[ttnn.Tensor, Any], ttnn.Tensor]]] = {
    "matmul": lambda x, config: ttnn.matmul(x, x, compute_kernel_config=config),
    "softmax of columns": lambda x, config: ttnn.softmax(x, -2, compute_kernel_config=config),
    "softmax": lambda x, config: ttnn.softmax(x, -1, compute_kernel_config=config),
}


@pytest.mark.parametrize("name", CALLS)
def test_float32_has_four_phases_on_blackhole(on_chip: ttnn.MeshDevice, name: str) -> None:
    x = ttnn.Tensor(_normal((1, 2, 64, 64), 7), ttnn.float32, layout=ttnn.TILE_LAYOUT, device=on_chip)
    results = {
        fidelity: _words(
            CALLS[name](
                x,
                ttnn.WormholeComputeKernelConfig(math_fidelity=fidelity, math_approx_mode=False, fp32_dest_acc_en=True),
            )
        )
        for fidelity in (HIFI3, HIFI4)
    }
    assert results[HIFI3] != results[HIFI4]
    assert _words(CALLS[name](x, None)) == results[HIFI4 if ttnn.is_blackhole(on_chip) else HIFI3]


def test_convolutions_have_blocks_where_they_fill_a_row_of_cores(on_chip: ttnn.MeshDevice) -> None:
    # Two rows of tiles and four parts of the channels are a row of cores of a Wormhole, and less than one of a
    # Blackhole.
    image = ttnn.Tensor(_normal((1, 1, 256, 32), 1), ttnn.bfloat16, device=on_chip)
    weights = ttnn.Tensor(_normal((32, 32, 3, 3), 2), ttnn.bfloat16)

    def result(shards: ttnn.TensorMemoryLayout | None) -> list[int]:
        return _words(
            ttnn.conv2d(
                input_tensor=image,
                weight_tensor=weights,
                device=on_chip,
                in_channels=32,
                out_channels=32,
                batch_size=1,
                input_height=16,
                input_width=16,
                kernel_size=(3, 3),
                stride=(2, 2),
                padding=(1, 1),
                conv_config=ttnn.Conv2dConfig(shard_layout=shards),
            )
        )

    assert result(HEIGHT) != result(BLOCK)
    assert result(None) == result(HEIGHT if ttnn.is_blackhole(on_chip) else BLOCK)


def test_group_norm_of_interleaved_rows_is_for_wormhole(on_chip: ttnn.MeshDevice) -> None:
    rows = ttnn.Tensor(_normal((1, 1, 64, 64), 3), ttnn.bfloat16, device=on_chip)
    tiles = ttnn.to_layout(rows, ttnn.TILE_LAYOUT)
    expected = ttnn.group_norm(tiles, num_groups=2, inplace=False)
    if ttnn.is_blackhole(on_chip):
        with pytest.raises(ttnn.LayoutError, match="input must be in TILE layout, got ROW_MAJOR"):
            ttnn.group_norm(rows, num_groups=2, inplace=False)
    else:
        assert _words(ttnn.group_norm(rows, num_groups=2, inplace=False)) == _words(expected)


def test_decoding_joins_the_sums_of_at_most_64_cores(on_chip: ttnn.MeshDevice) -> None:
    grid = on_chip.compute_with_storage_grid_size()
    query, cache = (
        ttnn.Tensor(_normal(shape, 4), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=on_chip)
        for shape in ((1, 1, 8, 64), (1, 1, 128, 64))
    )

    def decode(config: ttnn.SDPAProgramConfig | None) -> ttnn.Tensor:
        attention = ttnn.transformer.scaled_dot_product_attention_decode
        return attention(query, cache, cache, cur_pos=[100], program_config=config)

    most = ttnn.SDPAProgramConfig(
        compute_with_storage_grid_size=grid, q_chunk_size=0, k_chunk_size=128, max_cores_per_head_batch=64
    )
    assert decode(most).shape == query.shape
    if grid.x * grid.y > 64:
        with pytest.raises(ttnn.ProgramConfigError, match=rf"64 cores/head\), got {grid.x * grid.y} cores/head"):
            decode(None)
    else:
        assert decode(None).shape == query.shape
