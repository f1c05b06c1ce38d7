"""What checks of operators share: cases of an archive, tensors of their bytes, and the verdict on a result."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

import ttnn
from ttnn.cli.goldens.raw import from_bytes, to_bytes
from ttnn.cli.goldens.walk import Archive, Computed, Uncovered, Verdict

DTYPE = {"bf16": ttnn.bfloat16, "bf8": ttnn.bfloat8_b, "f32": ttnn.float32}
OF_TILE_BYTES = {1088: ttnn.bfloat8_b, 2048: ttnn.bfloat16, 4096: ttnn.float32}


def on_device(tiles: np.ndarray, shape: tuple[int, ...], dtype: ttnn.DataType, device: ttnn.MeshDevice) -> ttnn.Tensor:
    """Return a tensor of tile bytes on the device."""
    return ttnn.to_device(from_bytes(tiles, shape, dtype), device)


def attempt(name: str, run: Callable[[], ttnn.Tensor], shape: tuple[int, ...]) -> Verdict:
    """Return the bytes of an operator's result, or what it does not support."""
    try:
        return Computed(name, to_bytes(run()).reshape(shape))
    except ttnn.UnsupportedError as error:
        return Uncovered(name, str(error).splitlines()[0])


def cases(archive: Archive) -> list[dict[str, Any]]:
    """Return the cases that an archive describes."""
    cases: list[dict[str, Any]] = json.loads(archive["meta"].tobytes())
    return cases
