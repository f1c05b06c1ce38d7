"""Data movement, compared with numpy's copy of the result's bytes.

Both are measured in the same run.

Run on one thread: `TTNN_THREADS=1 pytest benches/test_movement.py --benchmark-only`; the ratios are printed below the
table. Results are 8 MiB, which caches hold, or 64 MiB, which they do not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttnn
from ratios import compare, copy_of

Case = Callable[[ttnn.MeshDevice, int], tuple[Callable[[], object], int]]
"""Call constructor for a size in MiB, and its copied bytes."""
TILES, ROWS = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT
LAYOUTS = {"tiles": TILES, "rows": ROWS}


def _zeros(device: ttnn.MeshDevice, shape: tuple[int, ...], layout: ttnn.Layout = TILES) -> ttnn.Tensor:
    return ttnn.zeros(shape, ttnn.bfloat16, layout, device)


def _embedding(layout: ttnn.Layout) -> Case:
    def make(device: ttnn.MeshDevice, size: int) -> tuple[Callable[[], object], int]:
        table = _zeros(device, (32000, 1024), ROWS)
        names = np.random.default_rng(1).integers(0, 32000, (8, 64 * size)).astype(np.int32)
        indices = ttnn.Tensor(names, ttnn.uint32, device, ROWS)
        return lambda: ttnn.embedding(indices, table, layout=layout), names.size * 2048

    return make


def _concat(dim: int, layout: ttnn.Layout) -> Case:
    def make(device: ttnn.MeshDevice, size: int) -> tuple[Callable[[], object], int]:
        parts = [_zeros(device, (1, size, 1024, 256), layout) for _ in range(2)]
        return lambda: ttnn.concat(parts, dim), size << 20

    return make


def _slice(starts: tuple[int, ...], ends: tuple[int, ...], layout: ttnn.Layout) -> Case:
    def make(device: ttnn.MeshDevice, size: int) -> tuple[Callable[[], object], int]:
        x = _zeros(device, (1, 2 * size, 1024, 512), layout)
        first, last = [0, starts[0] * size, *starts[1:]], [1, ends[0] * size, *ends[1:]]
        return lambda: ttnn.slice(x, first, last), size << 20

    return make


def _split_heads(transposed: bool) -> Case:
    def make(device: ttnn.MeshDevice, size: int) -> tuple[Callable[[], object], int]:
        x = _zeros(device, (size, 1, 512, 1024))
        split = ttnn.experimental.nlp_create_qkv_heads
        return (
            lambda: split(x, num_heads=8, num_kv_heads=4, transpose_k_heads=transposed),
            size << 20,
        )

    return make


def _join_heads(device: ttnn.MeshDevice, size: int) -> tuple[Callable[[], object], int]:
    x = _zeros(device, (size, 16, 512, 64))
    return lambda: ttnn.transformer.concatenate_heads(x), size << 20


def _fill_cache(device: ttnn.MeshDevice, size: int) -> tuple[Callable[[], object], int]:
    cache, new = _zeros(device, (2, 8, 512 * size, 128)), _zeros(device, (1, 8, 512 * size, 128))
    return lambda: ttnn.fill_cache(cache, new, 1), size << 20


def _update_cache(device: ttnn.MeshDevice, size: int) -> tuple[Callable[[], object], int]:
    users = 32 * size
    cache, new = _zeros(device, (users, 8, 64, 128)), _zeros(device, (1, 8, users, 128))
    # The tiles that have the row.
    return lambda: ttnn.update_cache(cache, new, 33), users * 8 * 32 * 128 * 2


CASES: dict[str, Case] = {
    **{f"embedding to {name}": _embedding(layout) for name, layout in LAYOUTS.items()},
    **{f"concat along {dim}, {name}": _concat(dim, layout) for dim in (1, 2, 3) for name, layout in LAYOUTS.items()},
    **{
        f"slice of {what}, {name}": _slice(*bounds, layout)
        for what, bounds in {
            "matrices": ((0, 0, 0), (1, 1024, 512)),
            "rows": ((0, 256, 0), (2, 768, 512)),
            "columns": ((0, 0, 128), (2, 1024, 384)),
        }.items()
        for name, layout in LAYOUTS.items()
    },
    "split heads": _split_heads(False),
    "split heads, keys transposed": _split_heads(True),
    "join heads": _join_heads,
    "fill cache": _fill_cache,
    "update cache": _update_cache,
}


@pytest.mark.benchmark(group="movement")
@pytest.mark.parametrize("size", [8, 64])
@pytest.mark.parametrize("name", CASES)
def test_movement(benchmark: Any, device: ttnn.MeshDevice, name: str, size: int) -> None:
    run, size_bytes = CASES[name](device, size)
    compare(benchmark, run, copy_of(size_bytes), "memcpy")
