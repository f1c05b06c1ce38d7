"""Views on another tensor's memory.

How many there were leaves no trace.
"""

from __future__ import annotations

import copy
import gc
import tracemalloc

import numpy as np
import pytest

import ttnn
from ttnn.base.exceptions import StorageError


@pytest.fixture
def source(device: ttnn.MeshDevice) -> ttnn.Tensor:
    return _tensor(device)


def _tensor(device: ttnn.MeshDevice) -> ttnn.Tensor:
    return ttnn.from_torch(np.ones((32, 32), np.float32), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)


def _growth(calls: int, source: ttnn.Tensor, shapes: tuple[tuple[int, ...], ...]) -> int:
    """Return bytes still allocated after `calls` dropped reshapes."""
    for shape in shapes:
        ttnn.reshape(source, shape)
    tracemalloc.start()
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    for call in range(calls):
        ttnn.reshape(source, shapes[call % len(shapes)])
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return after - before


def test_dropped_views_take_no_memory(source: ttnn.Tensor) -> None:
    assert _growth(5_000, source, ((1, 32, 32), (1, 1, 32, 32))) < 20_000


def test_a_buffer_lives_until_its_last_view_is_deallocated(source: ttnn.Tensor) -> None:
    first, second = ttnn.reshape(source, (1, 32, 32)), copy.copy(source)
    ttnn.deallocate(first, force=False)
    assert source.is_allocated()
    del first
    ttnn.deallocate(second, force=False)
    assert source.is_allocated()
    del second
    ttnn.deallocate(source, force=False)
    assert not source.is_allocated()
    with pytest.raises(StorageError, match="was deallocated"):
        ttnn.exp(source)


def test_a_view_outlives_what_it_was_made_of(device: ttnn.MeshDevice) -> None:
    source = _tensor(device)
    view = ttnn.reshape(source, (1, 32, 32))
    further = copy.copy(view)
    del source
    ttnn.deallocate(further, force=False)
    assert further.is_allocated()
    del view
    ttnn.deallocate(further, force=False)
    assert not further.is_allocated()
