"""Tensors from bytes and back, without any conversion of values between."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import ttnn
from ttnn.base.tensor_spec import TensorSpec

Bytes = NDArray[np.uint8]


def from_bytes(tiles: Bytes, shape: tuple[int, ...], dtype: ttnn.DataType) -> ttnn.Tensor:
    """Return the host tensor of padded `tiles`, in row-major tile order."""
    return ttnn.Tensor._on_host(TensorSpec.of(shape, dtype, ttnn.TILE_LAYOUT), np.ascontiguousarray(tiles).reshape(-1))


def to_bytes(tensor: ttnn.Tensor) -> Bytes:
    """Return a tensor's padded buffer, on host or device."""
    host = tensor if tensor.storage_type() is ttnn.StorageType.HOST else ttnn.from_device(tensor)
    return host._require_host("ttnn.cli.goldens")
