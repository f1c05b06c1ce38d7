"""Attention on meshes: positions, page tables and sinks that differ between chips."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import ttnn
from testkit.meshes import by_chip

Array = NDArray[np.float32]
CHIPS, USERS, HEADS, GROUPS, WIDTH, LENGTH = 4, 2, 8, 2, 64, 128
RNG = np.random.default_rng(11)
QUERIES = RNG.normal(size=(CHIPS, 1, USERS, HEADS, WIDTH)).astype(np.float32)
KEYS = RNG.normal(size=(CHIPS, USERS, GROUPS, LENGTH, WIDTH)).astype(np.float32)
VALUES = RNG.normal(size=(CHIPS, USERS, GROUPS, LENGTH, WIDTH)).astype(np.float32)
SINKS = np.repeat(RNG.normal(size=(CHIPS, HEADS, 1)).astype(np.float32), 32, -1)
POSITIONS = np.array([[5, 127], [64, 3], [31, 32], [99, 0]], np.int32)
PAGES = np.stack([RNG.permutation(USERS * LENGTH // 32).reshape(USERS, -1) for _ in range(CHIPS)]).astype(np.int32)

Placed = Callable[..., ttnn.Tensor]


def placer(mesh: ttnn.MeshDevice, chip: int | None) -> Placed:
    """Return a function that places one part, or each on its chip."""

    def placed(
        parts: Array, dtype: ttnn.DataType = ttnn.bfloat16, layout: ttnn.Layout = ttnn.TILE_LAYOUT
    ) -> ttnn.Tensor:
        if chip is not None:
            return ttnn.Tensor(parts[chip], dtype, device=mesh, layout=layout)
        whole = parts.reshape(-1, *parts.shape[2:])
        return ttnn.Tensor(whole, dtype, device=mesh, layout=layout, mesh_mapper=ttnn.ShardTensorToMesh(mesh, 0))

    return placed


def decode(placed: Placed) -> ttnn.Tensor:
    return ttnn.transformer.scaled_dot_product_attention_decode(
        *(placed(parts) for parts in (QUERIES, KEYS, VALUES)),
        cur_pos_tensor=placed(POSITIONS, ttnn.int32, ttnn.ROW_MAJOR_LAYOUT),
        attention_sink=placed(SINKS),
    )


def paged(placed: Placed) -> ttnn.Tensor:
    caches = (parts.reshape(CHIPS, -1, GROUPS, 32, WIDTH) for parts in (KEYS, VALUES))
    return ttnn.transformer.paged_scaled_dot_product_attention_decode(
        placed(QUERIES),
        *map(placed, caches),
        placed(PAGES, ttnn.int32, ttnn.ROW_MAJOR_LAYOUT),
        cur_pos_tensor=placed(POSITIONS, ttnn.int32, ttnn.ROW_MAJOR_LAYOUT),
    )


def prefill(placed: Placed) -> ttnn.Tensor:
    queries = np.repeat(QUERIES.transpose(0, 2, 3, 1, 4), LENGTH, 3)
    return ttnn.transformer.scaled_dot_product_attention(
        *(placed(parts) for parts in (queries, KEYS, VALUES)),
        is_causal=True,
        attention_sink=placed(SINKS[:, None, :, :1, None]),
    )


@pytest.mark.parametrize("attention", [decode, paged, prefill])
def test_each_chip_has_its_own_positions_pages_and_sinks(attention: Callable[[Placed], ttnn.Tensor]) -> None:
    with ttnn.create_mesh_device(ttnn.MeshShape(1, CHIPS)) as mesh:
        placed = placer(mesh, None)
        first, made = (by_chip(attention(placed)) for _ in range(2))
    assert all(np.array_equal(one, other) for one, other in zip(first, made, strict=True))
    assert len({part.tobytes() for part in made}) == CHIPS
    # A grid of as many cores.
    with ttnn.manage_device(device_id=0, chip="n300") as single:
        alone = [by_chip(attention(placer(single, chip))) for chip in range(CHIPS)]
    assert all(np.array_equal(part, whole) for part, (whole,) in zip(made, alone, strict=True))
