"""Inputs of the benches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ttnn


def matrix(random: np.random.Generator, size: int) -> NDArray[np.float32]:
    """Return a square matrix of standard normal values."""
    return random.standard_normal((size, size), np.float32)


def on_device(values: Any, dtype: str, device: ttnn.MeshDevice) -> ttnn.Tensor:
    """Return the values tiled, in a data type given by name."""
    return ttnn.Tensor(values, getattr(ttnn, dtype), device, ttnn.TILE_LAYOUT)


def in_torch(values: Any, dtype: str) -> Any:
    """Return the values as a torch tensor.

    It is bfloat16 for block floats, too; torch gets as many threads as ttnn has.
    """
    torch = pytest.importorskip("torch")
    torch.set_num_threads(ttnn.CONFIG.threads)
    tensor = torch.from_numpy(values)
    return tensor.bfloat16() if dtype.startswith("bfloat") else tensor
