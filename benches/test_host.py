"""Host tensors: building, reading, opening, compared with numpy's copy.

The copy has the same bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttnn
from inputs import matrix

SIZE = 4096
DTYPES = ["float32", "bfloat16", "bfloat8_b", "bfloat4_b"]


@pytest.mark.benchmark(group="from float32, tiles, 4096 x 4096")
@pytest.mark.parametrize("dtype", DTYPES)
def test_tilize(benchmark: Any, random: np.random.Generator, dtype: str) -> None:
    values = matrix(random, SIZE)
    benchmark(ttnn.Tensor, values, getattr(ttnn, dtype), None, ttnn.TILE_LAYOUT)


@pytest.mark.benchmark(group="from float32, tiles, 4096 x 4096")
def test_numpy_copy(benchmark: Any, random: np.random.Generator) -> None:
    benchmark(matrix(random, SIZE).copy)


@pytest.mark.benchmark(group="from_torch to the device and to_torch, 1024 x 1024")
@pytest.mark.parametrize("dtype", DTYPES)
def test_round_trip_through_torch(
    benchmark: Any, device: ttnn.MeshDevice, random: np.random.Generator, dtype: str
) -> None:
    torch = pytest.importorskip("torch")
    values = torch.from_numpy(matrix(random, 1024))

    def round_trip() -> Any:
        tensor = ttnn.from_torch(values, dtype=getattr(ttnn, dtype), layout=ttnn.TILE_LAYOUT, device=device)
        return ttnn.to_torch(tensor)

    benchmark(round_trip)


@pytest.mark.benchmark(group="to_torch, 4096 x 4096")
@pytest.mark.parametrize("dtype", DTYPES)
def test_to_torch(benchmark: Any, random: np.random.Generator, dtype: str) -> None:
    pytest.importorskip("torch")
    benchmark(ttnn.to_torch, ttnn.Tensor(matrix(random, SIZE), getattr(ttnn, dtype), None, ttnn.TILE_LAYOUT))


@pytest.mark.benchmark(group="open and close a device")
def test_open_device(benchmark: Any) -> None:
    def open_and_close() -> None:
        ttnn.close_device(ttnn.open_device(device_id=1))

    benchmark(open_and_close)
