"""Shared operator checks: archive cases, tensors of bytes, comparison."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import ttnn
from ttnn.base.exceptions import FileFormatError
from ttnn.cli.goldens.chips import Chip
from ttnn.cli.goldens.raw import from_bytes, to_bytes
from ttnn.cli.goldens.walk import Archive, Computed, Uncovered, Verdict
from ttnn.operation.registry import FastOperation

DTYPE = {"bf16": ttnn.bfloat16, "bf8": ttnn.bfloat8_b, "f32": ttnn.float32}
OF_TILE_BYTES = {1088: ttnn.bfloat8_b, 2048: ttnn.bfloat16, 4096: ttnn.float32}


@contextmanager
def opened(chip: Chip) -> Iterator[ttnn.MeshDevice]:
    """Open a device with this chip for a `with` block."""
    with ttnn.manage_device(device_id=0, chip=chip.board) as device:
        yield device


def on_device(tiles: np.ndarray, shape: tuple[int, ...], dtype: ttnn.DataType, device: ttnn.MeshDevice) -> ttnn.Tensor:
    """Return a tensor of tile bytes on the device."""
    return ttnn.to_device(from_bytes(tiles, shape, dtype), device)


def attempt(name: str, run: Callable[[], ttnn.Tensor], shape: tuple[int, ...]) -> Verdict:
    """Return an operator result's bytes, or what it does not support."""
    try:
        return Computed(name, to_bytes(run()).reshape(shape))
    except ttnn.UnsupportedError as error:
        return Uncovered(name, str(error).splitlines()[0])


def operator_of(case: dict[str, Any]) -> FastOperation:
    """Return the operator that a case names, in `ttnn` or `ttnn.experimental`.

    Raises:
        FileFormatError: the name is that of something else.
    """
    name = str(case["op"])
    found = next((one for module in (ttnn, ttnn.experimental) if (one := vars(module).get(name)) is not None), None)
    if not isinstance(found, FastOperation):
        raise FileFormatError(f"goldens: {name!r} is not an operator")
    return found


def cases(archive: Archive) -> list[dict[str, Any]]:
    """Return the cases that an archive describes."""
    cases: list[dict[str, Any]] = json.loads(archive["meta"].tobytes())
    return cases


def each(
    check: Callable[[dict[str, Any], Archive, ttnn.MeshDevice], Iterator[Verdict]],
    _path: Path,
    archive: Archive,
    chip: Chip,
) -> Iterator[Verdict]:
    """Check every case of an archive on a device."""
    with opened(chip) as device:
        for case in cases(archive):
            yield from check(case, archive, device)


def tensor_of(
    case: dict[str, Any], archive: Archive, name: str, device: ttnn.MeshDevice, shape: tuple[int, ...]
) -> ttnn.Tensor:
    """Return a case's tensor of tiles on the device."""
    tiles = archive[f"{case['case']}.{name}"]
    return on_device(tiles, shape, OF_TILE_BYTES[tiles.shape[1]], device)
